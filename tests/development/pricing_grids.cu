// Prices of options: closed formulas, trees, finite differences, random paths and risk measures.
// n is the number of options, a multiple of 4096; the dearer methods take only a part of them.
#include "device.h"

constexpr int kPoints = 128, kSteps = 255;

template <class Real>
__device__ Real normal_below(Real x) {
  return Real(0.5) * erfc(-x * Real(0.7071067811865475));
}

__device__ float next_uniform(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return ((state >> 8) + 0.5f) / 16777216;
}

__device__ float2 next_normals(unsigned& state) {
  const float radius = sqrtf(-2 * logf(next_uniform(state))), angle = 6.2831853f * next_uniform(state);
  return make_float2(radius * __cosf(angle), radius * __sinf(angle));
}

// Prices calls and puts by the formula of Black and Scholes.
__global__ void black_scholes(const float* __restrict__ spots, const float* __restrict__ strikes,
                              const float* __restrict__ years, float* __restrict__ calls,
                              float* __restrict__ puts, float rate, float volatility, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = spots[i], k = strikes[i], t = years[i], spread = volatility * sqrtf(t);
    const float d1 = (__logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float paid = k * __expf(-rate * t), call = s * normal_below(d1) - paid * normal_below(d1 - spread);
    calls[i] = call;
    puts[i] = call + paid - s;
  }
}

// Prices an American put by a binomial tree in shared memory, a block per option.
__global__ void binomial_tree(const float* spots, const float* strikes, float* prices, float up, float rise,
                              float discount) {
  __shared__ float values[2][kSteps + 1];
  const int j = threadIdx.x;
  const float strike = strikes[blockIdx.x];
  float price = spots[blockIdx.x] * powf(up, 2.0f * j - kSteps);
  values[kSteps & 1][j] = fmaxf(strike - price, 0);
  for (int step = kSteps - 1; step >= 0; --step) {
    __syncthreads();
    price *= up;
    if (j > step) continue;
    const float* old = values[~step & 1];
    const float kept = discount * (rise * old[j + 1] + (1 - rise) * old[j]);
    values[step & 1][j] = fmaxf(kept, strike - price);
  }
  if (j == 0) prices[blockIdx.x] = values[0][0];
}

// Takes an explicit step back in time on a grid of prices for each option.
__global__ void explicit_step(const float* from, float* to, const float* strikes, float step, float rate,
                              int options) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x, option = blockIdx.y * blockDim.y + threadIdx.y;
  if (point >= kPoints || option >= options) return;
  const int i = option * kPoints + point;
  if (point == 0 || point == kPoints - 1) {
    to[i] = point == 0 ? 0 : fmaxf(2 - strikes[option], 0);
    return;
  }
  const float here = from[i], slope = 0.5f * (from[i + 1] - from[i - 1]);
  const float curve = from[i + 1] - 2 * here + from[i - 1];
  to[i] = here + step * (0.02f * point * point * curve + rate * point * slope - rate * here);
}

// Takes an implicit step, a thread per option and the options side by side at each point.
__global__ void implicit_step(const double* from, double* to, double* factors, double rate, int options) {
  const int option = blockIdx.x * blockDim.x + threadIdx.x;
  if (option >= options) return;
  double factor = 0, previous = 0;
  for (int point = 0, i = option; point < kPoints; ++point, i += options) {
    const double spread = 0.0004 * point * point, drift = 0.5 * rate * point;
    const double pivot = 1 + 2 * spread + rate + (spread - drift) * factor;
    previous = (from[i] + (spread - drift) * previous) / pivot;
    factor = -(spread + drift) / pivot;
    factors[i] = factor;
    to[i] = previous;
  }
  for (int i = option + (kPoints - 2) * options; i >= 0; i -= options) {
    previous = to[i] - factors[i] * previous;
    to[i] = previous;
  }
}

// Sums the payoffs of Asian calls over random paths and their mirror images.
__global__ void asian_paths(double* total, float drift, float spread, float strike, int paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = path * 2654435761u ^ 0x9e3779b9u;
  state += state == 0;
  float a = 0, b = 0, mean_a = 0, mean_b = 0;
#pragma unroll 4
  for (int step = 0; step < 16; ++step) {
    const float2 z = next_normals(state);
    a += drift + spread * z.x;
    b += drift - spread * z.x;
    mean_a += expf(a) + expf(a + drift + spread * z.y);
    mean_b += expf(b) + expf(b + drift - spread * z.y);
    a += drift + spread * z.y;
    b += drift - spread * z.y;
  }
  float payoff = path < paths ? fmaxf(mean_a / 32 - strike, 0) + fmaxf(mean_b / 32 - strike, 0) : 0;
  for (int offset = 16; offset > 0; offset >>= 1) payoff += __shfl_down_sync(~0u, payoff, offset);
  if ((threadIdx.x & 31) == 0) atomicAdd(total, (double)payoff);
}

// Moves the logarithms of prices and the variances of Heston's model by one step.
__global__ void heston_step(float2* paths, unsigned* states, float step, float correlation, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = states[i];
  const float2 z = next_normals(state), here = paths[i];
  const float variance = fmaxf(here.y, 0), root = sqrtf(variance * step);
  const float other = correlation * z.x + sqrtf(1 - correlation * correlation) * z.y;
  paths[i] = make_float2(here.x + root * z.x - 0.5f * variance * step,
                         here.y + 1.5f * (0.04f - variance) * step + 0.3f * root * other);
  states[i] = state;
}

// Seeks the volatility that gives the price of a call, by halving an interval.
__global__ void implied_volatility(const double* prices, const float* strikes, double* out, double t, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double price = prices[i], strike = strikes[i], moneyness = -log(strike), root = sqrt(t);
  double low = 1e-3, high = 4;
  while (high - low > 1e-6) {
    const double middle = 0.5 * (low + high), spread = middle * root, d1 = moneyness / spread + 0.5 * spread;
    const double error = normal_below(d1) - strike * normal_below(d1 - spread) - price;
    if (fabs(error) < 1e-9) break;
    (error > 0 ? high : low) = middle;
  }
  out[i] = 0.5 * (low + high);
}

// Sums the products of the returns of two assets over all days, each pair once, in tiles of 16 x 16.
__global__ void covariance(const float* returns, const float* means, float* out, int assets, int days) {
  __shared__ float a[16][17], b[16][17];
  if (blockIdx.x > blockIdx.y) return;
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + x;
  const float mean_a = means[row], mean_b = means[column];
  float sum = 0;
  for (int day = 0; day < days; day += 16) {
    a[y][x] = returns[(day + y) * assets + row] - mean_a;
    b[y][x] = returns[(day + y) * assets + column] - mean_b;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += a[k][y] * b[k][x];
    __syncthreads();
  }
  out[(blockIdx.y * 16 + y) * assets + column] = sum / (days - 1);
}

void run(int n) {
  const int options = n / kPoints, days = 512;
  int assets = 64;
  while (assets * assets < n / 2 && assets < 2048) assets *= 2;
  float* spots = device_array<float>(n, [](int i) { return 0.5f + hashed_unit(i); });
  float* strikes = device_array<float>(n, [](int i) { return 0.8f + 0.4f * hashed_unit(i + 7); });
  float* years = device_array<float>(n, [](int i) { return 0.1f + i % 40 * 0.1f; });
  float *calls = device_zeros<float>(n), *puts = device_zeros<float>(n);
  for (int r = 0; r < kLaunches; ++r)
    black_scholes<<<1056, 256>>>(spots, strikes, years, calls, puts, 0.02f, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    binomial_tree<<<n / 1024, kSteps + 1>>>(spots, strikes, calls, 1.01f, 0.51f, 0.9999f);
  for (int r = 0; r < kLaunches; ++r)
    explicit_step<<<dim3(kPoints / 64, ceil_div(options, 4)), dim3(64, 4)>>>(spots, puts, strikes, 1e-3f,
                                                                             0.02f, options);
  free_all(spots, years, calls, puts);
  double *grid = device_doubles(n), *to = device_zeros<double>(n), *factors = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r)
    implicit_step<<<ceil_div(options, 96), 96>>>(grid, to, factors, 1e-4, options);
  free_all(grid, to, factors);
  float2* paths = device_array<float2>(n, [](int i) { return make_float2(0, 0.02f + i % 100 * 1e-3f); });
  unsigned* states = device_array<unsigned>(n, [](int i) { return i * 2654435761u | 1; });
  double *total = device_zeros<double>(1), *found = device_zeros<double>(n / 4);
  double* prices = device_array<double>(n / 4, [](int i) { return 0.25 + 0.2 * hashed_unit(i); });
  float* returns = device_array<float>(assets * days, [](int i) { return 0.02f * hashed_unit(i) - 0.01f; });
  float *means = device_zeros<float>(assets), *products = device_zeros<float>(assets * assets);
  const dim3 pairs(assets / 16, assets / 16), square(16, 16);
  for (int r = 0; r < kLaunches; ++r)
    asian_paths<<<ceil_div(n / 4, 192), 192>>>(total, -1e-3f, 0.05f, 1, n / 4);
  for (int r = 0; r < kLaunches; ++r) heston_step<<<n / 512, 512>>>(paths, states, 0.004f, -0.7f, n);
  for (int r = 0; r < kLaunches; ++r)
    implied_volatility<<<n / 512, 128>>>(prices, strikes, found, 1.5, n / 4);
  for (int r = 0; r < kLaunches; ++r) covariance<<<pairs, square>>>(returns, means, products, assets, days);
  free_all(strikes, paths, states, total, found, prices, returns, means, products);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("pricing_grids");
}
