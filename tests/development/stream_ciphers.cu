// Ciphers, hashes and codes over a stream of bytes, each thread or warp with a block of its own.
// n is the number of blocks of 64 bytes, a multiple of 1024.
#include "device.h"

using Wide = unsigned long long;

__constant__ unsigned kKey[64];

__device__ __forceinline__ unsigned rotate_left(unsigned value, int bits) {
  return value << bits | value >> (32 - bits);
}

__device__ void quarter_round(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  d = rotate_left(d ^ (a += b), 16);
  b = rotate_left(b ^ (c += d), 12);
  d = rotate_left(d ^ (a += b), 8);
  b = rotate_left(b ^ (c += d), 7);
}

// ChaCha with 20 rounds, a thread per block of 64 bytes.
__global__ void chacha(const unsigned* in, unsigned* out, unsigned nonce) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned first[16], s[16];
  for (int k = 0; k < 16; ++k) s[k] = first[k] = k < 12 ? kKey[k] : k == 12 ? block : nonce * k;
  for (int round = 0; round < 20; round += 2) {
    for (int k = 0; k < 4; ++k) quarter_round(s[k], s[4 + k], s[8 + k], s[12 + k]);
    for (int k = 0; k < 4; ++k)
      quarter_round(s[k], s[4 + (k + 1) % 4], s[8 + (k + 2) % 4], s[12 + (k + 3) % 4]);
  }
  for (int k = 0; k < 16; ++k) out[block * 16 + k] = in[block * 16 + k] ^ (s[k] + first[k]);
}

// SHA-256 of messages of 40 bytes, which fit one block with their padding.
__global__ void __launch_bounds__(128) sha256_short(const unsigned* in, uint4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (int k = 0; k < 16; ++k)
    w[k] = k < 10 ? __byte_perm(in[i * 10 + k], 0, 0x0123) : k == 10 ? 0x80000000u : k == 15 ? 320 : 0;
#pragma unroll 16
  for (int k = 0; k < 64; ++k) {
    const unsigned t1 = h + (rotate_left(e, 26) ^ rotate_left(e, 21) ^ rotate_left(e, 7)) +
                        ((e & f) ^ (~e & g)) + kKey[k] + w[k % 16];
    const unsigned t2 = (rotate_left(a, 30) ^ rotate_left(a, 19) ^ rotate_left(a, 10)) +
                        ((a & b) ^ (a & c) ^ (b & c));
    const unsigned early = w[(k + 1) % 16], late = w[(k + 14) % 16];
    w[k % 16] += (rotate_left(early, 25) ^ rotate_left(early, 14) ^ early >> 3) + w[(k + 9) % 16] +
                 (rotate_left(late, 15) ^ rotate_left(late, 13) ^ late >> 10);
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  out[2 * i] = make_uint4(s[0] + a, s[1] + b, s[2] + c, s[3] + d);
  out[2 * i + 1] = make_uint4(s[4] + e, s[5] + f, s[6] + g, s[7] + h);
}

__device__ unsigned aes_column(const unsigned* table, unsigned a, unsigned b, unsigned c, unsigned d) {
  return table[a >> 24] ^ __funnelshift_r(table[b >> 16 & 255], table[b >> 16 & 255], 8) ^
         __funnelshift_r(table[c >> 8 & 255], table[c >> 8 & 255], 16) ^ rotate_left(table[d & 255], 8);
}

// AES of a counter, with one table in shared memory (any will do here); the last round mixes columns too.
__global__ void aes_counter(const uint4* in, uint4* out, const unsigned* table, int blocks) {
  __shared__ unsigned own[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) own[k] = table[k];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += gridDim.x * blockDim.x) {
    unsigned a = kKey[0], b = kKey[1], c = kKey[2], d = kKey[3] ^ i;
    for (int round = 1; round <= 10; ++round) {
      const unsigned* key = kKey + 4 * round;
      const unsigned p = aes_column(own, a, b, c, d) ^ key[0], q = aes_column(own, b, c, d, a) ^ key[1];
      const unsigned r = aes_column(own, c, d, a, b) ^ key[2], s = aes_column(own, d, a, b, c) ^ key[3];
      a = p, b = q, c = r, d = s;
    }
    const uint4 text = in[i];
    out[i] = make_uint4(text.x ^ a, text.y ^ b, text.z ^ c, text.w ^ d);
  }
}

// CRC-32 of packets of several lengths in words, with four tables; packet i starts at 256 i bytes.
__global__ void crc_slices(const unsigned* data, const unsigned char* lengths, const unsigned* tables,
                           unsigned* out, int packets) {
  extern __shared__ unsigned slices[];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) slices[k] = tables[k];
  __syncthreads();
  const int packet = blockIdx.x * blockDim.x + threadIdx.x;
  if (packet >= packets) return;
  unsigned crc = 0xffffffffu;
  const unsigned* next = data + packet * 64;
  for (int left = lengths[packet]; left > 0; --left) {
    crc ^= *next++;
    crc = slices[768 + (crc & 255)] ^ slices[512 + (crc >> 8 & 255)] ^ slices[256 + (crc >> 16 & 255)] ^
          slices[crc >> 24];
  }
  out[packet] = ~crc;
}

__device__ unsigned char base64_letter(unsigned v) {
  return v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/';
}

// Base64, a thread for three bytes.
__global__ void base64_encode(const unsigned char* in, uchar4* out, int triples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= triples) return;
  const unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
  out[i] = make_uchar4(base64_letter(bits >> 18), base64_letter(bits >> 12 & 63),
                       base64_letter(bits >> 6 & 63), base64_letter(bits & 63));
}

// XTEA decryption of chained blocks of 8 bytes.
template <int kRounds>
__global__ void xtea_decrypt(const uint2* in, uint2* out) {
  const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  uint2 v = in[i];
  unsigned sum = 0x9e3779b9u * kRounds;
  for (int round = 0; round < kRounds; ++round) {
    v.y -= ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + kKey[sum >> 11 & 3]);
    sum -= 0x9e3779b9u;
    v.x -= ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + kKey[sum & 3]);
  }
  const uint2 before = i > 0 ? in[i - 1] : make_uint2(0, 0);
  out[i] = make_uint2(v.x ^ before.x, v.y ^ before.y);
}

// Syndromes of Reed-Solomon code words of 255 bytes at a distance of 256: a lane for each power of the root.
__global__ void syndromes(const unsigned char* words, unsigned char* out) {
  const int word = blockIdx.x * blockDim.y + threadIdx.y;
  unsigned power = 1, row[8], value = 0;
  for (int k = 0; k < threadIdx.x; ++k) power = power << 1 ^ (power & 128 ? 0x11d : 0);
  for (int bit = 0; bit < 8; ++bit, power = power << 1 ^ (power & 128 ? 0x11d : 0)) row[bit] = power;
  for (int k = 0; k < 255; ++k) {
    unsigned product = words[word * 256 + k];
    for (int bit = 0; bit < 8; ++bit) product ^= value >> bit & 1 ? row[bit] : 0;
    value = product;
  }
  out[word * 32 + threadIdx.x] = value;
}

__device__ Wide add(Wide a, Wide b) {
  return a + b < a ? a + b + 0xffffffffu : a + b;
}

// The product modulo 2^64 - 2^32 + 1, for which 2^64 is 2^32 - 1 and 2^96 is -1.
__device__ Wide multiply(Wide a, Wide b) {
  const Wide low = a * b, high = __umul64hi(a, b), top = high >> 32;
  return add(low - top - (low < top ? 0xffffffffu : 0), (high & 0xffffffffu) * 0xffffffffu);
}

// A permutation of eight numbers by rounds of seventh powers and of mixing by their sum, a thread for each.
__global__ void permute(const Wide* in, Wide* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Wide s[8];
  for (int k = 0; k < 8; ++k) s[k] = in[k * n + i];
  for (int round = 0; round < 22; ++round) {
    Wide sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      s[k] = add(s[k], kKey[(round * 8 + k) % 64]);
      const Wide cube = multiply(multiply(s[k], s[k]), s[k]);
      s[k] = k == 0 || round < 4 || round >= 18 ? multiply(multiply(cube, cube), s[k]) : s[k];
      sum = add(sum, s[k]);
    }
    for (int k = 0; k < 8; ++k) s[k] = add(multiply(s[k], 2 * k + 3), sum);
  }
  for (int k = 0; k < 8; ++k) out[k * n + i] = s[k];
}

void run(int n) {
  std::vector<unsigned> key(64);
  for (int k = 0; k < 64; ++k) key[k] = 2654435761u * (k + 1) ^ 40503u * k;
  cudaMemcpyToSymbol(kKey, key.data(), sizeof kKey);
  const int words = 16 * n, packets = n / 4, triples = n / 3 * 64;
  unsigned* in = device_array<unsigned>(words, [](int i) { return i * 2246822519u ^ i >> 3; });
  unsigned* out = device_zeros<unsigned>(words / 2 * 3);
  auto* lengths = device_array<unsigned char>(packets, [](int i) { return 8 + i * 37ll % 57; });
  unsigned* tables = device_array<unsigned>(1024, [](int i) {
    unsigned rest = i % 256;
    for (int bit = 0; bit < 8 * (i / 256 + 1); ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0);
    return rest;
  });
  uint2 *in2 = (uint2*)in, *out2 = (uint2*)out;
  for (int r = 0; r < kLaunches; ++r) chacha<<<n / 256, 256>>>(in, out, 99u);
  for (int r = 0; r < kLaunches; ++r) sha256_short<<<n / 128, 128>>>(in, (uint4*)out);
  for (int r = 0; r < kLaunches; ++r) aes_counter<<<528, 512>>>((uint4*)in, (uint4*)out, tables, 4 * n);
  for (int r = 0; r < kLaunches; ++r)
    crc_slices<<<ceil_div(packets, 96), 96, 4096>>>(in, lengths, tables, out, packets);
  for (int r = 0; r < kLaunches; ++r)
    base64_encode<<<ceil_div(triples, 1024), 1024>>>((unsigned char*)in, (uchar4*)out, triples);
  for (int r = 0; r < kLaunches; ++r) xtea_decrypt<32><<<dim3(n / 256, 8), 256>>>(in2, out2);
  for (int r = 0; r < kLaunches; ++r) xtea_decrypt<64><<<dim3(n / 256, 8), 256>>>(in2, out2);
  for (int r = 0; r < kLaunches; ++r)
    syndromes<<<packets / 4, dim3(32, 4)>>>((unsigned char*)in, (unsigned char*)out);
  for (int r = 0; r < kLaunches; ++r) permute<<<n / 64, 64>>>((Wide*)in, (Wide*)out, n);
  free_all(in, out, lengths, tables);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stream_ciphers");
}
