#include "tests/execute/launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "simulator/plan/plan.h"
#include "tests/execute/builds.h"

namespace warptime::execute::testing {
namespace {

// Values for the parameters of plans, by name.
const std::vector<Bindings>& sizes() {
  static const std::vector<Bindings> all = {
      {{"K", 2},
       {"N", 64},
       {"R", 64},
       {"C", 64},
       {"b", 32},
       {"l", 1},
       {"levels", 1},
       {"F", 8},
       {"n", 2},
       {"threads", 768}},
      {{"K", 4},
       {"N", 128},
       {"R", 64},
       {"C", 128},
       {"b", 32},
       {"l", 2},
       {"levels", 1},
       {"F", 8},
       {"n", 1},
       {"threads", 1536}},
      {{"K", 8}, {"N", 256}, {"R", 128}, {"C", 128}, {"b", 64}, {"l", 2}, {"levels", 2}, {"F", 16}},
      {{"K", 14}, {"N", 512}, {"R", 128}, {"C", 256}, {"b", 64}, {"l", 3}, {"levels", 3}, {"F", 16}},
  };
  return all;
}

// Kernels without a plan, whose arguments belong together; and sizes that no plan has.
const std::map<std::string, std::vector<TrialLaunch>>& further() {
  static const std::map<std::string, std::vector<TrialLaunch>> all = {
      {"mtx",
       {{{{2}, {32}}, {{"K", 1}, {"N", 64}}},
        {{{2}, {32}}, {{"K", 3}, {"N", 64}}},
        {{{2}, {32}}, {{"K", 5}, {"N", 64}}}}},
      {"mtx_mul_vec",
       {{{{1}, {32}}, {{"N", 32}}},
        {{{1}, {32}}, {{"N", 33}}},
        {{{1}, {32}}, {{"N", 34}}},
        {{{1}, {32}}, {{"N", 39}}}}},
  };
  return all;
}

class PlanWalk {
 public:
  PlanWalk(std::string folder, std::string file, const KernelSignature& kernel,
           std::vector<TrialLaunch>& launches)
      : folder_(std::move(folder)), file_(std::move(file)), kernel_(kernel), launches_(launches) {}

  void steps(const std::vector<PlanStep>& list, const Bindings& bindings) {
    for (const auto& step : list) {
      const auto iterations = evaluate_count(step.repeat, bindings);
      if (!iterations) continue;
      for (std::int64_t iteration = 0; iteration < std::min<std::int64_t>(*iterations, most_iterations);
           ++iteration) {
        auto inside = bindings;
        if (!step.counter.empty()) inside[step.counter] = iteration;
        if (step.launch) launch(*step.launch, inside);
        steps(step.steps, inside);
      }
    }
  }

 private:
  static constexpr std::int64_t most_iterations = 8;

  void launch(const PlanLaunch& what, Bindings bindings) {
    const auto named = (std::filesystem::path(folder_) / what.kernel).lexically_normal().generic_string();
    if (named != file_ || (!what.entry.empty() && what.entry != kernel_.name)) return;
    TrialLaunch trial;
    if (!dimensions(what, bindings, trial.how)) return;
    bindings["blockDim.x"] = trial.how.block.x, bindings["gridDim.x"] = trial.how.grid.x;
    for (const auto& [name, expression] : what.arguments)
      if (is_argument(name))
        if (const auto value = evaluate_count(expression, bindings)) trial.numbers[name] = *value;
    for (const auto& argument : kernel_.arguments)
      if (const auto found = bindings.find(argument.name); found != bindings.end())
        trial.numbers.try_emplace(argument.name, found->second);
    launches_.push_back(std::move(trial));
  }

  bool is_argument(const std::string& name) const {
    return std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                       [&](const auto& argument) { return argument.name == name; });
  }

  static bool dimensions(const PlanLaunch& what, const Bindings& bindings, LaunchConfig& how) {
    const auto count = [&](const Expression& e) -> std::int64_t {
      const auto value = evaluate_count(e, bindings);
      return value ? *value : 0;
    };
    std::int64_t threads_per_block = what.block.empty() ? 0 : count(what.block.front());
    std::int64_t blocks = what.grid.empty() ? 0 : count(what.grid.front());
    if (what.threads) {
      const auto threads = count(*what.threads);
      threads_per_block = std::min<std::int64_t>(threads, 64);
      if (threads_per_block > 0) blocks = (threads + threads_per_block - 1) / threads_per_block;
    }
    if (blocks < 1 || blocks > 1 << 16 || threads_per_block < 1 || threads_per_block > 1024) return false;
    how = {{static_cast<std::uint32_t>(blocks)}, {static_cast<std::uint32_t>(threads_per_block)}};
    return true;
  }

  std::string folder_, file_;
  const KernelSignature& kernel_;
  std::vector<TrialLaunch>& launches_;
};

std::vector<TrialLaunch> usual_launches(const KernelSignature& kernel) {
  std::vector<TrialLaunch> launches;
  for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100}) {
    TrialLaunch trial{{{2}, {64}}, {}};
    auto value = size;
    for (const auto& argument : kernel.arguments)
      if (argument.type.find('*') == std::string::npos) trial.numbers[argument.name] = value++;
    launches.push_back(std::move(trial));
  }
  return launches;
}

bool same(const TrialLaunch& a, const TrialLaunch& b) {
  return a.numbers == b.numbers && a.how.grid.x == b.how.grid.x && a.how.block.x == b.how.block.x;
}

}  // namespace

std::vector<TrialLaunch> trial_launches(const std::string& file, const KernelSignature& kernel) {
  return trial_launches(file, kernel, sizes());
}

std::vector<TrialLaunch> trial_launches(const std::string& file, const KernelSignature& kernel,
                                        const std::vector<Bindings>& sizes) {
  std::vector<TrialLaunch> found;
  const auto folder = std::filesystem::path(file).parent_path();
  if (const auto special = further().find(kernel.name); special != further().end()) found = special->second;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WARPTIME_SOURCE_DIR) / folder)) {
    const auto name = entry.path().filename().string();
    if (!name.ends_with(".plan.yaml")) continue;
    const auto plan = read_plan(file_text((folder / name).generic_string()), name);
    EXPECT_TRUE(plan) << to_text(plan.diagnostics());
    if (!plan) continue;
    for (const auto& size : sizes)
      PlanWalk(folder.generic_string(), file, kernel, found).steps(plan->steps, size);
  }
  if (found.empty()) found = usual_launches(kernel);
  std::vector<TrialLaunch> once;
  for (auto& trial : found)
    if (std::none_of(once.begin(), once.end(), [&](const auto& other) { return same(other, trial); }))
      once.push_back(std::move(trial));
  return once;
}

std::vector<Given> arguments_of(const Loaded& loaded, const KernelSignature& kernel,
                                const TrialLaunch& trial) {
  constexpr std::uint64_t buffer_bytes = 1 << 18;
  const auto wanted = parameters(*loaded.code);
  std::vector<Given> arguments;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& argument = kernel.arguments[i];
    const auto number = trial.numbers.find(argument.name);
    if (argument.type.find('*') != std::string::npos)
      arguments.push_back(buffer(std::vector<float>(buffer_bytes / 4)));
    else if (argument.type == "float")
      arguments.push_back(value(0.5f));
    else if (argument.type == "double")
      arguments.push_back(value(0.5));
    else if (number == trial.numbers.end())
      arguments.push_back(buffer(std::vector<float>()));  // a number that the plan does not give
    else if (wanted[i].bytes == 8)
      arguments.push_back(value(number->second));
    else
      arguments.push_back(value(static_cast<std::int32_t>(number->second)));
  }
  return arguments;
}

Bindings bindings_of(const TrialLaunch& trial) {
  const auto& how = trial.how;
  Bindings bindings{{"blockDim.x", how.block.x}, {"blockDim.y", how.block.y}, {"blockDim.z", how.block.z},
                    {"gridDim.x", how.grid.x},   {"gridDim.y", how.grid.y},   {"gridDim.z", how.grid.z}};
  for (const auto& [name, number] : trial.numbers) bindings[name] = number;
  return bindings;
}

}  // namespace warptime::execute::testing
