// Measures of a directed graph of n nodes, in compressed rows with sorted neighbours and in lists of edges.
#include "device.h"

// PageRank by pulling: a thread for each node and its row of any length.
template <class T>
__global__ void pull_ranks(const int* __restrict__ first, const int* __restrict__ targets,
                           const T* __restrict__ shares, T* __restrict__ ranks, T damping, int n) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= n) return;
  T sum = 0;
  for (int e = first[node]; e < first[node + 1]; ++e) sum += shares[targets[e]];
  ranks[node] = (1 - damping) / n + damping * sum;
}

// PageRank by pushing: a thread for each edge of the list, in a loop over the grid.
__global__ void push_ranks(const int* sources, const int* targets, const float* shares, float* ranks,
                           float damping, int edges) {
  const int stride = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += stride)
    atomicAdd(&ranks[targets[e]], damping * shares[sources[e]]);
}

// A level of a breadth-first search: a warp for each node of the frontier. Nodes that are new in this search
// join the queue. A ballot counts them, so that a warp moves the end of the queue once.
__global__ void expand_frontier(const int* first, const int* targets, const int* frontier, int* seen,
                                int* queue, int* queued, int search, int count) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= count) return;
  const int node = frontier[warp], end = first[node + 1];
  for (int start = first[node]; start < end; start += 32) {
    int target = -1;
    if (start + lane < end) target = targets[start + lane];
    const bool found = target >= 0 && atomicMax(&seen[target], search) < search;
    const unsigned votes = __ballot_sync(0xffffffffu, found);
    if (votes == 0) continue;
    int place = 0;
    if (lane == 0) place = atomicAdd(queued, __popc(votes));
    place = __shfl_sync(0xffffffffu, place, 0);
    if (found) queue[place + __popc(votes & ((1u << lane) - 1))] = target;
  }
}

// Triangles: each edge walks through the sorted rows of its two ends at once.
__global__ void count_triangles(const int* __restrict__ first, const int* __restrict__ sources,
                                const int* __restrict__ targets, unsigned long long* total, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  int common = 0;
  if (e < edges) {
    const int from = sources[e], to = targets[e];
    int a = first[from], b = first[to];
    const int last_a = first[from + 1], last_b = first[to + 1];
    while (a < last_a && b < last_b) {
      const int left = targets[a], right = targets[b];
      common += left == right;
      a += left <= right;
      b += right <= left;
    }
  }
  common = __reduce_add_sync(0xffffffffu, common);
  if (threadIdx.x % 32 == 0 && common > 0) atomicAdd(total, (unsigned long long)common);
}

// Label propagation: a warp for each node takes the smallest label of the node and of those it points to.
__global__ void propagate_labels(const int* first, const int* targets, const int* labels, int* out, int n) {
  const int node = blockIdx.x * blockDim.y + threadIdx.y;
  if (node >= n) return;
  int best = labels[node];
  for (int e = first[node] + threadIdx.x; e < first[node + 1]; e += 32) best = min(best, labels[targets[e]]);
  best = __reduce_min_sync(0xffffffffu, best);
  if (threadIdx.x == 0) out[node] = best;
}

// Blocked Floyd-Warshall with short distances: the tiles outside the pivot's row and column.
__global__ void floyd_blocks(unsigned short* distances, int pivot, int places) {
  __shared__ unsigned short across[64][66], down[64][66];
  if (blockIdx.x == pivot || blockIdx.y == pivot) return;
  const int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 64, top = blockIdx.y * 64;
  for (int k = ty * 16 + tx; k < 64 * 64; k += 256) {
    const int row = k / 64, column = k % 64;
    across[row][column] = distances[(top + row) * places + pivot * 64 + column];
    down[row][column] = distances[(pivot * 64 + row) * places + left + column];
  }
  unsigned short* corner = distances + (top + ty) * places + left + tx;
  unsigned best[4][4];
#pragma unroll
  for (int k = 0; k < 16; ++k) best[k / 4][k % 4] = corner[k / 4 * 16 * places + k % 4 * 16];
  __syncthreads();
#pragma unroll 4
  for (int via = 0; via < 64; ++via) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned start = across[ty + i * 16][via];
#pragma unroll
      for (int j = 0; j < 4; ++j) best[i][j] = min(best[i][j], start + down[via][tx + j * 16]);
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) corner[k / 4 * 16 * places + k % 4 * 16] = best[k / 4][k % 4];
}

// A round of k-core peeling on the matrix of bits: a warp counts the neighbours of a place that are alive.
__global__ void peel_core(const unsigned* bits, const unsigned* alive, unsigned char* stays, int core,
                          int places) {
  const int place = blockIdx.x * blockDim.y + threadIdx.y, words = places / 32;
  int degree = 0;
  for (int w = threadIdx.x; w < words; w += 32) degree += __popc(bits[place * words + w] & alive[w]);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) degree += __shfl_xor_sync(0xffffffffu, degree, d);
  if (threadIdx.x == 0) stays[place] = degree >= core && (alive[place / 32] >> place % 32 & 1);
}

// A step of Boruvka's trees: the lightest edge that leaves each component, as weight and edge in one number.
__global__ void minimum_edges(const int* sources, const int* targets, const unsigned* weights,
                              const int* components, unsigned long long* lightest, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int a = components[sources[e]], b = components[targets[e]];
  if (a == b) return;
  const unsigned long long key = (unsigned long long)weights[e] << 32 | e;
  atomicMin(&lightest[a], key);
  atomicMin(&lightest[b], key);
}

// The histogram of the degrees: a row of counters in shared memory for each warp.
__global__ void degree_histogram(const int* __restrict__ first, unsigned* histogram, int n) {
  __shared__ unsigned counters[6][128];
  for (int k = threadIdx.x; k < 6 * 128; k += blockDim.x) counters[k / 128][k % 128] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counters[threadIdx.x / 32][min(first[i + 1] - first[i], 127)], 1u);
  __syncthreads();
  if (threadIdx.x >= 128) return;
  unsigned sum = 0;
  for (int w = 0; w < 6; ++w) sum += counters[w][threadIdx.x];
  if (sum > 0) atomicAdd(&histogram[threadIdx.x], sum);
}

void run(int n) {
  std::vector<int> rows(n + 1), ends;
  for (int i = 0; i < n; ++i) {
    const int degree = 4 + int(12 * hashed_unit(i)) + (i % 64 == 7 ? 64 : 0);
    rows[i + 1] = rows[i] + degree;
    ends.insert(ends.end(), degree, i);
  }
  const int edges = rows[n], blocks = ceil_div(n, 256), tiles = ceil_div(int(4 * sqrt(n)), 64);
  const int places = 64 * tiles, seeds = n / 8;
  int* first = device_array<int>(n + 1, [&](int i) { return rows[i]; });
  int* sources = device_array<int>(edges, [&](int e) { return ends[e]; });
  int* targets = device_array<int>(edges, [&](int e) {  // two of three nodes have neighbours near by only
    const long long node = ends[e], k = e - rows[node], degree = rows[node + 1] - rows[node];
    const int window = node % 3 > 0 ? std::min(n, 2048) : n;
    const int start = std::min(std::max(int(node) - window / 2, 0), n - window);
    return start + int((k + 0.999 * hashed_unit(e)) * window / degree);
  });
  unsigned* weights = device_array<unsigned>(edges, [](int e) { return e * 2654435761u >> 8; });
  int* components = device_array<int>(n, [](int i) { return i / 16; });
  int* frontier = device_array<int>(seeds, [](int i) { return 8 * i + int(8 * hashed_unit(i)); });
  int* labels = device_ints(n, 1 << 20);
  unsigned short* distances = device_array<unsigned short>(places * places, [](int i) { return 7919u * i; });
  unsigned* bits = (unsigned*)distances;
  double* shares = device_doubles(n);
  float* sharesf = device_floats(n);
  double* ranks = device_zeros<double>(n);
  float* ranksf = device_zeros<float>(n);
  unsigned long long* lightest = device_array<unsigned long long>(n / 16 + 1, [](int) { return ~0ull; });
  int* seen = device_zeros<int>(n);
  int* queue = device_zeros<int>(n);
  int* queued = device_zeros<int>(kLaunches);
  int* out = device_zeros<int>(n);
  unsigned* histogram = device_zeros<unsigned>(128);
  unsigned long long* total = device_zeros<unsigned long long>(1);
  for (int r = 0; r < kLaunches; ++r)
    pull_ranks<float><<<blocks, 256>>>(first, targets, sharesf, ranksf, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r)
    pull_ranks<double><<<ceil_div(n, 96), 96>>>(first, targets, shares, ranks, 0.85, n);
  for (int r = 0; r < kLaunches; ++r)
    push_ranks<<<min(ceil_div(edges, 256), 2112), 256>>>(sources, targets, sharesf, ranksf, 0.08f, edges);
  for (int r = 0; r < kLaunches; ++r)
    expand_frontier<<<ceil_div(seeds, 4), 128>>>(first, targets, frontier, seen, queue, queued + r, r + 1,
                                                 seeds);
  for (int r = 0; r < kLaunches; ++r)
    count_triangles<<<ceil_div(edges, 192), 192>>>(first, sources, targets, total, edges);
  for (int r = 0; r < kLaunches; ++r)
    propagate_labels<<<ceil_div(n, 10), dim3(32, 10)>>>(first, targets, labels, out, n);
  for (int r = 0; r < kLaunches; ++r)
    floyd_blocks<<<dim3(tiles, tiles), dim3(16, 16)>>>(distances, 1, places);
  for (int r = 0; r < kLaunches; ++r)
    peel_core<<<places / 8, dim3(32, 8)>>>(bits, bits + places, (unsigned char*)queue, places / 4, places);
  for (int r = 0; r < kLaunches; ++r)
    minimum_edges<<<ceil_div(edges, 512), 512>>>(sources, targets, weights, components, lightest, edges);
  for (int r = 0; r < kLaunches; ++r)
    degree_histogram<<<min(ceil_div(n, 192), 528), 192>>>(first, histogram, n);
  free_all(first, sources, targets, weights, components, frontier, labels, distances, shares, sharesf,
           ranks, ranksf, lightest, seen, queue, queued, out, histogram, total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("graph_measures");
}
