// Structures of each thread, which are loaded and stored word by word, with multiplications and additions in between: for Nsight
// Compute, which counts what L2 gives and takes, and the time. The structures of a warp lie side by side. The launches are in the order
// of the loops below: by the words of a structure, the rounds of arithmetic and the blocks of 256 threads, first one that only loads
// them, then one that only stores them, and one that does both.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/struct_copies.cu -o struct_copies && ncu --cache-control none --clock-control none \
//     --csv --metrics gpu__time_duration.sum,lts__t_sectors_srcunit_tex_op_write.sum ./struct_copies
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Kind { kLoads = 1, kStores = 2, kBoth = 3 };

template <class T, int kWords, int kKind>
__global__ void copy(const T* __restrict__ in, T* __restrict__ out, int rounds, T factor) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  T words[kWords];
  for (int k = 0; k < kWords; ++k) words[k] = (kKind & kLoads) != 0 ? in[i * kWords + k] : static_cast<T>(i + k);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    for (int k = 0; k < kWords; ++k) words[k] = words[k] * factor + words[(k + 1) % kWords];
  if constexpr ((kKind & kStores) != 0) {
    for (int k = 0; k < kWords; ++k) out[i * kWords + k] = words[k];
  } else {
    T sum = 0;
    for (int k = 0; k < kWords; ++k) sum += words[k];
    out[i] = sum;
  }
}

void *from, *to;

template <class T, int kWords, int kKind>
void measure(int rounds, int blocks) {
  copy<T, kWords, kKind>
      <<<blocks, 256>>>(static_cast<const T*>(from), static_cast<T*>(to), rounds, static_cast<T>(1));
  check(cudaDeviceSynchronize());
}

template <class T, int kWords>
void measure_kinds() {
  for (const int rounds : {0, 8, 32, 128})
    for (const int blocks : {132, 1056, 8448}) {
      measure<T, kWords, kLoads>(rounds, blocks);
      measure<T, kWords, kStores>(rounds, blocks);
      measure<T, kWords, kBoth>(rounds, blocks);
    }
}

}  // namespace

int main() {
  check(cudaMalloc(&from, 1L << 30));
  check(cudaMalloc(&to, 1L << 30));
  measure_kinds<float, 3>();
  measure_kinds<float, 4>();
  measure_kinds<float, 8>();
  measure_kinds<float, 13>();
  measure_kinds<float, 16>();
  measure_kinds<double, 4>();
  measure_kinds<double, 8>();
  return 0;
}
