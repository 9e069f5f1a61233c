// Differential equations, one system per thread.
#include "device.h"

template <class T>
__global__ void lorenz(const T* start, T* end, T dt, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T x = start[i], y = start[i] + 1, z = 20;
  for (int k = 0; k < steps; ++k) {
    const T ax = 10 * (y - x), ay = x * (28 - z) - y, az = x * y - T(8.0 / 3) * z;
    const T mx = x + dt * ax / 2, my = y + dt * ay / 2, mz = z + dt * az / 2;
    x += dt * 10 * (my - mx);
    y += dt * (mx * (28 - mz) - my);
    z += dt * (mx * my - T(8.0 / 3) * mz);
  }
  end[i] = x + y + z;
}

// A nerve cell with gates, whose rates are exponentials and quotients.
__global__ void nerve_cell(const float* current, float* voltage, float dt, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = -65, m = 0.05f, h = 0.6f, g = 0.3f;
  for (int k = 0; k < steps; ++k) {
    const float am = 0.1f * (v + 40) / (1 - expf(-(v + 40.001f) / 10)), bm = 4 * expf(-(v + 65) / 18);
    const float ah = 0.07f * expf(-(v + 65) / 20), bh = 1 / (1 + expf(-(v + 35) / 10));
    const float ag = 0.01f * (v + 55) / (1 - expf(-(v + 55.001f) / 10)), bg = 0.125f * expf(-(v + 65) / 80);
    m += dt * (am * (1 - m) - bm * m);
    h += dt * (ah * (1 - h) - bh * h);
    g += dt * (ag * (1 - g) - bg * g);
    v += dt *
         (current[i] - 120 * m * m * m * h * (v - 50) - 36 * g * g * g * g * (v + 77) - 0.3f * (v + 54.4f));
  }
  voltage[i] = v;
}

// A chain of 256 springs per block, neighbours through shared memory.
__global__ void springs(const double* start, double* end, double dt, int steps) {
  __shared__ double at[258];
  const int t = threadIdx.x + 1, i = blockIdx.x * 256 + threadIdx.x;
  double place = start[i], speed = 0;
  if (t == 1) at[0] = 0;
  if (t == 256) at[257] = 0;
  for (int k = 0; k < steps; ++k) {
    at[t] = place;
    __syncthreads();
    speed += dt * (at[t - 1] - 2 * place + at[t + 1]);
    place += dt * speed;
    __syncthreads();
  }
  end[i] = place;
}

void run(int n) {
  float* in = device_floats(n);
  float* out = device_zeros<float>(n);
  double* from = device_doubles(n);
  double* to = device_zeros<double>(n);
  for (int r = 0; r < kLaunches; ++r) lorenz<float><<<ceil_div(n, 256), 256>>>(in, out, 0.01f, 100, n);
  for (int r = 0; r < kLaunches; ++r) lorenz<double><<<ceil_div(n, 64), 64>>>(from, to, 0.01, 100, n);
  for (int r = 0; r < kLaunches; ++r) nerve_cell<<<ceil_div(n, 128), 128>>>(in, out, 0.01f, 20, n);
  for (int r = 0; r < kLaunches; ++r) springs<<<n / 256, 256>>>(from, to, 0.01, 50);
  free_all(in, out, from, to);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("equations");
}
