// When L2 sees stores of several warps of a block to one sector as one. Four kinds of launches:
//   warps: the warps of a block store one after the other, each one word to each of the same sectors, `step` rounds of a loop
//          apart; `lines` lines have 4, 2 or 1 of the sectors. `words` is 8 where each warp has a word of its own, else 1.
//   warp:  a single warp does the same alone, with `step` dependent multiplications between its stores.
//   scatter: element e goes to place e / lines of line e mod lines, `rounds` times for each thread, with `step` dependent
//          multiplications in between: as a sort by digits stores, where each sector is filled over many stores.
//   beside: `threads` - 32 threads store the six words of structures of their own, `rounds` of them, and a warp beside them does
//          something else `step` multiplications apart: `words` 0: nothing, 1: atomic additions to one address, 2: loads of a
//          line that L1 has, 3: loads of lines that it has not, 4: loads of shared memory, 5: stores to a line of its own.
// Prints `kind,lines,words,step,rounds,blocks,threads,cycles`; cycles are those between the stores of two neighbouring warps
// (warps), or between two stores of a warp; 0 beside others. Of a warp that stores to one word compilers leave the last store. Each launch is made once, in the order of the lines, for Nsight Compute.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/shared_sectors.cu -o shared_sectors && ./shared_sectors
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kSectorWords = 8, kLineWords = 32, kBlockWords = 1 << 16;

// The word of a warp's lane in its sector; -1: the lane does not store.
template <int kLines>
__device__ int place_of(int lane) {
  if (kLines <= 8) return lane < 4 * kLines ? lane * kSectorWords : -1;
  return lane * (kLines == 16 ? 2 * kSectorWords : kLineWords);
}

template <int kLines>
__global__ void store_of_warps(float* out, int words, int step, float factor, unsigned long long* cycles) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = place_of<kLines>(lane);
  float* at = out + blockIdx.x * kBlockWords + place + warp % words;
  float x = 1.5f + lane;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < warp * step; ++i) x *= factor;
  if (x > 0 && place >= 0) *at = x;
  const long long end = clock64();
  for (int i = 0; i < 1000; ++i) x *= factor;
  if (lane == 0 && x > 0 && warp == static_cast<int>(blockDim.x) / 32 - 1)
    atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
}

template <int kLines, int kStep>
__global__ void store_of_warp(float* out, int words, float factor, unsigned long long* cycles) {
  const int lane = threadIdx.x % 32, place = place_of<kLines>(lane);
  float* at = out + blockIdx.x * kBlockWords + place;
  float x = 1.5f + lane;
  const long long begin = clock64();
#pragma unroll
  for (int k = 0; k < 8; ++k) {
#pragma unroll
    for (int i = 0; i < kStep; ++i) x *= factor;
    if (place >= 0) at[words == 8 ? k : 0] = x;
  }
  const long long end = clock64();
  if (lane == 0 && x > 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
}

template <int kStep>
__global__ void scatter(float* out, int lines, int rounds, float factor, unsigned long long* cycles) {
  float* at = out + blockIdx.x * kBlockWords;
  float x = 1.5f + threadIdx.x;
  const int line_words = kBlockWords / lines;
  const long long begin = clock64();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const int e = r * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kStep; ++i) x *= factor;
    at[(e & (lines - 1)) * line_words + e / lines] = x;
  }
  const long long end = clock64();
  if (threadIdx.x % 32 == 0 && x > 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
}

template <int kBeside>
__global__ void store_beside(float* out, const float* in, float* sum, int rounds, int step, float factor,
                             unsigned long long* cycles) {
  __shared__ float shared[32];
  shared[threadIdx.x % 32] = factor;
  const int storing = blockDim.x - 32, lane = threadIdx.x % 32;
  const long long begin = clock64();
  __syncthreads();
  float x = 1.5f + threadIdx.x;
  if (static_cast<int>(threadIdx.x) < storing) {
    float* at = out + (blockIdx.x * storing * rounds + threadIdx.x) * 6;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r, at += storing * 6) {
#pragma unroll
      for (int k = 0; k < 6; ++k) at[k] = x;
      for (int i = 0; i < 8; ++i) x *= factor;
    }
  } else {
    const float* from = in + blockIdx.x * kBlockWords + lane;
#pragma unroll 1
    for (int r = 0; r < 4 * rounds; ++r) {
      if constexpr (kBeside == 1) {
        if (lane == 0) atomicAdd(sum + blockIdx.x * 32, x);
      } else if constexpr (kBeside == 2) {
        x += *const_cast<const volatile float*>(from);
      } else if constexpr (kBeside == 3) {
        x += from[r * kLineWords];
      } else if constexpr (kBeside == 4) {
        x += *const_cast<volatile float*>(shared + lane);
      } else if constexpr (kBeside == 5) {
        if (lane < 8) sum[blockIdx.x * 32 + lane] = x;
      }
      for (int i = 0; i < step; ++i) x *= factor;
    }
  }
  const long long end = clock64();
  if (x == 0 && lane == 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
}

float* memory;
unsigned long long* cycles;
constexpr int kBlocks = 132;

void begin() { check(cudaMemset(cycles, 0, sizeof *cycles)); }

void report(const char* kind, int lines, int words, int step, int rounds, int threads, double stores) {
  unsigned long long sum = 0;
  check(cudaGetLastError());
  check(cudaMemcpy(&sum, cycles, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("%s,%d,%d,%d,%d,%d,%d,%.1f\n", kind, lines, words, step, rounds, kBlocks, threads, sum / stores);
}

template <int kLines>
void by_warps() {
  for (const int words : {8, 1})
    for (const int warps : {2, 8})
      for (const int step : {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32}) {
        begin();
        store_of_warps<kLines><<<kBlocks, 32 * warps>>>(memory, words, step, 1.0001f, cycles);
        report("warps", kLines, words, step, 1, 32 * warps, kBlocks * (warps - 1.0));
      }
}

template <int kLines, int kStep>
void by_warp() {
  for (const int words : {8, 1}) {
    begin();
    store_of_warp<kLines, kStep><<<kBlocks, 32>>>(memory, words, 1.0001f, cycles);
    report("warp", kLines, words, kStep, 1, 32, kBlocks * 8.0);
  }
}

template <int kLines>
void alone() {
  by_warp<kLines, 0>();
  by_warp<kLines, 1>();
  by_warp<kLines, 2>();
  by_warp<kLines, 4>();
  by_warp<kLines, 6>();
  by_warp<kLines, 8>();
  by_warp<kLines, 12>();
  by_warp<kLines, 16>();
  by_warp<kLines, 24>();
  by_warp<kLines, 32>();
}

template <int kStep>
void scattered() {
  for (const int lines : {1, 2, 4, 8, 16, 32, 64})
    for (const int threads : {32, 64, 128, 256, 512, 1024}) {
      const int rounds = 16384 / threads < 64 ? 16384 / threads : 64;
      begin();
      scatter<kStep><<<kBlocks, threads>>>(memory, lines, rounds, 1.0001f, cycles);
      report("scatter", lines, 8, kStep, rounds, threads, kBlocks * (threads / 32.0) * rounds);
    }
}

template <int kBeside>
void beside() {
  for (const int storing : {32, 128, 256})
    for (const int step : {4, 16, 64, 256}) {
      constexpr int kRounds = 64;
      begin();
      store_beside<kBeside><<<kBlocks, storing + 32>>>(memory, memory + kBlocks * kBlockWords,
                                                       memory + 2 * kBlocks * kBlockWords, kRounds, step, 1.0001f, cycles);
      report("beside", 6 * storing / 32, kBeside, step, kRounds, storing + 32, 1);
    }
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, sizeof(float) * kBlocks * kBlockWords * 3));
  check(cudaMalloc(&cycles, sizeof *cycles));
  std::printf("kind,lines,words,step,rounds,blocks,threads,cycles\n");
  by_warps<1>();
  by_warps<8>();
  by_warps<16>();
  by_warps<32>();
  alone<1>();
  alone<8>();
  alone<16>();
  alone<32>();
  scattered<0>();
  scattered<4>();
  scattered<16>();
  scattered<64>();
  beside<0>();
  beside<1>();
  beside<2>();
  beside<3>();
  beside<4>();
  beside<5>();
  return 0;
}
