// On which SMs blocks begin that all run at once: each notes its SM, and stays for 40,000 cycles, in which
// all begin. In `triangle` only blocks stay that are not above the diagonal of 16 x 63 tiles of 32 x 8. Prints `case,block,sm,stays`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/block_places.cu -o block_places && ./block_places
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__global__ void note(int* sms, int* stay, bool triangle) {
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  const long long begin = clock64();
  const bool stays = !triangle || 32 * blockIdx.x <= 8 * blockIdx.y + 7;
  if (threadIdx.x == 0) {
    int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    sms[block] = sm;
    stay[block] = stays;
  }
  while (stays && clock64() - begin < 40000) {
  }
}

}  // namespace

int main() {
  int *sms, *stay;
  check(cudaMallocManaged(&sms, 4 << 12));
  check(cudaMallocManaged(&stay, 4 << 12));
  struct Case {
    const char* name;
    int x, y, threads;
    bool triangle;
  };
  std::printf("case,block,sm,stays\n");
  for (const Case& one : {Case{"threads_256", 16, 64, 256, false}, Case{"threads_128", 16, 125, 128, false},
                          Case{"few", 500, 1, 128, false}, Case{"triangle", 16, 63, 256, true}}) {
    note<<<dim3(one.x, one.y), one.threads>>>(sms, stay, one.triangle);
    check(cudaDeviceSynchronize());
    for (int b = 0; b < one.x * one.y; ++b) std::printf("%s,%d,%d,%d\n", one.name, b, sms[b], stay[b]);
  }
  return 0;
}
