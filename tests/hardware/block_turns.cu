// When the warps of a block begin, and how long after a block's end the next one begins in its place: kernels that look at the
// clock, with one block or several at a time on each SM. Prints `case,parameters,value,unit`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/block_turns.cu -o block_turns
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Warp {
  long long begin, end;
  unsigned sm, block;
};

extern __shared__ float shared[];

// Each warp works for `work` cycles, and stores a value if `store`.
__global__ void turns(Warp* warps, float* values, int work, bool store) {
  const long long begin = clock64();
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  if (store) values[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  while (clock64() < begin + work) {}
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) warps[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {begin, end, sm, blockIdx.x};
}

double median(std::vector<double> values) {
  if (values.empty()) return -1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  const int sms = properties.multiProcessorCount, turns_of_sm = 24;
  check(cudaFuncSetAttribute(turns, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  Warp* warps = nullptr;
  float* values = nullptr;
  check(cudaMalloc(&warps, sizeof(Warp) * sms * turns_of_sm * 32 * 32));
  check(cudaMalloc(&values, std::size_t{4} * sms * turns_of_sm * 32 * 1024));
  std::printf("case,parameters,value,unit\ndevice,%s,%d,SMs\n", properties.name, sms);
  for (const bool store : {false, true})
    for (const int threads : {32, 64, 128, 256, 512, 1024})
      for (const int at_once : {1, 2, 4, 8})
        for (const int work : {200, 2000, 6000}) {
          if (threads * at_once > 2048) continue;
          const int blocks = sms * at_once * turns_of_sm, bytes = (200 << 10) / at_once - 1024;
          for (int run = 0; run < 2; ++run) turns<<<blocks, threads, bytes>>>(warps, values, work, store);
          std::vector<Warp> all(static_cast<std::size_t>(blocks) * threads / 32);
          check(cudaMemcpy(all.data(), warps, all.size() * sizeof(Warp), cudaMemcpyDeviceToHost));
          struct Block {
            long long first = 1LL << 62, last = 0, end = 0;
          };
          std::map<unsigned, std::map<unsigned, Block>> of_sms;
          for (const Warp& warp : all) {
            Block& block = of_sms[warp.sm][warp.block];
            block.first = std::min(block.first, warp.begin), block.last = std::max(block.last, warp.begin);
            block.end = std::max(block.end, warp.end);
          }
          std::vector<double> spread, gap, between;
          for (const auto& [sm, blocks_of_sm] : of_sms) {
            std::vector<long long> ends, begins;
            for (const auto& [number, block] : blocks_of_sm) {
              spread.push_back(static_cast<double>(block.last - block.first));
              ends.push_back(block.end), begins.push_back(block.first);
            }
            std::sort(ends.begin(), ends.end()), std::sort(begins.begin(), begins.end());
            // The block that begins n-th takes the place of the one that ended n - at_once-th.
            for (std::size_t n = 2 * at_once; n < begins.size(); ++n)
              gap.push_back(static_cast<double>(begins[n] - ends[n - at_once]));
            for (std::size_t n = 2 * at_once; n < begins.size(); ++n)
              between.push_back(static_cast<double>(begins[n] - begins[n - at_once]) - work);
          }
          const auto print = [&](const char* what, double value) {
            std::printf("%s,%d threads%s; %d blocks at once; work %d: %s,%.0f,cycles\n", "blocks", threads,
                        store ? " that store" : "", at_once, work, what, value);
          };
          print("from a block's first warp to its last", median(spread));
          print("from a block's end to the next one's beginning", median(gap));
          print("from one beginning to the next less work", median(between));
        }
}
