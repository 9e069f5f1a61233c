#include "cli/options/predict_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

// The GPU as the models take it, with figures that it borrows from others of the catalogue; null: one of the models has no
// prediction for it, and `why` says the reason.
const Gpu* usable_gpu(const Gpu& of, const ChosenModels& chosen, const GpuCatalogue& catalogue,
                      PredictSettings& settings, Diagnostics& why) {
  const Gpu* gpu = &of;
  std::vector<std::string> notes;
  for (const Model* model : chosen.all()) {
    if (auto with = model->borrow(*gpu, catalogue)) {
      settings.changed.push_back(std::move(with->gpu));
      gpu = &settings.changed.back();
      notes.push_back(std::move(with->note));
    }
    if (why = model->check(*gpu); !why.empty()) return nullptr;
  }
  auto& of_rows = settings.prediction.gpu_notes[gpu->name];
  of_rows.insert(of_rows.end(), notes.begin(), notes.end());
  return gpu;
}

// The catalogue without those that the models do not hold for.
std::vector<const Gpu*> all_gpus(const GpuCatalogue& catalogue, const ChosenModels& chosen,
                                 PredictSettings& settings) {
  std::vector<const Gpu*> gpus;
  std::vector<std::string> missing;
  for (const Gpu& gpu : catalogue.gpus()) {
    Diagnostics why;
    if (const Gpu* usable = usable_gpu(gpu, chosen, catalogue, settings, why)) {
      gpus.push_back(usable);
    } else {
      missing.push_back(gpu.name);
    }
  }
  settings.excluded = std::move(missing);
  return gpus;
}

// Fills in the GPUs that were asked for, and `ranks` where that is the whole catalogue.
Diagnostics choose_gpus(const Arguments& arguments, const GpuCatalogue& catalogue, const ChosenModels& chosen,
                        PredictSettings& settings) {
  settings.ranks = asks_for_all_gpus(arguments);
  if (settings.ranks) {
    settings.gpus = all_gpus(catalogue, chosen, settings);
    return {};
  }
  const auto gpus = read_gpus(arguments, catalogue);
  if (!gpus) return gpus.diagnostics();
  for (const Gpu* gpu : *gpus) {
    Diagnostics why;
    const Gpu* usable = usable_gpu(*gpu, chosen, catalogue, settings, why);
    if (usable == nullptr) return why;
    settings.gpus.push_back(usable);
  }
  return {};
}

// `--set clock=1900`, for each GPU.
Diagnostics set_figures(const Arguments& arguments, PredictSettings& settings) {
  std::set<std::string> names;
  for (const auto& all : arguments.values("set")) {
    for (const auto& text : split_at_commas(all)) {
      const auto equals = text.find('=');
      double value = 0;
      const char* const end = text.data() + text.size();
      bool good = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
      if (good) {
        const auto [stopped, failure] = std::from_chars(text.data() + equals + 1, end, value);
        good = failure == std::errc() && stopped == end;
      }
      if (!good)
        return {error_at("--set", 0, 0, fmt::format("`{}` is not FIGURE=VALUE", text),
                         "for example --set clock=1900; `warptime gpus NAME` lists the figures")};
      const std::string name = text.substr(0, equals);
      if (!names.insert(name).second)
        return {error_at("--set", 0, 0, fmt::format("`{}` is given twice", name))};
      for (const Gpu*& gpu : settings.gpus) {
        auto changed = with_figure(*gpu, name, value);
        if (!changed) return changed.diagnostics();
        settings.changed.push_back(std::move(*changed));
        gpu = &settings.changed.back();
        settings.prediction.gpu_notes[gpu->name].push_back(fmt::format("{} by --set", text));
      }
    }
  }
  return {};
}

std::optional<double> share_or_count(std::string_view text) {
  double value = 0;
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || stopped != text.data() + text.size() || !(value >= 0 && value < 1e18))
    return {};
  return value;
}

// `--assume NAME=VALUE`.
Diagnostics read_assumed(const Arguments& arguments, PredictionOptions& options) {
  for (const auto& all : arguments.values("assume")) {
    for (const auto& text : split_at_commas(all)) {
      const auto equals = text.find('=');
      const std::string name = text.substr(0, equals);
      const auto value = equals == std::string::npos ? std::string() : text.substr(equals + 1);
      const auto dots = value.find("..");
      const auto low = share_or_count(value.substr(0, dots));
      const auto high = dots == std::string::npos ? low : share_or_count(value.substr(dots + 2));
      if (!is_name(name) || !low || !high || *high < *low)
        return {error_at("--assume", 0, 0, fmt::format("`{}` is not NAME=VALUE", text),
                         "for example --assume taken_at_line_12=0.25, or 0.2..0.6")};
      options.assumed[name] = (*low + *high) / 2;
      if (*low < *high) options.assumed_ranges[name] = {*low, *high};
    }
  }
  return {};
}

Diagnostics read_gpu_settings(const Arguments& arguments, const GpuCatalogue& catalogue,
                              const Model& otherwise, PredictSettings& settings) {
  const auto chosen = read_models(arguments, otherwise);
  if (!chosen) return chosen.diagnostics();
  settings.prediction.model = chosen->model;
  settings.prediction.beside = chosen->beside;
  if (auto wrong = choose_gpus(arguments, catalogue, *chosen, settings); !wrong.empty()) return wrong;
  if (auto wrong = set_figures(arguments, settings); !wrong.empty()) return wrong;
  for (const Gpu* gpu : settings.gpus) {
    for (const Model* model : chosen->all()) {
      if (auto wrong = model->check(*gpu); !wrong.empty()) return wrong;
    }
  }
  return {};
}

}  // namespace

Result<PredictSettings> read_predict_settings(const Arguments& arguments, const GpuCatalogue& catalogue,
                                              const Model& model) {
  PredictSettings settings;
  const auto format = read_choice(arguments, "format");
  if (!format) return format.diagnostics();
  settings.format = *format;
  if (auto wrong = read_gpu_settings(arguments, catalogue, model, settings); !wrong.empty()) return wrong;
  auto parameters = read_parameters(arguments);
  if (!parameters) return parameters.diagnostics();
  settings.parameters = std::move(*parameters);
  auto launch = read_launch(arguments, ShortForms::with);
  if (!launch) return launch.diagnostics();
  settings.launch = std::move(*launch);
  if (auto wrong = read_assumed(arguments, settings.prediction); !wrong.empty()) return wrong;
  settings.prediction.best_launch = arguments.has("best-launch");
  settings.prediction.transfers = arguments.has("transfers");
  const bool one_dimension = settings.launch.grid.size() == 1 && settings.launch.block.size() == 1;
  if (settings.prediction.best_launch && one_dimension)
    return error("--best-launch cannot be used with a grid and a block in one dimension",
                 "give the total number of threads with --threads");
  auto compile = read_compile_options(arguments);
  if (!compile) return compile.diagnostics();
  settings.compile = std::move(*compile);
  const auto t_p = read_number(arguments, "t-p");
  if (!t_p) return t_p.diagnostics();
  settings.prediction.constants.t_p_us = *t_p;
  const auto t_m = read_number(arguments, "t-m");
  if (!t_m) return t_m.diagnostics();
  settings.prediction.constants.t_m_cycles = *t_m;
  const auto disagreement = read_number(arguments, "disagree");
  if (!disagreement) return disagreement.diagnostics();
  settings.disagreement = disagreement->value_or(2);
  if (settings.disagreement < 1) return error_at("--disagree", 0, 0, "the factor must be at least 1");
  const auto jobs = read_number(arguments, "jobs");
  if (!jobs) return jobs.diagnostics();
  if (*jobs && (**jobs < 1 || **jobs > 1024 || **jobs != std::floor(**jobs)))
    return error_at("--jobs", 0, 0, "the number of threads must be 1 to 1024");
  settings.threads = static_cast<unsigned>(jobs->value_or(0));
  return settings;
}

Diagnostics change_model(const Arguments& arguments, const GpuCatalogue& catalogue, const Model& model,
                         PredictSettings& settings) {
  settings.gpus.clear();
  settings.excluded.clear();
  settings.changed.clear();
  settings.prediction.gpu_notes.clear();
  return read_gpu_settings(arguments, catalogue, model, settings);
}

}  // namespace warptime::cli
