// Loops around launches, as a number of iterations and closed forms of what changes in them.
//
//   for (int s = n / 2; s > 0; s /= 2) reduce<<<s, 256>>>(d);        repeat: log2(n / 2) + 1, counter t, s = n / 2 / 2^t
//
// The body is read once, with a symbol for each variable that it changes. What a symbol has become at the end
// of the body says how it changes from iteration to iteration. Where that gives no closed form, and all
// conditions are known, the loop is read iteration by iteration instead.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
using Op = Expression::Operator;

constexpr int most_readings = 6;
constexpr std::uint64_t largest_closed_form = 60;
constexpr std::int64_t most_unrolled = 4096;  // with launches inside
constexpr std::int64_t most_unrolled_without = 256;
constexpr std::int64_t most_unrolling_work = 500'000;

template <class Bound>
void substitute_in(HostStep& step, const Substitution& replacements, const Bound& bound) {
  const auto replace = [&](Expression& expression) {
    expression = bound(substituted(expression, replacements));
  };
  replace(step.repeat);
  if (step.transfer) replace(step.transfer->bytes);
  if (step.launch) {
    for (Expression& size : step.launch->grid) replace(size);
    for (Expression& size : step.launch->block) replace(size);
    replace(step.launch->shared_bytes);
    for (auto& argument : step.launch->arguments) replace(argument.second);
    for (auto& array : step.launch->arrays) array.second = substituted(array.second, replacements);
  }
  for (HostStep& inner : step.steps) substitute_in(inner, replacements, bound);
}

bool any_mention(const std::vector<HostStep>& steps, const std::string& name) {
  return std::any_of(steps.begin(), steps.end(), [&](const HostStep& step) {
    bool found = mentions(step.repeat, name) || (step.transfer && mentions(step.transfer->bytes, name));
    if (step.launch) {
      for (const Expression& size : step.launch->grid) found = found || mentions(size, name);
      for (const Expression& size : step.launch->block) found = found || mentions(size, name);
      for (const auto& argument : step.launch->arguments) found = found || mentions(argument.second, name);
      found = found || mentions(step.launch->shared_bytes, name);
    }
    return found || any_mention(step.steps, name);
  });
}

// A condition that tells even iterations from odd ones.
Expression alternation(const std::string& counter, const Expression& even, const Expression& odd) {
  return choice_of(combination_of(Op::equal, *remainder_of(Expression::name(counter), 2), 0), even, odd);
}

}  // namespace

struct HostInterpreter::Carried {
  HostPlace place;
  HostValue entry;                  // before the loop
  int symbol = -1;                  // at the start of an iteration
  std::string name;                 // of the symbol in expressions
  HostValue end;                    // at the end of an iteration
  std::optional<Expression> start;  // at the start of iteration t, in closed form
  bool stays = false;               // the same in each iteration
};

struct HostInterpreter::LoopReading {
  std::vector<Carried> carried;
  std::vector<HostStep> steps;
  HostValue condition = HostValue::of(1);
  Flow flow = Flow::normal;
  Loop loop;
  HostMemory memory;
  std::string counter;
  Substitution closed;  // symbols of carried variables -> closed forms over `counter`
  int symbols = 0;      // those that were there before
  int objects = 0;
  bool converged = false;
};

std::optional<HostPlace> HostInterpreter::plain_place(const clang::Expr* expression) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (!variable) return std::nullopt;
    const auto local = frames_.back().variables.find(variable->getCanonicalDecl());
    if (local != frames_.back().variables.end()) return local->second;
    if (variable->hasGlobalStorage()) return place_of_variable(variable);
    return std::nullopt;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression); member && !member->isArrow()) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    auto base = field ? plain_place(member->getBase()) : std::nullopt;
    if (base) base->parts.push_back({field, 0});
    return base;
  }
  return std::nullopt;
}

void HostInterpreter::assigned_places(const clang::Stmt* statement, std::set<HostPlace>& places) {
  if (!statement) return;
  const clang::Expr* target = nullptr;
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(statement);
      binary && binary->isAssignmentOp())
    target = binary->getLHS();
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(statement);
      unary && unary->isIncrementDecrementOp())
    target = unary->getSubExpr();
  if (target && target->getType()->isScalarType()) {
    if (const auto place = plain_place(target)) places.insert(*place);
  }
  if (llvm::isa<clang::LambdaExpr>(statement)) return;
  for (const clang::Stmt* child : statement->children()) assigned_places(child, places);
}

// Reads the loop's body once; `carried` has what it changes.
HostInterpreter::LoopReading HostInterpreter::read_once(const LoopParts& parts, const HostMemory& entry) {
  std::set<HostPlace> changed;
  assigned_places(parts.condition, changed);
  assigned_places(parts.increment, changed);
  assigned_places(parts.body, changed);
  const std::size_t notes = program_.unread.size();
  LoopReading reading;
  for (int pass = 0; pass < most_readings; ++pass) {
    reading = LoopReading();
    memory_ = entry;
    reading.symbols = symbols_.add({});
    reading.objects = static_cast<int>(objects_.size());
    for (const HostPlace& place : changed) {
      Carried one;
      one.place = place;
      HostPlace whole = place;
      whole.inexact = false;
      one.entry = load(whole);
      if (place.inexact || one.entry.is(Kind::record) || one.entry.is(Kind::array)) {
        HostSymbol symbol;
        symbol.name = name_of(whole);
        symbol.variable = !symbol.name.empty();
        symbol.line = objects_[static_cast<std::size_t>(place.object)].line;
        memory_.store(whole, unknown(std::move(symbol)));
        continue;
      }
      HostSymbol symbol;
      symbol.name = name_of(place);
      symbol.variable = !symbol.name.empty();
      symbol.source = "changes from iteration to iteration";
      symbol.file = file_of(parts.loop->getBeginLoc());
      symbol.line = line_of(parts.loop);
      HostValue start = unknown(std::move(symbol));
      one.symbol = start.id;
      one.name = HostSymbols::expression(start.id).name_text();
      if (one.entry.is(Kind::real) &&
          one.entry.denominator == Expression(1)) {  // a loop may count in floating point
        start.kind = Kind::real;
        start.expression = Expression::name(one.name);
      }
      memory_.store(place, start);
      reading.carried.push_back(std::move(one));
    }
    WriteLog log;
    log.objects = reading.objects;
    logs_.push_back(&log);
    loops_.push_back({});
    reading.steps = collect([&] {
      loops_.back().level = emissions_.size();
      if (parts.declaration) execute(parts.declaration);
      if (!parts.body_first && parts.condition) reading.condition = evaluate(parts.condition);
      reading.flow = execute(parts.body);
      if (reading.flow == Flow::continued) reading.flow = Flow::normal;
      join_continued();
      if (parts.increment && reading.flow == Flow::normal) evaluate(parts.increment);
      if (parts.body_first && reading.flow == Flow::normal) reading.condition = evaluate(parts.condition);
    });
    ended_ = false;
    reading.loop = loops_.back();
    loops_.pop_back();
    logs_.pop_back();
    for (const HostPlace& place : log.places)
      for (WriteLog* outer : logs_)
        if (place.object < outer->objects) outer->places.insert(place);
    reading.memory = memory_;
    const std::size_t known = changed.size();
    changed.insert(log.places.begin(), log.places.end());
    // A part of what is changed as a whole is that.
    for (auto place = changed.begin(); place != changed.end();) {
      bool covered = false;
      for (HostPlace outer = *place; !outer.parts.empty() && !covered;) {
        outer.parts.pop_back();
        outer.inexact = false;
        HostPlace inexact = outer;
        inexact.inexact = true;
        covered = changed.count(inexact) > 0;
      }
      place = covered ? changed.erase(place) : std::next(place);
    }
    if (changed.size() == known &&
        std::all_of(log.places.begin(), log.places.end(), [&](const HostPlace& place) {
          if (changed.count(place) > 0) return true;
          for (HostPlace outer = place; !outer.parts.empty();) {
            outer.parts.pop_back();
            outer.inexact = false;
            HostPlace inexact = outer;
            inexact.inexact = true;
            if (changed.count(outer) > 0 || changed.count(inexact) > 0) return true;
          }
          return false;
        })) {
      reading.converged = true;
      break;
    }
    if (pass + 1 < most_readings) program_.unread.resize(notes);
  }
  for (Carried& one : reading.carried) one.end = load(one.place);
  return reading;
}

// Whether all that an expression depends on is the same in each iteration.
bool HostInterpreter::same_each_time(const Expression& expression, const LoopReading& reading) const {
  for (const std::string& name : expression.names()) {
    const auto id = HostSymbols::id_of(name);
    if (!id) continue;
    const auto carried = std::find_if(reading.carried.begin(), reading.carried.end(),
                                      [&](const Carried& one) { return one.symbol == *id; });
    if (carried != reading.carried.end()) {
      if (!carried->stays) return false;
      continue;
    }
    if (*id < reading.symbols) continue;
    const auto leaf = leaf_objects_.find(*id);
    if (leaf == leaf_objects_.end() || leaf->second >= reading.objects) return false;
  }
  return true;
}

// Whether steps depend on nothing that came up inside the loop.
bool HostInterpreter::known_before(const std::vector<HostStep>& steps, const LoopReading& reading) const {
  std::vector<std::string> names;
  const auto collect_names = [&](const auto& self, const std::vector<HostStep>& list) -> void {
    for (const HostStep& step : list) {
      step.repeat.collect_names(names);
      if (step.launch) {
        for (const Expression& size : step.launch->grid) size.collect_names(names);
        for (const Expression& size : step.launch->block) size.collect_names(names);
      }
      self(self, step.steps);
    }
  };
  collect_names(collect_names, steps);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto id = HostSymbols::id_of(name);
    if (!id || *id < reading.symbols) return true;
    const auto leaf = leaf_objects_.find(*id);
    return leaf != leaf_objects_.end() && leaf->second < reading.objects;
  });
}

void HostInterpreter::find_closed_forms(LoopReading& reading) const {
  const Expression t = Expression::name(reading.counter);
  const auto settle = [&](Carried& one, Expression start) {
    reading.closed[one.name] = start;
    one.start = std::move(start);
  };
  // What stays as it was.
  for (bool more = true; more;) {
    more = false;
    for (Carried& one : reading.carried) {
      if (one.start || one.stays) continue;
      const auto entry = whole_of(one.entry);
      const auto end = whole_of(one.end);
      if (end && *end == Expression::name(one.name)) {
        one.stays = true;
        if (entry) settle(one, *entry);
        more = true;
      }
    }
  }
  // Pointers that swap: each is what the other was.
  for (Carried& one : reading.carried) {
    if (one.start || one.stays || !one.end.is(Kind::unknown)) continue;
    for (Carried& other : reading.carried) {
      if (&one == &other || other.start || !other.end.is(Kind::unknown)) continue;
      if (one.end.id != other.symbol || other.end.id != one.symbol) continue;
      const auto value = [&](const HostValue& of) -> std::optional<Expression> {
        if (const auto expression = expression_of_value(of)) return expression;
        if (!of.is(Kind::pointer) || !of.place.parts.empty() || of.place.inexact) return std::nullopt;
        const Object& object = objects_[static_cast<std::size_t>(of.place.object)];
        if (object.array < 0) return std::nullopt;
        return sum_of(Expression::name(program_.arrays[static_cast<std::size_t>(object.array)].name),
                      of.expression);
      };
      const auto a = value(one.entry), b = value(other.entry);
      if (!a || !b) continue;
      settle(one, alternation(reading.counter, *a, *b));
      settle(other, alternation(reading.counter, *b, *a));
    }
  }
  // Inductions.
  for (bool more = true; more;) {
    more = false;
    for (Carried& one : reading.carried) {
      if (one.start || one.stays) continue;
      const auto entry = whole_of(one.entry);
      auto end = whole_of(one.end);
      if (!entry || !end) continue;
      const Expression symbol = Expression::name(one.name);
      Substitution constants;
      for (const Carried& other : reading.carried)
        if (other.stays && other.start) constants[other.name] = *other.start;
      *end = substituted(*end, constants);
      const Expression step = difference_of(*end, symbol);
      std::optional<Expression> start;
      if (!mentions(step, one.name) && same_each_time(step, reading)) {
        start = sum_of(*entry, product_of(step, t));
      } else if (end->op() == Op::multiply && end->operands()[0].is_integer() &&
                 end->operands()[1] == symbol && end->operands()[0].integer_value() > 1) {
        start = product_of(*entry, *power_of(end->operands()[0], t));
      } else if (end->op() == Op::divide && end->operands()[0] == symbol && end->operands()[1].is_integer() &&
                 end->operands()[1].integer_value() > 1) {
        start = quotient_of(*entry, *power_of(end->operands()[1], t));
      } else if (end->op() == Op::ceil_div && end->operands()[0] == symbol &&
                 end->operands()[1].is_integer() && end->operands()[1].integer_value() > 1) {
        start = ceiling_of(*entry, *power_of(end->operands()[1], t));
      } else if (const Expression both = sum_of(*end, symbol);
                 !mentions(both, one.name) && same_each_time(both, reading)) {
        start = alternation(reading.counter, *entry, difference_of(both, *entry));
      } else if (*end == negation_of(symbol)) {
        start = alternation(reading.counter, *entry, negation_of(*entry));
      } else if (*end == Expression::make(Op::modulo, {sum_of(symbol, 1), 2}) && entry->is_integer()) {
        start = *remainder_of(sum_of(*entry, t), 2);
      }
      if (!start || start->size() > largest_closed_form) continue;
      settle(one, *start);
      more = true;
    }
  }
  // What an iteration computes anew: at the start of the next one it is what the one before left.
  for (bool more = true; more;) {
    more = false;
    for (Carried& one : reading.carried) {
      if (one.start || one.stays) continue;
      const auto entry = whole_of(one.entry);
      const auto end = whole_of(one.end);
      if (!entry || !end) continue;
      const Expression value = substituted(*end, reading.closed);
      bool open = false;
      for (const Carried& other : reading.carried)
        open = open || (!other.stays && mentions(value, other.name));
      Expression known = value;
      if (open || !same_each_time(known, reading)) continue;
      const Expression before = substituted(value, {{reading.counter, sum_of(t, -1)}});
      const Expression start = choice_of(combination_of(Op::equal, t, 0), *entry, before);
      if (start.size() > largest_closed_form) continue;
      settle(one, start);
      more = true;
    }
  }
}

// At the end of an iteration: what it leaves in memory where a `continue` was taken, and where not.
void HostInterpreter::join_continued() {
  std::vector<ContinuedPath> paths = std::exchange(loops_.back().continued, {});
  for (auto path = paths.rbegin(); path != paths.rend(); ++path)
    memory_ = path->where_true ? merged(path->memory, memory_, path->condition)
                               : merged(memory_, path->memory, path->condition);
}

// Iteration by iteration. Nothing where a condition is undecided or there are too many iterations.
std::optional<HostInterpreter::Flow> HostInterpreter::unroll(const LoopParts& parts, const HostMemory& entry,
                                                             const LoopReading& reading) {
  memory_ = entry;
  const std::size_t notes = program_.unread.size();
  std::int64_t iterations = 0;
  const std::int64_t work_before = work_;
  bool failed = work_ > 5 * most_unrolling_work;  // enough is left for the rest of the program
  Flow result = Flow::normal;
  loops_.push_back({});
  std::vector<HostStep> steps;
  while (!failed && spend()) {
    std::vector<HostStep> body;
    bool more = true;
    body = collect([&] {
      if (!parts.body_first || iterations > 0) {
        if (parts.declaration) execute(parts.declaration);
        const auto truth = parts.condition ? decided(evaluate(parts.condition)) : std::optional(true);
        if (!truth) failed = true;
        more = truth && *truth;
      }
      if (!more) return;
      const Flow flow = execute(parts.body);
      join_continued();
      if (flow == Flow::broke) more = false;
      if (flow == Flow::returned || flow == Flow::exited) {
        result = flow;
        more = false;
      }
      if (loops_.back().data_break) failed = true;
    });
    for (HostStep& step : body) steps.push_back(std::move(step));
    if (!more || failed) break;
    if (parts.increment) evaluate(parts.increment);
    ++iterations;
    if (work_ - work_before > most_unrolling_work) failed = true;
    if (iterations > (steps.empty() ? most_unrolled_without : most_unrolled) || steps.size() > 20'000)
      failed = true;
  }
  ended_ = false;
  loops_.pop_back();
  if (failed || exhausted_ || !known_before(steps, reading)) {
    program_.unread.resize(std::min(notes, program_.unread.size()));
    return std::nullopt;
  }
  emit_all(std::move(steps));
  return result;
}

HostInterpreter::Flow HostInterpreter::execute_loop(const LoopParts& parts) {
  const HostMemory entry = memory_;
  const std::optional<HostValue> result_before = frames_.back().result;
  if (!parts.body_first && parts.condition) {  // a loop that is never entered
    bool entered = true;
    const std::vector<HostStep> ignored = collect([&] {
      if (parts.declaration) execute(parts.declaration);
      entered = decided(evaluate(parts.condition)).value_or(true);
    });
    if (!entered) return Flow::normal;
    memory_ = entry;
  }
  LoopReading reading = read_once(parts, entry);
  if (reading.flow == Flow::exited && reading.steps.empty()) {  // a body that ends the program
    memory_ = entry;
    return Flow::normal;
  }
  std::string hint = "iteration";
  if (const auto* unary = llvm::dyn_cast_or_null<clang::UnaryOperator>(parts.increment)) {
    if (const auto* variable = llvm::dyn_cast<clang::DeclRefExpr>(unary->getSubExpr()->IgnoreParenImpCasts()))
      hint = variable->getDecl()->getNameAsString();
  } else if (const auto* binary = llvm::dyn_cast_or_null<clang::BinaryOperator>(parts.increment)) {
    if (const auto* variable = llvm::dyn_cast<clang::DeclRefExpr>(binary->getLHS()->IgnoreParenImpCasts()))
      hint = variable->getDecl()->getNameAsString();
  }
  reading.counter = symbols_.new_counter(hint);
  find_closed_forms(reading);

  const auto condition = expression_of_value(reading.condition);
  // A condition over the counter; nothing where it depends on more than that and what stays the same.
  const auto over_time = [&](const Expression& of) -> std::optional<Expression> {
    Expression closed = substituted(of, reading.closed);
    for (const Carried& one : reading.carried)
      if (!one.start && !one.stays && mentions(closed, one.name)) return std::nullopt;
    if (!same_each_time(closed, reading)) return std::nullopt;
    return closed;
  };
  std::optional<Expression> trips;
  const bool left_at_once =
      reading.flow == Flow::broke || reading.flow == Flow::returned || reading.flow == Flow::exited;
  if (left_at_once) {
    trips = 1;
  } else if (condition) {
    if (const auto stays = over_time(*condition)) {
      trips = passes_of(*stays, reading.counter);
      if (trips && parts.body_first) trips = sum_of(*trips, 1);
    }
  }
  // Without a closed form: the first iteration for which the condition does not hold.
  std::optional<Expression> counted;
  if (!left_at_once && (!trips || reading.loop.data_break) && !parts.body_first &&
      (condition || reading.loop.stays) && reading.loop.breaks == (reading.loop.stays ? 1 : 0)) {
    Expression stays = condition.value_or(1);
    if (reading.loop.stays) stays = combination_of(Op::logical_and, stays, *reading.loop.stays);
    if (const auto closed = over_time(stays); closed && closed->size() <= largest_closed_form) {
      counted = passes_of(*closed, reading.counter);
      if (!counted) counted = first_without(*closed, reading.counter, line_of(parts.loop));
    }
  }
  bool open_steps = false, open_values = false;
  for (const Carried& one : reading.carried) {
    if (one.start || one.stays) continue;
    open_steps = open_steps || any_mention(reading.steps, one.name);
    open_values = open_values || whole_of(one.end).has_value();
  }
  const bool launches = !reading.steps.empty();
  if (launches && trips && trips->is_integer()) {
    std::vector<HostStep> closed = reading.steps;
    for (HostStep& step : closed) substitute_in(step, reading.closed, [](Expression form) { return form; });
    open_steps = open_steps || !known_before(closed, reading);
  }
  const std::int64_t most = launches ? most_unrolled : most_unrolled_without;
  const bool too_many = trips && trips->is_integer() && trips->integer_value() > most;
  const bool wanting =
      !trips || open_steps || (open_values && !launches) || (launches && open_values && trips->is_integer());
  const bool endless = decided(reading.condition) == std::optional(true) && !reading.loop.data_break;
  if ((wanting || reading.loop.data_break) && !too_many && !endless && !left_at_once) {
    if (const auto flow = unroll(parts, entry, reading)) return *flow;
    frames_.back().result = result_before;
  }

  if (counted) {
    trips = counted;
  } else if (!trips || reading.loop.data_break) {
    HostSymbol symbol;
    symbol.name = fmt::format("iterations_{}", line_of(parts.loop));
    const std::string source = reading.loop.data_break && !reading.loop.break_source.empty()
                                   ? fmt::format("until `{}`", reading.loop.break_source)
                               : parts.condition ? fmt::format("while `{}`", text_of(parts.condition))
                                                 : std::string("until it is left");
    symbol.source = fmt::format("the number of iterations of a loop, {}", source);
    symbol.file = file_of(parts.loop->getBeginLoc());
    symbol.line = line_of(parts.loop);
    symbol.variable = true;
    if (trips && trips->is_integer()) symbol.typical = trips->integer_value();
    trips = HostSymbols::expression(symbols_.add(std::move(symbol)));
  }
  // The counter bears the variable's name where it is its value.
  bool counts_variable = false;
  for (const Carried& one : reading.carried)
    counts_variable = counts_variable || (one.start && *one.start == Expression::name(reading.counter) &&
                                          name_of(one.place) == hint);
  if (!counts_variable && hint != "iteration") {
    const std::string renamed = symbols_.new_counter(hint + "_index");
    const Substitution rename{{reading.counter, Expression::name(renamed)}};
    for (auto& [name, form] : reading.closed) form = substituted(form, rename);
    reading.counter = renamed;
  }
  Substitution within = reading.closed;
  const auto array_expression = [&](const HostValue& value) { return array_of(value); };
  for (const Carried& one : reading.carried) {
    if (!one.stays || one.start) continue;
    if (const auto array = array_expression(one.entry)) within[one.name] = *array;
  }
  if (launches) {
    HostStep group;
    group.repeat = *trips;
    group.counter = reading.counter;
    group.file = file_of(parts.loop->getBeginLoc());
    group.line = line_of(parts.loop);
    group.steps = std::move(reading.steps);
    for (HostStep& step : group.steps) {
      substitute_in(step, within, [&](Expression form) {
        return *expression_of_value(
            bounded(HostValue::of(std::move(form)), fmt::format("value_{}", step.line), parts.loop));
      });
    }
    emissions_.back().steps.push_back(std::move(group));
  }

  // Memory after the last iteration.
  Substitution last;
  const Expression last_iteration = sum_of(*trips, -1);
  for (const auto& [name, form] : reading.closed)
    last[name] = substituted(form, {{reading.counter, last_iteration}});
  memory_ = reading.memory;
  const HostMemory after_body = reading.memory;
  for (const auto& [object, value] : after_body.objects()) {
    const auto before = entry.objects().find(object);
    if (before != entry.objects().end() && before->second == value) continue;
    const std::string& name = objects_[static_cast<std::size_t>(object)].name;
    memory_.replace(object, std::make_shared<const HostValue>(
                                bounded(with_substitution(*value, last), name, parts.loop)));
  }
  for (const Carried& one : reading.carried) {
    if (one.stays) {
      memory_.store(one.place, one.entry);
      continue;
    }
    const auto end = whole_of(one.end);
    bool open = false;
    if (end) {
      // What the next iteration would begin with; a loop that is left has not come to its end.
      const Expression after = one.start && !left_at_once
                                   ? substituted(reading.closed.at(one.name), {{reading.counter, *trips}})
                                   : substituted(*end, last);
      for (const Carried& other : reading.carried) open = open || mentions(after, other.name);
      if (!open && (one.start || same_each_time(*end, reading))) {
        HostValue value = HostValue::of(after);
        if (one.end.is(Kind::real)) value = *real_of(value);
        memory_.store(one.place, bounded(std::move(value), name_of(one.place), parts.loop));
        continue;
      }
    }
    if (one.end.is(Kind::pointer) || one.end.is(Kind::function) || one.end.is(Kind::closure)) {
      memory_.store(one.place, one.end);
      continue;
    }
    HostSymbol symbol;
    symbol.name = name_of(one.place);
    symbol.variable = !symbol.name.empty();
    symbol.source = "set in a loop";
    if (one.end.is(Kind::unknown) && one.end.id != one.symbol && !symbols_[one.end.id].source.empty())
      symbol.source = symbols_[one.end.id].source;
    symbol.file = file_of(parts.loop->getBeginLoc());
    symbol.line = line_of(parts.loop);
    const bool input = symbol.source.starts_with('`');  // the options of a command line
    if (input && one.entry.is_known() && one.entry.expression.integer_value() > 0 && !launches)
      symbol.typical = one.entry.expression.integer_value();
    memory_.store(one.place, unknown(std::move(symbol)));
  }
  // Where a `break` may have been taken, what it leaves and what the last iteration leaves are alternatives.
  for (HostMemory& broken : reading.loop.broken) {
    for (const Carried& one : reading.carried) {
      const HostValue* value = broken.find(one.place);
      if (one.stays && value && value->is(Kind::unknown) && value->id == one.symbol)
        broken.store(one.place, one.entry);
    }
    memory_ = merged(memory_, broken, unknown({}));
  }
  if (reading.flow == Flow::returned || reading.flow == Flow::exited) return reading.flow;
  return Flow::normal;
}

}  // namespace warptime::compiling
