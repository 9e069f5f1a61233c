// Between the lanes of a warp: shuffles, votes, matches, reductions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/execute/races.h"

namespace warptime::execute {
namespace {

using Kind = ptx::Operand::Kind;

// The lanes that take part are those of `mask`: all that the members name, as far as they have not ended.
void check_members(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  if (!op.has_members) return;
  const auto* members = warp.at(op.e);
  each(mask, [&](std::uint32_t i) {
    const auto named = static_cast<std::uint32_t>(members[i]);
    if (((named >> i) & 1) == 0)
      warp.fault(Finding::Kind::divergent_warp, i,
                 fmt::format("the member mask 0x{:08x} lacks the thread itself (lane {})", named, i));
  });
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

void shuffle(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto *a = warp.at(op.a), *b = warp.at(op.b), *c = warp.at(op.c);
  std::uint64_t result[lanes_of_warp];
  std::uint32_t in_range = 0;
  each(mask, [&](std::uint32_t i) {
    const auto segment = static_cast<std::uint32_t>(c[i] >> 8) & 31,
               clamp = static_cast<std::uint32_t>(c[i]) & 31;
    const auto by = static_cast<std::uint32_t>(b[i]) & 31;
    const auto most = static_cast<int>((i & segment) | (clamp & ~segment));
    int from = static_cast<int>(i);
    bool inside = false;
    switch (static_cast<Shuffle>(op.detail)) {
      case Shuffle::up:
        from -= static_cast<int>(by), inside = from >= most;
        break;
      case Shuffle::down:
        from += static_cast<int>(by), inside = from <= most;
        break;
      case Shuffle::bfly:
        from = static_cast<int>(i ^ by), inside = from <= most;
        break;
      case Shuffle::idx:
        from = static_cast<int>((i & segment) | (by & ~segment)), inside = from <= most;
        break;
    }
    if (!inside) from = static_cast<int>(i);
    in_range |= std::uint32_t{inside} << i;
    result[i] = a[from] & 0xffffffff;
  });
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = result[i]; });
  warp.set_predicate(op.pd, mask, in_range);
}

bool destination_and_predicate(Decoder& decoder, DecodedInstruction& op) {
  const auto& to = decoder.operand(0);
  if (to.kind == Kind::pair) {
    op.d = decoder.destination(decoder.part(to, 0));
    op.pd = decoder.predicate_destination(decoder.part(to, 1));
  } else {
    op.d = decoder.destination(to);
  }
  return true;
}

bool members(Decoder& decoder, const Words& words, DecodedInstruction& op, std::size_t i) {
  if (!words.has("sync")) return true;
  if (decoder.count() <= i) return decoder.fail("no member mask");
  op.e = decoder.source(i, Type::b32);
  op.has_members = true;
  return true;
}

bool decode_shuffle(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() < 4) return decoder.fail("wrong number of operands");
  destination_and_predicate(decoder, op);
  op.a = decoder.source(1, Type::b32);
  op.b = decoder.source(2, Type::b32);
  op.c = decoder.source(3, Type::b32);
  op.detail = static_cast<std::uint8_t>(words.has("up")     ? Shuffle::up
                                        : words.has("down") ? Shuffle::down
                                        : words.has("bfly") ? Shuffle::bfly
                                                            : Shuffle::idx);
  op.run = &shuffle;
  return members(decoder, words, op, 4);
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

void vote(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto yes = warp.predicate(op.p) & mask;
  switch (static_cast<Vote>(op.detail)) {
    case Vote::all:
      warp.set_predicate(op.pd, mask, yes == mask ? full_mask : 0);
      break;
    case Vote::any:
      warp.set_predicate(op.pd, mask, yes != 0 ? full_mask : 0);
      break;
    case Vote::uni:
      warp.set_predicate(op.pd, mask, yes == mask || yes == 0 ? full_mask : 0);
      break;
    case Vote::ballot: {
      auto* d = warp.out(op.d);
      each(mask, [&](std::uint32_t i) { d[i] = yes; });
    }
  }
}

bool decode_vote(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() < 2) return decoder.fail("wrong number of operands");
  const auto which = words.has("ballot") ? Vote::ballot
                     : words.has("all")  ? Vote::all
                     : words.has("any")  ? Vote::any
                                         : Vote::uni;
  op.detail = static_cast<std::uint8_t>(which);
  if (which == Vote::ballot)
    op.d = decoder.destination(std::size_t{0});
  else
    op.pd = decoder.predicate_destination(decoder.operand(0));
  op.p = decoder.predicate(1);
  op.run = &vote;
  return members(decoder, words, op, 2);
}

void active_mask(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = mask; });
}

// detail: match.all; immediate: the bits that count.
void match(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto* a = warp.at(op.a);
  std::uint32_t same[lanes_of_warp];
  each(mask, [&](std::uint32_t i) {
    same[i] = 0;
    each(mask, [&](std::uint32_t k) { same[i] |= std::uint32_t{((a[i] ^ a[k]) & op.immediate) == 0} << k; });
  });
  auto* d = warp.out(op.d);
  if (op.detail == 0) {
    each(mask, [&](std::uint32_t i) { d[i] = same[i]; });
    return;
  }
  bool all = true;
  each(mask, [&](std::uint32_t i) { all = all && same[i] == mask; });
  each(mask, [&](std::uint32_t i) { d[i] = all ? mask : 0; });
  warp.set_predicate(op.pd, mask, all ? full_mask : 0);
}

bool decode_match(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() < 3) return decoder.fail("wrong number of operands");
  destination_and_predicate(decoder, op);
  op.a = decoder.source(1, words.last_type());
  op.detail = words.has("all");
  op.immediate = words.last_type() == Type::b64 ? ~std::uint64_t{0} : 0xffffffff;
  op.run = &match;
  return members(decoder, words, op, 2);
}

enum class Reduce : std::uint8_t { add, min, max, band, bor, bxor };

template <class T>
T reduced(Reduce how, T a, T b) {
  switch (how) {
    case Reduce::add:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case Reduce::min:
      return std::min(a, b);
    case Reduce::max:
      return std::max(a, b);
    case Reduce::band:
      return a & b;
    case Reduce::bor:
      return a | b;
    case Reduce::bxor:
      return a ^ b;
  }
  return a;
}

template <class T>
void reduce(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto* a = warp.at(op.a);
  T result = narrow<T>(a[std::countr_zero(mask)]);
  each(mask & (mask - 1),
       [&](std::uint32_t i) { result = reduced(static_cast<Reduce>(op.detail), result, narrow<T>(a[i])); });
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = widen(result); });
}

// detail: bit 0 max, bit 1 .abs, bit 2 .NaN
void reduce_float(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto* a = warp.at(op.a);
  float result = NAN;
  bool nan = false;
  each(mask, [&](std::uint32_t i) {
    float value = narrow<float>(a[i]);
    if ((op.detail & 2) != 0) value = std::fabs(value);
    nan = nan || std::isnan(value);
    result = (op.detail & 1) != 0 ? std::fmax(result, value) : std::fmin(result, value);
  });
  const bool gives_nan = std::isnan(result) || ((op.detail & 4) != 0 && nan);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = gives_nan ? 0x7fffffff : widen(result); });
}

bool decode_redux(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() < 3) return decoder.fail("wrong number of operands");
  op.d = decoder.destination(std::size_t{0});
  op.a = decoder.source(1, words.last_type());
  if (words.last_type() == Type::f32) {
    op.detail = static_cast<std::uint8_t>((words.has("max") ? 1 : 0) | (words.has("abs") ? 2 : 0) |
                                          (words.has("NaN") ? 4 : 0));
    op.run = &reduce_float;
    return members(decoder, words, op, 2);
  }
  constexpr std::string_view names[] = {"add", "min", "max", "and", "or", "xor"};
  const auto found =
      std::find_if(std::begin(names), std::end(names), [&](auto name) { return words.has(name); });
  if (found == std::end(names)) return decoder.unsupported();
  op.detail = static_cast<std::uint8_t>(found - std::begin(names));
  op.run = is_signed(words.last_type()) ? &reduce<std::int32_t> : &reduce<std::uint32_t>;
  return members(decoder, words, op, 2);
}

// The first lane is elected.
void elect(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  check_members(warp, op, mask);
  const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = first; });
  warp.set_predicate(op.pd, mask, 1u << first);
}

}  // namespace

bool decode_warp(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  const auto name = words[0];
  if (name == "shfl") return decode_shuffle(decoder, words, op);
  if (name == "vote") return decode_vote(decoder, words, op);
  if (name == "match") return decode_match(decoder, words, op);
  if (name == "redux") return decode_redux(decoder, words, op);
  if (name == "activemask") {
    op.d = decoder.destination(std::size_t{0});
    op.run = &active_mask;
    return true;
  }
  if (words.has("warp")) {  // bar.warp.sync
    op.run = [](Warp& warp, const DecodedInstruction& o, std::uint32_t mask) {
      check_members(warp, o, mask);
      order_lanes(warp, mask);
    };
    if (decoder.count() < 1) return decoder.fail("no member mask");
    return members(decoder, words, op, 0);
  }
  if (decoder.count() < 2) return decoder.fail("wrong number of operands");
  destination_and_predicate(decoder, op);
  op.run = &elect;
  return members(decoder, words, op, 1);
}

}  // namespace warptime::execute
