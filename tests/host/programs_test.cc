// The plans of small programs: programs/NAME.cu has the plan programs/NAME.plan.yaml. Each of these was checked by
// hand against the launches that the program makes. WARPTIME_UPDATE_PLANS=1 writes them anew: read what changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "load/host_plan.h"
#include "simulator/plan/plan_write.h"

namespace warptime {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WARPTIME_HOST_PROGRAMS))
    if (entry.path().extension() == ".cu") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Program : public testing::TestWithParam<std::string> {
 protected:
  Result<FoundPlan> find() const {
    const std::string file = GetParam() + ".cu";
    return find_plan({{file, text_of(std::filesystem::path(WARPTIME_HOST_PROGRAMS) / file)}}, {});
  }
};

TEST_P(Program, has_the_plan_beside_it) {
  const auto found = find();
  ASSERT_TRUE(found) << to_text(found.diagnostics());
  const std::string text = write_plan(found->plan, comments_of(*found));
  const auto golden = std::filesystem::path(WARPTIME_HOST_PROGRAMS) / (GetParam() + ".plan.yaml");
  if (std::getenv("WARPTIME_UPDATE_PLANS")) std::ofstream(golden) << text;
  EXPECT_EQ(text, text_of(golden));
}

TEST_P(Program, has_a_plan_that_is_read_again_as_it_was_written) {
  const auto found = find();
  ASSERT_TRUE(found) << to_text(found.diagnostics());
  const auto read = read_plan(write_plan(found->plan), "found.plan.yaml");
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  Plan without_origins = found->plan;
  const auto forget = [](const auto& self, auto& steps) -> void {
    for (auto& step : steps) {
      step.origin.clear();
      if constexpr (requires { step.steps; }) {
        self(self, step.steps);
      } else {
        self(self, step.transfers);
      }
    }
  };
  forget(forget, without_origins.steps);
  forget(forget, without_origins.transfers);
  EXPECT_EQ(write_plan(*read), write_plan(without_origins));
}

INSTANTIATE_TEST_SUITE_P(, Program, testing::ValuesIn(programs()),
                         [](const auto& name) { return name.param; });

TEST(Programs, several_files_are_one_program) {
  const auto folder = std::filesystem::temp_directory_path() / "warptime_host_test";
  std::filesystem::create_directories(folder);
  const std::string main_file = folder / "main.cu", kernel_file = folder / "kernel.cu";
  const std::string main_text = "void run(float* a, int n);\nint main() { run(nullptr, 640); }\n";
  const std::string kernel_text =
      "__global__ void k(float* a, int n) { a[threadIdx.x] = n; }\n"
      "void run(float* a, int n) { k<<<n / 64, 64>>>(a, n); }\n";
  std::ofstream(main_file) << main_text;
  std::ofstream(kernel_file) << kernel_text;
  const auto found = find_plan({{main_file, main_text}, {kernel_file, kernel_text}}, {});
  ASSERT_TRUE(found) << to_text(found.diagnostics());
  ASSERT_EQ(found->plan.steps.size(), 1u);
  const PlanLaunch& launch = *found->plan.steps.front().launch;
  EXPECT_EQ(launch.kernel, kernel_file);
  EXPECT_EQ(launch.grid, Dim3Expressions{10});
  EXPECT_EQ(launch.block, Dim3Expressions{64});
  std::filesystem::remove_all(folder);
}

TEST(Programs, without_a_launch_is_an_error) {
  const auto found = find_plan({{"none.cu", "__global__ void k() {}\nint main() {}\n"}}, {});
  ASSERT_FALSE(found);
  EXPECT_NE(to_text(found.diagnostics()).find("none.cu: error: no launch found in the host code"),
            std::string::npos);
}

TEST(Programs, kernel_files_are_named_from_the_folder_of_the_plan) {
  const auto found =
      find_plan({{"src/one.cu", "__global__ void k() {}\nint main() { k<<<1, 2>>>(); }\n"}}, {}, "plans");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->plan.steps.front().launch->kernel, "../src/one.cu");
}

// Work is bounded: recursion without end, loops in loops, branches in branches.
TEST(Programs, that_never_end_are_read_all_the_same) {
  std::string branches = "__global__ void k(int n) {}\nint ask(int);\nvoid f(int n) {\n  int x = 1;\n";
  for (int i = 0; i < 40; ++i)
    branches += "  if (ask(" + std::to_string(i) + ")) x = x * 2 + n; else x = n - x;\n";
  branches += "  k<<<x, 32>>>(n);\n}\n";
  const std::vector<std::string> endless = {
      "__global__ void k() {}\nvoid f(int n) { k<<<n, 1>>>(); f(n - 1); }\nint main(int c, char**) { f(c); "
      "}\n",
      "__global__ void k() {}\nint main() { for (;;) for (;;) for (;;) for (;;) k<<<1, 1>>>(); }\n",
      "__global__ void k() {}\nint main() { int n = 3; while (n != 0) { n = n * 3 % 1000003; k<<<n, 1>>>(); "
      "} }\n",
      branches};
  for (const std::string& text : endless) {
    const auto found = find_plan({{"endless.cu", text}}, {});
    EXPECT_TRUE(found) << text << to_text(found ? Diagnostics() : found.diagnostics());
  }
}

}  // namespace
}  // namespace warptime
