// Copies between host and device.
#include <cstdlib>
__constant__ float table[64];
__global__ void use(float* a, int n) { a[threadIdx.x] = table[n]; }

int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  float *d, *e, *h = (float*)malloc(n * sizeof(float));
  cudaMalloc(&d, n * sizeof(float));
  cudaMalloc(&e, n * sizeof(float));
  cudaMemcpyToSymbol(table, h, 64 * sizeof(float));
  cudaMemset(d, 0, n * sizeof(float));
  for (int i = 0; i < 8; i++) {
    cudaMemcpy(d, h, (i + 1) * sizeof(float), cudaMemcpyHostToDevice);
    use<<<n / 64, 64>>>(d, i);
    cudaMemcpyAsync(e, d, n * sizeof(float), cudaMemcpyDefault, 0);
  }
  cudaMemcpy2D(h, 64, d, 128, 64, 32, cudaMemcpyDeviceToHost);
}
