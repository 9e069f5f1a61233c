// What `analyze --machine` writes for models of single instructions: arrays, accesses on the chip, barriers;
// and that the paper's periods are the same with it and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "simulator/program/walk.h"
#include "simulator/program/warps.h"
#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

namespace fs = std::filesystem;

AnalyzeOptions with_detail() {
  AnalyzeOptions options;
  options.machine = AnalyzeOptions::Machine::estimated;
  return options;
}

KernelProgram detailed(const std::string& text, const std::string& kernel) {
  const auto analysis = analyze_text(text, {}, with_detail());
  EXPECT_TRUE(analysis) << to_text(analysis.diagnostics());
  return analysis ? program_of(*analysis, kernel) : KernelProgram();
}

// `load in`, `store out`, …: the accesses of a program and their arrays, in order.
std::vector<std::string> arrays_of(const KernelProgram& program) {
  std::vector<std::string> found;
  for_each_access(program.program, [&](const MemoryAccess& access) {
    found.push_back((access.kind == MemoryAccess::Kind::load ? "load " : "store ") + access.array);
  });
  return found;
}

// `load shared 4: 4 * threadIdx.x`, and `barrier`, in order.
std::vector<std::string> on_chip_of(const KernelProgram& program) {
  std::vector<std::string> found;
  for_each_item(program.program, [&](const Item& item) {
    if (!item.detail) return;
    for (const ChipAccess& access : item.detail->on_chip) {
      std::string text(kChipAccessKinds[static_cast<std::size_t>(access.kind)]);
      text += " " + std::string(kChipSpaces[static_cast<std::size_t>(access.space)]);
      text += " " + std::to_string(access.bytes);
      if (access.address) text += ": " + to_string(*access.address);
      if (access.scattered) text += " among " + std::to_string(*access.scattered);
      if (access.own_bytes != 0) text += ", own " + std::to_string(access.own_bytes);
      found.push_back(text);
    }
    if (item.detail->barrier) found.push_back("barrier");
  });
  return found;
}

using Texts = std::vector<std::string>;

TEST(Shuffles, AreCounted) {
  const auto program = detailed(
      R"(__global__ void k(const float* in, float* out) {
  float sum = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) out[blockIdx.x] = sum + __shfl_down_sync(1, sum, 1);
})",
      "k");
  std::int64_t shuffles = 0;
  for_each_item(program.program,
                [&](const Item& item) { shuffles += item.detail ? item.detail->shuffles : 0; });
  EXPECT_EQ(shuffles, 6);
}

TEST(Arrays, AreNamedByTheirArguments) {
  const auto program = detailed(
      R"(struct Grid { int n; const float* in; float* out; };
__device__ float table[64];
__global__ void k(const float* a, Grid g, const int* which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  g.out[i] = a[which[i]] + g.in[i] + table[i % 64];
})",
      "k");
  auto found = arrays_of(program);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Texts{"load a", "load g_8", "load table", "load which", "store g_16"}));
  std::vector<Array> declared = {{"a", "argument 0 (const float * a)"},
                                 {"g_8", "byte 8 of argument 1 (Grid g)"},
                                 {"g_16", "byte 16 of argument 1 (Grid g)"},
                                 {"which", "argument 2 (const int * which)"},
                                 {"table", "module variable", 256}};
  EXPECT_EQ(program.arrays, declared);
}

TEST(Arrays, AreFollowedThroughLoopsAndData) {
  const auto program = detailed(R"(__global__ void k(const float* in, const int* next, float* out, int n) {
  int at = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i, in += 32) {
    sum += in[at];
    at = next[at];
  }
  atomicAdd(&out[at], sum);
})",
                                "k");
  auto found = arrays_of(program);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  EXPECT_EQ(found, (Texts{"load in", "load next", "load out"}));  // an atomic gives a value
}

TEST(Arrays, HaveNoNameWherePathsDiffer) {
  const auto program = detailed(
      R"(__global__ void k(const float* a, const float* b, const float* const* c, float* out, int n) {
  #pragma unroll 1
  for (int i = 0; i < n; ++i) {
    out[i * 32 + threadIdx.x] = a[threadIdx.x + 32 * i];
    const float* other = a;
    a = b;
    b = other;
  }
  out[threadIdx.x] += c[n][threadIdx.x];
})",
      "k");
  const auto found = arrays_of(program);
  EXPECT_EQ(std::count(found.begin(), found.end(), "load a"), 0);
  EXPECT_GE(std::count(found.begin(), found.end(), "load "), 2);
  EXPECT_GE(std::count(found.begin(), found.end(), "load c"), 1);
  EXPECT_GE(std::count(found.begin(), found.end(), "store out"), 1);
}

TEST(Arrays, OfBothSidesOfABranchDiffer) {
  const auto program = detailed(R"(__global__ void k(const float* a, const float* b, float* out, int which) {
  float x;
  if (which > 0) x = __ldg(a + threadIdx.x); else x = __ldg(b + threadIdx.x);
  out[threadIdx.x] = x;
})",
                                "k");
  const auto found = arrays_of(program);
  EXPECT_EQ(std::count(found.begin(), found.end(), "store out"), 1);
  EXPECT_EQ(
      std::count(found.begin(), found.end(), "load a") + std::count(found.begin(), found.end(), "load "),
      std::count(found.begin(), found.end(), "load b") + std::count(found.begin(), found.end(), "load "));
}

// The bytes of constants that LDC loads, since a machine instruction has one operand for a uniform register.
TEST(OnChip, ConstantsWithoutAPlaceForAUniformRegister) {
  const auto own = [](const std::string& uses) {
    const auto program = detailed(
        "__constant__ float2 pairs[64];\n__constant__ float weights[64];\n"
        "__global__ void k(float* out, int n) {\n"
        "  const float x = threadIdx.x;\n  float sum = 0, other = 1;\n"
        "#pragma unroll 1\n  for (int i = 0; i < n; ++i) {\n" +
            uses + "  }\n  out[threadIdx.x] = sum + other;\n}\n",
        "k");
    std::int64_t bytes = 0, all = 0;
    for_each_item(program.program, [&](const Item& item) {
      if (!item.detail) return;
      for (const ChipAccess& access : item.detail->on_chip) bytes += access.own_bytes, all += access.bytes;
    });
    EXPECT_GT(all, 0);
    return bytes;
  };
  EXPECT_EQ(own("    sum += weights[i] * x;\n"), 0);
  EXPECT_EQ(own("    sum += pairs[i].x * x;\n    other += pairs[i].y * x;\n"), 0);
  EXPECT_EQ(own("    sum += pairs[i].x * x + pairs[i].y;\n"), 8);  // two in one operation
  EXPECT_EQ(own("    sum *= weights[i] + 4.0f;\n"), 4);            // an immediate has the place
  EXPECT_EQ(own("    sum += rsqrtf(weights[i]);\n"), 4);           // MUFU has none
  EXPECT_EQ(own("    sum += weights[i] * x;\n    other *= weights[i + 9] + 4.0f;\n"), 8);  // at one register
}

TEST(OnChip, AddressesCountFromTheBeginningOfTheMemory) {
  const auto program = detailed(R"(__constant__ float weight[8];
__global__ void k(const float4* in, float* out) {
  __shared__ char flags[3];
  __shared__ float4 part[64];
  extern __shared__ double line[];
  if (threadIdx.x < 3) flags[threadIdx.x] = 1;
  part[threadIdx.x] = in[threadIdx.x];
  line[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&part[threadIdx.x % 2].y, weight[blockIdx.x]);
  __syncthreads();
  out[threadIdx.x] = part[63 - threadIdx.x].x + (float)line[threadIdx.x] + flags[0];
})",
                                "k");
  auto found = on_chip_of(program);
  EXPECT_EQ(std::count(found.begin(), found.end(), "barrier"), 2);
  const auto has = [&](const std::string& text) {
    EXPECT_NE(std::find(found.begin(), found.end(), text), found.end()) << text;
  };
  has("store shared 1: threadIdx.x");
  has("store shared 16: 16 * threadIdx.x + 16");  // a float4
  has("store shared 8: 8 * threadIdx.x + 1040");  // behind 3 bytes, 13 of padding and 1024
  has("load constant 4: 4 * blockIdx.x");
  has("atomic shared 4: 16 * (threadIdx.x % 2) + 20");
  has("load shared 4: 1024 - 16 * threadIdx.x");
  has("load shared 8: 8 * threadIdx.x + 1040");
  has("load shared 1: 0");
}

TEST(OnChip, CountersOfLoops) {
  const auto program = detailed(R"(__global__ void k(float* out, int n) {
  __shared__ float line[1024];
  #pragma unroll 1
  for (int i = 0;; ++i) {
    line[32 * i + threadIdx.x] = i;
    if (i >= n) break;
    __syncthreads();
  }
  float sum = 0;
  #pragma unroll 1
  for (int i = 0; i < n; ++i) sum += line[i];
  out[threadIdx.x] = sum;
})",
                                "k");
  // What is before the exit in the middle of the first loop is at its end, and once before it.
  EXPECT_EQ(on_chip_of(program),
            (Texts{"store shared 4: 4 * threadIdx.x", "barrier",
                   "store shared 4: 4 * threadIdx.x + 128 * i + 128", "load shared 4: 4 * i"}));
}

TEST(OnChip, LocalMemoryAndWhatDataDecide) {
  const auto program = detailed(R"(__global__ void k(const int* in, int* out) {
  __shared__ int bins[32];
  double own[16];
  for (int i = 0; i < 16; ++i) own[i] = in[i];
  bins[threadIdx.x] = 0;
  __syncwarp();
  atomicAdd(&bins[in[threadIdx.x] & 31], 1);
  out[threadIdx.x] = own[in[16] & 15] + bins[0];
})",
                                "k");
  const auto found = on_chip_of(program);
  const auto has = [&](const std::string& text) {
    EXPECT_NE(std::find(found.begin(), found.end(), text), found.end()) << text;
  };
  EXPECT_EQ(std::count(found.begin(), found.end(), "barrier"), 0);  // a warp's own
  has("atomic shared 4 among 128");
  has("load local 8");  // all threads choose the same
  EXPECT_GE(std::count_if(found.begin(), found.end(),
                          [](const auto& text) { return text.starts_with("store local"); }),
            4);
}

TEST(OnChip, DataChooseWithinTheirRange) {
  const auto program = detailed(R"(__global__ void k(const int* in, float* out) {
  __shared__ float sums[4096];
  sums[threadIdx.x] = 0;
  __syncthreads();
  const int value = in[threadIdx.x];
  atomicAdd(&sums[value & 15], 1.0f);
  atomicAdd(&sums[32 * (value & 3) + threadIdx.x], 1.0f);
  atomicAdd(&sums[33 * (value & 3) + 3 * threadIdx.x], 1.0f);
  atomicAdd(&sums[value], 1.0f);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x];
})",
                                "k");
  const auto all = on_chip_of(program);
  const auto has = [&](const std::string& text) {
    EXPECT_EQ(std::count(all.begin(), all.end(), text), 1) << text;
  };
  has("atomic shared 4 among 64");
  has("atomic shared 4: 4 * threadIdx.x");  // whatever row they choose, threads have banks of their own
  has("atomic shared 4 among 16");
  has("atomic shared 4 among 16384");
}

TEST(OnChip, DataChooseWithinTheRowsOfWhatElseChooses) {
  const auto program = detailed(R"(__global__ void k(const int* in, float* out) {
  __shared__ float scores[50][20];
  for (int i = threadIdx.x; i < 1000; i += blockDim.x) scores[i / 20][i % 20] = i;
  __syncthreads();
  out[threadIdx.x] = scores[threadIdx.y][in[threadIdx.x]];
})",
                                "k");
  const auto all = on_chip_of(program);
  EXPECT_EQ(std::count(all.begin(), all.end(), "load shared 4 among 80"), 1);
}

TEST(OnChip, DataThatChooseStructuresChooseOnePlaceInEach) {
  const auto program = detailed(R"(__constant__ float poses[8][12];
__global__ void k(const int* in, float* out) {
  const float* pose = poses[in[threadIdx.x]];
  out[threadIdx.x] = pose[3] * pose[7];
})",
                                "k");
  EXPECT_EQ(on_chip_of(program), (Texts{"load constant 4 among 32", "load constant 4 among 32"}));
}

// The rows of the accesses to `table`, as texts.
Texts rows_of(const KernelProgram& program) {
  Texts texts;
  for_each_item(program.program, [&](const Item& item) {
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    if (access == nullptr || access->array != "table") return;
    const auto row = item.detail ? item.detail->row : std::nullopt;
    texts.push_back(row ? row->by + ": " + to_string(row->of) + "; " + to_string(row->bytes) + "; " +
                              to_string(row->at)
                        : "none");
  });
  return texts;
}

TEST(Rows, AreChosenByElementsThatThreadsShare) {
  const auto rows = [](const std::string& body) {
    return rows_of(
        detailed("__global__ void k(const int* index, const int* first, float* table, float* out, int n) {" +
                     body + "}",
                 "k"));
  };
  const std::string end = " + threadIdx.x % 32];";
  EXPECT_EQ(rows("out[threadIdx.x] = table[64 * index[threadIdx.x / 32]" + end),
            Texts{"index: 4 * (threadIdx.x / 32); 256; 4 * (threadIdx.x % 32)"});
  EXPECT_EQ(rows("out[threadIdx.x] = table[n * index[blockIdx.x]" + end),
            Texts{"index: 4 * blockIdx.x; 4 * n; 4 * (threadIdx.x % 32)"});
  EXPECT_EQ(rows("atomicAdd(&table[64 * (index[threadIdx.y] / 2) + threadIdx.x % 32], 1.0f);"),
            Texts{"index: 4 * threadIdx.y; 256; 4 * (threadIdx.x % 32)"});
  // One element chooses that of the next.
  EXPECT_EQ(rows("out[threadIdx.x] = table[64 * first[index[threadIdx.y]]" + end),
            Texts{"first: 4000012 * threadIdx.y; 256; 4 * (threadIdx.x % 32)"});
  // Elements of a row, from a place that data choose on.
  EXPECT_EQ(
      rows("float sum = 0; for (int i = 0; i < n; ++i) sum += table[first[blockIdx.x] + i]; out[0] = sum;")
          .back(),
      "first: 4 * blockIdx.x; 4; 4 * i + 4 * if(n < 4, 0, 4 * (n / 4))");
  // Each thread has loaded one of its own; a thread's place decides, too; the index is changed in a loop.
  EXPECT_EQ(rows("out[threadIdx.x] = table[index[threadIdx.x]];"), Texts{"none"});
  EXPECT_EQ(rows("out[threadIdx.x] = table[(index[threadIdx.y] + threadIdx.x) / 3];"), Texts{"none"});
  EXPECT_EQ(
      rows("int at = index[0]; for (int i = 0; i < n; ++i) at = (at * 5 + 1) & 255; out[0] = table[at];"),
      Texts{"none"});
}

// A hash, or a generator of pseudo-random numbers, chooses an element; not a quotient, a row of constant size, or bits that are
// exchanged.
TEST(Random, AreElementsThatHashesChoose) {
  const auto random = [](const std::string& body) {
    const KernelProgram program = detailed(
        "__global__ void k(const int* index, const float* table, float* out, int n) {" + body + "}", "k");
    int found = 0;
    for_each_item(program.program, [&](const Item& item) { found += item.detail && item.detail->random; });
    return found;
  };
  const std::string state =
      "unsigned long long s = threadIdx.x; float sum = 0; for (int i = 0; i < n; ++i) {";
  const std::string end = "} out[threadIdx.x] = sum;";
  EXPECT_EQ(random(state +
                   "s = s * 6364136223846793005ull + 1442695040888963407ull; "
                   "sum += table[__umulhi((unsigned)(s >> 32), n)];" +
                   end),
            4 + 1);
  EXPECT_GE(random(state + "s ^= s << 13; s ^= s >> 7; s ^= s << 17; sum += table[s % 1024];" + end), 1);
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] * 2654435761u >> 20];"), 1);
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] / 34];"), 0);
  EXPECT_EQ(random("out[threadIdx.x] = table[(unsigned)index[threadIdx.x] % 10];"), 0);
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] * 5000 + n];"), 0);
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] ^ n];"), 0);
  // The low bits of data, as many as the launch says.
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] & n];"), 1);
  EXPECT_EQ(random("out[threadIdx.x] = table[(index[threadIdx.x] + 1) & (n - 1)];"), 1);
  EXPECT_EQ(random("out[threadIdx.x] = table[index[threadIdx.x] & 1023];"), 0);
  EXPECT_EQ(random("out[threadIdx.x] = table[threadIdx.x & n];"), 0);
  EXPECT_EQ(random("out[threadIdx.x] = table[threadIdx.x];"), 0);
}

// What ptxas puts before the first shuffle of a part of a warp: once for each mask that a register has.
TEST(OnChip, ShufflesOfPartsOfAWarpMatch) {
  const auto matches = [](const std::string& body) {
    const KernelProgram program = detailed(
        "__global__ void k(const float* in, float* out, unsigned mask) {"
        "float x = in[threadIdx.x];" +
            body + "out[threadIdx.x] = x; }",
        "k");
    std::int64_t all = 0;
    for_each_item(program.program, [&](const Item& item) { all += item.detail ? item.detail->matches : 0; });
    return all;
  };
  EXPECT_EQ(matches("for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);"), 0);
  EXPECT_EQ(matches("x += __shfl_down_sync(0xffu, x, 4);"), 0);
  EXPECT_EQ(matches("for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(mask, x, d);"), 6);
  EXPECT_EQ(matches("x += __shfl_down_sync(255u << (threadIdx.x & 24), x, 4, 8);"
                    "x += __shfl_down_sync(255u << (threadIdx.x & 24), x, 2, 8);"),
            15);
  EXPECT_EQ(matches("x += __match_any_sync(0xffffffffu, __float_as_uint(x));"), 8);
}

// ptxas lays out the constants of a module in their order, and joins loads where it knows that they begin at multiples of 8 bytes.
TEST(OnChip, ConstantsKnowHowTheirArrayBeginsAndWhatChoosesOfIt) {
  const auto constants = [](const std::string& index) {
    const KernelProgram program = detailed(
        "__constant__ float first[16], second[17], third[256];"
        "__global__ void k(const unsigned* in, float* out, int n) {"
        "out[threadIdx.x] = " +
            index + "; }",
        "k");
    std::vector<std::pair<std::int64_t, std::int64_t>> found;  // align, scattered
    for_each_item(program.program, [&](const Item& item) {
      if (!item.detail) return;
      for (const ChipAccess& access : item.detail->on_chip)
        if (access.space == ChipAccess::Space::constant)
          found.emplace_back(access.align, access.scattered.value_or(0));
    });
    return found;
  };
  using Found = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(constants("first[threadIdx.x % 8]"), (Found{{8, 0}}));
  EXPECT_EQ(constants("second[threadIdx.x % 8]"), (Found{{8, 0}}));
  EXPECT_EQ(constants("third[threadIdx.x % 8]"), (Found{{4, 0}}));
  EXPECT_EQ(constants("third[in[threadIdx.x] & 255]"), (Found{{8, 8 * 4}}));
  EXPECT_EQ(constants("third[in[threadIdx.x] * 2654435761u >> 24]"), (Found{{8, 256 * 4}}));
}

TEST(OnChip, IsNotWrittenWithoutMachineInstructions) {
  const auto analysis = analyze_text(R"(__global__ void k(float* out) {
  __shared__ float part[32];
  part[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = part[31 - threadIdx.x];
})",
                                     {});
  ASSERT_TRUE(analysis);
  const auto& program = program_of(*analysis, "k");
  EXPECT_TRUE(program.arrays.empty());
  for_each_item(program.program, [](const Item& item) { EXPECT_EQ(item.detail, nullptr); });
  for (const auto& text : arrays_of(program)) EXPECT_EQ(text, "store ");
}

// ---- fragments of matrices

const char* const kMultiply = R"(#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* a, const half* b, float* c, int pitch) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(of_a, a, pitch);
  wmma::load_matrix_sync(of_b, b, 16);
  wmma::mma_sync(sum, of_a, of_b, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
})";

TEST(Fragments, AreRequestsOfThreads) {
  const auto program = detailed(kMultiply, "k");
  std::map<std::string, int> requests, first;
  std::vector<std::string> addresses;
  for_each_access(program.program, [&](const MemoryAccess& access) {
    ++requests[access.array];
    first[access.array] += !access.continues;
    ASSERT_TRUE(access.address) << access.array;
    if (access.array == "b") addresses.push_back(to_string(*access.address));
    EXPECT_EQ(access.bytes, access.array == "c" ? 8 : 4);
    EXPECT_EQ(access.sectors, 8);
  });
  EXPECT_EQ(requests, (std::map<std::string, int>{{"a", 4}, {"b", 4}, {"c", 4}}));
  EXPECT_EQ(first, (std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}}));
  // 8 rows of 32 bytes: half of each by a request, and then the 8 others.
  ASSERT_EQ(addresses.size(), 4U);
  const Bindings of_lane = {{"laneid", 13}};
  std::vector<std::int64_t> places;
  for (const auto& address : addresses) {
    const auto expression = Expression::parse(address);
    ASSERT_TRUE(expression) << address;
    const auto place = evaluate_count(*expression, of_lane);
    ASSERT_TRUE(place) << address;
    places.push_back(*place);
  }
  EXPECT_EQ(places, (std::vector<std::int64_t>{100, 116, 356, 372}));
}

TEST(Fragments, HaveTheSectorsOfTheirLines) {
  const auto program = detailed(kMultiply, "k");
  const Bindings values = {{"pitch", 1024},  {"blockDim.x", 32}, {"blockDim.y", 1}, {"blockDim.z", 1},
                           {"gridDim.x", 1}, {"gridDim.y", 1},   {"gridDim.z", 1}};
  WarpOptions options;
  options.sectors = options.machine = true;
  const auto launch = WarpProgram(program).launch(values, {{1, 1, 1}, {32, 1, 1}}, {}, options);
  ASSERT_TRUE(launch) << to_text(launch.diagnostics());
  EXPECT_EQ(launch->total.loads, 2);
  EXPECT_EQ(launch->total.more_loads, 6);
  EXPECT_EQ(launch->total.stores, 1);
  EXPECT_EQ(launch->total.more_stores, 3);
  EXPECT_EQ(launch->total.load_sectors, 64);
  EXPECT_EQ(launch->total.store_sectors, 32);
  EXPECT_FALSE(launch->sectors_unknown);
  EXPECT_EQ(launch->total.machine[Pipe::tensor], 4);
  EXPECT_EQ(launch->total.machine.matrix, 32);  // of sm_75
}

// From shared memory they come by ldmatrix: each thread has the address of a row of 16 bytes. Rows of 96 bytes lie in the same
// banks four rows further, rows of 80 bytes in none.
TEST(Fragments, HaveConflictsInSharedMemory) {
  const auto ways_of = [](const std::string& pitch) {
    const auto program = detailed(
        "#include <mma.h>\nusing namespace nvcuda;\n"
        "__global__ void k(const half* in, float* out) {\n"
        "  __shared__ alignas(32) half tile[64 * 64];\n"
        "  for (int i = threadIdx.x; i < 64 * 64; i += 32) tile[i] = in[i];\n"
        "  __syncthreads();\n"
        "  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;\n"
        "  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;\n"
        "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;\n"
        "  wmma::fill_fragment(sum, 0.0f);\n"
        "  wmma::load_matrix_sync(a, tile, " +
            pitch + ");\n  wmma::load_matrix_sync(b, tile + 16, " + pitch +
            ");\n  wmma::mma_sync(sum, a, b, sum);\n"
            "  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);\n}",
        "k");
    int loads = 0;
    std::set<std::int64_t> rows;
    for_each_item(program.program, [&](const Item& item) {
      if (!item.detail) return;
      for (const ChipAccess& access : item.detail->on_chip) {
        if (access.kind != ChipAccess::Kind::load || access.bytes != 16) continue;
        ++loads;
        ASSERT_TRUE(access.address);
        // The banks of 16 bytes in which the first eight threads have their rows.
        for (std::int64_t lane = 0; lane < 8; ++lane) {
          const auto place = evaluate_count(*access.address, {{"laneid", lane}, {"threadIdx.x", lane}});
          ASSERT_TRUE(place) << to_text(place.diagnostics());
          rows.insert(*place / 16 % 8);
        }
      }
    });
    EXPECT_EQ(loads, 2);
    return 8 / static_cast<int>(std::max<std::size_t>(rows.size(), 1));
  };
  EXPECT_EQ(ways_of("48"), 2);
  EXPECT_EQ(ways_of("40"), 1);
  EXPECT_EQ(ways_of("64"), 4);  // the second fragment is two pieces further
}

// In the machine code the loads of all four iterations come before the first store, and what computes their addresses does.
TEST(Rises, LoadsPassWhatComputesTheirAddressInTheMachineCode) {
  auto options = with_detail();
  options.machine = AnalyzeOptions::Machine::assembled;
  const auto analysis = analyze_text(
      R"(__global__ void k(const float* __restrict__ in, float* __restrict__ out, int width, int rows) {
  float sum = 0;
#pragma unroll 4
  for (int y = 0; y < rows; ++y) {
    out[y * width + threadIdx.x] = sum;
    sum += in[min(y + 9, rows - 1) * width + threadIdx.x];
  }
})",
      {}, options);
  if (!analysis) GTEST_SKIP() << "ptxas is not here";
  std::int64_t rises = 0;
  bool assembled = false;
  for_each_item(program_of(*analysis, "k").program, [&](const Item& item) {
    if (item.detail) rises = std::max(rises, item.detail->rises);
    assembled = assembled || (item.machine && item.machine->cycles > 0);
  });
  if (!assembled) GTEST_SKIP() << "ptxas is not here";
  EXPECT_GE(rises, 6);  // the last load passes three stores, and what lies between
}

// The machine code's tensor instructions hold the pipe as the PTX says, which is written over several lines.
TEST(Fragments, HoldTheTensorPipeInMachineCode) {
  AnalyzeOptions options;
  options.machine = AnalyzeOptions::Machine::assembled;
  CompileOptions compile;
  compile.arch = "sm_80";
  const auto source = compile_cuda("k.cu", kMultiply, compile);
  ASSERT_TRUE(source) << to_text(source.diagnostics());
  const auto analysis = analyze(*source, options);
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = analysis->kernels.front().program;
  double instructions = 0, cycles = 0;
  for_each_item(program.program, [&](const Item& item) {
    if (!item.machine) return;
    instructions += (*item.machine)[Pipe::tensor];
    cycles += item.machine->matrix;
  });
  if (instructions == 0) GTEST_SKIP() << "ptxas is not here";
  EXPECT_NEAR(instructions, 2, 0.05);
  EXPECT_NEAR(cycles, 16, 0.2);
}

// ---- the same periods

// All of them, but of the many programs of tests/development every fourth.
Texts kernel_files() {
  const fs::path root = WARPTIME_SOURCE_DIR;
  Texts files;
  for (const std::string folder :
       {"dwt_kernels", "samples", "tests/analyzer/kernels", "tests/execute", "tests/development"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".cu" && entry.path().parent_path().filename() != "host")
        files.push_back(entry.path().lexically_relative(root).generic_string());
  std::sort(files.begin(), files.end());
  constexpr std::ptrdiff_t every = 4;
  std::ptrdiff_t number = 0;
  std::erase_if(files, [&](const std::string& file) {
    return file.starts_with("tests/development") && number++ % every != 0;
  });
  return files;
}

// What a warp executes for some values of the parameters, and what all warps of a launch do.
std::string executed(const KernelProgram& program, std::int64_t size) {
  const std::map<std::string, std::int64_t, std::less<>> dimensions = {{"blockDim.x", 64}, {"blockDim.y", 1},
                                                                       {"blockDim.z", 1},  {"gridDim.x", 5},
                                                                       {"gridDim.y", 1},   {"gridDim.z", 1}};
  Bindings values;
  for (const auto& name : parameter_names(program)) {
    const auto known = dimensions.find(name);
    values[name] = known == dimensions.end() ? size : known->second;
  }
  std::string text;
  const auto schedule = make_schedule(program, values, paper_durations());
  if (!schedule) return to_text(schedule.diagnostics());
  const auto periods = written_out(*schedule, 1'000'000);
  if (!periods) return "too long";
  for (const auto& period : *periods)
    text += std::to_string(static_cast<int>(period.kind)) + " " + std::to_string(period.cycles) + "\n";
  const auto launch = WarpProgram(program).launch(values, {{5, 1, 1}, {64, 1, 1}}, {}, {});
  if (!launch) return text + to_text(launch.diagnostics());
  const auto& total = launch->total;
  text += std::to_string(total.instructions) + " " + std::to_string(total.loads) + " " +
          std::to_string(total.stores) + "\n";
  for (const auto& group : launch->groups)
    text += std::to_string(group.warps) + " " + std::to_string(group.each.instructions) + "\n";
  return text;
}

TEST(Detail, LeavesThePeriodsAsTheyAre) {
  int compared = 0;
  for (const auto& file : kernel_files()) {
    SCOPED_TRACE(file);
    CompileOptions options;
    options.arch = "sm_80";
    auto source = compile_cuda(std::string(WARPTIME_SOURCE_DIR) + "/" + file, read_file(file), options);
    ASSERT_TRUE(source) << to_text(source.diagnostics());
    AnalyzeOptions without, with = with_detail();
    without.skip_unsupported = with.skip_unsupported = true;
    without.keep_steps = with.keep_steps = false;
    const auto plain = analyze(*source, without), detailed = analyze(*source, with);
    ASSERT_EQ(static_cast<bool>(plain), static_cast<bool>(detailed));
    if (!plain) continue;
    ASSERT_EQ(plain->kernels.size(), detailed->kernels.size());
    for (std::size_t i = 0; i < plain->kernels.size(); ++i) {
      const auto &a = plain->kernels[i].program, &b = detailed->kernels[i].program;
      SCOPED_TRACE(a.provenance.symbol);
      EXPECT_EQ(used_names(a), used_names(b));
      const auto read = read_kernel_programs(to_yaml(b), "k.yaml");
      ASSERT_TRUE(read) << to_text(read.diagnostics());
      EXPECT_TRUE(read->size() == 1 && read->front() == b);
      for (const std::int64_t size : {1, 7, 16}) EXPECT_EQ(executed(a, size), executed(b, size)) << size;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace warptime
