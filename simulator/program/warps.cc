#include "simulator/program/warps.h"

#include <set>
#include <utility>

#include "simulator/program/launch_variable.h"
#include "simulator/program/warp_code.h"

namespace warptime {
namespace warps {
namespace {

int slot_of_variable(const LaunchVariable& variable) {
  // By LaunchVariable::Kind.
  constexpr std::array<int, 7> first = {0, 3, 6, 9, kLaneSlot, kWarpSlot, kWarpSizeSlot};
  return first[static_cast<std::size_t>(variable.kind)] + static_cast<int>(variable.axis);
}

class WarpCompiler {
 public:
  explicit WarpCompiler(WarpProgram::Compiled& into) : into_(into) {
    for (const Parameter& parameter : into.program->parameters)
      if (parameter.share) shares_.insert(parameter.name);
  }

  std::vector<WarpNode> compile(const Items& items) {
    std::vector<WarpNode> nodes;
    nodes.reserve(items.size());
    for (const Item& item : items) nodes.push_back(compile(item));
    return nodes;
  }

 private:
  WarpNode compile(const Item& item) {
    WarpNode node;
    node.item = &item;
    if (item.threads) node.threads = condition(*item.threads);
    node.has_shares = !item.shares.empty();
    node.varies = item.threads || node.has_shares;
    if (item.detail)
      for (const ChipAccess& access : item.detail->on_chip)
        if (access.address) add_thread_names(*access.address);
    if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      node.count = range(instructions->count);
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      node.atomic = is_atomic(*access);
      node.copy = is_asynchronous_copy(*access);
      if (access->address) node.address = condition(*access->address);
      if (item.detail && item.detail->row)
        for (const Expression* part : {&item.detail->row->of, &item.detail->row->at}) add_thread_names(*part);
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      compile(node, *repeat);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      compile(node, *when);
    }
    for (const auto* inner : {&node.body, &node.otherwise}) {
      for (const WarpNode& one : *inner) {
        node.has_shares = node.has_shares || one.has_shares;
        node.varies_inside = node.varies_inside || one.varies;
        node.threads_inside = node.threads_inside || one.threads || one.threads_inside;
      }
    }
    node.threads_inside = node.threads_inside || node.then_threads || node.per_thread;
    node.varies = node.varies || node.varies_inside;
    if (!std::holds_alternative<MemoryAccess>(item.what) && is_same_for_all(node.count))
      node.launch_value = static_cast<int>(into_.launch_values++);
    return node;
  }

  // For all warps of a launch, and all iterations.
  bool is_same_for_all(const RangeExpression& count) const {
    for (int slot = 0; slot < kFirstOwnSlot; ++slot)
      if (is_thread_slot(slot) && count.uses(slot)) return false;
    for (std::size_t i = 0; i < into_.names.size(); ++i)
      if (into_.names[i].empty() && count.uses(kFirstOwnSlot + static_cast<int>(i))) return false;
    return true;
  }

  // blockIdx, threadIdx, laneid, warpid
  static bool is_thread_slot(int slot) { return slot < 6 || slot == kLaneSlot || slot == kWarpSlot; }

  void compile(WarpNode& node, const Repeat& repeat) {
    node.count = range(repeat.count);
    if (repeat.per_thread) node.per_thread = condition(*repeat.per_thread);
    node.varies = node.varies || repeat.per_thread;
    if (!repeat.counter.empty()) {
      node.counter = kFirstOwnSlot + static_cast<int>(into_.names.size());
      into_.names.emplace_back();
      counters_.emplace_back(repeat.counter, node.counter);
    }
    node.body = compile(repeat.body);
    if (!repeat.counter.empty()) counters_.pop_back();
    node.counter_matters = node.counter >= 0 && uses(node.body, node.counter);
    node.threads_matter = has_threads(node.body);
  }

  void compile(WarpNode& node, const When& when) {
    node.count = range(when.condition);
    if (when.then_threads) node.then_threads = condition(*when.then_threads);
    node.varies = node.varies || when.then_threads;
    using Operator = Expression::Operator;
    const Operator op = when.condition.op();
    if (op == Operator::not_equal || op == Operator::equal) {
      const auto& sides = when.condition.operands();
      if (sides[0].op() == Operator::name && sides[1].is_integer() && sides[1].integer_value() == 0 &&
          shares_.contains(sides[0].name_text())) {
        node.share_condition = sides[0].name_text();
        node.negated = op == Operator::equal;
        node.has_shares = node.varies = true;
      }
    }
    node.body = compile(when.then_items);
    node.otherwise = compile(when.else_items);
  }

  // Whether the threads that are active matter inside: to conditions, or to sectors.
  static bool has_threads(const std::vector<WarpNode>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [](const WarpNode& node) {
      return node.threads || node.per_thread || node.then_threads || node.address || has_threads(node.body) ||
             has_threads(node.otherwise);
    });
  }

  static bool uses(const std::vector<WarpNode>& nodes, int slot) {
    return std::any_of(nodes.begin(), nodes.end(), [slot](const WarpNode& node) {
      const auto in = [slot](const std::optional<Condition>& one) {
        return one && one->expression.uses(slot);
      };
      return node.count.uses(slot) || in(node.threads) || in(node.then_threads) || in(node.per_thread) ||
             in(node.address) || uses(node.body, slot) || uses(node.otherwise, slot);
    });
  }

  void add_thread_names(const Expression& expression) {
    for (const std::string& name : expression.names()) {
      auto& names = into_.thread_names;
      const bool counter =
          std::any_of(counters_.begin(), counters_.end(), [&](const auto& one) { return one.first == name; });
      if (!counter && !launch_variable(name) && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }

  Condition condition(const Expression& expression) {
    add_thread_names(expression);
    // The same text may mean counters of other loops.
    std::string text = to_string(expression);
    for (const auto& [name, slot] : counters_) text += fmt::format(" {}={}", name, slot);
    const int number = static_cast<int>(numbers_.try_emplace(std::move(text), numbers_.size()).first->second);
    into_.conditions = numbers_.size();
    Condition result{range(expression), false, number};
    for (int slot = 3; slot < 6; ++slot) result.on_thread = result.on_thread || result.expression.uses(slot);
    result.on_thread =
        result.on_thread || result.expression.uses(kLaneSlot) || result.expression.uses(kWarpSlot);
    result.expression.keep_parts(kSlotsOfThreads);
    return result;
  }

  RangeExpression range(const Expression& expression) {
    return {expression, [this](const std::string& name) { return slot_of(name); }};
  }

  int slot_of(const std::string& name) {
    for (auto at = counters_.rbegin(); at != counters_.rend(); ++at)
      if (at->first == name) return at->second;
    if (const auto variable = launch_variable(name)) {
      const int slot = slot_of_variable(*variable);
      into_.slots_used |= std::uint32_t{1} << slot;
      return slot;
    }
    const auto known = std::find(into_.names.begin(), into_.names.end(), name);
    if (known != into_.names.end()) return kFirstOwnSlot + static_cast<int>(known - into_.names.begin());
    into_.names.push_back(name);
    return kFirstOwnSlot + static_cast<int>(into_.names.size()) - 1;
  }

  WarpProgram::Compiled& into_;
  std::set<std::string, std::less<>> shares_;
  std::vector<std::pair<std::string, int>> counters_;
  std::map<std::string, std::size_t> numbers_;  // of conditions
};

// Fills in Compiled::only_guards and what is with it.
void find_guards(const std::vector<WarpNode>& nodes, WarpProgram::Compiled& into) {
  for (const WarpNode& node : nodes) {
    ++into.items;
    const bool access = std::holds_alternative<MemoryAccess>(node.item->what);
    if (node.per_thread || node.has_shares || (!access && node.launch_value < 0)) into.only_guards = false;
    for (const auto* guard : {&node.threads, &node.then_threads}) {
      if (!*guard) continue;
      into.only_guards = into.only_guards && (*guard)->expression.combines_comparisons();
      for (std::size_t i = 0; i < into.names.size(); ++i)
        if (into.names[i].empty() && (*guard)->expression.uses(kFirstOwnSlot + static_cast<int>(i)))
          into.only_guards = false;
      const bool known = std::any_of(into.guards.begin(), into.guards.end(), [&](const Condition* other) {
        return other->number == (*guard)->number;
      });
      if (!known) into.guards.push_back(&**guard);
    }
    find_guards(node.body, into);
    find_guards(node.otherwise, into);
  }
}

}  // namespace
}  // namespace warps

void WarpTotals::add(const WarpTotals& other, double times) {
  instructions += times * other.instructions;
  loads += times * other.loads;
  stores += times * other.stores;
  more_loads += times * other.more_loads;
  more_stores += times * other.more_stores;
  load_sectors += times * other.load_sectors;
  store_sectors += times * other.store_sectors;
  atomics += times * other.atomics;
  atomic_sectors += times * other.atomic_sectors;
  reductions += times * other.reductions;
  reduction_sectors += times * other.reduction_sectors;
  copies += times * other.copies;
  copy_sectors += times * other.copy_sectors;
  local_load_sectors += times * other.local_load_sectors;
  local_store_sectors += times * other.local_store_sectors;
  machine.add(other.machine, times);
}

WarpProgram::WarpProgram(const KernelProgram& program) : compiled_(std::make_unique<Compiled>()) {
  compiled_->program = &program;
  warps::WarpCompiler compiler(*compiled_);
  compiled_->nodes = compiler.compile(program.program);
  compiled_->varies = std::any_of(compiled_->nodes.begin(), compiled_->nodes.end(),
                                  [](const warps::WarpNode& node) { return node.varies; });
  warps::find_guards(compiled_->nodes, *compiled_);
}

WarpProgram::~WarpProgram() = default;
WarpProgram::WarpProgram(WarpProgram&&) noexcept = default;

bool WarpProgram::varies() const {
  return compiled_->varies;
}

const std::vector<std::string>& WarpProgram::thread_names() const {
  return compiled_->thread_names;
}

Result<LaunchWarps> WarpProgram::launch(const Bindings& values, const LaunchSize& size, const Shares& shares,
                                        const WarpOptions& options) const {
  try {
    return warps::walk_launch(*compiled_, values, size, shares, options);
  } catch (warps::Failed& failed) {
    return std::move(failed.diagnostics);
  }
}

Result<Items> WarpProgram::of_warp(const Bindings& values, const LaunchSize& size, const WarpGroup& group,
                                   const Shares& shares, double phase) const {
  try {
    return warps::write_warp(*compiled_, values, size, group, shares, phase);
  } catch (warps::Failed& failed) {
    return std::move(failed.diagnostics);
  }
}

}  // namespace warptime
