// Columns of a table with n rows, as a database has them.
#include "device.h"

// Sums by group in a table of open addressing, which the launches before have filled with the keys.
__global__ void group_by(const int* keys, const int* values, int* table, unsigned long long* sums, int size,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i] + 1;
  int slot = key * 2654435761u & size - 1;
  while (true) {
    const int there = table[slot];
    if (there == key) break;
    if (there == 0) {
      const int old = atomicCAS(&table[slot], 0, key);
      if (old == 0 || old == key) break;
    }
    slot = slot + 1 & size - 1;
  }
  atomicAdd(&sums[slot], static_cast<unsigned long long>(values[i]));
}

// Few groups: each block sums in shared memory first.
__global__ void group_by_few(const int* keys, const float* prices, const float* discounts, float* sums,
                             int n) {
  __shared__ float part[3][16];
  if (threadIdx.x < 48) part[threadIdx.x / 16][threadIdx.x % 16] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int group = keys[i] & 15;
    const float price = prices[i], sold = price * (1 - discounts[i]);
    atomicAdd(&part[0][group], price);
    atomicAdd(&part[1][group], sold);
    atomicAdd(&part[2][group], 1.0f);
  }
  __syncthreads();
  if (threadIdx.x < 48) atomicAdd(&sums[threadIdx.x], part[threadIdx.x / 16][threadIdx.x % 16]);
}

// Strings of 16 bytes from a dictionary: a code of 16 bits for each row.
__global__ void decode(const unsigned short* codes, const uint4* dictionary, uint4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ldg(&dictionary[codes[i] & 4095]);
}

// Whole numbers as ten digits of text.
__global__ void to_decimal(const unsigned* numbers, char* text, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned number = numbers[i];
#pragma unroll
  for (int k = 9; k >= 0; --k) {
    text[10 * i + k] = '0' + number % 10;
    number /= 10;
  }
}

// The condition of a query with four columns, tested one after the other, and how many rows of a warp hold.
__global__ void select_rows(const int* dates, const short* amounts, const float* prices,
                            const unsigned char* flags, unsigned char* chosen, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool hold = false;
  if (i < n && dates[i] % 365 < 200)
    if (amounts[i] > 24)
      if (prices[i] < 0.7f) hold = (flags[i] & 3) != 0;
  if (i < n) chosen[i] = hold;
  const int held = __syncthreads_count(hold);
  if (threadIdx.x == 0 && held > 0) atomicAdd(count, held);
}

// Orders of customers: the first order of each is known, and each thread walks a customer's orders.
__global__ void sum_orders(const float* prices, float* totals, int customers) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= customers) return;
  const int first = c * 8 + c % 5, last = (c + 1) * 8 + (c + 1) % 5;
  float total = 0, most = 0;
  for (int order = first; order < last; ++order) {
    total += prices[order];
    most = fmaxf(most, prices[order]);
  }
  totals[c] = total + most;
}

void run(int n) {
  const int size = n / 2;
  int* keys = device_ints(n, size / 2);
  int* values = device_ints(n, 1 << 30);
  float* prices = device_floats(n + 16);
  int* table = device_zeros<int>(size);
  unsigned long long* sums = device_zeros<unsigned long long>(size);
  int* dictionary = device_ints(4 * 4096, 1 << 30);
  char* out = device_zeros<char>(16 * n);
  int* count = device_zeros<int>(1);
  for (int r = 0; r < kLaunches; ++r) group_by<<<ceil_div(n, 256), 256>>>(keys, values, table, sums, size, n);
  for (int r = 0; r < kLaunches; ++r) group_by_few<<<132, 512>>>(values, prices, prices, (float*)sums, n);
  for (int r = 0; r < kLaunches; ++r) group_by_few<<<33, 1024>>>(values, prices, prices, (float*)sums, n);
  for (int r = 0; r < kLaunches; ++r)
    decode<<<ceil_div(n, 128), 128>>>((unsigned short*)values, (uint4*)dictionary, (uint4*)out, n);
  for (int r = 0; r < kLaunches; ++r) to_decimal<<<ceil_div(n, 192), 192>>>((unsigned*)values, out, n);
  for (int r = 0; r < kLaunches; ++r)
    select_rows<<<ceil_div(n, 256), 256>>>(values, (short*)keys, prices, (unsigned char*)values,
                                           (unsigned char*)out, count, n);
  for (int r = 0; r < kLaunches; ++r) sum_orders<<<ceil_div(n / 8, 64), 64>>>(prices, (float*)out, n / 8);
  free_all(keys, values, prices, table, sums, dictionary, out, count);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tables");
}
