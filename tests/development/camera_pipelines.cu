// Pictures of a camera from the raw sensor to the screen: colours, tones, noise, local contrast and the lens.
// n is the width in pixels, a multiple of 64; the height is three quarters of it.
#include "device.h"

struct Pixel {
  unsigned short r, g, b, a;
};

__constant__ float kGains[3] = {1.9f, 1.0f, 1.6f};

// A place that is mirrored at the edges, which keeps the colour of its filter.
__device__ int mirror(int x, int size) {
  return x < 0 ? -x : x >= size ? 2 * size - 2 - x : x;
}

__device__ int clamp_to(int x, int size) {
  return min(max(x, 0), size - 1);
}

// Colours between those of a filter with red at even and blue at odd places, by means of neighbours.
__global__ void demosaic(const unsigned short* __restrict__ raw, Pixel* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int west = mirror(x - 1, width), east = mirror(x + 1, width);
  const int north = mirror(y - 1, height) * width, south = mirror(y + 1, height) * width, row = y * width;
  const int here = raw[row + x], across = (raw[row + west] + raw[row + east]) / 2;
  const int along = (raw[north + x] + raw[south + x]) / 2;
  const int corners = (raw[north + west] + raw[north + east] + raw[south + west] + raw[south + east]) / 4;
  const bool odd_x = x & 1, odd_y = y & 1;
  Pixel p;
  p.g = odd_x == odd_y ? (across + along) / 2 : here;
  p.r = odd_y ? (odd_x ? corners : along) : (odd_x ? across : here);
  p.b = odd_y ? (odd_x ? here : across) : (odd_x ? along : corners);
  p.a = 4095;
  out[row + x] = p;
}

// White balance above a level of black, then bytes out of 12 bits by a curve with gamma for each channel.
__global__ void tone_curves(const Pixel* in, uchar4* out, const unsigned char* curves, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Pixel p = in[i];
  const int r = min(__float2int_rn(max(p.r - 64, 0) * kGains[0]), 4095);
  const int g = min(__float2int_rn(max(p.g - 64, 0) * kGains[1]), 4095);
  const int b = min(__float2int_rn(max(p.b - 64, 0) * kGains[2]), 4095);
  out[i] = make_uchar4(curves[r], curves[4096 + g], curves[8192 + b], 255);
}

// The median of 5 x 5 pixels: the smallest thirteen are brought into order.
__global__ void median25(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int v[25];
  for (int k = 0; k < 25; ++k)
    v[k] = in[clamp_to(y + k / 5 - 2, height) * width + clamp_to(x + k % 5 - 2, width)];
#pragma unroll
  for (int i = 0; i < 13; ++i) {
#pragma unroll
    for (int j = i + 1; j < 25; ++j) {
      const int low = min(v[i], v[j]);
      v[j] = max(v[i], v[j]);
      v[i] = low;
    }
  }
  out[y * width + x] = v[12];
}

// A bilateral filter in a tile with a margin of kRadius pixels.
template <int kRadius>
__global__ void bilateral(const float* in, float* out, float near, float alike, int width, int height) {
  constexpr int kWide = 32 + 2 * kRadius, kHigh = 8 + 2 * kRadius;
  __shared__ float tile[kHigh][kWide];
  const int left = blockIdx.x * 32 - kRadius, top = blockIdx.y * 8 - kRadius;
  for (int j = threadIdx.y; j < kHigh; j += 8) {
    for (int i = threadIdx.x; i < kWide; i += 32)
      tile[j][i] = in[clamp_to(top + j, height) * width + clamp_to(left + i, width)];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float here = tile[threadIdx.y + kRadius][threadIdx.x + kRadius];
  float sum = 0, weights = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const float value = tile[threadIdx.y + kRadius + dy][threadIdx.x + kRadius + dx];
      const float weight = expf(-near * (dx * dx + dy * dy) - alike * (value - here) * (value - here));
      sum += weight * value;
      weights += weight;
    }
  }
  out[y * width + x] = sum / weights;
}

// Sums along each row, a block per row that carries the sum from piece to piece.
__global__ void integral_rows(const unsigned char* in, unsigned* out, int width) {
  extern __shared__ unsigned warps[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long row = (long long)blockIdx.x * width;
  unsigned carry = 0;
  for (int first = 0; first < width; first += blockDim.x) {
    const int x = first + threadIdx.x;
    unsigned sum = x < width ? in[row + x] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(0xffffffffu, sum, step);
      sum += lane >= step ? other : 0;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    sum += carry;
    for (int w = 0; w < blockDim.x / 32; ++w) {
      sum += w < warp ? warps[w] : 0;
      carry += warps[w];
    }
    if (x < width) out[row + x] = sum;
    __syncthreads();
  }
}

// Sums down each column, a thread per column. Sums may wrap round, as their differences stay right.
__global__ void integral_columns(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width,
                                 int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  unsigned sum = 0;
#pragma unroll 8
  for (int y = 0; y < height; ++y) out[y * width + x] = sum += in[y * width + x];
}

// Raises the distance of each pixel to the mean around it, which four values of the integral image give.
__global__ void local_contrast(const unsigned char* in, const unsigned* sums, unsigned char* out, int radius,
                               float gain, int width, int height) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = blockIdx.y;
  if (x >= width) return;
  const int left = x - radius - 1, right = min(x + radius, width - 1);
  const int top = y - radius - 1, bottom = min(y + radius, height - 1);
  unsigned sum = sums[bottom * width + right];
  if (left >= 0) sum -= sums[bottom * width + left];
  if (top >= 0) sum -= sums[top * width + right];
  if (left >= 0 && top >= 0) sum += sums[top * width + left];
  const float mean = (float)sum / ((right - max(left, -1)) * (bottom - max(top, -1)));
  out[y * width + x] = fminf(fmaxf(mean + gain * (in[y * width + x] - mean), 0.0f), 255.0f);
}

// Undoes the distortion of a lens: each pixel comes from between four others.
__global__ void undistort(const uchar4* in, uchar4* out, float k1, float k2, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = (2.0f * x - width) / width, v = (2.0f * y - height) / width, r2 = u * u + v * v;
  const float factor = 1 + r2 * (k1 + r2 * k2);
  const float sx = 0.5f * (u * factor * width + width), sy = 0.5f * (v * factor * width + height);
  const int ix = floorf(sx), iy = floorf(sy);
  uchar4 result = make_uchar4(0, 0, 0, 255);
  if (ix >= 0 && iy >= 0 && ix < width - 1 && iy < height - 1) {
    const uchar4 a = in[iy * width + ix], b = in[iy * width + ix + 1];
    const uchar4 c = in[(iy + 1) * width + ix], d = in[(iy + 1) * width + ix + 1];
    const float fx = sx - ix, fy = sy - iy, wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy);
    const float wc = (1 - fx) * fy, wd = fx * fy;
    result.x = wa * a.x + wb * b.x + wc * c.x + wd * d.x;
    result.y = wa * a.y + wb * b.y + wc * c.y + wd * d.y;
    result.z = wa * a.z + wb * b.z + wc * c.z + wd * d.z;
  }
  out[y * width + x] = result;
}

void run(int n) {
  const int h = n / 4 * 3, pixels = n * h;
  auto* raw = device_array<unsigned short>(pixels, [](int i) { return 80 + hashed_unit(i / 3) * 4000; });
  Pixel* colours = device_zeros<Pixel>(pixels);
  uchar4* picture = device_zeros<uchar4>(pixels);
  uchar4* straight = device_zeros<uchar4>(pixels);
  unsigned char* curves = device_array<unsigned char>(
      3 * 4096, [](int i) { return 255 * powf(i % 4096 / 4095.0f, 1 / (2 + 0.1f * (i / 4096))); });
  auto* grey = device_array<unsigned char>(pixels, [](int i) { return 60 + i % 97 + 90 * hashed_unit(i); });
  unsigned char* grey_out = device_zeros<unsigned char>(pixels);
  float* light = device_array<float>(pixels, [](int i) { return 0.5f * hashed_unit(i) + i % 64 / 128.0f; });
  float* smooth = device_zeros<float>(pixels);
  unsigned* rows = device_zeros<unsigned>(pixels);
  unsigned* sums = device_zeros<unsigned>(pixels);
  const dim3 wide(32, 8), wides(ceil_div(n, 32), ceil_div(h, 8));
  const dim3 square(16, 16), squares(ceil_div(n, 16), ceil_div(h, 16));
  const dim3 odd(24, 10), odds(ceil_div(n, 24), ceil_div(h, 10));
  for (int r = 0; r < kLaunches; ++r) demosaic<<<wides, wide>>>(raw, colours, n, h);
  for (int r = 0; r < kLaunches; ++r)
    tone_curves<<<pixels / 1024, 1024>>>(colours, picture, curves, pixels);
  for (int r = 0; r < kLaunches; ++r) median25<<<squares, square>>>(grey, grey_out, n, h);
  for (int r = 0; r < kLaunches; ++r) bilateral<2><<<wides, wide>>>(light, smooth, 0.1f, 9.0f, n, h);
  for (int r = 0; r < kLaunches; ++r) bilateral<4><<<wides, wide>>>(light, smooth, 0.05f, 9.0f, n, h);
  for (int r = 0; r < kLaunches; ++r) integral_rows<<<h, 256, 8 * sizeof(int)>>>(grey, rows, n);
  for (int r = 0; r < kLaunches; ++r) integral_columns<<<ceil_div(n, 32), 32>>>(rows, sums, n, h);
  for (int r = 0; r < kLaunches; ++r)
    local_contrast<<<dim3(ceil_div(n, 128), h), 128>>>(grey, sums, grey_out, 7, 1.6f, n, h);
  for (int r = 0; r < kLaunches; ++r) undistort<<<odds, odd>>>(picture, straight, -0.12f, 0.03f, n, h);
  free_all(raw, colours, picture, straight, curves, grey, grey_out, light, smooth, rows, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("camera_pipelines");
}
