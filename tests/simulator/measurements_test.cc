// Measurements and CSV: what is read, and what bad input says.
#include "simulator/fit/measurements.h"

#include <gtest/gtest.h>

#include <random>

namespace warptime {
namespace {

Plan plan_with(const std::vector<std::string>& parameters) {
  Plan plan;
  plan.name = "mtx";
  for (const auto& name : parameters) plan.parameters.push_back({name, ""});
  return plan;
}

Result<SelectedMeasurements> selected(std::string_view text, MeasurementSelection selection = {}) {
  const auto file = read_measurements(text, "m.csv");
  if (!file) return file.diagnostics();
  return select_measurements(*file, plan_with({"K", "N"}), selection);
}

TEST(Csv, FieldsAreThoseOfRfc4180) {
  const auto records = read_csv(
      "\xEF\xBB\xBF"
      "a, b ,\"c, \"\"d\"\"\ne\"\r\n\r\n1,,\n",
      "f");
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ((*records)[0].fields, (std::vector<std::string>{"a", "b", "c, \"d\"\ne"}));
  EXPECT_EQ((*records)[1].fields, (std::vector<std::string>{"1", "", ""}));
  EXPECT_EQ((*records)[1].line, 4);
  EXPECT_EQ(csv_quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
}

TEST(Csv, NumbersAreWholeTexts) {
  struct Line {
    const char* text;
    bool separators;
    double number;  // negative: none
  };
  for (const Line& line : {Line{"1.5", false, 1.5},
                           {"1e3", false, 1000},
                           {"1,234.5", true, 1234.5},
                           {"12,345,678", true, 12345678},
                           {"1,234", false, -1},
                           {"1,23", true, -1},
                           {",123", true, -1},
                           {"", false, -1},
                           {"1x", false, -1},
                           {"inf", false, -1},
                           {"nan", false, -1},
                           {"1e999", false, -1}}) {
    double number = -1;
    EXPECT_EQ(read_decimal(line.text, number, line.separators), line.number >= 0) << line.text;
    EXPECT_EQ(number, line.number) << line.text;
  }
}

TEST(Measurements, ColumnsAreFoundByTheirTitles) {
  const auto rows = selected(
      "note,time_us,gpu,N,plan,K,what,spread_us,blocks\n"
      "\"a, b\",7.25,h200,1024,mtx,8,kernels,0.5,4\n"
      ",9,h200,1024,mtx,8,plan,,\n"
      ",8,gtx-1070,64,mtx,8,,,\n"
      ",8,h200,64,ltt,,kernels,,\n");
  ASSERT_TRUE(rows) << to_text(rows.diagnostics());
  ASSERT_EQ(rows->gpus.size(), 2u);
  EXPECT_EQ(rows->gpus[0].gpu, "h200");
  ASSERT_EQ(rows->gpus[0].rows.size(), 1u);
  const Measured& row = rows->gpus[0].rows[0];
  EXPECT_EQ(row.values, (std::vector<std::int64_t>{8, 1024}));
  EXPECT_EQ(row.time_us, 7.25);
  EXPECT_EQ(row.spread_us, 0.5);
  EXPECT_EQ(row.blocks, 4);
  EXPECT_FALSE(row.threads_per_block);
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(rows->other_plans, 1u);
  EXPECT_EQ(rows->other_kinds, 1u);
}

TEST(Measurements, AreReadBackAsTheyAreWritten) {
  std::vector<MeasuredOnGpu> measured{{"h200", {}}};
  measured[0].rows.push_back({{8, 64}, 1.0 / 3, 0.1, 20, 2, 32, "", 0, Dim3{2, 1, 1}, Dim3{16, 2, 1}});
  measured[0].rows.push_back({{10, 128}, 1e6, {}, {}, {}, {}, "", 0});
  const auto rows = selected(to_csv(plan_with({"K", "N"}), measured));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->gpus[0].rows.size(), 2u);
  EXPECT_EQ(rows->gpus[0].rows[0].time_us, 1.0 / 3);
  EXPECT_EQ(rows->gpus[0].rows[0].threads_per_block, 32);
  EXPECT_EQ(rows->gpus[0].rows[0].grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(rows->gpus[0].rows[0].block, (Dim3{16, 2, 1}));
  EXPECT_FALSE(rows->gpus[0].rows[1].grid);
  EXPECT_EQ(rows->gpus[0].rows[1].time_us, 1e6);
  EXPECT_FALSE(rows->gpus[0].rows[1].blocks);
}

TEST(Measurements, DimensionsGiveTheirProducts) {
  const auto rows =
      selected("plan,gpu,K,N,time_us,block,grid\nmtx,h200,8,64,1,16x2x1,3x4x5\nmtx,h200,8,64,1,,\n");
  ASSERT_TRUE(rows) << to_text(rows.diagnostics());
  EXPECT_EQ(rows->gpus[0].rows[0].blocks, 60);
  EXPECT_EQ(rows->gpus[0].rows[0].threads_per_block, 32);
  EXPECT_FALSE(rows->gpus[0].rows[1].block);
}

TEST(Measurements, BadInputIsSaid) {
  struct Line {
    const char* text;
    const char* says;
  };
  const std::vector<Line> lines = {
      {"", "is empty"},
      {"\n\n", "is empty"},
      {"plan,gpu,K,N,time_us\n", "has a heading but no rows"},
      {"plan,gpu,K,N\n", "there is no column `time_us`"},
      {"gpu,K,N,time_us\n", "there is no column `plan`"},
      {"plan,gpu,K,K,time_us\n", "the column `K` occurs twice"},
      {"plan,gpu,K,time_us\nmtx,a,1,2\n", "there is no column `N`, a parameter of mtx"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,2\n", "m.csv:2: error: 4 fields, but the heading has 5"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,2,0\n", "m.csv:2: error: `time_us` is 0: a time must be positive"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,2,-1\n", "`time_us` is -1: a time must be positive"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,2,nan\n", "`time_us` is `nan`, which is not a number"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,2,\n", "`time_us` is ``, which is not a number"},
      {"plan,gpu,K,N,time_us\nmtx,a,1,9223372036854775808,2\n", "not a whole number of 64 bits"},
      {"plan,gpu,K,N,time_us,blocks\nmtx,a,1,2,3,x\n", "`blocks` is `x`, which is not a whole number"},
      {"plan,gpu,K,N,time_us,grid\nmtx,a,1,2,3,4x4\n", "`grid` is `4x4`, which is not XxYxZ"},
      {"plan,gpu,K,N,time_us,block\nmtx,a,1,2,3,4x0x1\n", "`block` is `4x0x1`, which is not XxYxZ"},
      {"plan,gpu,K,N,time_us\nltt,a,1,2,3\n", "no rows of the plan mtx: it has rows of `ltt`"},
      {"plan,gpu,K,N,time_us\nmtx,\"a,1,2,3\n", "m.csv:2: error: this is not a CSV file: an unclosed quote"},
  };
  for (const Line& line : lines) {
    const auto rows = selected(line.text);
    ASSERT_FALSE(rows) << line.text;
    EXPECT_NE(to_text(rows.diagnostics()).find(line.says), std::string::npos)
        << line.text << to_text(rows.diagnostics());
  }
}

TEST(Measurements, ManyBadLinesAreCounted) {
  std::string text = "plan,gpu,K,N,time_us\n";
  for (int i = 0; i < 1000; ++i) text += "mtx,a,1,2,x\n";
  const auto rows = selected(text);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.diagnostics().size(), 11u);
  EXPECT_EQ(rows.diagnostics().back().message, "and 990 more wrong lines");
}

TEST(Measurements, AnyBytesAreReadOrRefused) {
  std::mt19937 random(11);
  const std::string pieces[] = {"plan",
                                "gpu",
                                "K",
                                "N",
                                "time_us",
                                ",",
                                ",",
                                ",",
                                "\n",
                                "\n",
                                "\"",
                                "mtx",
                                "1",
                                "1.5",
                                "\r",
                                "\xff",
                                std::string(1, '\0'),
                                " "};
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? "plan,gpu,K,N,time_us\n" : "";
    for (unsigned i = random() % 60; i > 0; --i) text += pieces[random() % std::size(pieces)];
    const auto rows = selected(text);
    if (!rows) {
      EXPECT_FALSE(rows.diagnostics().empty());
    }
  }
}

}  // namespace
}  // namespace warptime
