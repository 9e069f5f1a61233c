// Light through n columns of an atmosphere, the columns side by side: depths, sources, angles, lines and photons.
#include <cmath>

#include "device.h"

constexpr int kAngles = 32;

__constant__ float cosines[8];
__constant__ float weights[8];
__constant__ double expansion[96];

struct Line {
  float centre, strength, width;
};

// The optical depth of a layer for each of `points` absorption terms, from a table over pressure and temperature.
__global__ void absorption_depths(const float* __restrict__ pressure, const float* __restrict__ temperature,
                                  const float* __restrict__ vapour, const float* __restrict__ table,
                                  float* __restrict__ depth, int points, int layers, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, layer = blockIdx.y;
  if (column >= n) return;
  const int i = layer * n + column;
  const float p = fminf(fmaxf(4.0f * __logf(pressure[i]), 0.0f), 30.99f);
  const float t = fminf(fmaxf((temperature[i] - 180.0f) * 0.1f, 0.0f), 14.99f);
  const int ip = (int)p, it = (int)t;
  const float fp = p - ip, ft = t - it, amount = vapour[i];
  const float* corner = table + (it * 32 + ip) * points;
  for (int g = 0; g < points; ++g) {
    const float low = (1 - fp) * __ldg(corner + g) + fp * __ldg(corner + points + g);
    const float high = (1 - fp) * __ldg(corner + 32 * points + g) + fp * __ldg(corner + 33 * points + g);
    depth[(g * layers + layer) * n + column] = amount * ((1 - ft) * low + ft * high);
  }
}

// Thermal fluxes of each column and absorption term: down through the layers, then up again, without scattering.
__global__ void thermal_sweeps(const float* depth, const float* temperature, float* down, float* up,
                               float emissivity, int layers, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, g = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const int base = g * layers * n + column;
  float flux = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const float t = temperature[layer * n + column] * 0.01f;
    const float source = 5.67f * t * t * t * t, passed = expf(-1.66f * depth[base + layer * n]);
    flux = flux * passed + source * (1 - passed);
    down[base + layer * n] = flux;
  }
  flux = (1 - emissivity) * flux + emissivity * 390.0f;
  for (int layer = layers - 1; layer >= 0; --layer) {
    const float t = temperature[layer * n + column] * 0.01f;
    const float source = 5.67f * t * t * t * t, passed = expf(-1.66f * depth[base + layer * n]);
    flux = flux * passed + source * (1 - passed);
    up[base + layer * n] = flux;
  }
}

// Reflection and transmission of scattering layers, which are added from the ground up, then fluxes from the top down.
__global__ void __launch_bounds__(64)
    add_layers(const double* __restrict__ depth, const double* __restrict__ albedo, double* reflected,
               double* upward, double* downward, double asymmetry, double ground, int layers, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  double below = ground;
  for (int layer = layers - 1; layer >= 0; --layer) {
    const int i = layer * n + column;
    const double w = albedo[i], g = asymmetry;
    const double gamma1 = (7 - w * (4 + 3 * g)) * 0.25, gamma2 = -(1 - w * (4 - 3 * g)) * 0.25;
    const double k = sqrt(fmax(gamma1 * gamma1 - gamma2 * gamma2, 1e-12));
    const double e = exp(-k * depth[i]), e2 = e * e;
    const double inverse = 1 / (k + gamma1 + (k - gamma1) * e2);
    const double r = gamma2 * (1 - e2) * inverse, t = 2 * k * e * inverse;
    reflected[i] = below;
    below = r + t * t * below / (1 - r * below);
  }
  double down = 1;
  for (int layer = 0; layer < layers; ++layer) {
    const int i = layer * n + column;
    const double w = albedo[i], g = asymmetry;
    const double gamma1 = (7 - w * (4 + 3 * g)) * 0.25, gamma2 = -(1 - w * (4 - 3 * g)) * 0.25;
    const double k = sqrt(fmax(gamma1 * gamma1 - gamma2 * gamma2, 1e-12));
    const double e = exp(-k * depth[i]), e2 = e * e;
    const double inverse = 1 / (k + gamma1 + (k - gamma1) * e2);
    const double r = gamma2 * (1 - e2) * inverse, t = 2 * k * e * inverse;
    down = down * t / (1 - r * reflected[i]);
    downward[i] = down;
    upward[i] = down * reflected[i];
  }
}

// The mean intensity of each layer: a thread for each column and angle, the angles added in shared memory.
__global__ void __launch_bounds__(256)
    mean_intensities(const float* depth, const float* source, float* mean, int layers, int n) {
  __shared__ float part[8][33];
  const int column = blockIdx.x * 32 + threadIdx.x, angle = threadIdx.y;
  const float slant = -1.0f / cosines[angle], weight = weights[angle];
  float intensity = 0;
  for (int layer = 0; layer < layers; ++layer) {
    float value = 0;
    if (column < n) {
      const float passed = __expf(slant * depth[layer * n + column]);
      intensity = intensity * passed + source[layer * n + column] * (1 - passed);
      value = weight * intensity;
    }
    part[angle][threadIdx.x] = value;
    __syncthreads();
    if (angle == 0 && column < n) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += part[k][threadIdx.x];
      mean[layer * n + column] = sum;
    }
    __syncthreads();
  }
}

// The light scattered into each of 32 angles: sums over all angles with a phase matrix in shared memory, cell by cell.
__global__ void scattered_light(const float* intensities, const float* phase, const float* albedo, float* out,
                                int cells) {
  __shared__ float matrix[kAngles][kAngles + 1];
  __shared__ float light[8][kAngles];
  for (int k = threadIdx.y * kAngles + threadIdx.x; k < kAngles * kAngles; k += 8 * kAngles)
    matrix[k / kAngles][k % kAngles] = phase[k];
  for (int first = blockIdx.x * 8; first < cells; first += gridDim.x * 8) {
    const int cell = first + threadIdx.y;
    __syncthreads();
    if (cell < cells) light[threadIdx.y][threadIdx.x] = intensities[cell * kAngles + threadIdx.x];
    __syncthreads();
    if (cell < cells) {
      float sum = 0;
      for (int j = 0; j < kAngles; ++j) sum += matrix[threadIdx.x][j] * light[threadIdx.y][j];
      out[cell * kAngles + threadIdx.x] = albedo[cell] * sum;
    }
  }
}

// A phase function as a series of Legendre polynomials at many scattering angles, double precision.
__global__ void phase_series(const double* angles, double* out, int terms, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double x = cos(angles[i]);
  double before = 1, now = x, sum = expansion[0] + 3 * expansion[1] * x;
  for (int l = 2; l < terms; ++l) {
    const double next = ((2 * l - 1) * x * now - (l - 1) * before) / l;
    sum += (2 * l + 1) * expansion[l] * next;
    before = now;
    now = next;
  }
  out[i] = sum;
}

// Absorption at each wavenumber by all spectral lines, 128 of them at a time in shared memory; far ones are left out.
__global__ void line_absorption(const Line* lines, float* out, float first, float step, float reach,
                                int count, int n) {
  __shared__ Line some[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float at = first + step * i;
  float sum = 0;
  for (int start = 0; start < count; start += 128) {
    __syncthreads();
    if (start + threadIdx.x < count) some[threadIdx.x] = lines[start + threadIdx.x];
    __syncthreads();
    const int end = min(128, count - start);
    for (int k = 0; k < end; ++k) {
      const Line line = some[k];
      const float x = at - line.centre;
      if (fabsf(x) < reach) {
        const float lorentz = line.width / (x * x + line.width * line.width);
        const float y = x / line.width;
        sum += line.strength * (0.3f * lorentz + 0.7f * expf(-0.693f * y * y));
      }
    }
  }
  if (i < n) out[i] = sum;
}

// Photons that wander through a cloud until they leave it or are absorbed; where they end is counted with atomics.
__global__ void photon_paths(unsigned* ends, float thickness, float albedo, float g, unsigned seed,
                             int photons) {
  __shared__ unsigned counts[66];
  for (int k = threadIdx.x; k < 66; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < photons) {
    unsigned state = (i + 1) * 2654435761u ^ seed;
    float z = 0, mu = 0.8f;
    int bin = -1;
    while (bin < 0) {
      state = state * 1664525u + 1013904223u;
      z -= mu * logf(((state >> 8) + 1) * (1.0f / 16777217));
      if (z < 0) {
        bin = 64;
      } else if (z >= thickness) {
        bin = 65;
      } else {
        state = state * 1664525u + 1013904223u;
        if ((state >> 8) * (1.0f / 16777216) > albedo) {
          bin = min((int)(64 * z / thickness), 63);
        } else {
          state = state * 1664525u + 1013904223u;
          const float ratio = (1 - g * g) / (1 - g + 2 * g * ((state >> 8) * (1.0f / 16777216)));
          const float turn = (1 + g * g - ratio * ratio) / (2 * g);
          state = state * 1664525u + 1013904223u;
          const float azimuth = cosf(6.2831853f * ((state >> 8) * (1.0f / 16777216)));
          mu = mu * turn + sqrtf(fmaxf((1 - mu * mu) * (1 - turn * turn), 0.0f)) * azimuth;
          mu = fminf(fmaxf(mu, -1.0f), 1.0f);
        }
      }
    }
    atomicAdd(&counts[bin], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 66; k += blockDim.x)
    if (counts[k] != 0) atomicAdd(&ends[k], counts[k]);
}

void run(int n) {
  const int layers = 48, points = 8, cells = layers * n, wavenumbers = 4 * n, angles = 16 * n;
  float cosine[8], weight[8];
  double series[96];
  for (int k = 0; k < 8; ++k) {
    cosine[k] = (k + 0.5f) / 8;
    weight[k] = 0.125f;
  }
  for (int k = 0; k < 96; ++k) series[k] = pow(0.85, k);
  cudaMemcpyToSymbol(cosines, cosine, sizeof cosine);
  cudaMemcpyToSymbol(weights, weight, sizeof weight);
  cudaMemcpyToSymbol(expansion, series, sizeof series);
  float* pressure = device_array<float>(cells, [n](int i) { return 1.0f + 20 * (i / n) + (i % n) % 10; });
  float* temperature = device_array<float>(cells, [n](int i) {
    return 200.0f + 1.8f * (i / n) + (static_cast<unsigned>(i % n) * 2654435761u >> 16) % 100u / 10.0f;
  });
  float* vapour = device_floats(cells);
  float* table = device_array<float>(16 * 32 * points, [](int i) { return 0.001f * (1 + i % 97); });
  float* depth = device_zeros<float>(points * cells);
  float* down = device_zeros<float>(points * cells);
  float* up = device_zeros<float>(points * cells);
  double* depths = device_doubles(cells);
  double* albedos = device_array<double>(cells, [](int i) { return 0.5 + (i % 499) / 1000.0; });
  double* reflected = device_zeros<double>(cells);
  double* upward = device_zeros<double>(cells);
  double* downward = device_zeros<double>(cells);
  float* intensities = device_floats(kAngles * 8 * n);
  float* phase = device_floats(kAngles * kAngles);
  float* scattered = device_zeros<float>(kAngles * 8 * n);
  double* turns = device_array<double>(angles, [](int i) { return (i % 31415) / 10000.0; });
  double* series_out = device_zeros<double>(angles);
  const float reach = 0.1f * wavenumbers * 0.01f;
  Line* lines = device_array<Line>(600, [wavenumbers](int i) {
    const float place = (static_cast<unsigned>(i) * 2654435761u >> 12) % 10000u / 10000.0f;
    return Line{place * wavenumbers * 0.01f, 0.1f + i % 13, 0.05f + 0.01f * (i % 5)};
  });
  float* absorbed = device_zeros<float>(wavenumbers);
  unsigned* ends = device_zeros<unsigned>(66);
  float* means = device_zeros<float>(cells);

  for (int r = 0; r < kLaunches; ++r)
    absorption_depths<<<dim3(ceil_div(n, 128), layers), 128>>>(pressure, temperature, vapour, table, depth,
                                                               points, layers, n);
  for (int r = 0; r < kLaunches; ++r)
    thermal_sweeps<<<dim3(ceil_div(n, 32), points / 4), dim3(32, 4)>>>(depth, temperature, down, up, 0.95f,
                                                                       layers, n);
  for (int r = 0; r < kLaunches; ++r)
    add_layers<<<ceil_div(n, 64), 64>>>(depths, albedos, reflected, upward, downward, 0.85, 0.2, layers, n);
  for (int r = 0; r < kLaunches; ++r)
    mean_intensities<<<ceil_div(n, 32), dim3(32, 8)>>>(depth, temperature, means, layers, n);
  for (int r = 0; r < kLaunches; ++r)
    scattered_light<<<min(n, 792), dim3(kAngles, 8)>>>(intensities, phase, vapour, scattered, 8 * n);
  for (int r = 0; r < kLaunches; ++r)
    phase_series<<<ceil_div(angles, 320), 320>>>(turns, series_out, 64, angles);
  for (int r = 0; r < kLaunches; ++r)
    line_absorption<<<ceil_div(wavenumbers, 128), 128>>>(lines, absorbed, 0.0f, 0.01f, reach, 600,
                                                         wavenumbers);
  for (int r = 0; r < kLaunches; ++r)
    photon_paths<<<ceil_div(wavenumbers, 256), 256>>>(ends, 10.0f, 0.98f, 0.85f, 12345u, wavenumbers);
  free_all(pressure, temperature, vapour, table, depth, down, up, depths, albedos, reflected, upward,
           downward, intensities, phase, scattered, turns, series_out, lines, absorbed, ends, means);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("radiative_transfer");
}
