// Steps of a query over n records, a column for each field: filter, compact, partition, gather.
#include "device.h"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTile = 1024;

struct Sample {
  int row;
  float amount;
};

__device__ unsigned hash_of_row(int row) {
  return static_cast<unsigned>(row) * 2654435761u;
}

__device__ unsigned lanes_below(int lane) {
  return (1u << lane) - 1;
}

// Flags of the records that pass two conditions, four records for each thread.
__global__ void filter_flags(const int4* __restrict__ keys, const float4* __restrict__ amounts,
                             uchar4* __restrict__ flags, int key, float low, float high, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const int4 k = keys[i];
  const float4 v = amounts[i];
  uchar4 flag;
  flag.x = (k.x != key) & (v.x >= low) & (v.x < high);
  flag.y = (k.y != key) & (v.y >= low) & (v.y < high);
  flag.z = (k.z != key) & (v.z >= low) & (v.z < high);
  flag.w = (k.w != key) & (v.w >= low) & (v.w < high);
  flags[i] = flag;
}

// Records come once a minute. Those of the open hours move to the front of their block's segment.
__global__ void compact_segments(const int* __restrict__ keys, const float* __restrict__ amounts,
                                 int* __restrict__ out_keys, float* __restrict__ out_amounts,
                                 int* __restrict__ counts, int open, int close, int n) {
  __shared__ int warp_counts[16];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int minute = row % 1440;
  const bool kept = row < n && minute >= open && minute < close;
  const unsigned votes = __ballot_sync(kAllLanes, kept);
  if (lane == 0) warp_counts[warp] = __popc(votes);
  __syncthreads();
  const int before = __reduce_add_sync(kAllLanes, lane < warp ? warp_counts[lane] : 0);
  if (kept) {
    const int place = blockIdx.x * blockDim.x + before + __popc(votes & lanes_below(lane));
    out_keys[place] = keys[row];
    out_amounts[place] = amounts[row];
  }
  if (threadIdx.x == blockDim.x - 1) counts[blockIdx.x] = before + __popc(votes);
}

// A sample of one record in eight, by the hash of the row, goes to a ring. A warp asks for all its places.
__global__ void append_sample(const float* __restrict__ amounts, Sample* __restrict__ ring, unsigned* counter,
                              unsigned capacity, int n) {
  const int lane = threadIdx.x % 32;
  for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
    const int row = first + threadIdx.x;
    const bool kept = row < n && hash_of_row(row) >> 29 == 0;
    const unsigned votes = __ballot_sync(kAllLanes, kept);
    if (votes == 0) continue;
    unsigned start = 0;
    if (lane == 0) start = atomicAdd(counter, __popc(votes));
    start = __shfl_sync(kAllLanes, start, 0);
    if (kept) {
      Sample sample;
      sample.row = row;
      sample.amount = amounts[row];
      ring[(start + __popc(votes & lanes_below(lane))) & (capacity - 1)] = sample;
    }
  }
}

// Each block splits 1024 records between two workers by a bit of the hash of the row, and keeps their order.
template <int THREADS>
__global__ void partition_by_bit(const int* __restrict__ keys, const float* __restrict__ amounts,
                                 int* __restrict__ out_keys, float* __restrict__ out_amounts,
                                 int* __restrict__ splits, int bit, int n) {
  constexpr int kItems = kTile / THREADS, kWarps = THREADS / 32;
  __shared__ int ones_before[32];
  __shared__ int tile_ones;
  __shared__ int key_tile[kTile];
  __shared__ float amount_tile[kTile];
  const int first = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned votes[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int row = first + k * THREADS + threadIdx.x;
    votes[k] = __ballot_sync(kAllLanes, row >= n || (hash_of_row(row) >> bit & 1));
    if (lane == 0) ones_before[k * kWarps + warp] = __popc(votes[k]);
  }
  __syncthreads();
  if (warp == 0) {
    const int own = ones_before[lane];
    int sum = own;
    for (int step = 1; step < 32; step *= 2) {
      const int left = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += left;
    }
    ones_before[lane] = sum - own;
    if (lane == 31) tile_ones = sum;
  }
  __syncthreads();
  const int zeros = kTile - tile_ones;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int index = k * THREADS + threadIdx.x;
    const int ones = ones_before[k * kWarps + warp] + __popc(votes[k] & lanes_below(lane));
    const int place = votes[k] >> lane & 1 ? zeros + ones : index - ones;
    if (first + index < n) {
      key_tile[place] = keys[first + index];
      amount_tile[place] = amounts[first + index];
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int index = k * THREADS + threadIdx.x;
    if (first + index < n) {
      out_keys[first + index] = key_tile[index];
      out_amounts[first + index] = amount_tile[index];
    }
  }
  if (threadIdx.x == 0) splits[blockIdx.x] = zeros;
}

// Three columns of the records of a list of rows.
__global__ void gather_columns(const int* __restrict__ rows, const int* __restrict__ keys,
                               const float* __restrict__ amounts, const double* __restrict__ prices,
                               int* __restrict__ out_keys, float* __restrict__ out_amounts,
                               double* __restrict__ out_prices, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = rows[i];
  out_keys[i] = keys[row];
  out_amounts[i] = amounts[row];
  out_prices[i] = prices[row];
}

// Bits of the records where a run of equal keys starts, and how many each block finds.
__global__ void run_starts(const int* __restrict__ keys, unsigned* __restrict__ starts,
                           int* __restrict__ counts, int quads) {
  __shared__ int block_count;
  if (threadIdx.x == 0) block_count = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int4 key = i < quads ? reinterpret_cast<const int4*>(keys)[i] : make_int4(0, 0, 0, 0);
  int left = __shfl_up_sync(kAllLanes, key.w, 1);
  if (lane == 0) left = i > 0 && i < quads ? keys[4 * i - 1] : key.x - 1;
  unsigned bits = (key.x != left) | (key.y != key.x) << 1 | (key.z != key.y) << 2 | (key.w != key.z) << 3;
  if (i >= quads) bits = 0;
  const int found = __reduce_add_sync(kAllLanes, __popc(bits));
  bits <<= 4 * (lane % 8);
  bits |= __shfl_xor_sync(kAllLanes, bits, 1);
  bits |= __shfl_xor_sync(kAllLanes, bits, 2);
  bits |= __shfl_xor_sync(kAllLanes, bits, 4);
  if (lane % 8 == 0 && i < quads) starts[i / 8] = bits;
  if (lane == 0) atomicAdd(&block_count, found);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = block_count;
}

// n is a multiple of 4.
void run(int n) {
  int capacity = 1024;
  while (capacity < n / 4) capacity *= 2;
  int* keys = device_array<int>(
      n, [](int i) { return static_cast<int>((static_cast<unsigned>(i / 24) * 2654435761u >> 7) % 1000); });
  float* amounts = device_floats(n);
  double* prices = device_doubles(n);
  int* rows = device_array<int>(n / 2, [](int i) { return i / 16 * 32 + i % 16; });
  uchar4* flags = device_zeros<uchar4>(n / 4);
  int* out_keys = device_zeros<int>(n);
  float* out_amounts = device_zeros<float>(n);
  double* out_prices = device_zeros<double>(n / 2);
  int* counts = device_zeros<int>(ceil_div(n, 512));
  Sample* ring = device_zeros<Sample>(capacity);
  unsigned* counter = device_zeros<unsigned>(1);
  unsigned* starts = device_zeros<unsigned>(ceil_div(n, 32));
  for (int r = 0; r < kLaunches; ++r)
    filter_flags<<<ceil_div(n / 4, 256), 256>>>((int4*)keys, (float4*)amounts, flags, 77, 0.25f, 0.75f,
                                                n / 4);
  for (int r = 0; r < kLaunches; ++r)
    compact_segments<<<ceil_div(n, 512), 512>>>(keys, amounts, out_keys, out_amounts, counts, 540, 1020, n);
  for (int r = 0; r < kLaunches; ++r)
    append_sample<<<1056, 256>>>(amounts, ring, counter, static_cast<unsigned>(capacity), n);
  for (int r = 0; r < kLaunches; ++r)
    partition_by_bit<128><<<ceil_div(n, kTile), 128>>>(keys, amounts, out_keys, out_amounts, counts, 30, n);
  for (int r = 0; r < kLaunches; ++r)
    partition_by_bit<512><<<ceil_div(n, kTile), 512>>>(keys, amounts, out_keys, out_amounts, counts, 23, n);
  for (int r = 0; r < kLaunches; ++r)
    gather_columns<<<ceil_div(n / 2, 1024), 1024>>>(rows, keys, amounts, prices, out_keys, out_amounts,
                                                    out_prices, n / 2);
  for (int r = 0; r < kLaunches; ++r) run_starts<<<ceil_div(n / 4, 384), 384>>>(keys, starts, counts, n / 4);
  free_all(keys, amounts, prices, rows, flags, out_keys, out_amounts, out_prices, counts, ring, counter,
           starts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stream_filters");
}
