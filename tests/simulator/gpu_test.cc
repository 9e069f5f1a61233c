#include "simulator/gpu/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <span>

#include "simulator/base/csv.h"
#include "simulator/gpu/occupancy.h"
#include "test_files.h"

namespace warptime {
namespace {

struct Table3Row {
  const char* name;
  ComputeCapability compute_capability;
  double clock_mhz;
  int sms, cores_per_sm, max_blocks_per_sm, max_warps_per_sm;
};
void PrintTo(const Table3Row& one, std::ostream* out) {
  *out << one.name;
}
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

const Gpu& gpu_named(const char* name) {
  const auto found = GpuCatalogue::bundled().find(name);
  EXPECT_TRUE(found) << name;
  return found ? **found : GpuCatalogue::bundled().gpus().front();
}

TEST(GpuCatalogue, HasWhatUsersAskFor) {
  for (const char* name :
       {// Table 3 of Puchala et al.
        "gt-720m", "k1000m", "gtx-860m", "gtx-1070", "rtx-2060", "rtx-2080",
        // the other seeds
        "8800-gtx", "gtx-260", "gtx-280", "gtx-285", "gtx-295", "gtx-560", "gtx-580", "gtx-680", "gtx-780-ti",
        "gtx-980", "gtx-980-ti", "rtx-2080-ti", "tesla-c1060", "tesla-c2050", "tesla-c870",
        // data centres and desks
        "a10", "a100", "b200", "gtx-1080-ti", "h100-nvl", "h100-pcie", "h100-sxm", "h200", "l4", "l40s",
        "p100", "rtx-3090", "rtx-4090", "rtx-5090", "t4", "tesla-k80", "v100"})
    EXPECT_EQ(gpu_named(name).name, name);
}

TEST(GpuCatalogue, IsInOrderOfComputeCapabilityThenName) {
  const auto& gpus = GpuCatalogue::bundled().gpus();
  for (std::size_t i = 1; i < gpus.size(); ++i)
    EXPECT_LT(std::tie(gpus[i - 1].compute_capability, gpus[i - 1].name),
              std::tie(gpus[i].compute_capability, gpus[i].name));
}

// Each file of simulator/gpu/catalogue/, held against the facts that a new one must not get wrong. A file
// that passes is a GPU of the catalogue.
class CatalogueFile : public testing::TestWithParam<std::string> {};

std::vector<std::string> catalogue_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WARPTIME_SOURCE_DIR) + "/simulator/gpu/catalogue"))
    files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

// FP32 results per cycle and SM: CUDA C Programming Guide, throughput of arithmetic instructions.
std::optional<int> cores_of(ComputeCapability capability) {
  const auto [major, minor] = capability;
  if (major == 1) return 8;
  if (major == 2) return minor == 0 ? 32 : 48;
  if (major == 3) return 192;
  if (major == 5) return 128;
  if (major == 6) return minor == 0 ? 64 : 128;
  if (major == 7) return 64;
  if (major == 8) return minor == 0 ? 64 : 128;
  if (major == 9 || major == 10 || major == 12) return 128;
  return std::nullopt;
}

TEST_P(CatalogueFile, IsComplete) {
  const auto read = read_gpu(test::read_file("simulator/gpu/catalogue/" + GetParam()), GetParam());
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  const Gpu& gpu = *read;
  EXPECT_EQ(gpu.name + ".yaml", GetParam()) << "a file bears the GPU's name";
  EXPECT_EQ(gpu.title.rfind("NVIDIA ", 0), 0u) << gpu.title;
  EXPECT_NE(gpu.sources.count("compute_capability"), 0u);
  for (const GpuFigure& figure : gpu_figures()) {
    if (!figure.get(gpu)) continue;
    const auto source =
        gpu.sources.find(figure.name.find('.') == std::string::npos ? figure.name : "memory_cycles");
    ASSERT_NE(source, gpu.sources.end()) << figure.name << " has no source";
    EXPECT_GE(source->second.size(), 10u) << figure.name << ": " << source->second;
    for (const char* word : {"TODO", "todo", "FIXME", "???", "unknown", "my own"})
      EXPECT_EQ(source->second.find(word), std::string::npos) << figure.name << ": " << source->second;
  }
  for (const char* figure : {"registers_per_sm", "shared_bytes_per_sm", "shared_bytes_per_block"})
    EXPECT_EQ(gpu.sources.count(figure), 1u) << figure;
}

TEST_P(CatalogueFile, IsBundledAsItStands) {
  const auto read = read_gpu(test::read_file("simulator/gpu/catalogue/" + GetParam()), GetParam());
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  const Gpu& gpu = gpu_named(read->name.c_str());
  EXPECT_EQ(gpu.name, read->name);
  EXPECT_EQ(gpu.title, read->title);
  EXPECT_EQ(gpu.description, read->description);
  EXPECT_EQ(gpu.compute_capability, read->compute_capability);
  EXPECT_EQ(gpu.validated, read->validated);
  EXPECT_EQ(gpu.sources, read->sources);
  for (const GpuFigure& figure : gpu_figures()) EXPECT_EQ(figure.get(gpu), figure.get(*read)) << figure.name;
  ASSERT_EQ(gpu.luo_suda.has_value(), read->luo_suda.has_value());
  if (!gpu.luo_suda) return;
  for (const LuoSudaFigure& figure : luo_suda_figures())
    EXPECT_EQ((*gpu.luo_suda).*figure.member, (*read->luo_suda).*figure.member) << figure.name;
  EXPECT_EQ(gpu.luo_suda->class_cycles.values, read->luo_suda->class_cycles.values);
}

TEST_P(CatalogueFile, AgreesWithItsComputeCapability) {
  const auto read = read_gpu(test::read_file("simulator/gpu/catalogue/" + GetParam()), GetParam());
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  const Gpu& gpu = *read;
  const ComputeLimits* limits = find_compute_limits(gpu.compute_capability);
  ASSERT_NE(limits, nullptr);
  ASSERT_EQ(limits->compute_capability, gpu.compute_capability)
      << "a capability that simulator/gpu/occupancy.cc has no line for";
  EXPECT_EQ(gpu.max_threads_per_block, limits->max_threads_per_block);
  EXPECT_EQ(gpu.max_warps_per_sm, limits->max_warps_per_sm);
  EXPECT_EQ(gpu.max_blocks_per_sm, limits->max_blocks_per_sm);
  EXPECT_EQ(gpu.registers_per_sm, limits->registers_per_sm);
  EXPECT_EQ(gpu.shared_bytes_per_sm, limits->shared_bytes_per_sm);
  EXPECT_EQ(gpu.shared_bytes_per_block, limits->shared_bytes_per_block);
  EXPECT_EQ(gpu.warp_size, 32);
  const auto cores = cores_of(gpu.compute_capability);
  ASSERT_TRUE(cores) << "a capability that this test knows no cores for";
  // Table 3 computes with one core package per SM of the GT 720M; the file says so.
  EXPECT_EQ(gpu.cores_per_sm, gpu.name == "gt-720m" ? 32 : *cores);
}

TEST_P(CatalogueFile, HasFiguresOfAPlausibleSize) {
  const auto read = read_gpu(test::read_file("simulator/gpu/catalogue/" + GetParam()), GetParam());
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  const Gpu& gpu = *read;
  EXPECT_TRUE(gpu.clock_mhz >= 300 && gpu.clock_mhz <= 4000) << gpu.clock_mhz << " MHz";
  EXPECT_TRUE(gpu.sms >= 1 && gpu.sms <= 300) << gpu.sms;
  EXPECT_TRUE(gpu.t_p_us >= 1 && gpu.t_p_us <= 50) << gpu.t_p_us << " us";
  EXPECT_TRUE(gpu.t_m_cycles >= 1 && gpu.t_m_cycles <= 100) << gpu.t_m_cycles << " cycles";
  const double bandwidth = gpu.memory_bandwidth_gb_s.value_or(100);
  EXPECT_TRUE(bandwidth >= 10 && bandwidth <= 20'000) << bandwidth << " GB/s";
  const std::int64_t l2_bytes = gpu.l2_bytes.value_or(1 << 20);
  EXPECT_TRUE(l2_bytes >= 64 * 1024 && l2_bytes <= 1 << 30) << l2_bytes << " bytes";
  EXPECT_EQ(gpu.durations.load, paper_durations().load);
  EXPECT_EQ(gpu.durations.store, paper_durations().store);
}

// What nobody has measured is that of the nearest architecture of Table 3, and the file says so.
TEST_P(CatalogueFile, TakesDefaultsFromTheNearestArchitecture) {
  const auto read = read_gpu(test::read_file("simulator/gpu/catalogue/" + GetParam()), GetParam());
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  if (read->validated) return;
  const int major = read->compute_capability.major;
  const Gpu& like = gpu_named(major <= 2   ? "gt-720m"
                              : major == 3 ? "k1000m"
                              : major <= 5 ? "gtx-860m"
                              : major == 6 ? "gtx-1070"
                                           : "rtx-2080");
  EXPECT_EQ(read->t_p_us, like.t_p_us);
  EXPECT_EQ(read->t_m_cycles, like.t_m_cycles);
  for (const char* figure : {"t_p_us", "t_m_cycles"})
    EXPECT_EQ(read->sources.at(figure).rfind("not measured: ", 0), 0u) << read->sources.at(figure);
}

std::string file_name(const testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Each, CatalogueFile, testing::ValuesIn(catalogue_files()), file_name);

TEST(CorePackages, FewerThan32CoresAreRefusedWithTheReason) {
  EXPECT_EQ(
      to_text(check_core_packages(gpu_named("gtx-260"))),
      "error: gtx-260 has 8 cores per SM: the model's core package is 32 cores, which issue an instruction "
      "of a warp in one cycle; an SM of 8 cores takes 4 cycles\n"
      "hint: the model of Luo and Suda, `--model luo-suda`, was made on such a GPU\n");
  EXPECT_EQ(gpu_named("gtx-260").core_packages_per_sm(), 0);
  for (const char* name : {"gtx-580", "gtx-560", "rtx-2080", "h200"})
    EXPECT_TRUE(check_core_packages(gpu_named(name)).empty()) << name;
}

TEST(CorePackages, OfAnSmOf48CoresAreOne) {
  EXPECT_EQ(gpu_named("gtx-560").cores_per_sm, 48);
  EXPECT_EQ(gpu_named("gtx-560").core_packages_per_sm(), 1);
}

TEST(CorePackages, TheCatalogueKnowsWhichGpusHaveThem) {
  std::vector<std::string> left_out;
  const auto with = GpuCatalogue::bundled().with_core_packages();
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus())
    if (std::find(with.begin(), with.end(), &gpu) == with.end()) left_out.push_back(gpu.name);
  EXPECT_EQ(left_out, (std::vector<std::string>{"8800-gtx", "tesla-c870", "gtx-260", "gtx-280", "gtx-285",
                                                "gtx-295", "tesla-c1060"}));
}

struct ChangeCase {
  const char* name;
  double value;
  const char* figure;  // as in the file
};
void PrintTo(const ChangeCase& one, std::ostream* out) {
  *out << one.name << " = " << one.value;
}
class Change : public testing::TestWithParam<ChangeCase> {};

TEST_P(Change, IsOneFigureAndItsSource) {
  const auto [name, value, figure] = GetParam();
  const Gpu& before = gpu_named("rtx-2080");
  const auto after = with_figure(before, name, value);
  ASSERT_TRUE(after) << to_text(after.diagnostics());
  for (const GpuFigure& one : gpu_figures()) {
    if (one.name == figure) {
      EXPECT_EQ(one.get(*after), value);
      EXPECT_EQ(after->sources.at(figure), "set on the command line");
    } else {
      EXPECT_EQ(one.get(*after), one.get(before)) << one.name;
    }
  }
  EXPECT_FALSE(after->validated);
}

INSTANTIATE_TEST_SUITE_P(Figures, Change,
                         testing::Values(ChangeCase{"clock", 1900, "clock_mhz"},
                                         ChangeCase{"clock_mhz", 1900.5, "clock_mhz"},
                                         ChangeCase{"t_p", 0, "t_p_us"},
                                         ChangeCase{"t_m", 3.25, "t_m_cycles"}, ChangeCase{"sms", 46, "sms"},
                                         ChangeCase{"cores_per_sm", 128, "cores_per_sm"},
                                         ChangeCase{"max_blocks_per_sm", 24, "max_blocks_per_sm"},
                                         ChangeCase{"max_warps_per_sm", 48, "max_warps_per_sm"},
                                         ChangeCase{"max_threads_per_block", 512, "max_threads_per_block"},
                                         ChangeCase{"registers_per_sm", 32768, "registers_per_sm"},
                                         ChangeCase{"shared_bytes_per_sm", 102400, "shared_bytes_per_sm"},
                                         ChangeCase{"memory_bandwidth_gb_s", 448, "memory_bandwidth_gb_s"},
                                         ChangeCase{"load.coalesced", 80, "load.coalesced"},
                                         ChangeCase{"store.scattered", 0, "store.scattered"}));

TEST(ChangedFigure, IsCheckedAsInAFile) {
  struct Wrong {
    const char* name;
    double value;
    const char* told;
  };
  const double nan = std::nan(""), infinite = HUGE_VAL;
  for (const auto& [name, value, told] : std::initializer_list<Wrong>{
           {"clock", 0, "error: `clock_mhz` is 0: it must be greater than 0\n"},
           {"clock", -5, "error: `clock_mhz` is -5: it must be greater than 0\n"},
           {"clock", nan, "error: `clock_mhz` is nan: it must be greater than 0\n"},
           {"clock", infinite, "error: `clock_mhz` is inf: it must be a finite number\n"},
           {"t_m", -1, "error: `t_m_cycles` is -1: it must be at least 0\n"},
           {"sms", 4.5, "error: `sms` is 4.5: it must be a whole number of at most 1000000\n"},
           {"sms", 1e300, "error: `sms` is 1e+300: it must be a whole number of at most 1000000\n"},
           {"cores_per_sm", 0, "error: `cores_per_sm` is 0: it must be at least 1\n"},
           {"warp_size", 64, "error: `warp_size` is 64: the model needs warps of 32 threads\n"},
           {"load.coalesced", -1, "error: `load.coalesced` is -1: it must be at least 0\n"},
           {"clok", 1, "error: a GPU has no figure `clok`\nhint: did you mean `clock`?\n"},
           {"load.coalesce", 1,
            "error: a GPU has no figure `load.coalesce`\nhint: did you mean `load.coalesced`?\n"}}) {
    const auto changed = with_figure(gpu_named("rtx-2080"), name, value);
    EXPECT_EQ(changed ? "accepted" : to_text(changed.diagnostics()), told) << name << ' ' << value;
  }
  EXPECT_NE(to_text(with_figure(gpu_named("rtx-2080"), "colour", 1).diagnostics())
                .find("there are clock_mhz, clock, sms"),
            std::string::npos);
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
  std::string mine = test::read_file("simulator/gpu/catalogue/rtx-2080.yaml");
  mine.replace(mine.find("value: 68"), 9, "value: 46");
  write("better.yaml", mine);
  mine.replace(mine.find("rtx-2080"), 8, "my-own");
  write("own.yaml", mine);
  write("notes.txt", "not a GPU");
  const auto catalogue = GpuCatalogue::with_folder(path_.string());
  ASSERT_TRUE(catalogue) << to_text(catalogue.diagnostics());
  EXPECT_EQ(catalogue->gpus().size(), GpuCatalogue::bundled().gpus().size() + 1);
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
       {"a.yaml:1:1: error: a GPU has no `title`", "b.yaml: error: a GPU file must be one YAML document",
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
  const std::string whole = test::read_file("simulator/gpu/catalogue/rtx-2080.yaml");
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

// ---- Timing figures.

// A GPU's file with a section `timing`.
std::string with_timing(const std::string& section) {
  return "name: mine\ntitle: Mine\ncompute_capability: {value: 9.0, source: x}\n"
         "clock_mhz: {value: 1000, source: x}\nsms: {value: 10, source: x}\ncores_per_sm: {value: 128, "
         "source: x}\n"
         "max_blocks_per_sm: {value: 32, source: x}\nmax_warps_per_sm: {value: 64, source: x}\n"
         "warp_size: {value: 32, source: x}\nmax_threads_per_block: {value: 1024, source: x}\n"
         "t_p_us: {value: 1, source: x}\nt_m_cycles: {value: 1, source: x}\n" +
         section;
}

TEST(Timing, AFigureHasItsOwnSourceOrTheSections) {
  const auto gpu =
      read_gpu(with_timing("timing:\n  source: measured\n  date: 2026-11-22\n"
                           "  l1_latency_cycles: {value: 39.5, spread: 0.25}\n"
                           "  l2_latency_cycles: {value: 280, source: a paper, date: 2024-02-01}\n"),
               "mine.yaml");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->timing.l1_latency_cycles, 39.5);
  EXPECT_EQ(gpu->timing.l2_latency_cycles, 280);
  EXPECT_EQ(gpu->timing.memory_latency_cycles, std::nullopt);
  const TimingOrigins wanted = {{"l1_latency_cycles", {"measured", "2026-11-22", 0.25, ""}},
                                {"l2_latency_cycles", {"a paper", "2024-02-01", std::nullopt, ""}}};
  EXPECT_EQ(gpu->timing_origins, wanted);
}

TEST(Timing, IsReadBackAsWritten) {
  const std::string section =
      "timing:\n  source: measured\n  date: 2026-11-22\n"
      "  l1_latency_cycles: {value: 39.5, spread: 0.25}\n"
      "  l2_latency_cycles: {value: 280, date: 2024-02-01, source: \"a paper, by others\"}\n";
  const auto gpu = read_gpu(with_timing(section), "mine.yaml");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(to_yaml(gpu->timing, gpu->timing_origins), section);
}

TEST(Timing, EachFigureOnceInTheTable) {
  std::set<std::string_view> names;
  for (const TimingFigure& figure : timing_figures()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
    TimingFigures figures;
    figures.*figure.member = 1;
    for (const TimingFigure& other : timing_figures())
      EXPECT_EQ((figures.*other.member).has_value(), &other == &figure) << figure.name << ", " << other.name;
  }
}

TEST(Timing, WrongFiguresAreErrors) {
  const auto message = [](const std::string& section) {
    const auto gpu = read_gpu(with_timing(section), "mine.yaml");
    return gpu ? std::string() : to_text(gpu.diagnostics().front());
  };
  const auto has = [&](const std::string& section, const std::string& words) {
    EXPECT_NE(message(section).find(words), std::string::npos) << message(section);
  };
  has("timing: {source: x, l1_latency: {value: 40}}", "unknown key `l1_latency`");
  has("timing: {l1_latency_cycles: {value: 40}}", "`l1_latency_cycles` has no source");
  has("timing: {source: x, l1_latency_cycles: 40}", "`l1_latency_cycles` is not a mapping with `value`");
  has("timing: {source: x, l1_latency_cycles: {value: 0}}", "it must be greater than 0");
  has("timing: {source: x, l1_latency_cycles: {value: 40, spread: -1}}", "`spread` is negative");
  has("timing: {source: x, date: today, l1_latency_cycles: {value: 40}}", "`date` must be written like");
}

TEST(Timing, OneFigureIsChanged) {
  const auto changed = with_figure(gpu_named("rtx-2080"), "timing.l1_latency_cycles", 32);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->timing.l1_latency_cycles, 32);
  EXPECT_EQ(changed->timing_origins.at("l1_latency_cycles").source, "set on the command line");
  EXPECT_FALSE(with_figure(gpu_named("rtx-2080"), "timing.l1_latency", 32));
  EXPECT_FALSE(with_figure(gpu_named("rtx-2080"), "timing.l1_latency_cycles", 0));
}

// The nearest architecture of the same major compute capability gives what a GPU's file does not have.
TEST_F(Folder, TheNearestArchitectureLendsItsTimingFigures) {
  const auto write_gpu = [&](const std::string& name, const std::string& capability,
                             const std::string& rest) {
    std::string text = with_timing(rest);
    text.replace(text.find("mine"), 4, name);
    text.replace(text.find("9.0"), 3, capability);
    write(name + ".yaml", text);
  };
  write_gpu("near", "99.0",
            "memory_bandwidth_gb_s: {value: 100, source: x}\n"
            "timing: {source: x, l1_latency_cycles: {value: 40}, memory_read_bytes_per_us: {value: 90000},\n"
            "  memory_latency_cycles: {value: 600}, l2_capacity_bytes: {value: 1000}}\n");
  write_gpu("far", "98.9",
            "timing: {source: x, l1_latency_cycles: {value: 30}, shared_latency_cycles: {value: 25},\n"
            "  l2_read_bytes_per_us: {value: 5000000}, l2_write_bytes_per_us: {value: 2000000},\n"
            "  memory_latency_cycles: {value: 1000}, memory_cold_latency_cycles: {value: 900}}\n");
  write_gpu("mine", "99.9",
            "memory_bandwidth_gb_s: {value: 200, source: x}\n"
            "timing: {source: x, l2_latency_cycles: {value: 280}, l2_read_bytes_per_us: {value: 8000000}}\n");
  const auto catalogue = GpuCatalogue::with_folder(path_.string());
  ASSERT_TRUE(catalogue);
  Gpu mine = **catalogue->find("mine");
  mine.clock_mhz = 2000;
  mine = with_nearest_timing(mine, *catalogue);
  EXPECT_EQ(mine.timing.l2_latency_cycles, 280);  // its own
  EXPECT_EQ(mine.timing.l1_latency_cycles, 40);
  EXPECT_EQ(mine.timing.shared_latency_cycles, 25);
  EXPECT_EQ(mine.timing.memory_read_bytes_per_us, 180000);  // twice the bandwidth
  EXPECT_EQ(mine.timing.memory_latency_cycles, 1200);       // twice the clock
  EXPECT_EQ(mine.timing.l2_write_bytes_per_us, 3200000);    // L2 gives 8/5
  EXPECT_EQ(mine.timing.memory_cold_latency_cycles, 1080);  // the latency that `near` lent is 6/5
  EXPECT_EQ(mine.timing_origins.at("l2_latency_cycles").borrowed_from, "");
  EXPECT_EQ(mine.timing_origins.at("l1_latency_cycles").borrowed_from, "near");
  EXPECT_EQ(mine.timing_origins.at("shared_latency_cycles").borrowed_from, "far");
  // The same architecture is the nearest; of two, the one with more figures.
  const Gpu nvl = with_nearest_timing(gpu_named("h100-nvl"), *catalogue);
  EXPECT_EQ(nvl.timing_origins.at("l1_latency_cycles").borrowed_from, "h100-sxm");
  const Gpu ada = with_nearest_timing(gpu_named("l40s"), *catalogue);
  EXPECT_EQ(ada.timing_origins.at("l1_latency_cycles").borrowed_from, "l40");
  EXPECT_EQ(ada.timing_origins.at("barrier_32_cycles").borrowed_from, "h100-sxm");
  EXPECT_EQ(
      to_yaml(mine.timing, mine.timing_origins),
      "timing:\n  source: x\n  l2_latency_cycles: {value: 280}\n  l2_read_bytes_per_us: {value: 8000000}\n");
}

// data/published_timings.csv says where each figure was read. What warptime has not measured in the catalogue is a line
// of it, with the same value.
TEST(PublishedTimings, AreThoseOfTheCatalogue) {
  const auto records = read_csv(test::read_file("data/published_timings.csv"), "published_timings.csv");
  ASSERT_TRUE(records);
  using Line = std::vector<std::string>;
  ASSERT_EQ(records->front().fields,
            (Line{"gpu", "figure", "value", "unit", "published", "source", "where"}));
  std::map<std::pair<std::string, std::string>, double> published;
  for (const CsvRecord& record : std::span(*records).subspan(1)) {
    const Line& fields = record.fields;
    ASSERT_EQ(fields.size(), 7u) << record.line;
    const TimingFigure* figure = find_timing_figure(fields[1]);
    ASSERT_NE(figure, nullptr) << record.line;
    EXPECT_EQ(fields[3], figure->unit) << record.line;
    for (const std::string& field : fields) EXPECT_NE(field, "") << record.line;
    EXPECT_TRUE(fields[5].starts_with("https://")) << record.line;
    double value = 0;
    EXPECT_TRUE(read_decimal(fields[2], value)) << record.line;
    EXPECT_TRUE(published.insert({{fields[0], fields[1]}, value}).second) << record.line << ": twice";
  }
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus()) {
    const auto measured = [](const auto& one) {
      return one.second.source.starts_with("warptime measure --device");
    };
    if (std::ranges::all_of(gpu.timing_origins, measured) && !gpu.timing_origins.empty()) continue;
    for (const TimingFigure& figure : timing_figures()) {
      const auto line = published.find({gpu.name, std::string(figure.name)});
      const auto value = gpu.timing.*figure.member;
      ASSERT_EQ(value.has_value(), line != published.end()) << gpu.name << ", " << figure.name;
      if (!value) continue;
      EXPECT_EQ(*value, line->second) << gpu.name << ", " << figure.name;
    }
  }
}

}  // namespace
}  // namespace warptime
