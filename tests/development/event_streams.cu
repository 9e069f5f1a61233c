// Streams of n events: scans, compaction, sums of segments, runs, splits, steps of a sort and histograms.
#include "device.h"

constexpr int kBins = 256, kSegment = 24;

// Marks where a key differs from the one before it, and numbers the runs of each block (Hillis-Steele).
__global__ void number_runs(const int* keys, int* runs, int* totals, int n) {
  __shared__ int buffer[2][256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  int mark = 0;
  if (i < n) mark = i == 0 || keys[i] != keys[i - 1];
  int in = 0;
  buffer[0][t] = mark;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int sum = buffer[in][t];
    if (t >= d) sum += buffer[in][t - d];
    in = 1 - in;
    buffer[in][t] = sum;
    __syncthreads();
  }
  if (i < n) runs[i] = buffer[in][t];
  if (t == 255) totals[blockIdx.x] = buffer[in][t];
}

#define PADDED(i) ((i) + ((i) >> 5))

// Exclusive scan of 2 * kThreads numbers in a tree that goes up and down again (Blelloch).
template <class T, int kThreads>
__global__ void scan_tree(const T* __restrict__ in, T* __restrict__ out, T* __restrict__ totals) {
  __shared__ T tree[PADDED(2 * kThreads)];
  const int t = threadIdx.x, base = blockIdx.x * 2 * kThreads;
  tree[PADDED(t)] = in[base + t];
  tree[PADDED(t + kThreads)] = in[base + t + kThreads];
  int apart = 1;
  for (int d = kThreads; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      const int low = apart * (2 * t + 1) - 1, high = apart * (2 * t + 2) - 1;
      tree[PADDED(high)] += tree[PADDED(low)];
    }
    apart *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = tree[PADDED(2 * kThreads - 1)];
    tree[PADDED(2 * kThreads - 1)] = 0;
  }
  for (int d = 1; d <= kThreads; d *= 2) {
    apart >>= 1;
    __syncthreads();
    if (t < d) {
      const int low = apart * (2 * t + 1) - 1, high = apart * (2 * t + 2) - 1;
      const T v = tree[PADDED(low)];
      tree[PADDED(low)] = tree[PADDED(high)];
      tree[PADDED(high)] += v;
    }
  }
  __syncthreads();
  out[base + t] = tree[PADDED(t)];
  out[base + t + kThreads] = tree[PADDED(t + kThreads)];
}

// Inclusive scan of 2048 numbers by shuffles, four of them for each of 512 threads.
__global__ void __launch_bounds__(512)
    scan_warps(const float4* __restrict__ in, float4* __restrict__ out, float* __restrict__ totals) {
  __shared__ float sums[16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 512 + threadIdx.x;
  float4 v = in[i];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  float sum = v.w;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    float part = lane < 16 ? sums[lane] : 0;
#pragma unroll
    for (int d = 1; d < 16; d *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, part, d);
      if (lane >= d) part += other;
    }
    if (lane < 16) sums[lane] = part;
    if (lane == 15) totals[blockIdx.x] = part;
  }
  __syncthreads();
  const float before = sum - v.w + (warp > 0 ? sums[warp - 1] : 0);
  out[i] = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
}

// Compaction of the events above a limit: ballots in each warp, and one place for each block in the output.
__global__ void keep_above(const float* values, float* kept, int* counter, float limit, int n) {
  __shared__ int offsets[16];
  __shared__ int base;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float value = 0;
  if (i < n) value = values[i];
  const bool keep = i < n && value > limit;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  if (lane == 0) offsets[warp] = __popc(votes);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int w = 0; w < 16; w++) {
      const int count = offsets[w];
      offsets[w] = sum;
      sum += count;
    }
    base = atomicAdd(counter, sum);
  }
  __syncthreads();
  if (keep) kept[base + offsets[warp] + __popc(votes & ((1u << lane) - 1))] = value;
}

// Sums of segments: a scan in each warp that stops at the heads of segments, then a sum for each end.
__global__ void sum_segments(const int* __restrict__ segments, const float* __restrict__ values,
                             float* __restrict__ sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool inside = i < n;
  const int segment = inside ? segments[i] : -1;
  float sum = inside ? values[i] : 0;
  const int before = __shfl_up_sync(0xffffffffu, segment, 1);
  const unsigned heads = __ballot_sync(0xffffffffu, lane == 0 || before != segment);
  const int head = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane - d >= head) sum += other;
  }
  const bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (inside && last) atomicAdd(&sums[segment], sum);
}

// Splits the keys of each block by a bit, in their order: first those without it, then those with it.
__global__ void __launch_bounds__(1024) split_by_bit(const int* in, int* out, int bit) {
  __shared__ int lows[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int key = in[blockIdx.x * 1024 + t];
  const bool low = !(key >> bit & 1);
  const unsigned votes = __ballot_sync(0xffffffffu, low);
  if (lane == 0) lows[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    int sum = lows[lane];
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += other;
    }
    lows[lane] = sum;
  }
  __syncthreads();
  const int before = (warp > 0 ? lows[warp - 1] : 0) + __popc(votes & ((1u << lane) - 1));
  const int place = low ? before : lows[31] + t - before;
  out[blockIdx.x * 1024 + place] = key;
}

// Step of a radix sort by four bits: 256 threads put 1024 keys in order. Each thread counts its own four keys
// first, then all counts are scanned digit by digit. Counts of digits go out for the whole of the sort.
__global__ void __launch_bounds__(256)
    sort_step(const uint4* __restrict__ in, unsigned* __restrict__ out, int* __restrict__ digits, int shift) {
  __shared__ int counts[16 * 256];
  __shared__ int warps[8];
  __shared__ unsigned sorted[1024];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const uint4 v = in[blockIdx.x * 256 + t];
  const unsigned keys[4] = {v.x, v.y, v.z, v.w};
  int ranks[4];
#pragma unroll
  for (int k = 0; k < 16; ++k) counts[k * 256 + t] = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) ranks[k] = counts[(keys[k] >> shift & 15) * 256 + t]++;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += counts[t * 16 + k];
  int scanned = sum;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, scanned, d);
    if (lane >= d) scanned += other;
  }
  if (lane == 31) warps[warp] = scanned;
  __syncthreads();
  int start = scanned - sum;
  for (int w = 0; w < warp; ++w) start += warps[w];
  for (int k = 0; k < 16; ++k) {
    const int count = counts[t * 16 + k];
    counts[t * 16 + k] = start;
    start += count;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) sorted[counts[(keys[k] >> shift & 15) * 256 + t] + ranks[k]] = keys[k];
  if (t < 16) digits[t * gridDim.x + blockIdx.x] = (t < 15 ? counts[(t + 1) * 256] : 1024) - counts[t * 256];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) out[blockIdx.x * 1024 + k * 256 + t] = sorted[k * 256 + t];
}

// Histogram of bytes, four in a word: one in shared memory for each block, which are added up at the end.
__global__ void byte_histogram(const uchar4* bytes, unsigned* histogram, int count) {
  __shared__ unsigned bins[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    uchar4 v = bytes[i];
    atomicAdd(&bins[v.x], 1u);
    atomicAdd(&bins[v.y], 1u);
    atomicAdd(&bins[v.z], 1u);
    atomicAdd(&bins[v.w], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&histogram[b], bins[b]);
}

// n is a multiple of 4096.
void run(int n) {
  const int segments = ceil_div(n, kSegment);
  int* ids = device_array<int>(n, [](int i) { return i / kSegment; });
  int* keys = device_array<int>(n, [](int i) {
    unsigned v = static_cast<unsigned>(i) * 2654435761u;
    v = (v ^ v >> 15) * 2246822519u;
    return static_cast<int>(v ^ v >> 13);
  });
  int* out = device_zeros<int>(n);
  int* totals = device_zeros<int>(n / 256);
  float* values = device_array<float>(n, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* kept = device_zeros<float>(n);
  float* sums = device_zeros<float>(segments);
  float* block_sums = device_zeros<float>(n / 512);
  int* counter = device_zeros<int>(1);
  int* digits = device_zeros<int>(16 * (n / 1024));
  unsigned* histogram = device_zeros<unsigned>(kBins);
  for (int r = 0; r < kLaunches; ++r) number_runs<<<n / 256, 256>>>(ids, out, totals, n);
  for (int r = 0; r < kLaunches; ++r)
    scan_tree<unsigned, 256><<<n / 512, 256>>>((unsigned*)keys, (unsigned*)out, (unsigned*)totals);
  for (int r = 0; r < kLaunches; ++r) scan_tree<float, 128><<<n / 256, 128>>>(values, kept, (float*)totals);
  for (int r = 0; r < kLaunches; ++r)
    scan_warps<<<n / 2048, 512>>>((float4*)values, (float4*)kept, block_sums);
  for (int r = 0; r < kLaunches; ++r) {
    cudaMemset(counter, 0, sizeof(int));
    keep_above<<<ceil_div(n, 512), 512>>>(values, kept, counter, 0.7f, n);
  }
  for (int r = 0; r < kLaunches; ++r) sum_segments<<<ceil_div(n, 256), 256>>>(ids, values, sums, n);
  for (int r = 0; r < kLaunches; ++r) split_by_bit<<<n / 1024, 1024>>>(keys, out, 9);
  for (int r = 0; r < kLaunches; ++r) sort_step<<<n / 1024, 256>>>((uint4*)keys, (unsigned*)out, digits, 8);
  for (int r = 0; r < kLaunches; ++r) byte_histogram<<<528, 256>>>((uchar4*)keys, histogram, n);
  free_all(ids, keys, out, totals, values, kept, sums, block_sums, counter, digits, histogram);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("event_streams");
}
