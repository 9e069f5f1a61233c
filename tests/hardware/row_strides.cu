// Whether L1 keeps the lines of rows that threads go through, each a row of its own, by the distance of the rows: rows whose
// distance is a power of two may share few places of L1. A step of a thread loads `unrolled` elements of four bytes that
// lie side by side, and needs all of them before the next. Modes: load; update, which stores each element again; other,
// which stores them to rows of another array; two, which loads those of two arrays; twice, which goes through the rows
// of two lines again and again. ahead: an update that loads the element `unrolled` places ahead before it stores
// one; ahead_two: the same, where what it stores needs an element of another array, too, which it loads behind the store. Prints `mode,unrolled,row,warps,steps,us`: row is the distance of rows in bytes, warps
// those of each of 132 SMs. The launches are in the order of the lines, each once, for Nsight Compute.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/row_strides.cu -o row_strides && ./row_strides
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Mode { kLoad, kUpdate, kOther, kTwo, kTwice };
constexpr const char* kNames[] = {"load", "update", "other", "two", "twice"};

template <Mode kMode, int kUnrolled>
__global__ void sweep(float* p, float* q, long row, int steps, int passes, float* result) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  float* at = p + t * row;
  float* other = q + t * row;
  float before = 0;
  for (int pass = 0; pass < passes; ++pass)
#pragma unroll 1
    for (int i = 0; i < steps; i += kUnrolled) {
      float v[kUnrolled];
#pragma unroll
      for (int k = 0; k < kUnrolled; ++k) v[k] = at[i + k];
      if (kMode == kTwo) {
#pragma unroll
        for (int k = 0; k < kUnrolled; ++k) v[k] += other[i + k];
      }
#pragma unroll
      for (int k = 0; k < kUnrolled; ++k) {
        before = v[k] * 0.5f + before * 0.25f;
        v[k] = before;
      }
      if (kMode == kUpdate || kMode == kOther) {
#pragma unroll
        for (int k = 0; k < kUnrolled; ++k) (kMode == kUpdate ? at : other)[i + k] = v[k];
      }
    }
  if (before == 12345) *result = before;
}

template <bool kSecond, int kAhead>
__global__ void sweep_ahead(float* p, float* q, long row, int steps, float* result) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  float* at = p + t * row;
  float* other = q + t * row;
  float before = 0, v[kAhead], second = kSecond ? other[0] : 1;
#pragma unroll
  for (int k = 0; k < kAhead; ++k) v[k] = at[k];
#pragma unroll 1
  for (int i = 0; i < steps; i += kAhead) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const float next = at[i + kAhead + k];
      before = v[k] * second + before * 0.25f;
      at[i + k] = before;
      if (kSecond) second = other[i + k + 1];
      v[k] = next;
    }
  }
  if (before == 12345) *result = before;
}

constexpr long kBytes = 8L << 30;  // of each of two arrays
constexpr int kSms = 132;
char* memory[2];
float* result;
cudaEvent_t before, after;

// A launch of so many warps on each SM, unless the rows do not fit.
template <class Launch>
void run(const char* mode, int unrolled, long row, int warps, int steps, const Launch& launch) {
  const int threads = warps < 4 ? warps * 32 : 128, blocks = kSms * warps * 32 / threads;
  if (static_cast<long>(blocks) * threads * row > kBytes) return;
  check(cudaEventRecord(before));
  launch(blocks, threads, reinterpret_cast<float*>(memory[0]), reinterpret_cast<float*>(memory[1]));
  check(cudaEventRecord(after));
  check(cudaDeviceSynchronize());
  float ms = 0;
  check(cudaEventElapsedTime(&ms, before, after));
  std::printf("%s,%d,%ld,%d,%d,%.2f\n", mode, unrolled, row, warps, steps, ms * 1000);
}

constexpr int kSteps = 64;

template <Mode kMode, int kUnrolled>
void run(long row, int warps) {
  const int passes = kMode == kTwice ? 4 : 1;
  run(kNames[kMode], kUnrolled, row, warps, kSteps * passes, [&](int blocks, int threads, float* p, float* q) {
    sweep<kMode, kUnrolled><<<blocks, threads>>>(p, q, row / 4, kSteps, passes, result);
  });
}

template <bool kSecond, int kAhead>
void run_ahead(long row, int warps) {
  run(kSecond ? "ahead_two" : "ahead", kAhead, row, warps, kSteps, [&](int blocks, int threads, float* p, float* q) {
    sweep_ahead<kSecond, kAhead><<<blocks, threads>>>(p, q, row / 4, kSteps, result);
  });
}

}  // namespace

int main() {
  for (char*& one : memory) {
    check(cudaMalloc(reinterpret_cast<void**>(&one), kBytes + 4096));
    check(cudaMemset(one, 0, kBytes + 4096));
  }
  check(cudaMalloc(reinterpret_cast<void**>(&result), 4));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::printf("mode,unrolled,row,warps,steps,us\n");
  for (const long row : {256L, 288L, 384L, 512L, 1024L, 1152L, 2048L, 2176L, 4000L, 4096L, 4224L, 8192L, 8320L, 16384L, 16512L,
                         17408L, 32768L, 32896L, 65536L, 131072L})
    for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
      run<kLoad, 1>(row, warps);
      run<kLoad, 4>(row, warps);
      run<kUpdate, 1>(row, warps);
      run<kOther, 1>(row, warps);
      run<kTwo, 1>(row, warps);
      run<kTwice, 4>(row, warps);
    }
  for (const long row : {288L, 1024L, 4224L, 16384L})
    for (const int warps : {1, 2, 4, 8, 16, 32}) {
      run_ahead<false, 1>(row, warps);
      run_ahead<false, 2>(row, warps);
      run_ahead<false, 4>(row, warps);
      run_ahead<false, 8>(row, warps);
      run_ahead<true, 1>(row, warps);
      run_ahead<true, 2>(row, warps);
    }
  return 0;
}
