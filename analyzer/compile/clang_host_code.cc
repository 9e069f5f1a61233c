#include "analyzer/compile/clang_host_code.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaConsumer.h>
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <map>

#include "analyzer/compile/clang_signatures.h"

namespace warptime::compiling {

namespace {

bool has_device_side(const clang::Decl& declaration) {
  return declaration.hasAttr<clang::CUDADeviceAttr>() || declaration.hasAttr<clang::CUDAGlobalAttr>() ||
         declaration.hasAttr<clang::CUDAConstantAttr>() || declaration.hasAttr<clang::CUDASharedAttr>();
}

bool is_static_assertion(unsigned id) {
  return id == clang::diag::err_static_assert_failed ||
         id == clang::diag::err_static_assert_requirement_failed;
}

const clang::RecordDecl* record_behind(clang::QualType type) {
  while (!type.isNull()) {
    const clang::Type* plain = type->getUnqualifiedDesugaredType();
    if (plain->isPointerType() || plain->isReferenceType()) {
      type = plain->getPointeeType();
    } else if (plain->isArrayType()) {
      type = clang::QualType(plain->getPointeeOrArrayElementType(), 0);
    } else {
      return plain->getAsRecordDecl();
    }
  }
  return nullptr;
}

}  // namespace

class HostCode::Judge {
 public:
  clang::Sema* sema = nullptr;
  clang::CompilerInstance* compiler = nullptr;
  std::vector<const clang::Decl*> declarations;
  std::vector<std::string> missing;
  SourceInsertions helpful_insertions;
  std::set<std::string> names_called_from_device;
  std::set<std::string> kernels_launched_from_device;

  // clang names the function in an error, and says where it is in a note.
  void observe(const clang::Diagnostic& diagnostic) {
    if (diagnostic.getID() == clang::diag::note_ovl_candidate_bad_target) {
      wanted_.insert(diagnostic.getLocation());
      calls_.emplace(diagnostic.getLocation(), call_);
    } else if (diagnostic.getID() == clang::diag::err_ovl_no_viable_function_in_call) {
      call_ = diagnostic.getLocation();
    } else if (diagnostic.getID() == clang::diag::note_cuda_ovl_candidate_target_mismatch) {
      specialized_.insert(diagnostic.getLocation());
    } else if (diagnostic.getID() == clang::diag::err_template_kw_missing) {
      insert_template(diagnostic.getLocation());
    } else if (diagnostic.getID() == clang::diag::err_typename_missing) {
      insert(diagnostic.getLocation(), "typename ");
    } else if (diagnostic.getID() == clang::diag::err_ref_bad_target && diagnostic.getNumArgs() > 2 &&
               diagnostic.getArgKind(2) == clang::DiagnosticsEngine::ak_nameddecl) {
      const auto* used = reinterpret_cast<const clang::NamedDecl*>(diagnostic.getRawArg(2));
      if (used->hasAttr<clang::CUDAGlobalAttr>())
        elide_launch(*used, diagnostic.getLocation());
      else
        wanted_.insert(used->getLocation());
    }
  }

  void mark(clang::SourceLocation location, bool kernel) {
    const auto [file, offset] = position(location);
    marks_[file].push_back({offset, kernel});
  }

  bool is_host_error(const clang::Diagnostic& error) {
    if (!sema || error.getLocation().isInvalid()) return false;
    const unsigned id = error.getID();
    if (id >= clang::diag::DIAG_START_DRIVER && id < clang::diag::DIAG_START_LEX) return false;
    const clang::FunctionDecl* function = sema->getCurFunctionDecl(/*AllowLambda=*/true);
    // With all files read, clang reports what it had postponed until it knew which functions need code.
    const bool at_end = !compiler->getPreprocessor().getCurrentFileLexer();
    if (!function && at_end) function = function_at(error.getLocation());
    if (function) return judge_function(*function);
    if (is_static_assertion(id)) return false;
    const bool of_preprocessor = id >= clang::diag::DIAG_START_LEX && id < clang::diag::DIAG_START_PARSE;
    if (of_preprocessor && !is_refusal_of_header(error)) return false;
    if (declares_device_code(error.getLocation())) return false;
    const auto* record = llvm::dyn_cast_or_null<clang::RecordDecl>(sema->CurContext);
    note_damage(record ? record->getCanonicalDecl() : nullptr);
    return true;
  }

  void finish() {
    if (!wanted_.empty() || !specialized_.empty()) {
      for (const clang::Decl* declaration : declarations) find_wanted(*declaration);
    }
    if (damaged_.empty()) return;
    for (const clang::Decl* root : declarations) add_roots(*root);
    while (!pending_.empty()) {
      const clang::FunctionDecl* function = pending_.back();
      pending_.pop_back();
      visit(*function);
    }
    for (const clang::FunctionDecl* function : host_functions_) {
      if (swallows_kernel(*function)) reached_.insert(function->getCanonicalDecl());
    }
  }

  bool reaches_device() const { return !reached_.empty(); }

  std::vector<bool> errors_that_matter() const {
    std::vector<bool> matter;
    for (const clang::Decl* declaration : damaged_of_) matter.push_back(reached_.count(declaration) != 0);
    return matter;
  }

 private:
  struct Mark {
    unsigned offset;
    bool kernel;
  };

  std::pair<clang::FileID, unsigned> position(clang::SourceLocation location) const {
    const clang::SourceManager& sources = compiler->getSourceManager();
    return sources.getDecomposedLoc(sources.getExpansionLoc(location));
  }

  bool judge_function(const clang::FunctionDecl& function) {
    // nvcc looks into a template when it instantiates it: until then an error in one stops nothing.
    if (is_device_alone(function) && !function.isDependentContext()) return false;
    note_damage(function.getCanonicalDecl());
    host_functions_.insert(&function);
    return true;
  }

  void note_damage(const clang::Decl* canonical) {
    damaged_of_.push_back(canonical);
    if (canonical) damaged_.insert(canonical);
  }

  // `#error` in a header is often about the host's compiler or system, and so is an `#if` with a macro of a
  // header that is missing; what device code lacks shows.
  bool is_refusal_of_header(const clang::Diagnostic& error) const {
    const bool of_condition = error.getID() == clang::diag::err_pp_hash_error ||
                              error.getID() == clang::diag::err_pp_expr_bad_token_binop;
    return of_condition && !compiler->getSourceManager().isInMainFile(error.getLocation());
  }

  // Of those that are complete, the one whose text holds the location.
  const clang::FunctionDecl* function_at(clang::SourceLocation location) const {
    for (const clang::Decl* declaration : declarations) {
      if (const clang::FunctionDecl* found = function_at(*declaration, location)) return found;
    }
    return nullptr;
  }

  const clang::FunctionDecl* function_at(const clang::Decl& declaration,
                                         clang::SourceLocation location) const {
    if (!holds(declaration.getSourceRange(), location)) return nullptr;
    if (const clang::FunctionDecl* function = declaration.getAsFunction()) return function;
    const auto* context = llvm::dyn_cast<clang::DeclContext>(&declaration);
    if (const auto* classes = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration))
      context = classes->getTemplatedDecl();
    if (!context) return nullptr;
    for (const clang::Decl* member : context->decls()) {
      if (const clang::FunctionDecl* found = function_at(*member, location)) return found;
    }
    return nullptr;
  }

  bool holds(clang::SourceRange range, clang::SourceLocation location) const {
    if (range.isInvalid()) return false;
    const auto [file, offset] = position(location);
    const auto [begin_file, begin] = position(range.getBegin());
    const auto [end_file, end] = position(range.getEnd());
    return file == begin_file && file == end_file && begin <= offset && offset <= end;
  }

  // Whether the declaration around a location says __device__ or __global__: from the end of the one before
  // it to the beginning of its body, or its own end.
  bool declares_device_code(clang::SourceLocation location) const {
    const auto [file, offset] = position(location);
    const auto marks = marks_.find(file);
    if (marks == marks_.end()) return false;
    const llvm::StringRef text = compiler->getSourceManager().getBufferData(file);
    const std::size_t before = text.take_front(offset).find_last_of(";{}");
    const std::size_t begin = before == llvm::StringRef::npos ? 0 : before;
    const std::size_t end = std::min(text.find_first_of(";{", offset), text.size());
    return std::any_of(marks->second.begin(), marks->second.end(),
                       [&](const Mark& mark) { return begin <= mark.offset && mark.offset < end; });
  }

  // A host function that lost its closing bracket would take the kernels behind it along.
  bool swallows_kernel(const clang::FunctionDecl& function) const {
    const clang::SourceRange range = function.getSourceRange();
    if (range.isInvalid()) return false;
    const auto [file, begin] = position(range.getBegin());
    const auto [end_file, end] = position(range.getEnd());
    const auto marks = marks_.find(file);
    if (file != end_file || marks == marks_.end()) return false;
    return std::any_of(marks->second.begin(), marks->second.end(),
                       [begin = begin, end = end](const Mark& mark) {
                         return mark.kernel && begin < mark.offset && mark.offset < end;
                       });
  }

  void find_wanted(const clang::Decl& declaration) {
    if (const clang::FunctionDecl* function = declaration.getAsFunction()) {
      if (function->hasAttr<clang::CUDAGlobalAttr>()) {
        const auto [begin, end] = calls_.equal_range(function->getLocation());
        for (auto call = begin; call != end; ++call) elide_launch(*function, call->second);
        return;
      }
      if (wanted_.count(function->getLocation()) != 0) note_wanted(*function);
      if (specialized_.count(function->getLocation()) != 0) promote(*function);
      return;
    }
    const auto* context = llvm::dyn_cast<clang::DeclContext>(&declaration);
    if (const auto* classes = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration)) {
      context = classes->getTemplatedDecl();
    } else if (const auto* befriended = llvm::dyn_cast<clang::FriendDecl>(&declaration)) {
      if (befriended->getFriendDecl()) find_wanted(*befriended->getFriendDecl());
    }
    if (!context || llvm::isa<clang::FunctionDecl>(context)) return;
    for (const clang::Decl* member : context->decls()) find_wanted(*member);
  }

  void note_wanted(const clang::FunctionDecl& function) {
    const bool has_body = std::any_of(function.redecls_begin(), function.redecls_end(), [](const auto* one) {
      return one->doesThisDeclarationHaveABody() || one->hasSkippedBody();
    });
    if (!has_body || function.hasAttr<clang::CUDADeviceAttr>()) return;
    names_called_from_device.insert(function.getQualifiedNameAsString());
    promote(function);
  }

  void promote(const clang::FunctionDecl& function) {
    for (const clang::FunctionDecl* one : function.redecls())
      insert(one->getInnerLocStart(), "__attribute__((host, device)) ");
  }

  // A kernel that device code launches: `k<<<…>>>(…)` becomes a call of a null pointer of its type, which the launch's
  // failing configuration (see host_runtime.h) keeps from being made.
  void elide_launch(const clang::NamedDecl& kernel, clang::SourceLocation location) {
    const auto [file, offset] = position(location);
    const llvm::StringRef text = compiler->getSourceManager().getBufferData(file);
    const std::size_t brackets = text.find("<<<", offset);
    if (brackets == llvm::StringRef::npos ||
        text.slice(offset, brackets).find_first_of(";{}") != llvm::StringRef::npos)
      return;
    std::size_t begin = offset;  // with the scopes before the name
    while (begin >= 2 && text.substr(begin - 2, 2) == "::") {
      begin -= 2;
      while (begin > 0 && (llvm::isAlnum(text[begin - 1]) || text[begin - 1] == '_')) --begin;
    }
    kernels_launched_from_device.insert(kernel.getQualifiedNameAsString());
    insert(location.getLocWithOffset(static_cast<int>(begin) - static_cast<int>(offset)), "((decltype(&");
    insert(location.getLocWithOffset(static_cast<int>(brackets - offset)), "))nullptr)");
  }

  // Behind the first :: before a name with template arguments.
  void insert_template(clang::SourceLocation location) {
    const auto [file, offset] = position(location);
    const llvm::StringRef text = compiler->getSourceManager().getBufferData(file);
    for (std::size_t at = text.find("::", offset); at != llvm::StringRef::npos;
         at = text.find("::", at + 2)) {
      const std::size_t name = text.find_first_not_of(" \t\n", at + 2);
      const std::size_t end =
          std::min(text.find_if_not([](char c) { return llvm::isAlnum(c) || c == '_'; }, name), text.size());
      if (text.substr(end).ltrim().starts_with("<"))
        return insert(location.getLocWithOffset(static_cast<int>(name - offset)), "template ");
      if (text.substr(offset, at - offset).contains(';')) return;
    }
  }

  void insert(clang::SourceLocation location, const std::string& text) {
    if (location.isInvalid()) return;
    const auto [file, offset] = position(location);
    if (const auto entry = compiler->getSourceManager().getFileEntryRefForID(file))
      helpful_insertions[entry->getName().str()].emplace(offset, text);
  }

  void add_roots(const clang::Decl& declaration) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration)) {
      if (is_device_alone(*function) && !function->isDependentContext()) add(*function);
    } else if (const auto* functions = llvm::dyn_cast<clang::FunctionTemplateDecl>(&declaration)) {
      for (const clang::FunctionDecl* instance : functions->specializations()) add_roots(*instance);
    } else if (const auto* classes = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration)) {
      for (const clang::Decl* instance : classes->specializations()) add_roots(*instance);
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::CXXRecordDecl>(declaration)) {
      for (const clang::Decl* member : llvm::cast<clang::DeclContext>(&declaration)->decls())
        add_roots(*member);
    } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration)) {
      if (has_device_side(*variable)) check(variable->getType());
    }
  }

  void add(const clang::FunctionDecl& function) {
    const clang::FunctionDecl* definition = nullptr;
    reach(*function.getCanonicalDecl());
    if (const clang::FunctionDecl* pattern = function.getTemplateInstantiationPattern())
      reach(*pattern->getCanonicalDecl());
    if (!function.isDefined(definition) || !visited_.insert(definition).second) return;
    pending_.push_back(definition);
  }

  void visit(const clang::FunctionDecl& function) {
    for (const clang::ParmVarDecl* parameter : function.parameters()) check(parameter->getType());
    std::vector<const clang::Stmt*> statements{function.getBody()};
    while (!statements.empty()) {
      const clang::Stmt* statement = statements.back();
      statements.pop_back();
      if (!statement) continue;
      if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) visit(*expression);
      for (const clang::Stmt* child : statement->children()) statements.push_back(child);
    }
  }

  void visit(const clang::Expr& expression) {
    check(expression.getType());
    const clang::Decl* used = nullptr;
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expression))
      used = reference->getDecl();
    else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expression))
      used = member->getMemberDecl();
    else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&expression))
      used = made->getConstructor();
    if (const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(used)) add(*function);
  }

  void check(clang::QualType type) {
    const clang::RecordDecl* record = record_behind(type);
    if (!record || !checked_.insert(record).second) return;
    reach(*record->getCanonicalDecl());
    if (const auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
      reach(*instance->getSpecializedTemplate()->getTemplatedDecl()->getCanonicalDecl());
    record = record->getDefinition();
    if (!record) return;
    for (const clang::FieldDecl* field : record->fields()) check(field->getType());
    if (const auto* with_bases = llvm::dyn_cast<clang::CXXRecordDecl>(record)) {
      for (const clang::CXXBaseSpecifier& base : with_bases->bases()) check(base.getType());
    }
  }

  void reach(const clang::Decl& canonical) {
    if (damaged_.count(&canonical) != 0) reached_.insert(&canonical);
  }

  std::map<clang::FileID, std::vector<Mark>> marks_;
  // Functions and classes that had an error, by their canonical declarations, and those that a kernel reaches.
  std::set<const clang::Decl*> damaged_;
  std::set<const clang::Decl*> reached_;
  std::vector<const clang::Decl*> damaged_of_;  // for each error: what it damaged, or null
  std::set<const clang::FunctionDecl*> host_functions_;
  std::vector<const clang::FunctionDecl*> pending_;
  std::set<const clang::FunctionDecl*> visited_;
  std::set<const clang::RecordDecl*> checked_;
  std::set<clang::SourceLocation> wanted_;  // functions that device code tries to call
  std::multimap<clang::SourceLocation, clang::SourceLocation> calls_;  // of those, with where
  clang::SourceLocation call_;                                         // that the notes to come are about
  std::set<clang::SourceLocation> specialized_;  // templates of the host with specializations for the device
};

class HostCode::Consumer : public clang::SemaConsumer {
 public:
  explicit Consumer(Judge& judge) : judge_(judge) {}
  void InitializeSema(clang::Sema& sema) override { judge_.sema = &sema; }
  void ForgetSema() override { judge_.sema = nullptr; }
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    judge_.declarations.insert(judge_.declarations.end(), group.begin(), group.end());
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    judge_.finish();
    if (!judge_.reaches_device() || context.getDiagnostics().hasErrorOccurred()) return;
    clang::DiagnosticsEngine& engine = context.getDiagnostics();
    // An error of this kind also keeps clang from making code.
    engine.Report(
        engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                               "device code uses a class or a function whose definition has errors"));
  }

 private:
  Judge& judge_;
};

class HostCode::Callbacks : public clang::PPCallbacks {
 public:
  explicit Callbacks(Judge& judge) : judge_(judge) {}
  bool FileNotFound(llvm::StringRef name) override {
    const std::string header = name.str();
    if (std::find(judge_.missing.begin(), judge_.missing.end(), header) == judge_.missing.end())
      judge_.missing.push_back(header);
    return true;
  }
  void MacroExpands(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange,
                    const clang::MacroArgs*) override {
    const clang::IdentifierInfo* identifier = name.getIdentifierInfo();
    if (!identifier) return;
    const llvm::StringRef word = identifier->getName();
    const bool kernel = word == "__global__";
    if (kernel || word == "__device__" || word == "__constant__" || word == "__managed__")
      judge_.mark(name.getLocation(), kernel);
  }

 private:
  Judge& judge_;
};

std::string hint_about_headers(const std::vector<std::string>& missing) {
  const auto begins = [&](const std::vector<std::string_view>& folders) {
    return std::any_of(missing.begin(), missing.end(), [&](const std::string& name) {
      return std::any_of(folders.begin(), folders.end(),
                         [&](std::string_view f) { return name.starts_with(f); });
    });
  };
  if (missing.empty()) return {};
  constexpr std::size_t most = 6;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, missing.size()));
  std::string text = fmt::format("{}", fmt::join(missing.begin(), missing.begin() + shown, ", "));
  if (missing.size() > most) text += fmt::format(" and {} more", missing.size() - most);
  text += missing.size() == 1 ? " was not found: " : " were not found: ";
  if (begins({"cub/", "thrust/"})) {
    text += "CUB and Thrust are in the packages libcub-dev and libthrust-dev, and in a CUDA Toolkit";
  } else if (begins({"cuda/", "nv/"})) {
    text += "it takes a CUDA Toolkit";
  } else {
    text += "name the folders of your own headers by -I after `--`";
  }
  return text;
}

HostCode::HostCode() : judge_(std::make_unique<Judge>()) {}
HostCode::~HostCode() = default;

void HostCode::attach(clang::CompilerInstance& compiler) {
  judge_->compiler = &compiler;
  compiler.getPreprocessor().addPPCallbacks(std::make_unique<Callbacks>(*judge_));
}

std::unique_ptr<clang::ASTConsumer> HostCode::make_consumer() {
  return std::make_unique<Consumer>(*judge_);
}

bool HostCode::is_host_error(const clang::Diagnostic& error) {
  return judge_->is_host_error(error);
}

void HostCode::observe(const clang::Diagnostic& diagnostic) {
  judge_->observe(diagnostic);
}

const std::set<std::string>& HostCode::kernels_launched_from_device() const {
  return judge_->kernels_launched_from_device;
}

const SourceInsertions& HostCode::helpful_insertions() const {
  return judge_->helpful_insertions;
}

const std::set<std::string>& HostCode::names_called_from_device() const {
  return judge_->names_called_from_device;
}

std::vector<bool> HostCode::errors_that_matter() const {
  return judge_->errors_that_matter();
}

const std::vector<std::string>& HostCode::missing_headers() const {
  return judge_->missing;
}

}  // namespace warptime::compiling
