// Combinatorial optimisation by search: n candidates or so for each of the heuristics.
#include "device.h"

constexpr int kGenes = 64, kDims = 16, kJobs = 16;

__constant__ float job_times[kJobs], job_weights[kJobs];

__device__ unsigned scramble(unsigned x) {
  x = (x ^ x >> 16) * 0x5bd1e995u;
  x = (x ^ x >> 13) * 0x27d4eb2fu;
  return x ^ x >> 15;
}

__device__ float uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) * (1.0f / 16777216.0f);
}

// Tournament selection: each slot goes to the fittest of kRounds random candidates.
template <int kRounds>
__global__ void tournament(const float* fitness, int* winners, unsigned generation, int n) {
  const int slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= n) return;
  int best = slot;
  float most = fitness[slot];
  for (int k = 0; k < kRounds; ++k) {
    const int rival = scramble(slot * kRounds + k + generation) % n;
    if (fitness[rival] > most) most = fitness[rival], best = rival;
  }
  winners[slot] = best;
}

// Crossover between two points and mutation: a thread for each gene, several children in a block.
__global__ void cross_and_mutate(const unsigned char* __restrict__ parents, const int* __restrict__ mates,
                                 unsigned char* __restrict__ children, float rate, int n) {
  const unsigned gene = threadIdx.x, child = blockIdx.x * blockDim.y + threadIdx.y;
  if (child >= n) return;
  unsigned state = scramble(child), a = state % kGenes, b = (state >> 8) % kGenes;
  const int from = gene >= min(a, b) && gene < max(a, b) ? mates[child] : child;
  unsigned char value = parents[from * kGenes + gene];
  state = scramble(child * kGenes + gene);
  if (uniform(state) < rate) value ^= 1 << (state >> 5) % 8;
  children[child * kGenes + gene] = value;
}

// A step of a particle swarm: one dimension for each row of the grid, positions held inside a box.
__global__ void move_swarm(float* positions, float* velocities, const float* own_best, const float* best,
                           float inertia, float pull, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * n + i;
  if (i >= n) return;
  unsigned state = scramble(k);
  float x = positions[k];
  float v = inertia * velocities[k] + pull * uniform(state) * (own_best[k] - x) +
            pull * uniform(state) * (best[blockIdx.y] - x);
  velocities[k] = v = fminf(fmaxf(v, -0.5f), 0.5f);
  positions[k] = fminf(fmaxf(x + v, -5.0f), 5.0f);
}

// Simulated annealing of an order of jobs, a chain for each thread. A move swaps two jobs in a row.
__global__ void anneal_orders(float* costs, float start, int steps, int chains) {
  const int chain = blockIdx.x * blockDim.x + threadIdx.x;
  if (chain >= chains) return;
  float times[kJobs], weights[kJobs];
  float cost = 0, clock = 0, heat = start;
  for (int k = 0; k < kJobs; ++k) {
    times[k] = job_times[k], weights[k] = job_weights[k];
    clock += times[k], cost += weights[k] * clock;
  }
  unsigned state = scramble(chain + 1);
  for (int step = 0; step < steps; ++step) {
    const int p = static_cast<int>(uniform(state) * (kJobs - 1));
    const float t0 = times[p], t1 = times[p + 1], w0 = weights[p], w1 = weights[p + 1];
    const float change = w0 * t1 - w1 * t0;
    if (change < 0 || uniform(state) < expf(-change / heat)) {
      times[p] = t1, times[p + 1] = t0, weights[p] = w1, weights[p + 1] = w0, cost += change;
    }
    heat *= 0.96f;
  }
  costs[chain] = cost;
}

__device__ float distance(float2 a, float2 b) {
  return sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

// Gains of all 2-opt moves of a tour: 128 cities against 128 in shared memory, the best by one atomic a warp.
__global__ void two_opt(const float2* __restrict__ tour, unsigned long long* best, int cities) {
  __shared__ float2 others[129];
  if (blockIdx.y < blockIdx.x) return;
  const int i = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 128;
  others[threadIdx.x] = tour[first + threadIdx.x];
  if (threadIdx.x == 0) others[128] = tour[(first + 128) % cities];
  const float2 here = tour[i], next = tour[(i + 1) % cities];
  const float removed = distance(here, next);
  __syncthreads();
  float most = 0;
  int with = 0;
  for (int k = 0; k < 128; ++k) {
    const float2 a = others[k], b = others[k + 1];
    const float gain = removed + distance(a, b) - distance(here, a) - distance(next, b);
    if (first + k > i + 1 && gain > most) most = gain, with = k;
  }
  unsigned long long key = (unsigned long long)__float_as_uint(most) << 32 | (unsigned)(i << 7 | with);
  for (int d = 16; d > 0; d >>= 1) key = max(key, __shfl_xor_sync(0xffffffffu, key, d));
  if (threadIdx.x % 32 == 0) atomicMax(best, key);
}

// One item of the knapsack problem: a row of the table from the row before.
__global__ void knapsack_row(const int* before, int* row, int weight, int value, int capacity) {
  for (int w = blockIdx.x * blockDim.x + threadIdx.x; w <= capacity; w += gridDim.x * blockDim.x)
    row[w] = w >= weight ? max(before[w], before[w - weight] + value) : before[w];
}

// Queens on a board: the thread's number places the first four, a private stack of bit masks the others.
__global__ void count_queens(unsigned long long* solutions, int board) {
  int code = blockIdx.x * blockDim.x + threadIdx.x;
  if (code >= board * board * board * board) return;
  unsigned columns[16], left[16], right[16], open[16], full = (1u << board) - 1;
  columns[0] = left[0] = right[0] = 0;
  for (int row = 0; row < 4; ++row) {
    const unsigned bit = 1u << code % board;
    if (bit & (columns[0] | left[0] | right[0])) return;
    code /= board, columns[0] |= bit, left[0] = (left[0] | bit) << 1, right[0] = (right[0] | bit) >> 1;
  }
  open[0] = full & ~(columns[0] | left[0] | right[0]);
  int depth = 0, count = 0;
  while (depth >= 0) {
    const unsigned rest = open[depth], bit = rest & (0u - rest), c = columns[depth] | bit;
    open[depth] = rest ^ bit;
    if (rest == 0) {
      --depth;
    } else if (c == full) {
      ++count;
    } else {
      const unsigned l = (left[depth] | bit) << 1, r = (right[depth++] | bit) >> 1;
      columns[depth] = c, left[depth] = l, right[depth] = r, open[depth] = full & ~(c | l | r);
    }
  }
  if (count > 0) atomicAdd(solutions, (unsigned long long)count);
}

struct Clause {
  short variable[3], negated;
};

// Clauses of three literals: each thread has 32 assignments, the bits of a word of each variable.
__global__ void check_clauses(const Clause* clauses, const unsigned* bits, int* out, int count, int words) {
  const int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= words) return;
  int total = 0;
  for (int c = 0; c < count; ++c) {
    const Clause clause = clauses[c];
    unsigned any = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      any |= bits[clause.variable[k] * words + word] ^ (clause.negated >> k & 1 ? ~0u : 0u);
    total += __popc(any);
  }
  out[word] = total;
}

void run(int n) {
  const int words = n / 8, capacity = 16 * n - 1, board = n < 10000 ? 10 : n < 200000 ? 12 : 14;
  int cities = 512;
  while (cities < 16384 && cities * cities / 256 < n) cities *= 2;
  unsigned char* parents = device_array<unsigned char>(n * kGenes, [](int i) { return i % 1000 * 37 >> 3; });
  unsigned char* children = device_zeros<unsigned char>(n * kGenes);
  float* fitness = device_array<float>(n, [](int i) { return hashed_unit(i); });
  int* mates = device_ints(n, n);
  float* positions = device_floats(n * kDims);
  float* velocities = device_zeros<float>(n * kDims);
  float* row = device_zeros<float>(16 * n);
  float2* tour = device_array<float2>(cities, [](int i) { return float2{hashed_unit(i), hashed_unit(~i)}; });
  unsigned long long* totals = device_zeros<unsigned long long>(2);
  Clause* clauses = device_array<Clause>(256, [](int i) {
    return Clause{short(i % 256), short(i * 29 % 256), short(i * 101 % 255), short(i * 5 >> 1 & 7)};
  });
  unsigned* bits = device_array<unsigned>(256 * words, [](int i) { return (i + 1) * 2654435761u; });
  cudaMemcpyToSymbol(job_times, fitness, sizeof job_times, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(job_weights, fitness + 32, sizeof job_weights, 0, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < kLaunches; ++r) tournament<3><<<ceil_div(n, 96), 96>>>(fitness, mates, 77, n);
  for (int r = 0; r < kLaunches; ++r)
    cross_and_mutate<<<ceil_div(n, 6), dim3(kGenes, 6)>>>(parents, mates, children, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    move_swarm<<<dim3(ceil_div(n, 192), kDims), 192>>>(positions, velocities, row, fitness, 0.7f, 1.5f, n);
  for (int r = 0; r < kLaunches; ++r) anneal_orders<<<ceil_div(n / 4, 64), 64>>>(fitness, 1.0f, 100, n / 4);
  const int tiles = cities / 128;
  for (int r = 0; r < kLaunches; ++r) two_opt<<<dim3(tiles, tiles), 128>>>(tour, totals, cities);
  for (int r = 0; r < kLaunches; ++r)
    knapsack_row<<<min(n / 64, 264), 1024>>>((int*)positions, (int*)row, 4099, 9, capacity);
  for (int r = 0; r < kLaunches; ++r) count_queens<<<board * board, board * board>>>(totals + 1, board);
  for (int r = 0; r < kLaunches; ++r)
    check_clauses<<<ceil_div(words, 128), 128>>>(clauses, bits, mates, 256, words);
  free_all(parents, children, fitness, mates, positions, velocities, row, tour, totals, clauses, bits);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("search_heuristics");
}
