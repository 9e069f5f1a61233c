// What the C and C++ libraries' headers promise, checked with the system's own and, under -nostdinc, with those that
// come with warptime: the same holds for both. Nothing of it may be an error in host code either.
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#if __cplusplus >= 202002L
#include <bit>
#include <concepts>
#include <numbers>
#include <span>
#endif

// <limits>, <climits>, <cfloat>, <cstdint>
template <class T> using limits_of = std::numeric_limits<T>;
static_assert(limits_of<float>::is_specialized && limits_of<float>::is_iec559 && !limits_of<float>::is_integer);
static_assert(limits_of<float>::max() == FLT_MAX && limits_of<float>::min() == FLT_MIN);
static_assert(limits_of<float>::lowest() == -FLT_MAX && limits_of<float>::epsilon() == FLT_EPSILON);
static_assert(limits_of<float>::digits == 24 && limits_of<float>::digits10 == 6 && limits_of<float>::max_digits10 == 9);
static_assert(limits_of<float>::min_exponent == -125 && limits_of<float>::max_exponent == 128);
static_assert(limits_of<double>::max() == DBL_MAX && limits_of<double>::lowest() == -DBL_MAX);
static_assert(limits_of<double>::digits == 53 && limits_of<double>::digits10 == 15);
static_assert(limits_of<double>::infinity() > DBL_MAX && limits_of<double>::quiet_NaN() != limits_of<double>::quiet_NaN());
static_assert(limits_of<double>::denorm_min() > 0 && limits_of<double>::denorm_min() < DBL_MIN);
static_assert(limits_of<int>::max() == INT_MAX && limits_of<int>::min() == INT_MIN && limits_of<int>::lowest() == INT_MIN);
static_assert(limits_of<int>::digits == 31 && limits_of<int>::digits10 == 9 && limits_of<int>::is_signed);
static_assert(limits_of<unsigned char>::max() == UCHAR_MAX && limits_of<unsigned char>::digits == 8);
static_assert(limits_of<short>::min() == SHRT_MIN && limits_of<unsigned short>::max() == USHRT_MAX);
static_assert(limits_of<long>::max() == LONG_MAX && limits_of<unsigned long long>::max() == ULLONG_MAX);
static_assert(limits_of<std::int64_t>::min() == INT64_MIN && limits_of<std::uint32_t>::max() == UINT32_MAX);
static_assert(limits_of<bool>::max() && limits_of<bool>::digits == 1 && !limits_of<unsigned>::is_signed);
static_assert(limits_of<const int>::max() == INT_MAX && !limits_of<std::string>::is_specialized);
static_assert(CHAR_BIT == 8 && SIZE_MAX == limits_of<std::size_t>::max() && PTRDIFF_MAX == limits_of<std::ptrdiff_t>::max());
static_assert(sizeof(int_least32_t) == 4 && sizeof(uint_fast8_t) == 1 && sizeof(int_fast32_t) == 8 && sizeof(uintptr_t) == 8);
static_assert(UINT64_C(1) << 40 > UINT32_MAX && INT64_C(-1) < 0);

// <type_traits>
struct Empty {};
struct Base {
  virtual ~Base();
};
struct Derived final : Base {
  int member;
  int function(float) const;
};
enum class Colour : unsigned char { red };
static_assert(std::is_same<std::decay_t<int[3]>, int*>::value && std::is_same<std::remove_extent_t<int[3]>, int>::value);
static_assert(std::is_same<std::conditional_t<true, int, float>, int>::value && std::is_same<std::enable_if_t<true>, void>::value);
static_assert(std::is_same<std::make_unsigned_t<long>, unsigned long>::value && std::is_same<std::underlying_type_t<Colour>, unsigned char>::value);
static_assert(std::is_same<std::common_type_t<int, float, double>, double>::value && std::is_same<std::common_type_t<char, short>, int>::value);
static_assert(std::is_same<std::add_pointer_t<int&>, int*>::value && std::is_same<std::remove_pointer_t<int* const>, int>::value);
static_assert(std::is_integral_v<char> && !std::is_integral_v<float> && std::is_floating_point_v<double> && std::is_arithmetic_v<bool>);
static_assert(std::is_base_of_v<Base, Derived> && std::is_convertible_v<Derived*, Base*> && !std::is_convertible_v<Base*, Derived*>);
static_assert(std::is_polymorphic_v<Base> && std::is_final_v<Derived> && std::is_empty_v<Empty> && std::is_enum_v<Colour>);
static_assert(std::is_trivially_copyable_v<float4> && !std::is_trivially_copyable_v<Derived> && std::is_standard_layout_v<float4>);
static_assert(std::is_member_function_pointer_v<decltype(&Derived::function)> && std::is_member_object_pointer_v<decltype(&Derived::member)>);
static_assert(std::is_invocable_v<int (*)(float), double> && !std::is_invocable_v<int (*)(float), Empty>);
static_assert(std::is_invocable_v<decltype(&Derived::function), Derived&, float> && std::is_invocable_r_v<double, int (*)()>);
static_assert(std::is_same<std::invoke_result_t<decltype(&Derived::function), const Derived*, float>, int>::value);
static_assert(std::is_nothrow_move_constructible_v<int> && std::is_copy_assignable_v<float4> && !std::is_assignable_v<const int&, int>);
static_assert(std::conjunction_v<> && !std::disjunction_v<> && std::negation_v<std::false_type>);
static_assert(std::rank<int[2][3]>::value == 2 && std::extent<int[2][3], 1>::value == 3 && alignof(std::aligned_storage_t<3, 16>) == 16);
static_assert(std::integral_constant<int, 3>() == 3 && std::is_same<std::void_t<int, float>, void>::value);

// <utility>, <tuple>, <array>, <optional>, <variant>, <string_view>
static_assert(std::make_pair(1, 2.5f).second == 2.5f && std::pair<int, int>(1, 2) < std::pair<int, int>(1, 3));
static_assert(std::get<1>(std::make_tuple(1, 2.5, 'c')) == 2.5 && std::get<char>(std::make_tuple(1, 2.5, 'c')) == 'c');
static_assert(std::tuple_size<std::tuple<int, float>>::value == 2 && std::is_same<std::tuple_element_t<1, std::tuple<int, float>>, float>::value);
static_assert(std::make_tuple(1, 2) < std::make_tuple(1, 3) && std::make_tuple(1, 2) == std::make_tuple(1, 2));
static_assert(std::tuple_size<decltype(std::tuple_cat(std::make_tuple(1), std::make_tuple(2, 3)))>::value == 3);
static_assert(sizeof(std::tuple<Empty, int>) == sizeof(int) && sizeof(std::tuple<char, double>) == 16);
constexpr int sum_of(int a, int b, int c) { return a + b + c; }
static_assert(std::apply(sum_of, std::make_tuple(1, 2, 3)) == 6);
static_assert(std::is_same<std::make_index_sequence<3>, std::index_sequence<0, 1, 2>>::value);
constexpr std::array<int, 3> three{{3, 1, 2}};
static_assert(three.size() == 3 && three[1] == 1 && std::get<0>(three) == 3 && three.back() == 2 && !three.empty());
static_assert(std::optional<int>(3).value_or(4) == 3 && std::optional<int>().value_or(4) == 4 && !std::optional<int>());
static_assert(std::variant_size_v<std::variant<int, float>> == 2 && sizeof(std::variant<int, char>) == 8);
static_assert(std::string_view("abc").size() == 3 && std::string_view("abc").substr(1)[0] == 'b');
constexpr bool swaps() {
  int a = 1, b = 2;
  const int old = b;
  b = a;
  a = old;
  auto [x, y] = std::pair<int, int>(a, b);
  return x == 2 && y == 1;
}
static_assert(swaps());

// <algorithm>, <numeric>, <functional>, <iterator>
static_assert(std::min(3, 2) == 2 && std::max(3, 2) == 3 && std::min({3, 1, 2}) == 1 && std::max({3, 1, 2}) == 3);
static_assert(std::clamp(5, 0, 3) == 3 && std::clamp(-1, 0, 3) == 0 && std::minmax(2, 1).first == 1);
static_assert(*std::min_element(three.begin(), three.end()) == 1 && *std::max_element(three.begin(), three.end()) == 3);
static_assert(std::gcd(12, 18) == 6 && std::lcm(4, 6) == 12 && std::plus<int>()(1, 2) == 3 && std::less<>()(1, 2.5));
static_assert(std::distance(three.begin(), three.end()) == 3 && *std::next(three.begin()) == 1 && std::size(three) == 3);
#if __cplusplus >= 202002L
constexpr bool searches() {
  int sorted[] = {1, 3, 3, 7};
  return std::lower_bound(sorted, sorted + 4, 3) == sorted + 1 && std::upper_bound(sorted, sorted + 4, 3) == sorted + 3 &&
         std::binary_search(sorted, sorted + 4, 7) && std::find(sorted, sorted + 4, 5) == sorted + 4 &&
         std::count(sorted, sorted + 4, 3) == 2 && std::accumulate(sorted, sorted + 4, 0) == 14 &&
         std::all_of(sorted, sorted + 4, [](int v) { return v > 0; }) && std::is_sorted(sorted, sorted + 4);
}
static_assert(searches());
static_assert(std::is_same_v<std::remove_cvref_t<const int&>, int>);
// <bit>, <concepts>, <numbers>, <span>
static_assert(std::popcount(7u) == 3 && std::countl_zero(1u) == 31 && std::countr_zero(8u) == 3 && std::bit_ceil(5u) == 8);
static_assert(std::has_single_bit(8u) && std::bit_width(8u) == 4 && std::rotl(0x80000001u, 1) == 3 && std::bit_floor(5u) == 4);
static_assert(std::countl_zero(static_cast<unsigned char>(1)) == 7 && std::bit_cast<unsigned>(1.0f) == 0x3f800000);
static_assert(std::integral<int> && !std::integral<float> && std::floating_point<double> && std::same_as<int, int> && std::derived_from<Derived, Base>);
static_assert(std::numbers::pi > 3.14 && std::numbers::pi < 3.15 && std::numbers::e_v<float> > 2.7f);
constexpr int items[] = {1, 2, 3};
static_assert(std::span(items).size() == 3 && std::span<const int>(items, 3).subspan(1)[0] == 2);
#endif

// What host code commonly does.
struct Counted : std::enable_shared_from_this<Counted> {
  std::map<std::string, std::vector<int>> named;
  std::function<int(int)> f = [](int v) { return v + 1; };
  std::unique_ptr<float[]> owned;
  std::atomic<int> n{0};
  std::mutex lock;
};
std::ostream& operator<<(std::ostream& to, const Counted& c) { return to << c.named.size() << std::endl; }
int host(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  std::sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) { return a < b; });
  Counted counted;
  for (const auto& word : words) counted.named[word].push_back(static_cast<int>(word.size()));
  for (auto& [name, numbers] : counted.named) numbers.resize(std::accumulate(numbers.begin(), numbers.end(), 0));
  auto it = counted.named.find("x");
  if (it != counted.named.end()) it->second.insert(it->second.end(), 3);
  std::ostringstream out;
  out << std::setw(8) << std::setprecision(3) << std::fixed << 1.5f << ' ' << "text" << words[0] << counted << '\n';
  std::ifstream in(words[0], std::ios::binary);
  if (!in.good()) throw std::runtime_error("no such file: " + words[0] + out.str());
  std::string line;
  while (std::getline(in, line)) std::cout << line << std::endl;
  std::mt19937 engine(std::random_device{}());
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::generate(words[0].begin(), words[0].end(), [&] { return static_cast<char>(uniform(engine) * 100); });
  const auto begin = std::chrono::high_resolution_clock::now();
  std::thread worker([&] { counted.n++; });
  worker.join();
  const std::lock_guard<std::mutex> guard(counted.lock);
  const std::chrono::duration<double, std::milli> took = std::chrono::high_resolution_clock::now() - begin;
  const double seconds = std::chrono::duration_cast<std::chrono::microseconds>(took).count() * 1e-6;
  auto shared = std::make_shared<Counted>();
  std::unordered_map<int, std::set<double>> sets{{1, {2.0}}};
  std::priority_queue<std::pair<double, int>> queue;
  queue.push({std::sqrt(2), std::abs(-3)});
  std::complex<float> z(1.0f, 2.0f);
  timeval now;
  gettimeofday(&now, nullptr);
  std::printf("%" PRIu64 " %f %f\n", static_cast<std::uint64_t>(now.tv_sec), seconds, std::pow(2, 3) + std::abs(z) + std::ceil(argc / 2.0));
  assert(std::isdigit(argv[0][0]) || strcasecmp(argv[0], "a") == 0 || errno == ERANGE || std::strchr(argv[0], '/'));
  return static_cast<int>(sets[1].size()) + counted.f(queue.top().second) + atoi(argv[1]);
}

__global__ void limits(float* a, int* b, double* c) {
  const unsigned i = threadIdx.x;
  float least = std::numeric_limits<float>::max();
  for (int k = 0; k < b[i]; ++k) least = std::min(least, a[k]);
  a[i] = least == std::numeric_limits<float>::infinity() ? std::numeric_limits<float>::quiet_NaN() : std::max(least, FLT_MIN);
  c[i] = std::numeric_limits<double>::epsilon() + std::fabs(c[i]) + std::sqrt(b[i]) + M_PI;
}
template <class T, class Op> __device__ T fold(const T* a, int n, Op op) {
  typedef typename std::conditional<std::is_floating_point<T>::value, double, long>::type wide;
  wide sum = 0;
  for (int i = 0; i < n; ++i) sum = op(sum, static_cast<wide>(a[i]));
  return static_cast<T>(sum);
}
__global__ void folds(float* a, int* b, int n) {
  std::tuple<float, int> both(fold(a, n, std::plus<>()), fold(b, n, [](auto x, auto y) { return std::max(x, y); }));
  a[0] = std::get<0>(both);
  b[0] = std::get<1>(both);
}
__global__ void wrapped(std::array<float, 4> weights, std::pair<int*, int> to) {
  std::array<float, 4> mine = weights;
  for (float& weight : mine) weight *= 2.0f;
  if (static_cast<int>(threadIdx.x) < to.second) to.first[threadIdx.x] = static_cast<int>(mine[threadIdx.x % 4]);
}
