// Fast Fourier transforms of n points, or of n / 1024 rows of 1024.
#include "device.h"

__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// One stage of radix 2 over the whole array, its factors computed.
__global__ void stage_radix2(float2* data, int half, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const int k = i % half, a = i / half * 2 * half + k;
  float2 w;
  sincospif(-static_cast<float>(k) / half, &w.y, &w.x);
  const float2 x = data[a], y = times(data[a + half], w);
  data[a] = make_float2(x.x + y.x, x.y + y.y);
  data[a + half] = make_float2(x.x - y.x, x.y - y.y);
}

// One stage of radix 4, its factors from a table.
__global__ void stage_radix4(const float2* in, float2* out, const float2* table, int quarter, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = n / 4;
  if (i >= rows) return;
  const int k = i % quarter, step = rows / quarter;
  const float2 a = in[i], b = times(in[i + rows], table[k * step]);
  const float2 c = times(in[i + 2 * rows], table[2 * k * step]),
               d = times(in[i + 3 * rows], table[3 * k * step]);
  const float2 p = make_float2(a.x + c.x, a.y + c.y), q = make_float2(a.x - c.x, a.y - c.y);
  const float2 s = make_float2(b.x + d.x, b.y + d.y), t = make_float2(b.y - d.y, d.x - b.x);
  float2* to = out + i / quarter * 4 * quarter + k;
  to[0] = make_float2(p.x + s.x, p.y + s.y);
  to[quarter] = make_float2(q.x + t.x, q.y + t.y);
  to[2 * quarter] = make_float2(p.x - s.x, p.y - s.y);
  to[3 * quarter] = make_float2(q.x - t.x, q.y - t.y);
}

// A row of 1024 points in a block's shared memory.
__global__ void row_of_1024(const float2* in, float2* out) {
  __shared__ float2 row[1024];
  const int tid = threadIdx.x, first = blockIdx.x * 1024;
  row[__brev(tid) >> 22] = in[first + tid];
  row[__brev(tid + 512) >> 22] = in[first + tid + 512];
  for (int half = 1; half < 1024; half *= 2) {
    __syncthreads();
    const int k = tid % half, a = tid / half * 2 * half + k;
    float2 w;
    __sincosf(-3.14159265f * k / half, &w.y, &w.x);
    const float2 x = row[a], y = times(row[a + half], w);
    row[a] = make_float2(x.x + y.x, x.y + y.y);
    row[a + half] = make_float2(x.x - y.x, x.y - y.y);
  }
  __syncthreads();
  out[first + tid] = row[tid];
  out[first + tid + 512] = row[tid + 512];
}

// Sixteen points in a thread's registers, in double precision.
__global__ void sixteen_each(const double2* in, double2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, rows = n / 16;
  if (i >= rows) return;
  double2 v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = in[i + k * rows];
#pragma unroll
  for (int half = 8; half > 0; half /= 2)
#pragma unroll
    for (int a = 0; a < 16; ++a)
      if ((a & half) == 0) {
        const double2 x = v[a], y = v[a + half];
        const double c = cospi(1.0 * (a % half) / half), s = -sinpi(1.0 * (a % half) / half);
        v[a] = make_double2(x.x + y.x, x.y + y.y);
        v[a + half] = make_double2((x.x - y.x) * c - (x.y - y.y) * s, (x.x - y.x) * s + (x.y - y.y) * c);
      }
#pragma unroll
  for (int k = 0; k < 16; ++k) out[i + k * rows] = v[k];
}

void run(int n) {
  float2* in = (float2*)device_floats(2 * n);
  float2* out = device_zeros<float2>(n);
  float2* table = (float2*)device_floats(2 * n);
  for (int r = 0; r < kLaunches; ++r) stage_radix2<<<ceil_div(n, 512), 256>>>(in, 1, n);
  for (int r = 0; r < kLaunches; ++r) stage_radix2<<<ceil_div(n, 256), 128>>>(in, n / 8, n);
  for (int r = 0; r < kLaunches; ++r) stage_radix4<<<ceil_div(n, 512), 128>>>(in, out, table, 4, n);
  for (int r = 0; r < kLaunches; ++r) stage_radix4<<<ceil_div(n, 1024), 256>>>(in, out, table, n / 16, n);
  for (int r = 0; r < kLaunches; ++r) row_of_1024<<<n / 1024, 512>>>(in, out);
  free_all(in, out, table);
  double2* from = (double2*)device_doubles(2 * n);
  double2* to = device_zeros<double2>(n);
  for (int r = 0; r < kLaunches; ++r) sixteen_each<<<ceil_div(n, 16 * 64), 64>>>(from, to, n);
  free_all(from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("fourier");
}
