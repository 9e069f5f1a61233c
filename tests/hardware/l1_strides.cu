// How many cycles L1 takes for a warp's load by the distance between its threads' elements: loads that all hit, of 32 warps
// on an SM, eight under way each. Prints `bytes,stride_words,lines,ways,cycles`: lines is how many of 128 bytes a warp's
// load touches, ways the most different words of one bank of 4 bytes, cycles what a load of a warp takes the SM.
// `random`: elements at random of 64 KiB; `gather`: a permutation of 32 lines, an element of each at a random place.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/l1_strides.cu -o l1_strides && ./l1_strides
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__device__ float sum_of(float v) { return v; }
__device__ float sum_of(float2 v) { return v.x + v.y; }
__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

// offsets: of 32 lanes, in elements of T. Lines are 128 bytes apart from one load to the next, so that banks stay.
template <class T>
__global__ void loads(const T* p, const int* offsets, int times, float* result, long long* cycles) {
  constexpr int kStep = 128 / sizeof(T);
  const T* at = p + offsets[threadIdx.x % 32];
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += sum_of(__ldca(at + k * kStep));
  __syncthreads();
  const long long begin = clock64();
  for (int t = 0; t < times; ++t) {
    T v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = __ldca(at + k * kStep);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += sum_of(v[k]);
    at += sum == 1e30f;
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  if (sum == 1e30f) *result = sum;
}

float *memory, *result;
int* offsets;
long long* cycles;

template <class T>
void measure(const char* name, int stride, const std::vector<int>& lanes) {
  check(cudaMemcpy(offsets, lanes.data(), 32 * sizeof(int), cudaMemcpyHostToDevice));
  constexpr int kTimes = 200, kWarps = 32, kWords = sizeof(T) / 4;
  for (int repeat = 0; repeat < 2; ++repeat) loads<T><<<1, kWarps * 32>>>((T*)memory, offsets, kTimes, result, cycles);
  check(cudaDeviceSynchronize());
  std::set<int> lines;
  std::vector<std::set<int>> banks(32);
  for (const int lane : lanes) {
    lines.insert(lane * kWords / 32);
    for (int w = 0; w < kWords; ++w) banks[(lane * kWords + w) % 32].insert(lane * kWords + w);
  }
  std::size_t ways = 0;
  for (const auto& bank : banks) ways = std::max(ways, bank.size());
  std::printf("%s,%zu,%d,%zu,%zu,%.2f\n", name, sizeof(T), stride, lines.size(), ways,
              (double)*cycles / kTimes / 8 / kWarps);
}

template <class T>
void measure_all() {
  for (const int stride : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 20, 24, 28, 31, 32, 33, 34, 36, 40, 48, 63, 64, 65, 72,
                           96, 100, 128, 129, 250, 256, 257, 320}) {
    std::vector<int> lanes(32);
    for (int i = 0; i < 32; ++i) lanes[i] = i * stride;
    measure<T>("stride", stride, lanes);
  }
  unsigned state = 12345;
  const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int k = 0; k < 6; ++k) {
    std::vector<int> lanes(32);
    for (int& lane : lanes) lane = random() % (65536 / sizeof(T));
    measure<T>("random", k, lanes);
  }
  for (const int offset : {1, 2, 3, 4, 8, 12, 16, 24, 28, 31}) {  // side by side, but not from a line's beginning
    std::vector<int> lanes(32);
    for (int i = 0; i < 32; ++i) lanes[i] = i + offset;
    measure<T>("offset", offset, lanes);
    for (int i = 0; i < 32; ++i) lanes[i] = i / 8 * (4096 / (int)sizeof(T) * 4 + 32) + i % 8 + offset;
    measure<T>("rows_of_8", offset, lanes);
  }
  for (const int group : {2, 4, 8, 16}) {  // lanes side by side in groups that are far apart
    std::vector<int> lanes(32);
    for (int i = 0; i < 32; ++i) lanes[i] = i / group * 1024 / (int)sizeof(T) * 4 + i % group;
    measure<T>("groups", group, lanes);
    for (int i = 0; i < 32; ++i) lanes[i] = i / group * (1024 / (int)sizeof(T) * 4 + group) + i % group;
    measure<T>("groups_apart", group, lanes);
  }
}

}  // namespace

int main() {
  check(cudaMalloc((void**)&memory, 1 << 22));
  check(cudaMemset(memory, 0, 1 << 22));
  check(cudaMalloc((void**)&result, 4));
  check(cudaMalloc((void**)&offsets, 32 * sizeof(int)));
  check(cudaMallocManaged(&cycles, 8));
  std::printf("case,bytes,stride,lines,ways,cycles\n");
  measure_all<float>();
  measure_all<float2>();
  measure_all<float4>();
  return 0;
}
