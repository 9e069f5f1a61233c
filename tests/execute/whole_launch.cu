// Kernels whose warps differ: guards on the problem's size, on the thread, on the block; trips that depend on them; and
// accesses that are aligned in some warps only. Every pointer argument is an array of floats; w is the row's length and
// n the number of elements.
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)
#define LINEAR (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define BLOCK (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))
#define ALL (BLOCK * (blockDim.x * blockDim.y * blockDim.z) + LINEAR)

__global__ void guarded(const float* a, float* b, int w, int n) {
  const int i = ALL;
  if (i < n) b[i] = a[i] + 1;
}

__global__ void guarded_rows(const float* a, float* b, int w, int n) {
  const int x = X, y = Y, h = n / w;
  if (x < w && y < h) b[y * w + x] = 2 * a[y * w + x];
}

__global__ void stencil(const float* a, float* b, int w, int n) {
  const int x = X, y = Y, h = n / w;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    b[y * w + x] = 0.25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}

__global__ void first_thread(const float* a, float* b, int w, int n) {
  const int i = ALL;
  if (LINEAR == 0) b[BLOCK] = a[i];
}

__global__ void first_warp(const float* a, float* b, int w, int n) {
  const int i = ALL;
  float x = a[i];
  if (LINEAR < 32) {
    for (int k = 0; k < w; ++k) x = x * 1.5f + k;
    b[i] = x;
  }
}

__global__ void first_block(const float* a, float* b, int w, int n) {
  const int i = ALL;
  if (BLOCK == 0)
    b[i] = a[i];
  else
    b[i] = a[i + 1] * a[i + 2];
}

__global__ void reduction(const float* a, float* b, int w, int n) {
  __shared__ float s[1024];
  const int t = LINEAR;
  s[t] = a[ALL];
  __syncthreads();
  for (int k = blockDim.x * blockDim.y * blockDim.z / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) b[BLOCK] = s[0];
}

__global__ void triangle_of_thread(const float* a, float* b, int w, int n) {
  const int t = LINEAR;
  float sum = 0;
  for (int j = 0; j < t; ++j) sum += a[j * w];
  b[ALL] = sum;
}

__global__ void triangle_of_block(const float* a, float* b, int w, int n) {
  float sum = 0;
  for (int j = 0; j <= BLOCK; ++j) sum += a[j * w + threadIdx.x];
  b[ALL] = sum;
}

__global__ void grid_stride(const float* a, float* b, int w, int n) {
  const int all = gridDim.x * gridDim.y * blockDim.x * blockDim.y;
  for (int i = (blockIdx.x + gridDim.x * blockIdx.y) * blockDim.x * blockDim.y + threadIdx.x + blockDim.x * threadIdx.y; i < n; i += all)
    b[i] = 3 * a[i];
}

__global__ void misaligned(const float* a, float* b, int w, int n) {
  const int x = X, y = Y;
  b[y * (w + 1) + x] = a[y * (w + 3) + x + 1];
}

__global__ void strided(const float* a, float* b, int w, int n) {
  const int x = X, y = Y;
  b[x * w + y] = a[y * w + x];
}

__global__ void of_three(const float* a, float* b, int w, int n) {
  const int x = X, y = Y, z = Z;
  if (x < w && y < w && z < 5) b[(z * w + y) * w + x] = a[(z * w + y) * w + x];
}

__global__ void wide(const float4* a, double* b, int w, int n) {
  const int i = ALL;
  const float4 v = a[i];
  if (i < n) b[i] = v.x + v.w;
}

__global__ void every_third(const float* a, float* b, int w, int n) {
  const int i = ALL;
  if (i % 3 == 0) b[i] = a[i];
}

__global__ void nested(const float* a, float* b, int w, int n) {
  const int x = X, y = Y;
  float sum = 0;
  for (int k = 0; k < w; ++k) {
    if (k < (int)threadIdx.y) sum += a[k * w + x];
    for (int j = 0; j < k; ++j)
      if (x < n) sum += a[j];
  }
  b[y * w + x] = sum;
}

__global__ void warp_stride(const float* a, float* b, int w, int n) {
  float sum = 0;
  for (int i = LINEAR % 32; i < w; i += 32) sum += a[LINEAR / 32 * w + i];
  b[ALL] = sum;
}

__global__ void argument_stride(const float* a, float* b, int w, int n) {
  float sum = 0;
  for (int i = LINEAR; i < n; i += w) sum += a[i];
  b[ALL] = sum;
}

// The outputs that an input is in, as convolutions go back: its ends depend on the thread.
__global__ void window(const float* a, float* b, int w, int n) {
  const int i = ALL, from = i < w ? 0 : (i - w) / 3 + 1, to = min(i / 3 + 1, n / 4);
  float sum = 0;
#pragma unroll 1
  for (int j = from; j < to; ++j) sum += a[j];
  b[i] = sum;
}

__global__ void chunk_of_block_stride(const float* a, float* b, int w, int n) {
  const int blocks = gridDim.x * gridDim.y * gridDim.z, chunk = (n + blocks - 1) / blocks;
  const int from = BLOCK * chunk, to = min(n, from + chunk);
  float sum = 0;
  for (int i = from + threadIdx.x; i < to; i += blockDim.x) sum += a[i];
  b[ALL] = sum;
}
