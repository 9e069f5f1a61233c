// Models of markets: prices of options, bonds and swaptions by formulas, lattices and random paths.
#include "device.h"

constexpr int kFactors = 12, kForwards = 24, kDates = 16, kTrades = 32;
__constant__ float cholesky[kFactors * (kFactors + 1) / 2];
__constant__ short days_before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

struct Market {
  float rate, volatility;
};

struct Bond {
  float coupon;
  int years, month, day, payments;
};

__device__ unsigned next_random(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

// Two independent normal numbers by the method of Box and Muller.
__device__ float2 two_normals(unsigned& state) {
  const float u = (next_random(state) >> 8) * 5.9604645e-8f + 3e-8f;
  const float v = (next_random(state) >> 8) * 5.9604645e-8f;
  const float radius = sqrtf(-2 * __logf(u));
  float sine, cosine;
  __sincosf(6.2831853f * v, &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}

// Calls and puts by the closed formula, in a grid-stride loop.
__global__ void closed_form(const float* __restrict__ spots, const float* __restrict__ strikes,
                            const float* terms, float2* prices, Market market, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float spot = 50 + 100 * spots[i], strike = 60 + 80 * strikes[i], years = 0.1f + 5 * terms[i];
    const float spread = market.volatility * sqrtf(years);
    const float d1 = (logf(spot / strike) + market.rate * years) / spread + 0.5f * spread;
    const float present = strike * expf(-market.rate * years);
    const float call = spot * normcdff(d1) - present * normcdff(d1 - spread);
    prices[i] = make_float2(call, call - spot + present);
  }
}

// American puts on binomial lattices: a block for each option, a thread for each node of the last step.
__global__ void binomial_lattice(const float* strikes, float* prices, float up, float chance, float keep) {
  __shared__ float values[257];
  const int t = threadIdx.x;
  const float strike = 80 + 40 * strikes[blockIdx.x];
  float asset = 100 * powf(up, 2 * t - 255);
  values[t] = fmaxf(strike - asset, 0.0f);
  for (int step = 254; step >= 0; --step) {
    __syncthreads();
    const float held = keep * (chance * values[t + 1] + (1 - chance) * values[t]);
    __syncthreads();
    asset *= up;
    if (t <= step) values[t] = fmaxf(held, strike - asset);
  }
  if (t == 0) prices[blockIdx.x] = values[0];
}

// Asian options by random paths: the mean price along each path, and one addition for each warp.
template <int kSteps>
__global__ void asian_paths(double* sum, Market market, unsigned seed, int paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = (path + 1) * 2654435761u ^ seed;
  float log_price = 0, mean = 0;
  const float spread = market.volatility * rsqrtf(kSteps), drift = market.rate / kSteps - spread * spread / 2;
  for (int step = 0; step < kSteps; step += 2) {
    const float2 z = two_normals(state);
    log_price += drift + spread * z.x;
    mean += __expf(log_price);
    log_price += drift + spread * z.y;
    mean += __expf(log_price);
  }
  float payoff = path < paths ? fmaxf(mean / kSteps - 1, 0.0f) : 0.0f;
  for (int d = 16; d > 0; d /= 2) payoff += __shfl_down_sync(0xffffffffu, payoff, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<double>(payoff));
}

// Swaptions on a curve of forward rates in a private array, which moves with one factor.
__global__ void swaption_paths(const float* curve, float* payoffs, float strike, int paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  unsigned state = 747796405u * path + 2891336453u;
  float forwards[kForwards];
  for (int k = 0; k < kForwards; ++k) forwards[k] = 0.02f + 0.02f * curve[k];
  for (int step = 0; step < 8; ++step) {
    const float shock = 0.5f * two_normals(state).x;
    float drift = 0;
    for (int k = step + 1; k < kForwards; ++k) {
      const float spread = 0.2f * __expf(-0.05f * (k - step));
      drift += 0.25f * spread * forwards[k] / (1 + 0.25f * forwards[k]);
      forwards[k] *= __expf(0.25f * spread * (drift - spread / 2) + spread * shock);
    }
  }
  float discount = 1, annuity = 0;
  for (int k = 8; k < kForwards; ++k) annuity += 0.25f * (discount /= 1 + 0.25f * forwards[k]);
  payoffs[path] = fmaxf(1 - discount - strike * annuity, 0.0f);
}

// Implied volatility: Newton's iterations in double precision until the price fits.
__global__ void implied_volatility(const float* quotes, double* volatilities, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double target = 0.05 + 0.6 * quotes[i], moneyness = -0.1 + 0.2 * (i % 17) / 17;
  double volatility = 0.8, error = 1;
  for (int rounds = 0; fabs(error) > 1e-9 && rounds < 12; ++rounds) {
    const double d1 = moneyness / volatility + 0.5 * volatility;
    error = normcdf(d1) - exp(-moneyness) * normcdf(d1 - volatility) - target;
    volatility = fmin(fmax(volatility - error / (0.39894228 * exp(-0.5 * d1 * d1)), 0.01), 5.0);
  }
  volatilities[i] = volatility;
}

// Exposures: for each date (y) and scenario (x) the sum over trades, and the mean of what is positive.
__global__ void exposures(const float* __restrict__ values, double* __restrict__ means, int scenarios) {
  const int scenario = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int trade = 0; trade < kTrades; ++trade)
    if (scenario < scenarios) sum += values[(blockIdx.y * kTrades + trade) * scenarios + scenario] - 0.5f;
  sum = fmaxf(sum, 0.0f);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&means[blockIdx.y], static_cast<double>(sum) / scenarios);
}

__device__ int day_number(int year, int month, int day) {
  return 365 * year + (year - 1) / 4 - 20 + days_before[month] + (year % 4 == 0 && month > 1) + day;
}

// Bonds with cash flows at dates: discounts by interpolation in a curve with a rate for each year.
__global__ void bond_values(const Bond* bonds, const float* curve, float* values, int today, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Bond bond = bonds[i];
  int month = bond.month;
  float value = 0, discount = 1;
  for (int k = 0; k < bond.years * bond.payments; ++k) {
    month += 12 / bond.payments;
    const int day = day_number(2025 + month / 12, month % 12, bond.day);
    const float t = (day - today) / 365.25f, part = t - floorf(t);
    const float rate = (1 - part) * curve[(int)t] + part * curve[(int)t + 1];
    discount = expf(-0.05f * rate * t);
    value += bond.coupon / bond.payments * discount;
  }
  values[i] = value + discount;
}

// Correlated numbers from independent ones: a triangular matrix in constant memory times each column.
__global__ void __launch_bounds__(192) correlate(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float independent[kFactors];
  for (int k = 0; k < kFactors; ++k) independent[k] = in[k * n + i];
  for (int row = 0; row < kFactors; ++row) {
    float sum = 0;
    for (int k = 0; k <= row; ++k) sum += cholesky[row * (row + 1) / 2 + k] * independent[k];
    out[row * n + i] = sum;
  }
}

template <int kSteps>
void price_asian(Market market, double* sum, int paths) {
  for (int r = 0; r < kLaunches; ++r)
    asian_paths<kSteps><<<ceil_div(paths, 128), 128>>>(sum, market, 12345, paths);
}

void run(int n) {
  const Market market = {0.03f, 0.25f};
  const int trees = ceil_div(n, 64), scenarios = n / 64, columns = n / 2;
  float factors[kFactors * (kFactors + 1) / 2];
  for (float& factor : factors) factor = 0.28f;
  cudaMemcpyToSymbol(cholesky, factors, sizeof factors);
  float *data = device_floats(8 * n), *out = device_zeros<float>(kFactors * columns);
  double *volatilities = device_zeros<double>(columns), *sums = device_zeros<double>(kDates + 2);
  Bond* bonds = device_array<Bond>(n / 4, [](int i) {
    return Bond{0.03f, 1 + i % 30, i % 12, 9, 1 << i % 3};
  });
  for (int r = 0; r < kLaunches; ++r)
    closed_form<<<ceil_div(n, 512), 256>>>(data, data + n, data + 2 * n, (float2*)out, market, n);
  for (int r = 0; r < kLaunches; ++r) binomial_lattice<<<trees, 256>>>(data, out, 1.0125f, 0.5f, 0.9998f);
  for (int r = 0; r < kLaunches; ++r)
    swaption_paths<<<ceil_div(n / 32, 64), 64>>>(data + 500, out, 0.03f, n / 32);
  for (int r = 0; r < kLaunches; ++r)
    implied_volatility<<<ceil_div(columns, 128), 128>>>(data, volatilities, columns);
  for (int r = 0; r < kLaunches; ++r)
    exposures<<<dim3(ceil_div(scenarios, 128), kDates), 128>>>(data, sums, scenarios);
  for (int r = 0; r < kLaunches; ++r)
    bond_values<<<ceil_div(n / 4, 224), 224>>>(bonds, data, out, 739626, n / 4);
  for (int r = 0; r < kLaunches; ++r) correlate<<<ceil_div(columns, 192), 192>>>(data, out, columns);
  price_asian<64>(market, sums + kDates, n / 8);
  price_asian<16>(market, sums + kDates + 1, n / 2);
  free_all(data, out, volatilities, sums, bonds);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("market_models");
}
