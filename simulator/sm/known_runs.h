// What was simulated of an SM, for all launches of a prediction: launches of a sweep mostly differ in how many blocks an
// SM runs, and in which lines their arrays begin. The rule is in docs/extended.md ("What is remembered").
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {

// A program with its loads where the compiler moves them.
struct ScheduledProgram {
  KernelProgram program;
  bool dependences_known = false;  // it says what its items need
};
ScheduledProgram schedule_for_sm(const KernelProgram& program);

// Thread-safe, and bounded.
class KnownRuns {
 public:
  // Hashes of all that a run depends on.
  using Key = std::array<std::uint64_t, 2>;

  // `program` must outlive this.
  std::shared_ptr<const ScheduledProgram> scheduled(const KernelProgram& program);

  std::optional<SmRun> run(const Key& key) const;
  void add(const Key& key, const SmRun& run);
  std::optional<double> joined(const Key& key) const;  // share_of_joined_reads
  void add(const Key& key, double joined);
  std::size_t size() const;  // runs

 private:
  static constexpr std::size_t kMost = 1 << 15;
  struct Hash {
    std::size_t operator()(const Key& key) const { return key[0]; }
  };
  mutable std::mutex mutex_;
  std::unordered_map<const KernelProgram*, std::shared_ptr<const ScheduledProgram>> programs_;
  std::unordered_map<Key, SmRun, Hash> runs_;
  std::unordered_map<Key, double, Hash> joined_;
};

}  // namespace warptime
