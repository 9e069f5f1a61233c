#include "analyzer/cfg/cfg.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "analyzer/cfg/reducible.h"
#include "analyzer/ptx/opcodes.h"

// LLVM's headers are not written for our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "llvm/ADT/GraphTraits.h"
#include "llvm/Support/GenericDomTree.h"
#include "llvm/Support/GenericDomTreeConstruction.h"
#include "llvm/Support/GenericLoopInfo.h"
#include "llvm/Support/GenericLoopInfoImpl.h"
#include "llvm/Support/raw_ostream.h"
#pragma GCC diagnostic pop

namespace warptime::analysis {

// The view of the graph that LLVM's templates ask for.
namespace {
struct Graph;
struct Node {
  Graph* graph = nullptr;
  std::uint32_t index = 0;
  std::span<Node*> successors, predecessors;  // of Graph::edges
  Graph* getParent() const { return graph; }
  void printAsOperand(llvm::raw_ostream& out, bool = true) const { out << "block " << index; }
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Node*> edges;  // of all nodes: to their successors and predecessors
  Node& front() { return nodes.front(); }
};
[[maybe_unused]] llvm::raw_ostream& operator<<(llvm::raw_ostream& out, const Node& node) {
  node.printAsOperand(out);
  return out;
}
}  // namespace
}  // namespace warptime::analysis

namespace llvm {
template <>
struct GraphTraits<warptime::analysis::Node*> {
  using NodeRef = warptime::analysis::Node*;
  using ChildIteratorType = std::span<warptime::analysis::Node*>::iterator;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) { return node->successors.begin(); }
  static ChildIteratorType child_end(NodeRef node) { return node->successors.end(); }
};
template <>
struct GraphTraits<const warptime::analysis::Node*> {
  using NodeRef = const warptime::analysis::Node*;
  using ChildIteratorType = std::span<warptime::analysis::Node*>::iterator;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) { return node->successors.begin(); }
  static ChildIteratorType child_end(NodeRef node) { return node->successors.end(); }
};
template <>
struct GraphTraits<Inverse<warptime::analysis::Node*>> {
  using NodeRef = warptime::analysis::Node*;
  using ChildIteratorType = std::span<warptime::analysis::Node*>::iterator;
  static NodeRef getEntryNode(Inverse<NodeRef> node) { return node.Graph; }
  static ChildIteratorType child_begin(NodeRef node) { return node->predecessors.begin(); }
  static ChildIteratorType child_end(NodeRef node) { return node->predecessors.end(); }
};
template <>
struct GraphTraits<warptime::analysis::Graph*> : GraphTraits<warptime::analysis::Node*> {
  struct nodes_iterator : std::vector<warptime::analysis::Node>::iterator {
    using base = std::vector<warptime::analysis::Node>::iterator;
    using value_type = warptime::analysis::Node*;
    using reference = warptime::analysis::Node*;
    explicit nodes_iterator(base it) : base(it) {}
    warptime::analysis::Node* operator*() const { return &base::operator*(); }
  };
  static NodeRef getEntryNode(warptime::analysis::Graph* graph) { return &graph->nodes.front(); }
  static nodes_iterator nodes_begin(warptime::analysis::Graph* graph) {
    return nodes_iterator(graph->nodes.begin());
  }
  static nodes_iterator nodes_end(warptime::analysis::Graph* graph) {
    return nodes_iterator(graph->nodes.end());
  }
  static std::size_t size(warptime::analysis::Graph* graph) { return graph->nodes.size(); }
};
template <>
struct GraphTraits<const DomTreeNodeBase<warptime::analysis::Node>*> {
  using NodeRef = const DomTreeNodeBase<warptime::analysis::Node>*;
  using ChildIteratorType = DomTreeNodeBase<warptime::analysis::Node>::const_iterator;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) { return node->begin(); }
  static ChildIteratorType child_end(NodeRef node) { return node->end(); }
};
}  // namespace llvm

namespace warptime::analysis {
namespace {

class NaturalLoop : public llvm::LoopBase<Node, NaturalLoop> {
  friend class llvm::LoopInfoBase<Node, NaturalLoop>;
  friend class llvm::LoopBase<Node, NaturalLoop>;
  explicit NaturalLoop(Node* header) : LoopBase(header) {}
};

const ptx::Instruction& last_instruction(const ptx::Function& function, const Block& block) {
  return function.instructions[block.end - 1];
}

bool ends_block(const ptx::Instruction& instruction) {
  return instruction.info != nullptr && instruction.info->is(ptx::ends_block);
}

constexpr std::uint32_t most_nested_loops = 200;

class Builder {
 public:
  Builder(KernelCode& code, const std::string& file, Irreducible irreducible)
      : code_(code), irreducible_(irreducible), function_(code.function()), file_(file) {}

  Result<Cfg> build() {
    split_blocks();
    for (std::uint32_t b = 0; b + 1 < cfg_.blocks.size(); ++b) connect(b);
    if (!errors_.empty()) return std::move(errors_);
    find_structure();
    if (!errors_.empty()) return std::move(errors_);
    if (irreducible_ == Irreducible::split && !cfg_.irreducible.empty() && split_irreducible()) {
      forget_structure();
      find_structure();
    }
    if (!errors_.empty()) return std::move(errors_);
    return std::move(cfg_);
  }

 private:
  void forget_structure() {
    for (auto& block : cfg_.blocks) {
      Block bare;
      bare.first = block.first;
      bare.end = block.end;
      bare.successors = std::move(block.successors);
      block = std::move(bare);
    }
    cfg_.loops.clear();
    cfg_.irreducible.clear();
  }

  // Everything that follows from the blocks and their successors.
  void find_structure() {
    std::vector<std::uint32_t> counts(cfg_.blocks.size(), 0);
    for (const auto& block : cfg_.blocks)
      for (const auto s : block.successors) ++counts[s];
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) cfg_.blocks[b].predecessors.reserve(counts[b]);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      for (const auto s : cfg_.blocks[b].successors) cfg_.blocks[s].predecessors.push_back(b);
    find_reachable();
    find_dominators_and_loops();
  }

  // Labels that nothing goes to are of the debugger's tables: clang writes some around each inlined call.
  void start_at_targets(std::vector<bool>& starts) {
    const auto start_at = [&](std::uint32_t label) {
      if (label >= function_.labels.size()) return;
      if (const auto target = function_.labels[label].instruction; target < starts.size())
        starts[target] = true;
    };
    for (const auto& instruction : function_.instructions)
      for (std::uint32_t o = 0; o < instruction.operand_count; ++o)
        if (const auto& operand = code_.operands()[instruction.first_operand + o];
            operand.kind == ptx::Operand::Kind::label)
          start_at(operand.symbol);
    for (const auto& list : function_.branch_targets)
      for (const auto label : list.labels) start_at(label);
  }

  void split_blocks() {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    std::vector<bool> starts(count + 1, false);
    starts[0] = true;
    starts[count] = true;
    start_at_targets(starts);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto jump = code_.jump(i);
      if (jump != ptx::no_index) starts[jump] = true;
      if (jump != ptx::no_index || ends_block(function_.instructions[i])) starts[i + 1] = true;
    }
    cfg_.blocks.reserve(static_cast<std::size_t>(std::count(starts.begin(), starts.end(), true)));
    block_of_.assign(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (starts[i]) {
        if (!cfg_.blocks.empty()) cfg_.blocks.back().end = i;
        cfg_.blocks.emplace_back().first = i;
      }
      block_of_[i] = static_cast<std::uint32_t>(cfg_.blocks.size() - 1);
    }
    if (!cfg_.blocks.empty()) cfg_.blocks.back().end = count;
    auto& exit = cfg_.blocks.emplace_back();
    exit.first = exit.end = count;
    block_of_[count] = cfg_.exit();
  }

  void complain(const ptx::Instruction& instruction, std::string message, std::string hint = {}) {
    errors_.push_back(
        error_at(file_, static_cast<int>(instruction.line), 0, std::move(message), std::move(hint)));
  }

  void add_label_target(std::uint32_t block, std::uint32_t label) {
    if (label == ptx::no_index || label >= function_.labels.size()) return;
    const auto target = function_.labels[label].instruction;
    cfg_.blocks[block].successors.push_back(target == ptx::no_index ? cfg_.exit() : block_of_[target]);
  }

  void add_branch_targets(std::uint32_t b, const ptx::Instruction& branch) {
    const auto operands = branch.operand_count;
    if (ptx::has_part(branch.opcode, "idx")) {
      if (operands >= 2) {
        const auto& list = code_.operands()[branch.first_operand + operands - 1];
        if (list.referent == ptx::Operand::Referent::branch_targets &&
            list.value < function_.branch_targets.size()) {
          for (const auto label : function_.branch_targets[list.value].labels) add_label_target(b, label);
          return;
        }
      }
      complain(branch, "an indirect branch whose targets are not listed (no .branchtargets)");
      return;
    }
    const auto before = cfg_.blocks[b].successors.size();
    if (operands >= 1) add_label_target(b, code_.operands()[branch.first_operand].symbol);
    if (cfg_.blocks[b].successors.size() == before)
      complain(branch, fmt::format("branch to `{}`, which is not a label of this function",
                                   operands >= 1 ? code_.operands()[branch.first_operand].text : ""));
  }

  void connect(std::uint32_t b) {
    auto& block = cfg_.blocks[b];
    block.successors.reserve(2);
    const auto& last = last_instruction(function_, block);
    const bool conditional = last.guard != ptx::no_index;
    bool falls_through = true;
    if (const auto jump = code_.jump(block.end - 1); jump != ptx::no_index) {
      // A followed call that may not be made goes into the callee first; a callee's return behind the call.
      const bool call = last.info->category == ptx::Category::call;
      if (call) block.successors.push_back(b + 1);
      block.successors.push_back(block_of_[jump]);
      falls_through = conditional && !call;
    } else if (ends_block(last)) {
      falls_through = conditional;
      if (last.info->category == ptx::Category::branch) {
        add_branch_targets(b, last);
      } else if (last.info->category == ptx::Category::exit) {
        block.successors.push_back(cfg_.exit());
      } else {
        falls_through = true;
      }
    }
    if (falls_through) block.successors.push_back(b + 1);
    // A conditional branch to the next instruction is no choice.
    auto& successors = block.successors;
    if (successors.size() == 2 && successors[0] == successors[1]) successors.pop_back();
  }

  // The exit block stays the last one. False: nothing was split.
  bool split_irreducible() {
    const auto exit = cfg_.exit();
    if (!make_reducible(cfg_.blocks, code_, cfg_.irreducible, 2 * function_.instructions.size() + 1000))
      return false;
    const auto last = static_cast<std::uint32_t>(cfg_.blocks.size() - 1);
    std::swap(cfg_.blocks[exit], cfg_.blocks[last]);
    for (auto& block : cfg_.blocks)
      for (auto& s : block.successors) s = s == exit ? last : s == last ? exit : s;
    return true;
  }

  void find_reachable() {
    std::vector<std::uint32_t> work{0};
    cfg_.blocks[0].reachable = true;
    while (!work.empty()) {
      const auto b = work.back();
      work.pop_back();
      for (const auto s : cfg_.blocks[b].successors)
        if (!cfg_.blocks[s].reachable) {
          cfg_.blocks[s].reachable = true;
          work.push_back(s);
        }
    }
  }

  void find_dominators_and_loops() {
    Graph graph;
    graph.nodes.resize(cfg_.blocks.size());
    std::size_t edges = 0;
    for (const auto& block : cfg_.blocks) edges += block.successors.size() + block.predecessors.size();
    graph.edges.reserve(edges);  // the nodes' spans stay valid
    const auto edges_to = [&](const std::vector<std::uint32_t>& blocks) {
      const auto first = graph.edges.size();
      for (const auto b : blocks) graph.edges.push_back(&graph.nodes[b]);
      return std::span(graph.edges).subspan(first);
    };
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      auto& node = graph.nodes[b];
      node.graph = &graph;
      node.index = b;
      node.successors = edges_to(cfg_.blocks[b].successors);
      node.predecessors = edges_to(cfg_.blocks[b].predecessors);
    }
    llvm::DominatorTreeBase<Node, false> dominators;
    dominators.recalculate(graph);
    dominators.updateDFSNumbers();
    llvm::DominatorTreeBase<Node, true> post_dominators;
    post_dominators.recalculate(graph);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (const auto* node = dominators.getNode(&graph.nodes[b])) {
        if (node->getIDom() != nullptr) cfg_.blocks[b].dominator = node->getIDom()->getBlock()->index;
        cfg_.blocks[b].dominator_in = node->getDFSNumIn();
        cfg_.blocks[b].dominator_out = node->getDFSNumOut();
      }
      if (const auto* node = post_dominators.getNode(&graph.nodes[b]))
        if (node->getIDom() != nullptr && node->getIDom()->getBlock() != nullptr)
          cfg_.blocks[b].post_dominator = node->getIDom()->getBlock()->index;
    }
    find_loops(dominators);
    find_irreducible();
  }

  void find_loops(const llvm::DominatorTreeBase<Node, false>& dominators) {
    llvm::LoopInfoBase<Node, NaturalLoop> info;
    info.analyze(dominators);
    std::vector<NaturalLoop*> work(info.begin(), info.end());
    std::vector<std::pair<NaturalLoop*, std::uint32_t>> queue;
    for (auto* loop : work) queue.emplace_back(loop, none);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      auto [loop, parent] = queue[i];
      add_loop(*loop, parent);
      // The analysis goes down from loop to loop, with the blocks of each.
      if (irreducible_ == Irreducible::split && cfg_.loops.back().depth > most_nested_loops) {
        complain(code_.function().instructions[cfg_.blocks[cfg_.loops.back().header].first],
                 fmt::format("loops nested more than {} deep", most_nested_loops));
        return;
      }
      const auto index = static_cast<std::uint32_t>(cfg_.loops.size() - 1);
      for (auto* inner : *loop) queue.emplace_back(inner, index);
    }
    // Outer loops come first, so that the innermost one is written last.
    for (std::uint32_t l = 0; l < cfg_.loops.size(); ++l)
      for (const auto b : cfg_.loops[l].blocks) cfg_.blocks[b].loop = l;
    for (auto& loop : cfg_.loops) {
      std::sort(loop.blocks.begin(), loop.blocks.end());
      for (const auto b : loop.blocks)
        for (const auto s : cfg_.blocks[b].successors) {
          if (s == loop.header) loop.latches.push_back(b);
          if (!std::binary_search(loop.blocks.begin(), loop.blocks.end(), s)) loop.exits.push_back({b, s});
        }
    }
  }

  void add_loop(const NaturalLoop& natural, std::uint32_t parent) {
    auto& loop = cfg_.loops.emplace_back();
    loop.header = natural.getHeader()->index;
    loop.parent = parent;
    loop.depth = parent == none ? 1 : cfg_.loops[parent].depth + 1;
    for (const auto* node : natural.blocks()) loop.blocks.push_back(node->index);
  }

  // Depth-first search; an edge to a block that is still open retreats.
  void find_irreducible() {
    std::vector<std::uint8_t> state(cfg_.blocks.size(), 0);  // 0 new, 1 open, 2 closed
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{0, 0}};
    state[0] = 1;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      const auto& successors = cfg_.blocks[b].successors;
      if (next == successors.size()) {
        state[b] = 2;
        stack.pop_back();
        continue;
      }
      const auto s = successors[next++];
      if (state[s] == 1 && !cfg_.dominates(s, b)) cfg_.irreducible.push_back({b, s});
      if (state[s] == 0) {
        state[s] = 1;
        stack.emplace_back(s, 0);
      }
    }
  }

  KernelCode& code_;
  Irreducible irreducible_;
  const ptx::Function& function_;  // as it was before blocks were copied
  const std::string& file_;
  Cfg cfg_;
  std::vector<std::uint32_t> block_of_;
  Diagnostics errors_;
};

}  // namespace

bool Cfg::dominates(std::uint32_t a, std::uint32_t b) const {
  return blocks[a].dominator_in <= blocks[b].dominator_in &&
         blocks[b].dominator_out <= blocks[a].dominator_out;
}

bool Cfg::contains(std::uint32_t loop, std::uint32_t block) const {
  return loop == none || encloses(loop, blocks[block].loop);
}

bool Cfg::encloses(std::uint32_t outer, std::uint32_t inner) const {
  if (outer == none) return true;
  while (inner != none && inner != outer) inner = loops[inner].parent;
  return inner == outer;
}

Result<Cfg> build_cfg(KernelCode& code, const std::string& file, Irreducible irreducible) {
  return Builder(code, file, irreducible).build();
}

}  // namespace warptime::analysis
