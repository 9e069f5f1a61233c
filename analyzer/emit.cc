// The analysis, step by step, as text and as JSON: what `analyze --emit` shows.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/listing.h"
#include "analyzer/machine/view.h"
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

// --- cfg ---

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

// --- loops ---

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
           {"iterations", kernel.lowered->repeats_of_loop[l]}};
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
                     "line", "iterations", "blocks");
  for (std::uint32_t l = 0; l < cfg.loops.size(); ++l) {
    const auto& loop = cfg.loops[l];
    out += fmt::format("{:>5}  {:>5}  {:>6}  {:>6}  {:>4}  {:<16}  {}\n", fmt::format("L{}", l), loop.depth,
                       loop.parent == none ? "-" : fmt::format("L{}", loop.parent),
                       block_name(cfg, loop.header), loop_line(kernel, loop),
                       kernel.lowered->repeats_of_loop[l], block_list(cfg, loop.blocks));
  }
  return out;
}

// --- periods ---

std::string lines_of(const Item& item) {
  std::string text;
  if (!item.lines.empty()) text += "line " + to_string(item.lines);
  if (!item.ptx.empty()) text += (text.empty() ? "PTX " : ", PTX ") + to_string(item.ptx);
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

// --- machine: the machine code itself where ptxas made it, otherwise what is expected of it ---

std::string machine_text(const KernelAnalysis& kernel) {
  const auto& from = kernel.program.provenance;
  if (kernel.assembled)
    return machine::assembled_text(*kernel.code, *kernel.assembled, from.kernel, from.target);
  return machine::machine_text(*kernel.code, *kernel.cfg, from.kernel, from.target);
}

Json machine_json(const KernelAnalysis& kernel) {
  const auto& from = kernel.program.provenance;
  if (kernel.assembled)
    return machine::assembled_json(*kernel.code, *kernel.assembled, from.kernel, from.target);
  return machine::machine_json(*kernel.code, *kernel.cfg, from.kernel, from.target);
}

std::vector<KernelProgram> programs_of(const Analysis& analysis) {
  std::vector<KernelProgram> programs;
  for (const auto& kernel : analysis.kernels) programs.push_back(kernel.program);
  return programs;
}

}  // namespace

std::string emit_text(const Analysis& analysis, Emit what) {
  if (what == Emit::ptx) return analysis.source->ptx;
  std::string out;
  if (what == Emit::program) {
    for (const auto& kernel : analysis.kernels) {
      if (!out.empty()) out += "---\n";
      append_yaml(kernel.program, out);
    }
    return out;
  }
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
      case Emit::machine:
        out += machine_text(kernel);
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
    all.push_back(what == Emit::cfg       ? cfg_json(kernel)
                  : what == Emit::loops   ? loops_json(kernel)
                  : what == Emit::machine ? machine_json(kernel)
                                          : listing_json(analysis, kernel));
  return (all.size() == 1 ? all[0] : all).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warptime
