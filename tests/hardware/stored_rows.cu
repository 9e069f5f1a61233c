// What it costs that threads change rows in place, each a row of its own, which memory has or L2: an element of a sector is
// loaded while others of the same sector are stored. Modes: ahead, which loads the next element before it stores one;
// past_l1, the same with loads that L1 does not keep; past_l1_apart, which stores to rows of another array; load and
// store, which do only that, past L1. Prints `mode,row,sms,warps,steps,cold_us,warm_us`: row is the distance of rows in
// bytes, warps those of each of so many SMs. cold_us: behind a kernel that reads more than L2 holds; warm_us: the same
// launch at once again.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/stored_rows.cu -o stored_rows && ./stored_rows
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Mode { kAhead, kPastL1, kPastL1Apart, kLoad, kStore };
constexpr const char* kNames[] = {"ahead", "past_l1", "past_l1_apart", "load", "store"};

template <Mode kMode>
__device__ float load(const float* p) {
  float v;
  if (kMode == kAhead)
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  else
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}

__device__ void store(float* p, float v) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(p), "f"(v) : "memory");
}

template <Mode kMode>
__global__ void sweep(float* p, float* q, long row, int steps, float* result) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  float *at = p + t * row, *other = q + t * row;
  float before = 0, v = kMode == kStore ? 0 : load<kMode>(at);
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    if (kMode == kStore) {
      store(at + i, i);
    } else if (kMode == kLoad) {
      before = before * 0.25f + load<kMode>(at + i);
    } else {
      const float next = load<kMode>(at + i + 1);
      before = v * 0.5f + before * 0.25f;
      store((kMode == kPastL1Apart ? other : at) + i, before);
      v = next;
    }
  }
  if (before + v == 12345) *result = before;
}

__global__ void read_all(const float4* p, long count, float* result) {
  float sum = 0;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += p[i].x;
  if (sum == 12345) *result = sum;
}

constexpr long kBytes = 2L << 30, kOthers = 256L << 20;
char *memory[2], *others;
float* result;
cudaEvent_t before, after;

template <Mode kMode>
float launch(long row, int sms, int warps, int steps) {
  check(cudaEventRecord(before));
  sweep<kMode><<<sms, warps * 32>>>(reinterpret_cast<float*>(memory[0]), reinterpret_cast<float*>(memory[1]), row / 4,
                                    steps, result);
  check(cudaEventRecord(after));
  check(cudaDeviceSynchronize());
  float ms = 0;
  check(cudaEventElapsedTime(&ms, before, after));
  return ms * 1000;
}

template <Mode kMode>
void run(long row, int sms, int warps) {
  constexpr int steps = 64;
  if (row * sms * warps * 32 > kBytes) return;
  read_all<<<264, 1024>>>(reinterpret_cast<const float4*>(others), kOthers / 16, result);
  const float cold = launch<kMode>(row, sms, warps, steps);
  std::printf("%s,%ld,%d,%d,%d,%.2f,%.2f\n", kNames[kMode], row, sms, warps, steps, cold,
              launch<kMode>(row, sms, warps, steps));
}

template <Mode... kModes>
void all() {
  for (const long row : {288L, 1152L, 2560L, 4096L, 16384L, 16512L})
    for (const int sms : {8, 33, 132})
      for (const int warps : {1, 2, 4, 16, 32}) (run<kModes>(row, sms, warps), ...);
}

}  // namespace

int main() {
  for (char*& one : memory) {
    check(cudaMalloc(reinterpret_cast<void**>(&one), kBytes + 4096));
    check(cudaMemset(one, 0, kBytes + 4096));
  }
  check(cudaMalloc(reinterpret_cast<void**>(&others), kOthers));
  check(cudaMemset(others, 0, kOthers));
  check(cudaMalloc(reinterpret_cast<void**>(&result), 4));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  launch<kLoad>(1152, 132, 4, 64);
  std::puts("mode,row,sms,warps,steps,cold_us,warm_us");
  all<kAhead, kPastL1, kPastL1Apart, kLoad, kStore>();
  return 0;
}
