// Kernels of boosted trees, clusters, nearest neighbours and small networks, on n rows of 16 numbers.
#include <cstdint>

#include "device.h"

constexpr int kDims = 16, kFeatures = 24, kBins = 256, kLeafRows = 4096, kClusters = 40, kNodes = 127;
__constant__ float centroids[kClusters][kDims];

// Histograms of gradients: a block for each leaf and feature. The rows are in the order of the leaves.
__global__ void leaf_histograms(const uint8_t* bins, const float2* gradients, float2* histograms, int n) {
  __shared__ float sums[2][kBins];
  const int leaf = blockIdx.x, feature = blockIdx.y, end = min((leaf + 1) * kLeafRows, n);
  for (int k = threadIdx.x; k < 2 * kBins; k += blockDim.x) sums[k / kBins][k % kBins] = 0;
  __syncthreads();
  for (int row = leaf * kLeafRows + threadIdx.x; row < end; row += blockDim.x) {
    const float2 g = gradients[row];
    const int bin = bins[feature * n + row];
    atomicAdd(&sums[0][bin], g.x);
    atomicAdd(&sums[1][bin], g.y);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x)
    histograms[(leaf * kFeatures + feature) * kBins + k] = make_float2(sums[0][k], sums[1][k]);
}

// The best split of each histogram: a scan in shared memory, and the largest gain of the block.
__global__ void split_gains(const float2* histograms, unsigned long long* splits, float lambda) {
  __shared__ float2 scan[2][kBins];
  __shared__ unsigned long long best;
  const int t = threadIdx.x, place = blockIdx.x * kFeatures + blockIdx.y;
  scan[0][t] = histograms[place * kBins + t];
  if (t == 0) best = 0;
  int from = 0;
  for (int d = 1; d < kBins; d *= 2, from = 1 - from) {
    __syncthreads();
    const float2 a = scan[from][t], b = t >= d ? scan[from][t - d] : make_float2(0, 0);
    scan[1 - from][t] = make_float2(a.x + b.x, a.y + b.y);
  }
  __syncthreads();
  const float2 left = scan[from][t], all = scan[from][kBins - 1];
  const float gx = all.x - left.x, hx = all.y - left.y;
  const float gain = left.x * left.x / (left.y + lambda) + gx * gx / (hx + lambda);
  unsigned long long key = (unsigned long long)__float_as_uint(fmaxf(gain, 0.0f)) << 32 | t;
  for (int d = 16; d > 0; d /= 2) key = max(key, __shfl_down_sync(0xffffffffu, key, d));
  if (t % 32 == 0) atomicMax(&best, key);
  __syncthreads();
  if (t == 0) splits[place] = best;
}

struct Node {
  int feature, left;  // the feature of a leaf is below zero
  float threshold, value;
};

// The sum of the leaves that a row reaches in all trees.
__global__ void tree_scores(const Node* nodes, const float* points, float* scores, int trees, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int tree = 0; tree < trees; ++tree) {
    const Node* root = nodes + tree * kNodes;
    Node node = root[0];
    while (node.feature >= 0) node = root[node.left + (points[row * kDims + node.feature] > node.threshold)];
    sum += node.value;
  }
  scores[row] = 1 / (1 + expf(-sum));
}

// The nearest centroid of each point. The point is in registers, the centroids in constant memory.
__global__ void assign_clusters(const float4* points, uint8_t* labels, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float p[kDims];
  for (int q = 0; q < kDims / 4; ++q) {
    const float4 v = points[row * (kDims / 4) + q];
    p[4 * q] = v.x, p[4 * q + 1] = v.y, p[4 * q + 2] = v.z, p[4 * q + 3] = v.w;
  }
  float least = 1e30f;
  int best = 0;
  for (int c = 0; c < kClusters; ++c) {
    float distance = 0;
    for (int d = 0; d < kDims; ++d) distance += (p[d] - centroids[c][d]) * (p[d] - centroids[c][d]);
    if (distance < least) least = distance, best = c;
  }
  labels[row] = best;
}

// Sums and counts of the clusters: first in shared memory, then with global atomics.
__global__ void sum_clusters(const float* points, const uint8_t* labels, double* sums, int* counts, int n) {
  extern __shared__ float partial[];
  int* members = (int*)(partial + kClusters * kDims);
  const int t = threadIdx.y * kDims + threadIdx.x, threads = kDims * blockDim.y;
  for (int k = t; k < kClusters * (kDims + 1); k += threads) partial[k] = 0;
  __syncthreads();
  for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < n; row += gridDim.x * blockDim.y) {
    const int label = labels[row];
    atomicAdd(&partial[label * kDims + threadIdx.x], points[row * kDims + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&members[label], 1);
  }
  __syncthreads();
  for (int k = t; k < kClusters * kDims; k += threads) atomicAdd(&sums[k], (double)partial[k]);
  if (t < kClusters) atomicAdd(&counts[t], members[t]);
}

// The kNear nearest of some references, by insertion into a private array that stays in order.
template <int kNear>
__global__ void nearest(const float* __restrict__ points, int* __restrict__ out, int references, int n) {
  __shared__ float tile[32 * kDims];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float own[kDims], distances[kNear];
  int near[kNear];
  for (int d = 0; d < kDims; ++d) own[d] = points[min(row, n - 1) * kDims + d];
  for (int k = 0; k < kNear; ++k) distances[k] = 1e30f, near[k] = 0;
  for (int start = 0; start < references; start += 32) {
    for (int k = threadIdx.x; k < 32 * kDims; k += blockDim.x) tile[k] = points[start * kDims + k];
    __syncthreads();
    for (int r = 0; r < 32; ++r) {
      float distance = 0;
#pragma unroll
      for (int d = 0; d < kDims; ++d) distance += fabsf(own[d] - tile[r * kDims + d]);
      if (distance >= distances[kNear - 1]) continue;
      int k = kNear - 1;
      for (; k > 0 && distances[k - 1] > distance; --k)
        distances[k] = distances[k - 1], near[k] = near[k - 1];
      distances[k] = distance, near[k] = start + r;
    }
    __syncthreads();
  }
  for (int k = 0; row < n && k < kNear; ++k) out[k * n + row] = near[k];
}

// The cell of an LSTM, element by element, with dropout by numbers that follow from a counter.
__global__ void lstm_cell(const float* gates, float* cells, float* out, unsigned seed, int units, int batch) {
  const int unit = blockIdx.x * blockDim.x + threadIdx.x, sample = blockIdx.y * blockDim.y + threadIdx.y;
  if (unit >= units || sample >= batch) return;
  const float* gate = gates + sample * 4 * units + unit;
  const float in = 1 / (1 + expf(-gate[0])), forget = 1 / (1 + expf(-gate[units]));
  const float open = 1 / (1 + expf(-gate[3 * units])), fresh = tanhf(gate[2 * units]);
  const int i = sample * units + unit;
  const unsigned h = (seed ^ i * 0x9e3779b9u) * 0x85ebca6bu, bits = (h ^ h >> 13) * 0xc2b2ae35u;
  const float cell = cells[i] = forget * cells[i] + in * fresh;
  out[i] = bits >> 16 < 13107u ? 0.0f : 1.25f * open * tanhf(cell);
}

// Cosine similarities of pairs of vectors of 128 numbers: a warp for each pair.
__global__ void cosine_pairs(const float4* vectors, const int* partners, float* out, int count) {
  const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (pair >= count) return;
  const float4 a = vectors[pair * 32 + lane], b = vectors[partners[pair] * 32 + lane];
  float ab = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w,
        aa = a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
  float bb = b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    ab += __shfl_xor_sync(0xffffffffu, ab, d);
    aa += __shfl_xor_sync(0xffffffffu, aa, d);
    bb += __shfl_xor_sync(0xffffffffu, bb, d);
  }
  if (lane == 0) out[pair] = ab * rsqrtf(aa * bb + 1e-12f);
}

void run(int n) {
  const int leaves = ceil_div(n, kLeafRows), vectors = n / 8, batch = n / 64;
  float* points = device_array<float>(n * kDims, [](int i) { return hashed_unit(i); });
  uint8_t* bins = device_array<uint8_t>(n * kFeatures, [](int i) { return i * 2654435761u >> 24; });
  float2* gradients = device_array<float2>(n, [](int i) { return make_float2(i % 97 / 48.0f - 1, 1); });
  Node* nodes = device_array<Node>(24 * kNodes, [](int i) {
    const int place = i % kNodes, leaf = place >= kNodes / 2 || (place > 14 && i % 7 == 0);
    return Node{leaf ? -1 : i * 5 % kDims, 2 * place + 1, hashed_unit(i), hashed_unit(i) - 0.5f};
  });
  int* partners = device_ints(vectors, vectors);
  float2* histograms = device_zeros<float2>(leaves * kFeatures * kBins);
  unsigned long long* splits = device_zeros<unsigned long long>(leaves * kFeatures);
  uint8_t* labels = device_zeros<uint8_t>(n);
  double* sums = device_zeros<double>(kClusters * kDims);
  int* out = device_zeros<int>(8 * n);
  float* cells = device_zeros<float>(8 * n);
  cudaMemcpyToSymbol(centroids, points, sizeof centroids, 0, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < kLaunches; ++r)
    leaf_histograms<<<dim3(leaves, kFeatures), 384>>>(bins, gradients, histograms, n);
  for (int r = 0; r < kLaunches; ++r) split_gains<<<dim3(leaves, kFeatures), kBins>>>(histograms, splits, 1);
  for (int r = 0; r < kLaunches; ++r)
    tree_scores<<<ceil_div(n, 128), 128>>>(nodes, points, (float*)out, 24, n);
  for (int r = 0; r < kLaunches; ++r) assign_clusters<<<ceil_div(n, 256), 256>>>((float4*)points, labels, n);
  for (int r = 0; r < kLaunches; ++r)
    sum_clusters<<<min(264, ceil_div(n, 32)), dim3(kDims, 32), kClusters*(kDims + 1) * sizeof(float)>>>(
        points, labels, sums, out, n);
  for (int r = 0; r < kLaunches; ++r) nearest<3><<<ceil_div(n, 96), 96>>>(points, out, 192, n);
  for (int r = 0; r < kLaunches; ++r) nearest<8><<<ceil_div(n, 256), 256>>>(points, out, 64, n);
  for (int r = 0; r < kLaunches; ++r)
    lstm_cell<<<dim3(4, ceil_div(batch, 4)), dim3(64, 4)>>>(points, cells, cells + 4 * n, 7u, 256, batch);
  for (int r = 0; r < kLaunches; ++r)
    cosine_pairs<<<ceil_div(vectors, 32), 1024>>>((float4*)points, partners, (float*)out, vectors);
  free_all(points, bins, gradients, nodes, partners, histograms, splits, labels, sums, out, cells);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("learning_kernels");
}
