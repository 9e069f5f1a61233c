// Graphs of roads: a grid of n x n crossings, and dense matrices of the distances between 2 n places.
#include "device.h"

constexpr int kDegree = 8;

// PageRank by pulling: adjacency in compressed rows of eight, kLanes threads for each node.
template <class T, int kLanes>
__global__ void pagerank_pull(const int* __restrict__ adjacency, const T* __restrict__ ranks,
                              T* __restrict__ out, T damping, int nodes) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int node = t / kLanes, lane = t % kLanes;
  if (node >= nodes) return;
  T sum = 0;
#pragma unroll
  for (int k = lane; k < kDegree; k += kLanes) sum += ranks[adjacency[node * kDegree + k]];
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) out[node] = (1 - damping) / nodes + damping * sum / kDegree;
}

// PageRank by pushing: each crossing adds equal shares of its rank to the crossings around it.
template <class T>
__global__ void pagerank_push(const T* __restrict__ ranks, T* sums, T damping, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int node = y * n + x;
  const int degree = (x > 0) + (x < n - 1) + (y > 0) + (y < n - 1);
  const T share = damping * ranks[node] / degree;
  if (x > 0) atomicAdd(&sums[node - 1], share);
  if (x < n - 1) atomicAdd(&sums[node + 1], share);
  if (y > 0) atomicAdd(&sums[node - n], share);
  if (y < n - 1) atomicAdd(&sums[node + n], share);
}

// Relaxation of edges both ways, a thread for each: those to the east, south-west, south and south-east.
__global__ void relax_edges(const int* lengths, int* distances, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, direction = blockIdx.z;
  const int to_x = direction == 0 ? x + 1 : x + direction - 2, to_y = direction == 0 ? y : y + 1;
  if (x >= n || to_x < 0 || to_x >= n || to_y >= n) return;
  const int from = y * n + x, to = to_y * n + to_x;
  const int length = lengths[direction * n * n + from];
  const int here = distances[from], there = distances[to];
  atomicMin(&distances[to], here + length);
  atomicMin(&distances[from], there + length);
}

// Relaxation inside tiles: kSweeps sweeps over a tile in shared memory with a rim of one crossing.
template <int kSweeps>
__global__ void relax_tiles(const int* __restrict__ distances, const int* __restrict__ costs,
                            int* __restrict__ out, int n) {
  __shared__ int tile[18][34];
  const int left = blockIdx.x * 32 - 1, top = blockIdx.y * 16 - 1;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
    const int x = min(max(left + k % 34, 0), n - 1), y = min(max(top + k / 34, 0), n - 1);
    tile[k / 34][k % 34] = distances[y * n + x];
  }
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool inside = x < n && y < n;
  const int cost = inside ? costs[y * n + x] : 0;
  __syncthreads();
  int best = tile[ty][tx];
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const int across = min(tile[ty][tx - 1], tile[ty][tx + 1]);
    const int along = min(tile[ty - 1][tx], tile[ty + 1][tx]);
    best = min(best, min(across, along) + cost);
    __syncthreads();
    tile[ty][tx] = best;
    __syncthreads();
  }
  if (inside) out[y * n + x] = best;
}

// Label propagation: each crossing takes the label that most of the eight around it have. The smallest of
// equals wins.
__global__ void propagate_labels(const int* __restrict__ labels, int* __restrict__ out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int west = x > 0 ? x - 1 : n - 1, east = x < n - 1 ? x + 1 : 0;
  const int north = (y > 0 ? y - 1 : n - 1) * n, own = y * n, south = (y < n - 1 ? y + 1 : 0) * n;
  const int around[kDegree] = {labels[north + west], labels[north + x],   labels[north + east],
                               labels[own + west],   labels[own + east],  labels[south + west],
                               labels[south + x],    labels[south + east]};
  int best = around[0], most = 0;
#pragma unroll
  for (int k = 0; k < kDegree; ++k) {
    int votes = 0;
#pragma unroll
    for (int j = 0; j < kDegree; ++j) votes += around[j] == around[k];
    const bool better = votes > most || (votes == most && around[k] < best);
    best = better ? around[k] : best;
    most = better ? votes : most;
  }
  out[own + x] = best;
}

// One step of Floyd-Warshall: every path may pass through place `via`.
__global__ void floyd_step(int* distances, int via, int places) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
  if (to >= places || from >= places) return;
  const int through = distances[from * places + via] + distances[via * places + to];
  distances[from * places + to] = min(distances[from * places + to], through);
}

// One step of blocked Floyd-Warshall for the tiles outside the pivot's row and column. A thread has
// kTile / kRows entries of a column; the two tiles that it needs are in shared memory.
template <class T, int kTile, int kRows>
__global__ void floyd_tiles(T* distances, int pivot, int places) {
  __shared__ T from_pivot[kTile][kTile], to_pivot[kTile][kTile];
  if (blockIdx.x == pivot || blockIdx.y == pivot) return;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * kTile + tx, row = blockIdx.y * kTile + ty;
  T best[kTile / kRows];
#pragma unroll
  for (int k = 0; k < kTile / kRows; ++k) {
    const int down = k * kRows;
    best[k] = distances[(row + down) * places + column];
    to_pivot[ty + down][tx] = distances[(row + down) * places + pivot * kTile + tx];
    from_pivot[ty + down][tx] = distances[(pivot * kTile + ty + down) * places + column];
  }
  __syncthreads();
#pragma unroll 8
  for (int via = 0; via < kTile; ++via) {
    const T last = from_pivot[via][tx];
#pragma unroll
    for (int k = 0; k < kTile / kRows; ++k) best[k] = min(best[k], to_pivot[ty + k * kRows][via] + last);
  }
#pragma unroll
  for (int k = 0; k < kTile / kRows; ++k) distances[(row + k * kRows) * places + column] = best[k];
}

// Triangles of a dense graph with a bit for each pair: a thread ANDs the rows of its two places.
template <int kTile>
__global__ void count_triangles(const unsigned* __restrict__ bits, unsigned long long* total, int places) {
  __shared__ unsigned first[kTile][33], second[kTile][33];
  if (blockIdx.x < blockIdx.y) return;
  const int words = places / 32, t = threadIdx.y * kTile + threadIdx.x;
  const int i = blockIdx.y * kTile + threadIdx.y, j = blockIdx.x * kTile + threadIdx.x;
  int common = 0;
  for (int start = 0; start < words; start += 32) {
    for (int k = t; k < kTile * 32; k += kTile * kTile) {
      const int word = start + k % 32;
      first[k / 32][k % 32] = word < words ? bits[(blockIdx.y * kTile + k / 32) * words + word] : 0;
      second[k / 32][k % 32] = word < words ? bits[(blockIdx.x * kTile + k / 32) * words + word] : 0;
    }
    __syncthreads();
#pragma unroll 8
    for (int w = 0; w < 32; ++w) common += __popc(first[threadIdx.y][w] & second[threadIdx.x][w]);
    __syncthreads();
  }
  const bool joined = i < j && (bits[i * words + j / 32] >> (j % 32) & 1);
  const int sum = __reduce_add_sync(0xffffffffu, joined ? common : 0);
  if (t % 32 == 0) atomicAdd(total, (unsigned long long)sum);
}

void run(int n) {
  const int nodes = n * n, places = 2 * n, pairs = places * places;
  int* adjacency = device_array<int>(nodes * kDegree, [n, nodes](int i) {
    const int offsets[kDegree] = {-n - 1, -n, -n + 1, -1, 1, n - 1, n, n + 1};
    return (i / kDegree + offsets[i % kDegree] + nodes) % nodes;
  });
  float* ranks = device_floats(nodes);
  float* sums = device_zeros<float>(nodes);
  double* ranksd = device_doubles(nodes);
  double* sumsd = device_zeros<double>(nodes);
  int* lengths = device_ints(4 * nodes, 1000);
  int* distances = device_ints(nodes, 1 << 20);
  int* labels = device_ints(nodes, 5);
  int* out = device_zeros<int>(nodes);
  int* matrix = device_ints(pairs, 1 << 20);
  float* matrixf = device_array<float>(pairs, [](int i) { return 1 + 1000 * hashed_unit(i); });
  unsigned* bits = device_array<unsigned>(pairs / 32, [](int i) {
    return static_cast<unsigned>(i + 1) * 2654435761u ^ static_cast<unsigned>(i) << 9;
  });
  unsigned long long* total = device_zeros<unsigned long long>(1);
  for (int r = 0; r < kLaunches; ++r)
    pagerank_pull<float, 1><<<ceil_div(nodes, 256), 256>>>(adjacency, ranks, sums, 0.85f, nodes);
  for (int r = 0; r < kLaunches; ++r)
    pagerank_pull<double, 8><<<ceil_div(nodes * 8, 128), 128>>>(adjacency, ranksd, sumsd, 0.85, nodes);
  for (int r = 0; r < kLaunches; ++r)
    pagerank_push<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(ranks, sums, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r)
    pagerank_push<<<dim3(ceil_div(n, 64), ceil_div(n, 2)), dim3(64, 2)>>>(ranksd, sumsd, 0.85, n);
  for (int r = 0; r < kLaunches; ++r)
    relax_edges<<<dim3(ceil_div(n, 128), n, 4), 128>>>(lengths, distances, n);
  for (int r = 0; r < kLaunches; ++r)
    relax_tiles<16><<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(distances, lengths, out, n);
  for (int r = 0; r < kLaunches; ++r)
    propagate_labels<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(labels, out, n);
  for (int r = 0; r < kLaunches; ++r)
    floyd_step<<<dim3(ceil_div(places, 64), ceil_div(places, 4)), dim3(64, 4)>>>(matrix, n / 3, places);
  for (int r = 0; r < kLaunches; ++r)
    floyd_tiles<int, 16, 16><<<dim3(places / 16, places / 16), dim3(16, 16)>>>(matrix, 3, places);
  for (int r = 0; r < kLaunches; ++r)
    floyd_tiles<float, 32, 8><<<dim3(places / 32, places / 32), dim3(32, 8)>>>(matrixf, 1, places);
  for (int r = 0; r < kLaunches; ++r)
    count_triangles<16><<<dim3(places / 16, places / 16), dim3(16, 16)>>>(bits, total, places);
  for (int r = 0; r < kLaunches; ++r)
    count_triangles<32><<<dim3(places / 32, places / 32), dim3(32, 32)>>>(bits, total, places);
  free_all(adjacency, ranks, sums, ranksd, sumsd, lengths, distances, labels, out, matrix, matrixf, bits,
           total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("road_networks");
}
