#include "cli/views/gpu_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

constexpr std::size_t gpu_text_width = 110;

// Durations of memory accesses have a dot in their name (load.coalesced), and one source for all.
bool is_duration(const GpuFigure& figure) {
  return figure.name.find('.') != std::string::npos;
}

// The columns that CSV had from the start stand before `validated`, what came later behind it.
bool is_early(const GpuFigure& figure) {
  return figure.required && figure.name != "warp_size";
}

std::string capability(const Gpu& gpu) {
  return fmt::format("{}.{}", gpu.compute_capability.major, gpu.compute_capability.minor);
}

std::string source_of(const Gpu& gpu, const std::string& figure) {
  auto found = gpu.sources.find(figure);
  if (found == gpu.sources.end() && figure.find('.') != std::string::npos)
    found = gpu.sources.find("memory_cycles");
  return found == gpu.sources.end() ? "" : found->second;
}

// Calls `each` with every class of instructions: the table that it stands in, its operation, its operands, and the
// cycles of one instruction.
template <class F>
void for_classes(const LuoSudaFigures& figures, F each) {
  for (std::size_t operation = 0; operation < kLuoSudaOperations; ++operation) {
    for (std::size_t operands = 0; operands < kLuoSudaOperands; ++operands)
      each(operation < kTable1Operations ? "class_cycles" : "further_class_cycles",
           to_string(static_cast<LuoSudaOperation>(operation)),
           to_string(static_cast<LuoSudaOperands>(operands)),
           figures.class_cycles.values[operation][operands]);
  }
}

nlohmann::ordered_json luo_suda_json(const LuoSudaFigures& figures) {
  nlohmann::ordered_json json;
  for (const LuoSudaFigure& figure : luo_suda_figures())
    json[std::string(figure.name)] = exact_json(figures.*figure.member);
  for_classes(figures,
              [&](const char* table, std::string_view operation, std::string_view operands, double cycles) {
                json[table][std::string(operation)][std::string(operands)] = exact_json(cycles);
              });
  return json;
}

// Calls `each` with every timing figure that the GPU has: the figure, its value, where it comes from.
template <class F>
void for_timing(const Gpu& gpu, F each) {
  for (const TimingFigure& figure : timing_figures())
    if (const auto value = gpu.timing.*figure.member)
      each(figure, *value, gpu.timing_origins.find(figure.name)->second);
}

nlohmann::ordered_json timing_json(const Gpu& gpu) {
  nlohmann::ordered_json json;
  for_timing(gpu, [&](const TimingFigure& figure, double value, const TimingOrigin& origin) {
    auto& one = json[std::string(figure.name)];
    one["value"] = exact_json(value);
    if (origin.spread) one["spread"] = exact_json(*origin.spread);
    if (!origin.date.empty()) one["date"] = origin.date;
    one["source"] = origin.source;
    if (!origin.borrowed_from.empty()) one["borrowed_from"] = origin.borrowed_from;
  });
  return json;
}

nlohmann::ordered_json to_json(const Gpu& gpu) {
  nlohmann::ordered_json json;
  json["name"] = gpu.name;
  json["title"] = gpu.title;
  if (!gpu.description.empty()) json["description"] = gpu.description;
  json["compute_capability"] = capability(gpu);
  for (const auto& figure : gpu_figures()) {
    const auto value = figure.get(gpu);
    if (!value) continue;
    const auto dot = figure.name.find('.');
    if (is_duration(figure))
      json["memory_cycles"][figure.name.substr(0, dot)][figure.name.substr(dot + 1)] = exact_json(*value);
    else
      json[figure.name] = exact_json(*value);
  }
  if (gpu.luo_suda) json["luo_suda"] = luo_suda_json(*gpu.luo_suda);
  if (gpu.copies)
    for (const CopyFigure& figure : copy_figures())
      json["copies"][std::string(figure.name)] = exact_json((*gpu.copies).*figure.member);
  if (!gpu.timing_origins.empty()) json["timing"] = timing_json(gpu);
  json["validated"] = gpu.validated;
  json["sources"] = gpu.sources;
  return json;
}

struct FigureLine {
  std::string name, value, unit, source;
};

std::vector<FigureLine> lines_of(const Gpu& gpu) {
  std::vector<FigureLine> lines = {
      {"compute_capability", capability(gpu), "", source_of(gpu, "compute_capability")}};
  for (const auto& figure : gpu_figures())
    if (const auto value = figure.get(gpu))
      lines.push_back({figure.name, exact(*value), figure.unit, source_of(gpu, figure.name)});
  if (gpu.copies)
    for (const CopyFigure& figure : copy_figures())
      lines.push_back({fmt::format("copies.{}", figure.name), exact((*gpu.copies).*figure.member),
                       std::string(figure.unit), source_of(gpu, "copies")});
  if (!gpu.luo_suda) return lines;
  for (const LuoSudaFigure& figure : luo_suda_figures()) {
    const std::string name = fmt::format("luo_suda.{}", figure.name);
    const auto source = gpu.sources.find(name);
    lines.push_back({name, exact((*gpu.luo_suda).*figure.member), std::string(figure.unit),
                     source == gpu.sources.end() ? "" : source->second});
  }
  for_classes(*gpu.luo_suda, [&](const char* table, std::string_view operation, std::string_view operands,
                                 double cycles) {
    const auto source = gpu.sources.find(fmt::format("luo_suda.{}", table));
    lines.push_back({fmt::format("luo_suda.{}.{}.{}", table, operation, operands), exact(cycles), "cycles",
                     source == gpu.sources.end() ? "as luo_suda.instruction_cycles" : source->second});
  });
  return lines;
}

// The timing figures as a table of their own, with notes on whose they are; empty if there are none.
std::string timing_text(const Gpu& gpu) {
  if (gpu.timing_origins.empty()) return {};
  Table table({{"timing figure", Align::left},
               {"value"},
               {"spread"},
               {"", Align::left},
               {"of what", Align::left},
               {"source", Align::left}});
  std::vector<std::string> sources;
  for_timing(gpu, [&](const TimingFigure& figure, double value, const TimingOrigin& origin) {
    const std::string source = origin.date.empty() ? origin.source : origin.source + ", " + origin.date;
    auto number = std::find(sources.begin(), sources.end(), source);
    if (number == sources.end()) number = sources.insert(sources.end(), source);
    table.add({std::string(figure.name), sensible(value), origin.spread ? sensible(*origin.spread) : "",
               std::string(figure.unit), std::string(figure.what),
               fmt::format("[{}]", number - sources.begin() + 1)});
  });
  std::string text = "\n" + table.take() + "\n";
  for (std::size_t i = 0; i < sources.size(); ++i)
    text += wrapped(fmt::format("[{}] {}", i + 1, sources[i]), gpu_text_width, 4) + "\n";
  return text;
}

}  // namespace

std::string gpus_text(const std::vector<Gpu>& gpus) {
  Table table({{"name", Align::left},
               {"GPU", Align::left},
               {"capability"},
               {"MHz"},
               {"SMs"},
               {"cores/SM"},
               {"blocks/SM"},
               {"warps/SM"},
               {"t_p"},
               {"t_m"},
               {"measured", Align::left}});
  for (const auto& gpu : gpus)
    table.add({gpu.name, gpu.title, capability(gpu), sensible(gpu.clock_mhz), fmt::format("{}", gpu.sms),
               fmt::format("{}", gpu.cores_per_sm), fmt::format("{}", gpu.max_blocks_per_sm),
               fmt::format("{}", gpu.max_warps_per_sm), fmt::format("{} µs", sensible(gpu.t_p_us)),
               fmt::format("{} cycles", sensible(gpu.t_m_cycles)), gpu.validated ? "yes" : "no"});
  return table.take() +
         "\n"
         "t_p and t_m are defaults, for kernels without a calibration; measured: whether they come from "
         "measurements.\n"
         "Fewer than 32 cores per SM: the core-package model does not hold for such a GPU.\n"
         "`warptime gpus NAME` shows where each figure comes from.\n";
}

std::string gpus_json(const std::vector<Gpu>& gpus) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& gpu : gpus) json.push_back(to_json(gpu));
  return json_text(json, 2) + "\n";
}

std::string gpus_csv(const std::vector<Gpu>& gpus) {
  std::vector<std::string> fields = {"name", "title", "compute_capability"};
  const auto add = [&](bool early, const auto& text_of) {
    for (const auto& figure : gpu_figures())
      if (is_early(figure) == early && !is_duration(figure)) fields.push_back(text_of(figure));
  };
  const auto name = [](const GpuFigure& figure) { return figure.name; };
  add(true, name);
  fields.emplace_back("validated");
  add(false, name);
  std::string text = csv_line(fields);
  for (const auto& gpu : gpus) {
    const auto value = [&](const GpuFigure& figure) {
      const auto known = figure.get(gpu);
      return known ? exact(*known) : std::string();
    };
    fields = {gpu.name, gpu.title, capability(gpu)};
    add(true, value);
    fields.emplace_back(gpu.validated ? "true" : "false");
    add(false, value);
    text += csv_line(fields);
  }
  return text;
}

std::string gpu_text(const Gpu& gpu) {
  Table table({{"figure", Align::left}, {"value"}, {"", Align::left}, {"source", Align::left}});
  std::string_view above;
  const auto lines = lines_of(gpu);
  for (const auto& line : lines) {
    table.add({line.name, line.value, line.unit, line.source == above ? "the same" : line.source});
    above = line.source;
  }
  std::string text = fmt::format("{}: {}\n", gpu.name, gpu.title);
  if (!gpu.description.empty()) text += wrapped(gpu.description, gpu_text_width) + "\n";
  text += gpu.validated ? "Its t_p and t_m come from measurements of this GPU.\n"
                        : "Its t_p and t_m do not come from measurements of this GPU.\n";
  return text + "\n" + table.take() + timing_text(gpu);
}

std::string gpu_json(const Gpu& gpu) {
  return json_text(to_json(gpu), 2) + "\n";
}

std::string gpu_csv(const Gpu& gpu) {
  std::string text = csv_line({"figure", "value", "unit", "source"});
  for (const auto& line : lines_of(gpu)) text += csv_line({line.name, line.value, line.unit, line.source});
  for_timing(gpu, [&](const TimingFigure& figure, double value, const TimingOrigin& origin) {
    text += csv_line(
        {fmt::format("timing.{}", figure.name), exact(value), std::string(figure.unit), origin.source});
  });
  return text;
}

}  // namespace warptime::cli
