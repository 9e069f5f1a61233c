// Transfer between registers, packing, and addresses between state spaces.
#include "analyzer/execute/decode.h"
#include "analyzer/execute/lanes.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::execute {
namespace {

using Kind = ptx::Operand::Kind;

std::uint64_t bits_kept(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// `immediate`: the bits that are kept.
void move(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  const auto keep = op.immediate;
  each(mask, [&](std::uint32_t i) { d[i] = a[i] & keep; });
}

void move_predicate(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  warp.set_predicate(op.pd, mask, warp.predicate(op.p));
}

// Time is the number of instructions that were executed.
void move_clock(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto* d = warp.out(op.d);
  const auto now = warp.machine->result.counts.instructions & op.immediate;
  each(mask, [&](std::uint32_t i) { d[i] = now; });
}

// A variable of the frame.
void move_address(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  auto* d = warp.out(op.d);
  const auto base = op.base == Base::frame_local ? warp.frame().local_base : warp.frame().param_base;
  each(mask, [&](std::uint32_t i) { d[i] = base + op.immediate; });
}

// `bytes` of each element; the first is the lowest.
void pack(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* refs = &warp.code().refs[op.extra];
  const int width = op.bytes * 8;
  auto* d = warp.out(op.d);
  const auto keep = bits_kept(width);
  each(mask, [&](std::uint32_t i) {
    std::uint64_t value = 0;
    for (int k = 0; k < op.count; ++k) value |= (warp.at(refs[k])[i] & keep) << (k * width);
    d[i] = value;
  });
}

void unpack(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* refs = &warp.code().refs[op.extra];
  const int width = op.bytes * 8;
  const auto* a = warp.at(op.a);
  const auto keep = bits_kept(width);
  each(mask, [&](std::uint32_t i) {
    const auto value = a[i];  // a part may be the whole's register
    for (int k = 0; k < op.count; ++k) warp.out(refs[k])[i] = (value >> (k * width)) & keep;
  });
}

// 128 bits in two slots, from and to halves or another such register; all of a lane is read before any is
// written.
void move_wide(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* refs = &warp.code().refs[op.extra];  // sources, then destinations
  each(mask, [&](std::uint32_t i) {
    const auto low = warp.at(refs[0])[i], high = warp.at(refs[1])[i];
    warp.out(refs[2])[i] = low;
    warp.out(refs[3])[i] = high;
  });
}

Ref next(Ref ref) {
  return Ref(static_cast<Bank>(ref.bank()), ref.slot() + 1);
}

bool decode_wide_move(Decoder& decoder, DecodedInstruction& op) {
  std::vector<Ref> refs;
  const auto add = [&](std::size_t i, bool written) {
    const auto& operand = decoder.operand(i);
    if (operand.kind == Kind::vector) {
      if (operand.part_count != 2) return decoder.unsupported();
      for (std::uint32_t k = 0; k < 2; ++k)
        refs.push_back(written ? decoder.destination(decoder.part(operand, k))
                               : decoder.source(decoder.part(operand, k), Type::b64));
      return true;
    }
    if (decoder.register_bits(operand) != 128) return decoder.unsupported();
    refs.push_back(written ? decoder.destination(operand) : decoder.source(operand, Type::b128));
    refs.push_back(next(refs.back()));
    return true;
  };
  if (!add(1, false) || !add(0, true)) return false;
  op.extra = static_cast<std::uint32_t>(decoder.code().refs.size());
  decoder.code().refs.insert(decoder.code().refs.end(), refs.begin(), refs.end());
  op.run = &move_wide;
  return true;
}

bool decode_mov(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() != 2) return decoder.fail("wrong number of operands");
  const auto type = words.last_type();
  const auto &to = decoder.operand(0), &from = decoder.operand(1);
  if (type == Type::pred) {
    op.pd = decoder.predicate_destination(to);
    op.p = decoder.predicate(from);
    op.run = &move_predicate;
    return true;
  }
  if (type == Type::b128) return decode_wide_move(decoder, op);
  if (words.parts.size() > 2) return decoder.unsupported();
  if (from.kind == Kind::vector) {
    decoder.vector(op, from, Type::b64, false);
    op.bytes = static_cast<std::uint16_t>(bytes_of(type) / std::max<int>(1, op.count));
    op.d = decoder.destination(to);
    op.run = &pack;
    return op.bytes != 0 || decoder.unsupported();
  }
  if (to.kind == Kind::vector) {
    op.a = decoder.source(from, type);
    decoder.vector(op, to, type, true);
    op.bytes = static_cast<std::uint16_t>(bytes_of(type) / std::max<int>(1, op.count));
    op.run = &unpack;
    return op.bytes != 0 || decoder.unsupported();
  }
  op.d = decoder.destination(to);
  if (decoder.frame_address(op, from)) {
    op.run = &move_address;
    return true;
  }
  op.immediate = bits_kept(bits_of(type));
  op.a = decoder.source(from, type);
  const bool clock = from.kind == Kind::special &&
                     (from.text.starts_with("%clock") || from.text.starts_with("%globaltimer"));
  op.run = clock && from.text.find("_hi") == std::string_view::npos ? &move_clock : &move;
  return true;
}

// d = a + immediate, with the frame's base where there is one.
void convert_address(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  auto offset = op.immediate;
  if (op.base == Base::frame_local) offset += warp.frame().local_base;
  if (op.base == Base::frame_param) offset += warp.frame().param_base;
  const auto keep = bits_kept(op.bytes * 8);
  each(mask, [&](std::uint32_t i) { d[i] = (a[i] + offset) & keep; });
}

void convert_constant_address(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  auto* d = warp.out(op.d);
  each(mask, [&](std::uint32_t i) { d[i] = constant_address(*warp.machine->map, a[i]); });
}

std::uint64_t window_of(const Words& words, const AddressMap& map) {
  if (words.has("shared") || words.has("shared::cta") || words.has("shared::cluster")) return map.shared;
  if (words.has("local")) return map.local;
  if (words.has("param") || words.has("param::entry") || words.has("param::func")) return map.param;
  return 0;
}

bool decode_cvta(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() != 2) return decoder.fail("wrong number of operands");
  const auto type = words.last_type();
  op.bytes = static_cast<std::uint16_t>(bytes_of(type));
  op.d = decoder.destination(std::size_t{0});
  if (!decoder.frame_address(op, decoder.operand(1))) op.a = decoder.source(1, type);
  const auto window = window_of(words, address_map(decoder.program().wide));
  op.immediate += words.has("to") ? 0 - window : window;
  op.run = words.has("const") && !words.has("to") ? &convert_constant_address : &convert_address;
  return true;
}

// immediate: the window's beginning; detail: 1 global, 2 constant.
void is_in_window(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  std::uint32_t result = 0;
  each(mask, [&](std::uint32_t i) {
    result |= std::uint32_t{a[i] - op.immediate < AddressMap::window_bytes} << i;
  });
  warp.set_predicate(op.pd, mask, result);
}

void is_global(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  const auto* a = warp.at(op.a);
  const auto& map = *warp.machine->map;
  std::uint32_t result = 0;
  each(mask, [&](std::uint32_t i) {
    bool other = false;
    for (const auto window : {map.shared, map.local, map.param})
      other = other || a[i] - window < AddressMap::window_bytes;
    const auto* buffer = warp.machine->memory->below(a[i]);
    const bool constant =
        buffer != nullptr && buffer->constant && a[i] - buffer->address < buffer->bytes.size();
    result |= std::uint32_t{!other && constant == (op.detail == 2)} << i;
  });
  warp.set_predicate(op.pd, mask, result);
}

bool decode_isspacep(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (decoder.count() != 2) return decoder.fail("wrong number of operands");
  op.pd = decoder.predicate_destination(decoder.operand(0));
  op.a = decoder.source(1, Type::u64);
  op.immediate = window_of(words, address_map(decoder.program().wide));
  op.detail = words.has("const") ? 2 : 1;
  op.run = op.immediate == 0 ? &is_global : &is_in_window;
  return true;
}

}  // namespace

bool decode_move(Decoder& decoder, const Words& words, DecodedInstruction& op) {
  if (words[0] == "cvta") return decode_cvta(decoder, words, op);
  if (words[0] == "isspacep") return decode_isspacep(decoder, words, op);
  return decode_mov(decoder, words, op);
}

}  // namespace warptime::execute
