// What data decided in an execution: the file that `warptime run --profile` writes and `warptime predict --profile` reads.
//
//   warptime: 1
//   kernel: spmv
//   shares:
//     taken_at_line_12: 0.25
//   iterations:
//     iterations_at_line_9: {mean: 7.5, deviation: 2.25, most: 31}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

struct KernelProfile {
  struct Iterations {
    double mean = 0, deviation = 0;  // over the times that warps came to the loop
    std::int64_t most = 0;
  };
  std::string kernel;                            // its name in the source
  std::map<std::string, double> shares;          // of the warps, 0 to 1
  std::map<std::string, Iterations> iterations;  // of loops
};

struct Profile {
  static constexpr int format_version = 1;
  std::vector<KernelProfile> kernels;
  // A kernel's value of that name: a share, or the mean of a loop's iterations. An empty kernel: of any.
  std::optional<double> find(std::string_view kernel, std::string_view name) const;
};

// Errors: not YAML, an unknown key, a share beyond 0 to 1, a newer format version.
Result<Profile> read_profile(std::string_view text, const std::string& file);
std::string to_yaml(const Profile& profile);

}  // namespace warptime
