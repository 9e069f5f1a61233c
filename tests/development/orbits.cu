// n satellites about a planet whose radius and mass are one: their orbits, and who meets or sees whom.
#include "device.h"

struct Elements {
  double axis, eccentricity, inclination, node, periapsis, anomaly;
};

struct State {
  float x, y, z, vx, vy, vz;
};

// The eccentric anomaly of each orbit at a time, by a fixed number of Newton's steps on Kepler's equation.
__global__ void solve_kepler(const double* __restrict__ anomalies, const double* __restrict__ eccentricities,
                             const double* __restrict__ motions, double* __restrict__ out, double time,
                             int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double e = eccentricities[i];
  double mean = anomalies[i] + motions[i] * time;
  mean -= 6.283185307179586 * floor(mean * 0.15915494309189535);
  double at = mean + e * sin(mean);
  for (int k = 0; k < steps; ++k) {
    double s, c;
    sincos(at, &s, &c);
    at -= (at - e * s - mean) / (1 - e * c);
  }
  out[i] = at;
}

// Places and speeds from six elements, which are side by side in memory, with the anomaly already eccentric.
__global__ void to_states(const Elements* orbits, double* states, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Elements o = orbits[i];
    double sn, cn, si, ci, sp, cp, sa, ca;
    sincos(o.node, &sn, &cn);
    sincos(o.inclination, &si, &ci);
    sincos(o.periapsis, &sp, &cp);
    sincos(o.anomaly, &sa, &ca);
    const double px = cn * cp - sn * sp * ci, py = sn * cp + cn * sp * ci, pz = sp * si;
    const double qx = -cn * sp - sn * cp * ci, qy = -sn * sp + cn * cp * ci, qz = cp * si;
    const double root = sqrt(1 - o.eccentricity * o.eccentricity);
    const double a = o.axis * (ca - o.eccentricity), b = o.axis * root * sa;
    const double speed = 1 / (sqrt(o.axis) * (1 - o.eccentricity * ca));
    const double va = -speed * sa, vb = speed * root * ca;
    states[i] = a * px + b * qx;
    states[n + i] = a * py + b * qy;
    states[2 * n + i] = a * pz + b * qz;
    states[3 * n + i] = va * px + vb * qx;
    states[4 * n + i] = va * py + vb * qy;
    states[5 * n + i] = va * pz + vb * qz;
  }
}

// The pull of a planet that is flattened at its poles.
template <class T>
__device__ void flattened_pull(const T* place, T* pull) {
  const T square = place[0] * place[0] + place[1] * place[1] + place[2] * place[2];
  const T inverse = 1 / square, cube = inverse / sqrt(square);
  const T factor = T(1.5 * 1.08263e-3) * inverse, high = 5 * place[2] * place[2] * inverse;
  pull[0] = -cube * place[0] * (1 + factor * (1 - high));
  pull[1] = -cube * place[1] * (1 + factor * (1 - high));
  pull[2] = -cube * place[2] * (1 + factor * (3 - high));
}

// Orbits about a flattened planet, by Runge and Kutta's rule of fourth order: all steps in registers.
template <class T>
__global__ void __launch_bounds__(128) runge_kutta(const T* start, T* end, T step, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T y[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) y[k] = start[k * n + i];
  for (int s = 0; s < steps; ++s) {
    T at[6], sum[6], slope[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      at[k] = y[k];
      sum[k] = 0;
    }
#pragma unroll
    for (int stage = 0; stage < 4; ++stage) {
      flattened_pull(at, slope + 3);
#pragma unroll
      for (int k = 0; k < 3; ++k) slope[k] = at[3 + k];
      const T weight = stage == 0 || stage == 3 ? step / 6 : step / 3;
      const T ahead = stage == 2 ? step : step / 2;
#pragma unroll
      for (int k = 0; k < 6; ++k) {
        sum[k] += weight * slope[k];
        at[k] = y[k] + ahead * slope[k];
      }
    }
#pragma unroll
    for (int k = 0; k < 6; ++k) y[k] += sum[k];
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) end[k * n + i] = y[k];
}

// How many of the other bodies come near each satellite within a time, if all go straight, and which is nearest.
// Their count is a multiple of 64.
__global__ void near_passes(const State* own, const State* others, int2* out, float near, float time,
                            int count, int n) {
  __shared__ State tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const State a = own[min(i, n - 1)];
  float least = 1e30f;
  int passes = 0, nearest = -1;
  for (int first = 0; first < count; first += 64) {
    tile[threadIdx.x] = others[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      const State b = tile[k];
      const float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
      const float vx = b.vx - a.vx, vy = b.vy - a.vy, vz = b.vz - a.vz;
      const float when = -(x * vx + y * vy + z * vz) / (vx * vx + vy * vy + vz * vz + 1e-12f);
      const float then = fminf(fmaxf(when, 0.0f), time);
      const float dx = x + then * vx, dy = y + then * vy, dz = z + then * vz;
      const float square = dx * dx + dy * dy + dz * dz;
      if (square < near * near) ++passes;
      if (square < least) {
        least = square;
        nearest = first + k;
      }
    }
    __syncthreads();
  }
  if (i < n) out[i] = make_int2(passes, nearest);
}

// The potential of a lumpy planet and its slope with the distance: harmonics up to kDegree, column after column.
__constant__ double lumps[2][9][9];
template <int kDegree>
__global__ void lumpy_potential(const double* states, double2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = states[i], y = states[n + i], z = states[2 * n + i];
  const double inverse = 1 / (x * x + y * y + z * z), u = x * inverse, v = y * inverse, w = z * inverse;
  double re = sqrt(inverse), im = 0, potential = 0, slope = 0;
#pragma unroll
  for (int m = 0; m <= kDegree; ++m) {
    double re0 = 0, im0 = 0, re1 = re, im1 = im;
#pragma unroll
    for (int l = m; l <= kDegree; ++l) {
      const double term = lumps[0][l][m] * re1 + lumps[1][l][m] * im1;
      potential += term;
      slope -= (l + 1) * term;
      const double a = (2 * l + 1) / (l + 1.0 - m), b = (l + m) / (l + 1.0 - m) * inverse;
      const double next_re = a * w * re1 - b * re0, next_im = a * w * im1 - b * im0;
      re0 = re1;
      im0 = im1;
      re1 = next_re;
      im1 = next_im;
    }
    const double old = re;
    re = (2 * m + 1) * (u * old - v * im);
    im = (2 * m + 1) * (u * im + v * old);
  }
  out[i] = make_double2(potential, slope * sqrt(inverse));
}

// How long the light of each body has been on its way, from places in Chebyshev's polynomials: a few rounds.
__global__ void light_times(const double* coefficients, double* out, double3 observer, double now,
                            double speed, int degree, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double delay = 0;
  for (int round = 0; round < rounds; ++round) {
    const double t = now - delay;
    double place[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      double b1 = 0, b2 = 0;
      for (int k = degree; k > 0; --k) {
        const double b0 = 2 * t * b1 - b2 + coefficients[(k * 3 + axis) * n + i];
        b2 = b1;
        b1 = b0;
      }
      place[axis] = t * b1 - b2 + coefficients[axis * n + i];
    }
    const double dx = place[0] - observer.x, dy = place[1] - observer.y, dz = place[2] - observer.z;
    delay = sqrt(dx * dx + dy * dy + dz * dz) / speed;
  }
  out[i] = delay;
}

// Which of 32 stations on the ground see each satellite high enough: eight rows of threads share the stations.
__constant__ float3 stations[32];
__global__ void seen_from(const float* places, unsigned* seen, float sine, int n) {
  __shared__ unsigned bits[32];
  const int x = threadIdx.x, i = blockIdx.x * 32 + x;
  if (threadIdx.y == 0) bits[x] = 0;
  __syncthreads();
  if (i < n) {
    const float px = places[i], py = places[n + i], pz = places[2 * n + i];
    unsigned own = 0;
    for (int s = threadIdx.y; s < 32; s += blockDim.y) {
      const float3 up = stations[s];
      const float dx = px - up.x, dy = py - up.y, dz = pz - up.z;
      const float along = dx * up.x + dy * up.y + dz * up.z;
      if (along > sine * sqrtf(dx * dx + dy * dy + dz * dz)) own |= 1u << s;
    }
    if (own != 0) atomicOr(&bits[x], own);
  }
  __syncthreads();
  if (threadIdx.y == 0 && i < n) seen[i] = bits[x];
}

// Back from places and speeds to axis, eccentricity and the four angles, with care for circles and the equator.
__global__ void to_elements(const State* states, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const State s = states[i];
  const float hx = s.y * s.vz - s.z * s.vy, hy = s.z * s.vx - s.x * s.vz, hz = s.x * s.vy - s.y * s.vx;
  const float h = sqrtf(hx * hx + hy * hy + hz * hz) + 1e-9f, r = sqrtf(s.x * s.x + s.y * s.y + s.z * s.z);
  const float v2 = s.vx * s.vx + s.vy * s.vy + s.vz * s.vz, along = s.x * s.vx + s.y * s.vy + s.z * s.vz;
  const float ex = (v2 - 1 / r) * s.x - along * s.vx, ey = (v2 - 1 / r) * s.y - along * s.vy,
              ez = (v2 - 1 / r) * s.z - along * s.vz;
  const float e = sqrtf(ex * ex + ey * ey + ez * ez), flat = sqrtf(hx * hx + hy * hy);
  out[i] = 1 / (2 / r - v2);
  out[n + i] = e;
  out[2 * n + i] = acosf(fminf(fmaxf(hz / h, -1.0f), 1.0f));
  out[3 * n + i] = flat > 1e-6f ? atan2f(hx, -hy) : 0.0f;
  if (e > 1e-5f && flat > 1e-6f) {
    const float cosine = (-hy * ex + hx * ey) / (flat * e);
    const float angle = acosf(fminf(fmaxf(cosine, -1.0f), 1.0f));
    out[4 * n + i] = ez < 0 ? 6.2831853f - angle : angle;
  } else {
    out[4 * n + i] = 0;
  }
  out[5 * n + i] = atan2f(h * along, h * h - r);
}

static double scattered(int i) {
  return (static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216.0;
}

void run(int n) {
  const int others = n < 4096 ? 256 : 640, degree = 9;
  double host_lumps[2][9][9];
  for (int l = 0; l < 9; ++l)
    for (int m = 0; m < 9; ++m) {
      host_lumps[0][l][m] = l == 0 ? 1 : l == 2 && m == 0 ? -1.08263e-3 : 1e-6 / (l + m);
      host_lumps[1][l][m] = m == 0 ? 0 : -2e-6 / (l + m);
    }
  cudaMemcpyToSymbol(lumps, host_lumps, sizeof host_lumps);
  float3 host_stations[32];
  for (int s = 0; s < 32; ++s) {
    const float z = (s - 15.5f) / 16, flat = 1 - z * z;
    host_stations[s] = make_float3(s % 2 ? flat : -flat, s % 3 ? 0.3f : -0.3f, z);
  }
  cudaMemcpyToSymbol(stations, host_stations, sizeof host_stations);
  Elements* orbits = device_array<Elements>(n, [](int i) {
    return Elements{1.1 + 3 * scattered(i),      0.05 * scattered(i + 7),     3.1 * scattered(3 * i + 1),
                    6.28 * scattered(5 * i + 2), 6.28 * scattered(7 * i + 3), 6.28 * scattered(9 * i + 4)};
  });
  double* anomalies = device_array<double>(n, [](int i) { return 6.28 * scattered(i); });
  double* eccentricities = device_array<double>(n, [](int i) { return 0.7 * scattered(3 * i); });
  double* motions = device_array<double>(n, [](int i) { return 0.1 + 0.8 * scattered(5 * i); });
  double* solved = device_zeros<double>(n);
  double* states = device_zeros<double>(6 * n);
  double* later = device_zeros<double>(6 * n);
  // Places on rings and speeds across them, once in planes and once side by side.
  const auto number = [](int i, int k) {
    const double turn = 6.28 * scattered(i), far = 1.05 + 4 * scattered(11 * i + 1),
                 tilt = scattered(13 * i + 5);
    const double speed = 1 / sqrt(far);
    const double all[6] = {far * cos(turn),    far * sin(turn) * cos(tilt),   far * sin(turn) * sin(tilt),
                           -speed * sin(turn), speed * cos(turn) * cos(tilt), speed * cos(turn) * sin(tilt)};
    return static_cast<float>(all[k]);
  };
  float* planes = device_array<float>(6 * n, [number, n](int i) { return number(i % n, i / n); });
  float* together = device_array<float>(6 * n, [number](int i) { return number(i / 6, i % 6); });
  float* out = device_zeros<float>(6 * n);
  State* debris =
      (State*)device_array<float>(6 * others, [number](int i) { return number(7 * (i / 6) + 3, i % 6); });
  double* coefficients =
      device_array<double>((degree + 1) * 3 * n, [n](int i) { return scattered(i) / (1 + i / (3 * n)); });
  for (int r = 0; r < kLaunches; ++r)
    solve_kepler<<<ceil_div(n, 256), 256>>>(anomalies, eccentricities, motions, solved, 12.5, 6, n);
  for (int r = 0; r < kLaunches; ++r) to_states<<<min(ceil_div(n, 128), 528), 128>>>(orbits, states, n);
  for (int r = 0; r < kLaunches; ++r)
    runge_kutta<double><<<ceil_div(n, 128), 128>>>(states, later, 0.01, 12, n);
  for (int r = 0; r < kLaunches; ++r) runge_kutta<float><<<ceil_div(n, 96), 96>>>(planes, out, 0.01f, 12, n);
  for (int r = 0; r < kLaunches; ++r)
    near_passes<<<ceil_div(n, 64), 64>>>((State*)together, debris, (int2*)out, 0.05f, 2.0f, others, n);
  for (int r = 0; r < kLaunches; ++r)
    lumpy_potential<8><<<ceil_div(n, 192), 192>>>(states, (double2*)later, n);
  for (int r = 0; r < kLaunches; ++r)
    light_times<<<ceil_div(n, 256), 256>>>(coefficients, solved, make_double3(0.3, 0.2, 0.1), 0.5, 20.0,
                                           degree, 3, n);
  for (int r = 0; r < kLaunches; ++r)
    seen_from<<<ceil_div(n, 32), dim3(32, 8)>>>(planes, (unsigned*)out, 0.17f, n);
  for (int r = 0; r < kLaunches; ++r) to_elements<<<ceil_div(n, 512), 512>>>((State*)together, out, n);
  free_all(orbits, anomalies, eccentricities, motions, solved, states, later, planes, together, out, debris,
           coefficients);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("orbits");
}
