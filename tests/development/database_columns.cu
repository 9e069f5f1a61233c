// Columns of n rows in a database: unpacked, filtered, joined and summed in groups.
#include "device.h"

// Values of kBits bits one after the other, and a smallest value for each 1024 of them.
template <int kBits>
__global__ void unpack(const unsigned* __restrict__ packed, const int* __restrict__ smallest,
                       int* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long bit = (long long)i * kBits;
  const int word = bit / 32, shift = bit % 32;
  const unsigned value = __funnelshift_r(packed[word], packed[word + 1], shift) & ((1u << kBits) - 1);
  out[i] = smallest[i / 1024] + value;
}

// Values from their differences: a warp for each 1024, four for each lane at a time.
__global__ void undo_differences(const int4* differences, const int* starts, int4* out, int chunks) {
  const int chunk = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (chunk >= chunks) return;
  int before = starts[chunk];
  for (int k = 0; k < 8; ++k) {
    int4 v = differences[chunk * 256 + k * 32 + lane];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int sum = v.w;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    const int add = before + sum - v.w;
    v.x += add;
    v.y += add;
    v.z += add;
    v.w += add;
    out[chunk * 256 + k * 32 + lane] = v;
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
}

// Values that are repeated: 256 of them for each block, whose ends are summed, and each place seeks its value.
__global__ void expand_runs(const int* values, const unsigned char* lengths, const int* firsts, int* out) {
  __shared__ int ends[256], own[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  own[t] = values[i];
  ends[t] = lengths[i];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const int other = t >= step ? ends[t - step] : 0;
    __syncthreads();
    ends[t] += other;
    __syncthreads();
  }
  const int all = ends[255], first = firsts[blockIdx.x];
  for (int place = t; place < all; place += 256) {
    int low = 0, high = 255;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ends[middle] > place)
        high = middle;
      else
        low = middle + 1;
    }
    out[first + place] = own[low];
  }
}

// Rows that pass three conditions, a bit for each, and their number.
__global__ void filter(const int* dates, const float* prices, const unsigned char* kinds, unsigned* bits,
                       int* count, int from, int to, float limit, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool passes = false;
  if (i < n) {
    const int date = dates[i];
    if (date >= from && date < to) passes = prices[i] < limit && (kinds[i] & 3) != 2;
  }
  const unsigned word = __ballot_sync(0xffffffffu, passes);
  if (threadIdx.x % 32 == 0 && i < n) {
    bits[i / 32] = word;
    if (word != 0) atomicAdd(count, __popc(word));
  }
}

// Keys that are sought in a table of keys and values, from their place on until they or a gap are met.
__global__ void probe(const int* keys, const int2* table, int* out, int mask, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int key = keys[i];
    unsigned place = (unsigned)key & mask;
    int found = -1;
    for (int tries = 0; tries < 64; ++tries) {
      const int2 entry = table[place];
      if (entry.x == key) found = entry.y;
      if (entry.x == key || entry.x < 0) break;
      place = (place + 1) & mask;
    }
    out[i] = found;
  }
}

// Sums, numbers and the most of 32 groups: in shared memory, apart for each warp, then in memory.
__global__ void group_sums(const int* groups, const int* amounts, unsigned long long* sums, int* most,
                           int n) {
  __shared__ int sum[8][32], high[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  sum[warp][lane] = 0;
  if (warp == 0) high[lane] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const int group = groups[i] & 31, amount = amounts[i] & 255;
    atomicAdd(&sum[warp][group], amount);
    if (amount > high[group]) atomicMax(&high[group], amount);
  }
  __syncthreads();
  if (warp > 0) return;
  int all = 0;
  for (int w = 0; w < 8; ++w) all += sum[w][lane];
  atomicAdd(&sums[lane], (unsigned long long)all);
  atomicMax(&most[lane], high[lane]);
}

void run(int n) {
  const int chunks = n / 1024, runs = n / 8, slots = n / 2;
  int* dates = device_ints(n, 4096);
  int* keys = device_ints(n, slots);
  unsigned char* kinds =
      device_array<unsigned char>(n, [](int i) { return static_cast<unsigned char>(i * 5 % 251); });
  unsigned char* lengths =
      device_array<unsigned char>(runs, [](int i) { return static_cast<unsigned char>(i % 8 + 1); });
  int* firsts = device_array<int>(runs / 256, [](int i) { return i * 1152; });
  // Every seventh place is a gap; the others have the key of their own place or of the one before.
  int* table = device_array<int>(2 * slots, [](int i) {
    return i % 2 ? i : i / 2 % 7 == 6 ? -1 : i / 2 - (i / 2 % 7 > 3);
  });
  float* prices = device_floats(n);
  int* starts = device_zeros<int>(chunks + 1);
  int* out = device_zeros<int>(n);
  unsigned long long* sums = device_zeros<unsigned long long>(32);
  int* most = device_zeros<int>(33);
  for (int r = 0; r < kLaunches; ++r) unpack<11><<<ceil_div(n, 256), 256>>>((unsigned*)keys, starts, out, n);
  for (int r = 0; r < kLaunches; ++r)
    undo_differences<<<ceil_div(chunks, 4), 128>>>((int4*)dates, starts, (int4*)out, chunks);
  for (int r = 0; r < kLaunches; ++r) expand_runs<<<runs / 256, 256>>>(keys, lengths, firsts, out);
  for (int r = 0; r < kLaunches; ++r)
    filter<<<ceil_div(n, 512), 512>>>(dates, prices, kinds, (unsigned*)out, most + 32, 400, 900, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r) probe<<<1056, 128>>>(keys, (int2*)table, out, slots - 1, n);
  for (int r = 0; r < kLaunches; ++r) group_sums<<<264, 256>>>(keys, dates, sums, most, n);
  free_all(dates, keys, kinds, lengths, firsts, table, prices, starts, out, sums, most);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("database_columns");
}
