#include "simulator/model/puchala/core_package_times.h"

namespace warptime {
namespace {

constexpr std::uint64_t kMostRemembered = std::uint64_t{1}
                                          << 18;  // bytes, about: what fits the cache of a core

// In bytes, about.
std::uint64_t size_of(const Schedule& schedule) {
  std::uint64_t steps = schedule.steps.size(), loops = 0, shares = 0;
  for (const Schedule::Step& step : schedule.steps) {
    if (!step.loop) continue;
    steps += step.loop->body.size();
    ++loops;
  }
  for (const auto& origin : schedule.origins) shares += origin.size();
  return sizeof(Schedule) + steps * sizeof(Schedule::Step) + loops * sizeof(Schedule::Loop) +
         schedule.origins.size() * sizeof(schedule.origins.front()) + shares * sizeof(Schedule::Share);
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
  if (known_ > kFew) owner_->remembered_ += sizeof(CorePackageTime);
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
    auto made = make_schedule_of_bound(*program.program, std::move(bindings), program.durations, origins_);
    if (!made) {
      scheduled_.erase(key_);
      return made.diagnostics();
    }
    scheduled.schedule = std::make_shared<const Schedule>(std::move(*made));
    remembered_ += sizeof(Scheduled) + size_of(*scheduled.schedule);
  }
  for (Instance& instance : scheduled.instances) {
    if (instance.t_m_cycles_ == t_m_cycles) return &instance;
  }
  Instance& instance = scheduled.instances.emplace_front();
  instance.owner_ = this;
  instance.t_m_cycles_ = t_m_cycles;
  instance.schedule_ = scheduled.schedule;
  instance.rounds_ = make_rounds(*scheduled.schedule, t_m_cycles);
  remembered_ += sizeof(Instance) + instance.rounds_.steps.size() * sizeof(RoundStep);
  return &instance;
}

}  // namespace warptime
