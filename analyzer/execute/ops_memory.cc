// Loads, stores, asynchronous copies; and what leaves no trace: fences, prefetches, hints.
#include <algorithm>

#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"
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
        buffer->valid.empty() && (access == AccessKind::read || !buffer->constant)) {
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
  });
}

template <class T>
void load_vector(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  const auto* refs = &warp.code().refs[op.extra];
  each(mask, [&](std::uint32_t i) {
    const auto* from = place(warp, op, i, sizeof(T) * op.count, AccessKind::read);
    for (std::uint32_t k = 0; k < op.count; ++k)
      warp.out(refs[k])[i] = from == nullptr ? 0 : widen(read_as<T>(from + k * sizeof(T)));
  });
}

// Two lanes of one instruction that write different values to one byte of shared memory.
void note_lanes(Warp& warp, std::uint32_t lane, const std::byte* to, const std::byte* value,
                std::uint32_t bytes) {
  auto& block = *warp.block;
  const auto offset = static_cast<std::size_t>(to - block.shared.data());
  for (std::uint32_t i = 0; i < bytes; ++i) {
    auto& stamp = block.records[offset + i].write_stamp;
    if (stamp == block.stamp && to[i] != value[i]) {
      warp.fault(Finding::Kind::shared_race, lane,
                 "race: lanes of one warp write different values to byte " + std::to_string(offset + i) +
                     " of shared memory");
      return;
    }
    stamp = block.stamp;
  }
}

bool is_shared(const Warp& warp, const std::byte* to) {
  const auto& shared = warp.block->shared;
  return !shared.empty() && to >= shared.data() && to < shared.data() + shared.size();
}

template <class T>
void store(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  find_addresses(warp, op, mask);
  const auto* refs = &warp.code().refs[op.extra];
  const auto bytes = static_cast<std::uint32_t>(sizeof(T)) * op.count;
  ++warp.block->stamp;
  const bool watch =
      !warp.block->records.empty() && (op.space == Space::shared || op.space == Space::generic);
  each(mask, [&](std::uint32_t i) {
    auto* to = place(warp, op, i, bytes, AccessKind::write);
    if (to == nullptr) return;
    for (std::uint32_t k = 0; k < op.count; ++k, to += sizeof(T)) {
      const auto value = static_cast<T>(warp.at(refs[k])[i]);
      if (watch && is_shared(warp, to))
        note_lanes(warp, i, to, reinterpret_cast<const std::byte*>(&value), sizeof(T));
      std::memcpy(to, &value, sizeof(T));
    }
  });
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
    if (wanted != 0) {
      // What is read may be less than an element, and then is aligned as one.
      const auto aligned = (wanted & (wanted - 1)) == 0 ? wanted : 1u;
      for (std::uint32_t k = 0; k < wanted; k += aligned) {
        const auto* from =
            resolve(warp, op, i, warp.addresses[i] + k, aligned, AccessKind::read, op.bytes, Space::global);
        if (from != nullptr) std::memcpy(bytes + k, from, aligned);
      }
    }
    warp.global_lanes |= 1u << i;
    if (auto* to = resolve(warp, op, i, to_address, op.bytes, AccessKind::write, op.bytes, Space::shared))
      std::memcpy(to, bytes, op.bytes);
  });
}

void nothing(Warp&, const DecodedInstruction&, std::uint32_t) {}

bool decode_copy(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[1] != "async" || words.has("bulk") || words.has("mbarrier")) return decoder.unsupported();
  if (words.has("commit_group") || words.has("wait_group") || words.has("wait_all")) {
    op.run = &nothing;
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
  return loads ? decode_load(decoder, words, op) : decode_store(decoder, words, op);
}

bool decode_nothing(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  op.run = &nothing;
  if (words[0] == "createpolicy") {  // a policy is a number that nobody looks at
    op.d = decoder.destination(std::size_t{0});
    op.run = [](Warp& warp, const DecodedInstruction& o, std::uint32_t mask) {
      each(mask, [&](std::uint32_t i) { warp.out(o.d)[i] = 0; });
    };
  }
  return true;
}

}  // namespace warptime::execute
