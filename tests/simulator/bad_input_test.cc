// Every file bad/bad-*.yaml is a test case: its first comment says what it is read as (program, plan, gpu,
// calibration), each
// `# expect: ` line is a part of what the user is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "simulator/gpu/gpu.h"
#include "simulator/plan/calibration.h"
#include "simulator/plan/plan.h"
#include "simulator/program/kernel_program.h"
#include "test_files.h"

namespace warptime {
namespace {

constexpr const char* kFolder = "tests/simulator/bad";

std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WARPTIME_SOURCE_DIR) + "/" + kFolder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

template <class T>
std::string told(const Result<T>& result) {
  return result ? "" : to_text(result.diagnostics());
}

std::string read_as(const std::string& what, const std::string& text, const std::string& file) {
  if (what == "# program") return told(read_kernel_programs(text, file));
  if (what == "# plan") return told(read_plan(text, file));
  if (what == "# gpu") return told(read_gpu(text, file));
  if (what == "# calibration") return told(read_calibration_file(text, file));
  ADD_FAILURE() << file << ": its first line says what it is read as";
  return {};
}

class BadInput : public testing::TestWithParam<std::string> {};

TEST_P(BadInput, IsExplained) {
  const std::string text = test::read_file(std::string(kFolder) + "/" + GetParam());
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::string told = read_as(line, text, GetParam());
  ASSERT_FALSE(told.empty()) << "it was accepted";
  int expectations = 0;
  while (std::getline(lines, line)) {
    if (line.rfind("# expect: ", 0) != 0) continue;
    ++expectations;
    EXPECT_NE(told.find(line.substr(10)), std::string::npos) << "expected: " << line.substr(10) << "\ntold:\n"
                                                             << told;
  }
  EXPECT_GT(expectations, 0);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string().substr(4);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, BadInput, testing::ValuesIn(bad_files()), test_name);

TEST(EmptyInput, IsExplained) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n---\n"}) {
    EXPECT_EQ(told(read_kernel_programs(text, "f.yaml")),
              "f.yaml: error: there is no kernel program in this file\n"
              "hint: the smallest one: `program: [calc: 10]`\n");
    EXPECT_NE(told(read_plan(text, "f.yaml")).find("f.yaml: error: a plan must be one YAML document"),
              std::string::npos);
    EXPECT_NE(told(read_gpu(text, "f.yaml")).find("f.yaml: error: a GPU file must be one YAML document"),
              std::string::npos);
    EXPECT_NE(
        told(read_calibration_file(text, "f.yaml")).find("a calibration file must be one YAML document"),
        std::string::npos);
  }
}

}  // namespace
}  // namespace warptime
