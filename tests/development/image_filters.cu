// Filters of images of n x n pixels.
#include "device.h"

__global__ void edges(const unsigned char* in, unsigned char* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const unsigned char* p = in + y * n + x;
  const int gx = p[1 - n] + 2 * p[1] + p[1 + n] - p[-1 - n] - 2 * p[-1] - p[-1 + n];
  const int gy = p[n - 1] + 2 * p[n] + p[n + 1] - p[-n - 1] - 2 * p[-n] - p[-n + 1];
  out[y * n + x] = min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}

__device__ void order(float& a, float& b) {
  const float low = fminf(a, b);
  b = fmaxf(a, b);
  a = low;
}

__global__ void median(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = in[(y + k / 3 - 1) * n + x + k % 3 - 1];
#pragma unroll
  for (int last = 8; last >= 4; --last)
#pragma unroll
    for (int k = 0; k < last; ++k) order(v[k], v[k + 1]);
  out[y * n + x] = v[4];
}

__global__ void bilateral(const float* in, float* out, float space, float range, int radius, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float here = in[y * n + x];
  float sum = 0, weights = 0;
  for (int v = -radius; v <= radius; ++v)
    for (int u = -radius; u <= radius; ++u) {
      const int i = min(max(x + u, 0), n - 1), j = min(max(y + v, 0), n - 1);
      const float value = in[j * n + i], d = value - here;
      const float weight = expf(-(u * u + v * v) * space - d * d * range);
      sum += weight * value;
      weights += weight;
    }
  out[y * n + x] = sum / weights;
}

__global__ void erode_shared(const unsigned char* in, unsigned char* out, int n) {
  __shared__ unsigned char tile[16 + 6][32 + 6];
  const int left = blockIdx.x * 32 - 3, top = blockIdx.y * 16 - 3;
  for (int v = threadIdx.y; v < 22; v += 16)
    for (int u = threadIdx.x; u < 38; u += 32) {
      const int x = left + u, y = top + v;
      tile[v][u] = x >= 0 && y >= 0 && x < n && y < n ? in[y * n + x] : 255;
    }
  __syncthreads();
  int least = 255;
  for (int v = 0; v < 7; ++v)
    for (int u = 0; u < 7; ++u) least = min(least, tile[threadIdx.y + v][threadIdx.x + u]);
  const int x = left + 3 + threadIdx.x, y = top + 3 + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = least;
}

__global__ void grey(const uchar4* in, unsigned char* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 p = in[i];
  out[i] = static_cast<unsigned char>(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

void run(int n) {
  float* in = device_floats(n * n);
  float* out = device_zeros<float>(n * n);
  unsigned char* bytes = (unsigned char*)in;
  unsigned char* result = (unsigned char*)out;
  const dim3 flat(32, 8), flats(ceil_div(n, 32), ceil_div(n, 8)), square(16, 16),
      squares(ceil_div(n, 16), ceil_div(n, 16));
  for (int r = 0; r < kLaunches; ++r) edges<<<flats, flat>>>(bytes, result, n);
  for (int r = 0; r < kLaunches; ++r) median<<<flats, flat>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) bilateral<<<squares, square>>>(in, out, 0.1f, 2, 3, n);
  for (int r = 0; r < kLaunches; ++r)
    erode_shared<<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(bytes, result, n);
  for (int r = 0; r < kLaunches; ++r) grey<<<ceil_div(n * n, 256), 256>>>((uchar4*)in, result, n * n);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("image_filters");
}
