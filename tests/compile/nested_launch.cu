// Dynamic parallelism: a kernel launches others.
namespace tiles {
__global__ void fill(float* f, float v) { f[threadIdx.x] = v; }
}
template <int N> __global__ void scale(float* f) { f[threadIdx.x] *= N; }

__global__ void parent(float* f, int n) {
  if (threadIdx.x == 0 && n > 7) {
    tiles::fill<<<n / 32, dim3(32)>>>(f, 1.0f);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    scale<3><<<1, 32, 0, stream>>>(f);
    cudaStreamDestroy(stream);
    if (cudaGetLastError() != cudaSuccess) f[1] = 0;
  }
  f[threadIdx.x] += 1;
}
