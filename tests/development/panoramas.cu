// Photographs of n columns and 3 n / 4 rows, stitched into one; n is a multiple of 32.
#include "device.h"

__constant__ float homography[9];

// A photograph in the plane of another: colours between four of its pixels, nothing outside.
__global__ void warp_plane(const uchar4* in, uchar4* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float w = 1 / (homography[6] * x + homography[7] * y + homography[8]);
  const float u = (homography[0] * x + homography[1] * y + homography[2]) * w;
  const float v = (homography[3] * x + homography[4] * y + homography[5]) * w;
  const int x0 = (int)floorf(u), y0 = (int)floorf(v);
  uchar4 colour = make_uchar4(0, 0, 0, 0);
  if (x0 >= 0 && y0 >= 0 && x0 < width - 1 && y0 < height - 1) {
    const float fx = u - x0, fy = v - y0;
    const uchar4 a = in[y0 * width + x0], b = in[y0 * width + x0 + 1];
    const uchar4 c = in[(y0 + 1) * width + x0], d = in[(y0 + 1) * width + x0 + 1];
    const float wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy), wc = (1 - fx) * fy, wd = fx * fy;
    colour.x = (unsigned char)(wa * a.x + wb * b.x + wc * c.x + wd * d.x + 0.5f);
    colour.y = (unsigned char)(wa * a.y + wb * b.y + wc * c.y + wd * d.y + 0.5f);
    colour.z = (unsigned char)(wa * a.z + wb * b.z + wc * c.z + wd * d.z + 0.5f);
    colour.w = 255;
  }
  out[y * width + x] = colour;
}

// A grey photograph on a cylinder about the camera, with a mask of where it is.
__global__ void to_cylinder(const unsigned char* __restrict__ in, float* __restrict__ out,
                            unsigned char* __restrict__ mask, float focus, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float angle = (x - 0.5f * width) / focus, rise = (y - 0.5f * height) / focus;
  float s, c;
  __sincosf(angle, &s, &c);
  const float u = focus * s / c + 0.5f * width, v = focus * rise / c + 0.5f * height;
  const bool inside = u >= 0 && v >= 0 && u < width - 1 && v < height - 1;
  float grey = 0;
  if (inside) {
    const int x0 = (int)u, y0 = (int)v;
    const unsigned char* at = in + y0 * width + x0;
    const float fx = u - x0, fy = v - y0;
    const float top = __ldg(at) + fx * (__ldg(at + 1) - __ldg(at));
    const float bottom = __ldg(at + width) + fx * (__ldg(at + width + 1) - __ldg(at + width));
    grey = top + fy * (bottom - top);
  }
  out[y * width + x] = grey;
  mask[y * width + x] = inside ? 255 : 0;
}

// The next coarser level of a pyramid: five weights along the rows and then the columns, in shared memory.
__global__ void __launch_bounds__(256) coarser_level(const float* in, float* out, int width, int height) {
  __shared__ float tile[36][37];
  __shared__ float rows[36][17];
  const int left = blockIdx.x * 32 - 2, top = blockIdx.y * 32 - 2;
  const int t = threadIdx.y * 16 + threadIdx.x;
  for (int k = t; k < 36 * 36; k += 256) {
    const int x = min(max(left + k % 36, 0), width - 1), y = min(max(top + k / 36, 0), height - 1);
    tile[k / 36][k % 36] = in[y * width + x];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < 36; y += 16) {
    const float* row = &tile[y][2 * threadIdx.x];
    rows[y][threadIdx.x] = 0.0625f * (row[0] + row[4]) + 0.25f * (row[1] + row[3]) + 0.375f * row[2];
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  float sum = 0;
  const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
#pragma unroll
  for (int k = 0; k < 5; ++k) sum += weights[k] * rows[2 * threadIdx.y + k][threadIdx.x];
  out[y * (width / 2) + x] = sum;
}

// What a level has beyond the coarser one: its pixels less those between the coarser pixels.
__global__ void detail_level(const float* fine, const float* coarse, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  const int half = width / 2, x0 = x / 2, x1 = min(x0 + (x & 1), half - 1);
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y) {
    const int y0 = y / 2, y1 = min(y0 + (y & 1), height / 2 - 1);
    const float between = 0.25f * (coarse[y0 * half + x0] + coarse[y0 * half + x1] + coarse[y1 * half + x0] +
                                   coarse[y1 * half + x1]);
    out[y * width + x] = fine[y * width + x] - between;
  }
}

// Two pictures into one by how far each pixel is inside them; where only one is, that one is taken.
__global__ void blend(const float4* a, const float4* b, const uchar4* inside_a, const uchar4* inside_b,
                      float4* out, float gain, int quads) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 ma = inside_a[i], mb = inside_b[i];
    const float4 va = a[i], vb = b[i];
    float4 v;
    v.x = (ma.x * va.x + gain * mb.x * vb.x) / fmaxf((float)(ma.x + mb.x), 1.0f);
    v.y = (ma.y * va.y + gain * mb.y * vb.y) / fmaxf((float)(ma.y + mb.y), 1.0f);
    v.z = (ma.z * va.z + gain * mb.z * vb.z) / fmaxf((float)(ma.z + mb.z), 1.0f);
    v.w = (ma.w * va.w + gain * mb.w * vb.w) / fmaxf((float)(ma.w + mb.w), 1.0f);
    out[i] = v;
  }
}

// How much each pixel looks like a corner: products of slopes, summed over squares of 2 kRadius + 1 pixels.
template <int kRadius>
__global__ void corner_response(const unsigned char* in, float* out, float k, int width, int height) {
  constexpr int kWide = 32 + 2 * kRadius, kHigh = 8 + 2 * kRadius;
  __shared__ float xx[kHigh][kWide], xy[kHigh][kWide], yy[kHigh][kWide];
  const int t = threadIdx.y * 32 + threadIdx.x;
  for (int place = t; place < kWide * kHigh; place += 256) {
    const int column = place % kWide, row = place / kWide;
    const int x = min(max((int)blockIdx.x * 32 + column - kRadius, 1), width - 2);
    const int y = min(max((int)blockIdx.y * 8 + row - kRadius, 1), height - 2);
    const unsigned char* at = in + y * width + x;
    const float dx =
        (at[1] - at[-1]) * 2 + (at[1 - width] - at[-1 - width]) + (at[1 + width] - at[-1 + width]);
    const float dy =
        (at[width] - at[-width]) * 2 + (at[width - 1] - at[-width - 1]) + (at[width + 1] - at[1 - width]);
    xx[row][column] = dx * dx;
    xy[row][column] = dx * dy;
    yy[row][column] = dy * dy;
  }
  __syncthreads();
  float a = 0, b = 0, c = 0;
#pragma unroll
  for (int dy = 0; dy <= 2 * kRadius; ++dy)
#pragma unroll
    for (int dx = 0; dx <= 2 * kRadius; ++dx) {
      a += xx[threadIdx.y + dy][threadIdx.x + dx];
      b += xy[threadIdx.y + dy][threadIdx.x + dx];
      c += yy[threadIdx.y + dy][threadIdx.x + dx];
    }
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = 1e-8f * (a * c - b * b - k * (a + c) * (a + c));
}

// The nearest and the second nearest of another picture's descriptors, each of 128 bytes; none if both are alike.
__global__ void __launch_bounds__(64)
    match_descriptors(const int4* own, const int4* others, int* match, float ratio, int count, int n) {
  __shared__ int4 tile[32][8];
  const int i = blockIdx.x * 64 + threadIdx.x;
  int words[32];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int4 v = own[min(i, n - 1) * 8 + k];
    words[4 * k] = v.x;
    words[4 * k + 1] = v.y;
    words[4 * k + 2] = v.z;
    words[4 * k + 3] = v.w;
  }
  int length = 0, best = 0x7fffffff, second = 0x7fffffff, which = -1;
#pragma unroll
  for (int k = 0; k < 32; ++k) length = __dp4a(words[k], words[k], length);
  for (int first = 0; first < count; first += 32) {
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += 64)
      tile[k / 8][k % 8] = others[min(first * 8 + k, count * 8 - 1)];
    __syncthreads();
    const int here = min(32, count - first);
    for (int t = 0; t < here; ++t) {
      int dot = 0, square = 0;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const int4 v = tile[t][k];
        dot = __dp4a(words[4 * k], v.x, dot);
        dot = __dp4a(words[4 * k + 1], v.y, dot);
        dot = __dp4a(words[4 * k + 2], v.z, dot);
        dot = __dp4a(words[4 * k + 3], v.w, dot);
        square = __dp4a(v.x, v.x, square);
        square = __dp4a(v.y, v.y, square);
        square = __dp4a(v.z, v.z, square);
        square = __dp4a(v.w, v.w, square);
      }
      const int distance = length + square - 2 * dot;
      if (distance < best) {
        second = best;
        best = distance;
        which = first + t;
      } else if (distance < second) {
        second = distance;
      }
    }
  }
  if (i < n) match[i] = best < ratio * second ? which : -1;
}

// Sums over the pixels that two pictures share, from which their gains follow: a row of blocks for each band of rows.
__global__ void shared_brightness(const uchar4* a, const uchar4* b, unsigned long long* sums, int band,
                                  int width, int height) {
  __shared__ int part[3];
  const int first = blockIdx.y * band, last = min(first + band, height);
  int count = 0, sum_a = 0, sum_b = 0;
  if (threadIdx.x < 3) part[threadIdx.x] = 0;
  __syncthreads();
  for (int y = first; y < last; ++y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x) {
      const uchar4 p = a[y * width + x], q = b[y * width + x];
      if (p.w != 0 && q.w != 0) {
        ++count;
        sum_a += (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
        sum_b += (q.x * 77 + q.y * 150 + q.z * 29) >> 8;
      }
    }
  count = __reduce_add_sync(0xffffffffu, count);
  sum_a = __reduce_add_sync(0xffffffffu, sum_a);
  sum_b = __reduce_add_sync(0xffffffffu, sum_b);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&part[0], count);
    atomicAdd(&part[1], sum_a);
    atomicAdd(&part[2], sum_b);
  }
  __syncthreads();
  if (threadIdx.x < 3) atomicAdd(&sums[threadIdx.x], (unsigned long long)part[threadIdx.x]);
}

void run(int n) {
  const int width = n, height = n / 4 * 3, count = width * height, features = n * n / 512,
            others_count = features < 2048 ? features : 2048;
  const float turn[9] = {0.98f, 0.05f, 0.06f * n, -0.04f, 1.02f, 0.01f * n, 0.01f / n, 0.02f / n, 1};
  cudaMemcpyToSymbol(homography, turn, sizeof turn);
  uchar4* photograph = device_array<uchar4>(count, [](int i) {
    return make_uchar4(i * 7 % 256, i / 3 % 256, i / 1000 % 256, i / 5000 % 4 == 0 ? 0 : 255);
  });
  uchar4* warped = device_zeros<uchar4>(count);
  unsigned char* grey = device_array<unsigned char>(count, [](int i) {
    return static_cast<unsigned char>((static_cast<unsigned>(i) * 2654435761u >> 27) + i % 200);
  });
  unsigned char* mask = device_zeros<unsigned char>(count);
  unsigned char* other_mask =
      device_array<unsigned char>(count, [n](int i) { return static_cast<unsigned char>(i % n * 255 / n); });
  float* round = device_floats(count);
  float* coarse = device_floats(count / 4);
  float* detail = device_zeros<float>(count);
  float* out = device_zeros<float>(count);
  int* own = device_array<int>(32 * features, [](int i) {
    return static_cast<int>(static_cast<unsigned>(i) * 2654435761u & 0x7f7f7f7fu);
  });
  // Two of three are almost those of a place five further on.
  int* others = device_array<int>(32 * others_count, [](int i) {
    const unsigned value = i / 32 % 3 == 0 ? static_cast<unsigned>(i) * 2246822519u
                                           : static_cast<unsigned>(i + 160) * 2654435761u ^ 0x01020100u;
    return static_cast<int>(value & 0x7f7f7f7fu);
  });
  int* match = device_zeros<int>(features);
  unsigned long long* sums = device_zeros<unsigned long long>(3);
  for (int r = 0; r < kLaunches; ++r)
    warp_plane<<<dim3(ceil_div(width, 32), ceil_div(height, 8)), dim3(32, 8)>>>(photograph, warped, width,
                                                                                height);
  for (int r = 0; r < kLaunches; ++r)
    to_cylinder<<<dim3(ceil_div(width, 16), ceil_div(height, 16)), dim3(16, 16)>>>(grey, round, mask,
                                                                                   0.9f * n, width, height);
  for (int r = 0; r < kLaunches; ++r)
    coarser_level<<<dim3(ceil_div(width, 32), ceil_div(height, 32)), dim3(16, 16)>>>(round, coarse, width,
                                                                                     height);
  for (int r = 0; r < kLaunches; ++r)
    detail_level<<<dim3(ceil_div(width, 64), ceil_div(height, 16)), dim3(64, 4)>>>(round, coarse, detail,
                                                                                   width, height);
  for (int r = 0; r < kLaunches; ++r)
    blend<<<min(ceil_div(count / 4, 256), 1056), 256>>>((float4*)round, (float4*)detail, (uchar4*)mask,
                                                        (uchar4*)other_mask, (float4*)out, 1.1f, count / 4);
  for (int r = 0; r < kLaunches; ++r)
    corner_response<1>
        <<<dim3(ceil_div(width, 32), ceil_div(height, 8)), dim3(32, 8)>>>(grey, out, 0.05f, width, height);
  for (int r = 0; r < kLaunches; ++r)
    corner_response<3>
        <<<dim3(ceil_div(width, 32), ceil_div(height, 8)), dim3(32, 8)>>>(grey, out, 0.05f, width, height);
  for (int r = 0; r < kLaunches; ++r)
    match_descriptors<<<ceil_div(features, 64), 64>>>((int4*)own, (int4*)others, match, 0.8f, others_count,
                                                      features);
  for (int r = 0; r < kLaunches; ++r)
    shared_brightness<<<dim3(ceil_div(width, 512), ceil_div(height, 12)), 256>>>(photograph, warped, sums, 12,
                                                                                 width, height);
  free_all(photograph, warped, grey, mask, other_mask, round, coarse, detail, out, own, others, match, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("panoramas");
}
