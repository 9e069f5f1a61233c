// Which blocks of a launch are executed, where a sample of them stands for all.
#pragma once

#include <algorithm>
#include <cstdint>

namespace warptime::execute {

// Groups of neighbours, evenly spread over the launch. Blocks that share data are mostly neighbours, so that a group finds
// what the launch would share, and several groups what differs between its parts.
class BlockSample {
 public:
  // Blocks of a group: as many as 128 SMs hold of 256 threads each.
  static constexpr std::uint64_t group = 1024;
  // A group begins at a multiple of this, so that blocks that are this far apart stand for those of an SM (access_recorder).
  static constexpr std::uint64_t step = 128;

  // `blocks`: of the launch. `wanted`: how many to execute; 0: all. From 1024 on it is rounded down to whole groups.
  BlockSample(std::uint64_t blocks, std::uint64_t wanted) : blocks_(blocks) {
    if (wanted == 0 || wanted >= blocks) {
      size_ = group_ = blocks;
    } else {
      group_ = std::min(wanted, group);
      groups_ = wanted / group_;
      size_ = groups_ * group_;
    }
  }

  std::uint64_t size() const { return size_; }
  bool is_all() const { return size_ == blocks_; }
  // The block that is executed at `place`, 0 to size() - 1: its number in the launch, ascending.
  std::uint64_t block(std::uint64_t place) const {
    if (is_all()) return place;
    // The group lies in the middle of its part of the launch.
    const auto part = static_cast<double>(blocks_) / static_cast<double>(groups_);
    const auto begin = static_cast<std::uint64_t>(part * static_cast<double>(place / group_) +
                                                  (part - static_cast<double>(group_)) / 2);
    return begin / step * step + place % group_;
  }

 private:
  std::uint64_t blocks_, size_ = 0, group_ = 0, groups_ = 1;
};

}  // namespace warptime::execute
