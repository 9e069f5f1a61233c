// Loads, stores, asynchronous copies; and what leaves no trace: fences, prefetches, hints.
#include <algorithm>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/execute/races.h"
#include "analyzer/execute/undefined.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

using Kind = ptx::Operand::Kind;

// Most accesses are to the buffer of the one before, and all right: `inline` for them.
inline std::byte* place(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint32_t bytes,
                        AccessKind access) {
  const auto address = warp.addresses[lane];
  if (op.space == Space::global) {
    auto* buffer = warp.cached;
    if (buffer != nullptr && address - buffer->address < buffer->bytes.size() &&
        buffer->bytes.size() - (address - buffer->address) >= bytes && (address & (bytes - 1)) == 0 &&
        buffer->valid.empty() && (access == AccessKind::read || !buffer->constant) &&
        (op.owners & buffer->owners) != 0) {
      warp.global_lanes |= 1u << lane;
      return &buffer->bytes[address - buffer->address];
    }
  }
  return resolve(warp, op, lane, address, bytes, access, op.bytes, op.space);
}

template <class T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void load_one(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) {
    const auto* from = place(warp, op, i, sizeof(T), AccessKind::read);
    d[i] = from == nullptr ? 0 : widen(read_as<T>(from));
    if (warp.undefined_bytes != 0) load_undefined(warp, &op.d, 1, i, sizeof(T));
  });
  if (op.strong) order_strong(warp, op, mask, true, false);
}

template <class T>
void load_vector(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  const auto* refs = &warp.code().refs[op.extra];
  each(mask, [&](std::uint32_t i) {
    const auto* from = place(warp, op, i, sizeof(T) * op.count, AccessKind::read);
    for (std::uint32_t k = 0; k < op.count; ++k)
      warp.out(refs[k])[i] = from == nullptr ? 0 : widen(read_as<T>(from + k * sizeof(T)));
    if (warp.undefined_bytes != 0) load_undefined(warp, refs, op.count, i, sizeof(T));
  });
  if (op.strong) order_strong(warp, op, mask, true, false);
}

template <class T>
void store(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  const auto* refs = &warp.code().refs[op.extra];
  const auto bytes = static_cast<std::uint32_t>(sizeof(T)) * op.count;
  T values[8] = {};
  warp.stored = reinterpret_cast<const std::byte*>(values);
  const bool undefined = warp.frame().undefined.any();
  each(mask, [&](std::uint32_t i) {
    for (std::uint32_t k = 0; k < op.count; ++k) values[k] = static_cast<T>(warp.at(refs[k])[i]);
    auto* to = place(warp, op, i, bytes, AccessKind::write);
    if (to == nullptr) return;
    std::memcpy(to, values, bytes);
    if (undefined) store_undefined(warp, op, i, to, sizeof(T));
  });
  warp.stored = nullptr;
  if (op.strong) order_strong(warp, op, mask, false, true);
}

Space space_of(const Words& words) {
  switch (ptx::space_of(words.opcode)) {
    case ptx::StateSpace::global:
      return Space::global;
    case ptx::StateSpace::constant:
      return Space::constant;
    case ptx::StateSpace::shared:
      return Space::shared;
    case ptx::StateSpace::local:
      return Space::local;
    case ptx::StateSpace::param:
      return Space::param;
    default:
      return Space::generic;
  }
}

std::size_t vector_width(const Words& words) {
  for (const auto word : words.parts)
    if (word == "v2" || word == "v4" || word == "v8") return static_cast<std::size_t>(word[1] - '0');
  return 1;
}

// A 128-bit register is two slots.
void split_wide(Decoder& decoder, DecodedInstruction& op) {
  auto& refs = decoder.code().refs;
  const std::vector<Ref> whole(refs.begin() + op.extra, refs.end());
  refs.resize(op.extra);
  for (const auto ref : whole) {
    refs.push_back(ref);
    refs.push_back(Ref(static_cast<Bank>(ref.bank()), ref.slot() + 1));
  }
  op.count = static_cast<std::uint8_t>(op.count * 2);
}

bool decode_load(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  auto type = words.last_type();
  if (decoder.count() < 2) return decoder.fail("wrong number of operands");
  decoder.vector(op, decoder.operand(0), type, true);
  decoder.address(op, decoder.operand(1));
  if (op.count != vector_width(words)) return decoder.fail("a vector whose width is not that of the opcode");
  if (type == Type::b128) split_wide(decoder, op), type = Type::b64;
  // Floats are loaded as the bits they are.
  if (is_float(type)) type = bits_of(type) == 64 ? Type::b64 : bits_of(type) == 32 ? Type::b32 : Type::b16;
  op.bytes = static_cast<std::uint16_t>(bytes_of(type));
  op.d = decoder.code().refs[op.extra];
  const bool single = op.count == 1;
  op.run = for_integer(type, [single](auto t) -> Handler {
    using T = typename decltype(t)::type;
    return single ? &load_one<T> : &load_vector<T>;
  });
  return op.run != nullptr || decoder.unsupported();
}

bool decode_store(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  auto type = words.last_type();
  if (decoder.count() < 2) return decoder.fail("wrong number of operands");
  if (words.has("bulk") || words.has("async")) return decoder.unsupported();
  decoder.address(op, decoder.operand(0));
  decoder.vector(op, decoder.operand(1), type, false);
  if (op.count != vector_width(words)) return decoder.fail("a vector whose width is not that of the opcode");
  if (type == Type::b128) split_wide(decoder, op), type = Type::b64;
  switch (bits_of(type)) {
    case 8:
      op.run = &store<std::uint8_t>;
      break;
    case 16:
      op.run = &store<std::uint16_t>;
      break;
    case 32:
      op.run = &store<std::uint32_t>;
      break;
    case 64:
      op.run = &store<std::uint64_t>;
      break;
    default:
      return decoder.unsupported();
  }
  op.bytes = static_cast<std::uint16_t>(bytes_of(type));
  return true;
}

// cp.async: from [b + c] to [a + immediate], `bytes` of them; d: how many of those are read, the rest is
// zero; p: none is.
void copy_async(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  const auto *base = warp.at(op.b), *offset = warp.at(op.c), *size = warp.at(op.e);
  const auto ignored = warp.predicate(op.p);
  each(mask, [&](std::uint32_t i) {
    const auto to_address = warp.addresses[i];
    warp.addresses[i] = base[i] + offset[i];
    const auto wanted =
        (ignored >> i) & 1 ? 0 : std::min<std::uint32_t>(static_cast<std::uint32_t>(size[i]), op.bytes);
    std::byte bytes[16] = {};
    std::uint32_t undefined = 0;
    if (wanted != 0) {
      // What is read may be less than an element, and then is aligned as one.
      const auto aligned = (wanted & (wanted - 1)) == 0 ? wanted : 1u;
      for (std::uint32_t k = 0; k < wanted; k += aligned) {
        const auto* from =
            resolve(warp, op, i, warp.addresses[i] + k, aligned, AccessKind::read, op.bytes, Space::global);
        if (from != nullptr) std::memcpy(bytes + k, from, aligned);
        undefined |= warp.undefined_bytes << k;
        warp.undefined_bytes = 0;
      }
    }
    warp.global_lanes |= 1u << i;
    if (auto* to = resolve(warp, op, i, to_address, op.bytes, AccessKind::write, op.bytes, Space::shared)) {
      std::memcpy(to, bytes, op.bytes);
      look_for_races_of_copy(warp, i, to_address, op.bytes);
      for (; undefined != 0; undefined &= undefined - 1)
        warp.block->shared_valid[to_address + static_cast<std::uint32_t>(std::countr_zero(undefined))] = 0;
    }
  });
}

void nothing(Warp&, const DecodedInstruction&, std::uint32_t) {}

bool decode_copy(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[1] != "async" || words.has("bulk") || words.has("mbarrier")) return decoder.unsupported();
  if (words.has("commit_group")) {
    op.run = [](Warp& warp, const DecodedInstruction&, std::uint32_t mask) { commit_copies(warp, mask); };
    return true;
  }
  if (words.has("wait_all")) {
    op.run = [](Warp& warp, const DecodedInstruction&, std::uint32_t mask) {
      commit_copies(warp, mask);
      wait_for_copies(warp, mask, 0);
    };
    return true;
  }
  if (words.has("wait_group")) {
    if (decoder.count() < 1 || decoder.operand(0).kind != Kind::integer)
      return decoder.fail("wrong operands");
    op.extra = static_cast<std::uint32_t>(decoder.operand(0).value);
    op.run = [](Warp& warp, const DecodedInstruction& o, std::uint32_t mask) {
      wait_for_copies(warp, mask, o.extra);
    };
    return true;
  }
  if (decoder.count() < 3 || decoder.operand(2).kind != Kind::integer) return decoder.fail("wrong operands");
  DecodedInstruction from;
  decoder.address(op, decoder.operand(0));
  decoder.address(from, decoder.operand(1));
  op.b = from.a;
  op.c = decoder.constant(from.immediate);
  const auto bytes = decoder.operand(2).value;
  if (bytes != 4 && bytes != 8 && bytes != 16) return decoder.fail("cp.async copies 4, 8 or 16 bytes");
  op.bytes = static_cast<std::uint16_t>(bytes);
  op.e = decoder.constant(bytes);
  if (decoder.count() > 3) {
    const auto& fourth = decoder.operand(3);
    if (decoder.is_predicate(fourth))
      op.p = decoder.predicate(fourth);
    else if (decoder.count() > 4 || !words.has("L2::cache_hint"))
      op.e = decoder.source(fourth, Type::u32);
  }
  op.run = &copy_async;
  op.accesses = op.copies = true;
  op.memory_role = true;
  op.role = Role::store;
  return true;
}

}  // namespace

bool decode_memory(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[0] == "cp") return decode_copy(decoder, words, op);
  op.space = space_of(words);
  const bool loads = words[0] != "st";
  for (const std::string_view word : {"volatile", "relaxed", "acquire", "release", "mmio"})
    op.strong = op.strong || words.has(word);
  op.memory_role = op.space == Space::global || op.space == Space::generic;
  op.role = loads ? Role::load : Role::store;
  op.polls = loads && op.strong;
  op.acquires = words.has("acquire");
  op.releases = words.has("release");
  op.accesses = true;
  op.copies = loads;
  return loads ? decode_load(decoder, words, op) : decode_store(decoder, words, op);
}

bool decode_nothing(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  op.run = &nothing;
  if (words[0] == "membar" || (words[0] == "fence" && !words.has("proxy") && !words.has("mbarrier_init")))
    op.run = [](Warp& warp, const DecodedInstruction&, std::uint32_t) { order_fence(warp); };
  if (words[0] == "createpolicy") {  // a policy is a number that nobody looks at
    op.d = decoder.destination(std::size_t{0});
    op.run = [](Warp& warp, const DecodedInstruction& o, std::uint32_t mask) {
      each(mask, [&](std::uint32_t i) { warp.out(o.d)[i] = 0; });
    };
  }
  return true;
}

}  // namespace warptime::execute
