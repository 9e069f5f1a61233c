// Work on several cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace warptime {

// The number of threads where a user gives 0 for it: one for each core.
inline unsigned threads_for(unsigned given) {
  return given > 0 ? given : std::max(1U, std::thread::hardware_concurrency());
}

// Calls `work` with each number below `count`, the smaller ones first, in at most so many threads, of which the caller's is
// one. `work` must not throw.
inline void for_each_index(std::size_t count, unsigned threads,
                           const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(count, threads); ++i) others.emplace_back(some);
  some();
  for (std::thread& other : others) other.join();
}

}  // namespace warptime
