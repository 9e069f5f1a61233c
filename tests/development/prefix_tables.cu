// Prefix sums over n x n numbers: of groups, of blocks, of rows, and of both rows and columns.
#include "device.h"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTreeSize = 512;
constexpr int kStrips = 16;

template <class T>
__device__ T warp_scan(T value, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const T left = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += left;
  }
  return value;
}

// Sums of each group of 32 elements, one element for each lane.
template <class T>
__global__ void scan_warps(const T* __restrict__ in, T* __restrict__ out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T sum = warp_scan(i < count ? in[i] : T(0), threadIdx.x % 32);
  if (i < count) out[i] = sum;
}

// Where an element of the tree is stored: with padding, a gap after each 32 elements spares bank conflicts.
template <bool PADDED>
__device__ int tree_place(int i) {
  return PADDED ? i + i / 32 : i;
}

// Sums of the elements before each one, for 512 elements: up a tree in shared memory, then down.
template <bool PADDED>
__global__ void scan_tree(const float* __restrict__ in, float* __restrict__ out, float* __restrict__ sums,
                          int count) {
  __shared__ float tree[kTreeSize + kTreeSize / 32];
  const int t = threadIdx.x, first = blockIdx.x * kTreeSize;
  for (int i = t; i < kTreeSize; i += kTreeSize / 2)
    tree[tree_place<PADDED>(i)] = first + i < count ? in[first + i] : 0.0f;
  for (int step = 1; step < kTreeSize; step *= 2) {
    __syncthreads();
    if (t < kTreeSize / 2 / step) {
      const int right = 2 * step * (t + 1) - 1;
      tree[tree_place<PADDED>(right)] += tree[tree_place<PADDED>(right - step)];
    }
  }
  __syncthreads();
  if (t == 0) {
    sums[blockIdx.x] = tree[tree_place<PADDED>(kTreeSize - 1)];
    tree[tree_place<PADDED>(kTreeSize - 1)] = 0;
  }
  for (int step = kTreeSize / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < kTreeSize / 2 / step) {
      const int right = tree_place<PADDED>(2 * step * (t + 1) - 1);
      const int left = tree_place<PADDED>(2 * step * (t + 1) - 1 - step);
      const float sum = tree[right];
      tree[right] = sum + tree[left];
      tree[left] = sum;
    }
  }
  __syncthreads();
  for (int i = t; i < kTreeSize; i += kTreeSize / 2)
    if (first + i < count) out[first + i] = tree[tree_place<PADDED>(i)];
}

// Sums within the part of each block, which goes through it by tiles of 1024, four elements for each thread.
__global__ void scan_vectors(const uint4* __restrict__ in, uint4* __restrict__ out,
                             unsigned* __restrict__ sums, int tiles, int quads) {
  __shared__ unsigned warp_sums[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned carry = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int i = (blockIdx.x * tiles + tile) * 256 + threadIdx.x;
    uint4 v = i < quads ? in[i] : make_uint4(0, 0, 0, 0);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const unsigned sum = warp_scan(v.w, lane);
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    unsigned before = carry + sum - v.w;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) before += warp_sums[w];
      carry += warp_sums[w];
    }
    __syncthreads();
    if (i < quads) out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = carry;
}

// Each block adds up the sums of the blocks before it, and adds the result to its part.
__global__ void add_block_sums(uint4* __restrict__ prefix, const unsigned* __restrict__ sums, int tiles,
                               int quads) {
  __shared__ unsigned warp_sums[8];
  unsigned before = 0;
  for (int b = threadIdx.x; b < static_cast<int>(blockIdx.x); b += 256) before += sums[b];
  before = __reduce_add_sync(kAllLanes, before);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = before;
  __syncthreads();
  before = 0;
  for (int w = 0; w < 8; ++w) before += warp_sums[w];
  for (int tile = 0; tile < tiles; ++tile) {
    const int i = (blockIdx.x * tiles + tile) * 256 + threadIdx.x;
    if (i >= quads) break;
    uint4 v = prefix[i];
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
    prefix[i] = v;
  }
}

// Sums along each row, one warp for each row: the first pass of a summed-area table.
template <class T>
__global__ void scan_rows(const T* __restrict__ in, T* __restrict__ out, int rows, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  T carry = 0;
  for (int first = 0; first < n; first += 32) {
    const int x = first + lane;
    const T sum = warp_scan(x < n ? in[row * n + x] : T(0), lane) + carry;
    if (x < n) out[row * n + x] = sum;
    carry = __shfl_sync(kAllLanes, sum, 31);
  }
}

// Sums down each column, the second pass: each of 16 threads adds up a strip, then goes through it again.
template <class T>
__global__ void scan_columns(const T* __restrict__ in, T* __restrict__ out, int strip, int rows, int n) {
  __shared__ T strip_sums[kStrips][32];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int begin = threadIdx.y * strip, end = min(begin + strip, rows);
  T sum = 0;
  if (x < n)
    for (int y = begin; y < end; ++y) sum += in[y * n + x];
  strip_sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (x >= n) return;
  sum = 0;
  for (int k = 0; k < threadIdx.y; ++k) sum += strip_sums[k][threadIdx.x];
  for (int y = begin; y < end; ++y) {
    sum += in[y * n + x];
    out[y * n + x] = sum;
  }
}

// The tables of doubles have half the rows.
void run(int n) {
  const int count = n * n, half = n / 2 * n;
  const int tiles = ceil_div(count, 1024 * 1056), parts = ceil_div(count / 4, 256 * tiles);
  unsigned* numbers =
      device_array<unsigned>(count, [](int i) { return (static_cast<unsigned>(i) * 2654435761u >> 7) % 10; });
  unsigned* prefix = device_zeros<unsigned>(count);
  unsigned* part_sums = device_zeros<unsigned>(parts);
  float* image = device_floats(count);
  float* row_sums = device_zeros<float>(count);
  float* table = device_zeros<float>(count);
  float* tree_sums = device_zeros<float>(ceil_div(count, kTreeSize));
  double* masses = device_doubles(half);
  double* mass_row_sums = device_zeros<double>(half);
  double* mass_table = device_zeros<double>(half);
  for (int r = 0; r < kLaunches; ++r)
    scan_warps<unsigned><<<ceil_div(count, 256), 256>>>(numbers, prefix, count);
  for (int r = 0; r < kLaunches; ++r)
    scan_warps<double><<<ceil_div(half, 512), 512>>>(masses, mass_row_sums, half);
  for (int r = 0; r < kLaunches; ++r)
    scan_tree<false><<<ceil_div(count, kTreeSize), kTreeSize / 2>>>(image, table, tree_sums, count);
  for (int r = 0; r < kLaunches; ++r)
    scan_tree<true><<<ceil_div(count, kTreeSize), kTreeSize / 2>>>(image, table, tree_sums, count);
  for (int r = 0; r < kLaunches; ++r)
    scan_vectors<<<parts, 256>>>((uint4*)numbers, (uint4*)prefix, part_sums, tiles, count / 4);
  for (int r = 0; r < kLaunches; ++r)
    add_block_sums<<<parts, 256>>>((uint4*)prefix, part_sums, tiles, count / 4);
  for (int r = 0; r < kLaunches; ++r) scan_rows<float><<<ceil_div(n, 4), 128>>>(image, row_sums, n, n);
  for (int r = 0; r < kLaunches; ++r)
    scan_rows<double><<<ceil_div(n / 2, 2), 64>>>(masses, mass_row_sums, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    scan_columns<float><<<ceil_div(n, 32), dim3(32, kStrips)>>>(row_sums, table, ceil_div(n, kStrips), n, n);
  for (int r = 0; r < kLaunches; ++r)
    scan_columns<double><<<ceil_div(n, 32), dim3(32, kStrips)>>>(mass_row_sums, mass_table,
                                                                 ceil_div(n / 2, kStrips), n / 2, n);
  free_all(numbers, prefix, part_sums, image, row_sums, table, tree_sums, masses, mass_row_sums, mass_table);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("prefix_tables");
}
