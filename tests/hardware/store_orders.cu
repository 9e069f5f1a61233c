// In which order the warps of an SM issue their stores, where L2 holds these up. Each thread stores the words of a structure of its own,
// one after the other, after some rounds of arithmetic. Prints `words,blocks,threads,rounds,warp,begin,issued` for the warps of one SM:
// the cycle in which the warp began, after the first of the SM's, and behind it those in which it came to its first store, and past
// each, separated by blanks.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/store_orders.cu -o store_orders && ./store_orders
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

// For each warp its SM, the cycle of its begin, and those of its stores.
template <int kWords>
__global__ void store_words(float* out, int rounds, float factor, unsigned* times) {
  const long thread = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  float* const at = out + thread * kWords;
  float x = threadIdx.x, y = x + 1;
  unsigned cycles[kWords + 1], sm, begin;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %clock;" : "=r"(begin));
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    x = x * factor + y;
    y = y * factor + x;
  }
  asm volatile("mov.u32 %0, %clock;" : "=r"(cycles[0]) : "f"(x), "f"(y));
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    asm volatile("st.global.f32 [%0], %1;" ::"l"(at + k), "f"(x) : "memory");
    asm volatile("mov.u32 %0, %clock;" : "=r"(cycles[k + 1])::"memory");
  }
  if (threadIdx.x % 32 != 0) return;
  unsigned* const to = times + thread / 32 * (kWords + 3);
  to[0] = sm;
  to[1] = begin;
  for (int k = 0; k <= kWords; ++k) to[k + 2] = cycles[k];
}

float* out;
unsigned* times;

template <int kWords>
void measure(int blocks, int threads, int rounds) {
  constexpr int kColumns = kWords + 3;
  const long warps = static_cast<long>(blocks) * threads / 32;
  std::vector<unsigned> host(warps * kColumns);
  for (int repeat = 0; repeat < 2; ++repeat) store_words<kWords><<<blocks, threads>>>(out, rounds, 0.5f, times);
  check(cudaMemcpy(host.data(), times, host.size() * sizeof host[0], cudaMemcpyDeviceToHost));
  unsigned first = ~0u;
  for (long warp = 0; warp < warps; ++warp)
    if (host[warp * kColumns] == host[0]) first = std::min(first, host[warp * kColumns + 1]);
  for (long warp = 0; warp < warps; ++warp) {
    const unsigned* const row = &host[warp * kColumns];
    if (row[0] != host[0]) continue;
    std::printf("%d,%d,%d,%d,%ld,%u,", kWords, blocks, threads, rounds, warp, row[1] - first);
    for (int k = 0; k <= kWords; ++k) std::printf("%s%u", k > 0 ? " " : "", row[k + 2] - row[1]);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  check(cudaMalloc(&out, 1L << 30));
  check(cudaMalloc(&times, 1L << 28));
  std::printf("words,blocks,threads,rounds,warp,begin,issued\n");
  for (const int rounds : {0, 512}) {
    measure<2>(132, 1024, rounds);
    measure<3>(132, 1024, rounds);
    measure<4>(132, 1024, rounds);
    for (const int threads : {32, 128, 256, 512, 1024}) measure<8>(132, threads, rounds);
    measure<8>(1056, 256, rounds);
    measure<8>(4224, 256, rounds);
    measure<16>(132, 256, rounds);
    measure<16>(1056, 256, rounds);
    measure<16>(4224, 256, rounds);
  }
  return 0;
}
