#include "analyzer/periods/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <map>
#include <set>

#include "analyzer/flow/facts.h"
#include "analyzer/flow/footprint.h"
#include "analyzer/flow/naming.h"
#include "analyzer/periods/classify.h"
#include "analyzer/ptx/opcodes.h"

namespace warptime::periods {
namespace {

using flow::Facts;
using flow::none;
using flow::ValueId;

constexpr int max_depth = 400;

// A rough weight, to choose the busier of two sides: cycles of one turn, loops counted ten times.
double weight_of(const Items& items) {
  double sum = 0;
  for (const auto& item : items) {
    if (const auto* i = std::get_if<Instructions>(&item.what)) sum += i->count.is_integer() ? static_cast<double>(i->count.integer_value()) : 1;
    else if (std::holds_alternative<MemoryAccess>(item.what)) sum += 100;
    else if (const auto* r = std::get_if<Repeat>(&item.what)) sum += 10 * weight_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what)) sum += std::max(weight_of(w->then_items), weight_of(w->else_items));
  }
  return sum;
}

std::size_t size_of(const Items& items) {
  auto size = items.size();
  for (const auto& item : items) {
    if (const auto* r = std::get_if<Repeat>(&item.what)) size += size_of(r->body);
    else if (const auto* w = std::get_if<When>(&item.what)) size += size_of(w->then_items) + size_of(w->else_items);
  }
  return size;
}

bool same_access(const MemoryAccess& a, const MemoryAccess& b) {
  return a.kind == b.kind && a.cycles == b.cycles && a.access == b.access && a.bytes == b.bytes && a.sectors == b.sectors &&
         a.stride == b.stride && a.note == b.note;
}

// Whether two sides do the same, wherever it stands in the text.
bool same_items(const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].what.index() != b[i].what.index()) return false;
    if (const auto* x = std::get_if<Instructions>(&a[i].what)) {
      if (!(x->count == std::get<Instructions>(b[i].what).count)) return false;
    } else if (const auto* m = std::get_if<MemoryAccess>(&a[i].what)) {
      if (!same_access(*m, std::get<MemoryAccess>(b[i].what))) return false;
    } else if (const auto* r = std::get_if<Repeat>(&a[i].what)) {
      const auto& s = std::get<Repeat>(b[i].what);
      if (!(r->count == s.count) || r->counter != s.counter || !same_items(r->body, s.body)) return false;
    } else if (const auto* w = std::get_if<When>(&a[i].what)) {
      const auto& s = std::get<When>(b[i].what);
      if (!(w->condition == s.condition) || !same_items(w->then_items, s.then_items) || !same_items(w->else_items, s.else_items))
        return false;
    }
  }
  return true;
}

void add_instructions(Items& items, std::int64_t count, const LineSet& lines, const LineSet& ptx) {
  if (count == 0) return;
  if (!items.empty())
    if (auto* last = std::get_if<Instructions>(&items.back().what); last != nullptr && last->count.is_integer()) {
      last->count = Expression(last->count.integer_value() + count);
      items.back().lines.add(lines);
      items.back().ptx.add(ptx);
      return;
    }
  items.push_back({Instructions{Expression(count)}, lines, ptx});
}

void append(Items& items, Items more) {
  for (auto& item : more) {
    const auto* run = std::get_if<Instructions>(&item.what);
    if (run != nullptr && run->count.is_integer()) add_instructions(items, run->count.integer_value(), item.lines, item.ptx);
    else items.push_back(std::move(item));
  }
}

// Gives back the room that lists were made with.
void compact(Items& items) {
  items.shrink_to_fit();
  for (auto& item : items) {
    if (auto* repeat = std::get_if<Repeat>(&item.what)) compact(repeat->body);
    else if (auto* when = std::get_if<When>(&item.what)) compact(when->then_items), compact(when->else_items);
  }
}

// What a kernel uses that the model does not tell apart: docs/not-modelled.md, a line each.
enum class NotModelled : std::uint8_t { shared_memory, local_memory, barrier, atomic, texture, async_copy, long_instruction, tensor_core };
constexpr std::array<const char*, 8> not_modelled_texts{
        "shared memory counts as calculation: conflicts between its banks are not modelled",
        "local memory counts as calculation: its traffic is not modelled",
        "barriers count as calculation: the waiting at them is not modelled",
        "an atomic counts as one access: threads that meet at one address are not modelled",
        "a texture or surface access counts as coalesced: its cache and its filtering are not modelled",
        "an asynchronous copy counts as a store where it is begun: that it runs beside the calculation is not modelled",
        "divisions, roots and other long instructions count as one instruction each",
        "a tensor core instruction counts as one instruction",
};

class Lowering {
 public:
  Lowering(flow::KernelFlow& flow, const LowerOptions& options)
      : function_(flow.code.function()), flow_(flow), values_(flow.evaluator.values()), options_(options) {
    naming_.argument = [this](auto index, auto offset) { return argument_name(index, offset); };
    naming_.counter = [this](auto loop) { return counter_name(loop); };
    naming_.other = [this](auto value) {
      const auto it = value_names_.find(value);
      return it == value_names_.end() ? std::string() : it->second;
    };
    reading_ = naming_;
    reading_.threads_too = true;
    reading_.counter = [](auto) { return std::string("counter"); };
  }

  Result<Lowered> lower() {
    roles_of_instructions();
    if (!errors_.empty()) return std::move(errors_);
    if (!flow_.cfg.irreducible.empty()) {
      const auto& edge = flow_.cfg.irreducible.front();
      return fail_at(flow_.cfg.blocks[edge.to].first, "irreducible control flow: a loop with several entries, too large to be copied for each");
    }
    out_.repeats_of_loop.assign(flow_.cfg.loops.size(), "");
    auto items = region(0, flow_.cfg.exit(), none, Facts(values_), 0);
    if (failure_) return std::move(*failure_);
    compact(items);
    out_.program.program = std::move(items);
    declare_parameters();
    for (std::size_t what = 0; what < uses_.size(); ++what)
      if (uses_[what]) out_.program.not_modelled.push_back(not_modelled_texts[what]);
    return std::move(out_);
  }

 private:
  // --- names ---------------------------------------------------------------------------------------------------------

  std::string argument_name(std::uint32_t index, std::uint32_t offset) const {
    std::string name;
    if (options_.signature != nullptr && index < options_.signature->arguments.size()) {
      name = options_.signature->arguments[index].name;
    } else if (index < function_.parameters.size()) {
      name = std::string(function_.parameters[index].name);
      const auto prefix = std::string(function_.name) + "_";
      if (name.starts_with(prefix)) name = name.substr(prefix.size());
    }
    for (auto& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    return offset == 0 ? name : fmt::format("{}_{}", name, offset);
  }

  bool is_argument_name(const std::string& name) const {
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
      if (argument_name(i, 0) == name) return true;
    return false;
  }

  std::string counter_name(std::uint32_t loop) {
    if (const auto it = counters_.find(loop); it != counters_.end()) {
      counters_used_.insert(loop);
      return it->second;
    }
    return {};
  }

  void open_counter(std::uint32_t loop) {
    static const char* const candidates[] = {"i", "j", "m", "n", "p", "q"};
    const auto taken = [&](const std::string& name) {
      for (const auto& [l, other] : counters_)
        if (other == name) return true;
      return is_argument_name(name);
    };
    for (const std::string name : candidates)
      if (!taken(name)) {
        counters_[loop] = name;
        return;
      }
    counters_[loop] = fmt::format("turn_{}", loop);
  }

  // --- diagnostics ---------------------------------------------------------------------------------------------------

  int source_line(std::uint32_t instruction) const {
    const auto& ins = function_.instructions[instruction];
    if (options_.main_file != 0 && ins.source_file != options_.main_file) return 0;
    // No source has so many: what a broken .loc says is not known.
    return ins.source_line > static_cast<std::uint32_t>(INT_MAX) ? 0 : static_cast<int>(ins.source_line);
  }

  // The instruction that stands for a loop: the one of its header's turn with the smallest source line, where the `for` is.
  std::uint32_t instruction_of_loop(const flow::Loop& loop) const {
    auto best = flow_.cfg.blocks[loop.header].first;
    for (const auto b : loop.blocks)
      for (auto i = flow_.cfg.blocks[b].first; i < flow_.cfg.blocks[b].end; ++i)
        if (source_line(i) != 0 && (source_line(best) == 0 || source_line(i) < source_line(best))) best = i;
    return best;
  }

  std::string place(std::uint32_t instruction) const {
    const auto line = source_line(instruction);
    return line != 0 ? fmt::format("line {}", line) : fmt::format("PTX line {}", function_.instructions[instruction].line);
  }

  std::string place_for_name(std::uint32_t instruction) const {
    const auto line = source_line(instruction);
    return line != 0 ? fmt::format("line_{}", line) : fmt::format("ptx_line_{}", function_.instructions[instruction].line);
  }

  Diagnostic fail_at(std::uint32_t instruction, std::string message, std::string hint = {}) const {
    const auto& instructions = function_.instructions;
    const int line = instruction < instructions.size() ? static_cast<int>(instructions[instruction].line) : static_cast<int>(function_.end_line);
    if (instruction < instructions.size() && source_line(instruction) != 0)
      message += fmt::format(" (source line {})", source_line(instruction));
    return error_at(options_.file, line, 0, std::move(message), std::move(hint));
  }

  void fail(Diagnostic diagnostic) {
    if (!failure_) failure_ = std::move(diagnostic);
  }

  void assume(std::uint32_t instruction, std::string text) {
    const auto& ins = function_.instructions[instruction];
    for (const auto& a : out_.program.assumptions)
      if (a.ptx_line == static_cast<int>(ins.line) && a.text == text) return;
    out_.program.assumptions.push_back({source_line(instruction), static_cast<int>(ins.line), std::move(text)});
  }

  std::string readable(ValueId value) {
    const auto expression = flow::to_expression(values_, value, reading_, nullptr, 40);
    auto text = expression ? to_string(*expression) : "…";
    return text.size() > 100 ? "…" : text;
  }

  // --- instructions --------------------------------------------------------------------------------------------------

  void roles_of_instructions() {
    std::int64_t total = 0, modelled = 0;
    out_.roles.resize(function_.instructions.size());
    for (std::uint32_t b = 0; b + 1 < flow_.cfg.blocks.size(); ++b) {
      const auto& block = flow_.cfg.blocks[b];
      if (!block.reachable) continue;
      for (auto i = block.first; i < block.end; ++i) {
        auto& role = out_.roles[i];
        if (!options_.lines.empty() && !options_.lines.contains(options_.ptx_lines ? static_cast<int>(function_.instructions[i].line) : source_line(i))) continue;
        role = classify(flow_, b, i, naming_, out_.accesses);
        if (role.kind == InstructionRole::Kind::none) continue;
        ++total;
        note_uses(i);
        if (role.modelled) ++modelled;
        else unsupported(i);
      }
    }
    out_.program.instructions_total = total;
    out_.program.instructions_modelled = modelled;
  }

  void note_uses(std::uint32_t i) {
    const auto& ins = function_.instructions[i];
    if (ins.info == nullptr) return;
    const auto uses = [&](NotModelled what) { uses_[static_cast<std::size_t>(what)] = true; };
    const auto word = ins.opcode.substr(0, ins.opcode.find('.'));
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) { return std::find(words.begin(), words.end(), word) != words.end(); };
    switch (ins.info->category) {
      case ptx::Category::barrier: uses(NotModelled::barrier); break;
      case ptx::Category::async_copy: uses(NotModelled::async_copy); break;
      case ptx::Category::atomic: case ptx::Category::reduction: uses(NotModelled::atomic); break;
      case ptx::Category::load: case ptx::Category::store: {
        const auto space = ptx::space_of(ins.opcode);
        if (space == ptx::StateSpace::texture) uses(NotModelled::texture);
        if (space == ptx::StateSpace::shared) uses(NotModelled::shared_memory);
        if (space == ptx::StateSpace::local) uses(NotModelled::local_memory);
        break;
      }
      default:
        if (is_one_of({"div", "rem", "sqrt", "rsqrt", "rcp", "sin", "cos", "ex2", "lg2", "tanh"})) uses(NotModelled::long_instruction);
        if (is_one_of({"wmma", "mma", "wgmma", "tcgen05"})) uses(NotModelled::tensor_core);
    }
  }

  void unsupported(std::uint32_t i) {
    const auto& ins = function_.instructions[i];
    auto diagnostic =
        fail_at(i, fmt::format("unknown instruction `{}`", ins.opcode), "--skip-unsupported counts it as one instruction of calculation");
    if (options_.skip_unsupported) {
      diagnostic.severity = Severity::warning;
      diagnostic.hint.clear();
      out_.diagnostics.push_back(std::move(diagnostic));
    } else if (errors_.size() < 20) {
      errors_.push_back(std::move(diagnostic));
    }
  }

  LineSet source_lines(std::uint32_t i) const {
    LineSet lines;
    if (const auto line = source_line(i); line > 0) lines.add(line);
    return lines;
  }

  LineSet ptx_lines(std::uint32_t i) const {
    LineSet lines;
    lines.add(static_cast<int>(function_.instructions[i].line));
    return lines;
  }

  // The items of one block, its branch included.
  void block_items(std::uint32_t b, std::uint32_t loop, const Facts& facts, Items& items) {
    const auto& block = flow_.cfg.blocks[b];
    std::int64_t run = 0;
    LineSet lines, ptx;
    const auto end_run = [&] {
      add_instructions(items, run, lines, ptx);
      if (run != 0) lines = ptx = {};
      run = 0;
    };
    for (auto i = block.first; i < block.end; ++i) {
      const auto& role = out_.roles[i];
      if (role.kind == InstructionRole::Kind::none) continue;
      if (role.kind != InstructionRole::Kind::calculation) {
        end_run();
        memory_item(i, loop, facts, items);
        continue;
      }
      ++run;
      if (const auto line = source_line(i); line > 0) lines.add(line);
      ptx.add(static_cast<int>(function_.instructions[i].line));
      if (const auto* call = flow_.code.opaque_call(i)) {
        end_run();
        opaque_call(i, *call, items);
      }
    }
    end_run();
  }

  // What a call costs that is not followed: a parameter, which the user gives.
  void opaque_call(std::uint32_t i, const flow::OpaqueCall& call, Items& items) {
    std::string wanted = "instructions_of_";
    if (call.callee.empty()) wanted += fmt::format("call_at_{}", place_for_name(i));
    for (const char c : call.callee) wanted += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    const auto what = call.callee.empty() ? fmt::format("the call through a pointer at {}", place(i)) : fmt::format("`{}`", call.callee);
    const auto name = parameter_for(wanted, fmt::format("instructions that one call of {}, {}, executes", what, call.why));
    if (called_.insert(name).second) {
      auto warning = fail_at(i, fmt::format("{} {} is not followed: give what one call executes as the parameter {}",
                                            call.callee.empty() ? "a call" : fmt::format("a call of `{}`,", call.callee), call.why + (call.callee.empty() ? "" : ","), name));
      warning.severity = Severity::warning;
      out_.diagnostics.push_back(std::move(warning));
    }
    const auto guard = function_.instructions[i].guard == ptx::no_index ? values_.constant(1) : flow_.evaluator.guard(i);
    if (!values_.is_constant(guard)) assume(i, fmt::format("the call is made where `{}`: taken to hold for some thread of each warp", readable(guard)));
    items.push_back({Instructions{Expression::name(name)}, source_lines(i), ptx_lines(i)});
  }

  // The bytes that the launch touches here, once for each access: where it is first met, which is not in a loop's last turn.
  void note_touched(std::uint32_t i, std::uint32_t loop, const Facts& facts) {
    const auto& role = out_.roles[i];
    if (role.operand == none || !last_turn_.empty() || !footprints_.insert(i).second) return;
    const auto on_data = [&](ValueId value) { return (flow_.evaluator.dependence(value) & flow::on_data) != 0; };
    if (std::any_of(path_.begin(), path_.end(), [&](const auto& c) { return on_data(c.condition); })) return;
    auto conditions = path_;
    if (function_.instructions[i].guard != ptx::no_index) conditions.push_back({condition(flow_.evaluator.guard(i), loop, facts), true});
    auto& access = out_.accesses[role.access];
    const auto address = flow_.loops.resolve(flow_.evaluator.address(i, role.operand), loop);
    const auto bytes = flow::touched_bytes(flow_.evaluator, flow_.loops, address, flow_.evaluator.block_of(i), access.bytes.value_or(0), conditions);
    if (!bytes) return;
    flow::Taken taken;
    const auto expression = flow::to_expression(values_, facts.simplify(*bytes), naming_, &taken);
    if (expression && !taken.unsigned_as_signed && !taken.division_of_not_negative) access.touched = *expression;
  }

  // A guarded access whose guard depends on arguments alone is a condition: where it does not hold, one instruction is issued.
  void memory_item(std::uint32_t i, std::uint32_t loop, const Facts& facts, Items& items) {
    note_touched(i, loop, facts);
    Item item{out_.accesses[out_.roles[i].access], source_lines(i), ptx_lines(i)};
    if (function_.instructions[i].guard == ptx::no_index) {
      items.push_back(std::move(item));
      return;
    }
    const auto guard = condition(flow_.evaluator.guard(i), loop, facts);
    Items skipped;
    add_instructions(skipped, 1, source_lines(i), ptx_lines(i));
    if (values_.is_constant(guard)) {
      if (values_[guard].number != 0) items.push_back(std::move(item));
      else append(items, std::move(skipped));
      return;
    }
    if (uniform(guard))
      if (auto expression = expression_of(guard, i)) {
        items.push_back({When{*expression, {std::move(item)}, std::move(skipped)}, source_lines(i), ptx_lines(i)});
        return;
      }
    assume(i, fmt::format("the access is made where `{}`: taken to hold for some thread of each warp", readable(guard)));
    items.push_back(std::move(item));
  }

  // --- conditions ----------------------------------------------------------------------------------------------------

  ValueId condition(ValueId raw, std::uint32_t loop, const Facts& facts) {
    auto value = facts.simplify(flow_.loops.resolve(raw, loop));
    if (!last_turn_.empty()) value = facts.simplify(with_last_turns(value));
    if (const auto number = flow_.loops.same_for_all_threads(value)) return values_.constant(*number);
    return value;
  }

  ValueId with_last_turns(ValueId value) {
    return values_.rewrite(value, [](const flow::Values::Node& node) { return (node.dependence & flow::on_counter) != 0; }, [&](ValueId leaf) {
      const auto node = values_[leaf];
      if (node.op != flow::Op::counter) return leaf;
      const auto it = last_turn_.find(node.a);
      return it == last_turn_.end() ? leaf : it->second;
    });
  }

  // Whether all threads of the launch decide alike.
  bool uniform(ValueId value) {
    return (flow_.evaluator.dependence(value) & (flow::on_thread | flow::on_block | flow::on_data)) == 0;
  }

  std::optional<Expression> expression_of(ValueId value, std::uint32_t instruction) {
    flow::Taken taken;
    auto expression = flow::to_expression(values_, value, naming_, &taken);
    if (expression && taken.unsigned_as_signed)
      assume(instruction, fmt::format("the numbers compared in `{}` are not negative", to_string(*expression)));
    if (expression && taken.division_of_not_negative)
      assume(instruction, fmt::format("the numbers divided in `{}` are not negative", to_string(*expression)));
    return expression;
  }

  // --- regions -------------------------------------------------------------------------------------------------------

  // Compilers' output comes to each block once; 1.2 times is the most that was met.
  bool within_budget(std::uint32_t b, int depth) {
    if (failure_) return false;
    if (depth > max_depth || ++lowered_blocks_ > 8 * flow_.cfg.blocks.size() + 2000) {
      fail(fail_at(flow_.cfg.blocks[b].first, "control flow too entangled: branches that share code without a common end"));
      return false;
    }
    return true;
  }

  // From block `b` until `stop` (not included) or the end of the kernel, within loop `loop`.
  Items region(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, Facts facts, int depth) {
    Items items;
    const auto& cfg = flow_.cfg;
    while (b != none && b != stop && b != cfg.exit()) {
      if (!within_budget(b, depth)) return items;
      const auto inner = cfg.blocks[b].loop;
      if (inner != loop) {
        if (inner == none || !cfg.contains(loop, b)) break;  // left the loop by another way
        auto child = inner;
        while (child != none && cfg.loops[child].parent != loop) child = cfg.loops[child].parent;
        b = loop_items(child, facts, depth + 1, items);
        continue;
      }
      block_items(b, loop, facts, items);
      b = after_block(b, stop, loop, facts, depth, items);
    }
    return items;
  }

  // Lowers what the end of block `b` decides; gives the block that everything meets in again.
  std::uint32_t after_block(std::uint32_t b, std::uint32_t stop, std::uint32_t loop, Facts& facts, int depth, Items& items) {
    const auto& block = flow_.cfg.blocks[b];
    std::vector<std::uint32_t> ways;
    for (const auto s : block.successors)
      if (flow_.cfg.contains(loop, s)) ways.push_back(s);
    const auto last = block.end - 1;
    if (ways.size() < block.successors.size() && !ways.empty())
      assume(last, "the loop may be left early here, which data or threads decide: taken to run to its end");
    if (ways.empty()) return none;
    if (ways.size() == 1) return ways[0];
    const auto join = meeting_point(b, loop);
    if (ways.size() > 2) return several_ways(b, ways, join, loop, facts, depth, items);
    const auto guard = condition(flow_.evaluator.guard(last), loop, facts);
    if (values_.is_constant(guard)) return values_[guard].number != 0 ? ways[0] : ways[1];
    Facts if_taken = facts, if_not = facts;
    if_taken.assume(guard, true);
    if_not.assume(guard, false);
    const auto end = join == none ? stop : join;
    const bool varies = (flow_.evaluator.dependence(guard) & (flow::on_thread | flow::on_block | flow::on_counter | flow::on_data)) != 0;
    if (varies) path_.push_back({guard, true});
    auto taken = region(ways[0], end, loop, if_taken, depth + 1);
    if (varies) path_.back().holds = false;
    auto other = region(ways[1], end, loop, if_not, depth + 1);
    if (varies) path_.pop_back();
    if (failure_) return none;
    const bool at_end = end == flow_.cfg.exit() || only_returns(end);
    // A side that only jumps to the end is the empty side of a guard.
    if (at_end && (flow_.evaluator.dependence(guard) & flow::on_thread) != 0) {
      if (!other.empty() && only_jumps(ways[0], end)) taken.clear();
      else if (!taken.empty() && only_jumps(ways[1], end)) other.clear();
    }
    join_sides(last, guard, std::move(taken), std::move(other), items, at_end);
    return join;
  }

  void join_sides(std::uint32_t last, ValueId guard, Items taken, Items other, Items& items, bool at_end) {
    const auto dependence = flow_.evaluator.dependence(guard);
    const bool divergent = (dependence & flow::on_thread) != 0;
    if (same_items(taken, other) && (!divergent || taken.empty())) {
      append(items, std::move(other));
      return;
    }
    if (uniform(guard)) {
      if (when(last, guard, taken, other, items)) return;
    } else if (divergent) {
      if (taken.empty() || other.empty()) {
        const bool skips = taken.empty();
        if (at_end) assume(last, fmt::format("guard `{}`: taken to pass", readable(skips ? values_.logical_not(guard) : guard)));
        else assume(last, fmt::format("`{}` differs between the threads of a warp: taken to hold for some of each", readable(skips ? values_.logical_not(guard) : guard)));
      } else {
        assume(last, fmt::format("`{}` differs between the threads of a warp: both sides are executed", readable(guard)));
      }
      append(items, std::move(other));
      append(items, std::move(taken));
      return;
    } else if ((dependence & flow::on_block) != 0 && (dependence & flow::on_data) == 0) {
      const bool take = weight_of(taken) > weight_of(other);
      assume(last, fmt::format("`{}` differs between blocks: taken as in the blocks that do more", readable(take ? guard : values_.logical_not(guard))));
      append(items, take ? std::move(taken) : std::move(other));
      return;
    }
    // The same for all threads, but nothing here says which: the user must.
    const auto name = parameter_for(fmt::format("taken_at_{}", place_for_name(last)),
                                    fmt::format("1 where the branch at {} is taken, 0 where not: `{}` is not a form of the kernel's arguments",
                                                place(last), readable(guard)));
    emit_when(Expression::make(Expression::Op::not_equal, {Expression::name(name), Expression(0)}), std::move(taken), std::move(other), last, items);
  }

  bool when(std::uint32_t last, ValueId guard, Items& taken, Items& other, Items& items) {
    auto expression = expression_of(guard, last);
    if (!expression) return false;
    // `then` is the side that does something; where both do, the one that reads `<`, `<=` or `==`.
    const auto op = expression->op();
    const bool reads_backwards = op == Expression::Op::greater || op == Expression::Op::greater_equal || op == Expression::Op::not_equal;
    const bool swap = taken.empty() || (!other.empty() && reads_backwards);
    if (swap) expression = expression_of(values_.logical_not(guard), last);
    if (!expression) return false;
    if (swap) emit_when(*expression, std::move(other), std::move(taken), last, items);
    else emit_when(*expression, std::move(taken), std::move(other), last, items);
    return true;
  }

  void emit_when(Expression condition, Items then_items, Items else_items, std::uint32_t last, Items& items) {
    items.push_back({When{std::move(condition), std::move(then_items), std::move(else_items)}, source_lines(last), ptx_lines(last)});
  }

  // A branch with more than two targets (brx.idx): which one is not known, so each is executed.
  std::uint32_t several_ways(std::uint32_t b, const std::vector<std::uint32_t>& ways, std::uint32_t join, std::uint32_t loop,
                             const Facts& facts, int depth, Items& items) {
    const auto last = flow_.cfg.blocks[b].end - 1;
    std::set<std::uint32_t> distinct(ways.begin(), ways.end());
    distinct.erase(join);
    assume(last, fmt::format("a branch with {} targets: the one that does most is taken", distinct.size()));
    Items busiest;
    for (const auto way : distinct) {
      auto side = region(way, join == none ? flow_.cfg.exit() : join, loop, facts, depth + 1);
      if (weight_of(side) > weight_of(busiest)) busiest = std::move(side);
    }
    append(items, std::move(busiest));
    return join;
  }

  bool only_jumps(std::uint32_t b, std::uint32_t end) const {
    for (std::size_t steps = 0; b != end && steps < flow_.cfg.blocks.size(); ++steps) {
      const auto& block = flow_.cfg.blocks[b];
      if (block.successors.size() != 1) return false;
      for (auto i = block.first; i < block.end; ++i)
        if (!function_.instructions[i].opcode.starts_with("bra") && out_.roles[i].kind != InstructionRole::Kind::none) return false;
      b = block.successors[0];
    }
    return true;
  }

  bool only_returns(std::uint32_t b) const {
    if (b == none) return true;
    const auto& block = flow_.cfg.blocks[b];
    if (block.successors.size() != 1 || block.successors[0] != flow_.cfg.exit()) return false;
    for (auto i = block.first; i < block.end; ++i)
      if (out_.roles[i].kind != InstructionRole::Kind::none) return false;
    return true;
  }

  // Where the ways out of `b` meet again within the loop; none: only at the loop's next turn, or nowhere.
  std::uint32_t meeting_point(std::uint32_t b, std::uint32_t loop) {
    const auto global = flow_.cfg.blocks[b].post_dominator;
    if (loop == none) return global;
    auto& local = local_post_dominators_[loop];
    if (local.empty()) local = post_dominators_in(loop);
    const auto it = local.find(b);
    return it == local.end() ? none : it->second;
  }

  // Post-dominators within one turn of a loop: edges to its header end the turn, edges out of it do not count where there is another.
  // Cooper, Harvey and Kennedy, A simple, fast dominance algorithm (2001).
  std::map<std::uint32_t, std::uint32_t> post_dominators_in(std::uint32_t loop_index) const {
    const auto& loop = flow_.cfg.loops[loop_index];
    std::map<std::uint32_t, std::vector<std::uint32_t>> successors, predecessors;
    const std::uint32_t end = flow_.cfg.exit();
    for (const auto b : loop.blocks) {
      auto& list = successors[b];
      for (const auto s : flow_.cfg.blocks[b].successors)
        if (flow_.cfg.contains(loop_index, s)) list.push_back(s == loop.header ? end : s);
      if (list.empty()) list.push_back(end);
      for (const auto s : list) predecessors[s].push_back(b);
    }
    std::vector<std::uint32_t> order;  // postorder of the reversed graph
    std::map<std::uint32_t, std::uint32_t> number;
    std::set<std::uint32_t> seen{end};
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      const auto& before = predecessors[b];
      if (next == before.size()) {
        number[b] = static_cast<std::uint32_t>(order.size());
        order.push_back(b);
        stack.pop_back();
      } else if (const auto p = before[next++]; seen.insert(p).second) {
        stack.emplace_back(p, 0);
      }
    }
    std::map<std::uint32_t, std::uint32_t> immediate{{end, end}};
    const auto intersect = [&](std::uint32_t x, std::uint32_t y) {
      while (x != y) {
        while (number[x] < number[y]) x = immediate[x];
        while (number[y] < number[x]) y = immediate[y];
      }
      return x;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        if (*it == end) continue;
        std::uint32_t best = none;
        for (const auto s : successors[*it])
          if (immediate.contains(s)) best = best == none ? s : intersect(s, best);
        if (best == none) continue;
        const auto found = immediate.find(*it);
        if (found == immediate.end() || found->second != best) {
          immediate[*it] = best;
          changed = true;
        }
      }
    }
    for (auto& [b, p] : immediate)
      if (p == end) p = none;
    return immediate;
  }

  // --- loops ---------------------------------------------------------------------------------------------------------

  // Lowers a loop as its parent meets it; gives the block that follows.
  std::uint32_t loop_items(std::uint32_t index, const Facts& facts, int depth, Items& items) {
    const auto& loop = flow_.cfg.loops[index];
    const auto& trip = flow_.loops.trip_count(index);
    const auto header_instruction = instruction_of_loop(loop);
    if (loop.exits.empty()) {
      fail(fail_at(header_instruction, "a loop that never ends"));
      return none;
    }
    const auto& exit = loop.exits[trip.exit == none ? 0 : trip.exit];
    auto count = trip_expression(index, trip, facts);
    if (failure_) return none;
    out_.repeats_of_loop[index] = to_string(count);
    open_counter(index);
    const bool every_turn = trip.exit != none;
    // One turn is `first` (header to exiting block) and `second` (exiting block back to the header); the last turn is `first` alone.
    Items first = turn_until_exit(index, exit, every_turn, facts, depth);
    const auto& successors = flow_.cfg.blocks[exit.from].successors;
    Items second;
    for (const auto s : successors)
      if (every_turn && s != exit.to && s != loop.header) second = region(s, loop.header, index, facts, depth + 1);
    if (failure_) return none;
    const bool counted = counters_used_.contains(index);
    const auto counter = counted ? counters_[index] : std::string();
    LineSet lines, ptx;
    lines.add(source_lines(header_instruction));
    ptx.add(ptx_lines(header_instruction));
    if (second.empty()) {
      emit_repeat(std::move(count), counter, std::move(first), lines, ptx, items);
    } else {
      // Each loop around this one doubles what is written twice here.
      copied_items_ += size_of(first);
      if (copied_items_ > 16 * function_.instructions.size() + 50'000) {
        fail(fail_at(header_instruction, "loops within loops that are left in the middle of a turn: their last turns, written out, are too long"));
        return none;
      }
      Items last_turn = counted ? last_turn_items(index, exit, trip, count, facts, depth) : first;
      Items body = std::move(first);
      append(body, std::move(second));
      emit_repeat(less_one(count), counter, std::move(body), lines, ptx, items);
      append(items, std::move(last_turn));
    }
    counters_.erase(index);
    counters_used_.erase(index);
    if (!flow_.cfg.contains(loop.parent, exit.to)) {
      assume(flow_.cfg.blocks[exit.from].end - 1, "leaving this loop leaves the enclosing one too: taken to continue with its next turn");
      return none;
    }
    return exit.to;
  }

  Items turn_until_exit(std::uint32_t index, const flow::Loop::Exit& exit, bool every_turn, const Facts& facts, int depth) {
    const auto& loop = flow_.cfg.loops[index];
    Items items;
    if (!every_turn) return turn(index, loop.header, loop.header, facts, depth);
    if (exit.from != loop.header) items = turn(index, loop.header, exit.from, facts, depth);
    block_items(exit.from, index, facts, items);
    return items;
  }

  // From the loop's header; `stop` may be the header itself: once around.
  Items turn(std::uint32_t index, std::uint32_t from, std::uint32_t stop, const Facts& facts, int depth) {
    if (from != stop) return region(from, stop, index, facts, depth + 1);
    Items items;
    Facts known = facts;
    block_items(from, index, known, items);
    const auto next = after_block(from, stop, index, known, depth + 1, items);
    if (next != none && next != stop) append(items, region(next, stop, index, known, depth + 1));
    return items;
  }

  // A value that is written as the parameter which stands for a loop's turns.
  ValueId named_count(const Expression& count) {
    const auto value = values_.opaque(flow::on_argument);
    value_names_[value] = to_string(count);
    return value;
  }

  // The last turn again, with the loop's counter at its last value.
  Items last_turn_items(std::uint32_t index, const flow::Loop::Exit& exit, const flow::TripCount& trip, const Expression& count, const Facts& facts, int depth) {
    last_turn_[index] = values_.add(trip.count && written_counts_.contains(index) ? *trip.count : named_count(count), values_.constant(-1));
    auto items = turn_until_exit(index, exit, true, facts, depth);
    last_turn_.erase(index);
    return items;
  }

  static Expression less_one(const Expression& count) {
    using E = Expression;
    if (count.is_integer()) return E(count.integer_value() - 1);
    const auto& parts = count.operands();
    // `K + 1 - 1` reads K.
    if (count.op() == E::Op::add && parts[1].is_integer() && parts[1].integer_value() > INT64_MIN)
      return parts[1].integer_value() == 1 ? parts[0] : E::make(E::Op::add, {parts[0], E(parts[1].integer_value() - 1)});
    if (count.op() == E::Op::subtract && parts[1].is_integer() && parts[1].integer_value() < INT64_MAX)
      return E::make(E::Op::subtract, {parts[0], E(parts[1].integer_value() + 1)});
    return E::make(E::Op::subtract, {count, E(1)});
  }

  void emit_repeat(Expression count, const std::string& counter, Items body, LineSet lines, LineSet ptx, Items& items) {
    if (body.empty() || (count.is_integer() && count.integer_value() == 0)) return;
    if (count.is_integer() && count.integer_value() == 1 && counter.empty()) {
      append(items, std::move(body));
      return;
    }
    items.push_back({Repeat{std::move(count), counter, std::move(body)}, std::move(lines), std::move(ptx)});
  }

  Expression trip_expression(std::uint32_t index, const flow::TripCount& trip, const Facts& facts) {
    const auto& loop = flow_.cfg.loops[index];
    const auto at = instruction_of_loop(loop);
    auto why = trip.why_not;
    if (trip.count) {
      auto count = facts.simplify(*trip.count);
      if (!last_turn_.empty()) count = facts.simplify(with_last_turns(count));
      if ((flow_.evaluator.dependence(count) & (flow::on_thread | flow::on_block | flow::on_data)) == 0)
        if (auto expression = expression_of(count, at)) {
          if (trip.busiest_thread)
            assume(at, fmt::format("the number of turns differs between threads: `{}` is that of the busiest", to_string(*expression)));
          written_counts_.insert(index);
          if (expression->is_integer() && expression->integer_value() < 1) return Expression(1);
          return *expression;
        }
      why = fmt::format("its count `{}` is not a form of the kernel's arguments", readable(count));
    }
    return Expression::name(parameter_for(fmt::format("turns_at_{}", place_for_name(at)),
                                          fmt::format("turns of the loop at {}: {}", place(at), why)));
  }

  // --- parameters ----------------------------------------------------------------------------------------------------

  std::string parameter_for(const std::string& wanted, std::string description) {
    const auto [known, fresh] = extra_names_.emplace(description, "");
    if (!fresh) return known->second;
    // turns_at_line_7, turns_at_line_7_2, …
    std::string name = wanted;
    for (auto& n = times_wanted_[wanted]; !taken_names_.insert(name).second;) name = fmt::format("{}_{}", wanted, ++n + 1);
    known->second = name;
    extra_parameters_.push_back({name, std::move(description)});
    return name;
  }

  void declare_parameters() {
    auto& parameters = out_.program.parameters;
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
      if (!is_integer_argument(i)) continue;
      parameters.push_back({argument_name(i, 0), argument_description(i)});
    }
    KernelProgram used;
    used.program = out_.program.program;
    const auto declared = [&](const std::string& name) {
      return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    };
    for (auto& extra : extra_parameters_) parameters.push_back(std::move(extra));
    for (const auto& name : parameter_names(used)) {
      if (declared(name)) continue;
      parameters.push_back({name, name.find('.') != std::string::npos ? "launch dimension" : "a part of a kernel argument"});
    }
  }

  bool is_integer_argument(std::uint32_t i) const {
    if (options_.signature != nullptr && i < options_.signature->arguments.size()) {
      const auto& type = options_.signature->arguments[i].type;
      static const std::set<std::string, std::less<>> other{"float", "double", "__half", "half"};
      if (type.find_first_of("*&[<") != std::string::npos || other.contains(type)) return false;
    }
    const auto& parameter = function_.parameters[i];
    if (parameter.is_array || parameter.type.empty() || parameter.type[0] == 'f') return false;
    // PTX alone does not tell a pointer from a 64-bit number.
    return options_.signature != nullptr || (parameter.type != "u64" && parameter.type != "b64");
  }

  std::string argument_description(std::uint32_t i) const {
    if (options_.signature != nullptr && i < options_.signature->arguments.size())
      return fmt::format("argument {} ({} {})", i, options_.signature->arguments[i].type, options_.signature->arguments[i].name);
    return fmt::format("argument {} (.{} {})", i, function_.parameters[i].type, function_.parameters[i].name);
  }

  const ptx::Function& function_;
  flow::KernelFlow& flow_;
  flow::Values& values_;
  const LowerOptions& options_;
  flow::Naming naming_;   // for expressions
  flow::Naming reading_;  // for texts
  Lowered out_;
  Diagnostics errors_;
  std::optional<Diagnostic> failure_;
  std::map<std::uint32_t, std::string> counters_;  // of the loops that are open
  std::set<std::uint32_t> counters_used_;
  std::map<std::uint32_t, ValueId> last_turn_;     // loop -> its counter's last value, while its last turn is lowered
  std::vector<Parameter> extra_parameters_;
  std::map<std::string, std::string> extra_names_;  // by description
  std::set<std::string> taken_names_;
  std::map<std::string, int> times_wanted_;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> local_post_dominators_;
  std::size_t lowered_blocks_ = 0;
  std::size_t copied_items_ = 0;  // for last turns
  std::set<std::uint32_t> written_counts_;       // loops whose count is a form, not a parameter
  std::map<ValueId, std::string> value_names_;   // of those that stand for a parameter
  std::vector<flow::PathCondition> path_;        // that the block being lowered stands under
  std::set<std::uint32_t> footprints_;           // accesses that were looked at
  std::array<bool, not_modelled_texts.size()> uses_{};
  std::set<std::string> called_;  // parameters of calls that a warning names
};

}  // namespace

Result<Lowered> lower(flow::KernelFlow& flow, const LowerOptions& options) { return Lowering(flow, options).lower(); }

}  // namespace warptime::periods
