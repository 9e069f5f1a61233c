// Kernels that take structures by value: their fields are arguments, by their offset in bytes.
#include <cstdlib>

struct Extent {
  int width, height;
};

struct Base {
  char kind;
};

struct Options : Base {
  double rate;
  int* out;
  Extent extent;
  short weights[3];
  float scale = 0.25f;
  int unset;
};

template <class T>
struct View {
  T* data;
  int pitch;
};

__global__ void fill(Options options, int value) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < options.extent.width * options.extent.height)
    options.out[x] = value * options.weights[1] + options.kind + (int)(options.rate * options.scale) + options.unset;
}

__global__ void copy(View<const float> from, View<float> to, Extent extent) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < extent.width && y < extent.height) to.data[y * to.pitch + x] = from.data[y * from.pitch + x];
}

int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  Options options;
  options.kind = 3;
  options.rate = 1.5;
  options.extent = {n, 2 * n};
  options.weights[1] = 7;
  cudaMalloc(&options.out, 2 * n * n * sizeof(int));
  fill<<<(2 * n * n + 255) / 256, 256>>>(options, 5);
  float *a, *b;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * (n + 1) * sizeof(float));
  copy<<<dim3((n + 127) / 128, n), 128>>>(View<const float>{a, n}, View<float>{b, n + 1}, {n, n});
  return 0;
}
