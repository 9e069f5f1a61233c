#include "analyzer/compile/host_parse.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "analyzer/compile/clang_arguments.h"
#include "analyzer/compile/clang_signatures.h"
#include "analyzer/compile/clang_sources.h"
#include "analyzer/compile/header_parts.h"
#include "analyzer/compile/host_interpreter.h"

namespace warptime::compiling {

namespace {

// The file that includes the sources, where there are several.
constexpr const char* joined_sources = "warptime-plan.cu";

// What a function of the sources does, for finding where to start and what was missed.
struct HostFunction {
  const clang::FunctionDecl* declaration = nullptr;
  bool launches = false;  // or copies, itself
  std::set<const clang::FunctionDecl*> uses;
};

// `<<<` in the sources: a launch that clang could make no sense of leaves no trace in the syntax tree.
using LaunchTokens = std::vector<clang::SourceLocation>;

struct LaunchSite {
  clang::SourceLocation location;
  clang::SourceLocation end;
  const clang::FunctionDecl* function = nullptr;
  std::string text;
};

class HostFunctionFinder : public clang::RecursiveASTVisitor<HostFunctionFinder> {
 public:
  explicit HostFunctionFinder(clang::ASTContext& context) : context_(context) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }

  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    return within(function, [&] { return Base::TraverseFunctionDecl(function); });
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* function) {
    return within(function, [&] { return Base::TraverseCXXMethodDecl(function); });
  }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* function) {
    return within(function, [&] { return Base::TraverseCXXConstructorDecl(function); });
  }
  bool TraverseCXXDestructorDecl(clang::CXXDestructorDecl* function) {
    return within(function, [&] { return Base::TraverseCXXDestructorDecl(function); });
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr* call) {
    note_launch(*call, *call->getCallee());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const std::string name = callee ? callee->getNameAsString() : "";
    if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel")
      note_launch(*call, *call->getArg(0));
    if (name.starts_with("cudaMemcpy")) function().launches = true;
    if (callee) function().uses.insert(callee->getCanonicalDecl());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* binary) {
    if (binary->isAssignmentOp()) note_set(*binary->getLHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* unary) {
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf)
      note_set(*unary->getSubExpr());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (const auto* used = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()))
      function().uses.insert(used->getCanonicalDecl());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* construction) {
    function().uses.insert(construction->getConstructor()->getCanonicalDecl());
    return true;
  }

  const std::map<const clang::FunctionDecl*, HostFunction>& functions() const { return functions_; }
  // Global variables that some function sets, or may set through a pointer.
  const std::set<const clang::VarDecl*>& set_globals() const { return set_globals_; }
  const std::vector<LaunchSite>& launches() const { return launches_; }
  // Whether the last function that begins before this place is device code: kernels launch kernels, too.
  bool is_in_device_code(clang::SourceLocation place) const {
    auto after = definitions_.upper_bound(position(place));
    if (after == definitions_.begin()) return false;
    --after;
    return after->first.first == position(place).first && after->second;
  }
  // Names of kernels that stand for several ones.
  std::set<std::string> ambiguous_kernels() const {
    std::set<std::string> names;
    for (const auto& [name, symbols] : kernels_)
      if (symbols.size() > 1) names.insert(name);
    return names;
  }

 private:
  using Base = clang::RecursiveASTVisitor<HostFunctionFinder>;

  template <class Traverse>
  bool within(clang::FunctionDecl* function, Traverse traverse) {
    const bool lambda = llvm::isa<clang::CXXMethodDecl>(function) &&
                        llvm::cast<clang::CXXMethodDecl>(function)->getParent()->isLambda();
    if (lambda) return traverse();
    if (function->isThisDeclarationADefinition())
      definitions_[position(function->getBeginLoc())] = is_device_alone(*function);
    if (function->hasAttr<clang::CUDAGlobalAttr>() && !function->isDependentContext() &&
        function->isThisDeclarationADefinition())

      kernels_[kernel_name(*function, context_)].insert(kernel_symbol(*function, context_));
    if (!function->doesThisDeclarationHaveABody()) return traverse();
    const clang::FunctionDecl* outer = std::exchange(current_, function);
    this->function().declaration = function;
    const bool result = traverse();
    current_ = outer;
    return result;
  }

  std::pair<unsigned, unsigned> position(clang::SourceLocation location) const {
    const auto [file, offset] = context_.getSourceManager().getDecomposedExpansionLoc(location);
    return {file.getHashValue(), offset};
  }

  HostFunction& function() { return functions_[current_ ? current_->getCanonicalDecl() : nullptr]; }

  void note_set(const clang::Expr& target) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(target.IgnoreParenCasts());
    const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    if (variable && variable->hasGlobalStorage() && !variable->isStaticLocal())
      set_globals_.insert(variable->getCanonicalDecl());
  }

  void note_launch(const clang::Expr& launch, const clang::Expr& kernel) {
    if (current_ && is_device_alone(*current_)) return;  // a kernel that launches kernels
    function().launches = true;
    const clang::Expr* callee = kernel.IgnoreParenCasts();
    std::string name = "a kernel";
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(callee))
      name = "`" + reference->getDecl()->getNameAsString() + "`";
    if (const auto* lookup = llvm::dyn_cast<clang::OverloadExpr>(callee))
      name = "`" + lookup->getName().getAsString() + "`";
    launches_.push_back({launch.getBeginLoc(), launch.getEndLoc(), current_, name});
  }

  clang::ASTContext& context_;
  const clang::FunctionDecl* current_ = nullptr;
  std::map<const clang::FunctionDecl*, HostFunction> functions_;
  std::vector<LaunchSite> launches_;
  std::set<const clang::VarDecl*> set_globals_;
  std::map<std::pair<unsigned, unsigned>, bool>
      definitions_;  // by file and offset: whether it is device code
  std::map<std::string, std::set<std::string>> kernels_;
};

class HostReader : public clang::ASTConsumer {
 public:
  HostReader(const std::vector<HostSource>& sources, HostProgram& program, const LaunchTokens& tokens)
      : sources_(sources), program_(program), tokens_(tokens) {}

  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group)
      if (!is_from_system(*declaration)) declarations_.push_back(declaration);
    return true;
  }

  // Neither the bodies of device code, which are most of what some programs take to parse.
  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::FunctionDecl* function = declaration->getAsFunction();
    return is_from_system(*declaration) || (function && is_device_alone(*function));
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    HostFunctionFinder finder(context);
    for (clang::Decl* declaration : declarations_) finder.TraverseDecl(declaration);
    const std::set<std::string> ambiguous = finder.ambiguous_kernels();
    const std::set<const clang::FunctionDecl*> launching = launching_of(finder.functions());
    HostInterpreter interpreter(
        context, [this](clang::SourceLocation location) { return input_of(location); }, ambiguous, launching);
    const std::vector<const clang::FunctionDecl*> roots = roots_of(finder.functions(), launching);
    const bool program = roots.size() == 1 && roots.front()->isMain();
    if (!program) interpreter.doubt(finder.set_globals());
    for (const clang::FunctionDecl* root : roots) interpreter.run(*root);
    std::vector<LaunchSite> missed;
    std::set<unsigned> seen;
    for (const LaunchSite& site : finder.launches())
      if (!interpreter.reached(site.location) && !(site.function && interpreter.followed(*site.function)) &&
          seen.insert(site.location.getRawEncoding()).second)
        missed.push_back(site);
    program_ = interpreter.take();
    for (const LaunchSite& site : missed) note_missed(site, program);
    note_not_parsed(finder);
  }

 private:
  bool is_from_system(const clang::Decl& declaration) const {
    return context_->getSourceManager().isInSystemHeader(declaration.getLocation());
  }

  using Functions = std::map<const clang::FunctionDecl*, HostFunction>;

  // Functions that launch or copy, themselves or through others.
  static std::set<const clang::FunctionDecl*> launching_of(const Functions& functions) {
    std::set<const clang::FunctionDecl*> launching;
    for (const auto& [key, function] : functions)
      if (function.launches) launching.insert(key);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [key, function] : functions) {
        const bool calls = std::any_of(function.uses.begin(), function.uses.end(),
                                       [&](const auto* one) { return launching.count(one) > 0; });
        if (calls && launching.insert(key).second) more = true;
      }
    }
    return launching;
  }

  // main(); or, without it or with one that launches nothing, each launching function that nobody calls.
  static std::vector<const clang::FunctionDecl*> roots_of(
      const Functions& functions, const std::set<const clang::FunctionDecl*>& launching) {
    std::set<const clang::FunctionDecl*> used;
    std::vector<const clang::FunctionDecl*> roots;
    for (const auto& [key, function] : functions) {
      if (function.declaration && function.declaration->isMain() && launching.count(key) > 0)
        return {function.declaration};
      for (const clang::FunctionDecl* one : function.uses)
        if (one != key) used.insert(one);
    }
    for (const auto& [key, function] : functions)
      if (function.declaration && launching.count(key) > 0 && used.count(key) == 0)
        roots.push_back(function.declaration);
    std::sort(roots.begin(), roots.end(), [](const auto* a, const auto* b) {
      return a->getLocation().getRawEncoding() < b->getLocation().getRawEncoding();
    });
    return roots;
  }

  void note_missed(const LaunchSite& site, bool program) {
    const clang::SourceManager& sources = context_->getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(site.location);
    Diagnostic warning;
    warning.severity = Severity::warning;
    warning.file = std::filesystem::path(sources.getFilename(place).str()).lexically_normal().string();
    warning.line = static_cast<int>(sources.getExpansionLineNumber(place));
    const std::string in = site.function ? fmt::format(" in `{}`", site.function->getNameAsString()) : "";
    warning.message =
        fmt::format("the launch of {}{} is not in the plan: {}", site.text, in,
                    program ? "no path from main() leads to it" : "no path that was read leads to it");
    program_.unread.push_back(std::move(warning));
  }

  void note_not_parsed(const HostFunctionFinder& finder) {
    const clang::SourceManager& sources = context_->getSourceManager();
    std::set<std::pair<std::string, unsigned>> noted;
    for (const clang::SourceLocation token : tokens_) {
      if (sources.isInSystemHeader(token) || finder.is_in_device_code(token)) continue;
      const clang::SourceLocation place = sources.getExpansionLoc(token);
      const unsigned line = sources.getExpansionLineNumber(place);
      const bool known =
          std::any_of(finder.launches().begin(), finder.launches().end(), [&](const LaunchSite& site) {
            return sources.getFileID(sources.getExpansionLoc(site.location)) == sources.getFileID(place) &&
                   sources.getExpansionLineNumber(site.location) <= line &&
                   line <= sources.getExpansionLineNumber(site.end);
          });
      Diagnostic warning;
      warning.severity = Severity::warning;
      warning.file = std::filesystem::path(sources.getFilename(place).str()).lexically_normal().string();
      warning.line = static_cast<int>(line);
      warning.message =
          "this launch is not in the plan: the compiler does not understand it, perhaps for want of a header";
      if (!known && noted.emplace(warning.file, line).second) program_.unread.push_back(std::move(warning));
    }
  }

  std::string input_of(clang::SourceLocation location) const {
    if (sources_.size() == 1) return sources_.front().file;
    const clang::SourceManager& sources = context_->getSourceManager();
    clang::SourceLocation place = sources.getExpansionLoc(location);
    while (true) {
      const clang::SourceLocation included = sources.getIncludeLoc(sources.getFileID(place));
      if (included.isInvalid()) break;
      if (sources.getFileID(included) == sources.getMainFileID()) {
        const std::size_t line = sources.getExpansionLineNumber(included);
        return sources_[std::min(line, sources_.size()) - 1].file;
      }
      place = included;
    }
    return sources_.front().file;
  }

  const std::vector<HostSource>& sources_;
  HostProgram& program_;
  const LaunchTokens& tokens_;
  clang::ASTContext* context_ = nullptr;
  std::vector<clang::Decl*> declarations_;
};

class HostAction : public clang::ASTFrontendAction {
 public:
  HostAction(const std::vector<HostSource>& sources, HostProgram& program)
      : sources_(sources), program_(program) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    ignore_debug_pragmas(compiler.getPreprocessor());
    compiler.getPreprocessor().setTokenWatcher([this](const clang::Token& token) {
      if (token.is(clang::tok::lesslessless)) tokens_.push_back(token.getLocation());
    });
    return std::make_unique<HostReader>(sources_, program_, tokens_);
  }

 private:
  const std::vector<HostSource>& sources_;
  HostProgram& program_;
  LaunchTokens tokens_;
};

// Where a token of three characters that begins at `at` ends, with blanks between the characters, as nvcc lets
// them stand; npos: there is no such token.
std::size_t end_of_spaced(const std::string& text, std::size_t at, char character) {
  for (int number = 0; number < 3; ++number) {
    if (number > 0) at = text.find_first_not_of(" \t", at);
    if (at == std::string::npos || at >= text.size() || text[at] != character) return std::string::npos;
    ++at;
  }
  return at;
}

// Writes the three characters one behind the other: nothing after them moves.
void join_spaced(std::string& text, std::size_t at, std::size_t end) {
  const char character = text[at];
  for (std::size_t i = at; i < end; ++i) text[i] = i < at + 3 ? character : ' ';
}

// nvcc also reads `kernel<< <grid, block>> >(…)` as a launch, as some formatters leave it; clang does not.
// `< < <` cannot be anything else, but `> > >` can end template arguments: only that of a launch is joined.
std::string with_joined_launches(std::string text) {
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::size_t open_end = end_of_spaced(text, at, '<');
    if (open_end == std::string::npos) {
      ++at;
      continue;
    }
    join_spaced(text, at, open_end);
    int depth = 0;
    for (at = open_end; at < text.size() && depth >= 0; ++at) {
      if (text[at] == '(') ++depth;
      if (text[at] == ')') --depth;
      const std::size_t end = depth == 0 ? end_of_spaced(text, at, '>') : std::string::npos;
      if (end == std::string::npos) continue;
      join_spaced(text, at, end);
      break;
    }
  }
  return text;
}

// Paths as the user named them, not as clang found them: ./a.cu is a.cu.
void name_files(std::vector<HostStep>& steps) {
  for (HostStep& step : steps) {
    step.file = std::filesystem::path(step.file).lexically_normal().string();
    name_files(step.steps);
  }
}

}  // namespace

HostProgram read_host(const std::vector<HostSource>& sources, ClangRequest request, Diagnostics& errors) {
  std::string text;
  if (sources.size() == 1) {
    request.file = sources.front().file;
    text = sources.front().text;
  } else {
    request.file = joined_sources;
    for (const HostSource& source : sources) text += fmt::format("#include \"{}\"\n", source.file);
  }
  request.text = text;
  const SourceTree tree = make_source_tree(request.file, request.text);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::IgnoringDiagConsumer ignored;
  {
    const auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
    clang::DiagnosticsEngine engine(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), options, &ignored,
                                    false);
    errors = make_invocation(*invocation, request, header_parts::all, tree, engine);
    if (!errors.empty()) return {};
  }
  invocation->getFrontendOpts().ProgramAction = clang::frontend::ParseSyntaxOnly;
  invocation->getFrontendOpts().SkipFunctionBodies = true;  // of system headers only: the reader decides
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getDependencyOutputOpts() = {};
  invocation->getDiagnosticOpts().ErrorLimit = 0;
  invocation->getLangOpts().SpellChecking = false;

  clang::CompilerInstance compiler;
  for (const HostSource& source : sources) {
    const std::string joined = with_joined_launches(source.text);
    if (joined != source.text)
      invocation->getPreprocessorOpts().addRemappedFile(
          source.file, llvm::MemoryBuffer::getMemBufferCopy(joined, source.file).release());
  }
  compiler.setInvocation(invocation);
  compiler.createDiagnostics(&ignored, /*ShouldOwnClient=*/false);
  // A header that is not there is an error like others, all of which are let pass.
  compiler.getDiagnostics().setFatalsAsError(true);
  compiler.createFileManager(tree.files);
  compiler.setVerboseOutputStream(llvm::nulls());
  HostProgram program;
  HostAction action(sources, program);
  compiler.ExecuteAction(action);
  name_files(program.steps);
  return program;
}

}  // namespace warptime::compiling
