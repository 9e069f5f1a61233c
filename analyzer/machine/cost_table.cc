#include "analyzer/machine/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <mutex>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/list_schedule.h"
#include "analyzer/machine/lowering.h"
#include "simulator/base/csv.h"
#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile machine_tables[];  // generated: see CMakeLists.txt
extern const std::size_t machine_tables_count;
}  // namespace warptime

namespace warptime::machine {
namespace {

constexpr std::size_t kPipesBegin = 4;  // after operation, use, operands and samples

std::string key_of(std::string_view operation, std::string_view use, std::string_view operands) {
  std::string key(operation);
  key += ',';
  key += use;
  key += ',';
  key += operands;
  return key;
}

// What stands before the next `end`, which goes as well.
std::string_view cut(std::string_view& text, char end) {
  const auto at = std::min(text.find(end), text.size());
  const auto first = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return first;
}

// Gives how many there are. No field of a table is quoted: that takes a tenth of what any CSV file takes.
template <std::size_t N>
std::size_t split(std::string_view record, std::array<std::string_view, N>& fields) {
  const auto count = static_cast<std::size_t>(std::count(record.begin(), record.end(), ',')) + 1;
  if (count == N)
    for (auto& field : fields) field = cut(record, ',');
  return count;
}

}  // namespace

Result<CostTable> CostTable::read(std::string_view csv, const std::string& file) {
  CostTable table;
  std::array<std::string_view, kPipesBegin + kPipes> fields;
  int line = 0;
  for (auto left = csv; !left.empty();) {
    ++line;
    const auto record = cut(left, '\n');
    if (record.empty() || record.starts_with('#')) continue;
    if (const auto count = split(record, fields); count != fields.size())
      return error_at(file, line, 0, fmt::format("{} fields, where {} are needed", count, fields.size()));
    MachineWork& slots = table.lines_[key_of(fields[0], fields[1], fields[2])];
    for (std::size_t i = 0; i < kPipes; ++i)
      if (!read_decimal(fields[kPipesBegin + i], slots.by_pipe[i]))
        return error_at(file, line, 0, fmt::format("`{}` is no number", fields[kPipesBegin + i]));
  }
  if (table.lines_.find("*,*,*") == table.lines_.end())
    return error_at(file, 0, 0, "there is no line `*,*,*`");
  return table;
}

std::string_view suffix_of(LoopKind loop) {
  constexpr std::array<std::string_view, 4> suffixes = {"", "@outer", "@rolled", "@unrolled"};
  return suffixes[static_cast<std::size_t>(loop)];
}

const MachineWork& CostTable::find(const Context& context) const {
  return find(context, suffix_of(context.loop));
}

const MachineWork& CostTable::find(const Context& context, std::string_view where) const {
  const std::string use = context.use + std::string(where), any = "*" + std::string(where);
  auto found = lines_.find(key_of(context.operation, use, context.operands));
  if (found == lines_.end()) found = lines_.find(key_of(context.operation, any, context.operands));
  if (found == lines_.end()) found = lines_.find(key_of(context.operation, any, "*"));
  if (found == lines_.end()) found = lines_.find(key_of("*", any, "*"));
  if (found == lines_.end()) found = lines_.find("*,*,*");
  return found->second;
}

const MachineWork* CostTable::find_alone(std::string_view opcode) const {
  const auto found = lines_.find(key_of(opcode, "alone", "*"));
  return found == lines_.end() ? nullptr : &found->second;
}

std::vector<std::string> table_targets() {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < machine_tables_count; ++i)
    targets.emplace_back(machine_tables[i].name.substr(0, machine_tables[i].name.find('.')));
  std::sort(targets.begin(), targets.end(), [](const std::string& a, const std::string& b) {
    return compiling::target_number(a) < compiling::target_number(b);
  });
  return targets;
}

const CostTable& table_of(std::string_view target, std::string& used) {
  static const auto targets = table_targets();
  used = targets.front();
  for (const std::string& one : targets)
    if (compiling::target_number(one) <= compiling::target_number(target)) used = one;
  // Each is read when it is needed first: that takes longer than the estimate of a small kernel.
  static std::mutex reading;
  static std::map<std::string, CostTable, std::less<>> tables;
  const std::lock_guard lock(reading);
  auto found = tables.find(used);
  if (found != tables.end()) return found->second;
  const auto file = std::find_if(machine_tables, machine_tables + machine_tables_count, [&](const auto& one) {
    return one.name.substr(0, one.name.find('.')) == used;
  });
  auto table = CostTable::read(file->text, std::string(file->name));
  assert(table);
  table->target = compiling::target_number(used);
  return tables.emplace(used, std::move(*table)).first->second;
}

namespace {

// What is predicated is executed wherever its branch is. That is in no predicated block: those have one successor.
void move_predicated(const analysis::Cfg& cfg, Estimate& made) {
  for (const Predicated& one : made.predicated)
    for (std::uint32_t i = cfg.blocks[one.block].first; i < cfg.blocks[one.block].end; ++i) {
      made.each[one.branch].add(made.each[i]);
      made.each[i] = {};
    }
}

}  // namespace

Estimate estimate(const analysis::KernelCode& code, const analysis::Cfg& cfg, const CostTable& table) {
  Estimate made = lower(code, cfg, Contexts(code, cfg), slow_paths(code, cfg), table, table.target);
  schedule_blocks(code, cfg, table.target, made);
  move_predicated(cfg, made);
  return made;
}

Estimate counted(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                 int target) {
  KernelWork work = work_of(code, cfg, kernel, target);
  return {std::move(work.each), std::move(work.loops), work.once, std::move(work.spills), {}, {}, {}};
}

}  // namespace warptime::machine
