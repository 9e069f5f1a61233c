#include "analyzer/compile/clang_casts.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclGroup.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>

#include <vector>

namespace warptime::compiling {
namespace {

class CastTruster : public clang::ASTConsumer {
 public:
  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group)
      if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) trust_casts(*function);
    return true;
  }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override { trust_casts(*function); }

 private:
  void trust_casts(clang::FunctionDecl& function) {
    if (!function.doesThisDeclarationHaveABody() || function.isDependentContext()) return;
    std::vector<clang::Stmt*> rest = {function.getBody()};
    while (!rest.empty()) {
      clang::Stmt* statement = rest.back();
      rest.pop_back();
      if (statement == nullptr) continue;
      for (clang::Stmt*& child : statement->children()) {
        if (child == nullptr) continue;
        if (auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(child)) child = trusted(*cast);
        rest.push_back(child);
      }
    }
  }

  clang::Expr* trusted(clang::ExplicitCastExpr& cast) {
    if (cast.isTypeDependent() || cast.getSubExpr()->isTypeDependent()) return &cast;
    clang::Expr* of = cast.getSubExpr();
    if (cast.getCastKind() == clang::CK_BitCast) {
      const clang::QualType to = cast.getType()->getPointeeType(), from = of->getType()->getPointeeType();
      if (is_aligned_more(to, from)) cast.setSubExpr(hidden(of));
      return &cast;
    }
    // reinterpret_cast<float4&>(tile[i]) is *reinterpret_cast<float4*>(&tile[i]).
    if (cast.getCastKind() != clang::CK_LValueBitCast || !is_aligned_more(cast.getType(), of->getType()))
      return &cast;
    const clang::SourceLocation at = cast.getBeginLoc();
    const clang::QualType pointer = context_->getPointerType(cast.getType());
    clang::Expr* address = clang::UnaryOperator::Create(
        *context_, of, clang::UO_AddrOf, context_->getPointerType(of->getType()), clang::VK_PRValue,
        clang::OK_Ordinary, at, /*CanOverflow=*/false, clang::FPOptionsOverride());
    clang::Expr* same = clang::CStyleCastExpr::Create(
        *context_, pointer, clang::VK_PRValue, clang::CK_BitCast, hidden(address), /*BasePath=*/nullptr,
        clang::FPOptionsOverride(), context_->getTrivialTypeSourceInfo(pointer, at), at, at);
    return clang::UnaryOperator::Create(*context_, same, clang::UO_Deref, cast.getType(), clang::VK_LValue,
                                        clang::OK_Ordinary, at, /*CanOverflow=*/false,
                                        clang::FPOptionsOverride());
  }

  bool is_aligned_more(clang::QualType to, clang::QualType from) const {
    const auto has_alignment = [](clang::QualType type) {
      return !type.isNull() && !type->isDependentType() && !type->isIncompleteType() &&
             !type->isFunctionType() && !type->isReferenceType();
    };
    return has_alignment(to) && has_alignment(from) &&
           context_->getTypeAlignInChars(to) > context_->getTypeAlignInChars(from);
  }

  // (0, pointer): clang looks through casts and `&`, not through this.
  clang::Expr* hidden(clang::Expr* pointer) {
    const clang::SourceLocation at = pointer->getBeginLoc();
    clang::Expr* nothing = clang::IntegerLiteral::Create(*context_, llvm::APInt(32, 0), context_->IntTy, at);
    return clang::BinaryOperator::Create(*context_, nothing, pointer, clang::BO_Comma, pointer->getType(),
                                         clang::VK_PRValue, clang::OK_Ordinary, at,
                                         clang::FPOptionsOverride());
  }

  clang::ASTContext* context_ = nullptr;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_cast_truster() {
  return std::make_unique<CastTruster>();
}

}  // namespace warptime::compiling
