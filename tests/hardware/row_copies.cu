// What memory gives where each thread goes along a row of its own, beyond what L2 holds: reads alone, stores alone, a copy to
// rows of another array, and rows changed in place; in elements of 4, 16 and 32 bytes, by how many rows are under way, how far
// they are apart and how long. Prints `mode,bytes,row,blocks,threads,steps,us`: row is the distance of rows in bytes, us the
// least time of three launches behind one that reads more than L2 holds.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/row_copies.cu -o row_copies && ./row_copies
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct __align__(16) Pair {
  float4 a, b;
};
__device__ void add(float& sum, float v) { sum += v; }
__device__ void add(float& sum, float4 v) { sum += v.x + v.y + v.z + v.w; }
__device__ void add(float& sum, Pair v) {
  add(sum, v.a);
  add(sum, v.b);
}
__device__ void set(float& v, float x) { v = x; }
__device__ void set(float4& v, float x) { v = make_float4(x, x, x, x); }
__device__ void set(Pair& v, float x) {
  set(v.a, x);
  set(v.b, x);
}

enum Mode { kRead, kWrite, kCopy, kInPlace };
constexpr const char* kNames[] = {"read", "write", "copy", "in_place"};

template <Mode kMode, typename T>
__global__ void along_rows(const T* p, T* q, int row, int steps, float* result) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  const T* from = p + t * row;
  T* to = q + t * row;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    if (kMode != kWrite) add(sum, kMode == kInPlace ? to[i] : from[i]);
    if (kMode != kRead) set(to[i], sum * 0.5f);
  }
  if (kMode == kRead && sum == 12345) *result = sum;
}

__global__ void read_all(const float4* p, long count, float* result) {
  float sum = 0;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += p[i].x;
  if (sum == 12345) *result = sum;
}

constexpr long kBytes = 4L << 30, kOthers = 256L << 20;
char *memory[2], *others;
float* result;
cudaEvent_t before, after;
bool once = false;

template <Mode kMode, typename T>
void run(int row, int blocks, int threads, int steps) {
  if (static_cast<long>(row) * blocks * threads > kBytes || static_cast<int>(sizeof(T)) * steps > row) return;
  float least = 0;
  for (int i = 0; i < (once ? 1 : 3); ++i) {
    read_all<<<264, 1024>>>(reinterpret_cast<const float4*>(others), kOthers / 16, result);
    check(cudaEventRecord(before));
    along_rows<kMode, T><<<blocks, threads>>>(reinterpret_cast<const T*>(memory[0]), reinterpret_cast<T*>(memory[1]),
                                              row / static_cast<int>(sizeof(T)), steps, result);
    check(cudaEventRecord(after));
    check(cudaDeviceSynchronize());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    if (i == 0 || ms * 1000 < least) least = ms * 1000;
  }
  std::printf("%s,%d,%d,%d,%d,%d,%.2f\n", kNames[kMode], static_cast<int>(sizeof(T)), row, blocks, threads, steps,
              least);
}

template <typename T>
void all_modes(int row, int blocks, int threads, int steps) {
  run<kRead, T>(row, blocks, threads, steps);
  run<kWrite, T>(row, blocks, threads, steps);
  run<kCopy, T>(row, blocks, threads, steps);
  run<kInPlace, T>(row, blocks, threads, steps);
}

}  // namespace

int main(int argc, char**) {
  once = argc > 1;
  for (char*& one : memory) {
    check(cudaMalloc(reinterpret_cast<void**>(&one), kBytes + 4096));
    check(cudaMemset(one, 0, kBytes + 4096));
  }
  check(cudaMalloc(reinterpret_cast<void**>(&others), kOthers));
  check(cudaMemset(others, 0, kOthers));
  check(cudaMalloc(reinterpret_cast<void**>(&result), 4));
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  std::puts("mode,bytes,row,blocks,threads,steps,us");
  for (const int row : {544, 2080, 16384, 32000})
    for (const int blocks : {33, 132, 528, 2112, 4224})
      all_modes<float>(row, blocks, 64, row == 544 ? 128 : 512);
  for (const int row : {544, 16384})
    for (const int blocks : {132, 1056, 4224}) {
      all_modes<float4>(row, blocks, 64, row == 544 ? 32 : 256);
      all_modes<Pair>(row, blocks, 64, row == 544 ? 16 : 128);
    }
  return 0;
}
