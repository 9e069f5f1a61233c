// How fast a partition issues mixtures with integer products of 64 bits: IMAD.HI and IMAD.WIDE, with and without a summand.
// Prints `ffma,imad,mul_hi,mad_hi,mul_wide,mad_wide,lop,lop_of_three,mufu,warps,cycles`: how many of each are in an iteration,
// warps of a partition, and the cycles that an iteration takes each warp of a partition in turn. `lop` reads one register that
// changes, `lop_of_three` three.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/wide_products.cu -o wide_products && ./wide_products
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kKinds = 9, kChains = 6, kSteps = 24;

template <int kFfma, int kImad, int kMulHi, int kMadHi, int kMulWide, int kMadWide, int kLop, int kLopOfThree, int kMufu>
__global__ void mix(int times, float seed, unsigned other, unsigned third, long long* cycles, float* result) {
  float f[kChains], e[kChains];
  unsigned m[kChains], h[kChains], g[kChains], l[kChains], q[kChains];
  unsigned long long w[kChains], v[kChains];
  for (int k = 0; k < kChains; ++k) {
    f[k] = seed * k, e[k] = seed + k;
    m[k] = other * k + threadIdx.x, h[k] = other + 5 * k + threadIdx.x, g[k] = other * 7 * k + threadIdx.x;
    l[k] = other - k * threadIdx.x, q[k] = other ^ (k * threadIdx.x);
    w[k] = other * k + threadIdx.x, v[k] = static_cast<unsigned long long>(other) * threadIdx.x * k;
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < times; ++t) {
    constexpr int kAll[] = {kFfma, kImad, kMulHi, kMadHi, kMulWide, kMadWide, kLop, kLopOfThree, kMufu};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // Of each kind as many as have their turn by this step: spread evenly.
      int due[kKinds];
#pragma unroll
      for (int k = 0; k < kKinds; ++k) due[k] = kAll[k] * (step + 1) / kSteps - kAll[k] * step / kSteps;
      const int a = step % kChains, b = (step + 2) % kChains;
#pragma unroll
      for (int k = 0; k < due[0]; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[(a + k) % kChains]) : "f"(seed));
#pragma unroll
      for (int k = 0; k < due[1]; ++k) asm volatile("mad.lo.s32 %0, %0, %1, %0;" : "+r"(m[(a + k) % kChains]) : "r"(other));
#pragma unroll
      for (int k = 0; k < due[2]; ++k) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(h[(a + k) % kChains]) : "r"(other));
#pragma unroll
      for (int k = 0; k < due[3]; ++k)
        asm volatile("mad.hi.u32 %0, %0, %1, %2;" : "+r"(g[(a + k) % kChains]) : "r"(other), "r"(g[(b + k) % kChains]));
#pragma unroll
      for (int k = 0; k < due[4]; ++k)
        asm volatile("{.reg .u32 lo, hi; mov.b64 {lo, hi}, %0; mul.wide.u32 %0, hi, %1;}"
                     : "+l"(w[(a + k) % kChains])
                     : "r"(other));
#pragma unroll
      for (int k = 0; k < due[5]; ++k)
        asm volatile("{.reg .u32 lo, hi; mov.b64 {lo, hi}, %0; mad.wide.u32 %0, lo, %1, %0;}"
                     : "+l"(v[(a + k) % kChains])
                     : "r"(other));
#pragma unroll
      for (int k = 0; k < due[6]; ++k)
        asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(l[(a + k) % kChains]) : "r"(other), "r"(third));
#pragma unroll
      for (int k = 0; k < due[7]; ++k)
        asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;"
                     : "+r"(q[(a + k) % kChains])
                     : "r"(q[(b + k) % kChains]), "r"(q[(b + k + 1) % kChains]));
#pragma unroll
      for (int k = 0; k < due[8]; ++k) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(e[(a + k) % kChains]));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  float sum = 0;
  for (int k = 0; k < kChains; ++k) sum += f[k] + e[k] + m[k] + h[k] + g[k] + l[k] + q[k] + w[k] + v[k];
  if (sum == 1e30f) *result = sum;
}

long long* cycles;
float* result;

template <int... kCounts>
void measure() {
  for (const int warps : {4, 8}) {  // of a partition
    constexpr int kTimes = 300;
    for (int r = 0; r < 2; ++r) mix<kCounts...><<<1, warps * 128>>>(kTimes, 1.5f, 3, 5, cycles, result);
    check(cudaDeviceSynchronize());
    for (const int count : {kCounts...}) std::printf("%d,", count);
    std::printf("%d,%.2f\n", warps, static_cast<double>(*cycles) / kTimes / warps);
  }
}

// Beside one kind of wide product, of which there are twelve, or six.
template <int kMulHi, int kMadHi, int kMulWide, int kMadWide>
void measure_beside() {
  constexpr int h = kMulHi, g = kMadHi, w = kMulWide, v = kMadWide;
  measure<6, 0, h, g, w, v, 0, 0, 0>();
  measure<12, 0, h, g, w, v, 0, 0, 0>();
  measure<24, 0, h, g, w, v, 0, 0, 0>();
  measure<0, 6, h, g, w, v, 0, 0, 0>();
  measure<0, 12, h, g, w, v, 0, 0, 0>();
  measure<0, 24, h, g, w, v, 0, 0, 0>();
  measure<0, 0, h, g, w, v, 6, 0, 0>();
  measure<0, 0, h, g, w, v, 12, 0, 0>();
  measure<0, 0, h, g, w, v, 24, 0, 0>();
  measure<12, 0, h, g, w, v, 12, 0, 0>();
  measure<12, 0, h / 2, g / 2, w / 2, v / 2, 12, 0, 0>();
  measure<0, 6, h / 2, g / 2, w / 2, v / 2, 24, 0, 0>();
  measure<0, 0, h / 2, g / 2, w / 2, v / 2, 0, 24, 0>();
  measure<12, 0, h / 2, g / 2, w / 2, v / 2, 0, 12, 0>();
  measure<6, 12, h / 2, g / 2, w / 2, v / 2, 12, 0, 2>();
}

}  // namespace

int main() {
  check(cudaMallocManaged(&cycles, 8));
  check(cudaMalloc((void**)&result, 4));
  std::printf("ffma,imad,mul_hi,mad_hi,mul_wide,mad_wide,lop,lop_of_three,mufu,warps,cycles\n");
  measure<24, 0, 0, 0, 0, 0, 0, 0, 0>();
  measure<0, 24, 0, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 24, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 24, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 0, 24, 0, 0, 0, 0>();
  measure<0, 0, 0, 0, 0, 24, 0, 0, 0>();
  measure<0, 0, 0, 0, 0, 0, 24, 0, 0>();
  measure<0, 0, 0, 0, 0, 0, 0, 24, 0>();
  measure_beside<12, 0, 0, 0>();
  measure_beside<0, 12, 0, 0>();
  measure_beside<0, 0, 12, 0>();
  measure_beside<0, 0, 0, 12>();
  measure<0, 12, 0, 0, 0, 0, 12, 0, 0>();
  measure<0, 12, 0, 0, 0, 0, 24, 0, 0>();
  measure<0, 24, 0, 0, 0, 0, 24, 0, 0>();
  measure<0, 24, 0, 0, 0, 0, 12, 0, 0>();
  measure<24, 0, 0, 0, 0, 0, 12, 0, 0>();
  measure<24, 0, 0, 0, 0, 0, 24, 0, 0>();
  measure<24, 12, 0, 0, 0, 0, 12, 0, 0>();
  measure<12, 12, 0, 0, 0, 0, 12, 0, 0>();
  measure<12, 24, 0, 0, 0, 0, 24, 0, 0>();
  measure<24, 12, 0, 0, 0, 0, 0, 0, 0>();
  measure<24, 24, 0, 0, 0, 0, 0, 0, 0>();
  measure<0, 0, 0, 0, 0, 0, 24, 0, 3>();
  measure<0, 0, 0, 0, 0, 0, 24, 0, 6>();
  measure<0, 12, 0, 0, 0, 0, 0, 0, 6>();
  measure<24, 0, 0, 0, 0, 0, 0, 0, 6>();
  return 0;
}
