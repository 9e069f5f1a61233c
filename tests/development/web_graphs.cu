// A graph of n vertices in compressed rows. The degrees 4, 12, 20 and 28 take turns, neighbours follow no
// order.
#include "device.h"

constexpr int kMean = 16, kVotes = 8, kList = 12, kMargin = 128;
constexpr int kFar = 1 << 20;

__device__ __host__ constexpr int row_start(int v) {
  return v / 4 * 64 + (v % 4 == 0 ? 0 : v % 4 == 1 ? 4 : v % 4 == 2 ? 16 : 36);
}

// Page rank, where each vertex pulls from its neighbours: one thread for each.
__global__ void pull_by_threads(const int* starts, const int* targets, const float* rank, const float* shares,
                                float* next, float damping, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0.0f;
  for (int e = starts[v]; e < starts[v + 1]; e++) {
    int u = targets[e];
    sum += rank[u] * shares[u];
  }
  next[v] = (1.0f - damping) / n + damping * sum;
}

// The same with kLanes lanes for each vertex. Products of rank and share are there already.
template <int kLanes>
__global__ void pull_by_groups(const int* __restrict__ starts, const int* __restrict__ targets,
                               const float* __restrict__ sent, float* __restrict__ next, float damping,
                               int n) {
  const int v = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  if (v >= n) return;
  const int first = __ldg(&starts[v]), last = __ldg(&starts[v + 1]);
  float sum = 0;
  for (int e = first + lane; e < last; e += kLanes) sum += __ldg(&sent[__ldg(&targets[e])]);
#pragma unroll
  for (int d = kLanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, kLanes);
  if (lane == 0) next[v] = (1 - damping) / n + damping * sum;
}

// The same, pushed: each vertex adds to all of its neighbours.
__global__ void push_ranks(const int* __restrict__ starts, const int* __restrict__ targets,
                           const float* __restrict__ rank, float* __restrict__ next, float damping, int n) {
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
    const int first = starts[v], last = starts[v + 1];
    const float share = damping * rank[v] / (last - first);
    for (int e = first; e < last; ++e) atomicAdd(&next[targets[e]], share);
  }
}

// Label propagation: the label that is most frequent among kVotes neighbours, with vertex after vertex
// in one piece.
__global__ void vote_labels(const int* __restrict__ neighbours, const short* __restrict__ labels,
                            short* __restrict__ next, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  short seen[kVotes];
#pragma unroll
  for (int k = 0; k < kVotes; ++k) seen[k] = labels[neighbours[k * n + v]];
  short best = labels[v];
  int most = 1;
#pragma unroll
  for (int k = 0; k < kVotes; ++k) {
    int votes = 0;
#pragma unroll
    for (int j = 0; j < kVotes; ++j) votes += seen[j] == seen[k];
    if (votes > most) {
      most = votes;
      best = seen[k];
    }
  }
  next[v] = best;
}

// Breadth-first step: a warp for each vertex of the queue marks the neighbours that were further away.
__global__ void expand_frontier(const int* starts, const int* targets, const int* queue, int* levels,
                                int level, int queued) {
  int warpId = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  int laneId = threadIdx.x & 31;
  if (warpId < queued) {
    int v = queue[warpId];
    int end = starts[v + 1];
    for (int e = starts[v] + laneId; e < end; e += 32) {
      int u = targets[e];
      if (levels[u] > level) levels[u] = level;
    }
  }
}

// Triangles: for each edge of sorted lists of kList vertices, how many are in the lists of both ends.
__global__ void count_triangles(const int* __restrict__ lists, unsigned long long* __restrict__ triangles,
                                int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  int found = 0;
  if (e < edges) {
    const int* a = lists + e / kList * kList;
    const int* b = lists + lists[e] * kList;
    int i = 0, j = 0;
    while (i < kList && j < kList) {
      const int x = a[i], y = b[j];
      found += x == y;
      i += x <= y;
      j += y <= x;
    }
  }
  for (int d = 16; d > 0; d /= 2) found += __shfl_down_sync(0xffffffffu, found, d);
  if (threadIdx.x % 32 == 0) atomicAdd(triangles, static_cast<unsigned long long>(found));
}

// Weights of edges from the degrees of both ends, four edges for each thread.
__global__ void normalise_edges(const int4* __restrict__ sources, const int4* __restrict__ targets,
                                const int* __restrict__ degrees, float4* __restrict__ weights, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const int4 s = sources[i], t = targets[i];
  float4 w;
  w.x = rsqrtf(static_cast<float>(degrees[s.x]) * degrees[t.x]);
  w.y = rsqrtf(static_cast<float>(degrees[s.y]) * degrees[t.y]);
  w.z = rsqrtf(static_cast<float>(degrees[s.z]) * degrees[t.z]);
  w.w = rsqrtf(static_cast<float>(degrees[s.w]) * degrees[t.w]);
  weights[i] = w;
}

// Shortest paths: each edge offers its target a way through its source.
__global__ void relax_edges(const int* sources, const int* targets, const unsigned char* lengths,
                            int* distances, int* changed, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int offer = distances[sources[e]] + lengths[e];
  const int target = targets[e];
  if (offer < distances[target]) {
    atomicMin(&distances[target], offer);
    *changed = 1;
  }
}

// n is a multiple of 1024.
void run(int n) {
  const int edges = kMean * n, queued = n / 8, listed = kList * n;
  const auto any = [n](int i) {
    const int v = static_cast<int>(hashed_unit(static_cast<unsigned>(i)) * n);
    return v < n ? v : n - 1;
  };
  int* starts = device_array<int>(n + 1, row_start);
  int* targets = device_array<int>(edges, any);
  int* sources = device_array<int>(edges, [](int e) {
    const int r = e % 64;
    return e / 64 * 4 + (r < 4 ? 0 : r < 16 ? 1 : r < 36 ? 2 : 3);
  });
  int* degrees = device_array<int>(n, [](int v) { return 4 + v % 4 * 8; });
  float* shares = device_array<float>(n, [](int v) { return 1.0f / (4 + v % 4 * 8); });
  float* rank = device_array<float>(n, [n](int v) { return (0.5f + v % 8 * 0.1f) / n; });
  float* next = device_zeros<float>(n);
  int* neighbours = device_array<int>(kVotes * n, any);
  short* labels = device_array<short>(n, [](int v) { return static_cast<short>(v * 37LL % 23); });
  short* new_labels = device_zeros<short>(n);
  int* queue = device_array<int>(queued, [](int i) { return i * 8 + i % 8; });
  int* levels = device_array<int>(n, [](int v) { return v % 2 == 0 ? kFar : 0; });
  // Lists of vertices a little further on. Those of the margin are there so that each of them has a list.
  int* lists = device_array<int>((n + kMargin) * kList, [](int i) {
    constexpr int kAhead[kList] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 76, 99, 120};
    return i / kList + kAhead[i % kList];
  });
  unsigned long long* triangles = device_zeros<unsigned long long>(1);
  float* weights = device_zeros<float>(edges);
  unsigned char* lengths =
      device_array<unsigned char>(edges, [](int e) { return static_cast<unsigned char>(1 + e % 15); });
  int* distances = device_array<int>(
      n, [](int v) { return static_cast<int>(1000 * hashed_unit(static_cast<unsigned>(v))); });
  int* changed = device_zeros<int>(1);
  for (int r = 0; r < kLaunches; ++r)
    pull_by_threads<<<ceil_div(n, 256), 256>>>(starts, targets, rank, shares, next, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r)
    pull_by_groups<32><<<ceil_div(n, 8), 256>>>(starts, targets, rank, next, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r)
    pull_by_groups<4><<<ceil_div(n, 32), 128>>>(starts, targets, rank, next, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r) push_ranks<<<n / 1024, 512>>>(starts, targets, rank, next, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r)
    vote_labels<<<ceil_div(n, 128), 128>>>(neighbours, labels, new_labels, n);
  // Each launch has a lower level than the last, so that each has as much to mark.
  for (int r = 0; r < kLaunches; ++r)
    expand_frontier<<<ceil_div(queued, 4), 128>>>(starts, targets, queue, levels, kFar / 2 - r, queued);
  for (int r = 0; r < kLaunches; ++r)
    count_triangles<<<ceil_div(listed, 256), 256>>>(lists, triangles, listed);
  for (int r = 0; r < kLaunches; ++r)
    normalise_edges<<<ceil_div(edges / 4, 256), 256>>>((int4*)sources, (int4*)targets, degrees,
                                                       (float4*)weights, edges / 4);
  for (int r = 0; r < kLaunches; ++r)
    relax_edges<<<ceil_div(edges, 512), 512>>>(sources, targets, lengths, distances, changed, edges);
  free_all(starts, targets, sources, degrees, shares, rank, next, neighbours, labels, new_labels, queue,
           levels);
  free_all(lists, triangles, weights, lengths, distances, changed);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("web_graphs");
}
