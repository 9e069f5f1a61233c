// A kernel program with what a profile says of it.
#pragma once

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
  // The lines of the PTX of the branches in its body that leave it: unrolled, it has one for each iteration of the source.
  // Empty: it is left where its count is looked at.
  std::vector<int> exits;
};

// By the line of their items in the PTX.
std::map<int, EarlyLoop> early_loops(const KernelProgram& program);

struct ProfiledProgram {
  std::shared_ptr<const KernelProgram> program;
  Shares shares;  // of warps, that it has besides
};

// `program` with the profile's AccessProfile at the accesses that it names, and with its iterations of loops: of those that
// data may leave early, whose bodies are cut at the branches that leave them, and of those with a fraction, of which a part
// of the warps makes one more. `given`: names of loops whose iterations are given otherwise. Where the profile says
// nothing, `program` itself.
ProfiledProgram with_profile(std::shared_ptr<const KernelProgram> program, const KernelProfile& profile,
                             const std::map<std::string, double, std::less<>>& given);

// The shares, the iterations of loops and the accesses of the profile that `program` does not have, in the profile's order:
// it was counted with another version of the source, or another compiler.
std::vector<std::string> unknown_names(const KernelProgram& program, const KernelProfile& profile);

}  // namespace warptime
