// Every function of warptime's own CUDA headers once, so that ptxas can say whether the PTX is good.
__global__ void math_float(float* f, const float* g, int* i, long long* l) {
  *f++ = sinf(*g);
  *f++ = cosf(*g);
  *f++ = tanf(*g);
  *f++ = asinf(*g);
  *f++ = acosf(*g);
  *f++ = atanf(*g);
  *f++ = sinhf(*g);
  *f++ = coshf(*g);
  *f++ = tanhf(*g);
  *f++ = asinhf(*g);
  *f++ = acoshf(*g);
  *f++ = atanhf(*g);
  *f++ = expf(*g);
  *f++ = exp2f(*g);
  *f++ = exp10f(*g);
  *f++ = expm1f(*g);
  *f++ = logf(*g);
  *f++ = log2f(*g);
  *f++ = log10f(*g);
  *f++ = log1pf(*g);
  *f++ = sqrtf(*g);
  *f++ = rsqrtf(*g);
  *f++ = cbrtf(*g);
  *f++ = rcbrtf(*g);
  *f++ = erff(*g);
  *f++ = erfcf(*g);
  *f++ = lgammaf(*g);
  *f++ = tgammaf(*g);
  *f++ = fabsf(*g);
  *f++ = floorf(*g);
  *f++ = ceilf(*g);
  *f++ = truncf(*g);
  *f++ = roundf(*g);
  *f++ = rintf(*g);
  *f++ = nearbyintf(*g);
  *f++ = sinpif(*g);
  *f++ = cospif(*g);
  *f++ = normcdff(*g);
  *f++ = sin(*g);
  *f++ = cos(*g);
  *f++ = tan(*g);
  *f++ = asin(*g);
  *f++ = acos(*g);
  *f++ = atan(*g);
  *f++ = sinh(*g);
  *f++ = cosh(*g);
  *f++ = tanh(*g);
  *f++ = asinh(*g);
  *f++ = acosh(*g);
  *f++ = atanh(*g);
  *f++ = exp(*g);
  *f++ = exp2(*g);
  *f++ = exp10(*g);
  *f++ = expm1(*g);
  *f++ = log(*g);
  *f++ = log2(*g);
  *f++ = log10(*g);
  *f++ = log1p(*g);
  *f++ = sqrt(*g);
  *f++ = rsqrt(*g);
  *f++ = cbrt(*g);
  *f++ = rcbrt(*g);
  *f++ = erf(*g);
  *f++ = erfc(*g);
  *f++ = lgamma(*g);
  *f++ = tgamma(*g);
  *f++ = fabs(*g);
  *f++ = floor(*g);
  *f++ = ceil(*g);
  *f++ = trunc(*g);
  *f++ = round(*g);
  *f++ = rint(*g);
  *f++ = nearbyint(*g);
  *f++ = sinpi(*g);
  *f++ = cospi(*g);
  *f++ = normcdf(*g);
  *f++ = atan2f(*g, g[1]);
  *f++ = fmodf(*g, g[1]);
  *f++ = remainderf(*g, g[1]);
  *f++ = hypotf(*g, g[1]);
  *f++ = rhypotf(*g, g[1]);
  *f++ = nextafterf(*g, g[1]);
  *f++ = powf(*g, g[1]);
  *f++ = fminf(*g, g[1]);
  *f++ = fmaxf(*g, g[1]);
  *f++ = fdimf(*g, g[1]);
  *f++ = copysignf(*g, g[1]);
  *f++ = atan2(*g, g[1]);
  *f++ = fmod(*g, g[1]);
  *f++ = remainder(*g, g[1]);
  *f++ = hypot(*g, g[1]);
  *f++ = rhypot(*g, g[1]);
  *f++ = nextafter(*g, g[1]);
  *f++ = pow(*g, g[1]);
  *f++ = fmin(*g, g[1]);
  *f++ = fmax(*g, g[1]);
  *f++ = fdim(*g, g[1]);
  *f++ = copysign(*g, g[1]);
  *f++ = powf(*g, 3);
  *f++ = pow(*g, 3);
  *f++ = fmaf(*g, g[1], g[2]);
  *f++ = fma(*g, g[1], g[2]);
  *f++ = fdividef(*g, g[1]);
  sincosf(*g, f, f + 1);
  sincos(*g, f + 2, f + 3);
  sincospif(*g, f + 4, f + 5);
  f += 6;
  *f++ = norm3df(*g, g[1], g[2]);
  *f++ = norm4df(*g, g[1], g[2], g[3]);
  *f++ = rnorm3df(*g, g[1], g[2]);
  *f++ = frexpf(*g, i);
  *f++ = frexp(*g, i);
  *f++ = ldexpf(*g, *i);
  *f++ = ldexp(*g, *i);
  *f++ = scalbnf(*g, *i);
  *f++ = modff(*g, f + 1);
  *f++ = modf(*g, f + 1);
  *f++ = logbf(*g);
  *i++ = ilogbf(*g);
  *l++ = lrintf(*g);
  *l++ = llrintf(*g);
  *l++ = lroundf(*g);
  *l++ = llroundf(*g);
  *i++ = isnan(*g) + isinf(*g) + isfinite(*g) + signbit(*g);
  *i++ = __isnanf(*g) + __isinff(*g) + __finitef(*g) + __signbitf(*g);
  *f++ = nanf("");
  *f++ = abs(*g);
  *f++ = min(*g, g[1]);
  *f++ = max(*g, g[1]);
}

__global__ void math_double(double* f, const double* g, int* i, long long* l) {
  *f++ = sin(*g);
  *f++ = cos(*g);
  *f++ = tan(*g);
  *f++ = asin(*g);
  *f++ = acos(*g);
  *f++ = atan(*g);
  *f++ = sinh(*g);
  *f++ = cosh(*g);
  *f++ = tanh(*g);
  *f++ = asinh(*g);
  *f++ = acosh(*g);
  *f++ = atanh(*g);
  *f++ = exp(*g);
  *f++ = exp2(*g);
  *f++ = exp10(*g);
  *f++ = expm1(*g);
  *f++ = log(*g);
  *f++ = log2(*g);
  *f++ = log10(*g);
  *f++ = log1p(*g);
  *f++ = sqrt(*g);
  *f++ = rsqrt(*g);
  *f++ = cbrt(*g);
  *f++ = rcbrt(*g);
  *f++ = erf(*g);
  *f++ = erfc(*g);
  *f++ = lgamma(*g);
  *f++ = tgamma(*g);
  *f++ = fabs(*g);
  *f++ = floor(*g);
  *f++ = ceil(*g);
  *f++ = trunc(*g);
  *f++ = round(*g);
  *f++ = rint(*g);
  *f++ = nearbyint(*g);
  *f++ = sinpi(*g);
  *f++ = cospi(*g);
  *f++ = normcdf(*g);
  *f++ = atan2(*g, g[1]);
  *f++ = fmod(*g, g[1]);
  *f++ = remainder(*g, g[1]);
  *f++ = hypot(*g, g[1]);
  *f++ = rhypot(*g, g[1]);
  *f++ = nextafter(*g, g[1]);
  *f++ = pow(*g, g[1]);
  *f++ = fmin(*g, g[1]);
  *f++ = fmax(*g, g[1]);
  *f++ = fdim(*g, g[1]);
  *f++ = copysign(*g, g[1]);
  *f++ = sin(*i);
  *f++ = sqrt(*i);
  *f++ = pow(*g, 3);
  *f++ = pow(*i, 3);
  *f++ = pow(*i, *g);
  *f++ = pow(*g, 0.5f);
  *f++ = fmax(1.0f, *g);
  *f++ = fma(*g, g[1], g[2]);
  sincos(*g, f, f + 1);
  sincospi(*g, f + 2, f + 3);
  f += 4;
  *f++ = norm3d(*g, g[1], g[2]);
  *f++ = norm4d(*g, g[1], g[2], g[3]);
  *f++ = rnorm3d(*g, g[1], g[2]);
  *f++ = frexp(*g, i);
  *f++ = ldexp(*g, *i);
  *f++ = scalbn(*g, *i);
  *f++ = modf(*g, f + 1);
  *f++ = logb(*g);
  *i++ = ilogb(*g);
  *l++ = lrint(*g);
  *l++ = llrint(*g);
  *l++ = lround(*g);
  *l++ = llround(*g);
  *i++ = isnan(*g) + isinf(*g) + isfinite(*g) + signbit(*g);
  *i++ = __isnan(*g) + __isinf(*g) + __finite(*g) + __signbitd(*g);
  *f++ = nan("");
  *f++ = abs(*g);
  *f++ = min(*g, g[1]);
  *f++ = max(*g, g[1]);
  *f++ = max(1.0f, *g);
}

__global__ void integers(int* i, unsigned* u, long long* l, unsigned long long* m) {
  i[0] = min(i[1], i[2]);
  i[0] += max(i[1], i[2]);
  u[0] = min(u[1], u[2]);
  u[0] += max(u[1], u[2]);
  l[0] = min(l[1], l[2]);
  l[0] += max(l[1], l[2]);
  m[0] = min(m[1], m[2]);
  m[0] += max(m[1], m[2]);
  u[1] = min(i[1], u[2]);
  u[1] += max(u[2], i[1]);
  i[1] = abs(i[2]);
  l[1] = llabs(l[2]) + abs(l[3]);
  i[2] = __mul24(i[3], i[4]) + __mulhi(i[3], i[4]);
  u[2] = __umul24(u[3], u[4]) + __umulhi(u[3], u[4]);
  l[2] = __mul64hi(l[3], l[4]);
  m[2] = __umul64hi(m[3], m[4]);
  i[3] = __popc(u[1]) + __popcll(m[1]) + __clz(i[1]) + __clzll(l[1]) + __ffs(i[1]) + __ffsll(l[1]);
  u[3] = __brev(u[4]);
  m[3] = __brevll(m[4]);
  u[4] = __sad(i[1], i[2], u[3]) + __usad(u[1], u[2], u[3]);
  i[4] = __hadd(i[1], i[2]) + __rhadd(i[1], i[2]);
  u[5] = __uhadd(u[1], u[2]) + __urhadd(u[1], u[2]);
  u[6] = __byte_perm(u[1], u[2], 0x5410);
  u[7] = __funnelshift_l(u[1], u[2], u[3]) + __funnelshift_r(u[1], u[2], u[3]) + __funnelshift_lc(u[1], u[2], u[3]) + __funnelshift_rc(u[1], u[2], u[3]);
  i[5] = __dp4a(i[1], i[2], i[3]);
  u[8] = __dp4a(u[1], u[2], u[3]);
  m[5] = __cvta_generic_to_shared(i) + __cvta_generic_to_global(i);
  u[9] = __isShared(i) + __isGlobal(i) + __isLocal(i) + __isConstant(i);
}

__global__ void conversions(int* i, unsigned* u, long long* l, unsigned long long* m, float* f, double* d) {
  *i++ = __float2int_rn(*f);
  *f++ = __int2float_rn(*i);
  *i++ = __float2int_rz(*f);
  *f++ = __int2float_rz(*i);
  *i++ = __float2int_rd(*f);
  *f++ = __int2float_rd(*i);
  *i++ = __float2int_ru(*f);
  *f++ = __int2float_ru(*i);
  *i++ = __double2int_rn(*d);
  *i++ = __double2int_rz(*d);
  *i++ = __double2int_rd(*d);
  *i++ = __double2int_ru(*d);
  *d++ = __int2double_rn(*i);
  *u++ = __float2uint_rn(*f);
  *f++ = __uint2float_rn(*u);
  *u++ = __float2uint_rz(*f);
  *f++ = __uint2float_rz(*u);
  *u++ = __float2uint_rd(*f);
  *f++ = __uint2float_rd(*u);
  *u++ = __float2uint_ru(*f);
  *f++ = __uint2float_ru(*u);
  *u++ = __double2uint_rn(*d);
  *u++ = __double2uint_rz(*d);
  *u++ = __double2uint_rd(*d);
  *u++ = __double2uint_ru(*d);
  *d++ = __uint2double_rn(*u);
  *l++ = __float2ll_rn(*f);
  *f++ = __ll2float_rn(*l);
  *l++ = __float2ll_rz(*f);
  *f++ = __ll2float_rz(*l);
  *l++ = __float2ll_rd(*f);
  *f++ = __ll2float_rd(*l);
  *l++ = __float2ll_ru(*f);
  *f++ = __ll2float_ru(*l);
  *l++ = __double2ll_rn(*d);
  *d++ = __ll2double_rn(*l);
  *l++ = __double2ll_rz(*d);
  *d++ = __ll2double_rz(*l);
  *l++ = __double2ll_rd(*d);
  *d++ = __ll2double_rd(*l);
  *l++ = __double2ll_ru(*d);
  *d++ = __ll2double_ru(*l);
  *m++ = __float2ull_rn(*f);
  *f++ = __ull2float_rn(*m);
  *m++ = __float2ull_rz(*f);
  *f++ = __ull2float_rz(*m);
  *m++ = __float2ull_rd(*f);
  *f++ = __ull2float_rd(*m);
  *m++ = __float2ull_ru(*f);
  *f++ = __ull2float_ru(*m);
  *m++ = __double2ull_rn(*d);
  *d++ = __ull2double_rn(*m);
  *m++ = __double2ull_rz(*d);
  *d++ = __ull2double_rz(*m);
  *m++ = __double2ull_rd(*d);
  *d++ = __ull2double_rd(*m);
  *m++ = __double2ull_ru(*d);
  *d++ = __ull2double_ru(*m);
  *f++ = __double2float_rn(*d);
  *f++ = __fadd_rn(*f, f[1]) + __fsub_rn(*f, f[1]) + __fmul_rn(*f, f[1]) + __fmaf_rn(*f, f[1], f[2]) + __fdiv_rn(*f, f[1]) + __frcp_rn(*f) + __fsqrt_rn(*f);
  *d++ = __dadd_rn(*d, d[1]) + __dsub_rn(*d, d[1]) + __dmul_rn(*d, d[1]) + __fma_rn(*d, d[1], d[2]) + __ddiv_rn(*d, d[1]) + __drcp_rn(*d) + __dsqrt_rn(*d);
  *f++ = __double2float_rz(*d);
  *f++ = __fadd_rz(*f, f[1]) + __fsub_rz(*f, f[1]) + __fmul_rz(*f, f[1]) + __fmaf_rz(*f, f[1], f[2]) + __fdiv_rz(*f, f[1]) + __frcp_rz(*f) + __fsqrt_rz(*f);
  *d++ = __dadd_rz(*d, d[1]) + __dsub_rz(*d, d[1]) + __dmul_rz(*d, d[1]) + __fma_rz(*d, d[1], d[2]) + __ddiv_rz(*d, d[1]) + __drcp_rz(*d) + __dsqrt_rz(*d);
  *f++ = __double2float_rd(*d);
  *f++ = __fadd_rd(*f, f[1]) + __fsub_rd(*f, f[1]) + __fmul_rd(*f, f[1]) + __fmaf_rd(*f, f[1], f[2]) + __fdiv_rd(*f, f[1]) + __frcp_rd(*f) + __fsqrt_rd(*f);
  *d++ = __dadd_rd(*d, d[1]) + __dsub_rd(*d, d[1]) + __dmul_rd(*d, d[1]) + __fma_rd(*d, d[1], d[2]) + __ddiv_rd(*d, d[1]) + __drcp_rd(*d) + __dsqrt_rd(*d);
  *f++ = __double2float_ru(*d);
  *f++ = __fadd_ru(*f, f[1]) + __fsub_ru(*f, f[1]) + __fmul_ru(*f, f[1]) + __fmaf_ru(*f, f[1], f[2]) + __fdiv_ru(*f, f[1]) + __frcp_ru(*f) + __fsqrt_ru(*f);
  *d++ = __dadd_ru(*d, d[1]) + __dsub_ru(*d, d[1]) + __dmul_ru(*d, d[1]) + __fma_ru(*d, d[1], d[2]) + __ddiv_ru(*d, d[1]) + __drcp_ru(*d) + __dsqrt_ru(*d);
  *f++ = __fdividef(*f, f[1]) + __frsqrt_rn(*f) + __sinf(*f) + __cosf(*f) + __tanf(*f) + __expf(*f) + __exp10f(*f);
  *f++ = __log2f(*f) + __logf(*f) + __log10f(*f) + __powf(*f, f[1]) + __saturatef(*f);
  __sincosf(*f, f + 1, f + 2);
  *i++ = __float_as_int(*f) + __double2hiint(*d) + __double2loint(*d);
  *u++ = __float_as_uint(*f);
  *f++ = __int_as_float(*i) + __uint_as_float(*u);
  *l++ = __double_as_longlong(*d);
  *d++ = __longlong_as_double(*l) + __hiloint2double(*i, i[1]);
}

template <class T>
__global__ void read_only_load(T* to, const T* from) {
  *to = __ldg(from);
}
template __global__ void read_only_load<char>(char*, const char*);
template __global__ void read_only_load<signed char>(signed char*, const signed char*);
template __global__ void read_only_load<unsigned char>(unsigned char*, const unsigned char*);
template __global__ void read_only_load<short>(short*, const short*);
template __global__ void read_only_load<unsigned short>(unsigned short*, const unsigned short*);
template __global__ void read_only_load<int>(int*, const int*);
template __global__ void read_only_load<unsigned>(unsigned*, const unsigned*);
template __global__ void read_only_load<long>(long*, const long*);
template __global__ void read_only_load<unsigned long>(unsigned long*, const unsigned long*);
template __global__ void read_only_load<long long>(long long*, const long long*);
template __global__ void read_only_load<unsigned long long>(unsigned long long*, const unsigned long long*);
template __global__ void read_only_load<float>(float*, const float*);
template __global__ void read_only_load<double>(double*, const double*);
template __global__ void read_only_load<char2>(char2*, const char2*);
template __global__ void read_only_load<char4>(char4*, const char4*);
template __global__ void read_only_load<uchar2>(uchar2*, const uchar2*);
template __global__ void read_only_load<uchar4>(uchar4*, const uchar4*);
template __global__ void read_only_load<short2>(short2*, const short2*);
template __global__ void read_only_load<short4>(short4*, const short4*);
template __global__ void read_only_load<ushort2>(ushort2*, const ushort2*);
template __global__ void read_only_load<ushort4>(ushort4*, const ushort4*);
template __global__ void read_only_load<int2>(int2*, const int2*);
template __global__ void read_only_load<int4>(int4*, const int4*);
template __global__ void read_only_load<uint2>(uint2*, const uint2*);
template __global__ void read_only_load<uint4>(uint4*, const uint4*);
template __global__ void read_only_load<longlong2>(longlong2*, const longlong2*);
template __global__ void read_only_load<ulonglong2>(ulonglong2*, const ulonglong2*);
template __global__ void read_only_load<float2>(float2*, const float2*);
template __global__ void read_only_load<float4>(float4*, const float4*);
template __global__ void read_only_load<double2>(double2*, const double2*);

template <class T>
__global__ void cache_hints(T* to, const T* from) {
  __stwb(to, __ldca(from));
  __stcg(to + 1, __ldcg(from + 1));
  __stcs(to + 2, __ldcs(from + 2));
  __stwt(to + 3, __ldcv(from + 3));
}
template __global__ void cache_hints<int>(int*, const int*);
template __global__ void cache_hints<unsigned>(unsigned*, const unsigned*);
template __global__ void cache_hints<long long>(long long*, const long long*);
template __global__ void cache_hints<unsigned long long>(unsigned long long*, const unsigned long long*);
template __global__ void cache_hints<float>(float*, const float*);
template __global__ void cache_hints<double>(double*, const double*);

template <class T>
__global__ void shuffles(T* v, int lane) {
  v[0] = __shfl_sync(0xffffffffu, v[1], lane) + __shfl_sync(0xffffffffu, v[1], lane, 16);
  v[2] = __shfl_up_sync(0xffffffffu, v[1], 1) + __shfl_down_sync(0xffffffffu, v[1], 2) + __shfl_xor_sync(0xffffffffu, v[1], 4);
}
template __global__ void shuffles<int>(int*, int);
template __global__ void shuffles<unsigned>(unsigned*, int);
template __global__ void shuffles<long>(long*, int);
template __global__ void shuffles<unsigned long>(unsigned long*, int);
template __global__ void shuffles<long long>(long long*, int);
template __global__ void shuffles<unsigned long long>(unsigned long long*, int);
template __global__ void shuffles<float>(float*, int);
template __global__ void shuffles<double>(double*, int);

__global__ void warps(int* i, unsigned* u, long long* l) {
  __syncthreads();
  i[0] = __syncthreads_count(i[1]) + __syncthreads_and(i[1]) + __syncthreads_or(i[1]);
  __syncwarp();
  __syncwarp(0xffu);
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  i[1] = __all_sync(~0u, i[2]) + __any_sync(~0u, i[2]) + __uni_sync(~0u, i[2]);
  u[0] = __ballot_sync(~0u, i[2]) + __activemask();
  i[3] = clock();
  l[0] = clock64();
  l[1] = globaltimer();
  if (i[4] == warpSize) __trap();
  __prof_trigger(0);
}

#if __CUDA_ARCH__ >= 700
__global__ void matches(int* i, unsigned* u, long long* l, unsigned long long* m, float* f) {
  u[0] = __match_any_sync(~0u, i[0]) + __match_any_sync(~0u, u[0]) + __match_any_sync(~0u, l[0]) + __match_any_sync(~0u, m[0]) + __match_any_sync(~0u, f[0]);
  u[1] = __match_all_sync(~0u, i[0], i) + __match_all_sync(~0u, u[0], i) + __match_all_sync(~0u, l[0], i) + __match_all_sync(~0u, m[0], i);
  __nanosleep(100);
}

#endif
#if __CUDA_ARCH__ >= 800
__global__ void reductions(int* i, unsigned* u) {
  i[0] = __reduce_add_sync(~0u, i[1]) + __reduce_min_sync(~0u, i[1]) + __reduce_max_sync(~0u, i[1]);
  u[0] = __reduce_add_sync(~0u, u[1]) + __reduce_min_sync(~0u, u[1]) + __reduce_max_sync(~0u, u[1]);
  u[1] = __reduce_and_sync(~0u, u[1]) + __reduce_or_sync(~0u, u[1]) + __reduce_xor_sync(~0u, u[1]);
}

#endif
__global__ void atomics(int* i, unsigned* u, long long* l, unsigned long long* m, float* f, double* d) {
  i[0] = atomicAdd(i, 1) + atomicSub(i, 1) + atomicExch(i, 1) + atomicMin(i, 1) + atomicMax(i, 1) + atomicAnd(i, 1) + atomicOr(i, 1) + atomicXor(i, 1) + atomicCAS(i, 1, 2);
  u[0] = atomicAdd(u, 1u) + atomicSub(u, 1u) + atomicExch(u, 1u) + atomicMin(u, 1u) + atomicMax(u, 1u) + atomicAnd(u, 1u) + atomicOr(u, 1u) + atomicXor(u, 1u) + atomicCAS(u, 1u, 2u) + atomicInc(u, 7u) + atomicDec(u, 7u);
  l[0] = atomicMin(l, 1ll) + atomicMax(l, 1ll);
  m[0] = atomicAdd(m, 1ull) + atomicExch(m, 1ull) + atomicMin(m, 1ull) + atomicMax(m, 1ull) + atomicAnd(m, 1ull) + atomicOr(m, 1ull) + atomicXor(m, 1ull) + atomicCAS(m, 1ull, 2ull);
  f[0] = atomicAdd(f, 1.0f) + atomicExch(f, 1.0f);
}

#if __CUDA_ARCH__ >= 600
__global__ void atomics_double(double* d) {
  d[0] = atomicAdd(d, 1.0);
}

__global__ void atomics_block(int* i, unsigned* u, long long* l, unsigned long long* m, float* f, double* d) {
  i[0] = atomicAdd_block(i, 1) + atomicSub_block(i, 1) + atomicExch_block(i, 1) + atomicMin_block(i, 1) + atomicMax_block(i, 1) + atomicAnd_block(i, 1) + atomicOr_block(i, 1) + atomicXor_block(i, 1) + atomicCAS_block(i, 1, 2);
  u[0] = atomicAdd_block(u, 1u) + atomicSub_block(u, 1u) + atomicExch_block(u, 1u) + atomicMin_block(u, 1u) + atomicMax_block(u, 1u) + atomicAnd_block(u, 1u) + atomicOr_block(u, 1u) + atomicXor_block(u, 1u) + atomicCAS_block(u, 1u, 2u) + atomicInc_block(u, 7u) + atomicDec_block(u, 7u);
  l[0] = atomicMin_block(l, 1ll) + atomicMax_block(l, 1ll);
  m[0] = atomicAdd_block(m, 1ull) + atomicExch_block(m, 1ull) + atomicMin_block(m, 1ull) + atomicMax_block(m, 1ull) + atomicAnd_block(m, 1ull) + atomicOr_block(m, 1ull) + atomicXor_block(m, 1ull) + atomicCAS_block(m, 1ull, 2ull);
  f[0] = atomicAdd_block(f, 1.0f) + atomicExch_block(f, 1.0f);
  d[0] = atomicAdd_block(d, 1.0);
}

__global__ void atomics_system(int* i, unsigned* u, long long* l, unsigned long long* m, float* f, double* d) {
  i[0] = atomicAdd_system(i, 1) + atomicSub_system(i, 1) + atomicExch_system(i, 1) + atomicMin_system(i, 1) + atomicMax_system(i, 1) + atomicAnd_system(i, 1) + atomicOr_system(i, 1) + atomicXor_system(i, 1) + atomicCAS_system(i, 1, 2);
  u[0] = atomicAdd_system(u, 1u) + atomicSub_system(u, 1u) + atomicExch_system(u, 1u) + atomicMin_system(u, 1u) + atomicMax_system(u, 1u) + atomicAnd_system(u, 1u) + atomicOr_system(u, 1u) + atomicXor_system(u, 1u) + atomicCAS_system(u, 1u, 2u) + atomicInc_system(u, 7u) + atomicDec_system(u, 7u);
  l[0] = atomicMin_system(l, 1ll) + atomicMax_system(l, 1ll);
  m[0] = atomicAdd_system(m, 1ull) + atomicExch_system(m, 1ull) + atomicMin_system(m, 1ull) + atomicMax_system(m, 1ull) + atomicAnd_system(m, 1ull) + atomicOr_system(m, 1ull) + atomicXor_system(m, 1ull) + atomicCAS_system(m, 1ull, 2ull);
  f[0] = atomicAdd_system(f, 1.0f) + atomicExch_system(f, 1.0f);
  d[0] = atomicAdd_system(d, 1.0);
}

#endif

__global__ void vectors_char(char1* a, char2* b, char3* c, char4* d) {
  a[1] = make_char1(d[0].x);
  b[1] = make_char2(a[0].x, a[1].x);
  c[1] = make_char3(b[0].x, b[0].y, a[0].x);
  d[1] = make_char4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_uchar(uchar1* a, uchar2* b, uchar3* c, uchar4* d) {
  a[1] = make_uchar1(d[0].x);
  b[1] = make_uchar2(a[0].x, a[1].x);
  c[1] = make_uchar3(b[0].x, b[0].y, a[0].x);
  d[1] = make_uchar4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_short(short1* a, short2* b, short3* c, short4* d) {
  a[1] = make_short1(d[0].x);
  b[1] = make_short2(a[0].x, a[1].x);
  c[1] = make_short3(b[0].x, b[0].y, a[0].x);
  d[1] = make_short4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_ushort(ushort1* a, ushort2* b, ushort3* c, ushort4* d) {
  a[1] = make_ushort1(d[0].x);
  b[1] = make_ushort2(a[0].x, a[1].x);
  c[1] = make_ushort3(b[0].x, b[0].y, a[0].x);
  d[1] = make_ushort4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_int(int1* a, int2* b, int3* c, int4* d) {
  a[1] = make_int1(d[0].x);
  b[1] = make_int2(a[0].x, a[1].x);
  c[1] = make_int3(b[0].x, b[0].y, a[0].x);
  d[1] = make_int4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_uint(uint1* a, uint2* b, uint3* c, uint4* d) {
  a[1] = make_uint1(d[0].x);
  b[1] = make_uint2(a[0].x, a[1].x);
  c[1] = make_uint3(b[0].x, b[0].y, a[0].x);
  d[1] = make_uint4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_long(long1* a, long2* b, long3* c, long4* d) {
  a[1] = make_long1(d[0].x);
  b[1] = make_long2(a[0].x, a[1].x);
  c[1] = make_long3(b[0].x, b[0].y, a[0].x);
  d[1] = make_long4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_ulong(ulong1* a, ulong2* b, ulong3* c, ulong4* d) {
  a[1] = make_ulong1(d[0].x);
  b[1] = make_ulong2(a[0].x, a[1].x);
  c[1] = make_ulong3(b[0].x, b[0].y, a[0].x);
  d[1] = make_ulong4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_longlong(longlong1* a, longlong2* b, longlong3* c, longlong4* d) {
  a[1] = make_longlong1(d[0].x);
  b[1] = make_longlong2(a[0].x, a[1].x);
  c[1] = make_longlong3(b[0].x, b[0].y, a[0].x);
  d[1] = make_longlong4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_ulonglong(ulonglong1* a, ulonglong2* b, ulonglong3* c, ulonglong4* d) {
  a[1] = make_ulonglong1(d[0].x);
  b[1] = make_ulonglong2(a[0].x, a[1].x);
  c[1] = make_ulonglong3(b[0].x, b[0].y, a[0].x);
  d[1] = make_ulonglong4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_float(float1* a, float2* b, float3* c, float4* d) {
  a[1] = make_float1(d[0].x);
  b[1] = make_float2(a[0].x, a[1].x);
  c[1] = make_float3(b[0].x, b[0].y, a[0].x);
  d[1] = make_float4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void vectors_double(double1* a, double2* b, double3* c, double4* d) {
  a[1] = make_double1(d[0].x);
  b[1] = make_double2(a[0].x, a[1].x);
  c[1] = make_double3(b[0].x, b[0].y, a[0].x);
  d[1] = make_double4(c[0].x, c[0].y, c[0].z, b[0].y);
}

__global__ void language(float* f) {
  __shared__ float tile[32];
  const dim3 size = blockDim;
  const uint3 here = threadIdx;
  tile[here.x] = f[blockIdx.x * size.x + gridDim.y + blockIdx.z * threadIdx.z];
  __syncthreads();
  memcpy(f, tile, 16);
  memset(f + 4, 0, 16);
  float* more = static_cast<float*>(malloc(16));
  more[0] = f[1];
  printf("%d %f %p\n", here.x, f[0], more);
  free(more);
}

__global__ void more_math(float* f, const float* g, double* d, const double* e, int* i, unsigned* u, long long* l,
                          unsigned long long* m) {
  *f++ = erfinvf(*g) + erfcinvf(*g) + erfcxf(*g) + normcdfinvf(*g) + cyl_bessel_i0f(*g) + cyl_bessel_i1f(*g);
  *f++ = erfinv(*g) + erfcinv(*g) + erfcx(*g) + normcdfinv(*g) + cyl_bessel_i0(*g) + cyl_bessel_i1(*g);
  *f++ = rnorm4df(*g, g[1], g[2], g[3]) + remquof(*g, g[1], i) + scalblnf(*g, *l) + normf(4, g) + rnormf(4, g);
  *d++ = erfinv(*e) + erfcinv(*e) + erfcx(*e) + normcdfinv(*e) + cyl_bessel_i0(*e) + cyl_bessel_i1(*e);
  *d++ = rnorm4d(*e, e[1], e[2], e[3]) + remquo(*e, e[1], i) + scalbln(*e, *l) + norm(4, e) + rnorm(4, e);
  u[0] = umin(u[1], u[2]) + umax(u[1], u[2]) + __fns(u[1], u[2], i[1]) + __nv_bswap32(u[1]) + __nv_bswap16(7);
  l[0] = llmin(l[1], l[2]) + llmax(l[1], l[2]);
  m[0] = ullmin(m[1], m[2]) + ullmax(m[1], m[2]) + __nv_bswap64(m[3]);
}

__global__ void lanes(unsigned* u, int* i, bool* b) {
  const unsigned x = u[0], y = u[1], z = u[2];
  u[3] = __vadd2(x, y) + __vadd4(x, y) + __vsub2(x, y) + __vsub4(x, y) + __vneg2(x) + __vneg4(x);
  u[4] = __vaddss2(x, y) + __vaddss4(x, y) + __vaddus2(x, y) + __vaddus4(x, y) + __vnegss2(x) + __vnegss4(x);
  u[5] = __vsubss2(x, y) + __vsubss4(x, y) + __vsubus2(x, y) + __vsubus4(x, y) + __vabsss2(x) + __vabsss4(x);
  u[6] = __vmaxs2(x, y) + __vmaxs4(x, y) + __vmaxu2(x, y) + __vmaxu4(x, y) + __vmins2(x, y) + __vminu4(x, y);
  u[7] = __vabsdiffs2(x, y) + __vabsdiffs4(x, y) + __vabsdiffu2(x, y) + __vabsdiffu4(x, y) + __vabs2(x) + __vabs4(x);
  u[8] = __vsads2(x, y) + __vsads4(x, y) + __vsadu2(x, y) + __vsadu4(x, y) + __vavgs2(x, y) + __vavgs4(x, y);
  u[9] = __vavgu2(x, y) + __vavgu4(x, y) + __vhaddu2(x, y) + __vhaddu4(x, y);
  u[10] = __vcmpeq4(x, y) + __vcmpne2(x, y) + __vcmpgtu4(x, y) + __vcmpgeu2(x, y) + __vcmplts4(x, y) + __vcmples2(x, y);
  u[11] = __vseteq2(x, y) + __vsetne4(x, y) + __vsetltu2(x, y) + __vsetleu4(x, y) + __vsetgts2(x, y) + __vsetges4(x, y);
  u[12] = __viaddmax_s16x2(x, y, z) + __viaddmin_u16x2(x, y, z) + __vimax3_s16x2(x, y, z) + __vimin3_u16x2(x, y, z);
  u[13] = __viaddmax_u32(x, y, z) + __vimax3_u32(x, y, z) + __vibmax_u32(x, y, b) + __vimax_s16x2_relu(x, y);
  i[0] = __viaddmax_s32(i[1], i[2], i[3]) + __vimin3_s32(i[1], i[2], i[3]) + __vimax_s32_relu(i[1], i[2]);
}
