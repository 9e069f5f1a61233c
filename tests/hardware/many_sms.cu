// What a kernel takes longer where more SMs take part, at one wave of blocks: with data that all SMs share or each
// block its own (kPrivate), with and without stores, and how long after one another blocks begin and end. Durations
// are CUPTI's, recorded with record_launches.cc (RECORD_EACH=1); what blocks see of their own time goes to standard
// output as `case,parameters,value,unit`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/many_sms.cu -o many_sms
//   RECORD_EACH=1 RECORD=launches.csv CUDA_INJECTION64_PATH=$PWD/record_launches.so ./many_sms
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Of each warp: clocks it took, and when it began and ended on the GPU's timer.
struct Seen {
  long long clocks, begin, end;
};

__device__ long long now() {
  long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)::"memory");
  return t;
}

// The clock after `value` is there.
__device__ long long clock_after(float value) {
  long long t;
  asm volatile("{ .reg .pred q; setp.eq.f32 q, %1, 0f7F7FFFFF; @q trap; mov.u64 %0, %clock64; }"
               : "=l"(t)
               : "f"(value)
               : "memory");
  return t;
}

template <bool kTimed, class Body>
__device__ void timed(Seen* seen, Body body) {
  if (!kTimed) {
    body();
    return;
  }
  const long long begin = now(), first = clock64();
  const float last = body();
  const long long end = clock_after(last) - first;
  if (threadIdx.x % 32 == 0) seen[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {end, begin, now()};
}

constexpr int kApart = 64;  // floats from one block's own coefficients to the next one's

// The product with a matrix of filters (dwt_kernels/mtx.cu).
template <bool kPrivate, bool kTimed>
__global__ void product(int K, int N, const float* in, float* out, const float* coefs, Seen* seen) {
  timed<kTimed>(seen, [&] {
    float v = 0;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N) return 0.0F;
    int k1 = 2 * (id / 2), k2 = (id % 2) * K + (kPrivate ? kApart * blockIdx.x : 0);
    for (int i = 0; i < K; i++) {
      v = v + in[k1] * coefs[k2];
      k1 = (k1 + 1) % N;
      k2++;
    }
    out[id] = v;
    return v;
  });
}

// A stage of the lattice in place (dwt_kernels/ltt.cu).
template <bool kPrivate, bool kTimed>
__global__ void stage(int k, int N, float* data, const float* coefs, Seen* seen) {
  timed<kTimed>(seen, [&] {
    const int k1 = 2 * (threadIdx.x + blockDim.x * blockIdx.x) + (k % 2);
    if (k1 >= N) return 0.0F;
    const int k0 = 2 * k + (kPrivate ? kApart * blockIdx.x : 0), k2 = (k1 + 1) % N;
    const float t = coefs[k0], s = coefs[k0 + 1], a = data[k1], b = data[k2];
    data[k1] = a + t * b;
    data[k2] = s * a + b;
    return s * a + b;
  });
}

// The same of what a block has alone, without the remainder, with full sectors.
template <bool kTimed>
__global__ void stage_alone(float a, float2* data, Seen* seen) {
  timed<kTimed>(seen, [&] {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 x = data[id];
    data[id] = {x.x + a * x.y, a * x.x + x.y};
    return a * x.x + x.y;
  });
}

// One load, with no store, a store of each thread, or one by all warps of all blocks at the same address.
template <int kStores, bool kPrivate, bool kTimed>
__global__ void one_load(const float* in, float* out, Seen* seen) {
  timed<kTimed>(seen, [&] {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = in[kPrivate ? id : threadIdx.x % 32];
    if (kStores == 0 && v != 0) out[id] = v;
    if (kStores == 1) out[id] = v;
    if (kStores == 2) out[threadIdx.x % 32] = v;
    return v;
  });
}

template <class Launch>
void repeat(Launch launch) {
  for (int i = 0; i < 24; ++i) launch();
  check(cudaDeviceSynchronize());
}

void print(const char* name, int blocks, int threads, const Seen* seen) {
  const int warps = blocks * ((threads + 31) / 32);
  long long most = 0, sum = 0, begin = seen[0].begin, last_begin = begin, first_end = seen[0].end,
            end = first_end;
  for (int i = 0; i < warps; ++i) {
    most = std::max(most, seen[i].clocks), sum += seen[i].clocks;
    begin = std::min(begin, seen[i].begin), last_begin = std::max(last_begin, seen[i].begin);
    first_end = std::min(first_end, seen[i].end), end = std::max(end, seen[i].end);
  }
  const auto one = [&](const char* what, long long value, const char* unit) {
    std::printf("%s,%d blocks of %d: %s,%lld,%s\n", name, blocks, threads, what, value, unit);
  };
  one("warp's mean", sum / warps, "cycles");
  one("warp's most", most, "cycles");
  one("last begins", last_begin - begin, "ns");
  one("first ends", first_end - begin, "ns");
  one("last ends", end - begin, "ns");
}

}  // namespace

int main() {
  constexpr int kFloats = 1 << 22;
  float *in, *out, *coefs;
  Seen* seen;
  check(cudaMalloc(&in, kFloats * sizeof(float)));
  check(cudaMalloc(&out, kFloats * sizeof(float)));
  check(cudaMalloc(&coefs, kFloats * sizeof(float)));
  check(cudaMallocManaged(&seen, 65536 * sizeof(Seen)));
  check(cudaMemset(in, 0, kFloats * sizeof(float)));
  check(cudaMemset(out, 0, kFloats * sizeof(float)));
  check(cudaMemset(coefs, 0, kFloats * sizeof(float)));
  int device = 0, sms = 0;
  check(cudaGetDevice(&device));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device));
  sms = properties.multiProcessorCount;
  std::printf("device,%s,%d,SMs\n", properties.name, sms);
  auto* pairs = reinterpret_cast<float2*>(in);
  const int shapes[][2] = {{1, 32},    {2, 32},    {8, 32},    {16, 32},    {32, 32},   {66, 32},
                           {100, 32},  {132, 32},  {1, 64},    {132, 64},   {1, 128},   {16, 128},
                           {66, 128},  {132, 128}, {1, 256},   {132, 256},  {1, 512},   {66, 512},
                           {132, 512}, {1, 1024},  {66, 1024}, {132, 1024}, {264, 1024}};
  for (const auto& [blocks, threads] : shapes) {
    const int b = blocks, t = threads, n = b * t;
    const auto each = [&](const char* name, auto plain, auto with_times) {
      repeat(plain);
      repeat(with_times);
      print(name, b, t, seen);
    };
    for (const int K : {4, 14}) {
      each(
          K == 4 ? "product of 4" : "product of 14",
          [=] { product<false, false><<<b, t>>>(K, n, in, out, coefs, seen); },
          [=] { product<false, true><<<b, t>>>(K, n, in, out, coefs, seen); });
      each(
          K == 4 ? "product of 4 private" : "product of 14 private",
          [=] { product<true, false><<<b, t>>>(K, n, in, out, coefs, seen); },
          [=] { product<true, true><<<b, t>>>(K, n, in, out, coefs, seen); });
    }
    each(
        "stage", [=] { stage<false, false><<<b, t>>>(1, 2 * n, in, coefs, seen); },
        [=] { stage<false, true><<<b, t>>>(1, 2 * n, in, coefs, seen); });
    each(
        "stage private", [=] { stage<true, false><<<b, t>>>(1, 2 * n, in, coefs, seen); },
        [=] { stage<true, true><<<b, t>>>(1, 2 * n, in, coefs, seen); });
    each(
        "stage alone", [=] { stage_alone<false><<<b, t>>>(1.5F, pairs, seen); },
        [=] { stage_alone<true><<<b, t>>>(1.5F, pairs, seen); });
    each(
        "load", [=] { one_load<0, true, false><<<b, t>>>(in, out, seen); },
        [=] { one_load<0, true, true><<<b, t>>>(in, out, seen); });
    each(
        "load of the same", [=] { one_load<0, false, false><<<b, t>>>(in, out, seen); },
        [=] { one_load<0, false, true><<<b, t>>>(in, out, seen); });
    each(
        "load and store", [=] { one_load<1, true, false><<<b, t>>>(in, out, seen); },
        [=] { one_load<1, true, true><<<b, t>>>(in, out, seen); });
    each(
        "load of the same and store", [=] { one_load<1, false, false><<<b, t>>>(in, out, seen); },
        [=] { one_load<1, false, true><<<b, t>>>(in, out, seen); });
  }
  return 0;
}
