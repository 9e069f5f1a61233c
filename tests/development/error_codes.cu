// Codes that find and mend errors: n frames of 256 words.
#include "device.h"

// A shift register of 32 bits, a bit at a time, against the data: four words for each thread.
__global__ void scramble(const int4* in, int4* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  unsigned state = i * 2246822519u | 1;
  int4 data = in[i];
  int* word = &data.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned mask = 0;
    for (int bit = 0; bit < 32; ++bit) {
      mask = mask << 1 | (state & 1);
      state = state >> 1 ^ (-(int)(state & 1) & 0xa3000000u);
    }
    word[k] ^= mask;
  }
  out[i] = data;
}

// A remainder of 16 bits of each packet, a byte at a time, with a table that the block computes first.
__global__ void packet_checks(const unsigned* words, unsigned short* checks, int length, int packets) {
  __shared__ unsigned short table[256];
  unsigned entry = threadIdx.x << 8;
  for (int k = 0; k < 8; ++k) entry = entry & 0x8000 ? entry << 1 ^ 0x1021 : entry << 1;
  table[threadIdx.x] = entry;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= packets) return;
  unsigned check = 0xffff;
  for (int k = 0; k < length; ++k) {
    const unsigned word = words[k * packets + i];
    for (int b = 24; b >= 0; b -= 8) check = (check << 8 ^ table[(check >> 8 ^ word >> b) & 255]) & 0xffff;
  }
  checks[i] = check;
}

__device__ unsigned spread(unsigned v) {
  v = (v | v << 8) & 0x00ff00ffu;
  v = (v | v << 4) & 0x0f0f0f0fu;
  v = (v | v << 2) & 0x33333333u;
  return (v | v << 1) & 0x55555555u;
}

// Two bits out for each bit in, from the last seven: 32 of them at once.
__global__ void convolve_bits(const unsigned* __restrict__ in, uint2* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned here = in[i], before = i > 0 ? in[i - 1] : 0;
    unsigned a = here, b = here;
#pragma unroll
    for (int k = 1; k < 7; ++k) {
      const unsigned late = __funnelshift_l(before, here, k);
      if (0x4f >> k & 1) a ^= late;
      if (0x6d >> k & 1) b ^= late;
    }
    out[i] = make_uint2(spread(a & 0xffff) | spread(b & 0xffff) << 1, spread(a >> 16) | spread(b >> 16) << 1);
  }
}

// The likeliest bits of a frame: 64 states, a thread each; votes keep which way each state came.
__global__ void decode_trellis(const signed char* symbols, unsigned* bits, int frames) {
  __shared__ int metric[2][64];
  __shared__ unsigned came[128][2];
  const int s = threadIdx.x, frame = blockIdx.x;
  metric[0][s] = s == 0 ? 0 : 1000;
  const int code_a = __popc(s << 1 & 0x4f) & 1, code_b = __popc(s << 1 & 0x6d) & 1;
  __syncthreads();
  for (int t = 0; t < 128; ++t) {
    const int a = symbols[(frame * 128 + t) * 2], b = symbols[(frame * 128 + t) * 2 + 1];
    const int cost = (code_a ? -a : a) + (code_b ? -b : b);
    const int low = metric[t % 2][s >> 1] + cost, high = metric[t % 2][(s >> 1) + 32] - cost;
    const unsigned vote = __ballot_sync(0xffffffffu, high < low);
    if (s % 32 == 0) came[t][s / 32] = vote;
    metric[(t + 1) % 2][s] = min(low, high);
    __syncthreads();
  }
  if (s > 0) return;
  int state = 0;
  unsigned word = 0;
  for (int t = 127; t >= 0; --t) {
    word = word >> 1 | (unsigned)(state & 1) << 31;
    state = state >> 1 | (came[t][state >> 5] >> (state & 31) & 1) << 5;
    if (t % 32 == 0) bits[frame * 4 + t / 32] = word;
  }
}

// Checks of eight bits each: to every bit goes the least doubt of the seven others.
__global__ void check_nodes(const float* __restrict__ beliefs, const int* __restrict__ bit_of,
                            float* __restrict__ messages, int checks) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= checks) return;
  float value[8], least = 1e30f, second = 1e30f;
  int at = 0;
  unsigned sign = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    value[k] = beliefs[bit_of[k * checks + c]] - 0.5f - messages[k * checks + c];
    const float size = fabsf(value[k]);
    if (size < least) {
      second = least;
      least = size;
      at = k;
    } else {
      second = fminf(second, size);
    }
    sign ^= __float_as_uint(value[k]) & 0x80000000u;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float size = 0.75f * (k == at ? second : least);
    messages[k * checks + c] =
        __uint_as_float(__float_as_uint(size) | (sign ^ (__float_as_uint(value[k]) & 0x80000000u)));
  }
}

// What each bit hears from its three checks, and the hard decisions of a warp in one word.
__global__ void bit_nodes(const float* channel, const float* messages, const int3* edges, float* beliefs,
                          unsigned* decisions, int bits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bits) return;
  const int3 edge = edges[i];
  const float belief = channel[i] - 0.5f + messages[edge.x] + messages[edge.y] + messages[edge.z];
  beliefs[i] = belief;
  const unsigned word = __ballot_sync(0xffffffffu, belief < 0);
  if (threadIdx.x % 32 == 0) decisions[i / 32] = word;
}

void run(int n) {
  const int words = 256 * n, packets = 16 * n, bits = 128 * n, checks = 64 * n;
  int* in = device_ints(words, 1 << 24);
  int* out = device_zeros<int>(2 * words);
  int* bit_of = device_ints(8 * checks, bits);
  int* edges = device_ints(3 * bits, 8 * checks);
  float* channel = device_floats(bits);
  float* beliefs = device_floats(bits);
  float* messages = device_zeros<float>(8 * checks);
  for (int r = 0; r < kLaunches; ++r)
    scramble<<<ceil_div(words / 4, 128), 128>>>((int4*)in, (int4*)out, words / 4);
  for (int r = 0; r < kLaunches; ++r)
    packet_checks<<<ceil_div(packets, 256), 256>>>((unsigned*)in, (unsigned short*)out, 16, packets);
  for (int r = 0; r < kLaunches; ++r) convolve_bits<<<528, 256>>>((unsigned*)in, (uint2*)out, words);
  for (int r = 0; r < kLaunches; ++r) decode_trellis<<<n, 64>>>((signed char*)in, (unsigned*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    check_nodes<<<ceil_div(checks, 192), 192>>>(beliefs, bit_of, messages, checks);
  for (int r = 0; r < kLaunches; ++r)
    bit_nodes<<<ceil_div(bits, 256), 256>>>(channel, messages, (int3*)edges, beliefs, (unsigned*)out, bits);
  free_all(in, out, bit_of, edges, channel, beliefs, messages);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("error_codes");
}
