// What nvcc takes and clang does not.
struct Squares {
  template <bool twice> static __device__ float apply(float x) { return twice ? x * x * x * x : x * x; }
};
template <class T> struct Sum {
  struct plus {
    __device__ float operator()(float a, float b) const { return a + b; }
  };
};
template <class F> __device__ float reduce(float a, float b, F f) { return f(a, b); }
template <class T> __device__ float added(float a, float b) { return reduce(a, b, Sum<T>::plus()); }
template <class T> __device__ float squared(float x) { return T::apply<true>(x); }
template <class T> T zero();
template <> inline __host__ __device__ float zero<float>() { return 0; }

__global__ void kernel(float* f) {
  extern __shared__ float tile[8][32];
  tile[threadIdx.y][threadIdx.x] = f[threadIdx.x];
  __syncthreads();
  f[threadIdx.x] = added<float>(squared<Squares>(tile[threadIdx.x & 7][threadIdx.y]), zero<float>());
}

struct alignas(16) Four {
  float x[4];
};
__device__ alignas(64) float table[4];
__constant__
    alignas(alignof(Four) * (2 + 2)) const float factors[4] = {1, 2, 3, 4};

__global__ void aligned(float* f) {
  __shared__ alignas(32) float tile[36], other;
  extern __shared__ __align__(128) unsigned char bytes[];
  __shared__ alignas(Four) char four[16];
  tile[threadIdx.x] = table[threadIdx.x & 3] * factors[threadIdx.x & 3];
  other = f[1];
  four[threadIdx.x & 15] = f[2];
  bytes[threadIdx.x] = four[threadIdx.x & 15];
  __syncthreads();
  f[threadIdx.x] = tile[threadIdx.x ^ 1] + other + bytes[threadIdx.x ^ 1] + four[threadIdx.x & 7];
}

template <int N> __global__ void scale(float* f) { f[threadIdx.x] *= N; }

void launch(float* f) {
  scale<3> << <1, 32>> >(f);
  kernel << <1, dim3(32, 8) >> > (f);
}
