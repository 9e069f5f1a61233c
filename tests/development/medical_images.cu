// Images for medicine: slices of n x n pixels, and volumes whose edge is three sixteenths of that.
#include "device.h"

constexpr int kAngles = 180, kElements = 64;

__constant__ float sines[kAngles], cosines[kAngles];

// Back projection for tomography: every pixel adds up what its rays met, from tables of angles.
__global__ void back_project(const float* __restrict__ sinogram, float* __restrict__ image, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float half = 0.5f * n, cx = x - half, cy = y - half;
  float sum = 0;
#pragma unroll 4
  for (int a = 0; a < kAngles; ++a) {
    const float at = cx * cosines[a] + cy * sines[a] + half;
    const int k = __float2int_rd(at);
    const float f = at - k;
    if (k >= 0 && k < n - 1) sum += (1 - f) * sinogram[a * n + k] + f * sinogram[a * n + k + 1];
  }
  image[y * n + x] = sum * 3.14159265f / kAngles;
}

// Gridding for magnetic resonance: samples on spokes are spread over the 4 x 4 cells around them.
__global__ void grid_spokes(const float2* samples, float2* grid, int spokes, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, spoke = blockIdx.y;
  if (k >= n) return;
  float s, c, radius = 0.95f * (k - n / 2);
  sincospif(static_cast<float>(spoke) / spokes, &s, &c);
  float gx = n / 2 + radius * c, gy = n / 2 + radius * s;
  int left = (int)floorf(gx) - 1, top = (int)floorf(gy) - 1;
  float2 value = samples[spoke * n + k];
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 4; i++) {
      int x = left + i, y = top + j;
      if (x < 0 || x >= n || y < 0 || y >= n) continue;
      float dx = 1 - (x - gx) * (x - gx) / 4, dy = 1 - (y - gy) * (y - gy) / 4;
      atomicAdd(&grid[y * n + x].x, dx * dx * dy * dy * value.x);
      atomicAdd(&grid[y * n + x].y, dx * dx * dy * dy * value.y);
    }
}

// Non-local means: 3 x 3 patches compared inside a 7 x 7 window, in a tile with a rim of four pixels.
__global__ void nonlocal_means(const float* __restrict__ image, float* out, float strength, int n) {
  __shared__ float tile[24][25];
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 24 * 24; k += 256) {
    const int sx = blockIdx.x * 16 + k % 24 - 4, sy = blockIdx.y * 16 + k / 24 - 4;
    tile[k / 24][k % 24] = image[min(max(sy, 0), n - 1) * n + min(max(sx, 0), n - 1)];
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  float sum = 0, total = 0;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx) {
      float distance = 0;
#pragma unroll
      for (int p = 0; p < 9; ++p) {
        const int px = tx + p % 3 - 1, py = ty + p / 3 - 1;
        const float d = tile[py][px] - tile[py + dy][px + dx];
        distance += d * d;
      }
      const float weight = __expf(-distance * strength);
      sum += weight * tile[ty + dy][tx + dx], total += weight;
    }
  if (x < n && y < n) out[y * n + x] = sum / total;
}

// Ultrasound: delay and sum over the elements that see the point, from 16-bit echoes.
__global__ void form_beams(const short* echoes, float* image, int samples, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
  if (x >= n) return;
  float sum = 0, used = 0;
  for (int e = 0; e < kElements; ++e) {
    const float across = x - (e + 0.5f) * n / kElements;
    if (fabsf(across) > 0.5f * z + 8) continue;
    const float at = 1.1f * (z + sqrtf(across * across + static_cast<float>(z) * z));
    const int k = min(static_cast<int>(at), samples - 2);
    const short* line = echoes + e * samples + k;
    sum += line[0] + (at - k) * (line[1] - line[0]), used += 1;
  }
  image[z * n + x] = used > 0 ? sum / used : 0.0f;
}

// Vessels in a volume: the eigenvalues of the Hessian in closed form.
template <class T>
__global__ void vesselness(const float* v, float* out, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z, dy = edge, dz = edge * edge;
  if (x < 1 || y < 1 || z < 1 || x >= edge - 1 || y >= edge - 1 || z >= edge - 1) return;
  const int i = z * dz + y * dy + x;
  const T twice = 2 * v[i], xx = v[i - 1] + v[i + 1] - twice;
  const T yy = v[i - dy] + v[i + dy] - twice, zz = v[i - dz] + v[i + dz] - twice;
  const T xy = (v[i + dy + 1] - v[i + dy - 1] - v[i - dy + 1] + v[i - dy - 1]) / 4;
  const T xz = (v[i + dz + 1] - v[i + dz - 1] - v[i - dz + 1] + v[i - dz - 1]) / 4;
  const T yz = (v[i + dz + dy] - v[i + dz - dy] - v[i - dz + dy] + v[i - dz - dy]) / 4;
  const T mean = (xx + yy + zz) / 3, a = xx - mean, b = yy - mean, c = zz - mean;
  const T p = sqrt((a * a + b * b + c * c + 2 * (xy * xy + xz * xz + yz * yz)) / 6) + T(1e-12);
  const T det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
  const T phi = acos(fmin(fmax(det / (2 * p * p * p), T(-1)), T(1))) / 3;
  const T first = mean + 2 * p * cos(phi), last = mean + 2 * p * cos(phi + T(2.0943951));
  const T middle = 3 * mean - first - last;
  out[i] = middle < 0 && last < 0 ? sqrt(middle * last) - fabs(first) / 2 : T(0);
}

// Distance transform along columns: a thread goes down its column and back up.
__global__ void column_distances(const unsigned char* mask, int* distances, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  int since = n, y = 0;
  while (y < n) {
    since = mask[y * n + x] > 250 ? 0 : since + 1;
    distances[y++ * n + x] = since;
  }
  while (--y >= 0) distances[y * n + x] = since = min(since + 1, distances[y * n + x]);
}

struct Affine {
  float m[3][4];
};

// Resampling of a volume after an affine motion, between the eight voxels around each place.
__global__ void resample(const float* __restrict__ from, float* __restrict__ to, Affine a, int edge) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  float f[3];
  int k[3];
  bool inside = true;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const float at = a.m[d][0] * x + a.m[d][1] * y + a.m[d][2] * z + a.m[d][3];
    k[d] = static_cast<int>(floorf(at));
    f[d] = at - k[d];
    inside = inside && k[d] >= 0 && k[d] < edge - 1;
  }
  float sum = 0;
  for (int c = 0; inside && c < 8; ++c) {
    const int i = c & 1, j = c >> 1 & 1, l = c >> 2;
    sum += (i ? f[0] : 1 - f[0]) * (j ? f[1] : 1 - f[1]) * (l ? f[2] : 1 - f[2]) *
           from[((k[2] + l) * edge + k[1] + j) * edge + k[0] + i];
  }
  to[(z * edge + y) * edge + x] = sum;
}

template <class T>
__device__ void order(T& a, T& b) {
  const T low = min(a, b);
  b = max(a, b), a = low;
}

// The median of 3 x 3 pixels: the columns are sorted first, then what can still be the median.
template <class T>
__global__ void median(const T* image, T* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  T v[3][3];
#pragma unroll
  for (int c = 0; c < 3; ++c) {
#pragma unroll
    for (int r = 0; r < 3; ++r) v[c][r] = image[(y + r - 1) * n + x + c - 1];
    order(v[c][0], v[c][1]), order(v[c][1], v[c][2]), order(v[c][0], v[c][1]);
  }
  T low = max(max(v[0][0], v[1][0]), v[2][0]), high = min(min(v[0][2], v[1][2]), v[2][2]);
  order(v[0][1], v[1][1]), order(v[1][1], v[2][1]), order(v[0][1], v[1][1]);
  order(low, high);
  out[y * n + x] = max(low, min(high, v[1][1]));
}

void run(int n) {
  const int edge = n / 16 * 3, voxels = edge * edge * edge, spokes = n / 4, samples = 3 * n;
  float* image = device_array<float>(n * n, [](int i) { return hashed_unit(i); });
  float* out = device_zeros<float>(2 * n * n);
  float* sinogram = device_floats(kAngles * n);
  short* echoes = device_array<short>(kElements * samples, [](int i) { return i * 7 % 2001 - 1000; });
  unsigned char* bytes = device_array<unsigned char>(n * n, [](int i) { return 256 * hashed_unit(i); });
  float* volume = device_array<float>(voxels, [](int i) { return hashed_unit(i / 3); });
  float* moved = device_zeros<float>(voxels);
  float* table = device_array<float>(360, [](int a) { return sinf((a < 180 ? a : a - 90) * 0.0174533f); });
  cudaMemcpyToSymbol(sines, table, sizeof sines, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(cosines, table + kAngles, sizeof cosines, 0, cudaMemcpyDeviceToDevice);
  const Affine motion = {{{0.98f, -0.1f, 0.02f, 2.5f}, {0.1f, 0.99f, 0, -1.25f}, {-0.02f, 0, 1.01f, 0.5f}}};
  const dim3 tiles(ceil_div(n, 16), ceil_div(n, 16)), wide(ceil_div(n, 32), ceil_div(n, 6));
  const dim3 bricks(ceil_div(edge, 32), ceil_div(edge, 4), ceil_div(edge, 2));
  for (int r = 0; r < kLaunches; ++r) back_project<<<tiles, dim3(16, 16)>>>(sinogram, out, n);
  for (int r = 0; r < kLaunches; ++r)
    grid_spokes<<<dim3(ceil_div(n, 128), spokes), 128>>>((float2*)image, (float2*)out, spokes, n);
  for (int r = 0; r < kLaunches; ++r) nonlocal_means<<<tiles, dim3(16, 16)>>>(image, out, 2.0f, n);
  for (int r = 0; r < kLaunches; ++r) form_beams<<<dim3(n / 64, n), 64>>>(echoes, out, samples, n);
  for (int r = 0; r < kLaunches; ++r) vesselness<float><<<bricks, dim3(32, 4, 2)>>>(volume, moved, edge);
  for (int r = 0; r < kLaunches; ++r) vesselness<double><<<bricks, dim3(32, 4, 2)>>>(volume, moved, edge);
  for (int r = 0; r < kLaunches; ++r) column_distances<<<ceil_div(n, 32), 32>>>(bytes, (int*)out, n);
  for (int r = 0; r < kLaunches; ++r) resample<<<dim3(edge, edge), edge>>>(volume, moved, motion, edge);
  for (int r = 0; r < kLaunches; ++r) median<<<wide, dim3(32, 6)>>>(image, out, n);
  for (int r = 0; r < kLaunches; ++r) median<<<wide, dim3(32, 6)>>>(bytes, (unsigned char*)out, n);
  free_all(image, out, sinogram, echoes, bytes, volume, moved, table);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("medical_images");
}
