// Kernels of the kind that transforms and their neighbours have: for the parser's tests, and
// repeated to 50 MB for the benchmarks.
#include <cuda_runtime.h>

constexpr int tile = 16;

// Tiled matrix product: shared memory, barriers, an unrolled inner loop.
__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[tile][tile], right[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Fast Fourier transform of radix 2: a stride that doubles, sines.
__global__ void fourier(float2* data, int n) {
  extern __shared__ float2 points[];
  const int t = threadIdx.x;
  points[t] = data[blockIdx.x * n + __brev(t) % n];
  __syncthreads();
  for (int half = 1; half < n; half *= 2) {
    if (t < n / 2) {
      const int at = t / half * half * 2 + t % half;
      float sine, cosine;
      __sincosf(-3.14159265f * (t % half) / half, &sine, &cosine);
      const float2 u = points[at], v = points[at + half];
      const float2 w = {v.x * cosine - v.y * sine, v.x * sine + v.y * cosine};
      points[at] = {u.x + w.x, u.y + w.y};
      points[at + half] = {u.x - w.x, u.y - w.y};
    }
    __syncthreads();
  }
  data[blockIdx.x * n + t] = points[t];
}

// Walsh-Hadamard transform, in registers of the warp and in shared memory.
__global__ void walsh(float* data, int levels) {
  __shared__ float points[1024];
  float x = data[blockIdx.x * blockDim.x + threadIdx.x];
  for (int stride = 1; stride < 32; stride *= 2) {
    const float y = __shfl_xor_sync(0xffffffff, x, stride);
    x = threadIdx.x & stride ? y - x : x + y;
  }
  for (int level = 5; level < levels; ++level) {
    points[threadIdx.x] = x;
    __syncthreads();
    const float y = points[threadIdx.x ^ (1 << level)];
    x = threadIdx.x & (1 << level) ? y - x : x + y;
    __syncthreads();
  }
  data[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Discrete wavelet transform by convolution.
__global__ void wavelet(const float* x, const float* low, const float* high, float* y, int n, int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  float l = 0, h = 0;
  for (int k = 0; k < taps; ++k) {
    const float value = x[(2 * i + k) % n];
    l += value * low[k];
    h += value * high[k];
  }
  y[i] = l;
  y[n / 2 + i] = h;
}

// Lifting steps of a 5/3 wavelet, four points a thread.
__global__ void lifting(const int4* x, int4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  const int4 here = x[i], next = x[i + 1];
  int4 out;
  out.y = here.y - ((here.x + here.z) >> 1);
  out.w = here.w - ((here.z + next.x) >> 1);
  out.x = here.x + ((out.y + 2) >> 2);
  out.z = here.z + ((out.y + out.w + 2) >> 2);
  y[i] = out;
}

// Cosine transform of 8 x 8 blocks, unrolled.
__global__ void cosine8(float* image, int pitch) {
  __shared__ float block[8][9];
  const int x = threadIdx.x, y = threadIdx.y;
  float* place = image + (blockIdx.y * 8 + y) * pitch + blockIdx.x * 8 + x;
  block[y][x] = *place;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += block[y][k] * __cosf((2 * k + 1) * x * 0.19634954f);
  __syncthreads();
  block[y][x] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += block[k][x] * __cosf((2 * k + 1) * y * 0.19634954f);
  *place = sum;
}

// Reduction: a stride that halves, then shuffles, then an atomic.
__global__ void reduce(const double* x, double* result, long long n) {
  __shared__ double partial[256];
  double sum = 0;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h >= 32; h /= 2) {
    if (threadIdx.x < h) partial[threadIdx.x] += partial[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    sum = partial[threadIdx.x];
    for (int h = 16; h > 0; h /= 2) sum += __shfl_down_sync(0xffffffff, sum, h);
    if (threadIdx.x == 0) atomicAdd(result, sum);
  }
}

// Inclusive scan of a block.
__global__ void scan(const unsigned* x, unsigned* y, unsigned n) {
  __shared__ unsigned sums[2][512];
  unsigned from = 0;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[0][threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    unsigned value = sums[from][threadIdx.x];
    if (threadIdx.x >= step) value += sums[from][threadIdx.x - step];
    sums[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) y[i] = sums[from][threadIdx.x];
}

__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// Triangular nest: the inner count depends on the outer counter.
__global__ void substitute(const float* lower, float* x, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; ++i) {
    float sum = x[i * n + column];
    for (int j = 0; j < i; ++j) sum -= lower[i * n + j] * x[j * n + column];
    x[i * n + column] = sum / lower[i * n + i];
  }
}

__global__ void bitonic(int* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int size = 2; size <= n; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int other = i ^ stride;
      if (other > i) {
        const int a = keys[i], b = keys[other];
        if ((a > b) == ((i & size) == 0)) keys[i] = b, keys[other] = a;
      }
      __syncthreads();
    }
  }
}

__constant__ float weights[25];

__global__ void convolve(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int v = -2; v <= 2; ++v)
    for (int u = -2; u <= 2; ++u)
      sum += weights[(v + 2) * 5 + u + 2] * in[min(max(y + v, 0), height - 1) * width + min(max(x + u, 0), width - 1)];
  out[y * width + x] = sum;
}

// All pairs, with a data-dependent branch.
__global__ void gravity(const float4* bodies, float4* forces, int n, float softening) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float4 force = {0, 0, 0, 0};
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    const float distance = x * x + y * y + z * z + softening;
    if (distance > 100.0f) continue;
    const float inverse = rsqrtf(distance);
    const float strength = other.w * inverse * inverse * inverse;
    force.x += x * strength;
    force.y += y * strength;
    force.z += z * strength;
  }
  forces[i] = force;
}
