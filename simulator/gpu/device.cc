#include "simulator/gpu/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <vector>

#include "simulator/gpu/occupancy.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kBrands = {"nvidia", "geforce", "quadro", "tesla"};
// By how much the clock of one model's boards differs: a V100 has 1380 MHz on PCIe, 1530 on SXM2; boards are
// overclocked.
constexpr double kClockTolerance = 0.2;

// Names that do not tell by their words which of several GPUs it is, where nothing but the name is known.
struct KnownDevice {
  std::string_view device, gpu;
};
constexpr std::array<KnownDevice, 2> kKnownDevices = {{
    {"h100 80gb hbm3", "h100-sxm"},  // the SXM5 board's only name
    {"h100 80gb hbm2e", "h100-pcie"},
}};

// "NVIDIA A100-SXM4-40GB" -> a100, sxm4, 40gb
Words words_of(std::string_view name) {
  Words words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || std::find(kBrands.begin(), kBrands.end(), word) != kBrands.end();
  });
  return words;
}

bool digits_then(std::string_view word, std::string_view unit) {
  if (!word.ends_with(unit) || word.size() == unit.size()) return false;
  word.remove_suffix(unit.size());
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// "sxm" of sxm2, sxm5; "pcie"; empty: the word is no form factor.
std::string_view form_factor(std::string_view word) {
  if (word.starts_with("sxm")) return "sxm";
  for (const std::string_view known : {"pcie", "dgxs", "fhhl"}) {
    if (word == known) return known;
  }
  return {};
}

bool is_memory(std::string_view word) {
  return digits_then(word, "gb") || word.starts_with("hbm");
}

// A name cut into what tells models apart and the board that it is on.
struct DeviceName {
  std::string model;        // "rtx2080ti": files write it with hyphens, spaces and neither
  std::string form_factor;  // may be empty

  explicit DeviceName(std::string_view name) {
    for (std::string& word : words_of(name)) {
      const auto form = warptime::form_factor(word);
      if (!form.empty()) {
        form_factor = form;
      } else if (!is_memory(word)) {
        model += word;
      }
    }
  }
};

// Whether the figures that are known of the device are the GPU's.
bool figures_agree(const Gpu& gpu, const DeviceFigures& device) {
  if (gpu.validated) return true;  // those of Table 3
  if (device.sms > 0 && device.sms != gpu.sms) return false;
  return device.clock_mhz <= 0 || std::abs(device.clock_mhz / gpu.clock_mhz - 1) <= kClockTolerance;
}

// Those that a device's name may mean.
std::vector<const Gpu*> candidates_of(const GpuCatalogue& catalogue, const std::string& name) {
  const DeviceName wanted(name);
  std::vector<const Gpu*> same_model, same_board;
  if (wanted.model.empty()) return {};
  for (const Gpu& gpu : catalogue.gpus()) {
    bool board = false;
    for (const std::string& known : {gpu.title, gpu.name}) {
      const DeviceName named(known);
      if (named.model != wanted.model) continue;
      if (same_model.empty() || same_model.back() != &gpu) same_model.push_back(&gpu);
      board = board || named.form_factor == wanted.form_factor;
    }
    if (board) same_board.push_back(&gpu);
  }
  // A board that the catalogue has beats the others; of a model with one entry that entry stands for all.
  return same_board.empty() || (wanted.form_factor.empty() && same_model.size() > 1) ? same_model
                                                                                     : same_board;
}

const Gpu* known_device(const GpuCatalogue& catalogue, const std::string& name) {
  const std::string words = fmt::format("{}", fmt::join(words_of(name), " "));
  for (const KnownDevice& known : kKnownDevices) {
    if (known.device != words) continue;
    const auto found = catalogue.find(known.gpu);
    return found ? *found : nullptr;
  }
  return nullptr;
}

// ---- A GPU of what a device says.

int cores_per_sm(const ComputeCapability& capability) {
  switch (capability.major) {
    case 1:
      return 8;
    case 2:
      return capability.minor == 0 ? 32 : 48;
    case 3:
      return 192;
    case 5:
      return 128;
    case 6:
      return capability.minor == 0 ? 64 : 128;
    case 7:
      return 64;
    case 8:
      return capability.minor == 0 ? 64 : 128;
    default:
      return 128;
  }
}

// Of the validated GPUs the one whose compute capability is nearest.
const Gpu* nearest_validated(const GpuCatalogue& catalogue, const ComputeCapability& capability) {
  const auto number = [](const ComputeCapability& one) { return 10 * one.major + one.minor; };
  const Gpu* nearest = nullptr;
  int least = 0;
  for (const Gpu& gpu : catalogue.gpus()) {
    if (!gpu.validated) continue;
    const int distance = std::abs(number(gpu.compute_capability) - number(capability));
    if (nearest != nullptr && distance > least) continue;
    nearest = &gpu;  // of equals the last: the newest
    least = distance;
  }
  return nearest;
}

// {uniform: 10, coalesced: 120, …}
std::string by_access(const std::array<double, kAccesses>& cycles) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < kAccesses; ++i)
    entries.push_back(fmt::format("{}: {}", access_names()[i], cycles[i]));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

}  // namespace

const Gpu* find_device(const GpuCatalogue& catalogue, const DeviceFigures& device) {
  if (const auto found = catalogue.find(device.name)) return *found;
  auto candidates = candidates_of(catalogue, device.name);
  std::erase_if(candidates, [&](const Gpu* gpu) { return !figures_agree(*gpu, device); });
  if (candidates.size() > 1) {
    if (const Gpu* known = known_device(catalogue, device.name);
        std::find(candidates.begin(), candidates.end(), known) != candidates.end())
      return known;
    if (device.sms <= 0) return nullptr;
    const auto off = [&](const Gpu* gpu) { return std::abs(gpu->clock_mhz - device.clock_mhz); };
    return *std::min_element(candidates.begin(), candidates.end(),
                             [&](const Gpu* a, const Gpu* b) { return off(a) < off(b); });
  }
  return candidates.empty() ? nullptr : candidates.front();
}

std::string device_gpu_name(const GpuCatalogue& catalogue, const DeviceFigures& device) {
  Words words = words_of(device.name);
  for (std::string& word : words) std::replace(word.begin(), word.end(), '.', '-');
  std::string name = fmt::format("{}", fmt::join(words, "-"));
  if (name.empty()) name = "gpu";
  if (catalogue.find(name)) name += fmt::format("-{}-sms", device.sms);
  return name;
}

Gpu gpu_of_device(const GpuCatalogue& catalogue, const DeviceDescription& device) {
  Gpu gpu;
  const std::string read =
      fmt::format("device attributes read on an {} (driver {})", device.figures.name, device.driver);
  const auto source = [&](const char* field, const std::string& text) { gpu.sources[field] = text; };
  gpu.name = device_gpu_name(catalogue, device.figures);
  gpu.title = device.figures.name;
  gpu.description =
      "Written by `warptime measure` of what the device says. t_p and t_m are those of another GPU, until "
      "somebody calibrates them.";
  gpu.compute_capability = device.compute_capability;
  gpu.clock_mhz = device.figures.clock_mhz;
  gpu.sms = device.figures.sms;
  gpu.cores_per_sm = cores_per_sm(device.compute_capability);
  gpu.max_warps_per_sm = device.max_threads_per_sm / gpu.warp_size;
  gpu.max_threads_per_block = device.max_threads_per_block;
  for (const char* field :
       {"compute_capability", "clock_mhz", "sms", "max_warps_per_sm", "warp_size", "max_threads_per_block"})
    source(field, read);
  source("cores_per_sm", "by the compute capability");
  gpu.max_blocks_per_sm = device.max_blocks_per_sm;
  source("max_blocks_per_sm", read);
  if (gpu.max_blocks_per_sm <= 0) {
    const ComputeLimits* limits = find_compute_limits(device.compute_capability);
    gpu.max_blocks_per_sm = limits != nullptr ? limits->max_blocks_per_sm : 8;
    source("max_blocks_per_sm", "by the compute capability");
  }
  const auto optional = [&](const char* field, std::optional<std::int64_t>& into, std::int64_t value) {
    if (value <= 0) return;
    into = value;
    source(field, read);
  };
  optional("registers_per_sm", gpu.registers_per_sm, device.registers_per_sm);
  optional("shared_bytes_per_sm", gpu.shared_bytes_per_sm, device.shared_bytes_per_sm);
  optional("shared_bytes_per_block", gpu.shared_bytes_per_block, device.shared_bytes_per_block);
  optional("l2_bytes", gpu.l2_bytes, device.l2_bytes);
  if (device.memory_clock_mhz > 0 && device.memory_bus_bits > 0) {
    gpu.memory_bandwidth_gb_s = 2 * device.memory_clock_mhz * device.memory_bus_bits / 8 / 1000;
    source("memory_bandwidth_gb_s", read + ": twice the memory clock, times the width of the bus");
  }
  gpu.durations = paper_durations();
  if (const Gpu* like = nearest_validated(catalogue, device.compute_capability)) {
    if (gpu.clock_mhz <= 0) {  // newer drivers may not say
      gpu.clock_mhz = like->clock_mhz;
      source("clock_mhz", fmt::format("not known: that of the {}", like->name));
    }
    gpu.t_p_us = like->t_p_us;
    gpu.t_m_cycles = like->t_m_cycles;
    for (const char* field : {"t_p_us", "t_m_cycles"})
      source(field, fmt::format("not measured: that of the {}, the nearest architecture that is validated",
                                like->name));
  }
  return gpu;
}

std::string to_yaml(const Gpu& gpu) {
  std::string text = fmt::format("name: {}\ntitle: {}\n", gpu.name, yaml::scalar(gpu.title));
  if (!gpu.description.empty()) text += fmt::format("description: {}\n", yaml::scalar(gpu.description));
  text += fmt::format("validated: {}\n", gpu.validated);
  const auto add = [&](const std::string& name, const std::string& value) {
    const auto source = gpu.sources.find(name);
    text += fmt::format("{}: {{value: {}, source: {}}}\n", name, value,
                        yaml::scalar(source != gpu.sources.end() ? source->second : "not known", true));
  };
  add("compute_capability", fmt::format("{}.{}", gpu.compute_capability.major, gpu.compute_capability.minor));
  for (const GpuFigure& figure : gpu_figures()) {
    const auto value = figure.get(gpu);
    if (value && figure.name.find('.') == std::string::npos) add(figure.name, fmt::format("{}", *value));
  }
  if (const auto source = gpu.sources.find("memory_cycles"); source != gpu.sources.end())
    text +=
        fmt::format("memory_cycles:\n  load: {}\n  store: {}\n  source: {}\n", by_access(gpu.durations.load),
                    by_access(gpu.durations.store), yaml::scalar(source->second));
  if (gpu.copies) {
    text += "copies:\n";
    for (const CopyFigure& figure : copy_figures())
      text += fmt::format("  {}: {}\n", figure.name, (*gpu.copies).*figure.member);
    const auto source = gpu.sources.find("copies");
    text += fmt::format("  source: {}\n",
                        yaml::scalar(source != gpu.sources.end() ? source->second : "not known"));
  }
  return text + to_yaml(gpu.timing, gpu.timing_origins);
}

}  // namespace warptime
