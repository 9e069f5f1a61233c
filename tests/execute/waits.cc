#include "tests/execute/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "analyzer/ptx/opcodes.h"
#include "simulator/program/walk.h"

namespace warptime::execute::testing {
namespace {

class Follower {
 public:
  Follower(const KernelProgram& program, Bindings bindings, const ptx::Module& module, std::uint32_t kernel,
           const Stream& stream)
      : bindings_(std::move(bindings)), module_(module), kernel_(kernel), stream_(stream) {
    for_each_item(program.program, [&](const Item& item) {
      const auto* access = std::get_if<MemoryAccess>(&item.what);
      if (access != nullptr && access->kind == MemoryAccess::Kind::load)
        number_of_.emplace(&item, static_cast<int>(number_of_.size()) + 1);
    });
    executed_.resize(number_of_.size() + 1);
    completed_.resize(number_of_.size() + 1);
  }

  Waited follow(const Items& items) {
    result_.compared = !stream_.truncated && walk(items) && at_end();
    if (!result_.compared) result_.wrong.clear();
    return result_;
  }

 private:
  // By a load and which of its executions: the lanes that have its result.
  using Results = std::map<std::pair<int, std::uint64_t>, std::uint32_t>;

  bool walk(const Items& items) {
    std::vector<std::set<int>> sources(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      address_sources_.clear();
      if (!visit(items[i])) return false;
      if (items[i].detail && items[i].detail->rises != 0) sources[i] = address_sources_;
    }
    for (std::size_t i = 0; i < items.size(); ++i)
      for (const int source : sources[i]) risen(items, i, source);
    return true;
  }

  // A load that rises stays behind the loads of the list that its address is made of, and behind something that waits
  // for them.
  void risen(const Items& items, std::size_t load, int source) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < items.size(); ++i)
      order.insert(order.end() - (items[i].detail ? items[i].detail->rises : 0), i);
    bool loaded = false, is_there = false;
    for (const auto i : order) {
      const auto number = number_of_.find(&items[i]);
      if (number != number_of_.end() && number->second == source) loaded = true;
      const auto& detail = items[i].detail;
      if (loaded && detail && std::count(detail->needs.begin(), detail->needs.end(), source) != 0)
        is_there = true;
      if (i == load) break;
    }
    const bool in_list =
        std::any_of(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(load), [&](const Item& item) {
          const auto number = number_of_.find(&item);
          return number != number_of_.end() && number->second == source;
        });
    if (in_list && !is_there && result_.wrong.empty())
      result_.wrong =
          fmt::format("load at PTX line {} rises before load {} has completed, which its address needs",
                      to_string(items[load].ptx), source);
  }

  bool visit(const Item& item) {
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      const auto iterations = evaluate_count(repeat->count, bindings_);
      if (!iterations) return false;
      for (std::int64_t i = 0; i < *iterations; ++i) {
        if (!repeat->counter.empty()) bindings_[repeat->counter] = i;
        if (!walk(repeat->body)) return false;
      }
      return true;
    }
    if (const auto* when = std::get_if<When>(&item.what)) {
      const auto holds = evaluate_count(when->condition, bindings_);
      return holds && walk(*holds != 0 ? when->then_items : when->else_items);
    }
    if (item.detail)
      for (const int load : item.detail->needs)
        completed_[static_cast<std::size_t>(load)] = executed_[static_cast<std::size_t>(load)];
    if (const auto* run = std::get_if<Instructions>(&item.what)) {
      const auto count = evaluate_count(run->count, bindings_);
      if (!count) return false;
      for (std::int64_t i = 0; i < *count; ++i)
        if (!next(Role::calculation, item, 0)) return false;
      return true;
    }
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    if (access == nullptr) return false;
    const bool loads = access->kind == MemoryAccess::Kind::load;
    return next(loads ? Role::load : Role::store, item, loads ? number_of_.at(&item) : 0);
  }

  bool at_end() {
    while (place_ < stream_.entries.size() && stream_.entries[place_].role == Role::none) ++place_;
    return place_ == stream_.entries.size();
  }

  bool next(Role role, const Item& item, int load) {
    if (at_end() || stream_.entries[place_].role != role) return false;
    const auto& entry = stream_.entries[place_++];
    if (entry.function != kernel_) return false;
    const auto& ins = module_.functions[kernel_].instructions[entry.instruction];
    if (ins.info == nullptr || ins.info->category == ptx::Category::call) return false;
    instruction(ins, entry, item, load);
    return true;
  }

  void instruction(const ptx::Instruction& ins, const Stream::Entry& entry, const Item& item, int load) {
    // Stack slots are registers where their addresses do not escape: not followed.
    const auto space = ptx::space_of(ins.opcode);
    const bool slot = space == ptx::StateSpace::local ||
                      (space == ptx::StateSpace::generic && entry.role == Role::calculation);
    const auto written = std::min<std::uint32_t>(ins.info->destinations, ins.operand_count);
    Results results;
    for (auto o = written; o < ins.operand_count; ++o)
      collect(module_.operands[ins.first_operand + o], entry.performed, results);
    const bool guarded = ins.guard != ptx::no_index;
    if (guarded) collect(module_.operands[ins.guard], entry.active, results);
    follow_addresses(ins, written, load);
    const bool moves = !guarded && ins.info->name == "mov";
    if (!moves && !slot) check(results, ins, item);
    if (!moves) results.clear();
    if (load != 0) results = {{{load, ++executed_[static_cast<std::size_t>(load)]}, entry.performed}};
    for (std::uint32_t o = 0; o < written; ++o)
      write(module_.operands[ins.first_operand + o], entry.performed, results);
  }

  // What integers are made of: sums of what is loaded are no addresses.
  void follow_addresses(const ptx::Instruction& ins, std::uint32_t written, int load) {
    std::set<int> made_of;
    const auto read = [&](const auto& self, const ptx::Operand& operand) -> void {
      if (operand.kind == ptx::Operand::Kind::reg)
        if (const auto found = made_of_.find(operand.symbol); found != made_of_.end())
          made_of.insert(found->second.begin(), found->second.end());
      for (std::uint32_t p = 0; p < operand.part_count; ++p)
        self(self, module_.operands[operand.first_part + p]);
    };
    for (auto o = written; o < ins.operand_count; ++o) read(read, module_.operands[ins.first_operand + o]);
    if (load != 0) {
      address_sources_ = std::move(made_of);
      made_of = {load};
    }
    const bool floating = ins.opcode.ends_with("f32") || ins.opcode.ends_with("f64");
    if (floating && load == 0) made_of.clear();
    const auto write = [&](const auto& self, const ptx::Operand& operand) -> void {
      if (operand.kind == ptx::Operand::Kind::reg) made_of_[operand.symbol] = made_of;
      for (std::uint32_t p = 0; p < operand.part_count; ++p)
        self(self, module_.operands[operand.first_part + p]);
    };
    for (std::uint32_t o = 0; o < written; ++o) write(write, module_.operands[ins.first_operand + o]);
  }

  void check(const Results& results, const ptx::Instruction& ins, const Item& item) {
    for (const auto& [of, lanes] : results) {
      const auto& [load, execution] = of;
      ++result_.reads;
      if (execution <= completed_[static_cast<std::size_t>(load)] || !result_.wrong.empty()) continue;
      result_.wrong = fmt::format(
          "PTX line {}, of the item with lines {}, reads the result of load {} (execution {}, {} completed)",
          ins.line, to_string(item.ptx), load, execution, completed_[static_cast<std::size_t>(load)]);
    }
  }

  void collect(const ptx::Operand& operand, std::uint32_t lanes, Results& results) const {
    if (operand.kind == ptx::Operand::Kind::reg)
      if (const auto found = held_.find(operand.symbol); found != held_.end())
        for (const auto& [of, held] : found->second)
          if ((held & lanes) != 0) results[of] |= held & lanes;
    for (std::uint32_t p = 0; p < operand.part_count; ++p)
      collect(module_.operands[operand.first_part + p], lanes, results);
  }

  // Lanes that do not write keep what they have.
  void write(const ptx::Operand& operand, std::uint32_t lanes, const Results& results) {
    if (operand.kind == ptx::Operand::Kind::reg) {
      auto& held = held_[operand.symbol];
      for (auto at = held.begin(); at != held.end();) {
        at->second &= ~lanes;
        at = at->second == 0 ? held.erase(at) : std::next(at);
      }
      for (const auto& [of, written] : results) held[of] |= written;
    }
    for (std::uint32_t p = 0; p < operand.part_count; ++p)
      write(module_.operands[operand.first_part + p], lanes, results);
  }

  Bindings bindings_;
  const ptx::Module& module_;
  std::uint32_t kernel_;
  const Stream& stream_;
  std::map<const Item*, int> number_of_;             // of loads
  std::vector<std::uint64_t> executed_, completed_;  // by the number of a load
  std::map<std::uint32_t, Results> held_;            // by register
  std::map<std::uint32_t, std::set<int>> made_of_;   // by register: the loads that an integer is made of
  std::set<int> address_sources_;                    // of the last load
  std::size_t place_ = 0;
  Waited result_;
};

}  // namespace

Waited waited(const KernelProgram& program, const Bindings& bindings, const ptx::Module& module,
              std::uint32_t kernel, const Stream& stream) {
  return Follower(program, bindings, module, kernel, stream).follow(program.program);
}

}  // namespace warptime::execute::testing
