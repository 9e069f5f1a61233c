// How fast a partition issues mixtures of instructions of its pipes, with operands that ptxas can not join. Prints
// `ffma,imad,hi,lop,shf,setp,mufu,i2f,dfma,warps,cycles`: how many of each are in an iteration, warps of a partition, and the cycles
// that an iteration takes each warp of a partition in turn.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/pipe_mixes.cu -o pipe_mixes && ./pipe_mixes
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <int kFfma, int kImad, int kHi, int kLop, int kShf, int kSetp, int kMufu, int kI2f, int kDfma>
__global__ void mix(int times, float seed, int other, long long* cycles, float* result) {
  constexpr int kChains = 6;
  float f[kChains], e[kChains], c[kChains];
  int m[kChains], h[kChains], l[kChains], s[kChains], p[kChains];
  double d[kChains];
  for (int k = 0; k < kChains; ++k) {
    f[k] = seed * k, e[k] = seed + k, c[k] = seed - k;
    m[k] = other * k + threadIdx.x, h[k] = other + 5 * k, l[k] = other - k * threadIdx.x, s[k] = other ^ k;
    p[k] = other + k * threadIdx.x;
    d[k] = seed * k + other;
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < times; ++t) {
    constexpr int kAll[] = {kFfma, kImad, kHi, kLop, kShf, kSetp, kMufu, kI2f, kDfma};
    constexpr int kSteps = 48;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // Of each kind as many as have their turn by this step: spread evenly.
      int due[9];
#pragma unroll
      for (int k = 0; k < 9; ++k) due[k] = kAll[k] * (step + 1) / kSteps - kAll[k] * step / kSteps;
      const int a = step % kChains, b = (step + 2) % kChains;
#pragma unroll
      for (int k = 0; k < due[0]; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f[(a + k) % kChains]) : "f"(seed), "f"(f[(b + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[1]; ++k) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(m[(a + k) % kChains]) : "r"(other), "r"(m[(b + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[2]; ++k) asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(h[(a + k) % kChains]) : "r"(other), "r"(h[(b + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[3]; ++k) asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(l[(a + k) % kChains]) : "r"(l[(b + k) % kChains]), "r"(l[(b + k + 1) % kChains]));
#pragma unroll
      for (int k = 0; k < due[4]; ++k) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(s[(a + k) % kChains]) : "r"(s[(b + k) % kChains]), "r"(other));
#pragma unroll
      for (int k = 0; k < due[5]; ++k) asm volatile("max.s32 %0, %0, %1;" : "+r"(p[(a + k) % kChains]) : "r"(p[(b + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[6]; ++k) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(e[(a + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[7]; ++k) asm volatile("cvt.rzi.s32.f32 %1, %0; cvt.rn.f32.s32 %0, %1;" : "+f"(c[(a + k) % kChains]), "=r"(p[0]));
#pragma unroll
      for (int k = 0; k < due[8]; ++k) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(d[(a + k) % kChains]) : "d"(d[(b + k) % kChains]), "d"(d[(b + k + 1) % kChains]));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  float sum = 0;
  for (int k = 0; k < kChains; ++k) sum += f[k] + e[k] + c[k] + m[k] + h[k] + l[k] + s[k] + p[k] + static_cast<float>(d[k]);
  if (sum == 1e30f) *result = sum;
}

long long* cycles;
float* result;

template <int... kCounts>
void measure() {
  for (const int warps : {4, 8}) {  // of a partition
    constexpr int kTimes = 300;
    for (int r = 0; r < 2; ++r) mix<kCounts...><<<1, warps * 128>>>(kTimes, 1.5f, 3, cycles, result);
    check(cudaDeviceSynchronize());
    for (const int count : {kCounts...}) std::printf("%d,", count);
    std::printf("%d,%.2f\n", warps, static_cast<double>(*cycles) / kTimes / warps);
  }
}

}  // namespace

int main() {
  check(cudaMallocManaged(&cycles, 8));
  check(cudaMalloc((void**)&result, 4));
  std::printf("ffma,imad,hi,lop,shf,setp,mufu,i2f,dfma,warps,cycles\n");
  // One kind.
  measure<48, 0, 0, 0, 0, 0, 0, 0, 0>();
  measure<0, 48, 0, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 48, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 48, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 0, 48, 0, 0, 0, 0>();
  measure<0, 0, 0, 0, 0, 48, 0, 0, 0>();
  measure<0, 0, 0, 0, 0, 0, 24, 0, 0>();
  measure<0, 0, 0, 0, 0, 0, 0, 24, 0>();
  measure<0, 0, 0, 0, 0, 0, 0, 0, 48>();
  // Two.
  measure<24, 0, 0, 24, 0, 0, 0, 0, 0>();
  measure<32, 0, 0, 16, 0, 0, 0, 0, 0>();
  measure<24, 0, 0, 0, 24, 0, 0, 0, 0>();
  measure<24, 0, 0, 0, 0, 24, 0, 0, 0>();
  measure<0, 24, 0, 24, 0, 0, 0, 0, 0>();
  measure<0, 16, 0, 24, 0, 0, 0, 0, 0>();
  measure<0, 24, 0, 16, 0, 0, 0, 0, 0>();
  measure<0, 0, 12, 24, 0, 0, 0, 0, 0>();
  measure<0, 12, 12, 0, 0, 0, 0, 0, 0>();
  measure<24, 0, 12, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 24, 0, 0, 6, 0, 0>();
  measure<32, 0, 0, 0, 0, 0, 6, 0, 0>();
  measure<32, 0, 0, 0, 0, 0, 3, 0, 0>();
  measure<0, 24, 0, 0, 0, 0, 6, 0, 0>();
  measure<24, 0, 0, 0, 0, 0, 0, 6, 0>();
  measure<0, 0, 0, 24, 0, 0, 0, 6, 0>();
  measure<24, 0, 0, 0, 0, 0, 0, 0, 24>();
  measure<0, 0, 0, 24, 0, 0, 0, 0, 24>();
  measure<0, 24, 0, 0, 0, 0, 0, 0, 24>();
  measure<0, 0, 0, 12, 0, 0, 0, 0, 24>();
  measure<0, 0, 0, 0, 0, 0, 6, 0, 24>();
  // Three and more.
  measure<16, 8, 0, 16, 0, 0, 0, 0, 0>();
  measure<24, 8, 0, 8, 0, 8, 0, 0, 0>();
  measure<0, 16, 0, 12, 12, 0, 0, 0, 0>();
  measure<0, 16, 0, 16, 0, 0, 5, 0, 0>();
  measure<16, 0, 0, 16, 0, 0, 5, 0, 0>();
  measure<24, 0, 0, 12, 0, 0, 3, 0, 0>();
  measure<0, 8, 8, 24, 0, 0, 0, 0, 0>();
  measure<0, 8, 4, 16, 0, 0, 4, 0, 0>();
  measure<12, 8, 4, 12, 4, 4, 3, 0, 0>();
  measure<0, 0, 0, 16, 0, 0, 4, 0, 16>();
  measure<0, 8, 0, 8, 0, 0, 4, 0, 24>();
  measure<16, 0, 0, 16, 0, 0, 0, 0, 16>();
  return 0;
}
