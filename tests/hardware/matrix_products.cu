// How long matrix instructions take: from one to the next that needs its result, in one warp; and how long a partition of an
// SM is busy with one, where four warps of each partition have four independent ones at a time. And what moves matrices: from
// shared memory (ldmatrix), and between threads (movmatrix). Prints `instruction,latency,cycles`.
//   nvcc -O3 -std=c++17 -arch=sm_90a tests/hardware/matrix_products.cu -o matrix_products && ./matrix_products
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kTimes = 256;

// One instruction each. `a` and `b` are registers of 32 bits (of 64, of doubles), `c` accumulators.
#define MMA_HALVES(NAME, OPCODE, C, A, B, COUT, CIN, AREGS, BREGS)                               \
  struct NAME {                                                                                  \
    static constexpr const char* name = OPCODE;                                                  \
    static constexpr int accumulators = C;                                                       \
    using Accumulator = unsigned;                                                                \
    using Factor = unsigned;                                                                     \
    static constexpr int as = A, bs = B;                                                         \
    __device__ static void run(unsigned* c, const unsigned* a, const unsigned* b) {              \
      asm volatile("mma.sync.aligned." OPCODE " " COUT ", " AREGS ", " BREGS ", " COUT ";" CIN); \
    }                                                                                            \
  }
#define C4 "{%0, %1, %2, %3}"
#define C2 "{%0, %1}"
#define IN_4_4_2 \
  : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define IN_4_2_1 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0])
#define IN_2_4_2 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define IN_2_2_1 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0])
#define IN_2_1_1 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(b[0])
MMA_HALVES(HalfInFloat16, "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, C4, IN_4_4_2, "{%4, %5, %6, %7}",
           "{%8, %9}");
MMA_HALVES(HalfInHalf16, "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, C2, IN_2_4_2, "{%2, %3, %4, %5}",
           "{%6, %7}");
MMA_HALVES(HalfInFloat8, "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, C4, IN_4_2_1, "{%4, %5}", "{%6}");
MMA_HALVES(HalfInHalf8, "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, C2, IN_2_2_1, "{%2, %3}", "{%4}");
MMA_HALVES(Bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, C4, IN_4_4_2, "{%4, %5, %6, %7}",
           "{%8, %9}");
MMA_HALVES(Tf32By8, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, C4, IN_4_4_2, "{%4, %5, %6, %7}",
           "{%8, %9}");
MMA_HALVES(Tf32By4, "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, C4, IN_4_2_1, "{%4, %5}", "{%6}");
MMA_HALVES(Bytes32, "m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, C4, IN_4_4_2, "{%4, %5, %6, %7}", "{%8, %9}");
MMA_HALVES(Bytes16, "m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1, C4, IN_4_2_1, "{%4, %5}", "{%6}");
MMA_HALVES(Bytes8, "m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, C2, IN_2_1_1, "{%2}", "{%3}");

struct Doubles4 {
  static constexpr const char* name = "m8n8k4.row.col.f64.f64.f64.f64";
  static constexpr int accumulators = 2, as = 1, bs = 1;
  using Accumulator = double;
  using Factor = double;
  __device__ static void run(double* c, const double* a, const double* b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a[0]), "d"(b[0]));
  }
};
struct Doubles16 {
  static constexpr const char* name = "m16n8k16.row.col.f64.f64.f64.f64";
  static constexpr int accumulators = 4, as = 8, bs = 4;
  using Accumulator = double;
  using Factor = double;
  __device__ static void run(double* c, const double* a, const double* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
        "%11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
  }
};
struct Moves {
  static constexpr const char* name = "movmatrix.m8n8.trans.b16";
  static constexpr int accumulators = 1, as = 1, bs = 1;
  using Accumulator = unsigned;
  using Factor = unsigned;
  __device__ static void run(unsigned* c, const unsigned*, const unsigned*) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(c[0]));
  }
};
__shared__ uint4 matrices[1024];  // 16 KiB of addresses in itself: each load gives the next one's address
template <int kMatrices>
struct Loads {
  static constexpr int accumulators = 1, as = 1, bs = 1;
  using Accumulator = unsigned;
  using Factor = unsigned;
  __device__ static void run(unsigned* c, const unsigned*, const unsigned*) {
    unsigned d[3];
    if (kMatrices == 1)
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];" : "+r"(c[0]));
    else if (kMatrices == 2)
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%0];" : "+r"(c[0]), "=r"(d[0]));
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%0];"
                   : "+r"(c[0]), "=r"(d[0]), "=r"(d[1]), "=r"(d[2]));
  }
};

// `kIndependent` chains in each warp.
template <class One, int kIndependent>
__global__ void chains(long long* cycles, typename One::Accumulator* out, unsigned seed) {
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(matrices));
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) {
    const unsigned next = base + 16 * (k % 32) + 512 * ((k / 32) % 32);
    matrices[k] = make_uint4(next, next, next, next);
  }
  __syncthreads();
  typename One::Accumulator c[kIndependent][One::accumulators];
  typename One::Factor a[One::as], b[One::bs];
  for (int k = 0; k < kIndependent; ++k)
    for (int r = 0; r < One::accumulators; ++r)
      c[k][r] = One::as == 1 && sizeof(typename One::Accumulator) == 4 ? base + 16 * (threadIdx.x % 32) : 0;
  for (int r = 0; r < One::as; ++r) a[r] = seed * r;
  for (int r = 0; r < One::bs; ++r) b[r] = seed * r;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < kTimes; ++t)
#pragma unroll
    for (int step = 0; step < 4; ++step)
#pragma unroll
      for (int k = 0; k < kIndependent; ++k) One::run(c[k], a, b);
  for (int k = 0; k < kIndependent; ++k)
    for (int r = 0; r < One::accumulators; ++r)
      out[threadIdx.x + 1024 * (k * One::accumulators + r)] = c[k][r];
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
}

template <class One>
void measure(const char* name) {
  long long* cycles = nullptr;
  typename One::Accumulator* out = nullptr;
  check(cudaMallocManaged(&cycles, sizeof *cycles));
  check(cudaMalloc(&out, 1024 * 64 * sizeof *out));
  double latency = 1e30, busy = 1e30;
  for (int r = 0; r < 5; ++r) {
    chains<One, 1><<<1, 32>>>(cycles, out, 0);
    check(cudaDeviceSynchronize());
    if (const double one = *cycles / (4.0 * kTimes); one < latency) latency = one;
    chains<One, 4><<<1, 512>>>(cycles, out, 0);
    check(cudaDeviceSynchronize());
    if (const double one = *cycles / (4.0 * kTimes * 4 * 4); one < busy) busy = one;
  }
  std::printf("%s,%.2f,%.2f\n", name, latency, busy);
  check(cudaFree(cycles));
  check(cudaFree(out));
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HAS_WGMMA 1
#endif
// A warp group's product of 64 x 16 and 16 x 256 matrices in shared memory, and of 64 x 16 and 16 x 64: `kDeep` one after
// another, then a wait.
template <int kColumns>
__global__ void __launch_bounds__(128) groups(long long* cycles, float* out) {
#ifdef HAS_WGMMA
  constexpr int kDeep = 8;
  __shared__ alignas(1024) char data[32 << 10];
  for (int k = threadIdx.x; k < (32 << 10); k += 128) data[k] = 0;
  __syncthreads();
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(data));
  const std::uint64_t at = (base & 0x3ffff) >> 4 | 1ull << 16 | 8ull << 32, other = at + 256;
  float c[kColumns / 2];
  for (float& one : c) one = 0;
  asm volatile("fence.proxy.async;");
  const long long begin = clock64();
#pragma unroll 1
  for (int t = 0; t < kTimes; ++t) {
    asm volatile("wgmma.fence.sync.aligned;");
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      if constexpr (kColumns == 64)
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "
            "%10, %11, %12, %13, "
            "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, "
            "%33, 1, 1, 1, 0, "
            "0;"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
              "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),
              "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),
              "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),
              "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
            : "l"(at), "l"(other));
    }
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
  }
  for (int k = 0; k < kColumns / 2; ++k) out[threadIdx.x + 128 * k] = c[k];
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin;
#else
  (void)cycles, (void)out;
#endif
}

template <int kColumns>
void measure_groups(const char* name) {
  long long* cycles = nullptr;
  float* out = nullptr;
  check(cudaMallocManaged(&cycles, sizeof *cycles));
  check(cudaMalloc(&out, 128 * 128 * sizeof *out));
  *cycles = 0;
  groups<kColumns><<<1, 128>>>(cycles, out);
  check(cudaDeviceSynchronize());
  if (*cycles > 0) std::printf("%s,,%.2f\n", name, *cycles / (8.0 * kTimes));
  check(cudaFree(cycles));
  check(cudaFree(out));
}

template <class One>
void measure() {
  measure<One>(One::name);
}

}  // namespace

int main() {
  std::printf("instruction,latency,cycles\n");
  measure<HalfInFloat16>();
  measure<HalfInHalf16>();
  measure<HalfInFloat8>();
  measure<HalfInHalf8>();
  measure<Bfloat16>();
  measure<Tf32By8>();
  measure<Tf32By4>();
  measure<Bytes32>();
  measure<Bytes16>();
  measure<Bytes8>();
  measure<Doubles4>();
  measure<Doubles16>();
  measure<Moves>();
  measure<Loads<1>>("ldmatrix.m8n8.x1");
  measure<Loads<2>>("ldmatrix.m8n8.x2");
  measure<Loads<4>>("ldmatrix.m8n8.x4");
  measure_groups<64>("wgmma.m64n64k16.f32.f16.f16");
  return 0;
}
