// The profilers' CSVs: names, formats, runs, and hostile input.
#include "simulator/fit/profiler_csv.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "simulator/base/kernel_base_name.h"
#include "simulator/fit/counter_csv.h"

namespace warptime {
namespace {

const std::string nsys_heading =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "
    "(MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";

std::string nsys_line(int start, int duration, const std::string& name, const std::string& blocks = "4") {
  const bool kernel = !blocks.empty();
  return std::to_string(start) + "," + std::to_string(duration) + ",1," +
         (kernel ? blocks + ",1,1,256,1,1,16,0,0," : ",,,,,,,,,") + ",,,,NVIDIA H200 (0),1,,7,\"" + name +
         "\"\n";
}

TEST(KernelName, IsTheNameAlone) {
  struct Line {
    const char* written;
    const char* name;
  };
  const std::vector<Line> lines = {
      {"mtx", "mtx"},
      {"mtx(int, float const*)", "mtx"},
      {"void mtx<float, (int)4>(float const*, int)", "mtx"},
      {"void dwt::rows::mtx<std::pair<int, int> >(int)", "mtx"},
      {"void (anonymous namespace)::mtx<float>(int)", "mtx"},
      {"mtx(int, float*) [109]", "mtx"},
      {"mtx [109]", "mtx"},
      {"_Z3mtxiiPfS_S_", "mtx"},
      {"_ZN3dwt4rows3mtxEi", "mtx"},
      {"_ZN3dwt3mtxIfEEvPT_i", "mtx"},
      {"_ZN12_GLOBAL__N_13mtxEi", "mtx"},
      {"_Z99mtx", "_Z99mtx"},
      {"_Z", "_Z"},
      {"", ""},
      {"cudaLaunchKernel (mtx(...) [3])", "cudaLaunchKernel"},
      {"f<<<<", "f"},
      {">>f", ">>f"},
  };
  for (const Line& line : lines) EXPECT_EQ(kernel_base_name(line.written), line.name) << line.written;
}

TEST(ProfilerCsv, AreRecognisedByTheirHeadings) {
  EXPECT_EQ(recognise_profiler("junk\n" + nsys_heading), Profiler::nsys);
  EXPECT_EQ(recognise_profiler("Time (%),Total Time (ns),Instances,Avg (ns),Name\n"), Profiler::nsys);
  EXPECT_EQ(recognise_profiler("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"),
            Profiler::ncu);
  EXPECT_EQ(recognise_profiler("==1== NVPROF\n\"Start\",\"Duration\",\"Device\",\"Name\"\n"),
            Profiler::nvprof);
  EXPECT_EQ(recognise_profiler("\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"),
            Profiler::nvprof);
  EXPECT_EQ(recognise_profiler("plan,gpu,time_us\n"), std::nullopt);
  EXPECT_EQ(recognise_profiler(""), std::nullopt);
}

TEST(ProfilerCsv, NsysTracesAreInOrderOfStart) {
  const auto csv =
      read_profiler_csv("NOTICE: x\n" + nsys_heading + nsys_line(900, 2000, "second(int, int)") +
                            nsys_line(10, 1500, "first") + nsys_line(5, 100, "[CUDA memset]", ""),
                        "t.csv", Profiler::nsys);
  ASSERT_TRUE(csv) << to_text(csv.diagnostics());
  ASSERT_EQ(csv->kernels.size(), 2u);
  EXPECT_EQ(csv->kernels[0].name, "first");
  EXPECT_EQ(csv->kernels[0].duration_us, 1.5);
  EXPECT_EQ(csv->kernels[0].line, 4);
  EXPECT_EQ(csv->kernels[0].device, "NVIDIA H200");
  EXPECT_EQ(csv->kernels[1].blocks, 4);
  EXPECT_EQ(csv->kernels[1].threads_per_block, 256);
  ASSERT_EQ(csv->others.size(), 1u);
  EXPECT_EQ(csv->others[0].name, "[CUDA memset]");
}

TEST(ProfilerCsv, NcuTellsUnitsAndGroupsDigits) {
  const std::string heading =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\",\"Rule\"\n";
  const auto csv = read_profiler_csv(
      heading +
          "\"0\",\"f(int)\",\"(256, 2, 1)\",\"(8, 1, 1)\",\"Duration\",\"usecond\",\"12.5\"\n"
          "\"0\",\"f(int)\",\"(256, 2, 1)\",\"(8, 1, 1)\",\"Registers\",\"\",\"12\",\n"
          "\"1\",\"f(int)\",\"(256, 2, 1)\",\"(8, 1, 1)\",\"gpu__time_duration.sum\",\"ns\",\"1,234,500\",\n",
      "n.csv", Profiler::ncu);
  ASSERT_TRUE(csv) << to_text(csv.diagnostics());
  ASSERT_EQ(csv->kernels.size(), 2u);
  EXPECT_EQ(csv->kernels[0].duration_us, 12.5);
  EXPECT_EQ(csv->kernels[0].threads_per_block, 512);
  EXPECT_DOUBLE_EQ(csv->kernels[1].duration_us, 1234.5);
  const auto raw = read_profiler_csv(
      "\"ID\",\"Kernel Name\",\"device__attribute_display_name\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"ms\"\n\"0\",\"f\",\"NVIDIA H200\",\"0.5\"\n",
      "r.csv", Profiler::ncu);
  ASSERT_TRUE(raw) << to_text(raw.diagnostics());
  EXPECT_EQ(raw->kernels[0].duration_us, 500);
  EXPECT_EQ(raw->kernels[0].device, "NVIDIA H200");
}

TEST(ProfilerCsv, NvprofHasUnitsBelowTheHeadingOrBehindTheNumber) {
  const auto csv = read_profiler_csv(
      "==1== NVPROF is profiling\n\"Start\",\"Duration\",\"Device\",\"Name\"\nms,us,,\n"
      "315.52,1701.3,\"-\",\"cudaMalloc\"\n"
      "326.70,872.94,\"GeForce RTX 2060 (0)\",\"mtx_mul_vec(int, float*) [121]\"\n"
      "327.70,8.7098ms,\"GeForce RTX 2060 (0)\",\"mtx_mul_vec(int, float*) [122]\"\n",
      "v.csv", Profiler::nvprof);
  ASSERT_TRUE(csv) << to_text(csv.diagnostics());
  ASSERT_EQ(csv->kernels.size(), 2u);
  EXPECT_EQ(csv->kernels[0].duration_us, 872.94);
  EXPECT_DOUBLE_EQ(csv->kernels[1].duration_us, 8709.8);
  EXPECT_EQ(csv->kernels[0].device, "GeForce RTX 2060");
  EXPECT_EQ(csv->others[0].name, "cudaMalloc");
  const auto summary = read_profiler_csv(
      "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,us,us,us,\n"
      "\"GPU activities\",90,0.3,3,100,99,101,\"f(int)\"\n\"API calls\",10,1,3,3,3,3,\"cudaFree\"\n",
      "s.csv", Profiler::nvprof);
  ASSERT_TRUE(summary) << to_text(summary.diagnostics());
  EXPECT_TRUE(summary->summary);
  ASSERT_EQ(summary->kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(summary->kernels[0].duration_us, 100);
  EXPECT_EQ(summary->kernels[0].instances, 3);
}

TEST(ProfilerCsv, CallsThatLaunchAreNoKernels) {
  const std::string calls =
      "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
      "1,9,cudaMalloc,0,1,2,3,4,a\n2,4000,cudaLaunchKernel_v7000,0,2,2,3,4,a\n"
      "3,2500,cudaLaunchKernel,0,3,2,3,4,a\n";
  const auto trace = read_profiler_csv(calls, "t.csv", Profiler::nsys);
  ASSERT_TRUE(trace) << to_text(trace.diagnostics());
  EXPECT_TRUE(trace->kernels.empty());
  EXPECT_EQ(trace->launch_calls_us, (std::vector<double>{4, 2.5}));
  // A table without grids and devices is not for that one of calls.
  const auto kernels =
      read_profiler_csv("Start (ns),Duration (ns),Name\n1,2000,f\n", "t.csv", Profiler::nsys);
  ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
  ASSERT_EQ(kernels->kernels.size(), 1u);
  EXPECT_TRUE(kernels->launch_calls_us.empty());
}

TEST(ProfilerCsv, BadInputIsSaid) {
  struct Line {
    Profiler profiler;
    std::string text;
    const char* says;
  };
  const std::vector<Line> lines = {
      {Profiler::nsys, "", "has no heading of nsys"},
      {Profiler::ncu, nsys_heading, "has no heading of ncu"},
      {Profiler::nsys, nsys_heading, "has no kernels"},
      {Profiler::nsys, nsys_heading + nsys_line(1, 0, "f"),
       "t.csv:2: error: the duration of f is 0: a time must be positive"},
      {Profiler::nsys, nsys_heading + nsys_line(1, -7, "f"),
       "the duration of f is -7: a time must be positive"},
      {Profiler::nsys, "Start (ns),Duration (weeks),Name\n1,2,f\n",
       "is in `weeks`, which is not a unit of time"},
      {Profiler::nsys, "Start (ns),Duration (ns),Name\n1,two,f\n", "which is not a number"},
      {Profiler::nsys, "Start (ns),Duration (ns),Name\n1,2,\"f\n",
       "t.csv:2: error: this is not a CSV file: an unclosed quote"},
      {Profiler::nsys, "Total Time (ns),Instances,Name\n10,0,f\n",
       "`Instances` is `0`: not a number of launches"},
      {Profiler::ncu, "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,f,Registers,,3\n",
       "the kernel with ID 0 has no Duration"},
      {Profiler::ncu, "ID,Kernel Name,Registers\n0,f,3\n", "there is no column `gpu__time_duration.sum`"},
      {Profiler::ncu, "ID,Kernel Name,Metric Name\n0,f,Duration\n", "there is no column `Metric Unit`"},
  };
  for (const Line& line : lines) {
    const auto csv = read_profiler_csv(line.text, "t.csv", line.profiler);
    ASSERT_FALSE(csv) << line.text;
    EXPECT_NE(to_text(csv.diagnostics()).find(line.says), std::string::npos)
        << line.text << to_text(csv.diagnostics());
  }
}

// Two kernels: `a` once and `b` twice in a run.
std::vector<RunShape> shapes(std::size_t count) {
  std::vector<RunShape> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({{static_cast<std::int64_t>(i)}, {{{"a"}, 1}, {{"b"}, 2}}, 3, {4, 256}});
  return all;
}

Plan plan_of_two() {
  Plan plan;
  plan.name = "two";
  plan.parameters.push_back({"N", ""});
  return plan;
}

Result<MatchedRuns> matched(const std::string& names, std::size_t sizes) {
  std::string text = nsys_heading;
  int start = 0;
  for (const char name : names) {
    ++start;
    text += nsys_line(start, 1000 * start, std::string(1, name));
  }
  const auto csv = read_profiler_csv(text, "t.csv", Profiler::nsys);
  if (!csv) return csv.diagnostics();
  return match_runs(*csv, "NVIDIA H200", plan_of_two(), shapes(sizes));
}

TEST(MatchedRuns, AreCutByTheLaunchesOfAPlan) {
  const auto runs = matched(
      "abbabb"
      "bbabba",
      2);
  ASSERT_TRUE(runs) << to_text(runs.diagnostics());
  ASSERT_EQ(runs->rows.size(), 2u);
  EXPECT_EQ(runs->rows[0].repetitions, 2);
  EXPECT_EQ(runs->rows[0].time_us, (6 + 15) / 2.0);  // median of 1+2+3 and 4+5+6
  EXPECT_EQ(runs->rows[0].spread_us, 4.5);
  EXPECT_EQ(runs->rows[1].values, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(runs->notes.empty());
}

TEST(MatchedRuns, WhatDoesNotFitIsNamed) {
  const auto with_others = matched("abxbx", 1);
  ASSERT_TRUE(with_others);
  ASSERT_EQ(with_others->notes.size(), 1u);
  EXPECT_EQ(with_others->notes[0].message, "lines that are not of a kernel of two: x (2)");
  EXPECT_NE(to_text(matched("abba", 1).diagnostics()).find("not a whole number of runs"), std::string::npos);
  EXPECT_NE(to_text(matched("abaabb", 1).diagnostics()).find("t.csv:4: error: a is launched here"),
            std::string::npos);
  EXPECT_NE(to_text(matched("xyz", 1).diagnostics()).find("has none of the kernels of two"),
            std::string::npos);
}

TEST(ProfilerCsv, AnyBytesAreReadOrRefused) {
  std::mt19937 random(13);
  const std::string pieces[] = {"f", "(",    ")",   "<",   ">",  ",",     ",",
                                ",", "\n",   "\"",  "1",   "-1", "1e308", "ns",
                                "[", " (0)", "_Z9", "_ZN", "::", "\xff",  std::string(1, '\0')};
  const std::vector<std::pair<Profiler, std::string>> headings = {
      {Profiler::nsys, nsys_heading},
      {Profiler::nsys, "Total Time (ns),Instances,Name\n"},
      {Profiler::nvprof, "\"Start\",\"Duration\",\"Grid X\",\"Device\",\"Name\"\nms,us,,,\n"},
      {Profiler::ncu, "ID,Kernel Name,Grid Size,Block Size,Metric Name,Metric Unit,Metric Value\n"},
      {Profiler::ncu, "ID,Kernel Name,gpu__time_duration.sum\n"}};
  for (int round = 0; round < 4000; ++round) {
    const auto& [profiler, heading] = headings[random() % headings.size()];
    std::string text = heading;
    for (unsigned i = random() % 80; i > 0; --i) text += pieces[random() % std::size(pieces)];
    const auto csv = read_profiler_csv(text, "t.csv", profiler);
    if (!csv) continue;
    for (const auto& kernel : csv->kernels) EXPECT_GT(kernel.duration_us, 0);
    (void)match_runs(*csv, csv->kernels.front().device, plan_of_two(), shapes(1));
  }
}

TEST(CounterCsv, HasMeansOfEqualLaunchesInBaseUnits) {
  const auto kernels = read_counter_csv(
      "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"dram__bytes.sum\",\"gpu__time_duration.sum\"\n"
      ",,,,Kbyte,ns\n0,f(int),\"(32, 1, 1)\",\"(4, 2, 1)\",1.5,\"2,000\"\n"
      "1,f(int),\"(32, 1, 1)\",\"(4, 2, 1)\",2.5,n/a\n2,f(int),\"(64, 1, 1)\",\"(4, 2, 1)\",7,1\n",
      "c.csv");
  ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
  ASSERT_EQ(kernels->size(), 2u);
  const CountedKernel& first = kernels->front();
  EXPECT_EQ(first.launches, 2);
  EXPECT_EQ(first.line, 4);
  EXPECT_EQ(to_string(first.size.grid), "4x2x1");
  EXPECT_EQ(first.values.at("dram__bytes.sum"), 2000);
  EXPECT_EQ(first.values.at("gpu__time_duration.sum"), 2000);  // of the launch that has it
}

TEST(CounterCsv, SaysWhatIsWrong) {
  EXPECT_FALSE(read_counter_csv("a,b\n1,2\n", "c.csv"));
  EXPECT_FALSE(read_counter_csv("kernel,grid,block,x__y.sum\n", "c.csv"));
  const auto wrong = read_counter_csv("junk\nkernel,grid,block,x__y.sum\nf,4x2x1,none,3\n", "c.csv");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.diagnostics().front().line, 3);
}

}  // namespace
}  // namespace warptime
