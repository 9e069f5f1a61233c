// Heights on a grid of n x n.
#include "device.h"

// In which of eight directions water runs from each cell.
__global__ void flow_directions(const float* heights, unsigned char* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const float here = heights[y * n + x];
  float steepest = 0;
  int direction = 255;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    if (k == 4) continue;
    const int dx = k % 3 - 1, dy = k / 3 - 1;
    const float drop = (here - heights[(y + dy) * n + x + dx]) * (dx != 0 && dy != 0 ? 0.70710678f : 1.0f);
    if (drop > steepest) {
      steepest = drop;
      direction = k;
    }
  }
  out[y * n + x] = direction;
}

// How far each cell of a row is from the next cell that is marked, on both sides: a row per thread, so the threads of
// a warp are n cells apart.
__global__ void distances_in_rows(const unsigned char* marked, unsigned short* out, int n) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= n) return;
  int distance = n;
  for (int x = 0; x < n; ++x) {
    distance = marked[y * n + x] == 0 ? 0 : distance + 1;
    out[y * n + x] = distance;
  }
  distance = n;
  for (int x = n - 1; x >= 0; --x) {
    distance = marked[y * n + x] == 0 ? 0 : distance + 1;
    out[y * n + x] = min(static_cast<int>(out[y * n + x]), distance);
  }
}

// Whether the low sun in the west reaches a cell: up to 40 cells are looked at, until one of them hides it.
__global__ void shadows(const float* heights, unsigned char* out, float slope, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float here = heights[y * n + x];
  unsigned char dark = 0;
  for (int k = 1; k <= 40 && x >= k; ++k)
    if (heights[y * n + x - k] > here + slope * k) {
      dark = 1;
      break;
    }
  out[y * n + x] = dark;
}

// Slope, aspect and light of 31 x 7 cells for each block of 33 x 9 threads, the heights in shared memory.
__global__ void shade(const float* heights, float* out, int n) {
  __shared__ float tile[9][33];
  const int x = blockIdx.x * 31 + threadIdx.x, y = blockIdx.y * 7 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x < n && y < n ? heights[y * n + x] : 0;
  __syncthreads();
  if (threadIdx.x == 0 || threadIdx.x > 31 || threadIdx.y == 0 || threadIdx.y > 7 || x >= n - 1 || y >= n - 1)
    return;
  const float dx = 0.5f * (tile[threadIdx.y][threadIdx.x + 1] - tile[threadIdx.y][threadIdx.x - 1]);
  const float dy = 0.5f * (tile[threadIdx.y + 1][threadIdx.x] - tile[threadIdx.y - 1][threadIdx.x]);
  const float slope = atanf(5 * sqrtf(dx * dx + dy * dy)), aspect = atan2f(dy, -dx);
  out[y * n + x] = fmaxf(0.0f, 0.7f * cosf(slope) + 0.7f * sinf(slope) * cosf(aspect - 2.3f));
}

// Noise of eight octaves: heights from a hash of the corners, smooth between them.
__device__ float corner(int x, int y, int octave) {
  unsigned h = x * 374761393u + y * 668265263u + octave * 2246822519u;
  h = (h ^ h >> 13) * 1274126177u;
  return (h ^ h >> 16) * (1.0f / 4294967296.0f);
}

__global__ void raise_hills(float* heights, int octaves, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0, share = 1, scale = 1.0f / 256;
  for (int octave = 0; octave < octaves; ++octave) {
    const float u = x * scale, v = y * scale;
    const int column = u, row = v;
    float s = u - column, t = v - row;
    s = s * s * (3 - 2 * s);
    t = t * t * (3 - 2 * t);
    const float a = corner(column, row, octave), b = corner(column + 1, row, octave);
    const float c = corner(column, row + 1, octave), d = corner(column + 1, row + 1, octave);
    sum += share * (a + s * (b - a) + t * (c - a + s * (a - b - c + d)));
    share *= 0.5f;
    scale *= 2;
  }
  heights[y * n + x] = sum;
}

void run(int n) {
  const int count = n * n;
  float* heights = device_array<float>(count, [](int i) {
    return static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 7) % 1000u) / 1000;
  });
  int* marked = device_ints(count / 4, 1 << 30);
  float* out = device_zeros<float>(count);
  for (int r = 0; r < kLaunches; ++r)
    flow_directions<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(heights, (unsigned char*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    flow_directions<<<dim3(ceil_div(n, 24), ceil_div(n, 8)), dim3(24, 8)>>>(heights, (unsigned char*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    distances_in_rows<<<ceil_div(n, 64), 64>>>((unsigned char*)marked, (unsigned short*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    shadows<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(heights, (unsigned char*)out, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    shade<<<dim3(ceil_div(n, 31), ceil_div(n, 7)), dim3(33, 9)>>>(heights, out, n);
  for (int r = 0; r < kLaunches; ++r)
    raise_hills<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(out, 8, n);
  free_all(heights, marked, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("terrain");
}
