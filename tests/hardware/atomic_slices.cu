// How many atomics L2 takes a microsecond, by their type and by where they are: 264 blocks of 512 threads, each of whose warps makes 64
// of them. `one`: the first lane's, all at one address; `sector`, `words`: at 8 or 26 words, a warp has one of them; `row`: each lane's
// word of a row of 32; `table`, `large`: each lane's at random of 256 or of 65,536 words; `apart`: 1,024 words, 16 from each other.
// Prints `operation,returns,where,us,warps_per_us`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/atomic_slices.cu -o atomic_slices && ./atomic_slices
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

using Wide = unsigned long long;
enum Where { kOne, kSector, kWords, kRow, kTable, kLarge, kApart, kPlaces };
constexpr const char* kNames[] = {"one", "sector", "words", "row", "table", "large", "apart"};
constexpr int kBlocks = 264, kThreads = 512, kTimes = 64;

struct Add {
  template <class T>
  static __device__ T make(T* p, T v) {
    return atomicAdd(p, v);
  }
};
struct Max {
  template <class T>
  static __device__ T make(T* p, T v) {
    return atomicMax(p, v);
  }
};

template <class Operation, class T, bool kReturns>
__global__ void atomics(T* p, int where, T* result) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned random = (warp * 32 + lane) * 2654435761u + 12345;
  T sum = 0;
  for (int k = 0; k < kTimes; ++k) {
    random = random * 1664525u + 1013904223u;
    const bool makes = where == kRow || where == kTable || where == kLarge || lane == 0;
    const unsigned at = where == kOne      ? 0
                        : where == kSector ? warp % 8
                        : where == kWords  ? warp % 26
                        : where == kRow    ? lane
                        : where == kTable  ? random >> 24
                        : where == kLarge  ? random >> 16
                                           : warp % 1024 * 16;
    if (!makes) continue;
    const T old = Operation::make(p + at, (T)(k + 1));
    if (kReturns) sum += old;
  }
  if (kReturns && sum == (T)12345) *result = sum;
}

cudaEvent_t before, after;
void* memory;

template <class Operation, class T, bool kReturns>
void run(const char* operation) {
  for (int where = 0; where < kPlaces; ++where) {
    float best = 1e9;
    for (int k = 0; k < 4; ++k) {
      check(cudaEventRecord(before));
      atomics<Operation, T, kReturns><<<kBlocks, kThreads>>>((T*)memory, where, (T*)memory + (1 << 20));
      check(cudaEventRecord(after));
      check(cudaEventSynchronize(after));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, before, after));
      best = std::min(best, ms);
    }
    std::printf("%s,%d,%s,%.1f,%.1f\n", operation, kReturns, kNames[where], best * 1000,
                kBlocks * (kThreads / 32) * kTimes / best / 1000);
  }
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, 64 << 20));
  check(cudaMemset(memory, 0, 64 << 20));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::printf("operation,returns,where,us,warps_per_us\n");
  run<Add, unsigned, false>("add_u32");
  run<Max, unsigned, false>("max_u32");
  run<Add, Wide, false>("add_u64");
  run<Max, Wide, false>("max_u64");
  run<Add, float, false>("add_f32");
  run<Add, double, false>("add_f64");
  run<Add, unsigned, true>("add_u32");
  run<Add, Wide, true>("add_u64");
  run<Max, Wide, true>("max_u64");
  return 0;
}
