// What a load costs where all blocks go over the same data in step. The threads of each block load `group` words, `stride` bytes apart,
// of the same places in all blocks, and the next ones when these are there: `steps` times. `cold`: 512 MiB of other data have been
// written since the data were there; `warm`: the launch before has loaded them. Prints
// `blocks,threads,group,stride_bytes,steps,state,mean_cycles_per_step,max,min`: of the blocks' cycles, for a step.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/cold_chains.cu -o cold_chains && ./cold_chains
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// The words are 0, which only the GPU knows.
__global__ void chain(const int* words, long long stride, int steps, int group, long long* cycles, int* out) {
  const long long begin = clock64();
  long long at = threadIdx.x;
  int value = 0;
  for (int s = 0; s < steps; ++s) {
    if (group == 1) {
      value = words[at + value];
    } else if (group == 4) {
      const int a = words[at + value], b = words[at + value + stride];
      const int c = words[at + value + 2 * stride], d = words[at + value + 3 * stride];
      value = a + b + c + d;
    } else {
      int some[8], sum = 0;
      for (int k = 0; k < 8; ++k) some[k] = words[at + value + k * stride];
      for (int k = 0; k < 8; ++k) sum += some[k];
      value = sum;
    }
    at += group * stride;
  }
  const long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  if (value == 12345) out[0] = value;
}

}  // namespace

int main() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  constexpr int kSteps = 64, kMostBlocks = 1056, kLaunches = 3;
  int *words, *others, *out;
  long long* cycles;
  check(cudaMalloc(&words, kBytes));
  check(cudaMalloc(&others, kBytes));
  check(cudaMalloc(&out, sizeof(int)));
  check(cudaMalloc(&cycles, kMostBlocks * sizeof(long long)));
  check(cudaMemset(words, 0, kBytes));
  std::vector<long long> found(kMostBlocks);
  std::puts("blocks,threads,group,stride_bytes,steps,state,mean_cycles_per_step,max,min");
  for (const int threads : {1, 32})
    for (const int blocks : {1, 8, 132, kMostBlocks})
      for (const int group : {1, 4, 8})
        for (const long long stride : {32, 64, 128, 256, 512, 1024, 4096, 16384, 65536}) {
          if (threads == 32 && stride < 128) continue;
          if (stride * group * kSteps + 128 > static_cast<long long>(kBytes)) continue;
          for (const bool cold : {true, false}) {
            double mean = 0, most = 0, least = 1e18;
            for (int r = 0; r < kLaunches; ++r) {  // the first warms up
              if (cold) check(cudaMemset(others, r, kBytes));
              chain<<<blocks, threads>>>(words + (cold ? r * 37 * 1024 : 0), stride / 4, kSteps, group, cycles, out);
              check(cudaDeviceSynchronize());
              check(cudaMemcpy(found.data(), cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost));
              if (r == 0) continue;
              for (int b = 0; b < blocks; ++b) {
                const double each = static_cast<double>(found[b]) / kSteps;
                mean += each / blocks / (kLaunches - 1);
                most = std::max(most, each);
                least = std::min(least, each);
              }
            }
            std::printf("%d,%d,%d,%lld,%d,%s,%.0f,%.0f,%.0f\n", blocks, threads, group, stride, kSteps, cold ? "cold" : "warm",
                        mean, most, least);
          }
        }
}
