// Which stores to parts of a sector L2 sees as one. Each thread stores the words of a structure of its own, one after the
// other; the structures of a warp lie side by side. Prints
// `bytes,words,stored,order,gap,rounds,blocks,threads,us,cycles`: the bytes of a word, the words from structure to structure,
// how many of them are stored (order 1: from the last), the dependent multiplications between two stores, and how many
// structures each thread has, which lie a grid apart; cycles is the mean of a thread. The launches are in the order of the
// lines, each twice, for Nsight Compute: the first counts cycles, with an atomic addition for each warp, and the second, which
// is the one that is timed, has no other access than the stores.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/strided_stores.cu -o strided_stores && ./strided_stores
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// kStored of kWords words of each structure.
template <class T, int kWords, int kStored, bool kBackwards, bool kGaps>
__global__ void store_words(T* out, int gap, int rounds, float factor, unsigned long long* cycles) {
  const long threads = gridDim.x * static_cast<long>(blockDim.x);
  T* at = out + (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) * kWords;
  float x = threadIdx.x;
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round, at += threads * kWords) {
#pragma unroll
    for (int k = 0; k < kStored; ++k) {
      at[kBackwards ? kStored - 1 - k : k] = static_cast<T>(x);
      if constexpr (kGaps)
        for (int g = 0; g < gap; ++g) x *= factor;
    }
  }
  if (cycles != nullptr && threadIdx.x % 32 == 0) atomicAdd(cycles, static_cast<unsigned long long>(clock64() - begin));
}

void* memory;
unsigned long long* cycles;
cudaEvent_t first, last;

template <class T, int kWords, int kStored = kWords, bool kBackwards = false, bool kGaps = false>
void measure(int blocks, int threads, int gap = 0, int rounds = 1) {
  float ms = 0;
  check(cudaMemset(cycles, 0, sizeof *cycles));
  for (int run = 0; run < 2; ++run) {
    check(cudaEventRecord(first));
    store_words<T, kWords, kStored, kBackwards, kGaps>
        <<<blocks, threads>>>(static_cast<T*>(memory), gap, rounds, 1.0001f, run == 0 ? cycles : nullptr);
    check(cudaEventRecord(last));
    check(cudaEventSynchronize(last));
    check(cudaEventElapsedTime(&ms, first, last));
  }
  unsigned long long sum = 0;
  check(cudaMemcpy(&sum, cycles, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%.1f\n", static_cast<int>(sizeof(T)), kWords, kStored, kBackwards,
              gap, rounds, blocks, threads, ms * 1000, sum / (blocks * (threads / 32.0)));
}

template <class T, int kWords>
void by_warps() {
  for (const int threads : {32, 128, 256, 512, 1024}) measure<T, kWords>(132, threads);
  measure<T, kWords>(264, 1024);
  measure<T, kWords>(8 * 132, 256);
  measure<T, kWords>(64 * 132, 256);
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, 1L << 30));
  check(cudaMalloc(&cycles, sizeof *cycles));
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&last));
  std::printf("bytes,words,stored,order,gap,rounds,blocks,threads,us,cycles\n");
  by_warps<float, 2>();
  by_warps<float, 3>();
  by_warps<float, 5>();
  by_warps<float, 6>();
  by_warps<float, 8>();
  by_warps<float, 12>();
  by_warps<float, 16>();
  by_warps<float, 18>();
  by_warps<double, 2>();
  by_warps<double, 3>();
  by_warps<double, 6>();
  by_warps<double, 9>();
  by_warps<short, 4>();
  by_warps<short, 6>();
  by_warps<short, 12>();
  by_warps<signed char, 3>();
  by_warps<signed char, 4>();
  for (const int gap : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    measure<float, 6, 6, false, true>(132, 32, gap);
    measure<float, 6, 6, false, true>(132, 512, gap);
    measure<float, 12, 12, false, true>(132, 32, gap);
    measure<float, 2, 2, false, true>(132, 32, gap);
    measure<float, 2, 2, false, true>(132, 512, gap);
  }
  for (const int threads : {32, 256, 1024}) {
    measure<float, 6, 2>(132, threads);
    measure<float, 6, 3>(132, threads);
    measure<float, 6, 6, true>(132, threads);
    measure<float, 8, 2>(132, threads);
    measure<float, 16, 2>(132, threads);
    measure<float, 16, 4>(132, threads);
    measure<float, 24, 4>(132, threads);
    measure<float, 32, 4>(132, threads);
    measure<float, 32, 8>(132, threads);
    for (const int rounds : {2, 4, 16}) {
      measure<float, 2>(132, threads, 0, rounds);
      measure<float, 6>(132, threads, 0, rounds);
      measure<float, 12>(132, threads, 0, rounds);
    }
  }
  return 0;
}
