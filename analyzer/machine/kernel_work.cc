#include "analyzer/machine/kernel_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/machine/block_cycles.h"
#include "analyzer/machine/machine_flow.h"
#include "analyzer/machine/matrix_work.h"
#include "analyzer/machine/register_reads.h"
#include "analyzer/ptx/matrix_operation.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

using analysis::none;

// What a PTX instruction becomes in each copy of its block.
enum class Made : std::uint8_t {
  unclear,  // nothing or several
  mostly,   // one machine instruction, unless it is joined with others
  one,      // one machine instruction of its kind
};

template <std::size_t n>
bool begins_with(std::string_view text, const std::array<std::string_view, n>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view begin) { return text.starts_with(begin); });
}

constexpr std::array<std::string_view, 15> kOne = {
    "ld.global", "st.global", "ld.shared", "st.shared", "atom.",   "red.",     "bar.",    "shfl.",
    "fma.rn.f",  "add.f32",   "mul.f32",   "add.f64",   "mul.f64", "add.rn.f", "mul.rn.f"};
constexpr std::array<std::string_view, 12> kMostly = {"add.s32", "add.u32", "sub.s32", "and.b32",
                                                      "or.b32",  "xor.b32", "shl.b32", "mul.lo.s32",
                                                      "setp.",   "min.",    "max.",    "selp."};

// Of integers of 64 bits, which take an instruction for each half at least.
bool is_pair(std::string_view opcode) {
  return opcode.ends_with(".s64") || opcode.ends_with(".u64") || opcode.ends_with(".b64");
}

Made made_of(const ptx::Instruction& instruction) {
  if (begins_with(instruction.opcode, kOne)) return Made::one;
  return !is_pair(instruction.opcode) && begins_with(instruction.opcode, kMostly) ? Made::mostly
                                                                                  : Made::unclear;
}

// About how many it becomes: products of 64 bits are made of those of 32.
double expected_of(std::string_view opcode) {
  if (!is_pair(opcode)) return 1;
  if (opcode.starts_with("mul.lo") || opcode.starts_with("mad.lo")) return 4;
  return opcode.starts_with("mul.hi") || opcode.starts_with("mad.hi") ? 7 : 2;
}

bool is_one(const ptx::Instruction& instruction) {
  return made_of(instruction) == Made::one;
}

// Whether it is the one of its kind that such an instruction becomes.
bool is_the_one(const MachineInstruction& one) {
  constexpr std::array<std::string_view, 13> names = {"LD",   "ST",   "ATOM", "RED",  "BAR",  "SHFL", "FFMA",
                                                      "FADD", "FMUL", "DFMA", "DADD", "DMUL", "FMNMX"};
  return one.opcode != nullptr && begins_with(one.opcode->name, names) && one.opcode->name != "LDC" &&
         one.opcode->name != "REDUX";
}

double median(std::vector<double> values) {
  const std::size_t middle = (values.size() - 1) / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

// Whether it stays in its place, unless ptxas makes a predicated instruction of it.
bool stays(const MachineInstruction& one) {
  if (one.opcode == nullptr) return false;
  constexpr std::array<std::string_view, 20> names = {
      "LDG",   "STG", "LDS",  "STS", "LDL",  "STL",  "LD",  "ST",     "ATOM",   "ATOMG",
      "ATOMS", "RED", "REDG", "BAR", "SHFL", "VOTE", "BRA", "LDGSTS", "MEMBAR", "EXIT"};
  return std::find(names.begin(), names.end(), one.opcode->name) != names.end();
}

bool is_local(const ptx::Instruction& one) {
  const auto space = ptx::space_of(one);
  return space == ptx::StateSpace::local || space == ptx::StateSpace::generic;
}

// Of LDL and STL, as they are stored since Volta: the register of the address, an offset of 24 bits, the size.
constexpr std::uint64_t kStackPointer = 1;
std::uint64_t address_register(const MachineInstruction& one) {
  return one.lower >> 24 & 0xff;
}
int offset_of(const MachineInstruction& one) {
  const auto offset = static_cast<std::int32_t>(one.lower >> 40 & 0xffffff);
  return offset >= 1 << 23 ? offset - (1 << 24) : offset;
}
int bytes_of(const MachineInstruction& one) {
  constexpr int sizes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return sizes[one.upper >> 9 & 7];
}

class Placement {
 public:
  Placement(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
            int target)
      : code_(code),
        function_(code.function()),
        cfg_(cfg),
        kernel_(kernel),
        target_(target),
        flow_(flow_of(kernel, target)),
        slow_(slow_paths(code, cfg)) {}

  KernelWork place() {
    note_lines();
    match_loops();
    count_copies();
    find_homes();
    KernelWork work;
    work.lines.resize(function_.instructions.size());
    work.each.resize(function_.instructions.size());
    work.loops.resize(cfg_.loops.size());
    for (std::uint32_t m = 0; m < flow_.blocks.size(); ++m) attribute(m, work);
    for (std::uint32_t loop = 0; loop < cfg_.loops.size(); ++loop) find_pieces(loop, work);
    spread(work);
    return work;
  }

 private:
  struct Home {
    std::uint32_t block = none;  // of the PTX; none: the kernel's entry
    double share = 1;            // of the executions of that block
    // Outside of the machine code's loops for the home's loop: a copy of so many iterations; 0: executed
    // where the loop is reached.
    bool outside = false;
    double iterations = 0;
    bool unused = false;  // a slow path
  };

  // ---- the lines

  void note_lines() {
    block_of_.assign(function_.instructions.size(), none);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b)
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end && i < block_of_.size(); ++i)
        if (block_of_[i] == none) block_of_[i] = b;
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (block_of_[i] != none) of_line_[function_.instructions[i].line].push_back(i);
  }

  // The PTX instruction that a machine instruction was made of; of several inlined copies, one in `loop`.
  // none: unknown.
  std::uint32_t origin(const MachineInstruction& one, std::uint32_t loop) const {
    const auto found = of_line_.find(one.ptx_line);
    if (found == of_line_.end()) return none;
    for (const std::uint32_t i : found->second)
      if (cfg_.blocks[block_of_[i]].loop == loop) return i;
    return found->second.front();
  }

  std::uint32_t loop_of(std::uint32_t block) const { return cfg_.blocks[block].loop; }

  // ---- loops

  void match_loops() {
    loop_.assign(flow_.loops.size(), none);
    matched_.assign(cfg_.loops.size(), 0);
    for (std::uint32_t m = 0; m < flow_.loops.size(); ++m) {
      const std::uint32_t parent = flow_.loops[m].parent;
      const std::uint32_t around = parent == no_machine_loop ? none : loop_[parent];
      loop_[m] = matching(flow_.loops[m], around);
      if (loop_[m] != none) ++matched_[loop_[m]];
    }
  }

  bool is_inside(std::uint32_t loop, std::uint32_t around) const {
    return loop != none && (around == none || cfg_.encloses(around, loop));
  }

  // A loop's branch back to its beginning has the line of the PTX's.
  std::uint32_t matching(const MachineLoop& loop, std::uint32_t around) const {
    for (const std::uint32_t latch : loop.latches) {
      const std::uint32_t i = origin(kernel_.instructions[flow_.blocks[latch].end - 1], around);
      if (i == none || !is_branch(i)) continue;
      const std::uint32_t candidate = loop_of(block_of_[i]);
      const auto& latches = candidate == none ? no_blocks_ : cfg_.loops[candidate].latches;
      if (is_inside(candidate, around) &&
          std::find(latches.begin(), latches.end(), block_of_[i]) != latches.end())
        return candidate;
    }
    // Otherwise the loop that has all that stays in its place.
    std::uint32_t common = none;
    bool any = false;
    for (const std::uint32_t block : loop.blocks) {
      for (std::uint32_t m = flow_.blocks[block].first; m < flow_.blocks[block].end; ++m) {
        const MachineInstruction& one = kernel_.instructions[m];
        const std::uint32_t i = stays(one) ? origin(one, around) : none;
        if (i == none || !is_inside(loop_of(block_of_[i]), around)) continue;
        common = any ? common_loop(common, loop_of(block_of_[i])) : loop_of(block_of_[i]);
        any = true;
      }
    }
    return common;
  }

  std::uint32_t common_loop(std::uint32_t a, std::uint32_t b) const {
    while (a != none && !(b != none && cfg_.encloses(a, b))) a = cfg_.loops[a].parent;
    return a;
  }

  bool is_branch(std::uint32_t i) const { return ptx::first_word(function_.instructions[i].opcode) == "bra"; }

  // ---- copies

  // The PTX loop that a machine block is in.
  std::uint32_t loop_around(std::uint32_t m) const {
    const std::uint32_t loop = flow_.blocks[m].loop;
    return loop == no_machine_loop ? none : loop_[loop];
  }

  void count_copies() {
    for (std::uint32_t m = 0; m < flow_.blocks.size(); ++m) {
      if (flow_.blocks[m].seldom || !flow_.blocks[m].reachable) continue;
      for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
        const MachineInstruction& one = kernel_.instructions[at];
        const std::uint32_t i = origin(one, loop_around(m));
        if (i != none && counts(i, one)) count_[{i, flow_.blocks[m].loop}] += 1;
      }
    }
  }

  bool counts(std::uint32_t i, const MachineInstruction& one) const {
    return !is_spill(one, i) && (!is_one(function_.instructions[i]) || is_the_one(one));
  }

  // How many copies of an instruction a machine loop has, outside of loops in it; 0: none.
  double count(std::uint32_t i, std::uint32_t region) const {
    const auto found = count_.find({i, region});
    return found == count_.end() ? 0 : found->second / duplicates(i);
  }

  void add_counts(std::uint32_t block, std::uint32_t region, Made made, std::vector<double>& counts) const {
    for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i) {
      if (made_of(function_.instructions[i]) != made || code_.silent(i)) continue;
      const double found = count(i, region);
      if (found > 0) counts.push_back(std::max(found, 1.0));
    }
  }

  // Inlined copies in the same loop have the same lines.
  double duplicates(std::uint32_t i) const {
    const auto& all = of_line_.at(function_.instructions[i].line);
    return static_cast<double>(std::count_if(all.begin(), all.end(), [&](std::uint32_t other) {
      return loop_of(block_of_[other]) == loop_of(block_of_[i]);
    }));
  }

  double copies_of_loop(std::uint32_t loop, std::uint32_t region) const {
    for (const Made made : {Made::one, Made::mostly}) {
      std::vector<double> all;
      for (const std::uint32_t b : cfg_.loops[loop].blocks)
        if (loop_of(b) == loop) add_counts(b, region, made, all);
      if (!all.empty()) return median(std::move(all));
    }
    // Nothing tells but how many they all are.
    double found = 0, expected = 0;
    for (const std::uint32_t b : cfg_.loops[loop].blocks) {
      if (loop_of(b) != loop) continue;
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        if (code_.silent(i)) continue;
        found += count(i, region);
        expected += expected_of(function_.instructions[i].opcode);
      }
    }
    return std::max(1.0, std::round(found / std::max(1.0, expected)));
  }

  double copies_of_block(std::uint32_t block, std::uint32_t region) const {
    std::vector<double> sure;
    add_counts(block, region, Made::one, sure);
    if (!sure.empty()) return median(std::move(sure));
    if (loop_of(block) != none) return copies_of_loop(loop_of(block), region);
    return 1;
  }

  // ---- homes

  struct Votes {
    std::map<std::uint32_t, double> sure, all;  // by PTX block
  };

  Votes votes_of(std::uint32_t m) const {
    Votes votes;
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
      const MachineInstruction& one = kernel_.instructions[at];
      const std::uint32_t i = origin(one, loop_around(m));
      if (i == none) continue;
      const bool branch = one.opcode != nullptr && (one.opcode->name == "BRA" || one.opcode->name == "EXIT");
      // Moves between registers, at the end of a block, bear the line of its branch.
      if (is_branch(i) && !branch) continue;
      if (one.guard != 7 && !branch) continue;
      votes.all[block_of_[i]] += 1;
      // An exit may be copied to any place that leads to it.
      if (stays(one) && (!branch || is_branch(i))) votes.sure[block_of_[i]] += 1;
    }
    return votes;
  }

  bool is_exit(std::uint32_t i) const {
    const auto* info = function_.instructions[i].info;
    return info != nullptr && info->category == ptx::Category::exit;
  }

  // Of blocks that are all executed where one of them is, the one that is executed least often.
  std::uint32_t most_particular(const std::map<std::uint32_t, double>& votes) const {
    std::uint32_t best = none;
    double best_score = -1;
    for (const auto& [block, weight] : votes) {
      double score = 0;
      for (const auto& [other, ignored] : votes)
        if (other != block && (cfg_.dominates(other, block) || post_dominates(other, block))) score += 1;
      score += weight / 1e6;
      if (score > best_score) best = block, best_score = score;
    }
    return best;
  }

  bool post_dominates(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t steps = 0; b != none && steps <= cfg_.blocks.size(); ++steps) {
      if (a == b) return true;
      b = cfg_.blocks[b].post_dominator;
    }
    return false;
  }

  static std::uint32_t most_frequent(const std::map<std::uint32_t, double>& votes) {
    std::uint32_t best = none;
    double most = 0;
    for (const auto& [block, weight] : votes)
      if (weight > most) best = block, most = weight;
    return best;
  }

  template <typename Keep>
  static std::map<std::uint32_t, double> only(const std::map<std::uint32_t, double>& votes,
                                              const Keep& keep) {
    std::map<std::uint32_t, double> kept;
    for (const auto& vote : votes)
      if (keep(vote.first)) kept.insert(vote);
    return kept;
  }

  // Whether the machine block is a copy of the PTX block, not only of what was moved out of it.
  bool has_most_of(std::uint32_t m, std::uint32_t block) const {
    std::set<std::uint32_t> here;
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at)
      if (!is_conditional(kernel_.instructions[at]))
        here.insert(origin(kernel_.instructions[at], loop_of(block)));
    for (const bool sure : {true, false}) {
      double found = 0, all = 0;
      for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i) {
        if (code_.silent(i) || (sure && !is_one(function_.instructions[i]))) continue;
        all += 1;
        found += here.contains(i) ? 1 : 0;
      }
      if (all > 0) return found >= 0.6 * all;
    }
    return false;
  }

  std::uint32_t home_block(std::uint32_t m) const {
    const Votes votes = votes_of(m);
    const std::uint32_t around = loop_around(m);
    const auto in_loop = [&](std::uint32_t block) { return loop_of(block) == around; };
    if (const auto sure = only(votes.sure, in_loop); !sure.empty()) return most_particular(sure);
    const auto copied = only(votes.sure, [&](std::uint32_t block) {
      return is_inside(loop_of(block), around) && loop_of(block) != around &&
             (matched_[loop_of(block)] == 0 || has_most_of(m, block));
    });
    if (!copied.empty()) return most_particular(copied);
    const auto all = only(votes.all, in_loop);
    const auto deeper = only(votes.all, [&](std::uint32_t block) {
      return is_inside(loop_of(block), around) && loop_of(block) != around;
    });
    if (!all.empty() && weight(all) >= weight(deeper)) return most_frequent(all);
    // What is between the copies of a loop.
    if (!deeper.empty()) return most_frequent(deeper);
    return around == none ? none : cfg_.loops[around].header;
  }

  static double weight(const std::map<std::uint32_t, double>& votes) {
    double sum = 0;
    for (const auto& [block, weight] : votes) sum += weight;
    return sum;
  }

  void find_homes() {
    homes_.resize(flow_.blocks.size());
    for (std::uint32_t m = 0; m < flow_.blocks.size(); ++m) {
      Home& home = homes_[m];
      home.unused = flow_.blocks[m].seldom || !flow_.blocks[m].reachable;
      if (home.unused) continue;
      home.block = home_block(m);
      if (home.block == none) continue;
      home.unused = slow_[home.block];
      const std::uint32_t region = flow_.blocks[m].loop, loop = loop_of(home.block);
      home.outside = loop != none && loop != loop_around(m) && matched_[loop] > 0;
      if (!home.outside) {
        home.share = 1 / copies_of_block(home.block, region);
      } else if (has_most_of(m, home.block)) {
        home.iterations = copies_in(m, home.block);
      }
    }
  }

  double copies_in(std::uint32_t m, std::uint32_t block) const {
    std::map<std::uint32_t, double> counts;
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
      const std::uint32_t i = origin(kernel_.instructions[at], loop_of(block));
      if (i != none && block_of_[i] == block && is_one(function_.instructions[i]) &&
          is_the_one(kernel_.instructions[at]))
        counts[i] += 1;
    }
    std::vector<double> all;
    for (const auto& [i, found] : counts) all.push_back(found);
    return all.empty() ? 1 : median(std::move(all));
  }

  // ---- work

  MachineWork work_in(std::uint32_t m) const {
    MachineWork work;
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
      const MachineInstruction& one = kernel_.instructions[at];
      work[pipe_of(one)] += 1;
      work.imad += imad_cycles(one);
      work.matrix += matrix_cycles(one);
      if (const auto to = call_target(one, target_)) work.add(work_of_subroutine(*to));
    }
    const auto& all = kernel_.instructions;
    const auto block =
        std::span(all).subspan(flow_.blocks[m].first, flow_.blocks[m].end - flow_.blocks[m].first);
    work.cycles += cycles_of_block(block, target_);
    work.reads += register_reads(block);
    return work;
  }

  // Of a 64-bit division, say: one path with hardly any branches.
  MachineWork work_of_subroutine(std::int64_t address) const {
    MachineWork work;
    const auto& all = kernel_.instructions;
    auto one =
        std::lower_bound(all.begin(), all.end(), address,
                         [](const MachineInstruction& a, std::int64_t wanted) { return a.address < wanted; });
    const auto first = one;
    for (; one != all.end() && one->in_subroutine && !one->in_slow_path; ++one) {
      work[pipe_of(*one)] += 1;
      work.imad += imad_cycles(*one);
      if (one->opcode != nullptr && one->opcode->name == "RET" && !is_conditional(*one)) break;
    }
    work.cycles = cycles_of_block(std::span(first, one), target_);
    work.reads = register_reads(std::span(first, one));
    return work;
  }

  static Pipe pipe_of(const MachineInstruction& one) {
    return one.opcode != nullptr ? one.opcode->pipe : Pipe::none;
  }

  static double imad_cycles(const MachineInstruction& one) {
    if (one.opcode == nullptr || one.opcode->pipe != Pipe::fma) return 0;
    if (one.opcode->name == "VIADD") return kImadCycles;
    if (!one.opcode->name.starts_with("IMAD")) return kEitherCycles;
    return one.opcode->name == "IMAD" ? kImadCycles : kWideImadCycles;
  }

  // As the PTX instruction says of which it was made.
  double matrix_cycles(const MachineInstruction& one) const {
    if (pipe_of(one) != Pipe::tensor) return 0;
    // ptxas notes the last line of an instruction that is written over several.
    auto line = of_line_.upper_bound(one.ptx_line);
    if (line == of_line_.begin()) return 0;
    --line;
    for (const std::uint32_t i : line->second)
      if (const auto operation = ptx::matrix_operation(function_.instructions[i].opcode))
        return matrix_work(*operation, target_).cycles;
    return 0;
  }

  // Whether this machine loop has the most copies of the PTX loop: the others are for the rest of the
  // iterations.
  bool is_main(std::uint32_t region, std::uint32_t loop) const {
    if (region == no_machine_loop || loop == none || matched_[loop] < 2) return true;
    double most = 0;
    for (std::uint32_t other = 0; other < flow_.loops.size(); ++other)
      if (loop_[other] == loop) most = std::max(most, copies_of_loop(loop, other));
    return copies_of_loop(loop, region) == most;
  }

  // Machine loops that are as much the main one as this.
  double mains(std::uint32_t region, std::uint32_t loop) const {
    if (region == no_machine_loop || loop == none || matched_[loop] < 2) return 1;
    double number = 0;
    for (std::uint32_t other = 0; other < flow_.loops.size(); ++other)
      if (loop_[other] == loop && is_main(other, loop)) ++number;
    return number;
  }

  // The blocks that are executed as often as the home of the machine block, as ptxas joins them where short branches become
  // predicates, and what part of its instructions each of them has.
  std::map<std::uint32_t, double> parts_of(std::uint32_t m) const {
    const std::uint32_t home = homes_[m].block;
    std::map<std::uint32_t, double> parts;
    double all = 0;
    for (const auto& [block, votes] : votes_of(m).all) {
      if (loop_of(block) != loop_of(home) || slow_[block]) continue;
      const bool as_often = block == home || (cfg_.dominates(block, home) && post_dominates(home, block)) ||
                            (cfg_.dominates(home, block) && post_dominates(block, home));
      if (as_often) all += parts[block] = votes;
    }
    if (all == 0) return {{home, 1.0}};
    for (auto& [block, part] : parts) part /= all;
    return parts;
  }

  void attribute(std::uint32_t m, KernelWork& work) {
    const Home& home = homes_[m];
    if (home.unused) return;
    if (home.block == none) return work.once.add(work_in(m)), work.unknown.add(work_in(m));
    const std::uint32_t loop = loop_of(home.block), region = flow_.blocks[m].loop;
    if (home.outside) {
      if (home.iterations == 0) {
        work.loops[loop].entry.add(work_in(m));
        note_origins(m, home.block, 1, work);
      }
      return;
    }
    if (!is_main(region, loop)) return;
    const double share = home.share / mains(region, loop);
    const MachineWork all = work_in(m);
    for (const auto& [block, part] : parts_of(m)) of_block_[block].add(all, share * part);
    note_origins(m, home.block, share, work);
    note_spills(m, home.block, share, work);
  }

  // i: the PTX instruction that it was made of, or none.
  bool is_spill(const MachineInstruction& one, std::uint32_t i) const {
    return one.opcode != nullptr && (one.opcode->name == "LDL" || one.opcode->name == "STL") &&
           address_register(one) == kStackPointer && (i == none || !is_local(function_.instructions[i]));
  }

  void note_spills(std::uint32_t m, std::uint32_t home, double share, KernelWork& work) const {
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
      const MachineInstruction& one = kernel_.instructions[at];
      const std::uint32_t i = origin(one, loop_around(m));
      if (!is_spill(one, i)) continue;
      std::uint32_t first = i;
      if (i == none || block_of_[i] != home)
        for (first = cfg_.blocks[home].first; first + 1 < cfg_.blocks[home].end && code_.silent(first);)
          ++first;
      work.spills.push_back({function_.instructions[first].line, one.opcode->name == "STL", bytes_of(one),
                             offset_of(one), share});
    }
  }

  // By line: for tables.
  void note_origins(std::uint32_t m, std::uint32_t home, double share, KernelWork& work) {
    for (std::uint32_t at = flow_.blocks[m].first; at < flow_.blocks[m].end; ++at) {
      const MachineInstruction& one = kernel_.instructions[at];
      const std::uint32_t i = origin(one, loop_around(m));
      if (i == none) {
        if (home != none && loop_of(home) == none) work.unknown[pipe_of(one)] += share;
        continue;
      }
      const std::uint32_t loop = loop_of(block_of_[i]);
      const bool before =
          loop != none && matched_[loop] > 0 && loop != loop_around(m) && is_inside(loop, loop_around(m));
      if (before) {
        work.lines[i].hoisted[pipe_of(one)] += share;
      } else {
        // Of a loop that is unrolled whole, its home has all copies.
        const bool copied = loop != none && matched_[loop] == 0 && loop_of(home) != loop;
        work.lines[i].inside[pipe_of(one)] +=
            copied ? share / copies_of_block(block_of_[i], flow_.blocks[m].loop) : share;
      }
    }
  }

  // Whether each iteration executes the block.
  bool is_always(std::uint32_t block, std::uint32_t loop) const {
    const auto& latches = cfg_.loops[loop].latches;
    return std::all_of(latches.begin(), latches.end(),
                       [&](std::uint32_t latch) { return cfg_.dominates(block, latch); });
  }

  void find_pieces(std::uint32_t loop, KernelWork& work) {
    work.loops[loop].whole = matched_[loop] == 0;
    if (work.loops[loop].whole) return;
    MachineWork iteration;  // as the items of the body have it
    for (const std::uint32_t b : cfg_.loops[loop].blocks)
      if (loop_of(b) == loop && is_always(b, loop) && of_block_.contains(b)) iteration.add(of_block_[b]);
    std::map<std::int64_t, std::vector<MachineWork>> pieces;  // by iterations: what each has beside them
    const auto beside = [&](const MachineWork& all, double iterations) {
      MachineWork more = all;
      more.add(iteration, -iterations);
      for (double& one : more.by_pipe) one = std::max(one, 0.0);
      more.cycles = std::max(more.cycles, 0.0);
      return more;
    };
    bool main_found = false;
    for (std::uint32_t region = 0; region < flow_.loops.size(); ++region) {
      if (loop_[region] != loop) continue;
      const double iterations = copies_of_loop(loop, region);
      if (is_main(region, loop)) {
        if (!main_found) pieces[static_cast<std::int64_t>(iterations)].emplace_back();
        main_found = true;
        continue;
      }
      MachineWork all;
      for (const std::uint32_t m : flow_.loops[region].blocks) {
        const Home& home = homes_[m];
        if (home.unused || home.block == none || flow_.blocks[m].loop != region) continue;
        if (loop_of(home.block) == loop && is_always(home.block, loop)) all.add(work_in(m));
      }
      pieces[static_cast<std::int64_t>(iterations)].push_back(beside(all, iterations));
    }
    for (const auto& [iterations, all] : straight_pieces(loop)) {
      const MachineWork more = beside(all, iterations);
      if (static_cast<std::int64_t>(iterations) > pieces.rbegin()->first) continue;  // used once at most
      const auto known = pieces.find(static_cast<std::int64_t>(iterations));
      if (known != pieces.end())
        work.loops[loop].entry.add(more);  // an iteration that is peeled off
      else
        pieces[static_cast<std::int64_t>(iterations)].push_back(more);
    }
    if (pieces.size() == 1 && pieces.begin()->first == 1) return;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      UnrolledPiece mean{piece->first, {}};
      for (const MachineWork& one : piece->second)
        mean.machine.add(one, 1 / static_cast<double>(piece->second.size()));
      work.loops[loop].pieces.push_back(mean);
    }
  }

  // Copies outside of the machine code's loops, with how many iterations each has: one may be several blocks
  // long.
  std::vector<std::pair<double, MachineWork>> straight_pieces(std::uint32_t loop) const {
    std::vector<std::pair<double, MachineWork>> pieces;
    std::set<std::uint32_t> seen;  // the blocks of the PTX that the last has
    bool open = false;
    for (std::uint32_t m = 0; m < flow_.blocks.size(); ++m) {
      const Home& home = homes_[m];
      if (flow_.blocks[m].loop != no_machine_loop && loop_[flow_.blocks[m].loop] == loop) open = false;
      if (home.unused || home.block == none || !home.outside || home.iterations == 0) continue;
      if (loop_of(home.block) != loop || !is_always(home.block, loop)) continue;
      if (!open || seen.contains(home.block)) {
        pieces.emplace_back(home.iterations, work_in(m));
        seen.clear();
      } else {
        pieces.back().second.add(work_in(m));
        pieces.back().first = std::max(pieces.back().first, home.iterations);
      }
      open = true;
      seen.insert(home.block);
    }
    return pieces;
  }

  // The work of a block belongs to all of its instructions alike, that of one which no item shows to the
  // warp.
  void spread(KernelWork& work) const {
    for (const auto& [block, all] : of_block_) {
      std::vector<std::uint32_t> shown;
      for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
        if (!code_.silent(i) && !(is_exit(i) && function_.instructions[i].guard == ptx::no_index))
          shown.push_back(i);
      if (shown.empty()) work.once.add(all);
      for (const std::uint32_t i : shown) work.each[i].add(all, 1 / static_cast<double>(shown.size()));
    }
  }

  const analysis::KernelCode& code_;
  const ptx::Function& function_;
  const analysis::Cfg& cfg_;
  const MachineKernel& kernel_;
  int target_;
  MachineFlow flow_;
  std::vector<bool> slow_;                                           // by PTX block
  std::vector<std::uint32_t> block_of_;                              // by PTX instruction
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_line_;      // the PTX instructions
  std::vector<std::uint32_t> loop_;                                  // by machine loop: the PTX's
  std::vector<int> matched_;                                         // by PTX loop: how many machine loops
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> count_;  // by PTX instruction and machine loop
  std::vector<Home> homes_;                                          // by machine block
  std::map<std::uint32_t, MachineWork> of_block_;                    // by PTX block: of an execution
  const std::vector<std::uint32_t> no_blocks_;
};

}  // namespace

KernelWork work_of(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                   int target) {
  return Placement(code, cfg, kernel, target).place();
}

}  // namespace warptime::machine
