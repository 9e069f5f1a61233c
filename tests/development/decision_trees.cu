// Forests of trees that decide by thresholds: n rows of 32 features, to grow them and to ask them.
#include "device.h"

struct Node {
  int feature;
  float threshold;
  int child;
  float value;
};

// Each row through all trees, from the root until a leaf: nodes as structures in memory.
__global__ void walk_trees(const Node* nodes, const float* features, float* out, int trees, int nodes_each,
                           int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int t = 0; t < trees; ++t) {
    const Node* tree = nodes + t * nodes_each;
    int at = 0;
    while (tree[at].child > 0)
      at = tree[at].child + (features[tree[at].feature * n + row] > tree[at].threshold);
    sum += tree[at].value;
  }
  out[row] = sum;
}

// Trees that ask the same at all nodes of a level: six answers are the number of the leaf.
template <int kLevels>
__global__ void walk_levels(const float* __restrict__ features, const int* __restrict__ which,
                            const float* __restrict__ thresholds, const float* __restrict__ leaves,
                            float* __restrict__ out, int trees) {
  __shared__ float rows[128 * 33];
  for (int k = threadIdx.x; k < 128 * 32; k += 128)
    rows[k / 32 * 33 + k % 32] = features[blockIdx.x * 128 * 32 + k];
  __syncthreads();
  const float* own = rows + threadIdx.x * 33;
  float sum = 0;
  for (int t = 0; t < trees; ++t) {
    int leaf = 0;
#pragma unroll
    for (int k = 0; k < kLevels; ++k)
      leaf |= (own[which[t * kLevels + k]] > thresholds[t * kLevels + k]) << k;
    sum += __ldg(leaves + (t << kLevels) + leaf);
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// The number of the interval of each value between 63 cuts: six halvings in shared memory.
__global__ void into_bins(const float* features, const float* cuts, unsigned char* bins, int n) {
  __shared__ float cut[64];
  if (threadIdx.x < 63) cut[threadIdx.x] = cuts[blockIdx.y * 63 + threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = features[blockIdx.y * n + i];
  int at = 0;
  for (int step = 32; step > 0; step /= 2)
    if (value > cut[at + step - 1]) at += step;
  bins[blockIdx.y * n + i] = at;
}

// Gradients and curvatures summed for each bin of a feature: in shared memory, then in memory.
__global__ void bin_sums(const unsigned char* bins, const float2* gradients, float* sums, int n) {
  __shared__ float part[128];
  if (threadIdx.x < 128) part[threadIdx.x] = 0;
  __syncthreads();
  const unsigned char* own = bins + (size_t)blockIdx.y * n;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = own[i] & 63;
    const float2 g = gradients[i];
    atomicAdd(&part[2 * bin], g.x);
    atomicAdd(&part[2 * bin + 1], g.y);
  }
  __syncthreads();
  if (threadIdx.x < 128) atomicAdd(&sums[blockIdx.y * 128 + threadIdx.x], part[threadIdx.x]);
}

// The best cut of each node and feature, two bins for each lane of a warp: running sums, then the most.
__global__ void best_cuts(const float4* sums, float2* best, float smooth, int count) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= count) return;
  const float4 own = sums[warp * 32 + lane];
  float g = own.x + own.z, h = own.y + own.w;
  for (int step = 1; step < 32; step *= 2) {
    const float other_g = __shfl_up_sync(0xffffffffu, g, step),
                other_h = __shfl_up_sync(0xffffffffu, h, step);
    if (lane >= step) {
      g += other_g;
      h += other_h;
    }
  }
  const float all_g = __shfl_sync(0xffffffffu, g, 31), all_h = __shfl_sync(0xffffffffu, h, 31);
  float gain = g * g / (h + smooth) + (all_g - g) * (all_g - g) / (all_h - h + smooth);
  const float first_g = g - own.z, first_h = h - own.w;
  const float other = first_g * first_g / (first_h + smooth) +
                      (all_g - first_g) * (all_g - first_g) / (all_h - first_h + smooth);
  int at = 2 * lane + 1;
  if (other > gain) {
    gain = other;
    at = 2 * lane;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float there = __shfl_xor_sync(0xffffffffu, gain, step);
    const int there_at = __shfl_xor_sync(0xffffffffu, at, step);
    if (there > gain || (there == gain && there_at < at)) {
      gain = there;
      at = there_at;
    }
  }
  if (lane == 0) best[warp] = make_float2(gain, at);
}

// Rows of a node go left or right: places from votes in warps, and one addition in memory for a block and side.
__global__ void part_rows(const unsigned char* bins, const int* rows, int* left, int* right, int* ends,
                          int cut, int n) {
  __shared__ int lefts[8], starts[2];
  const int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = i < n ? rows[i] : 0;
  const bool goes_left = i < n && bins[row] < cut;
  const unsigned votes = __ballot_sync(0xffffffffu, goes_left);
  if (lane == 0) lefts[warp] = __popc(votes);
  __syncthreads();
  int before = __popc(votes & ((1u << lane) - 1)), all = 0;
  for (int w = 0; w < 8; ++w) {
    if (w < warp) before += lefts[w];
    all += lefts[w];
  }
  if (threadIdx.x == 0) {
    starts[0] = atomicAdd(&ends[0], all);
    starts[1] = atomicAdd(&ends[1], min(256, n - blockIdx.x * 256) - all);
  }
  __syncthreads();
  if (i >= n) return;
  if (goes_left)
    left[(starts[0] + before) % n] = row;
  else
    right[(starts[1] + threadIdx.x - before) % n] = row;
}

void run(int n) {
  const int trees = 32;
  int* nodes = device_array<int>(trees * 255 * 4, [](int i) {
    const int node = i / 4, at = node % 255;
    if (i % 4 == 0) return node * 7 % 32;
    if (i % 4 == 1) return bits_of((node * 37 % 1000) / 1000.0f);
    if (i % 4 == 2) return at < 127 && (at < 15 || node % 5 > 0) ? 2 * at + 1 : 0;
    return bits_of((node % 19) / 19.0f);
  });
  float* features = device_array<float>(32 * n, [](int i) {
    return static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 9) % 1000u) / 1000;
  });
  float* cuts = device_array<float>(32 * 63, [](int i) { return (i % 63 + 1) / 64.0f; });
  int* which = device_ints(64 * 6, 32);
  float* leaves = device_floats(64 * 64);
  unsigned char* bins = device_zeros<unsigned char>(32 * n);
  int* rows = device_ints(n, n);
  int* left = device_zeros<int>(n);
  int* right = device_zeros<int>(n);
  int* ends = device_zeros<int>(2);
  float* out = device_zeros<float>(2 * n);
  float* sums = device_zeros<float>(32 * 128);
  for (int r = 0; r < kLaunches; ++r)
    walk_trees<<<ceil_div(n, 128), 128>>>((Node*)nodes, features, out, trees, 255, n);
  for (int r = 0; r < kLaunches; ++r)
    walk_levels<6><<<n / 128, 128>>>(features, which, cuts, leaves, out, 64);
  for (int r = 0; r < kLaunches; ++r) into_bins<<<dim3(ceil_div(n, 256), 32), 256>>>(features, cuts, bins, n);
  for (int r = 0; r < kLaunches; ++r) bin_sums<<<dim3(16, 32), 512>>>(bins, (float2*)features, sums, n);
  for (int r = 0; r < kLaunches; ++r)
    best_cuts<<<ceil_div(n / 4, 4), 128>>>((float4*)features, (float2*)out, 1.0f, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    part_rows<<<ceil_div(n, 256), 256>>>(bins, rows, left, right, ends, 29, n);
  free_all(nodes, features, cuts, which, leaves, bins, rows, left, right, ends, out, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("decision_trees");
}
