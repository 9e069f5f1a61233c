#include "simulator/program/machine_work.h"

#include <algorithm>

namespace warptime {
namespace {

constexpr std::array<std::string_view, kPipes> kPipeNames = {
    "alu", "fma", "fp64", "fp16", "xu", "lsu", "tex", "tensor", "uniform", "adu", "cbu", "none"};

}  // namespace

std::string_view to_string(Pipe pipe) {
  return kPipeNames[static_cast<std::size_t>(pipe)];
}

std::optional<Pipe> find_pipe(std::string_view name) {
  const auto found = std::find(kPipeNames.begin(), kPipeNames.end(), name);
  if (found == kPipeNames.end()) return std::nullopt;
  return static_cast<Pipe>(found - kPipeNames.begin());
}

}  // namespace warptime
