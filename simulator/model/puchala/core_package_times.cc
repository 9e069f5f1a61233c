#include "simulator/model/puchala/core_package_times.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostRemembered = 1 << 15;  // steps and times: about the size of a cache

std::uint64_t size_of(const std::vector<Schedule::Step>& steps) {
  std::uint64_t size = steps.size();
  for (const Schedule::Step& step : steps) {
    if (step.loop) size += step.loop->body.size();
  }
  return size;
}

}  // namespace

Result<CorePackageTime> CorePackageTimes::Instance::time(std::int64_t warps) {
  CorePackageTime not_cached;
  Diagnostics why;
  const CorePackageTime* known = find(warps, not_cached, why);
  return known != nullptr ? Result<CorePackageTime>(*known) : Result<CorePackageTime>(std::move(why));
}

const CorePackageTime* CorePackageTimes::Instance::find(std::int64_t warps, CorePackageTime& not_cached,
                                                        Diagnostics& why) {
  if (const CorePackageTime* known = find(warps)) return known;
  const auto index = static_cast<std::size_t>(warps);
  auto time = owner_->simulation_.time(rounds_, *schedule_, warps, t_m_cycles_, owner_->options_.step_limit);
  if (!time) {
    why = time.diagnostics();
    return nullptr;
  }
  if (index >= kRemembered) {
    not_cached = *time;
    return &not_cached;
  }
  if (known_ >= kFew) more_.emplace_back();
  CorePackageTime& cached = known_ < kFew ? few_[known_] : more_.back();
  cached = *time;
  place_[index] = ++known_;
  ++owner_->remembered_;
  return &cached;
}

Result<CorePackageTimes::Instance*> CorePackageTimes::find(const TimedProgram& program,
                                                           const std::vector<std::int64_t>& values,
                                                           double t_m_cycles) {
  if (remembered_ > kMostRemembered) {
    scheduled_.clear();
    remembered_ = 0;
    ++generation_;
  }
  key_.program = &program;
  key_.values = values;
  Scheduled& scheduled = scheduled_[key_];
  if (!scheduled.schedule) {
    Bindings bindings;
    for (std::size_t i = 0; i < values.size(); ++i) bindings[program.names[i]] = values[i];
    auto made = make_schedule_of_bound(*program.program, std::move(bindings), program.durations);
    if (!made) {
      scheduled_.erase(key_);
      return made.diagnostics();
    }
    scheduled.schedule = std::make_shared<const Schedule>(std::move(*made));
    remembered_ += 16 + size_of(scheduled.schedule->steps);
  }
  for (Instance& instance : scheduled.instances) {
    if (instance.t_m_cycles_ == t_m_cycles) return &instance;
  }
  Instance& instance = scheduled.instances.emplace_front();
  instance.owner_ = this;
  instance.t_m_cycles_ = t_m_cycles;
  instance.schedule_ = scheduled.schedule;
  instance.rounds_ = make_rounds(*scheduled.schedule, t_m_cycles);
  remembered_ += 8 + instance.rounds_.steps.size();
  return &instance;
}

}  // namespace warptime
