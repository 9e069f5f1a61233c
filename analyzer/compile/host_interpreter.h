// Reads host code by interpreting clang's syntax tree, with symbols for what only a run would tell. See
// host_launches.h for what comes of it. Where a condition is undecided both paths are followed and their
// memories merged; a loop's body is followed once, with symbols for what it changes, and closed forms found
// for these (host_loops.cc); a call of a function of the source is followed into it.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compile/host_launches.h"
#include "analyzer/compile/host_roots.h"
#include "analyzer/compile/host_symbols.h"
#include "analyzer/compile/host_values.h"

namespace warptime::compiling {

class HostInterpreter {
 public:
  // `input_of`: the input, as the user named it, that a place of the source belongs to, also where a header
  // stands between.
  using InputOf = std::function<std::string(clang::SourceLocation)>;
  HostInterpreter(clang::ASTContext& context, InputOf input_of,
                  const std::set<std::string>& ambiguous_kernels,
                  const std::set<const clang::FunctionDecl*>& launching);

  // Where nobody can tell what runs before a root, these variables may have other values than at the start.
  void doubt(const std::set<const clang::VarDecl*>& globals) { doubted_ = globals; }
  // Adds what a call of `root` launches; its arguments are unknown.
  void run(const clang::FunctionDecl& root);
  // Whether the launch or call at this place was come by.
  bool reached(clang::SourceLocation location) const { return reached_.count(location.getRawEncoding()) > 0; }
  // Whether the function, or an instance of the template, was gone through.
  bool followed(const clang::FunctionDecl& function) const;
  HostProgram take();

 private:
  enum class Flow { normal, broke, continued, returned, exited };

  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    HostBindings variables;
    std::optional<HostPlace> this_place;
    std::vector<std::pair<Expression, HostValue>> early_results;  // returned where the condition holds
    std::optional<HostValue> result;
    std::size_t loops = 0;  // around the call
    int undecided = 0;      // branches around, of conditions that are undecided
  };

  struct Object {
    std::string name;
    int line = 0;
    std::optional<HostValue> initial;  // of globals
    std::optional<Expression> bytes;   // of allocated memory
    bool device = false;
    std::string origin;       // of what is in it before anything is stored: "argument of `run`"
    bool input = false;       // the command line, or what it points to
    int array = -1;           // in program_.arrays
    clang::QualType element;  // of allocated memory
  };

  struct Emission {
    std::vector<HostStep> steps;
    std::optional<Expression> guard;
  };

  // A path that leaves an iteration early, where nobody can tell whether it is taken.
  struct ContinuedPath {
    HostMemory memory;
    HostValue condition;
    bool where_true = true;  // it is taken where the condition holds
  };

  struct Loop {
    std::vector<ContinuedPath> continued;
    std::vector<HostMemory> broken;  // where it may be left by a `break`
    bool data_break = false;         // it may end before its condition says so
    std::string break_source;
    int breaks = 0;  // that data decide, …
    std::optional<Expression>
        stays;              // … and of one before all launches of an iteration: what must hold to stay
    std::size_t level = 0;  // of emissions_, in the body itself
  };

  struct LoopParts {
    const clang::Stmt* loop = nullptr;
    const clang::Stmt* declaration = nullptr;  // of a condition variable
    const clang::Expr* condition = nullptr;
    const clang::Expr* increment = nullptr;
    const clang::Stmt* body = nullptr;
    bool body_first = false;
  };

  struct WriteLog {
    int objects = 0;  // those that were there before
    std::set<HostPlace> places;
  };

  struct Carried;  // see host_loops.cc
  struct LoopReading;

  // ---- host_roots.cc: of an expression that is one, times and divided by numbers; nothing for others
  std::optional<Irrational> irrational_of(const clang::Expr* expression);
  std::optional<Irrational> irrational_of_two(const clang::BinaryOperator* binary);
  bool set_argument(Irrational& of, const clang::CallExpr* call);  // false: it is not known

  // ---- host_evaluate.cc
  HostValue evaluate(const clang::Expr* expression);
  HostValue evaluate_cast(const clang::CastExpr* cast);
  HostValue evaluate_unary(const clang::UnaryOperator* unary);
  HostValue evaluate_binary(const clang::BinaryOperator* binary);
  HostValue evaluate_logical(const clang::BinaryOperator* binary);
  HostValue evaluate_conditional(const clang::AbstractConditionalOperator* conditional);
  HostValue evaluate_list(const clang::InitListExpr* list);
  HostValue evaluate_children(const clang::Stmt* statement, const clang::Expr* as);
  HostValue arithmetic(clang::BinaryOperatorKind op, const HostValue& a, const HostValue& b,
                       const clang::Expr* expression);
  HostValue real_arithmetic(clang::BinaryOperatorKind op, const HostValue& a, const HostValue& b,
                            const clang::Expr* expression);
  HostValue pointer_arithmetic(clang::BinaryOperatorKind op, const HostValue& a, const HostValue& b,
                               const clang::Expr* expression);
  std::optional<HostPlace> place_of(const clang::Expr* expression);
  std::optional<HostPlace> dereferenced(const HostValue& pointer);
  std::optional<HostPlace> element_of(const HostValue& pointer, const HostValue& index);
  HostPlace place_of_variable(const clang::VarDecl* variable);
  std::optional<bool> decided(const HostValue& condition) const;
  HostValue converted(HostValue value, clang::QualType type);
  HostValue unknown_of(const clang::Expr* expression);
  HostValue unknown(HostSymbol symbol);
  std::optional<Expression> expression_of_value(const HostValue& value) const;
  std::optional<Expression> whole_of(const HostValue& value) const;  // also of a real number that is whole
  static std::optional<HostValue> real_of(const HostValue& value);
  static std::optional<double> number_of(const HostValue& value);
  static HostValue value_of_number(double number);

  // ---- memory
  int new_object(std::string name, int line);
  HostPlace new_place(std::string name, int line);
  HostValue load(const HostPlace& place);
  void store(const HostPlace& place, HostValue value);
  void forget(const HostPlace& place, const std::string& source, int line);  // something unknown was stored
  void log_write(const HostPlace& place, const HostValue* value);
  std::string name_of(const HostPlace& place) const;
  HostMemory merged(const HostMemory& a, const HostMemory& b, const HostValue& condition);
  HostValue merged(const HostValue& a, const HostValue& b, const HostValue& condition,
                   const HostPlace& place);

  // ---- host_calls.cc
  HostValue evaluate_call(const clang::CallExpr* call);
  HostValue evaluate_construction(const clang::CXXConstructExpr* construction);
  HostValue evaluate_new(const clang::CXXNewExpr* expression);
  HostValue follow(const clang::FunctionDecl& function, const std::vector<const clang::Expr*>& arguments,
                   std::optional<HostPlace> this_place, const HostBindings* around, const clang::Expr* site);
  bool can_follow(const clang::FunctionDecl& function) const;
  std::optional<HostValue> library_call(const clang::FunctionDecl* function, const std::string& name,
                                        const clang::CallExpr* call);
  std::optional<HostValue> math_call(const std::string& name, const clang::CallExpr* call);
  std::optional<HostValue> cuda_call(const std::string& name, const clang::CallExpr* call);
  std::optional<HostValue> container_call(const clang::CXXMemberCallExpr* call);
  HostValue unfollowed_call(const clang::FunctionDecl* function, const clang::CallExpr* call);
  void allocate(const HostValue& target, const Expression* bytes, bool device, const clang::Expr* argument,
                const clang::CallExpr* call);
  void copy(const clang::CallExpr* call, unsigned to, unsigned from, const HostValue& bytes,
            std::optional<int> kind);

  // ---- host_emit.cc
  void launch(const clang::CUDAKernelCallExpr* call);
  void launch_by_call(const clang::CallExpr* call);
  void emit_launch(const clang::FunctionDecl* kernel, const HostValue& grid, const HostValue& block,
                   const HostValue& shared, const std::vector<HostValue>& arguments, const clang::Expr* site);
  Dimensions dimensions_of(const HostValue& value, const char* what, const clang::Expr* site);
  std::optional<Expression> array_of(const HostValue& pointer);
  // Of a kernel's parameter: what begins at this byte.
  struct PartOfArgument {
    std::string name;
    std::int64_t offset = 0;
  };
  void pass_argument(const PartOfArgument& part, clang::QualType type, const HostValue& value,
                     HostLaunch& launch);
  void pass_fields(const PartOfArgument& part, const clang::RecordDecl& record, const HostValue& value,
                   HostLaunch& launch);
  void emit(HostStep step, const clang::Expr* site);
  template <class Work>
  std::vector<HostStep> collect(Work work) {
    const std::size_t depth = emissions_.size();
    emissions_.push_back({});
    work();
    close_guards(depth + 1);
    std::vector<HostStep> steps = std::move(emissions_.back().steps);
    emissions_.pop_back();
    return steps;
  }
  void emit_all(std::vector<HostStep> steps);
  void emit_if(const Expression& condition, std::vector<HostStep> steps, int line);
  void close_guards(std::size_t depth);

  // ---- host_execute.cc
  Flow execute(const clang::Stmt* statement);
  Flow execute_if(const clang::IfStmt* statement);
  Flow execute_switch(const clang::SwitchStmt* statement);
  Flow execute_range(const clang::CXXForRangeStmt* statement);
  void execute_return(const clang::ReturnStmt* statement);
  void declare(const clang::VarDecl* variable);
  Flow join(const HostValue& condition, std::string source, int line, std::pair<Flow, Flow> flows,
            HostMemory then_memory, HostMemory else_memory, std::vector<HostStep> then_steps,
            std::vector<HostStep> else_steps,
            std::pair<std::optional<HostValue>, std::optional<HostValue>> results);
  Expression readable_condition(const HostValue& condition, const std::string& source, int line);

  // ---- host_loops.cc
  Flow execute_loop(const LoopParts& parts);
  LoopReading read_once(const LoopParts& parts, const HostMemory& entry);
  void find_closed_forms(LoopReading& reading) const;
  void join_continued();
  std::optional<Flow> unroll(const LoopParts& parts, const HostMemory& entry, const LoopReading& reading);
  void assigned_places(const clang::Stmt* statement, std::set<HostPlace>& places);
  std::optional<HostPlace> plain_place(const clang::Expr* expression);
  bool known_before(const std::vector<HostStep>& steps, const LoopReading& reading) const;
  bool same_each_time(const Expression& expression, const LoopReading& reading) const;

  // ---- places in the source
  std::string text_of(const clang::Stmt* statement) const;
  int line_of(const clang::Stmt* statement) const;
  std::string file_of(clang::SourceLocation location) const;
  bool in_system_header(const clang::Decl& declaration) const;
  void note_unread(const clang::Stmt* site, std::string message);
  HostValue bounded(HostValue value, const std::string& name, const clang::Stmt* site);
  bool spend(std::int64_t work = 1);  // false: the work is over what is allowed

  clang::ASTContext& context_;
  InputOf input_of_;
  const std::set<std::string>& ambiguous_kernels_;
  const std::set<const clang::FunctionDecl*>&
      launching_;  // functions that launch, themselves or through others
  HostSymbols symbols_;
  HostProgram program_;
  HostMemory memory_;
  std::vector<Object> objects_;
  std::vector<Frame> frames_;
  std::vector<Emission> emissions_;
  std::vector<Loop> loops_;
  std::vector<WriteLog*> logs_;
  HostBindings globals_;
  std::set<const clang::VarDecl*> doubted_;
  std::map<std::pair<HostPlace, int>, int> leaves_;  // symbols of what was never stored
  std::map<int, int> leaf_objects_;                  // symbol of such a leaf -> its object
  std::map<int, int> pointees_;                      // symbol of a pointer -> the object that it points to
  std::set<const clang::FunctionDecl*> followed_;
  std::set<unsigned> reached_;
  std::set<std::pair<int, std::string>> noted_;
  bool ended_ = false;  // a value that leaves the function was called: exit()
  std::int64_t work_ = 0;
  bool exhausted_ = false;
  int undecided_ = 0;
};

}  // namespace warptime::compiling
