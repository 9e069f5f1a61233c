#include "analyzer/machine/pressure.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/machine/cost_table.h"
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

// Whether ptxas makes a branch of what few operands need, or a subroutine.
bool has_slow_path(const Instruction& one) {
  const ptx::FirstWord first = ptx::first_word(one);
  if (!is_division(one) && first != "sqrt" && first != "rcp") return false;
  return one.opcode.ends_with("64") || one.opcode.find(".rn.f32") != std::string_view::npos;
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
    depends_ = false;
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
    if (!depends_) find_dependences();
    depends_ = true;
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
    for (std::size_t k = 0; loads_first && k < window; ++k) {
      if (!feeds_load_[ready_[k]]) continue;
      if (order == Order::bounded && alive + growth(ready_[k]) > kBound) continue;
      return k;
    }
    std::size_t best = 0;
    int least = growth(ready_[0]);
    for (std::size_t k = 1; k < ready_.size(); ++k)
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

  void find_dependences() {
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
        put_after_aliases(n, stores);
        loads.push_back(n);
      }
    }
    forget_values();
    end_with_branch();
    find_what_feeds_loads();
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

  void find_what_feeds_loads() {
    const auto count = static_cast<std::uint32_t>(instructions_.size());
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
  bool depends_ = false;  // whether followers_ are known
  std::vector<std::uint32_t> instructions_;
  // By place in instructions_:
  std::vector<int> own_;  // own_registers()
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<std::uint32_t> blockers_, waits_for_;  // how many have to be executed before
  std::vector<bool> feeds_load_;                     // a load depends on it, or it is one
  std::vector<std::uint32_t> ready_;
  // By value:
  std::vector<std::uint32_t> reads_left_, writer_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<bool> alive_;
};

// Orders the instructions of a basic block, or of copies of a loop's, as ptxas' list scheduler does: next what the longest
// path begins with, while there are registers for it. Each value that is written is another one.
class ListScheduler {
 public:
  ListScheduler(const analysis::KernelCode& code, const LiveValues& values)
      : function_(code.function()),
        operands_(code.operands()),
        values_(values),
        current_(values.count(), no_index) {}

  void set(const std::vector<std::uint32_t>& instructions, int copies, const ValueSet& in,
           const ValueSet& out) {
    in_ = &in;
    nodes_.clear();
    locals_.clear();
    loads_.clear();
    stores_.clear();
    fence_ = no_index;
    at_entry_ = in.registers(values_);
    std::vector<std::uint32_t> touched;
    for (int copy = 0; copy < copies; ++copy)
      for (const std::uint32_t i : instructions) {
        if (values_.vanishes(i)) continue;
        if (copy + 1 < copies && i == instructions.back() && is_branch(function_.instructions[i])) continue;
        add(i, static_cast<std::uint32_t>(copy), touched);
      }
    for (const std::uint32_t v : touched) {
      if (current_[v] != no_index && out.has(v)) locals_[current_[v]].stays = true;
      current_[v] = no_index;
    }
    const auto last = static_cast<std::uint32_t>(nodes_.size() - 1);
    if (!nodes_.empty() && (is_branch(at(last)) || ends_kernel(at(last))))
      for (std::uint32_t n = 0; n < last; ++n)
        if (nodes_[n].followers.empty()) put_after(last, n);
    for (std::uint32_t n = static_cast<std::uint32_t>(nodes_.size()); n-- > 0;) {
      nodes_[n].behind = 1;
      for (const std::uint32_t next : nodes_[n].followers)
        nodes_[n].behind = std::max(nodes_[n].behind, nodes_[n].latency + nodes_[next].behind);
    }
  }

  // No order can have more alive: as if nothing died.
  int bound() const {
    int sum = at_entry_, own = 0;
    for (const Local& one : locals_) sum += one.enters ? 0 : one.width;
    for (const Node& one : nodes_) {
      own = std::max(own, one.own);
      sum += one.constants;
    }
    return sum + own;
  }

  // The maximum of what is alive. `held`: cycles for which what loads and stores read keeps its registers.
  int peak(int limit, int held) {
    begin();
    int most = alive_;
    while (!ready_.empty() || !waiting_.empty()) {
      while (!held_.empty() && held_.front().first <= now_) release();
      if (ready_.empty()) now_ = std::max(now_, waiting_.begin()->first);
      while (!waiting_.empty() && waiting_.begin()->first <= now_) wake();
      auto next = fitting(limit, held != 0);
      if (next == ready_.end() && !held_.empty()) {
        release();
        continue;
      }
      if (next == ready_.end() && !waiting_.empty()) {
        now_ = waiting_.begin()->first;
        wake();
        continue;
      }
      if (next == ready_.end()) next = smallest();
      const std::uint32_t n = next->second;
      ready_.erase(next);
      execute(nodes_[n], held, most);
    }
    return most;
  }

 private:
  using Queue = std::set<std::pair<double, std::uint32_t>>;  // how urgent, or when it may begin; the node
  struct Node {
    std::uint32_t instruction = 0;
    std::uint32_t blockers = 0;      // that have to be executed before
    std::uint32_t version = 0;       // of its address: copies before it
    double latency = 0, behind = 0;  // cycles to its result; of the longest path that begins with it
    int own = 0, constants = 0;      // registers: own_registers(), and of the constants that it stores
    bool memory = false;
    std::vector<std::uint32_t> reads, writes, followers;
  };
  struct Local {  // what one instruction writes, or what is there before all of them
    int width = 0;
    bool enters = false;
    std::uint32_t writer = no_index;  // a node
    int reads = 0, left = 0;
    bool stays = false, alive = false;
  };

  const Instruction& at(std::uint32_t n) const { return function_.instructions[nodes_[n].instruction]; }

  static double latency_of(const Instruction& one) {
    if (is_load(one)) {
      const auto space = ptx::space_of(one);
      return space == ptx::StateSpace::shared || space == ptx::StateSpace::local ||
                     space == ptx::StateSpace::constant
                 ? 30
                 : 200;
    }
    if (one.info == nullptr) return 5;
    if (one.opcode.starts_with("ld.param")) return 30;
    const ptx::FirstWord first = ptx::first_word(one);
    if (first == "shfl") return 25;
    if (one.info->category == Category::atomic) return 200;
    if (first == "div" || first == "rem" || first == "sqrt" || first == "rcp") return 40;
    if (first == "ex2" || first == "lg2" || first == "sin" || first == "cos" || first == "rsqrt") return 20;
    if (one.opcode.ends_with("f64")) return 16;
    if (is_store(one)) return 0;
    return 5;
  }

  int constants_of(const Instruction& one) const {
    int sum = 0;
    for (std::uint32_t o = 0; is_store(one) && o < one.operand_count; ++o) {
      const Operand& operand = operands_[one.first_operand + o];
      const bool held = operand.kind == Kind::reg && values_.is_constant_register(operand.symbol);
      if (operand.kind == Kind::integer || operand.kind == Kind::floating || held)
        sum += (ptx::access_bytes(one) + 3) / 4;
    }
    return sum;
  }

  void put_after(std::uint32_t later, std::uint32_t earlier) {
    if (earlier == no_index || earlier == later) return;
    auto& followers = nodes_[earlier].followers;
    if (!followers.empty() && followers.back() == later) return;
    followers.push_back(later);
    ++nodes_[later].blockers;
  }

  void add(std::uint32_t i, std::uint32_t copy, std::vector<std::uint32_t>& touched) {
    const Instruction& one = function_.instructions[i];
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    nodes_[own].instruction = i;
    nodes_[own].version = copy;
    nodes_[own].latency = latency_of(one);
    nodes_[own].own = own_registers(one);
    nodes_[own].constants = constants_of(one);
    nodes_[own].memory = is_load(one) || is_store(one);
    values_.for_each_use(i, [&](std::uint32_t v) {
      if (current_[v] == no_index) {
        current_[v] = static_cast<std::uint32_t>(locals_.size());
        touched.push_back(v);
        locals_.push_back({values_.width(v), in_->has(v)});
      }
      Local& local = locals_[current_[v]];
      ++local.reads;
      nodes_[own].reads.push_back(current_[v]);
      put_after(own, local.writer);
    });
    values_.for_each_definition(i, [&](std::uint32_t v) {
      const std::uint32_t before = current_[v];
      if (before == no_index) {
        touched.push_back(v);
        // What is there from before the block is not read, but ends here.
        if (in_->has(v)) locals_.push_back({values_.width(v), true});
      } else if (one.guard != no_index) {  // merges with what was there
        ++locals_[before].reads;
        nodes_[own].reads.push_back(before);
        put_after(own, locals_[before].writer);
      }
      current_[v] = static_cast<std::uint32_t>(locals_.size());
      locals_.push_back({values_.width(v), false, own});
      nodes_[own].writes.push_back(current_[v]);
    });
    keep_order(own, one);
  }

  // Whether two accesses may be to the same place; the same register has other values in another copy.
  bool may_alias(std::uint32_t a, std::uint32_t b) const {
    if (in_different_spaces(at(a), at(b))) return false;
    return nodes_[a].version != nodes_[b].version || machine::may_alias(operands_, at(a), at(b));
  }

  void keep_order(std::uint32_t n, const Instruction& one) {
    const auto after = [&](const std::vector<std::uint32_t>& accesses) {
      const std::size_t first = accesses.size() > kWindow ? accesses.size() - kWindow : 0;
      for (std::size_t k = accesses.size(); k-- > first;)
        if (may_alias(accesses[k], n)) put_after(n, accesses[k]);
    };
    if (is_fence(one)) {
      for (const std::uint32_t other : loads_) put_after(n, other);
      for (const std::uint32_t other : stores_) put_after(n, other);
      put_after(n, fence_);
      loads_.clear();
      stores_.clear();
      fence_ = n;
    } else if (is_store(one)) {
      put_after(n, fence_);
      after(loads_);
      after(stores_);
      stores_.push_back(n);
    } else if (is_load(one)) {
      put_after(n, fence_);
      if (ptx::has_part(one.opcode, "nc")) return;
      after(stores_);
      loads_.push_back(n);
    }
  }

  void begin() {
    waits_for_.resize(nodes_.size());
    begins_.assign(nodes_.size(), 0);
    ready_.clear();
    waiting_.clear();
    held_.clear();
    now_ = 0;
    alive_ = at_entry_;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      waits_for_[n] = nodes_[n].blockers;
      if (waits_for_[n] == 0) ready_.emplace(-nodes_[n].behind, n);
    }
    for (Local& one : locals_) {
      one.left = one.reads;
      one.alive = one.enters;
    }
  }

  void wake() {
    const std::uint32_t n = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    ready_.emplace(-nodes_[n].behind, n);
  }
  void release() {
    alive_ -= held_.front().second;
    held_.pop_front();
  }

  // The most urgent one for which there are registers.
  Queue::iterator fitting(int limit, bool held) const {
    std::size_t tried = 0;
    for (auto it = ready_.begin(); it != ready_.end() && tried < 2 * kWindow; ++it, ++tried)
      if (const int more = growth(nodes_[it->second], held); more <= 0 || alive_ + more <= limit) return it;
    return ready_.end();
  }
  // The one after which the fewest are occupied.
  Queue::iterator smallest() const {
    auto best = ready_.end();
    int least = 0;
    std::size_t tried = 0;
    for (auto it = ready_.begin(); it != ready_.end() && tried < 8 * kWindow; ++it, ++tried) {
      const int more = growth(nodes_[it->second], false);
      if (best != ready_.end() && (more > least || (more == least && it->second > best->second))) continue;
      least = more;
      best = it;
    }
    return best;
  }

  // How many more registers are occupied behind a node.
  int growth(const Node& node, bool held) const {
    int sum = 0;
    for (const std::uint32_t v : node.writes) sum += locals_[v].width;
    if (!node.memory) return sum - dying(node);
    return held ? sum + node.constants : sum - dying(node);
  }
  int dying(const Node& node) const {
    int sum = 0;
    for (const std::uint32_t v : node.reads)
      if (locals_[v].alive && locals_[v].left == 1 && !locals_[v].stays) sum += locals_[v].width;
    return sum;
  }

  void execute(const Node& node, int held, int& most) {
    if (const int sum = held != 0 && node.memory ? dying(node) + node.constants : 0; sum != 0) {
      held_.emplace_back(now_ + held, sum);
      alive_ += sum;
    }
    const int before = alive_;
    for (const std::uint32_t v : node.reads) {
      Local& one = locals_[v];
      if (--one.left != 0 || one.stays || !one.alive) continue;
      one.alive = false;
      alive_ -= one.width;
    }
    int unread = 0;
    for (const std::uint32_t v : node.writes) {
      Local& one = locals_[v];
      alive_ += one.width;
      one.alive = one.left != 0 || one.stays;
      if (!one.alive) unread += one.width;
    }
    most = std::max({most, alive_, std::max(before, alive_) + node.own});
    alive_ -= unread;
    for (const std::uint32_t next : node.followers) {
      begins_[next] = std::max(begins_[next], now_ + node.latency);
      if (--waits_for_[next] == 0) waiting_.emplace(begins_[next], next);
    }
    now_ += 1;
  }

  const ptx::Function& function_;
  const std::vector<Operand>& operands_;
  const LiveValues& values_;
  const ValueSet* in_ = nullptr;
  int at_entry_ = 0;
  std::vector<Node> nodes_;
  std::vector<Local> locals_;
  std::vector<std::uint32_t> current_;         // by value: the local one
  std::vector<std::uint32_t> loads_, stores_;  // behind fence_
  std::uint32_t fence_ = no_index;             // what neither passes
  // While they are executed:
  Queue ready_, waiting_;
  std::vector<std::uint32_t> waits_for_;     // by node: how many have to be executed before
  std::vector<double> begins_;               // by node: when its operands are there
  std::deque<std::pair<double, int>> held_;  // until when, how many registers
  double now_ = 0;
  int alive_ = 0;
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

  // What is executed of them: nothing branches within the chain.
  std::vector<std::uint32_t> instructions_of(const std::vector<std::uint32_t>& chain) const {
    std::vector<std::uint32_t> instructions;
    for (const std::uint32_t block : chain)
      for (std::uint32_t i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
        if (block == chain.back() || !is_branch(code_.function().instructions[i])) instructions.push_back(i);
    return instructions;
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
      instructions_ = chains.instructions_of(chain);
      const std::uint32_t last = chain.back(), loop = cfg_.blocks[b].loop;
      const bool is_loop =
          loop != analysis::none && innermost_[loop] && cfg_.loops[loop].blocks.size() == chain.size();
      look_at_instructions(b, is_loop);
      scheduler_.set(instructions_, live_.in[b], live_.out[last]);
      const int bound = scheduler_.bound();
      found_.at_entry = std::max(found_.at_entry, live_.in[b].registers(values_));
      int least = bound;
      for (std::size_t o = 0; o < kOrders; ++o) {
        if (found_.peak[o] >= bound && found_.least >= std::min(least, bound)) continue;
        const int peak = scheduler_.peak(static_cast<Order>(o));
        found_.peak[o] = std::max(found_.peak[o], peak);
        least = std::min(least, peak);
      }
      found_.least = std::max(found_.least, least);
    }
    return found_;
  }

 private:
  const Instruction& at(std::uint32_t i) const { return code_.function().instructions[i]; }

  void look_at_instructions(std::uint32_t block, bool is_loop) {
    int loads = 0, divisions = 0, of_block = 0, stores = 0;
    for (const std::uint32_t i : instructions_) {
      of_block += values_.vanishes(i) ? 0 : 1;
      stores += is_store(at(i)) ? 1 : 0;
      found_.slow_paths += has_slow_path(at(i)) ? 1 : 0;
      found_.barriers += at(i).info != nullptr && at(i).info->category == Category::barrier ? 1 : 0;
      found_.instructions += values_.vanishes(i) ? 0 : 1;
      found_.calls = found_.calls || code_.opaque_call(i) != nullptr;
      divisions += divides_words(at(i)) ? 1 : 0;
      if (!is_load(at(i))) continue;
      found_.widest_load = std::max(found_.widest_load, registers_of_load(at(i)));
      loads += registers_of_load(at(i));
    }
    found_.divisions = std::max(found_.divisions, divisions);
    found_.longest_block = std::max(found_.longest_block, of_block);
    found_.loads = std::max(found_.loads, loads);
    found_.stores = std::max(found_.stores, stores);
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

// The same as ptxas' list scheduler orders it, with the parameters that are loaded into registers of the thread.
class ScheduleFinder {
 public:
  ScheduleFinder(const analysis::KernelCode& code, const analysis::Cfg& cfg, const Estimate* made)
      : cfg_(cfg),
        made_(made),
        chains_(code, cfg),
        values_(code, cfg, true),
        live_(live_sets(cfg, values_)),
        scheduler_(code, values_),
        load_of_(values_.count(), no_index) {
    load_where_needed();
  }

  std::array<int, kSchedules> find() {
    std::array<int, kSchedules> found{};
    const auto look = [&](Schedule schedule, int limit, int held) {
      int& most = found[static_cast<std::size_t>(schedule)];
      if (most < scheduler_.bound()) most = std::max(most, scheduler_.peak(limit, held));
    };
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (!chains_.begins(b)) continue;
      const auto chain = chains_.from(b);
      const auto instructions = with_parameter_loads(b, chains_.instructions_of(chain));
      const ValueSet &in = live_.in[b], &out = live_.out[chain.back()];
      scheduler_.set(instructions, 1, in, out);
      look(Schedule::of_14, 14, kHeld);
      look(Schedule::of_24, 24, kHeld);
      look(Schedule::of_40, 40, kHeld);
      look(Schedule::of_all, 1 << 20, kHeld);
      look(Schedule::of_40_free, 40, 0);
      const int copies = copies_of(b, chain.size(), instructions.size());
      if (copies > 1) scheduler_.set(instructions, copies, in, out);
      look(Schedule::of_40_loop, 40, kHeld);
    }
    return found;
  }

 private:
  static constexpr int kHeld = 24;             // cycles for which a load or a store needs what it reads
  static constexpr std::size_t kLong = 1000;   // instructions of copies of a loop
  static constexpr std::int64_t kCopies = 16;  // that are looked at

  std::uint32_t outermost_loop(std::uint32_t block) const {
    std::uint32_t loop = cfg_.blocks[block].loop;
    while (loop != analysis::none && cfg_.loops[loop].parent != analysis::none)
      loop = cfg_.loops[loop].parent;
    return loop;
  }

  // Parameters are loaded before the outermost loop that reads them, or in the basic block that does.
  void load_where_needed() {
    std::vector<std::vector<std::uint32_t>> loops(values_.count());  // that read a value
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      const std::uint32_t loop = outermost_loop(b);
      if (loop == analysis::none) continue;
      for (std::uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i)
        values_.for_each_use(i, [&](std::uint32_t value) {
          if (loops[value].empty() || loops[value].back() != loop) loops[value].push_back(loop);
        });
    }
    for (const std::uint32_t load : values_.parameter_loads())
      values_.for_each_definition(load, [&](std::uint32_t value) {
        load_of_[value] = load;
        for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
          const std::uint32_t loop = outermost_loop(b);
          const auto& all = loops[value];
          if (loop != analysis::none && std::find(all.begin(), all.end(), loop) != all.end()) continue;
          live_.in[b].remove(value);
          live_.out[b].remove(value);
        }
      });
  }

  std::vector<std::uint32_t> with_parameter_loads(std::uint32_t block,
                                                  const std::vector<std::uint32_t>& instructions) const {
    std::vector<std::uint32_t> all, loaded;
    for (const std::uint32_t i : instructions) {
      bool loads = false;
      values_.for_each_definition(i, [&](std::uint32_t value) { loads = loads || load_of_[value] == i; });
      if (loads) continue;
      values_.for_each_use(i, [&](std::uint32_t value) {
        if (load_of_[value] == no_index || live_.in[block].has(value)) return;
        if (std::find(loaded.begin(), loaded.end(), value) != loaded.end()) return;
        loaded.push_back(value);
        all.push_back(load_of_[value]);
      });
      all.push_back(i);
    }
    return all;
  }

  // How many iterations are side by side where a chain of blocks is a loop.
  int copies_of(std::uint32_t block, std::size_t blocks, std::size_t instructions) const {
    const std::uint32_t loop = cfg_.blocks[block].loop;
    if (made_ == nullptr || loop == analysis::none || loop >= made_->loops.size()) return 1;
    const auto& pieces = made_->loops[loop].pieces;
    if (cfg_.loops[loop].header != block || cfg_.loops[loop].blocks.size() != blocks || pieces.empty())
      return 1;
    const auto most =
        std::min(kCopies, static_cast<std::int64_t>(kLong / std::max<std::size_t>(1, instructions)));
    return static_cast<int>(
        std::clamp<std::int64_t>(pieces.front().iterations, 1, std::max<std::int64_t>(1, most)));
  }

  const analysis::Cfg& cfg_;
  const Estimate* made_;
  BlockChains chains_;
  LiveValues values_;
  LiveSets live_;
  ListScheduler scheduler_;
  std::vector<std::uint32_t> load_of_;  // by value: the instruction that loads the parameter that it is
};

}  // namespace

std::optional<Pressure> pressure_of(const analysis::KernelCode& code, const analysis::Cfg& cfg,
                                    const Estimate* made) {
  if (!is_small(code.function(), cfg)) return std::nullopt;
  Pressure found = PressureFinder(code, cfg).find();
  found.scheduled = ScheduleFinder(code, cfg, made).find();
  return found;
}

}  // namespace warptime::machine
