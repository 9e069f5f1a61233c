// A sum over blocks, then over the blocks' sums, and so on: how many levels there are depends on the size.
#include <cstdlib>

__global__ void sum_blocks(const float* in, float* sums, int n) { sums[blockIdx.x] = in[n - 1]; }
__global__ void add_sums(float* data, const float* sums, int n) { data[n - 1] += sums[blockIdx.x]; }

void scan(float* data, float** sums, int n, int level) {
  const int blocks = (n + 1023) / 1024;
  sum_blocks<<<blocks, 256>>>(data, sums[level], n);
  if (blocks > 1) {
    scan(sums[level], sums, blocks, level + 1);
    add_sums<<<blocks, 256>>>(data, sums[level], n);
  }
}

int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  float *data, *sums[4];
  cudaMalloc(&data, n * sizeof(float));
  for (int level = 0; level < 4; level++) cudaMalloc(&sums[level], 1024 * sizeof(float));
  scan(data, sums, n, 0);
}
