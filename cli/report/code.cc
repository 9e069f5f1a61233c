#include "cli/report/code.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/pipeline.h"
#include "load/programs.h"

namespace warptime::cli {
namespace {

using Json = nlohmann::ordered_json;

// A line of at most so many bytes, cut before a UTF-8 character that would not be whole.
std::string cut_line(std::string_view line, std::size_t most) {
  if (line.size() <= most) return std::string(line);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("{}… ({} bytes more)", line.substr(0, end), line.size() - end);
}

// Of what `analyze --emit listing --format json` has of the kernel: columns of equal length, with texts that repeat by number.
Json instruction_columns(const Json& listing) {
  Json texts = Json::array();
  std::map<std::string, std::size_t> known;
  const auto number = [&](const std::string& text) {
    const auto [found, fresh] = known.try_emplace(text, texts.size());
    if (fresh) texts.push_back(text);
    return found->second;
  };
  Json columns = {{"ptx_line", Json::array()}, {"line", Json::array()},       {"period", Json::array()},
                  {"loop", Json::array()},     {"iterations", Json::array()}, {"access", Json::array()}};
  for (const Json& row : listing.at("instructions")) {
    for (const char* key : {"ptx_line", "line"}) columns[key].push_back(row.at(key));
    for (const char* key : {"period", "loop", "iterations", "access"})
      columns[key].push_back(number(row.at(key).get<std::string>()));
  }
  columns["texts"] = std::move(texts);
  return columns;
}

}  // namespace

std::size_t ReportCode::add_file(const std::string& name, const char* kind, const std::string& text) {
  const auto [found, fresh] = known_.try_emplace({std::string(kind) + ":" + name, text}, files_.size());
  if (!fresh) return found->second;
  Json lines = Json::array();
  bool cut = false;
  std::size_t bytes = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (bytes > limits_.code_bytes) {
      cut = true;
      break;
    }
    cut = cut || line.size() > limits_.line_bytes;
    lines.push_back(cut_line(line, limits_.line_bytes));
    bytes += lines.back().get_ref<const std::string&>().size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  files_.push_back({{"name", name}, {"kind", kind}, {"lines", std::move(lines)}, {"cut", cut}});
  return found->second;
}

Json ReportCode::kernel_json(const ReportMethod& method, const PlanLaunch& launch, Json& missing) {
  const Gpu& gpu = *method.gpus.front();
  const auto loaded = method.estimated->load(*method.plan, launch, gpu);
  if (!loaded) return Json();
  const KernelProgram& program = *loaded->program;
  const std::string file = launched_file(*method.plan, launch);
  const std::string name = kernel_name(program, file);
  Json json = {{"kernel", name}, {"file", file}, {"gpu", gpu.name}, {"target", program.provenance.target}};
  json["program"] = Json::parse(to_json({program}));
  json["source"] = Json();
  json["ptx"] = Json();
  const auto analysis = method.estimated->steps(*method.plan, launch, gpu);
  if (!analysis || !*analysis) {
    if (!analysis)
      missing.push_back(
          fmt::format("{}: the code of {}: {}", method.name, name, analysis.diagnostics().front().message));
    json["source"] = add_file(file, "program", to_yaml(program));
    return json;
  }
  const Analysis& code = **analysis;
  if (!code.source->text.empty()) json["source"] = add_file(code.source->file, "source", code.source->text);
  json["ptx"] = add_file(code.source->file, "ptx", code.source->ptx);
  const auto step = [&](Emit what) { return Json::parse(emit_json(code, what)); };
  const Json listing = step(Emit::listing);
  json["instructions"] = instruction_columns(listing);
  json["coverage"] = listing.at("coverage");
  json["blocks"] = step(Emit::cfg).at("blocks");
  json["loops"] = step(Emit::loops).at("loops");
  return json;
}

Json ReportCode::kernels_of(const ReportMethod& method, Json& missing) {
  std::set<std::tuple<std::string, std::string>> known;
  Json kernels = Json::array();
  for_each_launch(method.plan->steps, [&](const PlanStep& step) {
    const PlanLaunch& launch = *step.launch;
    if (!known.emplace(launch.kernel, launch.entry).second) return;
    if (Json json = kernel_json(method, launch, missing); !json.is_null()) kernels.push_back(std::move(json));
  });
  return kernels;
}

}  // namespace warptime::cli
