#include "random_program.h"

#include <algorithm>
#include <array>

namespace warptime::test {
namespace {

using Op = Expression::Operator;

int pick(std::mt19937& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}
bool one_in(std::mt19937& random, int n) {
  return pick(random, 1, n) == 1;
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"mtx", " ",  ":",  "#", "\"", "'",    "\n",   "{a: b}",
                                                   "- ",  "é",  "\t", "5", "\\", "true", "\x01", "[",
                                                   ",",   "&x", "*y", "%", "!",  "null"};
  std::string text;
  for (int i = pick(random, 0, 4); i > 0; --i)
    text += kPieces[static_cast<std::size_t>(pick(random, 0, static_cast<int>(kPieces.size()) - 1))];
  return text;
}

LineSet random_lines(std::mt19937& random) {
  LineSet lines;
  for (int i = pick(random, 0, 3); i > 0; --i) {
    const int first = pick(random, 1, 30);
    lines.add(first, first + pick(random, 0, 3));
  }
  return lines;
}

class ProgramMaker {
 public:
  ProgramMaker(std::mt19937& random, const RandomProgramOptions& options)
      : random_(random), options_(options) {}

  KernelProgram make() {
    KernelProgram program;
    program.program = items(options_.deepest);
    program.parameters = {{"K", ""}, {"N", ""}};
    if (!options_.texts) return program;
    program.parameters = {
        {"K", random_text(random_)}, {"blockDim.x", random_text(random_)}, {"N", random_text(random_)}};
    program.provenance = {random_text(random_), random_text(random_), random_text(random_),
                          random_text(random_), random_text(random_), random_text(random_)};
    program.description = random_text(random_);
    for (int i = pick(random_, 0, 2); i > 0; --i) {
      program.assumptions.push_back({pick(random_, 0, 9), pick(random_, 0, 9), random_text(random_)});
    }
    if (one_in(random_, 2)) {
      program.instructions_modelled = pick(random_, 0, 99);
      program.instructions_total = pick(random_, 0, 99);
    }
    return program;
  }

 private:
  Items items(int deepest) {
    Items made;
    for (int i = pick(random_, deepest == options_.deepest ? 1 : 0, options_.most_items); i > 0; --i) {
      Item item{what(deepest)};
      if (options_.texts) {
        item.lines = random_lines(random_);
        item.ptx = random_lines(random_);
      }
      made.push_back(std::move(item));
    }
    return made;
  }

  decltype(Item::what) what(int deepest) {
    const int kind = pick(random_, 0, deepest > 0 ? 11 : 6);
    if (kind <= 1) return instructions();
    if (kind == 2) return Calculation{duration()};
    if (kind <= 4) return access(MemoryAccess::Kind::load);
    if (kind <= 6) return access(MemoryAccess::Kind::store);
    if (kind <= 9 || !options_.conditions) return repeat(deepest);
    return When{Expression::make(Op::less, {value(), value()}), items(deepest - 1), items(deepest - 1)};
  }

  Instructions instructions() {
    Instructions made{count(0, 5)};
    if (!options_.texts || !made.count.is_integer()) return made;
    InstructionClasses classes;
    for (std::int64_t left = made.count.integer_value(); left > 0; left -= 2)
      classes.add({static_cast<InstructionOperation>(pick(random_, 0, kInstructionOperations - 1)),
                   static_cast<InstructionOperands>(pick(random_, 0, kInstructionOperands - 1))});
    made.classes = std::make_shared<const InstructionClasses>(std::move(classes));
    return made;
  }

  Repeat repeat(int deepest) {
    Repeat repeat;
    repeat.count = count(0, options_.most_iterations);
    if (!options_.counters || one_in(random_, 2)) {
      repeat.body = items(deepest - 1);
      return repeat;
    }
    static const std::array<std::string, 3> kCounters = {"i", "j", "K"};  // the last hides a parameter
    repeat.counter = kCounters[std::min<std::size_t>(counters_.size(), 2)];
    counters_.push_back(repeat.counter);
    repeat.body = items(deepest - 1);
    counters_.pop_back();
    return repeat;
  }

  MemoryAccess access(MemoryAccess::Kind kind) {
    MemoryAccess made;
    made.kind = kind;
    if (one_in(random_, 3)) made.access = static_cast<Access>(pick(random_, 0, 3));
    if (!made.access || one_in(random_, 4)) made.cycles = duration();
    if (options_.texts && one_in(random_, 2)) made.bytes = pick(random_, 0, 16);
    if (options_.texts && one_in(random_, 2)) made.sectors = pick(random_, 0, 32);
    if (options_.texts && one_in(random_, 3)) made.stride = random_text(random_);
    if (options_.texts && one_in(random_, 3)) made.note = random_text(random_);
    return made;
  }

  Expression value() {
    if (!counters_.empty() && one_in(random_, 3)) {
      return Expression::name(
          counters_[static_cast<std::size_t>(pick(random_, 0, static_cast<int>(counters_.size()) - 1))]);
    }
    if (one_in(random_, 3)) return Expression::name(one_in(random_, 2) ? "K" : "N");
    return pick(random_, 0, 4);
  }

  Expression count(int least, int most) {
    if (one_in(random_, 3)) return value();
    return pick(random_, least, most);
  }

  Expression duration() {
    if (one_in(random_, 5))
      return Expression::make(Op::multiply, {value(), Expression(pick(random_, 0, 20))});
    if (options_.whole_cycles) return pick(random_, 0, 60);
    return Expression::decimal(pick(random_, 0, 6000) / 128.0 + pick(random_, 0, 9) / 10.0);
  }

  std::mt19937& random_;
  const RandomProgramOptions& options_;
  std::vector<std::string> counters_;
};

class NaiveFlattener {
 public:
  NaiveFlattener(Bindings bindings, const MemoryDurations& durations)
      : bindings_(std::move(bindings)), durations_(durations) {}

  std::vector<Period> run(const Items& items) {
    flatten(items);
    end_run();
    return std::move(periods_);
  }

 private:
  void flatten(const Items& items) {
    for (const Item& item : items) {
      if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
        push(PeriodKind::calculation, *evaluate_number(calculation->cycles, bindings_));
      } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
        run_ += *evaluate_count(instructions->count, bindings_);
      } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
        const bool load = access->kind == MemoryAccess::Kind::load;
        const auto& defaults = load ? durations_.load : durations_.store;
        push(load ? PeriodKind::load : PeriodKind::store,
             access->cycles ? *evaluate_number(*access->cycles, bindings_)
                            : defaults[static_cast<std::size_t>(*access->access)]);
      } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        flatten(*repeat);
      } else if (const auto* when = std::get_if<When>(&item.what)) {
        flatten(*evaluate_count(when->condition, bindings_) != 0 ? when->then_items : when->else_items);
      }
    }
  }

  void flatten(const Repeat& repeat) {
    const auto iterations = *evaluate_count(repeat.count, bindings_);
    const Bindings outer = bindings_;
    for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
      if (!repeat.counter.empty()) bindings_[repeat.counter] = iteration;
      flatten(repeat.body);
    }
    bindings_ = outer;
  }

  void push(PeriodKind kind, double cycles) {
    end_run();
    periods_.push_back({kind, cycles, 0});
  }

  void end_run() {
    if (run_ > 0) periods_.push_back({PeriodKind::calculation, static_cast<double>(run_ - 1 + 10), 0});
    run_ = 0;
  }

  Bindings bindings_;
  const MemoryDurations& durations_;
  std::vector<Period> periods_;
  std::int64_t run_ = 0;
};

}  // namespace

KernelProgram random_program(std::mt19937& random, const RandomProgramOptions& options) {
  return ProgramMaker(random, options).make();
}

Expression random_expression(std::mt19937& random, int deepest) {
  const int kind = deepest == 0 ? pick(random, 0, 2) : pick(random, 0, 5);
  if (kind == 0)
    return Expression::name(std::array<std::string, 4>{
        "K", "N", "i", "blockDim.x"}[static_cast<std::size_t>(pick(random, 0, 3))]);
  if (kind == 1) return pick(random, -5, 40);
  if (kind == 2) return Expression::decimal(pick(random, -400, 400) / 8.0 + pick(random, 0, 9) / 10.0);
  static constexpr std::array<Op, 22> kOps = {
      Op::negate,   Op::logical_not, Op::add,         Op::subtract,   Op::multiply, Op::divide,
      Op::modulo,   Op::power,       Op::less,        Op::less_equal, Op::greater,  Op::greater_equal,
      Op::equal,    Op::not_equal,   Op::logical_and, Op::logical_or, Op::minimum,  Op::maximum,
      Op::ceil_div, Op::log2,        Op::conditional, Op::subtract};
  const Op op = kOps[static_cast<std::size_t>(pick(random, 0, static_cast<int>(kOps.size()) - 1))];
  std::size_t operands = 2;
  if (op == Op::negate || op == Op::logical_not || op == Op::log2) operands = 1;
  if (op == Op::conditional) operands = 3;
  if (op == Op::minimum || op == Op::maximum) operands = static_cast<std::size_t>(pick(random, 2, 4));
  std::vector<Expression> made;
  for (std::size_t i = 0; i < operands; ++i) made.push_back(random_expression(random, deepest - 1));
  return Expression::make(op, std::move(made));
}

std::vector<Period> flattened_naively(const KernelProgram& program, const Bindings& bindings,
                                      const MemoryDurations& durations) {
  return NaiveFlattener(bindings, durations).run(program.program);
}

}  // namespace warptime::test
