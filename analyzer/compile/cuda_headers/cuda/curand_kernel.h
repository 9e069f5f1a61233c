// Random numbers in device code: the generators and distributions of CUDA's curand_kernel.h. A step of XORWOW and of Philox is
// the published algorithm. Starting a state mixes seed, sequence and offset instead of skipping ahead by 2^67 steps for each
// sequence, which nvcc's does with tables: curand_init costs less here, and gives other numbers.
#pragma once
#pragma clang system_header

#include "cuda_runtime.h"
#include "warptime/math_double.h"
#include "warptime/math_float.h"

#define CURAND_VERSION 10300
#define CURAND_2POW32_INV (2.3283064e-10f)

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

struct curandStateSobol32 { unsigned int i, x, c, direction_vectors[32]; };
typedef curandStateSobol32 curandStateSobol32_t;

__WT_DEVICE unsigned long long __wt_mix(unsigned long long v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return v ^ (v >> 31);
}

__WT_DEVICE unsigned curand(curandStateXORWOW* state) {
  const unsigned t = state->v[0] ^ (state->v[0] >> 2);
  state->v[0] = state->v[1];
  state->v[1] = state->v[2];
  state->v[2] = state->v[3];
  state->v[3] = state->v[4];
  state->v[4] = (state->v[4] ^ (state->v[4] << 4)) ^ (t ^ (t << 1));
  state->d += 362437;
  return state->v[4] + state->d;
}
__WT_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                             curandStateXORWOW* state) {
  const unsigned long long a = __wt_mix(seed + sequence * 0x9e3779b97f4a7c15ull), b = __wt_mix(a + offset);
  state->d = 6615241u + static_cast<unsigned>(b);
  state->v[0] = 123456789u ^ static_cast<unsigned>(a);
  state->v[1] = 362436069u + static_cast<unsigned>(a >> 32);
  state->v[2] = 521288629u ^ static_cast<unsigned>(a);
  state->v[3] = 88675123u + static_cast<unsigned>(b >> 32);
  state->v[4] = 5783321u + static_cast<unsigned>(b);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
}

__WT_DEVICE uint4 __wt_philox(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xd2511f53u * c.x, high0 = __umulhi(0xd2511f53u, c.x);
    const unsigned low1 = 0xcd9e8d57u * c.z, high1 = __umulhi(0xcd9e8d57u, c.z);
    c = uint4{high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0};
    k.x += 0x9e3779b9u;
    k.y += 0xbb67ae85u;
  }
  return c;
}
__WT_DEVICE void __wt_advance(curandStatePhilox4_32_10* state) {
  if (++state->ctr.x == 0 && ++state->ctr.y == 0 && ++state->ctr.z == 0) ++state->ctr.w;
}
__WT_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                             curandStatePhilox4_32_10* state) {
  state->key = uint2{static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  state->ctr = uint4{static_cast<unsigned>(offset / 4), static_cast<unsigned>((offset / 4) >> 32),
                     static_cast<unsigned>(sequence), static_cast<unsigned>(sequence >> 32)};
  state->STATE = static_cast<unsigned>(offset & 3);
  state->output = __wt_philox(state->ctr, state->key);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
}
__WT_DEVICE unsigned curand(curandStatePhilox4_32_10* state) {
  const unsigned at = state->STATE++;
  const unsigned r = at == 0 ? state->output.x : at == 1 ? state->output.y : at == 2 ? state->output.z : state->output.w;
  if (state->STATE == 4) {
    __wt_advance(state);
    state->output = __wt_philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return r;
}
__WT_DEVICE uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 old = state->output;
  __wt_advance(state);
  state->output = __wt_philox(state->ctr, state->key);
  const uint4 now = state->output;
  switch (state->STATE) {
    case 0: return old;
    case 1: return uint4{old.y, old.z, old.w, now.x};
    case 2: return uint4{old.z, old.w, now.x, now.y};
    default: return uint4{old.w, now.x, now.y, now.z};
  }
}

__WT_DEVICE unsigned curand(curandStateMRG32k3a* state) {
  constexpr long long m1 = 4294967087ll, m2 = 4294944443ll;
  long long p1 = (1403580ll * state->s1[1] - 810728ll * state->s1[0]) % m1;
  if (p1 < 0) p1 += m1;
  state->s1[0] = state->s1[1];
  state->s1[1] = state->s1[2];
  state->s1[2] = static_cast<unsigned>(p1);
  long long p2 = (527612ll * state->s2[2] - 1370589ll * state->s2[0]) % m2;
  if (p2 < 0) p2 += m2;
  state->s2[0] = state->s2[1];
  state->s2[1] = state->s2[2];
  state->s2[2] = static_cast<unsigned>(p2);
  return static_cast<unsigned>(p1 > p2 ? p1 - p2 : p1 - p2 + m1);
}
__WT_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                             curandStateMRG32k3a* state) {
  const unsigned long long a = __wt_mix(seed + sequence * 0x9e3779b97f4a7c15ull), b = __wt_mix(a + offset);
  for (int i = 0; i < 3; ++i) {
    state->s1[i] = 12345u ^ static_cast<unsigned>(a >> i);
    state->s2[i] = 12345u ^ static_cast<unsigned>(b >> i);
  }
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
}
__WT_DEVICE unsigned curand(curandStateSobol32* state) {
  const unsigned r = state->x;
  state->x ^= state->direction_vectors[__ffs(static_cast<int>(~state->i)) - 1];
  ++state->i;
  return r;
}

__WT_DEVICE float __wt_uniform(unsigned v) { return v * CURAND_2POW32_INV + (CURAND_2POW32_INV / 2.0f); }
__WT_DEVICE double __wt_uniform_double(unsigned x, unsigned y) {
  const unsigned long long bits = x ^ static_cast<unsigned long long>(y) << 21;
  return static_cast<double>(bits) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
// Box and Muller: two uniform numbers make two normal ones.
__WT_DEVICE float2 __wt_normal2(unsigned x, unsigned y) {
  const float u = __wt_uniform(x), v = y * 1.4629180792671596e-9f + 7.3145903963357981e-10f;
  const float s = __builtin_sqrtf(-2.0f * logf(u));
  float2 r;
  __sincosf(v, &r.x, &r.y);
  r.x *= s;
  r.y *= s;
  return r;
}
__WT_DEVICE double2 __wt_normal2_double(double u, double v) {
  const double s = __builtin_sqrt(-2.0 * log(u));
  double2 r;
  sincospi(v * 2.0, &r.x, &r.y);
  r.x *= s;
  r.y *= s;
  return r;
}

template <class State> __WT_DEVICE float curand_uniform(State* state) { return __wt_uniform(curand(state)); }
template <class State> __WT_DEVICE double curand_uniform_double(State* state) {
  const unsigned x = curand(state);
  return __wt_uniform_double(x, curand(state));
}
template <class State> __WT_DEVICE float2 curand_normal2(State* state) {
  const unsigned x = curand(state);
  return __wt_normal2(x, curand(state));
}
template <class State> __WT_DEVICE float curand_normal(State* state) {
  if (state->boxmuller_flag != 0) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 r = curand_normal2(state);
  state->boxmuller_extra = r.y;
  state->boxmuller_flag = 1;
  return r.x;
}
template <class State> __WT_DEVICE double2 curand_normal2_double(State* state) {
  const double u = curand_uniform_double(state);
  return __wt_normal2_double(u, curand_uniform_double(state));
}
template <class State> __WT_DEVICE double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double != 0) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 r = curand_normal2_double(state);
  state->boxmuller_extra_double = r.y;
  state->boxmuller_flag_double = 1;
  return r.x;
}
template <class State> __WT_DEVICE float curand_log_normal(State* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <class State> __WT_DEVICE double curand_log_normal_double(State* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}
// By counting: products of uniform numbers until they fall below e^-lambda.
template <class State> __WT_DEVICE unsigned curand_poisson(State* state, double lambda) {
  const double limit = exp(-lambda);
  double product = curand_uniform_double(state);
  unsigned k = 0;
  for (; product > limit; ++k) product *= curand_uniform_double(state);
  return k;
}
__WT_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 v = curand4(state);
  return float4{__wt_uniform(v.x), __wt_uniform(v.y), __wt_uniform(v.z), __wt_uniform(v.w)};
}
__WT_DEVICE float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const uint4 v = curand4(state);
  const float2 a = __wt_normal2(v.x, v.y), b = __wt_normal2(v.z, v.w);
  return float4{a.x, a.y, b.x, b.y};
}
__WT_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 v = curand4(state);
  return double2{__wt_uniform_double(v.x, v.y), __wt_uniform_double(v.z, v.w)};
}
template <class State> __WT_DEVICE void skipahead(unsigned long long steps, State* state) {
  for (unsigned long long i = 0; i < steps; ++i) curand(state);
}
