// Random numbers, and what is estimated with them.
#include "device.h"

__global__ void circle(unsigned* hits, int samples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 2654435761u + 12345u, inside = 0;
  for (int k = 0; k < samples; ++k) {
    state = state * 1664525u + 1013904223u;
    const float x = (state >> 8) * (1.0f / 16777216);
    state = state * 1664525u + 1013904223u;
    const float y = (state >> 8) * (1.0f / 16777216);
    if (x * x + y * y < 1) ++inside;
  }
  hits[i] = inside;
}

__device__ unsigned xorshift(unsigned& s) {
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  return s;
}

// Normal numbers by Box and Muller.
__global__ void normals(float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = i * 747796405u + 2891336453u;
  const float u = (xorshift(state) >> 8) * (1.0f / 16777216) + 1e-7f;
  const float v = (xorshift(state) >> 8) * (6.2831853f / 16777216);
  const float radius = sqrtf(-2 * logf(u));
  float s, c;
  sincosf(v, &s, &c);
  out[i] = make_float2(radius * c, radius * s);
}

// A counter through ten rounds of multiplications.
__global__ void counter_based(uint4* out, unsigned key, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 c = make_uint4(i, 1, 2, 3);
  unsigned k0 = key, k1 = ~key;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    const unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[i] = c;
}

// Walks that end when they leave the interval, so at different times.
__global__ void walks(int* lengths, int width, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 747796405u + 2891336453u;
  int at = 0, k = 0;
  while (k < most && at > -width && at < width) {
    at += xorshift(state) & 0x10000 ? 1 : -1;
    ++k;
  }
  lengths[i] = k;
}

// Paths of a price, in double precision.
__global__ void paths(double* ends, double drift, double spread, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = i * 747796405u + 2891336453u;
  double price = 100;
  for (int k = 0; k < steps; ++k) {
    double shock = -6;
    for (int j = 0; j < 12; ++j) shock += xorshift(state) * (1.0 / 4294967296.0);
    price *= exp(drift + spread * shock);
  }
  ends[i] = price;
}

void run(int n) {
  uint4* out = device_zeros<uint4>(n);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) circle<<<blocks, 256>>>((unsigned*)out, 100);
  for (int r = 0; r < kLaunches; ++r) normals<<<blocks, 256>>>((float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) counter_based<<<ceil_div(n, 128), 128>>>(out, 17, n);
  for (int r = 0; r < kLaunches; ++r) walks<<<blocks, 256>>>((int*)out, 12, 1000);
  for (int r = 0; r < kLaunches; ++r) paths<<<ceil_div(n, 64), 64>>>((double*)out, 0.0001, 0.01, 16, n);
  free_all(out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("monte_carlo");
}
