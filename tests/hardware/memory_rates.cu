// What the extended model's rules about L2, memory, atomics and constants were found with: how long launches take over
// footprints of several sizes (L2 keeps them or not), what lines and sectors at random cost, on how many SMs, and what
// atomics do at few addresses. Writes `case,parameters,value,unit`; data/hardware/h100_memory_rates.csv has an H100's.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/memory_rates.cu -o memory_rates && ./memory_rates
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

cudaEvent_t before, after;
char *from, *to;
long long* cycles;
float* out;

void print(const char* name, const std::string& parameters, double value, const char* unit) {
  std::printf("%s,%s,%.3f,%s\n", name, parameters.c_str(), value, unit);
}

// The least of three means, in us of a launch among others.
template <class Launch>
double time_of(Launch launch, int launches = 20) {
  launch();
  check(cudaDeviceSynchronize());
  float least = 1e30F;
  for (int k = 0; k < 3; ++k) {
    check(cudaEventRecord(before));
    for (int i = 0; i < launches; ++i) launch();
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    least = std::min(least, ms * 1000 / launches);
  }
  return least;
}

double mean_cycles(int blocks) {
  check(cudaDeviceSynchronize());
  double sum = 0;
  for (int i = 0; i < blocks; ++i) sum += cycles[i];
  return sum / blocks;
}

__global__ void empty() {}

__global__ void read_all(const float4* p, float* result, size_t n) {
  float sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const float4 v = p[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 12345) *result = sum;
}

__global__ void write_all(float4* p, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = make_float4(1, 2, 3, 4);
}

__global__ void copy_all(const float4* p, float4* q, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) q[i] = p[i];
}

__global__ void read_steps(const float* p, float* result, size_t n, int step) {
  float sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    sum += p[i * step];
  if (sum == 12345) *result = sum;
}

__global__ void write_steps(float* p, size_t n, int step) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i * step] = 1;
}

__device__ unsigned mix(unsigned x) {  // 32 bits by Wellons (2018)
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

// Lanes in groups of `together` neighbouring words; each group at one of mask + 1 places, which are `apart` words apart.
template <bool stores>
__global__ void at_random(float* p, float* result, int times, unsigned mask, int together, int apart,
                          long long* took) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const unsigned key = mix(warp * 977 + lane / together * 131071 + 7);
  const long long begin = clock64();
  float sum = 0;
  for (int i = 0; i < times; i += 8)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const size_t at = (size_t)(mix(key + (i + j) * 0x9e3779b9U) & mask) * apart + lane % together;
      if (stores)
        p[at] = 1;
      else
        sum += __ldcg(p + at);
    }
  if (sum == 12345) *result = sum;
  if (threadIdx.x == 0) took[blockIdx.x] = clock64() - begin;
}

template <class T>
__global__ void add_to(T* bins, unsigned elements, int stride, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + (size_t)(i % elements) * stride, T(1));
}

// One thread of each warp.
__global__ void add_by_warps(float* bins, unsigned elements, int stride, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 32 == 0) atomicAdd(bins + (size_t)(i / 32 % elements) * stride, 1.0F);
}

__global__ void add_at_random(unsigned* bins, unsigned elements, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + mix(i) % elements, 1U);
}

__constant__ float table[16384];

// Words of the table at random, of the first `words`, one load after another.
__global__ void constants_at_random(float* result, int words, int times, long long* took) {
  float sum = 0;
  unsigned x = mix(threadIdx.x);
  const long long begin = clock64();
  for (int i = 0; i < times; ++i) {
    sum += table[x % words];
    x = x * 1664525U + 1013904223U + (unsigned)sum;
  }
  const long long all = clock64() - begin;
  if (threadIdx.x == 0) took[blockIdx.x] = all;
  result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void footprints() {
  constexpr int blocks = 132 * 8;
  for (const int mb : {4, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128, 256}) {
    const size_t n = (size_t)mb << 16;
    const std::string size = std::to_string(mb) + " MB";
    print("read", size, time_of([&] { read_all<<<blocks, 256>>>((float4*)from, out, n); }), "us");
    print("write", size, time_of([&] { write_all<<<blocks, 256>>>((float4*)from, n); }), "us");
    print("copy", size + " in all",
          time_of([&] { copy_all<<<n / 2 / 256, 256>>>((float4*)from, (float4*)to, n / 2); }), "us");
  }
  for (const int step : {8, 16, 32, 64})
    for (const int mb : {8, 16, 24, 32, 40, 48, 64, 96, 128, 256}) {
      const size_t n = ((size_t)mb << 18) / step;
      const std::string size = std::to_string(step) + " floats " + std::to_string(mb) + " MB";
      print("read_step", size, time_of([&] { read_steps<<<blocks, 256>>>((float*)from, out, n, step); }),
            "us");
      print("write_step", size, time_of([&] { write_steps<<<blocks, 256>>>((float*)from, n, step); }), "us");
    }
}

void random_places() {
  constexpr int times = 512;
  constexpr unsigned lines = (16U << 18) / 32 - 1;  // of 16 MB, which L2 holds
  for (const int together : {1, 8, 16, 32})
    for (const int blocks : {1, 16, 66, 132, 264})
      for (const int threads : {32, 256, 1024})
        for (const bool stores : {false, true}) {
          for (int k = 0; k < 2; ++k)
            if (stores)
              at_random<true><<<blocks, threads>>>((float*)from, out, times, lines, together, 32, cycles);
            else
              at_random<false><<<blocks, threads>>>((float*)from, out, times, lines, together, 32, cycles);
          print(stores ? "scatter" : "gather",
                std::to_string(together) + " lanes a line " + std::to_string(blocks) + " blocks " +
                    std::to_string(threads) + " threads",
                mean_cycles(blocks) / times / (threads / 32) / (32 / together), "cycles a line and block");
        }
  for (const int mb : {16, 32, 64, 128, 256, 512, 1024})
    for (const bool stores : {false, true}) {
      const unsigned sectors = ((unsigned)mb << 18) / 8 - 1;
      const auto launch = [&] {
        if (stores)
          at_random<true><<<264, 1024>>>((float*)from, out, 256, sectors, 1, 8, cycles);
        else
          at_random<false><<<264, 1024>>>((float*)from, out, 256, sectors, 1, 8, cycles);
      };
      print(stores ? "scatter_sectors" : "gather_sectors", std::to_string(mb) + " MB",
            time_of(launch, 5) / (264.0 * 1024 * 256) * 1e6, "ns a thousand");
    }
}

void atomics() {
  constexpr unsigned n = 1U << 21;
  for (const unsigned elements :
       {1U, 2U, 4U, 8U, 16U, 32U, 37U, 64U, 128U, 256U, 512U, 1024U, 4096U, 16384U, 65536U, 1048576U}) {
    const std::string at = std::to_string(elements) + " elements";
    for (const int stride : {1, 8, 32})
      print("red_f32", at + " stride " + std::to_string(stride),
            time_of([&] { add_to<<<n / 256, 256>>>((float*)from, elements, stride, n); }, 3), "us");
    print("red_u32", at + " stride 1",
          time_of([&] { add_to<<<n / 256, 256>>>((unsigned*)from, elements, 1, n); }, 3), "us");
    print("red_random_u32", at,
          time_of([&] { add_at_random<<<n / 256, 256>>>((unsigned*)from, elements, n); }, 3), "us");
    for (const int stride : {1, 8, 32})
      print("red_one_lane_f32", at + " stride " + std::to_string(stride),
            time_of([&] { add_by_warps<<<n / 8, 256>>>((float*)from, elements, stride, n * 32); }, 3), "us");
  }
}

// Threads access `ways` different words, so many words apart.
__global__ void constants_by_ways(float* result, int ways, int apart, int times, long long* took) {
  int at = threadIdx.x % ways * apart;
  float sum = 0;
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < times; ++i) {
    const float v = table[at];
    sum += v;
    at += v == 12345 ? 1 : 0;
  }
  const long long all = clock64() - begin;
  if (threadIdx.x == 0) took[blockIdx.x] = all;
  result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void constants() {
  for (const int ways : {1, 2, 4, 8, 16, 32})
    for (const int apart : {1, 4, 16, 64})
      for (const int threads : {32, 128, 1024}) {
        for (int k = 0; k < 2; ++k) constants_by_ways<<<132, threads>>>(out, ways, apart, 1024, cycles);
        print("constant_ways",
              std::to_string(ways) + " ways " + std::to_string(apart) + " words apart " +
                  std::to_string(threads) + " threads",
              mean_cycles(132) / 1024, "cycles a load of a warp");
      }
  for (const int words : {64, 256, 1024, 4096, 16384})
    for (const int threads : {32, 256}) {
      for (int k = 0; k < 2; ++k) constants_at_random<<<132, threads>>>(out, words, 256, cycles);
      print("constant_random", std::to_string(words) + " words " + std::to_string(threads) + " threads",
            mean_cycles(132) / 256, "cycles a load of a warp");
    }
}

}  // namespace

int main() {
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  constexpr size_t bytes = size_t{1} << 30;
  check(cudaMalloc(&from, bytes));
  check(cudaMalloc(&to, bytes));
  check(cudaMemset(from, 0, bytes));
  check(cudaMemset(to, 0, bytes));
  check(cudaMallocManaged(&cycles, 1024 * sizeof *cycles));
  check(cudaMalloc(&out, 1 << 24));
  std::printf("case,parameters,value,unit\n");
  print("empty", "", time_of([] { empty<<<132, 128>>>(); }, 200), "us");
  footprints();
  random_places();
  atomics();
  constants();
  check(cudaGetLastError());
}
