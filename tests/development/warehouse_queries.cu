// Queries over the columns of a table of 1024 n rows: codes, selections, runs, groups, windows, joins, partitions.
#include "device.h"

constexpr int kGroups = 256, kWords = 4096, kParts = 64, kTop = 4, kPage = 160, kPerPage = 32;

struct Line { int quantity, price, discount, day; };

// Decodes prices from packed codes of twelve bits, which may cross from one word into the next, by a dictionary.
__global__ void decode_dictionary(const unsigned* packed, const double* words, double* prices, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const long long bit = 12LL * i;
  const int word = (int)(bit / 32), shift = (int)(bit % 32);
  unsigned code = packed[word] >> shift;
  if (shift > 20) code |= packed[word + 1] << (32 - shift);
  prices[i] = words[code & (kWords - 1)];
}

// Marks in a bitmap the rows within ranges of quantity, discount and day; a warp writes a word by its vote.
__global__ void select_lines(const Line* lines, unsigned* bitmap, int from, int until, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool chosen = false;
  if (i < rows) {
    const int4 line = reinterpret_cast<const int4*>(lines)[i];
    chosen = line.x < 24 && line.z >= 5 && line.z <= 7 && line.w >= from && line.w < until;
  }
  const unsigned word = __ballot_sync(~0u, chosen);
  if (threadIdx.x % 32 == 0 && i < rows) bitmap[i / 32] = word;
}

// Expands run lengths: each row finds its run by bisection of the ends of the runs.
__global__ void expand_runs(const int* ends, const int* values, int* out, int runs, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  int low = 0, high = runs - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ends[middle] > i) high = middle;
    else low = middle + 1;
  }
  out[i] = values[low];
}

// Sums revenue by group, either with atomics straight to memory or in a copy that each block keeps to itself.
template <bool kPrivate>
__global__ void sum_groups(const Line* lines, const int* keys, unsigned long long* sums, int rows) {
  __shared__ unsigned long long own[kPrivate ? kGroups : 1];
  if (kPrivate) {
    for (int g = threadIdx.x; g < kGroups; g += blockDim.x) own[g] = 0;
    __syncthreads();
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
    const unsigned long long revenue = (unsigned long long)lines[i].price * (100 - lines[i].discount);
    atomicAdd(kPrivate ? &own[keys[i] % kGroups] : &sums[keys[i] % kGroups], revenue);
  }
  if (kPrivate) {
    __syncthreads();
    for (int g = threadIdx.x; g < kGroups; g += blockDim.x) atomicAdd(&sums[g], own[g]);
  }
}

// Turns days since 1970 into year, month and day of the calendar as one number, with whole numbers only.
__global__ void civil_dates(const int* days, int* dates, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const int z = days[i] + 719468, era = z / 146097, day = z - era * 146097;
  const int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  const int of_year = day - (365 * year + year / 4 - year / 100), part = (5 * of_year + 2) / 153;
  const int month = part < 10 ? part + 3 : part - 9;
  dates[i] = (year + era * 400 + (month <= 2)) * 10000 + month * 100 + of_year - (153 * part + 2) / 5 + 1;
}

// Averages and greatest values over a window of preceding rows, which the block shares with its halo.
__global__ void window_aggregates(const int* prices, float* averages, int* greatest, int width, int rows) {
  extern __shared__ int shared[];
  const int start = blockIdx.x * blockDim.x - width + 1, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < blockDim.x + width - 1; k += blockDim.x)
    shared[k] = start + k >= 0 && start + k < rows ? prices[start + k] : 0;
  __syncthreads();
  long long sum = 0;
  int most = 0;
  for (int k = 0; k < width; ++k) {
    sum += shared[threadIdx.x + k];
    most = max(most, shared[threadIdx.x + k]);
  }
  if (i >= rows) return;
  averages[i] = (float)sum / min(width, i + 1);
  greatest[i] = most;
}

// Finds the four greatest prices of each group: lanes of a warp insert into their own lists, then give up heads.
__global__ void top_of_groups(const int* prices, int* top, int size, int groups) {
  const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (group >= groups) return;
  int best[kTop] = {-1, -1, -1, -1};
  for (int k = lane; k < size; k += 32) {
    int value = prices[group * size + k];
    if (value <= best[kTop - 1]) continue;
#pragma unroll
    for (int t = 0; t < kTop; ++t)
      if (value > best[t]) {
        const int moved = best[t];
        best[t] = value, value = moved;
      }
  }
  for (int t = 0; t < kTop; ++t) {
    const int most = __reduce_max_sync(~0u, best[0]);
    const int winner = __ffs(__ballot_sync(~0u, best[0] == most)) - 1;
    if (lane == winner) best[0] = best[1], best[1] = best[2], best[2] = best[3], best[3] = -1;
    if (lane == 0) top[group * kTop + t] = most;
  }
}

// Counts the rows of each block that go to each partition by a hash of their key.
__global__ void count_partitions(const int* keys, int* counts, int rows) {
  __shared__ int own[kParts];
  if (threadIdx.x < kParts) own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
    if (i < rows) atomicAdd(&own[(unsigned)keys[i] * 2654435761u >> 26], 1);
  }
  __syncthreads();
  if (threadIdx.x < kParts) counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

// Reads pages of numbers of variable length, seven bits to a byte, as differences to the number before.
__global__ void decode_varints(const unsigned char* pages, int* out, int count) {
  const int page = blockIdx.x * blockDim.x + threadIdx.x;
  if (page >= count) return;
  const unsigned char* byte = pages + page * kPage;
  unsigned value = 0;
  for (int k = 0; k < kPerPage; ++k) {
    unsigned zigzag = 0, b = 128;
    for (int shift = 0; shift < 35 && b & 128; shift += 7) zigzag |= ((b = *byte++) & 127) << shift;
    value += zigzag >> 1 ^ 0u - (zigzag & 1);
    out[k * count + page] = (int)value;
  }
}

// Probes a table of open addressing for each key, up to 32 slots on, and adds up what it finds.
__global__ void probe_join(const int2* table, const int* keys, unsigned long long* total, int mask, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const int key = keys[i];
  unsigned slot = (unsigned)key * 2246822519u >> 8 & mask;
  for (int step = 0; step < 32; ++step, slot = slot + 1 & mask) {
    const int2 entry = table[slot];
    if (entry.x == key) atomicAdd(total + key % 64, (unsigned long long)entry.y);
    if (entry.x == key || entry.x < 0) break;
  }
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int rows = 1024 * n, runs = rows / 16, pages = rows / kPerPage, slots = 1 << 16, tiles = ceil_div(rows, 1024);
  unsigned* packed = device_array<unsigned>(rows / 8 * 3 + 1, [](int i) { return i * 2654435761u; });
  double *words = device_doubles(kWords), *prices = device_zeros<double>(rows);
  Line* lines = device_array<Line>(rows, [](int i) {
    return Line{1 + i * 7 % 50, 900 + i % 10007, (int)(hashed_unit(i) * 11), 8000 + i % 2557}; });
  int *keys = device_ints(rows, 50000), *out = device_zeros<int>(rows), *greatest = device_zeros<int>(rows);
  int *ends = device_array<int>(runs, [](int i) { return 16 * (i + 1) - (i % 4 < 3 ? i % 7 : 0); });
  int *counts = device_zeros<int>(kParts * tiles), *top = device_zeros<int>(kTop * ceil_div(rows, 200));
  unsigned* bitmap = device_zeros<unsigned>(rows / 32);
  auto* sums = device_zeros<unsigned long long>(kGroups);
  unsigned char* bytes = device_array<unsigned char>(pages * kPage, [](int i) {
    return (unsigned char)(hashed_unit(i) * 128 + (i / 8 % 5 == 0 && i % 2 ? 128 : 0)); });
  int2* table = device_array<int2>(slots, [](int i) {
    return int2{hashed_unit(i) < 0.7f ? i * 13 % 50000 : -1, i % 100}; });
  float* averages = device_zeros<float>(rows);
  REPEAT decode_dictionary<<<ceil_div(rows, 256), 256>>>(packed, words, prices, rows);
  REPEAT select_lines<<<ceil_div(rows, 512), 512>>>(lines, bitmap, 8400, 8765, rows);
  REPEAT expand_runs<<<ceil_div(rows, 128), 128>>>(ends, keys, out, runs, rows);
  REPEAT sum_groups<false><<<std::min(ceil_div(rows, 256), 1056), 256>>>(lines, keys, sums, rows);
  REPEAT sum_groups<true><<<std::min(ceil_div(rows, 1024), 264), 1024>>>(lines, keys, sums, rows);
  REPEAT civil_dates<<<ceil_div(rows, 320), 320>>>(keys, out, rows);
  REPEAT window_aggregates<<<ceil_div(rows, 192), 192, (192 + 29) * sizeof(int)>>>(keys, averages, greatest, 30, rows);
  REPEAT top_of_groups<<<ceil_div(rows / 200, 4), 128>>>(keys, top, 200, rows / 200);
  REPEAT count_partitions<<<tiles, 256>>>(keys, counts, rows);
  REPEAT decode_varints<<<ceil_div(pages, 64), 64>>>(bytes, out, pages);
  REPEAT probe_join<<<ceil_div(rows, 96), 96>>>(table, keys, sums, slots - 1, rows);
  free_all(packed, words, prices, lines, keys, out, greatest, ends, counts, top, bitmap, sums, bytes, table, averages);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("warehouse_queries");
}
