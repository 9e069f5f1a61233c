// Hashes and checksums of records of 64 bytes, one per thread.
#include "device.h"

__constant__ unsigned table_constant[256];

__global__ void fnv_bytes(const unsigned char* records, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned hash = 2166136261u;
  for (int k = 0; k < 64; ++k) hash = (hash ^ records[i * 64 + k]) * 16777619u;
  out[i] = hash;
}

__global__ void murmur_words(const uint4* records, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned hash = 0x9747b28cu;
  for (int k = 0; k < 4; ++k) {
    const uint4 four = records[k * n + i];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      unsigned word = words[w] * 0xcc9e2d51u;
      word = word << 15 | word >> 17;
      hash ^= word * 0x1b873593u;
      hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
    }
  }
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  out[i] = hash ^ hash >> 13;
}

__global__ void crc_constant(const unsigned* records, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned crc = ~0u;
  for (int k = 0; k < 16; ++k) {
    unsigned word = records[k * n + i];
    for (int b = 0; b < 4; ++b) {
      crc = table_constant[(crc ^ word) & 255] ^ crc >> 8;
      word >>= 8;
    }
  }
  out[i] = ~crc;
}

__global__ void crc_shared(const unsigned* records, const unsigned* table, unsigned* out, int n) {
  __shared__ unsigned part[256];
  part[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned crc = ~0u;
  for (int k = 0; k < 16; ++k) {
    unsigned word = records[k * n + i];
    for (int b = 0; b < 4; ++b) {
      crc = part[(crc ^ word) & 255] ^ crc >> 8;
      word >>= 8;
    }
  }
  out[i] = ~crc;
}

// 64 rounds of additions and rotations in 64 bits.
__global__ void rotate_rounds(const unsigned long long* in, unsigned long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long a = in[i], b = a ^ 0x243f6a8885a308d3ull, c = ~a, d = a * 3;
#pragma unroll 4
  for (int k = 0; k < 64; ++k) {
    a += b;
    d = (d ^ a) << 32 | (d ^ a) >> 32;
    c += d;
    b = (b ^ c) << 40 | (b ^ c) >> 24;
  }
  out[i] = a ^ b ^ c ^ d;
}

void run(int n) {
  unsigned table[256];
  for (unsigned i = 0; i < 256; ++i) {
    unsigned c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[i] = c;
  }
  cudaMemcpyToSymbol(table_constant, table, sizeof table);
  unsigned* records = (unsigned*)device_ints(16 * n, 1 << 30);
  unsigned* shared_table = (unsigned*)device_ints(256, 1 << 30);
  unsigned* out = device_zeros<unsigned>(2 * n);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) fnv_bytes<<<ceil_div(n, 128), 128>>>((unsigned char*)records, out, n);
  for (int r = 0; r < kLaunches; ++r) murmur_words<<<blocks, 256>>>((uint4*)records, out, n);
  for (int r = 0; r < kLaunches; ++r) crc_constant<<<blocks, 256>>>(records, out, n);
  for (int r = 0; r < kLaunches; ++r) crc_shared<<<blocks, 256>>>(records, shared_table, out, n);
  for (int r = 0; r < kLaunches; ++r)
    rotate_rounds<<<blocks, 256>>>((unsigned long long*)records, (unsigned long long*)out, n);
  free_all(records, shared_table, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("hashes");
}
