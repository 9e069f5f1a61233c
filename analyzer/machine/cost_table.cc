#include "analyzer/machine/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/cfg/slow_paths.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/kernel_work.h"
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

int number_of(std::string_view target) {
  const auto parsed = compiling::parse_target(target);
  return parsed ? parsed->number : 0;
}

}  // namespace

Result<CostTable> CostTable::read(std::string_view csv, const std::string& file) {
  const auto records = read_csv(csv, file);
  if (!records) return records.diagnostics();
  CostTable table;
  for (const CsvRecord& record : *records) {
    if (record.fields.front().starts_with('#')) continue;
    if (record.fields.size() != kPipesBegin + kPipes)
      return error_at(
          file, record.line, 0,
          fmt::format("{} fields, where {} are needed", record.fields.size(), kPipesBegin + kPipes));
    MachineWork& slots = table.lines_[key_of(record.fields[0], record.fields[1], record.fields[2])];
    for (std::size_t i = 0; i < kPipes; ++i)
      if (!read_decimal(record.fields[kPipesBegin + i], slots.by_pipe[i]))
        return error_at(file, record.line, 0,
                        fmt::format("`{}` is no number", record.fields[kPipesBegin + i]));
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
  for (const std::string& key :
       {key_of(context.operation, use, context.operands), key_of(context.operation, any, context.operands),
        key_of(context.operation, any, "*"), key_of("*", any, "*")})
    if (const auto found = lines_.find(key); found != lines_.end()) return found->second;
  return lines_.find("*,*,*")->second;
}

std::vector<std::string> table_targets() {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < machine_tables_count; ++i)
    targets.emplace_back(machine_tables[i].name.substr(0, machine_tables[i].name.find('.')));
  std::sort(targets.begin(), targets.end(),
            [](const std::string& a, const std::string& b) { return number_of(a) < number_of(b); });
  return targets;
}

const CostTable& table_of(std::string_view target, std::string& used) {
  static const auto tables = [] {
    std::map<std::string, CostTable, std::less<>> read;
    for (std::size_t i = 0; i < machine_tables_count; ++i) {
      const EmbeddedFile& file = machine_tables[i];
      auto table = CostTable::read(file.text, std::string(file.name));
      if (!table) continue;
      const std::string_view of = file.name.substr(0, file.name.find('.'));
      table->target = number_of(of);
      read.emplace(of, std::move(*table));
    }
    return read;
  }();
  const auto targets = table_targets();
  used = targets.front();
  for (const std::string& one : targets)
    if (number_of(one) <= number_of(target)) used = one;
  return tables.find(used)->second;
}

Estimate estimate(const analysis::KernelCode& code, const analysis::Cfg& cfg, const CostTable& table) {
  return lower(code, cfg, contexts_of(code, cfg), slow_paths(code, cfg), loop_kinds(code, cfg), table,
               table.target);
}

Estimate counted(const analysis::KernelCode& code, const analysis::Cfg& cfg, const MachineKernel& kernel,
                 int target) {
  KernelWork work = work_of(code, cfg, kernel, target);
  return {std::move(work.each), std::move(work.loops), work.once};
}

}  // namespace warptime::machine
