// Work on rasters of a geographic information system: the shape of a terrain, what is seen from a hill, where
// its water flows, statistics of zones, changes of resolution, and distances to the nearest water.
// n is the number of cells along a side of the square raster; even numbers are best.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kZones = 96;
constexpr unsigned char kPit = 8;

__constant__ int step_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
__constant__ int step_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};
__constant__ double affine[6];

struct Zone {
  double sum, square;
  int count, highest;
};

// Slope and aspect of each cell by Horn's differences of its eight neighbours.
__global__ void slope_aspect(const float* __restrict__ heights, float2* __restrict__ out, float cell_size,
                             int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int west = max(x - 1, 0), east = min(x + 1, n - 1);
  const float* above = heights + max(y - 1, 0) * n;
  const float* here = heights + y * n;
  const float* below = heights + min(y + 1, n - 1) * n;
  const float dx = above[east] + 2 * here[east] + below[east] - above[west] - 2 * here[west] - below[west];
  const float dy = below[west] + 2 * below[x] + below[east] - above[west] - 2 * above[x] - above[east];
  const float scale = 1 / (8 * cell_size);
  const float slope = atanf(scale * sqrtf(dx * dx + dy * dy));
  float aspect = -1;
  if (dx != 0 || dy != 0) {
    aspect = atan2f(dy, -dx);
    if (aspect < 0) aspect += 6.2831853f;
  }
  out[y * n + x] = make_float2(slope, aspect);
}

// How far each cell stands above the mean of a disc around it, from a tile in shared memory.
template <int kRadius>
__global__ void topographic_position(const float* __restrict__ heights, float* __restrict__ out, int n) {
  constexpr int kSide = 16 + 2 * kRadius;
  __shared__ float tile[kSide][kSide + 1];
  const int left = blockIdx.x * 16 - kRadius, top = blockIdx.y * 16 - kRadius;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < kSide * kSide; k += 256) {
    const int x = min(max(left + k % kSide, 0), n - 1), y = min(max(top + k / kSide, 0), n - 1);
    tile[k / kSide][k % kSide] = heights[y * n + x];
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  int count = 0;
#pragma unroll
  for (int dy = -kRadius; dy <= kRadius; ++dy)
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx)
      if (dx * dx + dy * dy <= kRadius * kRadius) {
        sum += tile[threadIdx.y + kRadius + dy][threadIdx.x + kRadius + dx];
        ++count;
      }
  out[y * n + x] = tile[threadIdx.y + kRadius][threadIdx.x + kRadius] - sum / count;
}

// What an observer sees along straight lines to all cells of the edge: one thread follows one line.
__global__ void viewshed_lines(const float* heights, unsigned char* visible, int eye_x, int eye_y,
                               float eye_above, int reach, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= 4 * n) return;
  const int side = line / n, along = line % n;
  const int to_x = side == 0 || side == 1 ? along : side == 2 ? 0 : n - 1;
  const int to_y = side == 0 ? 0 : side == 1 ? n - 1 : along;
  const int dx = to_x - eye_x, dy = to_y - eye_y, steps = max(abs(dx), abs(dy));
  const float eye = heights[eye_y * n + eye_x] + eye_above;
  const int last = min(steps, reach);
  float steepest = -1e30f;
  for (int k = 1; k <= last; ++k) {
    const float part = static_cast<float>(k) / steps, fx = dx * part, fy = dy * part;
    const int x = min(max(eye_x + __float2int_rn(fx), 0), n - 1);
    const int y = min(max(eye_y + __float2int_rn(fy), 0), n - 1);
    const float angle = (heights[y * n + x] - eye) * rsqrtf(fx * fx + fy * fy);
    if (angle >= steepest) {
      steepest = angle;
      visible[y * n + x] = 1;
    }
  }
}

// The neighbour to which each cell's water flows, the one of steepest descent, or none.
__global__ void flow_directions(const float* __restrict__ heights, unsigned char* __restrict__ directions,
                                int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float own = heights[y * n + x];
  float steepest = 0;
  unsigned char best = kPit;
  for (int k = 0; k < 8; ++k) {
    const int nx = x + step_x[k], ny = y + step_y[k];
    if (nx < 0 || nx >= n || ny < 0 || ny >= n) continue;
    const float drop = (own - heights[ny * n + nx]) * (k % 2 == 0 ? 1.0f : 0.70710678f);
    if (drop > steepest) {
      steepest = drop;
      best = k;
    }
  }
  directions[y * n + x] = best;
}

// One step of flow accumulation: each cell gathers what its donors held after the step before.
__global__ void accumulate_flow(const unsigned char* __restrict__ directions, const int* __restrict__ before,
                                int* __restrict__ after, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int sum = 1;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int nx = x + step_x[k], ny = y + step_y[k];
    if (nx < 0 || nx >= n || ny < 0 || ny >= n) continue;
    if (directions[ny * n + nx] == (k + 4) % 8) sum += before[ny * n + nx];
  }
  after[y * n + x] = sum;
}

// Drops of rain that run down from every 16th cell until a pit or for some steps, and mark their way.
__global__ void trace_drops(const unsigned char* directions, int* visits, int steps, int drops, int n) {
  const int drop = blockIdx.x * blockDim.x + threadIdx.x;
  if (drop >= drops) return;
  int x = (drop * 16 + 7) % n, y = (drop * 16 + 7) / n;
  if (y >= n) return;
  for (int step = 0; step < steps; ++step) {
    atomicAdd(&visits[y * n + x], 1);
    const int direction = directions[y * n + x];
    if (direction >= kPit) break;
    x += step_x[direction];
    y += step_y[direction];
    if (x < 0 || x >= n || y < 0 || y >= n) break;
  }
}

// Count, sum, sum of squares and maximum of the heights of each zone, first in shared memory.
__global__ void zonal_statistics(const float* heights, const short* zones, Zone* out, int cells) {
  __shared__ float sums[kZones], squares[kZones];
  __shared__ int counts[kZones], highest[kZones];
  for (int z = threadIdx.x; z < kZones; z += blockDim.x) {
    sums[z] = squares[z] = 0;
    counts[z] = highest[z] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    const int zone = zones[i];
    if (zone < 0 || zone >= kZones) continue;
    const float height = heights[i];
    atomicAdd(&sums[zone], height);
    atomicAdd(&squares[zone], height * height);
    atomicAdd(&counts[zone], 1);
    atomicMax(&highest[zone], __float2int_rn(100 * height));
  }
  __syncthreads();
  for (int z = threadIdx.x; z < kZones; z += blockDim.x) {
    if (counts[z] == 0) continue;
    atomicAdd(&out[z].sum, static_cast<double>(sums[z]));
    atomicAdd(&out[z].square, static_cast<double>(squares[z]));
    atomicAdd(&out[z].count, counts[z]);
    atomicMax(&out[z].highest, highest[z]);
  }
}

// The four weights of Keys's cubic convolution for a place between two cells.
template <class T>
__device__ void cubic_weights(T t, T* w) {
  w[0] = T(-0.5) * t * (1 - t) * (1 - t);
  w[1] = (T(1.5) * t - T(2.5)) * t * t + 1;
  w[2] = ((T(-1.5) * t + 2) * t + T(0.5)) * t;
  w[3] = T(0.5) * t * t * (t - 1);
}

// A turned and scaled copy of a raster by cubic convolution over four by four cells.
template <class T>
__global__ void resample_cubic(const float* __restrict__ in, float* __restrict__ out, int n, int m) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= m || y >= m) return;
  const T u = T(affine[0]) * x + T(affine[1]) * y + T(affine[2]);
  const T v = T(affine[3]) * x + T(affine[4]) * y + T(affine[5]);
  if (u < 0 || u > n - 1 || v < 0 || v > n - 1) {
    out[y * m + x] = -9999;
    return;
  }
  const int ix = static_cast<int>(u), iy = static_cast<int>(v);
  T wx[4], wy[4];
  cubic_weights<T>(u - ix, wx);
  cubic_weights<T>(v - iy, wy);
  T sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float* row = in + min(max(iy + j - 1, 0), n - 1) * n;
    T part = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) part += wx[i] * row[min(max(ix + i - 1, 0), n - 1)];
    sum += wy[j] * part;
  }
  out[y * m + x] = sum;
}

// An overview of half the resolution: the mean of two by two cells of half precision.
__global__ void half_overview(const __half2* in, __half* out, int m) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * m; i += gridDim.x * blockDim.x) {
    const int x = i % m, y = i / m;
    const __half2 pair = __hadd2(in[2 * y * m + x], in[(2 * y + 1) * m + x]);
    out[i] = __float2half(0.25f * (__low2float(pair) + __high2float(pair)));
  }
}

// The first pass of a distance transform: how far the nearest water is within each column.
__global__ void distance_columns(const unsigned char* water, int* distances, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  int distance = n;
  for (int y = 0; y < n; ++y) {
    distance = water[y * n + x] ? 0 : min(distance + 1, n);
    distances[y * n + x] = distance;
  }
  for (int y = n - 2; y >= 0; --y) {
    distance = min(distances[y * n + x], distance + 1);
    distances[y * n + x] = distance;
  }
}

// The second pass: the least squared distance over the cells of each row, searched outwards as far as it can
// help.
__global__ void distance_rows(const int* __restrict__ columns, float* __restrict__ out, int limit, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= n) return;
  const int* row = columns + y * n;
  int best = row[x] * row[x];
  for (int k = 1; k < limit && k * k < best; ++k) {
    if (x - k >= 0) best = min(best, k * k + row[x - k] * row[x - k]);
    if (x + k < n) best = min(best, k * k + row[x + k] * row[x + k]);
  }
  out[y * n + x] = sqrtf(static_cast<float>(best));
}

// Hills of three sizes and some roughness, in metres.
static float height_of(int x, int y) {
  return 300 + 150 * sinf(0.011f * x + 0.5f) * cosf(0.013f * y) + 40 * sinf(0.071f * x + 0.053f * y) +
         2 * hashed_unit(y * 8191 + x);
}

void run(int n) {
  const int cells = n * n, m = n / 4 * 3, half = n / 2, drops = ceil_div(cells, 16);
  const double host_affine[6] = {1.25, 0.22, 0.05 * n, -0.21, 1.26, 0.12 * n};
  cudaMemcpyToSymbol(affine, host_affine, sizeof host_affine);
  float* heights = device_array<float>(cells, [n](int i) { return height_of(i % n, i / n); });
  float2* shapes = device_zeros<float2>(cells);
  float* out = device_zeros<float>(cells);
  unsigned char* bytes = device_zeros<unsigned char>(cells);
  unsigned char* visible = device_zeros<unsigned char>(cells);
  int* before = device_array<int>(cells, [](int i) { return 1 + i % 5; });
  int* after = device_zeros<int>(cells);
  const dim3 wide(32, 8), wide_grid(ceil_div(n, 32), ceil_div(n, 8));
  const dim3 square(16, 16), square_grid(ceil_div(n, 16), ceil_div(n, 16));
  for (int run = 0; run < kLaunches; ++run) slope_aspect<<<wide_grid, wide>>>(heights, shapes, 10.0f, n);
  for (int run = 0; run < kLaunches; ++run) topographic_position<2><<<square_grid, square>>>(heights, out, n);
  for (int run = 0; run < kLaunches; ++run) topographic_position<6><<<square_grid, square>>>(heights, out, n);
  for (int run = 0; run < kLaunches; ++run)
    viewshed_lines<<<ceil_div(4 * n, 64), 64>>>(heights, visible, n / 3, n / 2, 25.0f, 1500, n);
  for (int run = 0; run < kLaunches; ++run)
    flow_directions<<<dim3(ceil_div(n, 128), n), 128>>>(heights, bytes, n);
  for (int run = 0; run < kLaunches; ++run)
    accumulate_flow<<<dim3(ceil_div(n, 64), ceil_div(n, 16)), dim3(64, 16)>>>(bytes, before, after, n);
  for (int run = 0; run < kLaunches; ++run)
    trace_drops<<<ceil_div(drops, 128), 128>>>(bytes, after, 128, drops, n);
  free_all(shapes, visible, before);

  short* zones = device_array<short>(cells, [n](int i) {
    const int across = i % n * 8 / n, down = i / n * 12 / n;
    return static_cast<short>(hashed_unit(i) < 0.05f ? i % kZones : down * 8 + across);
  });
  Zone* statistics = device_zeros<Zone>(kZones);
  for (int run = 0; run < kLaunches; ++run)
    zonal_statistics<<<min(ceil_div(cells, 512), 396), 512>>>(heights, zones, statistics, cells);
  free_all(zones, statistics);
  const dim3 flat(64, 4), flat_grid(ceil_div(m, 64), ceil_div(m, 4));
  for (int run = 0; run < kLaunches; ++run) resample_cubic<float><<<flat_grid, flat>>>(heights, out, n, m);
  for (int run = 0; run < kLaunches; ++run)
    resample_cubic<double><<<dim3(ceil_div(m, 8), ceil_div(m, 8)), dim3(8, 8)>>>(heights, out, n, m);
  __half* fine = device_array<__half>(cells, [n](int i) { return __float2half(height_of(i % n, i / n)); });
  __half* coarse = device_zeros<__half>(half * half);
  for (int run = 0; run < kLaunches; ++run)
    half_overview<<<min(ceil_div(half * half, 256), 1056), 256>>>((__half2*)fine, coarse, half);
  free_all(heights, fine, coarse, bytes);

  // Water in one cell of a hundred, and in one lake.
  unsigned char* water = device_array<unsigned char>(cells, [n](int i) {
    const int dx = i % n - n / 2, dy = i / n - n / 3;
    return static_cast<unsigned char>(hashed_unit(i) < 0.01f || dx * dx + dy * dy < n * n / 100);
  });
  for (int run = 0; run < kLaunches; ++run) distance_columns<<<ceil_div(n, 32), 32>>>(water, after, n);
  for (int run = 0; run < kLaunches; ++run)
    distance_rows<<<dim3(ceil_div(n, 256), n), 256>>>(after, out, 64, n);
  free_all(water, after, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("geographic_rasters");
}
