// Fronts that move in a plane of n x n points, as the zeros of a function.
#include "device.h"

__device__ float slope(float inner, float outer) {
  return fmaxf(fmaxf(inner, 0.0f), -fminf(outer, 0.0f));
}

// A step towards the distance from the front: differences from the side that it comes from.
__global__ void to_distance(const float* __restrict__ phi, const float* __restrict__ start,
                            float* __restrict__ next, float step, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const float here = phi[i], s = start[i] - 0.5f, sign = s * rsqrtf(s * s + 1e-4f);
  const float side = s > 0 ? 1.0f : -1.0f;
  const float a = slope(side * (here - phi[i - 1]), side * (phi[i + 1] - here));
  const float b = slope(side * (here - phi[i - n]), side * (phi[i + n] - here));
  next[i] = here - step * sign * (sqrtf(a * a + b * b) - 1);
}

// A front that shortens: its curvature from differences of the second order, in double precision.
__global__ void shorten(const double* phi, double* next, double step, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    double px = (phi[y * n + x + 1] - phi[y * n + x - 1]) / 2.0;
    double py = (phi[(y + 1) * n + x] - phi[(y - 1) * n + x]) / 2.0;
    double pxx = phi[y * n + x + 1] - 2.0 * phi[y * n + x] + phi[y * n + x - 1];
    double pyy = phi[(y + 1) * n + x] - 2.0 * phi[y * n + x] + phi[(y - 1) * n + x];
    double pxy = (phi[(y + 1) * n + x + 1] - phi[(y + 1) * n + x - 1] - phi[(y - 1) * n + x + 1] +
                  phi[(y - 1) * n + x - 1]) /
                 4.0;
    next[y * n + x] = phi[y * n + x] + step * (pxx * py * py - 2.0 * px * py * pxy + pyy * px * px) /
                                           (px * px + py * py + 1e-8);
  }
}

__device__ float weighted(float a, float b, float c, float d, float e) {
  const float first =
      13.0f / 12 * (a - 2 * b + c) * (a - 2 * b + c) + 0.25f * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
  const float second = 13.0f / 12 * (b - 2 * c + d) * (b - 2 * c + d) + 0.25f * (b - d) * (b - d);
  const float third =
      13.0f / 12 * (c - 2 * d + e) * (c - 2 * d + e) + 0.25f * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
  const float u = 0.1f / ((first + 1e-6f) * (first + 1e-6f)),
              v = 0.6f / ((second + 1e-6f) * (second + 1e-6f));
  const float w = 0.3f / ((third + 1e-6f) * (third + 1e-6f));
  return (u * (2 * a - 7 * b + 11 * c) + v * (-b + 5 * c + 2 * d) + w * (2 * c + 5 * d - e)) /
         (6 * (u + v + w));
}

// Carried by a wind that turns around the middle: slopes of the fifth order, weighed by how smooth they are.
__global__ void carry(const float* __restrict__ phi, float* __restrict__ next, float step, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 3 || y < 3 || x >= n - 3 || y >= n - 3) return;
  const int i = y * n + x;
  const float u = static_cast<float>(n / 2 - y) / n, v = static_cast<float>(x - n / 2) / n;
  const int across = u > 0 ? 1 : -1, up = v > 0 ? n : -n;
  float d[6], e[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    d[k] = phi[i + (k - 3) * across];
    e[k] = phi[i + (k - 3) * up];
  }
  const float a = weighted(d[1] - d[0], d[2] - d[1], d[3] - d[2], d[4] - d[3], d[5] - d[4]);
  const float b = weighted(e[1] - e[0], e[2] - e[1], e[3] - e[2], e[4] - e[3], e[5] - e[4]);
  next[i] = phi[i] - step * (fabsf(u) * a + fabsf(v) * b);
}

// The length of the front in each block of 32 x 8 points, by a smooth peak where the function is zero.
__global__ void lengths(const float* phi, float* out, float width, int n) {
  __shared__ float part[8];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float own = 0;
  if (x >= 1 && y >= 1 && x < n - 1 && y < n - 1) {
    const float here = phi[y * n + x] - 0.5f;
    const float dx = phi[y * n + x + 1] - phi[y * n + x - 1],
                dy = phi[(y + 1) * n + x] - phi[(y - 1) * n + x];
    const float near = fminf(fabsf(here) / width, 1.0f);
    own = 0.5f / width * (1 + cospif(near)) * 0.5f * sqrtf(dx * dx + dy * dy);
  }
  for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
  if (threadIdx.x == 0) part[threadIdx.y] = own;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += part[k];
    out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
  }
}

// How bright a picture is inside and outside of the front: a row for each thread, the sums in memory.
__global__ void inside_and_outside(const float* phi, const float* picture, float* sums, int n) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= n) return;
  for (int k = 0; k < 4; ++k) sums[k * n + y] = 0;
  for (int x = 0; x < n; ++x) {
    const float inside = 0.5f + atanf(20 * (phi[y * n + x] - 0.5f)) * 0.31830989f;
    sums[y] += inside * picture[y * n + x];
    sums[n + y] += inside;
    sums[2 * n + y] += (1 - inside) * picture[y * n + x];
    sums[3 * n + y] += 1 - inside;
  }
}

// Which points lie next to the front: 16 x 16 of them for a block, one more around them in shared memory.
__global__ void next_to_front(const float* phi, unsigned char* out, int n) {
  __shared__ float tile[18][18];
  const int left = blockIdx.x * 16 - 1, low = blockIdx.y * 16 - 1;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    const int x = min(max(left + k % 18, 0), n - 1), y = min(max(low + k / 18, 0), n - 1);
    tile[k / 18][k % 18] = phi[y * n + x] - 0.5f;
  }
  __syncthreads();
  const int x = left + 1 + threadIdx.x, y = low + 1 + threadIdx.y;
  if (x >= n || y >= n) return;
  const float here = tile[threadIdx.y + 1][threadIdx.x + 1];
  float least = here * tile[threadIdx.y][threadIdx.x + 1];
  least = fminf(least, here * tile[threadIdx.y + 2][threadIdx.x + 1]);
  least = fminf(least, here * tile[threadIdx.y + 1][threadIdx.x]);
  least = fminf(least, here * tile[threadIdx.y + 1][threadIdx.x + 2]);
  out[y * n + x] = least <= 0;
}

void run(int n) {
  const int count = n * n;
  float* phi = device_floats(2 * count);
  float* next = device_zeros<float>(2 * count);
  float* sums = device_zeros<float>(4 * n + ceil_div(n, 32) * ceil_div(n, 8));
  for (int r = 0; r < kLaunches; ++r)
    to_distance<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(phi, phi + count, next, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    shorten<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>((double*)phi, (double*)next, 0.1, n);
  for (int r = 0; r < kLaunches; ++r)
    carry<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(phi, next, 0.2f, n);
  for (int r = 0; r < kLaunches; ++r)
    lengths<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(phi, sums, 0.1f, n);
  for (int r = 0; r < kLaunches; ++r) inside_and_outside<<<ceil_div(n, 64), 64>>>(phi, phi + count, sums, n);
  for (int r = 0; r < kLaunches; ++r)
    next_to_front<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(phi, (unsigned char*)next, n);
  free_all(phi, next, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("level_sets");
}
