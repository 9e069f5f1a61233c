// How many cycles a partition takes for a warp's iteration of a loop with loads that hit L1 beside integer instructions: 16 warps of a
// partition. `row`: a load of one word by all threads, at the loop's counter; `column`: a load of a word for each thread. `sum`: what
// is loaded is added up; `least`: the least of it is kept; `place`: and where it was. `none`: numbers take the place of loads.
// Prints `loads,result,cycles`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/load_mixes.cu -o load_mixes && ./load_mixes
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

enum Loads { kNone, kRow, kColumn, kBoth };
enum Result { kSum, kLeast, kPlace };
constexpr int kIterations = 4096, kBlocksOfSm = 16, kThreads = 128;

template <Loads kLoads, Result kResult>
__global__ void mix(const int* __restrict__ words, int* out, int step) {
  const int* column = words + threadIdx.x;
  int least = 1 << 30, place = -1, sum = 0, x = threadIdx.x, y = blockIdx.x;
#pragma unroll 4
  for (int k = 0; k < kIterations; ++k) {
    int word = 0;
    if (kLoads == kNone) {
      word = x + y;
      x = x * 3 + k;
      y ^= word;
    }
    if (kLoads == kRow || kLoads == kBoth) word += words[k];
    if (kLoads == kColumn || kLoads == kBoth) {
      word += *column;
      column += step;
    }
    if (kResult == kSum) sum += word;
    if (kResult == kLeast) least = min(least, word);
    if (kResult == kPlace && word < least) {
      least = word;
      place = k;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = least + place + sum;
}

int *words, *out;
int sms, clock_khz;

template <Loads kLoads, Result kResult>
void run(const char* loads, const char* result) {
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  float ms = 0;
  for (int k = 0; k < 3; ++k) {
    check(cudaEventRecord(before));
    mix<kLoads, kResult><<<sms * kBlocksOfSm, kThreads>>>(words, out, 0);
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    check(cudaEventElapsedTime(&ms, before, after));
  }
  const double warps = kBlocksOfSm * kThreads / 32 / 4;
  std::printf("%s,%s,%.2f\n", loads, result, ms * clock_khz / (warps * kIterations));
}

}  // namespace

int main() {
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  check(cudaMalloc(&words, 1 << 20));
  check(cudaMemset(words, 0, 1 << 20));
  check(cudaMalloc(&out, 4 * sms * kBlocksOfSm * kThreads));
  std::printf("loads,result,cycles\n");
  run<kNone, kSum>("none", "sum");
  run<kNone, kLeast>("none", "least");
  run<kNone, kPlace>("none", "place");
  run<kRow, kSum>("row", "sum");
  run<kRow, kLeast>("row", "least");
  run<kRow, kPlace>("row", "place");
  run<kColumn, kSum>("column", "sum");
  run<kColumn, kLeast>("column", "least");
  run<kColumn, kPlace>("column", "place");
  run<kBoth, kSum>("both", "sum");
  run<kBoth, kLeast>("both", "least");
  run<kBoth, kPlace>("both", "place");
  return 0;
}
