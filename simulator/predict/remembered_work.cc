#include "simulator/predict/remembered_work.h"

#include <algorithm>
#include <utility>

namespace warptime {

std::shared_ptr<const LaunchWarps> KnownLaunches::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = launches_.find(key);
  return found == launches_.end() ? nullptr : found->second;
}

void KnownLaunches::add(Key key, LaunchWarps warps) {
  auto shared = std::make_shared<const LaunchWarps>(std::move(warps));
  const std::lock_guard lock(mutex_);
  if (launches_.size() >= kMost) launches_.clear();
  launches_.insert_or_assign(std::move(key), std::move(shared));
}

void RememberedWork::keep(std::shared_ptr<const KernelProgram> program) {
  const std::lock_guard lock(mutex_);
  if (std::find(programs_.begin(), programs_.end(), program) == programs_.end())
    programs_.push_back(std::move(program));
}

}  // namespace warptime
