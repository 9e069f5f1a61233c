// n points in clusters: sixteen features each for the k-means and its relatives, places in a plane for the
// others.
#include "device.h"

constexpr int kFeatures = 16;

// The nearest centre of each point, as it is first written: points and centres row after row, all from
// memory.
__global__ void assign_rows(const float* points, const float* centres, int* labels, float* squares,
                            int features, int clusters, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float least = 1e30f;
  int nearest = 0;
  for (int c = 0; c < clusters; ++c) {
    float sum = 0;
    for (int f = 0; f < features; ++f) {
      const float apart = points[i * features + f] - centres[c * features + f];
      sum += apart * apart;
    }
    if (sum < least) {
      least = sum;
      nearest = c;
    }
  }
  labels[i] = nearest;
  squares[i] = least;
}

// The nearest centre with points feature after feature in registers and the centres in shared memory. The
// half square of each centre is found once, so that only a dot product is left.
template <int kCount>
__global__ void __launch_bounds__(256)
    assign_staged(const float* __restrict__ points, const float* __restrict__ centres,
                  int* __restrict__ labels, int clusters, int n) {
  extern __shared__ float staged[];
  float* halves = staged + clusters * kCount;
  for (int k = threadIdx.x; k < clusters * kCount; k += blockDim.x) staged[k] = centres[k];
  __syncthreads();
  for (int c = threadIdx.x; c < clusters; c += blockDim.x) {
    float sum = 0;
    for (int f = 0; f < kCount; ++f) sum += staged[c * kCount + f] * staged[c * kCount + f];
    halves[c] = 0.5f * sum;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float own[kCount];
#pragma unroll
    for (int f = 0; f < kCount; ++f) own[f] = points[f * n + i];
    float least = 1e30f;
    int nearest = 0;
    for (int c = 0; c < clusters; ++c) {
      float value = halves[c];
#pragma unroll
      for (int f = 0; f < kCount; ++f) value -= own[f] * staged[c * kCount + f];
      if (value < least) {
        least = value;
        nearest = c;
      }
    }
    labels[i] = nearest;
  }
}

// The sums and sizes of the clusters in each block, gathered in shared memory and written block after block.
__global__ void cluster_sums(const float* points, const int* labels, float* sums, int* sizes, int clusters,
                             int n) {
  extern __shared__ float totals[];
  int* counts = (int*)(totals + clusters * kFeatures);
  const int thread = threadIdx.y * kFeatures + threadIdx.x, threads = kFeatures * blockDim.y;
  for (int k = thread; k < clusters * kFeatures; k += threads) totals[k] = 0;
  for (int k = thread; k < clusters; k += threads) counts[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < n; i += gridDim.x * blockDim.y) {
    const int label = labels[i];
    atomicAdd(&totals[label * kFeatures + threadIdx.x], points[i * kFeatures + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&counts[label], 1);
  }
  __syncthreads();
  for (int k = thread; k < clusters * kFeatures; k += threads)
    sums[blockIdx.x * clusters * kFeatures + k] = totals[k];
  for (int k = thread; k < clusters; k += threads) sizes[blockIdx.x * clusters + k] = counts[k];
}

// The new centres from the sums of all blocks: a warp for each feature of each cluster.
__global__ void update_centres(const float* sums, const int* sizes, const float* old, float* centres,
                               int parts, int clusters) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= clusters * kFeatures) return;
  double sum = 0;
  int size = 0;
  for (int p = lane; p < parts; p += 32) {
    sum += sums[p * clusters * kFeatures + warp];
    size += sizes[p * clusters + warp / kFeatures];
  }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, step);
    size += __shfl_down_sync(0xffffffffu, size, step);
  }
  if (lane == 0) centres[warp] = size > 0 ? (float)(sum / size) : old[warp];
}

// How much each point belongs to each cluster in the fuzzy c-means, in double precision; the power of the
// distances comes from the fuzzifier.
__global__ void fuzzy_memberships(const double* places, const double* __restrict__ centres, double* members,
                                  double power, int features, int clusters, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double all = 0;
  for (int c = 0; c < clusters; ++c) {
    double square = 1e-9;
    for (int f = 0; f < features; ++f) {
      const double apart = places[f * n + i] - centres[c * features + f];
      square += apart * apart;
    }
    const double weight = pow(square, -power);
    members[c * n + i] = weight;
    all += weight;
  }
  const double scale = 1 / all;
  for (int c = 0; c < clusters; ++c) members[c * n + i] *= scale;
}

// A step of the mean shift: each point moves to the mean of the samples, weighted by a Gaussian of their
// distance.
__global__ void mean_shift(const float2* points, const float2* samples, float2* moved, float scale, int count,
                           int n) {
  __shared__ float2 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float2 own = points[min(i, n - 1)];
  float x = 0, y = 0, all = 1e-20f;
  for (int first = 0; first < count; first += 128) {
    const int part = min(128, count - first);
    if ((int)threadIdx.x < part) tile[threadIdx.x] = samples[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < part; ++k) {
      const float dx = tile[k].x - own.x, dy = tile[k].y - own.y;
      const float weight = __expf(-scale * (dx * dx + dy * dy));
      x += weight * tile[k].x;
      y += weight * tile[k].y;
      all += weight;
    }
    __syncthreads();
  }
  if (i < n) moved[i] = make_float2(x / all, y / all);
}

// How many points are within a radius of each, which also tells the cores: the points are sorted by the cells
// of a grid whose cells are as wide as the radius.
__global__ void density_counts(const float2* __restrict__ points, const int* __restrict__ firsts, int* counts,
                               unsigned char* cores, float radius, int side, int least, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 own = points[i];
  const int cx = min((int)(own.x * side), side - 1), cy = min((int)(own.y * side), side - 1);
  int count = 0;
  for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y) {
    const int last = firsts[y * side + min(cx + 1, side - 1) + 1];
    for (int k = firsts[y * side + max(cx - 1, 0)]; k < last; ++k) {
      const float dx = points[k].x - own.x, dy = points[k].y - own.y;
      if (dx * dx + dy * dy <= radius * radius) ++count;
    }
  }
  counts[i] = count;
  cores[i] = count >= least;
}

// The silhouettes of some points, a block for each: its warps take the clusters in turn and average the
// distance to their members, which are listed cluster after cluster.
__global__ void silhouettes(const float2* points, const int* labels, const int* members, const int* firsts,
                            float* out, int apart, int clusters) {
  __shared__ float means[64];
  const int i = blockIdx.x * apart, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float2 own = points[i];
  for (int c = warp; c < clusters; c += blockDim.x / 32) {
    const int first = firsts[c], last = firsts[c + 1];
    float sum = 0;
    for (int k = first + lane; k < last; k += 32) {
      const float2 other = points[members[k]];
      sum += hypotf(other.x - own.x, other.y - own.y);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) means[c] = sum / max(last - first - (labels[i] == c), 1);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  const float inside = means[labels[i]];
  float outside = 1e30f;
  for (int c = 0; c < clusters; ++c)
    if (c != labels[i]) outside = fminf(outside, means[c]);
  out[blockIdx.x] = (outside - inside) / fmaxf(fmaxf(inside, outside), 1e-20f);
}

// Seeding: after a new centre is drawn, the distances to the nearest centre so far, and their sum in each
// block.
__global__ void seed_distances(const float4* points, const float4* centre, float* nearest, double* sums,
                               int n) {
  __shared__ double parts[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  if (i < n) {
    float square = 0;
#pragma unroll
    for (int q = 0; q < kFeatures / 4; ++q) {
      const float4 a = points[i * (kFeatures / 4) + q], b = centre[q];
      square += (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z) +
                (a.w - b.w) * (a.w - b.w);
    }
    square = fminf(square, nearest[i]);
    nearest[i] = square;
    sum = square;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < (int)blockDim.x / 32; ++w) sum += parts[w];
  sums[blockIdx.x] = sum;
}

void run(int n) {
  const int clusters = 48, fuzzy = 24, planar = 20, parts = n / 512 < 264 ? ceil_div(n, 512) : 264;
  const int samples = n < 10000 ? 500 : 2000, shown = n < 10000 ? 100 : 250, apart = n / shown;
  int side = 1;
  while ((side + 1) * (side + 1) <= n / 8) ++side;
  // Places in the unit square, denser to the left, sorted by the cells of the grid.
  std::vector<float2> places(n), sorted(n);
  std::vector<int> cells(n), starts(side * side + 1, 0);
  for (int i = 0; i < n; ++i) {
    const float x = hashed_unit(i), y = hashed_unit(7 * i + 3);
    places[i] = make_float2(0.6f * x + 0.4f * x * x, y);
    const int cx = static_cast<int>(places[i].x * side), cy = static_cast<int>(places[i].y * side);
    cells[i] = (cy < side ? cy : side - 1) * side + (cx < side ? cx : side - 1);
    ++starts[cells[i] + 1];
  }
  for (int c = 0; c < side * side; ++c) starts[c + 1] += starts[c];
  std::vector<int> next(starts);
  for (int i = 0; i < n; ++i) sorted[next[cells[i]]++] = places[i];
  // The members of the clusters in the plane: labels follow no order.
  const auto label_of = [planar](int i) { return static_cast<int>(hashed_unit(5 * i + 1) * planar) % planar; };
  std::vector<int> ends(planar + 1, 0), list(n);
  for (int i = 0; i < n; ++i) ++ends[label_of(i) + 1];
  for (int c = 0; c < planar; ++c) ends[c + 1] += ends[c];
  std::vector<int> filled(ends);
  for (int i = 0; i < n; ++i) list[filled[label_of(i)]++] = i;
  float2* plane = device_array<float2>(n, [&sorted](int i) { return sorted[i]; });
  float2* chosen = device_array<float2>(samples, [&places](int i) { return places[i]; });
  float2* moved = device_zeros<float2>(n);
  int* cell_firsts = device_array<int>(side * side + 1, [&starts](int i) { return starts[i]; });
  int* members = device_array<int>(n, [&list](int i) { return list[i]; });
  int* firsts = device_array<int>(planar + 1, [&ends](int i) { return ends[i]; });
  int* planar_labels = device_array<int>(n, label_of);
  float* points = device_array<float>(n * kFeatures, hashed_unit);
  float* centres = device_array<float>(clusters * kFeatures, [](int i) { return hashed_unit(31 * i + 7); });
  float* updated = device_zeros<float>(clusters * kFeatures);
  int* labels = device_ints(n, clusters);
  int* found = device_zeros<int>(n);
  float* squares = device_array<float>(n, [](int) { return 1e30f; });
  float* sums = device_zeros<float>(parts * clusters * kFeatures);
  int* sizes = device_zeros<int>(parts * clusters);
  double* doubles = device_doubles(4 * n);
  double* double_centres = device_array<double>(4 * fuzzy, [](int i) { return hashed_unit(3 * i + 2); });
  double* memberships = device_zeros<double>(fuzzy * n);
  double* seed_sums = device_zeros<double>(ceil_div(n, 1024));
  int* counts = device_zeros<int>(n);
  unsigned char* cores = device_zeros<unsigned char>(n);
  float* shapes = device_zeros<float>(shown);
  for (int r = 0; r < kLaunches; ++r)
    seed_distances<<<ceil_div(n, 1024), 1024>>>((float4*)points, (float4*)centres, squares, seed_sums, n);
  for (int r = 0; r < kLaunches; ++r)
    assign_rows<<<ceil_div(n, 256), 256>>>(points, centres, found, squares, kFeatures, clusters, n);
  for (int r = 0; r < kLaunches; ++r)
    assign_staged<kFeatures><<<min(ceil_div(n, 256), 528), 256, clusters*(kFeatures + 1) * sizeof(float)>>>(
        points, centres, found, clusters, n);
  for (int r = 0; r < kLaunches; ++r)
    cluster_sums<<<parts, dim3(kFeatures, 20), clusters*(kFeatures + 1) * sizeof(float)>>>(
        points, labels, sums, sizes, clusters, n);
  for (int r = 0; r < kLaunches; ++r)
    update_centres<<<ceil_div(clusters * kFeatures, 4), 128>>>(sums, sizes, centres, updated, parts,
                                                               clusters);
  for (int r = 0; r < kLaunches; ++r)
    fuzzy_memberships<<<ceil_div(n, 64), 64>>>(doubles, double_centres, memberships, 1.25, 4, fuzzy, n);
  for (int r = 0; r < kLaunches; ++r)
    mean_shift<<<ceil_div(n, 128), 128>>>(plane, chosen, moved, 200.0f, samples, n);
  for (int r = 0; r < kLaunches; ++r)
    density_counts<<<ceil_div(n, 192), 192>>>(plane, cell_firsts, counts, cores, 1.0f / side, side, 12, n);
  for (int r = 0; r < kLaunches; ++r)
    silhouettes<<<shown, 160>>>(plane, planar_labels, members, firsts, shapes, apart, planar);
  free_all(plane, chosen, moved, cell_firsts, members, firsts, planar_labels, points, centres, updated,
           labels, found, squares, sums, sizes, doubles, double_centres, memberships, seed_sums, counts,
           cores, shapes);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("clusterings");
}
