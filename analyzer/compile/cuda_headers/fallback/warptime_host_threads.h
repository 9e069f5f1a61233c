// The parts of the C++ library about time, threads and random numbers that host code uses, where the system has none:
// enough to be parsed. Nothing here runs.
#pragma once
#pragma clang system_header

#include "warptime_host_library.h"

namespace std {
template <long long N, long long D = 1> struct ratio {
  static constexpr long long num = N, den = D;
};
typedef ratio<1, 1000000000> nano;
typedef ratio<1, 1000000> micro;
typedef ratio<1, 1000> milli;
typedef ratio<1000> kilo;
typedef ratio<1000000> mega;
typedef ratio<1000000000> giga;

namespace chrono {
template <class Rep, class Period = ratio<1>> class duration {
  Rep count_;

 public:
  typedef Rep rep;
  typedef Period period;
  constexpr duration() : count_() {}
  template <class R> constexpr explicit duration(const R& count) : count_(static_cast<Rep>(count)) {}
  template <class R, class P> constexpr duration(const duration<R, P>& other)
      : count_(static_cast<Rep>(other.count() * (static_cast<long double>(P::num) * Period::den / P::den / Period::num))) {}
  constexpr Rep count() const { return count_; }
  static constexpr duration zero() { return duration(0); }
  constexpr duration& operator+=(const duration& other) { count_ += other.count_; return *this; }
  constexpr duration& operator-=(const duration& other) { count_ -= other.count_; return *this; }
};
template <class To, class R, class P> constexpr To duration_cast(const duration<R, P>& d) { return To(d); }
template <class R, class P, class S, class Q>
using __wt_common = duration<common_type_t<R, S>, conditional_t<(P::num * Q::den < Q::num * P::den), P, Q>>;
template <class R, class P, class S, class Q> __wt_common<R, P, S, Q> operator+(const duration<R, P>& a, const duration<S, Q>& b);
template <class R, class P, class S, class Q> __wt_common<R, P, S, Q> operator-(const duration<R, P>& a, const duration<S, Q>& b);
template <class R, class P, class S, class Q> common_type_t<R, S> operator/(const duration<R, P>& a, const duration<S, Q>& b);
template <class R, class P, class N> duration<common_type_t<R, N>, P> operator*(const duration<R, P>& a, const N& n);
template <class R, class P, class N, class = enable_if_t<is_arithmetic<N>::value>>
duration<common_type_t<R, N>, P> operator/(const duration<R, P>& a, const N& n);
#define __WT_OPERATOR(op) \
  template <class R, class P, class S, class Q> bool operator op(const duration<R, P>& a, const duration<S, Q>& b);
__WT_OPERATOR(<)
__WT_OPERATOR(>)
__WT_OPERATOR(<=)
__WT_OPERATOR(>=)
__WT_OPERATOR(==)
__WT_OPERATOR(!=)
#undef __WT_OPERATOR
typedef duration<long long, nano> nanoseconds;
typedef duration<long long, micro> microseconds;
typedef duration<long long, milli> milliseconds;
typedef duration<long long> seconds;
typedef duration<int, ratio<60>> minutes;
typedef duration<int, ratio<3600>> hours;
template <class Clock, class Duration = typename Clock::duration> class time_point {
 public:
  typedef Clock clock;
  typedef Duration duration;
  constexpr time_point() {}
  template <class D> time_point(const time_point<Clock, D>& other);
  Duration time_since_epoch() const;
  template <class R, class P> time_point& operator+=(const std::chrono::duration<R, P>& d);
};
template <class C, class D, class E> nanoseconds operator-(const time_point<C, D>& a, const time_point<C, E>& b);
template <class C, class D, class R, class P> time_point<C, D> operator+(const time_point<C, D>& a, const duration<R, P>& b);
template <class C, class D, class E> bool operator<(const time_point<C, D>& a, const time_point<C, E>& b);
template <class C, class D, class E> bool operator>(const time_point<C, D>& a, const time_point<C, E>& b);
template <class To, class C, class D> time_point<C, To> time_point_cast(const time_point<C, D>& at);
#define __WT_CLOCK(name)                                  \
  struct name {                                           \
    typedef nanoseconds duration;                         \
    typedef long long rep;                                \
    typedef nano period;                                  \
    typedef chrono::time_point<name> time_point;          \
    static constexpr bool is_steady = true;               \
    static time_point now() noexcept;                     \
    static time_t to_time_t(const time_point& at) noexcept; \
    static time_point from_time_t(time_t at) noexcept;    \
  };
__WT_CLOCK(system_clock)
__WT_CLOCK(steady_clock)
#undef __WT_CLOCK
typedef system_clock high_resolution_clock;
}  // namespace chrono
inline namespace literals {
inline namespace chrono_literals {
constexpr chrono::seconds operator""s(unsigned long long n) { return chrono::seconds(n); }
constexpr chrono::milliseconds operator""ms(unsigned long long n) { return chrono::milliseconds(n); }
constexpr chrono::microseconds operator""us(unsigned long long n) { return chrono::microseconds(n); }
constexpr chrono::nanoseconds operator""ns(unsigned long long n) { return chrono::nanoseconds(n); }
}  // namespace chrono_literals
}  // namespace literals

class mutex {
 public:
  constexpr mutex() noexcept {}
  mutex(const mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();
};
class recursive_mutex : public mutex {};
class shared_mutex : public mutex {
 public:
  void lock_shared();
  void unlock_shared();
};
struct defer_lock_t {};
struct adopt_lock_t {};
struct try_to_lock_t {};
inline constexpr defer_lock_t defer_lock{};
inline constexpr adopt_lock_t adopt_lock{};
inline constexpr try_to_lock_t try_to_lock{};
template <class M> class unique_lock {
 public:
  unique_lock() noexcept;
  explicit unique_lock(M& mutex);
  template <class How> unique_lock(M& mutex, How how);
  unique_lock(unique_lock&& other) noexcept;
  ~unique_lock();
  void lock();
  bool try_lock();
  void unlock();
  bool owns_lock() const noexcept;
};
template <class M> class shared_lock : public unique_lock<M> {
 public:
  using unique_lock<M>::unique_lock;
};
template <class M> class lock_guard {
 public:
  explicit lock_guard(M& mutex);
  lock_guard(M& mutex, adopt_lock_t);
  ~lock_guard();
};
template <class... Ms> class scoped_lock {
 public:
  explicit scoped_lock(Ms&... mutexes);
  ~scoped_lock();
};
struct once_flag {
  constexpr once_flag() noexcept {}
};
template <class F, class... As> void call_once(once_flag& flag, F&& f, As&&... as) {}
class condition_variable {
 public:
  void notify_one() noexcept;
  void notify_all() noexcept;
  template <class... As> void wait(As&&... as) {}
  template <class... As> bool wait_for(As&&... as) {}
  template <class... As> bool wait_until(As&&... as) {}
};
class thread {
 public:
  class id {
   public:
    bool operator==(const id& other) const noexcept;
  };
  thread() noexcept;
  template <class F, class... As> explicit thread(F&& f, As&&... as) {}
  thread(thread&& other) noexcept;
  ~thread();
  thread& operator=(thread&& other) noexcept;
  void join();
  void detach();
  bool joinable() const noexcept;
  id get_id() const noexcept;
  static unsigned hardware_concurrency() noexcept;
};
namespace this_thread {
thread::id get_id() noexcept;
void yield() noexcept;
template <class R, class P> void sleep_for(const chrono::duration<R, P>& d);
}  // namespace this_thread
template <class T> class future {
 public:
  T get();
  void wait() const;
  bool valid() const noexcept;
  template <class... As> int wait_for(As&&... as) const {}
};
template <class T> class promise {
 public:
  future<T> get_future();
  template <class... As> void set_value(As&&... as) {}
  void set_exception(exception_ptr p);
};
enum class launch { async = 1, deferred = 2 };
template <class F, class... As> future<invoke_result_t<decay_t<F>, decay_t<As>...>> async(launch how, F&& f, As&&... as) {}

enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
template <class T> class atomic {
  T v_;

 public:
  typedef T value_type;
  atomic() noexcept = default;
  constexpr atomic(T v) noexcept : v_(v) {}
  atomic(const atomic&) = delete;
  T operator=(T v) noexcept;
  operator T() const noexcept;
  T load(memory_order order = memory_order_seq_cst) const noexcept;
  void store(T v, memory_order order = memory_order_seq_cst) noexcept;
  T exchange(T v, memory_order order = memory_order_seq_cst) noexcept;
  bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst, memory_order failed = memory_order_seq_cst) noexcept;
  bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst, memory_order failed = memory_order_seq_cst) noexcept;
  T fetch_add(T v, memory_order order = memory_order_seq_cst) noexcept;
  T fetch_sub(T v, memory_order order = memory_order_seq_cst) noexcept;
  T fetch_and(T v, memory_order order = memory_order_seq_cst) noexcept;
  T fetch_or(T v, memory_order order = memory_order_seq_cst) noexcept;
  T operator++() noexcept;
  T operator++(int) noexcept;
  T operator--() noexcept;
  T operator--(int) noexcept;
  T operator+=(T v) noexcept;
  T operator-=(T v) noexcept;
  bool is_lock_free() const noexcept;
};
typedef atomic<bool> atomic_bool;
typedef atomic<int> atomic_int;
typedef atomic<unsigned> atomic_uint;
typedef atomic<long> atomic_long;
typedef atomic<size_t> atomic_size_t;
typedef atomic<int64_t> atomic_int64_t;
typedef atomic<uint64_t> atomic_uint64_t;
struct atomic_flag {
  bool test_and_set(memory_order order = memory_order_seq_cst) noexcept;
  void clear(memory_order order = memory_order_seq_cst) noexcept;
};
#define ATOMIC_FLAG_INIT {}
void atomic_thread_fence(memory_order order) noexcept;

#define __WT_ENGINE(name, type)                      \
  class name {                                       \
   public:                                           \
    typedef type result_type;                        \
    static constexpr type default_seed = 5489u;      \
    name();                                          \
    template <class Seed> explicit name(Seed&& seed); \
    template <class Seed> void seed(Seed&& seed);    \
    type operator()();                               \
    void discard(unsigned long long n);              \
    static constexpr type min() { return 0; }        \
    static constexpr type max() { return static_cast<type>(-1); } \
  };
__WT_ENGINE(mt19937, uint_fast32_t)
__WT_ENGINE(mt19937_64, uint_fast64_t)
__WT_ENGINE(minstd_rand, uint_fast32_t)
__WT_ENGINE(minstd_rand0, uint_fast32_t)
__WT_ENGINE(random_device, unsigned)
#undef __WT_ENGINE
typedef minstd_rand0 default_random_engine;
#define __WT_DISTRIBUTION(name, T0)                              \
  template <class T = T0> class name {                          \
   public:                                                      \
    typedef T result_type;                                      \
    name();                                                     \
    template <class... As> explicit name(const As&... as);      \
    template <class Engine> T operator()(Engine& engine);       \
    T min() const;                                              \
    T max() const;                                              \
    void reset();                                               \
  };
__WT_DISTRIBUTION(uniform_int_distribution, int)
__WT_DISTRIBUTION(uniform_real_distribution, double)
__WT_DISTRIBUTION(normal_distribution, double)
__WT_DISTRIBUTION(lognormal_distribution, double)
__WT_DISTRIBUTION(exponential_distribution, double)
__WT_DISTRIBUTION(poisson_distribution, int)
__WT_DISTRIBUTION(geometric_distribution, int)
__WT_DISTRIBUTION(discrete_distribution, int)
#undef __WT_DISTRIBUTION
class bernoulli_distribution {
 public:
  explicit bernoulli_distribution(double p = 0.5);
  template <class Engine> bool operator()(Engine& engine);
};

namespace filesystem {
class path {
 public:
  path();
  path(const char* s);
  path(const string& s);
  path parent_path() const;
  path filename() const;
  path extension() const;
  path stem() const;
  string string() const;
  const char* c_str() const noexcept;
  bool empty() const noexcept;
  friend path operator/(const path& a, const path& b) { return a; }
};
bool exists(const path& p);
bool is_directory(const path& p);
bool remove(const path& p);
bool create_directory(const path& p);
bool create_directories(const path& p);
uintmax_t file_size(const path& p);
path current_path();
path temp_directory_path();
}  // namespace filesystem
class regex {
 public:
  explicit regex(const char* pattern);
  explicit regex(const string& pattern);
};
class smatch {
 public:
  size_t size() const;
  string operator[](size_t i) const;
};
template <class... As> bool regex_match(As&&... as) {}
template <class... As> bool regex_search(As&&... as) {}
template <class... As> string regex_replace(As&&... as) {}
}  // namespace std
