// The kernels of the micro-benchmarks, as PTX that the driver compiles. Every parameter has 64 bits. `out` is
// where warp w of the block writes the clock before and after what is measured, 16 bytes each, at 16 * w, and
// thread t of the block a value that depends on all results, 8 bytes at 1024 + 8 * t.
//
//   empty()                                  ends at once
//   empty_registers(p, 0)                    the same, with 64 registers per thread
//   next_to_nothing(p, n)                    writes to p from the n-th thread of the grid on
//   load_store(p, q)                         thread g of the grid: q[g] = p[g] + 1, of 4 bytes
//   loads_store(p, q, s)                     four loads one after the other, each s bytes and as many as the word before says
//                                            behind it, from p[g] on; the last word to q[g]
//   spin(cycles)                             waits for so many cycles
//   fill_chain(p, next, n, b)                line i of b bytes at p points to line next[i], of n lines
//   chase_ca, chase_cg(out, p, w, n)         follows a chain for 8 w steps, then 8 n steps that are measured
//   global_index(out, p, n)                  8 n times: i = a[i], a at p, i from 0
//   shared_index(out, n)                     the same in shared memory, where each word is its own index
//   store_load(out, p, p, s, n)              8 n times: a warp stores a line, loads it, adds 1, and goes on by s bytes
//   constant(out, 0, n)                      8 n dependent loads of constants
//   global_atomic(out, p, 0, n), shared_atomic(out, 0, n)   8 n dependent atomics
//   shared_chain(out, s, n)                  thread t loads 8 n times the word at s * t, as the word says
//   shared_rate(out, s, n)                   the same with two chains per thread
//   shared_atomic_rate(out, m, n)            8 n atomics of each thread at word `t & m`
//   barrier(out, n)                          8 n barriers
//   l1_4, l1_16(out, p, s, v, n)             loads of 4 or 16 bytes: thread t of warp w 8 n times at p + s * t + v * w
//   read_4, read_16, write_16(p, n, r), copy_16(p, q, n, r)   n bytes, r times, by all blocks together
//   atomics(p, h, m, s, n)                   thread t adds n times to the word at p + s * ((t >> h) & m)
//
// and for each instruction of instruction_benchmarks():
//
//   latency_NAME, rate_NAME(out, x, a, b, 0, n)   n iterations over 1 and over 4 chains that begin with x
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "simulator/gpu/timing_figures.h"

namespace warptime::measuring {

// An instruction whose latency and rate are measured.
struct InstructionBenchmark {
  std::string_view name;  // of its kernels: fma_f32
  std::string_view type;  // of x, a and b: f32, u32, f64, u64
  std::string_view
      step;  // a step of the chain, with $x, $a, $b, $f (a register of 32 bits) and $p (a predicate)
  int instructions = 1;               // of a step that count: 2 are one each of two kinds
  int unrolled = 16;                  // steps per iteration
  std::uint64_t x = 0, a = 0, b = 0;  // bits of values that keep the chain in the usual range
  std::optional<double> TimingFigures::*latency = nullptr;
  std::optional<double> TimingFigures::*issue = nullptr;
  // Of the instruction that keeps the steps apart; its latency does not count. Null: there is none.
  std::optional<double> TimingFigures::*apart = nullptr;
};
std::span<const InstructionBenchmark> instruction_benchmarks();

inline constexpr int kChains = 4;             // of rate_NAME
inline constexpr int kStepsPerIteration = 8;  // of the other kernels
inline constexpr std::size_t kValuesAt = 1024;
inline constexpr std::size_t kOutBytes = kValuesAt + std::size_t{8} * 1024;

// The module with all kernels, for GPUs from compute capability 5.0.
std::string microbenchmark_ptx();

}  // namespace warptime::measuring
