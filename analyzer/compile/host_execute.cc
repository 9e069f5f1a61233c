// Statements of host code, and paths that part and meet.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

using Kind = HostValue::Kind;
using Op = Expression::Operator;

}  // namespace

HostInterpreter::HostInterpreter(clang::ASTContext& context, InputOf input_of,
                                 const std::set<std::string>& ambiguous_kernels,
                                 const std::set<const clang::FunctionDecl*>& launching)
    : context_(context),
      input_of_(std::move(input_of)),
      ambiguous_kernels_(ambiguous_kernels),
      launching_(launching) {
  emissions_.push_back({});
  symbols_.add({});  // of values that were never set
}

void HostInterpreter::run(const clang::FunctionDecl& root) {
  if (!can_follow(root)) return;
  memory_ = HostMemory();
  std::optional<HostPlace> this_place;
  if (llvm::isa<clang::CXXMethodDecl>(root) && llvm::cast<clang::CXXMethodDecl>(root).isInstance())
    this_place = new_place("", 0);
  const clang::FunctionDecl* definition = nullptr;
  root.hasBody(definition);
  Frame frame;
  frame.function = definition;
  frame.this_place = this_place;
  const clang::SourceManager& sources = context_.getSourceManager();
  for (const clang::ParmVarDecl* parameter : definition->parameters())
    frame.variables[parameter->getCanonicalDecl()] =
        new_place(parameter->getNameAsString(),
                  static_cast<int>(sources.getExpansionLineNumber(parameter->getLocation())));
  for (const auto& [parameter, place] : frame.variables)
    objects_[static_cast<std::size_t>(place.object)].origin =
        fmt::format("argument of `{}`", definition->getNameAsString());
  followed_.insert(definition->getCanonicalDecl());
  if (definition->isMain())
    for (const auto& [parameter, place] : frame.variables)
      objects_[static_cast<std::size_t>(place.object)].input = true;
  frames_.push_back(std::move(frame));
  std::vector<HostStep> steps = collect([&] { execute(definition->getBody()); });
  emit_all(std::move(steps));
  frames_.pop_back();
  ended_ = false;
  if (exhausted_)
    note_unread(definition->getBody(),
                "the host code takes more work to read than is allowed: launches may be missing");
}

bool HostInterpreter::followed(const clang::FunctionDecl& function) const {
  return followed_.count(function.getCanonicalDecl()) > 0;
}

HostProgram HostInterpreter::take() {
  program_.steps = std::move(emissions_.back().steps);
  emissions_.back().steps.clear();
  symbols_.finish(program_);
  return std::move(program_);
}

HostInterpreter::Flow HostInterpreter::execute(const clang::Stmt* statement) {
  if (!statement || !spend()) return Flow::normal;
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const clang::Stmt* one : compound->body())
      if (const Flow flow = execute(one); flow != Flow::normal) return flow;
    return Flow::normal;
  }
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
    evaluate(expression);
    return std::exchange(ended_, false) ? Flow::exited : Flow::normal;
  }
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* one : declaration->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(one)) declare(variable);
    return std::exchange(ended_, false) ? Flow::exited : Flow::normal;
  }
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(statement)) return execute_if(branch);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(statement)) {
    if (const Flow flow = execute(loop->getInit()); flow != Flow::normal) return flow;
    return execute_loop({loop, loop->getConditionVariableDeclStmt(), loop->getCond(), loop->getInc(),
                         loop->getBody(), false});
  }
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(statement))
    return execute_loop(
        {loop, loop->getConditionVariableDeclStmt(), loop->getCond(), nullptr, loop->getBody(), false});
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(statement))
    return execute_loop({loop, nullptr, loop->getCond(), nullptr, loop->getBody(), true});
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) return execute_range(loop);
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(statement)) return execute_switch(choice);
  if (const auto* result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
    execute_return(result);
    return std::exchange(ended_, false) ? Flow::exited : Flow::returned;
  }
  if (llvm::isa<clang::BreakStmt>(statement)) return Flow::broke;
  if (llvm::isa<clang::ContinueStmt>(statement)) return Flow::continued;
  if (const auto* label = llvm::dyn_cast<clang::LabelStmt>(statement)) return execute(label->getSubStmt());
  if (const auto* label = llvm::dyn_cast<clang::SwitchCase>(statement)) return execute(label->getSubStmt());
  if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(statement))
    return execute(attributed->getSubStmt());
  if (const auto* attempt = llvm::dyn_cast<clang::CXXTryStmt>(statement))
    return execute(attempt->getTryBlock());
  return Flow::normal;
}

void HostInterpreter::declare(const clang::VarDecl* variable) {
  const clang::VarDecl* key = variable->getCanonicalDecl();
  if (variable->isStaticLocal() || variable->hasExternalStorage()) {
    place_of_variable(variable);
    return;
  }
  const clang::Expr* init = variable->getInit();
  const clang::QualType type = variable->getType();
  if (type->isReferenceType() && init) {
    if (const auto place = place_of(init)) {
      frames_.back().variables[key] = *place;
      return;
    }
  }
  const int line =
      static_cast<int>(context_.getSourceManager().getExpansionLineNumber(variable->getLocation()));
  const HostPlace place = new_place(variable->getNameAsString(), line);
  if (init && !init->isValueDependent()) {
    const HostValue value = evaluate(init);
    HostValue fitting = converted(value, type.getNonReferenceType());
    if (fitting.is(Kind::unknown) && !value.is(Kind::unknown)) fitting = unknown_of(init);
    frames_.back().variables[key] = place;
    store(place, std::move(fitting));
  }
  frames_.back().variables[key] = place;
}

void HostInterpreter::execute_return(const clang::ReturnStmt* statement) {
  const clang::Expr* expression = statement->getRetValue();
  if (!expression) return;
  HostValue value;
  if (expression->isGLValue()) {
    const auto place = place_of(expression);
    value.kind = Kind::pointer;
    if (place)
      value.place = *place;
    else
      value = unknown_of(expression);
  } else {
    value = evaluate(expression);
    const HostValue fitting = converted(value, frames_.back().function->getReturnType());
    value = fitting.is(Kind::unknown) && !value.is(Kind::unknown) ? unknown_of(expression) : fitting;
  }
  frames_.back().result = std::move(value);
}

HostInterpreter::Flow HostInterpreter::execute_if(const clang::IfStmt* statement) {
  if (statement->getInit()) execute(statement->getInit());
  if (statement->getConditionVariableDeclStmt()) execute(statement->getConditionVariableDeclStmt());
  const HostValue condition = evaluate(statement->getCond());
  if (std::exchange(ended_, false)) return Flow::exited;
  if (const auto truth = decided(condition))
    return execute(*truth ? statement->getThen() : statement->getElse());
  const HostMemory before = memory_;
  spend(static_cast<std::int64_t>(before.objects().size()));
  ++undecided_;
  const std::optional<HostValue> result = std::exchange(frames_.back().result, std::nullopt);
  std::pair<Flow, Flow> flows{Flow::normal, Flow::normal};
  std::vector<HostStep> then_steps = collect([&] { flows.first = execute(statement->getThen()); });
  const std::optional<HostValue> then_result = std::exchange(frames_.back().result, std::nullopt);
  HostMemory then_memory = std::exchange(memory_, before);
  std::vector<HostStep> else_steps = collect([&] { flows.second = execute(statement->getElse()); });
  const std::optional<HostValue> else_result = std::exchange(frames_.back().result, result);
  HostMemory else_memory = std::move(memory_);
  --undecided_;
  return join(condition, text_of(statement->getCond()), line_of(statement), flows, std::move(then_memory),
              std::move(else_memory), std::move(then_steps), std::move(else_steps),
              {then_result, else_result});
}

Expression HostInterpreter::readable_condition(const HostValue& condition, const std::string& source,
                                               int line) {
  const auto test = expression_of_value(condition);
  constexpr std::uint64_t longest = 60;
  if (test && symbols_.is_readable(*test) && test->size() < longest) return *test;
  // One and the same parameter for both paths.
  HostSymbol symbol;
  symbol.name = fmt::format("if_line_{}", line);
  symbol.source = fmt::format("1 where `{}` holds, else 0", source);
  symbol.line = line;
  if (!frames_.empty() && frames_.back().function)
    symbol.file = file_of(frames_.back().function->getLocation());
  symbol.typical = 1;
  symbol.variable = true;
  return HostSymbols::expression(symbols_.add(std::move(symbol)));
}

HostInterpreter::Flow HostInterpreter::join(
    const HostValue& condition, std::string source, int line, std::pair<Flow, Flow> flows,
    HostMemory then_memory, HostMemory else_memory, std::vector<HostStep> then_steps,
    std::vector<HostStep> else_steps, std::pair<std::optional<HostValue>, std::optional<HostValue>> results) {
  const auto equal_steps = [&] { return then_steps.empty() && else_steps.empty(); };
  // A path that ends the program is not the one that anybody wants timed.
  if (flows.first == Flow::exited && flows.second != Flow::exited) {
    memory_ = std::move(else_memory);
    if (results.second) frames_.back().result = results.second;
    emit_all(std::move(else_steps));
    return flows.second;
  }
  if (flows.second == Flow::exited && flows.first != Flow::exited) {
    memory_ = std::move(then_memory);
    if (results.first) frames_.back().result = results.first;
    emit_all(std::move(then_steps));
    return flows.first;
  }
  const auto emit_both = [&] {
    if (equal_steps()) return;
    const Expression test = readable_condition(condition, source, line);
    emit_if(test, then_steps, line);
    emit_if(negation_of(test), else_steps, line);
  };
  if (flows.first == flows.second) {
    emit_both();
    memory_ = merged(then_memory, else_memory, condition);
    if (results.first && results.second) {
      frames_.back().result = merged(*results.first, *results.second, condition, HostPlace());
    } else if (results.first || results.second) {
      frames_.back().result = results.first ? results.first : results.second;
    }
    return flows.first;
  }
  // One path goes on, the other leaves: the loop's body, the loop, or the function.
  const bool then_leaves = flows.first != Flow::normal;
  if (then_leaves && flows.second != Flow::normal) {  // both leave, in different ways
    emit_both();
    memory_ = merged(then_memory, else_memory, condition);
    frames_.back().result = results.first ? results.first : results.second;
    return flows.first == Flow::returned ? flows.second : flows.first;
  }
  const Flow leaving = then_leaves ? flows.first : flows.second;
  std::vector<HostStep>& left = then_leaves ? then_steps : else_steps;
  std::vector<HostStep>& rest = then_leaves ? else_steps : then_steps;
  const auto& left_result = then_leaves ? results.first : results.second;
  if (leaving == Flow::broke && !loops_.empty())
    loops_.back().broken.push_back(then_leaves ? then_memory : else_memory);
  if (leaving == Flow::continued && !loops_.empty()) {
    loops_.back().continued.push_back(
        {then_leaves ? std::move(then_memory) : std::move(else_memory), condition, then_leaves});
  }
  memory_ = then_leaves ? std::move(else_memory) : std::move(then_memory);
  if (leaving == Flow::returned && left_result) {
    // From within a loop it may be any iteration's.
    if (loops_.size() > frames_.back().loops) {
      frames_.back().early_results.emplace_back(HostSymbols::expression(unknown({}).id), unknown({}));
    } else if (const auto test = expression_of_value(condition))
      frames_.back().early_results.emplace_back(then_leaves ? *test : negation_of(*test), *left_result);
  }
  if (leaving == Flow::broke && !loops_.empty()) {
    Loop& loop = loops_.back();
    loop.data_break = true;
    loop.break_source = source;
    const auto leaves = expression_of_value(condition);
    if (loop.breaks++ == 0 && leaves && left.empty() && emissions_.size() == loop.level &&
        emissions_.back().steps.empty())
      loop.stays = then_leaves ? negation_of(*leaves) : *leaves;
  }
  // Of a path that leaves at once, having done nothing: the other one is what happens.
  if (left.empty() && leaving != Flow::continued) {
    emit_all(std::move(rest));
    return Flow::normal;
  }
  const Expression test = readable_condition(condition, source, line);
  const Expression leaves = then_leaves ? test : negation_of(test);
  emit_if(leaves, std::move(left), line);
  if (leaving == Flow::broke) {
    emit_all(std::move(rest));
    return Flow::normal;
  }
  Emission guarded;
  guarded.guard = negation_of(leaves);
  guarded.steps = std::move(rest);
  emissions_.push_back(std::move(guarded));
  return Flow::normal;
}

// Each label starts a path that runs to its break; paths of an undecided switch are alternatives.
HostInterpreter::Flow HostInterpreter::execute_switch(const clang::SwitchStmt* statement) {
  if (statement->getInit()) execute(statement->getInit());
  if (statement->getConditionVariableDeclStmt()) execute(statement->getConditionVariableDeclStmt());
  const HostValue value = evaluate(statement->getCond());
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(statement->getBody());
  if (!body) return Flow::normal;
  struct Label {
    std::size_t at = 0;
    std::vector<std::int64_t> values;
    bool otherwise = false;
  };
  std::vector<const clang::Stmt*> statements(body->body_begin(), body->body_end());
  std::vector<Label> labels;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    Label label{i, {}, false};
    const clang::Stmt* one = statements[i];
    while (const auto* labelled = llvm::dyn_cast<clang::SwitchCase>(one)) {
      if (const auto* named = llvm::dyn_cast<clang::CaseStmt>(labelled)) {
        const HostValue constant = evaluate(named->getLHS());
        if (constant.is_known()) label.values.push_back(constant.expression.integer_value());
      } else {
        label.otherwise = true;
      }
      one = labelled->getSubStmt();
    }
    if (!label.values.empty() || label.otherwise) labels.push_back(std::move(label));
  }
  const auto run_from = [&](std::size_t at) {
    for (std::size_t i = at; i < statements.size(); ++i) {
      const Flow flow = execute(statements[i]);
      if (flow == Flow::broke) return Flow::normal;
      if (flow != Flow::normal) return flow;
    }
    return Flow::normal;
  };
  const auto test_of = [&](const Label& label) -> std::optional<Expression> {
    const auto expression = expression_of_value(value);
    if (!expression) return std::nullopt;
    Expression test = 0;
    for (const std::int64_t one : label.values)
      test = combination_of(Op::logical_or, test, combination_of(Op::equal, *expression, one));
    return test;
  };
  if (value.is_known()) {
    const Label* chosen = nullptr;
    for (const Label& label : labels) {
      if (std::find(label.values.begin(), label.values.end(), value.expression.integer_value()) !=
          label.values.end())
        chosen = &label;
    }
    for (const Label& label : labels)
      if (!chosen && label.otherwise) chosen = &label;
    return chosen ? run_from(chosen->at) : Flow::normal;
  }
  // Undecided: as a chain of if and else, the default last.
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.otherwise < b.otherwise; });
  const std::string source = text_of(statement->getCond());
  std::function<Flow(std::size_t)> chain = [&](std::size_t i) -> Flow {
    if (i == labels.size()) return Flow::normal;
    if (labels[i].otherwise) return run_from(labels[i].at);
    const auto test = test_of(labels[i]);
    HostValue condition = test ? HostValue::of(*test) : unknown_of(statement->getCond());
    const HostMemory before = memory_;
    spend(static_cast<std::int64_t>(before.objects().size()));
    ++undecided_;
    const std::optional<HostValue> result = std::exchange(frames_.back().result, std::nullopt);
    std::pair<Flow, Flow> flows{Flow::normal, Flow::normal};
    std::vector<HostStep> then_steps = collect([&] { flows.first = run_from(labels[i].at); });
    const std::optional<HostValue> then_result = std::exchange(frames_.back().result, std::nullopt);
    HostMemory then_memory = std::exchange(memory_, before);
    std::vector<HostStep> else_steps = collect([&] { flows.second = chain(i + 1); });
    const std::optional<HostValue> else_result = std::exchange(frames_.back().result, result);
    HostMemory else_memory = std::move(memory_);
    --undecided_;
    const int line = static_cast<int>(line_of(statements[labels[i].at]));
    const std::string shown = labels[i].values.empty()
                                  ? source
                                  : fmt::format("{} == {}", source, fmt::join(labels[i].values, " or "));
    return join(condition, shown, line, flows, std::move(then_memory), std::move(else_memory),
                std::move(then_steps), std::move(else_steps), {then_result, else_result});
  };
  return chain(0);
}

// Over an array of known elements: each of them. Over anything else: as often as it has elements.
HostInterpreter::Flow HostInterpreter::execute_range(const clang::CXXForRangeStmt* statement) {
  const clang::VarDecl* variable = statement->getLoopVariable();
  const clang::Expr* range = statement->getRangeInit();
  if (!variable || !range) return Flow::normal;
  const auto place = place_of(range);
  HostValue whole = place ? load(*place) : unknown_of(range);
  if (whole.is(Kind::record) && whole.members.size() == 1 && whole.members.begin()->second->is(Kind::array))
    whole = *whole.members.begin()->second;
  constexpr std::size_t most_elements = 1024;
  const clang::VarDecl* key = variable->getCanonicalDecl();
  std::optional<Expression> size;
  if (const auto* array = context_.getAsConstantArrayType(range->getType().getNonReferenceType()))
    size = static_cast<std::int64_t>(array->getSize().getLimitedValue());
  if (whole.is(Kind::array) && whole.members.size() <= most_elements && !whole.members.empty() &&
      whole.members.begin()->first.index >= 0) {
    for (const auto& [part, member] : std::map(whole.members)) {
      const HostPlace element = new_place(variable->getNameAsString(), line_of(statement));
      frames_.back().variables[key] = element;
      memory_.store(element, *member);
      loops_.push_back({});
      const Flow flow = execute(statement->getBody());
      join_continued();
      loops_.pop_back();
      if (flow == Flow::broke) break;
      if (flow == Flow::returned || flow == Flow::exited) return flow;
    }
    return Flow::normal;
  }
  if (!size && place) {
    HostPlace count = *place;
    count.parts.push_back({nullptr, -1});
    if (const HostValue* known = memory_.find(count)) size = expression_of_value(*known);
  }
  frames_.back().variables[key] = new_place(variable->getNameAsString(), line_of(statement));
  loops_.push_back({});
  Flow flow = Flow::normal;
  std::vector<HostStep> steps = collect([&] { flow = execute(statement->getBody()); });
  join_continued();
  loops_.pop_back();
  if (steps.empty()) return flow == Flow::exited ? Flow::normal : Flow::normal;
  if (!size) {
    HostSymbol symbol;
    symbol.name = fmt::format("iterations_{}", line_of(statement));
    symbol.source = fmt::format("the number of elements of `{}`", text_of(range));
    symbol.file = file_of(statement->getBeginLoc());
    symbol.line = line_of(statement);
    symbol.variable = true;
    size = HostSymbols::expression(symbols_.add(std::move(symbol)));
  }
  HostStep group;
  group.repeat = *size;
  group.steps = std::move(steps);
  group.file = file_of(statement->getBeginLoc());
  group.line = line_of(statement);
  emissions_.back().steps.push_back(std::move(group));
  return Flow::normal;
}

}  // namespace warptime::compiling
