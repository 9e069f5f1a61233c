// Every access to memory goes through here, and is checked here.
#include <fmt/format.h>

#include "analyzer/execute/races.h"
#include "analyzer/execute/undefined.h"

namespace warptime::execute {
namespace {

const char* verb(AccessKind access) {
  return access == AccessKind::read ? "read" : access == AccessKind::write ? "write" : "atomic";
}

std::string what(AccessKind access, std::uint32_t bytes, const char* space) {
  return fmt::format("{} of {} byte{} of {} memory", verb(access), bytes, bytes == 1 ? "" : "s", space);
}

// Where a global address lies, for people: by the nearest buffer.
std::string whereabouts(Memory::State& memory, std::uint64_t address) {
  if (address < 4096) return fmt::format("at 0x{:x}: a null pointer", address);
  const auto* below = memory.below(address);
  const auto after =
      std::upper_bound(memory.buffers.begin(), memory.buffers.end(), address,
                       [](std::uint64_t a, const auto& buffer) { return a < buffer->address; });
  const auto* above = after == memory.buffers.end() ? nullptr : after->get();
  if (below == nullptr && above == nullptr) return fmt::format("at 0x{:x}; there is no buffer", address);
  const auto size = below == nullptr ? 0 : below->bytes.size();
  const auto offset = below == nullptr ? 0 : address - below->address;
  if (below != nullptr && offset < size)
    return fmt::format("at byte {} of `{}`, across its end ({} bytes)", offset, below->name, size);
  if (above != nullptr && (below == nullptr || above->address - address < offset - size))
    return fmt::format("{} bytes before `{}` ({} bytes)", above->address - address, above->name,
                       above->bytes.size());
  return fmt::format("{} bytes past the end of `{}` ({} bytes)", offset - size, below->name, size);
}

bool misaligned(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, AccessKind access,
                const char* space) {
  if ((address & (bytes - 1)) == 0) return false;
  if (warp.found_before(Finding::Kind::misaligned)) return true;
  warp.fault(
      Finding::Kind::misaligned, lane,
      fmt::format("{} at 0x{:x}, which is not a multiple of {}", what(access, bytes, space), address, bytes));
  return true;
}

bool all_written(const std::uint8_t* valid, std::uint32_t bytes) {
  if (bytes != 4) return std::memchr(valid, 0, bytes) == nullptr;
  std::uint32_t word = 0;
  std::memcpy(&word, valid, sizeof word);
  return word == 0x01010101;
}

// Whether any byte in the 16-byte pieces around was written: then those that were not may be padding.
bool beside_others(const std::uint8_t* valid, std::uint64_t address, std::uint32_t bytes,
                   std::uint64_t size) {
  constexpr std::uint64_t piece = 16;
  const auto first = address / piece * piece, end = std::min(align_up(address + bytes, piece), size);
  return std::any_of(valid + first, valid + end, [](std::uint8_t one) { return one != 0; });
}

// `valid`: of the whole memory, which has `size` bytes.
void check_valid(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, const std::uint8_t* valid,
                 std::uint64_t address, std::uint32_t bytes, std::uint64_t size, const char* space,
                 const std::string* name) {
  if (all_written(valid + address, bytes) || !warp.machine->options->checks.uninitialised_memory) return;
  std::uint32_t unknown = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) unknown |= std::uint32_t{valid[address + i] == 0} << i;
  const bool padding = op.copies && beside_others(valid, address, bytes, size);
  if (padding) warp.undefined_bytes = unknown;
  if (!padding && warp.found_before(Finding::Kind::uninitialised_memory)) return;
  const auto place =
      name != nullptr ? fmt::format("byte {} of `{}`", address, *name) : fmt::format("address {}", address);
  const auto message =
      fmt::format("{} that nothing has written ({})", what(AccessKind::read, bytes, space), place);
  if (padding)
    note_undefined_read(warp, message);
  else
    warp.fault(Finding::Kind::uninitialised_memory, lane, message);
}

// Only for a named place: which one an address computed from parameters or shared arrays may be in is known.
void say_other_buffer(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, AccessKind access,
                      std::uint32_t bytes, const Memory::Buffer& buffer) {
  if (!warp.machine->options->checks.other_buffers || warp.found_before(Finding::Kind::other_buffer)) return;
  const auto& kernel = warp.machine->program->module->functions[warp.machine->program->kernel];
  std::string from;
  for (std::uint32_t k = 0; k < kernel.parameters.size() && k < 31; ++k)
    if ((op.owners >> k & 1) != 0)
      from += fmt::format("{}`{}`", from.empty() ? "" : " or ", kernel.parameters[k].name);
  warp.fault(Finding::Kind::other_buffer, lane,
             fmt::format("{} in `{}`, at an address computed from parameter {}",
                         what(access, bytes, "global"), buffer.name, from));
}

void check_array(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                 std::uint32_t bytes, AccessKind access) {
  const auto& arrays = warp.code().shared_arrays;
  const FunctionCode::SharedArray* from = nullptr;
  auto owners = op.owners;
  if (!warp.code().choices.empty())
    if (const auto chosen = warp.code().choices.find(warp.pc); chosen != warp.code().choices.end())
      owners = (warp.predicate(chosen->second.by) >> lane & 1) != 0 ? chosen->second.yes : chosen->second.no;
  for (std::uint32_t k = 0; k < arrays.size(); ++k)
    if ((owners >> k & 1) != 0) {
      if (address - arrays[k].address < arrays[k].bytes) return;
      from = &arrays[k];
    }
  if (from == nullptr || !warp.machine->options->checks.other_buffers ||
      warp.found_before(Finding::Kind::other_buffer))
    return;
  warp.fault(Finding::Kind::other_buffer, lane,
             fmt::format("{} at {}, outside of `{}` ({} bytes from {}), which the address was computed from",
                         what(access, bytes, "shared"), address, from->name, from->bytes, from->address));
}

std::byte* global(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                  std::uint32_t bytes, AccessKind access, Space space) {
  auto& memory = *warp.machine->memory;
  const char* name = space == Space::constant ? "constant" : "global";
  auto* buffer = warp.cached;
  const auto fits = [&] {
    return buffer != nullptr && address - buffer->address < buffer->bytes.size() &&
           buffer->bytes.size() - (address - buffer->address) >= bytes;
  };
  if (!fits()) {
    buffer = memory.below(address);
    if (!fits()) {
      if (warp.found_before(Finding::Kind::out_of_bounds)) return nullptr;
      warp.fault(Finding::Kind::out_of_bounds, lane,
                 fmt::format("{}, {}", what(access, bytes, name), whereabouts(memory, address)));
      return nullptr;
    }
    warp.cached = buffer;
  }
  if (misaligned(warp, lane, address, bytes, access, name)) return nullptr;
  const auto offset = address - buffer->address;
  if (buffer->constant && access != AccessKind::read) {
    warp.fault(Finding::Kind::read_only, lane,
               fmt::format("{} `{}`, which is constant", what(access, bytes, name), buffer->name));
    return nullptr;
  }
  if ((op.owners & buffer->owners) == 0) say_other_buffer(warp, op, lane, access, bytes, *buffer);
  if (!buffer->valid.empty()) {
    if (access != AccessKind::write)
      check_valid(warp, op, lane, buffer->valid.data(), offset, bytes, buffer->bytes.size(), name,
                  &buffer->name);
    if (access != AccessKind::read) std::memset(&buffer->valid[offset], 1, bytes);
  }
  return &buffer->bytes[offset];
}

std::byte* shared(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                  std::uint32_t bytes, AccessKind access) {
  auto& block = *warp.block;
  const auto size = block.shared.size();
  if (address >= size || size - address < bytes) {
    if (warp.found_before(Finding::Kind::out_of_bounds)) return nullptr;
    warp.fault(Finding::Kind::out_of_bounds, lane,
               fmt::format("{} at {}, past the end of the block's {} bytes", what(access, bytes, "shared"),
                           static_cast<std::int64_t>(address), size));
    return nullptr;
  }
  if (misaligned(warp, lane, address, bytes, access, "shared")) return nullptr;
  if (access != AccessKind::write)
    check_valid(warp, op, lane, block.shared_valid.data(), address, bytes, size, "shared", nullptr);
  if (op.space == Space::shared && op.owners != 0xffffffff)
    check_array(warp, op, lane, address, bytes, access);
  if (access != AccessKind::read) std::memset(&block.shared_valid[address], 1, bytes);
  const bool strong = op.strong || access == AccessKind::atomic;
  if (!block.records.empty() && !note_ordered_access(warp, lane, address, bytes, access, strong))
    look_for_races(warp, lane, address, bytes, access, strong);
  return &block.shared[address];
}

std::byte* of_lane(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, LaneMemory& memory,
                   std::uint64_t size, std::uint64_t address, std::uint32_t bytes, AccessKind access,
                   const char* space) {
  if (address >= size || size - address < bytes) {
    if (warp.found_before(Finding::Kind::out_of_bounds)) return nullptr;
    warp.fault(Finding::Kind::out_of_bounds, lane,
               fmt::format("{} at {}, past the end of the thread's {} bytes", what(access, bytes, space),
                           static_cast<std::int64_t>(address), size));
    return nullptr;
  }
  if (misaligned(warp, lane, address, bytes, access, space)) return nullptr;
  if (access != AccessKind::write)
    check_valid(warp, op, lane, memory.valid.data(), address, bytes, size, space, nullptr);
  if (access != AccessKind::read) std::memset(&memory.valid[address], 1, bytes);
  return &memory.bytes[address];
}

std::byte* parameter(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                     std::uint32_t bytes, AccessKind access) {
  if (address >= call_parameters)
    return of_lane(warp, op, lane, warp.params[lane], warp.frame().param_end, address - call_parameters,
                   bytes, access, "parameter");
  auto& parameters = warp.machine->parameters;
  if (address >= parameters.size() || parameters.size() - address < bytes) {
    warp.fault(
        Finding::Kind::out_of_bounds, lane,
        fmt::format("{} at {}, past the end of the kernel's {} bytes", what(access, bytes, "parameter"),
                    static_cast<std::int64_t>(address), parameters.size()));
    return nullptr;
  }
  if (misaligned(warp, lane, address, bytes, access, "parameter")) return nullptr;
  if (access != AccessKind::read) {
    warp.fault(Finding::Kind::read_only, lane,
               fmt::format("{}: the kernel's parameters", what(access, bytes, "parameter")));
    return nullptr;
  }
  return &parameters[address];
}

}  // namespace

std::byte* resolve(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, std::uint64_t address,
                   std::uint32_t bytes, AccessKind access, std::uint32_t /*element_bytes*/, Space space) {
  const bool generic = space == Space::generic;
  if (generic) {
    const auto& map = *warp.machine->map;
    if (address - map.shared < AddressMap::window_bytes)
      space = Space::shared, address -= map.shared;
    else if (address - map.local < AddressMap::window_bytes)
      space = Space::local, address -= map.local;
    else if (address - map.param < AddressMap::window_bytes)
      space = Space::param, address -= map.param;
    else
      space = Space::global;
  }
  switch (space) {
    case Space::global: {
      auto* data = global(warp, op, lane, address, bytes, access, space);
      if (!generic || data == nullptr || !warp.cached->constant) warp.global_lanes |= 1u << lane;
      return data;
    }
    case Space::constant:
      return global(warp, op, lane, constant_address(*warp.machine->map, address), bytes, access, space);
    case Space::shared:
      warp.shared_lanes |= 1u << lane;
      return shared(warp, op, lane, address, bytes, access);
    case Space::local:
      return of_lane(warp, op, lane, warp.local[lane], warp.frame().local_end, address, bytes, access,
                     "local");
    case Space::param:
      return parameter(warp, op, lane, address, bytes, access);
    case Space::generic:
      break;
  }
  return nullptr;
}

void find_addresses(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  warp.global_lanes = 0;
  ++warp.block->stamp;
  std::uint64_t offset = op.immediate;
  if (op.base == Base::frame_local) offset += warp.frame().local_base;
  if (op.base == Base::frame_param) offset += warp.frame().param_base;
  const auto* base = warp.at(op.a);
  if (warp.machine->program->wide) {
    each(mask, [&](auto lane) { warp.addresses[lane] = base[lane] + offset; });
  } else {
    each(mask, [&](auto lane) { warp.addresses[lane] = static_cast<std::uint32_t>(base[lane] + offset); });
  }
}

}  // namespace warptime::execute
