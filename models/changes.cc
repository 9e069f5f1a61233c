#include "models/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "models/regions.h"

namespace warptime::models {
namespace {

// Of two sequences which elements go together: in order, with the largest sum of likenesses. A likeness of 0
// never goes together. -1: the element is alone.
using Pairs = std::vector<std::pair<int, int>>;

constexpr std::size_t most_compared = 1'000'000;  // pairs; longer sequences go together by position

template <class T, class Likeness>
Pairs align(const std::vector<T>& before, const std::vector<T>& after, Likeness likeness) {
  const std::size_t rows = before.size(), columns = after.size();
  Pairs pairs;
  if (rows * columns > most_compared || rows > most_compared || columns > most_compared) {
    for (std::size_t i = 0; i < std::max(rows, columns); ++i) {
      const bool both = i < rows && i < columns && likeness(before[i], after[i]) > 0;
      if (both) pairs.emplace_back(i, i);
      if (!both && i < rows) pairs.emplace_back(i, -1);
      if (!both && i < columns) pairs.emplace_back(-1, i);
    }
    return pairs;
  }
  // best[i][j]: of the elements from i and from j on.
  std::vector<std::int32_t> best((rows + 1) * (columns + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::int32_t& { return best[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;) {
      const int alike = likeness(before[i], after[j]);
      at(i, j) = std::max({at(i + 1, j), at(i, j + 1), alike > 0 ? alike + at(i + 1, j + 1) : 0});
    }
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    const int alike = i < rows && j < columns ? likeness(before[i], after[j]) : 0;
    if (alike > 0 && at(i, j) == alike + at(i + 1, j + 1)) {
      pairs.emplace_back(i++, j++);
    } else if (i < rows && (j == columns || at(i, j) == at(i + 1, j))) {
      pairs.emplace_back(i++, -1);
    } else {
      pairs.emplace_back(-1, j++);
    }
  }
  return pairs;
}

std::string plural(std::int64_t count, const std::string& one, const std::string& several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string kind_name(const MemoryAccess& access, bool several = false) {
  if (access.kind == MemoryAccess::Kind::load) return several ? "loads" : "load";
  return several ? "stores" : "store";
}

// "coalesced load"; an access without a pattern is told by its duration.
std::string described(const MemoryAccess& access, bool several = false) {
  const std::string kind = kind_name(access, several);
  if (access.access) return fmt::format("{} {}", to_string(*access.access), kind);
  return fmt::format("{} of {} cycles", kind, access.cycles ? to_string(*access.cycles) : "open");
}

std::string at_line(int line) {
  return line > 0 ? fmt::format(" of line {}", line) : "";
}

std::string stride_of(const MemoryAccess& access) {
  return access.stride.empty() ? "" : fmt::format(" by {} bytes", access.stride);
}

// What happened to one access, without its kind and place: "made strided by 4 * N bytes".
std::vector<std::string> access_changes(const MemoryAccess& before, const MemoryAccess& after) {
  std::vector<std::string> changes;
  if (before.access != after.access) {
    changes.push_back(after.access ? fmt::format("made {}{}", to_string(*after.access), stride_of(after))
                                   : "no access pattern");
  } else if (before.stride != after.stride) {
    const auto named = [](const std::string& stride) { return stride.empty() ? "none" : stride; };
    changes.push_back(fmt::format("stride {} → {} bytes", named(before.stride), named(after.stride)));
  }
  const auto number = [&](const char* what, const auto& from, const auto& to, const auto& text) {
    if (from != to)
      changes.push_back(
          fmt::format("{} → {} {}", from ? text(*from) : "unknown", to ? text(*to) : "unknown", what));
  };
  const auto digits = [](std::int64_t value) { return fmt::format("{}", value); };
  number("bytes a thread", before.bytes, after.bytes, digits);
  if (before.access == after.access) number("sectors", before.sectors, after.sectors, digits);
  number("cycles", before.cycles, after.cycles, [](const Expression& cycles) { return to_string(cycles); });
  if (before.note != after.note)
    changes.push_back(fmt::format("now: {}", after.note.empty() ? "no note" : after.note));
  // With the pattern, sectors and bytes of the launch change as a rule; where they alone tell the two apart,
  // they are told.
  if (changes.empty()) number("sectors", before.sectors, after.sectors, digits);
  if (changes.empty())
    number("bytes of the whole launch", before.footprint, after.footprint,
           [](const Expression& bytes) { return to_string(bytes); });
  return changes;
}

int access_likeness(const PlacedAccess& before, const PlacedAccess& after) {
  if (before.access.kind != after.access.kind) return 0;
  if (before.access == after.access) return 16;
  return 4 + 4 * static_cast<int>(before.access.access == after.access.access) +
         2 * static_cast<int>(before.access.stride == after.access.stride) +
         static_cast<int>(before.access.bytes == after.access.bytes) +
         static_cast<int>(before.access.sectors == after.access.sectors);
}

// The same said of several accesses is said once, with their number.
class Counted {
 public:
  void add(const std::string& one, const std::string& several) {
    const auto found =
        std::find_if(said_.begin(), said_.end(), [&](const auto& said) { return said.one == one; });
    if (found != said_.end())
      ++found->count;
    else
      said_.push_back({one, several, 1});
  }
  void tell(const char* sign, bool count_of_one, std::vector<std::string>& into) const {
    for (const auto& said : said_)
      into.push_back(said.count == 1 && !count_of_one ? said.one
                                                      : sign + plural(said.count, said.one, said.several));
  }

 private:
  struct Said {
    std::string one, several;
    std::int64_t count = 0;
  };
  std::vector<Said> said_;
};

void compare_accesses(const Straight& before, const Straight& after, std::vector<std::string>& what) {
  Counted fewer, more, changed;
  for (const auto& [i, j] : align(before.accesses, after.accesses, access_likeness)) {
    if (j < 0) {
      const auto& gone = before.accesses[static_cast<std::size_t>(i)].access;
      fewer.add(described(gone), described(gone, true));
    } else if (i < 0) {
      const auto& come = after.accesses[static_cast<std::size_t>(j)].access;
      more.add(described(come), described(come, true));
    } else {
      const auto& from = before.accesses[static_cast<std::size_t>(i)].access;
      const auto& to = after.accesses[static_cast<std::size_t>(j)];
      const auto changes = access_changes(from, to.access);
      if (changes.empty()) continue;
      const auto tail = fmt::format("{} {}", at_line(to.line), fmt::join(changes, ", "));
      changed.add(described(from) + tail, described(from, true) + tail);
    }
  }
  more.tell("+", true, what);
  fewer.tell("-", true, what);
  changed.tell("", false, what);
}

void compare_straight(const Straight& before, const Straight& after, std::vector<std::string>& what) {
  if (before.instructions != after.instructions)
    what.push_back(fmt::format("{} → {} instructions", before.instructions, after.instructions));
  if (before.other_counts != after.other_counts) {
    const auto listed = [](const std::vector<std::string>& counts) {
      return counts.empty() ? std::string("none") : fmt::format("{}", fmt::join(counts, ", "));
    };
    what.push_back(fmt::format("{} → {}", listed(before.other_counts), listed(after.other_counts)));
  }
  compare_accesses(before, after, what);
}

// "9 instructions, 2 coalesced loads"
std::string summary(const Straight& straight) {
  std::vector<std::string> parts;
  if (straight.instructions > 0)
    parts.push_back(plural(straight.instructions, "instruction", "instructions"));
  parts.insert(parts.end(), straight.other_counts.begin(), straight.other_counts.end());
  Counted accesses;
  for (const auto& one : straight.accesses) accesses.add(described(one.access), described(one.access, true));
  accesses.tell("", true, parts);
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string summary(const LoopRegion& loop) {
  std::string text = summary(loop.straight);
  if (!loop.branches.empty())
    text += ", " + plural(static_cast<std::int64_t>(loop.branches.size()), "branch", "branches");
  if (!loop.loops.empty())
    text += ", " + plural(static_cast<std::int64_t>(loop.loops.size()), "inner loop", "inner loops");
  return text;
}

int loop_likeness(const LoopRegion& before, const LoopRegion& after) {
  return 1 + 6 * static_cast<int>(before.count == after.count) +
         2 * static_cast<int>(before.line == after.line) +
         static_cast<int>(before.straight.accesses.size() == after.straight.accesses.size()) +
         static_cast<int>(before.loops.size() == after.loops.size());
}

int branch_likeness(const BranchRegion& before, const BranchRegion& after) {
  if (before.otherwise != after.otherwise) return 0;
  return 1 + 6 * static_cast<int>(before.condition == after.condition) +
         2 * static_cast<int>(before.line == after.line) +
         static_cast<int>(before.straight.accesses.size() == after.straight.accesses.size());
}

std::string branch_name(const BranchRegion& branch) {
  return fmt::format("{}`{}`", branch.otherwise ? "where not " : "where ", branch.condition);
}

std::string place(const std::string& what, int line) {
  return line > 0 ? fmt::format("{} (line {})", what, line) : what;
}

class Comparison {
 public:
  std::vector<ProgramChange> take() { return std::move(changes_); }

  // `where`: what one iteration is called.
  void bodies(const LoopRegion& before, const LoopRegion& after, const std::string& where, bool outermost) {
    std::vector<std::string> what;
    if (before.count != after.count)
      what.push_back(fmt::format("{} → {} iterations", before.count, after.count));
    compare_straight(before.straight, after.straight, what);
    say(where, std::move(what));
    branches(before, after, outermost ? "" : " in " + where);
    loops(before, after, outermost);
  }

  void say(const std::string& where, std::vector<std::string> what) {
    if (!what.empty()) changes_.push_back({where, std::move(what)});
  }

 private:
  void branches(const LoopRegion& before, const LoopRegion& after, const std::string& inside) {
    for (const auto& [i, j] : align(before.branches, after.branches, branch_likeness)) {
      if (j < 0) {
        const auto& gone = before.branches[static_cast<std::size_t>(i)];
        say(place(branch_name(gone), gone.line) + inside, {"the branch is gone: " + summary(gone.straight)});
      } else if (i < 0) {
        const auto& come = after.branches[static_cast<std::size_t>(j)];
        say(place(branch_name(come), come.line) + inside, {"new branch: " + summary(come.straight)});
      } else {
        const auto& from = before.branches[static_cast<std::size_t>(i)];
        const auto& to = after.branches[static_cast<std::size_t>(j)];
        std::vector<std::string> what;
        if (from.condition != to.condition)
          what.push_back(fmt::format("the condition was `{}`", from.condition));
        compare_straight(from.straight, to.straight, what);
        say(place(branch_name(to), to.line) + inside, std::move(what));
      }
    }
  }

  void loops(const LoopRegion& before, const LoopRegion& after, bool outermost) {
    const std::string_view inner = outermost ? "" : "inner ";
    for (const auto& [i, j] : align(before.loops, after.loops, loop_likeness)) {
      if (j < 0) {
        const auto& gone = before.loops[static_cast<std::size_t>(i)];
        say(place(fmt::format("{}loop", inner), gone.line),
            {fmt::format("is gone: {} iterations of {}", gone.count, summary(gone))});
      } else if (i < 0) {
        const auto& come = after.loops[static_cast<std::size_t>(j)];
        say(place(fmt::format("{}loop", inner), come.line),
            {fmt::format("is new: {} iterations of {}", come.count, summary(come))});
      } else {
        const auto& to = after.loops[static_cast<std::size_t>(j)];
        // Unrolling leaves two loops of one line: the rest has a count of its own.
        const bool several = std::count_if(after.loops.begin(), after.loops.end(),
                                           [&](const LoopRegion& one) { return one.line == to.line; }) > 1;
        const auto lines = to.line > 0 ? fmt::format("line {}", to.line) : "";
        const auto count = several ? fmt::format("{}{} iterations", lines.empty() ? "" : ", ", to.count) : "";
        const auto in_parentheses =
            lines.empty() && count.empty() ? "" : fmt::format(" ({}{})", lines, count);
        bodies(before.loops[static_cast<std::size_t>(i)], to,
               fmt::format("{}loop body{}", inner, in_parentheses), false);
      }
    }
  }

  std::vector<ProgramChange> changes_;
};

void compare_parameters(const KernelProgram& before, const KernelProgram& after, Comparison& comparison) {
  const auto find = [](const KernelProgram& in, const std::string& name) {
    return std::find_if(in.parameters.begin(), in.parameters.end(),
                        [&](const auto& one) { return one.name == name; });
  };
  for (const auto& one : before.parameters)
    if (find(after, one.name) == after.parameters.end())
      comparison.say("parameters", {fmt::format("`{}` is gone ({})", one.name, one.description)});
  for (const auto& one : after.parameters) {
    const auto was = find(before, one.name);
    if (was == before.parameters.end())
      comparison.say("parameters", {fmt::format("`{}` is new ({})", one.name, one.description)});
    else if (was->description != one.description)
      comparison.say("parameters",
                     {fmt::format("`{}`: {} → {}", one.name, was->description, one.description)});
  }
}

// By their texts: lines move.
void compare_assumptions(const KernelProgram& before, const KernelProgram& after, Comparison& comparison) {
  std::map<std::string, int> more;
  for (const auto& one : after.assumptions) ++more[one.text];
  for (const auto& one : before.assumptions)
    if (--more[one.text] < 0) comparison.say(place("no longer assumed", one.line), {one.text});
  for (const auto& one : after.assumptions)
    if (more[one.text]-- > 0) comparison.say(place("assumed", one.line), {one.text});
}

void compare_coverage(const KernelProgram& before, const KernelProgram& after, Comparison& comparison) {
  const auto missing = [](const KernelProgram& program) {
    return program.instructions_total.value_or(0) - program.instructions_modelled.value_or(0);
  };
  if (missing(before) != missing(after))
    comparison.say("instructions that are not modelled",
                   {fmt::format("{} → {}", missing(before), missing(after))});
}

void compare_limits(const KernelProgram& before, const KernelProgram& after, Comparison& comparison) {
  const auto has = [](const KernelProgram& program, const std::string& text) {
    return std::find(program.not_modelled.begin(), program.not_modelled.end(), text) !=
           program.not_modelled.end();
  };
  for (const auto& text : before.not_modelled)
    if (!has(after, text)) comparison.say("no longer in it", {text});
  for (const auto& text : after.not_modelled)
    if (!has(before, text)) comparison.say("now in it", {text});
}

Items without_lines(Items items) {
  for (Item& item : items) {
    item.lines = {};
    item.ptx = {};
    if (auto* repeat = std::get_if<Repeat>(&item.what)) {
      repeat->body = without_lines(std::move(repeat->body));
    } else if (auto* when = std::get_if<When>(&item.what)) {
      when->then_items = without_lines(std::move(when->then_items));
      when->else_items = without_lines(std::move(when->else_items));
    }
  }
  return items;
}

}  // namespace

std::string to_text(const ProgramChange& change) {
  return fmt::format("{}: {}", change.where, fmt::join(change.what, "; "));
}

std::vector<ProgramChange> program_changes(const KernelProgram& before, const KernelProgram& after) {
  Comparison comparison;
  comparison.bodies(regions_of(before.program), regions_of(after.program), "outside loops", true);
  auto changes = comparison.take();
  if (changes.empty() && !(without_lines(before.program) == without_lines(after.program)))
    changes.push_back({"program", {"the same instructions, loads and stores in another arrangement"}});
  Comparison rest;
  compare_parameters(before, after, rest);
  compare_assumptions(before, after, rest);
  compare_coverage(before, after, rest);
  compare_limits(before, after, rest);
  for (auto& change : rest.take()) changes.push_back(std::move(change));
  return changes;
}

std::vector<ProgramChange> provenance_changes(const Provenance& before, const Provenance& after) {
  Comparison comparison;
  const auto compare = [&](const char* what, const std::string& from, const std::string& to) {
    if (from != to)
      comparison.say(what, {fmt::format("{} → {}", from.empty() ? "none" : from, to.empty() ? "none" : to)});
  };
  compare("compiler", before.compiler, after.compiler);
  compare("target", before.target, after.target);
  compare("flags", before.flags, after.flags);
  compare("symbol", before.symbol, after.symbol);
  return comparison.take();
}

}  // namespace warptime::models
