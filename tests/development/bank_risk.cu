// Pricing and risk of a book of n options: a tree, Monte Carlo, curves, correlations and a difference scheme.
#include "device.h"

constexpr int kTreeSteps = 512, kBins = 256, kFactors = 32, kDates = 24, kNodes = 64, kTenors = 30;

struct Greeks { float price, delta, gamma, vega; };
__device__ uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(0xD2511F53u, c.x), high1 = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high1 ^ c.y ^ key.x, 0xCD9E8D57u * c.z, high0 ^ c.w ^ key.y, 0xD2511F53u * c.x);
    key = make_uint2(key.x + 0x9E3779B9u, key.y + 0xBB67AE85u);
  }
  return c;
}
__device__ float2 normals(unsigned a, unsigned b) {
  const float radius = sqrtf(-2 * logf(a * 2.3283064e-10f + 1.1641532e-10f));
  float s, c;
  sincospif(b * 4.6566129e-10f, &s, &c);
  return make_float2(radius * s, radius * c);
}
__device__ unsigned xorshift(uint4& state) {
  const unsigned t = state.x ^ state.x << 11;
  state = make_uint4(state.y, state.z, state.w, state.w ^ state.w >> 19 ^ t ^ t >> 8);
  return state.w;
}
__device__ float warp_sum(float value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
  return value;
}

// Prices European calls and their greeks in closed form; an option is spot, strike, years and volatility.
__global__ void price_greeks(const float4* options, Greeks* out, float rate, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 o = options[i];
  const float deviation = o.w * sqrtf(o.z), discount = expf(-rate * o.z);
  const float d1 = (logf(o.x / o.y) + (rate + 0.5f * o.w * o.w) * o.z) / deviation, d2 = d1 - deviation;
  const float density = 0.39894228f * expf(-0.5f * d1 * d1), delta = normcdff(d1);
  out[i] = {o.x * delta - o.y * discount * normcdff(d2), delta, density / (o.x * deviation), o.x * density * o.z};
}

// Rolls an American put back through a binomial tree, one block for an option, two rows in shared memory.
__global__ void binomial_american(const float4* options, float* prices, float rate) {
  __shared__ float values[2][kTreeSteps + 1];
  const float4 o = options[blockIdx.x];
  const float dt = o.z / kTreeSteps, logUp = o.w * sqrtf(dt), up = expf(logUp), down = 1 / up;
  const float p = (expf(rate * dt) - down) / (up - down), discount = expf(-rate * dt);
  for (int j = threadIdx.x; j <= kTreeSteps; j += blockDim.x)
    values[kTreeSteps % 2][j] = fmaxf(o.y - o.x * __expf(logUp * (2 * j - kTreeSteps)), 0);
  __syncthreads();
  for (int step = kTreeSteps - 1; step >= 0; --step) {
    const float* later = values[(step + 1) % 2];
    for (int j = threadIdx.x; j <= step; j += blockDim.x) {
      const float hold = discount * (p * later[j + 1] + (1 - p) * later[j]);
      values[step % 2][j] = fmaxf(hold, o.y - o.x * __expf(logUp * (2 * j - step)));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) prices[blockIdx.x] = values[0][0];
}

// Simulates the average of a price over 64 days with Philox and adds the payoffs up for the block.
__global__ void asian_philox(double* total, float spot, float strike, float sigma, unsigned seed, int paths) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float price = spot, sum = 0;
  for (int step = 0; step < 16; ++step) {
    const uint4 bits = philox(make_uint4(i, step, 0, 0), make_uint2(seed, 17));
    const float2 a = normals(bits.x, bits.y), b = normals(bits.z, bits.w);
    for (float z : {a.x, a.y, b.x, b.y}) sum += price *= __expf(sigma * z - 0.5f * sigma * sigma);
  }
  const float payoff = warp_sum(i < paths ? fmaxf(sum / 64 - strike, 0) : 0);
  if (threadIdx.x % 32 == 0) atomicAdd(total, static_cast<double>(payoff));
}

// Walks Heston paths with full truncation; the generators live in global memory between launches.
__global__ void heston_paths(uint4* states, float2* ends, int steps, float kappa, float theta, float xi, int paths) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= paths) return;
  uint4 state = states[i];
  float logPrice = 0, variance = theta, dt = 1.0f / steps, root = sqrtf(dt);
  for (int step = 0; step < steps; ++step) {
    const unsigned bits = xorshift(state);
    const float2 z = normals(bits, xorshift(state));
    const float positive = fmaxf(variance, 0), volatility = sqrtf(positive) * root;
    logPrice += volatility * z.x - 0.5f * positive * dt;
    variance += kappa * (theta - positive) * dt + xi * volatility * (-0.7f * z.x + 0.7141428f * z.y);
  }
  states[i] = state;
  ends[i] = make_float2(logPrice, variance);
}

// Bootstraps half-yearly discount factors from par swaps, a few Newton steps for each tenor, a curve a thread.
__global__ void bootstrap_curves(const float* rates, double* factors, int curves) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= curves) return;
  double annuity = 0, factor = 1;
  for (int t = 0; t < kTenors; ++t) {
    const double coupon = 0.01 + 0.02 * rates[t * curves + i];
    double x = 0.98;
    for (int k = 0; k < 12; ++k) {
      const double value = coupon * (annuity + 0.5 * factor * (x + x * x)) + factor * x * x - 1;
      const double change = value / (factor * (coupon * (0.5 + x) + 2 * x));
      x -= change;
      if (fabs(change) < 1e-11) break;
    }
    annuity += 0.5 * factor * (x + x * x);
    factor *= x * x;
    factors[t * curves + i] = factor;
  }
}

// Draws 32 normals for a scenario, a lane each, and correlates them with a Cholesky factor in shared memory.
__global__ void correlated_shocks(const float* cholesky, float* shocks, unsigned seed, int scenarios) {
  __shared__ float lower[kFactors][kFactors + 1];
  for (int k = threadIdx.x; k < kFactors * kFactors; k += blockDim.x) lower[k / kFactors][k % kFactors] = cholesky[k];
  __syncthreads();
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32; s < scenarios; s += warps) {
    const uint4 bits = philox(make_uint4(s, lane, 1, 0), make_uint2(seed, 5));
    const float z = normals(bits.x, bits.y).x;
    float sum = 0;
    for (int k = 0; k < kFactors; ++k) sum += lower[lane][k] * __shfl_sync(~0u, z, k);
    shocks[s * kFactors + lane] = sum;
  }
}

// Adds up expected losses on netting sets of differing lengths, a warp for a set, over all exposure dates.
__global__ void cva_sums(const float* values, const int* starts, double* cva, int sets, int trades) {
  const int set = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (set >= sets) return;
  const int first = starts[set], last = starts[set + 1];
  float total = 0, survival = 1, hazard = 0.01f + 0.001f * (set % 50);
  for (int date = 0; date < kDates; ++date) {
    float net = 0;
    for (int t = first + lane; t < last; t += 32) net += values[date * trades + t] - 0.5f;
    net = warp_sum(net);
    const float next = expf(-hazard * (date + 1) * 0.25f);
    total += fmaxf(net, 0) * (survival - next) * expf(-0.00625f * date);
    survival = next;
  }
  if (lane == 0) atomicAdd(cva, 0.6 * total);
}

// Steps an implicit difference scheme back in time, each thread solving its tridiagonal systems by Thomas' method.
__global__ void implicit_grid(const float4* options, double* v, double* c, int steps, double rate, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double variance = options[i].w * options[i].w, dt = options[i].z / steps, strike = options[i].y;
  for (int k = 0; k < kNodes; ++k) v[k * count + i] = fmax(strike - 0.05 * k * strike, 0.0);
  for (int step = 0; step < steps; ++step) {
    double above = 0, value = v[i];
    for (int k = 0; k < kNodes; ++k) {
      const double spread = 0.5 * dt * variance * k * k, lean = 0.5 * dt * rate * k;
      const double scale = 1 / (1 + 2 * spread + dt * rate + (spread - lean) * above);
      c[k * count + i] = above = -(spread + lean) * scale;
      v[k * count + i] = value = (v[k * count + i] + (spread - lean) * (k ? value : 0)) * scale;
    }
    for (int k = kNodes - 2; k >= 0; --k) v[k * count + i] = value = v[k * count + i] - c[k * count + i] * value;
  }
}


// Counts losses of a portfolio by size with atomics on a table in shared memory.
__global__ void loss_histogram(const float4* shocks, int* bins, int quads) {
  __shared__ int table[kBins];
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) table[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float loss = 0.4f * shocks[i].x + 0.3f * shocks[i].y + 0.2f * shocks[i].z - 0.1f * shocks[i].w;
    atomicAdd(&table[min(max(static_cast<int>(loss * 24) + kBins / 2, 0), kBins - 1)], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) atomicAdd(&bins[k], table[k]);
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)
void run(int n) {
  const int trees = n / 128, curves = n / 4, trades = n / 2, sets = n / 80, grids = n / 8;
  auto* options = device_array<float4>(n, [](int i) { return make_float4(80 + i % 41, 100, i % 9 + 1, 0.3f); });
  auto* states = device_array<uint4>(n, [](int i) { return make_uint4(i + 1, i * 40503u, ~i, i * 2654435761u); });
  auto* starts = device_array<int>(sets + 1, [&](int i) { return i == sets ? trades : i * 40 + i * 37 % 64 / 2; });
  float *uniform = device_array<float>(12 * n, hashed_unit), *out = device_zeros<float>(32 * n);
  double *v = device_zeros<double>(8 * n), *c = device_zeros<double>(8 * n), *sums = device_zeros<double>(512);
  float *lower = device_array<float>(1024, [](int i) { return i % 32 <= i / 32 ? 1.0f / (1 + i / 32) : 0; });
  REPEAT price_greeks<<<ceil_div(n, 256), 256>>>(options, (Greeks*)out, 0.03f, n);
  REPEAT binomial_american<<<trees, 256>>>(options, out, 0.03f);
  REPEAT asian_philox<<<ceil_div(n, 512), 512>>>(sums, 100, 95, 0.02f, 7 + r, n);
  REPEAT heston_paths<<<ceil_div(n, 128), 128>>>(states, (float2*)out, 50, 1.5f, 0.04f, 0.3f, n);
  REPEAT bootstrap_curves<<<ceil_div(curves, 192), 192>>>(uniform, v, curves);
  REPEAT correlated_shocks<<<ceil_div(curves, 128), 1024>>>(lower, out, 99, curves);
  REPEAT loss_histogram<<<std::min(ceil_div(n, 384), 792), 384>>>((float4*)out, (int*)v, curves * 8);
  REPEAT cva_sums<<<ceil_div(sets, 4), 128>>>(uniform, starts, sums, sets, trades);
  REPEAT implicit_grid<<<ceil_div(grids, 32), 32>>>(options, v, c, 12, 0.03, grids);
  free_all(options, states, starts, uniform, out, v, c, sums, lower);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("bank_risk");
}
