// Scans of a table of n sales: filters, projections, groups, joins and the decoding of columns.
#include "device.h"

constexpr int kMonths = 96, kSorted = 1024, kBest = 16;
typedef unsigned long long ull;

struct Sales {
  const int *quantities, *days;
  const long long* cents;
  const unsigned char* percents;
};

struct Slot { int key, payload; };
struct Text { char letters[16]; };
__constant__ char kPattern[8] = {'b', 'a', 'c', 'a', 'b', 'a', 'a', 'c'};
__constant__ short kBefore[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

// Rows that meet three predicates, as a bit for each row.
__global__ void filter_rows(Sales s, unsigned* mask, int first, int last, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool passes = i < n && s.days[i] >= first && s.days[i] < last &&
                      s.percents[i] >= 3 && s.percents[i] <= 9 && s.quantities[i] < 24;
  const unsigned bits = __ballot_sync(0xffffffffu, passes);
  if (i < n && threadIdx.x % 32 == 0) mask[i / 32] = bits;
}

// Prices after discount and tax in whole cents, rounded half up.
__global__ void project_prices(Sales s, long long* out, int tax, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const long long scaled = s.cents[i] * (100 - s.percents[i]) * (100 + tax);
    out[i] = s.quantities[i] * ((scaled + 5000) / 10000);
  }
}

__device__ int days_before(int year) {  // of a year after 1970
  return 365 * year + (year + 1) / 4 - (year + 69) / 100 + (year + 369) / 400;
}

// Sums by month: the date from the number of a day, then atomics on a table in shared memory.
__global__ void sum_months(const int* days, const long long* cents, ull* sums, int n) {
  extern __shared__ ull table[];
  for (int k = threadIdx.x; k < kMonths; k += blockDim.x) table[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int year = days[i] / 366, month = 0;
    while (days_before(year + 1) <= days[i]) ++year;
    const int day = days[i] - days_before(year), leap = year % 4 == 2;
    while (day >= kBefore[month + 1] + (leap && month > 0)) ++month;
    atomicAdd(&table[(12 * year + month) % kMonths], static_cast<ull>(cents[i]));
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kMonths; k += blockDim.x)
    if (table[k]) atomicAdd(&sums[k], table[k]);
}

// Sums by customer: an open-addressed table in global memory, to which new keys are added.
__global__ void sum_customers(const int* customers, const int* quantities, int* keys, ull* sums,
                              unsigned capacity, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = customers[i];
  unsigned place = key * 2654435769u & (capacity - 1);
  int found = keys[place];
  while (found != key) {
    if (found == -1) found = atomicCAS(&keys[place], -1, key);
    if (found == -1 || found == key) break;
    place = (place + 1) & (capacity - 1);
    found = keys[place];
  }
  atomicAdd(&sums[place], static_cast<ull>(quantities[i]));
}

// A join: each row looks for its customer in a table that the host built, four rows for a thread.
__global__ void probe_join(const int* customers, const Slot* __restrict__ slots, int* payloads, int* matches,
                           unsigned capacity, int n) {
  int count = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
    if (i >= n) break;
    const int key = customers[i];
    unsigned place = key * 2654435769u & (capacity - 1);
    while (slots[place].key != key && slots[place].key != -1) place = (place + 1) & (capacity - 1);
    const bool match = slots[place].key == key;
    payloads[i] = match ? slots[place].payload : -1;
    count += match;
  }
  for (int d = 16; d > 0; d /= 2) count += __shfl_down_sync(0xffffffffu, count, d);
  if (threadIdx.x % 32 == 0) atomicAdd(matches, count);
}

// Decodes a column of 16-bit codes, four at a time, with a dictionary.
__global__ void decode_dictionary(const ushort4* codes, const long long* words, longlong2* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const ushort4 code = codes[i];
  out[2 * i] = make_longlong2(words[code.x], words[code.y]);
  out[2 * i + 1] = make_longlong2(words[code.z], words[code.w]);
}

// Values of kBits bits, packed without gaps, as differences from a base for each 128 rows.
template <int kBits>
__global__ void unpack_bits(const unsigned* __restrict__ words, const int* bases, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bit = i * kBits, word = bit / 32;
  const unsigned value = __funnelshift_r(words[word], words[word + 1], bit % 32);
  out[i] = bases[i / 128] + static_cast<int>(value & ((1u << kBits) - 1));
}

// Runs of equal values: each row finds its run by bisection.
__global__ void expand_runs(const int* starts, const short* values, short* out, int runs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = runs;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (starts[middle] <= i ? low : high) = middle;
  }
  out[i] = values[low];
}

// The dearest kBest of each 1024 rows: a bitonic sort in shared memory of price and row.
__global__ void dearest_rows(const long long* cents, ull* best, int n) {
  __shared__ ull rows[kSorted];
  const int start = blockIdx.x * kSorted;
  for (int k = threadIdx.x; k < kSorted; k += blockDim.x)
    rows[k] = start + k < n ? static_cast<ull>(cents[start + k]) << 32 | (start + k) : 0;
  __syncthreads();
  for (int size = 2; size <= kSorted; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int i = threadIdx.x / stride * 2 * stride + threadIdx.x % stride, j = i + stride;
      const ull a = rows[i], b = rows[j];
      if ((a < b) == ((i & size) == 0)) {
        rows[i] = b;
        rows[j] = a;
      }
      __syncthreads();
    }
  if (threadIdx.x < kBest) best[blockIdx.x * kBest + threadIdx.x] = rows[threadIdx.x];
}

// The length of the prefix that texts of fixed width share with a pattern.
__global__ void match_prefix(const Text* texts, unsigned char* lengths, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int k = 0;
  while (k < 8 && texts[i].letters[k] == kPattern[k]) ++k;
  lengths[i] = static_cast<unsigned char>(k);
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int groups = n / 16 + 7, runs = n / 8 + 1, count = n / 2, quads = n / 4, blocks = ceil_div(n, 256);
  unsigned capacity = 16;
  while (capacity < 2u * groups) capacity *= 2;
  std::vector<Slot> host(capacity, Slot{-1, 0});
  for (int key = 0; key < groups; key += 2) {
    unsigned place = key * 2654435769u & (capacity - 1);
    while (host[place].key != -1) place = (place + 1) & (capacity - 1);
    host[place] = Slot{key, key * 3};
  }
  Slot* slots = device_array<Slot>(capacity, [&](int i) { return host[i]; });
  int *quantities = device_ints(n, 50), *customers = device_ints(n, groups), *out = device_zeros<int>(n);
  int* days = device_array<int>(n, [](int i) { return 8035 + static_cast<int>(i * 2654435761u % 2500); });
  long long *cents = device_array<long long>(n, [](int i) { return 1000 + i * 40503u % 9999991; });
  unsigned char* percents = device_array<unsigned char>(n, [](int i) { return i * 40503u / 64 % 11; });
  long long *results = device_zeros<long long>(n), *dictionary = (long long*)device_doubles(5000);
  auto* codes = device_array<unsigned short>(n, [](int i) { return (i * 2246822519u >> 9) % 5000; });
  unsigned* words = device_array<unsigned>(n / 32 * 13 + 32, [](int i) { return i * 3266489917u; });
  int* starts = device_array<int>(runs, [](int i) { return i == 0 ? 0 : 8 * i + i % 7 % 6; });
  Text* texts = device_array<Text>(count, [](int i) {
    Text text;
    for (int k = 0; k < 16; ++k) text.letters[k] = k < i / 5 % 9 ? "bacabaacbacabaac"[k] : 'a' + (i + k) % 4;
    return text;
  });
  int* keys = device_array<int>(capacity, [](int) { return -1; });
  ull *sums = device_zeros<ull>(capacity), *best = device_zeros<ull>(kBest * ceil_div(n, kSorted));
  const Sales sales = {quantities, days, cents, percents};
  REPEAT filter_rows<<<blocks, 256>>>(sales, (unsigned*)out, 8400, 8766, n);
  REPEAT project_prices<<<ceil_div(n, 2048), 512>>>(sales, results, 8, n);
  REPEAT sum_months<<<std::min(blocks, 1056), 256, kMonths * sizeof(ull)>>>(days, cents, sums, n);
  REPEAT sum_customers<<<ceil_div(n, 128), 128>>>(customers, quantities, keys, sums, capacity, n);
  REPEAT probe_join<<<ceil_div(n, 1024), 256>>>(customers, slots, out, (int*)results, capacity, n);
  REPEAT decode_dictionary<<<n / 768 + 1, 192>>>((ushort4*)codes, dictionary, (longlong2*)results, quads);
  REPEAT unpack_bits<7><<<blocks, 256>>>(words, quantities, out, n);
  REPEAT unpack_bits<13><<<ceil_div(n, 1024), 1024>>>(words, quantities, out, n);
  REPEAT expand_runs<<<ceil_div(n, 384), 384>>>(starts, (short*)cents, (short*)results, runs, n);
  REPEAT dearest_rows<<<ceil_div(n, kSorted), kSorted / 2>>>(cents, best, n);
  REPEAT match_prefix<<<ceil_div(count, 64), 64>>>(texts, (unsigned char*)results, count);
  free_all(slots, quantities, customers, out, days, cents, percents, results, dictionary, codes, words);
  free_all(starts, texts, keys, sums, best);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("database_scans");
}
