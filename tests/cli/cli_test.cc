// Runs every cases/*.case against the built command: a test for each, each in a folder of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "case_file.h"

namespace warptime::testing {
namespace {

namespace fs = std::filesystem;

// A folder for one case, removed in the end: `work` is where its commands run.
class Sandbox {
 public:
  Sandbox() {
    std::string pattern = (fs::temp_directory_path() / "warptime-cli.XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directory(work());
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void add(const std::string& name, const std::string& text) const {
    fs::create_directories((work() / name).parent_path());
    std::ofstream(work() / name) << text;
  }

  StepOutcome run(const std::string& command) const {
    std::ofstream(root_ / "step.sh") << command << "\n";
    const std::string line =
        fmt::format("cd '{0}/work' && timeout -k 5 100 sh '{0}/step.sh' >'{0}/out' 2>'{0}/err' </dev/null",
                    root_.string());
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read("out"), read("err")};
  }

 private:
  fs::path work() const { return root_ / "work"; }
  std::string read(const char* name) const {
    std::ostringstream text;
    text << std::ifstream(root_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path root_;
};

class CaseTest : public ::testing::Test {
 public:
  explicit CaseTest(Case what) : case_(std::move(what)) {}

  void TestBody() override {
    ASSERT_EQ(case_.mistake, "");
    const Sandbox sandbox;
    for (const auto& [name, text] : case_.files) sandbox.add(name, text);
    if (!case_.only_where.empty() && sandbox.run(case_.only_where).exit_status != 0)
      GTEST_SKIP() << "only where: " << case_.only_where;
    for (const auto& step : case_.steps) {
      const auto wrong = compare(step, sandbox.run(step.command));
      if (!wrong.empty())
        ADD_FAILURE() << case_.name << ".case:" << step.line << ": $ " << step.command << "\n" << wrong;
    }
  }

 private:
  Case case_;
};

void register_cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(WARPTIME_CASES))
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    Case one = read_case(path.string());
    std::string name = one.name;
    std::replace(name.begin(), name.end(), '-', '_');  // `-` means "not" to --gtest_filter
    ::testing::RegisterTest("cli", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [one] { return new CaseTest(one); });
  }
}

}  // namespace
}  // namespace warptime::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string folder = std::filesystem::path(WARPTIME_BINARY).parent_path().string();
  ::setenv("PATH", (folder + ":" + ::getenv("PATH")).c_str(), 1);
  ::setenv("ROOT", WARPTIME_ROOT, 1);
  warptime::testing::register_cases();
  return RUN_ALL_TESTS();
}
