// Every plan of the repository that has code can be run as its file says: bound at its typical size, and run
// on the CPU at a small one without reading or writing where it must not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "measure/arrays.h"
#include "measure/binding.h"
#include "measure/reference.h"

namespace warptime::measuring {
namespace {

Result<std::string> read(const std::string& file) {
  std::ifstream stream(std::string(WARPTIME_SOURCE_DIR) + "/" + file, std::ios::binary);
  if (!stream) return error_at(file, 0, 0, "no such file");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<std::string> plan_files() {
  std::set<std::string> files;
  for (const auto* folder : {"dwt_kernels", "samples"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(WARPTIME_SOURCE_DIR) + "/" + folder))
      if (entry.path().string().ends_with(".plan.yaml") &&
          entry.path().parent_path().filename() != "puchala2022")
        files.insert(std::filesystem::relative(entry.path(), WARPTIME_SOURCE_DIR).string());
  return {files.begin(), files.end()};
}

// Sizes that the CPU is soon done with.
Bindings small(const Plan& plan) {
  const std::string& name = plan.name;
  Bindings values = {{"K", 6}, {"N", 256}, {"levels", 3}, {"R", 64}, {"C", 64},
                     {"F", 4}, {"b", 32},  {"l", 2},      {"n", 3},  {"threads", 768}};
  if (name.starts_with("lifting") && name.ends_with("rows")) values["C"] = 256;
  if (name.starts_with("lifting") && name.ends_with("columns")) values["l"] = 12;
  Bindings own;
  for (const auto& parameter : plan.parameters) own[parameter.name] = values.at(parameter.name);
  return own;
}

class BundledPlan : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto plan_text = read(GetParam());
    ASSERT_TRUE(plan_text);
    auto plan = read_plan(*plan_text, GetParam());
    ASSERT_TRUE(plan) << to_text(plan.diagnostics());
    plan_ = std::move(*plan);
    auto kernels = PlanKernels::load(plan_, read, {});
    ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
    kernels_ = std::move(*kernels);
  }
  static const Gpu& gpu() { return **GpuCatalogue::bundled().find("h200"); }
  Plan plan_;
  PlanKernels kernels_;
};
INSTANTIATE_TEST_SUITE_P(Of, BundledPlan, testing::ValuesIn(plan_files()), [](const auto& of) {
  const auto name = std::filesystem::path(of.param).filename().string();
  return name.substr(0, name.find('.'));
});

TEST_P(BundledPlan, CanBeBoundAtItsTypicalSize) {
  const Bindings typical(plan_.typical.begin(), plan_.typical.end());
  const auto bound = bind_plan(plan_, kernels_, typical, gpu());
  ASSERT_TRUE(bound) << to_text(bound.diagnostics());
  EXPECT_FALSE(bound->launches.empty());
  EXPECT_LT(bound->bytes(), std::uint64_t{1} << 30);
  for (const auto& array : bound->arrays)
    if (array.of->fill == ArrayFill::cycle_leaders) {
      const auto contents = contents_of(array);
      EXPECT_TRUE(contents) << to_text(contents.diagnostics());
    }
}

TEST_P(BundledPlan, RunsWithinItsArraysAndChangesThem) {
  const auto bound = bind_plan(plan_, kernels_, small(plan_), gpu());
  ASSERT_TRUE(bound) << to_text(bound.diagnostics());
  Arrays before;
  for (const auto& array : bound->arrays) {
    auto contents = contents_of(array);
    ASSERT_TRUE(contents) << to_text(contents.diagnostics());
    before.push_back(std::move(*contents));
  }
  const auto after = run_reference(*bound, kernels_, before, 100'000'000);
  ASSERT_TRUE(after) << to_text(after.diagnostics());
  ASSERT_FALSE(after->too_large);
  EXPECT_NE(after->arrays, before);
}

}  // namespace
}  // namespace warptime::measuring
