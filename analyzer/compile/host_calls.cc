// Calls: into functions of the source, of the CUDA runtime, of the C and C++ libraries, as far as launches
// depend on them.
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
using Op = Expression::Operator;

constexpr std::size_t deepest_calls = 48;
constexpr int most_recursion = 12;
// Of a function that calls itself in a branch that is undecided: each call is one more level of a tree of sums,
// say, and its launches repeat 0 times where the tree is not that high.
constexpr int most_undecided_recursion = 3;
// The number of elements of a std::vector and its like, beside their contents.
constexpr HostPlace::Part container_size{nullptr, -1};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

std::string name_of_callee(const clang::CallExpr& call) {
  if (const clang::FunctionDecl* function = call.getDirectCallee()) return function->getNameAsString();
  const clang::Expr* callee = call.getCallee()->IgnoreParenImpCasts();
  if (const auto* lookup = llvm::dyn_cast<clang::OverloadExpr>(callee))
    return lookup->getName().getAsString();
  return {};
}

bool is_container(const clang::CXXRecordDecl* record) {
  return record && is_one_of(record->getNameAsString(),
                             {"vector", "device_vector", "host_vector", "array", "valarray"});
}

bool is_dimensions(const clang::CXXRecordDecl* record) {
  return record && is_one_of(record->getNameAsString(), {"dim3", "uint3"});
}

// Status codes of CUDA and of its libraries: what is read here goes well.
bool is_status(clang::QualType type) {
  const auto* enumeration = type->getAs<clang::EnumType>();
  const std::string name = enumeration ? enumeration->getDecl()->getNameAsString() : type.getAsString();
  return is_one_of(name, {"cudaError", "cudaError_t", "CUresult", "cudaError_enum", "cublasStatus_t",
                          "cufftResult", "cufftResult_t", "curandStatus", "curandStatus_t",
                          "cusparseStatus_t", "cudnnStatus_t", "cusolverStatus_t"});
}

// Whether a function may write through an argument of this parameter type.
bool may_write(clang::QualType type) {
  const clang::QualType target = type->getPointeeType();
  return !target.isNull() && !target.isConstQualified() && !target->isFunctionType();
}

}  // namespace

bool HostInterpreter::can_follow(const clang::FunctionDecl& function) const {
  if (!function.hasBody() || in_system_header(function) || function.isDependentContext()) return false;
  if (function.hasAttr<clang::CUDAGlobalAttr>()) return false;
  return !function.hasAttr<clang::CUDADeviceAttr>() || function.hasAttr<clang::CUDAHostAttr>();
}

HostValue HostInterpreter::follow(const clang::FunctionDecl& declared,
                                  const std::vector<const clang::Expr*>& arguments,
                                  std::optional<HostPlace> this_place, const HostBindings* around,
                                  const clang::Expr* site) {
  const clang::FunctionDecl* function = nullptr;
  declared.hasBody(function);
  const auto active = std::count_if(frames_.begin(), frames_.end(),
                                    [&](const Frame& frame) { return frame.function == function; });
  const bool undecided = std::any_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
    return frame.function == function && frame.undecided < undecided_;
  });
  const int most = undecided ? most_undecided_recursion : most_recursion;
  if (frames_.size() >= deepest_calls || active >= most) {
    for (const clang::Expr* argument : arguments) evaluate(argument);
    if (launching_.count(function->getCanonicalDecl()) == 0) return unknown_of(site);
    note_unread(
        site,
        fmt::format("calls of `{}` are nested too deep to follow: launches of the inner ones are missing",
                    function->getNameAsString()));
    return unknown_of(site);
  }
  followed_.insert(function->getCanonicalDecl());
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern())
    followed_.insert(pattern->getCanonicalDecl());
  const auto first_object = static_cast<int>(objects_.size());
  Frame frame;
  frame.function = function;
  if (around) frame.variables = *around;
  for (unsigned i = 0; i < function->getNumParams(); ++i) {
    const clang::ParmVarDecl* parameter = function->getParamDecl(i);
    const clang::Expr* argument = i < arguments.size() ? arguments[i] : nullptr;
    const clang::QualType type = parameter->getType();
    if (argument && type->isReferenceType()) {
      if (const auto place = place_of(argument)) {
        frame.variables[parameter->getCanonicalDecl()] = *place;
        continue;
      }
    }
    const HostPlace place = new_place(
        parameter->getNameAsString(),
        static_cast<int>(context_.getSourceManager().getExpansionLineNumber(parameter->getLocation())));
    if (argument) {
      HostValue value = converted(evaluate(argument), type.getNonReferenceType());
      frame.variables[parameter->getCanonicalDecl()] = place;
      store(place, std::move(value));
    }
    frame.variables[parameter->getCanonicalDecl()] = place;
  }
  frame.this_place = std::move(this_place);
  frame.undecided = undecided_;
  frame.loops = loops_.size();
  frames_.push_back(std::move(frame));
  Flow flow = Flow::normal;
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function);
      constructor && frames_.back().this_place) {
    for (const clang::CXXCtorInitializer* initializer : constructor->inits()) {
      HostPlace target = *frames_.back().this_place;
      if (initializer->isMemberInitializer()) target.parts.push_back({initializer->getMember(), 0});
      HostValue value = evaluate(initializer->getInit());
      if (initializer->isMemberInitializer()) {
        store(target, converted(std::move(value), initializer->getMember()->getType()));
      } else if (value.is(Kind::record)) {
        for (const auto& [part, member] : value.members) {
          HostPlace inner = target;
          inner.parts.push_back(part);
          store(inner, *member);
        }
      }
    }
  }
  std::vector<HostStep> steps = collect([&] { flow = execute(function->getBody()); });
  emit_all(std::move(steps));
  if (flow == Flow::exited) ended_ = true;
  Frame done = std::move(frames_.back());
  frames_.pop_back();
  HostValue result = done.result ? *done.result : unknown_of(site);
  for (const auto& [variable, place] : done.variables)
    if (place.object >= first_object && place.parts.empty()) memory_.erase(place.object);
  for (auto early = done.early_results.rbegin(); early != done.early_results.rend(); ++early)
    result = merged(early->second, result, HostValue::of(early->first), HostPlace());
  return result;
}

HostValue HostInterpreter::evaluate_call(const clang::CallExpr* call) {
  std::vector<const clang::Expr*> arguments(call->arg_begin(), call->arg_end());
  // A pseudo-destructor and its like have no function.
  const clang::FunctionDecl* function = call->getDirectCallee();
  const std::string name = name_of_callee(*call);

  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (const auto value = container_call(member)) return *value;
    if (function && can_follow(*function)) {
      const clang::Expr* object = member->getImplicitObjectArgument();
      std::optional<HostPlace> place;
      if (object)
        place = object->getType()->isPointerType() ? dereferenced(evaluate(object)) : place_of(object);
      if (!place) place = new_place("", line_of(call));
      return follow(*function, arguments, place, nullptr, call);
    }
    return unfollowed_call(function, call);
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    const auto kind = operation->getOperator();
    if (kind == clang::OO_Call && !arguments.empty()) {
      HostValue object;
      if (const auto place = place_of(arguments[0])) object = load(*place);
      if (object.is(Kind::closure) && can_follow(*object.function)) {
        const auto around = object.around;
        std::optional<HostPlace> this_place;
        if (object.place.object >= 0) this_place = object.place;
        return follow(*object.function, {arguments.begin() + 1, arguments.end()}, this_place, around.get(),
                      call);
      }
    }
    if (kind == clang::OO_Equal && arguments.size() == 2 &&
        !(function && can_follow(*function) && !function->isDefaulted())) {
      const HostValue value = evaluate(arguments[1]);
      if (const auto place = place_of(arguments[0])) store(*place, value);
      return value;
    }
    if (kind == clang::OO_Subscript && function && !can_follow(*function)) {
      evaluate(arguments[1]);
      if (auto place = place_of(arguments[0])) {
        place->inexact = true;
        HostValue pointer;
        pointer.kind = Kind::pointer;
        pointer.place = *place;
        return call->isGLValue() ? pointer : load(*place);
      }
    }
    if (function && can_follow(*function)) {
      if (llvm::isa<clang::CXXMethodDecl>(function) && !arguments.empty()) {
        std::optional<HostPlace> place = place_of(arguments[0]);
        return follow(*function, {arguments.begin() + 1, arguments.end()}, place, nullptr, call);
      }
      return follow(*function, arguments, std::nullopt, nullptr, call);
    }
    return unfollowed_call(function, call);
  }
  if (!function) {
    const HostValue callee = evaluate(call->getCallee());
    if ((callee.is(Kind::function) || callee.is(Kind::closure)) && callee.function &&
        can_follow(*callee.function))
      return follow(*callee.function, arguments, std::nullopt, callee.around.get(), call);
    if (callee.is(Kind::function)) function = callee.function;
  }
  if (is_one_of(name, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})) {
    launch_by_call(call);
    return HostValue::of(0);
  }
  const bool own = function && can_follow(*function);
  if (!own) {
    if (const auto value = library_call(function, name, call)) return *value;
  }
  if (own) return follow(*function, arguments, std::nullopt, nullptr, call);
  return unfollowed_call(function, call);
}

HostValue HostInterpreter::unfollowed_call(const clang::FunctionDecl* function, const clang::CallExpr* call) {
  if (function && function->isNoReturn()) ended_ = true;
  const auto* prototype = function ? function->getType()->getAs<clang::FunctionProtoType>() : nullptr;
  const bool member_operator =
      llvm::isa<clang::CXXOperatorCallExpr>(call) && llvm::isa_and_nonnull<clang::CXXMethodDecl>(function);
  const std::string source = fmt::format("`{}`", text_of(call));
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const clang::Expr* argument = call->getArg(i);
    const unsigned index = member_operator && i > 0 ? i - 1 : i;
    const bool declared = prototype && index < prototype->getNumParams() && !(member_operator && i == 0);
    const clang::QualType type = declared ? prototype->getParamType(index) : argument->getType();
    if (argument->isGLValue() && (declared ? type->isReferenceType() : !prototype || member_operator)) {
      const bool writes = declared ? may_write(type) : false;
      const auto place = place_of(argument);
      if (place && writes && !(llvm::isa<clang::CXXOperatorCallExpr>(call) && i == 0))
        forget(*place, source, line_of(call));
      continue;
    }
    const HostValue value = evaluate(argument);
    if (!value.is(Kind::pointer)) continue;
    if (declared && type->isPointerType() && !may_write(type)) continue;
    if (auto place = dereferenced(value)) {
      if (value.into_array) {
        place = value.place;
        if (objects_[static_cast<std::size_t>(place->object)].bytes)
          continue;  // the contents of allocated memory: nobody knows them anyway
      }
      forget(*place, source, line_of(call));
    }
  }
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (const clang::Expr* object = member->getImplicitObjectArgument();
        object && !llvm::isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts()))
      evaluate(object->IgnoreParenImpCasts());
  }
  if (!function && !llvm::isa<clang::CXXMemberCallExpr>(call)) evaluate(call->getCallee());
  const clang::QualType type = call->getType();
  if (is_status(type)) return HostValue::of(0);
  return unknown_of(call);
}

// ---- CUDA and libraries

std::optional<HostValue> HostInterpreter::library_call(const clang::FunctionDecl* function,
                                                       const std::string& name, const clang::CallExpr* call) {
  if (const auto value = cuda_call(name, call)) return value;
  const unsigned count = call->getNumArgs();
  if (is_one_of(name, {"exit", "abort", "_exit", "_Exit", "quick_exit", "terminate", "__assert_fail",
                       "__assert"})) {
    ended_ = true;
    return HostValue::of(0);
  }
  if (const auto value = math_call(name, call)) return value;
  if (is_one_of(name, {"malloc", "calloc", "realloc", "aligned_alloc", "memalign", "valloc", "_mm_malloc"}) &&
      count >= 1) {
    std::optional<Expression> bytes =
        expression_of_value(evaluate(call->getArg(name == "calloc" || count == 1 ? 0 : count - 1)));
    if (name == "calloc" && count == 2) {
      const auto size = expression_of_value(evaluate(call->getArg(1)));
      bytes = bytes && size ? std::optional(product_of(*bytes, *size)) : std::nullopt;
    }
    const HostPlace place = new_place("", line_of(call));
    objects_[static_cast<std::size_t>(place.object)].bytes = bytes.value_or(0);
    HostValue value;
    value.kind = Kind::pointer;
    value.place = place;
    value.into_array = true;
    return value;
  }
  if (is_one_of(name, {"swap", "iter_swap"}) && count == 2) {
    const auto a = place_of(call->getArg(0)), b = place_of(call->getArg(1));
    if (a && b) {
      const HostValue x = load(*a), y = load(*b);
      store(*a, y);
      store(*b, x);
    }
    return HostValue::of(0);
  }
  if (is_one_of(name, {"move", "forward", "as_const", "addressof"}) && count == 1) {
    if (const auto place = place_of(call->getArg(0)); place && name != "addressof") {
      HostValue value;
      if (!call->isGLValue()) return load(*place);
      value.kind = Kind::pointer;
      value.place = *place;
      return value;
    }
    return std::nullopt;
  }
  if (is_one_of(name, {"fopen", "fdopen", "popen"})) {  // files are there
    HostValue value;
    value.kind = Kind::pointer;
    value.place = new_place("", line_of(call));
    return value;
  }
  if (is_one_of(name, {"memcpy", "memmove", "memset", "fread", "read"}) && count >= 1) {
    const HostValue target = evaluate(call->getArg(name == "read" ? 1 : 0));
    for (unsigned i = 1; i < count; ++i) evaluate(call->getArg(i));
    if (target.is(Kind::pointer)) {
      HostPlace place = target.place;
      if (!objects_[static_cast<std::size_t>(place.object)].bytes)
        forget(place, fmt::format("`{}`", text_of(call)), line_of(call));
    }
    return target;
  }
  if (is_one_of(name, {"printf", "fprintf", "puts", "fflush", "free", "fclose", "srand"})) {
    for (const clang::Expr* argument : call->arguments()) evaluate(argument);
    return HostValue::of(0);
  }
  const std::string qualified = function ? function->getQualifiedNameAsString() : "";
  const bool library = qualified.starts_with("thrust::") || qualified.starts_with("cub::") ||
                       name.starts_with("cublas") || name.starts_with("cufftExec") ||
                       name.starts_with("cusparse") || name.starts_with("cudnn") ||
                       name.starts_with("curandGenerate");
  if (library && (name.find("reate") == std::string::npos && name.find("estroy") == std::string::npos &&
                  name.find("Set") == std::string::npos))
    note_unread(call, fmt::format("`{}` launches kernels of a library, which are not in the plan", name));
  return std::nullopt;
}

std::optional<HostValue> HostInterpreter::math_call(const std::string& name, const clang::CallExpr* call) {
  const unsigned count = call->getNumArgs();
  const bool whole = call->getType()->isIntegralOrEnumerationType();
  const auto operand = [&](unsigned i) {
    const clang::Expr* argument = call->getArg(i);
    if (!argument->isGLValue()) return evaluate(argument);
    const auto place = place_of(argument);  // std::min takes references
    return place ? load(*place) : unknown_of(argument);
  };
  if (count == 2 && is_one_of(name, {"min", "max", "fmin", "fmax", "fminf", "fmaxf", "umin", "umax"})) {
    const HostValue a = operand(0), b = operand(1);
    const Op op = name.find("min") != std::string::npos ? Op::minimum : Op::maximum;
    const auto x = expression_of_value(a), y = expression_of_value(b);
    HostValue value;
    if (const auto m = number_of(a), n = number_of(b); m && n) {
      value = value_of_number(op == Op::minimum ? std::min(*m, *n) : std::max(*m, *n));
      const auto integer = converted(value, context_.LongTy);
      if (a.is(Kind::integer) && b.is(Kind::integer)) value = integer;
    } else if (x && y) {
      value = HostValue::of(combination_of(op, *x, *y));
    } else {
      return unknown_of(call);
    }
    if (!call->isGLValue()) return value;
    HostValue pointer;
    pointer.kind = Kind::pointer;
    pointer.place = new_place("", line_of(call));
    memory_.store(pointer.place, value);
    return pointer;
  }
  if (count == 1 &&
      is_one_of(name,
                {"ceil", "ceilf", "floor", "floorf",         "trunc",           "truncf", "fabs", "fabsf",
                 "abs",  "labs",  "llabs", "round",          "roundf",          "rint",   "sqrt", "sqrtf",
                 "log2", "log2f", "log",   "logf",           "log10",           "log10f", "exp",  "expf",
                 "exp2", "exp2f", "cbrt",  "__builtin_ceil", "__builtin_floor", "lround", "ilogb"})) {
    const HostValue value = operand(0);
    const auto result = [&](double number) {
      const HostValue real = value_of_number(number);
      return whole ? converted(real, call->getType()) : real;
    };
    if (const auto x = number_of(value)) {
      const std::string base = name.back() == 'f' && name != "ceil" ? name.substr(0, name.size() - 1) : name;
      if (base == "ceil" || base == "__builtin_ceil") return result(std::ceil(*x));
      if (base == "floor" || base == "__builtin_floor" || base == "loor") return result(std::floor(*x));
      if (base == "trunc") return result(std::trunc(*x));
      if (base == "fabs" || base == "abs" || base == "labs" || base == "llabs") return result(std::fabs(*x));
      if (base == "round" || base == "rint" || base == "lround") return result(std::round(*x));
      if (base == "cbrt") return result(std::cbrt(*x));
      if (base == "exp") return result(std::exp(*x));
      if (base == "exp2") return result(std::exp2(*x));
      if (*x >= 0 && base == "sqrt") return result(std::sqrt(*x));
      if (*x > 0 && base == "log2") return result(std::log2(*x));
      if (*x > 0 && base == "log") return result(std::log(*x));
      if (*x > 0 && base == "log10") return result(std::log10(*x));
      return unknown_of(call);
    }
    if (value.is(Kind::unknown)) {
      const auto rounding = is_one_of(name, {"ceil", "ceilf", "__builtin_ceil"}) ? std::optional(Rounding::up)
                            : is_one_of(name, {"round", "roundf", "rint", "lround"})
                                ? std::optional(Rounding::nearest)
                            : is_one_of(name, {"floor", "floorf", "trunc", "truncf", "__builtin_floor"})
                                ? std::optional(Rounding::down)
                                : std::nullopt;
      const auto irrational = rounding ? irrational_of(call->getArg(0)) : std::nullopt;
      if (const auto number = irrational ? rounded(*irrational, *rounding, line_of(call)) : std::nullopt)
        return whole ? HostValue::of(*number) : *real_of(HostValue::of(*number));
    }
    const auto real = real_of(value);
    if (real && real->is(Kind::real)) {
      std::optional<Expression> rounded;
      if (name == "ceil" || name == "ceilf") rounded = ceiling_of(real->expression, real->denominator);
      if (is_one_of(name, {"floor", "floorf", "trunc", "truncf"}))
        rounded = quotient_of(real->expression, real->denominator);
      if (rounded) return whole ? HostValue::of(*rounded) : *real_of(HostValue::of(*rounded));
    }
    return unknown_of(call);
  }
  if (count == 2 && is_one_of(name, {"pow", "powf"})) {
    const HostValue a = operand(0), b = operand(1);
    if (const auto x = number_of(a), y = number_of(b); x && y) return value_of_number(std::pow(*x, *y));
    const auto x = real_of(a), y = real_of(b);
    if (x && y && x->is(Kind::real) && y->is(Kind::real) && x->denominator == Expression(1) &&
        y->denominator == Expression(1)) {
      if (const auto power = power_of(x->expression, y->expression)) return real_of(HostValue::of(*power));
    }
    return unknown_of(call);
  }
  return std::nullopt;
}

void HostInterpreter::allocate(const HostValue& target, const Expression* bytes, bool device,
                               const clang::Expr* argument, const clang::CallExpr* call) {
  if (!target.is(Kind::pointer)) return;
  const auto place = dereferenced(target);
  if (!place) return;
  // The element's type: cudaMalloc((void**)&d_a, …) names a float** below its casts.
  const clang::Expr* below = argument->IgnoreParenCasts();
  const clang::QualType type = below->getType()->getPointeeType().isNull()
                                   ? below->getType()
                                   : below->getType()->getPointeeType()->getPointeeType();
  const std::string name = name_of(*place);
  const HostPlace memory = new_place(name, line_of(call));
  Object& object = objects_[static_cast<std::size_t>(memory.object)];
  object.bytes = bytes ? *bytes : Expression(0);
  object.device = device;
  object.element = type;
  if (bytes && device && !type.isNull() && !type->isIncompleteType() && type->isArithmeticType() &&
      !name.empty()) {
    const auto size = static_cast<std::int64_t>(context_.getTypeSizeInChars(type).getQuantity());
    const auto elements = quotient_of(*bytes, size);
    const bool real = type->isRealFloatingType();
    const std::string element = real        ? size == 4   ? "f32"
                                              : size == 8 ? "f64"
                                                          : ""
                                : size == 1 ? "i8"
                                : size == 2 ? "i16"
                                : size == 4 ? "i32"
                                            : "i64";
    if (elements && !element.empty()) {
      object.array = static_cast<int>(program_.arrays.size());
      program_.arrays.push_back({fmt::format("array.a{}.{}", object.array, name), *elements, element});
    }
  }
  HostValue value;
  value.kind = Kind::pointer;
  value.place = memory;
  value.into_array = true;
  store(*place, std::move(value));
}

void HostInterpreter::copy(const clang::CallExpr* call, unsigned to, unsigned from, const HostValue& bytes,
                           std::optional<int> kind) {
  const HostValue target = evaluate(call->getArg(to)), source = evaluate(call->getArg(from));
  const auto on_device = [&](const HostValue& pointer) {
    return pointer.is(Kind::pointer) && objects_[static_cast<std::size_t>(pointer.place.object)].device;
  };
  constexpr int by_pointers = 4;
  HostStep step;
  step.transfer = HostTransfer();
  int direction = kind.value_or(by_pointers);
  if (direction == by_pointers || direction == 0)
    direction = on_device(target) ? on_device(source) ? 3 : 1 : on_device(source) ? 2 : direction;
  constexpr std::array<TransferDirection, 4> directions{
      TransferDirection::host_to_device, TransferDirection::host_to_device, TransferDirection::device_to_host,
      TransferDirection::device_to_device};
  if (direction >= 1 && direction <= 3) {
    step.transfer->direction = directions[static_cast<std::size_t>(direction)];
    if (const auto size = expression_of_value(bytes)) {
      step.transfer->bytes = *size;
      emit(std::move(step), call);
    } else {
      note_unread(call, fmt::format("the size of a copy, `{}`, is missing in the plan", text_of(call)));
    }
  }
  if (direction == 1 || direction == 3) return;
  const auto place = dereferenced(target);
  if (!place || !target.is(Kind::pointer)) return;
  if (target.into_array) {
    if (!objects_[static_cast<std::size_t>(target.place.object)].bytes)
      forget(target.place, fmt::format("`{}`", text_of(call)), line_of(call));
    return;
  }
  forget(*place, fmt::format("`{}`", text_of(call)), line_of(call));
}

std::optional<HostValue> HostInterpreter::cuda_call(const std::string& name, const clang::CallExpr* call) {
  if (!name.starts_with("cuda")) return std::nullopt;
  const unsigned count = call->getNumArgs();
  const auto bytes_at = [&](unsigned i) { return evaluate(call->getArg(i)); };
  const auto kind_at = [&](unsigned i) -> std::optional<int> {
    if (i >= count) return std::nullopt;
    const HostValue kind = evaluate(call->getArg(i));
    if (!kind.is_known()) return std::nullopt;
    return static_cast<int>(kind.expression.integer_value());
  };
  const auto set = [&](unsigned i, const HostValue& value) {
    const HostValue target = evaluate(call->getArg(i));
    if (const auto place = dereferenced(target); place && target.is(Kind::pointer)) store(*place, value);
  };
  if (is_one_of(name,
                {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost", "cudaHostAlloc"}) &&
      count >= 2) {
    const HostValue bytes = evaluate(call->getArg(1));
    const auto size = expression_of_value(bytes);
    const bool device = name != "cudaMallocHost" && name != "cudaHostAlloc";
    allocate(evaluate(call->getArg(0)), size ? &*size : nullptr, device, call->getArg(0), call);
    return HostValue::of(0);
  }
  if (name == "cudaMallocPitch" && count >= 4) {
    const auto width = expression_of_value(evaluate(call->getArg(2)));
    allocate(evaluate(call->getArg(0)), nullptr, true, call->getArg(0), call);
    constexpr std::int64_t pitch_alignment = 512;  // of all GPUs since Fermi
    const auto rows = width ? ceiling_of(*width, pitch_alignment) : std::nullopt;
    set(1, rows ? HostValue::of(product_of(pitch_alignment, *rows)) : unknown_of(call));
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaMemcpy", "cudaMemcpyAsync"}) && count >= 3) {
    copy(call, 0, 1, bytes_at(2), kind_at(3));
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaMemcpy2D", "cudaMemcpy2DAsync"}) && count >= 7) {
    const auto width = expression_of_value(evaluate(call->getArg(4))),
               height = expression_of_value(evaluate(call->getArg(5)));
    copy(call, 0, 2, width && height ? HostValue::of(product_of(*width, *height)) : unknown_of(call),
         kind_at(6));
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"}) && count >= 3) {
    HostStep step;
    step.transfer = HostTransfer();
    if (const auto bytes = expression_of_value(bytes_at(2))) {
      step.transfer->direction =
          kind_at(4) == 3 ? TransferDirection::device_to_device : TransferDirection::host_to_device;
      step.transfer->bytes = *bytes;
      emit(std::move(step), call);
    }
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaMemcpyFromSymbol", "cudaMemcpyFromSymbolAsync"}) && count >= 3) {
    copy(call, 0, 0, bytes_at(2), 2);
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaMemset", "cudaMemsetAsync"}) && count >= 3) {
    evaluate(call->getArg(0));
    HostStep step;
    step.transfer = HostTransfer();
    step.transfer->direction = TransferDirection::set;
    if (const auto bytes = expression_of_value(bytes_at(2))) {
      step.transfer->bytes = *bytes;
      emit(std::move(step), call);
    }
    return HostValue::of(0);
  }
  if (name == "cudaGetDeviceCount" && count == 1) {
    set(0, HostValue::of(1));
    return HostValue::of(0);
  }
  if (name == "cudaGetDevice" && count == 1) {
    set(0, HostValue::of(0));
    return HostValue::of(0);
  }
  if (is_one_of(name, {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"}) && count == 2) {
    const HostValue target = evaluate(call->getArg(0));
    const auto place = dereferenced(target);
    if (!place || !target.is(Kind::pointer)) return HostValue::of(0);
    forget(*place, "a property of the device", line_of(call));
    const auto* record = call->getArg(0)->getType()->getPointeeType().isNull()
                             ? nullptr
                             : call->getArg(0)->getType()->getPointeeType()->getAsRecordDecl();
    if (!record) return HostValue::of(0);
    // The same for all GPUs that CUDA still knows.
    const std::map<std::string, std::vector<std::int64_t>> known{
        {"warpSize", {32}},
        {"maxThreadsPerBlock", {1024}},
        {"maxThreadsDim", {1024, 1024, 64}},
        {"maxGridSize", {2147483647, 65535, 65535}},
        {"major", {7}},  // of the default target, sm_75
        {"minor", {5}},
        {"sharedMemPerBlock", {49152}},
        {"regsPerBlock", {65536}},
        {"totalConstMem", {65536}}};
    for (const clang::FieldDecl* field : record->fields()) {
      const auto values = known.find(field->getNameAsString());
      if (values == known.end()) continue;
      HostPlace member = *place;
      member.parts.push_back({field, 0});
      if (values->second.size() == 1) {
        store(member, HostValue::of(values->second.front()));
        continue;
      }
      for (std::size_t i = 0; i < values->second.size(); ++i) {
        HostPlace element = member;
        element.parts.push_back({nullptr, static_cast<std::int64_t>(i)});
        store(element, HostValue::of(values->second[i]));
      }
    }
    return HostValue::of(0);
  }
  if (name == "cudaDeviceGetAttribute" && count == 3) {
    const auto attribute = kind_at(1);
    const std::map<int, std::int64_t> known{{1, 1024},  {2, 1024},  {3, 1024},  {4, 64}, {5, 2147483647},
                                            {6, 65535}, {7, 65535}, {8, 49152}, {10, 32}};
    const auto value = known.find(attribute.value_or(-1));
    set(0, value == known.end() ? unknown_of(call) : HostValue::of(value->second));
    return HostValue::of(0);
  }
  return std::nullopt;
}

// ---- objects

std::optional<HostValue> HostInterpreter::container_call(const clang::CXXMemberCallExpr* call) {
  const clang::CXXRecordDecl* record = call->getRecordDecl();
  const clang::CXXMethodDecl* method = call->getMethodDecl();
  if (!method || !is_container(record) || can_follow(*method)) return std::nullopt;
  const std::string name = method->getNameAsString();
  const clang::Expr* object = call->getImplicitObjectArgument();
  auto place = object->getType()->isPointerType() ? dereferenced(evaluate(object)) : place_of(object);
  if (!place) return std::nullopt;
  HostPlace size = *place;
  size.parts.push_back(container_size);
  if (name == "size" || name == "length") return load(size);
  if (is_one_of(name, {"resize", "assign"}) && call->getNumArgs() >= 1) {
    store(size, evaluate(call->getArg(0)));
    return HostValue::of(0);
  }
  if (name == "push_back" || name == "emplace_back") {
    for (const clang::Expr* argument : call->arguments()) evaluate(argument);
    const HostValue old = load(size);
    const auto count = expression_of_value(old);
    store(size, count ? HostValue::of(sum_of(*count, 1)) : unknown_of(call));
    return HostValue::of(0);
  }
  if (name == "clear") {
    store(size, HostValue::of(0));
    return HostValue::of(0);
  }
  if (is_one_of(name, {"data", "begin"})) {
    HostValue value;
    value.kind = Kind::pointer;
    value.place = *place;
    value.into_array = true;
    return value;
  }
  if (is_one_of(name, {"at", "front", "back"})) {
    for (const clang::Expr* argument : call->arguments()) evaluate(argument);
    place->inexact = true;
    HostValue pointer;
    pointer.kind = Kind::pointer;
    pointer.place = *place;
    return call->isGLValue() ? pointer : load(*place);
  }
  return std::nullopt;
}

HostValue HostInterpreter::evaluate_construction(const clang::CXXConstructExpr* construction) {
  const clang::CXXConstructorDecl* constructor = construction->getConstructor();
  const clang::CXXRecordDecl* record = constructor->getParent();
  const unsigned count = construction->getNumArgs();
  if (count >= 1 && constructor->isCopyOrMoveConstructor()) {
    const clang::Expr* argument = construction->getArg(0);
    if (!argument->isGLValue()) return evaluate(argument);
    const auto place = place_of(argument);
    if (!place) return unknown_of(construction);
    HostValue value = load(*place);
    return value;
  }
  if (is_dimensions(record)) {
    HostValue value;
    value.kind = Kind::record;
    if (count == 1 && !construction->getArg(0)->getType()->isIntegralOrEnumerationType())
      return evaluate(construction->getArg(0));
    unsigned i = 0;
    for (const clang::FieldDecl* field : record->fields()) {
      HostValue size =
          i < count ? converted(evaluate(construction->getArg(i)), field->getType()) : HostValue::of(1);
      value.members[HostPlace::Part{field, 0}] = std::make_shared<const HostValue>(std::move(size));
      ++i;
    }
    return value;
  }
  const clang::FunctionDecl* body = nullptr;
  if (constructor->hasBody(body) && !in_system_header(*constructor) && !constructor->isDependentContext()) {
    const HostPlace place = new_place("", line_of(construction));
    HostValue empty;
    empty.kind = Kind::record;
    memory_.store(place, std::move(empty));
    std::vector<const clang::Expr*> arguments(construction->arg_begin(), construction->arg_end());
    follow(*constructor, arguments, place, nullptr, construction);
    return load(place);
  }
  HostValue value;
  value.kind = Kind::record;
  std::vector<HostValue> arguments;
  for (const clang::Expr* argument : construction->arguments()) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    if (argument->isGLValue()) {
      const auto place = place_of(argument);
      arguments.push_back(place ? load(*place) : unknown_of(argument));
    } else {
      arguments.push_back(evaluate(argument));
    }
  }
  if (is_container(record)) {
    if (arguments.empty())
      value.members[container_size] = std::make_shared<const HostValue>(HostValue::of(0));
    else if (construction->getArg(0)->getType()->isIntegralOrEnumerationType())
      value.members[container_size] = std::make_shared<const HostValue>(arguments[0]);
    else if (arguments[0].is(Kind::array))
      value.members[container_size] = std::make_shared<const HostValue>(
          HostValue::of(static_cast<std::int64_t>(arguments[0].members.size())));
    return value;
  }
  // std::function and its like hold what they are made of.
  if (arguments.size() == 1 && (arguments[0].is(Kind::closure) || arguments[0].is(Kind::function)))
    return arguments[0];
  if (constructor->isTrivial() && !construction->requiresZeroInitialization()) return unknown({});
  value.whole = construction->requiresZeroInitialization();
  return value;
}

HostValue HostInterpreter::evaluate_new(const clang::CXXNewExpr* expression) {
  const HostPlace place = new_place("", line_of(expression));
  HostValue value;
  value.kind = Kind::pointer;
  value.place = place;
  if (expression->isArray()) {
    value.into_array = true;
    const auto size = expression->getArraySize();
    const auto count = size && *size ? expression_of_value(evaluate(*size)) : std::nullopt;
    const clang::QualType type = expression->getAllocatedType();
    const bool sized = !type->isIncompleteType() && !type->isDependentType();
    const auto bytes = sized ? static_cast<std::int64_t>(context_.getTypeSizeInChars(type).getQuantity()) : 1;
    objects_[static_cast<std::size_t>(place.object)].bytes =
        count ? product_of(bytes, *count) : Expression(0);
    return value;
  }
  if (const clang::Expr* init = expression->getInitializer()) memory_.store(place, evaluate(init));
  return value;
}

}  // namespace warptime::compiling
