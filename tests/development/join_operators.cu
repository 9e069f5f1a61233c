// Operators of a column database: joins by hash and by order, sums of groups, codes of columns, and searches.
// n is the number of rows, a power of two from 1024 on.
#include "device.h"

struct Line {
  float price, discount;
  int day;
  unsigned char flag, status;
  short quantity;
};

struct Name {
  char text[16];
};

__constant__ char kPrefix[8] = "abcaab";

__device__ unsigned bucket_of(unsigned key, unsigned mask) {
  key = (key ^ key >> 16) * 0x45d9f3bu;
  return (key ^ key >> 15) & mask;
}

// Chains rows by the bucket of their key. A head holds the number of its build, so old ones do not count.
__global__ void build_chains(const int* __restrict__ keys, unsigned long long* heads, int* __restrict__ next,
                             unsigned mask, unsigned build, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long mine = (unsigned long long)build << 32 | i;
  const unsigned long long before = atomicExch(&heads[bucket_of(keys[i], mask)], mine);
  next[i] = before >> 32 == build ? (int)(before & 0xffffffffu) : -1;
}

// Walks the chain of each key that is sought, and counts the rows that match.
__global__ void probe_chains(const int* keys, const int* sought, const unsigned long long* heads,
                             const int* next, int* matches, unsigned long long* total, unsigned mask, int n) {
  int all = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int key = sought[i];
    const unsigned long long head = heads[bucket_of(key, mask)];
    int found = 0;
    for (int row = head == 0 ? -1 : (int)(head & 0xffffffffu); row >= 0; row = next[row])
      found += keys[row] == key;
    matches[i] = found;
    all += found;
  }
  all = __reduce_add_sync(0xffffffffu, all);
  if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)all);
}

// Finds for each row of a sorted column where its equals begin and end in another sorted column.
__global__ void merge_join(const int* left, const int* right, int2* ranges, int n, int right_rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = left[i];
  int bounds[2];
  for (int side = 0; side < 2; ++side) {
    int low = 0, high = right_rows;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      const bool before = right[middle] < key + side;
      low = before ? middle + 1 : low;
      high = before ? high : middle;
    }
    bounds[side] = low;
  }
  ranges[i] = make_int2(bounds[0], bounds[1]);
}

// Sums prices in four groups by two flags, for the lines up to a day.
__global__ void price_summary(const Line* lines, double* sums, int last_day, int n) {
  double price[4] = {0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Line line = lines[i];
    if (line.day > last_day) continue;
    const int group = line.flag * 2 + line.status;
#pragma unroll
    for (int g = 0; g < 4; ++g) price[g] += g == group ? line.quantity * line.price * (1 - line.discount) : 0;
  }
  for (int g = 0; g < 4; ++g) {
    for (int step = 16; step > 0; step /= 2) price[g] += __shfl_down_sync(0xffffffffu, price[g], step);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[g], price[g]);
  }
}

// Codes 256 rows for each block as values and lengths less one.
__global__ void encode_runs(const short* rows, short* values, unsigned char* lengths, int* runs) {
  __shared__ short starts[257];
  __shared__ int heads_of_warp[8];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  const short value = rows[i];
  const bool head = t == 0 || rows[i - 1] != value;
  const unsigned heads = __ballot_sync(0xffffffffu, head);
  if (t % 32 == 0) heads_of_warp[t / 32] = __popc(heads);
  __syncthreads();
  int place = __popc(heads & ((1u << t % 32) - 1)), all = 0;
  for (int warp = 0; warp < 8; ++warp) {
    if (warp < t / 32) place += heads_of_warp[warp];
    all += heads_of_warp[warp];
  }
  if (head) {
    starts[place] = t;
    values[blockIdx.x * 256 + place] = value;
  }
  if (t == 0) starts[all] = 256, runs[blockIdx.x] = all;
  __syncthreads();
  if (t < all) lengths[blockIdx.x * 256 + t] = (unsigned char)(starts[t + 1] - starts[t] - 1);
}

// Packs the low kBits bits of each value, a thread per packed word.
template <int kBits>
__global__ void pack_bits(const unsigned* values, unsigned* packed, int words) {
  const int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= words) return;
  const int group = word / kBits, low = word % kBits * 32;
  unsigned bits = 0;
  for (int v = low / kBits; v * kBits < low + 32; ++v) {
    const unsigned value = values[group * 32 + v] & ((1u << kBits) - 1);
    const int shift = v * kBits - low;
    bits |= shift >= 0 ? value << shift : value >> -shift;
  }
  packed[word] = bits;
}

// Finds the four highest scores of each row, a warp per row: each lane keeps its own four in order.
__global__ void top_four(const float* scores, float4* best, int rows, int width) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float own[5] = {-1, -1, -1, -1, -1}, out[4];
  for (int k = lane; k < width; k += 32) {
    float score = scores[row * width + k];
#pragma unroll
    for (int place = 0; place < 4; ++place) {
      const float lower = fminf(own[place], score);
      own[place] = fmaxf(own[place], score);
      score = lower;
    }
  }
  for (int place = 0; place < 4; ++place) {
    float high = own[0];
    for (int mask = 16; mask > 0; mask /= 2) high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, mask));
    const int owner = __ffs(__ballot_sync(0xffffffffu, own[0] == high)) - 1;
    for (int k = 0; k < 4; ++k) own[k] = lane == owner ? own[k + 1] : own[k];
    out[place] = high;
  }
  if (lane == 0) best[row] = make_float4(out[0], out[1], out[2], out[3]);
}

// Compares the names with a prefix: -1 before it, 0 if they begin with it, 1 after it.
__global__ void compare_prefix(const Name* names, signed char* order, int length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = 0;
  while (k < length && names[i].text[k] == kPrefix[k]) ++k;
  order[i] = k == length ? 0 : names[i].text[k] < kPrefix[k] ? -1 : 1;
}

void run(int n) {
  const int buckets = n / 2, words = n / 32;
  int* keys = device_ints(n, n);
  int* sought = device_array<int>(n, [n](int i) { return static_cast<int>(hashed_unit(i) * 0.999f * n); });
  int* left = device_array<int>(n, [](int i) { return i / 2 * 3; });
  int* next = device_zeros<int>(n);
  int* out = device_zeros<int>(2 * n);
  unsigned long long* heads = device_zeros<unsigned long long>(buckets + 1);
  double* sums = device_zeros<double>(4);
  Line* lines = device_array<Line>(n, [](int i) {
    const unsigned char flag = i % 3 == 0, status = i % 5 > 2;
    return Line{1 + i % 900 * 0.25f, i % 11 * 0.01f, i * 7 % 2500, flag, status, static_cast<short>(i % 50)};
  });
  Name* names = device_array<Name>(n, [](int i) {
    Name name;
    const unsigned bits = i * 2654435761u ^ i;
    for (int k = 0; k < 16; ++k) name.text[k] = static_cast<char>('a' + (bits >> 2 * k) % 3);
    return name;
  });
  short* rows = device_array<short>(n, [](int i) { return static_cast<short>(hashed_unit(i / 7) * 40); });
  float* scores = device_array<float>(n, [](int i) { return hashed_unit(i); });
  for (int r = 0; r < kLaunches; ++r)
    build_chains<<<ceil_div(n, 256), 256>>>(keys, heads, next, buckets - 1, r + 1, n);
  for (int r = 0; r < kLaunches; ++r)
    probe_chains<<<1056, 128>>>(keys, sought, heads, next, out, heads + buckets, buckets - 1, n);
  for (int r = 0; r < kLaunches; ++r) merge_join<<<ceil_div(n, 192), 192>>>(left, left, (int2*)out, n, n);
  for (int r = 0; r < kLaunches; ++r) price_summary<<<264, 256>>>(lines, sums, 2400, n);
  for (int r = 0; r < kLaunches; ++r)
    encode_runs<<<n / 256, 256>>>(rows, (short*)out, (unsigned char*)(out + n), next);
  unsigned *values = (unsigned*)keys, *packed = (unsigned*)out;
  for (int r = 0; r < kLaunches; ++r)
    pack_bits<3><<<ceil_div(words * 3, 128), 128>>>(values, packed, words * 3);
  for (int r = 0; r < kLaunches; ++r)
    pack_bits<17><<<ceil_div(words * 17, 640), 640>>>(values, packed, words * 17);
  for (int r = 0; r < kLaunches; ++r) top_four<<<n / 512, 64>>>(scores, (float4*)out, n / 256, 256);
  for (int r = 0; r < kLaunches; ++r)
    compare_prefix<<<ceil_div(n, 1024), 1024>>>(names, (signed char*)out, 6, n);
  free_all(keys, sought, left, next, out, heads, sums, lines, names, rows, scores);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("join_operators");
}
