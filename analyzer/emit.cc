// The analysis, step by step, as text and as JSON: what `analyze --emit` shows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"
#include "analyzer/pipeline.h"

namespace warptime {
namespace {

using Json = nlohmann::ordered_json;
using analysis::none;

const ptx::Function& function_of(const KernelAnalysis& kernel) {
  return kernel.code->function();
}

std::string block_name(const analysis::Cfg& cfg, std::uint32_t b) {
  return b == cfg.exit() ? "exit" : fmt::format("B{}", b);
}

std::string block_list(const analysis::Cfg& cfg, const std::vector<std::uint32_t>& blocks) {
  std::string text;
  for (const auto b : blocks) text += (text.empty() ? "" : ", ") + block_name(cfg, b);
  return text.empty() ? "-" : text;
}

// --- cfg -------------------------------------------------------------------------------------------------------------

Json cfg_json(const KernelAnalysis& kernel) {
  const auto& cfg = *kernel.cfg;
  const auto& function = function_of(kernel);
  Json blocks = Json::array();
  for (std::uint32_t b = 0; b < cfg.exit(); ++b) {
    const auto& block = cfg.blocks[b];
    Json j{{"block", block_name(cfg, b)},
           {"first_line", function.instructions[block.first].line},
           {"last_line", function.instructions[block.end - 1].line},
           {"instructions", block.end - block.first},
           {"reachable", block.reachable}};
    j["successors"] = Json::array();
    for (const auto s : block.successors) j["successors"].push_back(block_name(cfg, s));
    j["dominator"] = block.dominator == none ? Json() : Json(block_name(cfg, block.dominator));
    j["post_dominator"] = block.post_dominator == none ? Json() : Json(block_name(cfg, block.post_dominator));
    j["loop"] = block.loop == none ? Json() : Json(fmt::format("L{}", block.loop));
    blocks.push_back(std::move(j));
  }
  return {{"kernel", kernel.program.provenance.kernel}, {"blocks", std::move(blocks)}};
}

std::string cfg_text(const KernelAnalysis& kernel) {
  const auto& cfg = *kernel.cfg;
  const auto& function = function_of(kernel);
  std::string out = fmt::format("{}: {} basic blocks\n", kernel.program.provenance.kernel, cfg.exit());
  out += fmt::format("{:>6}  {:>13}  {:>12}  {:<18}  {:>9}  {:>14}  {:>4}\n", "block", "PTX lines",
                     "instructions", "successors", "dominator", "post-dominator", "loop");
  for (std::uint32_t b = 0; b < cfg.exit(); ++b) {
    const auto& block = cfg.blocks[b];
    out += fmt::format("{:>6}  {:>13}  {:>12}  {:<18}  {:>9}  {:>14}  {:>4}{}\n", block_name(cfg, b),
                       fmt::format("{}-{}", function.instructions[block.first].line,
                                   function.instructions[block.end - 1].line),
                       block.end - block.first, block_list(cfg, block.successors),
                       block.dominator == none ? "-" : block_name(cfg, block.dominator),
                       block.post_dominator == none ? "-" : block_name(cfg, block.post_dominator),
                       block.loop == none ? "-" : fmt::format("L{}", block.loop),
                       block.reachable ? "" : "  unreachable");
  }
  return out;
}

// --- loops -----------------------------------------------------------------------------------------------------------

int loop_line(const KernelAnalysis& kernel, const analysis::Loop& loop) {
  return static_cast<int>(
      function_of(kernel).instructions[kernel.cfg->blocks[loop.header].first].source_line);
}

Json loops_json(const KernelAnalysis& kernel) {
  const auto& cfg = *kernel.cfg;
  Json loops = Json::array();
  for (std::uint32_t l = 0; l < cfg.loops.size(); ++l) {
    const auto& loop = cfg.loops[l];
    Json j{{"loop", fmt::format("L{}", l)},
           {"depth", loop.depth},
           {"parent", loop.parent == none ? Json() : Json(fmt::format("L{}", loop.parent))},
           {"header", block_name(cfg, loop.header)},
           {"line", loop_line(kernel, loop)},
           {"blocks", loop.blocks.size()},
           {"exits", loop.exits.size()},
           {"turns", kernel.lowered->repeats_of_loop[l]}};
    loops.push_back(std::move(j));
  }
  return {{"kernel", kernel.program.provenance.kernel}, {"loops", std::move(loops)}};
}

std::string loops_text(const KernelAnalysis& kernel) {
  const auto& cfg = *kernel.cfg;
  if (cfg.loops.empty()) return fmt::format("{}: no loops\n", kernel.program.provenance.kernel);
  std::string out = fmt::format("{}: {} loop{}\n", kernel.program.provenance.kernel, cfg.loops.size(),
                                cfg.loops.size() == 1 ? "" : "s");
  out += fmt::format("{:>5}  {:>5}  {:>6}  {:>6}  {:>4}  {:<16}  {}\n", "loop", "depth", "parent", "header",
                     "line", "turns", "blocks");
  for (std::uint32_t l = 0; l < cfg.loops.size(); ++l) {
    const auto& loop = cfg.loops[l];
    out += fmt::format("{:>5}  {:>5}  {:>6}  {:>6}  {:>4}  {:<16}  {}\n", fmt::format("L{}", l), loop.depth,
                       loop.parent == none ? "-" : fmt::format("L{}", loop.parent),
                       block_name(cfg, loop.header), loop_line(kernel, loop),
                       kernel.lowered->repeats_of_loop[l], block_list(cfg, loop.blocks));
  }
  return out;
}

// --- periods ---------------------------------------------------------------------------------------------------------

std::string lines_of(const Item& item) {
  std::string text;
  if (!item.lines.empty()) text += "line " + to_string(item.lines);
  if (!item.ptx.empty()) text += (text.empty() ? "PTX " : ", PTX ") + to_string(item.ptx);
  return text;
}

std::string access_text(const MemoryAccess& access) {
  std::string text = access.access ? std::string(to_string(*access.access)) : "";
  if (!access.stride.empty()) text += fmt::format(" by {} bytes", access.stride);
  if (access.bytes) text += fmt::format(", {} bytes a thread", *access.bytes);
  if (access.sectors) text += fmt::format(", {} sector{}", *access.sectors, *access.sectors == 1 ? "" : "s");
  if (access.footprint) text += fmt::format(", footprint {} bytes", to_string(*access.footprint));
  if (!access.note.empty()) text += ", " + access.note;
  return text;
}

void periods_text(const Items& items, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2 + 2, ' ');
  const auto row = [&](const std::string& what, const Item& item) {
    out += fmt::format("{:<58}  {}\n", indent + what, lines_of(item));
  };
  for (const auto& item : items) {
    if (const auto* c = std::get_if<Calculation>(&item.what)) {
      row(fmt::format("calculation  {} cycles", to_string(c->cycles)), item);
    } else if (const auto* run = std::get_if<Instructions>(&item.what)) {
      row(fmt::format("calculation  {} instructions", to_string(run->count)), item);
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      row(fmt::format("{:<11}  {}", access->kind == MemoryAccess::Kind::load ? "load" : "store",
                      access_text(*access)),
          item);
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      row(fmt::format("repeat {}", to_string(repeat->count)), item);
      periods_text(repeat->body, depth + 1, out);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      row(fmt::format("when {}", to_string(when->condition)), item);
      periods_text(when->then_items, depth + 1, out);
      if (!when->else_items.empty()) {
        out += indent + "else\n";
        periods_text(when->else_items, depth + 1, out);
      }
    }
  }
}

std::string coverage(const KernelProgram& program) {
  if (!program.instructions_total) return {};
  return fmt::format("{} of {} instructions modelled\n", *program.instructions_modelled,
                     *program.instructions_total);
}

std::string periods_of(const KernelAnalysis& kernel) {
  std::string out =
      kernel.program.provenance.kernel +
      ": periods of one warp; runs of calculation that meet are one period of n - 1 + 10 cycles\n";
  periods_text(kernel.program.program, 0, out);
  out += coverage(kernel.program);
  for (const auto& text : kernel.program.not_modelled) out += fmt::format("not modelled: {}\n", text);
  for (const auto& a : kernel.program.assumptions)
    out += fmt::format("assumed, line {}: {}\n", a.line, a.text);
  return out;
}

// --- listing ---------------------------------------------------------------------------------------------------------

struct ListingRow {
  std::uint32_t ptx_line = 0, source_line = 0;
  std::string period, loop, turns, access, text;
};

std::string_view role_name(const periods::InstructionRole& role) {
  using Kind = periods::InstructionRole::Kind;
  if (!role.modelled) return "unknown";
  switch (role.kind) {
    case Kind::none:
      return "";
    case Kind::calculation:
      return "calc";
    case Kind::load:
      return "load";
    case Kind::store:
      return "store";
  }
  return "";
}

std::string_view text_of_line(std::string_view text, std::size_t offset) {
  const auto end = text.find('\n', offset);
  auto line = text.substr(offset, end == std::string_view::npos ? end : end - offset);
  if (const auto semicolon = line.find(';'); semicolon != std::string_view::npos)
    line = line.substr(0, semicolon + 1);
  return line;
}

std::vector<ListingRow> listing_rows(const Analysis& analysis, const KernelAnalysis& kernel) {
  const auto& function = function_of(kernel);
  const auto& cfg = *kernel.cfg;
  std::vector<ListingRow> rows;
  for (std::uint32_t b = 0; b < cfg.exit(); ++b)
    for (auto i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) {
      const auto& ins = function.instructions[i];
      const auto& role = kernel.lowered->roles[i];
      if (analysis.restricted && role.kind == periods::InstructionRole::Kind::none) continue;
      ListingRow row;
      row.ptx_line = ins.line;
      row.source_line = ins.source_line;
      row.period = role_name(role);
      for (auto l = cfg.blocks[b].loop; l != none; l = cfg.loops[l].parent) {
        const auto& turns = kernel.lowered->repeats_of_loop[l];
        row.turns = row.turns.empty() ? turns : fmt::format("{} × {}", turns, row.turns);
      }
      if (cfg.blocks[b].loop != none) row.loop = fmt::format("L{}", cfg.blocks[b].loop);
      if (role.access != none) row.access = access_text(kernel.lowered->accesses[role.access]);
      row.text = std::string(text_of_line(analysis.source->ptx, ins.offset));
      for (auto& c : row.text)
        if (c == '\t') c = ' ';
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string source_text(const Source& source, std::uint32_t line) {
  std::size_t at = 0;
  for (std::uint32_t n = 1; n < line; ++n) {
    at = source.text.find('\n', at);
    if (at == std::string::npos) return {};
    ++at;
  }
  return source.text.substr(at, source.text.find('\n', at) - at);
}

// What the instructions of one source line come to.
struct SourceLine {
  std::uint32_t line = 0;
  std::size_t calculation = 0, loads = 0, stores = 0, unknown = 0;
  std::vector<std::string> turns, accesses;  // each once
};

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::vector<SourceLine> by_source_line(const std::vector<ListingRow>& rows) {
  std::map<std::uint32_t, SourceLine> lines;
  for (const auto& row : rows) {
    if (row.source_line == 0 || row.period.empty()) continue;
    auto& line = lines[row.source_line];
    line.line = row.source_line;
    ++(row.period == "calc"    ? line.calculation
       : row.period == "load"  ? line.loads
       : row.period == "store" ? line.stores
                               : line.unknown);
    add_once(line.turns, row.turns.empty() ? "1" : row.turns);
    add_once(line.accesses, row.access);
  }
  std::vector<SourceLine> list;
  for (auto& [number, line] : lines) list.push_back(std::move(line));
  return list;
}

// Rows of the PTX, then what they come to for each line of the source.
std::string listing_part(const Analysis& analysis, const std::vector<ListingRow>& rows) {
  std::string out;
  std::uint32_t shown = 0;
  for (const auto& row : rows) {
    if (row.source_line != 0 && row.source_line != shown && !analysis.source->text.empty())
      out += fmt::format("{:>5} | {}\n", row.source_line, source_text(*analysis.source, row.source_line));
    if (row.source_line != 0) shown = row.source_line;
    out += fmt::format("{:>5} {:>5}  {:<7} {:<3} {:<10}  {:<52}{}\n",
                       row.source_line == 0 ? "" : std::to_string(row.source_line), row.ptx_line, row.period,
                       row.loop, row.turns, row.text, row.access.empty() ? "" : "  // " + row.access);
  }
  const auto lines = by_source_line(rows);
  if (lines.empty()) return out;
  out += fmt::format("\n{:>5} {:>5} {:>5} {:>5}  {:<14}  {}\n", "line", "calc", "load", "store", "times",
                     "source");
  for (const auto& line : lines) {
    out += fmt::format("{:>5} {:>5} {:>5} {:>5}  {:<14}  {}\n", line.line, line.calculation, line.loads,
                       line.stores, fmt::format("{}", fmt::join(line.turns, ", ")),
                       source_text(*analysis.source, line.line));
    for (const auto& access : line.accesses) out += fmt::format("{:>41}// {}\n", "", access);
  }
  return out;
}

std::vector<ListingRow> rows_in(const std::vector<ListingRow>& rows, const LineSet& lines) {
  std::vector<ListingRow> chosen;
  for (const auto& row : rows)
    if (lines.contains(static_cast<int>(row.source_line))) chosen.push_back(row);
  return chosen;
}

std::string region_name(const Region& region) {
  return fmt::format("region{}{}, lines {}", region.name.empty() ? "" : " ", region.name,
                     to_string(region.lines));
}

std::string listing_text(const Analysis& analysis, const KernelAnalysis& kernel) {
  std::string out = fmt::format("{}: line of the source, line of the PTX, period, loop, its turns\n",
                                kernel.program.provenance.kernel);
  const auto rows = listing_rows(analysis, kernel);
  if (analysis.restricted || analysis.regions.empty()) {
    out += listing_part(analysis, rows);
  } else {
    for (const auto& region : analysis.regions) {
      const auto part = rows_in(rows, region.lines);
      if (!part.empty()) out += fmt::format("\n{}\n{}", region_name(region), listing_part(analysis, part));
    }
  }
  out += coverage(kernel.program);
  for (const auto& text : kernel.program.not_modelled) out += fmt::format("not modelled: {}\n", text);
  return out;
}

Json rows_json(const std::vector<ListingRow>& listing) {
  Json rows = Json::array();
  for (const auto& row : listing)
    rows.push_back({{"ptx_line", row.ptx_line},
                    {"line", row.source_line},
                    {"period", row.period},
                    {"loop", row.loop},
                    {"turns", row.turns},
                    {"access", row.access},
                    {"text", row.text}});
  return rows;
}

Json lines_json(const Analysis& analysis, const std::vector<ListingRow>& rows) {
  Json lines = Json::array();
  for (const auto& line : by_source_line(rows))
    lines.push_back({{"line", line.line},
                     {"calculation", line.calculation},
                     {"loads", line.loads},
                     {"stores", line.stores},
                     {"unknown", line.unknown},
                     {"turns", line.turns},
                     {"accesses", line.accesses},
                     {"text", source_text(*analysis.source, line.line)}});
  return lines;
}

Json listing_json(const Analysis& analysis, const KernelAnalysis& kernel) {
  const auto rows = listing_rows(analysis, kernel);
  Json json{{"kernel", kernel.program.provenance.kernel},
            {"instructions", rows_json(rows)},
            {"lines", lines_json(analysis, rows)}};
  if (!analysis.restricted)
    for (const auto& region : analysis.regions)
      json["regions"].push_back({{"name", region.name},
                                 {"range", to_string(region.lines)},
                                 {"lines", lines_json(analysis, rows_in(rows, region.lines))}});
  json["coverage"] = {{"modelled", kernel.program.instructions_modelled.value_or(0)},
                      {"instructions", kernel.program.instructions_total.value_or(0)}};
  return json;
}

std::vector<KernelProgram> programs_of(const Analysis& analysis) {
  std::vector<KernelProgram> programs;
  for (const auto& kernel : analysis.kernels) programs.push_back(kernel.program);
  return programs;
}

}  // namespace

std::string emit_text(const Analysis& analysis, Emit what) {
  if (what == Emit::ptx) return analysis.source->ptx;
  if (what == Emit::program) return to_yaml(programs_of(analysis));
  std::string out;
  for (const auto& kernel : analysis.kernels) {
    if (!out.empty()) out += "\n";
    switch (what) {
      case Emit::cfg:
        out += cfg_text(kernel) + coverage(kernel.program);
        break;
      case Emit::loops:
        out += loops_text(kernel) + coverage(kernel.program);
        break;
      case Emit::periods:
        out += periods_of(kernel);
        break;
      default:
        out += listing_text(analysis, kernel);
        break;
    }
  }
  return out;
}

std::string emit_json(const Analysis& analysis, Emit what) {
  if (what == Emit::ptx)
    return Json{{"ptx", analysis.source->ptx}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (what == Emit::program || what == Emit::periods) return to_json(programs_of(analysis));
  Json all = Json::array();
  for (const auto& kernel : analysis.kernels)
    all.push_back(what == Emit::cfg     ? cfg_json(kernel)
                  : what == Emit::loops ? loops_json(kernel)
                                        : listing_json(analysis, kernel));
  return (all.size() == 1 ? all[0] : all).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warptime
