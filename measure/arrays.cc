#include "measure/arrays.h"

#include <fmt/format.h>

#include <cstring>

namespace warptime::measuring {
namespace {

template <class T, class Make>
std::vector<std::byte> filled(std::uint64_t elements, const Make& make) {
  std::vector<std::byte> bytes(elements * sizeof(T));
  for (std::uint64_t i = 0; i < elements; ++i) {
    const T value = static_cast<T>(make(i));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class Make>
std::vector<std::byte> of_type(const BoundArray& array, const Make& make) {
  switch (array.of->type) {
    case ElementType::f32:
      return filled<float>(array.elements, make);
    case ElementType::f64:
      return filled<double>(array.elements, make);
    case ElementType::i8:
      return filled<std::int8_t>(array.elements, make);
    case ElementType::i16:
      return filled<std::int16_t>(array.elements, make);
    case ElementType::i32:
      return filled<std::int32_t>(array.elements, make);
    case ElementType::i64:
      return filled<std::int64_t>(array.elements, make);
  }
  return {};
}

// SplitMix64 of the index (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<std::byte> random_contents(const BoundArray& array) {
  if (array.of->type == ElementType::f32 || array.of->type == ElementType::f64)
    return of_type(array,
                   [](std::uint64_t i) { return static_cast<double>(mixed(i) >> 40) / (1 << 23) - 1; });
  return of_type(array, [](std::uint64_t i) { return mixed(i) % 100; });
}

}  // namespace

std::vector<std::int64_t> cycle_leaders(std::int64_t n) {
  std::vector<std::int64_t> leaders;
  if (n < 3) return leaders;
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (std::int64_t first = 1; first < n - 1; ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    leaders.push_back(first);
    for (auto i = first; !seen[static_cast<std::size_t>(i)]; i = 2 * i % (n - 1))
      seen[static_cast<std::size_t>(i)] = true;
  }
  return leaders;
}

Result<std::vector<std::byte>> contents_of(const BoundArray& array) {
  switch (array.of->fill) {
    case ArrayFill::random:
      return random_contents(array);
    case ArrayFill::zeros:
      return std::vector<std::byte>(array.bytes());
    case ArrayFill::iota:
      return of_type(array, [](std::uint64_t i) { return static_cast<double>(i); });
    case ArrayFill::constant:
      return of_type(array, [&](std::uint64_t) { return array.of->value; });
    case ArrayFill::cycle_leaders:
      break;
  }
  constexpr std::int64_t most = std::int64_t{1} << 28;
  if (array.cycles_of < 2 || array.cycles_of > most || array.cycles_of % 2 != 0)
    return error(fmt::format("the array `{}`: the number of chunks, {}, must be even and at most {}",
                             array.of->name, array.cycles_of, most));
  const auto leaders = cycle_leaders(array.cycles_of);
  if (leaders.size() != array.elements)
    return error(fmt::format("the array `{}` has {} elements, but {} chunks have {} cycle leaders",
                             array.of->name, array.elements, array.cycles_of, leaders.size()),
                 fmt::format("set the parameter that is its size to {}", leaders.size()));
  return of_type(array, [&](std::uint64_t i) { return leaders[i]; });
}

}  // namespace warptime::measuring
