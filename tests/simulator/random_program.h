// Random inputs for the tests that run two implementations against each other.
#pragma once

#include <random>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/schedule.h"

namespace warptime::test {

struct RandomProgramOptions {
  int deepest = 3;          // nesting
  int most_items = 4;       // of one list
  int most_iterations = 4;  // of a repeat without a parameter
  bool counters = true;     // repeats with counters that the body uses
  bool conditions = true;
  bool texts = false;        // provenance, lines, notes: what only reading and writing care for
  bool whole_cycles = true;  // or durations with fractions
};

// A program over the parameters K and N, which are meant for values of 0 to 4.
KernelProgram random_program(std::mt19937& random, const RandomProgramOptions& options);

// Any tree over K, N and i, not necessarily one that can be evaluated.
Expression random_expression(std::mt19937& random, int deepest);

// What make_schedule has to equal: the items executed one after the other, then runs of instructions made
// periods.
std::vector<Period> flattened_naively(const KernelProgram& program, const Bindings& bindings,
                                      const MemoryDurations& durations);

}  // namespace warptime::test
