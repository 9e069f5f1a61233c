// How many cycles loops and branches take of a warp and of a partition of an SM. Every iteration of a loop has `chain` multiply-adds,
// each of which needs the one before, then `branches` branches around `body` more of them: `none` of the threads take them into the
// body, `all` do, or the lower `half` of each warp does; `else`: the lower half has one body, the upper half another. `warps` of a
// partition. Prints `chain,branches,body,who,warps,cycles`: cycles of an iteration of a warp.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/branch_costs.cu -o branch_costs && ./branch_costs
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ __forceinline__ void multiply_add(float& x, float y) { asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)); }

template <int kChain, int kBranches, int kBody, bool kElse>
__global__ void loop(const int* __restrict__ masks, float* out, int n, float y) {
  int mask = masks[threadIdx.x % 32];
  float x = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    asm volatile("" : "+r"(mask));
#pragma unroll
    for (int j = 0; j < kChain; ++j) multiply_add(x, y);
#pragma unroll
    for (int b = 0; b < kBranches; ++b) {
      if (mask >> b & 1) {
#pragma unroll
        for (int j = 0; j < kBody; ++j) multiply_add(x, y);
      } else if (kElse) {
#pragma unroll
        for (int j = 0; j < kBody; ++j) multiply_add(x, x);
      }
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int* masks;
float* out;
int sms, clock_khz;

template <int kChain, int kBranches, int kBody, bool kElse>
void run(const char* who, int threads_taking) {
  int host[32];
  for (int j = 0; j < 32; ++j) host[j] = j < threads_taking ? -1 : 0;
  check(cudaMemcpy(masks, host, sizeof host, cudaMemcpyHostToDevice));
  const int n = 8192;
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  for (int warps = 1; warps <= 16; warps *= 2) {
    float best = 1e9;
    for (int k = 0; k < 4; ++k) {
      float ms;
      check(cudaEventRecord(before));
      loop<kChain, kBranches, kBody, kElse><<<sms * warps, 128>>>(masks, out, n, 0.5f);
      check(cudaEventRecord(after));
      check(cudaEventSynchronize(after));
      check(cudaEventElapsedTime(&ms, before, after));
      if (k > 0 && ms < best) best = ms;
    }
    std::printf("%d,%d,%d,%s,%d,%.2f\n", kChain, kBranches, kBody, who, warps, (best - 0.003) * clock_khz / n);
  }
}

template <int kBranches, int kBody>
void branches() {
  run<4, kBranches, kBody, false>("none", 0);
  run<4, kBranches, kBody, false>("half", 16);
  run<4, kBranches, kBody, false>("all", 32);
  run<4, kBranches, kBody, true>("else", 16);
}

}  // namespace

int main() {
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  check(cudaMalloc(&masks, 128));
  check(cudaMalloc(&out, 4 * sms * 16 * 128));
  std::printf("chain,branches,body,who,warps,cycles\n");
  run<1, 0, 0, false>("loop", 0);
  run<2, 0, 0, false>("loop", 0);
  run<4, 0, 0, false>("loop", 0);
  run<8, 0, 0, false>("loop", 0);
  run<16, 0, 0, false>("loop", 0);
  run<32, 0, 0, false>("loop", 0);
  branches<1, 8>();
  branches<2, 8>();
  branches<4, 8>();
  branches<2, 16>();
  branches<2, 32>();
  return 0;
}
