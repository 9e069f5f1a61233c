#include "simulator/sm/known_runs.h"

#include "simulator/program/joined_loads.h"
#include "simulator/program/scheduled_loads.h"
#include "simulator/program/walk.h"

namespace warptime {
namespace {

template <class Map>
std::optional<typename Map::mapped_type> known_in(const Map& map, const KnownRuns::Key& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

}  // namespace

ScheduledProgram schedule_for_sm(const KernelProgram& program) {
  ScheduledProgram scheduled{program};
  join_shared_loads(scheduled.program.program);
  schedule_loads(scheduled.program);
  for_each_item(scheduled.program.program, [&](const Item& item) {
    scheduled.dependences_known = scheduled.dependences_known || has_dependences(item);
  });
  return scheduled;
}

std::shared_ptr<const ScheduledProgram> KnownRuns::scheduled(const KernelProgram& program) {
  const std::lock_guard lock(mutex_);
  auto& known = programs_[&program];
  if (known == nullptr) known = std::make_shared<const ScheduledProgram>(schedule_for_sm(program));
  return known;
}

std::optional<SmRun> KnownRuns::run(const Key& key) const {
  const std::lock_guard lock(mutex_);
  return known_in(runs_, key);
}

void KnownRuns::add(const Key& key, const SmRun& run) {
  const std::lock_guard lock(mutex_);
  if (runs_.size() >= kMost) runs_.clear();
  runs_.insert_or_assign(key, run);
}

std::size_t KnownRuns::size() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

std::optional<double> KnownRuns::joined(const Key& key) const {
  const std::lock_guard lock(mutex_);
  return known_in(joined_, key);
}

void KnownRuns::add(const Key& key, double joined) {
  const std::lock_guard lock(mutex_);
  if (joined_.size() >= kMost) joined_.clear();
  joined_.insert_or_assign(key, joined);
}

}  // namespace warptime
