// Bits packed in words: a matrix of 4 n rows of n bits, codes compared bit by bit, signatures of records.
#include "device.h"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kProductWords = 64;
constexpr int kTermsPerRecord = 16;

// Lane r holds row r of a tile of 32 x 32 bits; afterwards lane c holds column c.
__device__ unsigned transpose_by_ballot(unsigned row, int lane) {
  unsigned column = 0;
  for (int bit = 0; bit < 32; ++bit) {
    const unsigned votes = __ballot_sync(kAllLanes, row >> bit & 1);
    if (lane == bit) column = votes;
  }
  return column;
}

// The same by swapping blocks of 16, 8, 4, 2 and 1 bits with another lane.
__device__ unsigned transpose_by_shuffles(unsigned row, int lane) {
  unsigned mask = 0x0000ffffu;
  for (int size = 16; size > 0; size >>= 1) {
    const unsigned other = __shfl_xor_sync(kAllLanes, row, size);
    row = lane & size ? (row & ~mask) | (other >> size & mask) : (row & mask) | (other & mask) << size;
    mask ^= mask << (size >> 1);
  }
  return row;
}

// Transpose of a matrix of bits: each block turns 256 x 256 bits through shared memory.
template <bool BALLOT>
__global__ void transpose_bits(const unsigned* __restrict__ in, unsigned* __restrict__ out, int rows,
                               int words) {
  __shared__ unsigned before[256][9], after[256][9];
  const int first_word = blockIdx.x * 8, first_row = blockIdx.y * 256;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int word = threadIdx.x % 8;
  for (int k = threadIdx.x / 8; k < 256; k += 32)
    before[k][word] = in[(first_row + k) * words + first_word + word];
  __syncthreads();
  for (int tile = 0; tile < 8; ++tile) {
    const unsigned row = before[tile * 32 + lane][warp];
    after[warp * 32 + lane][tile] =
        BALLOT ? transpose_by_ballot(row, lane) : transpose_by_shuffles(row, lane);
  }
  __syncthreads();
  for (int k = threadIdx.x / 8; k < 256; k += 32)
    out[(first_word * 32 + k) * (rows / 32) + first_row / 32 + word] = after[k][word];
}

// Product of a matrix of bits with the transpose of another: counts of the bits that both rows have.
template <int TILE>
__global__ void bit_product(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                            int* __restrict__ c, int m) {
  __shared__ unsigned a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, b_row = blockIdx.x * TILE + ty;
  int sum = 0;
  for (int k0 = 0; k0 < kProductWords; k0 += TILE) {
    a_tile[ty][tx] = a[row * kProductWords + k0 + tx];
    b_tile[ty][tx] = b[b_row * kProductWords + k0 + tx];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += __popc(a_tile[ty][k] & b_tile[tx][k]);
    __syncthreads();
  }
  c[row * m + blockIdx.x * TILE + tx] = sum;
}

__device__ int differing_bits(uint4 a, uint4 b) {
  return __popc(a.x ^ b.x) + __popc(a.y ^ b.y) + __popc(a.z ^ b.z) + __popc(a.w ^ b.w);
}

// Hamming distances of all queries to 128 codes of 256 bits, of which each query keeps the nearest.
__global__ void hamming_nearest(const uint4* __restrict__ queries, const uint4* __restrict__ codes,
                                unsigned* __restrict__ nearest, int count) {
  __shared__ uint4 tile[128][2];
  const int query = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 128;
  tile[threadIdx.x][0] = codes[2 * (first + threadIdx.x)];
  tile[threadIdx.x][1] = codes[2 * (first + threadIdx.x) + 1];
  const uint4 low = queries[2 * query], high = queries[2 * query + 1];
  __syncthreads();
  unsigned best = ~0u;
  for (int k = 0; k < 128; ++k) {
    const unsigned distance = differing_bits(low, tile[k][0]) + differing_bits(high, tile[k][1]);
    best = min(best, distance << 16 | (first + k));
  }
  nearest[blockIdx.y * count + query] = best;
}

__device__ unsigned binary_of_gray(unsigned v) {
  v ^= v >> 8;
  v ^= v >> 4;
  v ^= v >> 2;
  return v ^ v >> 1;
}

__device__ unsigned spread_bits(unsigned v) {
  v = (v | v << 8) & 0x00ff00ffu;
  v = (v | v << 4) & 0x0f0f0f0fu;
  v = (v | v << 2) & 0x33333333u;
  return (v | v << 1) & 0x55555555u;
}

// Morton codes of points whose coordinates are Gray codes of 16 bits.
__global__ void morton_of_gray(const ushort2* __restrict__ points, unsigned* __restrict__ codes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const ushort2 point = points[i];
  codes[i] = spread_bits(binary_of_gray(point.x)) | spread_bits(binary_of_gray(point.y)) << 1;
}

// Bloom filter of 128 bits for each record of 16 terms. The terms are stored column by column.
template <int HASHES>
__global__ void bloom_signatures(const unsigned* __restrict__ terms, ulonglong2* __restrict__ signatures,
                                 int records) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= records) return;
  unsigned long long low = 0, high = 0;
  for (int t = 0; t < kTermsPerRecord; ++t) {
    const unsigned term = terms[t * records + i];
    unsigned hash = (term ^ term >> 15) * 0x85ebca6bu;
    const unsigned step = (term ^ term >> 13) * 0xc2b2ae35u | 1;
    for (int h = 0; h < HASHES; ++h) {
      const unsigned bit = hash >> 25;
      const unsigned long long one = 1ull << (bit & 63);
      low |= bit < 64 ? one : 0;
      high |= bit < 64 ? 0 : one;
      hash += step;
    }
  }
  signatures[i] = make_ulonglong2(low, high);
}

// Parity of each row: one warp for each row of words.
__global__ void row_parity(const unsigned* __restrict__ matrix, unsigned char* __restrict__ parity, int rows,
                           int words) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  unsigned folded = 0;
  for (int k = threadIdx.x; k < words; k += 32) folded ^= matrix[row * words + k];
  folded = __reduce_xor_sync(kAllLanes, folded);
  if (threadIdx.x == 0) parity[row] = __popc(folded) & 1;
}

// n is a multiple of 512.
void run(int n) {
  const int rows = 4 * n, words = n / 32, count = rows * words, m = n / 4, records = count / kTermsPerRecord;
  const auto mixed = [](int i) {
    const unsigned v = (static_cast<unsigned>(i) + 1) * 2654435761u;
    return (v ^ v >> 15) * 2246822519u;
  };
  unsigned* matrix = device_array<unsigned>(count, mixed);
  unsigned* transposed = device_zeros<unsigned>(count);
  unsigned* a = device_array<unsigned>(m * kProductWords, mixed);
  unsigned* b = device_array<unsigned>(m * kProductWords, [mixed](int i) { return mixed(i) ^ 0x5bd1e995u; });
  int* product = device_zeros<int>(m * m);
  unsigned* queries = device_array<unsigned>(n * 8, mixed);
  unsigned* codes = device_array<unsigned>(m * 8, [mixed](int i) { return mixed(7 * i); });
  unsigned* nearest = device_zeros<unsigned>(m / 128 * n);
  ulonglong2* signatures = device_zeros<ulonglong2>(records);
  unsigned char* parity = device_zeros<unsigned char>(rows);
  for (int r = 0; r < kLaunches; ++r)
    transpose_bits<true><<<dim3(words / 8, rows / 256), 256>>>(matrix, transposed, rows, words);
  for (int r = 0; r < kLaunches; ++r)
    transpose_bits<false><<<dim3(words / 8, rows / 256), 256>>>(matrix, transposed, rows, words);
  for (int r = 0; r < kLaunches; ++r)
    bit_product<16><<<dim3(m / 16, m / 16), dim3(16, 16)>>>(a, b, product, m);
  for (int r = 0; r < kLaunches; ++r)
    bit_product<32><<<dim3(m / 32, m / 32), dim3(32, 32)>>>(a, b, product, m);
  for (int r = 0; r < kLaunches; ++r)
    hamming_nearest<<<dim3(n / 128, m / 128), 128>>>((uint4*)queries, (uint4*)codes, nearest, n);
  for (int r = 0; r < kLaunches; ++r)
    morton_of_gray<<<ceil_div(count, 512), 512>>>((ushort2*)matrix, transposed, count);
  for (int r = 0; r < kLaunches; ++r)
    bloom_signatures<3><<<ceil_div(records, 192), 192>>>(matrix, signatures, records);
  for (int r = 0; r < kLaunches; ++r)
    bloom_signatures<7><<<ceil_div(records, 256), 256>>>(matrix, signatures, records);
  for (int r = 0; r < kLaunches; ++r)
    row_parity<<<ceil_div(rows, 8), dim3(32, 8)>>>(matrix, parity, rows, words);
  free_all(matrix, transposed, a, b, product, queries, codes, nearest, signatures, parity);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("bit_matrices");
}
