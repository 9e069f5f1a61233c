// What a warp executed: kept, cut into periods, counted.
#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "analyzer/execute/execute.h"

namespace warptime::execute {
namespace {

constexpr std::uint64_t sector_bytes = 32;

}  // namespace

StreamRecorder::StreamRecorder(std::vector<WarpId> warps, std::uint64_t limit)
    : warps_(std::move(warps)), limit_(limit), streams_(warps_.size()) {}

bool StreamRecorder::wants(const WarpId& warp) {
  return std::find(warps_.begin(), warps_.end(), warp) != warps_.end();
}

void StreamRecorder::executed(const WarpId& warp, const ExecutedInstruction& instruction) {
  if (!(warps_[current_] == warp))
    current_ = static_cast<std::size_t>(std::find(warps_.begin(), warps_.end(), warp) - warps_.begin());
  auto& stream = streams_[current_];
  if (stream.entries.size() >= limit_) {
    stream.truncated = true;
    return;
  }
  Stream::Entry entry;
  entry.function = instruction.function;
  entry.instruction = instruction.instruction;
  entry.active = instruction.active;
  entry.performed = instruction.performed;
  entry.role = instruction.role;
  entry.bytes = instruction.bytes;
  entry.first_address = stream.addresses.size();
  if (instruction.addresses != nullptr)
    for (std::uint32_t rest = instruction.global_lanes; rest != 0; rest &= rest - 1)
      stream.addresses.push_back(instruction.addresses[std::countr_zero(rest)]);
  entry.address_count = static_cast<std::uint32_t>(stream.addresses.size() - entry.first_address);
  stream.entries.push_back(entry);
}

std::vector<StreamPeriod> segment(const Stream& stream) {
  std::vector<StreamPeriod> periods;
  std::uint64_t run = 0;
  const auto end_run = [&] {
    if (run != 0) periods.push_back({PeriodKind::calculation, run});
    run = 0;
  };
  for (const auto& entry : stream.entries) {
    switch (entry.role) {
      case Role::none:
        break;
      case Role::calculation:
        ++run;
        break;
      case Role::load:
      case Role::store:
        end_run();
        periods.push_back({entry.role == Role::load ? PeriodKind::load : PeriodKind::store, 1});
        break;
    }
  }
  end_run();
  return periods;
}

std::uint32_t sectors(std::span<const std::uint64_t> addresses, std::uint32_t bytes) {
  std::set<std::uint64_t> touched;
  for (const auto address : addresses)
    for (auto sector = address / sector_bytes; sector <= (address + std::max(bytes, 1u) - 1) / sector_bytes;
         ++sector)
      touched.insert(sector);
  return static_cast<std::uint32_t>(touched.size());
}

// ---- as a kernel program

namespace {

using warptime::Access;

MemoryAccess access_of(const Stream& stream, const Stream::Entry& entry) {
  const std::span<const std::uint64_t> addresses(stream.addresses.data() + entry.first_address,
                                                 entry.address_count);
  MemoryAccess access;
  access.kind = entry.role == Role::load ? MemoryAccess::Kind::load : MemoryAccess::Kind::store;
  access.bytes = entry.bytes;
  access.sectors = sectors(addresses, entry.bytes);
  access.access = Access::uniform;
  if (addresses.empty()) return access;
  const auto stride = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
  bool even = true, same = true;
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    even = even && addresses[i] - addresses[i - 1] == stride;
    same = same && addresses[i] == addresses[0];
  }
  if (same) return access;
  access.access = !even ? Access::scattered : stride == entry.bytes ? Access::coalesced : Access::strided;
  if (access.access == Access::strided) access.stride = std::to_string(static_cast<std::int64_t>(stride));
  return access;
}

void add_lines(Item& item, const ptx::Instruction& instruction) {
  if (instruction.source_line != 0) item.lines.add(static_cast<int>(instruction.source_line));
  item.ptx.add(static_cast<int>(instruction.line));
}

}  // namespace

KernelProgram to_program(const Stream& stream, const ptx::Module& module) {
  KernelProgram program;
  std::int64_t run = 0;
  for (const auto& entry : stream.entries) {
    if (entry.role == Role::none) continue;
    const auto& instruction = module.functions[entry.function].instructions[entry.instruction];
    if (entry.role != Role::calculation) {
      program.program.emplace_back().what.emplace<MemoryAccess>(access_of(stream, entry));
      run = 0;
    } else {
      if (run == 0) program.program.emplace_back().what.emplace<Instructions>();
      std::get<Instructions>(program.program.back().what).count = Expression(++run);
    }
    add_lines(program.program.back(), instruction);
  }
  return program;
}

// ---- the footprint

struct FootprintRecorder::Pages {
  static constexpr std::uint64_t page_bytes = 4096, words = page_bytes / 64;
  using Page = std::array<std::uint64_t, words>;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
  std::uint64_t last_number = ~std::uint64_t{0};
  Page* last = nullptr;

  Page& page(std::uint64_t number) {
    if (number == last_number) return *last;
    auto& place = pages[number];
    if (place == nullptr) place = std::make_unique<Page>();
    last_number = number;
    return *(last = place.get());
  }
  void add(std::uint64_t address, std::uint64_t bytes) {
    while (bytes != 0) {
      const auto bit = address % 64, here = std::min(bytes, 64 - bit);
      const auto ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
      page(address / page_bytes)[address % page_bytes / 64] |= ones << bit;
      address += here, bytes -= here;
    }
  }
  void add(const Pages& other) {
    for (const auto& [number, bits] : other.pages) {
      auto& mine = page(number);
      for (std::size_t i = 0; i < words; ++i) mine[i] |= (*bits)[i];
    }
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [number, bits] : pages)
      for (const auto word : *bits) sum += static_cast<std::uint64_t>(std::popcount(word));
    return sum;
  }
};

void FootprintRecorder::executed(const WarpId&, const ExecutedInstruction& instruction) {
  if (instruction.addresses == nullptr || instruction.global_lanes == 0) return;
  auto& pages = accesses_[std::uint64_t{instruction.function} << 32 | instruction.instruction];
  if (pages == nullptr) pages = std::make_shared<Pages>();
  const auto bytes = instruction.bytes;
  // Lanes side by side are one run.
  std::uint64_t begin = 0, end = 0;
  for (std::uint32_t rest = instruction.global_lanes; rest != 0; rest &= rest - 1) {
    const auto address = instruction.addresses[std::countr_zero(rest)];
    if (address != end) {
      pages->add(begin, end - begin);
      begin = address;
    }
    end = address + bytes;
  }
  pages->add(begin, end - begin);
}

std::uint64_t FootprintRecorder::bytes_at(std::uint32_t function, std::uint32_t instruction) const {
  const auto found = accesses_.find(std::uint64_t{function} << 32 | instruction);
  return found == accesses_.end() ? 0 : found->second->bytes();
}

std::uint64_t FootprintRecorder::bytes_in_all() const {
  Pages all;
  for (const auto& [where, pages] : accesses_) all.add(*pages);
  return all.bytes();
}

}  // namespace warptime::execute
