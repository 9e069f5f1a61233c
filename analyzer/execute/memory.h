// What is behind Memory: buffers by ascending address.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/execute/execute.h"

namespace warptime::execute {

struct Memory::Buffer {
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> valid;  // by byte; empty: all are
  bool constant = false;
  bool from_heap = false;  // by the kernel's malloc
  std::uint32_t owners =
      0x80000000;  // of this launch: parameters that point to it, a bit each (DecodedInstruction::owners)
};

struct Memory::State {
  bool wide = true;
  std::uint64_t limit_bytes = 0, used_bytes = 0, next_address = 0;
  std::uint64_t heap_bytes = 0;                  // that kernels have allocated and not freed
  std::vector<std::unique_ptr<Buffer>> buffers;  // by ascending address

  // The buffer that begins last at or before `address`; null where there is none.
  Buffer* below(std::uint64_t address) {
    const auto after =
        std::upper_bound(buffers.begin(), buffers.end(), address,
                         [](std::uint64_t a, const auto& buffer) { return a < buffer->address; });
    return after == buffers.begin() ? nullptr : std::prev(after)->get();
  }
};

}  // namespace warptime::execute
