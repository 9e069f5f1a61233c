// Words of 32 bits: counted, reversed, a game of life with 32 cells in each, bits transposed by warps.
#include "device.h"

__global__ void count_bits(const uint4* in, int* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const uint4 v = in[i];
  out[i] = __popc(v.x) + __popc(v.y) + __popc(v.z) + __popc(v.w);
}

__global__ void reverse_and_find(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __brev(in[i]) + __clz(in[i]) * 64 + __ffs(in[i]);
}

__global__ void life(const unsigned* in, unsigned* out, int words, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= height) return;
  unsigned ones = 0, twos = 0, fours = 0;
  const unsigned here = in[y * words + x];
  for (int v = -1; v <= 1; ++v) {
    const unsigned* row = in + (y + v + height) % height * words;
    const unsigned middle = row[x], left = row[(x + words - 1) % words], right = row[(x + 1) % words];
    const unsigned neighbours[3] = {middle << 1 | left >> 31, middle >> 1 | right << 31, middle};
    for (int k = 0; k < (v == 0 ? 2 : 3); ++k) {
      const unsigned add = neighbours[k], carry = ones & add;
      ones ^= add;
      fours |= twos & carry;
      twos ^= carry;
    }
  }
  out[y * words + x] = twos & ~fours & (ones | here);
}

__global__ void transpose_bits(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned value = in[i], lane = threadIdx.x % 32;
  unsigned result = 0;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const unsigned column = __ballot_sync(0xffffffffu, value >> k & 1);
    if (lane == k) result = column;
  }
  out[i] = result;
}

void run(int n) {
  unsigned* in = (unsigned*)device_ints(n, 1 << 30);
  unsigned* out = device_zeros<unsigned>(n);
  const int words = 256, height = n / 256;
  for (int r = 0; r < kLaunches; ++r) count_bits<<<ceil_div(n, 1024), 256>>>((uint4*)in, (int*)out, n / 4);
  for (int r = 0; r < kLaunches; ++r) reverse_and_find<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    life<<<dim3(words / 32, ceil_div(height, 4)), dim3(32, 4)>>>(in, out, words, height);
  for (int r = 0; r < kLaunches; ++r) transpose_bits<<<ceil_div(n, 128), 128>>>(in, out, n);
  free_all(in, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("bit_operations");
}
