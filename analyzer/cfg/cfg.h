// The control-flow graph of one PTX function: basic blocks, dominators, natural loops. LLVM's generic
// templates build the trees over our own graph. They stay inside cfg.cc; users of this header see plain
// indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/cfg/kernel_code.h"
#include "analyzer/ptx/module.h"

namespace warptime::analysis {

constexpr std::uint32_t none = 0xffffffff;

struct Block {
  std::uint32_t first = 0;  // instructions [first, end) of the function
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;  // a conditional branch: the taken one first, then the fall-through
  std::vector<std::uint32_t> predecessors;  // in block order; a duplicate edge is listed twice
  std::uint32_t dominator = none;           // immediate; none: the entry, or unreachable
  std::uint32_t post_dominator = none;  // immediate; none: the exit block, or no path from here to the exit
  std::uint32_t loop = none;            // innermost, index into Cfg::loops
  std::uint32_t dominator_in = 0;       // depth-first numbers in the dominator tree: a dominates b
  std::uint32_t dominator_out = 0;      // if a's interval contains b's
  bool reachable = false;
};

// A natural loop.
struct Loop {
  std::uint32_t header = none;
  std::uint32_t parent = none;
  std::uint32_t depth = 1;  // 1: outermost
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint32_t> latches;  // sources of its back edges
  struct Exit {
    std::uint32_t from, to;
  };
  std::vector<Exit> exits;  // edges that leave it
};

struct Cfg {
  // In file order, then copies that make loops have one entry, and last of all the exit block: empty, the
  // successor of every return.
  std::vector<Block> blocks;
  std::vector<Loop> loops;  // outer before inner
  // A retreating edge whose target does not dominate its source: the flow is irreducible there, and copying
  // blocks would have made the function too large.
  std::vector<Loop::Exit> irreducible;

  std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks.size() - 1); }
  bool dominates(std::uint32_t a, std::uint32_t b) const;
  bool contains(std::uint32_t loop, std::uint32_t block) const;   // `loop` none contains every block
  bool encloses(std::uint32_t outer, std::uint32_t inner) const;  // of loops; also where they are the same
};

// Splits at labels that are branched to and after instructions that end a block. Loops with several entries
// get one: what the other entries reach before it is copied, in `code` too (node splitting). Errors: an
// indirect branch without known targets, a branch to a label that is not in the function, loops nested more
// than 200 deep (not with `keep`).
enum class Irreducible : std::uint8_t { split, keep };
Result<Cfg> build_cfg(KernelCode& code, const std::string& file,
                      Irreducible irreducible = Irreducible::split);

}  // namespace warptime::analysis
