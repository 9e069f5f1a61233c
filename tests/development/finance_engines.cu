// Engines that value n contracts: closed forms, trees, paths, grids and order books.
#include "device.h"

// Calls and their deltas by Black and Scholes. The quotes are four arrays, one after the other.
template <class T>
__global__ void black_scholes(const T* __restrict__ quotes, T* __restrict__ values, T rate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T spot = 80 + 40 * quotes[i], strike = 80 + 40 * quotes[n + i];
  const T years = T(0.1) + 5 * quotes[2 * n + i], spread = (T(0.1) + quotes[3 * n + i]) * sqrt(years);
  const T d1 = (log(spot / strike) + rate * years) / spread + spread / 2;
  const T delta = T(0.5) * (1 + erf(d1 * T(0.70710678))),
          other = T(0.5) * (1 + erf((d1 - spread) * T(0.70710678)));
  values[i] = spot * delta - strike * exp(-rate * years) * other;
  values[n + i] = delta;
}

// An American put on a binomial tree: a block for each option, a thread for each node.
__global__ void american_trees(const float* strikes, float* values, float up, float weight) {
  __shared__ float level[256];
  const int t = threadIdx.x, steps = blockDim.x - 1;
  const float strike = 90 + 20 * strikes[blockIdx.x], move = logf(up);
  float spot = 100 * expf(move * (2 * t - steps)), value = fmaxf(strike - spot, 0.0f);
  for (int step = steps; step > 0; --step) {
    level[t] = value;
    __syncthreads();
    if (t < step) {
      spot *= up;
      value = fmaxf(strike - spot, 0.9998f * (weight * level[t + 1] + (1 - weight) * level[t]));
    }
    __syncthreads();
  }
  if (t == 0) values[blockIdx.x] = value;
}

struct Heston {
  float rate, reversion, mean, noise, correlation;
};

__device__ inline unsigned next_bits(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

// Paths of Heston's model with normal numbers by Box and Muller, and the mean of what they pay.
__global__ void heston_paths(float* ends, double* total, Heston model, int steps, int paths) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = (path + 1) * 2654435761u | 1;
  float spot = 0, variance = model.mean;
  const float dt = 1.0f / steps, root = sqrtf(dt), rest = sqrtf(1 - model.correlation * model.correlation);
  for (int step = 0; step < steps; ++step) {
    const float u = (next_bits(state) + 1.0f) * 2.3283064e-10f, turn = next_bits(state) * 1.4629181e-9f;
    const float radius = sqrtf(-2 * logf(fminf(u, 1.0f)));
    float s, c;
    __sincosf(turn, &s, &c);
    const float held = fmaxf(variance, 0.0f), swing = sqrtf(held) * root;
    spot += (model.rate - held / 2) * dt + swing * radius * c;
    variance += model.reversion * (model.mean - held) * dt +
                model.noise * swing * radius * (model.correlation * c + rest * s);
  }
  float pays = path < paths ? fmaxf(100 * expf(spot) - 100, 0.0f) : 0.0f;
  if (path < paths) ends[path] = pays;
  for (int d = 16; d > 0; d /= 2) pays += __shfl_down_sync(0xffffffffu, pays, d);
  if (threadIdx.x % 32 == 0) atomicAdd(total, (double)pays);
}

// An implicit step of a grid of prices by Thomas's method: a thread for each row, rows side by side.
__global__ void implicit_rows(double* __restrict__ values, double* __restrict__ scratch, double dt, int rows,
                              int points) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double factor = 0, known = 0;
  for (int j = 0; j < points; ++j) {
    const double spread = 0.02 * (j + 1) * (j + 1), drift = 0.01 * (j + 1);
    const double below = -dt * (spread - drift) / 2, above = -dt * (spread + drift) / 2;
    const double pivot = 1 / (1 + dt * (spread + 0.02) - below * factor);
    factor = j < points - 1 ? above * pivot : 0.0;
    known = (values[j * rows + row] - below * known) * pivot;
    scratch[j * rows + row] = factor;
    values[j * rows + row] = known;
  }
  for (int j = points - 2; j >= 0; --j) {
    values[j * rows + row] = known = values[j * rows + row] - scratch[j * rows + row] * known;
  }
}

// Yields by Newton's method until they stand still. The flows of a bond lie between two offsets.
__global__ void bond_yields(const int* offsets, const float* flows, double* yields, int bonds) {
  const int bond = blockIdx.x * blockDim.x + threadIdx.x;
  if (bond >= bonds) return;
  const int begin = offsets[bond], end = offsets[bond + 1];
  double rate = 0.03, change = 1;
  int tries = 0;
  while (fabs(change) > 1e-10 && tries++ < 20) {
    double value = -(0.9 + 0.01 * (bond % 20)), slope = 0;
    for (int k = begin; k < end; ++k) {
      const double years = 0.5 * (k - begin + 1);
      const double now = (0.01 + 0.03 * flows[k] + (k == end - 1)) * exp(-rate * years);
      value += now;
      slope -= years * now;
    }
    rate -= change = value / slope;
  }
  yields[bond] = rate;
}

// A histogram of losses for the value at risk, with a copy in shared memory for each warp.
__global__ void loss_histogram(const float* losses, unsigned* counts, float scale, int n) {
  __shared__ unsigned bins[4][512];
  for (int k = threadIdx.x; k < 4 * 512; k += blockDim.x) bins[k / 512][k % 512] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[threadIdx.x / 32][min(511, (int)(losses[i] * losses[i] * scale))], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 512; k += blockDim.x)
    atomicAdd(&counts[k], bins[0][k] + bins[1][k] + bins[2][k] + bins[3][k]);
}

// Covariances with weights that fade, by the returns of kDays days: the upper triangle and its mirror.
template <int kDays>
__global__ void update_covariances(const float* returns, double* covariances, double fade, int assets) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (j >= assets || i > j) return;
  double value = covariances[i * assets + j];
#pragma unroll
  for (int day = 0; day < kDays; ++day)
    value = fade * value + (1 - fade) * returns[day * assets + i] * returns[day * assets + j];
  covariances[i * assets + j] = covariances[j * assets + i] = value;
}

struct Message {
  unsigned char flags, level;
  unsigned short quantity;
};

// Replays of order books: a thread for each book, which has sixteen prices. The flags say what to do.
__global__ void replay_books(const Message* messages, long long* traded, int books, int length) {
  const int book = blockIdx.x * blockDim.x + threadIdx.x;
  if (book >= books) return;
  int depth[16] = {};
  long long volume = 0;
  for (int k = 0; k < length; ++k) {
    const Message m = messages[book * length + k];
    const int at = m.level & 15;
    if (m.flags & 1) {
      depth[at] += m.quantity;
    } else if (m.flags & 2) {
      depth[at] = max(0, depth[at] - m.quantity);
    } else {
      int rest = m.quantity;
      for (int p = 0; p < 16 && rest > 0; ++p) {
        const int taken = min(rest, depth[p]);
        depth[p] -= taken, rest -= taken;
        volume += (long long)taken * (100 + p);
      }
    }
  }
  traded[book] = volume;
}

void run(int n) {
  const int options = n / 64, rows = n / 16, bonds = n / 8, books = n / 16;
  int assets = 16;
  while (assets * assets < 2 * n) assets += 16;
  const dim3 tiles(assets / 16, assets / 16);
  double* quotes = device_doubles(4 * n);
  double* scratch = device_zeros<double>(4 * n);
  float* losses = device_array<float>(8 * n, [](int i) { return hashed_unit(i); });
  Message* messages = device_array<Message>(books * 64, [](int i) {
    const unsigned bits = i * 2654435761u;
    return Message{(unsigned char)(bits >> 28), (unsigned char)(bits >> 20), (unsigned short)(bits >> 22)};
  });
  int* offsets = device_array<int>(bonds + 1, [](int i) { return 10 * i + i * 7 % 9; });
  double* covariances = device_zeros<double>(assets * assets);
  double* out = device_zeros<double>(2 * n);
  unsigned* counts = device_zeros<unsigned>(512);
  for (int r = 0; r < kLaunches; ++r) black_scholes<<<ceil_div(n, 192), 192>>>(losses, (float*)out, 0.03f, n);
  for (int r = 0; r < kLaunches; ++r) black_scholes<<<ceil_div(n, 256), 256>>>(quotes, out, 0.03, n);
  for (int r = 0; r < kLaunches; ++r) american_trees<<<options, 256>>>(losses, (float*)out, 1.012f, 0.505f);
  for (int r = 0; r < kLaunches; ++r) american_trees<<<options, 100>>>(losses, (float*)out, 1.02f, 0.51f);
  const Heston model = {0.02f, 1.5f, 0.04f, 0.3f, -0.6f};
  for (int r = 0; r < kLaunches; ++r)
    heston_paths<<<ceil_div(n, 128), 128>>>((float*)out, scratch, model, 52, n);
  for (int r = 0; r < kLaunches; ++r)
    implicit_rows<<<ceil_div(rows, 64), 64>>>(quotes, scratch, 0.01, rows, 64);
  for (int r = 0; r < kLaunches; ++r) bond_yields<<<ceil_div(bonds, 96), 96>>>(offsets, losses, out, bonds);
  for (int r = 0; r < kLaunches; ++r)
    loss_histogram<<<min(1056, ceil_div(n, 128)), 128>>>(losses, counts, 512.0f, 8 * n);
  for (int r = 0; r < kLaunches; ++r)
    update_covariances<4><<<tiles, dim3(16, 16)>>>(losses, covariances, 0.94, assets);
  for (int r = 0; r < kLaunches; ++r)
    replay_books<<<ceil_div(books, 128), 128>>>(messages, (long long*)out, books, 64);
  free_all(quotes, scratch, losses, messages, offsets, covariances, out, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("finance_engines");
}
