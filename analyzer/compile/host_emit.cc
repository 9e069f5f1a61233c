// Launches, as steps of the program.
#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecordLayout.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compile/clang_signatures.h"
#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
constexpr std::size_t most_steps = 20'000;

// Nothing: what it is was not found.
const HostValue* member_of(const HostValue& whole, const HostPlace::Part& part) {
  static const HostValue zero = HostValue::of(0);
  const auto found = whole.members.find(part);
  return found != whole.members.end() ? found->second.get() : whole.whole ? &zero : nullptr;
}

}  // namespace

void HostInterpreter::emit(HostStep step, const clang::Expr* site) {
  step.file = file_of(site->getBeginLoc());
  step.line = line_of(site);
  if (emissions_.back().steps.size() >= most_steps) {
    exhausted_ = true;
    return;
  }
  emissions_.back().steps.push_back(std::move(step));
}

void HostInterpreter::emit_all(std::vector<HostStep> steps) {
  auto& into = emissions_.back().steps;
  for (HostStep& step : steps) into.push_back(std::move(step));
}

void HostInterpreter::emit_if(const Expression& condition, std::vector<HostStep> steps, int line) {
  if (steps.empty()) return;
  if (condition.is_integer()) {
    if (condition.integer_value() != 0) emit_all(std::move(steps));
    return;
  }
  HostStep group;
  group.repeat = condition;
  group.file = steps.front().file;
  group.line = line;
  group.steps = std::move(steps);
  emissions_.back().steps.push_back(std::move(group));
}

void HostInterpreter::close_guards(std::size_t depth) {
  while (emissions_.size() > depth) {
    Emission guarded = std::move(emissions_.back());
    emissions_.pop_back();
    if (guarded.guard) {
      emit_if(*guarded.guard, std::move(guarded.steps),
              guarded.steps.empty() ? 0 : guarded.steps.front().line);
    } else {
      emit_all(std::move(guarded.steps));
    }
  }
}

Dimensions HostInterpreter::dimensions_of(const HostValue& value, const char* what, const clang::Expr* site) {
  Dimensions dimensions{1, 1, 1};
  const char* const axes[] = {"x", "y", "z"};
  const auto size_of = [&](const HostValue& size, std::size_t axis) {
    if (size.is(Kind::unknown)) {
      HostSymbol& symbol = symbols_[size.id];
      if (symbol.name.empty()) symbol.name = fmt::format("{}_{}_{}", what, axes[axis], line_of(site));
      if (symbol.line == 0) {
        symbol.line = line_of(site);
        symbol.file = file_of(site->getBeginLoc());
      }
    }
    if (const auto expression = expression_of_value(size)) return *expression;
    return *expression_of_value(unknown_of(site));
  };
  if (value.is(Kind::integer)) {
    dimensions[0] = value.expression;
    return dimensions;
  }
  if (value.is(Kind::record)) {
    for (const auto& [part, member] : value.members) {
      if (!part.field) continue;
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (part.field->getName() == axes[axis]) dimensions[axis] = size_of(*member, axis);
    }
    return dimensions;
  }
  // A dim3 that nothing is known of.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    HostSymbol symbol;
    if (value.is(Kind::unknown)) symbol = symbols_[value.id];
    const std::string base = symbol.name.empty() ? fmt::format("{}_{}", what, line_of(site)) : symbol.name;
    symbol.name = fmt::format("{}_{}", base, axes[axis]);
    symbol.variable = true;
    if (symbol.line == 0) {
      symbol.line = line_of(site);
      symbol.file = file_of(site->getBeginLoc());
    }
    dimensions[axis] = HostSymbols::expression(symbols_.add(std::move(symbol)));
  }
  note_unread(site,
              fmt::format("the {} of this launch could not be read: it is parameters of the plan", what));
  return dimensions;
}

std::optional<Expression> HostInterpreter::array_of(const HostValue& pointer) {
  if (pointer.is(Kind::unknown)) return HostSymbols::expression(pointer.id);
  if (!pointer.is(Kind::pointer) || pointer.place.inexact || !pointer.place.parts.empty())
    return std::nullopt;
  const Object& object = objects_[static_cast<std::size_t>(pointer.place.object)];
  if (object.array < 0) return std::nullopt;
  return sum_of(Expression::name(program_.arrays[static_cast<std::size_t>(object.array)].name),
                pointer.expression);
}

// Of a structure its fields, by the names that the kernel program gives to parts of a parameter.
void HostInterpreter::pass_argument(const PartOfArgument& part, clang::QualType type, const HostValue& value,
                                    HostLaunch& launch) {
  const std::string name = part.offset == 0 ? part.name : fmt::format("{}_{}", part.name, part.offset);
  if (type->isPointerType()) {
    if (const auto array = array_of(value))
      launch.arrays.emplace_back(name, *array);
    else if (const auto number = expression_of_value(value); number && *number == Expression(0))
      launch.arguments.emplace_back(name, *number);  // null
  } else if (type->isIntegralOrEnumerationType()) {
    // A value without a name is data that nobody could give.
    const auto expression = expression_of_value(value);
    if (expression && symbols_.is_readable(*expression)) launch.arguments.emplace_back(name, *expression);
  } else if (const auto* record = type->getAsRecordDecl()) {
    if (value.is(Kind::record)) pass_fields(part, *record, value, launch);
  } else if (const clang::ConstantArrayType* array = context_.getAsConstantArrayType(type)) {
    constexpr std::int64_t most_elements = 256;
    const std::int64_t bytes = context_.getTypeSizeInChars(array->getElementType()).getQuantity();
    const auto elements = static_cast<std::int64_t>(array->getSize().getLimitedValue());
    for (std::int64_t i = 0; i < std::min(elements, most_elements) && value.is(Kind::array); ++i)
      if (const HostValue* element = member_of(value, {nullptr, i}))
        pass_argument({part.name, part.offset + i * bytes}, array->getElementType(), *element, launch);
  } else if (const auto number = number_of(value)) {
    constexpr double largest_whole = 1e15;
    const bool whole = std::abs(*number) < largest_whole &&
                       *number == static_cast<double>(static_cast<std::int64_t>(*number));
    launch.arguments.emplace_back(
        name, whole ? Expression(static_cast<std::int64_t>(*number)) : Expression::decimal(*number));
  }
}

void HostInterpreter::pass_fields(const PartOfArgument& part, const clang::RecordDecl& record,
                                  const HostValue& value, HostLaunch& launch) {
  if (record.isInvalidDecl() || !record.isCompleteDefinition() || record.isDependentContext()) return;
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
  if (const auto* with_bases = llvm::dyn_cast<clang::CXXRecordDecl>(&record))
    for (const clang::CXXBaseSpecifier& base : with_bases->bases())
      if (const auto* of = base.getType()->getAsCXXRecordDecl(); of != nullptr && !base.isVirtual())
        pass_fields({part.name, part.offset + layout.getBaseClassOffset(of).getQuantity()}, *of, value,
                    launch);
  for (const clang::FieldDecl* field : record.fields()) {
    const HostValue* member = field->isBitField() ? nullptr : member_of(value, {field, 0});
    if (member == nullptr) continue;
    const auto offset = static_cast<std::int64_t>(layout.getFieldOffset(field->getFieldIndex()) / 8);
    pass_argument({part.name, part.offset + offset}, field->getType(), *member, launch);
  }
}

void HostInterpreter::emit_launch(const clang::FunctionDecl* kernel, const HostValue& grid,
                                  const HostValue& block, const HostValue& shared,
                                  const std::vector<HostValue>& arguments, const clang::Expr* site) {
  HostLaunch launch;
  const clang::FunctionDecl* definition = kernel;
  kernel->isDefined(definition);
  if (!definition) definition = kernel;
  launch.kernel_file = input_of_(definition->getLocation());
  launch.entry = kernel_name(*definition, context_);
  if (ambiguous_kernels_.count(launch.entry) > 0) launch.entry = kernel_symbol(*definition, context_);
  launch.grid = dimensions_of(grid, "grid", site);
  launch.block = dimensions_of(block, "block", site);
  if (const auto bytes = expression_of_value(shared)) launch.shared_bytes = *bytes;
  for (unsigned i = 0; i < definition->getNumParams() && i < arguments.size(); ++i) {
    const clang::ParmVarDecl* parameter = definition->getParamDecl(i);
    const std::string name =
        parameter->getNameAsString().empty() ? fmt::format("arg{}", i) : parameter->getNameAsString();
    pass_argument({name, 0}, parameter->getType(), converted(arguments[i], parameter->getType()), launch);
  }
  HostStep step;
  step.launch = std::move(launch);
  emit(std::move(step), site);
}

void HostInterpreter::launch(const clang::CUDAKernelCallExpr* call) {
  reached_.insert(call->getBeginLoc().getRawEncoding());
  HostValue callee = evaluate(call->getCallee());
  if (const auto* lookup = llvm::dyn_cast<clang::OverloadExpr>(call->getCallee()->IgnoreParenImpCasts());
      lookup && !callee.is(Kind::function)) {  // an argument that clang could not make sense of
    for (const clang::NamedDecl* candidate : lookup->decls()) {
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(candidate);
      if (!function || !function->hasAttr<clang::CUDAGlobalAttr>() ||
          function->getNumParams() != call->getNumArgs())
        continue;
      callee.kind = Kind::function;
      callee.function = function;
    }
  }
  const clang::CallExpr* config = call->getConfig();
  std::vector<HostValue> arguments;
  for (const clang::Expr* argument : call->arguments()) {
    if (argument->isGLValue()) {
      const auto place = place_of(argument);
      arguments.push_back(place ? load(*place) : unknown_of(argument));
    } else {
      arguments.push_back(evaluate(argument));
    }
  }
  if (!callee.is(Kind::function)) {
    note_unread(call, fmt::format("which kernel `{}` launches could not be read: it is not in the plan",
                                  text_of(call->getCallee())));
    return;
  }
  const HostValue grid = evaluate(config->getArg(0)), block = evaluate(config->getArg(1));
  const HostValue shared = config->getNumArgs() > 2 ? evaluate(config->getArg(2)) : HostValue::of(0);
  emit_launch(callee.function, grid, block, shared, arguments, call);
}

// cudaLaunchKernel(kernel, grid, block, arguments, shared bytes, stream): the arguments are an array of their
// addresses.
void HostInterpreter::launch_by_call(const clang::CallExpr* call) {
  reached_.insert(call->getBeginLoc().getRawEncoding());
  if (call->getNumArgs() < 4) return;
  const HostValue kernel = evaluate(call->getArg(0)->IgnoreParenCasts());
  const HostValue grid = evaluate(call->getArg(1)), block = evaluate(call->getArg(2));
  const HostValue shared = call->getNumArgs() > 4 ? evaluate(call->getArg(4)) : HostValue::of(0);
  const HostValue list = evaluate(call->getArg(3));
  if (!kernel.is(Kind::function)) {
    note_unread(call, fmt::format("which kernel `{}` launches could not be read: it is not in the plan",
                                  text_of(call)));
    return;
  }
  std::vector<HostValue> arguments;
  for (unsigned i = 0; list.is(Kind::pointer) && i < kernel.function->getNumParams(); ++i) {
    const auto element = element_of(list, HostValue::of(static_cast<std::int64_t>(i)));
    const HostValue address = element ? load(*element) : unknown_of(call);
    const auto target = address.is(Kind::pointer) ? dereferenced(address) : std::nullopt;
    arguments.push_back(target ? load(*target) : unknown_of(call));
  }
  emit_launch(kernel.function, grid, block, shared, arguments, call);
}

}  // namespace warptime::compiling
