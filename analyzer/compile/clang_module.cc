#include "analyzer/compile/clang_module.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/BackendUtil.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <fmt/format.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/DivisionByConstantInfo.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopRotationUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/compile/clang_arguments.h"
#include "analyzer/compile/clang_casts.h"
#include "analyzer/compile/clang_diagnostics.h"
#include "analyzer/compile/clang_elements.h"
#include "analyzer/compile/clang_host_code.h"
#include "analyzer/compile/clang_sources.h"
#include "analyzer/compile/constant_math.h"
#include "analyzer/compile/plain_name.h"
#include "analyzer/compile/target_neutral.h"

namespace llvm {
// Of LLVM's NVPTX target, declared in none of its installed headers. The target remembers, by the address of
// a module and its functions, which ones are kernels; only printing PTX makes it forget. Without this, a
// later module at the same address gets the answers of a former one.
void clearAnnotationCache(const Module* module);
}  // namespace llvm

namespace warptime::compiling {

namespace {

// `--rolled` holds for loops that carry `#pragma unroll` too: their metadata is replaced before the first
// pass sees it.
class DisableUnrolling : public llvm::PassInfoMixin<DisableUnrolling> {
 public:
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      loop->setLoopAlreadyUnrolled();
    }
    return llvm::PreservedAnalyses::all();
  }
};

// Nothing but its kernels is called from outside: other functions are inlined the more readily, and vanish
// where they are, as with nvcc.
class KeepKernelsOnly : public llvm::PassInfoMixin<KeepKernelsOnly> {
 public:
  explicit KeepKernelsOnly(const SourceFacts& facts) : facts_(&facts) {}
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    // What is annotated is kept for it: the marks of our headers have been read by now.
    if (llvm::GlobalVariable* marks = module.getGlobalVariable("llvm.global.annotations"))
      marks->eraseFromParent();
    for (llvm::Function& function : module) {
      const auto is_this = [&](const KernelSignature& kernel) { return function.getName() == kernel.symbol; };
      const bool kernel = std::any_of(facts_->kernels.begin(), facts_->kernels.end(), is_this);
      if (kernel || function.isDeclaration()) continue;
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);
      function.setComdat(nullptr);
    }
    return llvm::PreservedAnalyses::none();
  }

 private:
  const SourceFacts* facts_;  // complete by the time that this runs
};

// LLVM 19 does not say of shuffles, votes, barriers and operations on matrices that they return. So a loop with them may end
// otherwise than by its condition, its counter may wrap around, the number of its iterations is not known, and it is not
// unrolled. nvcc unrolls it.
class IntrinsicsReturn : public llvm::PassInfoMixin<IntrinsicsReturn> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    for (llvm::Function& function : module)
      if (function.getName().starts_with("llvm.nvvm.") && function.getName() != "llvm.nvvm.exit") {
        function.setWillReturn();
        function.setDoesNotThrow();
      }
    return llvm::PreservedAnalyses::all();
  }
};

// Dynamic shared memory begins at a multiple of 16 bytes, whatever its elements are. nvcc says so, and loads and stores what lies
// side by side at once.
class AlignDynamicSharedMemory : public llvm::PassInfoMixin<AlignDynamicSharedMemory> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    constexpr unsigned shared = 3;
    const llvm::Align at_least(16);
    bool changed = false;
    for (llvm::GlobalVariable& variable : module.globals()) {
      if (variable.getAddressSpace() != shared || !variable.isDeclaration()) continue;
      if (variable.getAlign().valueOrOne() >= at_least) continue;
      variable.setAlignment(at_least);
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

// Of a loop that was unrolled though the source does not ask for it.
constexpr llvm::StringLiteral kMayUnrollAgain = "warptime.may_unroll_again";

// A loop that nvcc leaves as it is.
constexpr llvm::StringLiteral kOneCopy = "warptime.one_copy";

// A loop whose iterations cannot be counted, unless those of loops around it become copies.
constexpr llvm::StringLiteral kUncounted = "warptime.uncounted";

// A loop of a function that is not decided on before the function is inlined.
constexpr llvm::StringLiteral kUndecided = "warptime.undecided";

// Of what is left of the iterations of such a loop, where another loop is around it.
constexpr llvm::StringLiteral kUnrollWhole = "warptime.unroll_whole";

// `most` iterations of a loop become one, with the exits that these have: all of a loop that has no more, with an exit in each.
llvm::LoopUnrollResult unroll_with_exits(llvm::Loop& loop, unsigned most, llvm::LoopInfo& loops,
                                         llvm::ScalarEvolution& scalars, llvm::DominatorTree& dominators,
                                         llvm::AssumptionCache& assumptions,
                                         const llvm::TargetTransformInfo& target) {
  llvm::UnrollLoopOptions options{};
  options.Count = most;
  options.Force = true;
  options.ForgetAllSCEV = true;
  llvm::OptimizationRemarkEmitter remarks(loop.getHeader()->getParent());
  return llvm::UnrollLoop(&loop, options, &loops, &scalars, &dominators, &assumptions, &target, &remarks,
                          true);
}

// `count` iterations become one; what is left of an unknown number of iterations is `rest`. LLVM itself leaves loops alone in which
// threads meet, as at a barrier, unless the number of iterations is known; nvcc does not.
llvm::LoopUnrollResult unroll_by(llvm::Loop& loop, unsigned iterations, unsigned count, llvm::LoopInfo& loops,
                                 llvm::ScalarEvolution& scalars, llvm::DominatorTree& dominators,
                                 llvm::AssumptionCache& assumptions, const llvm::TargetTransformInfo& target,
                                 llvm::Loop** rest) {
  llvm::UnrollLoopOptions options{};
  options.Count = count;
  options.Force = true;
  options.Runtime = iterations == 0 || iterations % count != 0;
  options.AllowExpensiveTripCount = true;
  options.ForgetAllSCEV = true;
  llvm::OptimizationRemarkEmitter remarks(loop.getHeader()->getParent());
  return llvm::UnrollLoop(&loop, options, &loops, &scalars, &dominators, &assumptions, &target, &remarks,
                          true, rest);
}

// Unrolls what the source says is to be unrolled, before it is decided what else is: the arrays that such loops go through are in
// registers by then, and loops around them are as long as that makes them.
class UnrollAsAsked : public llvm::PassInfoMixin<UnrollAsAsked> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto& scalars = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
    const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
    bool changed = false;
    // The condition at the end, without which the last look at it counts as an iteration.
    const llvm::SimplifyQuery query(function.getParent()->getDataLayout());
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && llvm::getOptionalIntLoopAttribute(loop, "llvm.loop.unroll.count")) {
        llvm::simplifyLoop(loop, &dominators, &loops, &scalars, &assumptions, nullptr, false);
        llvm::formLCSSARecursively(*loop, dominators, &loops, &scalars);
        llvm::LoopRotation(loop, &loops, &target, &assumptions, &dominators, &scalars, nullptr, query, true,
                           UINT_MAX, true);
        changed = true;
      }
    for (auto found = next(loops, scalars); found.first != nullptr; found = next(loops, scalars)) {
      const auto [loop, count] = found;
      const unsigned iterations = scalars.getSmallConstantTripCount(loop);
      llvm::simplifyLoop(loop, &dominators, &loops, &scalars, &assumptions, nullptr, false);
      llvm::formLCSSARecursively(*loop, dominators, &loops, &scalars);
      changed = true;
      const auto result =
          unroll_by(*loop, iterations, count, loops, scalars, dominators, assumptions, target, nullptr);
      if (result == llvm::LoopUnrollResult::Unmodified) break;
      if (result == llvm::LoopUnrollResult::PartiallyUnrolled) loop->setLoopAlreadyUnrolled();
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  // An innermost loop that is to be unrolled, and by how many iterations; null: there is none.
  static std::pair<llvm::Loop*, unsigned> next(llvm::LoopInfo& loops, llvm::ScalarEvolution& scalars) {
    constexpr std::uint64_t most = 16'384;  // instructions, as in LLVM
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const unsigned iterations = scalars.getSmallConstantTripCount(loop);
      if (!loop->isInnermost() || !loop->isSafeToClone() || iterations == 0) continue;
      const auto asked = llvm::getOptionalIntLoopAttribute(loop, "llvm.loop.unroll.count");
      if (!asked && !llvm::getBooleanLoopAttribute(loop, "llvm.loop.unroll.enable") &&
          !llvm::getBooleanLoopAttribute(loop, "llvm.loop.unroll.full"))
        continue;
      const unsigned count =
          asked ? std::min(static_cast<unsigned>(std::max(1, *asked)), iterations) : iterations;
      // LLVM does the rest later, on what it has turned into a loop with the condition at its end.
      if (count != iterations && (count < 2 || iterations % count != 0)) continue;
      std::uint64_t size = 0;
      for (const llvm::BasicBlock* block : loop->blocks()) size += block->sizeWithoutDebug();
      if (count * size <= most) return {loop, count};
    }
    return {nullptr, 0};
  }
};

// Unrolls what is left of the iterations of a loop inside another: no more than three copies, with an exit behind each.
class UnrollRemainders : public llvm::PassInfoMixin<UnrollRemainders> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto& scalars = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
    const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
    bool changed = false;
    std::vector<llvm::Loop*> marked;
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && llvm::findStringMetadataForLoop(loop, kUnrollWhole)) marked.push_back(loop);
    for (llvm::Loop* loop : marked) {
      const unsigned most = scalars.getSmallConstantMaxTripCount(loop);
      if (most < 2 || most > kMost || !loop->isSafeToClone()) continue;
      llvm::simplifyLoop(loop, &dominators, &loops, &scalars, &assumptions, nullptr, false);
      llvm::formLCSSARecursively(*loop, dominators, &loops, &scalars);
      unroll_with_exits(*loop, most, loops, scalars, dominators, assumptions, target);
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static constexpr unsigned kMost = 3;
};

// Lets ptxas unroll the loops that UnrollLikeNvcc has chosen: LLVM marks as done what was unrolled, and PTX would say
// `.pragma "nounroll"`. nvcc's PTX says so of the iterations that are left over, and where the source has a pragma.
class MayUnrollAgain : public llvm::PassInfoMixin<MayUnrollAgain> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (llvm::findStringMetadataForLoop(loop, kMayUnrollAgain))
        loop->setLoopID(llvm::makePostTransformationMetadata(
            function.getContext(), loop->getLoopID(), {"llvm.loop.unroll.disable", kMayUnrollAgain}, {}));
    return llvm::PreservedAnalyses::all();
  }
};

// Fragments of matrices in shared memory: LLVM 19 leaves the pointers of wmma.load and wmma.store generic, which ptxas loads
// another way; nvcc says .shared.
struct SharedFragments : llvm::PassInfoMixin<SharedFragments> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    std::vector<llvm::IntrinsicInst*> accesses;
    for (llvm::Instruction& one : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one); call != nullptr && is_access(*call))
        accesses.push_back(call);
    if (accesses.empty()) return llvm::PreservedAnalyses::all();
    for (llvm::IntrinsicInst* call : accesses) {
      llvm::IRBuilder<> builder(call);
      llvm::Value* address = in_own_space(call->getArgOperand(0), builder);
      if (address == nullptr) continue;
      call->setArgOperand(0, address);
      call->setCalledFunction(llvm::Intrinsic::getDeclaration(function.getParent(), call->getIntrinsicID(),
                                                              {address->getType()}));
    }
    return llvm::PreservedAnalyses::none();
  }

 private:
  // The generic address as that of the memory that it is in; null: it is not seen to be in one.
  static llvm::Value* in_own_space(llvm::Value* address, llvm::IRBuilder<>& builder) {
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address)) return cast->getPointerOperand();
    auto* offset = llvm::dyn_cast<llvm::GEPOperator>(address);
    llvm::Value* base = offset == nullptr ? nullptr : in_own_space(offset->getPointerOperand(), builder);
    if (base == nullptr) return nullptr;
    const std::vector<llvm::Value*> indices(offset->idx_begin(), offset->idx_end());
    return builder.CreateGEP(offset->getSourceElementType(), base, indices, "", offset->isInBounds());
  }

  static bool is_access(const llvm::IntrinsicInst& call) {
    const llvm::StringRef name = call.getCalledFunction()->getName();
    // nvcc leaves these generic as well.
    for (const llvm::StringRef generic : {".m16n16k8.", ".m8n8k4.", ".bf16"})
      if (name.contains(generic)) return false;
    return name.starts_with("llvm.nvvm.wmma.") && (name.contains(".load.") || name.contains(".store.")) &&
           call.arg_size() > 0 && call.getArgOperand(0)->getType()->isPointerTy() &&
           call.getArgOperand(0)->getType()->getPointerAddressSpace() == 0;
  }
};

// The branch at the end of a loop goes back to its beginning where its condition holds. NVPTX cannot turn a branch round once
// blocks have their places, and writes a second branch behind one that leaves the loop.
class BranchBack : public llvm::PassInfoMixin<BranchBack> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    bool changed = false;
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (llvm::BasicBlock* latch = loop->getLoopLatch())
        changed = turn_round(llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()), *loop) || changed;
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static bool turn_round(llvm::BranchInst* branch, const llvm::Loop& loop) {
    if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(1) != loop.getHeader() ||
        loop.contains(branch->getSuccessor(0)))
      return false;
    auto* compare = llvm::dyn_cast<llvm::CmpInst>(branch->getCondition());
    if (compare == nullptr || !compare->hasOneUse()) return false;
    compare->setPredicate(compare->getInversePredicate());
    branch->swapSuccessors();
    return true;
  }
};

// nvcc 13.0 unrolls no loop whose end is a pointer that is compared with `<`.
class NoteLoops : public llvm::PassInfoMixin<NoteLoops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (const llvm::BasicBlock* exit = loop->getExitingBlock(); exit != nullptr && compares_pointers(*exit))
        llvm::addStringMetadataToLoop(loop, kOneCopy.data(), 1);
    return llvm::PreservedAnalyses::all();
  }

 private:
  static bool compares_pointers(const llvm::BasicBlock& exit) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exit.getTerminator());
    const auto* compare = branch == nullptr || !branch->isConditional()
                              ? nullptr
                              : llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    return compare != nullptr && compare->getOperand(0)->getType()->isPointerTy() && compare->isRelational();
  }
};

// Unrolls loops as nvcc 13.0 does, from the innermost outwards, where the source does not say how (measured on loops of 4 to 256, and
// of an unknown number of, iterations with 3 to 250 instructions each, on nests of them, and with exits of several kinds):
//  - whole, a loop over an array of the thread's own, so that the array can be in registers: up to 2,560 instructions, and
//    not from 3,072 on; also one whose iterations are only known to be at most so many, with an exit in each;
//  - whole, if its iterations cost less than 418 (size_of, is_small);
//  - else, an innermost loop by 4 where the number of iterations is unknown or odd, by what divides it and is at most 16 where it
//    is even, or by a smaller power of two where the copies are to cost less than 200; not where the step is the block's size, nor
//    where it is more than one, to a constant, and the numbers are known not to be negative. (Where the step is another number
//    that is no constant, nvcc does; here the loop is left alone, since LLVM 19 counts its iterations in a longer way.) ptxas may
//    unroll such a loop once more (MayUnrollAgain), but not what is left of its iterations. That is a loop, or copies of an
//    iteration where another loop is around (UnrollRemainders);
//  - not at all, where the end has two parts, or the number of iterations is unknown and at most 16;
//  - by 4, and no further, where the source asks for `#pragma unroll` and the number of iterations is unknown.
//
// A function's loops are decided on in the kernel, once it is inlined: only there are its arrays, and some numbers of iterations,
// known. `last`: what has not been inlined by now will not be.
class UnrollLikeNvcc : public llvm::PassInfoMixin<UnrollLikeNvcc> {
 public:
  explicit UnrollLikeNvcc(bool last = false) : last_(last) {}
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                              llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater& updater) {
    const bool undecided = llvm::findStringMetadataForLoop(&loop, kUndecided).has_value();
    if (last_ && !undecided) return llvm::PreservedAnalyses::all();
    if (!last_ && may_be_inlined(*loop.getHeader()->getParent())) {
      if (llvm::hasUnrollTransformation(&loop) == llvm::TM_Unspecified) keep(loop, kUndecided);
      return llvm::PreservedAnalyses::all();
    }
    if (undecided) forget(loop, kUndecided);
    const unsigned iterations = most_iterations(loop, known.SE);
    // Copied with the loop around it, and countable since.
    if (iterations != 0 && llvm::findStringMetadataForLoop(&loop, kUncounted)) forget(loop, kUncounted);
    if (llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified) {
      if (iterations == 0 && llvm::getBooleanLoopAttribute(&loop, "llvm.loop.unroll.enable") &&
          !llvm::getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count") &&
          !depends_on_other_loops(loop, known.SE))
        llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", kUnknown);
      return llvm::PreservedAnalyses::all();
    }
    const Size size = size_of(loop, known);
    if (iterations == 0 && unroll_to_most(loop, size.instructions, known)) {
      updater.markLoopAsDeleted(loop, "");
      return llvm::PreservedAnalyses::none();
    }
    const bool stays = llvm::findStringMetadataForLoop(&loop, kOneCopy).has_value();
    if (iterations >= 2 &&
        ((iterations * size.instructions <= kMostWhole && chooses_element(loop, known.SE)) ||
         (!stays && is_small(size, iterations)))) {
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
      return llvm::PreservedAnalyses::all();
    }
    const unsigned count = stays ? 1 : partial(loop, iterations, size.cost, known.SE);
    if (count > 1) {
      carry_what_is_stored(loop, known);
      const bool unrolled = iterations % count != 0 ? unroll_odd(loop, count, known)
                                                    : unroll(loop, iterations, count, known, updater);
      return unrolled ? llvm::getLoopPassPreservedAnalyses() : llvm::PreservedAnalyses::all();
    }
    if (iterations == 0 && ends_in_two_ways(loop))
      keep(loop, kUncounted);
    else if (stays || iterations > 1 || steps_unsigned(loop, known.SE) || has_few(loop, iterations, known.SE))
      keep(loop);
    return llvm::PreservedAnalyses::all();
  }

 private:
  static constexpr std::uint64_t kMostWhole = 2700;  // instructions, of loops over private arrays
  static constexpr double kMostLeft = 418;           // of others, without what vanishes
  static constexpr std::uint64_t kPartial = 200;     // of those that are unrolled in part: less
  static constexpr std::uint64_t kOffset = 3;
  static constexpr std::uint64_t kShuffledFloat = 2;   // more than an integer: to one and back
  static constexpr unsigned kUnknown = 4, kMost = 16;  // iterations

  // All but kernels are internal (KeepKernelsOnly).
  static bool may_be_inlined(const llvm::Function& function) {
    return function.hasLocalLinkage() && !function.hasFnAttribute(llvm::Attribute::NoInline);
  }

  static llvm::MDNode* mark(llvm::LLVMContext& context, llvm::StringRef name) {
    return llvm::MDNode::get(context, {llvm::MDString::get(context, name)});
  }

  // By `count`. What is left of the iterations becomes a loop of its own; the loop itself is marked for MayUnrollAgain.
  static bool unroll(llvm::Loop& loop, unsigned iterations, unsigned count,
                     llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater& updater) {
    if (!loop.isLoopSimplifyForm() || !loop.isLCSSAForm(known.DT) || !loop.isSafeToClone()) return false;
    llvm::LLVMContext& context = loop.getHeader()->getContext();
    const bool nested = loop.getLoopDepth() > 1;
    llvm::Loop* rest = nullptr;
    if (unroll_by(loop, iterations, count, known.LI, known.SE, known.DT, known.AC, known.TTI, &rest) ==
        llvm::LoopUnrollResult::Unmodified)
      return false;
    const auto set = [&](llvm::Loop& of, llvm::StringRef name) {
      of.setLoopID(llvm::makePostTransformationMetadata(
          context, of.getLoopID(), {}, {mark(context, "llvm.loop.unroll.disable"), mark(context, name)}));
    };
    set(loop, kMayUnrollAgain);
    if (rest != nullptr) {
      set(*rest, nested ? kUnrollWhole : kOneCopy);
      updater.addSiblingLoops({rest});
    }
    return true;
  }

  // What an iteration stores and the next one loads, as in `sum[x] = sum[x - 1] + data[x]`, stays in a register. LLVM does it too, but
  // once the loop is unrolled it only does so within the copies. Only where nothing else in the loop writes to memory.
  static void carry_what_is_stored(llvm::Loop& loop, llvm::LoopStandardAnalysisResults& known) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    llvm::BasicBlock* before = loop.getLoopPreheader();
    if (latch == nullptr || before == nullptr) return;
    llvm::StoreInst* store = nullptr;
    std::vector<llvm::LoadInst*> loads;
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& one : *block) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&one); load != nullptr && block == loop.getHeader())
          loads.push_back(load);
        if (!one.mayWriteToMemory()) continue;
        if (store != nullptr || !llvm::isa<llvm::StoreInst>(one)) return;
        store = llvm::cast<llvm::StoreInst>(&one);
      }
    if (store == nullptr || !store->isSimple() || !known.DT.dominates(store->getParent(), latch)) return;
    llvm::ScalarEvolution& scalars = known.SE;
    llvm::Value* value = store->getValueOperand();
    for (llvm::LoadInst* load : loads) {
      const auto* address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scalars.getSCEV(load->getPointerOperand()));
      if (address == nullptr || address->getLoop() != &loop || !address->isAffine() || !load->isSimple() ||
          load->getType() != value->getType() ||
          load->getPointerOperandType() != store->getPointerOperandType() ||
          scalars.getMinusSCEV(scalars.getSCEV(store->getPointerOperand()), address) !=
              address->getStepRecurrence(scalars))
        continue;
      llvm::SCEVExpander expander(scalars, load->getModule()->getDataLayout(), "carried");
      if (!expander.isSafeToExpand(address->getStart())) continue;
      llvm::Value* first =
          expander.expandCodeFor(address->getStart(), load->getPointerOperandType(), before->getTerminator());
      llvm::IRBuilder<> builder(before->getTerminator());
      builder.SetCurrentDebugLocation(load->getDebugLoc());
      llvm::Value* loaded = builder.CreateAlignedLoad(load->getType(), first, load->getAlign());
      llvm::PHINode* carried =
          llvm::PHINode::Create(load->getType(), 2, "", loop.getHeader()->getFirstNonPHIIt());
      carried->addIncoming(loaded, before);
      carried->addIncoming(value, loop.getLoopLatch());
      load->replaceAllUsesWith(carried);
      load->eraseFromParent();
      scalars.forgetLoop(&loop);
      return;
    }
  }

  // A loop whose number of iterations is no multiple of `count`: one of the copies keeps its exit.
  static bool unroll_odd(llvm::Loop& loop, unsigned count, llvm::LoopStandardAnalysisResults& known) {
    if (!loop.isLoopSimplifyForm() || !loop.isLCSSAForm(known.DT) || !loop.isSafeToClone() ||
        unroll_with_exits(loop, count, known.LI, known.SE, known.DT, known.AC, known.TTI) ==
            llvm::LoopUnrollResult::Unmodified)
      return false;
    keep(loop);
    return true;
  }

  // As it is: LLVM 19 unrolls loops of few iterations to the most that there can be. It is also marked with `name`, if any.
  static void keep(llvm::Loop& loop, llvm::StringRef name = {}) {
    llvm::LLVMContext& context = loop.getHeader()->getContext();
    llvm::SmallVector<llvm::MDNode*, 3> marks = {mark(context, "llvm.loop.unroll.disable"),
                                                 mark(context, kMayUnrollAgain)};
    if (!name.empty()) marks.push_back(mark(context, name));
    loop.setLoopID(llvm::makePostTransformationMetadata(context, loop.getLoopID(), {}, marks));
  }

  // That `keep` marked it with `name`.
  static void forget(llvm::Loop& loop, llvm::StringRef name) {
    loop.setLoopID(llvm::makePostTransformationMetadata(loop.getHeader()->getContext(), loop.getLoopID(),
                                                        {"llvm.loop.unroll.disable", name, kMayUnrollAgain},
                                                        {}));
  }

  // Of a loop over a private array whose number of iterations has a bound: whether it is no more.
  static bool unroll_to_most(llvm::Loop& loop, std::uint64_t size, llvm::LoopStandardAnalysisResults& known) {
    const unsigned most = known.SE.getSmallConstantMaxTripCount(&loop);
    if (most < 2 || most * size > kMostWhole || !loop.isInnermost() || !chooses_element(loop, known.SE))
      return false;
    if (!loop.isLoopSimplifyForm() || !loop.isLCSSAForm(known.DT) || !loop.isSafeToClone()) return false;
    return unroll_with_exits(loop, most, known.LI, known.SE, known.DT, known.AC, known.TTI) ==
           llvm::LoopUnrollResult::FullyUnrolled;
  }

  // Of an iteration: its instructions, what they cost as nvcc counts them, and how much of that vanishes where the loop's counter
  // is a number.
  struct Size {
    std::uint64_t instructions = 0, cost = 0, extensions = 0, vanishing = 0;
  };
  static Size size_of(const llvm::Loop& loop, llvm::LoopStandardAnalysisResults& known) {
    const llvm::SmallPtrSet<const llvm::Value*, 1> none;
    const llvm::UnrollCostEstimator estimator(&loop, known.TTI, none, 0);
    Size size;
    size.cost = estimator.canUnroll() ? estimator.getRolledLoopSize() : kMostWhole;
    // What is computed of the counter alone.
    llvm::SmallPtrSet<const llvm::Value*, 16> numbers;
    const auto counted = [&](const llvm::Value* value) {
      return llvm::isa<llvm::ConstantInt, llvm::ConstantFP>(value) || numbers.contains(value);
    };
    for (llvm::PHINode& phi : loop.getHeader()->phis()) {
      const auto* sum = !phi.getType()->isIntegerTy()
                            ? nullptr
                            : llvm::dyn_cast<llvm::SCEVAddRecExpr>(known.SE.getSCEV(&phi));
      if (sum != nullptr && sum->getLoop() == &loop &&
          llvm::all_of(sum->operands(),
                       [](const llvm::SCEV* part) { return llvm::isa<llvm::SCEVConstant>(part); }))
        numbers.insert(&phi);
    }
    for (const llvm::BasicBlock* block : loop.blocks()) {
      size.instructions += block->sizeWithoutDebug();
      for (const llvm::Instruction& one : *block) {
        if (llvm::isa<llvm::ZExtInst>(one)) {
          ++size.extensions;
          if (counted(one.getOperand(0))) numbers.insert(&one);
        } else if (const llvm::GetElementPtrInst* first = first_of_index(one)) {
          size.cost += kOffset;
          if (llvm::all_of(first->indices(), [&](const llvm::Use& index) { return counted(index.get()); }))
            size.vanishing += kOffset - 1;
        } else if (accesses_offset_in_shared(one, loop)) {
          ++size.cost;
        } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
                   call != nullptr && call->getType()->isFloatTy() &&
                   call->getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.")) {
          size.cost += kShuffledFloat;
        } else if ((one.isBinaryOp() || one.isCast() || llvm::isa<llvm::CmpInst, llvm::SelectInst>(one)) &&
                   llvm::all_of(one.operands(), [&](const llvm::Use& part) { return counted(part.get()); })) {
          numbers.insert(&one);
          ++size.vanishing;
        }
      }
    }
    return size;
  }

  // An access to `tile[y][3]` of shared memory, whose address nvcc computes in the loop, where LLVM 19 has an offset from `tile[y]`,
  // or has computed it before the loop.
  static bool accesses_offset_in_shared(const llvm::Instruction& one, const llvm::Loop& loop) {
    constexpr unsigned shared = 3;  // NVPTX's address space
    const auto* address =
        llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(llvm::getLoadStorePointerOperand(&one));
    if (address == nullptr || (loop.contains(address) && !address->hasAllConstantIndices())) return false;
    const auto* array = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(address));
    return array != nullptr && array->getAddressSpace() == shared;
  }

  // `data[row + x + 1]`, which LLVM 19 has as the address of `data[row + x]`, the first, and one element more. To nvcc, it is a sum,
  // its extension and an address. Null: it is something else, such as `row[1]` of `row = data + x`.
  static const llvm::GetElementPtrInst* first_of_index(const llvm::Instruction& one) {
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&one);
    if (address == nullptr || !address->hasAllConstantIndices()) return nullptr;
    const auto* first = llvm::dyn_cast<llvm::GetElementPtrInst>(address->getPointerOperand());
    if (first == nullptr || !first->getDebugLoc()) return nullptr;
    const llvm::DataLayout& layout = one.getModule()->getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    const std::uint64_t element = layout.getTypeAllocSize(first->getResultElementType()).getFixedValue();
    if (!address->accumulateConstantOffset(layout, offset) || element == 0 ||
        offset.getSExtValue() % static_cast<std::int64_t>(element) != 0)
      return nullptr;  // a member
    const bool is_split = llvm::any_of(first->users(), [&](const llvm::User* user) {
      const auto* by = llvm::dyn_cast<llvm::Instruction>(user);
      return by != nullptr && by->getDebugLoc() == first->getDebugLoc();
    });
    return is_split ? first : nullptr;
  }

  // Whether nvcc unrolls it whole, whatever it does. As in LLVM, it may be the larger the more vanishes.
  static bool is_small(const Size& size, unsigned iterations) {
    const auto all = static_cast<double>(size.cost - std::min(size.cost, size.extensions));
    const double left = std::max(1.0, all - static_cast<double>(size.vanishing));
    return left * iterations < kMostLeft * std::min(4.0, all / left);
  }

  // Whether its counter grows by more than one to a constant and is known not to be negative.
  static bool steps_unsigned(const llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    const auto* branch =
        latch == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    if (branch == nullptr || !branch->isConditional()) return false;
    const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    return compare != nullptr && compare->isUnsigned() &&
           llvm::isa<llvm::ConstantInt>(compare->getOperand(1)) &&
           llvm::SCEVExprContains(scalars.getBackedgeTakenCount(&loop),
                                  [](const llvm::SCEV* part) { return llvm::isa<llvm::SCEVUDivExpr>(part); });
  }

  // How many iterations become one; 1: it is left alone, or unrolled whole later.
  static unsigned partial(const llvm::Loop& loop, unsigned iterations, std::uint64_t size,
                          llvm::ScalarEvolution& scalars) {
    constexpr std::uint64_t control = 3;  // instructions that are there once
    if (!loop.isInnermost() || iterations == 1 || has_few(loop, iterations, scalars)) return 1;
    if (loop.getLoopLatch() == nullptr || !loop.isLoopExiting(loop.getLoopLatch())) return 1;
    if (iterations == 0 && loop.getExitingBlock() != loop.getLoopLatch()) return 1;
    const llvm::SCEV* times = scalars.getExitCount(&loop, loop.getLoopLatch());
    if (llvm::isa<llvm::SCEVCouldNotCompute>(times)) return 1;
    if (steps_unsigned(loop, scalars)) return 1;
    const auto by_variable = [](const llvm::SCEV* part) {
      const auto* quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(part);
      return quotient != nullptr && !llvm::isa<llvm::SCEVConstant>(quotient->getRHS());
    };
    if (llvm::SCEVExprContains(times, by_variable)) return 1;
    const bool odd = iterations % 2 != 0;
    unsigned count = iterations == 0 || odd ? kUnknown : kMost;
    const auto fits = [&] {
      return (std::max(size, control) - control) * count + control < kPartial &&
             (iterations == 0 || odd || iterations % count == 0);
    };
    while (count > 1 && (!fits() || (iterations != 0 && count >= iterations))) count /= 2;
    return count;
  }

  // The number of iterations, if none of them leaves the loop in another way. 0: unknown.
  static unsigned most_iterations(const llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getExitingBlocks(exits);
    unsigned most = 0;
    if (become_one(loop, exits)) return 0;
    for (const llvm::BasicBlock* exit : exits)
      if (const unsigned of = scalars.getSmallConstantTripCount(&loop, exit);
          of != 0 && (most == 0 || of < most))
        most = of;
    return most;
  }

  // Whether nvcc has one condition of both exits, `if (found) break;` at the end of an iteration and that of the loop: both lead to
  // the same place, and nothing but the counter is between them.
  static bool become_one(const llvm::Loop& loop, llvm::ArrayRef<llvm::BasicBlock*> exits) {
    if (exits.size() != 2) return false;
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    const llvm::BasicBlock* other = exits[0] == latch ? exits[1] : exits[0];
    if (other == latch || !llvm::is_contained(exits, latch) || latch->getSinglePredecessor() != other)
      return false;
    const auto leads_out = [&](const llvm::BasicBlock& from) {
      for (const llvm::BasicBlock* to : llvm::successors(&from))
        if (!loop.contains(to)) return to;
      return static_cast<const llvm::BasicBlock*>(nullptr);
    };
    constexpr std::ptrdiff_t most = 3;  // the sum, the comparison, the branch
    const llvm::BasicBlock* out = leads_out(*latch);
    return latch->sizeWithoutDebug() <= most && out == leads_out(*other) &&
           llvm::all_of(out->phis(), [&](const llvm::PHINode& phi) {
             return phi.getIncomingValueForBlock(latch) == phi.getIncomingValueForBlock(other);
           });
  }

  // Whether the condition of its end has two parts.
  static bool ends_in_two_ways(const llvm::Loop& loop) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getExitingBlocks(exits);
    if (become_one(loop, exits)) return true;
    return llvm::any_of(exits, [](const llvm::BasicBlock* exit) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(exit->getTerminator());
      const auto* both = branch == nullptr || !branch->isConditional()
                             ? nullptr
                             : llvm::dyn_cast<llvm::Instruction>(branch->getCondition());
      return both != nullptr && (llvm::isa<llvm::SelectInst>(both) || both->isBitwiseLogicOp());
    });
  }

  // Whether the number of iterations is unknown, but for a small bound, as that of `k < min(n, 8)`.
  static bool has_few(const llvm::Loop& loop, unsigned iterations, llvm::ScalarEvolution& scalars) {
    const unsigned most = iterations != 0 ? 0 : scalars.getSmallConstantMaxTripCount(&loop);
    return most != 0 && most <= kMost;
  }

  // Then the number of iterations may be known once those around it are unrolled.
  static bool depends_on_other_loops(const llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
    return llvm::SCEVExprContains(scalars.getBackedgeTakenCount(&loop), [](const llvm::SCEV* part) {
      return llvm::isa<llvm::SCEVAddRecExpr, llvm::SCEVCouldNotCompute>(part);
    });
  }

  // Whether an iteration accesses another element of a private array than the one before it.
  static bool chooses_element(const llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
    for (const llvm::BasicBlock* block : loop.blocks())
      for (const llvm::Instruction& one : *block) {
        const llvm::Value* address = llvm::getLoadStorePointerOperand(&one);
        if (address != nullptr && !loop.isLoopInvariant(address) &&
            !scalars.isLoopInvariant(scalars.getSCEV(const_cast<llvm::Value*>(address)), &loop) &&
            llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address)))
          return true;
      }
    return false;
  }

  bool last_;
};

// Accesses of different types may meet for nvcc, so that it keeps a store of a `double` in a loop that reads `float`s, and
// loads again what lies beside it. CopyElements still needs the types.
class ForgetTypes : public llvm::PassInfoMixin<ForgetTypes> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    for (llvm::Instruction& one : llvm::instructions(function)) {
      one.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr);
      one.setMetadata(llvm::LLVMContext::MD_tbaa_struct, nullptr);
    }
    return llvm::PreservedAnalyses::none();
  }
};

constexpr llvm::StringLiteral kHidden = "// warptime: hidden", kHiddenCase = "// warptime: hidden case";

// That `s` of `for (s = 1; s < n; s *= 2)` is a power of two, so that `i % (2 * s)` needs no division, is not known to nvcc, unless
// it unrolls the loop.
class HideDivisors : public llvm::PassInfoMixin<HideDivisors> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& scalars = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    std::vector<llvm::Instruction*> divisions;
    for (llvm::Instruction& one : llvm::instructions(function)) {
      const unsigned code = one.getOpcode();
      if (code != llvm::Instruction::URem && code != llvm::Instruction::SRem &&
          code != llvm::Instruction::UDiv && code != llvm::Instruction::SDiv)
        continue;
      const llvm::PHINode* carried = carried_by_loop(one.getOperand(1), 0);
      const llvm::Loop* loop = carried == nullptr ? nullptr : loops.getLoopFor(carried->getParent());
      if (loop != nullptr && scalars.getSmallConstantTripCount(loop) == 0) divisions.push_back(&one);
    }
    for (llvm::Instruction* one : divisions) hide(*one);
    return divisions.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
  }

 private:
  static void hide(llvm::Instruction& division) {
    llvm::Value* divisor = division.getOperand(1);
    llvm::Type* type = divisor->getType();
    if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return;
    llvm::InlineAsm* same = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), kHidden,
                                                 type->isIntegerTy(32) ? "=r,0" : "=l,0", false);
    llvm::CallInst* call = llvm::IRBuilder<>(&division).CreateCall(same, {divisor});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    division.setOperand(1, call);
  }

  // What a loop carries on and a value is computed from; null: nothing.
  static const llvm::PHINode* carried_by_loop(const llvm::Value* value, int depth) {
    constexpr int deepest = 4;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) return phi;
    const auto* one = llvm::dyn_cast<llvm::Instruction>(value);
    if (one == nullptr || depth == deepest || !(one->isBinaryOp() || one->isCast())) return nullptr;
    for (const llvm::Use& part : one->operands())
      if (const llvm::PHINode* phi = carried_by_loop(part.get(), depth + 1)) return phi;
    return nullptr;
  }
};

// What was hidden behind a text, before code is made of it.
class Show : public llvm::PassInfoMixin<Show> {
 public:
  explicit Show(llvm::StringRef text) : text_(text) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (llvm::Instruction& one : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* copy = llvm::dyn_cast<llvm::CallInst>(&one);
      const auto* text =
          copy == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(copy->getCalledOperand());
      if (text == nullptr || text->getAsmString() != text_) continue;
      copy->replaceAllUsesWith(copy->getArgOperand(0));
      copy->eraseFromParent();
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  llvm::StringRef text_;
};

// `if (x == 0) a; if (x == 31) b;` stays two branches with nvcc, where x differs between threads, and so do the branches of `else
// if`. LLVM makes a switch of them, unless it does not see that 0 and 31 are constants.
class HideCases : public llvm::PassInfoMixin<HideCases> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    // Branches on equality with a constant, by what is compared.
    llvm::MapVector<const llvm::Value*, std::vector<llvm::BranchInst*>> branches;
    for (llvm::BasicBlock& block : function)
      if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()); branch != nullptr)
        if (const llvm::ICmpInst* compare = equality_of(*branch);
            compare != nullptr && differs(*compare->getOperand(0), 0) == Differs::yes)
          branches[key_of(compare->getOperand(0))].push_back(branch);
    std::vector<llvm::ICmpInst*> cases;
    for (const auto& [value, all] : branches)
      for (llvm::BranchInst* one : all) {
        const bool has_other = llvm::any_of(all, [&](const auto* other) {
          return equality_of(*other)->getOperand(1) != equality_of(*one)->getOperand(1);
        });
        if (has_other && llvm::none_of(all, [&](const auto* other) { return are_one(*one, *other); }))
          cases.push_back(equality_of(*one));
      }
    for (llvm::ICmpInst* one : cases) hide(function, *one);
    return cases.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
  }

 private:
  static llvm::ICmpInst* equality_of(const llvm::BranchInst& branch) {
    if (!branch.isConditional()) return nullptr;
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition());
    return compare != nullptr && compare->isEquality() && llvm::isa<llvm::ConstantInt>(compare->getOperand(1))
               ? compare
               : nullptr;
  }

  // Part of one condition, as `x == 0 || x == 31` is: one leads to the other, and both lead to the same place.
  static bool are_one(const llvm::BranchInst& a, const llvm::BranchInst& b) {
    if (&a == &b || !(llvm::is_contained(a.successors(), b.getParent()) ||
                      llvm::is_contained(b.successors(), a.getParent())))
      return false;
    return llvm::any_of(a.successors(),
                        [&](const auto* to) { return llvm::is_contained(b.successors(), to); });
  }

  enum class Differs { no, yes, unknown };

  // Whether threads have different values. Unknown also where a loop carries the value on, which may be unrolled.
  static Differs differs(const llvm::Value& value, int depth) {
    constexpr int deepest = 8;
    if (llvm::isa<llvm::Constant>(value)) return Differs::no;
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return argument->getParent()->hasLocalLinkage() ? Differs::unknown : Differs::no;
    const auto* one = llvm::dyn_cast<llvm::Instruction>(&value);
    if (one == nullptr || depth == deepest) return Differs::unknown;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(one)) {
      const llvm::Value* object = llvm::getUnderlyingObject(load->getPointerOperand());
      if (llvm::isa<llvm::AllocaInst>(object)) return Differs::unknown;
      const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
      return argument != nullptr && argument->hasByValAttr() ? Differs::no : Differs::yes;
    }
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(one)) {
      const llvm::StringRef name =
          call->getCalledFunction() == nullptr ? "" : call->getCalledFunction()->getName();
      if (name.contains("threadIdx") || name.contains("sreg.tid")) return Differs::yes;
      if (name.contains("blockIdx") || name.contains("blockDim") || name.contains("gridDim"))
        return Differs::no;
      if (!llvm::isa<llvm::MinMaxIntrinsic>(call)) return Differs::unknown;
    } else if (!one->isBinaryOp() && !one->isCast() && !llvm::isa<llvm::SelectInst, llvm::CmpInst>(one)) {
      return Differs::unknown;
    }
    Differs all = Differs::no;
    for (const llvm::Use& part : one->operands()) {
      if (llvm::isa<llvm::Function>(part.get())) continue;
      const Differs of = differs(*part.get(), depth + 1);
      if (of == Differs::unknown) return of;
      if (of == Differs::yes) all = of;
    }
    return all;
  }

  // Each read of threadIdx.x is a call of its own at first.
  static const llvm::Value* key_of(const llvm::Value* value) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
    return call != nullptr && call->getCalledFunction() != nullptr ? call->getCalledFunction() : value;
  }

  static void hide(llvm::Function& function, llvm::ICmpInst& compare) {
    llvm::Type* type = compare.getOperand(1)->getType();
    if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return;
    llvm::InlineAsm* same = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), kHiddenCase,
                                                 type->isIntegerTy(32) ? "=r,0" : "=l,0", false);
    llvm::BasicBlock& entry = function.getEntryBlock();
    llvm::CallInst* call =
        llvm::IRBuilder<>(&entry, entry.getFirstInsertionPt()).CreateCall(same, {compare.getOperand(1)});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    compare.setOperand(1, call);
  }
};

// NVPTX loads with `ld.global.nc` what a kernel's pointer that is `const` and `__restrict__` leads to, but looks for it no further than
// six steps back, such as those of a pointer that is added to in each copy of an iteration. It need not look where it is told.
class NoteReadOnly : public llvm::PassInfoMixin<NoteReadOnly> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    if (function.hasLocalLinkage()) return llvm::PreservedAnalyses::all();  // no kernel
    constexpr unsigned as_far_as_it_goes = 0;
    for (llvm::Instruction& one : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&one);
      if (load == nullptr || !load->isSimple()) continue;
      llvm::SmallVector<const llvm::Value*, 4> objects;
      llvm::getUnderlyingObjects(load->getPointerOperand(), objects, nullptr, as_far_as_it_goes);
      if (llvm::all_of(objects, [](const llvm::Value* object) {
            const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
            return argument != nullptr && argument->onlyReadsMemory() && argument->hasNoAliasAttr() &&
                   !argument->hasByValAttr();
          }))
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
    }
    return llvm::PreservedAnalyses::all();
  }
};

// A division of an unsigned number by a constant is a product with a number of 32 bits where that is exact for all numbers. NVPTX has a
// smaller factor where it knows that the number is not as large; nvcc does so only where no factor of 32 bits is exact for all.
class DivideByProducts : public llvm::PassInfoMixin<DivideByProducts> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (llvm::Instruction& one : llvm::make_early_inc_range(llvm::instructions(function))) {
      const bool rest = one.getOpcode() == llvm::Instruction::URem;
      const auto* divisor = rest || one.getOpcode() == llvm::Instruction::UDiv
                                ? llvm::dyn_cast<llvm::ConstantInt>(one.getOperand(1))
                                : nullptr;
      if (divisor == nullptr || !one.getType()->isIntegerTy(32) || divisor->isZero() ||
          divisor->getValue().isPowerOf2())
        continue;
      const auto exact = llvm::UnsignedDivisionByConstantInfo::get(divisor->getValue(), 0, false);
      if (exact.IsAdd || exact.PreShift != 0) continue;
      llvm::IRBuilder<> builder(&one);
      constexpr std::uint64_t width = 32;
      llvm::Value* product = builder.CreateMul(builder.CreateZExt(one.getOperand(0), builder.getInt64Ty()),
                                               builder.getInt64(exact.Magic.getZExtValue()), "", true);
      llvm::Value* quotient =
          builder.CreateTrunc(builder.CreateLShr(product, width + exact.PostShift), builder.getInt32Ty());
      one.replaceAllUsesWith(
          rest ? builder.CreateSub(one.getOperand(0), builder.CreateMul(quotient, one.getOperand(1)))
               : quotient);
      one.eraseFromParent();
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }
};

// `data[k * n + i]` in a loop over k: LLVM 19 does not see that the sum stays within 32 bits where i is a sum itself, as that of the
// block's first thread and the thread is, computes it anew in each iteration and extends it. The extension of a sum that does not wrap
// around is the sum of the extensions, of which strength reduction makes a pointer that is added to, as nvcc has it.
class ExtendParts : public llvm::PassInfoMixin<ExtendParts> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.empty()) return llvm::PreservedAnalyses::all();
    auto& scalars = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    std::vector<llvm::CastInst*> extensions;
    for (llvm::Instruction& one : llvm::instructions(function))
      if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&one);
          cast != nullptr && is_extension(*cast) && loops.getLoopFor(cast->getParent()) != nullptr)
        extensions.push_back(cast);
    bool changed = false;
    for (llvm::CastInst* cast : extensions) {
      llvm::Loop& loop = *loops.getLoopFor(cast->getParent());
      if (!steps(*cast->getOperand(0), loop, scalars) || steps(*cast, loop, scalars)) continue;
      const bool always = is_always_reached(*cast, loop, dominators);
      if (!splits(*cast->getOperand(0), loop, scalars, always, 0)) continue;
      // What is extended there becomes one instruction with the product that strength reduction makes.
      if (loop.getLoopPreheader() == nullptr &&
          llvm::InsertPreheaderForLoop(&loop, &dominators, &loops, nullptr, false) == nullptr)
        continue;
      llvm::Value* sum = extended(*cast->getOperand(0), *cast, loop, scalars, always, 0);
      scalars.forgetValue(cast);
      cast->replaceAllUsesWith(sum);
      cast->eraseFromParent();
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static constexpr int kDeepest = 6;

  static bool is_extension(const llvm::CastInst& cast) {
    if (!cast.getSrcTy()->isIntegerTy(32) || !cast.getDestTy()->isIntegerTy(64)) return false;
    return llvm::isa<llvm::SExtInst>(cast) || (llvm::isa<llvm::ZExtInst>(cast) && cast.hasNonNeg());
  }

  // Whether each iteration adds the same to it.
  static bool steps(llvm::Value& value, const llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
    const auto* sum = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scalars.getSCEV(&value));
    return sum != nullptr && sum->getLoop() == &loop && sum->isAffine();
  }

  static bool is_sum(const llvm::Value& value) {
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&value);
    if (sum == nullptr) return false;
    if (const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(sum)) return bits->isDisjoint();
    return (sum->getOpcode() == llvm::Instruction::Add || sum->getOpcode() == llvm::Instruction::Sub) &&
           sum->hasNoSignedWrap();
  }

  static bool is_multiple(const llvm::Value& value, const llvm::Loop& loop) {
    const auto* product = llvm::dyn_cast<llvm::BinaryOperator>(&value);
    return product != nullptr && product->getOpcode() == llvm::Instruction::Mul &&
           product->hasNoSignedWrap() &&
           (loop.isLoopInvariant(product->getOperand(0)) || loop.isLoopInvariant(product->getOperand(1)));
  }

  // Whether each iteration comes to it.
  static bool is_always_reached(const llvm::Instruction& one, const llvm::Loop& loop,
                                const llvm::DominatorTree& dominators) {
    const llvm::BasicBlock* latch = loop.getLoopLatch();
    if (latch == nullptr || !dominators.dominates(one.getParent(), latch)) return false;
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getExitingBlocks(exits);
    return llvm::none_of(exits, [&](const auto* exit) {
      return exit != one.getParent() && dominators.dominates(exit, one.getParent());
    });
  }

  // Whether it is a sum of what does not change in the loop and what steps by the same once it is extended. nvcc sees that products do
  // not wrap around where each iteration comes to them.
  static bool can_extend(llvm::Value& value, const llvm::Loop& loop, llvm::ScalarEvolution& scalars,
                         bool always, int depth) {
    if (loop.isLoopInvariant(&value) || splits(value, loop, scalars, always, depth)) return true;
    const llvm::SCEV* whole =
        scalars.getSignExtendExpr(scalars.getSCEV(&value), llvm::Type::getInt64Ty(value.getContext()));
    return llvm::isa<llvm::SCEVAddRecExpr>(whole) && (always || !is_multiple(value, loop));
  }

  // Whether its parts are extended.
  static bool splits(llvm::Value& value, const llvm::Loop& loop, llvm::ScalarEvolution& scalars, bool always,
                     int depth) {
    if ((!is_sum(value) && !(always && is_multiple(value, loop))) || depth == kDeepest) return false;
    const auto& sum = llvm::cast<llvm::BinaryOperator>(value);
    return can_extend(*sum.getOperand(0), loop, scalars, always, depth + 1) &&
           can_extend(*sum.getOperand(1), loop, scalars, always, depth + 1);
  }

  static llvm::Value* extended(llvm::Value& value, llvm::Instruction& before, const llvm::Loop& loop,
                               llvm::ScalarEvolution& scalars, bool always, int depth) {
    llvm::Type* type = before.getType();
    const bool stays = loop.isLoopInvariant(&value);
    llvm::IRBuilder<> builder(stays ? loop.getLoopPreheader()->getTerminator() : &before);
    builder.SetCurrentDebugLocation(before.getDebugLoc());
    if (stays || !splits(value, loop, scalars, always, depth)) return builder.CreateSExt(&value, type);
    auto& sum = llvm::cast<llvm::BinaryOperator>(value);
    llvm::Value* first = extended(*sum.getOperand(0), before, loop, scalars, always, depth + 1);
    llvm::Value* second = extended(*sum.getOperand(1), before, loop, scalars, always, depth + 1);
    const auto kind = llvm::isa<llvm::PossiblyDisjointInst>(sum) ? llvm::Instruction::Add : sum.getOpcode();
    return builder.CreateBinOp(kind, first, second);
  }
};

// An address that was computed in two steps, `row + x` of `row = image + y * width`, is the sum of the steps beyond `image` for nvcc,
// in 64 bits. Where x is counted by a loop, strength reduction makes one pointer of it in either case.
class JoinOffsets : public llvm::PassInfoMixin<JoinOffsets> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (llvm::Instruction& one : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* outer = llvm::dyn_cast<llvm::GetElementPtrInst>(&one);
      if (outer == nullptr || !has_one_index(*outer)) continue;
      auto* inner = llvm::dyn_cast<llvm::GetElementPtrInst>(outer->getPointerOperand());
      if (inner == nullptr || !has_one_index(*inner) ||
          inner->getSourceElementType() != outer->getSourceElementType() ||
          inner->getOperand(1)->getType() != outer->getOperand(1)->getType() || is_on_chip(*inner))
        continue;
      llvm::IRBuilder<> builder(outer);
      llvm::Value* sum = builder.CreateAdd(outer->getOperand(1), inner->getOperand(1));
      outer->setOperand(0, inner->getPointerOperand());
      outer->setOperand(1, sum);
      outer->setIsInBounds(false);
      changed = true;
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  // Addresses of shared and local memory have 32 bits.
  static bool is_on_chip(const llvm::Value& address) {
    const llvm::Value* array = llvm::getUnderlyingObject(&address);
    return llvm::isa<llvm::AllocaInst>(array) || llvm::isa<llvm::GlobalVariable>(array);
  }

  static bool has_one_index(const llvm::GetElementPtrInst& address) {
    return address.getNumIndices() == 1 && !llvm::isa<llvm::Constant>(address.getOperand(1));
  }
};

// nvcc does not know how large the numbers of threads and blocks may be: neither that a thread's is not negative, nor that a step
// by the block's size is positive, without which the iterations of such a loop cannot be counted.
class ForgetRanges : public llvm::PassInfoMixin<ForgetRanges> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    for (llvm::Instruction& one : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
      if (call == nullptr || !call->getCalledFunction()->getName().starts_with("llvm.nvvm.read.ptx.sreg"))
        continue;
      call->removeRetAttr(llvm::Attribute::Range);
      call->setMetadata(llvm::LLVMContext::MD_range, nullptr);
    }
    return llvm::PreservedAnalyses::none();
  }
};

void add_passes(clang::CodeGenOptions& options, bool rolled, const SourceFacts& facts) {
  if (rolled) options.UnrollLoops = false;
  options.PassBuilderCallbacks.emplace_back([rolled, &facts](llvm::PassBuilder& builder) {
    builder.registerPipelineStartEPCallback(
        [rolled, &facts](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
          passes.addPass(KeepKernelsOnly(facts));
          passes.addPass(IntrinsicsReturn());
          passes.addPass(AlignDynamicSharedMemory());
          llvm::FunctionPassManager each;
          copy_elements(each);
          each.addPass(ForgetTypes());
          if (rolled) {
            each.addPass(DisableUnrolling());
          } else {
            each.addPass(ForgetRanges());
            each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
            each.addPass(HideDivisors());
            each.addPass(HideCases());
            each.addPass(NoteLoops());
          }
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
        });
    builder.registerPeepholeEPCallback([rolled](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
      passes.addPass(FoldMathOfConstants());
      passes.addPass(llvm::InstSimplifyPass());
      if (rolled) return;
      passes.addPass(UnrollAsAsked());
      passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    });
    if (rolled) return;
    builder.registerLateLoopOptimizationsEPCallback(
        [](llvm::LoopPassManager& passes, llvm::OptimizationLevel) { passes.addPass(UnrollLikeNvcc()); });
    builder.registerOptimizerEarlyEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(
          llvm::createFunctionToLoopPassAdaptor(UnrollLikeNvcc(true))));
    });
    builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
      llvm::FunctionPassManager each;
      each.addPass(Show(kHidden));
      each.addPass(UnrollRemainders());
      each.addPass(ExtendParts());
      each.addPass(JoinOffsets());
      each.addPass(llvm::SimplifyCFGPass());
      each.addPass(Show(kHiddenCase));
      each.addPass(llvm::InstSimplifyPass());
      each.addPass(llvm::EarlyCSEPass());
      each.addPass(MayUnrollAgain());
      each.addPass(BranchBack());
      each.addPass(SharedFragments());
      widen_accesses(each);
      each.addPass(NoteReadOnly());
      each.addPass(DivideByProducts());
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
    });
  });
}

// Notices when the source, rather than our headers, asks for the target.
class TargetQuestions : public clang::PPCallbacks {
 public:
  TargetQuestions(const clang::SourceManager& sources, bool& asked) : sources_(sources), asked_(asked) {}

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange,
                    const clang::MacroArgs*) override {
    check(name);
  }
  void Defined(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange) override {
    check(name);
  }
  void Ifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    check(name);
  }
  void Ifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    check(name);
  }
  void Elifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    check(name);
  }
  void Elifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition&) override {
    check(name);
  }

 private:
  void check(const clang::Token& name) {
    const clang::IdentifierInfo* identifier = name.getIdentifierInfo();
    if (asked_ || !identifier || !identifier->getName().starts_with("__CUDA_ARCH")) return;
    const llvm::StringRef file = sources_.getFilename(sources_.getExpansionLoc(name.getLocation()));
    asked_ = !file.starts_with(cuda_headers_folder);
  }

  const clang::SourceManager& sources_;
  bool& asked_;
};

std::vector<FileStamp> files_read(const clang::SourceManager& sources) {
  std::vector<FileStamp> files;
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
    if (std::optional<FileStamp> stamp = stamp_of(file->first.getName().str()))
      files.push_back(std::move(*stamp));
  }
  return files;
}

// What both actions do besides their own work.
struct Findings {
  bool strict = false;
  SourceFacts facts;
  HostCode host;
  bool asked_for_target = false;
  std::vector<FileStamp> files;

  void begin(clang::CompilerInstance& compiler) {
    if (!strict) host.attach(compiler);
    ignore_debug_pragmas(compiler.getPreprocessor());
    compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<TargetQuestions>(compiler.getSourceManager(), asked_for_target));
  }
  void end(clang::CompilerInstance& compiler) { files = files_read(compiler.getSourceManager()); }

  std::vector<std::unique_ptr<clang::ASTConsumer>> consumers() {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    if (!strict) consumers.push_back(host.make_consumer());
    consumers.push_back(make_fact_finder(facts));
    return consumers;
  }
};

class OptimiseAction : public clang::EmitLLVMOnlyAction {
 public:
  OptimiseAction(llvm::LLVMContext& context, Findings& findings)
      : EmitLLVMOnlyAction(&context), findings_(findings) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers = findings_.consumers();
    consumers.push_back(make_cast_truster());
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    if (!consumers.back()) return nullptr;
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    findings_.begin(compiler);
    return EmitLLVMOnlyAction::BeginSourceFileAction(compiler);
  }
  void EndSourceFileAction() override {
    findings_.end(getCompilerInstance());
    EmitLLVMOnlyAction::EndSourceFileAction();
  }

 private:
  Findings& findings_;
};

class ParseAction : public clang::ASTFrontendAction {
 public:
  explicit ParseAction(Findings& findings) : findings_(findings) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<clang::MultiplexConsumer>(findings_.consumers());
  }
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    findings_.begin(compiler);
    return ASTFrontendAction::BeginSourceFileAction(compiler);
  }

 private:
  Findings& findings_;
};

// What the user's flags may not change: nothing is written, and the PTX has lines but no debugging sections.
void settle(clang::CompilerInvocation& invocation) {
  clang::FrontendOptions& frontend = invocation.getFrontendOpts();
  frontend.ProgramAction = clang::frontend::EmitLLVMOnly;
  frontend.OutputFile.clear();
  frontend.SkipFunctionBodies = true;  // of system headers only: the fact finder decides
  frontend.ShowStats = false;
  frontend.DisableFree = false;  // the driver counts on the process to end
  invocation.getDependencyOutputOpts() = {};
  invocation.getLangOpts().CUDAAllowVariadicFunctions = true;
  clang::CodeGenOptions& code = invocation.getCodeGenOpts();
  code.setDebugInfo(llvm::codegenoptions::DebugDirectivesOnly);
  code.SaveTempsFilePrefix.clear();
  code.OptRecordFile.clear();
  code.TimePasses = false;
  code.DisableFree = false;
}

bool is_system_file(llvm::StringRef path) {
  return path.starts_with("/warptime/") || path.starts_with("/usr/include/") ||
         path.starts_with("/usr/lib/") || path.starts_with(WARPTIME_CLANG_RESOURCES);
}

// Instructions that were inlined from a system header (std::max) count for the line that called it.
void attribute_to_callers(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::DILocation* location = instruction.getDebugLoc();
      while (location && location->getInlinedAt() && is_system_file(location->getFilename())) {
        location = location->getInlinedAt();
      }
      instruction.setDebugLoc(location);
    }
  }
}

std::string to_bitcode(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  return bitcode;
}

// Code generation has no source position to speak of; its errors are rare (a stack too large, an unsupported
// operation).
class CodeGenerationErrors : public llvm::DiagnosticHandler {
 public:
  explicit CodeGenerationErrors(Diagnostics& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    errors_.push_back(error(stream.str()));
    return true;
  }

 private:
  Diagnostics& errors_;
};

// LLVM numbers calls through the whole life of the process: `{ // callseq 7, 0`, `prototype_7`. Here they
// count from 0, so that the same source gives the same text.
std::string renumber_calls(llvm::StringRef ptx) {
  std::string result;
  std::map<std::string, std::size_t> numbers;
  while (!ptx.empty()) {
    const std::size_t at = std::min(ptx.find("callseq "), ptx.find("prototype_"));
    if (at == llvm::StringRef::npos) break;
    const std::size_t digits = ptx.find_first_of(" _", at) + 1;
    const std::size_t end = std::min(ptx.find_first_not_of("0123456789", digits), ptx.size());
    const std::string number = ptx.slice(digits, end).str();
    result += ptx.take_front(digits);
    if (!number.empty()) result += std::to_string(numbers.emplace(number, numbers.size()).first->second);
    ptx = ptx.drop_front(end);
  }
  return result + ptx.str();
}

// LLVM 19 forgets to set the generic address of a function's local memory, %SP, where addresses of shared memory have 32 bits.
std::string set_stack_pointers(llvm::StringRef ptx) {
  constexpr llvm::StringLiteral depot = "%SPL, __local_depot", set = "cvta.local.u64 \t%SP, %SPL;";
  std::string result;
  for (std::size_t at = ptx.find(depot); at != llvm::StringRef::npos; at = ptx.find(depot)) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    result += ptx.take_front(end);
    ptx = ptx.drop_front(end);
    if (!ptx.ltrim().starts_with(set)) result += fmt::format("\t{}\n", std::string_view(set));
  }
  return result + ptx.str();
}

// Functions carry the target that they were made for.
void retarget(llvm::Module& module, const std::string& target, const std::string& features) {
  for (llvm::Function& function : module) {
    if (function.hasFnAttribute("target-cpu")) function.addFnAttr("target-cpu", target);
    if (function.hasFnAttribute("target-features")) function.addFnAttr("target-features", features);
  }
}

Diagnostic clang_note(std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::note;
  diagnostic.message = std::move(message);
  return diagnostic;
}

// "k.cu:3:4: error: no member named 'x'" -> without the word.
std::string without_severity(std::string line) {
  const std::size_t at = line.find("error: ");
  return at == std::string::npos ? line : line.erase(at, 7);
}

// Where device code has errors, what is missing may be why; where it has none, it does without.
void add_notes(OptimisedModule& module, const Diagnostics& aside, const std::vector<std::string>& missing) {
  constexpr std::size_t shown = 3;
  if (!module.errors.empty()) {
    if (const std::string hint = hint_about_headers(missing); !hint.empty())
      module.errors.back().verbatim += "hint: " + hint + "\n";
    return;
  }
  if (!missing.empty()) {
    module.warnings.push_back(
        clang_note(fmt::format("not found, and taken as empty: {}", fmt::join(missing, ", "))));
  }
  if (aside.empty()) return;
  module.host_errors = true;
  std::string text = fmt::format("{} error{} in host code, which no kernel depends on:", aside.size(),
                                 aside.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(shown, aside.size()); ++i)
    text += "\n  " + without_severity(aside[i].message);
  if (aside.size() > shown) text += fmt::format("\n  and {} more", aside.size() - shown);
  module.warnings.push_back(clang_note(text));
}

// `found` are at offsets in files with `before`.
SourceInsertions together(const SourceInsertions& before, const SourceInsertions& found) {
  SourceInsertions all = before;
  for (const auto& [path, insertions] : found) {
    const auto known = before.find(path);
    for (const auto& [offset, text] : insertions)
      all[path].emplace(known == before.end() ? offset : offset_without(offset, known->second), text);
  }
  return all;
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  const std::int64_t seconds = status.st_mtim.tv_sec;
  return FileStamp{path, status.st_size, seconds * 1'000'000'000 + status.st_mtim.tv_nsec};
}

OptimisedModule make_module(const ClangRequest& request, int parts, const SourceInsertions& insertions) {
  OptimisedModule result;
  const SourceTree sources = make_source_tree(request.file, request.text, insertions);
  result.invocation = std::make_shared<clang::CompilerInvocation>();
  const auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  DiagnosticCollector about_flags(options.get());
  {
    clang::DiagnosticsEngine engine(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), options, &about_flags,
                                    false);
    result.errors = make_invocation(*result.invocation, request, parts, sources, engine);
  }
  about_flags.drain(result.errors, result.warnings);
  if (!result.errors.empty()) return result;
  Findings findings;
  findings.strict = request.strict;
  settle(*result.invocation);
  add_passes(result.invocation->getCodeGenOpts(), request.rolled, findings.facts);

  clang::CompilerInstance compiler;
  compiler.setInvocation(result.invocation);
  DiagnosticCollector collector(&compiler.getDiagnosticOpts());
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  compiler.createFileManager(sources.files);
  compiler.setVerboseOutputStream(llvm::nulls());
  if (!insertions.empty()) compiler.getDiagnosticOpts().ErrorLimit = 0;  // to see all that is called, at once
  if (!request.strict) {
    collector.observe([&](const clang::Diagnostic& diagnostic) { findings.host.observe(diagnostic); });
    collector.set_aside(compiler.getDiagnostics(),
                        [&](const clang::Diagnostic& error) { return findings.host.is_host_error(error); });
  }
  llvm::LLVMContext context;
  if (request.signatures_only || request.host_launches) {
    ParseAction action(findings);
    compiler.ExecuteAction(action);
  } else {
    OptimiseAction action(context, findings);
    const bool good = compiler.ExecuteAction(action);
    if (const std::unique_ptr<llvm::Module> module = action.takeModule(); module) {
      llvm::clearAnnotationCache(module.get());
      attribute_to_callers(*module);
      result.target_neutral = is_target_neutral(*module);
      if (good) result.bitcode = to_bitcode(*module);
      result.data_layout = compiler.getTarget().getDataLayoutString();
    }
  }
  result.invocation->getCodeGenOpts().PassBuilderCallbacks.clear();  // they refer to what ends here
  const Diagnostics aside = collector.drain_aside();
  const std::vector<bool> matter = findings.host.errors_that_matter();
  for (std::size_t i = 0; i < std::min(aside.size(), matter.size()); ++i) {
    if (matter[i]) result.errors.push_back(aside[i]);
  }
  collector.drain(result.errors, result.warnings);
  add_notes(result, aside, findings.host.missing_headers());
  result.helpful_insertions = together(insertions, findings.host.helpful_insertions());
  result.names_called_from_device = findings.host.names_called_from_device();
  result.kernels_launched_from_device = findings.host.kernels_launched_from_device();
  result.facts = std::move(findings.facts);
  result.target_dependent = findings.asked_for_target || result.facts.target_dependent;
  result.files = std::move(findings.files);
  return result;
}

namespace {

// PTX names files in strings without escapes.
void make_file_names_plain(llvm::Module& module) {
  llvm::DebugInfoFinder found;
  found.processModule(module);
  const auto make_plain = [](const llvm::DIScope* scope) {
    llvm::DIFile* file = scope == nullptr ? nullptr : scope->getFile();
    if (file == nullptr) return;
    for (unsigned i = 0; i < 2; ++i) {  // its name and its folder
      const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(file->getOperand(i).get());
      if (text == nullptr) continue;
      const std::string plain = plain_name(text->getString());
      if (plain != text->getString())
        file->replaceOperandWith(i, llvm::MDString::get(file->getContext(), plain));
    }
  };
  for (const llvm::DICompileUnit* unit : found.compile_units()) make_plain(unit);
  for (const llvm::DISubprogram* function : found.subprograms()) make_plain(function);
  for (const llvm::DIScope* scope : found.scopes()) make_plain(scope);
}

}  // namespace

std::string make_ptx(const OptimisedModule& module, const std::string& target, Diagnostics& errors) {
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<CodeGenerationErrors>(errors));
  llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(module.bitcode, "source"), context);
  if (!parsed) {
    errors.push_back(error("LLVM does not read its own module: " + llvm::toString(parsed.takeError())));
    return {};
  }
  clang::CompilerInvocation invocation(*module.invocation);
  const std::string features = fmt::format("{},+{}", ptx_feature(target), target);
  invocation.getTargetOpts().CPU = target;
  invocation.getTargetOpts().Features = {ptx_feature(target), "+" + target};
  invocation.getCodeGenOpts().DisableLLVMPasses = true;  // they have run
  retarget(**parsed, target, features);
  make_file_names_plain(**parsed);

  DiagnosticCollector collector(&invocation.getDiagnosticOpts());
  clang::DiagnosticsEngine engine(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(),
                                  &invocation.getDiagnosticOpts(), &collector, /*ShouldOwnClient=*/false);
  llvm::SmallString<0> ptx;
  clang::EmitBackendOutput(engine, invocation.getHeaderSearchOpts(), invocation.getCodeGenOpts(),
                           invocation.getTargetOpts(), invocation.getLangOpts(), module.data_layout,
                           parsed->get(), clang::Backend_EmitAssembly, llvm::vfs::getRealFileSystem(),
                           std::make_unique<llvm::raw_svector_ostream>(ptx));
  llvm::clearAnnotationCache(parsed->get());
  Diagnostics warnings;
  collector.drain(errors, warnings);
  return set_stack_pointers(renumber_calls(ptx.str()));
}

}  // namespace warptime::compiling
