// Arithmetic of several kinds side by side, with little memory traffic.
#include <cuda_fp16.h>

#include "device.h"

struct Polynomial {
  float c[16];
};

// A polynomial of degree 15 by Horner's rule, put into itself again and again, at kChains points for each
// thread.
template <int kChains>
__global__ void horner(const float* __restrict__ in, float* __restrict__ out, Polynomial p, int rounds,
                       int count) {
  const int first = blockIdx.x * blockDim.x * kChains + threadIdx.x;
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const int i = first + c * blockDim.x;
    x[c] = i < count ? in[i] : 0;
  }
  for (int r = 0; r < rounds; ++r) {
    float sum[kChains];
#pragma unroll
    for (int c = 0; c < kChains; ++c) sum[c] = p.c[15];
#pragma unroll
    for (int k = 14; k >= 0; --k) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * x[c] + p.c[k];
    }
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = sum[c];
  }
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    const int i = first + c * blockDim.x;
    if (i < count) out[i] = x[c];
  }
}

// Random points by two integer generators, and how many of them lie in a circle. Blocks of kWarps warps.
template <int kWarps>
__global__ void __launch_bounds__(32 * kWarps) random_points(int* inside, float* moments, int points) {
  const int i = blockIdx.x * 32 * kWarps + threadIdx.x;
  unsigned a = i * 2654435761u + 12345u, b = a | 1;
  int hits = 0;
  float moment = 0;
  for (int k = 0; k < points; ++k) {
    a = a * 1664525u + 1013904223u;
    b ^= b << 13;
    b ^= b >> 17;
    b ^= b << 5;
    const float x = (a >> 8) * (2.0f / 16777216) - 1, y = (b >> 8) * (2.0f / 16777216) - 1;
    const float square = x * x + y * y;
    hits += square < 1;
    moment += square * x + y;
  }
  inside[i] = hits;
  moments[i] = moment;
}

// Orbits of bodies around a sun: places and energies in double precision, forces in single precision.
__global__ void mixed_orbits(const double2* __restrict__ starts, double2* __restrict__ ends,
                             double* __restrict__ energies, float step, int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double2 place = starts[i];
  double energy = 0;
  float vx = 0, vy = 0.9f;
  for (int k = 0; k < steps; ++k) {
    const float x = static_cast<float>(place.x), y = static_cast<float>(place.y);
    const float inverse = rsqrtf(x * x + y * y + 0.001f), pull = inverse * inverse * inverse * step;
    vx -= pull * x;
    vy -= pull * y;
    place.x += static_cast<double>(step) * vx;
    place.y += static_cast<double>(step) * vy;
    energy += 0.5 * (static_cast<double>(vx) * vx + static_cast<double>(vy) * vy) - inverse;
  }
  ends[i] = place;
  energies[i] = energy / steps;
}

// Sine, exponential, logarithm and square root, by the precise or by the fast functions.
template <bool kFast>
__global__ void special_functions(const float* __restrict__ in, float* __restrict__ out, int rounds,
                                  int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = in[i];
  for (int r = 0; r < rounds; ++r) {
    if (kFast)
      x = __sinf(x) * __expf(-x) + __logf(x + 1) * rsqrtf(x + 1);
    else
      x = sinf(x) * expf(-x) + logf(x + 1) / sqrtf(x + 1);
  }
  out[i] = x;
}

__device__ int dot_bytes(int4 a, int4 b, int sum) {
  return __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, sum))));
}

// Layers of sixteen neurons of a byte each: sums of products of bytes, then a smooth step in half precision.
__global__ void byte_layers(const int4* __restrict__ in, const int4* __restrict__ weights,
                            int4* __restrict__ out, int layers, int count) {
  extern __shared__ int4 rows[];
  for (int k = threadIdx.x; k < 16 * layers; k += blockDim.x) rows[k] = weights[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const __half2 zero = __float2half2_rn(0), one = __float2half2_rn(1), centre = __float2half2_rn(0.5f);
  const __half2 slope = __float2half2_rn(1.0f / 64), minus_two = __float2half2_rn(-2),
                three = __float2half2_rn(3);
  int4 values = in[i];
  for (int layer = 0; layer < layers; ++layer) {
    int words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int pair = 0; pair < 8; ++pair) {
      const int first = dot_bytes(values, rows[16 * layer + 2 * pair], 8);
      const int second = dot_bytes(values, rows[16 * layer + 2 * pair + 1], 8);
      const __half2 sums = __floats2half2_rn(first * (1.0f / 128), second * (1.0f / 128));
      const __half2 t = __hmin2(__hmax2(__hfma2(sums, slope, centre), zero), one);
      const __half2 gated = __hmul2(sums, __hmul2(__hmul2(t, t), __hfma2(t, minus_two, three)));
      const int bytes = (__half2int_rn(__low2half(gated)) & 0xff) | (__half2int_rn(__high2half(gated)) & 0xff)
                                                                        << 8;
      words[pair / 2] |= bytes << 16 * (pair % 2);
    }
    values = make_int4(words[0], words[1], words[2], words[3]);
  }
  out[i] = values;
}

// Random features: a row of each block is multiplied by signs and goes through Hadamard's transform, several
// times. Four numbers for each thread; steps inside a thread, then by shuffles, then through shared memory.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    hadamard_features(const float4* __restrict__ in, float4* __restrict__ out, int rounds) {
  __shared__ float4 tile[kThreads];
  const int t = threadIdx.x;
  float4 v = in[blockIdx.x * kThreads + t];
  const float shrink = rsqrtf(4.0f * kThreads);
  for (int r = 0; r < rounds; ++r) {
    const unsigned signs = (t + r * kThreads) * 2654435761u >> 20;
    v.x *= signs & 1 ? shrink : -shrink;
    v.y *= signs & 2 ? shrink : -shrink;
    v.z *= signs & 4 ? shrink : -shrink;
    v.w *= signs & 8 ? shrink : -shrink;
    const float a = v.x + v.y, b = v.x - v.y, c = v.z + v.w, d = v.z - v.w;
    v = make_float4(a + c, b + d, a - c, b - d);
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const float own = t & far ? -1.0f : 1.0f;
      v.x = own * v.x + __shfl_xor_sync(0xffffffffu, v.x, far);
      v.y = own * v.y + __shfl_xor_sync(0xffffffffu, v.y, far);
      v.z = own * v.z + __shfl_xor_sync(0xffffffffu, v.z, far);
      v.w = own * v.w + __shfl_xor_sync(0xffffffffu, v.w, far);
    }
#pragma unroll
    for (int far = 32; far < kThreads; far *= 2) {
      tile[t] = v;
      __syncthreads();
      const float4 other = tile[t ^ far];
      __syncthreads();
      const float own = t & far ? -1.0f : 1.0f;
      v = make_float4(own * v.x + other.x, own * v.y + other.y, own * v.z + other.z, own * v.w + other.w);
    }
  }
  out[blockIdx.x * kThreads + t] = make_float4(__cosf(v.x), __cosf(v.y), __cosf(v.z), __cosf(v.w));
}

void run(int n) {
  const int count = n * 4096, bodies = n * 64, vectors = n * 1024, layers = 8;
  Polynomial p;
  for (int k = 0; k < 16; ++k) p.c[k] = 1.0f / ((k + 2) * (k + 2));
  float* in = device_floats(count);
  float* out = device_zeros<float>(count);
  int* inside = device_zeros<int>(264 * 1024);
  float* moments = device_zeros<float>(264 * 1024);
  double2* starts =
      device_array<double2>(bodies, [](int i) { return make_double2(1 + (i % 1000) / 1000.0, 0); });
  double2* ends = device_zeros<double2>(bodies);
  double* energies = device_zeros<double>(bodies);
  int4* bytes = device_array<int4>(vectors, [](int i) {
    const unsigned v = static_cast<unsigned>(i) * 2654435761u;
    return make_int4(v, v ^ v >> 9, v ^ v >> 5, v ^ v << 7);
  });
  int4* weights = device_array<int4>(16 * layers, [](int i) {
    const unsigned v = (static_cast<unsigned>(i) + 1) * 2654435761u;
    return make_int4(v & 0x0f0f0f0f, v >> 1 & 0x0f0f0f0f, v >> 2 & 0x0f0f0f0f, v >> 3 & 0x0f0f0f0f);
  });
  int4* neurons = device_zeros<int4>(vectors);
  for (int r = 0; r < kLaunches; ++r) horner<1><<<ceil_div(count, 256), 256>>>(in, out, p, 16, count);
  for (int r = 0; r < kLaunches; ++r) horner<8><<<ceil_div(count, 8 * 128), 128>>>(in, out, p, 16, count);
  for (int r = 0; r < kLaunches; ++r) random_points<2><<<132, 64>>>(inside, moments, n);
  for (int r = 0; r < kLaunches; ++r) random_points<8><<<264, 256>>>(inside, moments, n);
  for (int r = 0; r < kLaunches; ++r) random_points<32><<<264, 1024>>>(inside, moments, n);
  for (int r = 0; r < kLaunches; ++r)
    mixed_orbits<<<ceil_div(bodies, 64), 64>>>(starts, ends, energies, 0.01f, 32 + n / 16, bodies);
  for (int r = 0; r < kLaunches; ++r)
    special_functions<false><<<ceil_div(count, 256), 256>>>(in, out, 8, count);
  for (int r = 0; r < kLaunches; ++r)
    special_functions<true><<<ceil_div(count, 512), 512>>>(in, out, 8, count);
  for (int r = 0; r < kLaunches; ++r)
    byte_layers<<<ceil_div(vectors, 192), 192, 16 * layers * sizeof(int4)>>>(bytes, weights, neurons, layers,
                                                                             vectors);
  for (int r = 0; r < kLaunches; ++r)
    hadamard_features<64><<<count / (4 * 64), 64>>>((float4*)in, (float4*)out, 8);
  for (int r = 0; r < kLaunches; ++r)
    hadamard_features<512><<<count / (4 * 512), 512>>>((float4*)in, (float4*)out, 8);
  free_all(in, out, inside, moments, starts, ends, energies, bytes, weights, neurons);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("arithmetic_mixes");
}
