#include "analyzer/machine/pressure.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/machine/live_values.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

using analysis::Block;
using ptx::Category;
using ptx::Instruction;
using ptx::no_index;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

constexpr int kBound = 32;               // registers of a thread with which an SM holds all of its warps
constexpr std::size_t kWindow = 32;      // ready instructions, or earlier accesses, that are looked at
constexpr std::size_t kPredicated = 12;  // instructions that ptxas predicates rather than branches around
constexpr std::size_t kSmallLoop = 64;   // instructions of a loop that ptxas unrolls, …
constexpr int kUnrolled = 4;             // … so many times

int registers_of_load(const Instruction& one) {
  return std::max(1, (ptx::access_bytes(one) + 3) / 4);
}

bool is_division(const Instruction& one) {
  const ptx::FirstWord first = ptx::first_word(one);
  return first == "div" || first == "rem";
}

bool divides_words(const Instruction& one) {
  return is_division(one) && (one.opcode.ends_with("s32") || one.opcode.ends_with("u32"));
}

// Registers that ptxas needs inside of what it makes of an instruction, beside operands and result: measured on kernels that
// do nothing else.
int own_registers(const Instruction& one) {
  const std::string_view opcode = one.opcode;
  const ptx::FirstWord first = ptx::first_word(one);
  const bool divides = is_division(one);
  if (!divides && first != "sqrt" && first != "rcp") return 0;
  const bool approximate = ptx::has_part(opcode, "approx") || ptx::has_part(opcode, "full");
  if (divides) {
    if (opcode.ends_with("f64")) return 12;
    if (opcode.ends_with("64")) return 10;
    if (opcode.ends_with("f32")) return approximate ? 1 : 5;
    return 3;
  }
  if (opcode.ends_with("f64")) return 8;
  return approximate ? 0 : 4;
}

bool is_load(const Instruction& one) {
  return one.info != nullptr && one.info->category == Category::load &&
         ptx::space_of(one) != ptx::StateSpace::param;
}

bool is_store(const Instruction& one) {
  if (one.info == nullptr) return false;
  const Category category = one.info->category;
  return category == Category::store || category == Category::atomic || category == Category::reduction ||
         category == Category::async_copy;
}

// Neither loads nor stores pass it.
bool is_fence(const Instruction& one) {
  if (one.info == nullptr || one.info->is(ptx::of_other_threads)) return true;
  const Category category = one.info->category;
  return category == Category::barrier || category == Category::call || category == Category::branch ||
         category == Category::exit;
}

bool is_branch(const Instruction& one) {
  return one.info != nullptr && one.info->category == Category::branch;
}

bool ends_kernel(const Instruction& one) {
  return one.info != nullptr && one.info->category == Category::exit;
}

const Operand* register_in_address(const std::vector<Operand>& operands, const Instruction& one,
                                   std::uint64_t& offset) {
  for (std::uint32_t o = 0; o < one.operand_count; ++o) {
    const Operand& operand = operands[one.first_operand + o];
    if (operand.kind != Kind::address) continue;
    offset = operand.value;
    const bool alone = operand.part_count == 1 && operands[operand.first_part].kind == Kind::reg;
    return alone ? &operands[operand.first_part] : nullptr;
  }
  return nullptr;
}

bool in_different_spaces(const Instruction& a, const Instruction& b) {
  const auto space = ptx::space_of(a), other = ptx::space_of(b);
  return space != other && space != ptx::StateSpace::generic && other != ptx::StateSpace::generic;
}

// Whether two accesses may be to the same place: not where their spaces differ, nor where they are at different offsets from
// the same register.
bool may_alias(const std::vector<Operand>& operands, const Instruction& a, const Instruction& b) {
  if (in_different_spaces(a, b)) return false;
  std::uint64_t offset = 0, other = 0;
  const Operand* left = register_in_address(operands, a, offset);
  const Operand* right = register_in_address(operands, b, other);
  return left == nullptr || right == nullptr || left->symbol != right->symbol || offset == other;
}

// Executes the instructions of a basic block in one order after the other, and counts what is alive.
class BlockScheduler {
 public:
  BlockScheduler(const analysis::KernelCode& code, const LiveValues& values)
      : function_(code.function()),
        operands_(code.operands()),
        values_(values),
        reads_left_(values.count(), 0),
        writer_(values.count(), no_index),
        readers_(values.count()),
        alive_(values.count(), false) {}

  void set(const std::vector<std::uint32_t>& instructions, const ValueSet& in, const ValueSet& out) {
    in_ = &in;
    out_ = &out;
    alive_at_entry_ = in.registers(values_);
    instructions_.clear();
    own_.clear();
    for (const std::uint32_t i : instructions) {
      if (values_.vanishes(i)) continue;
      instructions_.push_back(i);
      own_.push_back(own_registers(function_.instructions[i]));
    }
    loads_pass_stores_.reset();
  }

  // No order can have more alive: as if nothing died.
  int bound() const {
    int sum = alive_at_entry_, own = 0;
    for (std::size_t n = 0; n < instructions_.size(); ++n) {
      values_.for_each_definition(instructions_[n], [&](std::uint32_t v) { sum += values_.width(v); });
      own = std::max(own, own_[n]);
    }
    return sum + own;
  }

  // The maximum of what is alive.
  int peak(Order order) {
    const bool pass_stores = order >= Order::loads_unbarred;
    if (loads_pass_stores_ != pass_stores) find_dependences(pass_stores);
    loads_pass_stores_ = pass_stores;
    begin();
    int alive = alive_at_entry_, most = alive;
    while (!ready_.empty()) {
      const std::size_t at = choose(order, alive);
      const std::uint32_t n = ready_[at];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(at));
      execute(n, alive, most);
      for (const std::uint32_t next : followers_[n])
        if (--waits_for_[next] == 0)
          ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), next), next);
    }
    return most;
  }

 private:
  const Instruction& at(std::uint32_t n) const { return function_.instructions[instructions_[n]]; }

  void begin() {
    waits_for_ = blockers_;
    ready_.clear();
    for (std::uint32_t n = 0; n < instructions_.size(); ++n) {
      const auto begin_value = [&](std::uint32_t v) { alive_[v] = in_->has(v); };
      values_.for_each_use(instructions_[n], begin_value);
      values_.for_each_definition(instructions_[n], begin_value);
      values_.for_each_use(instructions_[n], [&](std::uint32_t v) { ++reads_left_[v]; });
      if (blockers_[n] == 0) ready_.push_back(n);
    }
  }

  bool is_dead(std::uint32_t value) const { return reads_left_[value] == 0 && !out_->has(value); }

  void execute(std::uint32_t n, int& alive, int& most) {
    const std::uint32_t i = instructions_[n];
    const int before = alive;
    values_.for_each_use(i, [&](std::uint32_t v) {
      --reads_left_[v];
      if (!alive_[v] || !is_dead(v)) return;
      alive_[v] = false;
      alive -= values_.width(v);
    });
    int unread = 0;
    values_.for_each_definition(i, [&](std::uint32_t v) {
      if (!alive_[v]) alive += values_.width(v);
      alive_[v] = !is_dead(v);
      if (!alive_[v]) unread += values_.width(v);
    });
    most = std::max({most, alive, std::max(before, alive) + own_[n]});
    alive -= unread;
  }

  // How many more registers are occupied after an instruction.
  int growth(std::uint32_t n) const {
    int sum = 0;
    values_.for_each_use(instructions_[n], [&](std::uint32_t v) {
      if (alive_[v] && reads_left_[v] == 1 && !out_->has(v)) sum -= values_.width(v);
    });
    values_.for_each_definition(instructions_[n], [&](std::uint32_t v) {
      if (!alive_[v]) sum += values_.width(v);
    });
    return sum;
  }

  // A place in ready_, which is in the order of the PTX.
  std::size_t choose(Order order, int alive) const {
    if (order == Order::source || ready_.size() == 1) return 0;
    const std::size_t window = std::min(ready_.size(), kWindow);
    const bool loads_first = order != Order::frugal && (order != Order::bounded || alive < kBound);
    std::size_t best = window;
    for (std::size_t k = 0; loads_first && k < window; ++k) {
      if (!feeds_load_[ready_[k]]) continue;
      if (order == Order::bounded && alive + growth(ready_[k]) > kBound) continue;
      if (order != Order::interleaved) return k;
      if (best == window || level_[ready_[k]] < level_[ready_[best]]) best = k;
    }
    if (best < window) return best;
    best = 0;
    int least = growth(ready_[0]);
    for (std::size_t k = 1; k < window; ++k)
      if (const int more = growth(ready_[k]); more < least) best = k, least = more;
    return best;
  }

  void put_after(std::uint32_t later, std::uint32_t earlier) {
    if (earlier == no_index || earlier == later) return;
    if (!followers_[earlier].empty() && followers_[earlier].back() == later) return;
    followers_[earlier].push_back(later);
    ++blockers_[later];
  }

  void put_after_aliases(std::uint32_t n, const std::vector<std::uint32_t>& accesses) {
    const std::size_t first = accesses.size() > kWindow ? accesses.size() - kWindow : 0;
    for (std::size_t k = accesses.size(); k-- > first;)
      if (may_alias(operands_, at(accesses[k]), at(n))) put_after(n, accesses[k]);
  }

  void find_dependences(bool loads_pass_stores) {
    const auto count = static_cast<std::uint32_t>(instructions_.size());
    if (followers_.size() < count) followers_.resize(count);
    for (std::uint32_t n = 0; n < count; ++n) followers_[n].clear();  // their memory serves again
    blockers_.assign(count, 0);
    std::uint32_t fence = no_index;
    std::vector<std::uint32_t> loads, stores;
    for (std::uint32_t n = 0; n < count; ++n) {
      follow_values(n);
      if (is_fence(at(n))) {
        for (const std::uint32_t other : loads) put_after(n, other);
        for (const std::uint32_t other : stores) put_after(n, other);
        put_after(n, fence);
        loads.clear();
        stores.clear();
        fence = n;
      } else if (is_store(at(n))) {
        put_after(n, fence);
        put_after_aliases(n, loads);
        put_after_aliases(n, stores);
        stores.push_back(n);
      } else if (is_load(at(n))) {
        put_after(n, fence);
        if (ptx::has_part(at(n).opcode, "nc")) continue;
        if (!loads_pass_stores) put_after_aliases(n, stores);
        loads.push_back(n);
      }
    }
    forget_values();
    end_with_branch();
    find_levels();
  }

  // After what made its operands, and after those that read what it overwrites.
  void follow_values(std::uint32_t n) {
    values_.for_each_use(instructions_[n], [&](std::uint32_t v) {
      put_after(n, writer_[v]);
      readers_[v].push_back(n);
    });
    values_.for_each_definition(instructions_[n], [&](std::uint32_t v) {
      for (const std::uint32_t reader : readers_[v]) put_after(n, reader);
      put_after(n, writer_[v]);
      readers_[v].clear();
      writer_[v] = n;
    });
  }

  void forget_values() {
    for (const std::uint32_t i : instructions_) {
      const auto forget = [&](std::uint32_t v) {
        readers_[v].clear();
        writer_[v] = no_index;
      };
      values_.for_each_use(i, forget);
      values_.for_each_definition(i, forget);
    }
  }

  void end_with_branch() {
    if (instructions_.empty()) return;
    const auto last = static_cast<std::uint32_t>(instructions_.size() - 1);
    if (!is_branch(at(last)) && !ends_kernel(at(last))) return;
    for (std::uint32_t n = 0; n < last; ++n)
      if (followers_[n].empty()) put_after(last, n);
  }

  void find_levels() {
    const auto count = static_cast<std::uint32_t>(instructions_.size());
    level_.assign(count, 0);
    for (std::uint32_t n = 0; n < count; ++n)
      for (const std::uint32_t next : followers_[n]) level_[next] = std::max(level_[next], level_[n] + 1);
    feeds_load_.assign(count, false);
    for (std::uint32_t n = count; n-- > 0;)
      feeds_load_[n] = is_load(at(n)) || std::any_of(followers_[n].begin(), followers_[n].end(),
                                                     [&](std::uint32_t next) { return feeds_load_[next]; });
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  const LiveValues& values_;
  const ValueSet* in_ = nullptr;
  const ValueSet* out_ = nullptr;
  int alive_at_entry_ = 0;
  std::optional<bool> loads_pass_stores_;  // in followers_; nothing: that was not yet found
  std::vector<std::uint32_t> instructions_;
  // By place in instructions_:
  std::vector<int> own_;  // own_registers()
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<std::uint32_t> blockers_, waits_for_;  // how many have to be executed before
  std::vector<int> level_;                           // instructions of the longest path to it
  std::vector<bool> feeds_load_;                     // a load depends on it, or it is one
  std::vector<std::uint32_t> ready_;
  // By value:
  std::vector<std::uint32_t> reads_left_, writer_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<bool> alive_;
};

// Basic blocks that become one. ptxas knows no labels for line tables, which divide blocks of PTX, and it executes a few
// instructions behind a branch under a predicate instead: what follows `if (x) a = b[i];` is in the same block.
class BlockChains {
 public:
  BlockChains(const analysis::KernelCode& code, const analysis::Cfg& cfg)
      : code_(code), cfg_(cfg), begins_(cfg.blocks.size(), true) {
    for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b)
      for (const std::uint32_t next : followers_of(b)) begins_[next] = false;
  }
  bool begins(std::uint32_t block) const { return begins_[block] && cfg_.blocks[block].reachable; }

  // The chain's blocks in their order.
  std::vector<std::uint32_t> from(std::uint32_t block) const {
    std::vector<std::uint32_t> chain = {block};
    for (auto next = followers_of(block); !next.empty(); next = followers_of(chain.back()))
      chain.insert(chain.end(), next.begin(), next.end());
    return chain;
  }

 private:
  // One that nothing else comes before, or one under a predicate and the one behind it.
  std::vector<std::uint32_t> followers_of(std::uint32_t block) const {
    const auto& next = cfg_.blocks[block].successors;
    if (!cfg_.blocks[block].reachable) return {};
    if (next.size() == 1 && joins(block, next[0], 1)) return {next[0]};
    if (next.size() != 2) return {};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::uint32_t short_one = next[k], behind = next[1 - k];
      if (is_predicated(short_one) && cfg_.blocks[short_one].successors[0] == behind &&
          joins(block, behind, 2) && cfg_.blocks[short_one].predecessors.size() == 1)
        return {short_one, behind};
    }
    return {};
  }
  bool joins(std::uint32_t block, std::uint32_t next, std::size_t predecessors) const {
    return next != kEntry && next != block && next != cfg_.exit() &&
           cfg_.blocks[next].predecessors.size() == predecessors &&
           cfg_.blocks[next].loop == cfg_.blocks[block].loop;
  }
  bool is_predicated(std::uint32_t block) const {
    const Block& one = cfg_.blocks[block];
    if (block == cfg_.exit() || one.successors.size() != 1 || one.end - one.first > kPredicated) return false;
    for (std::uint32_t i = one.first; i < one.end; ++i) {
      const Instruction& instruction = code_.function().instructions[i];
      if (is_fence(instruction) && !is_branch(instruction)) return false;
    }
    return true;
  }

  static constexpr std::uint32_t kEntry = 0;  // which the launch comes before
  const analysis::KernelCode& code_;
  const analysis::Cfg& cfg_;
  std::vector<bool> begins_;
};

class PressureFinder {
 public:
  PressureFinder(const analysis::KernelCode& code, const analysis::Cfg& cfg)
      : code_(code),
        cfg_(cfg),
        values_(code, cfg),
        live_(live_sets(cfg, values_)),
        scheduler_(code, values_),
        innermost_(cfg.loops.size(), true) {
    for (const analysis::Loop& loop : cfg.loops)
      if (loop.parent != analysis::none) innermost_[loop.parent] = false;
  }

  Pressure find() {
    const BlockChains chains(code_, cfg_);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (!chains.begins(b)) continue;
      const auto chain = chains.from(b);
      instructions_.clear();
      for (const std::uint32_t block : chain)
        for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
          if (block == chain.back() || !is_branch(at(i))) instructions_.push_back(i);
      const std::uint32_t last = chain.back(), loop = cfg_.blocks[b].loop;
      const bool is_loop =
          loop != analysis::none && innermost_[loop] && cfg_.loops[loop].blocks.size() == chain.size();
      look_at_instructions(b, is_loop);
      scheduler_.set(instructions_, live_.in[b], live_.out[last]);
      const int bound = scheduler_.bound();
      for (std::size_t o = 0; o < kOrders; ++o)
        if (found_.peak[o] < bound)
          found_.peak[o] = std::max(found_.peak[o], scheduler_.peak(static_cast<Order>(o)));
    }
    return found_;
  }

 private:
  const Instruction& at(std::uint32_t i) const { return code_.function().instructions[i]; }

  void look_at_instructions(std::uint32_t block, bool is_loop) {
    int loads = 0, divisions = 0;
    for (const std::uint32_t i : instructions_) {
      found_.instructions += values_.vanishes(i) ? 0 : 1;
      found_.calls = found_.calls || code_.opaque_call(i) != nullptr;
      divisions += divides_words(at(i)) ? 1 : 0;
      if (!is_load(at(i))) continue;
      found_.widest_load = std::max(found_.widest_load, registers_of_load(at(i)));
      loads += registers_of_load(at(i));
    }
    found_.divisions = std::max(found_.divisions, divisions);
    if (!is_loop || loads == 0 || instructions_.size() > kSmallLoop) return;
    if (!counts_words()) return;
    const int alive = live_.in[block].registers(values_) + kUnrolled * loads;
    found_.unrolled_any = std::max(found_.unrolled_any, alive);
    if (!stores_bar_loads()) found_.unrolled = std::max(found_.unrolled, alive);
  }

  // Whether a counter of 32 bits grows by a constant until a comparison ends the loop that instructions_ are, and nothing in
  // it waits for other threads: ptxas unrolls these.
  bool counts_words() const {
    if (instructions_.empty()) return false;
    const auto& operands = code_.operands();
    const Instruction& end = at(instructions_.back());
    if (end.info == nullptr || end.info->category != Category::branch || end.guard == no_index) return false;
    std::vector<std::uint32_t> compared = {operands[end.guard].symbol};
    bool counts = false;
    for (std::size_t k = instructions_.size() - 1; k-- > 0;) {
      const Instruction& one = at(instructions_[k]);
      if (is_fence(one) || one.info->category == Category::atomic) return false;
      if (one.operand_count < 3) continue;
      const Operand& to = operands[one.first_operand];
      if (to.kind != Kind::reg || std::find(compared.begin(), compared.end(), to.symbol) == compared.end())
        continue;
      const ptx::FirstWord first = ptx::first_word(one);
      const Operand& right = operands[one.first_operand + 2];
      if (first == "add" && right.kind == Kind::integer) counts = true;
      if (first != "setp" || !one.opcode.ends_with("32")) continue;
      for (const Operand* operand : {&operands[one.first_operand + 1], &right})
        if (operand->kind == Kind::reg) compared.push_back(operand->symbol);
    }
    return counts;
  }

  // Whether a load of the next iteration may be of what a store in instructions_ writes.
  bool stores_bar_loads() const {
    const auto bars = [&](const Instruction& store, const Instruction& load) {
      if (in_different_spaces(store, load) || ptx::has_part(load.opcode, "nc")) return false;
      std::uint64_t offset = 0;
      const Operand* left = register_in_address(code_.operands(), store, offset);
      const Operand* right = register_in_address(code_.operands(), load, offset);
      return left == nullptr || right == nullptr || left->symbol != right->symbol;
    };
    for (const std::uint32_t store : instructions_)
      if (is_store(at(store)))
        for (const std::uint32_t load : instructions_)
          if (is_load(at(load)) && bars(at(store), at(load))) return true;
    return false;
  }

  const analysis::KernelCode& code_;
  const analysis::Cfg& cfg_;
  LiveValues values_;
  LiveSets live_;
  BlockScheduler scheduler_;
  std::vector<bool> innermost_;              // by loop
  std::vector<std::uint32_t> instructions_;  // of the chain of blocks that is looked at
  Pressure found_;
};

}  // namespace

int Pressure::least_peak() const {
  return *std::min_element(peak.begin(), peak.begin() + static_cast<int>(Order::loads_unbarred));
}

std::optional<Pressure> pressure_of(const analysis::KernelCode& code, const analysis::Cfg& cfg) {
  if (!is_small(code.function(), cfg)) return std::nullopt;
  return PressureFinder(code, cfg).find();
}

}  // namespace warptime::machine
