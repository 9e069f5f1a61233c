// Random structured PTX: programs made from a seed, of loops, branches and calls whose trip counts and
// conditions are expressions of the kernel's arguments, the launch's size and outer counters, so that the static
// analysis can know them. A program is a small tree, from which the text is written, so that a failing one
// can be made smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warptime::execute::testing {

struct RandomExpression {
  enum class Op : std::uint8_t {
    constant,
    argument,
    ntid,
    nctaid,
    variable,  // number: the constant, or which
    add,
    subtract,
    multiply,
    divide,
    modulo,
    minimum,
    maximum,
    select  // divide, modulo: by a positive constant
  };
  Op op = Op::constant;
  std::int64_t number = 0;
  std::uint32_t style = 0;              // which of the ways to write it
  std::vector<RandomExpression> parts;  // select: a, b, and a < b decides
};

struct RandomCondition {
  enum class Relation : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };
  Relation relation = Relation::less;
  bool as_unsigned = false;
  // Not 0: of the thread's index instead: whether this bit of it is 0. Bits 0 to 2 differ between the first
  // eight lanes.
  std::uint32_t thread_bit = 0;
  RandomExpression a, b;
  enum class Join : std::uint8_t { none, both, either } join = Join::none;
  std::vector<RandomCondition> second;  // where joined
  std::uint32_t style = 0;
};

struct RandomStatement {
  enum class Kind : std::uint8_t {
    assign,     // variable = expressions[0]
    increase,   // variable += number
    calculate,  // `number` instructions that matter to nobody
    load,
    store,   // of global memory; number: the pattern
    shared,  // a store to shared memory, and a load
    barrier,
    branch,  // conditions[0], then, otherwise
    leave,   // return where conditions[0]
    loop,
    call,  // variable = function `number` of `expressions`
  };
  enum class Shape : std::uint8_t { up, down, until_equal, doubling, halving, by_threads };
  enum class Form : std::uint8_t { at_top, rotated, at_bottom, in_middle };

  Kind kind = Kind::calculate;
  std::uint32_t style = 0;
  std::int64_t number = 0;
  std::uint32_t variable = 0;
  std::vector<RandomExpression>
      expressions;  // loop: start and bound (until_equal: start and number of iterations)
  std::vector<RandomCondition>
      conditions;  // branch, leave: one; assign, load, store, calculate, call: a guard, or none
  std::vector<RandomStatement> then, otherwise;  // loop: the body; in_middle: before and behind the exit
  Shape shape = Shape::up;
  Form form = Form::at_top;
};

struct RandomFunction {
  std::uint32_t arguments = 0;  // of 32 bits; the last of the kernel's may be negative
  std::uint32_t variables = 0;
  bool has_result = false;  // variable 0
  std::uint32_t style = 0;
  std::vector<RandomStatement> body;
};

struct RandomProgram {
  std::uint64_t seed = 0;
  std::uint32_t threads = 32, blocks = 1;
  std::vector<RandomFunction> functions;  // each calls only those before it; the last is the kernel
  std::vector<std::vector<std::int64_t>> argument_sets;  // of the kernel
};

struct RandomFeatures {
  bool calls = true;
  bool negative_arguments = true;  // the kernel's last argument may be negative
};

RandomProgram random_program(std::uint64_t seed, const RandomFeatures& features);

// Names in the text: the kernel `k` with `.param .u64 memory` (64 KiB), then `n0`, `n1`, … of 32 bits.
std::string to_ptx(const RandomProgram& program);
constexpr std::uint64_t random_program_memory_bytes = 1 << 16;

// The smallest program found by leaving out statements, taking blocks apart and replacing expressions for
// which `fails` still holds.
RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails);

}  // namespace warptime::execute::testing
