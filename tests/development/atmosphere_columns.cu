// n columns of air with 40 layers each: what a weather model does in each of them, from above or from below.
#include "device.h"

constexpr int kLayers = 40;

// Vapour above saturation condenses, in double precision: three steps of Newton's method for each layer.
__global__ void condense(double* temperature, double* vapour, double* cloud, const double* pressure, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, layer = blockIdx.y;
  if (c >= n) return;
  const int at = layer * n + c;
  double t = 250 + 40 * temperature[at], q = 0.02 * vapour[at];
  const double p = 1e4 + 9e4 * pressure[at];
  double condensed = 0;
  for (int k = 0; k < 3; ++k) {
    const double es = 611.2 * exp(17.67 * (t - 273.15) / (t - 29.65));
    const double saturated = 0.622 * es / (p - 0.378 * es);
    const double slope = saturated * 4302.6 / ((t - 29.65) * (t - 29.65));
    const double change = (q - saturated) / (1 + 2488.0 * slope);
    q -= change;
    t += 2488.0 * change;
    condensed += change;
  }
  if (condensed > 0) {
    temperature[at] = (t - 250) / 40;
    vapour[at] = q / 0.02;
    cloud[at] += condensed;
  }
}

// Heat through the column both ways: a recurrence downwards, then one upwards, a column per thread.
__global__ void radiate(const float* temperature, const float* depth, float* heating, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  float down[kLayers + 1], flux = 0;
  down[0] = 0;
  for (int k = 0; k < kLayers; ++k) {
    const float t = 200 + 100 * temperature[k * n + c], through = __expf(-1.66f * depth[k * n + c]);
    flux = flux * through + (1 - through) * 5.67e-8f * t * t * t * t;
    down[k + 1] = flux;
  }
  float up = 390;
  for (int k = kLayers - 1; k >= 0; --k) {
    const float t = 200 + 100 * temperature[k * n + c], through = __expf(-1.66f * depth[k * n + c]);
    const float below = up - down[k + 1];
    up = up * through + (1 - through) * 5.67e-8f * t * t * t * t;
    heating[k * n + c] = below - (up - down[k]);
  }
}

// Rain and ice: which of the ways water takes depends on the temperature and on how much there is.
__global__ void precipitate(const float* temperature, float* cloud, float* rain, float* ice, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  for (int k = 0; k < kLayers; ++k) {
    const int at = k * n + c;
    const float t = 240 + 60 * temperature[at] - k % 4;
    float water = cloud[at], drops = rain[at], crystals = ice[at];
    if (t < 235) {
      crystals += water;
      water = 0;
    } else if (t < 273.15f) {
      const float frozen = water * (1 - powf((t - 235) / 38.15f, 0.66f));
      crystals += frozen;
      water -= frozen;
      const float rimed = fminf(water, 0.01f * crystals * sqrtf(drops + 1e-6f));
      crystals += rimed;
      water -= rimed;
    } else {
      const float melted = crystals * fminf(1.0f, 0.05f * (t - 273.15f));
      crystals -= melted;
      drops += melted;
      if (water > 0.5f) {
        const float rained = 0.1f * (water - 0.5f) * expf(-0.01f * drops);
        water -= rained;
        drops += rained;
      }
    }
    cloud[at] = water;
    rain[at] = drops * 0.95f;
    ice[at] = crystals;
  }
}

// What falls, layer by layer from above, limited so that nothing becomes negative: columns are rows in memory here, and
// a warp has one column's layers in its lanes.
__global__ void settle(const float* speed, float* amount, int n) {
  const int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (c >= n) return;
  float held = amount[c * 32 + lane];
  const float part = fminf(0.9f, 0.2f * speed[c * 32 + lane]);
  for (int step = 0; step < 8; ++step) {
    const float out = held * part;
    const float in = __shfl_up_sync(0xffffffffu, out, 1);
    held += (lane > 0 ? in : 0) - out;
  }
  amount[c * 32 + lane] = held;
}

void run(int n) {
  double* temperature = device_doubles(kLayers * n);
  double* vapour = device_doubles(kLayers * n);
  double* cloud = device_zeros<double>(kLayers * n);
  float* t = device_floats(kLayers * n);
  float* depth = device_floats(kLayers * n);
  float* out = device_zeros<float>(kLayers * n);
  float* ice = device_floats(kLayers * n);
  for (int r = 0; r < kLaunches; ++r)
    condense<<<dim3(ceil_div(n, 64), kLayers), 64>>>(temperature, vapour, cloud, vapour, n);
  for (int r = 0; r < kLaunches; ++r)
    condense<<<dim3(ceil_div(n, 512), kLayers), 512>>>(temperature, vapour, cloud, vapour, n);
  for (int r = 0; r < kLaunches; ++r) radiate<<<ceil_div(n, 128), 128>>>(t, depth, out, n);
  for (int r = 0; r < kLaunches; ++r) precipitate<<<ceil_div(n, 96), 96>>>(t, depth, out, ice, n);
  for (int r = 0; r < kLaunches; ++r) settle<<<ceil_div(n, 6), 192>>>(t, ice, n);
  free_all(temperature, vapour, cloud, t, depth, out, ice);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("atmosphere_columns");
}
