// What a load waits for after stores of the same thread: to the same word, or to another of the same sector or line. A warp of
// each block goes through its memory `passes` times; the last pass is timed, so that L1 or L2 has everything. Prints
// `mode,bytes,row,blocks,threads,steps,cycles`: cycles of a step of the last pass. The launches are in the order of the lines,
// each once, for Nsight Compute.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/accumulations.cu -o accumulations && ./accumulations
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Loads and stores that stay where they are.
__device__ float get(const float* p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
__device__ double get(const double* p) {
  double v;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}
__device__ void put(float* p, float v) {
  asm volatile("st.global.f32 [%0], %1;" : : "l"(p), "f"(v) : "memory");
}
__device__ void put(double* p, double v) {
  asm volatile("st.global.f64 [%0], %1;" : : "l"(p), "d"(v) : "memory");
}

enum Mode {
  kLoads,         // load word j
  kUpdate,        // load word j, store it
  kUpdateLast,    // load word j, store word j - 1
  kSameWord,      // load word 0, store it
  kSameTwice,     // load word 0, store it; load word j of another array
  kStoreLoad,     // store word 0, load it
  kStoreNext,     // store word j, load word j + 1
  kStoreOther,    // load word j of one array, store word j of another
  kSlowSameWord,  // as kSameWord, with 400 cycles between the store and the next load
  kSlowUpdate,    // as kUpdate, the same
};

template <Mode kMode, class T>
__global__ void walk(T* p, T* q, long step, long row, int steps, int passes, float* result,
                     long long* cycles) {
  const long t = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  T* at = p + t * row;
  T* other = q + t * row;
  T before = 0;
  long long begin = 0;
  for (int pass = 0; pass < passes; ++pass) {
    begin = clock64();
#pragma unroll 1
    for (int j = 1; j < steps; ++j) {
      const long i = j * step;
      if (kMode == kLoads) before = get(at + i) * T(0.5) + before;
      if (kMode == kUpdate || kMode == kSlowUpdate) {
        before = get(at + i) * T(0.5) + before;
        put(at + i, before);
      }
      if (kMode == kUpdateLast) {
        before = get(at + i) * T(0.5) + before;
        put(at + i - step, before);
      }
      if (kMode == kSameWord || kMode == kSlowSameWord || kMode == kSameTwice) {
        if (kMode == kSameTwice) before = get(other + i) * T(0.5) + before;
        before = get(at) * T(0.5) + before;
        put(at, before);
      }
      if (kMode == kStoreLoad) {
        put(at, before);
        before = get(at) * T(0.5) + before;
      }
      if (kMode == kStoreNext) {
        put(at + i, before);
        before = get(at + i + step) * T(0.5) + before;
      }
      if (kMode == kStoreOther) {
        before = get(at + i) * T(0.5) + before;
        put(other + i, before);
      }
      if (kMode == kSlowSameWord || kMode == kSlowUpdate) {
        const long long from = clock64() + (before == 12345);
        while (clock64() - from < 400) {
        }
      }
    }
  }
  if (before == T(12345)) *result = before;
  if (t == 0) *cycles = clock64() - begin;
}

// As above, by nvcc's own order: lines of threads, there and back.
__global__ void sweep(double* u, const double* factors, double rate, int n, int lines) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  double before = 0;
#pragma unroll 1
  for (int x = 0; x < n; ++x) {
    before = (u[line * n + x] + rate * before) * factors[x];
    u[line * n + x] = before;
  }
}
__global__ void sweep_alone(double* u, double factor, double rate, int n, int lines) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  double before = 0;
#pragma unroll 1
  for (int x = 0; x < n; ++x) {
    before = (u[line * n + x] + rate * before) * factor;
    u[line * n + x] = before;
  }
}
__global__ void sweep_by_four(double* u, const double* factors, double rate, int n, int lines) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  double before = 0;
#pragma unroll 4
  for (int x = 0; x < n; ++x) {
    before = (u[line * n + x] + rate * before) * factors[x];
    u[line * n + x] = before;
  }
}
__global__ void sweep_back(double* u, const double* factors, double rate, int n, int lines) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  double before = 0;
#pragma unroll 1
  for (int x = n - 1; x >= 0; --x) {
    before = u[line * n + x] + rate * factors[x] * before;
    u[line * n + x] = before;
  }
}

constexpr long kBytes = 1l << 30;
char* memory;
float* result;
long long* cycles;

template <Mode kMode, class T>
void run(const char* name, bool side, long row, int blocks, int threads, int steps) {
  T* p = reinterpret_cast<T*>(memory);
  T* q = reinterpret_cast<T*>(memory + kBytes / 2);
  const long step = side ? static_cast<long>(blocks) * threads : 1;
  walk<kMode, T><<<blocks, threads>>>(p, q, step, side ? 1 : row, steps, 4, result, cycles);
  check(cudaDeviceSynchronize());
  std::printf("%s,%zu,%ld,%d,%d,%d,%.1f\n", name, sizeof(T), side ? 0 : row, blocks, threads, steps,
              static_cast<double>(*cycles) / (steps - 1));
}

template <class T>
void run_modes(bool side, long row, int blocks, int threads, int steps) {
  run<kLoads, T>("loads", side, row, blocks, threads, steps);
  run<kUpdate, T>("update", side, row, blocks, threads, steps);
  run<kUpdateLast, T>("update_last", side, row, blocks, threads, steps);
  run<kSameWord, T>("same_word", side, row, blocks, threads, steps);
  run<kSameTwice, T>("same_twice", side, row, blocks, threads, steps);
  run<kStoreLoad, T>("store_load", side, row, blocks, threads, steps);
  run<kStoreNext, T>("store_next", side, row, blocks, threads, steps);
  run<kStoreOther, T>("store_other", side, row, blocks, threads, steps);
  run<kSlowSameWord, T>("slow_same_word", side, row, blocks, threads, steps);
  run<kSlowUpdate, T>("slow_update", side, row, blocks, threads, steps);
}

void run_sweeps(int n, int lines) {
  double* u = reinterpret_cast<double*>(memory);
  const double* factors = reinterpret_cast<const double*>(memory + kBytes / 2);
  const int blocks = (lines + 127) / 128;
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  const auto time = [&](const char* name, auto launch) {
    check(cudaEventRecord(before));
    launch();
    check(cudaEventRecord(after));
    check(cudaDeviceSynchronize());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    std::printf("%s,8,%d,%d,128,%d,%.1f\n", name, n, blocks, n, ms * 1e-3 * 1.98e9 / n);
  };
  time("sweep", [&] { sweep<<<blocks, 128>>>(u, factors, 0.5, n, lines); });
  time("sweep_alone", [&] { sweep_alone<<<blocks, 128>>>(u, 0.5, 0.5, n, lines); });
  time("sweep_by_four", [&] { sweep_by_four<<<blocks, 128>>>(u, factors, 0.5, n, lines); });
  time("sweep_back", [&] { sweep_back<<<blocks, 128>>>(u, factors, 0.5, n, lines); });
}

}  // namespace

int main() {
  check(cudaMalloc(&memory, kBytes));
  check(cudaMemset(memory, 0, kBytes));
  check(cudaMalloc(&result, 4));
  check(cudaMallocManaged(&cycles, 8));
  std::printf("mode,bytes,row,blocks,threads,steps,cycles\n");
  for (const bool side : {true, false}) {
    run_modes<float>(side, 128, 1, 32, 128);
    run_modes<double>(side, 128, 1, 32, 128);
    run_modes<float>(side, 128, 132, 256, 64);
  }
  for (const int n : {32, 128, 132, 320}) {
    run_sweeps(n, 128);
    run_sweeps(n, n * n);
  }
  return 0;
}
