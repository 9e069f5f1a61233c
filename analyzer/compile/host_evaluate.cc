// Values of host expressions.
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
using Op = Expression::Operator;

constexpr std::size_t longest_shown_source = 60;
// Larger expressions are parameters: nobody could read them, and their like would grow without end.
constexpr std::uint64_t largest_expression = 300;
constexpr std::uint64_t largest_choice = 40;

std::optional<Op> comparison_of(clang::BinaryOperatorKind op) {
  switch (op) {
    case clang::BO_LT:
      return Op::less;
    case clang::BO_LE:
      return Op::less_equal;
    case clang::BO_GT:
      return Op::greater;
    case clang::BO_GE:
      return Op::greater_equal;
    case clang::BO_EQ:
      return Op::equal;
    case clang::BO_NE:
      return Op::not_equal;
    default:
      return std::nullopt;
  }
}

HostValue fraction(Expression numerator, Expression denominator) {
  HostValue value;
  value.kind = Kind::real;
  if (numerator.is_integer() && denominator.is_integer() && denominator.integer_value() != 0) {
    const std::int64_t divisor = std::gcd(numerator.integer_value(), denominator.integer_value());
    if (divisor > 1) {
      numerator = numerator.integer_value() / divisor;
      denominator = denominator.integer_value() / divisor;
    }
  } else if (denominator.is_integer() && denominator.integer_value() > 1) {
    if (const auto quotient = quotient_of(numerator, denominator);
        quotient && product_of(denominator, *quotient) == numerator) {
      numerator = *quotient;
      denominator = 1;
    }
  }
  value.expression = std::move(numerator);
  value.denominator = std::move(denominator);
  return value;
}

// Bits that both numbers are known of.
std::optional<std::int64_t> bits_of(clang::BinaryOperatorKind op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case clang::BO_And:
      return a & b;
    case clang::BO_Or:
      return a | b;
    case clang::BO_Xor:
      return a ^ b;
    case clang::BO_Shl:
      return b >= 0 && b < 63 ? std::optional(static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b))
                              : std::nullopt;
    case clang::BO_Shr:
      return b >= 0 && b < 64 ? std::optional(a >> b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_pointer_like(const HostValue& value) {
  return value.is(Kind::pointer) || value.is(Kind::function) || value.is(Kind::closure);
}

}  // namespace

// ---- what values are

std::optional<Expression> HostInterpreter::expression_of_value(const HostValue& value) const {
  if (value.is(Kind::integer)) return value.expression;
  if (value.is(Kind::unknown)) return HostSymbols::expression(value.id);
  return std::nullopt;
}

std::optional<Expression> HostInterpreter::whole_of(const HostValue& value) const {
  if (value.is(Kind::real) && value.denominator == Expression(1)) return value.expression;
  return expression_of_value(value);
}

std::optional<HostValue> HostInterpreter::real_of(const HostValue& value) {
  if (value.is(Kind::real) || value.is(Kind::decimal)) return value;
  if (value.is(Kind::integer)) return fraction(value.expression, 1);
  return std::nullopt;
}

std::optional<double> HostInterpreter::number_of(const HostValue& value) {
  if (value.is(Kind::decimal)) return value.number;
  if (value.is_known()) return static_cast<double>(value.expression.integer_value());
  if (value.is(Kind::real) && value.expression.is_integer() && value.denominator.is_integer())
    return static_cast<double>(value.expression.integer_value()) /
           static_cast<double>(value.denominator.integer_value());
  return std::nullopt;
}

HostValue HostInterpreter::value_of_number(double number) {
  constexpr double largest = 1e15;
  for (double denominator = 1; denominator <= 1024; denominator *= 2) {
    const double numerator = number * denominator;
    if (std::abs(numerator) < largest && numerator == std::floor(numerator))
      return fraction(static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator));
  }
  HostValue value;
  value.kind = Kind::decimal;
  value.number = number;
  return value;
}

std::optional<bool> HostInterpreter::decided(const HostValue& condition) const {
  if (condition.is_known()) return condition.expression.integer_value() != 0;
  if (is_pointer_like(condition)) return true;
  if (const auto number = number_of(condition)) return *number != 0;
  return std::nullopt;
}

HostValue HostInterpreter::unknown(HostSymbol symbol) {
  HostValue value;
  value.id = symbols_.add(std::move(symbol));
  return value;
}

HostValue HostInterpreter::unknown_of(const clang::Expr* expression) {
  const std::string text = text_of(expression);
  HostSymbol symbol;
  symbol.source = fmt::format("`{}`", text);
  symbol.file = file_of(expression->getExprLoc());
  symbol.line = line_of(expression);
  symbol.name = identifier_from(text);
  // atoi(argv[2]) and its like: argv_2.
  if (const auto at = text.find("argv[");
      at != std::string::npos && text.find("argv[", at + 1) == std::string::npos)
    symbol.name = identifier_from(text.substr(at, text.find(']', at) - at));
  return unknown(std::move(symbol));
}

HostValue HostInterpreter::converted(HostValue value, clang::QualType type) {
  if (type.isNull() || type->isDependentType()) return value;
  if (type->isBooleanType()) {
    if (const auto truth = decided(value)) return HostValue::of(*truth ? 1 : 0);
    if (value.is(Kind::integer)) return HostValue::of(combination_of(Op::not_equal, value.expression, 0));
    return value;
  }
  if (type->isIntegralOrEnumerationType()) {
    if (value.is(Kind::real)) {
      if (const auto whole = quotient_of(value.expression, value.denominator)) return HostValue::of(*whole);
      return unknown({});
    }
    if (value.is(Kind::decimal)) return HostValue::of(static_cast<std::int64_t>(value.number));
    const std::uint64_t bits = type->isIncompleteType() ? 64 : context_.getTypeSize(type);
    if (value.is_known() && bits < 64) {
      const auto raw =
          static_cast<std::uint64_t>(value.expression.integer_value()) & ((std::uint64_t{1} << bits) - 1);
      const bool negative = type->isSignedIntegerOrEnumerationType() && ((raw >> (bits - 1)) & 1) != 0;
      return HostValue::of(negative ? static_cast<std::int64_t>(raw) - (std::int64_t{1} << bits)
                                    : static_cast<std::int64_t>(raw));
    }
    return value;
  }
  if (type->isRealFloatingType()) {
    if (const auto real = real_of(value)) return *real;
  }
  return value;
}

// ---- memory

int HostInterpreter::new_object(std::string name, int line) {
  Object object;
  object.name = std::move(name);
  object.line = line;
  objects_.push_back(std::move(object));
  return static_cast<int>(objects_.size()) - 1;
}

HostPlace HostInterpreter::new_place(std::string name, int line) {
  HostPlace place;
  place.object = new_object(std::move(name), line);
  return place;
}

std::string HostInterpreter::name_of(const HostPlace& place) const {
  std::string name = objects_[static_cast<std::size_t>(place.object)].name;
  for (const HostPlace::Part& part : place.parts) {
    const std::string more = part.field ? part.field->getNameAsString() : std::to_string(part.index);
    if (!part.field && part.index < 0) continue;
    name += (name.empty() ? "" : "_") + more;
  }
  return identifier_from(name);
}

HostValue HostInterpreter::load(const HostPlace& place) {
  if (!place.inexact) {
    if (const HostValue* value = memory_.find(place)) return *value;
    const Object& object = objects_[static_cast<std::size_t>(place.object)];
    if (object.initial) {
      HostMemory initial;
      HostPlace whole;
      whole.object = place.object;
      initial.store(whole, *object.initial);
      const bool untouched = memory_.find(whole) == nullptr;
      if (const HostValue* value = initial.find(place); value && untouched) return *value;
    }
  }
  HostSymbol symbol;
  const Object& object = objects_[static_cast<std::size_t>(place.object)];
  symbol.name = name_of(place);
  symbol.variable = !symbol.name.empty() && !object.input;
  symbol.line = object.line;
  symbol.source = object.origin;
  if (!frames_.empty() && frames_.back().function)
    symbol.file = file_of(frames_.back().function->getLocation());
  if (place.inexact) return unknown(std::move(symbol));
  int above = -1;
  HostPlace outer = place;
  while (!outer.parts.empty() && above < 0) {
    outer.parts.pop_back();
    const HostValue* value = memory_.find(outer);
    if (value && value->is(Kind::unknown)) above = value->id;
  }
  const auto [known, added] = leaves_.try_emplace({place, above}, -1);
  if (added) {
    known->second = symbols_.add(std::move(symbol));
    leaf_objects_[known->second] = place.object;
  }
  HostValue value;
  value.id = known->second;
  return value;
}

void HostInterpreter::log_write(const HostPlace& place, const HostValue* value) {
  if (logs_.empty()) return;
  if (value && !place.inexact && !value->members.empty() && !value->whole) {
    for (const auto& [part, member] : value->members) {
      HostPlace inner = place;
      inner.parts.push_back(part);
      log_write(inner, member.get());
    }
    return;
  }
  for (WriteLog* log : logs_)
    if (place.object < log->objects) log->places.insert(place);
}

void HostInterpreter::store(const HostPlace& place, HostValue value) {
  log_write(place, &value);
  if (place.inexact) {
    HostPlace whole = place;
    whole.inexact = false;
    HostSymbol symbol;
    symbol.name = name_of(whole);
    symbol.variable = true;
    symbol.line = objects_[static_cast<std::size_t>(place.object)].line;
    memory_.store(whole, unknown(std::move(symbol)));
    return;
  }
  if (value.is(Kind::unknown) && !symbols_[value.id].variable) {
    if (const std::string name = name_of(place); !name.empty()) {
      symbols_[value.id].name = name;
      symbols_[value.id].variable = true;
    }
  }
  memory_.store(place, bounded(std::move(value), name_of(place), nullptr));
}

void HostInterpreter::forget(const HostPlace& place, const std::string& source, int line) {
  HostSymbol symbol;
  symbol.name = name_of(place);
  symbol.variable = !symbol.name.empty();
  symbol.source = source;
  symbol.line = line;
  if (!frames_.empty() && frames_.back().function)
    symbol.file = file_of(frames_.back().function->getLocation());
  store(place, unknown(std::move(symbol)));
}

HostValue HostInterpreter::merged(const HostValue& a, const HostValue& b, const HostValue& condition,
                                  const HostPlace& place) {
  if (same_value(a, b)) return a;
  const bool records = (a.is(Kind::record) || a.is(Kind::array)) && a.kind == b.kind;
  if (records) {
    HostValue result = a;
    std::set<HostPlace::Part> parts;
    for (const auto& [part, member] : a.members) parts.insert(part);
    for (const auto& [part, member] : b.members) parts.insert(part);
    result.whole = a.whole && b.whole;
    for (const HostPlace::Part& part : parts) {
      HostPlace inner = place;
      inner.parts.push_back(part);
      const auto find = [&](const HostValue& of) {
        const auto member = of.members.find(part);
        if (member != of.members.end()) return *member->second;
        return of.whole ? HostValue::of(0) : load(inner);
      };
      result.members[part] = std::make_shared<const HostValue>(merged(find(a), find(b), condition, inner));
    }
    return result;
  }
  const auto x = expression_of_value(a), y = expression_of_value(b), test = expression_of_value(condition);
  const bool readable = test && symbols_.is_readable(*test);
  if (x && y && readable && symbols_.is_readable(*x) && symbols_.is_readable(*y) &&
      test->size() + x->size() + y->size() <= largest_choice) {
    return HostValue::of(choice_of(*test, *x, *y));
  }
  HostSymbol symbol;
  symbol.name = place.object >= 0 ? name_of(place) : "";
  symbol.variable = !symbol.name.empty();
  for (const HostValue* one : {&a, &b}) {
    if (one->is(Kind::unknown) && symbol.source.empty()) {
      const HostSymbol& known = symbols_[one->id];
      symbol.source = known.source;
      symbol.file = known.file;
      symbol.line = known.line;
      symbol.typical = known.typical;
      if (symbol.name.empty()) symbol.name = known.name;
    }
  }
  // A number that the command line, or another input, may replace is typical. Other numbers are only possible.
  if (symbol.source.starts_with('`')) {
    for (const HostValue* one : {&a, &b})
      if (one->is_known()) symbol.typical = one->expression.integer_value();
  }
  if (symbol.source.empty()) symbol.source = "decided by data";
  if (symbol.line == 0 && place.object >= 0)
    symbol.line = objects_[static_cast<std::size_t>(place.object)].line;
  if (symbol.file.empty() && !frames_.empty() && frames_.back().function)
    symbol.file = file_of(frames_.back().function->getLocation());
  return unknown(std::move(symbol));
}

HostMemory HostInterpreter::merged(const HostMemory& a, const HostMemory& b, const HostValue& condition) {
  HostMemory result = a;
  std::set<int> objects;
  for (const auto& [object, value] : a.objects()) objects.insert(object);
  for (const auto& [object, value] : b.objects()) objects.insert(object);
  for (const int object : objects) {
    const auto in_a = a.objects().find(object), in_b = b.objects().find(object);
    if (in_a != a.objects().end() && in_b != b.objects().end() && in_a->second == in_b->second) continue;
    HostPlace place;
    place.object = object;
    const auto value_in = [&](const HostMemory& memory, const auto& found) {
      if (found != memory.objects().end()) return *found->second;
      const Object& of = objects_[static_cast<std::size_t>(object)];
      if (of.initial) return *of.initial;
      HostMemory now = std::exchange(memory_, HostMemory());
      HostValue value = load(place);
      memory_ = std::move(now);
      return value;
    };
    // What only one path has made is that path's.
    const bool local = (in_a == a.objects().end()) != (in_b == b.objects().end()) && object > 0 &&
                       objects_[static_cast<std::size_t>(object)].bytes.has_value();
    if (local) {
      result.replace(object, in_a != a.objects().end() ? in_a->second : in_b->second);
      continue;
    }
    const HostValue x = value_in(a, in_a), y = value_in(b, in_b);
    result.replace(object, std::make_shared<const HostValue>(merged(x, y, condition, place)));
  }
  return result;
}

// ---- places

HostPlace HostInterpreter::place_of_variable(const clang::VarDecl* variable) {
  variable = variable->getCanonicalDecl();
  if (!frames_.empty()) {
    const auto local = frames_.back().variables.find(variable);
    if (local != frames_.back().variables.end()) return local->second;
  }
  const auto global = globals_.find(variable);
  if (global != globals_.end()) return global->second;
  const HostPlace place = new_place(
      variable->getNameAsString(),
      static_cast<int>(context_.getSourceManager().getExpansionLineNumber(variable->getLocation())));
  if (!variable->hasGlobalStorage() && !frames_.empty()) {  // a variable that no declaration was met of
    frames_.back().variables[variable] = place;
    return place;
  }
  globals_[variable] = place;
  const clang::VarDecl* definition = variable->getInitializingDeclaration();
  const clang::Expr* init = definition ? definition->getInit() : nullptr;
  if (init && !init->isValueDependent()) {
    HostMemory now = memory_;
    std::vector<WriteLog*> logs = std::exchange(logs_, {});
    std::vector<HostStep> ignored = collect([&] {
      HostValue value = converted(evaluate(init), variable->getType());
      if (value.is(Kind::unknown)) {
        symbols_[value.id].name = variable->getNameAsString();
        symbols_[value.id].variable = true;
      }
      objects_[static_cast<std::size_t>(place.object)].initial = std::move(value);
    });
    logs_ = std::move(logs);
    memory_ = std::move(now);
  } else if (!init && variable->hasGlobalStorage() &&
             variable->hasDefinition(context_) != clang::VarDecl::DeclarationOnly) {
    if (variable->getType()->isArithmeticType())
      objects_[static_cast<std::size_t>(place.object)].initial = HostValue::of(0);
  }
  if (doubted_.count(variable) > 0) {
    std::optional<HostValue>& initial = objects_[static_cast<std::size_t>(place.object)].initial;
    if (initial && initial->is(Kind::integer) && initial->expression.is_integer()) {
      HostSymbol symbol;
      symbol.name = variable->getNameAsString();
      symbol.variable = true;
      symbol.source = "a global variable that functions set";
      symbol.file = file_of(variable->getLocation());
      symbol.line = objects_[static_cast<std::size_t>(place.object)].line;
      symbol.typical = initial->expression.integer_value();
      initial = unknown(std::move(symbol));
    }
  }
  return place;
}

std::optional<HostPlace> HostInterpreter::dereferenced(const HostValue& pointer) {
  if (pointer.is(Kind::unknown)) {
    const auto [known, added] = pointees_.try_emplace(pointer.id, -1);
    if (added) {
      const HostSymbol symbol = symbols_[pointer.id];
      const int object = new_object(symbol.name, symbol.line);
      objects_.back().origin = symbol.source;
      const auto leaf = leaf_objects_.find(pointer.id);
      objects_.back().input =
          leaf != leaf_objects_.end() && objects_[static_cast<std::size_t>(leaf->second)].input;
      pointees_[pointer.id] = object;
    }
    HostPlace place;
    place.object = pointees_.at(pointer.id);
    return place;
  }
  return element_of(pointer, HostValue::of(0));
}

std::optional<HostPlace> HostInterpreter::element_of(const HostValue& pointer, const HostValue& index) {
  if (pointer.is(Kind::unknown)) {
    const auto target = dereferenced(pointer);
    HostPlace place = *target;
    if (!index.is_known()) {
      place.inexact = true;
    } else if (index.expression.integer_value() != 0) {
      place.parts.push_back({nullptr, index.expression.integer_value()});
    }
    return place;
  }
  if (!pointer.is(Kind::pointer)) return std::nullopt;
  HostPlace place = pointer.place;
  const auto offset = expression_of_value(index);
  const Expression at = offset ? sum_of(pointer.expression, *offset) : Expression::name("unknown");
  if (!at.is_integer()) {
    place.inexact = true;
  } else if (pointer.into_array) {
    place.parts.push_back({nullptr, at.integer_value()});
  } else if (at.integer_value() != 0) {
    place.inexact = true;
  }
  return place;
}

std::optional<HostPlace> HostInterpreter::place_of(const clang::Expr* expression) {
  expression = expression->IgnoreParens();
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      return place_of_variable(variable);
    return std::nullopt;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return place_of_variable(variable);
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field) return std::nullopt;
    auto base = member->isArrow() ? dereferenced(evaluate(member->getBase())) : place_of(member->getBase());
    if (base) base->parts.push_back({field, 0});
    return base;
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression)) {
    switch (cast->getCastKind()) {
      case clang::CK_NoOp:
      case clang::CK_LValueBitCast:
      case clang::CK_DerivedToBase:
      case clang::CK_UncheckedDerivedToBase:
      case clang::CK_BaseToDerived:
      case clang::CK_ConstructorConversion:
      case clang::CK_UserDefinedConversion:
        if (cast->getSubExpr()->isGLValue()) return place_of(cast->getSubExpr());
        break;
      default:
        break;
    }
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    if (unary->getOpcode() == clang::UO_Deref) return dereferenced(evaluate(unary->getSubExpr()));
    if (unary->isIncrementDecrementOp()) {
      evaluate(unary);
      return place_of(unary->getSubExpr());
    }
    if (unary->getOpcode() == clang::UO_Extension) return place_of(unary->getSubExpr());
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    const HostValue base = evaluate(subscript->getBase());
    const HostValue index = evaluate(subscript->getIdx());
    return element_of(base, index);
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    if (binary->isAssignmentOp() || binary->isCompoundAssignmentOp()) {
      evaluate(binary);
      return place_of(binary->getLHS());
    }
    if (binary->getOpcode() == clang::BO_Comma) {
      evaluate(binary->getLHS());
      return place_of(binary->getRHS());
    }
    return std::nullopt;
  }
  if (const auto* conditional = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    if (const auto truth = decided(evaluate(conditional->getCond())))
      return place_of(*truth ? conditional->getTrueExpr() : conditional->getFalseExpr());
    return std::nullopt;
  }
  if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression)) {
    const HostValue value = evaluate(temporary->getSubExpr());
    const HostPlace place = new_place("", line_of(expression));
    memory_.store(place, value);
    return place;
  }
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expression)) return place_of(full->getSubExpr());
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression))
    return place_of(bound->getSubExpr());
  if (const auto* parameter = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
    return place_of(parameter->getReplacement());
  if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(expression)) {
    if (opaque->getSourceExpr()) return place_of(opaque->getSourceExpr());
    return std::nullopt;
  }
  if (const auto* init = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
    return place_of(init->getExpr());
  if (const auto* init = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    return place_of(init->getExpr());
  const HostValue value = evaluate(expression);
  if (value.is(Kind::pointer) && expression->isGLValue())
    return dereferenced(value);  // a function that returns a reference
  const HostPlace place = new_place(identifier_from(text_of(expression)), line_of(expression));
  memory_.store(place, value);
  return place;
}

// ---- expressions

HostValue HostInterpreter::evaluate(const clang::Expr* expression) {
  if (!expression) return unknown({});
  if (!spend()) return unknown({});
  expression = expression->IgnoreParens();
  if (const auto* literal = llvm::dyn_cast<clang::IntegerLiteral>(expression)) {
    const llvm::APInt number = literal->getValue();
    return HostValue::of(static_cast<std::int64_t>(number.getLimitedValue()));
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression)) return evaluate_cast(cast);
  if (const auto* literal = llvm::dyn_cast<clang::FloatingLiteral>(expression))
    return value_of_number(literal->getValueAsApproximateDouble());
  if (const auto* literal = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(expression))
    return HostValue::of(literal->getValue() ? 1 : 0);
  if (const auto* literal = llvm::dyn_cast<clang::CharacterLiteral>(expression))
    return HostValue::of(static_cast<std::int64_t>(literal->getValue()));
  if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(expression)) return HostValue::of(0);
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const clang::ValueDecl* declaration = reference->getDecl();
    if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(declaration))
      return HostValue::of(constant->getInitVal().getExtValue());
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      HostValue value;
      value.kind = Kind::function;
      value.function = function;
      return value;
    }
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
      return load(place_of_variable(variable));
    return unknown_of(expression);
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(expression)) return evaluate_binary(binary);
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) return evaluate_unary(unary);
  if (const auto* call = llvm::dyn_cast<clang::CUDAKernelCallExpr>(expression)) {
    launch(call);
    return HostValue::of(0);
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expression)) return evaluate_call(call);
  if (const auto* construction = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
    return evaluate_construction(construction);
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expression)) return evaluate(full->getSubExpr());
  if (const auto* temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
    return evaluate(temporary->getSubExpr());
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression))
    return evaluate(bound->getSubExpr());
  if (const auto* argument = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    return evaluate(argument->getExpr());
  if (const auto* init = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
    return evaluate(init->getExpr());
  if (const auto* parameter = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
    return evaluate(parameter->getReplacement());
  if (const auto* conditional = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression))
    return evaluate_conditional(conditional);
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expression)) return evaluate_list(list);
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expression))
    return evaluate(list->getSubExpr());
  if (llvm::isa<clang::CXXScalarValueInitExpr, clang::ImplicitValueInitExpr>(expression)) {
    if (expression->getType()->isScalarType()) return HostValue::of(0);
    HostValue zero;
    zero.kind = expression->getType()->isArrayType() ? Kind::array : Kind::record;
    zero.whole = true;
    return zero;
  }
  if (const auto* trait = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(expression)) {
    clang::Expr::EvalResult result;
    if (!trait->isValueDependent() && trait->EvaluateAsInt(result, context_))
      return HostValue::of(result.Val.getInt().getExtValue());
    return unknown_of(expression);
  }
  if (llvm::isa<clang::CXXThisExpr>(expression)) {
    HostValue value;
    if (frames_.empty() || !frames_.back().this_place) return unknown_of(expression);
    value.kind = Kind::pointer;
    value.place = *frames_.back().this_place;
    return value;
  }
  if (llvm::isa<clang::MemberExpr>(expression)) {
    const auto* member = llvm::cast<clang::MemberExpr>(expression);
    if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(member->getMemberDecl()))
      return HostValue::of(constant->getInitVal().getExtValue());
    if (llvm::isa<clang::FunctionDecl>(member->getMemberDecl())) return unknown({});
    if (const auto place = place_of(expression)) return load(*place);
    return unknown_of(expression);
  }
  if (llvm::isa<clang::ArraySubscriptExpr>(expression)) {
    if (const auto place = place_of(expression)) return load(*place);
    return unknown_of(expression);
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(expression)) {
    HostValue value;
    value.kind = Kind::closure;
    value.function = lambda->getCallOperator();
    HostBindings around = frames_.empty() ? HostBindings() : frames_.back().variables;
    for (const auto& capture : lambda->captures()) {
      if (!capture.capturesVariable()) continue;
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar());
      if (variable && lambda->isInitCapture(&capture) && variable->getInit()) {
        const HostPlace place = new_place(variable->getNameAsString(), line_of(expression));
        store(place, evaluate(variable->getInit()));
        around[variable->getCanonicalDecl()] = place;
      }
    }
    value.around = std::make_shared<const HostBindings>(std::move(around));
    if (!frames_.empty() && frames_.back().this_place) value.place = *frames_.back().this_place;
    return value;
  }
  if (const auto* created = llvm::dyn_cast<clang::CXXNewExpr>(expression)) return evaluate_new(created);
  if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(expression))
    return evaluate(opaque->getSourceExpr());
  if (llvm::isa<clang::CXXThrowExpr>(expression)) {
    ended_ = true;
    return unknown({});
  }
  if (const auto* statement = llvm::dyn_cast<clang::StmtExpr>(expression)) {
    const clang::CompoundStmt* body = statement->getSubStmt();
    HostValue last = unknown({});
    for (const clang::Stmt* one : body->body()) {
      if (one == body->body_back() && llvm::isa<clang::Expr>(one)) {
        last = evaluate(llvm::cast<clang::Expr>(one));
      } else {
        execute(one);
      }
    }
    return last;
  }
  if (const auto* list = llvm::dyn_cast<clang::CompoundLiteralExpr>(expression))
    return evaluate(list->getInitializer());
  if (!expression->isValueDependent() && !expression->containsErrors() &&
      !llvm::isa<clang::StringLiteral>(expression) && expression->getType()->isIntegralOrEnumerationType()) {
    clang::Expr::EvalResult result;
    if (expression->EvaluateAsInt(result, context_)) return HostValue::of(result.Val.getInt().getExtValue());
  }
  return evaluate_children(expression, expression);
}

// What we have no rule for, and what clang could not make sense of: its parts have their effects, its value
// is unknown.
HostValue HostInterpreter::evaluate_children(const clang::Stmt* statement, const clang::Expr* as) {
  for (const clang::Stmt* child : statement->children()) {
    if (const auto* expression = llvm::dyn_cast_or_null<clang::Expr>(child)) {
      if (expression->isGLValue() && llvm::isa<clang::DeclRefExpr>(expression->IgnoreParens())) continue;
      evaluate(expression);
    }
  }
  return unknown_of(as);
}

HostValue HostInterpreter::evaluate_cast(const clang::CastExpr* cast) {
  const clang::Expr* inner = cast->getSubExpr();
  switch (cast->getCastKind()) {
    case clang::CK_LValueToRValue: {
      if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner->IgnoreParens()))
        return evaluate(reference);
      const auto place = place_of(inner);
      return place ? load(*place) : unknown_of(cast);
    }
    case clang::CK_ArrayToPointerDecay: {
      if (llvm::isa<clang::StringLiteral, clang::PredefinedExpr>(inner->IgnoreParens()))
        return unknown_of(cast);
      const auto place = place_of(inner);
      if (!place) return unknown_of(cast);
      HostValue value;
      value.kind = Kind::pointer;
      value.place = *place;
      value.into_array = true;
      return value;
    }
    case clang::CK_NullToPointer:
    case clang::CK_NullToMemberPointer:
      return HostValue::of(0);
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingCast:
    case clang::CK_FloatingToIntegral:
    case clang::CK_IntegralCast:
    case clang::CK_IntegralToBoolean:
    case clang::CK_FloatingToBoolean:
    case clang::CK_PointerToBoolean: {
      HostValue value = evaluate(inner);
      const bool was_unknown = value.is(Kind::unknown);
      if (was_unknown && cast->getCastKind() == clang::CK_FloatingToIntegral) {
        if (const auto irrational = irrational_of(inner))
          if (const auto whole = rounded(*irrational, Rounding::down, line_of(cast)))
            return HostValue::of(*whole);
      }
      if (was_unknown && cast->getCastKind() == clang::CK_PointerToBoolean) return unknown_of(cast);
      if (was_unknown && cast->getCastKind() == clang::CK_IntegralToFloating)
        return fraction(HostSymbols::expression(value.id), 1);
      value = converted(std::move(value), cast->getType());
      return value.is(Kind::unknown) && !was_unknown ? unknown_of(cast) : value;
    }
    default:
      if (inner->isGLValue() && cast->isGLValue()) {
        const auto place = place_of(inner);
        return place ? load(*place) : unknown_of(cast);
      }
      return evaluate(inner);
  }
}

HostValue HostInterpreter::evaluate_unary(const clang::UnaryOperator* unary) {
  const clang::Expr* inner = unary->getSubExpr();
  switch (unary->getOpcode()) {
    case clang::UO_AddrOf: {
      if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(inner->IgnoreParens());
          reference && llvm::isa<clang::FunctionDecl>(reference->getDecl()))
        return evaluate(inner);
      auto place = place_of(inner);
      if (!place) return unknown_of(unary);
      HostValue value;
      value.kind = Kind::pointer;
      if (!place->inexact && !place->parts.empty() && !place->parts.back().field) {
        value.expression = place->parts.back().index;
        value.into_array = true;
        place->parts.pop_back();
      }
      value.place = *place;
      return value;
    }
    case clang::UO_Deref: {
      const HostValue pointer = evaluate(inner);
      if (pointer.is(Kind::function)) return pointer;
      const auto place = dereferenced(pointer);
      return place ? load(*place) : unknown_of(unary);
    }
    case clang::UO_PreInc:
    case clang::UO_PreDec:
    case clang::UO_PostInc:
    case clang::UO_PostDec: {
      const auto place = place_of(inner);
      if (!place) return unknown_of(unary);
      const HostValue old = load(*place);
      const auto op = unary->isIncrementOp() ? clang::BO_Add : clang::BO_Sub;
      HostValue changed = inner->getType()->isPointerType()
                              ? pointer_arithmetic(op, old, HostValue::of(1), unary)
                              : arithmetic(op, old, HostValue::of(1), unary);
      store(*place, changed);
      return unary->isPrefix() ? changed : old;
    }
    case clang::UO_Plus:
    case clang::UO_Extension:
      return evaluate(inner);
    case clang::UO_Minus: {
      const HostValue value = evaluate(inner);
      if (inner->getType()->isRealFloatingType())
        return real_arithmetic(clang::BO_Sub, HostValue::of(0), value, unary);
      return arithmetic(clang::BO_Sub, HostValue::of(0), value, unary);
    }
    case clang::UO_LNot: {
      const HostValue value = evaluate(inner);
      if (const auto truth = decided(value)) return HostValue::of(*truth ? 0 : 1);
      const auto expression = expression_of_value(value);
      return expression ? HostValue::of(negation_of(*expression)) : unknown_of(unary);
    }
    case clang::UO_Not: {
      const HostValue value = evaluate(inner);
      if (value.is_known())
        return converted(HostValue::of(~value.expression.integer_value()), unary->getType());
      return unknown_of(unary);
    }
    default:
      evaluate(inner);
      return unknown_of(unary);
  }
}

HostValue HostInterpreter::evaluate_binary(const clang::BinaryOperator* binary) {
  const auto op = binary->getOpcode();
  if (op == clang::BO_Comma) {
    evaluate(binary->getLHS());
    return evaluate(binary->getRHS());
  }
  if (op == clang::BO_LAnd || op == clang::BO_LOr) return evaluate_logical(binary);
  if (op == clang::BO_Assign) {
    HostValue value = evaluate(binary->getRHS());
    value = converted(std::move(value), binary->getLHS()->getType());
    if (const auto place = place_of(binary->getLHS())) store(*place, value);
    return value;
  }
  const bool compound = binary->isCompoundAssignmentOp();
  const auto plain = compound ? clang::BinaryOperator::getOpForCompoundAssignment(op) : op;
  std::optional<HostPlace> place;
  HostValue a;
  if (compound) {
    place = place_of(binary->getLHS());
    a = place ? load(*place) : unknown_of(binary->getLHS());
  } else {
    a = evaluate(binary->getLHS());
  }
  const HostValue b = evaluate(binary->getRHS());
  const clang::QualType left = binary->getLHS()->getType(), right = binary->getRHS()->getType();
  const bool real = left->isRealFloatingType() || right->isRealFloatingType();
  HostValue value = left->isPointerType() || right->isPointerType() ? pointer_arithmetic(plain, a, b, binary)
                    : real                                          ? real_arithmetic(plain, a, b, binary)
                                                                    : arithmetic(plain, a, b, binary);
  if (!compound) return value;
  const bool was_unknown = value.is(Kind::unknown);
  value = converted(std::move(value), left);
  if (value.is(Kind::unknown) && !was_unknown) value = unknown_of(binary);
  if (place) store(*place, value);
  return value;
}

HostValue HostInterpreter::evaluate_logical(const clang::BinaryOperator* binary) {
  const bool conjunction = binary->getOpcode() == clang::BO_LAnd;
  const HostValue a = evaluate(binary->getLHS());
  if (const auto truth = decided(a); truth && *truth != conjunction) return HostValue::of(*truth ? 1 : 0);
  // What the second operand assigns counts as assigned: `(n = atoi(argv[1])) <= 0 || (m = atoi(argv[2])) <=
  // 0`.
  const HostValue b = evaluate(binary->getRHS());
  const auto truth_b = decided(b);
  if (decided(a)) {
    if (truth_b) return HostValue::of(*truth_b ? 1 : 0);
    return converted(b, context_.BoolTy);
  }
  if (truth_b && *truth_b != conjunction) return HostValue::of(*truth_b ? 1 : 0);
  const auto x = expression_of_value(a),
             y = truth_b ? std::optional<Expression>(*truth_b ? 1 : 0) : expression_of_value(b);
  if (!x || !y) return unknown_of(binary);
  return bounded(HostValue::of(combination_of(conjunction ? Op::logical_and : Op::logical_or, *x, *y)), "",
                 binary);
}

HostValue HostInterpreter::evaluate_conditional(const clang::AbstractConditionalOperator* conditional) {
  const HostValue condition = evaluate(conditional->getCond());
  const clang::Expr* yes = conditional->getTrueExpr();
  const clang::Expr* no = conditional->getFalseExpr();
  if (const auto truth = decided(condition)) return evaluate(*truth ? yes : no);
  const HostMemory before = memory_;
  spend(static_cast<std::int64_t>(before.objects().size()));
  ++undecided_;
  HostValue a, b;
  const std::vector<HostStep> yes_steps = collect([&] { a = evaluate(yes); });
  const bool yes_ends = std::exchange(ended_, false);
  const HostMemory after = std::exchange(memory_, before);
  const std::vector<HostStep> no_steps = collect([&] { b = evaluate(no); });
  const bool no_ends = std::exchange(ended_, false);
  --undecided_;
  if (no_ends || yes_ends) {
    if (no_ends) memory_ = after;
    ended_ = no_ends && yes_ends;
    emit_all(no_ends ? yes_steps : no_steps);
    return no_ends ? a : b;
  }
  memory_ = merged(after, memory_, condition);
  if (!yes_steps.empty() || !no_steps.empty()) {
    const Expression test =
        readable_condition(condition, text_of(conditional->getCond()), line_of(conditional));
    emit_if(test, yes_steps, line_of(conditional));
    emit_if(negation_of(test), no_steps, line_of(conditional));
  }
  if (a.is(Kind::unknown) || b.is(Kind::unknown) || (expression_of_value(a) && expression_of_value(b)))
    return merged(a, b, condition, HostPlace());
  if (same_value(a, b)) return a;
  const auto x = real_of(a), y = real_of(b);
  const auto test = expression_of_value(condition);
  if (x && y && test && x->is(Kind::real) && y->is(Kind::real) && x->denominator == y->denominator)
    return fraction(choice_of(*test, x->expression, y->expression), x->denominator);
  return unknown_of(conditional);
}

HostValue HostInterpreter::evaluate_list(const clang::InitListExpr* list) {
  if (list->isSyntacticForm() && list->getSemanticForm()) list = list->getSemanticForm();
  if (list->isTransparent() && list->getNumInits() == 1) return evaluate(list->getInit(0));
  const clang::QualType type = list->getType();
  if (type->isScalarType())
    return list->getNumInits() > 0 ? converted(evaluate(list->getInit(0)), type) : HostValue::of(0);
  HostValue value;
  value.whole = true;
  const auto* record = type->getAsRecordDecl();
  value.kind = record ? Kind::record : Kind::array;
  std::vector<const clang::FieldDecl*> fields;
  if (record && !record->isUnion())
    for (const clang::FieldDecl* field : record->fields())
      if (!field->isUnnamedBitField()) fields.push_back(field);
  constexpr unsigned most_elements = 4096;
  for (unsigned i = 0; i < list->getNumInits() && i < most_elements; ++i) {
    const clang::Expr* init = list->getInit(i);
    if (record && i >= fields.size()) break;
    const HostPlace::Part part =
        record ? HostPlace::Part{fields[i], 0} : HostPlace::Part{nullptr, static_cast<std::int64_t>(i)};
    value.members[part] = std::make_shared<const HostValue>(converted(evaluate(init), init->getType()));
  }
  return value;
}

// ---- arithmetic

HostValue HostInterpreter::arithmetic(clang::BinaryOperatorKind op, const HostValue& a, const HostValue& b,
                                      const clang::Expr* expression) {
  const auto x = expression_of_value(a), y = expression_of_value(b);
  if (!x || !y) return unknown_of(expression);
  const clang::QualType type = expression->getType();
  const auto value_or_unknown = [&](const std::optional<Expression>& result) {
    if (!result || result->size() > largest_expression) return unknown_of(expression);
    return converted(HostValue::of(*result), type->isBooleanType() ? clang::QualType() : type);
  };
  if (const auto comparison = comparison_of(op)) return HostValue::of(combination_of(*comparison, *x, *y));
  if (x->is_integer() && y->is_integer()) {
    if (const auto bits = bits_of(op, x->integer_value(), y->integer_value()))
      return value_or_unknown(Expression(*bits));
  }
  switch (op) {
    case clang::BO_Add:
      return value_or_unknown(sum_of(*x, *y));
    case clang::BO_Sub:
      return value_or_unknown(difference_of(*x, *y));
    case clang::BO_Mul:
      return value_or_unknown(product_of(*x, *y));
    case clang::BO_Div:
      return value_or_unknown(quotient_of(*x, *y));
    case clang::BO_Rem:
      return value_or_unknown(remainder_of(*x, *y));
    case clang::BO_Shl: {
      const auto factor = power_of(2, *y);
      return value_or_unknown(factor ? std::optional(product_of(*x, *factor)) : std::nullopt);
    }
    case clang::BO_Shr: {
      const auto divisor = power_of(2, *y);
      return value_or_unknown(divisor ? quotient_of(*x, *divisor) : std::nullopt);
    }
    case clang::BO_And:
      // The low bits: n & (2^k - 1).
      if (y->is_integer() && y->integer_value() >= 0 && ((y->integer_value() + 1) & y->integer_value()) == 0)
        return value_or_unknown(remainder_of(*x, y->integer_value() + 1));
      // All but the low bits: n & ~(2^k - 1).
      if (y->is_integer() && y->integer_value() < 0 &&
          ((-y->integer_value()) & (-y->integer_value() - 1)) == 0) {
        const auto quotient = quotient_of(*x, -y->integer_value());
        return value_or_unknown(quotient ? std::optional(product_of(-y->integer_value(), *quotient))
                                         : std::nullopt);
      }
      return unknown_of(expression);
    case clang::BO_Xor:
      if (y->is_integer() && y->integer_value() == 1 && x->op() == Op::name)
        return value_or_unknown(choice_of(combination_of(Op::equal, Expression::make(Op::modulo, {*x, 2}), 0),
                                          sum_of(*x, 1), sum_of(*x, -1)));
      return unknown_of(expression);
    default:
      return unknown_of(expression);
  }
}

HostValue HostInterpreter::real_arithmetic(clang::BinaryOperatorKind op, const HostValue& a,
                                           const HostValue& b, const clang::Expr* expression) {
  if (const auto x = number_of(a), y = number_of(b); x && y) {
    switch (op) {
      case clang::BO_Add:
        return value_of_number(*x + *y);
      case clang::BO_Sub:
        return value_of_number(*x - *y);
      case clang::BO_Mul:
        return value_of_number(*x * *y);
      case clang::BO_Div:
        if (*y == 0) return unknown_of(expression);
        if (a.is(Kind::real) && b.is(Kind::real)) break;  // stays a fraction
        return value_of_number(*x / *y);
      case clang::BO_LT:
        return HostValue::of(*x < *y ? 1 : 0);
      case clang::BO_LE:
        return HostValue::of(*x <= *y ? 1 : 0);
      case clang::BO_GT:
        return HostValue::of(*x > *y ? 1 : 0);
      case clang::BO_GE:
        return HostValue::of(*x >= *y ? 1 : 0);
      case clang::BO_EQ:
        return HostValue::of(*x == *y ? 1 : 0);
      case clang::BO_NE:
        return HostValue::of(*x != *y ? 1 : 0);
      default:
        return unknown_of(expression);
    }
  }
  const auto x = real_of(a), y = real_of(b);
  if (!x || !y || !x->is(Kind::real) || !y->is(Kind::real)) return unknown_of(expression);
  const Expression left = product_of(x->expression, y->denominator),
                   right = product_of(y->expression, x->denominator);
  const Expression below = product_of(x->denominator, y->denominator);
  const bool same = x->denominator == y->denominator;
  if (const auto comparison = comparison_of(op)) {
    return HostValue::of(same ? combination_of(*comparison, x->expression, y->expression)
                              : combination_of(*comparison, left, right));
  }
  switch (op) {
    case clang::BO_Add:
      return same ? fraction(sum_of(x->expression, y->expression), x->denominator)
                  : fraction(sum_of(left, right), below);
    case clang::BO_Sub:
      return same ? fraction(difference_of(x->expression, y->expression), x->denominator)
                  : fraction(difference_of(left, right), below);
    case clang::BO_Mul:
      return fraction(product_of(x->expression, y->expression), below);
    case clang::BO_Div:
      return fraction(left, right);
    default:
      return unknown_of(expression);
  }
}

HostValue HostInterpreter::pointer_arithmetic(clang::BinaryOperatorKind op, const HostValue& a,
                                              const HostValue& b, const clang::Expr* expression) {
  if (op == clang::BO_EQ || op == clang::BO_NE) {
    const auto truth_a = decided(a), truth_b = decided(b);
    const bool null_a = truth_a && !*truth_a, null_b = truth_b && !*truth_b;
    if (null_a || null_b) {
      if (truth_a && truth_b) return HostValue::of((*truth_a == *truth_b) == (op == clang::BO_EQ) ? 1 : 0);
    } else if (a.is(Kind::pointer) && b.is(Kind::pointer)) {
      return HostValue::of(same_value(a, b) == (op == clang::BO_EQ) ? 1 : 0);
    }
    return unknown_of(expression);
  }
  if (op != clang::BO_Add && op != clang::BO_Sub) return unknown_of(expression);
  const bool pointer_first = a.is(Kind::pointer);
  const HostValue& pointer = pointer_first ? a : b;
  const auto offset = expression_of_value(pointer_first ? b : a);
  if (!pointer.is(Kind::pointer) || !offset || (b.is(Kind::pointer) && a.is(Kind::pointer)))
    return unknown_of(expression);
  HostValue value = pointer;
  value.expression =
      op == clang::BO_Add ? sum_of(pointer.expression, *offset) : difference_of(pointer.expression, *offset);
  return value;
}

// ---- the source

std::string HostInterpreter::text_of(const clang::Stmt* statement) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::SourceRange range = statement->getSourceRange();
  const auto expansion = sources.getExpansionRange(range);
  const std::string raw = clang::Lexer::getSourceText(expansion, sources, context_.getLangOpts()).str();
  std::string text;
  for (const char c : raw) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.size() > longest_shown_source) {
    std::size_t end = longest_shown_source;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "…";
  }
  return text;
}

int HostInterpreter::line_of(const clang::Stmt* statement) const {
  return static_cast<int>(context_.getSourceManager().getExpansionLineNumber(statement->getBeginLoc()));
}

std::string HostInterpreter::file_of(clang::SourceLocation location) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  return std::filesystem::path(sources.getFilename(sources.getExpansionLoc(location)).str())
      .lexically_normal()
      .string();
}

bool HostInterpreter::in_system_header(const clang::Decl& declaration) const {
  return context_.getSourceManager().isInSystemHeader(declaration.getLocation());
}

void HostInterpreter::note_unread(const clang::Stmt* site, std::string message) {
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.file = file_of(site->getBeginLoc());
  warning.line = line_of(site);
  warning.message = std::move(message);
  if (noted_.insert({warning.line, warning.message}).second) program_.unread.push_back(std::move(warning));
}

// What has grown beyond what anybody could read is a parameter.
HostValue HostInterpreter::bounded(HostValue value, const std::string& name, const clang::Stmt* site) {
  for (auto& [part, member] : value.members) {
    const std::string inner = part.field ? name + "_" + part.field->getNameAsString() : name;
    if (member->expression.size() > largest_expression || !member->members.empty())
      member = std::make_shared<const HostValue>(bounded(*member, inner, site));
  }
  if (value.expression.size() <= largest_expression && value.denominator.size() <= largest_expression)
    return value;
  HostSymbol symbol;
  symbol.name = identifier_from(name);
  symbol.variable = !symbol.name.empty();
  symbol.source = "a long expression";
  if (site) {
    symbol.file = file_of(site->getBeginLoc());
    symbol.line = line_of(site);
  }
  return unknown(std::move(symbol));
}

bool HostInterpreter::spend(std::int64_t work) {
  constexpr std::int64_t most_work = 6'000'000;
  work_ += work;
  if (work_ > most_work) exhausted_ = true;
  return !exhausted_;
}

}  // namespace warptime::compiling
