// atom and red: lane after lane, in their order.
#include <algorithm>
#include <cmath>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/half.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/execute/races.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

enum class Update : std::uint8_t { add, min, max, band, bor, bxor, exch, cas, inc, dec };

template <class T>
T wrapping_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(widen(a) + widen(b));
}

template <class T>
T updated(Update how, T old, T value, T other) {
  if constexpr (!std::is_floating_point_v<T>) {
    switch (how) {
      case Update::band:
        return old & value;
      case Update::bor:
        return old | value;
      case Update::bxor:
        return old ^ value;
      case Update::inc:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case Update::dec:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      default:
        break;
    }
  }
  switch (how) {
    case Update::add:
      return wrapping_sum(old, value);
    case Update::min:
      return std::min(old, value);
    case Update::max:
      return std::max(old, value);
    case Update::exch:
      return value;
    case Update::cas:
      return old == value ? other : old;
    default:
      return old;
  }
}

// Two 16-bit floats, or one.
constexpr std::uint8_t half_brain = 1, half_pair = 2;

std::uint16_t half_updated(Update how, std::uint16_t old, std::uint16_t value, bool brain) {
  const auto& format = brain ? brain_format : half_format;
  const double a = value_of(format, old), b = value_of(format, value);
  const double result = how == Update::add   ? sum_to_odd(a, b)
                        : how == Update::min ? std::fmin(a, b)
                                             : std::fmax(a, b);
  return static_cast<std::uint16_t>(round_to(format, result, Rounding::nearest_even));
}

struct Operands {
  const std::uint64_t *value, *other;
};

// Calls f(lane, bytes in memory) for each lane that can be reached.
template <class F>
void at_memory(Warp& warp, const DecodedInstruction& op, std::uint32_t mask, std::uint32_t bytes, F&& f) {
  find_addresses(warp, op, mask);
  each(mask, [&](std::uint32_t i) {
    if (auto* at = resolve(warp, op, i, warp.addresses[i], bytes, AccessKind::atomic, bytes, op.space))
      f(i, at);
  });
  order_strong(warp, op, mask, true, true);
}

template <class T, bool returns>
void atomic(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto *value = warp.at(op.b), *other = warp.at(op.c);
  auto* d = returns ? warp.out(op.d) : nullptr;
  at_memory(warp, op, mask, sizeof(T), [&](std::uint32_t i, std::byte* at) {
    T old;
    std::memcpy(&old, at, sizeof(T));
    const T result = updated(static_cast<Update>(op.detail), old, narrow<T>(value[i]), narrow<T>(other[i]));
    std::memcpy(at, &result, sizeof(T));
    if (returns) d[i] = widen(old);
  });
}

// count: half_brain, half_pair.
void atomic_half(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const bool brain = (op.count & half_brain) != 0, pair = (op.count & half_pair) != 0;
  const auto how = static_cast<Update>(op.detail);
  const auto* value = warp.at(op.b);
  at_memory(warp, op, mask, pair ? 4 : 2, [&](std::uint32_t i, std::byte* at) {
    std::uint16_t old[2] = {}, result[2] = {};
    const std::size_t parts = pair ? 2 : 1;
    std::memcpy(old, at, 2 * parts);
    for (std::size_t k = 0; k < parts; ++k)
      result[k] = half_updated(how, old[k], static_cast<std::uint16_t>(value[i] >> (16 * k)), brain);
    std::memcpy(at, result, 2 * parts);
    if (op.role == Role::load) warp.out(op.d)[i] = static_cast<std::uint32_t>(old[1]) << 16 | old[0];
  });
}

// red.v2.f32, atom.v4.f32 …: each element by itself; refs: values, then results.
void atomic_vector(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* refs = &warp.code().refs[op.extra];
  at_memory(warp, op, mask, 4u * op.count, [&](std::uint32_t i, std::byte* at) {
    for (std::uint32_t k = 0; k < op.count; ++k) {
      float old;
      std::memcpy(&old, at + 4 * k, 4);
      const float result =
          updated(static_cast<Update>(op.detail), old, narrow<float>(warp.at(refs[k])[i]), 0.0f);
      std::memcpy(at + 4 * k, &result, 4);
      if (op.role == Role::load) warp.out(refs[op.count + k])[i] = widen(old);
    }
  });
}

// exch and cas of 128 bits; refs: value, expected where cas, result: two slots each.
void atomic_wide(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* refs = &warp.code().refs[op.extra];
  const bool compares = static_cast<Update>(op.detail) == Update::cas;
  at_memory(warp, op, mask, 16, [&](std::uint32_t i, std::byte* at) {
    std::uint64_t old[2], next[2];
    std::memcpy(old, at, 16);
    for (std::size_t k = 0; k < 2; ++k) next[k] = warp.at(refs[k])[i];
    const bool same = !compares || (old[0] == next[0] && old[1] == next[1]);
    if (compares)
      for (std::size_t k = 0; k < 2; ++k) next[k] = warp.at(refs[2 + k])[i];
    if (same) std::memcpy(at, next, 16);
    for (std::size_t k = 0; k < 2; ++k) warp.out(refs[4 + k])[i] = old[k];
  });
}

bool update_of(const Words& words, Update& update) {
  constexpr std::string_view names[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (words.has(names[i])) {
      update = static_cast<Update>(i);
      return true;
    }
  return false;
}

bool decode_wide(Decoder& decoder, DecodedInstruction& op, bool compares) {
  auto& refs = decoder.code().refs;
  op.extra = static_cast<std::uint32_t>(refs.size());
  const auto add = [&](Ref ref) {
    refs.push_back(ref);
    refs.push_back(Ref(static_cast<Bank>(ref.bank()), ref.slot() + 1));
  };
  if (decoder.register_bits(decoder.operand(2)) != 128) return decoder.unsupported();
  add(decoder.source(2, Type::b128));
  if (compares && decoder.count() < 4) return decoder.fail("wrong number of operands");
  add(decoder.source(compares ? 3 : 2, Type::b128));
  add(decoder.destination(std::size_t{0}));
  op.run = &atomic_wide;
  return true;
}

Handler handler_of(Type type, bool returns) {
  if (type == Type::f32) return returns ? &atomic<float, true> : &atomic<float, false>;
  if (type == Type::f64) return returns ? &atomic<double, true> : &atomic<double, false>;
  return for_integer(type, [returns](auto t) -> Handler {
    using T = typename decltype(t)::type;
    return returns ? &atomic<T, true> : &atomic<T, false>;
  });
}

bool is_vector(const Words& words) {
  return words.has("v2") || words.has("v4") || words.has("v8");
}

}  // namespace

bool decode_atomic(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const bool returns = words[0] == "atom";
  const std::size_t first = returns ? 1 : 0;
  Update update{};
  if (!update_of(words, update) || words.has("async")) return decoder.unsupported();
  if (decoder.count() < first + 2) return decoder.fail("wrong number of operands");
  switch (ptx::space_of(words.opcode)) {
    case ptx::StateSpace::global:
      op.space = Space::global;
      break;
    case ptx::StateSpace::shared:
      op.space = Space::shared;
      break;
    case ptx::StateSpace::generic:
      op.space = Space::generic;
      break;
    default:
      return decoder.unsupported();
  }
  const auto type = words.last_type();
  op.acquires = words.has("acquire") || words.has("acq_rel");
  op.releases = words.has("release") || words.has("acq_rel");
  op.accesses = true;
  op.memory_role = op.space != Space::shared;
  op.role = returns ? Role::load : Role::store;
  op.polls = returns;
  op.detail = static_cast<std::uint8_t>(update);
  op.bytes = static_cast<std::uint16_t>(bytes_of(type));
  decoder.address(op, decoder.operand(first));
  if (type == Type::b128) return decode_wide(decoder, op, update == Update::cas);
  if (is_vector(words)) {
    if (type != Type::f32) return decoder.unsupported();
    decoder.vector(op, decoder.operand(first + 1), type, false);
    const auto values = op.extra;
    if (returns) decoder.vector(op, decoder.operand(0), type, true);
    op.extra = values;
    op.polls = false;
    op.run = &atomic_vector;
    return true;
  }
  op.b = decoder.source(first + 1, type);
  op.c = op.b;
  if (update == Update::cas) {
    if (decoder.count() < first + 3) return decoder.fail("wrong number of operands");
    op.c = decoder.source(first + 2, type);
  }
  if (returns) op.d = decoder.destination(std::size_t{0});
  if (type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2) {
    op.count = static_cast<std::uint8_t>((type == Type::bf16 || type == Type::bf16x2 ? half_brain : 0) |
                                         (type == Type::f16x2 || type == Type::bf16x2 ? half_pair : 0));
    op.run = &atomic_half;
    return true;
  }
  op.run = handler_of(type, returns);
  return op.run != nullptr || decoder.unsupported();
}

}  // namespace warptime::execute
