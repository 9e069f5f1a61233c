// What long code without loops takes: as the same kernel again (its instructions are where the launch before left them),
// behind kernels of other code, and with cold caches. Durations are CUPTI's, recorded with record_launches.cc
// (RECORD_EACH=1); `cold` as the first argument launches each kernel once, for Nsight Compute with --cache-control all.
// It made data/hardware/h100_code_lengths.csv. (Of more than 4,096 instructions the compiler keeps the loop.)
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/code_lengths.cu -o code_lengths
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// kLength multiplications and additions in eight chains, without a loop: code of 16 bytes each. kOther: other code.
template <int kLength, int kOther = 0>
__global__ void wide(float* out, float a) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  float x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = static_cast<float>(id + k + kOther);
#pragma unroll
  for (int i = 0; i < kLength / 8; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = x[k] * a + static_cast<float>(8 * i + k);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[id] = sum;
}

float* out;

// 193 KiB each: a loop over some 12,000 instructions.
void other_code() {
  wide<16384, 1><<<132, 128>>>(out, 0.5f);
  wide<16384, 2><<<132, 128>>>(out, 0.5f);
}

template <int kLength>
void launch(bool cold) {
  for (const int threads : {32, 128, 512, 1024})
    for (const int blocks : {1, 132, 1320}) {
      if (cold) {
        wide<kLength><<<blocks, threads>>>(out, 0.5f);
        continue;
      }
      for (int i = 0; i < 8; ++i) wide<kLength><<<blocks, threads>>>(out, 0.5f);
      check(cudaDeviceSynchronize());
      // The same shape once more, told apart by dynamic shared memory.
      for (int i = 0; i < 6; ++i) {
        other_code();
        wide<kLength><<<blocks, threads, 16>>>(out, 0.5f);
      }
      check(cudaDeviceSynchronize());
    }
}

}  // namespace

int main(int argc, char** argv) {
  const bool cold = argc > 1 && std::strcmp(argv[1], "cold") == 0;
  check(cudaMalloc(&out, 1320 * 1024 * sizeof(float)));
  launch<128>(cold);
  launch<512>(cold);
  launch<2048>(cold);
  launch<4096>(cold);
  check(cudaDeviceSynchronize());
}
