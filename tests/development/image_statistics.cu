// Statistics of images of n x n pixels: integral images, histograms, moments, labels, votes and differences.
#include "device.h"

constexpr int kLevels = 16, kAngles = 64, kLabels = 8, kDirections = 9, kSearch = 16;

__device__ int clamped(int i, int size) {
  return min(max(i, 0), size - 1);
}

// Integral image, first pass: a block for each row, which it takes 256 pixels at a time.
__global__ void integrate_rows(const unsigned char* __restrict__ image, unsigned* __restrict__ sums, int n) {
  __shared__ unsigned totals[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * n;
  unsigned carry = 0;
  for (int first = 0; first < n; first += 256) {
    const int x = first + threadIdx.x;
    unsigned v = x < n ? image[row + x] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const unsigned other = __shfl_up_sync(0xffffffffu, v, d);
      if (lane >= d) v += other;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    unsigned before = carry;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      before += w < warp ? totals[w] : 0;
      carry += totals[w];
    }
    if (x < n) sums[row + x] = v + before;
    __syncthreads();
  }
}

// Integral image, second pass: a thread goes down each column.
__global__ void integrate_columns(const unsigned* sums, unsigned* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  unsigned sum = 0;
#pragma unroll 4
  for (int y = 0; y < n; ++y) {
    sum += sums[y * n + x];
    out[y * n + x] = sum;
  }
}

// Means of boxes from the integral image.
__global__ void box_means(const unsigned* __restrict__ integral, float* __restrict__ means, int radius,
                          int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int left = max(x - radius - 1, 0), right = min(x + radius, n - 1);
  const int top = max(y - radius - 1, 0), bottom = min(y + radius, n - 1);
  const unsigned sum = integral[bottom * n + right] - integral[bottom * n + left] -
                       integral[top * n + right] + integral[top * n + left];
  means[y * n + x] = static_cast<float>(sum) / ((right - left) * (bottom - top));
}

// Histogram of 256 tones for each tile of 64 x 64 pixels.
__global__ void tile_histograms(const unsigned char* image, int* histograms, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const int x = blockIdx.x * 64 + threadIdx.x % 64;
  for (int j = threadIdx.x / 64; j < 64; j += 4) {
    const int y = blockIdx.y * 64 + j;
    if (x < n && y < n) atomicAdd(&bins[image[y * n + x]], 1);
  }
  __syncthreads();
  histograms[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] = bins[threadIdx.x];
}

// How often pairs of tones occur at a distance of a pixel and of its neighbour.
__global__ void cooccurrences(const unsigned char* __restrict__ image, int* matrix, int step, int pixels) {
  __shared__ int counts[kLevels * kLevels];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels - step; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[(image[i] >> 4) * kLevels + (image[i + step] >> 4)], 1);
  __syncthreads();
  atomicAdd(&matrix[threadIdx.x], counts[threadIdx.x]);
}

// Mean and variance of the pixels around each one.
template <class Sum>
__global__ void local_variance(const float* image, float* variances, int radius, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  Sum sum = 0, squares = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const Sum v = image[clamped(y + dy, n) * n + clamped(x + dx, n)];
      sum += v;
      squares += v * v;
    }
  }
  const Sum share = Sum(1) / ((2 * radius + 1) * (2 * radius + 1)), mean = sum * share;
  variances[y * n + x] = static_cast<float>(squares * share - mean * mean);
}

// Moments up to the second order of tiles of 32 x 32 pixels.
__global__ void tile_moments(const float* __restrict__ image, float* __restrict__ moments, int n) {
  __shared__ float parts[8][6];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const float fx = threadIdx.x - 15.5f;
  float m[6] = {0, 0, 0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int j = threadIdx.y + 8 * k, y = blockIdx.y * 32 + j;
    const float v = x < n && y < n ? image[y * n + x] : 0, fy = j - 15.5f;
    m[0] += v;
    m[1] += v * fx;
    m[2] += v * fy;
    m[3] += v * fx * fx;
    m[4] += v * fx * fy;
    m[5] += v * fy * fy;
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    for (int d = 16; d > 0; d /= 2) m[k] += __shfl_down_sync(0xffffffffu, m[k], d);
    if (threadIdx.x == 0) parts[threadIdx.y][k] = m[k];
  }
  __syncthreads();
  const int thread = threadIdx.y * 32 + threadIdx.x;
  if (thread >= 6) return;
  float sum = 0;
  for (int w = 0; w < 8; ++w) sum += parts[w][thread];
  moments[(blockIdx.y * gridDim.x + blockIdx.x) * 6 + thread] = sum;
}

// Least and greatest pixel of each tile of 16 x 16, by halves.
template <class T>
__global__ void tile_extremes(const T* image, T* least, T* greatest, int n) {
  __shared__ T low[256], high[256];
  const int t = threadIdx.y * 16 + threadIdx.x;
  const int x = min(static_cast<int>(blockIdx.x * 16 + threadIdx.x), n - 1);
  const int y = min(static_cast<int>(blockIdx.y * 16 + threadIdx.y), n - 1);
  low[t] = high[t] = image[y * n + x];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) {
      low[t] = low[t + d] < low[t] ? low[t + d] : low[t];
      high[t] = high[t + d] > high[t] ? high[t + d] : high[t];
    }
    __syncthreads();
  }
  if (t == 0) {
    least[blockIdx.y * gridDim.x + blockIdx.x] = low[0];
    greatest[blockIdx.y * gridDim.x + blockIdx.x] = high[0];
  }
}

// A sweep of the labels: each pixel takes the least label of the neighbours with a similar tone.
__global__ void spread_labels(const unsigned char* __restrict__ image, const int* __restrict__ labels,
                              int* __restrict__ next, int tolerance, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x, tone = image[i];
  const int around[4] = {y * n + max(x - 1, 0), y * n + min(x + 1, n - 1), max(y - 1, 0) * n + x,
                         min(y + 1, n - 1) * n + x};
  int label = labels[i];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int other = labels[around[k]];
    const bool similar = abs(image[around[k]] - tone) <= tolerance;
    label = similar ? min(label, other) : label;
  }
  next[i] = label;
}

// Each pixel of an edge votes for all lines through it.
__global__ void vote_for_lines(const unsigned char* edges, const float2* directions, int* votes,
                               int distances, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side) return;
  if (edges[y * side + x] == 0) return;
  for (int a = 0; a < kAngles; ++a) {
    const float distance = x * directions[a].x + y * directions[a].y + 0.5f * distances;
    atomicAdd(&votes[a * distances + static_cast<int>(distance)], 1);
  }
}

// Strength of the gradients in nine directions: a thread for each cell of 8 x 8 pixels.
__global__ void gradient_directions(const float* __restrict__ image, float* __restrict__ cells, int n) {
  const int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y;
  if (cx >= n / 8 || cy >= n / 8) return;
  float bins[kDirections];
#pragma unroll
  for (int b = 0; b < kDirections; ++b) bins[b] = 0;
  for (int k = 0; k < 64; ++k) {
    const int x = 8 * cx + k % 8, y = 8 * cy + k / 8;
    const float gx = image[y * n + min(x + 1, n - 1)] - image[y * n + max(x - 1, 0)];
    const float gy = image[min(y + 1, n - 1) * n + x] - image[max(y - 1, 0) * n + x];
    const float strength = sqrtf(gx * gx + gy * gy), angle = atan2f(gy, gx) * (kDirections / 3.1415927f);
    const int bin = static_cast<int>(angle + kDirections) % kDirections;
#pragma unroll
    for (int b = 0; b < kDirections; ++b) bins[b] += b == bin ? strength : 0;
  }
  float* own = cells + (cy * (n / 8) + cx) * kDirections;
#pragma unroll
  for (int b = 0; b < kDirections; ++b) own[b] = bins[b];
}

// A percentile of the tones of each tile of 32 x 32 pixels, by halving the range of the tones.
__global__ void tile_percentiles(const unsigned char* __restrict__ image, unsigned char* __restrict__ tones,
                                 int wanted, int n) {
  int v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int x = blockIdx.x * 32 + threadIdx.x + k % 2 * 16, y = blockIdx.y * 32 + threadIdx.y + k / 2 * 16;
    v[k] = image[min(y, n - 1) * n + min(x, n - 1)];
  }
  int low = 0, high = 255;
  for (int step = 0; step < 8; ++step) {
    const int middle = (low + high) / 2;
    int below = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) below += __syncthreads_count(v[k] <= middle);
    const bool enough = below >= wanted;
    high = enough ? middle : high;
    low = enough ? low : min(middle + 1, high);
  }
  if (threadIdx.x == 0 && threadIdx.y == 0)
    tones[blockIdx.y * gridDim.x + blockIdx.x] = static_cast<unsigned char>(high);
}

// Motion of blocks of 16 x 16 pixels: a thread for each of 256 displacements, the least difference wins.
__global__ void match_blocks(const unsigned char* __restrict__ image,
                             const unsigned char* __restrict__ before, int* __restrict__ best, int n) {
  __shared__ int block[16][16], area[31][32];
  __shared__ unsigned least[8];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  const int left = blockIdx.x * 16, top = blockIdx.y * 16;
  block[ty][tx] = image[clamped(top + ty, n) * n + clamped(left + tx, n)];
  for (int k = thread; k < 31 * 31; k += 256) {
    const int i = k % 31, j = k / 31;
    area[j][i] = before[clamped(top + j - kSearch / 2, n) * n + clamped(left + i - kSearch / 2, n)];
  }
  __syncthreads();
  unsigned difference = 0;
  for (int j = 0; j < 16; ++j) {
#pragma unroll
    for (int i = 0; i < 16; ++i) difference = __sad(block[j][i], area[ty + j][tx + i], difference);
  }
  const unsigned key = __reduce_min_sync(0xffffffffu, difference << 8 | thread);
  if (thread % 32 == 0) least[thread / 32] = key;
  __syncthreads();
  if (thread > 0) return;
  unsigned winner = least[0];
  for (int w = 1; w < 8; ++w) winner = min(winner, least[w]);
  best[blockIdx.y * gridDim.x + blockIdx.x] = static_cast<int>(winner & 255);
}

// Sums of the colours of the pixels with each of eight labels, for each block.
__global__ void label_colours(const uchar4* __restrict__ colours, const unsigned char* __restrict__ labels,
                              int4* __restrict__ sums, int pixels) {
  __shared__ int parts[kLabels][4];
  if (threadIdx.x < kLabels * 4) parts[threadIdx.x / 4][threadIdx.x % 4] = 0;
  __syncthreads();
  int red[kLabels], green[kLabels], blue[kLabels], number[kLabels];
#pragma unroll
  for (int k = 0; k < kLabels; ++k) red[k] = green[k] = blue[k] = number[k] = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
    const uchar4 c = colours[i];
    const int label = labels[i];
#pragma unroll
    for (int k = 0; k < kLabels; ++k) {
      const bool own = label == k;
      red[k] += own ? c.x : 0;
      green[k] += own ? c.y : 0;
      blue[k] += own ? c.z : 0;
      number[k] += own;
    }
  }
#pragma unroll
  for (int k = 0; k < kLabels; ++k) {
    const int r = __reduce_add_sync(0xffffffffu, red[k]), g = __reduce_add_sync(0xffffffffu, green[k]);
    const int b = __reduce_add_sync(0xffffffffu, blue[k]), c = __reduce_add_sync(0xffffffffu, number[k]);
    if (threadIdx.x % 32 == 0) {
      atomicAdd(&parts[k][0], r);
      atomicAdd(&parts[k][1], g);
      atomicAdd(&parts[k][2], b);
      atomicAdd(&parts[k][3], c);
    }
  }
  __syncthreads();
  if (threadIdx.x < kLabels) {
    const int* p = parts[threadIdx.x];
    sums[blockIdx.x * kLabels + threadIdx.x] = make_int4(p[0], p[1], p[2], p[3]);
  }
}

// n is a multiple of 64.
void run(int n) {
  const int pixels = n * n, tiles64 = n / 64, tiles32 = n / 32, tiles16 = n / 16, cells = n / 8, side = n / 4;
  const int distances = 3 * side;
  unsigned char* grey = device_array<unsigned char>(pixels, [](int i) {
    return static_cast<unsigned char>(static_cast<unsigned>(i) * 2654435761u >> 23 & 255);
  });
  unsigned char* before = device_array<unsigned char>(pixels, [](int i) {
    return static_cast<unsigned char>((static_cast<unsigned>(i) + 5) * 2654435761u >> 23 & 255);
  });
  unsigned char* marks = device_array<unsigned char>(
      pixels, [](int i) { return static_cast<unsigned char>(static_cast<unsigned>(i) * 40503u >> 9 & 7); });
  unsigned char* edges = device_array<unsigned char>(side * side, [](int i) {
    return static_cast<unsigned char>((static_cast<unsigned>(i) * 2654435761u >> 17 & 15) == 0);
  });
  float* bright = device_array<float>(pixels, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* out = device_zeros<float>(pixels);
  unsigned* sums = device_zeros<unsigned>(pixels);
  unsigned* integral = device_zeros<unsigned>(pixels);
  int* labels = device_array<int>(pixels, [](int i) { return i; });
  int* next_labels = device_zeros<int>(pixels);
  uchar4* colours = device_array<uchar4>(pixels, [](int i) {
    const unsigned v = static_cast<unsigned>(i) * 2654435761u;
    return make_uchar4(v >> 8 & 255, v >> 14 & 255, v >> 20 & 255, 255);
  });
  int* histograms = device_zeros<int>(tiles64 * tiles64 * 256);
  int* matrix = device_zeros<int>(kLevels * kLevels);
  float* moments = device_zeros<float>(tiles32 * tiles32 * 6);
  float* least = device_zeros<float>(tiles16 * tiles16);
  float* greatest = device_zeros<float>(tiles16 * tiles16);
  int* least_label = device_zeros<int>(tiles16 * tiles16);
  int* greatest_label = device_zeros<int>(tiles16 * tiles16);
  float2* directions = device_array<float2>(kAngles, [](int i) {
    return make_float2(cosf(i * 3.1415927f / kAngles), sinf(i * 3.1415927f / kAngles));
  });
  int* votes = device_zeros<int>(kAngles * distances);
  float* gradients = device_zeros<float>(cells * cells * kDirections);
  unsigned char* percentiles = device_zeros<unsigned char>(tiles32 * tiles32);
  int* motion = device_zeros<int>(tiles16 * tiles16);
  int4* colour_sums = device_zeros<int4>(396 * kLabels);
  const dim3 flat(ceil_div(n, 32), ceil_div(n, 8)), square(ceil_div(n, 16), ceil_div(n, 16));
  for (int r = 0; r < kLaunches; ++r) integrate_rows<<<n, 256>>>(grey, sums, n);
  for (int r = 0; r < kLaunches; ++r) integrate_columns<<<ceil_div(n, 64), 64>>>(sums, integral, n);
  for (int r = 0; r < kLaunches; ++r) box_means<<<flat, dim3(32, 8)>>>(integral, out, 7, n);
  for (int r = 0; r < kLaunches; ++r) tile_histograms<<<dim3(tiles64, tiles64), 256>>>(grey, histograms, n);
  for (int r = 0; r < kLaunches; ++r) cooccurrences<<<528, 256>>>(grey, matrix, n + 1, pixels);
  for (int r = 0; r < kLaunches; ++r) local_variance<float><<<square, dim3(16, 16)>>>(bright, out, 3, n);
  for (int r = 0; r < kLaunches; ++r) local_variance<double><<<flat, dim3(32, 8)>>>(bright, out, 2, n);
  for (int r = 0; r < kLaunches; ++r)
    tile_moments<<<dim3(tiles32, tiles32), dim3(32, 8)>>>(bright, moments, n);
  for (int r = 0; r < kLaunches; ++r) tile_extremes<<<square, dim3(16, 16)>>>(bright, least, greatest, n);
  for (int r = 0; r < kLaunches; ++r)
    tile_extremes<<<square, dim3(16, 16)>>>(labels, least_label, greatest_label, n);
  for (int r = 0; r < kLaunches; ++r) spread_labels<<<flat, dim3(32, 8)>>>(grey, labels, next_labels, 40, n);
  for (int r = 0; r < kLaunches; ++r)
    vote_for_lines<<<dim3(ceil_div(side, 32), ceil_div(side, 4)), dim3(32, 4)>>>(edges, directions, votes,
                                                                                 distances, side);
  for (int r = 0; r < kLaunches; ++r)
    gradient_directions<<<dim3(ceil_div(cells, 16), ceil_div(cells, 8)), dim3(16, 8)>>>(bright, gradients, n);
  for (int r = 0; r < kLaunches; ++r)
    tile_percentiles<<<dim3(tiles32, tiles32), dim3(16, 16)>>>(grey, percentiles, 900, n);
  for (int r = 0; r < kLaunches; ++r) match_blocks<<<square, dim3(16, 16)>>>(grey, before, motion, n);
  for (int r = 0; r < kLaunches; ++r) label_colours<<<396, 256>>>(colours, marks, colour_sums, pixels);
  free_all(grey, before, marks, edges, bright, out, sums, integral, labels, next_labels, colours, histograms);
  free_all(matrix, moments, least, greatest, least_label, greatest_label, directions, votes, gradients);
  free_all(percentiles, motion, colour_sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("image_statistics");
}
