// n bonds and contracts, and what they are worth.
#include "device.h"

// The yield of a bond by Newton's method: six steps over 1 to 40 payments.
__global__ void yields(const double* prices, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int payments = 1 + i / 32 % 40;
  const double price = 0.8 + 0.4 * prices[i];
  double rate = 0.05;
  for (int k = 0; k < 6; ++k) {
    const double factor = 1 / (1 + rate);
    double discount = 1, value = 0, slope = 0;
    for (int t = 1; t <= payments; ++t) {
      discount *= factor;
      value += 0.04 * discount;
      slope -= 0.04 * t * discount * factor;
    }
    value += discount;
    slope -= payments * discount * factor;
    rate -= (value - price) / slope;
  }
  out[i] = rate;
}

// A tree with three branches for each block, in dynamic shared memory: backwards from the last of 120 steps.
__global__ void trinomial_trees(const float* strikes, float* values) {
  extern __shared__ float level[];
  const float strike = 80 + 40 * strikes[blockIdx.x];
  const int nodes = 241;
  for (int k = threadIdx.x; k < nodes; k += blockDim.x)
    level[k] = fmaxf(strike - 100 * __expf(0.02f * (k - 120)), 0.0f);
  __syncthreads();
  int from = 0;
  for (int step = 119; step >= 0; --step) {
    const float* old = level + from;
    from = nodes - from;
    for (int k = threadIdx.x; k < 2 * step + 1; k += blockDim.x)
      level[from + k] = 0.9998f * (0.17f * old[k] + 0.66f * old[k + 1] + 0.17f * old[k + 2]);
    __syncthreads();
  }
  if (threadIdx.x == 0) values[blockIdx.x] = level[from];
}

struct Contract {
  double notional, rate, maturity;
  int kind, payments;
};

// An array of structures of different kinds, in no order: a switch that divides the warps.
__global__ void values_by_kind(const Contract* contracts, const double* __restrict__ curve, double* out,
                               int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Contract c = contracts[i];
  double value = 0;
  switch (i * 7 % 5) {
    case 0:  // a loan
      value = c.notional * exp(-c.rate * c.maturity);
      break;
    case 1:  // a swap
      for (int k = 0; k < 12; ++k) value += c.notional * (c.rate - 0.02) * curve[k * 4];
      break;
    case 2: {  // a forward
      const double t = 1 + c.maturity;
      value = c.notional * (pow(1 + c.rate, t) - t);
      break;
    }
    case 3:  // an annuity
      value = c.notional * (1 - exp(-5 * c.rate)) / (c.rate + 1e-3);
      break;
    default:
      value = c.notional;
  }
  out[i] = value;
}

// The eight worst of 128 scenarios of each position, kept in registers in order.
__global__ void worst_scenarios(const float* losses, float* worst, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float most[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) most[k] = -1;
  for (int s = 0; s < 128; ++s) {
    float loss = losses[s * n + i];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float kept = fmaxf(most[k], loss);
      loss = fminf(most[k], loss);
      most[k] = kept;
    }
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += most[k];
  worst[i] = sum / 8;
}

// Interest in whole cents for 24 months with 64-bit integers, each month's rounded half up.
__global__ void amortise(const long long* cents, long long* rest, int rate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long balance = cents[i] & 0xffffffffff;
  const long long payment = balance / 24 + 1;
  for (int month = 0; month < 24; ++month) {
    const long long interest = (balance * rate + 600000) / 1200000;
    balance += interest - payment;
    if (balance < 0) balance = 0;
  }
  rest[i] = balance;
}

void run(int n) {
  double* prices = device_doubles(4 * n);
  float* losses = device_floats(128 * n);
  double* curve = device_doubles(48);
  double* out = device_zeros<double>(n);
  const int trees = n / 16;
  for (int r = 0; r < kLaunches; ++r) yields<<<ceil_div(n, 128), 128>>>(prices, out, n);
  for (int r = 0; r < kLaunches; ++r)
    trinomial_trees<<<trees, 128, 2 * 241 * sizeof(float)>>>(losses, (float*)out);
  for (int r = 0; r < kLaunches; ++r) trinomial_trees<<<trees, 32, 40000>>>(losses, (float*)out);
  for (int r = 0; r < kLaunches; ++r)
    values_by_kind<<<ceil_div(n, 256), 256>>>((Contract*)prices, curve, out, n);
  for (int r = 0; r < kLaunches; ++r) worst_scenarios<<<ceil_div(n, 64), 64>>>(losses, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    amortise<<<ceil_div(n, 192), 192>>>((long long*)prices, (long long*)out, 4350, n);
  free_all(prices, losses, curve, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("portfolios");
}
