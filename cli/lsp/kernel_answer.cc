#include "cli/lsp/kernel_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/views/table.h"
#include "models/costs.h"
#include "simulator/model/units.h"
#include "simulator/program/place.h"
#include "simulator/program/walk.h"

namespace warptime::cli {
namespace {

using lsp::Answer;

constexpr double kWorthWarning = 0.1;  // of the time: less is information
constexpr double kShownOfLine = 0.005;

std::string counted(double number, std::string_view what) {
  return fmt::format("{} {}{}", sensible(number), what, number == 1 ? "" : "s");
}

// What stands directly in the kernel, or in one iteration of a loop.
struct StraightCost {
  std::int64_t instructions = 0, loads = 0, stores = 0;
  std::vector<std::string> more;  // counts that are expressions
  void add(const Item& item) {
    if (const auto* run = std::get_if<Instructions>(&item.what)) {
      if (run->count.is_integer())
        instructions += run->count.integer_value();
      else
        more.push_back(to_string(run->count));
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      ++(access->kind == MemoryAccess::Kind::load ? loads : stores);
    }
  }
  std::string text() const {
    std::string words = counted(static_cast<double>(instructions), "instruction");
    for (const std::string& count : more) words += " + " + count;
    if (loads > 0) words += ", " + counted(static_cast<double>(loads), "load");
    if (stores > 0) words += ", " + counted(static_cast<double>(stores), "store");
    return words;
  }
};

// One piece of a loop: an unrolled one has several.
struct LoopPiece {
  std::string count;
  StraightCost cost;
};

struct LoopsOfLine {
  std::vector<LoopPiece> pieces;
  std::set<std::string> places;  // of all that is inside
};

void add_places(const Item& item, std::set<std::string>& places) {
  if (!is_nested(item)) places.insert(place_of(item));
  for_each_inner(item, [&](const Items& inner) {
    for (const Item& one : inner) add_places(one, places);
  });
}

int first_line(const LineSet& lines) {
  return lines.empty() ? 0 : lines.ranges().front().first;
}

// The first line of a loop: its own, or that of what is inside.
int line_of_loop(const Item& item) {
  if (const int line = first_line(item.lines); line > 0) return line;
  int first = 0;
  for_each_inner(item, [&](const Items& inner) {
    for (const Item& one : inner)
      if (const int line = line_of_loop(one); line > 0 && (first == 0 || line < first)) first = line;
  });
  return first;
}

class LoopFinder {
 public:
  std::map<int, LoopsOfLine> loops;  // by line
  StraightCost outside;

  void look_at(const Items& items) { look_at(items, outside); }

 private:
  void look_at(const Items& items, StraightCost& into) {
    for (const Item& item : items) {
      into.add(item);
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        LoopPiece piece{to_string(repeat->count), {}};
        look_at(repeat->body, piece.cost);
        LoopsOfLine& of_line = loops[line_of_loop(item)];
        add_places(item, of_line.places);
        of_line.pieces.push_back(std::move(piece));
      } else if (const auto* when = std::get_if<When>(&item.what)) {
        look_at(when->then_items, into);
        look_at(when->else_items, into);
      }
    }
  }
};

double time_of_lines(const Explanation& explanation) {
  double us = 0;
  for (const LineShare& line : explanation.lines) us += line.total_us();
  return us;
}

std::string title_of(const LoopsOfLine& loops) {
  std::vector<std::string> texts;
  for (const LoopPiece& piece : loops.pieces) {
    const bool one = piece.count == "1";
    std::string text = fmt::format("{}, {} iteration{}", piece.cost.text(), piece.count, one ? "" : "s");
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  constexpr std::size_t kMostPieces = 3;
  const bool more = texts.size() > kMostPieces;
  if (more) texts.resize(kMostPieces);
  return fmt::format("{}{}", fmt::join(texts, " + "), more ? " + …" : "");
}

std::string sizes_of(const KernelFindings& kernel) {
  const auto sizes = models::sizes_text(kernel.explanation->row.parameters);
  return sizes.empty() ? kernel.launch : fmt::format("{}; {}", sizes, kernel.launch);
}

std::string title_of_kernel(const KernelFindings& kernel, const StraightCost& outside) {
  const std::string& name = kernel.program->provenance.kernel;
  if (kernel.explanation == nullptr)
    return fmt::format("{}: {}{}{}", name, outside.text(), kernel.why_no_time.empty() ? "" : "; ",
                       kernel.why_no_time);
  const Explanation& of = *kernel.explanation;
  std::string text = fmt::format("{}: {} on {} ({})", name, sensible_time(of.row.time.total_us), of.row.gpu,
                                 sizes_of(kernel));
  if (!of.limits.empty() && of.row.time.total_us > 0)
    text += fmt::format("; {:.0f}% {}", 100 * of.limits.front().us / of.row.time.total_us,
                        of.limits.front().title);
  return text;
}

std::string_view what_is_wrong(Claim::Kind kind) {
  switch (kind) {
    case Claim::Kind::coalesced:
      return "uncoalesced access";
    case Claim::Kind::no_conflicts:
      return "bank conflicts";
    case Claim::Kind::no_divergence:
      return "divergent branch";
    case Claim::Kind::no_local_memory:
      return "local memory";
    case Claim::Kind::fewer_registers:
    case Claim::Kind::less_shared:
      return "low occupancy";
    case Claim::Kind::best_launch:
      return "launch";
    case Claim::Kind::single_precision:
      return "double precision";
    default:
      return {};
  }
}

std::string code_of(Claim::Kind kind) {
  std::string code(to_string(kind));
  std::replace(code.begin(), code.end(), ' ', '-');
  return code;
}

std::string without_kernel(const std::string& text, const std::string& kernel) {
  const std::string prefix = kernel + ": ";
  return !kernel.empty() && text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Of a low occupancy, how low it is and what limits it; else empty.
std::string reason_of(const Claim& claim, const Explanation& explanation) {
  if (claim.kind != Claim::Kind::fewer_registers && claim.kind != Claim::Kind::less_shared) return {};
  for (const Claim& other : explanation.claims)
    if (other.kind == Claim::Kind::occupancy && other.text.starts_with(claim.kernel + ": ")) {
      const std::string text = without_kernel(other.text, claim.kernel);
      return text.substr(0, text.find(';')) + "; ";
    }
  return {};
}

// A claim that says what a change would gain, at its place.
std::optional<Answer::Finding> finding_of(const Claim& claim, const KernelFindings& kernel) {
  const std::string_view wrong = what_is_wrong(claim.kind);
  const double total = kernel.explanation->row.time.total_us;
  if (wrong.empty() || !claim.time_us || !(total > 0)) return std::nullopt;
  const double gain = 1 - *claim.time_us / total;
  if (gain < 0.01) return std::nullopt;
  const std::string text = reason_of(claim, *kernel.explanation) + without_kernel(claim.text, claim.kernel);
  const int line = first_line(claim.lines);
  return Answer::Finding{line > 0 ? line : kernel.line, 0,
                         gain >= kWorthWarning ? Answer::Severity::warning : Answer::Severity::information,
                         code_of(claim.kind),
                         fmt::format("{}: {} (of {} on {}: {})", wrong, text, sensible_time(total),
                                     kernel.explanation->row.gpu, sizes_of(kernel))};
}

std::string text_of(const Item& item) {
  std::string text;
  if (const auto* run = std::get_if<Instructions>(&item.what)) {
    text = fmt::format("{} instructions of calculation", to_string(run->count));
  } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
    text = access->kind == MemoryAccess::Kind::load ? "load" : "store";
    if (access->access) text += fmt::format(": {}", to_string(*access->access));
    if (!access->array.empty()) text += fmt::format(", of `{}`", access->array);
    if (access->bytes) text += ", " + counted(static_cast<double>(*access->bytes), "byte") + " a thread";
    if (access->sectors) text += ", " + counted(static_cast<double>(*access->sectors), "sector") + " a warp";
    if (access->address) text += fmt::format(", at `{}`", to_string(*access->address));
    if (!access->note.empty()) text += ", " + access->note;
  }
  if (!text.empty() && item.threads) text += fmt::format(", where `{}`", to_string(*item.threads));
  return text;
}

std::string text_of(const LineShare& share, double total) {
  std::string text = fmt::format("**{}**: {}, {:.1f}%", share.where, sensible_time(share.total_us()),
                                 total > 0 ? 100 * share.total_us() / total : 0);
  for (const Limit& limit : share.limits)
    if (limit.us > kShownOfLine * total && &limit - share.limits.data() < 3)
      text += fmt::format("\n- {}: {}", limit.title, sensible_time(limit.us));
  if (share.traffic && share.traffic->requests > 0) {
    const LineTraffic& of = *share.traffic;
    text += fmt::format("\n- L1: {:.0f} requests, {:.3g} sectors each ({:.3g} without gaps)", of.requests,
                        of.sectors / of.requests, of.least_sectors / of.requests);
    if (of.load_sectors > 0)
      text += fmt::format(", {:.0f}% of loads hit", 100 * of.load_hits / of.load_sectors);
    text += fmt::format("\n- L2: {:.0f} bytes; memory: {:.0f} bytes", of.l2_bytes, of.memory_bytes);
  }
  if (share.traffic && share.traffic->shared_least_ways > 0)
    text += fmt::format("\n- shared memory: {:.3g} ways",
                        share.traffic->shared_ways / share.traffic->shared_least_ways);
  return text;
}

// By line: its items, each text once with how often it occurs.
std::map<int, std::vector<std::pair<std::string, int>>> items_by_line(const KernelProgram& program) {
  std::map<int, std::vector<std::pair<std::string, int>>> by_line;
  for_each_item(program.program, [&](const Item& item) {
    const std::string text = is_nested(item) ? std::string() : text_of(item);
    if (text.empty()) return;
    constexpr int kMostLines = 200;
    for (const auto& [first, last] : item.lines.ranges())
      for (int line = first; line <= std::min(last, first + kMostLines); ++line) {
        auto& texts = by_line[line];
        const auto same =
            std::find_if(texts.begin(), texts.end(), [&](const auto& one) { return one.first == text; });
        if (same == texts.end())
          texts.emplace_back(text, 1);
        else
          ++same->second;
      }
  });
  return by_line;
}

void add_hovers(const KernelFindings& kernel, Answer& answer) {
  const std::string& name = kernel.program->provenance.kernel;
  const double total = kernel.explanation != nullptr ? time_of_lines(*kernel.explanation) : 0;
  for (const auto& [line, texts] : items_by_line(*kernel.program)) {
    std::string text = fmt::format("`{}`", name);
    for (const auto& [item, times] : texts)
      text += times == 1 ? fmt::format("\n- {}", item) : fmt::format("\n- {} ({} times)", item, times);
    if (kernel.explanation != nullptr) {
      text += fmt::format("\n\non {} ({})", kernel.explanation->row.gpu, sizes_of(kernel));
      for (const LineShare& share : kernel.explanation->lines)
        if (share.lines.contains(line)) text += "\n\n" + text_of(share, total);
    }
    answer.hovers.push_back({line, std::move(text)});
  }
}

bool uses(const KernelProgram& program, std::string_view name) {
  bool found = false;
  const auto look_at = [&](const std::optional<Expression>& expression) {
    if (!expression || found) return;
    const auto names = expression->names();
    found = std::find(names.begin(), names.end(), name) != names.end();
  };
  for_each_item(program.program, [&](const Item& item) {
    look_at(item.threads);
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) look_at(access->address);
  });
  return found;
}

bool is_of_two_dimensions(const KernelProgram& program) {
  return uses(program, "threadIdx.y") || uses(program, "blockIdx.y");
}

}  // namespace

lsp::Answer answer_of(const KernelFindings& kernel) {
  Answer answer;
  LoopFinder finder;
  finder.look_at(kernel.program->program);
  const std::string& name = kernel.program->provenance.kernel;
  answer.lenses.push_back({kernel.line, title_of_kernel(kernel, finder.outside)});
  const double total = kernel.explanation != nullptr ? time_of_lines(*kernel.explanation) : 0;
  for (const auto& [line, loops] : finder.loops) {
    if (line < 1) continue;
    std::string title = title_of(loops);
    if (total > 0) {
      double us = 0;
      for (const LineShare& share : kernel.explanation->lines)
        if (loops.places.count(share.where) > 0) us += share.total_us();
      title += fmt::format("; {:.0f}% of {} on {}", 100 * us / total, name, kernel.explanation->row.gpu);
    }
    answer.lenses.push_back({line, std::move(title)});
  }
  if (kernel.explanation != nullptr)
    for (const Claim& claim : kernel.explanation->claims)
      if (auto finding = finding_of(claim, kernel)) answer.findings.push_back(std::move(*finding));
  add_hovers(kernel, answer);
  return answer;
}

AssumedLaunch assumed_launch(const KernelProgram& program) {
  if (is_of_two_dimensions(program)) return {{32, 128}, {32, 8}};
  std::int64_t threads = 256;
  if (program.resources && program.resources->required_threads)
    threads = *program.resources->required_threads;
  else if (program.resources && program.resources->max_threads)
    threads = std::min<std::int64_t>(threads, *program.resources->max_threads);
  return {{4096}, {std::max<std::int64_t>(threads, 1)}};
}

std::int64_t assumed_value(const KernelProgram& program, const std::string& name) {
  constexpr std::int64_t kThreads = 1 << 20, kSide = 1024, kIterations = 32;
  bool guards = false;
  for_each_item(program.program, [&](const Item& item) {
    if (!item.threads) return;
    const auto names = item.threads->names();
    const auto has = [&](std::string_view one) {
      return std::find(names.begin(), names.end(), one) != names.end();
    };
    guards = guards || (has(name) && (has("blockIdx.x") || has("blockIdx.y")));
  });
  if (guards) return is_of_two_dimensions(program) ? kSide : kThreads;
  for (const Parameter& one : program.parameters)
    if (one.name == name && one.description.starts_with("argument")) return models::default_size;
  return kIterations;
}

}  // namespace warptime::cli
