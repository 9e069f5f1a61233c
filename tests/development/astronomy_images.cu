// Reduction of astronomical images: n x n pixels in eight exposures, 8 n sources, light curves, visibilities.
#include "device.h"

constexpr int kExposures = 8, kCell = 64, kLevels = 1024, kTaps = 7;

struct Source { float x, y, radius; int flags; };
struct Affine { float a, b, c, d, e, f; };
__constant__ float kTaper[kTaps] = {0.02f, 0.12f, 0.24f, 0.28f, 0.22f, 0.1f, 0.02f};

// A raw exposure less dark current and level of the row, over the flat field. Full pixels are zero.
__global__ void calibrate(const unsigned short* __restrict__ raw, const float* __restrict__ dark,
                          const float* __restrict__ flat, const float* bias, float* out, float time, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  out[i] = raw[i] < 65000 ? (raw[i] - bias[y] - time * dark[i]) / (0.5f + flat[i]) : 0.0f;
}

// The mean of a pixel in all exposures without those that are far from the mean of the others.
__global__ void stack_clipped(const unsigned short* raw, float* mean, char* used, float limit, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  float values[kExposures], centre = 0, low = 0, high = 65536;
  int count = 0;
  for (int k = 0; k < kExposures; ++k) values[k] = raw[k * pixels + i];
  for (int round = 0; round < 3; ++round) {
    float sum = count = 0, squares = 0;
    for (int k = 0; k < kExposures; ++k) {
      const bool keep = values[k] >= low && values[k] <= high;
      sum += keep ? values[k] : 0;
      squares += keep ? values[k] * values[k] : 0;
      count += keep;
    }
    centre = sum / max(count, 1);
    const float far = limit * sqrtf(fmaxf(squares / max(count, 1) - centre * centre, 1.0f));
    low = centre - far, high = centre + far;
  }
  mean[i] = centre;
  used[i] = static_cast<char>(count);
}

// Cosmic rays: pixels whose Laplacian, in a tile with a rim, is far above the noise.
__global__ void find_cosmic_rays(const float* image, unsigned char* mask, int* total, float limit, int n) {
  __shared__ float tile[10][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256)
    tile[k / 34][k % 34] = image[min(max(top + k / 34, 0), n - 1) * n + min(max(left + k % 34, 0), n - 1)];
  __syncthreads();
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = left + tx, y = top + ty;
  const float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
  const float noise = sqrtf(fmaxf(0.25f * around, 0.0f) + 25.0f);
  const bool hit = x < n && y < n && tile[ty][tx] - 0.25f * around > limit * noise;
  if (x < n && y < n) mask[y * n + x] = hit;
  const unsigned hits = __ballot_sync(0xffffffffu, hit);
  if (threadIdx.x == 0 && hits) atomicAdd(total, __popc(hits));
}

// The background of a cell: the median by a histogram in shared memory, which a warp scans.
__global__ void median_cells(const float* image, float* medians, float scale, int n) {
  __shared__ int counts[kLevels];
  for (int k = threadIdx.x; k < kLevels; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const int left = blockIdx.x * kCell, top = blockIdx.y * kCell;
  const int width = min(kCell, n - left), height = min(kCell, n - top);
  for (int k = threadIdx.x; k < width * height; k += blockDim.x) {
    const float value = image[(top + k / width) * n + left + k % width];
    atomicAdd(&counts[min(max(static_cast<int>(value * scale), 0), kLevels - 1)], 1);
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  int sum = 0;
  for (int k = 0; k < kLevels / 32; ++k) sum += counts[threadIdx.x * (kLevels / 32) + k];
  int below = sum;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, below, d);
    if (threadIdx.x >= d) below += other;
  }
  below -= sum;
  const int half = width * height / 2;
  if (below > half || below + sum <= half) return;
  int level = threadIdx.x * (kLevels / 32);
  while (below + counts[level] <= half) below += counts[level++];
  medians[blockIdx.y * gridDim.x + blockIdx.x] = (level + 0.5f) / scale;
}

// The light inside a radius, less that of a ring: a thread for each source goes through a box.
__global__ void aperture(const float* image, const Source* sources, float* fluxes, int count, int n) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= count || sources[s].flags & 1) return;
  const Source o = sources[s];
  float inside = 0, area = 0, ring = 0, ring_area = 1e-6f, outer = o.radius + 4;
  for (int y = max(0, static_cast<int>(o.y - outer)); y <= min(n - 1, static_cast<int>(o.y + outer)); ++y)
    for (int x = max(0, static_cast<int>(o.x - outer)); x <= min(n - 1, static_cast<int>(o.x + outer)); ++x) {
      const float r = hypotf(x - o.x, y - o.y), share = __saturatef(o.radius + 0.5f - r);
      inside += share * image[y * n + x];
      area += share;
      if (r > o.radius + 2 && r < outer) ring += image[y * n + x], ring_area += 1;
    }
  fluxes[s] = inside - area * ring / ring_area;
}

// Drizzle: each pixel adds its light to the four pixels around its place in the sum.
__global__ void drizzle(const float* image, float2* sum, Affine t, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= n) return;
  const float u = t.a * x + t.b * y + t.c, v = t.d * x + t.e * y + t.f;
  const int left = static_cast<int>(floorf(u)), top = static_cast<int>(floorf(v));
  if (left < 0 || top < 0 || left >= n - 1 || top >= n - 1) return;
  for (int k = 0; k < 4; ++k) {
    const float across = k % 2 ? u - left : left + 1 - u, share = across * (k / 2 ? v - top : top + 1 - v);
    float2* to = &sum[(top + k / 2) * n + left + k % 2];
    atomicAdd(&to->x, share * image[y * n + x]);
    atomicAdd(&to->y, share);
  }
}

// A Lomb-Scargle periodogram in double precision: a frequency for each thread, times by chunks.
__global__ void periodogram(const double* times, const float* values, float* power, double step, int points,
                            int frequencies) {
  __shared__ double2 chunk[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double c = 0, s = 0, c2 = 1e-9, s2 = 1e-9;
  for (int start = 0; start < points; start += 128) {
    const int k = start + threadIdx.x;
    if (k < points) chunk[threadIdx.x] = make_double2(times[k], values[k]);
    __syncthreads();
    for (int j = 0; j < min(128, points - start); ++j) {
      float sine, cosine;
      const double turns = (i + 1) * step * chunk[j].x;
      sincospif(static_cast<float>(2 * (turns - floor(turns))), &sine, &cosine);
      c += chunk[j].y * cosine, s += chunk[j].y * sine, c2 += cosine * cosine, s2 += sine * sine;
    }
    __syncthreads();
  }
  if (i < frequencies) power[i] = static_cast<float>(0.5 * (c * c / c2 + s * s / s2));
}

// Visibilities on a grid: each adds its taper of 7 x 7, a thread for a row of it.
__global__ void grid_visibilities(const float4* visibilities, float* grid, int count, int n) {
  const int v = blockIdx.x * blockDim.y + threadIdx.y, row = threadIdx.x;
  if (v >= count || row >= kTaps) return;
  const float4 s = visibilities[v];
  const int x = static_cast<int>(s.x * (n - kTaps)), y = static_cast<int>(s.y * (n - kTaps)) + row;
  for (int k = 0; k < kTaps; ++k) {
    atomicAdd(&grid[2 * (y * n + x + k)], kTaper[row] * kTaper[k] * s.z);
    atomicAdd(&grid[2 * (y * n + x + k) + 1], kTaper[row] * kTaper[k] * s.w);
  }
}

// Folding of a light curve: a block tries a period with the phases in bins of dynamic shared memory.
__global__ void fold_periods(const double* times, const float* values, float* scatter, int points, int bins) {
  extern __shared__ float sums[];
  for (int k = threadIdx.x; k < 2 * bins; k += blockDim.x) sums[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < points; k += blockDim.x) {
    const double turns = times[k] / (0.5 + 0.001 * blockIdx.x);
    const int bin = min(bins - 1, static_cast<int>((turns - floor(turns)) * bins));
    atomicAdd(&sums[bin], values[k]);
    atomicAdd(&sums[bins + bin], 1.0f);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  float spread = 0;
  for (int k = 0; k < bins; ++k) spread += sums[k] * sums[k] / fmaxf(sums[bins + k], 1.0f);
  scatter[blockIdx.x] = spread;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int pixels = n * n, count = 8 * n, points = n / 2 + 100, frequencies = 32 * n, periods = 2 * n;
  auto* raw = device_array<unsigned short>(kExposures * pixels, [](int i) {
    return 1000 + (i * 2654435761u >> 25) + (i % 4099 == 0 ? 9000 : 0); });
  float *dark = device_floats(pixels), *flat = device_floats(pixels), *bias = device_floats(n);
  float *image = device_zeros<float>(pixels), *out = device_zeros<float>(3 * pixels), *sums = out + pixels;
  char* mask = device_zeros<char>(pixels);
  Source* sources = device_array<Source>(count, [n](int i) {
    return Source{8 + (n - 16) * hashed_unit(i), 8 + (n - 16) * hashed_unit(-i), 3.0f + i % 5, i % 9}; });
  double* times = device_array<double>(points, [](int i) { return 0.3 * i + 0.1 * hashed_unit(i); });
  float* values = device_floats(points);
  float4* visibilities = device_array<float4>(50 * n, [](int i) {
    return make_float4(hashed_unit(2 * i), hashed_unit(2 * i + 1), 0.5f, -0.25f); });
  const dim3 tiles(ceil_div(n, 32), ceil_div(n, 8)), cells(ceil_div(n, kCell), ceil_div(n, kCell));
  const Affine turn = {0.98f, 0.05f, -0.4f, -0.05f, 0.98f, 3.3f};
  REPEAT calibrate<<<tiles, dim3(32, 8)>>>(raw, dark, flat, bias, image, 30, n);
  REPEAT stack_clipped<<<ceil_div(pixels, 192), 192>>>(raw, out, mask, 2.0f, pixels);
  REPEAT find_cosmic_rays<<<tiles, dim3(32, 8)>>>(out, (unsigned char*)mask, (int*)bias, 5, n);
  REPEAT median_cells<<<cells, 128>>>(out, bias, 0.5f, n);
  REPEAT aperture<<<ceil_div(count, 64), 64>>>(image, sources, out, count, n);
  REPEAT drizzle<<<dim3(ceil_div(n, 128), n), 128>>>(image, (float2*)sums, turn, n);
  REPEAT periodogram<<<ceil_div(frequencies, 128), 128>>>(times, values, out, 1e-4, points, frequencies);
  REPEAT grid_visibilities<<<ceil_div(50 * n, 16), dim3(8, 16)>>>(visibilities, sums, 50 * n, n);
  REPEAT fold_periods<<<periods, 160, 2 * 40 * sizeof(float)>>>(times, values, out, points, 40);
  free_all(raw, dark, flat, bias, image, out, mask, sources, times, values, visibilities);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("astronomy_images");
}
