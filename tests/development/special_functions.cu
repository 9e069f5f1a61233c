// Functions that have names, at n places.
#include "device.h"

// The period of a pendulum by means of means: square roots and products in double precision.
__global__ void elliptic(const double* in, double* first, double* second, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double m = 0.98 * in[i];
    double a = 1.0;
    double b = sqrt(1.0 - m);
    double sum = 0.5 * m;
    double power = 0.5;
    for (int k = 0; k < 5; k++) {
      double c = 0.5 * (a - b);
      double next = 0.5 * (a + b);
      b = sqrt(a * b);
      a = next;
      power *= 2.0;
      sum += power * c * c;
    }
    first[i] = 1.5707963267948966 / a;
    second[i] = 1.5707963267948966 / a * (1.0 - sum);
  }
}

__constant__ float parts[64];

// A sum of Legendre polynomials, each from the two before.
__global__ void legendre_sums(const float* __restrict__ in, float* __restrict__ out, int degree, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = 2 * in[i] - 1;
  float before = 1, now = x, sum = parts[0] + parts[1] * x;
  for (int l = 2; l < degree; ++l) {
    const float next = ((2 * l - 1) * x * now - (l - 1) * before) / l;
    before = now;
    now = next;
    sum += parts[l] * now;
  }
  out[i] = sum;
}

// The upper part of the gamma function's integral, by a continued fraction with a division in each step.
__global__ void upper_gamma(const double* in, double* out, double a, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i] * 10 + a + 1;
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k <= steps; ++k) {
    const double factor = -k * (k - a);
    b += 2;
    d = 1 / (factor * d + b);
    c = b + factor / c;
    h *= d * c;
  }
  out[i] = h * exp(-x + a * log(x));
}

// Riemann's function along a line: 20 terms with a power each, and what follows them.
__global__ void zeta_sums(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = 1.5f + 4 * in[i];
    float sum = 0;
    for (int k = 1; k < 20; ++k) sum += powf(k, -s);
    const float last = powf(20, -s);
    out[i] = sum + last * (20 / (s - 1) + 0.5f + s / 240);
  }
}

// All spherical harmonics to the degree kDegree, a plane for each: a triangle in registers.
template <int kDegree>
__global__ void harmonics(const float* angles, float* planes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s, x, sine, cosine;
  sincospif(angles[i], &s, &x);
  sincospif(2 * angles[n + i], &sine, &cosine);
  float diagonal = 0.28209479f, re = 1, im = 0;
#pragma unroll
  for (int m = 0; m <= kDegree; ++m) {
    float before = 0, now = diagonal;
#pragma unroll
    for (int l = m; l <= kDegree; ++l) {
      const int at = l * l + l;
      planes[(at + m) * n + i] = now * re;
      if (m > 0) planes[(at - m) * n + i] = now * im;
      const float a = sqrtf((4.0f * (l + 1) * (l + 1) - 1) / ((l + 1) * (l + 1) - m * m));
      const float b = l > m ? sqrtf((1.0f * l * l - m * m) / (4.0f * l * l - 1)) : 0;
      const float next = a * (x * now - b * before);
      before = now;
      now = next;
    }
    diagonal *= -s * sqrtf((2 * m + 3.0f) / (2 * m + 2));
    const float turned = re * cosine - im * sine;
    im = re * sine + im * cosine;
    re = turned;
  }
}

// What the library has: the logarithm of the gamma function, the error function's rest, a hyperbolic sine.
__global__ void from_library(const float4* in, float4* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float4 v = in[i];
  out[i] = make_float4(lgammaf(5 * v.x + 0.5f), erfcf(3 * v.y - 1), sinhf(4 * v.z), atanhf(0.9f * v.w));
}

void run(int n) {
  float table[64];
  for (int k = 0; k < 64; ++k) table[k] = 1.0f / (k + 1);
  cudaMemcpyToSymbol(parts, table, sizeof table);
  float* in = device_floats(n);
  double* doubles = device_doubles(n);
  double* out = device_zeros<double>(2 * n);
  for (int r = 0; r < kLaunches; ++r) elliptic<<<ceil_div(n, 256), 256>>>(doubles, out, out + n, n);
  for (int r = 0; r < kLaunches; ++r) legendre_sums<<<ceil_div(n, 128), 128>>>(in, (float*)out, 64, n);
  for (int r = 0; r < kLaunches; ++r) upper_gamma<<<ceil_div(n, 256), 256>>>(doubles, out, 2.5, 20, n);
  for (int r = 0; r < kLaunches; ++r) zeta_sums<<<528, 256>>>(in, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r) harmonics<5><<<ceil_div(n / 16, 64), 64>>>(in, (float*)out, n / 16);
  for (int r = 0; r < kLaunches; ++r)
    from_library<<<ceil_div(n / 4, 192), 192>>>((float4*)in, (float4*)out, n / 4);
  free_all(in, doubles, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("special_functions");
}
