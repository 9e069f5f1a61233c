// Rates over time, and what depends on them: n bonds, curves or scenarios, in double and single precision.
#include "device.h"

// A curve of 40 discounts from the rates of swaps: each depends on the sum of those before.
__global__ void bootstrap_curves(const double* swaps, double* discounts, double period, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double sum = 0;
    for (int k = 0; k < 40; k++) {
      double rate = 0.01 + 0.05 * swaps[k * n + i];
      double discount = (1.0 - rate * period * sum) / (1.0 + rate * period);
      sum += discount;
      discounts[k * n + i] = discount;
    }
  }
}

struct Bond {
  float coupon, start, face;
  int periods;
};

// The value and the slope of each bond, of 1 to 60 coupons, by a curve between points in shared memory.
__global__ void value_bonds(const Bond* bonds, const float* curve, float2* values, int n) {
  __shared__ float yields[64];
  if (threadIdx.x < 64) yields[threadIdx.x] = 0.01f + 0.04f * curve[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Bond bond = bonds[i];
  float value = 0, slope = 0, time = bond.start;
  for (int k = 0; k < bond.periods; ++k) {
    const float place = fminf(2.0f * time, 62.0f);
    const int at = (int)place;
    const float yield = yields[at] + (place - at) * (yields[at + 1] - yields[at]);
    const float paid = (k == bond.periods - 1 ? bond.coupon + 1.0f : bond.coupon) * expf(-yield * time);
    value += paid;
    slope -= time * paid;
    time += 0.5f;
  }
  values[i] = make_float2(bond.face * value, bond.face * slope);
}

// A lattice of rates with three ways from each point, back from the end: a block for each option.
__global__ void rate_lattices(const float* strikes, float* prices, float width, int steps) {
  __shared__ float value[2][260];
  const int t = threadIdx.x, middle = steps;
  const float strike = 0.9f + 0.1f * strikes[blockIdx.x];
  const float rate = 0.03f + width * (t - middle);
  const float discount = expf(-rate * 0.05f);
  if (t <= 2 * steps) value[0][t] = fmaxf(expf(-rate * 5.0f) - strike, 0.0f);
  __syncthreads();
  int from = 0;
  for (int step = steps - 1; step >= 0; --step) {
    if (t >= middle - step && t <= middle + step) {
      const float up = value[from][t + 1], same = value[from][t], down = value[from][t - 1];
      const float held = discount * (0.1666f * up + 0.6668f * same + 0.1666f * down);
      value[1 - from][t] = fmaxf(held, expf(-rate * (5.0f - 0.05f * step)) - strike);
    }
    from = 1 - from;
    __syncthreads();
  }
  if (t == 0) prices[blockIdx.x] = value[from][middle];
}

// Twenty rates that move together: the drift of each is a sum over those before it.
__global__ void forward_paths(const float* rates, float* out, int steps, unsigned seed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float forward[20];
  for (int k = 0; k < 20; ++k) forward[k] = 0.02f + 0.03f * rates[k];
  unsigned state = (i + seed) * 2654435761u | 1;
  for (int step = 0; step < steps; ++step) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const float shock = normcdfinvf(((state >> 8) + 0.5f) / 16777216.0f);
    float drift = 0;
    for (int k = step; k < 20; ++k) {
      const float volatility = 0.2f - 0.005f * (k - step);
      drift += volatility * 0.5f * forward[k] / (1 + 0.5f * forward[k]);
      forward[k] *= expf(volatility * (drift - 0.5f * volatility) * 0.5f + volatility * 0.707f * shock);
    }
  }
  float discount = 1, sum = 0;
  for (int k = 0; k < 20; ++k) {
    discount /= 1 + 0.5f * forward[k];
    sum += discount * fmaxf(forward[k] - 0.04f, 0.0f);
  }
  out[i] = sum;
}

// The volatility that belongs to a price, by Newton's steps, of which some need more than others.
__global__ void find_volatilities(const double* prices, const double* strikes, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double strike = 0.8 + 0.4 * strikes[i], wanted = fmax(1 - strike, 0.0) + 0.02 + 0.2 * prices[i];
  double volatility = 0.4;
  for (int step = 0; step < 12; ++step) {
    const double up = (0.5 * volatility * volatility - log(strike)) / volatility;
    const double price = normcdf(up) - strike * normcdf(up - volatility);
    const double slope = 0.3989422804 * exp(-0.5 * up * up);
    const double miss = price - wanted;
    if (fabs(miss) < 1e-9) break;
    volatility = fmin(fmax(volatility - miss / fmax(slope, 1e-4), 0.01), 4.0);
  }
  out[i] = volatility;
}

// The mean of what is owed at each date, and its most, over 1024 scenarios: a warp for each date.
__global__ void exposures(const float4* values, float2* out, int dates) {
  const int date = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (date >= dates) return;
  float sum = 0, most = 0;
#pragma unroll 4
  for (int k = lane; k < 256; k += 32) {
    const float4 v = values[date * 256 + k];
    const float a = fmaxf(v.x, 0.0f), b = fmaxf(v.y, 0.0f), c = fmaxf(v.z, 0.0f), d = fmaxf(v.w, 0.0f);
    sum += a + b + c + d;
    most = fmaxf(most, fmaxf(fmaxf(a, b), fmaxf(c, d)));
  }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  }
  if (lane == 0) out[date] = make_float2(sum / 1024, most);
}

void run(int n) {
  double* swaps = device_doubles(40 * n);
  double* discounts = device_zeros<double>(40 * n);
  float* floats = device_floats(64 * n);
  float* out = device_zeros<float>(2 * n);
  int* bonds = device_array<int>(4 * n, [](int i) {
    const int bond = i / 4;
    if (i % 4 == 0) return bits_of((bond % 9) / 200.0f);
    if (i % 4 == 1) return bits_of((bond % 6) / 12.0f);
    if (i % 4 == 2) return bits_of(100.0f + bond % 50);
    return 1 + bond % 64 * 7 % 60;
  });
  for (int r = 0; r < kLaunches; ++r) bootstrap_curves<<<ceil_div(n, 256), 256>>>(swaps, discounts, 0.5, n);
  for (int r = 0; r < kLaunches; ++r)
    value_bonds<<<ceil_div(n, 128), 128>>>((Bond*)bonds, floats, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) rate_lattices<<<n / 16, 224>>>(floats, out, 0.0005f, 100);
  for (int r = 0; r < kLaunches; ++r) forward_paths<<<ceil_div(n, 64), 64>>>(floats, out, 20, 17u, n);
  for (int r = 0; r < kLaunches; ++r)
    find_volatilities<<<ceil_div(n, 128), 128>>>(swaps, swaps + n, discounts, n);
  for (int r = 0; r < kLaunches; ++r)
    exposures<<<ceil_div(n / 16, 8), 256>>>((float4*)floats, (float2*)out, n / 16);
  free_all(swaps, discounts, floats, out, bonds);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("interest_rates");
}
