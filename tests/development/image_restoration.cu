// Restoration of images of n x n pixels: denoising, medians, labels, wavelets, colours, warps and deblurring.
#include "device.h"

#define REPEAT for (int r = 0; r < kLaunches; ++r)

struct Homography {
  float m[9];
};

__device__ int inside(int i, int n) { return min(max(i, 0), n - 1); }

// Smooths within edges by a bilateral filter on a tile with a halo.
template <int kRadius>
__global__ void bilateral(const float* in, float* out, int n, float space, float range) {
  constexpr int kSide = 16 + 2 * kRadius;
  __shared__ float tile[kSide][kSide + 1];
  const int left = blockIdx.x * 16 - kRadius, top = blockIdx.y * 16 - kRadius;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < kSide * kSide; k += 256)
    tile[k / kSide][k % kSide] = in[inside(top + k / kSide, n) * n + inside(left + k % kSide, n)];
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  const float centre = tile[threadIdx.y + kRadius][threadIdx.x + kRadius];
  float sum = 0, weights = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy)
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const float value = tile[threadIdx.y + kRadius + dy][threadIdx.x + kRadius + dx], d = value - centre;
      const float weight = __expf(-space * (dx * dx + dy * dy) - range * d * d);
      sum += weight * value, weights += weight;
    }
  out[y * n + x] = sum / weights;
}

// Takes the median of 5 x 5 grey levels by deciding its bits one after another.
__global__ void median_5x5(const unsigned char* in, unsigned char* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int levels[25], median = 0;
#pragma unroll
  for (int k = 0; k < 25; ++k) levels[k] = in[inside(y + k / 5 - 2, n) * n + inside(x + k % 5 - 2, n)];
  for (int bit = 128; bit > 0; bit >>= 1) {
    int below = 0;
#pragma unroll
    for (int k = 0; k < 25; ++k) below += levels[k] < median + bit;
    if (below <= 12) median += bit;
  }
  out[y * n + x] = median;
}

// Sums up each row from the left for an integral image, by scans of warps, with a block for a row.
__global__ void integral_rows(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned totals[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned before = 0;
  for (int first = 0; first < n; first += 256) {
    const int x = first + threadIdx.x;
    unsigned sum = x < n ? in[blockIdx.x * n + x] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const unsigned left = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < 8; ++w) sum += w < warp ? totals[w] : 0, all += totals[w];
    if (x < n) out[blockIdx.x * n + x] = before + sum;
    before += all;
    __syncthreads();
  }
}

// Spreads the smallest label over connected pixels of a tile until nothing changes, then crosses its border.
__global__ void propagate_labels(const unsigned char* in, int* labels, int n, int level) {
  __shared__ int tile[34][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + tx - 1, y = blockIdx.y * 32 + ty - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 34 * 34; k += 1024) {
    const int px = blockIdx.x * 32 + k % 34 - 1, py = blockIdx.y * 32 + k / 34 - 1;
    const bool set = px >= 0 && py >= 0 && px < n && py < n && in[py * n + px] > level;
    tile[k / 34][k % 34] = set ? labels[py * n + px] : 0x7fffffff;
  }
  __syncthreads();
  int label = tile[ty][tx];
  const bool set = label != 0x7fffffff;
  for (int round = 0; round < 200; ++round) {
    const int near = min(min(tile[ty][tx - 1], tile[ty][tx + 1]), min(tile[ty - 1][tx], tile[ty + 1][tx]));
    const bool changed = set && near < label;
    if (!__syncthreads_or(changed)) break;
    if (changed) tile[ty][tx] = label = near;
    __syncthreads();
  }
  if (set) labels[y * n + x] = label;
}

// Shrinks the details of three levels of Haar wavelets on runs of eight pixels.
template <class T>
__global__ void wavelet_shrink(const T* in, T* out, int runs, T threshold) {
  const int run = blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  T s[8], detail[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) s[k] = in[run * 8 + k];
#pragma unroll
  for (int half = 4; half > 0; half /= 2)
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const T d = (s[2 * k] - s[2 * k + 1]) / 2, size = fabs(d) - threshold;
      s[k] = (s[2 * k] + s[2 * k + 1]) / 2, detail[half + k] = size > 0 ? copysign(size, d) : T(0);
    }
#pragma unroll
  for (int half = 1; half < 8; half *= 2)
#pragma unroll
    for (int k = half - 1; k >= 0; --k) {
      const T mean = s[k];
      s[2 * k] = mean + detail[half + k], s[2 * k + 1] = mean - detail[half + k];
    }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[run * 8 + k] = s[k];
}

// Makes colours from a Bayer mosaic, with a different mean of neighbours for each kind of place.
__global__ void demosaic(const unsigned char* in, uchar4* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int l = max(x - 1, 0), r = min(x + 1, n - 1), u = max(y - 1, 0) * n, d = min(y + 1, n - 1) * n, row = y * n;
  const int centre = in[row + x], across = (in[row + l] + in[row + r]) / 2, along = (in[u + x] + in[d + x]) / 2;
  const int corners = (in[u + l] + in[u + r] + in[d + l] + in[d + r]) / 4;
  if ((x ^ y) & 1 && y & 1) out[row + x] = make_uchar4(along, centre, across, 255);
  else if ((x ^ y) & 1) out[row + x] = make_uchar4(across, centre, along, 255);
  else if (y & 1) out[row + x] = make_uchar4(corners, (across + along) / 2, centre, 255);
  else out[row + x] = make_uchar4(centre, (across + along) / 2, corners, 255);
}

// Warps an image by a homography with bilinear sampling.
__global__ void warp_image(const float* in, float* out, int n, Homography h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float w = 1 / (h.m[6] * x / n + h.m[7] * y / n + h.m[8]);
  const float sx = (h.m[0] * x + h.m[1] * y + h.m[2]) * w, sy = (h.m[3] * x + h.m[4] * y + h.m[5]) * w;
  const int x0 = floorf(sx), y0 = floorf(sy);
  float value = 0;
  if (x0 >= 0 && y0 >= 0 && x0 < n - 1 && y0 < n - 1) {
    const float u = sx - x0, v = sy - y0, *p = in + y0 * n + x0;
    value = (1 - v) * ((1 - u) * p[0] + u * p[1]) + v * ((1 - u) * p[n] + u * p[n + 1]);
  }
  out[y * n + x] = value;
}

// Counts grey levels for equalisation in a histogram of each block.
__global__ void grey_histogram(const uchar4* in, unsigned* totals, int quads) {
  __shared__ unsigned bins[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 p = in[i];
    atomicAdd(&bins[p.x], 1u), atomicAdd(&bins[p.y], 1u), atomicAdd(&bins[p.z], 1u), atomicAdd(&bins[p.w], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&totals[k], bins[k]);
}

// Takes one step of deblurring by steepest descent with a penalty on the total variation.
__global__ void deblur_step(const float* blurred, const float* now, float* next, int n, float rate, float penalty) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const float *p = now + y * n + x, c = *p, gx = p[1] - c, gy = p[n] - c, hx = c - p[-1], hy = c - p[-n];
  const float model = 0.5f * c + 0.125f * (p[1] + p[-1] + p[n] + p[-n]);
  const float norm = rsqrtf(gx * gx + gy * gy + 1e-4f), back = rsqrtf(hx * hx + hy * hy + 1e-4f);
  next[y * n + x] = c + rate * (blurred[y * n + x] - model + penalty * ((gx + gy) * norm - (hx + hy) * back));
}

// The side n is a multiple of 32.
void run(int n) {
  const int pixels = n * n;
  float *in = device_array<float>(pixels, [](int i) { return 0.7f * (i % 1000) / 1000 + 0.3f * hashed_unit(i); });
  float *out = device_zeros<float>(pixels), *other = device_zeros<float>(pixels);
  double *fine = device_doubles(pixels), *shrunk = device_zeros<double>(pixels);
  auto* grey = device_array<unsigned char>(pixels, [](int i) { return (unsigned char)(256 * hashed_unit(i)); });
  auto* medians = device_zeros<unsigned char>(pixels);
  int* labels = device_array<int>(pixels, [](int i) { return i; });
  unsigned* totals = device_zeros<unsigned>(256);
  const dim3 wide(ceil_div(n, 32), ceil_div(n, 8)), square(ceil_div(n, 16), ceil_div(n, 16));
  REPEAT bilateral<3><<<square, dim3(16, 16)>>>(in, out, n, 0.1f, 20.0f);
  REPEAT bilateral<5><<<square, dim3(16, 16)>>>(in, out, n, 0.04f, 10.0f);
  REPEAT median_5x5<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(grey, medians, n);
  REPEAT integral_rows<<<n, 256>>>(grey, (unsigned*)out, n);
  REPEAT propagate_labels<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(grey, labels, n, 100);
  REPEAT wavelet_shrink<float><<<ceil_div(pixels / 8, 256), 256>>>(in, out, pixels / 8, 0.05f);
  REPEAT wavelet_shrink<double><<<ceil_div(pixels / 8, 64), 64>>>(fine, shrunk, pixels / 8, 0.02);
  REPEAT demosaic<<<wide, dim3(32, 8)>>>(grey, (uchar4*)out, n);
  REPEAT warp_image<<<wide, dim3(32, 8)>>>(in, out, n, {0.9f, 0.3f, -5, -0.25f, 0.95f, 30, 0.1f, 0.05f, 1});
  REPEAT grey_histogram<<<396, 512>>>((uchar4*)grey, totals, pixels / 4);
  REPEAT deblur_step<<<dim3(ceil_div(n, 128), ceil_div(n, 8)), dim3(128, 8)>>>(in, in, other, n, 0.2f, 0.05f);
  free_all(in, out, other, fine, shrunk, grey, medians, labels, totals);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("image_restoration");
}
