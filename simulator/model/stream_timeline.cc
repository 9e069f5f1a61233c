#include "simulator/model/stream_timeline.h"

#include <algorithm>
#include <limits>

namespace warptime {

void StreamTimeline::add(std::size_t stream, StreamEngine engine, double us) {
  if (!operations_.empty() && operations_.back().stream == stream && operations_.back().engine == engine) {
    operations_.back().us += us;
    return;
  }
  if (last_of_stream_.size() <= stream) last_of_stream_.resize(stream + 1, 0);
  operations_.push_back({stream, last_of_stream_[stream], us, engine});
  last_of_stream_[stream] = operations_.size();
}

bool StreamTimeline::is_ready(std::size_t number) const {
  const std::size_t before = operations_[number].before;
  return before == 0 || ended_[before - 1] != 0;
}

// From the end of one operation to the next end: each engine runs the first of its operations that has not ended.
void StreamTimeline::join() {
  std::array<std::vector<std::size_t>, kEngines> queues;
  std::array<std::size_t, kEngines> heads{};
  for (std::size_t i = 0; i < operations_.size(); ++i)
    queues.at(static_cast<std::size_t>(operations_[i].engine)).push_back(i);
  ended_.assign(operations_.size(), 0);
  for (std::size_t left = operations_.size(); left > 0;) {
    std::array<bool, kEngines> runs{};
    for (std::size_t engine = 0; engine < kEngines; ++engine)
      runs.at(engine) =
          heads.at(engine) < queues.at(engine).size() && is_ready(queues.at(engine)[heads.at(engine)]);
    const bool both = runs[static_cast<std::size_t>(StreamEngine::to_device)] &&
                      runs[static_cast<std::size_t>(StreamEngine::to_host)];
    const auto rate_of = [&](std::size_t engine) {
      return both && engine != static_cast<std::size_t>(StreamEngine::kernels) ? both_ways_ : 1.0;
    };
    const auto head = [&](std::size_t engine) -> Operation& {
      return operations_[queues.at(engine)[heads.at(engine)]];
    };
    double step_us = std::numeric_limits<double>::infinity();
    for (std::size_t engine = 0; engine < kEngines; ++engine)
      if (runs.at(engine)) step_us = std::min(step_us, head(engine).us / rate_of(engine));
    joined_us_ += step_us;
    for (std::size_t engine = 0; engine < kEngines; ++engine) {
      if (!runs.at(engine)) continue;
      Operation& operation = head(engine);
      const bool ends = operation.us / rate_of(engine) <= step_us;
      operation.us -= step_us * rate_of(engine);
      if (!ends) continue;
      ended_[queues.at(engine)[heads.at(engine)++]] = 1;
      --left;
    }
  }
  operations_.clear();
  last_of_stream_.clear();
}

double StreamTimeline::total_us() {
  join();
  return joined_us_;
}

}  // namespace warptime
