#include "simulator/gpu.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test_files.h"

namespace warptime {
namespace {

struct Table3Row {
  const char* name;
  ComputeCapability compute_capability;
  double clock_mhz;
  int sms, cores_per_sm, max_blocks_per_sm, max_warps_per_sm;
};
class Table3 : public testing::TestWithParam<Table3Row> {};

TEST_P(Table3, IsKeptAsPrinted) {
  const Table3Row& row = GetParam();
  const auto found = GpuCatalogue::bundled().find(row.name);
  ASSERT_TRUE(found);
  const Gpu& gpu = **found;
  EXPECT_EQ(gpu.compute_capability, row.compute_capability);
  EXPECT_EQ(gpu.clock_mhz, row.clock_mhz);
  EXPECT_EQ(gpu.sms, row.sms);
  EXPECT_EQ(gpu.cores_per_sm, row.cores_per_sm);
  EXPECT_EQ(gpu.max_blocks_per_sm, row.max_blocks_per_sm);
  EXPECT_EQ(gpu.max_warps_per_sm, row.max_warps_per_sm);
  EXPECT_EQ(gpu.warp_size, 32);
  EXPECT_EQ(gpu.max_threads_per_block, 1024);
  EXPECT_TRUE(gpu.validated);
}

INSTANTIATE_TEST_SUITE_P(Rows, Table3,
                         testing::Values(Table3Row{"gt-720m", {2, 1}, 1550, 2, 32, 8, 48},
                                         Table3Row{"k1000m", {3, 0}, 706, 2, 192, 16, 64},
                                         Table3Row{"gtx-860m", {5, 0}, 1020, 5, 128, 32, 64},
                                         Table3Row{"gtx-1070", {6, 1}, 1760, 10, 128, 32, 64},
                                         Table3Row{"rtx-2060", {7, 5}, 1200, 30, 64, 16, 32},
                                         Table3Row{"rtx-2080", {7, 5}, 1545, 68, 64, 16, 32}));

TEST(GpuCatalogue, HasNineInOrderOfComputeCapability) {
  std::vector<std::string> names;
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus()) names.push_back(gpu.name);
  EXPECT_EQ(names, (std::vector<std::string>{"tesla-c2050", "gt-720m", "k1000m", "gtx-860m", "gtx-1070",
                                             "rtx-2060", "rtx-2080", "rtx-2080-ti", "h200"}));
}

TEST(GpuCatalogue, EveryFigureHasASource) {
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus()) {
    for (const char* field :
         {"compute_capability", "clock_mhz", "sms", "cores_per_sm", "max_blocks_per_sm", "max_warps_per_sm",
          "warp_size", "max_threads_per_block", "t_p_us", "t_m_cycles", "memory_cycles"}) {
      EXPECT_TRUE(gpu.sources.count(field) == 1 && !gpu.sources.at(field).empty())
          << gpu.name << " " << field;
    }
    EXPECT_FALSE(gpu.title.empty());
    EXPECT_EQ(gpu.durations.load, paper_durations().load);
  }
}

TEST(GpuCatalogue, DefaultsOfTheUncalibratedAreThoseOfTheNearestArchitecture) {
  const auto& catalogue = GpuCatalogue::bundled();
  const auto same = [&](const char* name, const char* like) {
    const Gpu& gpu = **catalogue.find(name);
    EXPECT_FALSE(gpu.validated) << name;
    EXPECT_EQ(gpu.t_p_us, (*catalogue.find(like))->t_p_us) << name;
    EXPECT_EQ(gpu.t_m_cycles, (*catalogue.find(like))->t_m_cycles) << name;
  };
  same("rtx-2080-ti", "rtx-2080");
  same("tesla-c2050", "gt-720m");
  same("h200", "rtx-2080");
}

TEST(GpuCatalogue, AnUnknownNameGetsTheNearest) {
  EXPECT_EQ(to_text(GpuCatalogue::bundled().find("rtx2080").diagnostics()),
            "error: unknown GPU `rtx2080`\nhint: did you mean `rtx-2080`?\n");
  EXPECT_NE(to_text(GpuCatalogue::bundled().find("abacus").diagnostics()).find("`tesla-c2050`, `gt-720m`"),
            std::string::npos);
}

// A folder that goes away with the test.
class Folder : public testing::Test {
 protected:
  Folder() : path_(std::filesystem::temp_directory_path() / ("warptime-gpus-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() override { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path_ / name) << text; }
  std::filesystem::path path_;
};

TEST_F(Folder, AddsAndReplacesGpus) {
  std::string mine = test::read_file("simulator/gpus/rtx-2080.yaml");
  mine.replace(mine.find("value: 68"), 9, "value: 46");
  write("better.yaml", mine);
  mine.replace(mine.find("rtx-2080"), 8, "my-own");
  write("own.yaml", mine);
  write("notes.txt", "not a GPU");
  const auto catalogue = GpuCatalogue::with_folder(path_.string());
  ASSERT_TRUE(catalogue) << to_text(catalogue.diagnostics());
  EXPECT_EQ(catalogue->gpus().size(), 10u);
  EXPECT_EQ((*catalogue->find("rtx-2080"))->sms, 46);
  EXPECT_EQ((*catalogue->find("my-own"))->sms, 46);
}

TEST_F(Folder, SaysWhatIsWrongInEachFile) {
  write("a.yaml", "name: a\n");
  write("b.yaml", "");
  std::filesystem::create_directory(path_ / "c.yaml");
  const auto catalogue = GpuCatalogue::with_folder(path_.string());
  ASSERT_FALSE(catalogue);
  const std::string text = to_text(catalogue.diagnostics());
  for (const char* part :
       {"a.yaml:1:1: error: a GPU has no `title`", "b.yaml: error: a GPU's file is one YAML document",
        "c.yaml: error: cannot be read"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(GpuCatalogue, AFolderThatIsNotThere) {
  const auto catalogue = GpuCatalogue::with_folder("/no/such/folder");
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(to_text(catalogue.diagnostics()),
            "error: cannot read the folder /no/such/folder: No such file or directory\n");
}

TEST(Gpu, EveryFieldIsMissedWhereItIsNotThere) {
  const std::string whole = test::read_file("simulator/gpus/rtx-2080.yaml");
  ASSERT_TRUE(read_gpu(whole, "whole.yaml"));
  for (const char* field :
       {"name", "title", "compute_capability", "clock_mhz", "sms", "cores_per_sm", "max_blocks_per_sm",
        "max_warps_per_sm", "warp_size", "max_threads_per_block", "t_p_us", "t_m_cycles"}) {
    std::string text = whole;
    const auto begin = text.find(std::string(field) + ":");
    text.erase(begin, text.find('\n', begin) + 1 - begin);
    const auto gpu = read_gpu(text, "part.yaml");
    ASSERT_FALSE(gpu) << field;
    EXPECT_EQ(gpu.diagnostics().front().message, "a GPU has no `" + std::string(field) + "`");
  }
}

}  // namespace
}  // namespace warptime
