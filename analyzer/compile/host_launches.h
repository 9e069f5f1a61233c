// The kernel launches that a program's host code makes, read from its syntax tree: which kernels, with which
// grid and block, in which order, how often. Nothing is run. Host code is interpreted with symbols for what
// only a run would tell: what the command line or a file gives, what a function that is not in the source
// returns. Each symbol that a launch depends on is a parameter.
//
//   int n = 1024;
//   if (argc > 1) n = atoi(argv[1]);              parameter n, typically 1024
//   for (int i = 0; i < 10; i++)                  repeat: 10
//     step<<<(n + 255) / 256, 256>>>(d, n);       grid [ceil_div(n, 256)], block [256], n: n
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compile/compile.h"
#include "simulator/program/expression/expression.h"

namespace warptime {

// Of names of parameters that are made of several of the source, without a number at their end.
inline constexpr std::size_t longest_made_name = 32;

using Dimensions = std::array<Expression, 3>;  // x, y, z

struct HostLaunch {
  std::string kernel_file;  // the input that defines the kernel, as the user named it
  std::string
      entry;  // what select_kernel() takes: the name in the source, or the symbol where names are not unique
  Dimensions grid{1, 1, 1};
  Dimensions block{1, 1, 1};
  Expression shared_bytes = 0;
  std::vector<std::pair<std::string, Expression>> arguments;  // numbers, by the kernel's parameter names
  std::vector<std::pair<std::string, Expression>> arrays;  // pointers, over the names of HostProgram::arrays
};

enum class TransferDirection : std::uint8_t { host_to_device, device_to_host, device_to_device, set };

struct HostTransfer {
  TransferDirection direction = TransferDirection::host_to_device;
  Expression bytes;
};

// A launch, a transfer or several steps, repeated.
struct HostStep {
  Expression repeat = 1;
  std::string counter;  // counts 0, 1, …; empty: nothing inside uses it
  std::optional<HostLaunch> launch;
  std::optional<HostTransfer> transfer;
  std::vector<HostStep> steps;
  std::string file;  // where it stands in the source
  int line = 0;
};

struct HostParameter {
  std::string name;
  std::string description;  // where it comes from: "`atoi(argv[1])`, main.cu:12"
  std::optional<std::int64_t> typical;
};

// Device memory of a known size.
struct HostArray {
  std::string name;
  Expression elements;
  std::string type;  // f32, f64, i8, i16, i32 or i64
};

struct HostProgram {
  std::vector<HostParameter> parameters;  // in the order in which launches use them
  std::vector<HostArray> arrays;          // that launches use
  std::vector<HostStep> steps;
  Diagnostics notes;   // how the plan was read: assumptions
  Diagnostics unread;  // warnings: what the steps lack, with its line
};

struct HostSource {
  std::string file;  // as the user named it
  std::string text;
};

// Reads one program: all of its sources together, as if they were one file. Starts at main(), or, without
// one, at each function that nobody in the sources calls. Errors in host code are no errors here. Work is
// bounded; where a bound is met, `unread` says so. Errors: flags that the compiler does not take, a crash of
// clang. Thread-safe.
Result<HostProgram> find_host_launches(const std::vector<HostSource>& sources, const CompileOptions& options);

}  // namespace warptime
