// What match.any takes, by how many different values the threads of a warp have, and shuffles whose masks name parts of the warp, before
// which ptxas asks with it which threads come together. Prints `kind,groups,warps,cycles`: match, where each match needs the one
// before; matches, where it does not; shuffle: a sum of the threads of a group by shuffles with their own mask. The groups of a warp,
// the warps of the one block of each of 132 SMs, and the cycles of a warp for each of them.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/match_costs.cu -o match_costs && ./match_costs
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kRounds = 256;
enum Kind { kMatch, kMatches, kShuffle, kKinds };
constexpr const char* kNames[] = {"match", "matches", "shuffle"};

template <int kKind>
__global__ void measure(int groups, int zero, unsigned* out, unsigned long long* cycles) {
  const unsigned lane = threadIdx.x % 32, size = 32 / groups, group = lane / size;
  const unsigned mask = (size == 32 ? ~0u : (1u << size) - 1) << group * size;
  unsigned x = group, sum = 0;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < kRounds; ++i) {
    if constexpr (kKind == kMatch) {
      x += __match_any_sync(~0u, x) & zero;
    } else if constexpr (kKind == kMatches) {
      sum += __match_any_sync(~0u, x + i);
    } else {
      float part = x;
      for (unsigned d = size / 2; d > 0; d /= 2) part += __shfl_down_sync(mask, part, d);
      x += static_cast<unsigned>(part) & zero;
    }
  }
  const long long end = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + sum;
  if (lane == 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
}

template <int kKind>
void run(unsigned* out, unsigned long long* cycles) {
  for (const int groups : {1, 2, 4, 8, 16, 32})
    for (const int warps : {1, 4, 16, 32}) {
      if (kKind == kShuffle && groups == 32) continue;
      unsigned long long total = 0;
      for (int repeat = 0; repeat < 2; ++repeat) {
        check(cudaMemset(cycles, 0, sizeof *cycles));
        measure<kKind><<<132, 32 * warps>>>(groups, 0, out, cycles);
        check(cudaMemcpy(&total, cycles, sizeof total, cudaMemcpyDeviceToHost));
      }
      std::printf("%s,%d,%d,%.2f\n", kNames[kKind], groups, warps, static_cast<double>(total) / (132.0 * warps * kRounds));
    }
}

}  // namespace

int main() {
  unsigned* out;
  unsigned long long* cycles;
  check(cudaMalloc(&out, 132 * 1024 * sizeof *out));
  check(cudaMalloc(&cycles, sizeof *cycles));
  std::printf("kind,groups,warps,cycles\n");
  run<kMatch>(out, cycles);
  run<kMatches>(out, cycles);
  run<kShuffle>(out, cycles);
  return 0;
}
