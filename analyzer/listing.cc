#include "analyzer/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/periods/flow.h"
#include "analyzer/periods/lower.h"

namespace warptime {
namespace {

using Json = nlohmann::ordered_json;
using analysis::none;

struct ListingRow {
  std::uint32_t ptx_line = 0, source_line = 0;
  std::string period, loop, iterations, access, text;
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
  const auto& function = kernel.code->function();
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
        const auto& iterations = kernel.lowered->repeats_of_loop[l];
        row.iterations =
            row.iterations.empty() ? iterations : fmt::format("{} × {}", iterations, row.iterations);
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
  std::vector<std::string> iterations, accesses;  // each once
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
    add_once(line.iterations, row.iterations.empty() ? "1" : row.iterations);
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
                       row.loop, row.iterations, row.text, row.access.empty() ? "" : "  // " + row.access);
  }
  const auto lines = by_source_line(rows);
  if (lines.empty()) return out;
  out += fmt::format("\n{:>5} {:>5} {:>5} {:>5}  {:<14}  {}\n", "line", "calc", "load", "store", "times",
                     "source");
  for (const auto& line : lines) {
    out += fmt::format("{:>5} {:>5} {:>5} {:>5}  {:<14}  {}\n", line.line, line.calculation, line.loads,
                       line.stores, fmt::format("{}", fmt::join(line.iterations, ", ")),
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

Json rows_json(const std::vector<ListingRow>& listing) {
  Json rows = Json::array();
  for (const auto& row : listing)
    rows.push_back({{"ptx_line", row.ptx_line},
                    {"line", row.source_line},
                    {"period", row.period},
                    {"loop", row.loop},
                    {"iterations", row.iterations},
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
                     {"iterations", line.iterations},
                     {"accesses", line.accesses},
                     {"text", source_text(*analysis.source, line.line)}});
  return lines;
}

}  // namespace

std::string coverage(const KernelProgram& program) {
  if (!program.instructions_total) return {};
  return fmt::format("{} of {} instructions modelled\n", *program.instructions_modelled,
                     *program.instructions_total);
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

std::string listing_text(const Analysis& analysis, const KernelAnalysis& kernel) {
  std::string out = fmt::format("{}: line of the source, line of the PTX, period, loop, its iterations\n",
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

}  // namespace warptime
