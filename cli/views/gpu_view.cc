#include "cli/views/gpu_view.h"

#include <fmt/format.h>

#include "cli/views/table.h"

namespace warptime::cli {
namespace {

constexpr std::size_t text_width = 110;

// A figure of a GPU under its name in the GPU's file, which is also its name in JSON and CSV.
struct Figure {
  std::string name;
  const char* unit;
  double value;
};

std::vector<Figure> figures_of(const Gpu& gpu) {
  return {{"clock_mhz", "MHz", gpu.clock_mhz},
          {"sms", "", static_cast<double>(gpu.sms)},
          {"cores_per_sm", "", static_cast<double>(gpu.cores_per_sm)},
          {"max_blocks_per_sm", "", static_cast<double>(gpu.max_blocks_per_sm)},
          {"max_warps_per_sm", "", static_cast<double>(gpu.max_warps_per_sm)},
          {"max_threads_per_block", "", static_cast<double>(gpu.max_threads_per_block)},
          {"t_p_us", "µs", gpu.t_p_us},
          {"t_m_cycles", "cycles", gpu.t_m_cycles}};
}

std::vector<std::pair<std::string, double>> durations_of(const Gpu& gpu) {
  std::vector<std::pair<std::string, double>> durations;
  for (const auto& [kind, table] :
       {std::pair{"load", &gpu.durations.load}, std::pair{"store", &gpu.durations.store}})
    for (const Access access : {Access::uniform, Access::coalesced, Access::strided, Access::scattered})
      durations.emplace_back(fmt::format("{}.{}", kind, to_string(access)),
                             (*table)[static_cast<std::size_t>(access)]);
  return durations;
}

std::string capability(const Gpu& gpu) {
  return fmt::format("{}.{}", gpu.compute_capability.major, gpu.compute_capability.minor);
}

// All durations of memory accesses have one source.
std::string source_of(const Gpu& gpu, std::string_view figure) {
  const auto found =
      gpu.sources.find(figure.find('.') == std::string_view::npos ? std::string(figure) : "memory_cycles");
  return found == gpu.sources.end() ? "" : found->second;
}

nlohmann::ordered_json to_json(const Gpu& gpu) {
  nlohmann::ordered_json json;
  json["name"] = gpu.name;
  json["title"] = gpu.title;
  if (!gpu.description.empty()) json["description"] = gpu.description;
  json["compute_capability"] = capability(gpu);
  for (const auto& figure : figures_of(gpu)) json[figure.name] = exact_json(figure.value);
  for (const auto& [name, cycles] : durations_of(gpu)) {
    const auto dot = name.find('.');
    json["memory_cycles"][name.substr(0, dot)][name.substr(dot + 1)] = exact_json(cycles);
  }
  json["validated"] = gpu.validated;
  json["sources"] = gpu.sources;
  return json;
}

struct Line {
  std::string name, value, unit, source;
};

std::vector<Line> lines_of(const Gpu& gpu) {
  std::vector<Line> lines = {
      {"compute_capability", capability(gpu), "", source_of(gpu, "compute_capability")}};
  for (const auto& figure : figures_of(gpu))
    lines.push_back({figure.name, exact(figure.value), figure.unit, source_of(gpu, figure.name)});
  for (const auto& [name, cycles] : durations_of(gpu))
    lines.push_back({name, exact(cycles), "cycles", source_of(gpu, name)});
  return lines;
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
         "\nt_p and t_m are defaults, for kernels that nobody has calibrated; measured: whether measurements "
         "stand behind them.\n"
         "`warptime gpus NAME` says where each figure comes from.\n";
}

std::string gpus_json(const std::vector<Gpu>& gpus) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& gpu : gpus) json.push_back(to_json(gpu));
  return json_text(json, 2) + "\n";
}

std::string gpus_csv(const std::vector<Gpu>& gpus) {
  std::vector<std::string> fields = {"name", "title", "compute_capability"};
  for (const auto& figure : figures_of(Gpu())) fields.push_back(figure.name);
  fields.emplace_back("validated");
  std::string text = csv_line(fields);
  for (const auto& gpu : gpus) {
    fields = {gpu.name, gpu.title, capability(gpu)};
    for (const auto& figure : figures_of(gpu)) fields.push_back(exact(figure.value));
    fields.emplace_back(gpu.validated ? "true" : "false");
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
  if (!gpu.description.empty()) text += wrapped(gpu.description, text_width) + "\n";
  text += gpu.validated ? "Measurements of this GPU stand behind its t_p and t_m.\n"
                        : "No measurements of this GPU stand behind its t_p and t_m.\n";
  return text + "\n" + table.take();
}

std::string gpu_json(const Gpu& gpu) {
  return json_text(to_json(gpu), 2) + "\n";
}

std::string gpu_csv(const Gpu& gpu) {
  std::string text = csv_line({"figure", "value", "unit", "source"});
  for (const auto& line : lines_of(gpu)) text += csv_line({line.name, line.value, line.unit, line.source});
  return text;
}

}  // namespace warptime::cli
