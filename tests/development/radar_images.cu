// A synthetic aperture radar with n samples in each of n pulses and two polarisations: images of n by n
// pixels.
#include "device.h"

constexpr int kMaxTaps = 128;
__constant__ float2 chirp[kMaxTaps];

// The path of the radar and the sampling of range.
struct Geometry {
  float near, step, cycles, spacing;
};

__device__ inline void add_product(float2& sum, float2 a, float2 b) {
  sum.x += a.x * b.x - a.y * b.y;
  sum.y += a.x * b.y + a.y * b.x;
}

// Range compression: every pulse is filtered with the chirp, which is in constant memory; each block stages
// its samples and those that follow in shared memory.
__global__ void compress_range(const float2* __restrict__ raw, float2* __restrict__ out, int taps,
                               int samples) {
  __shared__ float2 segment[256 + kMaxTaps];
  const int first = blockIdx.x * 256;
  const float2* line = raw + (size_t)blockIdx.y * samples;
  for (int k = threadIdx.x; k < 256 + taps - 1; k += 256)
    segment[k] = first + k < samples ? line[first + k] : make_float2(0, 0);
  __syncthreads();
  const int s = first + threadIdx.x;
  if (s >= samples) return;
  float2 sum = make_float2(0, 0);
  for (int t = 0; t < taps; ++t) add_product(sum, segment[threadIdx.x + t], chirp[t]);
  out[(size_t)blockIdx.y * samples + s] = sum;
}

// Presumming: a low-pass filter along the pulses that keeps every fourth one.
__global__ void presum_pulses(const float2* in, const float* weights, float2* out, int taps, int samples,
                              int pulses) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y;
  if (s >= samples) return;
  float2 sum = make_float2(0, 0);
  for (int t = 0; t < taps; ++t) {
    const int pulse = 4 * p + t - taps / 2;
    if (pulse < 0 || pulse >= pulses) continue;
    const float2 value = in[pulse * samples + s];
    sum.x += weights[t] * value.x;
    sum.y += weights[t] * value.y;
  }
  out[p * samples + s] = sum;
}

// Back-projection, a thread for each pixel: the echo at the pixel's range in each pulse, turned by its phase.
__global__ void back_project(const float2* __restrict__ echoes, const float3* __restrict__ places,
                             float2* __restrict__ image, Geometry g, int pulses, int samples, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  const float px = (x - size / 2) * g.spacing, py = (y - size / 2) * g.spacing;
  float2 sum = make_float2(0, 0);
  for (int p = 0; p < pulses; ++p) {
    const float3 at = places[p];
    const float dx = px - at.x, dy = py - at.y;
    const float range = sqrtf(dx * dx + dy * dy + at.z * at.z) - g.near;
    const float bin = range / g.step;
    const int low = (int)floorf(bin);
    if (low < 0 || low + 1 >= samples) continue;
    const float part = bin - low;
    const float2 a = echoes[p * samples + low], b = echoes[p * samples + low + 1];
    const float2 echo = make_float2(a.x + part * (b.x - a.x), a.y + part * (b.y - a.y));
    float sine, cosine;
    sincospif(2 * g.cycles * range, &sine, &cosine);
    add_product(sum, echo, make_float2(cosine, sine));
  }
  image[y * size + x] = sum;
}

// Back-projection with ranges in double precision and the nearest sample: four rows of pixels for each
// thread, and the places of 64 pulses at a time in shared memory.
__global__ void __launch_bounds__(64)
    back_project_strips(const float2* __restrict__ echoes, const float3* __restrict__ places,
                        float2* __restrict__ image, Geometry g, int pulses, int samples, int size) {
  __shared__ double3 tile[64];
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4;
  const double px = (x - size / 2) * (double)g.spacing, py = (y - size / 2) * (double)g.spacing;
  float2 sums[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) sums[k] = make_float2(0, 0);
  for (int first = 0; first < pulses; first += 64) {
    const int count = min(64, pulses - first);
    __syncthreads();
    if ((int)threadIdx.x < count) {
      const float3 at = places[first + threadIdx.x];
      tile[threadIdx.x] = make_double3(at.x, at.y, at.z);
    }
    __syncthreads();
    for (int p = 0; p < count; ++p) {
      const double dx = px - tile[p].x, flat = dx * dx + tile[p].z * tile[p].z;
      const float2* line = echoes + (first + p) * samples;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const double dy = py + k * (double)g.spacing - tile[p].y;
        const double range = sqrt(flat + dy * dy) - g.near;
        const double turns = range * g.cycles;
        const int bin = min(max(__float2int_rn((float)range / g.step), 0), samples - 1);
        float sine, cosine;
        __sincosf(6.2831853f * (float)(turns - floor(turns)), &sine, &cosine);
        add_product(sums[k], line[bin], make_float2(cosine, sine));
      }
    }
  }
  if (x >= size) return;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (y + k < size) image[(y + k) * size + x] = sums[k];
}

// A detector that compares each pixel with the mean of a square ring about it, with the inner square left
// out.
__global__ void cfar_window(const float* power, unsigned char* hits, int* found, float factor, int half,
                            int guard, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  if (x < half || y < half || x >= width - half || y >= height - half) {
    hits[y * width + x] = 0;
    return;
  }
  float sum = 0;
  for (int dy = -half; dy <= half; ++dy)
    for (int dx = -half; dx <= half; ++dx)
      if (abs(dx) > guard || abs(dy) > guard) sum += power[(y + dy) * width + x + dx];
  const int side = 2 * half + 1, inner = 2 * guard + 1;
  const bool hit = power[y * width + x] * (side * side - inner * inner) > factor * sum;
  hits[y * width + x] = hit;
  if (hit) atomicAdd(found, 1);
}

// A detector that slides two windows down each column, before and after the pixel, and takes the greater
// mean. Each thread goes over `length` rows of its column.
__global__ void cfar_sliding(const float* __restrict__ power, unsigned char* __restrict__ hits, float factor,
                             int train, int guard, int length, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * length;
  if (x >= width) return;
  const auto at = [=](int y) { return power[min(max(y, 0), height - 1) * width + x]; };
  float before = 0, after = 0;
  for (int k = 1; k <= train; ++k) {
    before += at(first - guard - k);
    after += at(first + guard + k);
  }
  const int last = min(first + length, height);
  for (int y = first; y < last; ++y) {
    hits[y * width + x] = power[y * width + x] * train > factor * fmaxf(before, after);
    before += at(y - guard) - at(y - guard - train);
    after += at(y + guard + 1 + train) - at(y + guard + 1);
  }
}

// A detector by order statistics along a line: the twelfth smallest of eight cells on either side of the
// pixel.
__global__ void cfar_ordered(const float* power, float* levels, int width) {
  __shared__ float line[192 + 20];
  const int first = blockIdx.x * 192;
  const float* row = power + (size_t)blockIdx.y * width;
  for (int k = threadIdx.x; k < 192 + 20; k += 192) line[k] = row[min(max(first + k - 10, 0), width - 1)];
  __syncthreads();
  if (first + (int)threadIdx.x >= width) return;
  float cells[16];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    cells[k] = line[threadIdx.x + k];
    cells[8 + k] = line[threadIdx.x + 13 + k];
  }
  float level = 0;
#pragma unroll
  for (int a = 0; a < 16; ++a) {
    int below = 0;
#pragma unroll
    for (int b = 0; b < 16; ++b) below += b < a ? cells[b] <= cells[a] : cells[b] < cells[a];
    if (below == 11) level = cells[a];
  }
  levels[(size_t)blockIdx.y * width + first + threadIdx.x] = level;
}

// Multilooking: the mean power of small rectangles of pixels, in decibels.
__global__ void multilook(const float2* image, float* out, int looks_x, int looks_y, int width, int out_width,
                          int out_height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  float sum = 0;
  for (int j = 0; j < looks_y; ++j)
    for (int i = 0; i < looks_x; ++i) {
      const float2 value = image[(y * looks_y + j) * width + x * looks_x + i];
      sum += value.x * value.x + value.y * value.y;
    }
  out[y * out_width + x] = 10 * log10f(sum / (looks_x * looks_y) + 1e-10f);
}

// The corner turn from lines of range to lines of azimuth: tiles of 32 by 32 samples through shared memory.
__global__ void corner_turn(const float2* __restrict__ in, float2* __restrict__ out, int width, int height) {
  __shared__ float2 tile[32][33];
  const size_t channel = (size_t)blockIdx.z * width * height;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[channel + (y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < height && y + k < width) out[channel + (y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

// For the autofocus: the mean turn of phase from each pulse to the next, a block for each pair of pulses.
__global__ void phase_gradients(const float2* data, float* gradients, int samples) {
  __shared__ double re[512], im[512];
  const float2* line = data + (size_t)blockIdx.x * samples;
  double a = 0, b = 0;
  for (int s = threadIdx.x; s < samples; s += blockDim.x) {
    const float2 u = line[s], v = line[s + samples];
    a += u.x * v.x + u.y * v.y;
    b += u.x * v.y - u.y * v.x;
  }
  re[threadIdx.x] = a;
  im[threadIdx.x] = b;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if ((int)threadIdx.x < step) {
      re[threadIdx.x] += re[threadIdx.x + step];
      im[threadIdx.x] += im[threadIdx.x + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) gradients[blockIdx.x] = (float)atan2(im[0], re[0]);
}

void run(int n) {
  const int taps = 96, pulses = n < 256 ? n / 4 : n < 1024 ? 128 : 256, kept = ceil_div(n, 4);
  const int wide = n / 4, high = n / 2, length = 64;
  float2 host_chirp[kMaxTaps];
  for (int t = 0; t < kMaxTaps; ++t) {
    const float turn = 0.004f * (t - taps / 2) * (t - taps / 2);
    host_chirp[t] = make_float2(cosf(turn), -sinf(turn));
  }
  cudaMemcpyToSymbol(chirp, host_chirp, sizeof host_chirp);
  // The middle of the scene is 11180.34 away from the middle of the path.
  const Geometry geometry = {11180.34f - 0.3f * n, 0.6f, 2 / 0.031f, 0.5f};
  float2* raw = device_array<float2>(
      2 * n * n, [](int i) { return make_float2(hashed_unit(i) - 0.5f, hashed_unit(3 * i + 1) - 0.5f); });
  float2* echoes = device_zeros<float2>(2 * n * n);
  float2* image = device_zeros<float2>(n * n);
  float3* places = device_array<float3>(pulses, [pulses](int p) {
    return make_float3(-10000, 400.0f * p / pulses - 200, 5000 + hashed_unit(p));
  });
  float* weights = device_array<float>(16, [](int t) { return 0.5f - 0.5f * cosf(0.37f * (t + 1)); });
  // Speckle, with a few bright targets.
  float* power = device_array<float>(
      n * n, [](int i) { return -logf(hashed_unit(i) + 1e-4f) + (i % 9973 == 5 ? 60.0f : 0.0f); });
  unsigned char* hits = device_zeros<unsigned char>(n * n);
  int* found = device_zeros<int>(1);
  float* levels = device_zeros<float>(n * n);
  float* looks = device_zeros<float>(wide * high);
  float* gradients = device_zeros<float>(n);
  for (int r = 0; r < kLaunches; ++r)
    compress_range<<<dim3(ceil_div(n, 256), n), 256>>>(raw, echoes, taps, n);
  for (int r = 0; r < kLaunches; ++r)
    presum_pulses<<<dim3(ceil_div(n, 96), kept), 96>>>(raw, weights, image, 16, n, n);
  for (int r = 0; r < kLaunches; ++r)
    back_project<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(echoes, places, image, geometry,
                                                                           pulses, n, n);
  for (int r = 0; r < kLaunches; ++r)
    back_project_strips<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), 64>>>(echoes, places, image, geometry,
                                                                       pulses, n, n);
  for (int r = 0; r < kLaunches; ++r)
    cfar_window<<<dim3(ceil_div(n, 16), ceil_div(n, 12)), dim3(16, 12)>>>(power, hits, found, 4.0f, 6, 2, n,
                                                                          n);
  for (int r = 0; r < kLaunches; ++r)
    cfar_sliding<<<dim3(ceil_div(n, 128), ceil_div(n, length)), 128>>>(power, hits, 5.0f, 16, 3, length, n,
                                                                       n);
  for (int r = 0; r < kLaunches; ++r) cfar_ordered<<<dim3(ceil_div(n, 192), n), 192>>>(power, levels, n);
  for (int r = 0; r < kLaunches; ++r)
    multilook<<<dim3(ceil_div(wide, 32), ceil_div(high, 8)), dim3(32, 8)>>>(image, looks, 4, 2, n, wide,
                                                                            high);
  for (int r = 0; r < kLaunches; ++r)
    corner_turn<<<dim3(ceil_div(n, 32), ceil_div(n, 32), 2), dim3(32, 8)>>>(raw, echoes, n, n);
  for (int r = 0; r < kLaunches; ++r) phase_gradients<<<n - 1, 512>>>(raw, gradients, n);
  free_all(raw, echoes, image, places, weights, power, hits, found, levels, looks, gradients);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("radar_images");
}
