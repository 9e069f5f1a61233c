// Filters for photographs of n x 3/4 n pixels: smoothing, medians, edges, tones, enlargement and rotation.
#include "device.h"

constexpr int kBlurRadius = 6;
__constant__ float blur_weights[2 * kBlurRadius + 1];

__device__ int clamped(int i, int size) {
  return min(max(i, 0), size - 1);
}

// Box filter of colours: each thread adds up all pixels of its window.
__global__ void box_naive(const uchar4* image, uchar4* out, int radius, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int red = 0, green = 0, blue = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const uchar4 p = image[clamped(y + dy, height) * width + clamped(x + dx, width)];
      red += p.x;
      green += p.y;
      blue += p.z;
    }
  }
  const int area = (2 * radius + 1) * (2 * radius + 1);
  out[y * width + x] = make_uchar4(red / area, green / area, blue / area, 255);
}

// Box filter along rows by a running sum. Each thread goes along a part of a row.
__global__ void box_rows(const float* __restrict__ image, float* __restrict__ out, int radius, int segment,
                         int width, int height) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * segment;
  if (y >= height) return;
  const int last = min(first + segment, width);
  const float* row = image + y * width;
  const float scale = 1.0f / (2 * radius + 1);
  float sum = 0;
  for (int d = -radius; d <= radius; ++d) sum += row[clamped(first + d, width)];
  for (int x = first; x < last; ++x) {
    out[y * width + x] = sum * scale;
    sum += row[clamped(x + radius + 1, width)] - row[clamped(x - radius, width)];
  }
}

// Box filter along columns by a running sum. Neighbouring threads have neighbouring columns.
__global__ void box_columns(const float* __restrict__ image, float* __restrict__ out, int radius, int segment,
                            int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * segment;
  if (x >= width) return;
  const int last = min(first + segment, height);
  const float scale = 1.0f / (2 * radius + 1);
  float sum = 0;
  for (int d = -radius; d <= radius; ++d) sum += image[clamped(first + d, height) * width + x];
  for (int y = first; y < last; ++y) {
    out[y * width + x] = sum * scale;
    sum += image[clamped(y + radius + 1, height) * width + x];
    sum -= image[clamped(y - radius, height) * width + x];
  }
}

// Median of a square window of grey pixels, which are sorted in registers up to the middle one.
template <int kRadius>
__global__ void median(const unsigned char* __restrict__ image, unsigned char* __restrict__ out, int width,
                       int height) {
  constexpr int kSide = 2 * kRadius + 1, kPixels = kSide * kSide;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int v[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    const int row = clamped(y + i / kSide - kRadius, height);
    const int column = clamped(x + i % kSide - kRadius, width);
    v[i] = image[row * width + column];
  }
#pragma unroll
  for (int i = 0; i <= kPixels / 2; ++i) {
#pragma unroll
    for (int j = i + 1; j < kPixels; ++j) {
      const int low = min(v[i], v[j]);
      v[j] = max(v[i], v[j]);
      v[i] = low;
    }
  }
  out[y * width + x] = static_cast<unsigned char>(v[kPixels / 2]);
}

// Bilateral filter: weights fall with the distance and with the difference of the tones.
__global__ void bilateral(const float* __restrict__ image, float* __restrict__ out, int radius,
                          float by_distance, float by_tone, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float own = image[y * width + x];
  float sum = 0, weights = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    const float* row = image + clamped(y + dy, height) * width;
    for (int dx = -radius; dx <= radius; ++dx) {
      const float tone = row[clamped(x + dx, width)], difference = tone - own;
      const float weight = __expf(-by_distance * (dx * dx + dy * dy) - by_tone * difference * difference);
      sum += weight * tone;
      weights += weight;
    }
  }
  out[y * width + x] = sum / weights;
}

// First pass of a Gaussian: along rows, from a tile of four rows in shared memory.
__global__ void gaussian_rows(const float* image, float* out, int width, int height) {
  __shared__ float tile[4][64 + 2 * kBlurRadius];
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  const int row = min(y, height - 1);
  for (int i = threadIdx.x; i < 64 + 2 * kBlurRadius; i += 64) {
    const int column = clamped(static_cast<int>(blockIdx.x) * 64 + i - kBlurRadius, width);
    tile[threadIdx.y][i] = image[row * width + column];
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * kBlurRadius; ++k) sum += blur_weights[k] * tile[threadIdx.y][threadIdx.x + k];
  out[y * width + x] = sum;
}

// Second pass of a Gaussian: along columns. Each thread makes four pixels of a tile of 32 x 32.
__global__ void gaussian_columns(const float* image, float* out, int width, int height) {
  __shared__ float tile[32 + 2 * kBlurRadius][32];
  const int x = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32 + 2 * kBlurRadius; i += 8)
    tile[i][threadIdx.x] = image[clamped(top + i - kBlurRadius, height) * width + min(x, width - 1)];
  __syncthreads();
  if (x >= width) return;
  for (int i = threadIdx.y; i < 32 && top + i < height; i += 8) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kBlurRadius; ++k) sum += blur_weights[k] * tile[i + k][threadIdx.x];
    out[(top + i) * width + x] = sum;
  }
}

// Sobel operator: strength of the edge at each grey pixel, and direction of its gradient.
__global__ void sobel(const unsigned char* __restrict__ image, unsigned char* __restrict__ strength,
                      float* __restrict__ direction, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const unsigned char* above = image + max(y - 1, 0) * width;
  const unsigned char* here = image + y * width;
  const unsigned char* below = image + min(y + 1, height - 1) * width;
  const int left = max(x - 1, 0), right = min(x + 1, width - 1);
  const int gx = above[right] + 2 * here[right] + below[right] - above[left] - 2 * here[left] - below[left];
  const int gy = below[left] + 2 * below[x] + below[right] - above[left] - 2 * above[x] - above[right];
  const float fx = static_cast<float>(gx), fy = static_cast<float>(gy);
  strength[y * width + x] = static_cast<unsigned char>(fminf(sqrtf(fx * fx + fy * fy), 255.0f));
  direction[y * width + x] = atan2f(fy, fx);
}

// Histogram equalisation: new tones of all colours from a table in shared memory.
__global__ void equalise(const uchar4* image, uchar4* out, const unsigned char* tones, int pixels) {
  __shared__ unsigned char table[256];
  table[threadIdx.x] = tones[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < pixels; i += gridDim.x * 256) {
    const uchar4 p = image[i];
    out[i] = make_uchar4(table[p.x], table[p.y], table[p.z], p.w);
  }
}

// Weights of four pixels in a row for a cubic interpolation (Catmull-Rom).
__device__ void cubic_weights(float t, float* w) {
  w[0] = ((1 - 0.5f * t) * t - 0.5f) * t;
  w[1] = (1.5f * t - 2.5f) * t * t + 1;
  w[2] = ((2 - 1.5f * t) * t + 0.5f) * t;
  w[3] = (0.5f * t - 0.5f) * t * t;
}

// Bicubic enlargement: each pixel of the new image from 4 x 4 pixels of the old one.
__global__ void enlarge(const float* __restrict__ image, float* __restrict__ out, float step, int width,
                        int height, int new_width, int new_height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= new_width || y >= new_height) return;
  const float fx = (x + 0.5f) * step - 0.5f, fy = (y + 0.5f) * step - 0.5f;
  const int left = static_cast<int>(floorf(fx)), top = static_cast<int>(floorf(fy));
  float across[4], down[4];
  cubic_weights(fx - left, across);
  cubic_weights(fy - top, down);
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float* row = image + clamped(top + j - 1, height) * width;
    float part = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) part += across[i] * row[clamped(left + i - 1, width)];
    sum += down[j] * part;
  }
  out[y * new_width + x] = sum;
}

__device__ float4 mixed(uchar4 a, uchar4 b, float t) {
  return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z),
                     a.w + t * (b.w - a.w));
}

// Rotation about the centre with bilinear interpolation. What comes from outside is black.
__global__ void rotate(const uchar4* __restrict__ image, uchar4* __restrict__ out, float cosine, float sine,
                       int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float dx = x - 0.5f * width, dy = y - 0.5f * height;
  const float fx = 0.5f * width + cosine * dx + sine * dy, fy = 0.5f * height - sine * dx + cosine * dy;
  uchar4 result = make_uchar4(0, 0, 0, 255);
  if (fx >= 0 && fy >= 0 && fx < width - 1 && fy < height - 1) {
    const int left = static_cast<int>(fx), top = static_cast<int>(fy);
    const uchar4* p = image + top * width + left;
    const float4 a = mixed(p[0], p[1], fx - left), b = mixed(p[width], p[width + 1], fx - left);
    const float t = fy - top;
    result = make_uchar4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z), 255);
  }
  out[y * width + x] = result;
}

void run(int n) {
  const int width = n, height = n / 4 * 3, pixels = width * height;
  const int new_width = width / 2 * 3, new_height = height / 2 * 3;
  uchar4* colours = device_array<uchar4>(pixels, [](int i) {
    const unsigned v = static_cast<unsigned>(i) * 2654435761u;
    return make_uchar4(v >> 8 & 255, v >> 14 & 255, v >> 20 & 255, 255);
  });
  unsigned char* grey = device_array<unsigned char>(
      pixels, [](int i) { return static_cast<unsigned char>(256 * hashed_unit(static_cast<unsigned>(i))); });
  float* bright = device_array<float>(pixels, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  unsigned char* tones = device_array<unsigned char>(
      256, [](int i) { return static_cast<unsigned char>(i < 128 ? i * 3 / 2 : 191 + (i - 127) / 2); });
  uchar4* new_colours = device_zeros<uchar4>(pixels);
  unsigned char* new_grey = device_zeros<unsigned char>(pixels);
  float* new_bright = device_zeros<float>(pixels);
  float* enlarged = device_zeros<float>(new_width * new_height);
  float weights[2 * kBlurRadius + 1];
  for (int k = 0; k <= 2 * kBlurRadius; ++k)
    weights[k] = 0.2f / (1 + 0.3f * (k - kBlurRadius) * (k - kBlurRadius));
  cudaMemcpyToSymbol(blur_weights, weights, sizeof weights);
  const dim3 square(ceil_div(width, 16), ceil_div(height, 16)),
      wide(ceil_div(width, 32), ceil_div(height, 8));
  const dim3 flat(ceil_div(width, 64), ceil_div(height, 4));
  for (int r = 0; r < kLaunches; ++r)
    box_naive<<<square, dim3(16, 16)>>>(colours, new_colours, 3, width, height);
  for (int r = 0; r < kLaunches; ++r)
    box_rows<<<dim3(ceil_div(height, 64), ceil_div(width, 64)), 64>>>(bright, new_bright, 5, 64, width,
                                                                      height);
  for (int r = 0; r < kLaunches; ++r)
    box_columns<<<dim3(ceil_div(width, 128), ceil_div(height, 48)), 128>>>(bright, new_bright, 8, 48, width,
                                                                           height);
  for (int r = 0; r < kLaunches; ++r) median<1><<<wide, dim3(32, 8)>>>(grey, new_grey, width, height);
  for (int r = 0; r < kLaunches; ++r) median<2><<<square, dim3(16, 16)>>>(grey, new_grey, width, height);
  for (int r = 0; r < kLaunches; ++r)
    bilateral<<<wide, dim3(32, 8)>>>(bright, new_bright, 3, 0.08f, 12.0f, width, height);
  for (int r = 0; r < kLaunches; ++r) gaussian_rows<<<flat, dim3(64, 4)>>>(bright, new_bright, width, height);
  for (int r = 0; r < kLaunches; ++r)
    gaussian_columns<<<dim3(ceil_div(width, 32), ceil_div(height, 32)), dim3(32, 8)>>>(bright, new_bright,
                                                                                       width, height);
  for (int r = 0; r < kLaunches; ++r)
    sobel<<<dim3(ceil_div(width, 32), ceil_div(height, 4)), dim3(32, 4)>>>(grey, new_grey, new_bright, width,
                                                                           height);
  for (int r = 0; r < kLaunches; ++r) equalise<<<528, 256>>>(colours, new_colours, tones, pixels);
  for (int r = 0; r < kLaunches; ++r)
    enlarge<<<dim3(ceil_div(new_width, 64), ceil_div(new_height, 4)), dim3(64, 4)>>>(
        bright, enlarged, 2.0f / 3, width, height, new_width, new_height);
  for (int r = 0; r < kLaunches; ++r)
    rotate<<<square, dim3(16, 16)>>>(colours, new_colours, 0.9f, 0.4358899f, width, height);
  free_all(colours, grey, bright, tones, new_colours, new_grey, new_bright, enlarged);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("photo_filters");
}
