// How many cycles a partition takes for a warp's iteration of a loop with loads that hit L1 beside other instructions. Each iteration
// has `loads` loads, a line each, the same in all iterations, and `instructions` others, which use what was loaded (`uses` 1) or other
// registers (0): shifts of the ALU (alu), multiply-adds of floating-point numbers (fma) or of integers (imad). `warps` of a partition.
// Prints `loads,instructions,kind,uses,warps,cycles`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/load_phases.cu -o load_phases && ./load_phases
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Kind { kAlu, kFma, kImad };
constexpr const char* kNames[] = {"alu", "fma", "imad"};

__device__ __forceinline__ int load(const int* p) {
  int v;
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

template <int kKind>
__device__ __forceinline__ void combine(int& a, int w) {
  if (kKind == kAlu) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(a) : "r"(w));
  if (kKind == kImad) asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(a) : "r"(w));
  if (kKind == kFma) {
    float f = __int_as_float(a), g = __int_as_float(w);
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(g));
    a = __float_as_int(f);
  }
}

template <int kLoads, int kInstructions, int kKind, int kUses>
__global__ void mix(const int* __restrict__ words, int* out, int n, long long step) {
  int sums[8], own[8], rest = 0;
  for (int j = 0; j < 8; ++j) {
    sums[j] = threadIdx.x * j;
    own[j] = threadIdx.x + j;
  }
  const int* p = words + threadIdx.x % 32;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    constexpr int words_of = kLoads > 0 ? kLoads : 1;
    int loaded[words_of];
#pragma unroll
    for (int j = 0; j < kLoads; ++j) loaded[j] = load(p + 32 * j);
#pragma unroll
    for (int j = 0; j < kInstructions; ++j)
      combine<kKind>(sums[j % 8], kUses && kLoads > 0 ? loaded[j % words_of] : own[j % 8]);
    if (kLoads > 0) p += step;
    if (kLoads > 0 && (!kUses || kInstructions < kLoads)) {
      int x = 0;
#pragma unroll
      for (int j = kUses ? kInstructions : 0; j < kLoads; ++j) x ^= loaded[j];
      rest ^= x;
    }
  }
  for (int j = 0; j < 8; ++j) rest += sums[j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = rest;
}

int *words, *out;
int sms, clock_khz;

template <int kLoads, int kInstructions, int kKind, int kUses>
void run() {
  const int n = 4096;
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  for (int warps = 4; warps <= 16; warps *= 2) {
    float best = 1e9;
    for (int k = 0; k < 4; ++k) {
      float ms;
      check(cudaEventRecord(before));
      mix<kLoads, kInstructions, kKind, kUses><<<sms * warps, 128>>>(words, out, n, 0);
      check(cudaEventRecord(after));
      check(cudaEventSynchronize(after));
      check(cudaEventElapsedTime(&ms, before, after));
      if (k > 0 && ms < best) best = ms;
    }
    std::printf("%d,%d,%s,%d,%d,%.2f\n", kLoads, kInstructions, kNames[kKind], kUses, warps,
                (best - 0.003) * clock_khz / (static_cast<double>(warps) * n));
  }
}

template <int kLoads, int kKind, int kUses>
void instructions() {
  run<kLoads, 4, kKind, kUses>();
  run<kLoads, 8, kKind, kUses>();
  run<kLoads, 16, kKind, kUses>();
  run<kLoads, 32, kKind, kUses>();
}

template <int kKind>
void loads() {
  instructions<0, kKind, 0>();
  instructions<1, kKind, 0>();
  instructions<2, kKind, 0>();
  instructions<4, kKind, 0>();
  instructions<8, kKind, 0>();
  instructions<1, kKind, 1>();
  instructions<2, kKind, 1>();
  instructions<4, kKind, 1>();
  instructions<8, kKind, 1>();
}

}  // namespace

int main() {
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  check(cudaMalloc(&words, 1 << 20));
  check(cudaMemset(words, 0, 1 << 20));
  check(cudaMalloc(&out, 4 * sms * 16 * 128));
  std::printf("loads,instructions,kind,uses,warps,cycles\n");
  loads<kAlu>();
  loads<kFma>();
  loads<kImad>();
  return 0;
}
