// The text of random programs.
#include <fmt/format.h>

#include <optional>

#include "tests/execute/random_ptx.h"

namespace warptime::execute::testing {
namespace {

using Expression = RandomExpression;
using Condition = RandomCondition;
using Statement = RandomStatement;
using Kind = Statement::Kind;
using Shape = Statement::Shape;
using Form = Statement::Form;
using Op = Expression::Op;
using Relation = Condition::Relation;

bool signed_variable(std::uint32_t variable) {
  return variable % 2 == 1;
}
bool wide_variable(std::uint32_t variable) {
  return variable % 5 == 4;
}
bool power_of_two(std::int64_t n) {
  return n > 0 && (n & (n - 1)) == 0;
}
int log2_of(std::int64_t n) {
  return 63 - __builtin_clzll(static_cast<unsigned long long>(n));
}

const char* name_of(Relation relation) {
  constexpr const char* names[] = {"lt", "le", "gt", "ge", "eq", "ne"};
  return names[static_cast<int>(relation)];
}
Relation opposite(Relation relation) {
  constexpr Relation opposites[] = {Relation::greater_equal, Relation::greater,   Relation::less_equal,
                                    Relation::less,          Relation::not_equal, Relation::equal};
  return opposites[static_cast<int>(relation)];
}

struct Guard {
  std::string predicate;
  bool negated = false;
  std::string text() const { return fmt::format("@{}{} ", negated ? "!" : "", predicate); }
  Guard otherwise() const { return {predicate, !negated}; }
};

class FunctionText {
 public:
  FunctionText(const RandomProgram& program, std::uint32_t index)
      : program_(program),
        function_(program.functions[index]),
        index_(index),
        kernel_(index + 1 == program.functions.size()) {}

  std::string text() {
    prologue();
    list(function_.body);
    epilogue();
    std::string registers = ".reg .pred %p<" + std::to_string(predicates_ + 1) + ">;\n.reg .b32 %r<" +
                            std::to_string(words_ + 1) + ">;\n.reg .b64 %d<" + std::to_string(doubles_ + 1) +
                            ">;\n.reg .f32 %f<4>;\n";
    registers += ".reg .b32 %v<" + std::to_string(function_.variables + 1) + ">;\n.reg .b64 %w<" +
                 std::to_string(function_.variables + 1) + ">;\n";
    return head() + "{\n" + registers + text_ + "}\n";
  }

 private:
  // ---- the frame

  bool by_registers() const { return !kernel_ && (function_.style & 3) == 3; }
  static bool by_registers(const RandomFunction& callee) { return (callee.style & 3) == 3; }
  std::string parameter(std::uint32_t i) const {
    return kernel_ ? fmt::format("n{}", i) : fmt::format("f{}_n{}", index_, i);
  }

  std::string head() const {
    std::string arguments = kernel_          ? ".param .u64 memory"
                            : by_registers() ? ".reg .b64 %memory"
                                             : fmt::format(".param .b64 f{}_memory", index_);
    for (std::uint32_t i = 0; i < function_.arguments; ++i)
      arguments +=
          by_registers() ? fmt::format(", .reg .b32 %n{}", i) : fmt::format(", .param .b32 {}", parameter(i));
    if (kernel_) return ".visible .entry k(" + arguments + ")\n";
    const std::string result = !function_.has_result ? ""
                               : by_registers()      ? "(.reg .b32 %result) "
                                                     : fmt::format("(.param .b32 f{}_result) ", index_);
    return fmt::format(".func {}f{}({})\n", result, index_, arguments);
  }

  void prologue() {
    memory_ = by_registers() ? "%memory" : fresh_double();
    if (!by_registers())
      line("ld.param.u64 {}, [{}];", memory_, kernel_ ? "memory" : fmt::format("f{}_memory", index_));
    if (kernel_ && (function_.style & 4) != 0) line("cvta.to.global.u64 {0}, {0};", memory_);
    tid_ = fresh_word();
    line("mov.u32 {}, %tid.x;", tid_);
    early_ = (function_.style & 8) != 0;
    for (std::uint32_t i = 0; i < function_.arguments; ++i) {
      arguments_.push_back(by_registers() ? fmt::format("%n{}", i) : "");
      if (early_ && !by_registers()) arguments_[i] = load_argument(i);
    }
    for (std::uint32_t v = 0; v < function_.variables; ++v) {
      if (wide_variable(v))
        line("mov.u64 {}, 0;", variable(v));
      else
        line("mov.u32 {}, 0;", variable(v));
    }
  }

  std::string load_argument(std::uint32_t i) {
    const auto to = fresh_word();
    line("ld.param.u32 {}, [{}];", to, parameter(i));
    return to;
  }

  void epilogue() {
    text_ += "END:\n";
    if (function_.has_result && by_registers())
      line("mov.b32 %result, %v0;");
    else if (function_.has_result)
      line("st.param.b32 [f{}_result], %v0;", index_);
    line("ret;");
  }

  // ---- pieces

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... parts) {
    text_ += "  " + fmt::format(format, std::forward<T>(parts)...) + "\n";
  }
  std::string fresh_word() { return fmt::format("%r{}", words_++); }
  std::string fresh_double() { return fmt::format("%d{}", doubles_++); }
  std::string fresh_predicate() { return fmt::format("%p{}", predicates_++); }
  std::string fresh_label() { return fmt::format("L{}", labels_++); }
  void place(const std::string& label) { text_ += label + ":\n"; }
  static std::string variable(std::uint32_t v) {
    return fmt::format("%{}{}", wide_variable(v) ? "w" : "v", v);
  }

  bool may_be_negative(const Expression& e) const {
    switch (e.op) {
      case Op::constant:
        return e.number < 0;
      case Op::argument:
        return kernel_ && e.number + 1 == function_.arguments;
      case Op::variable:
        return signed_variable(static_cast<std::uint32_t>(e.number));
      case Op::ntid:
      case Op::nctaid:
        return false;
      case Op::subtract:
        return true;
      case Op::maximum:
        return may_be_negative(e.parts[0]) && may_be_negative(e.parts[1]);
      default:
        for (const auto& part : e.parts)
          if (may_be_negative(part)) return true;
        return false;
    }
  }

  // ---- expressions: a register of 32 bits, or a number

  std::string value(const Expression& e) {
    const bool negative = may_be_negative(e);
    const char* type = negative || (e.style & 1) != 0 ? "s32" : "u32";
    switch (e.op) {
      case Op::constant:
        return std::to_string(e.number);
      case Op::argument: {
        const auto& known = arguments_[static_cast<std::size_t>(e.number)];
        return known.empty() ? load_argument(static_cast<std::uint32_t>(e.number)) : known;
      }
      case Op::ntid:
        return special("%ntid.x");
      case Op::nctaid:
        return special("%nctaid.x");
      case Op::variable: {
        const auto v = static_cast<std::uint32_t>(e.number);
        if (!wide_variable(v)) return variable(v);
        const auto to = fresh_word();
        line("cvt.u32.u64 {}, {};", to, variable(v));
        return to;
      }
      default:
        break;
    }
    const auto a = word(e.parts[0]);
    const auto b = value(e.parts[1]);
    const auto n = e.parts[1].number;
    const auto to = fresh_word();
    switch (e.op) {
      case Op::add:
        if ((e.style & 6) == 6)
          line("mad.lo.s32 {}, {}, 1, {};", to, a, b);
        else
          line("add.{} {}, {}, {};", type, to, a, b);
        break;
      case Op::subtract:
        line("sub.s32 {}, {}, {};", to, a, b);
        break;
      case Op::multiply:
        if (power_of_two(n) && (e.style & 2) != 0)
          line("shl.b32 {}, {}, {};", to, a, log2_of(n));
        else
          line("mul.lo.{} {}, {}, {};", type, to, a, n);
        break;
      case Op::divide:
        if (power_of_two(n) && (e.style & 2) != 0)
          line("shr.{} {}, {}, {};", type, to, a, log2_of(n));
        else
          line("div.{} {}, {}, {};", type, to, a, n);
        break;
      case Op::modulo:
        if (power_of_two(n) && (e.style & 2) != 0)
          line("and.b32 {}, {}, {};", to, a, n - 1);
        else
          line("rem.{} {}, {}, {};", type, to, a, n);
        break;
      case Op::minimum:
      case Op::maximum: {
        const bool least = e.op == Op::minimum;
        const bool as_signed =
            negative || may_be_negative(e.parts[0]) || may_be_negative(e.parts[1]) || (e.style & 1) != 0;
        if ((e.style & 6) == 6) {
          const auto p = fresh_predicate();
          line("setp.{}.{} {}, {}, {};", least ? "lt" : "gt", as_signed ? "s32" : "u32", p, a, b);
          line("selp.b32 {}, {}, {}, {};", to, a, b, p);
        } else {
          line("{}.{} {}, {}, {};", least ? "min" : "max", as_signed ? "s32" : "u32", to, a, b);
        }
        break;
      }
      case Op::select: {
        const auto p = fresh_predicate();
        line("setp.lt.s32 {}, {}, {};", p, a, b);
        line("selp.b32 {}, {}, {}, {};", to, b, a, p);
        break;
      }
      default:
        break;
    }
    return to;
  }

  std::string word(const Expression& e) {
    const auto v = value(e);
    if (v[0] == '%') return v;
    const auto to = fresh_word();
    line("mov.u32 {}, {};", to, v);
    return to;
  }

  std::string special(const char* name) {
    const auto to = fresh_word();
    line("mov.u32 {}, {};", to, name);
    return to;
  }

  void set_variable(std::uint32_t v, const std::string& from, const std::string& guard = {}) {
    if (!wide_variable(v))
      line("{}mov.b32 {}, {};", guard, variable(v), from);
    else if (from[0] != '%')
      line("{}mov.u64 {}, {};", guard, variable(v), from);
    else
      line("{}cvt.{} {}, {};", guard, signed_variable(v) ? "s64.s32" : "u64.u32", variable(v), from);
  }

  Guard condition(const Condition& c) {
    const bool negated = (c.style & 1) != 0;
    auto relation = negated ? opposite(c.relation) : c.relation;
    const auto p = fresh_predicate();
    if (c.thread_bit != 0) {
      const auto bit = fresh_word();
      line("and.b32 {}, {}, {};", bit, tid_, 1u << (c.thread_bit - 1));
      line("setp.{}.u32 {}, {}, 0;", name_of(relation), p, bit);
      return {p, negated};
    }
    const auto a = word(c.a);
    const auto b = value(c.b);
    const bool can_be = !may_be_negative(c.a) && !may_be_negative(c.b);
    const char* type = c.as_unsigned && can_be ? "u32" : "s32";
    if (c.join == Condition::Join::none) {
      line("setp.{}.{} {}, {}, {};", name_of(relation), type, p, a, b);
      return {p, negated};
    }
    auto second = condition(c.second[0]);
    const char* join = c.join == Condition::Join::both ? "and" : "or";
    if ((c.style & 2) != 0) {
      line("setp.{}.{}.{} {}, {}, {}, {}{};", name_of(c.relation), join, type, p, a, b,
           second.negated ? "!" : "", second.predicate);
      return {p, false};
    }
    line("setp.{}.{} {}, {}, {};", name_of(c.relation), type, p, a, b);
    if (second.negated) line("not.pred {0}, {0};", second.predicate);
    const auto both = fresh_predicate();
    line("{}.pred {}, {}, {};", join, both, p, second.predicate);
    return {both, false};
  }

  // ---- statements

  void list(const std::vector<Statement>& statements) {
    for (const auto& s : statements) statement(s);
  }

  void statement(const Statement& s) {
    const bool has_guard = !s.conditions.empty() && s.kind != Kind::branch && s.kind != Kind::leave;
    switch (s.kind) {
      case Kind::assign: {
        const auto from = value(s.expressions[0]);
        set_variable(s.variable, from, has_guard ? condition(s.conditions[0]).text() : "");
        break;
      }
      case Kind::increase:
        line("add.{} {}, {}, {};", wide_variable(s.variable) ? "s64" : "s32", variable(s.variable),
             variable(s.variable), s.number);
        break;
      case Kind::calculate: {
        const auto guard = has_guard ? condition(s.conditions[0]).text() : "";
        for (std::int64_t i = 0; i < s.number; ++i) line("{}fma.rn.f32 %f0, %f1, %f2, %f0;", guard);
        break;
      }
      case Kind::load:
      case Kind::store:
        access(s, has_guard ? std::optional(s.conditions[0]) : std::nullopt);
        break;
      case Kind::shared:
        shared();
        break;
      case Kind::barrier:
        line("bar.sync 0;");
        break;
      case Kind::branch:
        branch(s);
        break;
      case Kind::leave:
        leave(s);
        break;
      case Kind::loop:
        loop(s);
        break;
      case Kind::call:
        call(s, has_guard ? condition(s.conditions[0]).text() : "");
        break;
    }
  }

  // Indices below 1024, elements of up to 16 bytes.
  void access(const Statement& s, const std::optional<Condition>& guarded) {
    const auto index = fresh_word();
    if (s.number == 0 || s.number == 3) {
      line("and.b32 {}, {}, 255;", index, word(s.expressions[0]));
      if (s.number == 3) line("add.u32 {0}, {0}, {1};", index, tid_);
    } else if (s.number == 1) {
      line("mov.u32 {}, {};", index, tid_);
    } else if (s.number == 2) {
      line("mul.lo.u32 {}, {}, {};", index, tid_, 2 + s.style % 4);
    } else if (s.number == 4) {
      const auto block = special("%ctaid.x"), size = special("%ntid.x");
      line("mad.lo.u32 {}, {}, {}, {};", index, block, size, tid_);
    } else {
      line("mov.u32 {}, {};", index, s.style % 100);
    }
    const auto width = 1u << (s.style >> 8) % 3;  // elements
    const auto address = fresh_double();
    if ((s.style & 16) != 0) {
      line("mad.wide.u32 {}, {}, {}, {};", address, index, 4 * width, memory_);
    } else {
      line("mul.wide.u32 {}, {}, {};", address, index, 4 * width);
      line("add.s64 {}, {}, {};", address, memory_, address);
    }
    const auto guard = guarded ? condition(*guarded).text() : std::string();
    const char* space = (s.style & 0x60) == 0x60 ? "" : ".global";
    const std::string vector = width == 1 ? "" : fmt::format(".v{}", width);
    std::string data = "%f1";
    if (width == 2) data = "{%f1, %f2}";
    if (width == 4) data = "{%f1, %f2, %f1, %f2}";
    if (s.kind == Kind::load && width == 4) data = "{%f0, %f1, %f2, %f3}";
    if (s.kind == Kind::load)
      line("{}ld{}{}.f32 {}, [{}];", guard, space, vector, data, address);
    else
      line("{}st{}{}.f32 [{}], {};", guard, space, vector, address, data);
  }

  void shared() {
    const auto offset = fresh_word();
    line("shl.b32 {}, {}, 2;", offset, tid_);
    const auto base = fresh_word();
    line("mov.u32 {}, tile;", base);
    line("add.u32 {0}, {0}, {1};", base, offset);
    line("st.shared.f32 [{}], %f1;", base);
    line("bar.sync 0;");
    line("ld.shared.f32 %f2, [{}];", base);
  }

  void branch(const Statement& s) {
    const auto guard = condition(s.conditions[0]);
    const auto end = fresh_label();
    if (s.otherwise.empty()) {
      line("{}bra {};", guard.otherwise().text(), end);
      list(s.then);
      place(end);
      return;
    }
    const auto side = fresh_label();
    const bool then_first = (s.style & 1) == 0;
    line("{}bra {};", (then_first ? guard.otherwise() : guard).text(), side);
    list(then_first ? s.then : s.otherwise);
    line("bra {};", end);
    place(side);
    list(then_first ? s.otherwise : s.then);
    place(end);
  }

  void leave(const Statement& s) {
    const auto guard = condition(s.conditions[0]).text();
    if ((s.style & 1) != 0 && !function_.has_result)
      line("{}{};", guard, kernel_ && (s.style & 2) != 0 ? "exit" : "ret");
    else
      line("{}bra END;", guard);
  }

  // ---- loops

  struct Loop {
    const Statement& s;
    std::string counter, limit, step;
    Relation stay;
    const char* type;
    bool limit_inside = false;
  };

  std::string sized(const Statement& s, const Expression& e) {
    const auto v = value(e);
    if (!wide_variable(s.variable) || v[0] != '%') return v;
    const auto to = fresh_double();
    line("cvt.{} {}, {};", may_be_negative(e) ? "s64.s32" : "u64.u32", to, v);
    return to;
  }

  void test(Loop& loop, const std::string& to, bool leaves) {
    if (loop.limit_inside) loop.limit = sized(loop.s, loop.s.expressions[1]);
    const auto p = fresh_predicate();
    const bool negated = (loop.s.style & 32) != 0;
    line("setp.{}.{} {}, {}, {};", name_of(leaves != negated ? opposite(loop.stay) : loop.stay), loop.type, p,
         loop.counter, loop.limit);
    line("@{}{} bra {};", negated ? "!" : "", p, to);
  }

  void update(const Loop& loop) {
    const auto& s = loop.s;
    const bool wide = wide_variable(s.variable);
    const char *b = wide ? "b64" : "b32", *i = wide ? "s64" : "s32", *u = wide ? "u64" : "u32";
    switch (s.shape) {
      case Shape::up:
      case Shape::until_equal:
        line("add.{0} {1}, {1}, {2};", i, loop.counter, s.number);
        break;
      case Shape::down:
        if ((s.style & 64) != 0)
          line("sub.{0} {1}, {1}, {2};", i, loop.counter, s.number);
        else
          line("add.{0} {1}, {1}, {2};", i, loop.counter, -s.number);
        break;
      case Shape::doubling:
        if (s.number == 1 && (s.style & 64) != 0)
          line("add.{0} {1}, {1}, {1};", i, loop.counter);
        else if ((s.style & 128) != 0)
          line("mul.lo.{0} {1}, {1}, {2};", u, loop.counter, 1 << s.number);
        else
          line("shl.{0} {1}, {1}, {2};", b, loop.counter, s.number);
        break;
      case Shape::halving:
        if ((s.style & 64) != 0)
          line("div.{0} {1}, {1}, {2};", u, loop.counter, 1 << s.number);
        else
          line("shr.{0} {1}, {1}, {2};", (s.style & 128) != 0 ? i : u, loop.counter, s.number);
        break;
      case Shape::by_threads:
        line("add.{0} {1}, {1}, {2};", i, loop.counter, loop.step);
        break;
    }
  }

  // The counter's start, and what it is compared with.
  Loop begin(const Statement& s) {
    Loop loop{s, variable(s.variable), {}, {}, Relation::less, "", false};
    const bool wide = wide_variable(s.variable);
    bool as_unsigned = (s.style & 4) != 0 && !may_be_negative(s.expressions[0]) &&
                       !may_be_negative(s.expressions[1]) && !signed_variable(s.variable);
    const bool strict = (s.style & 8) != 0;
    switch (s.shape) {
      case Shape::up:
      case Shape::doubling:
        loop.stay = strict ? Relation::less : Relation::less_equal;
        break;
      case Shape::down:
        loop.stay = strict ? Relation::greater : Relation::greater_equal;
        break;
      case Shape::until_equal:
        loop.stay = Relation::not_equal;
        break;
      case Shape::halving:
        loop.stay = Relation::greater;
        if (s.expressions[1].op == Op::constant && s.expressions[1].number == 0 && strict)
          loop.stay = Relation::not_equal;
        break;
      case Shape::by_threads:
        loop.stay = Relation::less;
        break;
    }
    loop.type = as_unsigned ? (wide ? "u64" : "u32") : (wide ? "s64" : "s32");
    if (s.shape == Shape::by_threads) {
      start_by_threads(loop);
    } else if (s.shape == Shape::until_equal) {
      const Expression distance{
          Op::multiply, 0, 0, {s.expressions[1], {Op::constant, std::abs(s.number), 0, {}}}};
      const Expression far{Op::add, 0, 0, {s.expressions[0], distance}};
      set_variable(s.variable, value(s.number > 0 ? s.expressions[0] : far));
      loop.limit = sized(s, s.number > 0 ? far : s.expressions[0]);
      return loop;
    } else {
      set_variable(s.variable, value(s.expressions[0]));
    }
    loop.limit_inside = (s.style & 16) != 0;
    if (!loop.limit_inside) loop.limit = sized(s, s.expressions[1]);
    return loop;
  }

  // for (i = threadIdx.x; i < n; i += blockDim.x), or over the whole grid.
  void start_by_threads(Loop& loop) {
    const bool grid = (loop.s.style & 64) != 0;
    const auto start = fresh_word(), step = fresh_word();
    const auto size = special("%ntid.x");
    line("mov.u32 {}, {};", start, tid_);
    line("mov.u32 {}, {};", step, size);
    if (grid) {
      const auto block = special("%ctaid.x"), blocks = special("%nctaid.x");
      line("mad.lo.s32 {}, {}, {}, {};", start, block, size, tid_);
      line("mul.lo.s32 {0}, {0}, {1};", step, blocks);
    }
    set_variable(loop.s.variable, start);
    loop.step = step;
    if (!wide_variable(loop.s.variable)) return;
    loop.step = fresh_double();
    line("cvt.u64.u32 {}, {};", loop.step, step);
  }

  void loop(const Statement& s) {
    auto loop = begin(s);
    const auto again = fresh_label(), end = fresh_label();
    if (s.form == Form::rotated) test(loop, end, true);
    place(again);
    if (s.form == Form::at_top) test(loop, end, true);
    const bool update_first = (s.style & 256) != 0 && (s.form == Form::at_bottom || s.form == Form::rotated);
    if (update_first) update(loop);
    list(s.then);
    if (s.form == Form::in_middle) {
      test(loop, end, true);
      list(s.otherwise);
    }
    if (!update_first) update(loop);
    if (s.form == Form::at_top || s.form == Form::in_middle)
      line("bra {};", again);
    else
      test(loop, again, false);
    place(end);
  }

  // ---- calls

  void call(const Statement& s, const std::string& guard) {
    const auto& callee = program_.functions[static_cast<std::size_t>(s.number)];
    std::vector<std::string> values;
    for (const auto& e : s.expressions) values.push_back(value(e));
    const auto result = fresh_word();
    if (by_registers(callee)) {
      std::string passed = memory_;
      for (const auto& v : values) passed += ", " + v;
      line("{}call {}f{}, ({});", guard, callee.has_result ? "(" + result + "), " : "", s.number, passed);
    } else {
      text_ += "  {\n";
      line(".param .b64 q; st.param.b64 [q], {};", memory_);
      std::string passed = "q";
      for (std::size_t i = 0; i < values.size(); ++i) {
        line(".param .b32 a{0}; st.param.b32 [a{0}], {1};", i, values[i]);
        passed += fmt::format(", a{}", i);
      }
      if (callee.has_result) line(".param .b32 result;");
      line("{}call {}f{}, ({});", guard, callee.has_result ? "(result), " : "", s.number, passed);
      if (callee.has_result) line("{}ld.param.b32 {}, [result];", guard, result);
      text_ += "  }\n";
    }
    // What a call gives may be negative no more than an even variable.
    if (callee.has_result) set_variable(s.variable, result, guard);
  }

  const RandomProgram& program_;
  const RandomFunction& function_;
  std::uint32_t index_;
  bool kernel_, early_ = false;
  std::string text_, memory_, tid_;
  std::vector<std::string> arguments_;
  std::uint32_t words_ = 0, doubles_ = 0, predicates_ = 0, labels_ = 0;
};

}  // namespace

std::string to_ptx(const RandomProgram& program) {
  std::string text = ".version 8.5\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[4096];\n";
  for (std::uint32_t f = 0; f < program.functions.size(); ++f) text += FunctionText(program, f).text();
  return text;
}

}  // namespace warptime::execute::testing
