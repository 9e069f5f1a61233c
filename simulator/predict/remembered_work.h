// What predictions of the same kernels share: the rows of one plan, or all that a report says of a method (times, times with
// other blocks, explanations, counters, timelines), which ask for the same launches again and again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/warps.h"
#include "simulator/sm/known_runs.h"

namespace warptime {

// The warps of whole launches, with sectors and machine instructions. Thread-safe, and bounded.
class KnownLaunches {
 public:
  // All that WarpProgram::launch() depends on, with the same options throughout.
  struct Key {
    const KernelProgram* program = nullptr;
    LaunchSize size;
    Bindings values;
    Shares shares;
    friend bool operator<(const Key& a, const Key& b) { return a.tied() < b.tied(); }

   private:
    std::tuple<const KernelProgram*, const std::array<std::int64_t, 3>&, const std::array<std::int64_t, 3>&,
               const Bindings&, const Shares&>
    tied() const {
      return {program, size.grid, size.block, values, shares};
    }
  };

  // nullptr: not known.
  std::shared_ptr<const LaunchWarps> find(const Key& key) const;
  void add(Key key, LaunchWarps warps);

 private:
  static constexpr std::size_t kMost = 1 << 10;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const LaunchWarps>> launches_;
};

// Programs and GPUs are known by their addresses: the GPUs must outlive it.
struct RememberedWork {
  KnownLaunches launches;
  KnownRuns runs;

  // No other program gets its address while this exists.
  void keep(std::shared_ptr<const KernelProgram> program);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const KernelProgram>> programs_;
};

}  // namespace warptime
