// What happens to n words of a text, 512 numbers each, around the large products of a network.
#include <cuda_fp16.h>

#include "device.h"

constexpr int kWidth = 512;

// The row of a table that each word has: 128 threads copy it, 16 bytes each.
__global__ void look_up(const int* words, const float4* __restrict__ table, float4* __restrict__ out) {
  const int word = words[blockIdx.x];
  out[blockIdx.x * (kWidth / 4) + threadIdx.x] = __ldg(table + word * (kWidth / 4) + threadIdx.x);
}

// Words without a row of their own: the sum of the rows that two hashes of the word's number give.
__global__ void look_up_hashed(const float* table, float* out, unsigned rows, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || k >= kWidth) return;
  unsigned first = (i * 2654435761u >> 8) % rows;
  unsigned second = (i * 2246822519u >> 8) % rows;
  out[i * kWidth + k] = table[first * kWidth + k] + table[second * kWidth + k];
}

// Where a word stands, as waves of many lengths, in half precision.
__global__ void add_places(const __half2* in, __half2* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * (kWidth / 2); i += gridDim.x * blockDim.x) {
    const int k = i % (kWidth / 2), place = i / (kWidth / 2);
    float s, c;
    sincosf(place * exp2f(-13.287712f * k / (kWidth / 2)), &s, &c);
    out[i] = __hadd2(in[i], __floats2half2_rn(s, c));
  }
}

// Halves of each of eight heads turned against each other, by an angle that grows with the place.
__global__ void turn_halves(float* words, int n) {
  const int t = threadIdx.x, head = t / 32, k = t % 32, i = blockIdx.x;
  const float angle = i * powf(10000.0f, -k / 32.0f), s = __sinf(angle), c = __cosf(angle);
  const int at = i * kWidth + head * 64 + k;
  const float a = words[at], b = words[at + 32];
  words[at] = a * c - b * s;
  words[at + 32] = a * s + b * c;
}

// Four random words from a counter and a key: ten rounds.
__device__ uint4 random_words(unsigned counter, unsigned key) {
  uint4 v = make_uint4(counter, 0, 0, 0);
  unsigned other = 0xbb67ae85u;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned low = 0xd2511f53u * v.x, high = __umulhi(0xd2511f53u, v.x);
    const unsigned low2 = 0xcd9e8d57u * v.z, high2 = __umulhi(0xcd9e8d57u, v.z);
    v = make_uint4(high2 ^ v.y ^ key, low2, high ^ v.w ^ other, low);
    key += 0x9e3779b9u;
    other += 0xbb67ae85u;
  }
  return v;
}

// Numbers left out by chance, after what was there before is added; which of them is kept as a byte of bits.
__global__ void leave_out(const float4* __restrict__ in, const float4* __restrict__ before,
                          float4* __restrict__ out, unsigned char* __restrict__ kept, unsigned key,
                          float share, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const uint4 chance = random_words(i, key);
  const unsigned limit = share * 4294967296.0f;
  const float scale = 1 / (1 - share);
  const float4 v = in[i], b = before[i];
  out[i] =
      make_float4(b.x + (chance.x < limit ? 0 : v.x * scale), b.y + (chance.y < limit ? 0 : v.y * scale),
                  b.z + (chance.z < limit ? 0 : v.z * scale), b.w + (chance.w < limit ? 0 : v.w * scale));
  kept[i] =
      (chance.x >= limit) | (chance.y >= limit) << 1 | (chance.z >= limit) << 2 | (chance.w >= limit) << 3;
}

// The way back: a row of gradients is left out whole where a hash of its number says so, else by the bits.
__global__ void leave_out_backward(const float* gradient, const unsigned char* kept, float* out, float scale,
                                   unsigned rows_out, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  unsigned h = i * 0x85ebca6bu;
  h ^= h >> 15;
  if (h % 100 < rows_out) {
    out[i * kWidth + k] = 0;
  } else {
    const int at = i * kWidth + k;
    out[at] = kept[at / 4] >> at % 4 & 1 ? scale * gradient[at] : 0;
  }
}

void run(int n) {
  const int count = n * kWidth, rows = 65536;
  int* words = device_ints(n, rows);
  float* table = device_floats(rows * kWidth);
  float* in = device_floats(count);
  float* out = device_zeros<float>(count);
  unsigned char* kept = device_zeros<unsigned char>(count / 4);
  for (int r = 0; r < kLaunches; ++r) look_up<<<n, kWidth / 4>>>(words, (float4*)table, (float4*)out);
  for (int r = 0; r < kLaunches; ++r)
    look_up_hashed<<<dim3(kWidth / 32, ceil_div(n, 8)), dim3(32, 8)>>>(table, out, 30011u, n);
  for (int r = 0; r < kLaunches; ++r) add_places<<<660, 256>>>((__half2*)in, (__half2*)out, n);
  for (int r = 0; r < kLaunches; ++r) turn_halves<<<n, 256>>>(out, n);
  for (int r = 0; r < kLaunches; ++r)
    leave_out<<<ceil_div(count / 4, 256), 256>>>((float4*)in, (float4*)table, (float4*)out, kept, 17u, 0.1f,
                                                 count / 4);
  for (int r = 0; r < kLaunches; ++r)
    leave_out_backward<<<dim3(kWidth / 128, n), 128>>>(in, kept, out, 1.1111111f, 20u, n);
  free_all(words, table, in, out, kept);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("token_layers");
}
