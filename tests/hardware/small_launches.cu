// What small kernels take beyond the work of one warp: with the number of blocks, with the length of their code, with
// constants, loads and stores; and the latencies of instructions in one warp. Durations are CUPTI's, recorded with
// record_launches.cc (RECORD_EACH=1); latencies go to standard output as `case,parameters,value,unit`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/small_launches.cu -o small_launches
//   RECORD_EACH=1 RECORD=launches.csv CUDA_INJECTION64_PATH=$PWD/record_launches.so ./small_launches
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

constexpr int kInts = 1 << 22;
__constant__ int table[8192];

__global__ void empty() {}

__global__ void store(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void load_store(const float* in, float* out) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  out[id] = in[id] + 1;
}

__global__ void load_same(const float* in, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x & 31] + 1;
}

// kSteps loads, each of which needs the one before: of lines of the warp's own, or of lines that all warps load.
template <int kSteps, bool kSame>
__global__ void chain(const int* next, int* out) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  int p = kSame ? threadIdx.x & 31 : id;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) p = next[p];
  out[id] = p;
}

// kLength multiplications and additions one after the other, without a loop: code of 16 bytes each.
template <int kLength>
__global__ void straight(float* out, float a) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  float x = static_cast<float>(id);
#pragma unroll
  for (int i = 0; i < kLength; ++i) x = x * a + static_cast<float>(i);
  out[id] = x;
}

// The same number of instructions in a loop over 32 of them.
template <int kLength>
__global__ void looped(float* out, float a) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  float x = static_cast<float>(id);
#pragma unroll 1
  for (int k = 0; k < kLength / 32; ++k) {
#pragma unroll
    for (int i = 0; i < 32; ++i) x = x * a + static_cast<float>(i);
  }
  out[id] = x;
}

// Words of constant memory, each in a line of its own, that all threads read; each after the one before.
template <int kWords>
__global__ void constants(int* out) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum = table[(sum & 1) + i * 64];
  out[id] = sum;
}

__global__ void starts(long long* begin, long long* end, const int* next) {
  long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  int p = next[blockIdx.x * blockDim.x + threadIdx.x];
  long long u;
  asm volatile("{ .reg .pred q; setp.eq.s32 q, %1, -1; @q trap; mov.u64 %0, %globaltimer; }"
               : "=l"(u)
               : "r"(p)
               : "memory");
  if (threadIdx.x == 0) begin[blockIdx.x] = t, end[blockIdx.x] = u;
}

// A block that takes the whole SM, for `cycles`.
__global__ void alone(long long cycles) {
  extern __shared__ char whole[];
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  if (cycles < 0) whole[threadIdx.x] = 1;
}

template <class Launch>
void repeat(Launch launch) {
  for (int i = 0; i < 24; ++i) launch();
  check(cudaDeviceSynchronize());
}

// Cycles of one of the things that `Op` does, in a chain in one warp.
template <class Op>
__global__ void latency(Op op, int* out, long long* cycles) {
  int x = static_cast<int>(threadIdx.x) + 3;
  long long best = 1LL << 60;
  for (int round = 0; round < 4; ++round) {
    const long long begin = clock64();
#pragma unroll
    for (int i = 0; i < 64; ++i) x = op(x);
    const long long end = clock64();
    best = end - begin < best ? end - begin : best;
  }
  out[threadIdx.x] = x;
  if (threadIdx.x == 0) *cycles = best;
}

template <class Op>
void print_latency(const char* name, Op op, int* out, long long* cycles) {
  latency<<<1, 32>>>(op, out, cycles);
  check(cudaDeviceSynchronize());
  std::printf("latency,%s,%.2f,cycles\n", name, static_cast<double>(*cycles) / 64);
}

struct Mad {
  __device__ int operator()(int x) const {
    asm volatile("mad.lo.s32 %0, %0, %0, 7;" : "+r"(x));
    return x;
  }
};
struct MulHi {
  __device__ int operator()(int x) const {
    asm volatile("mul.hi.u32 %0, %0, %0;" : "+r"(x));
    return x;
  }
};
struct ToFloat {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}" : "+r"(x));
    return x;
  }
};
struct FromFloat {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f;}" : "+r"(x));
    return x;
  }
};
struct Root {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .f32 f; mov.b32 f, %0; rsqrt.approx.ftz.f32 f, f; mov.b32 %0, f;}" : "+r"(x));
    return x;
  }
};
struct Select {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .pred p; setp.gt.s32 p, %0, 5; selp.s32 %0, %1, 99, p;}"
                 : "+r"(x)
                 : "r"(static_cast<int>(threadIdx.x)));
    return x;
  }
};
struct Guarded {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .pred p; setp.gt.s32 p, %0, 5; @p add.s32 %0, %0, -3;}" : "+r"(x));
    return x;
  }
};
struct PopCount {
  __device__ int operator()(int x) const {
    asm volatile("popc.b32 %0, %0;" : "+r"(x));
    return x;
  }
};
struct Shuffle {
  __device__ int operator()(int x) const { return __shfl_xor_sync(~0u, x, 1); }
};
struct Ballot {
  __device__ int operator()(int x) const { return __ballot_sync(~0u, x > 3); }
};
struct Remainder {
  int by;
  __device__ int operator()(int x) const { return (x + 1234567) % by; }
};
struct Divide {
  int by;
  __device__ int operator()(int x) const { return (x + 1234567) / by; }
};
struct DivideChanging {
  __device__ int operator()(int x) const { return 1234567890 / (x | 1); }
};
struct DivideByConstant {
  __device__ int operator()(int x) const { return (x + 1234567) / 7; }
};
struct Double {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .f64 d; cvt.rn.f64.s32 d, %0; cvt.rzi.s32.f64 %0, d;}" : "+r"(x));
    return x;
  }
};
struct FloatToDouble {
  __device__ int operator()(int x) const {
    asm volatile(
        "{.reg .f64 d; .reg .f32 f; mov.b32 f, %0; cvt.f64.f32 d, f; cvt.rn.f32.f64 f, d; mov.b32 %0, f;}"
        : "+r"(x));
    return x;
  }
};
struct Shift64 {
  __device__ int operator()(int x) const {
    asm volatile("{.reg .b64 d; cvt.u64.u32 d, %0; shl.b64 d, d, %0; cvt.u32.u64 %0, d;}" : "+r"(x));
    return x;
  }
};
struct FloatDivide {
  float by;
  __device__ int operator()(int x) const { return __float_as_int(__int_as_float(x) / by); }
};
struct Minimum {
  __device__ int operator()(int x) const {
    asm volatile("min.s32 %0, %0, 1000; add.s32 %0, %0, 3;" : "+r"(x));
    return x;
  }
};
struct ConstantLoad {
  __device__ int operator()(int x) const { return table[x & 31]; }
};

}  // namespace

int main() {
  int *ints, *out;
  long long *begin, *end;
  check(cudaMalloc(&ints, kInts * sizeof(int)));
  check(cudaMalloc(&out, kInts * sizeof(int)));
  check(cudaMallocManaged(&begin, 1024 * sizeof(long long)));
  check(cudaMallocManaged(&end, 1024 * sizeof(long long)));
  std::vector<int> next(kInts);
  for (int i = 0; i < kInts; ++i) next[i] = (i + 300000) % kInts;
  check(cudaMemcpy(ints, next.data(), kInts * sizeof(int), cudaMemcpyHostToDevice));
  auto* floats = reinterpret_cast<float*>(ints);
  auto* results = reinterpret_cast<float*>(out);

  int l2 = 0, sms = 0;
  check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::printf("device,l2_bytes,%d,bytes\ndevice,sms,%d,\n", l2, sms);

  print_latency("mad", Mad{}, out, begin);
  print_latency("mul.hi", MulHi{}, out, begin);
  print_latency("s32 to f32", ToFloat{}, out, begin);
  print_latency("f32 to u32", FromFloat{}, out, begin);
  print_latency("rsqrt.approx", Root{}, out, begin);
  print_latency("setp and selp", Select{}, out, begin);
  print_latency("setp and guarded add", Guarded{}, out, begin);
  print_latency("popc", PopCount{}, out, begin);
  print_latency("shfl", Shuffle{}, out, begin);
  print_latency("ballot of setp", Ballot{}, out, begin);
  print_latency("rem by an invariant", Remainder{1000003}, out, begin);
  print_latency("div by an invariant", Divide{3}, out, begin);
  print_latency("div by what changes", DivideChanging{}, out, begin);
  print_latency("div by 7", DivideByConstant{}, out, begin);
  print_latency("s32 to f64 and back", Double{}, out, begin);
  print_latency("f32 to f64 and back", FloatToDouble{}, out, begin);
  print_latency("shl.b64", Shift64{}, out, begin);
  print_latency("f32 division of subnormal numbers", FloatDivide{1.0001F}, out, begin);
  print_latency("min and add", Minimum{}, out, begin);
  print_latency("constant load", ConstantLoad{}, out, begin);

  const int shapes[][2] = {{1, 32},    {2, 32},     {4, 32},   {8, 32},    {16, 32},    {32, 32},
                           {64, 32},   {128, 32},   {132, 32}, {132, 64},  {132, 128},  {132, 256},
                           {132, 512}, {132, 1024}, {264, 32}, {264, 256}, {264, 1024}, {528, 32},
                           {528, 128}, {2112, 32},  {4224, 32}};
  for (const auto& [blocks, threads] : shapes) {
    const int b = blocks, t = threads;
    repeat([=] { empty<<<b, t>>>(); });
    repeat([=] { store<<<b, t>>>(results); });
    repeat([=] { load_store<<<b, t>>>(floats, results); });
    repeat([=] { load_same<<<b, t>>>(floats, results); });
    repeat([=] { chain<2, false><<<b, t>>>(ints, out); });
    repeat([=] { chain<4, false><<<b, t>>>(ints, out); });
    repeat([=] { chain<4, true><<<b, t>>>(ints, out); });
    repeat([=] { straight<128><<<b, t>>>(results, 1.5F); });
    repeat([=] { straight<512><<<b, t>>>(results, 1.5F); });
    repeat([=] { straight<2048><<<b, t>>>(results, 1.5F); });
    repeat([=] { looped<512><<<b, t>>>(results, 1.5F); });
    repeat([=] { looped<2048><<<b, t>>>(results, 1.5F); });
    repeat([=] { constants<1><<<b, t>>>(out); });
    repeat([=] { constants<4><<<b, t>>>(out); });
    repeat([=] { constants<16><<<b, t>>>(out); });
  }
  // From the end of a block until the next one begins in its place: the duration for each further wave, less the block's.
  constexpr int kWhole = 200 * 1024, kCycles = 4000;
  check(cudaFuncSetAttribute(alone, cudaFuncAttributeMaxDynamicSharedMemorySize, kWhole));
  for (const int waves : {1, 2, 4, 8})
    for (const int threads : {32, 256, 1024})
      repeat([=] { alone<<<waves * sms, threads, kWhole>>>(kCycles); });
  for (const int blocks : {1, 16, 64, 132, 264}) {
    for (int i = 0; i < 4; ++i) starts<<<blocks, 32>>>(begin, end, ints);
    check(cudaDeviceSynchronize());
    const long long first = *std::min_element(begin, begin + blocks);
    std::printf("starts,%d blocks,%lld,ns\n", blocks, *std::max_element(begin, begin + blocks) - first);
    std::printf("ends,%d blocks: first,%lld,ns\n", blocks, *std::min_element(end, end + blocks) - first);
    std::printf("ends,%d blocks: last,%lld,ns\n", blocks, *std::max_element(end, end + blocks) - first);
  }
  return 0;
}
