// Ordinary differential equations with n different starts or parameters.
#include "device.h"

// An epidemic in four groups of people, four steps of Heun's method for each day; at weekends people meet less.
__global__ void epidemics(const float* contacts, float* out, int days, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float contact = 0.2f + 0.3f * contacts[i], h = 0.25f;
  float healthy = 0.999f, exposed = 1e-3f, ill = 0, cured = 0, most = 0;
  for (int day = 0; day < days; ++day) {
    const float meets = day % 7 < 5 ? contact : 0.6f * contact;
    for (int step = 0; step < 4; ++step) {
      const float caught = meets * healthy * ill, fell = 0.25f * exposed, rose = 0.1f * ill,
                  lost = 0.01f * cured;
      const float s = healthy + h * (lost - caught), e = exposed + h * (caught - fell);
      const float l = ill + h * (fell - rose), r = cured + h * (rose - lost);
      const float caught2 = meets * s * l, fell2 = 0.25f * e, rose2 = 0.1f * l, lost2 = 0.01f * r;
      healthy += 0.5f * h * (lost - caught + lost2 - caught2);
      exposed += 0.5f * h * (caught - fell + caught2 - fell2);
      ill += 0.5f * h * (fell - rose + fell2 - rose2);
      cured += 0.5f * h * (rose - lost + rose2 - lost2);
    }
    most = fmaxf(most, ill);
  }
  out[3 * i] = most;
  out[3 * i + 1] = healthy;
  out[3 * i + 2] = ill;
}

// A pendulum that is pushed, in double precision: each thread takes as many steps as its place in 32 says.
__global__ void pendulums(const double* starts, double* out, int least, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int steps = least + i % 32;
  double angle = starts[i], speed = 0;
  const double h = 1.0 / steps;
  for (int k = 0; k < steps; ++k) {
    speed -= 0.5 * h * (sin(angle) + 0.1 * speed);
    angle += h * speed;
    speed -= 0.5 * h * (sin(angle) + 0.1 * speed - 0.3 * cos(0.7 * k * h));
  }
  out[i] = angle;
}

// 256 oscillators per block that pull each other, all phases in shared memory.
__global__ void synchronise(const float* frequencies, float* phases, float coupling, int steps) {
  __shared__ float s[256], c[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float phase = phases[i];
  const float frequency = frequencies[i];
  for (int k = 0; k < steps; ++k) {
    __sincosf(phase, &s[threadIdx.x], &c[threadIdx.x]);
    __syncthreads();
    float re = 0, im = 0;
#pragma unroll 16
    for (int j = 0; j < 256; ++j) {
      re += c[j];
      im += s[j];
    }
    const float pull = im * c[threadIdx.x] - re * s[threadIdx.x];
    __syncthreads();
    phase += 0.01f * (frequency + coupling / 256 * pull);
  }
  phases[i] = phase;
}

// Foxes and hares with a step that the error chooses.
__global__ void adaptive(const float* starts, float* out, int* taken, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float hares = 1 + starts[i], foxes = 0.5f, time = 0, h = 0.1f;
  int steps = 0;
  while (time < 2 && steps < 200) {
    const float a1 = hares * (1.5f - foxes), b1 = foxes * (hares - 3);
    const float x = hares + h * a1, y = foxes + h * b1;
    const float a2 = x * (1.5f - y), b2 = y * (x - 3);
    const float error = 0.5f * h * (fabsf(a2 - a1) + fabsf(b2 - b1));
    if (error < 1e-2f) {
      hares += 0.5f * h * (a1 + a2);
      foxes += 0.5f * h * (b1 + b2);
      time += h;
    }
    h *= fminf(2.0f, fmaxf(0.3f, 0.9f * sqrtf(1e-2f / (error + 1e-9f))));
    ++steps;
  }
  out[i] = hares + foxes;
  taken[i] = steps;
}

// A stiff chain of six substances per thread, implicit, with the matrix in registers: a long body without loops.
__global__ void stiff(const double* start, double* out, double h, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double y[6], m[6][6];
#pragma unroll
  for (int k = 0; k < 6; ++k) y[k] = 1 + start[k * n + i];
#pragma unroll
  for (int r = 0; r < 6; ++r)
#pragma unroll
    for (int c = 0; c < 6; ++c) m[r][c] = r == c ? 1 + h * (r + 1) * y[r] : -h * 0.1 * (r + c) * y[c];
#pragma unroll
  for (int p = 0; p < 6; ++p) {
    const double inverse = 1 / m[p][p];
#pragma unroll
    for (int r = p + 1; r < 6; ++r) {
      const double factor = m[r][p] * inverse;
#pragma unroll
      for (int c = p + 1; c < 6; ++c) m[r][c] -= factor * m[p][c];
      y[r] -= factor * y[p];
    }
  }
#pragma unroll
  for (int r = 5; r >= 0; --r) {
#pragma unroll
    for (int c = r + 1; c < 6; ++c) y[r] -= m[r][c] * y[c];
    y[r] /= m[r][r];
    out[r * n + i] = y[r];
  }
}

void run(int n) {
  float* starts = device_floats(n);
  float* phases = device_floats(n);
  double* states = device_doubles(6 * n);
  double* out = device_zeros<double>(6 * n);
  int* taken = device_zeros<int>(n);
  for (int r = 0; r < kLaunches; ++r) epidemics<<<ceil_div(n, 256), 256>>>(starts, (float*)out, 30, n);
  for (int r = 0; r < kLaunches; ++r) epidemics<<<ceil_div(n, 32), 32>>>(starts, (float*)out, 30, n);
  for (int r = 0; r < kLaunches; ++r) pendulums<<<ceil_div(n, 128), 128>>>(states, out, 8, n);
  for (int r = 0; r < kLaunches; ++r) synchronise<<<n / 256, 256>>>(starts, phases, 0.8f, 4);
  for (int r = 0; r < kLaunches; ++r) adaptive<<<ceil_div(n, 96), 96>>>(starts, (float*)out, taken, n);
  for (int r = 0; r < kLaunches; ++r) stiff<<<ceil_div(n, 128), 128>>>(states, out, 0.01, n);
  free_all(starts, phases, states, out, taken);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("ode_ensembles");
}
