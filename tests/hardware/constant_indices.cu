// What a loop over an array of constants costs, whose index all threads have in common. Each thread adds up the products
// of `taps` constants, `rounds` times over. Prints `bytes,index,unrolled,taps,threads,cycles`: the bytes of a constant, how
// its index is known (uniform: the compiler sees that all threads have the same; register: it does not; own: of each
// thread another, four words apart), the iterations that are one in the machine code, the threads of the one block
// of each of 132 SMs, and the cycles of a warp for a tap. Behind them come loops whose warps are at different taps at
// once: uniform-apart, register-apart, and immediate-apart, where the loop is unrolled whole and the constants are
// operands; there are two blocks on an SM where a block has more than 512 threads.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/constant_indices.cu -o constant_indices && ./constant_indices
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kBytes = 16 * 1024;
__constant__ float4 constants[kBytes / 16];

enum Index { kUniform, kRegister, kOwn };
constexpr const char* kNames[] = {"uniform", "register", "own"};

__device__ float sum_of(float x) { return x; }
__device__ float sum_of(float2 x) { return x.x * x.y; }
__device__ float sum_of(float4 x) { return x.x * x.y + x.z * x.w; }

template <class T, Index kIndex, int kUnrolled>
__global__ void add_up(int taps, int rounds, const int* __restrict__ offsets, float* out,
                       unsigned long long* cycles) {
  const T* const array = reinterpret_cast<const T*>(constants);
  const int offset = kIndex == kUniform ? 0 : offsets[kIndex == kOwn ? threadIdx.x : 0];
  float sum = threadIdx.x, x = sum + 1;
  long long begin = 0;
#pragma unroll 1
  for (int round = -1; round < rounds; ++round) {
    if (round == 0) {
      __syncthreads();
      begin = clock64();
    }
#pragma unroll kUnrolled
    for (int k = 0; k < taps; ++k) sum += sum_of(array[k + offset]) * x;
    x += 1;
  }
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The same of pairs, where warp after warp begins later, so that they are anywhere in the array at once.
constexpr int kPairs = 5 * 1024;
__constant__ float2 pairs[kPairs];

template <Index kIndex, int kWhole>
__global__ void add_up_apart(int taps, int rounds, const int* __restrict__ offsets, float* out,
                             unsigned long long* cycles) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int offset = kIndex == kUniform ? 0 : offsets[0];
  const long long later = warp * 2654435761u % (16u * taps), start = clock64();
  while (clock64() - start < later) {
  }
  float sum = threadIdx.x, more = 0, x = sum + 1, y = sum + 2;
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    if constexpr (kWhole > 0) {
#pragma unroll
      for (int k = 0; k < kWhole; ++k) {
        sum += x * pairs[k].x - y * pairs[k].y;
        more += x * pairs[k].y + y * pairs[k].x;
      }
    } else {
      for (int k = 0; k < taps; ++k) {
        const float2 one = pairs[k + offset];
        sum += x * one.x - y * one.y;
        more += x * one.y + y * one.x;
      }
    }
    x += 1;
    y += x;
  }
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) atomicAdd(cycles, static_cast<unsigned long long>(end - begin));
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + more;
}

int* offsets;
float* out;
unsigned long long* cycles;

template <class T, Index kIndex, int kUnrolled>
void measure(int taps, int threads) {
  constexpr int kRounds = 16, kBlocks = 132;
  check(cudaMemset(cycles, 0, sizeof *cycles));
  add_up<T, kIndex, kUnrolled><<<kBlocks, threads>>>(taps, kRounds, offsets + (kIndex == kOwn), out, cycles);
  unsigned long long sum = 0;
  check(cudaMemcpy(&sum, cycles, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("%d,%s,%d,%d,%d,%.2f\n", static_cast<int>(sizeof(T)), kNames[kIndex], kUnrolled, taps, threads,
              sum / (kBlocks * (threads / 32.0) * taps * kRounds));
}

template <class T, Index kIndex, int kUnrolled>
void by_warps(int taps) {
  for (const int threads : {32, 128, 256, 512, 1024}) measure<T, kIndex, kUnrolled>(taps, threads);
}

template <class T>
void by_index() {
  by_warps<T, kUniform, 1>(64);
  by_warps<T, kUniform, 4>(64);
  by_warps<T, kRegister, 1>(64);
  by_warps<T, kRegister, 4>(64);
  by_warps<T, kOwn, 4>(16);
  for (const int bytes : {256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 12288}) {
    measure<T, kUniform, 4>(bytes / static_cast<int>(sizeof(T)), 32);
    measure<T, kUniform, 4>(bytes / static_cast<int>(sizeof(T)), 256);
    measure<T, kRegister, 4>(bytes / static_cast<int>(sizeof(T)), 256);
  }
}

template <Index kIndex, int kWhole = 0>
void measure_apart(int taps, int threads) {
  const int rounds = 4096 / taps + 8, blocks = 132 * (threads > 1024 ? 2 : 1);
  threads = threads > 1024 ? threads / 2 : threads;
  check(cudaMemset(cycles, 0, sizeof *cycles));
  add_up_apart<kIndex, kWhole><<<blocks, threads>>>(taps, rounds, offsets, out, cycles);
  unsigned long long sum = 0;
  check(cudaMemcpy(&sum, cycles, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("8,%s-apart,%d,%d,%d,%.2f\n", kWhole > 0 ? "immediate" : kNames[kIndex], kWhole > 0 ? kWhole : 4, taps,
              threads * blocks / 132, sum / (blocks * (threads / 32.0) * taps * rounds));
}

template <int kWhole>
void whole_apart() {
  for (const int threads : {32, 256, 1024, 2048}) measure_apart<kUniform, kWhole>(kWhole, threads);
}

}  // namespace

int main() {
  int host[1025];
  host[0] = 0;
  for (int i = 0; i < 1024; ++i) host[i + 1] = i % 32 * 4;
  check(cudaMalloc(&offsets, sizeof host));
  check(cudaMemcpy(offsets, host, sizeof host, cudaMemcpyHostToDevice));
  check(cudaMalloc(&out, 132 * 2048 * sizeof *out));
  check(cudaMalloc(&cycles, sizeof *cycles));
  std::printf("bytes,index,unrolled,taps,threads,cycles\n");
  by_index<float>();
  by_index<float2>();
  by_index<float4>();
  for (const int threads : {32, 128, 256, 512, 1024, 2048})
    for (const int taps : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096}) {
      measure_apart<kUniform>(taps, threads);
      measure_apart<kRegister>(taps, threads);
    }
  whole_apart<8>();
  whole_apart<16>();
  whole_apart<32>();
  whole_apart<64>();
  whole_apart<96>();
  whole_apart<128>();
  whole_apart<192>();
  whole_apart<256>();
  whole_apart<384>();
  return 0;
}
