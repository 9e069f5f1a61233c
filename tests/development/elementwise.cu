// One element after the other: little arithmetic and much, in several types.
#include <cuda_fp16.h>

#include "device.h"

__global__ void axpy(double a, const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void waves(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) + 0.5f * cosf(3 * x[i]);
}

__global__ void exponentials(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = exp(-x[i]) * log(x[i] + 2);
}

__global__ void powers(const float* x, float* y, float exponent, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = powf(x[i] + 1, exponent) + erff(x[i]);
}

__global__ void quotients(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] / (y[i] + 1) + sqrtf(x[i] + y[i]);
}

template <class T>
__global__ void polynomial(const T* x, T* y, int degree, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T at = x[i];
  T sum = 1;
  for (int k = 0; k < degree; ++k) sum = sum * at + T(0.5);
  y[i] = sum;
}

__global__ void dates(const int* days, int3* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int year = days[i] / 365, day = days[i] % 365;
  out[i] = make_int3(year, day / 30, day % 30);
}

__global__ void quotients_by_argument(const int* in, int* out, int divisor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / divisor * 7 + in[i] % divisor;
}

__global__ void gelu_half(const __half2* in, __half2* out, int n2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n2) return;
  const float2 v = __half22float2(in[i]);
  const float a = 0.5f * v.x * (1 + tanhf(0.79788456f * (v.x + 0.044715f * v.x * v.x * v.x)));
  const float b = 0.5f * v.y * (1 + tanhf(0.79788456f * (v.y + 0.044715f * v.y * v.y * v.y)));
  out[i] = __floats2half2_rn(a, b);
}

__global__ void fused_half(const __half2* a, const __half2* b, __half2* c, int n2) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += gridDim.x * blockDim.x)
    c[i] = __hfma2(a[i], b[i], c[i]);
}

void run(int n) {
  float* x = device_floats(n);
  float* y = device_zeros<float>(3 * n);
  int* days = device_ints(n, 40000);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) waves<<<blocks, 256>>>(x, y, n);
  for (int r = 0; r < kLaunches; ++r) powers<<<blocks, 256>>>(x, y, 1.7f, n);
  for (int r = 0; r < kLaunches; ++r) quotients<<<ceil_div(n, 512), 512>>>(x, y + n, y, n);
  for (int r = 0; r < kLaunches; ++r) polynomial<float><<<blocks, 256>>>(x, y, 64, n);
  for (int r = 0; r < kLaunches; ++r) dates<<<ceil_div(n, 128), 128>>>(days, (int3*)y, n);
  for (int r = 0; r < kLaunches; ++r) quotients_by_argument<<<blocks, 256>>>(days, (int*)y, 37, n);
  for (int r = 0; r < kLaunches; ++r) gelu_half<<<ceil_div(n, 256), 256>>>((__half2*)x, (__half2*)y, n);
  for (int r = 0; r < kLaunches; ++r)
    fused_half<<<ceil_div(n, 2048), 256>>>((__half2*)x, (__half2*)y, (__half2*)(y + n), n);
  free_all(x, y, days);
  double* u = device_doubles(n);
  double* v = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) axpy<<<blocks, 256>>>(0.5, u, v, n);
  for (int r = 0; r < kLaunches; ++r) exponentials<<<blocks, 256>>>(u, v, n);
  for (int r = 0; r < kLaunches; ++r) polynomial<double><<<ceil_div(n, 128), 128>>>(u, v, 64, n);
  free_all(u, v);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("elementwise");
}
