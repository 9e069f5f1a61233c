// Pictures of n x n pixels of sets that are like themselves.
#include "device.h"

// z * z + c for `rounds` rounds, and how near to the origin it came: no early end.
__global__ void orbit_traps(float* out, float cx, float cy, int rounds, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float u = 3.0f * x / n - 1.5f, v = 3.0f * y / n - 1.5f, nearest = 1e10f;
  for (int k = 0; k < rounds; ++k) {
    const float next = fminf(fmaxf(u * u - v * v + cx, -4.0f), 4.0f);
    v = fminf(fmaxf(2 * u * v + cy, -4.0f), 4.0f);
    u = next;
    nearest = fminf(nearest, u * u + v * v);
  }
  out[y * n + x] = sqrtf(nearest);
}

// Which root of z^3 = 1 Newton's method leads to after ten steps, in double precision.
__global__ void newton_basins(unsigned char* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  double a = 4.0 * x / n - 2, b = 4.0 * y / n - 2;
  for (int k = 0; k < 10; ++k) {
    const double p = a * a - b * b, q = 2 * a * b, size = p * p + q * q + 1e-30;
    a = (2 * a + p / size) / 3;
    b = (2 * b - q / size) / 3;
  }
  out[y * n + x] = a > 0 ? 0 : b > 0 ? 1 : 2;
}

// The picture with the burning ship: four pixels in a row for each thread, each until it leaves.
__global__ void burning_ship(uchar4* out, int most, int n) {
  const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  unsigned char rounds[4];
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const float cx = 3.0f * (x + p) / n - 2.2f, cy = 2.6f * y / n - 1.8f;
    float u = 0, v = 0;
    int k = 0;
    while (k < most && u * u + v * v < 4) {
      const float next = u * u - v * v + cx;
      v = 2 * fabsf(u * v) + cy;
      u = next;
      ++k;
    }
    rounds[p] = k;
  }
  out[(y * n + x) / 4] = make_uchar4(rounds[0], rounds[1], rounds[2], rounds[3]);
}

// A population that grows at one of two rates in turn, as the bits of `order` say: how fast neighbours part.
__global__ void growth_exponents(float* out, unsigned order, int rounds, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    float a = 2.0f + 2.0f * x / n, b = 2.0f + 2.0f * y / n, value = 0.5f, sum = 0.0f;
    for (int k = 0; k < rounds; k++) {
      float rate = (order >> (k % 12)) & 1 ? a : b;
      value = rate * value * (1.0f - value);
      sum += logf(fabsf(rate * (1.0f - 2.0f * value)) + 1e-6f);
    }
    out[y * n + x] = sum / rounds;
  }
}

// A point that one of four maps moves, chosen by chance, and that leaves its mark at every step.
__global__ void fern(unsigned* counts, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 2654435761u + 12345u;
  float u = 0, v = 0;
  for (int k = 0; k < steps; ++k) {
    state = state * 1664525u + 1013904223u;
    const unsigned chance = state >> 24;
    float a = 0.85f, b = 0.04f, c = -0.04f, d = 0.85f, f = 1.6f;
    if (chance < 3) {
      a = b = c = f = 0;
      d = 0.16f;
    } else if (chance < 20) {
      a = 0.2f, b = -0.26f, c = 0.23f, d = 0.22f;
    } else if (chance < 38) {
      a = -0.15f, b = 0.28f, c = 0.26f, d = 0.24f, f = 0.44f;
    }
    const float next = a * u + b * v;
    v = c * u + d * v + f;
    u = next;
    const int column = min(max(static_cast<int>((u + 3) * n / 6), 0), n - 1);
    const int row = min(max(static_cast<int>(v * n / 11), 0), n - 1);
    atomicAdd(counts + row * n + column, 1u);
  }
}

// At which levels a pixel falls into a hole of a carpet: whole numbers, digit by digit.
__global__ void carpet(short* out, int levels, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int u = x, v = y, holes = 0;
  for (int k = 0; k < levels; ++k) {
    holes |= (u % 3 == 1 && v % 3 == 1) << k;
    u /= 3;
    v /= 3;
  }
  out[y * n + x] = holes;
}

void run(int n) {
  const int count = n * n;
  float* out = device_zeros<float>(count);
  for (int r = 0; r < kLaunches; ++r)
    orbit_traps<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(out, -0.4f, 0.6f, 96, n);
  for (int r = 0; r < kLaunches; ++r)
    newton_basins<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>((unsigned char*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    burning_ship<<<dim3(ceil_div(n, 64), ceil_div(n, 16)), dim3(16, 16)>>>((uchar4*)out, 100, n);
  for (int r = 0; r < kLaunches; ++r)
    growth_exponents<<<dim3(ceil_div(n, 8), ceil_div(n, 32)), dim3(8, 32)>>>(out, 0x5e3u, 120, n);
  for (int r = 0; r < kLaunches; ++r) fern<<<ceil_div(count, 256 * 64), 256>>>((unsigned*)out, 32, n);
  for (int r = 0; r < kLaunches; ++r) carpet<<<dim3(ceil_div(n, 256), n), 256>>>((short*)out, 8, n);
  free_all(out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("fractals");
}
