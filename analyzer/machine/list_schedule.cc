#include "analyzer/machine/list_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/machine/live_values.h"
#include "analyzer/machine/matrix_work.h"
#include "analyzer/machine/operand_registers.h"
#include "analyzer/machine/result_latencies.h"
#include "analyzer/ptx/addresses.h"
#include "analyzer/ptx/launch_bounds.h"
#include "analyzer/ptx/matrix_operation.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr double kFixed = 4.5;     // the latency of integers, logic, single precision
constexpr double kArgument = 25;   // of an argument of the kernel, with LDC
constexpr double kLanesTwice = 2;  // ALU and integer multiplication have 16 lanes: the next of theirs waits
// From the stall counts that ptxas writes for sm_90.
constexpr double kBeforeGuard = 13;      // from a comparison to what its result guards
constexpr double kRemainderGuards = 17;  // two of these in a division or remainder of integers, beyond kFixed
constexpr double kBranchStall = 5;
constexpr double kAroundSlowPath =
    8;  // the branch to a slow path and where both ways meet, beyond one cycle for each
constexpr double kExpectedLoad = 300;  // of memory, by the scheduler
constexpr double kWithSlowPath = 4;    // fewer: there is none
constexpr double kVanishes = 0.25;     // fewer machine instructions than that: part of others

// How many of the most urgent instructions are tried for one that has its registers.
constexpr std::size_t kTried = 64;
// Chosen among the first, urgent: they go by their loads.
constexpr double kBeforeOthers = 1e9;
// But for loads of memory, ptxas does not hold many more values at once than the order of the PTX does.
constexpr int kMoreRegisters = 12;
constexpr int kNoLimit = std::numeric_limits<int>::max() / 2;

// How many registers ptxas lets a kernel have, where launch bounds do not say: the fewest, in steps of what an SM gives to its
// warps and at least those with which it holds all of its warps, in which each block has that many loads under way at once. It
// keeps some back. From the machine code of 60 kernels for sm_90 with loops of up to 64 loads, and up to 80 values that are alive
// beside them (docs/extended.md).
constexpr int kAllWarpsRegisters = 32, kRegisterStep = 8, kMostRegisters = 255;
constexpr int kRegistersOfSm = 65536;
constexpr int kLoadsUnderWay = 4;
constexpr int kKeptForLoads = 6, kKeptByChoice = 6, kKept = 1;

// ptxas waits until operands are read before it writes to their registers, and does not find the best order. Fitted to the
// stall counts and barriers of 960 basic blocks in loops of the development set's kernels, sm_90, with at least 20
// instructions of which the estimate is within 10%. Of 628 chains of blocks of nvcc's PTX for tests/development, the mean
// error is 16%; it would be 22% if each block were scheduled on its own.
constexpr double kOfSchedule = 0.8, kOfSlots = 0.8, kOfBlock = 6;

// One instruction, or part of one, of a block.
struct Node {
  double slots = 0, latency = 0;
  double span = 0;                 // from its first machine instruction's issue until its last one's
  double alu = 0, multiplies = 0;  // cycles that it holds the ALU and the heavy FMA pipe
  bool loads = false;              // from memory
  std::uint32_t left = 0;          // operands that are not there yet
  std::uint32_t leads_to = 0;      // the first load that needs it, or itself
  int rank = 0;                    // of a load, among the loads
  double ready = 0, behind = 0;
  std::vector<std::uint32_t> reads, writes;  // values
  struct Edge {
    std::uint32_t to = 0;
    double cycles = 0;
    double expected = 0;  // by the scheduler, which takes loads to be long
    bool passes_value = false;
  };
  std::vector<Edge> edges;
};

class BlockSchedule {
 public:
  // target: 90 of sm_90.
  BlockSchedule(const analysis::KernelCode& code, const LiveValues& live, int target, const Estimate& made)
      : code_(code), live_(live), target_(target), made_(made) {
    definitions_.resize(code.function().registers.size());
    for (const ptx::Instruction& one : code.function().instructions) {
      if (is_store(one)) continue;
      for (std::uint32_t o = 0; o < destinations(one); ++o)
        visit_registers(code.operands(), registers(), code.operands()[one.first_operand + o], false,
                        [&](std::uint32_t reg, bool in_address) { definitions_[reg] += in_address ? 0 : 1; });
    }
  }

  // An instruction, and the branch under whose predicate it is executed.
  struct Step {
    std::uint32_t instruction = 0;
    std::uint32_t branch = kNone;
  };

  // Takes `copies` executions of the instructions one after the other. What is alive behind the last one: alive(value).
  template <typename Alive>
  void take(const std::vector<Step>& steps, std::int64_t copies, const Alive& alive) {
    nodes_.clear();
    writer_.clear();
    values_.clear();
    value_of_.clear();
    stores_.clear();
    fence_ = kNone;
    has_barrier_ = false;
    of_node_.clear();
    for (std::int64_t copy = 0; copy < copies; ++copy)
      for (const Step& step : steps) {
        add(step, copy + 1 == copies);
        of_node_.resize(nodes_.size(), step.instruction);
      }
    for (const auto& [value, version] : value_of_) values_[version].stays = alive(value);
    // An address that nothing else needs is computed again for each load, which takes its registers.
    std::vector<std::uint32_t> by_loads(values_.size());
    for (const Node& node : nodes_)
      for (const auto v : node.reads) by_loads[v] += node.loads ? 1 : 0;
    for (std::size_t v = 0; v < values_.size(); ++v)
      if (by_loads[v] > 0 && by_loads[v] == values_[v].reads_left && !values_[v].alive && !values_[v].stays)
        values_[v].width = 0;
  }

  // The registers of 32 bits that it takes beside those of what is alive before: in the order of the PTX, with each load of
  // memory where it is used first, and with the first `loads` of them before all else.
  int registers_in_order() { return most_alive(sunk()); }
  // Nothing where there are fewer.
  std::optional<int> registers_of_loads(int loads) const {
    int sum = 0;
    for (const Node& node : nodes_) {
      if (!node.loads) continue;
      for (const auto v : node.writes) sum += values_[v].width;
      if (--loads == 0) return sum;
    }
    return std::nullopt;
  }

  // Cycles of what was taken, with so many registers beside those of what is alive before.
  double cycles(int registers) {
    double now = 0, end = 0, alu = 0, multiplies = 0;
    issued_.clear();
    for (const std::uint32_t n : order(registers)) {
      issued_.push_back(of_node_[n]);
      now = std::max(now, nodes_[n].ready);
      if (nodes_[n].alu > 0) now = std::max(now, alu);
      if (nodes_[n].multiplies > 0) now = std::max(now, multiplies);
      alu = std::max(alu, now) + nodes_[n].alu;
      multiplies = std::max(multiplies, now) + nodes_[n].multiplies;
      for (const Node::Edge& edge : nodes_[n].edges)
        nodes_[edge.to].ready = std::max(nodes_[edge.to].ready, now + edge.cycles);
      end = std::max(end, now + nodes_[n].span);
      now += nodes_[n].slots;
    }
    double slots = 0;
    for (const Node& node : nodes_) slots += node.slots;
    return kOfSchedule * std::max(now, end) + kOfSlots * slots + kOfBlock;
  }

  // Of the last call: the instructions in the order in which they are issued.
  const std::vector<std::uint32_t>& issued() const { return issued_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  const ptx::Instruction& at(std::uint32_t i) const { return code_.function().instructions[i]; }

  void add(const Step& step, bool last_copy) {
    const ptx::Instruction& one = at(step.instruction);
    const MachineWork& work = made_.each[step.instruction];
    const bool ends = one.info != nullptr && one.info->is(ptx::ends_block);
    if (ends && !last_copy) return;
    Node node;
    node.slots = work.total();
    node.latency = latency_of(one, work);
    node.loads = loads_memory(one);
    node.alu = kLanesTwice * work[Pipe::alu];
    if (one.opcode.find(".f") == std::string_view::npos) node.multiplies = kLanesTwice * work[Pipe::fma];
    if (node.slots > 2 && node.latency > 0) node.span = node.latency - kFixed;
    const bool divides = divides_integers(one) && work[Pipe::xu] >= 2;
    if (divides) add_reciprocal(one, node);
    // ptxas makes a branch of the path that few values take: what comes behind does not begin before it, and loads of memory
    // stay behind it (rises.h). Roots and reciprocals go there before all else, divisions behind their own instructions.
    const bool slow_path = node.slots >= kWithSlowPath && analysis::has_subroutine(one);
    if (slow_path && !divides_floats(one)) add_fence(0);
    const bool argument = needs_argument(one, work);
    if (argument) add_argument(work, node);
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (argument || divides) edge(own - 1, own, nodes_[own - 1].latency);
    connect(one, own);
    note_values(step.instruction, own);
    if (step.branch != kNone && needs_predicate(one)) {
      const ptx::Instruction& branch = at(step.branch);
      if (branch.guard != ptx::no_index) read(code_.operands()[branch.guard], own, kBeforeGuard - kFixed);
    }
    keep_order(one, own);
    if (slow_path) add_fence(kAroundSlowPath);
    if (one.info != nullptr && one.info->category == ptx::Category::barrier) {
      has_barrier_ = true;
      for (std::uint32_t n = fence_ == kNone ? 0 : fence_ + 1; n < own; ++n) edge(n, own, nodes_[n].slots);
      fence_ = own;
    }
    if (ends && nodes_[own].slots > kVanishes) nodes_[own].slots += kBranchStall - 1;
  }

  // Of what is behind a short branch: accesses to memory, and what writes to a register that others write to, too. The rest is
  // executed in any case.
  bool needs_predicate(const ptx::Instruction& one) const {
    if (one.info == nullptr) return true;
    const auto category = one.info->category;
    if (category == ptx::Category::load || category == ptx::Category::atomic || is_store(one)) return true;
    bool merges = false;
    for (std::uint32_t o = 0; o < destinations(one); ++o)
      visit_registers(code_.operands(), registers(), code_.operands()[one.first_operand + o], false,
                      [&](std::uint32_t reg, bool in_address) {
                        merges = merges || (!in_address && definitions_[reg] > 1);
                      });
    return merges;
  }

  // Whether it loads an argument first, which waits for nothing.
  static bool needs_argument(const ptx::Instruction& one, const MachineWork& work) {
    return one.info != nullptr && one.info->category == ptx::Category::arithmetic &&
           work[Pipe::adu] >= kVanishes && work.total() - work[Pipe::adu] >= kVanishes &&
           work[Pipe::xu] == 0 && work[Pipe::fp64] == 0;
  }

  void add_argument(const MachineWork& work, Node& rest) {
    Node argument;
    argument.slots = work[Pipe::adu];
    argument.latency = kArgument;
    rest.slots -= argument.slots;
    rest.latency = std::max(kFixed, rest.latency - kArgument * std::min(work[Pipe::adu], 1.0));
    add_behind_fence(argument);
  }

  std::uint32_t add_behind_fence(const Node& node) {
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (fence_ != kNone) edge(fence_, own, 1);
    return own;
  }

  static bool divides_floats(const ptx::Instruction& one) { return ptx::first_word(one) == "div"; }

  // All that is there is issued before what comes, which begins `cycles` later.
  void add_fence(double cycles) {
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    for (std::uint32_t n = fence_ == kNone ? 0 : fence_; n < own; ++n)
      edge(n, own, std::max(nodes_[n].slots, nodes_[n].span) + cycles);
    fence_ = own;
  }

  static bool divides_integers(const ptx::Instruction& one) {
    const ptx::FirstWord word = ptx::first_word(one);
    return (word == "div" || word == "rem") && one.opcode.find(".f") == std::string_view::npos;
  }

  // Of a division by a register the reciprocal comes first, which needs the divisor alone.
  void add_reciprocal(const ptx::Instruction& one, Node& rest) {
    Node reciprocal;
    reciprocal.slots = rest.slots / 2;
    rest.slots -= reciprocal.slots;
    reciprocal.latency = rest.latency - (rest.slots * kFixed + kRemainderGuards);
    rest.latency -= reciprocal.latency;
    rest.span = rest.latency - kFixed;
    const auto own = add_behind_fence(reciprocal);
    const auto& divisor = code_.operands()[one.first_operand + one.operand_count - 1];
    read(divisor, own, 0);
  }

  void connect(const ptx::Instruction& one, std::uint32_t own) {
    if (fence_ != kNone) edge(fence_, own, 1);
    const auto& operands = code_.operands();
    const std::uint32_t written = is_store(one) ? 0 : destinations(one);
    for (std::uint32_t o = written; o < one.operand_count; ++o) read(operands[one.first_operand + o], own, 0);
    for (std::uint32_t o = 0; o < written; ++o)  // addresses and vectors that are not written but read
      if (operands[one.first_operand + o].kind == ptx::Operand::Kind::address)
        read(operands[one.first_operand + o], own, 0);
    if (one.guard != ptx::no_index) {
      read(operands[one.guard], own, kBeforeGuard - kFixed);
      for (std::uint32_t o = 0; o < written; ++o) read(operands[one.first_operand + o], own, 0);
    }
    for (std::uint32_t o = 0; o < written; ++o)
      visit_registers(operands, registers(), operands[one.first_operand + o], false,
                      [&](std::uint32_t reg, bool in_address) {
                        if (!in_address) writer_[reg] = own;
                      });
  }

  // ---- the registers that values need

  // A value of LiveValues from one of its definitions on.
  struct Value {
    int width = 0;
    std::uint32_t reads_left = 0;
    bool stays = false;  // it is alive behind the block
    bool alive = false;
    bool under_way = false;  // it is loaded, and nothing has used it
  };

  void note_values(std::uint32_t i, std::uint32_t own) {
    live_.for_each_use(i, [&](std::uint32_t value) {
      const auto [found, before] = value_of_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
      if (before) values_.push_back({live_.width(value), 0, false, true});
      ++values_[found->second].reads_left;
      nodes_[own].reads.push_back(found->second);
    });
    live_.for_each_definition(i, [&](std::uint32_t value) {
      value_of_[value] = static_cast<std::uint32_t>(values_.size());
      nodes_[own].writes.push_back(value_of_[value]);
      values_.push_back({live_.width(value), 0, false, false});
    });
  }

  // How many more registers are occupied behind a node.
  int growth(const Node& node) const {
    int sum = 0;
    for (const auto v : node.writes) sum += values_[v].width;
    for (const auto v : node.reads)
      if (values_[v].alive && values_[v].reads_left == 1 && !values_[v].stays) sum -= values_[v].width;
    return sum;
  }

  int execute(const Node& node) {
    int sum = 0;
    for (const auto v : node.reads) {
      Value& value = values_[v];
      if (--value.reads_left != 0 || value.stays || !value.alive) continue;
      value.alive = false;
      sum -= value.width;
    }
    for (const auto v : node.writes) {
      values_[v].alive = true;
      sum += values_[v].width;
    }
    return sum;
  }

  int most_alive(const std::vector<std::uint32_t>& order) {
    const auto values = values_;
    int now = 0, most = 0;
    for (const std::uint32_t n : order) most = std::max(most, now += execute(nodes_[n]));
    values_ = values;
    return most;
  }

  std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // The order of the PTX, with each load of memory before the first node that needs it.
  std::vector<std::uint32_t> sunk() const {
    const auto size = static_cast<std::uint32_t>(nodes_.size());
    std::vector<std::vector<std::uint32_t>> before(size);
    std::vector<std::uint32_t> order;
    for (std::uint32_t n = 0; n < size; ++n) {
      for (const std::uint32_t load : before[n]) order.push_back(load);
      std::uint32_t user = n;
      if (nodes_[n].loads)
        for (const Node::Edge& edge : nodes_[n].edges) user = user == n ? edge.to : std::min(user, edge.to);
      if (user > n)
        before[user].push_back(n);
      else
        order.push_back(n);
    }
    return order;
  }

  // Loads stay behind stores to the same kind of memory, unless the addresses are at different distances from one register.
  void keep_order(const ptx::Instruction& one, std::uint32_t own) {
    if (one.info == nullptr) return;
    const auto category = one.info->category;
    const bool load = category == ptx::Category::load || category == ptx::Category::atomic;
    const bool store = is_store(one) || category == ptx::Category::atomic;
    const ptx::StateSpace space = ptx::space_of(one);
    if ((!load && !store) || space == ptx::StateSpace::param || space == ptx::StateSpace::constant) return;
    auto& stores = stores_[space];
    const ptx::Operand* const own_address = address_of(one);
    const auto apart = [&](const ptx::Operand* a, const ptx::Operand* b) {
      return a != nullptr && b != nullptr && ptx::have_different_offsets(code_.operands(), *a, *b);
    };
    if (load && one.opcode.find(".nc") == std::string_view::npos)
      for (const auto& [node, address] : stores)
        if (!apart(address, own_address)) edge(node, own, nodes_[node].slots);
    if (!store) return;
    constexpr std::size_t most = 16;
    if (stores.size() >= most) stores.erase(stores.begin());
    stores.emplace_back(own, own_address);
  }

  const ptx::Operand* address_of(const ptx::Instruction& one) const {
    for (std::uint32_t o = 0; o < one.operand_count; ++o)
      if (const auto& operand = code_.operands()[one.first_operand + o];
          operand.kind == ptx::Operand::Kind::address)
        return &operand;
    return nullptr;
  }

  static bool is_store(const ptx::Instruction& one) {
    return one.info != nullptr &&
           (one.info->category == ptx::Category::store || one.info->category == ptx::Category::reduction);
  }

  std::size_t registers() const { return code_.function().registers.size(); }

  void read(const ptx::Operand& operand, std::uint32_t own, double more) {
    visit_registers(code_.operands(), registers(), operand, false, [&](std::uint32_t reg, bool) {
      const auto by = writer_.find(reg);
      if (by == writer_.end() || by->second == own) return;
      const Node& from = nodes_[by->second];
      edge(by->second, own, from.latency > 0 ? from.latency + more : 0);
      nodes_[by->second].edges.back().passes_value = true;
    });
  }

  void edge(std::uint32_t from, std::uint32_t to, double cycles) {
    nodes_[from].edges.push_back({to, cycles, std::max(cycles, nodes_[from].loads ? kExpectedLoad : 0)});
    nodes_[to].left += 1;
  }

  double latency_of(const ptx::Instruction& one, const MachineWork& work) const {
    const double slots = work.total();
    if (slots < kVanishes || one.info == nullptr) return 0;
    switch (one.info->category) {
      case ptx::Category::load:
        return load_latency(one);
      case ptx::Category::atomic:
        return ptx::space_of(one) == ptx::StateSpace::shared ? kSharedAtomicLatency : 0;
      case ptx::Category::store:
      case ptx::Category::reduction:
        return 0;
      default:
        break;
    }
    if (one.info->is(ptx::tensor_core)) {
      const auto operation = ptx::matrix_operation(one.opcode);
      return operation ? matrix_work(*operation, target_).latency : kTensorLatency;
    }
    const ptx::FirstWord word = ptx::first_word(one);
    if (word == "shfl" || word == "match" || word == "redux") return kShuffleLatency;
    if (one.info->category == ptx::Category::barrier && ptx::has_part(one.opcode, "red"))
      return kReductionLatency;
    // The check of a division's operands is beside its reciprocal.
    const double special =
        word == "div" && one.opcode.ends_with(".f32") ? std::min(work[Pipe::xu], 1.0) : work[Pipe::xu];
    double latency = kXuLatency * special + kDoubleLatency * work[Pipe::fp64] +
                     std::max(kSpecialRegisterLatency * std::min(work[Pipe::lsu], 1.0),
                              kArgument * std::min(work[Pipe::adu], 1.0));
    const double others =
        slots - work[Pipe::xu] - work[Pipe::fp64] - work[Pipe::lsu] - work[Pipe::adu] - work[Pipe::cbu];
    if (side_by_side(one, word))
      latency = std::max(latency, kFixed);
    else
      latency += kFixed * std::max(others, 0.0);
    if (work[Pipe::xu] > 0 && others > 1 && word != "cvt" &&
        one.opcode.find(".approx.f32") != std::string_view::npos)
      latency += kBeforeGuard - kFixed;
    if (divides_integers(one) && slots > 6) latency += kRemainderGuards;
    return std::max(latency, kFixed);
  }

  // Whether an operation's instructions do not wait for each other, or only for moves of constants: the halves of 64 bits,
  // and double precision with a constant.
  static bool side_by_side(const ptx::Instruction& one, ptx::FirstWord word) {
    const bool adds = word == "add" || word == "sub", selects = word == "selp";
    if (one.opcode.ends_with(".f64"))
      return adds || selects || word == "mul" || word == "fma" || word == "mad";
    if (!one.opcode.ends_with("64")) return false;
    return adds || selects || word == "mov" || word == "and" || word == "or" || word == "xor" ||
           word == "not" || word == "shl" || word == "shr";
  }

  static bool loads_memory(const ptx::Instruction& one) {
    if (one.info == nullptr) return false;
    const bool reads =
        one.info->category == ptx::Category::load || one.info->category == ptx::Category::atomic;
    const ptx::StateSpace space = ptx::space_of(one);
    return reads && (space == ptx::StateSpace::global || space == ptx::StateSpace::generic);
  }

  static double load_latency(const ptx::Instruction& one) {
    switch (ptx::space_of(one)) {
      case ptx::StateSpace::shared:
      case ptx::StateSpace::local:
        return kSharedLatency;
      case ptx::StateSpace::constant:
        return kConstantLatency;
      default:
        return 0;
    }
  }

  // In which they are issued: the most urgent ones first if there are registers for all of them, else in the order of the
  // loads that they lead to, as far as there are registers.
  std::vector<std::uint32_t> order(int registers) {
    const int others = std::max(registers, most_alive(in_order()) + kMoreRegisters);
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      Node& node = nodes_[n];
      node.behind = node.slots;
      for (const Node::Edge& edge : node.edges)
        node.behind = std::max(node.behind, edge.expected + nodes_[edge.to].behind);
    }
    const auto values = values_;
    std::vector<std::uint32_t> left;
    for (const Node& node : nodes_) left.push_back(node.left);
    auto issued = issue(kNoLimit, kNoLimit);
    values_ = values;
    if (most_alive(issued) <= (has_barrier_ ? others : registers)) return issued;
    loads_ = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].left = left[n];
      nodes_[n].leads_to = kNone;
      if (nodes_[n].loads && !has_barrier_) nodes_[n].rank = loads_++;
    }
    if (has_barrier_) return issue(others, others);
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      std::uint32_t load = nodes_[n].loads ? static_cast<std::uint32_t>(n) : kNone;
      for (const Node::Edge& edge : nodes_[n].edges)
        if (edge.passes_value) load = std::min(load, nodes_[edge.to].leads_to);
      nodes_[n].leads_to = load;
    }
    for (Node& node : nodes_)
      if (node.leads_to != kNone) node.behind = kBeforeOthers - node.leads_to;
    return issue(registers, others);
  }

  // With the registers that are occupied, and so many for loads of memory and for all else. An address is not computed long
  // before its load.
  bool fits(const Node& node, int alive, int for_loads, int for_others) const {
    if (for_loads == kNoLimit) return true;
    const int more = growth(node);
    if (node.leads_to == kNone) return more <= (loads_issued_ < loads_ ? 0 : std::max(0, for_others - alive));
    if (node.loads) return under_way_ < kLoadsUnderWay || more <= std::max(0, for_loads - alive);
    return nodes_[node.leads_to].rank < loads_issued_ + kLoadsUnderWay &&
           more <= std::max(0, for_others - alive);
  }

  // With so many registers for loads of memory, and for all else.
  std::vector<std::uint32_t> issue(int for_loads, int for_others) {
    using Waiting = std::pair<double, std::uint32_t>;  // until when, or how urgent; the node
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    const auto urgent = [&](std::uint32_t n) { return Waiting{nodes_[n].behind, kNone - n}; };
    std::priority_queue<Waiting> ready;
    std::vector<double> begins(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].left == 0) waiting.emplace(0, n);
    std::vector<std::uint32_t> issued;
    double now = 0;
    int alive = 0;
    loads_issued_ = under_way_ = 0;
    std::vector<Waiting> passed;
    while (!waiting.empty() || !ready.empty()) {
      if (ready.empty()) now = std::max(now, waiting.top().first);
      for (; !waiting.empty() && waiting.top().first <= now; waiting.pop())
        ready.push(urgent(waiting.top().second));
      // The most urgent one for which there are registers, else the first of the PTX.
      std::uint32_t n = kNone;
      passed.clear();
      while (!ready.empty() && passed.size() < kTried) {
        const Waiting top = ready.top();
        ready.pop();
        const std::uint32_t one = kNone - top.second;
        if (fits(nodes_[one], alive, for_loads, for_others)) {
          n = one;
          break;
        }
        passed.push_back(top);
      }
      if (n == kNone && !waiting.empty()) {
        for (const Waiting& one : passed) ready.push(one);
        now = waiting.top().first;
        continue;
      }
      if (n == kNone) {
        const auto first =
            std::max_element(passed.begin(), passed.end(),
                             [](const Waiting& a, const Waiting& b) { return a.second < b.second; });
        n = kNone - first->second;
        passed.erase(first);
      }
      for (const Waiting& one : passed) ready.push(one);
      alive += execute(nodes_[n]);
      issued.push_back(n);
      if (nodes_[n].loads) {
        ++loads_issued_;
        ++under_way_;
        for (const auto v : nodes_[n].writes) values_[v].under_way = true;
      }
      bool uses = false;
      for (const auto v : nodes_[n].reads) {
        uses = uses || values_[v].under_way;
        values_[v].under_way = false;
      }
      if (uses) --under_way_;
      for (const Node::Edge& edge : nodes_[n].edges) {
        begins[edge.to] = std::max(begins[edge.to], now + edge.expected);
        if (--nodes_[edge.to].left == 0) waiting.emplace(begins[edge.to], edge.to);
      }
      now += nodes_[n].slots;
    }
    return issued;
  }

  const analysis::KernelCode& code_;
  const LiveValues& live_;
  const int target_;
  const Estimate& made_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> of_node_, issued_;  // instructions
  int loads_ = 0, loads_issued_ = 0, under_way_ = 0;
  std::vector<int> definitions_;  // of a PTX register
  std::vector<Value> values_;
  std::map<std::uint32_t, std::uint32_t> value_of_;  // by value of LiveValues: the last one
  std::map<std::uint32_t, std::uint32_t> writer_;    // by register: the node
  std::map<ptx::StateSpace, std::vector<std::pair<std::uint32_t, const ptx::Operand*>>>
      stores_;                   // the last ones
  std::uint32_t fence_ = kNone;  // a barrier before
  bool has_barrier_ = false;
};

// Basic blocks that are one to ptxas: those that follow each other without another way in or out, and those behind short
// branches, which it predicates, with the blocks between that only branch there.
class Chains {
 public:
  Chains(const ptx::Function& function, const analysis::Cfg& cfg, const Estimate& made)
      : function_(function), cfg_(cfg), branches_(cfg.blocks.size(), kNone) {
    for (const Predicated& one : made.predicated) branches_[one.block] = one.branch;
    first_.resize(cfg.blocks.size());
    std::iota(first_.begin(), first_.end(), 0);
    for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
      if (first_[b] == b && !is_behind_another(b))
        for (const std::uint32_t block : from(b)) first_[block] = b;
  }

  // By block: the first of its chain.
  const std::vector<std::uint32_t>& first() const { return first_; }

  // The blocks in their order.
  std::vector<std::uint32_t> from(std::uint32_t block) const {
    std::vector<std::uint32_t> chain = {block};
    for (std::uint32_t at = block; at != kNone && chain.size() < cfg_.blocks.size();) {
      const auto sides = predicated_behind(at);
      chain.insert(chain.end(), sides.begin(), sides.end());
      at = joined_behind(at, sides);
      if (at != kNone) chain.push_back(at);
    }
    return chain;
  }

  // The branch under whose predicate a block is executed; 0xffffffff: none.
  std::uint32_t branch_of(std::uint32_t block) const { return branches_[block]; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The sides of a short branch, and what only leads from it to them; none: it is another branch.
  std::vector<std::uint32_t> predicated_behind(std::uint32_t block) const {
    std::vector<std::uint32_t> sides;
    bool any = false;
    const auto is_side = [&](std::uint32_t b) {
      return branches_[b] != kNone && branches_[b] + 1 == cfg_.blocks[block].end;
    };
    for (const std::uint32_t next : cfg_.blocks[block].successors) {
      if (only_leads_on(next)) sides.push_back(next);
      const std::uint32_t side = only_leads_on(next) ? cfg_.blocks[next].successors.front() : next;
      if (!is_side(side)) continue;
      sides.push_back(side);
      any = true;
    }
    if (!any) sides.clear();
    return sides;
  }

  // Whether a block is nothing but a branch behind one other block.
  bool only_leads_on(std::uint32_t b) const {
    const analysis::Block& block = cfg_.blocks[b];
    if (block.end - block.first != 1 || block.successors.size() != 1 || block.predecessors.size() != 1)
      return false;
    const ptx::Instruction& one = function_.instructions[block.first];
    return one.info != nullptr && one.info->category == ptx::Category::branch;
  }

  // Where all ways meet, if nothing else leads there.
  std::uint32_t joined_behind(std::uint32_t block, const std::vector<std::uint32_t>& sides) const {
    const auto& all = cfg_.blocks;
    if (sides.empty() && all[block].successors.size() != 1) return kNone;
    const auto side =
        std::find_if(sides.begin(), sides.end(), [&](const auto b) { return branches_[b] != kNone; });
    const std::uint32_t next = all[side == sides.end() ? block : *side].successors.front();
    if (next == 0 || next == block || next == cfg_.exit() || all[next].loop != all[block].loop) return kNone;
    if (branches_[next] != kNone || is_header(next)) return kNone;
    const bool alone =
        std::all_of(all[next].predecessors.begin(), all[next].predecessors.end(), [&](const auto from) {
          return from == block || std::find(sides.begin(), sides.end(), from) != sides.end();
        });
    return alone ? next : kNone;
  }

  bool is_header(std::uint32_t block) const {
    const std::uint32_t loop = cfg_.blocks[block].loop;
    return loop != analysis::none && cfg_.loops[loop].header == block;
  }

  bool is_behind_another(std::uint32_t block) const {
    const auto entry_of = [&](std::uint32_t b) {
      if (branches_[b] != kNone) b = cfg_.blocks[b].predecessors.front();
      return only_leads_on(b) ? cfg_.blocks[b].predecessors.front() : b;
    };
    const std::uint32_t entry = entry_of(block);
    const auto sides = predicated_behind(entry);
    if (entry != block && std::find(sides.begin(), sides.end(), block) != sides.end()) return true;
    if (branches_[block] != kNone) return false;
    const auto& before = cfg_.blocks[block].predecessors;
    return std::any_of(before.begin(), before.end(), [&](const std::uint32_t from) {
      const auto joins = [&](std::uint32_t b) { return joined_behind(b, predicated_behind(b)) == block; };
      return joins(from) || joins(entry_of(from));
    });
  }

  const ptx::Function& function_;
  const analysis::Cfg& cfg_;
  std::vector<std::uint32_t> branches_, first_;
};

// How many iterations ptxas puts side by side, where the chain of blocks is all of the loop.
std::int64_t copies_of(const analysis::Cfg& cfg, const Estimate& made,
                       const std::vector<std::uint32_t>& chain) {
  constexpr std::int64_t most = 8;
  const std::uint32_t loop = cfg.blocks[chain.front()].loop;
  if (loop == analysis::none || loop >= made.loops.size() || cfg.loops[loop].blocks.size() != chain.size() ||
      cfg.loops[loop].header != chain.front())
    return 1;
  const auto& pieces = made.loops[loop].pieces;
  return pieces.empty() ? 1 : std::clamp<std::int64_t>(pieces.front().iterations, 1, most);
}

// A branch to another block of the chain.
bool leads_on(const ptx::Instruction& one) {
  return one.info != nullptr && one.info->category == ptx::Category::branch;
}

// What launch bounds and the like say of a thread's registers.
struct RegisterBounds {
  int most = kMostRegisters;
  bool given = false;  // ptxas need not choose: they may all be used
};

RegisterBounds register_bounds(const ptx::Function& function) {
  const ptx::LaunchBounds bounds = ptx::launch_bounds(function);
  const int threads = bounds.required_threads.value_or(bounds.max_threads.value_or(0));
  RegisterBounds found;
  if (threads > 0) {
    const int blocks = bounds.min_blocks.value_or(1);
    const auto of_thread = kRegistersOfSm / (std::int64_t{threads} * blocks) / kRegisterStep * kRegisterStep;
    found.most = static_cast<int>(std::clamp<std::int64_t>(of_thread, kRegisterStep, kMostRegisters));
    found.given = bounds.min_blocks.has_value();
  }
  if (bounds.max_registers) found = {std::min(found.most, *bounds.max_registers), true};
  return found;
}

// The chains of blocks of a kernel, each in the order in which ptxas issues its instructions.
class KernelSchedule {
 public:
  KernelSchedule(const analysis::KernelCode& code, const analysis::Cfg& cfg, int target, Estimate& made)
      : code_(code),
        cfg_(cfg),
        made_(made),
        values_(code, cfg, false, true),
        schedule_(code, values_, target, made),
        chains_(code.function(), cfg, made) {
    if (is_small(code.function(), cfg)) live_ = live_sets(cfg, values_);
  }

  void write() {
    made_.chains = chains_.first();
    made_.places.assign(size(), analysis::none);
    const int registers = kernel_registers();
    std::uint32_t place = 0;
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      const auto steps = take(b);
      if (steps.empty()) continue;
      const double cycles =
          schedule_.cycles(registers - kKeptByChoice - alive_before(b)) / static_cast<double>(copies_);
      if (copies_ == 1)
        for (const std::uint32_t i : schedule_.issued())
          if (made_.places[i] == analysis::none) made_.places[i] = place++;
      for (const auto& step : steps)
        made_.each[step.instruction].cycles = cycles / static_cast<double>(steps.size());
    }
  }

 private:
  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.function().instructions.size()); }

  // Registers of a thread. Without the sets of what is alive: no limit.
  int kernel_registers() {
    if (live_.in.empty()) return kNoLimit;
    const RegisterBounds bounds = register_bounds(code_.function());
    if (bounds.given) return bounds.most;
    int needed = kAllWarpsRegisters;
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (take(b).empty()) continue;
      const int before = alive_before(b);
      needed = std::max(needed, before + schedule_.registers_in_order() + kKept);
      if (const auto loads = schedule_.registers_of_loads(kLoadsUnderWay))
        needed = std::max(needed, before + *loads + kKeptForLoads);
    }
    return std::min(bounds.most, (needed + kRegisterStep - 1) / kRegisterStep * kRegisterStep);
  }

  int alive_before(std::uint32_t block) const {
    return live_.in.empty() ? 0 : live_.in[block].registers(values_);
  }

  // Gives the chain that begins with a block to schedule_; its instructions, none: it is part of another chain, or too long.
  std::vector<BlockSchedule::Step> take(std::uint32_t block) {
    constexpr std::uint32_t longest = 20'000;  // instructions of copies
    // Of a block: longer ones have no cycles, and the simulation takes chains.
    constexpr std::uint32_t most = 200'000;
    std::vector<BlockSchedule::Step> steps;
    if (made_.chains[block] != block) return steps;
    const std::vector<std::uint32_t> chain = chains_.from(block);
    for (const std::uint32_t one : chain)
      for (std::uint32_t i = cfg_.blocks[one].first; i < std::min(cfg_.blocks[one].end, size()); ++i)
        if (!code_.silent(i) && (one == chain.back() || !leads_on(code_.function().instructions[i])))
          steps.push_back({i, chains_.branch_of(one)});
    if (steps.empty() || steps.size() > most) return {};
    const auto shown = static_cast<std::int64_t>(steps.size());
    copies_ = std::max<std::int64_t>(1, std::min(copies_of(cfg_, made_, chain), longest / shown));
    schedule_.take(steps, copies_, [&](std::uint32_t value) {
      return live_.out.empty() || live_.out[chain.back()].has(value);
    });
    return steps;
  }

  const analysis::KernelCode& code_;
  const analysis::Cfg& cfg_;
  Estimate& made_;
  LiveValues values_;
  LiveSets live_;  // empty: the kernel is too large
  BlockSchedule schedule_;
  Chains chains_;
  std::int64_t copies_ = 1;  // of the chain that schedule_ has
};

}  // namespace

void schedule_blocks(const analysis::KernelCode& code, const analysis::Cfg& cfg, int target, Estimate& made) {
  KernelSchedule(code, cfg, target, made).write();
}

}  // namespace warptime::machine
