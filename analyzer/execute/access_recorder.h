// The accesses of a kernel program whose addresses data decide, looked at while the kernel executes: AccessProfile.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/execute/execute.h"
#include "simulator/program/profile.h"

namespace warptime::execute {

// What one warp asks of one line: a bit for each of its four sectors.
struct LineGroup {
  std::uint64_t line = 0;
  std::uint8_t sectors = 0;
};

// When each sector was asked for last, in groups, and whether it was read and written.
class SectorTimes {
 public:
  struct Line {
    std::array<std::uint32_t, 4> last{};  // 0: never
    std::uint8_t read = 0, written = 0;   // a bit for each sector
  };
  Line& at(std::uint64_t line);

 private:
  static constexpr unsigned page_shift = 12;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::vector<Line>>> pages_;
  std::uint64_t page_ = ~std::uint64_t{0};
  std::vector<Line>* current_ = nullptr;
};

class AccessRecorder {
 public:
  // The program must have ItemDetail, and be of the module that is executed; both must outlive it.
  // `blocks`: of the launch, that are executed.
  AccessRecorder(const KernelProgram& program, const ptx::Module& module, const LaunchConfig& launch,
                 std::uint64_t blocks);
  void executed(const WarpId& warp, const ExecutedInstruction& instruction, int ptx_line);
  // Adds what was executed to the profile.
  void add_to(KernelProfile& profile) const;

 private:
  struct Access {
    std::string name;
    std::size_t array = 0;
    bool reads = false, writes = false, atomic = false;
    double requests = 0, sectors = 0, lines = 0, turns = 0, addresses = 0;
    TouchedMemory launch;
    std::array<double, 32> all{};  // sectors by their reuse times in the launch
  };
  struct Array {
    SectorTimes times;
    std::uint32_t groups = 0;
  };
  struct ChipAccesses {  // of an item: those of one space and kind
    const Item* item = nullptr;
    ChipAccess::Space space = ChipAccess::Space::shared;
    ChipAccess::Kind kind = ChipAccess::Kind::load;
    std::vector<bool> unknown;                 // in order
    std::map<int, ChipAccessProfile> by_line;  // sums, by the line of the PTX
    std::map<int, int> source_lines;           // by the line of the PTX
  };
  // A request of one of the blocks that stand for those of an SM.
  struct Request {
    std::uint32_t access = 0, first = 0, count = 0;  // in groups_
  };
  struct SampledBlock {
    std::vector<std::vector<Request>> warps;
  };
  // What the sampled blocks say of an access.
  struct OnSm {
    double sectors = 0, repeats = 0;
    double all_sectors = 0;  // in the end
    std::array<double, kPartsOfFirst> first{};
    std::array<double, 32> turns{}, sectors_of_turns{};  // requests, by AccessProfile::by_turn
    std::array<double, 32> times{};
    TouchedMemory block;  // sum over blocks
  };
  class Replay;

  void find(const Items& items, const std::vector<std::string>& known);
  void find_on_chip(const Item& item);
  void memory_access(Access& access, const WarpId& warp, const ExecutedInstruction& instruction);
  void chip_access(const ExecutedInstruction& instruction, int ptx_line);
  void count_atomics(Access& access, const ExecutedInstruction& instruction, bool sampled);
  void touch(Access& access);
  void keep(const Access& access, const WarpId& warp);
  bool is_sampled(std::uint64_t block) const;
  AccessProfile profile_of(const Access& access, const OnSm& on_sm) const;
  void add_on_chip(KernelProfile& profile) const;

  const ptx::Module& module_;
  LaunchConfig launch_;
  std::uint64_t blocks_;
  std::vector<Access> accesses_;
  std::vector<Array> arrays_;
  std::map<std::string, std::size_t> array_numbers_, access_numbers_;
  std::vector<int> access_of_line_;             // by the line of the PTX; -1: none
  std::vector<std::vector<int>> chip_of_line_;  // into chip_
  std::vector<ChipAccesses> chip_;
  std::vector<LineGroup> now_;     // the groups of the request that is looked at
  std::vector<LineGroup> groups_;  // of the sampled blocks
  std::map<std::uint64_t, SampledBlock> sampled_;
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> addresses_;  // of atomics of sampled blocks
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>>
      four_lines_;  // of atomics of all blocks: threads
};

}  // namespace warptime::execute
