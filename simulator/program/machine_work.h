// Machine instructions that a warp issues, by execution pipe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warptime {

// The execution pipes of an SM's partition, as Nsight Compute groups them; but its CBU does not count
// branches.
enum class Pipe : std::uint8_t {
  alu,      // integers, logic, comparison, selection
  fma,      // single-precision multiply and add; integer multiplication
  fp64,     // double precision
  fp16,     // half precision
  xu,       // special functions, conversions, bit counts
  lsu,      // loads and stores of global, local and shared memory; atomics; shuffles; special registers
  tex,      // textures and surfaces
  tensor,   // matrix products
  uniform,  // the scalar datapath: what all threads of a warp compute alike
  adu,      // loads of constants; barriers of a block
  cbu,      // branches, convergence of warps
  none,     // NOP
};
inline constexpr std::size_t kPipes = 12;
std::string_view to_string(Pipe pipe);
std::optional<Pipe> find_pipe(std::string_view name);

inline constexpr double kImadCycles = 2, kWideImadCycles = 4, kEitherCycles = 1;

// Real numbers: means over what compilers make, and shares of warps.
struct MachineWork {
  std::array<double, kPipes> by_pipe{};
  // That a warp on its own takes for them, where that is known: from the first's issue until the next one's can follow the
  // last's. Waiting for loads of memory is no part of it. 0: not known.
  double cycles = 0;
  // For which they hold the half of the FMA pipe that makes integer products, in cycles: IMAD two, IMAD.WIDE and IMAD.HI four
  // on Hopper; other instructions of the pipe one, since every second of them is made there
  // (data/hardware/h100_issue_mixes.csv, h100_pipe_mixes.csv).
  double imad = 0;
  // For which they hold the tensor pipe, in cycles: products of matrices take several, by their shapes and types.
  double matrix = 0;
  // Words of 32 bits that they read from the register file, whose two banks have one of a warp in a cycle each.
  double reads = 0;

  double& operator[](Pipe pipe) { return by_pipe[static_cast<std::size_t>(pipe)]; }
  double operator[](Pipe pipe) const { return by_pipe[static_cast<std::size_t>(pipe)]; }
  double total() const {
    double sum = 0;
    for (const double count : by_pipe) sum += count;
    return sum;
  }
  void add(const MachineWork& other, double times = 1) {
    for (std::size_t i = 0; i < kPipes; ++i) by_pipe[i] += times * other.by_pipe[i];
    cycles += times * other.cycles;
    imad += times * other.imad;
    matrix += times * other.matrix;
    reads += times * other.reads;
  }
  friend bool operator==(const MachineWork&, const MachineWork&) = default;
};

// A loop that ptxas unrolled is executed in pieces: as many of the longest as there are iterations for, then
// of the next.
struct UnrolledPiece {
  std::int64_t iterations = 1;
  MachineWork machine = {};  // beside those of its iterations
  friend bool operator==(const UnrolledPiece&, const UnrolledPiece&) = default;
};

}  // namespace warptime
