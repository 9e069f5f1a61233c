// Graphs of n vertices with eight edges each, to vertices near and far.
#include "device.h"

__global__ void breadth_first_level(const int* edges, int* level, int now, int* changed, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int k = 0; k < 8; ++k) {
    const int to = edges[v * 8 + k];
    if (level[to] > now + 1) {
      level[to] = now + 1;
      *changed = 1;
    }
  }
}

__global__ void page_rank(const int* edges, const float* rank, float* next, float damping, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += rank[edges[k * n + v]] * 0.125f;
  next[v] = (1 - damping) / n + damping * sum;
}

__global__ void relax(const int* from, const int* to, const int* length, int* distance, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const int reached = distance[from[e]] + length[e];
  if (reached < distance[to[e]]) atomicMin(&distance[to[e]], reached);
}

// Follows parents up to a root.
__global__ void find_roots(const int* parent, int* root, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int at = v;
  while (parent[at] != at) at = parent[at];
  root[v] = at;
}

// Vertices that two neighbours share, their lists sorted.
__global__ void common_neighbours(const int* edges, int* counts, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int count = 0;
  for (int k = 0; k < 8; ++k) {
    const int u = edges[v * 8 + k];
    int a = 0, b = 0;
    while (a < 8 && b < 8) {
      const int x = edges[v * 8 + a], y = edges[u * 8 + b];
      if (x == y) ++count;
      if (x <= y) ++a;
      if (y <= x) ++b;
    }
  }
  counts[v] = count;
}

void run(int n) {
  int* far = device_ints(8 * n, n);
  int* near = device_array<int>(8 * n, [n](int i) { return (i / 8 + i % 8 + 1) % n; });
  int* from = device_array<int>(8 * n, [](int i) { return i / 8; });
  int* parent = device_array<int>(n, [](int i) { return i / 4; });
  int* level = device_array<int>(n, [](int i) { return i % 8; });
  int* length = device_ints(8 * n, 10);
  int* out = device_zeros<int>(n);
  float* rank = device_floats(n);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) breadth_first_level<<<blocks, 256>>>(far, level, 3, out, n);
  for (int r = 0; r < kLaunches; ++r) breadth_first_level<<<ceil_div(n, 512), 512>>>(near, level, 7, out, n);
  for (int r = 0; r < kLaunches; ++r) page_rank<<<blocks, 256>>>(far, rank, (float*)out, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r) page_rank<<<ceil_div(n, 128), 128>>>(near, rank, (float*)out, 0.85f, n);
  for (int r = 0; r < kLaunches; ++r) relax<<<ceil_div(8 * n, 256), 256>>>(from, far, length, level, 8 * n);
  for (int r = 0; r < kLaunches; ++r) find_roots<<<blocks, 256>>>(parent, out, n);
  for (int r = 0; r < kLaunches; ++r) common_neighbours<<<ceil_div(n, 128), 128>>>(near, out, n);
  free_all(far, near, from, parent, level, length, out, rank);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("graphs");
}
