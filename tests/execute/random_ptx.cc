#include "tests/execute/random_ptx.h"

#include <algorithm>
#include <random>

namespace warptime::execute::testing {
namespace {

using Expression = RandomExpression;
using Condition = RandomCondition;
using Statement = RandomStatement;
using Kind = Statement::Kind;
using Shape = Statement::Shape;
using Form = Statement::Form;
using Op = Expression::Op;

constexpr std::uint32_t common_variables = 4;
constexpr std::uint32_t deepest_thread_branch = 3;

// Variables that may be negative have odd numbers; the others never are. (random_text.cc knows it too.)
bool signed_variable(std::uint32_t variable) {
  return variable % 2 == 1;
}

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomFeatures& features) : features_(features), random_(seed) {
    program_.seed = seed;
  }

  RandomProgram program() {
    program_.threads = pick({32, 32, 64, 96, 128});
    program_.blocks = pick({1, 2, 3});
    const auto callees = features_.calls ? below(4) : 0;
    for (std::uint32_t f = 0; f < callees; ++f) {
      thread_conditions_ = chance(40);
      program_.functions.push_back(function(false));
      function_has_thread_conditions_.push_back(thread_conditions_);
    }
    thread_conditions_ = true;
    program_.functions.push_back(function(true));
    const auto arguments = program_.functions.back().arguments;
    for (int set = 0; set < 3; ++set) {
      std::vector<std::int64_t> values;
      for (std::uint32_t i = 0; i < arguments; ++i) values.push_back(below(5) == 0 ? 0 : below(13));
      if (features_.negative_arguments && arguments > 0 && below(2) == 0)
        values.back() = -static_cast<std::int64_t>(below(8));
      program_.argument_sets.push_back(std::move(values));
    }
    return std::move(program_);
  }

 private:
  struct Scope {
    int depth = 0, loops = 0;
    bool threads_differ = false;  // some lanes may be elsewhere
    std::uint32_t thread_branches = 0;
    bool may_leave = true;
  };

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  std::uint32_t pick(std::initializer_list<std::uint32_t> from) {
    return *(from.begin() + below(static_cast<std::uint32_t>(from.size())));
  }
  std::uint32_t style() { return static_cast<std::uint32_t>(random_()); }

  RandomFunction function(bool kernel) {
    function_ = {};
    kernel_ = kernel;
    function_.arguments = kernel ? 2 + below(3) : 1 + below(3);
    function_.variables = common_variables;
    function_.has_result = !kernel && chance(75);
    function_.style = style();
    readable_ = {};
    for (std::uint32_t v = 0; v < common_variables; ++v) readable_.push_back(v);
    Scope scope;
    if (!thread_conditions_) scope.thread_branches = deepest_thread_branch;
    function_.body = statements(scope, kernel ? 3 + below(4) : 1 + below(3));
    return std::move(function_);
  }

  std::uint32_t new_variable(bool may_be_negative) {
    auto variable = function_.variables;
    while (signed_variable(variable) != may_be_negative) ++variable;
    function_.variables = variable + 1;
    return variable;
  }

  // ---- expressions: of small numbers, so that nothing wraps

  static Expression constant(std::int64_t value) { return {Op::constant, value, 0, {}}; }

  bool signed_argument(std::uint32_t argument) const {
    return kernel_ && features_.negative_arguments && argument + 1 == function_.arguments;
  }

  Expression leaf(bool may_be_negative, bool variables) {
    Expression e;
    e.style = style();
    switch (below(10)) {
      case 0:
      case 1:
        return constant(below(7));
      case 2:
        e.op = Op::ntid;
        return divided(std::move(e), pick({8, 16, 32}));
      case 3:
        e.op = Op::nctaid;
        return e;
      case 4:
      case 5:
      case 6:
        if (variables) {
          e.number = readable_[below(static_cast<std::uint32_t>(readable_.size()))];
          e.op = Op::variable;
          if (may_be_negative || !signed_variable(static_cast<std::uint32_t>(e.number))) return e;
        }
        [[fallthrough]];
      default:
        e.op = Op::argument;
        e.number = below(function_.arguments);
        return !may_be_negative && signed_argument(static_cast<std::uint32_t>(e.number)) ? constant(3) : e;
    }
  }

  Expression divided(Expression what, std::int64_t by) {
    return {Op::divide, 0, style(), {std::move(what), constant(by)}};
  }

  Expression expression(bool may_be_negative, int depth = 2, bool variables = true) {
    if (depth == 0 || chance(45)) return leaf(may_be_negative, variables);
    Expression e;
    e.style = style();
    const auto part = [&] { return expression(may_be_negative, depth - 1, variables); };
    switch (below(may_be_negative ? 9 : 8)) {
      case 0:
      case 1:
        e.op = Op::add, e.parts = {part(), part()};
        break;
      case 2:
        e.op = Op::multiply, e.parts = {part(), constant(1 + below(4))};
        break;
      case 3:
        return divided(part(), 1 + below(8));
      case 4:
        e.op = Op::modulo, e.parts = {part(), constant(1 + below(8))};
        break;
      case 5:
        e.op = Op::minimum, e.parts = {part(), part()};
        break;
      case 6:
        e.op = Op::maximum, e.parts = {part(), part()};
        break;
      case 7:
        e.op = Op::select, e.parts = {part(), part()};
        break;
      default:
        e.op = Op::subtract, e.parts = {part(), part()};
        break;
    }
    return e;
  }

  Condition simple_condition() {
    Condition c;
    c.style = style();
    const bool may_be_negative = chance(40);
    c.as_unsigned = !may_be_negative && chance(40);
    c.relation = static_cast<Condition::Relation>(below(6));
    c.a = expression(may_be_negative);
    c.b = chance(50) ? constant(below(8)) : expression(may_be_negative, 1);
    return c;
  }

  Condition condition() {
    auto c = simple_condition();
    if (chance(20)) {
      c.join = chance(50) ? Condition::Join::both : Condition::Join::either;
      c.second = {simple_condition()};
    }
    return c;
  }

  Condition thread_condition(const Scope& scope) {
    Condition c;
    c.style = style();
    c.thread_bit = 1 + scope.thread_branches;
    c.relation = chance(50) ? Condition::Relation::equal : Condition::Relation::not_equal;
    return c;
  }

  // ---- statements

  std::vector<Statement> statements(const Scope& scope, std::uint32_t count) {
    std::vector<Statement> list;
    for (std::uint32_t i = 0; i < count; ++i) list.push_back(statement(scope));
    return list;
  }

  Statement statement(const Scope& scope) {
    const auto roll = below(100);
    if (scope.depth < 4 && roll < 22) return loop(scope);
    if (scope.depth < 4 && roll < 40) return branch(scope);
    if (roll < 47 && !program_.functions.empty()) return call(scope);
    if (roll < 51 && scope.may_leave && !scope.threads_differ && scope.loops == 0) return leave();
    if (roll < 60 && !scope.threads_differ) return assignment(scope);
    return simple(scope);
  }

  Statement simple(const Scope& scope) {
    Statement s;
    s.style = style();
    s.number = 1 + below(4);
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        s.kind = Kind::load;
        break;
      case 3:
      case 4:
      case 5:
        s.kind = Kind::store;
        break;
      case 6:
        s.kind = scope.threads_differ || !kernel_ ? Kind::calculate : Kind::shared;
        break;
      case 7:
        s.kind = scope.threads_differ || !kernel_ ? Kind::calculate : Kind::barrier;
        break;
      default:
        s.kind = Kind::calculate;
        break;
    }
    if (s.kind == Kind::load || s.kind == Kind::store) {
      s.number = below(6);
      s.expressions = {expression(false, 1)};
    }
    if (s.kind != Kind::barrier && s.kind != Kind::shared && chance(15))
      s.conditions = {scope.thread_branches < deepest_thread_branch && chance(40) ? thread_condition(scope)
                                                                                  : condition()};
    return s;
  }

  Statement assignment(const Scope& scope) {
    Statement s;
    s.style = style();
    s.variable = below(common_variables);
    const bool may_be_negative = signed_variable(s.variable);
    if (chance(35)) {
      s.kind = Kind::increase;
      s.number = 1 + below(4);
      if (may_be_negative && chance(50)) s.number = -s.number;
      return s;
    }
    s.kind = Kind::assign;
    s.expressions = {expression(may_be_negative, 2, scope.loops == 0)};
    if (chance(15)) s.conditions = {condition()};
    return s;
  }

  Statement leave() {
    Statement s;
    s.kind = Kind::leave;
    s.style = style();
    s.conditions = {condition()};
    return s;
  }

  Statement call(const Scope& scope) {
    Statement s;
    s.kind = Kind::call;
    s.style = style();
    s.number = below(static_cast<std::uint32_t>(program_.functions.size()));
    // Whose lanes differ already, or may not: no function that branches on the thread's index.
    const bool no_thread_conditions = scope.threads_differ || scope.thread_branches > 0;
    if (no_thread_conditions && function_has_thread_conditions_[static_cast<std::size_t>(s.number)])
      return simple(scope);
    for (std::uint32_t i = 0; i < program_.functions[static_cast<std::size_t>(s.number)].arguments; ++i)
      s.expressions.push_back(expression(false, 1));
    s.variable = scope.threads_differ ? new_variable(false) : chance(50) ? 0 : 2;
    if (chance(10)) s.conditions = {condition()};
    return s;
  }

  Statement branch(Scope scope) {
    Statement s;
    s.kind = Kind::branch;
    s.style = style();
    ++scope.depth;
    if (scope.thread_branches < deepest_thread_branch && chance(30)) {
      s.conditions = {thread_condition(scope)};
      ++scope.thread_branches;
      scope.threads_differ = true;
    } else {
      s.conditions = {condition()};
    }
    s.then = statements(scope, 1 + below(2));
    if (chance(50)) s.otherwise = statements(scope, 1 + below(2));
    if (chance(15) && !s.otherwise.empty()) s.otherwise = {branch_of(scope)};  // if, else if
    return s;
  }
  Statement branch_of(const Scope& scope) { return scope.depth < 5 ? branch(scope) : simple(scope); }

  Statement loop(Scope scope) {
    Statement s;
    s.kind = Kind::loop;
    s.style = style();
    s.shape = static_cast<Shape>(below(scope.thread_branches == 0 && kernel_ ? 6 : 5));
    s.form = static_cast<Form>(below(4));
    const bool may_be_negative = s.shape == Shape::down || (s.shape == Shape::up && chance(25));
    s.number = 1 + below(chance(50) ? 1 : 4);
    switch (s.shape) {
      case Shape::up:
      case Shape::down:
        s.expressions = {expression(may_be_negative), expression(may_be_negative)};
        break;
      case Shape::until_equal:
        s.expressions = {expression(false, 1), expression(false)};
        if (s.form == Form::at_bottom)
          s.expressions[1] = {Op::add, 0, style(), {std::move(s.expressions[1]), constant(1)}};
        if (chance(30)) s.number = -s.number;
        break;
      case Shape::doubling:
        s.expressions = {chance(60)
                             ? constant(1 + below(4))
                             : Expression{Op::maximum, 0, style(), {expression(false, 1), constant(1)}},
                         expression(false)};
        s.number = 1 + below(3);
        break;
      case Shape::halving:
        s.expressions = {expression(false), constant(below(3))};
        s.number = 1 + below(3);
        break;
      // With some iteration for thread 0: a warp with none is not the one that the analysis speaks of.
      case Shape::by_threads:
        s.expressions = {constant(0), {Op::add, 0, style(), {expression(false), constant(1)}}};
        break;
    }
    if (s.shape == Shape::by_threads) {
      scope.threads_differ = true;
      scope.thread_branches = deepest_thread_branch;
    }
    s.variable = new_variable(may_be_negative);
    ++scope.depth, ++scope.loops;
    const bool visible = s.shape != Shape::by_threads;
    if (visible) readable_.push_back(s.variable);
    s.then = statements(scope, 1 + below(3));
    if (s.form == Form::in_middle) s.otherwise = statements(scope, 1 + below(2));
    // Where only some lanes ran the loop, its counter is theirs alone.
    if (visible && scope.threads_differ) std::erase(readable_, s.variable);
    return s;
  }

  RandomFeatures features_;
  std::mt19937_64 random_;
  RandomProgram program_;
  RandomFunction function_;
  std::vector<std::uint32_t> readable_;
  std::vector<bool> function_has_thread_conditions_;
  bool kernel_ = false, thread_conditions_ = true;
};

// ---- shrinking

// Every smaller program that is one step from `program`, until one is accepted.
class Shrinker {
 public:
  Shrinker(RandomProgram& program, const std::function<bool(const RandomProgram&)>& fails)
      : program_(program), fails_(fails) {}

  bool step() {
    for (auto& function : program_.functions)
      if (in_list(function.body)) return true;
    return false;
  }

 private:
  // Takes the change that was made, or gives the old back.
  template <class T>
  bool accept(T& place, T changed) {
    if (attempts_ == 0) return false;
    --attempts_;
    std::swap(place, changed);
    if (fails_(program_)) return true;
    std::swap(place, changed);
    return false;
  }

  bool in_list(std::vector<Statement>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto without = list;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(list, without)) return true;
      auto unwrapped = without;
      unwrapped.insert(unwrapped.begin() + static_cast<std::ptrdiff_t>(i), list[i].otherwise.begin(),
                       list[i].otherwise.end());
      unwrapped.insert(unwrapped.begin() + static_cast<std::ptrdiff_t>(i), list[i].then.begin(),
                       list[i].then.end());
      if (unwrapped.size() > without.size() && accept(list, unwrapped)) return true;
      if (in_statement(list[i])) return true;
    }
    return false;
  }

  bool in_statement(Statement& s) {
    if (!s.conditions.empty() && s.kind != Kind::branch && s.kind != Kind::leave && accept(s.conditions, {}))
      return true;
    for (auto& c : s.conditions)
      if (in_condition(c)) return true;
    const bool by_threads = s.kind == Kind::loop && s.shape == Shape::by_threads;
    for (auto& e : s.expressions)
      if (in_expression(by_threads && e.op == Op::add ? e.parts[0] : e))
        return true;  // the bound stays above 0
    if (s.kind == Kind::calculate && s.number > 1 && accept(s.number, std::int64_t{1})) return true;
    if (s.kind == Kind::loop && (s.number > 1 || s.number < -1) && accept(s.number, std::int64_t{1}))
      return true;
    if (s.style != 0 && accept(s.style, 0u)) return true;
    return in_list(s.then) || in_list(s.otherwise);
  }

  bool in_condition(Condition& c) {
    if (c.thread_bit != 0) return false;
    if (c.join != Condition::Join::none) {
      auto first = c, second = c.second[0];
      first.join = Condition::Join::none;
      first.second.clear();
      if (accept(c, first) || accept(c, second) || in_condition(c.second[0])) return true;
    }
    return in_expression(c.a) || in_expression(c.b);
  }

  bool in_expression(Expression& e) {
    if (e.op == Op::constant) return false;
    if (accept(e, Expression{Op::constant, 2, 0, {}})) return true;
    if (!e.parts.empty() && accept(e, Expression(e.parts[0]))) return true;
    if (e.parts.size() > 1 && accept(e, Expression(e.parts[1]))) return true;
    if (e.style != 0 && accept(e.style, 0u)) return true;
    const bool by_constant = e.op == Op::divide || e.op == Op::modulo || e.op == Op::multiply;
    for (std::size_t i = 0; i < (by_constant ? 1 : e.parts.size()); ++i)
      if (in_expression(e.parts[i])) return true;
    return false;
  }

  RandomProgram& program_;
  const std::function<bool(const RandomProgram&)>& fails_;
  int attempts_ = 4000;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const RandomFeatures& features) {
  return Generator(seed, features).program();
}

RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails) {
  for (const auto& set : std::vector(program.argument_sets)) {
    auto fewer = program;
    fewer.argument_sets = {set};
    if (!fails(fewer)) continue;
    program = std::move(fewer);
    break;
  }
  for (auto threads : {32u}) {
    auto smaller = program;
    smaller.threads = threads;
    smaller.blocks = 1;
    if (fails(smaller)) program = std::move(smaller);
  }
  Shrinker shrinker(program, fails);
  while (shrinker.step()) {
  }
  return program;
}

}  // namespace warptime::execute::testing
