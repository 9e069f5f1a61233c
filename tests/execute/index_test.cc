// What a kernel program says of an access, against the addresses of the first warp: for random index
// expressions as both compilers write them. WARPTIME_RANDOM_SEED=n begins there, WARPTIME_RANDOM_COUNT=n takes
// as many.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "analyzer/pipeline.h"
#include "tests/execute/builds.h"
#include "tests/execute/harness.h"
#include "tests/execute/random_index.h"

namespace warptime::execute::testing {
namespace {

using warptime::Access;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr std::int64_t lanes = 32;

// The definition in AccessAnalysis::pattern.
Access shown_pattern(std::span<const std::uint64_t> addresses, std::uint32_t bytes) {
  constexpr std::uint32_t sector_bytes = 32;
  bool one_distance = true;
  for (std::size_t i = 2; i < addresses.size(); ++i)
    one_distance = one_distance && addresses[i] - addresses[i - 1] == addresses[1] - addresses[0];
  if (one_distance && addresses[1] == addresses[0]) return Access::uniform;
  const auto neighbours = static_cast<std::uint32_t>(addresses.size()) * bytes;
  if (sectors(addresses, bytes) <= (neighbours + sector_bytes - 1) / sector_bytes + 1)
    return Access::coalesced;
  return one_distance ? Access::strided : Access::scattered;
}

const MemoryAccess* only_store(const Items& items) {
  for (const auto& item : items)
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) return access;
  return nullptr;
}

struct Tested {
  Compiler compiler;
  const char* name;
};

void PrintTo(const Tested& tested, std::ostream* out) {
  *out << tested.name;
}

class Indices : public ::testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    if (GetParam().compiler == Compiler::nvcc && !nvcc_version()) GTEST_SKIP() << "no nvcc on this machine";
  }

  // Compiles the kernels together and compares each. Gives how many have no closed form; these count as
  // scattered, a sector for each thread, which promises nothing.
  static std::size_t compare(const std::vector<std::string>& kernels) {
    std::size_t opaque = 0;
    compare(kernels, {{index_block_x, index_block_y, 1}}, opaque);
    return opaque;
  }
  // The same for each of several blocks, analysed for that block. One that has rows of whole warps needs none.
  static std::size_t compare(const std::vector<std::string>& kernels, const std::vector<Dimensions>& blocks) {
    std::size_t opaque = 0;
    compare(kernels, blocks, opaque);
    return opaque;
  }

 private:
  static void compare(const std::vector<std::string>& kernels, const std::vector<Dimensions>& blocks,
                      std::size_t& opaque) {
    std::string text;
    for (const auto& kernel : kernels) text += kernel;
    CompileOptions options;
    options.compiler = GetParam().compiler;
    const auto source = compile_cuda("indices.cu", text, options);
    ASSERT_TRUE(source) << to_text(source.diagnostics());
    for (const auto& block : blocks) compare(*source, kernels, block, opaque);
  }

  static void compare(const Source& compiled, const std::vector<std::string>& kernels,
                      const Dimensions& block, std::size_t& opaque) {
    SCOPED_TRACE(fmt::format("blocks of {} x {} x {}", block.x, block.y, block.z));
    AnalyzeOptions analyze_options;
    if (block.x % lanes != 0) analyze_options.block = {block.x, block.y, block.z};
    const auto* source = &compiled;
    const auto analysis = analyze(*source, analyze_options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    ASSERT_EQ(analysis->kernels.size(), kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      SCOPED_TRACE(kernels[i]);
      const auto symbol = source->kernels[i].symbol;
      const auto program = std::find_if(
          analysis->kernels.begin(), analysis->kernels.end(),
          [&](const auto& kernel) { return analysis->module->functions[kernel.function].name == symbol; });
      ASSERT_NE(program, analysis->kernels.end());
      compare(*source, symbol, program->program, block, opaque);
    }
  }

  static void compare(const Source& source, const std::string& symbol, const KernelProgram& program,
                      const Dimensions& block, std::size_t& opaque) {
    const auto loaded = load_text(source.ptx, symbol);
    ASSERT_TRUE(loaded);
    StreamRecorder recorder({{0, 0}});
    const auto outcome =
        launch(*loaded, {{1, 1, 1}, block},
               {buffer(std::vector<double>(static_cast<std::size_t>(index_elements)))}, {}, &recorder);
    for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
    const auto& stream = recorder.stream();
    const auto entry = std::find_if(stream.entries.begin(), stream.entries.end(),
                                    [](const auto& e) { return e.role == Role::store; });
    ASSERT_NE(entry, stream.entries.end());
    const std::span<const std::uint64_t> addresses(stream.addresses.data() + entry->first_address,
                                                   entry->address_count);
    const auto* said = only_store(program.program);
    ASSERT_NE(said, nullptr);
    std::string shown;
    for (const auto a : addresses)
      shown += fmt::format(" {}", static_cast<std::int64_t>(a - addresses[0]) / entry->bytes);
    const auto text = [](Access access, std::int64_t sectors) {
      return fmt::format("{}, {} sectors", to_string(access), sectors);
    };
    const auto said_text = text(said->access.value_or(Access::scattered), said->sectors.value_or(-1));
    const auto shown_text = text(shown_pattern(addresses, entry->bytes), sectors(addresses, entry->bytes));
    const auto threads = static_cast<std::int64_t>(std::min<std::uint64_t>(block.count(), lanes));
    if (said_text != shown_text &&
        (said_text == text(Access::scattered, lanes) || said_text == text(Access::scattered, threads))) {
      ++opaque;
      return;
    }
    EXPECT_EQ(said_text, shown_text) << "elements from the first thread's on:" << shown;
  }
};

TEST_P(Indices, HavePatternsAndSectorsAsExecuted) {
  const auto first = number_from("WARPTIME_RANDOM_SEED", 1),
             count = number_from("WARPTIME_RANDOM_COUNT", 120);
  std::vector<std::string> kernels;
  for (auto seed = first; seed < first + count; ++seed)
    kernels.push_back(random_index_kernel(fmt::format("k{}", seed), seed));
  // Of fifty one may have none: bits reversed or counted of what has many of them.
  EXPECT_LE(compare(kernels), (kernels.size() + 49) / 50);
}

// Warps are cut from the block's linear thread ids: rows shorter than a warp, of 24 threads, and blocks of less than a
// warp.
TEST_P(Indices, HaveThoseOfTheBlock) {
  const auto first = number_from("WARPTIME_RANDOM_SEED", 1), count = number_from("WARPTIME_RANDOM_COUNT", 60);
  std::vector<std::string> kernels;
  for (auto seed = first; seed < first + count; ++seed)
    kernels.push_back(random_index_kernel(fmt::format("k{}", seed), seed, true));
  const std::vector<Dimensions> blocks = {{32, 8, 1}, {16, 16, 1}, {8, 8, 4},
                                          {24, 4, 1}, {1, 16, 4},  {5, 3, 1}};
  EXPECT_LE(compare(kernels, blocks), (blocks.size() * kernels.size() + 49) / 50);
}

// Expressions that were once opaque, with the instruction that a compiler makes of each.
TEST_P(Indices, OfBitFieldInstructions) {
  const auto kernel = [](const char* name, const char* index) {
    return fmt::format(
        "__global__ void {}(float* a) {{ const unsigned x = threadIdx.x, b = blockIdx.x; a[{}] = 1; }}\n",
        name, index);
  };
  const auto opaque = compare({
      kernel("insert", "b * 16 + x % 16"),                                    // bfi.b32
      kernel("insert_wide", "((unsigned long long)x >> 4) * 32 + (x & 15)"),  // bfi.b64
      kernel("bytes", "__byte_perm(x, b, 0x4440)"),                           // prmt
      kernel("bytes_apart", "__byte_perm(x, x << 8, 0x4405)"),                // prmt
      kernel("rotated", "__funnelshift_l(x, x, 3)"),                          // shf.l
      kernel("rotated_right", "__funnelshift_r(x << 8, b, 10)"),              // shf.r
      kernel("reversed", "__brev(x) >> 26"),                                  // brev
      kernel("signed_byte", "(signed char)(x * 16) + 128"),                   // cvt.s64.s8
      kernel("ones", "__popc(x)"),                                            // popc
      kernel("wide_quotient", "(unsigned long long)x * 3 / 7"),               // mul.hi.u64
      kernel("distance", "__sad(x, 20, 1)"),                                  // sad
      kernel("field", "x >> 2 & 7"),                                          // bfe
      kernel("flipped", "(x ^ 5) * 2"),                                       // xor
  });
  EXPECT_EQ(opaque, 0u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, Indices,
                         ::testing::Values(Tested{Compiler::clang, "clang"}, Tested{Compiler::nvcc, "nvcc"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace warptime::execute::testing
