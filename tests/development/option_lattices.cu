// Valuation of options on one share in many ways: closed formulas, trees, finite differences, Monte Carlo and
// quasi-random paths, and the way back from prices to volatilities.
// n is the number of contracts; the heavy methods take a fraction of them, the paths are n or 64 * n.
#include "device.h"

struct Contract {
  float spot, strike, years, volatility, rate, dividend;
};

constexpr int kNaiveSteps = 48;
constexpr int kBlockSteps = 127;
constexpr int kTrinomialSteps = 60;
constexpr int kPoints = 48;
constexpr int kAssets = 6;

__constant__ float cholesky[kAssets][kAssets];
__constant__ unsigned primes[kAssets] = {2, 3, 5, 7, 11, 13};

__device__ __forceinline__ float normal_below(float x) {
  return 0.5f * erfcf(-0.70710678f * x);
}
__device__ __forceinline__ double normal_below(double x) {
  return 0.5 * erfc(-0.7071067811865476 * x);
}

// A xorshift generator with a multiplier at its output.
struct Generator {
  unsigned long long state;

  __device__ explicit Generator(unsigned seed) {
    state = (seed + 1ull) * 0x9e3779b97f4a7c15ull;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
    state = (state ^ (state >> 27)) | 1;
  }

  // A number above zero and below one.
  __device__ float uniform() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((state * 0x2545f4914f6cdd1dull >> 41) + 0.5f) * (1.0f / 8388608.0f);
  }

  __device__ float2 normals() {
    const float radius = sqrtf(-2 * __logf(uniform()));
    float s, c;
    __sincosf(6.2831853f * uniform(), &s, &c);
    return make_float2(radius * c, radius * s);
  }
};

// The formula of Black and Scholes for calls, with three of their Greeks.
template <class T>
__global__ void black_scholes(const Contract* contracts, T* prices, T* deltas, T* gammas, T* vegas, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Contract c = contracts[i];
  const T root = sqrt(T(c.years)), spread = T(c.volatility) * root;
  const T drift = T(c.rate) - T(c.dividend) + T(0.5) * T(c.volatility) * T(c.volatility);
  const T d1 = (log(T(c.spot) / T(c.strike)) + drift * T(c.years)) / spread, d2 = d1 - spread;
  const T growth = exp(-T(c.dividend) * T(c.years)), discount = exp(-T(c.rate) * T(c.years));
  const T density = T(0.3989422804014327) * exp(T(-0.5) * d1 * d1), below = normal_below(d1);
  prices[i] = T(c.spot) * growth * below - T(c.strike) * discount * normal_below(d2);
  deltas[i] = growth * below;
  gammas[i] = growth * density / (T(c.spot) * spread);
  vegas[i] = T(c.spot) * growth * density * root;
}

// American puts by a binomial tree in each thread's own memory.
__global__ void binomial_puts_naive(const Contract* contracts, float* prices, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Contract c = contracts[i];
  float values[kNaiveSteps + 1];
  const float dt = c.years / kNaiveSteps;
  const float up = expf(c.volatility * sqrtf(dt)), down = 1 / up, square = up * up;
  const float chance = (expf((c.rate - c.dividend) * dt) - down) / (up - down);
  const float discount = expf(-c.rate * dt);
  float lowest = c.spot * powf(down, kNaiveSteps);
  float at = lowest;
  for (int j = 0; j <= kNaiveSteps; ++j) {
    values[j] = fmaxf(c.strike - at, 0.0f);
    at *= square;
  }
  for (int step = kNaiveSteps - 1; step >= 0; --step) {
    lowest *= up;
    at = lowest;
    for (int j = 0; j <= step; ++j) {
      const float kept = discount * (chance * values[j + 1] + (1 - chance) * values[j]);
      values[j] = fmaxf(kept, c.strike - at);
      at *= square;
    }
  }
  prices[i] = values[0];
}

// American puts by a binomial tree in shared memory: one block for each contract, one thread for each node.
__global__ void __launch_bounds__(kBlockSteps + 1)
    binomial_puts_block(const Contract* contracts, double* prices) {
  __shared__ double values[2][kBlockSteps + 1];
  const Contract c = contracts[blockIdx.x];
  const int j = threadIdx.x;
  const double dt = double(c.years) / kBlockSteps;
  const double up = exp(c.volatility * sqrt(dt)), down = 1 / up;
  const double chance = (exp((c.rate - c.dividend) * dt) - down) / (up - down), discount = exp(-c.rate * dt);
  double at = c.spot * pow(up, 2.0 * j - kBlockSteps);
  values[0][j] = fmax(c.strike - at, 0.0);
  __syncthreads();
  int from = 0;
  for (int step = kBlockSteps - 1; step >= 0; --step) {
    at *= up;
    if (j <= step) {
      const double kept = discount * (chance * values[from][j + 1] + (1 - chance) * values[from][j]);
      values[1 - from][j] = fmax(kept, c.strike - at);
    }
    from = 1 - from;
    __syncthreads();
  }
  if (j == 0) prices[blockIdx.x] = values[from][0];
}

// American puts by a trinomial tree that a warp keeps in its registers, four nodes for each lane.
__global__ void trinomial_puts_warp(const Contract* contracts, float* prices, int n) {
  const int option = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (option >= n) return;
  const Contract c = contracts[option];
  const float dt = c.years / kTrinomialSteps, variance = c.volatility * c.volatility;
  const float move = c.volatility * sqrtf(3 * dt), up = expf(move), discount = expf(-c.rate * dt);
  const float tilt = (c.rate - c.dividend - 0.5f * variance) * sqrtf(dt / (12 * variance));
  const float pu = discount * (1 / 6.0f + tilt), pm = discount * 2 / 3.0f, pd = discount * (1 / 6.0f - tilt);
  float spots[4], values[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    spots[k] = c.spot * expf((4 * lane + k - kTrinomialSteps) * move);
    values[k] = fmaxf(c.strike - spots[k], 0.0f);
  }
  for (int step = kTrinomialSteps - 1; step >= 0; --step) {
    const float v4 = __shfl_down_sync(0xffffffffu, values[0], 1);
    const float v5 = __shfl_down_sync(0xffffffffu, values[1], 1);
    const float v[6] = {values[0], values[1], values[2], values[3], v4, v5};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      spots[k] *= up;
      values[k] = fmaxf(pd * v[k] + pm * v[k + 1] + pu * v[k + 2], c.strike - spots[k]);
    }
  }
  if (lane == 0) prices[option] = values[0];
}

// Puts by Crank and Nicolson's scheme: each thread solves its tridiagonal systems, interleaved with the
// others'.
__global__ void crank_nicolson(const Contract* contracts, double* values, double* uppers, double* prices,
                               int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Contract c = contracts[i];
  const double dt = double(c.years) / steps, variance = double(c.volatility) * c.volatility;
  const double dx = 8 * c.volatility * sqrt(double(c.years)) / (kPoints - 1);
  const double wide = 0.25 * variance * dt / (dx * dx);
  const double tilt = 0.25 * (c.rate - c.dividend - 0.5 * variance) * dt / dx;
  const double lower = wide - tilt, upper = wide + tilt, half = 2 * wide + 0.5 * c.rate * dt;
  for (int j = 0; j < kPoints; ++j)
    values[j * count + i] = fmax(c.strike - c.spot * exp((j - kPoints / 2) * dx), 0.0);
  for (int step = 0; step < steps; ++step) {
    double before = values[i], here = values[count + i], ratio = 0, solved = before;
    for (int j = 1; j < kPoints - 1; ++j) {
      const double after = values[(j + 1) * count + i];
      const double right = lower * before + (1 - half) * here + upper * after;
      const double pivot = 1 / (1 + half + lower * ratio);
      ratio = -upper * pivot;
      solved = (right + lower * solved) * pivot;
      uppers[j * count + i] = ratio;
      values[j * count + i] = solved;
      before = here;
      here = after;
    }
    double next = here;
    for (int j = kPoints - 2; j > 0; --j) {
      next = values[j * count + i] - uppers[j * count + i] * next;
      values[j * count + i] = next;
    }
  }
  prices[i] = values[kPoints / 2 * count + i];
}

// The sum and the sum of squares of a call's payoffs over many ends of paths, with their mirror images.
__global__ void __launch_bounds__(256) european_paths(double2* sums, Contract c, unsigned seed, int paths) {
  __shared__ double2 parts[8];
  const int thread = blockIdx.x * 256 + threadIdx.x;
  Generator random(thread + seed);
  const float spread = c.volatility * sqrtf(c.years);
  const float middle = c.spot * expf((c.rate - c.dividend) * c.years - 0.5f * spread * spread);
  double sum = 0, square = 0;
  for (int i = thread; i < paths; i += gridDim.x * 256) {
    const float2 z = random.normals();
    const float a = 0.5f * (fmaxf(middle * __expf(spread * z.x) - c.strike, 0.0f) +
                            fmaxf(middle * __expf(-spread * z.x) - c.strike, 0.0f));
    const float b = 0.5f * (fmaxf(middle * __expf(spread * z.y) - c.strike, 0.0f) +
                            fmaxf(middle * __expf(-spread * z.y) - c.strike, 0.0f));
    sum += a + b;
    square += a * a + b * b;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
    square += __shfl_down_sync(0xffffffffu, square, offset);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_double2(sum, square);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < 8; ++warp) {
      sum += parts[warp].x;
      square += parts[warp].y;
    }
    atomicAdd(&sums->x, sum);
    atomicAdd(&sums->y, square);
  }
}

// Asian calls that die when the price leaves a corridor: one path for each thread, which stops there.
__global__ void corridor_paths(float* payoffs, Contract c, float low, float high, int steps, int paths) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= paths) return;
  Generator random(i);
  const float dt = c.years / steps, spread = c.volatility * sqrtf(dt);
  const float drift = (c.rate - c.dividend - 0.5f * c.volatility * c.volatility) * dt;
  float at = c.spot, sum = 0, payoff = 0;
  int step = 0;
  for (; step < steps; step += 2) {
    const float2 z = random.normals();
    at *= __expf(drift + spread * z.x);
    sum += at;
    if (at < low || at > high) break;
    at *= __expf(drift + spread * z.y);
    sum += at;
    if (at < low || at > high) break;
  }
  if (step >= steps) payoff = fmaxf(sum / step - c.strike, 0.0f);
  payoffs[i] = payoff;
}

// The inverse of the normal distribution by rational functions: one for the middle and one for the tails.
__device__ float inverse_normal(float p) {
  const float q = p - 0.5f;
  if (fabsf(q) < 0.47575f) {
    const float r = q * q;
    const float above =
        ((((-39.696830f * r + 220.946098f) * r - 275.928510f) * r + 138.357751f) * r - 30.664798f) * r +
        2.506628f;
    const float below =
        ((((-54.476098f * r + 161.585836f) * r - 155.698979f) * r + 66.801311f) * r - 13.280681f) * r + 1;
    return q * above / below;
  }
  const float r = sqrtf(-2 * logf(q < 0 ? p : 1 - p));
  const float above =
      ((((-0.007784894f * r - 0.32239645f) * r - 2.4007582f) * r - 2.5497325f) * r + 4.3746641f) * r +
      2.9381639f;
  const float below = (((0.007784695f * r + 0.32246712f) * r + 2.4451341f) * r + 3.7544086f) * r + 1;
  return q < 0 ? above / below : -above / below;
}

// Payoffs of a basket of correlated shares at the points of Halton's sequence.
__global__ void halton_baskets(float* payoffs, float spread, float strike, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float z[kAssets];
#pragma unroll
    for (int a = 0; a < kAssets; ++a) {
      const unsigned base = primes[a];
      const float inverse = 1.0f / base;
      float scale = inverse, value = 0;
      for (unsigned rest = i + 20; rest > 0; rest /= base) {
        value += scale * (rest % base);
        scale *= inverse;
      }
      z[a] = inverse_normal(fminf(fmaxf(value, 1e-7f), 0.9999999f));
    }
    float basket = 0;
#pragma unroll
    for (int a = 0; a < kAssets; ++a) {
      float mixed = 0;
#pragma unroll
      for (int b = 0; b <= a; ++b) mixed += cholesky[a][b] * z[b];
      basket += expf(spread * mixed - 0.5f * spread * spread);
    }
    payoffs[i] = fmaxf(100 * basket / kAssets - strike, 0.0f);
  }
}

// Implied volatilities of calls by Newton's method with a bracket to fall back on, until the price fits.
__global__ void implied_volatilities(const Contract* contracts, const double* quotes, double* volatilities,
                                     int* rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Contract c = contracts[i];
  const double root = sqrt(double(c.years)), moneyness = log(double(c.spot) / c.strike);
  const double forward = c.spot * exp(-double(c.dividend) * c.years);
  const double floor_price = c.strike * exp(-double(c.rate) * c.years);
  double low = 1e-3, high = 4, at = 0.25;
  int round = 0;
  for (; round < 24; ++round) {
    const double spread = at * root;
    const double d1 = (moneyness + (c.rate - c.dividend) * c.years) / spread + 0.5 * spread;
    const double excess = forward * normal_below(d1) - floor_price * normal_below(d1 - spread) - quotes[i];
    if (fabs(excess) < 1e-9 * c.spot) break;
    if (excess > 0)
      high = at;
    else
      low = at;
    const double vega = forward * root * 0.3989422804014327 * exp(-0.5 * d1 * d1);
    const double next = at - excess / vega;
    at = next > low && next < high ? next : 0.5 * (low + high);
  }
  volatilities[i] = at;
  rounds[i] = round;
}

static Contract contract_of(int i) {
  return Contract{80 + 40 * hashed_unit(i),      70 + 60 * hashed_unit(i + 1),
                  0.1f + 2 * hashed_unit(i + 2), 0.12f + 0.4f * hashed_unit(i + 3),
                  0.05f * hashed_unit(i + 4),    0.03f * hashed_unit(i + 5)};
}

// A quote for a call that its own volatility explains, but for a little noise.
static double quote_of(int i) {
  const Contract c = contract_of(i);
  const double spread = c.volatility * sqrt(double(c.years));
  const double d = (log(double(c.spot) / c.strike) + (c.rate - c.dividend) * c.years) / spread + spread / 2;
  const double price = c.spot * exp(-double(c.dividend) * c.years) * 0.5 * erfc(-d * 0.70710678) -
                       c.strike * exp(-double(c.rate) * c.years) * 0.5 * erfc(-(d - spread) * 0.70710678);
  return price * (0.98 + 0.04 * hashed_unit(i + 6));
}

void run(int n) {
  const int paths = 64 * n, solved = n / 8, trees = n / 16;
  float host_cholesky[kAssets][kAssets] = {};
  for (int a = 0; a < kAssets; ++a)
    for (int b = 0; b <= a; ++b) host_cholesky[a][b] = b < a ? 0.25f : sqrtf(1 - 0.0625f * a);
  cudaMemcpyToSymbol(cholesky, host_cholesky, sizeof host_cholesky);
  const Contract example = {100, 105, 1.5f, 0.25f, 0.03f, 0.01f};
  Contract* contracts = device_array<Contract>(n, [](int i) { return contract_of(i); });
  float* out = device_zeros<float>(4 * n);
  double* exact = device_zeros<double>(4 * n);
  double* quotes = device_array<double>(n, [](int i) { return quote_of(i); });
  int* rounds = device_zeros<int>(n);
  double2* sums = device_zeros<double2>(1);
  double* values = device_zeros<double>(kPoints * solved);
  double* uppers = device_zeros<double>(kPoints * solved);
  const int blocks = ceil_div(n, 256);
  for (int run = 0; run < kLaunches; ++run)
    black_scholes<float><<<blocks, 256>>>(contracts, out, out + n, out + 2 * n, out + 3 * n, n);
  for (int run = 0; run < kLaunches; ++run)
    black_scholes<double>
        <<<ceil_div(n, 128), 128>>>(contracts, exact, exact + n, exact + 2 * n, exact + 3 * n, n);
  for (int run = 0; run < kLaunches; ++run) binomial_puts_naive<<<ceil_div(n, 64), 64>>>(contracts, out, n);
  for (int run = 0; run < kLaunches; ++run) binomial_puts_block<<<trees, kBlockSteps + 1>>>(contracts, exact);
  for (int run = 0; run < kLaunches; ++run)
    trinomial_puts_warp<<<ceil_div(solved, 4), 128>>>(contracts, out, solved);
  for (int run = 0; run < kLaunches; ++run)
    crank_nicolson<<<ceil_div(solved, 32), 32>>>(contracts, values, uppers, exact, 4, solved);
  for (int run = 0; run < kLaunches; ++run)
    european_paths<<<min(ceil_div(paths, 1024), 1056), 256>>>(sums, example, 42u, paths);
  for (int run = 0; run < kLaunches; ++run)
    corridor_paths<<<ceil_div(n, 192), 192>>>(out, example, 70.0f, 140.0f, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    halton_baskets<<<min(ceil_div(n, 512), 528), 512>>>(out, 0.3f, 95.0f, n);
  for (int run = 0; run < kLaunches; ++run)
    implied_volatilities<<<ceil_div(n, 128), 128>>>(contracts, quotes, exact, rounds, n);
  free_all(contracts, out, exact, quotes, rounds, sums, values, uppers);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("option_lattices");
}
