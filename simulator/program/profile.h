// What data decided in an execution: the file that `warptime run --profile` writes and `warptime predict --profile` reads.
//
//   warptime: 1
//   kernel: spmv
//   shares:
//     taken_at_line_12: 0.25
//   iterations:
//     iterations_at_line_9: {mean: 7.5, deviation: 2.25, most: 31}
//   accesses:
//     load_of_x_at_line_10:
//       requests: 512
//       sectors: 30.5
//       lines: 29
//       launch: {sectors: 4096, pieces: 2048, lines: 1024, blocks: 16, threads: 128}
//       block: {sectors: 800, pieces: 700, lines: 600}
//       repeats: 0.1
//       reuse_on_sm: [0, 0, 0.05, 0.2]
//       sectors_by_turn: [20, 16, 4]
//       first_on_sm: [0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05]
//       reuse_in_launch: [0, 0.1, 0.05, 0.2, 0.6]
//   on_chip:
//     shared_load_at_line_12: {requests: 512, ways: 2.5}
//
// Where a sample of the blocks was executed, `sample: {blocks: 1024, of: 65536}` says so, and `launch` is of these blocks.
// An atomic's access has `atomic: {turns: 31, addresses: 29.5, hottest: 0.01, hottest_lines: 0.2}` besides. See access_profile.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/program/access_profile.h"

namespace warptime {

struct KernelProfile {
  struct Iterations {
    double mean = 0, deviation = 0;  // over the times that warps came to the loop
    std::int64_t most = 0;
  };
  // Of the blocks of a launch, these were executed.
  struct Sample {
    std::uint64_t blocks = 0, of = 0;
  };
  std::string kernel;                            // its name in the source
  std::optional<Sample> sample;                  // none: all were
  std::map<std::string, double> shares;          // of the warps, 0 to 1
  std::map<std::string, Iterations> iterations;  // of loops
  // Of accesses whose addresses data decide, by access_name(); and by chip_access_name().
  std::map<std::string, std::shared_ptr<const AccessProfile>> accesses;
  std::map<std::string, ChipAccessProfile> chip_accesses;
  bool says_nothing() const {
    return shares.empty() && iterations.empty() && accesses.empty() && chip_accesses.empty();
  }
};

struct Profile {
  static constexpr int format_version = 2;
  std::vector<KernelProfile> kernels;
  // A kernel's value of that name: a share, or the mean of a loop's iterations. An empty kernel: of any.
  std::optional<double> find(std::string_view kernel, std::string_view name) const;
  // Null: none is of that kernel.
  const KernelProfile* of_kernel(std::string_view kernel) const;
};

// Errors: not YAML, an unknown key, a share beyond 0 to 1, a negative number, sectors or lines of a request that no warp can
// ask for, reuse times of more than 64 powers of two, a sample of more blocks than
// the launch has, a newer format version.
Result<Profile> read_profile(std::string_view text, const std::string& file);
std::string to_yaml(const Profile& profile);

}  // namespace warptime
