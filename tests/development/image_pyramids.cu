// Images of n by n pixels in three planes: levels of pyramids, filters that keep edges, resampling and
// histograms.
#include "device.h"

__device__ inline int within(int i, int count) {
  return min(max(i, 0), count - 1);
}

// The next level of a Gaussian pyramid, half as wide and high: five taps in each direction through shared
// memory.
__global__ void pyramid_down(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                             int out_width, int out_height) {
  __shared__ float tile[35][36];
  __shared__ float rows[35][17];
  const int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 2, top = blockIdx.y * 32 - 2;
  const float* plane = in + (size_t)blockIdx.z * width * height;
  for (int y = ty; y < 35; y += 16)
    for (int x = tx; x < 35; x += 16)
      tile[y][x] = plane[within(top + y, height) * width + within(left + x, width)];
  __syncthreads();
  for (int y = ty; y < 35; y += 16) {
    const float* t = &tile[y][2 * tx];
    rows[y][tx] = 0.0625f * (t[0] + t[4]) + 0.25f * (t[1] + t[3]) + 0.375f * t[2];
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  if (x >= out_width || y >= out_height) return;
  out[((size_t)blockIdx.z * out_height + y) * out_width + x] =
      0.0625f * (rows[2 * ty][tx] + rows[2 * ty + 4][tx]) +
      0.25f * (rows[2 * ty + 1][tx] + rows[2 * ty + 3][tx]) + 0.375f * rows[2 * ty + 2][tx];
}

// A level of a Laplacian pyramid: what a level has more than the next, coarser one when that is expanded.
// Pixels in odd places lie between two coarse ones.
__global__ void laplacian_level(const float* fine, const float* coarse, float* out, int width, int height,
                                int coarse_width, int coarse_height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float* plane = coarse + (size_t)blockIdx.z * coarse_width * coarse_height;
  const int cx = x / 2, cy = y / 2;
  const float weights[3] = {y % 2 ? 0.0f : 0.125f, y % 2 ? 0.5f : 0.75f, y % 2 ? 0.5f : 0.125f};
  float sum = 0;
  for (int k = -1; k <= 1; ++k) {
    const float* row = plane + within(cy + k, coarse_height) * coarse_width;
    const float middle = row[within(cx, coarse_width)], right = row[within(cx + 1, coarse_width)];
    float value;
    if (x % 2)
      value = 0.5f * (middle + right);
    else
      value = 0.75f * middle + 0.125f * (row[within(cx - 1, coarse_width)] + right);
    sum += weights[k + 1] * value;
  }
  const size_t at = ((size_t)blockIdx.z * height + y) * width + x;
  out[at] = fine[at] - sum;
}

// The bilateral filter: the mean of the pixels about each, weighted by how far they are in place and in
// brightness.
__global__ void bilateral(const float* in, float* out, float place_scale, float value_scale, int radius,
                          int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float own = in[y * width + x];
  float sum = 0, all = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    const int row = within(y + dy, height) * width;
    for (int dx = -radius; dx <= radius; ++dx) {
      const float value = in[row + within(x + dx, width)], apart = value - own;
      const float weight = expf(-place_scale * (dx * dx + dy * dy) - value_scale * apart * apart);
      sum += weight * value;
      all += weight;
    }
  }
  out[y * width + x] = sum / all;
}

// Resampling along the rows of a picture with four bytes for each pixel, by tables of first pixels and
// weights.
__global__ void resample_rows(const uchar4* __restrict__ in, const int* __restrict__ firsts,
                              const float* __restrict__ weights, uchar4* __restrict__ out, int taps,
                              int width, int out_width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= out_width) return;
  const int first = firsts[x];
  float4 sum = make_float4(0, 0, 0, 0);
  for (int t = 0; t < taps; ++t) {
    const uchar4 pixel = in[blockIdx.y * width + within(first + t, width)];
    const float weight = weights[t * out_width + x];
    sum.x += weight * pixel.x;
    sum.y += weight * pixel.y;
    sum.z += weight * pixel.z;
    sum.w += weight * pixel.w;
  }
  const auto byte = [](float value) { return (unsigned char)fminf(fmaxf(value + 0.5f, 0.0f), 255.0f); };
  out[blockIdx.y * out_width + x] = make_uchar4(byte(sum.x), byte(sum.y), byte(sum.z), byte(sum.w));
}

// Resampling along the columns in double precision: all threads of a block are in one row and share its
// weights.
__global__ void resample_columns(const float* in, const int* firsts, const double* weights, float* out,
                                 int taps, int width, int height) {
  __shared__ double row_weights[32];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if ((int)threadIdx.x < taps) row_weights[threadIdx.x] = weights[y * taps + threadIdx.x];
  __syncthreads();
  if (x >= width) return;
  const int first = firsts[y];
  double sum = 0;
  for (int t = 0; t < taps; ++t) sum += row_weights[t] * in[within(first + t, height) * width + x];
  out[y * width + x] = (float)sum;
}

// Running sums along the rows for an integral image: a block for each row, 256 pixels at a time.
__global__ void __launch_bounds__(256) integral_rows(const unsigned char* in, unsigned* out, int width) {
  __shared__ unsigned totals[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const size_t row = (size_t)blockIdx.x * width;
  unsigned carry = 0;
  for (int first = 0; first < width; first += 256) {
    const int x = first + threadIdx.x;
    unsigned sum = x < width ? in[row + x] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned before = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += before;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) sum += totals[w];
      all += totals[w];
    }
    if (x < width) out[row + x] = carry + sum;
    carry += all;
    __syncthreads();
  }
}

// Running sums down the columns, which complete the integral image in a second array: a thread for each
// column.
__global__ void integral_columns(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width,
                                 int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  unsigned sum = 0;
  for (int y = 0; y < height; ++y) {
    sum += in[y * width + x];
    out[y * width + x] = sum;
  }
}

// Local equalisation, first part: the histogram of each tile, clipped, and its running sum as a table of
// brightness.
__global__ void tile_tables(const unsigned char* in, unsigned char* tables, int tile, int limit, int width,
                            int height) {
  __shared__ int bins[256];
  __shared__ int excess;
  const int t = threadIdx.x, left = blockIdx.x * tile, top = blockIdx.y * tile;
  const int across = min(tile, width - left), down = min(tile, height - top);
  bins[t] = 0;
  if (t == 0) excess = 0;
  __syncthreads();
  for (int k = t; k < across * down; k += 256)
    atomicAdd(&bins[in[(top + k / across) * width + left + k % across]], 1);
  __syncthreads();
  const int over = max(bins[t] - limit, 0);
  if (over > 0) atomicAdd(&excess, over);
  __syncthreads();
  bins[t] = bins[t] - over + excess / 256;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const int before = t >= step ? bins[t - step] : 0;
    __syncthreads();
    bins[t] += before;
    __syncthreads();
  }
  tables[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + t] =
      (unsigned char)(255LL * bins[t] / max(bins[255], 1));
}

// Local equalisation, second part: each pixel through the tables of the four tiles nearest to it.
__global__ void equalise(const unsigned char* __restrict__ in, const unsigned char* __restrict__ tables,
                         unsigned char* __restrict__ out, int tile, int tiles_x, int tiles_y, int width,
                         int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float fx = (x + 0.5f) / tile - 0.5f, fy = (y + 0.5f) / tile - 0.5f;
  const int low_x = (int)floorf(fx), low_y = (int)floorf(fy), value = in[y * width + x];
  const float part_x = fx - low_x, part_y = fy - low_y;
  const int x0 = within(low_x, tiles_x), x1 = within(low_x + 1, tiles_x);
  const int y0 = within(low_y, tiles_y) * tiles_x, y1 = within(low_y + 1, tiles_y) * tiles_x;
  const float a = tables[(y0 + x0) * 256 + value], b = tables[(y0 + x1) * 256 + value],
              c = tables[(y1 + x0) * 256 + value], d = tables[(y1 + x1) * 256 + value];
  const float upper = a + part_x * (b - a), lower = c + part_x * (d - c);
  out[y * width + x] = (unsigned char)(upper + part_y * (lower - upper) + 0.5f);
}

// Erosion or dilation by a square: the extreme along rows of a tile in shared memory, then along its columns.
template <bool kDilate>
__global__ void morphology(const unsigned char* in, unsigned char* out, int radius, int width, int height) {
  extern __shared__ unsigned char staged[];
  const int wide = blockDim.x + 2 * radius, high = blockDim.y + 2 * radius;
  unsigned char* rows = staged + wide * high;
  const int left = blockIdx.x * blockDim.x - radius, top = blockIdx.y * blockDim.y - radius;
  for (int y = threadIdx.y; y < high; y += blockDim.y)
    for (int x = threadIdx.x; x < wide; x += blockDim.x)
      staged[y * wide + x] = in[within(top + y, height) * width + within(left + x, width)];
  __syncthreads();
  for (int y = threadIdx.y; y < high; y += blockDim.y) {
    int extreme = staged[y * wide + threadIdx.x];
    for (int k = 1; k <= 2 * radius; ++k) {
      const int value = staged[y * wide + threadIdx.x + k];
      extreme = kDilate ? max(extreme, value) : min(extreme, value);
    }
    rows[y * blockDim.x + threadIdx.x] = (unsigned char)extreme;
  }
  __syncthreads();
  const int x = left + radius + threadIdx.x, y = top + radius + threadIdx.y;
  if (x >= width || y >= height) return;
  int extreme = rows[threadIdx.y * blockDim.x + threadIdx.x];
  for (int k = 1; k <= 2 * radius; ++k) {
    const int value = rows[(threadIdx.y + k) * blockDim.x + threadIdx.x];
    extreme = kDilate ? max(extreme, value) : min(extreme, value);
  }
  out[y * width + x] = (unsigned char)extreme;
}

void run(int n) {
  const int half = (n + 1) / 2, less = n * 3 / 4, taps = 8, long_taps = 12, tile = 64,
            tiles = ceil_div(n, tile);
  const int radius = 5, area = (32 + 2 * radius) * (12 + 2 * radius) + 32 * (12 + 2 * radius);
  float* planes = device_array<float>(3 * n * n, [n](int i) {
    return 0.5f + 0.3f * sinf(0.02f * (i % n)) * cosf(0.03f * (i / n)) + 0.2f * hashed_unit(i);
  });
  float* levels = device_zeros<float>(3 * half * half);
  float* details = device_zeros<float>(3 * n * n);
  uchar4* colours = device_array<uchar4>(n * n, [](int i) {
    return make_uchar4(i % 251, i / 7 % 256, (unsigned char)(255 * hashed_unit(i)), 255);
  });
  uchar4* narrower = device_zeros<uchar4>(less * n);
  float* lower = device_zeros<float>(n * less);
  int* firsts = device_array<int>(less, [](int x) { return x * 4 / 3 - 3; });
  float* weights = device_array<float>(taps * less, [less](int i) {
    const int t = i / less;
    return (t == 3 || t == 4 ? 0.6f : t == 2 || t == 5 ? -0.12f : 0.01f) + 0.02f * (i % 3 - 1);
  });
  double* long_weights =
      device_array<double>(long_taps * less, [](int i) { return i % 12 == 5 || i % 12 == 6 ? 0.55 : -0.01; });
  unsigned char* grey = device_array<unsigned char>(n * n, [n](int i) {
    return static_cast<unsigned char>(100 + 70 * sinf(0.01f * (i % n) + 0.02f * (i / n)) + 60 * hashed_unit(i));
  });
  unsigned char* result = device_zeros<unsigned char>(n * n);
  unsigned char* tables = device_zeros<unsigned char>(256 * tiles * tiles);
  unsigned* row_sums = device_zeros<unsigned>(n * n);
  unsigned* integral = device_zeros<unsigned>(n * n);
  for (int r = 0; r < kLaunches; ++r)
    pyramid_down<<<dim3(ceil_div(half, 16), ceil_div(half, 16), 3), dim3(16, 16)>>>(planes, levels, n, n,
                                                                                    half, half);
  for (int r = 0; r < kLaunches; ++r)
    laplacian_level<<<dim3(ceil_div(n, 32), ceil_div(n, 8), 3), dim3(32, 8)>>>(planes, levels, details, n, n,
                                                                               half, half);
  for (int r = 0; r < kLaunches; ++r)
    bilateral<<<dim3(ceil_div(n, 16), ceil_div(n, 12)), dim3(16, 12)>>>(planes, details, 0.06f, 30.0f, 4, n,
                                                                        n);
  for (int r = 0; r < kLaunches; ++r)
    resample_rows<<<dim3(ceil_div(less, 128), n), 128>>>(colours, firsts, weights, narrower, taps, n, less);
  for (int r = 0; r < kLaunches; ++r)
    resample_columns<<<dim3(ceil_div(n, 256), less), 256>>>(planes, firsts, long_weights, lower, long_taps, n,
                                                            n);
  for (int r = 0; r < kLaunches; ++r) integral_rows<<<n, 256>>>(grey, row_sums, n);
  for (int r = 0; r < kLaunches; ++r) integral_columns<<<ceil_div(n, 32), 32>>>(row_sums, integral, n, n);
  for (int r = 0; r < kLaunches; ++r) tile_tables<<<dim3(tiles, tiles), 256>>>(grey, tables, tile, 40, n, n);
  for (int r = 0; r < kLaunches; ++r)
    equalise<<<dim3(ceil_div(n, 64), ceil_div(n, 8)), dim3(64, 8)>>>(grey, tables, result, tile, tiles, tiles,
                                                                     n, n);
  for (int r = 0; r < kLaunches; ++r)
    morphology<false>
        <<<dim3(ceil_div(n, 32), ceil_div(n, 12)), dim3(32, 12), area>>>(grey, result, radius, n, n);
  free_all(planes, levels, details, colours, narrower, lower, firsts, weights, long_weights, grey, result,
           tables, row_sums, integral);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("image_pyramids");
}
