// Launches as formatters that do not know them leave them: nvcc reads them all the same.
#include <cstdlib>

template <class T>
struct Holder {};

__global__ void fill(float* data, int n) {
  if (threadIdx.x < n) data[threadIdx.x] = 0;
}

// clang-format off
int main(int argc, char** argv) {
  Holder<Holder<Holder<int> > > nested;
  const int n = atoi(argv[1]);
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  fill << < n / 32, 32 >> > (data, n);
  fill<< <dim3(n > 64 ? 2 : 1, 3), 64>> >(data, n);
}
