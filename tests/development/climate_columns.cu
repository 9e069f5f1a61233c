// Physics of n columns of air with 60 levels. The level is the slow index of each field; level 0 is the top.
#include "device.h"

constexpr int kLevels = 60, kBands = 6, kTargets = 47;

struct Surface {
  double heat_flux, albedo, drag, temperature;
};

__constant__ double bands[2][kBands] = {{0.002, 0.01, 0.05, 0.2, 1.1, 4}, {0.3, 0.25, 0.18, 0.12, 0.1, 0.05}};

// Vapour above saturation condenses: Newton's method for the temperature that balances the latent heat.
__global__ void adjust_saturation(const double* pressure, const double* temperature, const double* humidity,
                                  double* warmed, double* condensed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || k >= kLevels) return;
  const int at = k * n + i;
  const double p = 0.5 * (pressure[at] + pressure[at + n]), first = temperature[at], vapour = humidity[at];
  double t = first, saturated = 0, change = 1, latent = 2.5e6 / 1004.6;
  for (int round = 0; round < 10 && fabs(change) > 1e-7; ++round) {
    saturated = fmin(0.622 / p * 611.2 * exp(17.67 * (t - 273.15) / (t - 29.65)), 0.5);
    if (vapour <= saturated) break;
    const double slope = saturated * 4302.6 / ((t - 29.65) * (t - 29.65));
    change = (first + latent * (vapour - saturated) - t) / (1 + latent * slope);
    t += change;
  }
  warmed[at] = t;
  condensed[at] = fmax(vapour - saturated, 0.0);
}

// Heights of the layers' upper sides from the hydrostatic equation, from the ground up.
__global__ void integrate_heights(const double* __restrict__ pressure, const double* __restrict__ temperature,
                                  double* __restrict__ heights, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double height = 0, below = log(pressure[kLevels * n + i]);
  for (int k = kLevels - 1; k >= 0; --k) {
    const double above = log(pressure[k * n + i]);
    height += 287.04 / 9.80665 * temperature[k * n + i] * (below - above);
    heights[k * n + i] = height;
    below = above;
  }
}

// Implicit mixing of the lowest kDepth levels: Thomas' algorithm with its factors in private arrays.
template <int kDepth>
__global__ void mix_vertically(const double* __restrict__ field, const Surface* __restrict__ surfaces,
                               double* __restrict__ out, double step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, top = kLevels - kDepth;
  if (i >= n) return;
  const Surface ground = surfaces[i];
  double factor[kDepth], rest[kDepth], upper = 0, last_factor = 0, last = 0, value = 0;
#pragma unroll 4
  for (int k = 0; k < kDepth; ++k) {
    const double z = (kDepth - k) / static_cast<double>(kDepth);
    const double lower = k < kDepth - 1 ? step * (0.1 + ground.drag * z * (1 - z) * (1 - z)) : 0.0;
    const double source = k == kDepth - 1 ? step * ground.heat_flux : 0.0;
    const double pivot = 1 / (1 + upper + lower - upper * last_factor);
    factor[k] = last_factor = lower * pivot;
    rest[k] = last = (field[(top + k) * n + i] + source + upper * last) * pivot;
    upper = lower;
  }
  for (int k = kDepth - 1; k >= 0; --k) {
    value = rest[k] + factor[k] * value;
    out[(top + k) * n + i] = value;
  }
}

// Rain falls through the layers in steps that the fastest drops of the column allow, and evaporates.
__global__ void fall_out(const double* rain, const double* humidity, double* out, double* ground,
                         double duration, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double fastest = 1, left = duration, total = 0;
  for (int k = 0; k < kLevels; k += 4) fastest = fmax(fastest, 14.0 * sqrt(sqrt(1e3 * rain[k * n + i])));
  for (const double* source = rain; left > 0; source = out) {
    const double step = fmin(left, 400 / fastest);
    double incoming = 0;
    for (int k = 0; k < kLevels; ++k) {
      const double water = source[k * n + i];
      const double leaving = water * fmin(step * 14.0 / 400 * sqrt(sqrt(1e3 * water)), 1.0);
      const double kept = water - leaving + incoming;
      out[k * n + i] = kept - fmin(kept, 1e-4 * step * fmax(0.01 - humidity[k * n + i], 0.0));
      incoming = leaving;
    }
    total += incoming, left -= step;
  }
  ground[i] = total;
}

// The parts of the light that a layer reflects (x) and lets through (y).
__device__ inline double2 optics(double cloud, double vapour, int band) {
  const double reflected = 40 * cloud / (2 + 40 * cloud);
  return make_double2(reflected, (1 - reflected) * exp(-83 * bands[0][band] * vapour));
}

// Sunlight in six bands by two streams: layers are added from the ground up. A thread for a column and band.
__global__ void sunlight(const double* __restrict__ humidity, const double* __restrict__ cloud,
                         const Surface* __restrict__ surfaces, double* __restrict__ heating, int n) {
  __shared__ double absorbed[kLevels][32];
  const int column = blockIdx.x * 32 + threadIdx.x, band = threadIdx.y, i = min(column, n - 1);
  for (int k = band; k < kLevels; k += kBands) absorbed[k][threadIdx.x] = 0;
  __syncthreads();
  double below[kLevels + 1], down = 1361 * bands[1][band];
  below[kLevels] = surfaces[i].albedo;
  for (int k = kLevels - 1; k >= 0; --k) {
    const double2 layer = optics(cloud[k * n + i], humidity[k * n + i], band);
    below[k] = layer.x + layer.y * layer.y * below[k + 1] / (1 - layer.x * below[k + 1]);
  }
  for (int k = 0; k < kLevels; ++k) {
    const double2 layer = optics(cloud[k * n + i], humidity[k * n + i], band);
    const double next = down * layer.y / (1 - layer.x * below[k + 1]);
    atomicAdd(&absorbed[k][threadIdx.x], down * (1 - below[k]) - next * (1 - below[k + 1]));
    down = next;
  }
  __syncthreads();
  for (int k = band; k < kLevels && column < n; k += kBands)
    heating[k * n + column] = absorbed[k][threadIdx.x] / 1.2e4;
}

// Infrared light that each layer gets from the layers above it, until the path is opaque.
__global__ void infrared_exchange(const double* temperature, const double* humidity, double* heating, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x, k = blockIdx.y * 4 + threadIdx.y;
  if (i >= n) return;
  double own = temperature[k * n + i] * 0.01, sum = 0, path = 0, passed = 1;
  for (int j = k - 1; j >= 0; --j) {
    path += 0.02 + 30 * humidity[j * n + i];
    if (path > 6) break;
    const double t = temperature[j * n + i] * 0.01, next = exp(-1.66 * path);
    sum += (passed - next) * (t * t * t * t - own * own * own * own);
    passed = next;
  }
  heating[k * n + i] = 5.67 * sum;
}

// Conservative remapping to 47 layers of equal mass: the source layer k follows the target layer down.
__global__ void remap_levels(const double* __restrict__ pressure, const double* __restrict__ field,
                             double* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double top = pressure[i], width = (pressure[kLevels * n + i] - top) / kTargets;
    double upper = top;
    for (int target = 0, k = 0; target < kTargets; ++target) {
      const double end = top + (target + 1) * width;
      double sum = 0, lower;
      while ((lower = pressure[(k + 1) * n + i]) < end && k < kLevels - 1) {
        sum += field[k++ * n + i] * (lower - upper);
        upper = lower;
      }
      out[target * n + i] = (sum + field[k * n + i] * (end - upper)) / width;
      upper = end;
    }
  }
}

// Water of each column: 16 threads for a column, sums in dynamic shared memory. Wet columns are counted.
__global__ void column_water(const double* humidity, double* water, int* wet, double limit, int n) {
  extern __shared__ double sums[];
  const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 32 + tx;
  double sum = 0;
  for (int k = ty; k < kLevels; k += 16) sum += i < n ? humidity[k * n + i] : 0.0;
  sums[ty * 32 + tx] = sum;
  for (int half = 8; half > 0; half /= 2) {
    __syncthreads();
    if (ty < half) sums[ty * 32 + tx] += sums[(ty + half) * 32 + tx];
  }
  if (ty > 0) return;
  const unsigned ballot = __ballot_sync(0xffffffffu, i < n && sums[tx] > limit);
  if (tx == 0) atomicAdd(wet, __popc(ballot));
  if (i < n) water[i] = sums[tx];
}

void run(int n) {
  const int cells = kLevels * n, blocks = ceil_div(n, 32);
  double* pressure = device_array<double>(cells + n, [n](int i) { return 200.0 + 27.7 * (i / n) * (i / n); });
  double* warmth = device_array<double>(cells, [n](int i) { return 210 + i / n + 9 * hashed_unit(i); });
  double* humidity = device_array<double>(cells, [n](int i) { return 4e-6 * (i / n) * (i / n + i % 5); });
  double* cloud = device_array<double>(cells, [](int i) { return 2e-3 * (i % 9) * hashed_unit(i); });
  Surface* surfaces = (Surface*)device_doubles(4 * n);
  double *out = device_zeros<double>(cells), *more = device_zeros<double>(cells);
  for (int r = 0; r < kLaunches; ++r)
    adjust_saturation<<<dim3(ceil_div(n, 64), 15), dim3(64, 4)>>>(pressure, warmth, humidity, out, more, n);
  for (int r = 0; r < kLaunches; ++r) integrate_heights<<<ceil_div(n, 96), 96>>>(pressure, warmth, out, n);
  for (int r = 0; r < kLaunches; ++r) mix_vertically<60><<<blocks, 32>>>(warmth, surfaces, out, 0.5, n);
  for (int r = 0; r < kLaunches; ++r)
    mix_vertically<24><<<ceil_div(n, 128), 128>>>(humidity, surfaces, out, 1.5, n);
  for (int r = 0; r < kLaunches; ++r) fall_out<<<ceil_div(n, 64), 64>>>(cloud, humidity, out, more, 60, n);
  const dim3 lanes(32, kBands);
  for (int r = 0; r < kLaunches; ++r) sunlight<<<blocks, lanes>>>(humidity, cloud, surfaces, out, n);
  for (int r = 0; r < kLaunches; ++r)
    infrared_exchange<<<dim3(blocks, 15), dim3(32, 4)>>>(warmth, humidity, out, n);
  for (int r = 0; r < kLaunches; ++r) remap_levels<<<264, 256>>>(pressure, warmth, out, n);
  for (int r = 0; r < kLaunches; ++r)
    column_water<<<blocks, dim3(32, 16), 4096>>>(humidity, more, (int*)out, 0.2, n);
  free_all(pressure, warmth, humidity, cloud, surfaces, out, more);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("climate_columns");
}
