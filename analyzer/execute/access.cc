// Every access to memory goes through here, and is checked here.
#include <fmt/format.h>

#include "analyzer/execute/warp.h"

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

void check_valid(Warp& warp, std::uint32_t lane, const std::uint8_t* valid, std::uint64_t address,
                 std::uint32_t bytes, const char* space, bool all_of_them, const std::string* name) {
  if (!warp.machine->options->checks.uninitialised_memory) return;
  std::uint32_t unknown = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) unknown += valid[i] == 0;
  if (unknown == 0 || (all_of_them && unknown < bytes) ||
      warp.found_before(Finding::Kind::uninitialised_memory))
    return;
  const auto place =
      name != nullptr ? fmt::format("byte {} of `{}`", address, *name) : fmt::format("address {}", address);
  warp.fault(Finding::Kind::uninitialised_memory, lane,
             fmt::format("{} that nothing has written ({})", what(AccessKind::read, bytes, space), place));
}

std::byte* global(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                  AccessKind access, Space space) {
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
  if (!buffer->valid.empty()) {
    if (access != AccessKind::write)
      check_valid(warp, lane, &buffer->valid[offset], offset, bytes, name, false, &buffer->name);
    if (access != AccessKind::read) std::memset(&buffer->valid[offset], 1, bytes);
  }
  return &buffer->bytes[offset];
}

void race(Warp& warp, std::uint32_t lane, std::uint64_t address, const char* first, const char* second,
          std::uint32_t other) {
  if (warp.found_before(Finding::Kind::shared_race)) return;
  warp.fault(Finding::Kind::shared_race, lane,
             fmt::format(
                 "race: {} and {} of byte {} of shared memory with no barrier between them (warps {} and {})",
                 first, second, address, other, warp.index));
}

// One finding per access is enough. Strong accesses (atomics, .volatile, .relaxed, …) do not race with each
// other.
void look_for_races(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                    AccessKind access, bool strong) {
  auto& block = *warp.block;
  for (std::uint64_t i = address; i < address + bytes; ++i) {
    auto& record = block.records[i];
    if (record.write_epoch == block.epoch && record.write_warp != warp.index &&
        !(strong && record.write_strong))
      return race(warp, lane, i, "write", verb(access), record.write_warp);
    if (access == AccessKind::read) {
      if (strong) continue;
      if (record.read_epoch != block.epoch) {
        record.read_epoch = block.epoch;
        record.read_warp = warp.index;
        record.read_by_several = false;
      } else if (record.read_warp != warp.index) {
        record.read_by_several = true;
      }
      continue;
    }
    if (record.read_epoch == block.epoch && (record.read_by_several || record.read_warp != warp.index))
      return race(warp, lane, i, "read", verb(access), record.read_warp);
    record.write_epoch = block.epoch;
    record.write_warp = warp.index;
    record.write_strong = strong;
  }
}

std::byte* shared(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                  AccessKind access, bool strong) {
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
    check_valid(warp, lane, &block.shared_valid[address], address, bytes, "shared", false, nullptr);
  if (access != AccessKind::read) std::memset(&block.shared_valid[address], 1, bytes);
  if (!block.records.empty())
    look_for_races(warp, lane, address, bytes, access, strong || access == AccessKind::atomic);
  return &block.shared[address];
}

std::byte* of_lane(Warp& warp, std::uint32_t lane, LaneMemory& memory, std::uint64_t size,
                   std::uint64_t address, std::uint32_t bytes, AccessKind access, const char* space) {
  if (address >= size || size - address < bytes) {
    if (warp.found_before(Finding::Kind::out_of_bounds)) return nullptr;
    warp.fault(Finding::Kind::out_of_bounds, lane,
               fmt::format("{} at {}, past the end of the thread's {} bytes", what(access, bytes, space),
                           static_cast<std::int64_t>(address), size));
    return nullptr;
  }
  if (misaligned(warp, lane, address, bytes, access, space)) return nullptr;
  // Structs have holes that are copied along.
  if (access != AccessKind::write)
    check_valid(warp, lane, &memory.valid[address], address, bytes, space, true, nullptr);
  if (access != AccessKind::read) std::memset(&memory.valid[address], 1, bytes);
  return &memory.bytes[address];
}

std::byte* parameter(Warp& warp, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                     AccessKind access) {
  if (address >= call_parameters)
    return of_lane(warp, lane, warp.params[lane], warp.frame().param_end, address - call_parameters, bytes,
                   access, "parameter");
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
      auto* data = global(warp, lane, address, bytes, access, space);
      if (!generic || data == nullptr || !warp.cached->constant) warp.global_lanes |= 1u << lane;
      return data;
    }
    case Space::constant:
      return global(warp, lane, address, bytes, access, space);
    case Space::shared:
      warp.shared_lanes |= 1u << lane;
      return shared(warp, lane, address, bytes, access, op.strong);
    case Space::local:
      return of_lane(warp, lane, warp.local[lane], warp.frame().local_end, address, bytes, access, "local");
    case Space::param:
      return parameter(warp, lane, address, bytes, access);
    case Space::generic:
      break;
  }
  return nullptr;
}

void find_addresses(Warp& warp, const DecodedInstruction& op, std::uint32_t mask) {
  warp.global_lanes = 0;
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
