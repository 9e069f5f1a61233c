// The parts of CUB and Thrust that come with warptime do what those libraries document.
#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "analyzer/compile/compile.h"
#include "tests/execute/harness.h"

namespace warptime::execute::testing {
namespace {

constexpr int threads = 96;
constexpr int untouched = -1;

// -nostdinc: as on a machine without headers of any library.
const Source& compiled_libraries() {
  static const Result<Source> source = [] {
    const std::string path = std::string(WARPTIME_SOURCE_DIR) + "/tests/execute/libraries.cu";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    CompileOptions options;
    options.flags = {"-nostdinc"};
    return compile_cuda(path, text.str(), options);
  }();
  if (!source) throw std::runtime_error(to_text(source.diagnostics()));
  return *source;
}

std::vector<int> some_numbers(std::size_t count) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>((i * 7919 + 13) % 1009);
  return values;
}

// What a kernel, which must end without a finding, makes of `in`.
std::vector<int> results(const std::string& kernel, const std::vector<int>& in, int block = threads,
                         const std::vector<Given>& more = {}) {
  const Source& source = compiled_libraries();
  const auto signature = std::find_if(source.kernels.begin(), source.kernels.end(),
                                      [&](const auto& k) { return k.name == kernel; });
  if (signature == source.kernels.end()) throw std::runtime_error("no kernel " + kernel);
  const std::optional<Loaded> loaded = load_text(source.ptx, signature->symbol);
  if (!loaded) return {};
  std::vector<Given> arguments{buffer(in), buffer(std::vector<int>(1024, untouched))};
  arguments.insert(arguments.end(), more.begin(), more.end());
  LaunchConfig how;
  how.block.x = static_cast<std::uint32_t>(block);
  const Outcome outcome = launch(*loaded, how, arguments);
  EXPECT_TRUE(outcome.execution.completed);
  for (const auto& finding : outcome.execution.findings)
    ADD_FAILURE() << to_text(to_diagnostic(finding, *loaded->module, kernel + ".ptx"));
  return outcome.values<int>(1);
}

TEST(BundledLibraries, HostCodeHasNoErrors) {
  EXPECT_TRUE(compiled_libraries().warnings.empty()) << to_text(compiled_libraries().warnings);
  EXPECT_EQ(compiled_libraries().ptx.find(".extern .func"), std::string::npos);
}

TEST(BundledLibraries, ABlockReduces) {
  const std::vector<int> in = some_numbers(threads);
  for (const int n : {1, 31, 33, 70, threads}) {
    EXPECT_EQ(results("sums", in, threads, {value(n)})[0], std::accumulate(in.begin(), in.begin() + n, 0));
    EXPECT_EQ(results("sums_of_some", in, threads, {value(n)})[0],
              *std::max_element(in.begin(), in.begin() + n));
  }
}

TEST(BundledLibraries, AWarpReduces) {
  const std::vector<int> in = some_numbers(threads);
  const std::vector<int> got = results("maxima_of_warps", in);
  for (std::size_t i = 0; i < threads; i += 8)
    EXPECT_EQ(got[i],
              *std::max_element(in.begin() + static_cast<long>(i), in.begin() + static_cast<long>(i) + 8))
        << i;
}

TEST(BundledLibraries, ABlockScans) {
  const std::vector<int> in = some_numbers(threads);
  const std::vector<int> got = results("scans", in);
  int sum = 0, most = 0;
  for (std::size_t i = 0; i < threads; ++i) {
    EXPECT_EQ(got[i], sum) << i;
    EXPECT_EQ(got[threads + i], std::accumulate(in.begin(), in.end(), 0)) << i;
    most = std::max(most, in[i]);
    EXPECT_EQ(got[2 * threads + i], most) << i;
    sum += in[i];
  }
}

// 96 threads of eight items: 700 are loaded, the rest is 5, and 760 of the sums are stored.
TEST(BundledLibraries, ABlockLoadsScansAndStoresItems) {
  std::vector<int> in = some_numbers(1024);
  const std::vector<int> got = results("scans_of_items", in);
  std::fill(in.begin() + 700, in.end(), 5);
  std::partial_sum(in.begin(), in.end(), in.begin());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i < 760 ? in[i] : untouched) << i;
}

TEST(BundledLibraries, ABlockCopiesByVectors) {
  const std::vector<int> in = some_numbers(1024);
  const std::vector<int> got = results("copies", in);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i < 4 * threads ? in[i] : untouched) << i;
}

TEST(BundledLibraries, AThreadRunsAlgorithms) {
  const std::vector<int> in = some_numbers(threads);
  const std::vector<int> got = results("in_threads", in, 1);
  EXPECT_EQ(got[0], std::accumulate(in.begin(), in.end(), 0));
  EXPECT_EQ(got[1], 17);
  EXPECT_EQ(got[2], in[3]);
  std::minstd_rand engine(3);
  engine.discard(9);
  EXPECT_EQ(got[3], static_cast<int>(engine() % 1000));
  EXPECT_EQ(got[4], std::max(in[0], in[1]));
}

}  // namespace
}  // namespace warptime::execute::testing
