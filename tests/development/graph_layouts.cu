// Layouts and measures of a graph of 1024 n vertices on a twisted ring, with some of its edges missing.
#include <algorithm>

#include "device.h"

constexpr int kMost = 12, kPivots = 24, kControls = 16, kPartners = 6, kBodies = 65536, kLeaves = 256, kLevels = 9;

__device__ int spread_bits(unsigned v) {  // puts a zero before each of sixteen bits
  v = (v | v << 8) & 0x00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f;
  v = (v | v << 2) & 0x33333333;
  return (v | v << 1) & 0x55555555;
}

// Pushes each vertex away from all others, of which a block shares tiles, by the inverse square of the distance.
template <int kTile>
__global__ void repel_tiles(const float2* places, float2* forces, float strength, int bodies) {
  __shared__ float2 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float2 own = places[min(i, bodies - 1)];
  float fx = 0, fy = 0;
  for (int start = 0; start < bodies; start += kTile) {
    tile[threadIdx.x] = places[min(start + (int)threadIdx.x, bodies - 1)];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTile; ++k) {
      const float dx = own.x - tile[k].x, dy = own.y - tile[k].y, inverse = rsqrtf(dx * dx + dy * dy + 0.01f);
      const float ratio = strength * inverse * inverse * inverse;
      fx = fmaf(dx, ratio, fx), fy = fmaf(dy, ratio, fy);
    }
    __syncthreads();
  }
  if (i < bodies) forces[i] = make_float2(fx, fy);
}

// Gives each vertex the number of its place along a Morton curve and counts and sums the vertices of each leaf.
__global__ void fill_leaves(const float2* places, unsigned* codes, float4* leaves, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  const float2 p = places[v];
  codes[v] = spread_bits((unsigned)(p.x * 65535)) | spread_bits((unsigned)(p.y * 65535)) << 1;
  float* leaf = &leaves[min((int)(p.y * kLeaves), kLeaves - 1) * kLeaves + min((int)(p.x * kLeaves), kLeaves - 1)].x;
  atomicAdd(leaf, p.x);
  atomicAdd(leaf + 1, p.y);
  atomicAdd(leaf + 2, 1.0f);
}

// Walks down the quad-tree with a small stack: cells that are far enough push as one, others are opened.
__global__ void far_forces(const float4* tree, const float2* places, float2* forces, float open, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  const float2 own = places[v];
  float fx = 0, fy = 0;
  int stack[32], depth = 1;
  stack[0] = 0;
  while (depth > 0) {
    const int packed = stack[--depth], level = packed >> 20, x = packed >> 10 & 1023, y = packed & 1023;
    const float4 cell = tree[((1 << 2 * level) - 1) / 3 + (y << level) + x];
    const float mass = fmaxf(cell.z, 1.0f), dx = own.x - cell.x / mass, dy = own.y - cell.y / mass;
    const float square = dx * dx + dy * dy + 1e-6f, size = 1.0f / (1 << level);
    if (level == kLevels - 1 || size * size < open * open * square) {
      fx += cell.z * dx / square;
      fy += cell.z * dy / square;
    } else if (depth <= 28) {
      for (int k = 0; k < 4; ++k) stack[depth++] = level + 1 << 20 | 2 * x + k % 2 << 10 | 2 * y + k / 2;
    }
  }
  forces[v] = make_float2(fx, fy);
}

// Takes over the label that most neighbours have, the lower one if two are as frequent.
__global__ void propagate_labels(const int* rows, const int* columns, const int* labels, int* next, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int seen[kMost], best = labels[v], most = 0;
  const int start = rows[v], degree = min(rows[v + 1] - start, kMost);
#pragma unroll
  for (int k = 0; k < kMost; ++k) seen[k] = k < degree ? labels[columns[start + k]] : -1;
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    int same = 0;
    for (int j = 0; j < kMost; ++j) same += seen[j] == seen[k];
    if (seen[k] >= 0 && (same > most || (same == most && seen[k] < best))) best = seen[k], most = same;
  }
  next[v] = best;
}

// Counts triangles by merging the sorted neighbours of both ends of each edge that leads upwards.
__global__ void count_triangles(const int* rows, const int* columns, unsigned long long* total, int vertices) {
  int found = 0;
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x)
    for (int e = rows[v]; e < rows[v + 1]; ++e) {
      const int w = columns[e];
      if (w <= v) continue;
      int a = e + 1, b = rows[w];
      while (a < rows[v + 1] && b < rows[w + 1]) {
        const int p = columns[a], q = columns[b];
        found += p == q;
        a += p <= q;
        b += q <= p;
      }
    }
  for (int d = 16; d > 0; d /= 2) found += __shfl_down_sync(~0u, found, d);
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)found);
}

// Peels vertices of too low a degree and takes one from the degree of each of their neighbours.
__global__ void peel_core(const int* rows, const int* columns, int* degrees, int* cores, int core, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || cores[v] > 0 || degrees[v] > core) return;
  cores[v] = core;
  for (int e = rows[v]; e < rows[v + 1]; ++e) atomicSub(&degrees[columns[e]], 1);
}

// Draws edges together: a row of threads holds an edge's control points, pulled by their neighbours and by partners.
__global__ void bundle_edges(const float2* points, float2* moved, const int* partners, float stiffness, int edges) {
  const int edge = blockIdx.x * blockDim.y + threadIdx.y, c = threadIdx.x;
  if (edge >= edges) return;
  const float2 own = points[edge * kControls + c];
  if (c == 0 || c == kControls - 1) {
    moved[edge * kControls + c] = own;
    return;
  }
  const float2 before = points[edge * kControls + c - 1], after = points[edge * kControls + c + 1];
  float fx = stiffness * (before.x + after.x - 2 * own.x), fy = stiffness * (before.y + after.y - 2 * own.y);
  for (int k = 0; k < kPartners; ++k) {
    const float2 other = points[partners[edge * kPartners + k] * kControls + c];
    const float dx = other.x - own.x, dy = other.y - own.y, d = sqrtf(dx * dx + dy * dy);
    if (d > 1e-3f) fx += dx / d * __expf(-d), fy += dy / d * __expf(-d);
  }
  moved[edge * kControls + c] = make_float2(own.x + 0.01f * fx, own.y + 0.01f * fy);
}

// Moves vertices to lower the stress of their distances to some pivots, in double precision.
__global__ void majorize_stress(const double2* places, const float* hops, double2* moved, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  double x = 0, y = 0, weights = 0;
  for (int p = 0; p < kPivots; ++p) {
    const double2 pivot = places[p];
    const double ideal = hops[p * vertices + v] + 0.5, weight = 1 / (ideal * ideal);
    const double dx = places[v].x - pivot.x, dy = places[v].y - pivot.y;
    const double ratio = ideal * rsqrt(dx * dx + dy * dy + 1e-9);
    x += weight * (pivot.x + ratio * dx);
    y += weight * (pivot.y + ratio * dy);
    weights += weight;
  }
  moved[v] = make_double2(x / weights, y / weights);
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int v = 1024 * n, bodies = std::min(v, kBodies), edges = v / 2, cells = ((1 << 2 * kLevels) - 1) / 3;
  const int jumps[6] = {1, 2, 37, 38, v / 3, v / 3 + 38};
  std::vector<int> first(v + 1), ends;
  for (int i = 0; i < v; ++i) {
    for (int k = 0; k < 6; ++k) {
      const int ahead = (i + jumps[k]) % v, behind = (i + v - jumps[k]) % v;
      if (hashed_unit(6 * i + k) < 0.75f) ends.push_back(ahead);
      if (hashed_unit(6 * behind + k) < 0.75f) ends.push_back(behind);
    }
    std::sort(ends.begin() + first[i], ends.end());
    first[i + 1] = (int)ends.size();
  }
  int *rows = device_array<int>(v + 1, [&](int i) { return first[i]; });
  int *columns = device_array<int>(first[v], [&](int i) { return ends[i]; });
  int *degrees = device_array<int>(v, [&](int i) { return first[i + 1] - first[i]; }), *cores = device_zeros<int>(v);
  int *labels = device_ints(v, 1000), *next = device_zeros<int>(v), *partners = device_ints(kPartners * edges, edges);
  float2* places = device_array<float2>(v, [](int i) { return float2{hashed_unit(i), hashed_unit(i + 12345678)}; });
  float2 *forces = device_zeros<float2>(v), *moved = device_zeros<float2>(edges * kControls);
  float2* points = device_array<float2>(edges * kControls, [](int i) {
    return float2{hashed_unit(i / kControls) + 0.05f * (i % kControls), hashed_unit(i)}; });
  float4* tree = device_array<float4>(cells, [v](int i) {
    int level = 0;
    while (i >= 1 << 2 * level) i -= 1 << 2 * level++;
    const float side = 1 << level, mass = v / (side * side);
    return float4{mass * ((i & ((1 << level) - 1)) + 0.5f) / side, mass * ((i >> level) + 0.5f) / side, mass, 0}; });
  float4* leaves = device_zeros<float4>(kLeaves * kLeaves);
  auto *codes = device_zeros<unsigned>(v);
  auto *total = device_zeros<unsigned long long>(1);
  float* hops = device_floats(kPivots * v);
  double2 *exact = device_array<double2>(v, [](int i) { return double2{i % 997 / 9.0, i % 89 / 3.0}; });
  double2* better = device_zeros<double2>(v);
  REPEAT repel_tiles<128><<<ceil_div(bodies, 128), 128>>>(places, forces, 0.1f, bodies);
  REPEAT fill_leaves<<<ceil_div(v, 1024), 1024>>>(places, codes, leaves, v);
  REPEAT far_forces<<<ceil_div(v, 64), 64>>>(tree, places, forces, 0.9f, v);
  REPEAT propagate_labels<<<ceil_div(v, 192), 192>>>(rows, columns, labels, next, v);
  REPEAT count_triangles<<<std::min(ceil_div(v, 512), 528), 512>>>(rows, columns, total, v);
  REPEAT peel_core<<<ceil_div(v, 32), 32>>>(rows, columns, degrees, cores, 4 + r, v);
  REPEAT bundle_edges<<<ceil_div(edges, 8), dim3(kControls, 8)>>>(points, moved, partners, 0.5f, edges);
  REPEAT majorize_stress<<<ceil_div(v, 96), 96>>>(exact, hops, better, v);
  free_all(rows, columns, degrees, cores, labels, next, partners, places, forces, moved, points, tree, leaves, codes,
           total, hops, exact, better);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("graph_layouts");
}
