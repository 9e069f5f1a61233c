// CUDA's built-in variables, which a kernel program's expressions name: indices and sizes of a launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace warptime {

struct LaunchVariable {
  enum class Kind : std::uint8_t { block_idx, thread_idx, block_dim, grid_dim, lane_id, warp_id, warp_size };
  Kind kind = Kind::block_idx;
  std::size_t axis = 0;  // of the first four: 0 is x
};

// blockIdx.x, …, gridDim.z, laneid, warpid, warpSize. Nothing: the name is none of these.
inline std::optional<LaunchVariable> launch_variable(std::string_view name) {
  using Kind = LaunchVariable::Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 4> vectors = {
      {{"blockIdx.", Kind::block_idx},
       {"threadIdx.", Kind::thread_idx},
       {"blockDim.", Kind::block_dim},
       {"gridDim.", Kind::grid_dim}}};
  for (const auto& [beginning, kind] : vectors)
    if (name.size() == beginning.size() + 1 && name.starts_with(beginning) && name.back() >= 'x' &&
        name.back() <= 'z')
      return LaunchVariable{kind, static_cast<std::size_t>(name.back() - 'x')};
  if (name == "laneid") return LaunchVariable{Kind::lane_id};
  if (name == "warpid") return LaunchVariable{Kind::warp_id};
  if (name == "warpSize") return LaunchVariable{Kind::warp_size};
  return std::nullopt;
}

}  // namespace warptime
