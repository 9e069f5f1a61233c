// The measured figures of a GPU in the model of Luo and Suda (2011), beside its clock, SMs, warps per SM and
// bandwidth. They measured one GPU; another GPU has such figures only if somebody measured it. In a GPU's
// file:
//
//   luo_suda:
//     memory_latency_cycles: {value: 200, source: "…"}   # the same for cpd_a, cpd_b, cpd_c, cpd_d,
//                                      # request_threads, transaction_bytes and instruction_cycles
//     class_cycles:                    # optional, and so is each line: instruction_cycles where absent
//       add: {int_const: 22, int_reg: 65, float_const: 22, float_reg: 65}
//       …
//       source: "…"
//     further_class_cycles:            # the same of operations that Table 1 lacks: mad, shift, compare, …
//       …
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "simulator/program/instruction_classes.h"

namespace warptime {

namespace yaml {
class Reader;
struct Node;
}  // namespace yaml

using LuoSudaOperation = InstructionOperation;
using LuoSudaOperands = InstructionOperands;
inline constexpr std::size_t kLuoSudaOperations = kInstructionOperations,
                             kLuoSudaOperands = kInstructionOperands;

// A number for each class of instructions: cycles of one, or how many there are.
struct LuoSudaClasses {
  std::array<std::array<double, kLuoSudaOperands>, kLuoSudaOperations> values{};

  double& at(LuoSudaOperation operation, LuoSudaOperands operands) {
    return values[static_cast<std::size_t>(operation)][static_cast<std::size_t>(operands)];
  }
  double at(LuoSudaOperation operation, LuoSudaOperands operands) const {
    return values[static_cast<std::size_t>(operation)][static_cast<std::size_t>(operands)];
  }
};

struct LuoSudaFigures {
  double memory_latency_cycles = 0;  // t_mem of equation (1); Table 1's ld/st
  // The empirical parameters of equations (3) to (5).
  double cpd_a = 0;
  double cpd_b = 0;  // warps
  double cpd_c = 0;  // a computation instruction proportion, 0 to 1
  double cpd_d = 0;
  // Memory transactions: a request has this many threads (16: half-warps), and each transaction moves this
  // many bytes.
  double request_threads = 32;
  double transaction_bytes = 0;
  double instruction_cycles = 0;  // of a calculation instruction of unknown class
  LuoSudaClasses class_cycles;    // Table 1, and the operations that it lacks
};

// Reads the section of a GPU's file. Nothing on an error, which goes to `reader`; the sources go to `sources`
// as "luo_suda.cpd_a". Errors: a missing or unknown field, a figure without a source or out of range.
std::optional<LuoSudaFigures> read_luo_suda_figures(yaml::Reader& reader, const yaml::Node& section,
                                                    std::map<std::string, std::string>& sources);

// One of the figures, except those of classes: its name in the section, and its range. Views use it too.
struct LuoSudaFigure {
  std::string_view name;  // its source is Gpu::sources["luo_suda." + name]
  std::string_view unit;  // cycles, bytes, warps; empty: none
  double least = 0, most = 0;
  double LuoSudaFigures::*member = nullptr;
};
std::span<const LuoSudaFigure> luo_suda_figures();
// Why such a value is wrong, as a sentence; empty if it is not.
std::string out_of_range(const LuoSudaFigure& figure, double value);

// The time cost of the given number of instructions of each class, executed in sequence (Luo and Suda,
// sections 3.1 and 3.4).
double luo_suda_cycles(const LuoSudaFigures& figures, const LuoSudaClasses& counts);
double luo_suda_cycles(const LuoSudaFigures& figures, const InstructionClasses& counts);

}  // namespace warptime
