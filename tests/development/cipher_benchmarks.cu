// Ciphers, digests and the arithmetic of large numbers, for n messages of 64 bytes.
#include "device.h"

constexpr unsigned kPrime = 2013265921u;  // 15 * 2^27 + 1

__constant__ unsigned round_keys[44], sha_constants[64], crc_entries[256], aes_entries[256];

struct Modulus {
  unsigned words[8], inverse;
};
__device__ inline unsigned turn(unsigned x, int by) { return __funnelshift_r(x, x, by); }

// Ten rounds like those of AES in counter mode, with one table of 1 KB in shared or in constant memory.
template <bool kShared>
__global__ void aes_counters(const uint4* __restrict__ text, uint4* __restrict__ out, int blocks) {
  __shared__ unsigned copy[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) copy[k] = aes_entries[k];
  __syncthreads();
  const unsigned* table = kShared ? copy : aes_entries;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += gridDim.x * blockDim.x) {
    unsigned s[4] = {round_keys[0], round_keys[1], round_keys[2], round_keys[3] ^ i};
    for (int round = 1; round <= 10; ++round) {
      unsigned t[4];
      for (int k = 0; k < 4; ++k)
        t[k] = table[s[k] >> 24] ^ turn(table[s[(k + 1) & 3] >> 16 & 255], 8) ^
               turn(table[s[(k + 2) & 3] >> 8 & 255], 16) ^ turn(table[s[(k + 3) & 3] & 255], 24) ^
               round_keys[4 * round + k];
      for (int k = 0; k < 4; ++k) s[k] = t[k];
    }
    out[i] = make_uint4(text[i].x ^ s[0], text[i].y ^ s[1], text[i].z ^ s[2], text[i].w ^ s[3]);
  }
}

// Digests like SHA-256 of 64 bytes for each thread. The sixteen words of the schedule are in registers.
__global__ void sha_digests(const unsigned* messages, unsigned* digests, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16], h[8];
  for (int k = 0; k < 16; ++k) w[k] = messages[k * n + i];
  for (int k = 0; k < 8; ++k) h[k] = 0x6a09e667u * (2 * k + 1);
#pragma unroll
  for (int r = 0; r < 64; ++r) {
    if (r >= 16) {
      const unsigned a = w[(r + 1) % 16], b = w[(r + 14) % 16];
      w[r % 16] += (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >> 10) +
                   w[(r + 9) % 16];
    }
    const unsigned e = h[4], a = h[0];
    const unsigned t = h[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & h[5]) ^ (~e & h[6])) +
                       sha_constants[r] + w[r % 16];
    const unsigned u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & h[1]) ^ (a & h[2]) ^ (h[1] & h[2]));
    for (int k = 7; k > 0; --k) h[k] = h[k - 1];
    h[4] += t;
    h[0] = t + u;
  }
  for (int k = 0; k < 8; ++k) digests[k * n + i] = h[k];
}

// Checks of 64 bytes: a table in constant memory, or bit by bit.
template <bool kTable>
__global__ void checks(const unsigned char* bytes, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned crc = ~0u;
  for (const unsigned char *at = bytes + 64 * i, *end = at + 64; at < end; ++at) {
    crc ^= *at;
    if (kTable) crc = crc >> 8 ^ crc_entries[crc & 255];
    for (int k = 0; k < (kTable ? 0 : 8); ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  out[i] = ~crc;
}

// Montgomery products of numbers of kWords words of 32 bits, one plane for each word.
template <int kWords>
__global__ void montgomery_products(const unsigned* a, const unsigned* b, unsigned* out, Modulus m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned factor[kWords], t[kWords + 1] = {};
  for (int k = 0; k < kWords; ++k) factor[k] = a[k * n + i];
#pragma unroll
  for (int j = 0; j < kWords; ++j) {
    const unsigned long long word = b[j * n + i];
    unsigned long long low = factor[0] * word + t[0];
    const unsigned long long q = static_cast<unsigned>(low) * m.inverse;
    unsigned long long high = (q * m.words[0] + static_cast<unsigned>(low)) >> 32;
    for (int k = 1; k < kWords; ++k) {
      low = factor[k] * word + t[k] + (low >> 32);
      high += q * m.words[k] + static_cast<unsigned>(low);
      t[k - 1] = static_cast<unsigned>(high);
      high >>= 32;
    }
    high += t[kWords] + (low >> 32);
    t[kWords - 1] = static_cast<unsigned>(high);
    t[kWords] = high >> 32;
  }
  for (int k = 0; k < kWords; ++k) out[k * n + i] = t[k];
}

// Odd primes among the 32768 numbers of a block's segment: a bit for each odd number, in shared memory.
__global__ void sieve_segments(const unsigned* __restrict__ primes, int* total, int count) {
  __shared__ unsigned bits[512];
  const unsigned base = blockIdx.x * 32768u;
  for (int k = threadIdx.x; k < 512; k += blockDim.x) bits[k] = 0;
  __syncthreads();
  for (int k = threadIdx.x / 32; k < count; k += blockDim.x / 32) {
    const unsigned p = primes[k];
    if (p * p >= base + 32768) break;
    unsigned from = max(p * p, (base + p - 1) / p * p);
    if (from % 2 == 0) from += p;
    for (unsigned at = (from - base) / 2 + threadIdx.x % 32 * p; at < 16384; at += 32 * p)
      atomicOr(&bits[at / 32], 1u << (at & 31));
  }
  __syncthreads();
  int found = 0;
  for (int k = threadIdx.x; k < 512; k += blockDim.x) found += __popc(~bits[k]);
  found = __reduce_add_sync(0xffffffffu, found);
  if (threadIdx.x % 32 == 0) atomicAdd(total, found);
}

// New states of generators like the Mersenne twister: a block for each, and three parts for what depends.
__global__ void twist_states(unsigned* states, float* numbers) {
  __shared__ unsigned s[624];
  unsigned* own = states + blockIdx.x * 624;
  for (int k = threadIdx.x; k < 624; k += blockDim.x) s[k] = own[k];
  __syncthreads();
  for (int start = 0; start < 624; start += 227) {
    const int i = start + threadIdx.x;
    const bool live = threadIdx.x < 227 && i < 624;
    const unsigned bits = (s[i % 624] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
    const unsigned mixed = s[(i + 397) % 624] ^ bits >> 1 ^ (bits & 1 ? 0x9908b0dfu : 0);
    __syncthreads();
    if (live) {
      s[i] = own[i] = mixed;
      numbers[blockIdx.x * 624 + i] = ((mixed ^ mixed >> 11) >> 8) * 0x1p-24f;
    }
    __syncthreads();
  }
}

// One stage of a number theoretic transform, in place: the two of a butterfly are `half` apart.
__global__ void transform_stage(unsigned* values, const unsigned* __restrict__ roots, int half, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, k = i & (half - 1), low = 2 * i - k;
  if (i >= pairs) return;
  const unsigned a = values[low], b = 1ull * values[low + half] * roots[half + k] % kPrime;
  values[low] = a + b < kPrime ? a + b : a + b - kPrime;
  values[low + half] = a < b ? a + kPrime - b : a - b;
}

// Powers by square and multiply. The exponents come from a counter, and have different lengths.
__global__ void modular_powers(const unsigned* bases, unsigned* out, unsigned modulus, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long base = bases[i] % modulus, power = 1;
  for (unsigned e = i * 2654435761u >> i % 8; e > 0; e >>= 1) {
    if (e & 1) power = power * base % modulus;
    base = base * base % modulus;
  }
  out[i] = static_cast<unsigned>(power);
}

void run(int n) {
  const auto hashed = [](int i) { return (i + 1) * 2654435761u ^ (i + 7) * 2246822519u >> 11; };
  unsigned* data = device_array<unsigned>(16 * n, hashed);
  unsigned* states = device_array<unsigned>(n / 80 * 624, hashed);
  unsigned* values = (unsigned*)device_ints(8 * n, kPrime);
  unsigned* out = device_zeros<unsigned>(8 * n);
  std::vector<unsigned> odd;
  for (unsigned p = 3; p < 32768; p += 2) {
    unsigned d = 3;
    while (d * d <= p && p % d > 0) d += 2;
    if (d * d > p) odd.push_back(p);
  }
  unsigned* primes = device_array<unsigned>(odd.size(), [&odd](int i) { return odd[i]; });
  cudaMemcpyToSymbol(aes_entries, data, 1024, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(crc_entries, data + 256, 1024, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(sha_constants, data + 512, 256, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(round_keys, data + 600, 176, 0, cudaMemcpyDeviceToDevice);
  const unsigned* b = data + 8 * n;
  Modulus m = {{0xffffff43u, ~1u, ~2u, ~3u, ~4u, ~5u, ~6u, ~7u}, 1};
  for (int k = 0; k < 5; ++k) m.inverse *= 2 + m.words[0] * m.inverse;  // -1 / words[0], modulo 2^32
  uint4 *text = (uint4*)data, *code = (uint4*)out;
  for (int r = 0; r < kLaunches; ++r) aes_counters<true><<<ceil_div(n, 512), 256>>>(text, code, 2 * n);
  for (int r = 0; r < kLaunches; ++r) aes_counters<false><<<ceil_div(n, 640), 320>>>(text, code, n / 2);
  for (int r = 0; r < kLaunches; ++r) sha_digests<<<ceil_div(n, 128), 128>>>(data, out, n);
  for (int r = 0; r < kLaunches; ++r) checks<true><<<ceil_div(n, 224), 224>>>((unsigned char*)data, out, n);
  for (int r = 0; r < kLaunches; ++r) checks<false><<<ceil_div(n, 64), 64>>>((unsigned char*)data, out, n);
  for (int r = 0; r < kLaunches; ++r) montgomery_products<4><<<ceil_div(n, 192), 192>>>(data, b, out, m, n);
  for (int r = 0; r < kLaunches; ++r) montgomery_products<8><<<ceil_div(n, 96), 96>>>(data, b, out, m, n);
  for (int r = 0; r < kLaunches; ++r) sieve_segments<<<n / 64, 256>>>(primes, (int*)out, odd.size());
  for (int r = 0; r < kLaunches; ++r) twist_states<<<n / 80, 256>>>(states, (float*)out);
  for (int r = 0; r < kLaunches; ++r) transform_stage<<<ceil_div(n, 64), 256>>>(values, data, 4, 4 * n);
  for (int r = 0; r < kLaunches; ++r) transform_stage<<<n / 128, 512>>>(values, data, 512, n / 128 * 512);
  for (int r = 0; r < kLaunches; ++r) modular_powers<<<ceil_div(n, 256), 256>>>(data, out, 4294967291u, n);
  free_all(data, states, values, out, primes);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("cipher_benchmarks");
}
