// T_c, the time of one core package, computed once for each (program, values of its names, t_m,
// warps).
#pragma once

#include <array>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/model/puchala/kernel_time.h"
#include "simulator/model/puchala/round_simulation.h"
#include "simulator/model/timed_program.h"

namespace warptime {

// Uses bounded memory. Not thread-safe.
class CorePackageTimes {
 public:
  explicit CorePackageTimes(const CorePackageOptions& options, Origins origins = Origins::kept)
      : options_(options), origins_(origins) {}

  // One program with values and t_m: its times by warps.
  class Instance : public CorePackageModel {
   public:
    Result<CorePackageTime> time(std::int64_t warps) override;
    // The same: cached, or in `not_cached`. Null on an error, with the reason in `why`. Valid until the next call.
    const CorePackageTime* find(std::int64_t warps, CorePackageTime& not_cached, Diagnostics& why);
    // The cached time for a number of warps, null if there is none. Valid until the next call of another one.
    const CorePackageTime* find(std::int64_t warps) const {
      const auto index = static_cast<std::uint64_t>(warps);
      if (index >= kRemembered || place_[index] == 0) return nullptr;
      const std::size_t place = place_[index] - 1u;
      return place < kFew ? &few_[place] : &more_[place - kFew];
    }
    const Schedule& schedule() const { return *schedule_; }
    const RoundSchedule& rounds() const { return rounds_; }

   private:
    friend class CorePackageTimes;
    static constexpr std::size_t kRemembered = 96;  // times for more warps on a core package are not cached
    CorePackageTimes* owner_ = nullptr;
    double t_m_cycles_ = 0;
    std::shared_ptr<const Schedule> schedule_;
    RoundSchedule rounds_;
    static constexpr std::size_t kFew = 10;  // enough for most launches
    std::array<CorePackageTime, kFew> few_;
    std::vector<CorePackageTime> more_;
    std::uint8_t known_ = 0;  // number of cached times, in few_ and then in more_
    std::array<std::uint8_t, kRemembered>
        place_{};  // by warps: the index of the cached time, from 1; 0: none
  };

  // values: of program.names. The instance is valid until the next call. Errors: make_schedule's.
  Result<Instance*> find(const TimedProgram& program, const std::vector<std::int64_t>& values,
                         double t_m_cycles);
  std::uint64_t generation() const { return generation_; }  // changes when instances are forgotten

 private:
  struct Scheduled {
    std::shared_ptr<const Schedule> schedule;
    std::forward_list<Instance> instances;  // by t_m
  };

  CorePackageOptions options_;
  Origins origins_;  // of the instances' schedules
  RoundSimulation simulation_;
  std::unordered_map<ProgramWithValues, Scheduled, ProgramWithValues::Hash> scheduled_;
  ProgramWithValues key_;         // of the program that is looked for
  std::uint64_t remembered_ = 0;  // bytes of schedules and times, about
  std::uint64_t generation_ = 0;
};

}  // namespace warptime
