// A kernel program with what a profile says of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulator/program/profile.h"
#include "simulator/program/warps.h"

namespace warptime {

// A loop with a count that data may leave before.
struct EarlyLoop {
  // As the parameters of loops without a count: `iterations_at_line_46`.
  std::string name;
  // Without the number that tells loops of one line apart: stands for all that have no name of their own.
  std::string of_line;
  // The lines of the PTX of the branches in its body that leave it: unrolled, it has one for each iteration of the source.
  // Empty: it is left where its count is looked at.
  std::vector<int> exits;
  bool data = false;           // what data say decides, and not only which thread it is
  bool at_difference = false;  // it is left where data differ from something
};

// By the line of their items in the PTX.
std::map<int, EarlyLoop> early_loops(const KernelProgram& program);

struct ProfiledProgram {
  std::shared_ptr<const KernelProgram> program;
  Shares shares;                   // of warps, that it has besides
  std::vector<std::string> notes;  // of EarlyLoop that nobody gives the iterations of
};

// What data decide and neither a profile nor `given` says: the iterations of a loop that data may leave before its count, and
// the shares of warps that the analysis leaves at 1.
enum class Unsaid : std::uint8_t {
  most,  // loops run to their ends, and the shares are as they are, as the paper has it
  // typical_shares(), and three quarters of a loop's count: a warp makes as many as its thread with most. Of a count that is a
  // number the cube root, if the body searches: that many tries at most a hash table has. But three
  // iterations where the loop is left as soon as data differ from something.
  typical,
};

// `program` with the profile's AccessProfile at the accesses that it names, and with its iterations of loops: of those that
// data may leave early, whose bodies are cut at the branches that leave them, and of those with a fraction, of which a part
// of the warps makes one more. `given`: iterations of loops that are given otherwise, which go before. Where nothing is
// said, `program` itself.
ProfiledProgram with_profile(std::shared_ptr<const KernelProgram> program, const KernelProfile& profile,
                             const std::map<std::string, double, std::less<>>& given,
                             Unsaid unsaid = Unsaid::most);

// The shares, the iterations of loops and the accesses of the profile that `program` does not have, in the profile's order:
// it was counted with another version of the source, or another compiler.
std::vector<std::string> unknown_names(const KernelProgram& program, const KernelProfile& profile);

}  // namespace warptime
