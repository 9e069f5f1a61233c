// Support vector machines: pieces of their training and of their use, with kernels and without.
// n is the number of training examples of 64 features each, a multiple of 64; they head a pool of 16 n.
#include "device.h"

constexpr int kFeatures = 64;
constexpr unsigned kFull = 0xffffffffu;

struct Gaussian {
  float gamma;
  __device__ float operator()(float square) const { return __expf(-gamma * square); }
};

struct RationalQuadratic {
  float scale;
  __device__ float operator()(float square) const { return 1 - square / (square + scale); }
};

template <class Real>
__device__ Real warp_sum(Real value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kFull, value, offset);
  return value;
}

// Orders floats as whole numbers, and puts the index behind, so that the greatest word tells value and place.
__device__ unsigned long long ranked(float value, unsigned index) {
  const unsigned bits = __float_as_uint(value);
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 | index;
}

// Computes the matrix of kernel values of all pairs of examples, a thread per pair.
__global__ void gram_by_pairs(const float* x, float* gram, float gamma, int n) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  float square = 0;
  for (int k = 0; k < kFeatures; ++k) {
    const float difference = x[i * kFeatures + k] - x[j * kFeatures + k];
    square += difference * difference;
  }
  gram[i * n + j] = expf(-gamma * square);
}

// Computes the same matrix by tiles of 64 x 64, each thread sixteen of its values, features in shared memory.
template <class Kernel>
__global__ void __launch_bounds__(256) gram_by_tiles(const float* __restrict__ x, float* __restrict__ gram,
                                                     Kernel kernel, int n) {
  __shared__ float rows[16][65], columns[16][65];
  const int thread = threadIdx.y * 16 + threadIdx.x, top = blockIdx.y * 64, left = blockIdx.x * 64;
  float square[4][4] = {};
  for (int from = 0; from < kFeatures; from += 16) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int feature = thread % 16, example = thread / 16 + 16 * part;
      rows[feature][example] = x[min(top + example, n - 1) * kFeatures + from + feature];
      columns[feature][example] = x[min(left + example, n - 1) * kFeatures + from + feature];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        a[r] = rows[k][threadIdx.y + 16 * r];
        b[r] = columns[k][threadIdx.x + 16 * r];
      }
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) square[r][c] += (a[r] - b[c]) * (a[r] - b[c]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int i = top + threadIdx.y + 16 * r, j = left + threadIdx.x + 16 * c;
      if (i < n && j < n) gram[i * n + j] = kernel(square[r][c]);
    }
  }
}

// Computes one column of a polynomial kernel in double precision, a warp per example.
template <int kDegree>
__global__ void polynomial_column(const double* x, double* column, int pivot, int count) {
  const int example = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (example >= count) return;
  double sum = 0;
  for (int k = lane; k < kFeatures; k += 32) sum += x[example * kFeatures + k] * x[pivot * kFeatures + k];
  sum = warp_sum(sum) / kFeatures + 1;
  double power = sum;
#pragma unroll
  for (int k = 1; k < kDegree; ++k) power *= sum;
  if (lane == 0) column[example] = power;
}

// Finds the pair of examples that violates the conditions of optimality most, by atomic maxima.
__global__ void most_violating(const float* gradient, const float* alphas, const signed char* labels,
                               float limit, unsigned long long* best, int count) {
  __shared__ unsigned long long best_up[32], best_down[32];
  unsigned long long up = 0, down = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const bool positive = labels[i] > 0, below = alphas[i] < limit, above = alphas[i] > 0;
    const float slope = positive ? -gradient[i] : gradient[i];
    if (positive ? below : above) up = max(up, ranked(slope, i));
    if (positive ? above : below) down = max(down, ranked(-slope, i));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    up = max(up, __shfl_down_sync(kFull, up, offset));
    down = max(down, __shfl_down_sync(kFull, down, offset));
  }
  if (threadIdx.x % 32 == 0) {
    best_up[threadIdx.x / 32] = up;
    best_down[threadIdx.x / 32] = down;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) {
      up = max(up, best_up[w]);
      down = max(down, best_down[w]);
    }
    atomicMax(best, up);
    atomicMax(best + 1, down);
  }
}

// Adds the change that two coefficients bring to the gradient, from two rows of the matrix.
__global__ void update_gradient(const float* gram, const signed char* labels, float* gradient, int first,
                                int second, float change, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gradient[i] += labels[i] * change * (gram[first * n + i] - gram[second * n + i]);
}

// Sums the kernel values of a query with all support vectors, a warp per query, vectors feature by feature.
__global__ void decide(const float* queries, const float* vectors, const float* alphas, float* decisions,
                       float gamma, float bias, int n) {
  const int query = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (query >= n) return;
  float sum = 0;
  for (int v = lane; v < n; v += 32) {
    float square = 0;
#pragma unroll 8
    for (int k = 0; k < kFeatures; ++k) {
      const float difference = queries[query * kFeatures + k] - vectors[k * n + v];
      square += difference * difference;
    }
    const float alpha = alphas[v];
    if (alpha > 0) sum += alpha * __expf(-gamma * square);
  }
  sum = warp_sum(sum);
  if (lane == 0) decisions[query] = sum + bias;
}

// Multiplies rows of few nonzero features with a dense vector of weights, a thread per row.
__global__ void decide_sparse(const int* starts, const int* features, const float* values,
                              const float* weights, signed char* classes, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * weights[features[k]];
  classes[row] = sum > 0 ? 1 : -1;
}

// Collects the gradient of the hinge loss of a linear machine, first in shared and then in global memory.
__global__ void hinge_gradient(const float2* x, const signed char* labels, const float2* weights,
                               float* gradient, int count) {
  __shared__ float local[kFeatures];
  if (threadIdx.x < kFeatures) local[threadIdx.x] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  const float2 weight = weights[lane];
  for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < count; i += warps) {
    const float2 value = x[i * (kFeatures / 2) + lane];
    const float label = labels[i];
    const float margin = label * warp_sum(weight.x * value.x + weight.y * value.y);
    if (margin < 1) {
      atomicAdd(&local[2 * lane], -label * value.x);
      atomicAdd(&local[2 * lane + 1], -label * value.y);
    }
  }
  __syncthreads();
  if (threadIdx.x < kFeatures) atomicAdd(&gradient[threadIdx.x], local[threadIdx.x]);
}

// Trains a small machine on each 64 examples by some steps of two coefficients, a block per machine.
__global__ void train_small(const float* x, const signed char* labels, float* alphas, float gamma,
                            float limit, int steps) {
  __shared__ float features[64][kFeatures + 1], kernel[64][65], alpha[64];
  __shared__ unsigned long long ups[2], downs[2];
  __shared__ float slopes[64];
  __shared__ signed char label[64];
  const int t = threadIdx.x, base = blockIdx.x * 64;
  for (int k = 0; k < 64; ++k) features[k][t] = x[(base + k) * kFeatures + t];
  label[t] = labels[base + t];
  alpha[t] = 0;
  __syncthreads();
  for (int other = 0; other < 64; ++other) {
    float square = 0;
    for (int k = 0; k < kFeatures; ++k) {
      const float difference = features[t][k] - features[other][k];
      square += difference * difference;
    }
    kernel[t][other] = __expf(-gamma * square);
  }
  float gradient = -1;
  for (int step = 0; step < steps; ++step) {
    const bool positive = label[t] > 0, below = alpha[t] < limit, above = alpha[t] > 0;
    const float slope = positive ? -gradient : gradient;
    slopes[t] = slope;
    unsigned long long up = (positive ? below : above) ? ranked(slope, t) : ranked(-1e30f, t);
    unsigned long long down = (positive ? above : below) ? ranked(-slope, t) : ranked(-1e30f, t);
    for (int offset = 16; offset > 0; offset /= 2) {
      up = max(up, __shfl_xor_sync(kFull, up, offset));
      down = max(down, __shfl_xor_sync(kFull, down, offset));
    }
    if (t % 32 == 0) {
      ups[t / 32] = up;
      downs[t / 32] = down;
    }
    __syncthreads();
    const int i = static_cast<int>(max(ups[0], ups[1]) & 63);
    const int j = static_cast<int>(max(downs[0], downs[1]) & 63);
    const float gap = slopes[i] - slopes[j];
    if (gap < 1e-3f) break;
    const float room_i = label[i] > 0 ? limit - alpha[i] : alpha[i];
    const float room_j = label[j] > 0 ? alpha[j] : limit - alpha[j];
    const float curvature = fmaxf(kernel[i][i] + kernel[j][j] - 2 * kernel[i][j], 1e-6f);
    const float change = fminf(gap / curvature, fminf(room_i, room_j));
    __syncthreads();
    if (t == i) alpha[i] = fminf(fmaxf(alpha[i] + label[i] * change, 0.0f), limit);
    if (t == j) alpha[j] = fminf(fmaxf(alpha[j] - label[j] * change, 0.0f), limit);
    gradient += label[t] * change * (kernel[t][i] - kernel[t][j]);
    __syncthreads();
  }
  alphas[base + t] = alpha[t];
}

// Lets the machines of all pairs of classes vote on the class of each example.
template <int kClasses>
__global__ void vote(const float* decisions, unsigned char* winners, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int votes[kClasses] = {};
  int pair = 0;
#pragma unroll
  for (int a = 0; a < kClasses; ++a) {
#pragma unroll
    for (int b = a + 1; b < kClasses; ++b) {
      const bool first = decisions[pair * count + i] > 0.5f;
      votes[a] += first;
      votes[b] += !first;
      ++pair;
    }
  }
  int winner = 0, most = votes[0];
#pragma unroll
  for (int a = 1; a < kClasses; ++a) {
    if (votes[a] > most) {
      most = votes[a];
      winner = a;
    }
  }
  winners[i] = static_cast<unsigned char>(winner);
}

// Sums the slopes and curvatures of the likelihood of a sigmoid that turns decisions into probabilities.
__global__ void fit_sigmoid(const float* decisions, const signed char* labels, double a, double b,
                            double* sums, int count) {
  double parts[5] = {0, 0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const double value = decisions[i], argument = a * value + b, decay = exp(-fabs(argument));
    const double p = argument >= 0 ? decay / (1 + decay) : 1 / (1 + decay);
    const double error = (labels[i] > 0 ? 0.99 : 0.01) - p, curvature = p * (1 - p);
    parts[0] += value * error;
    parts[1] += error;
    parts[2] += value * value * curvature;
    parts[3] += value * curvature;
    parts[4] += curvature;
  }
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    const double sum = warp_sum(parts[k]);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[k], sum);
  }
}

// Whether an example is of the first class, whose features are a little greater.
int label_of(int example) {
  return hashed_unit(example * 7 + 3) < 0.45f ? 1 : -1;
}

void train(int n) {
  const int pool = 16 * n;
  float* x = device_array<float>(pool * kFeatures, [](int i) {
    return hashed_unit(i) + 0.15f * static_cast<float>(label_of(i / kFeatures));
  });
  float* by_feature = device_array<float>(n * kFeatures, [n](int i) {
    return hashed_unit(i % n * kFeatures + i / n) + 0.15f * static_cast<float>(label_of(i % n));
  });
  signed char* labels = device_array<signed char>(pool, label_of);
  float* alphas = device_array<float>(pool, [](int i) { return fminf(2 * hashed_unit(i + 17), 1.0f); });
  float* gradient = device_array<float>(pool, [](int i) { return 2 * hashed_unit(i + 99) - 1; });
  float* gram = device_zeros<float>(n * n);
  float* trained = device_zeros<float>(n);
  float* decisions = device_zeros<float>(n);
  unsigned long long* best = device_zeros<unsigned long long>(2);
  const dim3 square(16, 16), tiles(ceil_div(n, 64), ceil_div(n, 64));
  const dim3 wide(32, 4), pairs(ceil_div(n, 32), ceil_div(n, 4));
  for (int run = 0; run < kLaunches; ++run) gram_by_pairs<<<pairs, wide>>>(x, gram, 0.2f, n);
  for (int run = 0; run < kLaunches; ++run)
    gram_by_tiles<<<tiles, square>>>(x, gram, RationalQuadratic{4}, n);
  for (int run = 0; run < kLaunches; ++run) gram_by_tiles<<<tiles, square>>>(x, gram, Gaussian{0.2f}, n);
  for (int run = 0; run < kLaunches; ++run)
    update_gradient<<<ceil_div(n, 192), 192>>>(gram, labels, gradient, n / 3, n / 2, 0.01f, n);
  for (int run = 0; run < kLaunches; ++run)
    most_violating<<<132, 512>>>(gradient, alphas, labels, 1.0f, best, pool);
  for (int run = 0; run < kLaunches; ++run)
    most_violating<<<1, 1024>>>(gradient, alphas, labels, 1.0f, best, n);
  for (int run = 0; run < kLaunches; ++run)
    decide<<<ceil_div(n, 8), 256>>>(x, by_feature, alphas, decisions, 0.2f, -0.1f, n);
  for (int run = 0; run < kLaunches; ++run) train_small<<<n / 64, 64>>>(x, labels, trained, 0.2f, 1.0f, 40);
  free_all(by_feature, gram, trained, decisions, best);

  const int classes = 10, words = 4096, nonzeros = 32 * pool + 24;
  float* weights = device_array<float>(words, [](int i) { return hashed_unit(i) - 0.5f; });
  float* slopes = device_zeros<float>(kFeatures);
  int* starts =
      device_array<int>(pool + 1, [](int i) { return 32 * i + static_cast<int>(24 * hashed_unit(i)); });
  int* features = device_ints(nonzeros, words);
  float* values = device_floats(nonzeros);
  float* duels =
      device_array<float>(classes * (classes - 1) / 2 * pool, [](int i) { return hashed_unit(i); });
  unsigned char* winners = device_zeros<unsigned char>(pool);
  double* sums = device_zeros<double>(5);
  for (int run = 0; run < kLaunches; ++run)
    decide_sparse<<<ceil_div(pool, 128), 128>>>(starts, features, values, weights, (signed char*)winners,
                                                pool);
  for (int run = 0; run < kLaunches; ++run)
    hinge_gradient<<<264, 256>>>((float2*)x, labels, (float2*)weights, slopes, pool);
  for (int run = 0; run < kLaunches; ++run) vote<10><<<ceil_div(pool, 256), 256>>>(duels, winners, pool);
  for (int run = 0; run < kLaunches; ++run) vote<4><<<ceil_div(pool, 64), 64>>>(duels, winners, pool);
  for (int run = 0; run < kLaunches; ++run)
    fit_sigmoid<<<264, 128>>>(gradient, labels, -2.0, 0.1, sums, pool);
  free_all(weights, slopes, starts, features, values, duels, winners, sums, x, alphas, gradient);

  double* precise = device_doubles(pool * kFeatures);
  double* column = device_zeros<double>(pool);
  for (int run = 0; run < kLaunches; ++run)
    polynomial_column<3><<<ceil_div(pool, 8), 256>>>(precise, column, n / 2, pool);
  free_all(precise, column, labels);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) train(atoi(argv[i]));
  return finish("support_vectors");
}
