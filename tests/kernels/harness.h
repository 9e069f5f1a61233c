// Runs plans as they would run on a GPU: every launch of a plan, in its order, with the blocks and threads
// that Algorithm 3 chooses, executed from the PTX of its kernel.
//
// On a machine with a GPU every launch runs there too, and must leave the same bits.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/compile/compile.h"
#include "simulator/program/expression/expression.h"

namespace warptime::kernels {

// The device's memory: arrays of floats or ints, by name. Ints that have the name of a __constant__ variable
// are its contents.
struct Pointer {
  std::string array;
  std::size_t first = 0;  // the element it points to
};
using Value = std::variant<Pointer, float, int>;

struct Device {
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<int>> ints;
};

// What a kernel argument is that the plan says nothing of: pointers and floating-point numbers. `counters`:
// the plan's parameters and the counters of its repeats.
using Binder =
    std::function<Value(const std::string& kernel, const std::string& argument, const Bindings& counters)>;

// A binder that gives every pointer argument the array of its name, or of the name that `names` has for it.
Binder by_name(std::map<std::string, std::string> names = {});

struct Ran {
  std::int64_t launches = 0;
  std::uint64_t loads = 0, stores = 0;  // of global memory, by all warps
};

// `plan`: its file in the repository. Anything that goes wrong, findings of the execution among them, fails
// the test.
Ran run_plan(const std::string& plan, const Bindings& parameters, Device& device, const Binder& binder,
             Compiler compiler);

}  // namespace warptime::kernels

namespace warptime {
void PrintTo(Compiler compiler, std::ostream* out);  // for GoogleTest
}

namespace warptime::kernels {

// Both compilers; nvcc where there is one.
std::vector<Compiler> compilers();
std::string name_of(Compiler compiler);

std::vector<float> random_floats(std::size_t count, unsigned seed = 1);  // between -1 and 1
// The signals of pywt_golden.py.
std::vector<double> whole_numbers(std::size_t count, std::uint64_t seed);
std::vector<double> to_doubles(const std::vector<float>& values);
std::vector<float> to_floats(const std::vector<double>& values);

// Every element, to `tolerance` times the largest wanted one.
void expect_near(const std::vector<float>& got, const std::vector<double>& wanted, double tolerance,
                 const std::string& what);
void expect_near(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                 const std::string& what);

// Golden data that pywt_golden.py wrote: lines of a name and numbers, by name.
std::map<std::string, std::vector<double>> golden();

std::string read_file(const std::string& file);  // of the repository

}  // namespace warptime::kernels
