// What a document is analysed for.
#include "cli/lsp/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace warptime::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Settings, WordsAreThoseOfAShell) {
  EXPECT_EQ(split_words("--param 'N=2^20, K=8'  a\\ b \"c d\"e"),
            (Words{"--param", "N=2^20, K=8", "a b", "c de"}));
  EXPECT_EQ(split_words("  "), Words{});
  EXPECT_EQ(split_words("''"), Words{""});
}

Arguments arguments_for(const std::string& text, const std::string& kernel,
                        const lsp::Json& client = nullptr) {
  const DocumentSettings settings = read_document_settings("", text, client);
  EXPECT_TRUE(settings.wrong.empty());
  auto arguments = settings.arguments_for(kernel);
  EXPECT_TRUE(arguments);
  return arguments ? *arguments : Arguments();
}

TEST(Settings, WithoutAnyThereIsADefaultGpu) {
  EXPECT_EQ(arguments_for("", "k").values("gpu"), Words{default_editor_gpu});
}

TEST(Settings, CommentsBeatTheClient) {
  const lsp::Json client = {{"warptime", {{"gpu", "a100"}, {"options", "--threads M --param N=4,K=8"}}}};
  const Arguments arguments =
      arguments_for("  // warptime: --gpu v100 --grid 16 --block 32 --param N=64\n", "k", client);
  EXPECT_EQ(arguments.values("gpu"), Words{"v100"});
  EXPECT_FALSE(arguments.has("threads"));  // a launch replaces a launch
  EXPECT_EQ(arguments.value("grid"), "16");
  EXPECT_EQ(arguments.values("param"), (Words{"K=8", "N=64"}));
}

TEST(Settings, KernelsHaveTheirOwn) {
  const std::string text = "// warptime: --kernel a --threads 7\n// warptime: --threads 8\n";
  EXPECT_EQ(arguments_for(text, "a").value("threads"), "7");
  EXPECT_EQ(arguments_for(text, "b").value("threads"), "8");
}

TEST(Settings, FlagsAreForTheCompiler) {
  EXPECT_EQ(arguments_for("// warptime: --threads 8 -- -I include -DX=1", "k").compiler_flags(),
            (Words{"-I", "include", "-DX=1"}));
}

TEST(Settings, MistakesHaveTheirPlace) {
  const DocumentSettings settings =
      read_document_settings("/k.cu", "\n// warptime: --thread 8\n// warptime: --param\n", nullptr);
  ASSERT_EQ(settings.wrong.size(), 2U);
  EXPECT_EQ(settings.wrong[0].file, "/k.cu");
  EXPECT_EQ(settings.wrong[0].line, 2);
  EXPECT_NE(settings.wrong[0].message.find("--thread"), std::string::npos);
  EXPECT_NE(settings.wrong[0].hint.find("--threads"), std::string::npos);
  EXPECT_EQ(settings.wrong[1].line, 3);
}

TEST(Settings, TheNearestFileCounts) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "warptime_settings";
  fs::create_directories(folder / "inner");
  std::ofstream(folder / settings_file) << "options: --gpu a100\nsources:\n  inner/k.cu: --threads 5\n";
  const auto settings = read_document_settings((folder / "inner/k.cu").string(), "", nullptr);
  ASSERT_TRUE(settings.wrong.empty()) << to_text(settings.wrong);
  EXPECT_EQ(settings.arguments_for("k")->value("gpu"), "a100");
  EXPECT_EQ(settings.arguments_for("k")->value("threads"), "5");
  std::ofstream(folder / "inner" / settings_file) << "option: --gpu a100\n";
  const auto wrong = read_document_settings((folder / "inner/k.cu").string(), "", nullptr);
  ASSERT_EQ(wrong.wrong.size(), 1U);
  EXPECT_EQ(wrong.wrong[0].file, (folder / "inner" / settings_file).string());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace warptime::cli
