// Bits of whole numbers: orders along curves, Gray codes, sums of bits, packing, mixing, transposes and checks.
#include "device.h"

constexpr int kRecord = 16;  // words of a record that is checked

__constant__ unsigned crc_table[256];

// The lowest 21 bits, with two zeros between each and the next.
static __device__ __forceinline__ unsigned long long spread(unsigned v) {
  unsigned long long x = v & 0x1fffffu;
  x = (x | x << 32) & 0x1f00000000ffffull;
  x = (x | x << 16) & 0x1f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  x = (x | x << 2) & 0x1249249249249249ull;
  return x;
}

// Morton codes of 63 bits for points in the unit cube.
__global__ void morton_codes(const float* x, const float* y, const float* z, unsigned long long* codes,
                             int points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  const float side = 2097151.0f;
  unsigned ix = (unsigned)fminf(fmaxf(x[i] * side, 0.0f), side);
  unsigned iy = (unsigned)fminf(fmaxf(y[i] * side, 0.0f), side);
  unsigned iz = (unsigned)fminf(fmaxf(z[i] * side, 0.0f), side);
  codes[i] = spread(iz) << 2 | spread(iy) << 1 | spread(ix);
}

// Places along Hilbert's curve of cells in a square with kBits bits for each side.
template <int kBits>
__global__ void __launch_bounds__(256)
    hilbert_places(const unsigned* __restrict__ cells, unsigned* __restrict__ places, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const unsigned cell = cells[i], mask = (1u << kBits) - 1;
  unsigned x = cell & mask, y = cell >> 16 & mask, place = 0;
#pragma unroll 4
  for (int bit = kBits - 1; bit >= 0; --bit) {
    const unsigned rx = x >> bit & 1, ry = y >> bit & 1;
    place = place << 2 | ((3 * rx) ^ ry);
    if (ry == 0) {
      if (rx == 1) {
        x = mask - x;
        y = mask - y;
      }
      const unsigned t = x;
      x = y;
      y = t;
    }
  }
  places[i] = place;
}

__device__ unsigned gray(unsigned v) {
  return v ^ v >> 1;
}

// Gray codes of numbers with their bits in reverse, and how many of the places where they step lie up to
// `limit`.
__global__ void gray_reversed(const uint4* __restrict__ in, uint4* __restrict__ out, int* __restrict__ steps,
                              int limit, int quads) {
  const int stride = gridDim.x * blockDim.x;
  int low = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
    uint4 v = in[i];
    low += (__ffs(v.x) <= limit) + (__ffs(v.y) <= limit) + (__ffs(v.z) <= limit) + (__ffs(v.w) <= limit);
    v.x = gray(__brev(v.x));
    v.y = gray(__brev(v.y));
    v.z = gray(__brev(v.z));
    v.w = gray(__brev(v.w));
    out[i] = v;
  }
  low = __reduce_add_sync(0xffffffffu, low);
  if (threadIdx.x % 32 == 0) atomicAdd(steps, low);
}

// Sums of bits of each block of 2048 pairs of words, and of the whole.
__global__ void sum_bits(const unsigned long long* words, int* sums, unsigned long long* total, int count) {
  __shared__ int partial[256];
  const int tid = threadIdx.x;
  int bits = 0;
  int idx = blockIdx.x * 2048 + tid;
#pragma unroll
  for (int k = 0; k < 8; k++, idx += 256)
    if (idx < count) bits += __popcll(words[idx]);
  partial[tid] = bits;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) {
    sums[blockIdx.x] = partial[0];
    atomicAdd(total, (unsigned long long)partial[0]);
  }
}

// Packing: of 32 bytes, the lowest kBits bits of each, one after another in kBits words.
template <int kBits>
__global__ void pack_bytes(const uint4* __restrict__ bytes, unsigned* __restrict__ packed, int groups) {
  const int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  const uint4 a = bytes[2 * group], b = bytes[2 * group + 1];
  const unsigned words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  unsigned long long pending = 0;
  int filled = 0, at = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const unsigned field = words[k / 4] >> (8 * (k % 4)) & ((1u << kBits) - 1);
    pending |= static_cast<unsigned long long>(field) << filled;
    filled += kBits;
    if (filled >= 32) {
      packed[group * kBits + at++] = static_cast<unsigned>(pending);
      pending >>= 32;
      filled -= 32;
    }
  }
}

// Rounds of xorshift with the high half of a product of 64 bits, for a state of each thread.
__global__ void mix_states(unsigned long long* states, int rounds, int count) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < count) {
    unsigned long long s = states[i] | 1;
    for (int k = 0; k < rounds; ++k) {
      s ^= s << 13;
      s ^= s >> 7;
      s ^= s << 17;
      s += __umul64hi(s, 0x9e3779b97f4a7c15ull);
    }
    states[i] = s;
  }
}

// Transposes blocks of 32 x 32 bits: a word for each lane, halves and bytes change places by permutes.
__global__ void transpose_bits(const unsigned* __restrict__ in, unsigned* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (i >= n) return;
  unsigned v = in[i];
  unsigned other = __shfl_xor_sync(0xffffffffu, v, 16);
  v = __byte_perm(v, other, lane & 16 ? 0x3276 : 0x5410);
  other = __shfl_xor_sync(0xffffffffu, v, 8);
  v = __byte_perm(v, other, lane & 8 ? 0x3715 : 0x6240);
  unsigned mask = 0x0f0f0f0fu;
#pragma unroll
  for (int d = 4; d > 0; d /= 2) {
    other = __shfl_xor_sync(0xffffffffu, v, d);
    v = lane & d ? (v & ~mask) | (other >> d & mask) : (v & mask) | (other & mask) << d;
    mask ^= mask << (d / 2);
  }
  out[i] = v;
}

// CRC of records of 64 bytes by a table, which each block copies to shared memory: a thread for each record.
__global__ void check_records(const uint4* __restrict__ records, unsigned* __restrict__ checks, int count) {
  __shared__ unsigned table[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) table[k] = crc_table[k];
  __syncthreads();
  const int record = blockIdx.x * blockDim.x + threadIdx.x;
  if (record >= count) return;
  unsigned crc = ~0u;
  for (int k = 0; k < kRecord / 4; ++k) {
    const uint4 v = records[record * (kRecord / 4) + k];
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      crc ^= words[w];
#pragma unroll
      for (int b = 0; b < 4; ++b) crc = crc >> 8 ^ table[crc & 255];
    }
  }
  checks[record] = ~crc;
}

// n is a multiple of 16384.
void run(int n) {
  const int points = n / 4, groups = n / 8, records = n / kRecord, states = n / 4;
  float* x = device_array<float>(points, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* y = device_array<float>(points, [](int i) { return hashed_unit(static_cast<unsigned>(i) + 5); });
  float* z = device_array<float>(points, [](int i) { return hashed_unit(static_cast<unsigned>(i) + 11); });
  unsigned long long* codes = device_zeros<unsigned long long>(points);
  unsigned* keys = device_array<unsigned>(n, [](int i) {
    unsigned v = static_cast<unsigned>(i) * 2654435761u;
    v ^= v >> 15;
    return v * 2246822519u;
  });
  unsigned* out = device_zeros<unsigned>(n);
  int* steps = device_zeros<int>(1);
  int* sums = device_zeros<int>(n / 4096);
  unsigned long long* total = device_zeros<unsigned long long>(1);
  unsigned long long* mixed = device_array<unsigned long long>(
      states, [](int i) { return static_cast<unsigned long long>(i) * 6364136223846793005ull; });
  unsigned table[256];
  for (unsigned k = 0; k < 256; ++k) {
    unsigned v = k;
    for (int b = 0; b < 8; ++b) v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
    table[k] = v;
  }
  cudaMemcpyToSymbol(crc_table, table, sizeof table);
  for (int r = 0; r < kLaunches; ++r) morton_codes<<<ceil_div(points, 128), 128>>>(x, y, z, codes, points);
  for (int r = 0; r < kLaunches; ++r) hilbert_places<16><<<ceil_div(n, 256), 256>>>(keys, out, n);
  for (int r = 0; r < kLaunches; ++r) gray_reversed<<<528, 512>>>((uint4*)keys, (uint4*)out, steps, 3, n / 4);
  for (int r = 0; r < kLaunches; ++r)
    sum_bits<<<n / 4096, 256>>>((unsigned long long*)keys, sums, total, n / 2);
  for (int r = 0; r < kLaunches; ++r)
    pack_bytes<5><<<ceil_div(groups, 192), 192>>>((uint4*)keys, out, groups);
  for (int r = 0; r < kLaunches; ++r) mix_states<<<ceil_div(states, 256), 256>>>(mixed, 24, states);
  for (int r = 0; r < kLaunches; ++r) transpose_bits<<<ceil_div(n, 1024), 1024>>>(keys, out, n);
  for (int r = 0; r < kLaunches; ++r)
    check_records<<<ceil_div(records, 128), 128>>>((uint4*)keys, out, records);
  free_all(x, y, z, codes, keys, out, steps, sums, total, mixed);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("curve_orders");
}
