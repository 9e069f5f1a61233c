// What clang makes of CUDA without a toolkit: no headers, builtins only.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
typedef unsigned int u32;
struct f4 {
  float x, y, z, w;
} __attribute__((aligned(16)));
__constant__ float coef[32];
__device__ int g[7] = {1, 2, 3};
__device__ __attribute__((noinline)) float helper(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x * coef[i & 31];
  return s;
}
__device__ __attribute__((noinline)) f4 mk(float x) {
  return {x, x + 1, x + 2, x + 3};
}
typedef float (*fp)(float, int);
__device__ float add(float a, int b) {
  return a + b;
}
__device__ float mul(float a, int b) {
  return a * b;
}
__device__ fp table[2] = {add, mul};
static __device__ int tid() {
  return __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
}
__global__ void k1(float* x, int n) {
  int i = tid();
  if (i < n) x[i] = helper(x[i], n) + mk(x[0]).y + table[n & 1](x[1], n);
}
__global__ void k2(f4* a, f4* b, int n) {
  for (int i = tid(); i < n; i += 256) {
    f4 v = a[i];
    b[i] = {v.y, v.x, v.w, v.z};
  }
}
__global__ void k3(int* x, int n) {
  __shared__ int t[64];
  int i = tid();
  t[i & 63] = x[i];
  __syncthreads();
  for (int h = 1; h < n; h *= 2) {
    if (i >= h) t[i & 63] += t[(i - h) & 63];
    __syncthreads();
  }
  x[i] = t[i & 63];
  switch (n) {
    case 0:
      x[0] = 1;
      break;
    case 1:
      x[1] = 4;
      break;
    case 2:
      x[2] = 7;
      break;
    case 3:
      x[3] = 1;
      break;
    case 4:
      x[4] = 9;
      break;
    case 5:
      x[5] = n * 3;
      break;
  }
}
__global__ void k4(double* d, long* l, short* s, unsigned char* c) {
  int i = tid();
  d[i] = d[i] / 3.0 + __builtin_sqrt(d[0]);
  l[i] = l[i] % 7;
  s[i] = s[i] >> 2;
  c[i] ^= c[0];
  __nvvm_atom_add_gen_f((float*)d, 1.5f);
  __nvvm_atom_cas_gen_i((int*)l, 1, 2);
}
__global__ void k5(int* x) {
  int a;
  asm volatile("{ .reg .pred p; setp.ne.s32 p,%1,0; @p add.s32 %0,%1,1; @!p mov.s32 %0,0; }"
               : "=r"(a)
               : "r"(x[0]));
  x[1] = a;
  x[2] = __nvvm_shfl_sync_down_i32(-1, a, 1, 31);
  x[3] = __nvvm_vote_ballot_sync(-1, a > 0);
  int st[16];
  for (int i = 0; i < 16; i++) st[i] = x[i];
  x[0] = st[a & 15];
}
