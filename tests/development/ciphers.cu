// n blocks of data, encrypted, authenticated and digested.
#include "device.h"

using u64 = unsigned long long;

__constant__ u64 round_keys[32];

// Additions, rotations and exclusive ors in 64 bits, 32 rounds with keys from constant memory.
__global__ void rotate_and_add(ulonglong2* blocks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ulonglong2 b = blocks[i];
#pragma unroll
  for (int round = 0; round < 32; ++round) {
    b.y = ((b.y >> 8 | b.y << 56) + b.x) ^ round_keys[round];
    b.x = (b.x << 3 | b.x >> 61) ^ b.y;
  }
  blocks[i] = b;
}

// Two words of 32 bits in 64 rounds, of which the key's word depends on the sum so far: nothing is unrolled.
__global__ void two_words(uint2* blocks, const unsigned* __restrict__ key, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 v = blocks[i];
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9u;
    v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + key[sum >> 11 & 3]);
  }
  blocks[i] = v;
}

// Ten rounds of bytes through a table in shared memory, four bytes of each word, and a mixture of the words.
__global__ void substitute(uint4* blocks, const unsigned* table, int n) {
  __shared__ unsigned box[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) box[k] = table[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 b = blocks[i];
#pragma unroll 2
  for (unsigned round = 0; round < 10; ++round) {
    uint4 next;
    next.x = box[b.x & 255] ^ __funnelshift_l(box[b.y >> 8 & 255], box[b.y >> 8 & 255], 8) ^
             __funnelshift_l(box[b.z >> 16 & 255], box[b.z >> 16 & 255], 16) ^ box[b.w >> 24] ^ round;
    next.y = box[b.y & 255] ^ __funnelshift_l(box[b.z >> 8 & 255], box[b.z >> 8 & 255], 8) ^
             __funnelshift_l(box[b.w >> 16 & 255], box[b.w >> 16 & 255], 16) ^ box[b.x >> 24];
    next.z = box[b.z & 255] ^ __funnelshift_l(box[b.w >> 8 & 255], box[b.w >> 8 & 255], 8) ^
             __funnelshift_l(box[b.x >> 16 & 255], box[b.x >> 16 & 255], 16) ^ box[b.y >> 24];
    next.w = box[b.w & 255] ^ __funnelshift_l(box[b.x >> 8 & 255], box[b.x >> 8 & 255], 8) ^
             __funnelshift_l(box[b.y >> 16 & 255], box[b.y >> 16 & 255], 16) ^ box[b.z >> 24];
    b = next;
  }
  blocks[i] = b;
}

__device__ __forceinline__ unsigned turned(unsigned x, int by) {
  return __funnelshift_r(x, x, by);
}

// A digest of 64 bytes for each thread: 64 rounds, all unrolled, with the message's 16 words in registers.
__global__ void digest(const unsigned* words, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16], s[8];
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = words[k * n + i];
#pragma unroll
  for (int k = 0; k < 8; ++k) s[k] = 0x6a09e667u * (2 * k + 1);
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    if (k >= 16) {
      const unsigned a = w[(k + 1) % 16], b = w[(k + 14) % 16];
      w[k % 16] += (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[(k + 9) % 16] +
                   (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    const unsigned t1 = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                        ((s[4] & s[5]) ^ (~s[4] & s[6])) + 0x428a2f98u * (k + 1) + w[k % 16];
    const unsigned t2 = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                        ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
#pragma unroll
    for (int m = 7; m > 0; --m) s[m] = s[m - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[k * n + i] = s[k];
}

// A polynomial over the field of 2^61 - 1 of 32 words for each thread: products of 128 bits.
__global__ void authenticate(const u64* words, u64* tags, u64 key, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const u64 prime = (1ull << 61) - 1;
  u64 tag = i;
  for (int k = 0; k < 32; ++k) {
    const u64 low = tag * key, high = __umul64hi(tag, key);
    tag = (low & prime) + (low >> 61 | high << 3) + (words[i * 32 + k] & prime);
    if (tag >= prime) tag -= prime;
    if (tag >= prime) tag -= prime;
  }
  tags[i] = tag;
}

void run(int n) {
  u64 keys[32];
  for (int k = 0; k < 32; ++k) keys[k] = 0x0123456789abcdefull * (k + 1);
  cudaMemcpyToSymbol(round_keys, keys, sizeof keys);
  unsigned* words = (unsigned*)device_ints(64 * n, 1 << 30);
  unsigned* blocks = (unsigned*)device_ints(4 * n, 1 << 30);
  unsigned* table = (unsigned*)device_ints(256, 1 << 30);
  unsigned* out = device_zeros<unsigned>(8 * n);
  for (int r = 0; r < kLaunches; ++r) rotate_and_add<<<ceil_div(n, 256), 256>>>((ulonglong2*)blocks, n);
  for (int r = 0; r < kLaunches; ++r) two_words<<<ceil_div(n, 128), 128>>>((uint2*)blocks, table, 64, n);
  for (int r = 0; r < kLaunches; ++r) substitute<<<ceil_div(n, 256), 256>>>((uint4*)blocks, table, n);
  for (int r = 0; r < kLaunches; ++r) digest<<<ceil_div(n, 192), 192>>>(words, out, n);
  for (int r = 0; r < kLaunches; ++r) digest<<<ceil_div(n, 32), 32>>>(words, out, n);
  for (int r = 0; r < kLaunches; ++r)
    authenticate<<<ceil_div(n, 128), 128>>>((u64*)words, (u64*)out, 0x1234567890abcdull, n);
  free_all(words, blocks, table, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("ciphers");
}
