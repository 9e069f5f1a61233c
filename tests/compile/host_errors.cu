#include <some_library.h>
#include "own_helpers.h"
library_handle_t the_handle;
struct Context {
  library_handle_t handle;
  int n;
};
void on_the_host(library_handle_t handle) {
  use(handle);
  checkErrors(cudaSetDevice(0));
}
__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}
template <class T>
__global__ void fill(T* data, T value) {
  data[threadIdx.x] = value;
}
int main(int argc, char** argv) {
  const int device = findDevice(argc, argv);
  Context context{};
  float* data = nullptr;
  scale<<<1, 256>>>(data, device);
  fill<float><<<1, 256>>>(data, 1.0f);
  on_the_host(context.handle);
}
