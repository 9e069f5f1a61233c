// How much the time of single loads from L2 and memory varies: of one line at places drawn at random, as the warp sees
// it; of several independent loads that a warp waits for together; and of neighbouring lines, one after the other.
// Prints `case,parameters,value,unit`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/memory_latencies.cu -o memory_latencies
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kSteps = 256, kLineWords = 32;
constexpr std::size_t kWords = std::size_t{1} << 30;

__device__ unsigned mixed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352dU, x ^= x >> 15, x *= 0x846ca68bU;
  return x ^ x >> 16;
}

// Each warp loads kLoads lines at once, kSteps times; at random, or (apart) with each of the lines so many lines behind the one
// before, from a place of its own. cycles: of each step, from the first load to when the last result is there.
template <int kLoads>
__global__ void load(const unsigned* words, unsigned lines, unsigned apart, unsigned seed, unsigned short* cycles) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned waits = 0;
  for (int step = 0; step < kSteps; ++step) {
    unsigned at[kLoads], value[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const unsigned index = (warp * kSteps + step) * kLoads + i;
      const unsigned line = apart == 0 ? mixed(index + seed + waits) % lines : (index * apart + seed + waits) % lines;
      at[i] = line * kLineWords + lane;
    }
    const long long begin = clock64();
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value[i]) : "l"(words + at[i]) : "memory");
#pragma unroll
    for (int i = 0; i < kLoads; ++i) waits |= value[i];
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %0, 0xffffffff; @q trap; }" ::"r"(waits) : "memory");
    const long long end = clock64();
    if (lane == 0) cycles[warp * kSteps + step] = static_cast<unsigned short>(min(end - begin, 65535LL));
  }
}

template <int kLoads>
void measure(const char* name, const unsigned* words, double megabytes, unsigned apart, int blocks, int warps,
             unsigned short* cycles, bool series) {
  const auto lines = static_cast<unsigned>(megabytes * 1024 * 1024 / (kLineWords * 4));
  std::vector<unsigned short> times(static_cast<std::size_t>(blocks) * warps * kSteps);
  static unsigned seed = 1;
  for (int run = 0; run < 2; ++run) load<kLoads><<<blocks, 32 * warps>>>(words, lines, apart, seed += 0x5bd1e995U, cycles);
  check(cudaMemcpy(times.data(), cycles, times.size() * sizeof(times[0]), cudaMemcpyDeviceToHost));
  const std::string what = std::to_string(kLoads) + " loads; " + std::to_string(static_cast<int>(megabytes)) + " MiB; " +
                           std::to_string(blocks) + " blocks of " + std::to_string(warps) + " warps";
  if (series) {
    for (int i = 0; i < kSteps; ++i) std::printf("%s,%s: step %d,%d,cycles\n", name, what.c_str(), i, times[i]);
    return;
  }
  double sum = 0;
  for (const unsigned short time : times) sum += time;
  std::sort(times.begin(), times.end());
  std::printf("%s,%s: mean,%.1f,cycles\n", name, what.c_str(), sum / static_cast<double>(times.size()));
  for (const int percent : {1, 5, 10, 20, 30, 40, 45, 50, 55, 60, 70, 80, 90, 95, 98, 99})
    std::printf("%s,%s: %d%% take less than,%d,cycles\n", name, what.c_str(), percent,
                times[times.size() * percent / 100]);
}

}  // namespace

int main() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  const int sms = properties.multiProcessorCount;
  unsigned* words = nullptr;
  unsigned short* cycles = nullptr;
  check(cudaMalloc(&words, kWords * 4));
  check(cudaMemset(words, 0, kWords * 4));
  check(cudaMalloc(&cycles, static_cast<std::size_t>(sms) * 64 * kSteps * sizeof(unsigned short)));
  std::printf("case,parameters,value,unit\ndevice,%s,%d,SMs\n", properties.name, sms);
  for (const double megabytes : {16.0, 256.0, 4096.0})
    for (const int warps : {1, 8, 32}) {
      measure<1>("at random", words, megabytes, 0, sms, warps, cycles, false);
      if (warps == 32) continue;
      measure<2>("at random", words, megabytes, 0, sms, warps, cycles, false);
      measure<4>("at random", words, megabytes, 0, sms, warps, cycles, false);
      measure<8>("at random", words, megabytes, 0, sms, warps, cycles, false);
    }
  for (const unsigned apart : {1U, 2U, 4U, 8U, 32U}) {
    const std::string name = std::to_string(apart) + " lines apart";
    measure<1>(name.c_str(), words, 4096, apart, 1, 1, cycles, true);
  }
  for (const int warps : {1, 8, 32}) {
    measure<1>("one after the other", words, 4096, 1, sms, warps, cycles, false);
    if (warps < 32) measure<4>("one after the other", words, 4096, 1, sms, warps, cycles, false);
  }
  check(cudaDeviceSynchronize());
}
