#include "analyzer/compile/clang_signatures.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Mangle.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace warptime::compiling {

namespace {

// The marks of cuda_headers/cuda/warptime/attributes.h.
constexpr llvm::StringLiteral math_mark = "warptime.math";
constexpr llvm::StringLiteral target_mark = "warptime.target";

bool is_device_code(const clang::FunctionDecl& function) {
  return function.hasAttr<clang::CUDADeviceAttr>() || function.hasAttr<clang::CUDAGlobalAttr>();
}

std::string symbol_of(const clang::FunctionDecl& function, clang::MangleContext& mangler) {
  if (!mangler.shouldMangleDeclName(&function)) return function.getNameAsString();
  std::string symbol;
  llvm::raw_string_ostream stream(symbol);
  mangler.mangleName(clang::GlobalDecl(&function, clang::KernelReferenceKind::Kernel), stream);
  return symbol;
}

// Sizes of blocks and tiles are multiples of a warp, most other numbers (items per thread, channels) are small.
std::string usual_number(const clang::NonTypeTemplateParmDecl& parameter) {
  if (parameter.getType()->isBooleanType()) return "true";
  const std::string name = llvm::StringRef(parameter.getName()).lower();
  for (const char* size : {"block", "thread", "size", "tile", "warp", "dim"}) {
    if (name.find(size) != std::string::npos) return "32";
  }
  return "4";
}

// Up to the first that has a default or is a pack.
std::optional<std::string> usual_arguments(const clang::FunctionTemplateDecl& functions) {
  std::string arguments;
  for (const clang::NamedDecl* parameter : *functions.getTemplateParameters()) {
    if (parameter->isParameterPack()) break;
    std::string usual;
    if (const auto* type = llvm::dyn_cast<clang::TemplateTypeParmDecl>(parameter)) {
      if (type->hasDefaultArgument()) break;
      usual = "float";
    } else if (const auto* number = llvm::dyn_cast<clang::NonTypeTemplateParmDecl>(parameter)) {
      if (number->hasDefaultArgument()) break;
      if (!number->getType()->isIntegerType() || number->getType()->isEnumeralType()) return std::nullopt;
      usual = usual_number(*number);
    } else {
      return std::nullopt;
    }
    arguments += (arguments.empty() ? "" : ", ") + usual;
  }
  return arguments;
}

class FactFinder : public clang::ASTConsumer {
 public:
  explicit FactFinder(SourceFacts& facts) : facts_(facts) {}

  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      if (!is_from_system(*declaration)) declarations_.push_back(declaration);
    }
    return true;
  }

  bool shouldSkipFunctionBody(clang::Decl* declaration) override {
    const clang::FunctionDecl* function = declaration->getAsFunction();
    return function && !is_device_code(*function) && is_from_system(*function);
  }

  // Templates have all of their instantiations only now.
  void HandleTranslationUnit(clang::ASTContext&) override {
    mangler_.reset(context_->createMangleContext());
    for (const clang::Decl* declaration : declarations_) visit(*declaration);
    std::stable_sort(facts_.kernels.begin(), facts_.kernels.end(),
                     [](const auto& a, const auto& b) { return a.line < b.line; });
  }

 private:
  bool is_from_system(const clang::Decl& declaration) const {
    return context_->getSourceManager().isInSystemHeader(declaration.getLocation());
  }

  void visit(const clang::Decl& declaration) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration)) {
      if (!function->isDependentContext()) visit_function(*function);
    } else if (const auto* functions = llvm::dyn_cast<clang::FunctionTemplateDecl>(&declaration)) {
      if (!functions->isCanonicalDecl()) return;
      for (const clang::FunctionDecl* instance : functions->specializations()) visit_function(*instance);
      if (functions->specializations().empty()) note_unused(*functions);
    } else if (const auto* classes = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration)) {
      if (!classes->isCanonicalDecl()) return;
      for (const clang::Decl* instance : classes->specializations()) visit(*instance);
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::CXXRecordDecl>(declaration)) {
      for (const clang::Decl* member : llvm::cast<clang::DeclContext>(&declaration)->decls()) visit(*member);
    }
  }

  void visit_function(const clang::FunctionDecl& declared) {
    const clang::FunctionDecl* function = nullptr;
    if (!is_device_code(declared) || !declared.isDefined(function) || function->isInvalidDecl()) return;
    if (function->hasAttr<clang::CUDAGlobalAttr>()) add_kernel(*function);
    note_calls(function->getBody());
  }

  void note_unused(const clang::FunctionTemplateDecl& functions) {
    const clang::FunctionDecl* definition = nullptr;
    const clang::FunctionDecl& function = *functions.getTemplatedDecl();
    if (!function.hasAttr<clang::CUDAGlobalAttr>() || !function.isDefined(definition)) return;
    UnusedTemplate unused{function.getQualifiedNameAsString(), usual_arguments(functions)};
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    std::string& name = unused.name;
    for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
      name.erase(at, unnamed.size());
    facts_.unused_templates.push_back(std::move(unused));
  }

  void note_calls(const clang::Stmt* body) {
    std::vector<const clang::Stmt*> pending{body};
    while (!pending.empty()) {
      const clang::Stmt* statement = pending.back();
      pending.pop_back();
      if (!statement) continue;
      if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(statement))
        note_use(*reference->getDecl());
      for (const clang::Stmt* child : statement->children()) pending.push_back(child);
    }
  }

  void note_use(const clang::ValueDecl& used) {
    const auto* mark = used.getAttr<clang::AnnotateAttr>();
    if (!mark) return;
    if (mark->getAnnotation() == math_mark) facts_.math_functions.insert(used.getNameAsString());
    if (mark->getAnnotation() == target_mark) facts_.target_dependent = true;
  }

  void add_kernel(const clang::FunctionDecl& function) {
    KernelSignature signature;
    signature.symbol = symbol_of(function, *mangler_);
    const auto same_symbol = [&](const KernelSignature& other) { return other.symbol == signature.symbol; };
    if (std::any_of(facts_.kernels.begin(), facts_.kernels.end(), same_symbol)) return;
    signature.line = first_line(function);
    signature.name = kernel_name(function, *context_);
    for (unsigned i = 0; i < function.getNumParams(); ++i) {
      signature.arguments.push_back(argument(*function.getParamDecl(i), i));
    }
    facts_.kernels.push_back(std::move(signature));
  }

  KernelArgument argument(const clang::ParmVarDecl& parameter, unsigned index) const {
    const std::string name = parameter.getNameAsString();
    return {name.empty() ? fmt::format("arg{}", index) : name,
            parameter.getType().getUnqualifiedType().getAsString(context_->getPrintingPolicy())};
  }

  // The attribute stands before the declaration's own beginning.
  int first_line(const clang::FunctionDecl& function) const {
    const clang::SourceManager& sources = context_->getSourceManager();
    unsigned line = sources.getExpansionLineNumber(function.getBeginLoc());
    const auto* attribute = function.getAttr<clang::CUDAGlobalAttr>();
    if (attribute && attribute->getLocation().isValid()) {
      line = std::min(line, sources.getExpansionLineNumber(attribute->getLocation()));
    }
    return static_cast<int>(line);
  }

  SourceFacts& facts_;
  clang::ASTContext* context_ = nullptr;
  std::unique_ptr<clang::MangleContext> mangler_;
  std::vector<const clang::Decl*> declarations_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_fact_finder(SourceFacts& facts) {
  return std::make_unique<FactFinder>(facts);
}

bool is_device_alone(const clang::FunctionDecl& function) {
  if (function.hasAttr<clang::CUDAGlobalAttr>()) return true;
  return function.hasAttr<clang::CUDADeviceAttr>() && !function.hasAttr<clang::CUDAHostAttr>();
}

std::string kernel_name(const clang::FunctionDecl& kernel, const clang::ASTContext& context) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  kernel.getNameForDiagnostic(stream, context.getPrintingPolicy(), /*Qualified=*/true);
  return name;
}

std::string kernel_symbol(const clang::FunctionDecl& kernel, clang::ASTContext& context) {
  const std::unique_ptr<clang::MangleContext> mangler(context.createMangleContext());
  return symbol_of(kernel, *mangler);
}

}  // namespace warptime::compiling
