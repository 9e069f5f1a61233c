#include "simulator/program/kernel_program.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <iterator>

#include "simulator/program/launch_variable.h"
#include "simulator/program/walk.h"

namespace warptime {

void LineSet::add(int first, int last) {
  assert(first >= 1 && first <= last);
  // Lines come in order, mostly.
  Range& back = several_ ? several_->back() : only_;
  if (back.first == 0) {
    back = {first, last};
    return;
  }
  if (first >= back.first && first - 1 <= back.second) {
    back.second = std::max(back.second, last);
    return;
  }
  if (!several_) several_ = std::make_unique<std::vector<Range>>(1, only_);
  if (first - 1 > several_->back().second) {
    several_->emplace_back(first, last);
    return;
  }
  std::vector<Range> merged;
  for (const auto& range : *several_) {
    if (range.second < first - 1) {
      merged.push_back(range);
    } else if (range.first - 1 <= last) {  // overlaps or touches
      first = std::min(first, range.first);
      last = std::max(last, range.second);
    }
  }
  merged.emplace_back(first, last);
  for (const auto& range : *several_) {
    if (range.first - 1 > last) merged.push_back(range);
  }
  if (merged.size() > 1) {
    *several_ = std::move(merged);
  } else {
    only_ = merged.front();
    several_.reset();
  }
}

void LineSet::add(const LineSet& other) {
  for (const auto& [first, last] : other.ranges()) add(first, last);
}

bool operator==(const LineSet& a, const LineSet& b) {
  return std::ranges::equal(a.ranges(), b.ranges());
}

bool LineSet::contains(int line) const {
  return std::ranges::any_of(
      ranges(), [line](const auto& range) { return range.first <= line && line <= range.second; });
}

std::string to_string(const LineSet& lines) {
  std::string text;
  for (const auto& [first, last] : lines.ranges()) {
    if (!text.empty()) text += ",";
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), first);
    if (first != last) fmt::format_to(std::back_inserter(text), FMT_COMPILE("-{}"), last);
  }
  return text;
}

namespace {

// Takes a line number off the front of `text`; 0: there is none.
int take_line(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  int line = 0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), line);
  if (status != std::errc() || line < 1) return 0;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return line;
}

}  // namespace

Result<LineSet> parse_line_set(std::string_view text) {
  const auto wrong = [text] {
    return error(fmt::format("`{}` is not a list of lines", text), "write lines like 5-7,12");
  };
  LineSet lines;
  std::string_view rest = text;
  while (true) {
    const int first = take_line(rest);
    int last = first;
    if (first > 0 && !rest.empty() && rest.front() == '-') {
      rest.remove_prefix(1);
      last = take_line(rest);
    }
    if (first == 0 || last < first) return wrong();
    lines.add(first, last);
    if (rest.empty()) return lines;
    if (rest.front() != ',') return wrong();
    rest.remove_prefix(1);
  }
}

namespace {

constexpr std::array<std::string_view, kAccesses> kAccessNames = {"uniform", "coalesced", "strided",
                                                                  "scattered"};

}  // namespace

std::string_view to_string(Access access) {
  return kAccessNames[static_cast<std::size_t>(access)];
}

std::span<const std::string_view> access_names() {
  return kAccessNames;
}

std::optional<Access> find_access(std::string_view name) {
  const auto found = std::find(kAccessNames.begin(), kAccessNames.end(), name);
  if (found == kAccessNames.end()) return std::nullopt;
  return static_cast<Access>(found - kAccessNames.begin());
}

bool is_atomic(const MemoryAccess& access) {
  return access.note.starts_with("atomic") || access.note.starts_with("reduction");
}

bool is_of_all_blocks(const MemoryAccess& access) {
  if (!access.address) return false;
  const std::vector<std::string> names = access.address->names();
  return std::none_of(names.begin(), names.end(), [](const std::string& name) {
    const auto variable = launch_variable(name);
    return variable && variable->kind == LaunchVariable::Kind::block_idx;
  });
}

bool is_asynchronous_copy(const MemoryAccess& access) {
  return access.kind == MemoryAccess::Kind::store && access.note.starts_with("asynchronous copy");
}

bool operator==(const Repeat& a, const Repeat& b) {
  return a.count == b.count && a.counter == b.counter && a.per_thread == b.per_thread &&
         a.unrolled == b.unrolled && a.spread == b.spread && a.body == b.body;
}

bool operator==(const When& a, const When& b) {
  return a.condition == b.condition && a.then_threads == b.then_threads && a.then_items == b.then_items &&
         a.else_items == b.else_items;
}

bool operator==(const Item& a, const Item& b) {
  const bool same_machine = a.machine == b.machine || (a.machine && b.machine && *a.machine == *b.machine);
  const bool same_detail = a.detail == b.detail || (a.detail && b.detail && *a.detail == *b.detail);
  return a.what == b.what && a.lines == b.lines && a.ptx == b.ptx && a.threads == b.threads &&
         a.predicated == b.predicated && a.shares == b.shares && same_machine && same_detail;
}

bool operator==(const KernelProgram& a, const KernelProgram& b) {
  return a.provenance == b.provenance && a.description == b.description && a.parameters == b.parameters &&
         a.arrays == b.arrays && a.assumptions == b.assumptions && a.not_modelled == b.not_modelled &&
         a.instructions_modelled == b.instructions_modelled && a.instructions_total == b.instructions_total &&
         a.resources == b.resources && a.estimated_registers == b.estimated_registers &&
         a.block_shape == b.block_shape && a.program == b.program;
}

namespace {

// Collects the names that items use; a counter hides a parameter of its name inside its body.
class NameCollector : public ItemWalker<NameCollector> {
 public:
  explicit NameCollector(std::vector<std::string>& names) : names_(names) {}

  void on(const Item&, const Calculation& calculation) { collect(calculation.cycles); }
  void on(const Item&, const Instructions& instructions) { collect(instructions.count); }
  void on(const Item&, const MemoryAccess& access) {
    if (access.cycles) collect(*access.cycles);
  }
  void on(const Item&, const Repeat& repeat) {
    collect(repeat.count);
    if (!repeat.counter.empty()) counters_.push_back(repeat.counter);
    walk(repeat.body);
    if (!repeat.counter.empty()) counters_.pop_back();
  }
  void on(const Item& item, const When& when) {
    collect(when.condition);
    ItemWalker::on(item, when);
  }

 private:
  void collect(const Expression& expression) {
    for (std::string& name : expression.names()) {
      const bool counter = std::find(counters_.begin(), counters_.end(), name) != counters_.end();
      const bool known = std::find(names_.begin(), names_.end(), name) != names_.end();
      if (!counter && !known) names_.push_back(std::move(name));
    }
  }

  std::vector<std::string>& names_;
  std::vector<std::string> counters_;
};

}  // namespace

std::vector<std::string> parameter_names(const KernelProgram& program) {
  std::vector<std::string> names;
  for (const Parameter& parameter : program.parameters) names.push_back(parameter.name);
  NameCollector(names).walk(program.program);
  return names;
}

std::vector<std::string> used_names(const KernelProgram& program) {
  std::vector<std::string> names;
  NameCollector(names).walk(program.program);
  return names;
}

}  // namespace warptime
