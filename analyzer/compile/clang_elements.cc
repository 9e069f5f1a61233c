#include "analyzer/compile/clang_elements.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace warptime::compiling {

namespace {

// An access that is part of the copy of a whole structure. A load says at which offset of the structure it is, and to how many
// bytes that is aligned.
constexpr llvm::StringLiteral kCopied = "warptime.copied";

llvm::MDNode* mark_of_copied(llvm::LLVMContext& context, std::int64_t offset, std::int64_t alignment) {
  const auto number = [&](std::int64_t value) {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value));
  };
  return llvm::MDNode::get(context, {number(offset), number(alignment)});
}

// `replace` is given each of these instructions, which it may erase, and returns whether it has.
template <class Kind>
llvm::PreservedAnalyses replace_each(llvm::Function& function, bool (*replace)(Kind&)) {
  std::vector<Kind*> found;
  for (llvm::Instruction& one : llvm::instructions(function))
    if (auto* of_kind = llvm::dyn_cast<Kind>(&one)) found.push_back(of_kind);
  bool changed = false;
  for (Kind* one : found) changed |= replace(*one);
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

// What clang copies as bytes is copied element by element, as nvcc does: LLVM makes one access of four elements then that
// are aligned (`ld.global.v4.f32` of a float4), and two of the eight bytes each that a copy of 16 bytes is otherwise.
class CopyElements : public llvm::PassInfoMixin<CopyElements> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return replace_each<llvm::MemCpyInst>(function, by_elements);
  }

 private:
  struct Element {
    std::uint64_t offset = 0;
    llvm::Type* type = nullptr;
    llvm::MDNode* tag = nullptr;
  };
  static constexpr std::uint64_t kMostBytes = 64, kMostPadding = 16;

  static bool by_elements(llvm::MemCpyInst& copy) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    if (length == nullptr || length->getZExtValue() > kMostBytes || copy.isVolatile()) return false;
    const llvm::Align from = copy.getSourceAlign().valueOrOne(), to = copy.getDestAlign().valueOrOne();
    const std::vector<Element> elements = elements_of(copy, length->getZExtValue());
    if (elements.empty() || !are_together(copy, elements, std::max(from, to))) return false;
    llvm::IRBuilder<> builder(&copy);
    const auto place = [&](llvm::Value* base, const Element& element) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, element.offset);
    };
    std::vector<llvm::LoadInst*> loads;
    for (const Element& element : elements) {
      loads.push_back(builder.CreateAlignedLoad(element.type, place(copy.getSource(), element),
                                                llvm::commonAlignment(from, element.offset)));
      loads.back()->setMetadata(llvm::LLVMContext::MD_tbaa, element.tag);
      loads.back()->setMetadata(kCopied,
                                mark_of_copied(copy.getContext(), static_cast<std::int64_t>(element.offset),
                                               static_cast<std::int64_t>(from.value())));
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      llvm::StoreInst* store = builder.CreateAlignedStore(loads[i], place(copy.getDest(), elements[i]),
                                                          llvm::commonAlignment(to, elements[i].offset));
      store->setMetadata(llvm::LLVMContext::MD_tbaa, elements[i].tag);
      store->setMetadata(kCopied, llvm::MDNode::get(copy.getContext(), {}));
    }
    copy.eraseFromParent();
    return true;
  }

  // Whether two elements at least are one access. What has elements of less than four bytes stays whole where it only goes from one
  // place in memory to another.
  static bool are_together(const llvm::MemCpyInst& copy, const std::vector<Element>& elements,
                           llvm::Align alignment) {
    constexpr std::uint64_t small = 4;
    const llvm::DataLayout& layout = copy.getModule()->getDataLayout();
    std::uint64_t least = alignment.value();
    for (const Element& element : elements)
      least = std::min(least, layout.getTypeStoreSize(element.type).getFixedValue());
    return alignment.value() >= 2 * least &&
           (least >= small || llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(copy.getSource())) ||
            llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(copy.getDest())));
  }

  // As the copy's metadata says; none where that is not known, or where something lies between elements.
  static std::vector<Element> elements_of(const llvm::MemCpyInst& copy, std::uint64_t length) {
    const llvm::MDNode* fields = copy.getMetadata(llvm::LLVMContext::MD_tbaa_struct);
    if (fields == nullptr) return {};
    const auto number = [](const llvm::MDOperand& operand) {
      const auto* value = llvm::mdconst::dyn_extract<llvm::ConstantInt>(operand);
      return value == nullptr ? std::uint64_t{0} : value->getZExtValue();
    };
    std::vector<Element> elements;
    std::uint64_t end = 0;
    for (unsigned i = 0; i + 2 < fields->getNumOperands(); i += 3) {
      const std::uint64_t size = number(fields->getOperand(i + 1));
      auto* tag = llvm::dyn_cast<llvm::MDNode>(fields->getOperand(i + 2));
      llvm::Type* type = type_of(tag, size, copy.getContext());
      if (number(fields->getOperand(i)) != end || type == nullptr) return {};
      elements.push_back({end, type, tag});
      end += size;
    }
    // Less than the alignment may be left over behind several.
    const bool padded = elements.size() > 1 && end < length && length - end < kMostPadding;
    return end == length || padded ? elements : std::vector<Element>();
  }

  // Null: of other sizes than a field of one element has.
  static llvm::Type* type_of(const llvm::MDNode* tag, std::uint64_t size, llvm::LLVMContext& context) {
    if (tag == nullptr || tag->getNumOperands() < 2) return nullptr;
    const auto* access = llvm::dyn_cast<llvm::MDNode>(tag->getOperand(1));
    const auto* name = access == nullptr || access->getNumOperands() == 0
                           ? nullptr
                           : llvm::dyn_cast<llvm::MDString>(access->getOperand(0));
    if (name == nullptr) return nullptr;
    if (name->getString() == "float") return size == 4 ? llvm::Type::getFloatTy(context) : nullptr;
    if (name->getString() == "double") return size == 8 ? llvm::Type::getDoubleTy(context) : nullptr;
    if (name->getString() == "int") return size == 4 ? llvm::Type::getInt32Ty(context) : nullptr;
    if (name->getString() == "omnipotent char") return size == 1 ? llvm::Type::getInt8Ty(context) : nullptr;
    if (name->getString() == "short") return size == 2 ? llvm::Type::getInt16Ty(context) : nullptr;
    if (name->getString() == "long" || name->getString() == "long long")
      return size == 8 ? llvm::Type::getInt64Ty(context) : nullptr;
    return nullptr;
  }
};

// An array of a thread that begins with constants: clang copies them from a constant array in global memory, and reads that in
// place of the thread's where nothing else is written to it. nvcc stores them in the thread's array, in pieces of up to 16 bytes,
// and of 8 from 256 bytes or 128 elements on (NVPTX joins what is stored side by side).
class StoreFirstValues : public llvm::PassInfoMixin<StoreFirstValues> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return replace_each<llvm::MemCpyInst>(function, as_stores);
  }

 private:
  static constexpr std::uint64_t kMostBytes = 8192, kLong = 256, kMany = 128;

  static bool as_stores(llvm::MemCpyInst& copy) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    auto* from = llvm::dyn_cast<llvm::GlobalVariable>(copy.getSource()->stripPointerCasts());
    if (length == nullptr || from == nullptr || !from->isConstant() || !from->hasDefinitiveInitializer() ||
        copy.isVolatile())
      return false;
    auto* array = llvm::dyn_cast<llvm::AllocaInst>(copy.getDest()->stripPointerCasts());
    if (array == nullptr) return false;
    const std::uint64_t bytes = length->getZExtValue();
    if (bytes == 0 || bytes > kMostBytes) return false;
    const llvm::DataLayout& layout = copy.getModule()->getDataLayout();
    llvm::Type* type = piece_of(*from->getInitializer()->getType(), bytes, layout);
    if (type == nullptr) return false;
    const std::uint64_t step = layout.getTypeStoreSize(type).getFixedValue();
    std::vector<llvm::Constant*> pieces;
    for (std::uint64_t at = 0; at < bytes; at += step) {
      pieces.push_back(
          llvm::ConstantFoldLoadFromConst(from->getInitializer(), type, llvm::APInt(64, at), layout));
      if (pieces.back() == nullptr) return false;
    }
    for (const std::uint64_t together : {8, 16})
      if (bytes % together == 0) array->setAlignment(std::max(array->getAlign(), llvm::Align(together)));
    llvm::IRBuilder<> builder(&copy);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      builder.CreateAlignedStore(
          pieces[i], builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getDest(), i * step),
          llvm::commonAlignment(array->getAlign(), i * step));
    copy.eraseFromParent();
    return true;
  }

  // What is stored at once; null: they are of several sizes.
  static llvm::Type* piece_of(llvm::Type& of, std::uint64_t bytes, const llvm::DataLayout& layout) {
    llvm::Type* element = &of;
    while (auto* array = llvm::dyn_cast<llvm::ArrayType>(element)) element = array->getElementType();
    if (!element->isIntegerTy() && !element->isFloatTy() && !element->isDoubleTy()) return nullptr;
    const std::uint64_t size = layout.getTypeStoreSize(element).getFixedValue();
    if ((bytes >= kLong || bytes / size >= kMany) && bytes % 8 == 0)
      return llvm::Type::getInt64Ty(of.getContext());
    if (size < 4 && bytes % 4 == 0) return llvm::Type::getInt32Ty(of.getContext());
    return bytes % size == 0 ? element : nullptr;
  }
};

// LLVM makes a memset of the zeros of a float4, and of that two stores of eight bytes. nvcc has one of four elements.
class SetElements : public llvm::PassInfoMixin<SetElements> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return replace_each<llvm::MemSetInst>(function, by_vectors);
  }

 private:
  static constexpr std::uint64_t kMostBytes = 128, kBytes = 16;

  static bool by_vectors(llvm::MemSetInst& set) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(set.getLength());
    const auto* value = llvm::dyn_cast<llvm::ConstantInt>(set.getValue());
    if (length == nullptr || value == nullptr || !value->isZero() || set.isVolatile()) return false;
    const std::uint64_t bytes = length->getZExtValue();
    if (bytes > kMostBytes || bytes % kBytes != 0 || set.getDestAlign().valueOrOne() < kBytes) return false;
    llvm::IRBuilder<> builder(&set);
    auto* zeros = llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder.getInt32Ty(), 4));
    for (std::uint64_t at = 0; at < bytes; at += kBytes)
      builder.CreateAlignedStore(zeros,
                                 builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), set.getDest(), at),
                                 llvm::Align(kBytes));
    set.eraseFromParent();
    return true;
  }
};

// NVPTX joins accesses that lie side by side, and no others: of a float4 of which x, y and z are used, it loads two elements and one.
// nvcc 13.0 loads all four at once, as soon as two of the elements are used and the alignment allows it (measured on 50
// structures of the headers and of the source's own). And where a whole structure is stored, it stores what has not changed, too;
// LLVM leaves that out.
class WidenAccesses : public llvm::PassInfoMixin<WidenAccesses> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    auto& aliases = analyses.getResult<llvm::AAManager>(function);
    const Alignments alignments = alignments_of(function);
    bool changed = false;
    for (llvm::BasicBlock& block : function) changed |= load_what_is_stored(block, alignments, aliases);
    changed |= load_copies(function, aliases, analyses.getResult<llvm::DominatorTreeAnalysis>(function));
    for (llvm::BasicBlock& block : function) {
      changed |= widen_loads(block, alignments, aliases);
      changed |= widen_stores(block, alignments, aliases);
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static constexpr std::int64_t kMostBytes = 16, kMostElements = 4;
  static constexpr int kFarthest = 1000;  // instructions, so that long blocks take no time of their square

  // An access of one element, at so many bytes from what its address begins with.
  struct Access {
    llvm::Instruction* instruction = nullptr;
    llvm::Value* base = nullptr;
    std::int64_t offset = 0;
    llvm::Type* type = nullptr;
    std::int64_t element = 0;  // its bytes
    llvm::Align align;
  };

  // Which offset from a base is a multiple of so many bytes, the most that any access to it shows.
  struct Aligned {
    std::int64_t bytes = 1, offset = 0;
  };
  using Alignments = llvm::DenseMap<const llvm::Value*, Aligned>;

  // None: it is of several elements, volatile, or not of memory that threads share.
  static std::optional<Access> access_of(llvm::Instruction& one) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&one);
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&one);
    if ((load == nullptr || !load->isSimple()) && (store == nullptr || !store->isSimple()))
      return std::nullopt;
    llvm::Type* type = llvm::getLoadStoreType(&one);
    if (!type->isIntegerTy(8) && !type->isIntegerTy(16) && !type->isIntegerTy(32) && !type->isIntegerTy(64) &&
        !type->isFloatTy() && !type->isDoubleTy() && !type->isHalfTy())
      return std::nullopt;
    const llvm::DataLayout& layout = one.getModule()->getDataLayout();
    llvm::Value* address = llvm::getLoadStorePointerOperand(&one);
    llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    llvm::Value* base = address->stripAndAccumulateConstantOffsets(layout, offset, true);
    const llvm::Value* object = llvm::getUnderlyingObject(base);
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
    constexpr unsigned constants = 4;  // NVPTX's address space
    if (llvm::isa<llvm::AllocaInst>(object) || base->getType() != address->getType() ||
        (variable != nullptr && variable->getAddressSpace() == constants))
      return std::nullopt;
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
        argument != nullptr && argument->hasByValAttr())
      return std::nullopt;
    const auto element = static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue());
    return Access{&one, base, offset.getSExtValue(), type, element, llvm::getLoadStoreAlignment(&one)};
  }

  static Alignments alignments_of(llvm::Function& function) {
    Alignments alignments;
    for (llvm::Instruction& one : llvm::instructions(function))
      if (const auto access = access_of(one)) {
        const auto bytes =
            static_cast<std::int64_t>(std::min<std::uint64_t>(access->align.value(), kMostBytes));
        Aligned& known = alignments[access->base];
        if (bytes > known.bytes) known = {bytes, access->offset};
      }
    return alignments;
  }

  // Accesses of one kind to elements of one aligned piece of memory, in their order.
  struct Piece {
    llvm::Value* base = nullptr;
    std::int64_t offset = 0, element = 0, count = 0;
    std::vector<Access> accesses;
    bool has(std::int64_t at) const {
      return llvm::any_of(accesses,
                          [&](const Access& access) { return access.offset == offset + at * element; });
    }
    std::int64_t present() const {
      std::int64_t number = 0;
      for (std::int64_t at = 0; at < count; ++at) number += has(at) ? 1 : 0;
      return number;
    }
    bool includes(const llvm::Instruction* one) const {
      return llvm::any_of(accesses, [&](const Access& access) { return access.instruction == one; });
    }
  };

  // The bytes of the piece that an element is in, and where it begins, of a structure that is so aligned.
  static std::pair<std::int64_t, std::int64_t> piece_around(std::int64_t offset, std::int64_t element,
                                                            std::int64_t alignment) {
    const std::int64_t bytes = std::min({kMostBytes, alignment, element * kMostElements});
    return {bytes, offset - (offset % bytes + bytes) % bytes};
  }

  // The pieces that the block's loads (or stores) belong to, without those of one element.
  static std::vector<Piece> pieces_of(llvm::BasicBlock& block, bool loads, const Alignments& alignments) {
    std::vector<Piece> pieces;
    for (llvm::Instruction& one : block) {
      if (loads != llvm::isa<llvm::LoadInst>(one)) continue;
      const auto access = access_of(one);
      if (!access) continue;
      const Aligned known = alignments.lookup(access->base);
      const std::int64_t element = access->element, from = access->offset - known.offset;
      const auto [bytes, first] = piece_around(from, element, known.bytes);
      if (bytes < 2 * element || from % element != 0) continue;
      const std::int64_t begin = known.offset + first;
      const auto same = [&](const Piece& piece) {
        return piece.base == access->base && piece.offset == begin && piece.element == element;
      };
      auto found = std::find_if(pieces.rbegin(), pieces.rend(), same);
      if (found == pieces.rend()) {
        pieces.push_back({access->base, begin, element, bytes / element, {}});
        found = pieces.rbegin();
      }
      found->accesses.push_back(*access);
    }
    return pieces;
  }

  // Where an access at an offset from this address, whatever it is, may be.
  static llvm::MemoryLocation around(const llvm::Instruction& one) {
    return llvm::MemoryLocation::getBeforeOrAfter(llvm::getLoadStorePointerOperand(&one));
  }

  static llvm::Value* address_of(llvm::IRBuilder<>& builder, const Piece& piece) {
    return piece.offset == 0 ? piece.base
                             : builder.CreateConstGEP1_64(builder.getInt8Ty(), piece.base,
                                                          static_cast<std::uint64_t>(piece.offset));
  }

  static llvm::FixedVectorType* vector_of(const Piece& piece) {
    return llvm::FixedVectorType::get(piece.accesses.front().type, static_cast<unsigned>(piece.count));
  }

  // What a load of a copied structure says of itself: its offset there, and the structure's alignment.
  static std::optional<std::pair<std::int64_t, std::int64_t>> place_in_copy(const llvm::Instruction& one) {
    const llvm::MDNode* mark = one.getMetadata(kCopied);
    if (mark == nullptr || mark->getNumOperands() != 2) return std::nullopt;
    const auto number = [&](unsigned operand) {
      return llvm::mdconst::extract<llvm::ConstantInt>(mark->getOperand(operand))->getSExtValue();
    };
    return std::pair(number(0), number(1));
  }

  // Loads of elements that a structure is copied by are one load, at the place of the first, wherever the others have gone: LLVM moves
  // them to where their elements are used.
  static bool load_copies(llvm::Function& function, llvm::AAResults& aliases,
                          llvm::DominatorTree& dominators) {
    std::vector<std::pair<Access, Piece>> found;
    for (llvm::Instruction& one : llvm::instructions(function)) {
      const auto place = llvm::isa<llvm::LoadInst>(one) ? place_in_copy(one) : std::nullopt;
      const auto access = place ? access_of(one) : std::nullopt;
      if (!access) continue;
      const std::int64_t element = access->element;
      const auto [bytes, begin] = piece_around(place->first, element, place->second);
      if (bytes < 2 * element || (place->first - begin) % element != 0) continue;
      found.push_back(
          {*access, {access->base, access->offset - (place->first - begin), element, bytes / element, {}}});
    }
    if (found.size() < 2) return false;
    llvm::MemorySSA memory(function, &aliases, &dominators);
    // By the place in the source, since one that is copied in two branches may be out of bounds before them, and by what has written
    // there last.
    using Origin = std::pair<const void*, const llvm::MemoryAccess*>;
    std::vector<std::pair<Origin, Piece>> pieces;
    for (auto& [access, piece] : found) {
      const llvm::DILocation* place = access.instruction->getDebugLoc().get();
      const Origin origin{
          place != nullptr ? static_cast<const void*>(place) : access.instruction->getParent(),
          memory.getWalker()->getClobberingMemoryAccess(access.instruction)};
      const auto same = [&](const auto& other) {
        return other.first == origin && other.second.base == piece.base &&
               other.second.offset == piece.offset && other.second.element == piece.element &&
               other.second.count == piece.count;
      };
      auto known = std::find_if(pieces.begin(), pieces.end(), same);
      if (known == pieces.end()) known = pieces.insert(pieces.end(), {origin, piece});
      known->second.accesses.push_back(access);
    }
    bool changed = false;
    for (auto& [origin, piece] : pieces) {
      if (piece.present() < 2) continue;
      load_whole(piece, *first_of(piece, dominators));
      changed = true;
    }
    return changed;
  }

  // Before which instruction all of the piece is loaded.
  static llvm::Instruction* first_of(const Piece& piece, const llvm::DominatorTree& dominators) {
    llvm::BasicBlock* block = piece.accesses.front().instruction->getParent();
    for (const Access& access : piece.accesses)
      block = dominators.findNearestCommonDominator(block, access.instruction->getParent());
    llvm::Instruction* first = block->getTerminator();
    for (const Access& access : piece.accesses)
      if (access.instruction->getParent() == block && access.instruction->comesBefore(first))
        first = access.instruction;
    return first;
  }

  static void load_whole(const Piece& piece, llvm::Instruction& before) {
    llvm::IRBuilder<> builder(&before);
    builder.SetCurrentDebugLocation(piece.accesses.front().instruction->getDebugLoc());
    llvm::LoadInst* all =
        builder.CreateAlignedLoad(vector_of(piece), address_of(builder, piece),
                                  llvm::Align(static_cast<std::uint64_t>(piece.element * piece.count)));
    for (const Access& access : piece.accesses) {
      llvm::Value* element = builder.CreateExtractElement(
          all, static_cast<std::uint64_t>((access.offset - piece.offset) / piece.element));
      access.instruction->replaceAllUsesWith(builder.CreateBitCast(element, access.type));
    }
    for (const Access& access : piece.accesses) access.instruction->eraseFromParent();
  }

  // Where a copied structure is changed and copied back, LLVM has left out what has not changed. It is loaded and stored, too.
  static bool load_what_is_stored(llvm::BasicBlock& block, const Alignments& alignments,
                                  llvm::AAResults& aliases) {
    bool changed = false;
    for (const Piece& piece : pieces_of(block, false, alignments)) {
      if (piece.present() == piece.count || !is_copy(piece)) continue;
      const llvm::MemoryLocation place = around(*piece.accesses.front().instruction);
      int steps = 0;
      for (llvm::Instruction* at = piece.accesses.front().instruction->getPrevNode();
           at != nullptr && ++steps < kFarthest; at = at->getPrevNode()) {
        if (at->mayWriteToMemory() && llvm::isModSet(aliases.getModRefInfo(at, place))) break;
        auto* load = llvm::dyn_cast<llvm::LoadInst>(at);
        const auto mark = load == nullptr ? std::nullopt : place_in_copy(*load);
        const auto access = mark ? access_of(*load) : std::nullopt;
        if (!access || access->base != piece.base || access->offset < piece.offset ||
            access->offset >= piece.offset + piece.element * piece.count || access->element != piece.element)
          continue;
        llvm::IRBuilder<> builder(load);
        for (std::int64_t i = 0; i < piece.count; ++i) {
          const std::int64_t offset = piece.offset + i * piece.element;
          if (piece.has(i) || offset == access->offset) continue;
          llvm::LoadInst* other = builder.CreateAlignedLoad(
              access->type,
              builder.CreateConstGEP1_64(builder.getInt8Ty(), piece.base, static_cast<std::uint64_t>(offset)),
              llvm::Align(static_cast<std::uint64_t>(piece.element)));
          other->setMetadata(kCopied, mark_of_copied(block.getContext(),
                                                     mark->first + offset - access->offset, mark->second));
        }
        changed = true;
        break;
      }
    }
    return changed;
  }

  static bool is_copy(const Piece& piece) {
    return llvm::all_of(piece.accesses, [](const Access& access) {
      return access.instruction->getMetadata(kCopied) != nullptr;
    });
  }

  static bool widen_loads(llvm::BasicBlock& block, const Alignments& alignments, llvm::AAResults& aliases) {
    bool changed = false;
    for (Piece& piece : pieces_of(block, true, alignments)) {
      // Nothing may write to the piece between the first load and the last.
      std::size_t end = 1;
      int steps = 0;
      llvm::Instruction* first = piece.accesses.front().instruction;
      for (llvm::Instruction* at = first; at != nullptr && end < piece.accesses.size() && ++steps < kFarthest;
           at = at->getNextNode()) {
        if (at == piece.accesses[end].instruction) ++end;
        if (at->mayWriteToMemory() && llvm::isModSet(aliases.getModRefInfo(at, around(*first)))) break;
      }
      piece.accesses.resize(end);
      constexpr std::int64_t half = 2;  // of four elements: NVPTX joins them
      const std::int64_t present = piece.present();
      if (present < 2 || present == piece.count || !piece.has(0) || (present == half && piece.has(1)))
        continue;
      load_whole(piece, *first);
      changed = true;
    }
    return changed;
  }

  // The elements of the piece that the block has loaded, and which nothing has written to since, or null.
  static std::vector<llvm::Value*> loaded(const Piece& piece, llvm::Instruction& last,
                                          llvm::AAResults& aliases) {
    std::vector<llvm::Value*> values(static_cast<std::size_t>(piece.count));
    const llvm::DataLayout& layout = last.getModule()->getDataLayout();
    const llvm::MemoryLocation place = around(last);
    int steps = 0;
    for (llvm::Instruction* at = last.getPrevNode(); at != nullptr && ++steps < kFarthest;
         at = at->getPrevNode()) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(at); load != nullptr && load->isSimple()) {
        llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
        const llvm::Value* base =
            load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
        const std::int64_t from = offset.getSExtValue() - piece.offset;
        const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(load->getType());
        llvm::Type* type = vector == nullptr ? load->getType() : vector->getElementType();
        if (base != piece.base || from % piece.element != 0 ||
            (!type->isIntegerTy() && !type->isFloatingPointTy()) ||
            static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue()) != piece.element)
          continue;
        for (std::int64_t i = 0; i < (vector == nullptr ? 1 : vector->getNumElements()); ++i) {
          const std::int64_t element = from / piece.element + i;
          if (element < 0 || element >= piece.count || values[static_cast<std::size_t>(element)] != nullptr)
            continue;
          llvm::IRBuilder<> builder(load->getNextNode());
          values[static_cast<std::size_t>(element)] =
              vector == nullptr ? static_cast<llvm::Value*>(load)
                                : builder.CreateExtractElement(load, static_cast<std::uint64_t>(i));
        }
      } else if (at->mayWriteToMemory() && !piece.includes(at) &&
                 llvm::isModSet(aliases.getModRefInfo(at, place))) {
        break;
      }
    }
    return values;
  }

  static bool widen_stores(llvm::BasicBlock& block, const Alignments& alignments, llvm::AAResults& aliases) {
    bool changed = false;
    for (const Piece& piece : pieces_of(block, false, alignments)) {
      const std::int64_t present = piece.present();
      if (present == piece.count || present != static_cast<std::int64_t>(piece.accesses.size()) ||
          !is_copy(piece))
        continue;
      // Nothing may access the piece between the first store and the last.
      llvm::Instruction& first = *piece.accesses.front().instruction;
      llvm::Instruction& last = *piece.accesses.back().instruction;
      const llvm::MemoryLocation place = around(last);
      bool apart = false;
      for (llvm::Instruction* at = &first; at != &last; at = at->getNextNode())
        apart |= at->mayReadOrWriteMemory() && !piece.includes(at) &&
                 llvm::isModOrRefSet(aliases.getModRefInfo(at, place));
      if (apart) continue;
      std::vector<llvm::Value*> values = loaded(piece, last, aliases);
      for (const Access& access : piece.accesses)
        values[static_cast<std::size_t>((access.offset - piece.offset) / piece.element)] =
            llvm::cast<llvm::StoreInst>(access.instruction)->getValueOperand();
      if (llvm::is_contained(values, nullptr)) continue;
      llvm::IRBuilder<> builder(&last);
      llvm::FixedVectorType* type = vector_of(piece);
      llvm::Value* all = llvm::PoisonValue::get(type);
      for (std::size_t i = 0; i < values.size(); ++i)
        all = builder.CreateInsertElement(all, builder.CreateBitCast(values[i], type->getElementType()), i);
      builder.CreateAlignedStore(all, address_of(builder, piece),
                                 llvm::Align(static_cast<std::uint64_t>(piece.element * piece.count)));
      for (const Access& access : piece.accesses) access.instruction->eraseFromParent();
      changed = true;
    }
    return changed;
  }
};

}  // namespace

void copy_elements(llvm::FunctionPassManager& passes) {
  passes.addPass(CopyElements());
  passes.addPass(StoreFirstValues());
}

void widen_accesses(llvm::FunctionPassManager& passes) {
  passes.addPass(SetElements());
  passes.addPass(WidenAccesses());
}

}  // namespace warptime::compiling
