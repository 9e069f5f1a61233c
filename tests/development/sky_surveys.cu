// Surveys of the sky: images of n x n pixels, and catalogues, light curves, spectra and radio data.
#include "device.h"

constexpr int kChannels = 64, kBins = 40, kLines = 32, kTrials = 4, kMostTaps = 13 * 13;
constexpr unsigned kAll = 0xffffffffu;

__constant__ float kPsf[kMostTaps], kDelays[kChannels];

// Aperture photometry: a warp for each source (x, y, radius) adds up pixels, those at the rim in part.
__global__ void aperture_photometry(const float* image, const float4* sources, float* out, int n, int count) {
  const int source = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (source >= count) return;
  const float4 s = sources[source];
  const int left = min(max(int(s.x * n) - 8, 0), n - 16), top = min(max(int(s.y * n) - 8, 0), n - 16);
  float flux = 0;
  for (int k = lane; k < 256; k += 32) {
    const int x = left + k % 16, y = top + k / 16;
    const float share = 3 + 4 * s.z + 0.5f - hypotf(x - s.x * n, y - s.y * n);
    if (share > 0) flux += fminf(share, 1.0f) * image[y * n + x];
  }
  for (int d = 16; d > 0; d /= 2) flux += __shfl_xor_sync(kAll, flux, d);
  if (lane == 0) out[source] = flux;
}

// The background in meshes of 64 x 64 pixels: mean and deviation, clipped at three deviations, three times.
__global__ void background_mesh(const float* image, float2* mesh, int n) {
  __shared__ float sums[3];
  float values[16], mean = 0, limit = 1e30f;
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 64 + threadIdx.y;
  for (int k = 0; k < 16; ++k) values[k] = x < n && y + 4 * k < n ? image[(y + 4 * k) * n + x] : 2e30f;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.y == 0 && threadIdx.x < 3) sums[threadIdx.x] = 0;
    __syncthreads();
    float count = 0, sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float kept = fabsf(values[k] - mean) < limit ? 1 : 0, value = kept > 0 ? values[k] : 0;
      count += kept, sum += value, squares += value * value;
    }
    for (int d = 16; d > 0; d /= 2) {
      count += __shfl_down_sync(kAll, count, d), sum += __shfl_down_sync(kAll, sum, d);
      squares += __shfl_down_sync(kAll, squares, d);
    }
    const float three[3] = {count, sum, squares};
    for (int k = 0; k < 3 && threadIdx.x % 32 == 0; ++k) atomicAdd(&sums[k], three[k]);
    __syncthreads();
    mean = sums[1] / sums[0];
    limit = 3 * sqrtf(fmaxf(sums[2] / sums[0] - mean * mean, 1e-6f));
    __syncthreads();
  }
  if (threadIdx.x + threadIdx.y == 0) mesh[blockIdx.y * gridDim.x + blockIdx.x] = make_float2(mean, limit);
}

// Convolution with a point spread function. Pixels outside are zero.
template <int kRadius>
__global__ void convolve_psf(const float* __restrict__ image, float* __restrict__ out, int n) {
  constexpr int kTaps = 2 * kRadius + 1, kWide = 31 + kTaps, kHigh = 7 + kTaps;
  __shared__ float tile[kHigh][kWide];
  const int left = blockIdx.x * 32, top = blockIdx.y * 8, tx = threadIdx.x, ty = threadIdx.y;
  for (int row = ty; row < kHigh; row += 8)
    for (int column = tx; column < kWide; column += 32) {
      const int x = left + column - kRadius, y = top + row - kRadius;
      tile[row][column] = x >= 0 && x < n && y >= 0 && y < n ? image[y * n + x] : 0;
    }
  __syncthreads();
  if (left + tx >= n || top + ty >= n) return;
  float sum = 0;
  for (int dy = 0; dy < kTaps; ++dy)
#pragma unroll
    for (int dx = 0; dx < kTaps; ++dx) sum += kPsf[dy * kTaps + dx] * tile[ty + dy][tx + dx];
  out[(top + ty) * n + left + tx] = sum;
}

// Matches two catalogues that are sorted by declination (y): a binary search, then all within the radius.
__global__ void cross_match(const double2* first, const double2* second, int* out, double radius, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double2 own = first[i];
  int low = 0, high = count, best = -1;
  while (low < high) {
    const int middle = (low + high) >> 1;
    const bool below = second[middle].y < own.y - radius;
    (below ? low : high) = below ? middle + 1 : middle;
  }
  double nearest = 1;
  for (; low < count && second[low].y <= own.y + radius; ++low) {
    const double dx = (second[low].x - own.x) * cospi(0.5 * own.y), dy = second[low].y - own.y;
    const double distance = dx * dx + 1e6 * dy * dy;
    if (distance < nearest) nearest = distance, best = low;
  }
  out[i] = best;
}

// Folds a light curve with a trial period for each block, into bins in shared memory, and rates the period.
__global__ void fold_phases(const float2* curve, float* scores, int samples) {
  extern __shared__ float bins[];
  const float frequency = 0.1f + 1e-4f * blockIdx.x;
  for (int k = threadIdx.x; k < 2 * kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < samples; k += blockDim.x) {
    const float2 point = curve[k];
    const float turns = point.x * frequency;
    const int bin = min(int((turns - floorf(turns)) * kBins), kBins - 1);
    atomicAdd(&bins[bin], point.y), atomicAdd(&bins[kBins + bin], 1.0f);
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  float score = 0;
  for (int k = threadIdx.x; k < kBins; k += 32) score += bins[k] * bins[k] / fmaxf(bins[kBins + k], 1.0f);
  for (int d = 16; d > 0; d >>= 1) score += __shfl_down_sync(kAll, score, d);
  if (threadIdx.x == 0) scores[blockIdx.x] = score;
}

// Grids visibilities (u, v, real, imaginary): each is spread over five by five cells by atomics.
__global__ void grid_visibilities(const float4* visibilities, float2* grid, int edge, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 v = visibilities[i];
  const float u = 2 + v.x * (edge - 5), w = 2 + v.y * (edge - 5);
  for (int k = 0; k < 25; ++k) {
    const int x = int(u) + k % 5 - 2, y = int(w) + k / 5 - 2;
    const float weight = __expf(-0.7f * ((x - u) * (x - u) + (y - w) * (y - w)));
    atomicAdd(&grid[y * edge + x].x, weight * v.z);
    atomicAdd(&grid[y * edge + x].y, weight * v.w);
  }
}

// De-dispersion of a filter bank: a thread has a time and four trial measures, and adds up all channels.
__global__ void dedisperse(const unsigned char* bank, unsigned short* out, int times, int samples) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * kTrials;
  if (t >= times) return;
  int sums[kTrials] = {};
  for (int c = 0; c < kChannels; ++c)
    for (int k = 0; k < kTrials; ++k) sums[k] += bank[c * samples + t + int((first + k) * kDelays[c])];
  for (int k = 0; k < kTrials; ++k) out[(first + k) * times + t] = sums[k];
}

// Fits a line (height, centre, width) to each spectrum of 32 samples by four steps of Gauss and Newton.
__global__ void fit_lines(const float* spectra, float3* fits, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float height = 1, centre = 16, width = 4;
  for (int step = 0; step < 4; ++step) {
    float a = 0.1f, b = 0, c = 0, d = 0.1f, e = 0, f = 0.1f, p = 0, q = 0, r = 0;
#pragma unroll 4
    for (int k = 0; k < kLines; ++k) {
      const float z = (k - centre) / width, shape = expf(-0.5f * z * z);
      const float rest = spectra[k * count + i] - height * shape;
      const float by_centre = height * shape * z / width, by_width = by_centre * z;
      a += shape * shape, b += shape * by_centre, c += shape * by_width, d += by_centre * by_centre;
      e += by_centre * by_width, f += by_width * by_width;
      p += shape * rest, q += by_centre * rest, r += by_width * rest;
    }
    const float x = d * f - e * e, y = c * e - b * f, z = b * e - c * d;
    const float scale = 1 / (a * x + b * y + c * z);
    height += scale * (x * p + y * q + z * r);
    centre += scale * (y * p + (a * f - c * c) * q + (b * c - a * e) * r);
    width = fminf(fmaxf(width + scale * (z * p + (b * c - a * e) * q + (a * d - b * b) * r), 1.0f), 12.0f);
  }
  fits[i] = make_float3(height, centre, width);
}

void run(int n) {
  const int pixels = n * n, sources = pixels / 256, stars = pixels / 16, dots = pixels / 32, edge = n / 2;
  const int samples = pixels / 64, times = samples - 256;
  float psf[kMostTaps], delays[kChannels];
  for (int k = 0; k < kMostTaps; ++k) psf[k] = 1.0f / (1 + abs(k - kMostTaps / 2));
  for (int k = 0; k < kChannels; ++k) delays[k] = k * k / 512.0f;
  cudaMemcpyToSymbol(kPsf, psf, sizeof psf);
  cudaMemcpyToSymbol(kDelays, delays, sizeof delays);
  auto star = [stars](int i) { return make_double2(hashed_unit(i), (i + 1.0 * hashed_unit(i + 7)) / stars); };
  auto dot = [stars](int i) { return make_double2(hashed_unit(i + 9), (i + 1.0 * hashed_unit(i)) / stars); };
  float *image = device_array<float>(pixels, hashed_unit), *out = device_zeros<float>(pixels);
  double2 *first = device_array<double2>(stars, star), *second = device_array<double2>(stars, dot);
  float2* curve = (float2*)device_array<float>(4000, [](int i) { return 500 * hashed_unit(i); });
  float4* units = (float4*)device_array<float>(4 * dots, hashed_unit);
  float2* grid = device_zeros<float2>(edge * edge);
  unsigned char* bank = device_array<unsigned char>(kChannels * samples, [](int i) { return i * 37 >> 3; });
  float* spectra = device_array<float>(
      kLines * samples, [=](int i) { return 0.2f * hashed_unit(i) + 1.0f / (1 + abs(i / samples - 15)); });
  const dim3 meshes(ceil_div(n, 64), ceil_div(n, 64)), tiles(ceil_div(n, 32), ceil_div(n, 8)), block(32, 8);
  unsigned short* sums = device_zeros<unsigned short>(8 * kTrials * times);
  for (int r = 0; r < kLaunches; ++r)
    aperture_photometry<<<ceil_div(sources, 4), 128>>>(image, units, out, n, sources);
  for (int r = 0; r < kLaunches; ++r) background_mesh<<<meshes, dim3(64, 4)>>>(image, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) convolve_psf<2><<<tiles, block>>>(image, out, n);
  for (int r = 0; r < kLaunches; ++r) convolve_psf<6><<<tiles, block>>>(image, out, n);
  for (int r = 0; r < kLaunches; ++r)
    cross_match<<<ceil_div(stars, 256), 256>>>(first, second, (int*)out, 6.0 / stars, stars);
  for (int r = 0; r < kLaunches; ++r) fold_phases<<<4 * n, 192, 8 * kBins>>>(curve, out, 2000);
  for (int r = 0; r < kLaunches; ++r) grid_visibilities<<<ceil_div(dots, 64), 64>>>(units, grid, edge, dots);
  for (int r = 0; r < kLaunches; ++r)
    dedisperse<<<dim3(ceil_div(times, 224), 8), 224>>>(bank, sums, times, samples);
  for (int r = 0; r < kLaunches; ++r) fit_lines<<<samples / 96 + 1, 96>>>(spectra, (float3*)out, samples);
  free_all(image, out, first, second, curve, units, grid, bank, sums, spectra);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sky_surveys");
}
