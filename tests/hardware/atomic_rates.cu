// How many additions at L2 a GPU makes: threads go through an array that nobody else adds to at the same time, each to an element
// of its own. Prints `type,use,stride,megabytes,additions,us`: use: whether the thread uses what was there before (old) or
// not (none); stride: bytes between the elements of neighbouring threads; megabytes: of the array; additions: of all threads.
// Two launches: the second is timed.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/atomic_rates.cu -o atomic_rates && ./atomic_rates
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kBlocks = 132 * 8, kThreads = 256;
constexpr long kAll = static_cast<long>(kBlocks) * kThreads;

template <class T, bool kUse>
__global__ void add(T* array, long stride, long elements, int times, T* result) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < times; ++k) {
    T* at = array + (t + k * kAll) % elements * stride;
    if (kUse)
      sum += atomicAdd(at, T(1));
    else
      atomicAdd(at, T(1));
  }
  if (kUse && sum == T(12345)) *result = sum;
}

char *memory, *result;
cudaEvent_t before, after;

template <class T, bool kUse>
void run(const char* type, long stride, long megabytes) {
  const long elements = (megabytes << 20) / stride;
  const int times = 16;
  float ms = 0;
  for (int launch = 0; launch < 2; ++launch) {
    check(cudaEventRecord(before));
    add<T, kUse><<<kBlocks, kThreads>>>(reinterpret_cast<T*>(memory), stride / static_cast<long>(sizeof(T)), elements,
                                        times, reinterpret_cast<T*>(result));
    check(cudaEventRecord(after));
    check(cudaDeviceSynchronize());
    check(cudaEventElapsedTime(&ms, before, after));
  }
  std::printf("%s,%s,%ld,%ld,%ld,%.2f\n", type, kUse ? "old" : "none", stride, megabytes, kAll * times, ms * 1000);
}

template <class T>
void all(const char* type) {
  for (const long stride : {4, 8, 12, 16, 24, 32, 64, 128, 256})
    for (const long megabytes : {2, 16, 128, 1024}) {
      if (stride % sizeof(T) != 0) continue;
      run<T, false>(type, stride, megabytes);
      run<T, true>(type, stride, megabytes);
    }
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, 1L << 30));
  check(cudaMemset(memory, 0, 1L << 30));
  check(cudaMalloc(&result, 8));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::puts("type,use,stride,megabytes,additions,us");
  all<int>("int");
  all<unsigned long long>("u64");
  all<float>("float");
  all<double>("double");
  return 0;
}
