// Models of the earth: waves and terrain on n x n cells, and rays, fields and columns of soil beside them.
#include "device.h"

constexpr int kLayers = 12, kSoil = 20, kDegree = 18;
__constant__ float weights[2][5] = {{-2.5f, 1.3333f, -0.0833f}, {-2.8472f, 1.6f, -0.2f, 0.0254f, -0.0018f}};
__constant__ float layers[kLayers] = {1.5f, 1.7f, 2, 2.2f, 2.1f, 2.6f, 3, 3.3f, 3.2f, 3.7f, 4.1f, 4.5f};

// A step of the acoustic wave equation of order 2 kRadius in space. The older field becomes the newer.
template <int kRadius>
__global__ void acoustic_step(const float* now, float* other, const float* speeds, int nx, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kRadius || x >= nx - kRadius || z < kRadius || z >= nz - kRadius) return;
  const int i = z * nx + x;
  float sum = 2 * weights[kRadius / 4][0] * now[i];
#pragma unroll
  for (int k = 1; k <= kRadius; ++k)
    sum += weights[kRadius / 4][k] * (now[i - k] + now[i + k] + now[i - k * nx] + now[i + k * nx]);
  other[i] = 2 * now[i] - other[i] + 0.2f * speeds[i] * speeds[i] * sum;
}

__device__ inline float staggered(float a, float b, float c, float d) {
  return 1.125f * (c - b) - (d - a) / 24;
}

// Velocities of the elastic equations on a staggered grid, of order four. Tiles hold two of the stresses.
__global__ void elastic_velocities(const float* __restrict__ stresses, const float* __restrict__ buoyancy,
                                   float* __restrict__ velocities, int nx, int nz) {
  __shared__ float sxx[8][36], sxz[12][36];
  const int left = blockIdx.x * 32 - 2, top = blockIdx.y * 8 - 2, tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 12 * 36; k += 256) {
    const int row = k / 36, column = k % 36;
    const int i = min(max(top + row, 0), nz - 1) * nx + min(max(left + column, 0), nx - 1);
    sxz[row][column] = stresses[2 * nx * nz + i];
    if (row >= 2 && row < 10) sxx[row - 2][column] = stresses[i];
  }
  __syncthreads();
  const int x = left + tx, z = top + ty, i = z * nx + x;
  if (x < 2 || x >= nx - 2 || z < 2 || z >= nz - 2) return;
  const float *row = sxx[ty - 2] + tx, *szz = stresses + nx * nz + i, b = 0.01f * buoyancy[i];
  velocities[i] += b * (staggered(row[-1], row[0], row[1], row[2]) +
                        staggered(sxz[ty - 2][tx], sxz[ty - 1][tx], sxz[ty][tx], sxz[ty + 1][tx]));
  velocities[nx * nz + i] += b * (staggered(sxz[ty][tx - 2], sxz[ty][tx - 1], sxz[ty][tx], sxz[ty][tx + 1]) +
                                  staggered(szz[-nx], szz[0], szz[nx], szz[2 * nx]));
}

// A border that absorbs waves, at the sides and below, for some fields. Most threads return early.
__global__ void absorb_borders(float* fields, float strength, int width, int nx, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || z >= nz) return;
  const int distance = min(min(x, nx - 1 - x), nz - 1 - z);
  if (distance >= width) return;
  const float depth = strength * (width - distance);
  fields[(blockIdx.z * nz + z) * nx + x] *= expf(-depth * depth);
}

// Travel times of rays through flat layers: Newton's method for the slowness, held between two bounds.
__global__ void ray_times(float* times, int rays) {
  const int ray = blockIdx.x * blockDim.x + threadIdx.x, count = 2 + ray / 8 % (kLayers - 1);
  if (ray >= rays) return;
  float most = 0, low = 0, time = 0;
  for (int l = 0; l < count; ++l) most = fmaxf(most, layers[l]);
  const float offset = 0.5f + 0.01f * (ray % 1024);
  float high = 0.9999f / most, p = high / 2, error = offset;
  for (int tries = 0; tries < 30 && fabsf(error) > 1e-3f * offset; ++tries) {
    float reach = 0, slope = 0;
    time = 0;
    for (int l = 0; l < count; ++l) {
      const float speed = layers[l], flat = rsqrtf(1 - p * p * speed * speed);
      reach += p * speed * flat;
      slope += speed * flat * flat * flat;
      time += flat / speed;
    }
    error = reach - offset;
    (error > 0 ? high : low) = p;
    const float next = p - error / slope;
    p = next > low && next < high ? next : (low + high) / 2;
  }
  times[ray] = time;
}

struct Prism {
  float x[2], y[2], z[2], density, unused;
};

// Gravity above prisms: each station adds the eight corners of every prism. The block shares the prisms.
__global__ void prism_gravity(const Prism* prisms, float* out, int count, int width, int stations) {
  __shared__ Prism some[32];
  const int station = blockIdx.x * blockDim.x + threadIdx.x;
  const float east = station % width * 0.5f, north = station / width * 0.5f;
  float sum = 0;
  for (int start = 0; start < count; start += 32) {
    __syncthreads();
    if (threadIdx.x < 32 && start + threadIdx.x < count) some[threadIdx.x] = prisms[start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < min(32, count - start); ++k) {
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const float x = some[k].x[c & 1] - east, y = some[k].y[c >> 1 & 1] - north, z = some[k].z[c >> 2];
        const float r = sqrtf(x * x + y * y + z * z), a = fmaxf(x + r, 1e-4f), b = fmaxf(y + r, 1e-4f);
        const float part = some[k].density * (x * logf(b) + y * logf(a) - z * atan2f(x * y, z * r));
        sum += __popc(c) & 1 ? part : -part;
      }
    }
  }
  if (station < stations) out[station] = sum;
}

// Flow over a terrain: drops from every cell go down to the lowest of eight neighbours, and are counted.
__global__ void flow_paths(const float* __restrict__ heights, unsigned* passed, int most, int n) {
  for (int start = blockIdx.x * blockDim.x + threadIdx.x; start < n * n; start += gridDim.x * blockDim.x) {
    int at = start, steps = 0;
    while (steps++ < most) {
      atomicAdd(&passed[at], 1u);
      const int x = at % n, y = at / n;
      if (x == 0 || y == 0 || x == n - 1 || y == n - 1) break;
      int best = at;
      for (int k = 0; k < 9; ++k) {
        const int other = at + (k / 3 - 1) * n + k % 3 - 1;
        if (heights[other] < heights[best]) best = other;
      }
      if (best == at) break;
      at = best;
    }
  }
}

// Moisture in columns of soil: an implicit step with conductivities that depend on the moisture.
__global__ void soil_columns(const float* before, float* after, float rain, float dt, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float factor[kSoil], known[kSoil], above = 0;
  for (int l = 0; l < kSoil; ++l) {
    const float wet = 0.1f + 0.4f * before[l * columns + c];
    const float below = l < kSoil - 1 ? dt * powf(wet, 3.5f) : 0.0f;
    const float pivot = 1 / (1 + above + below - above * (l > 0 ? factor[l - 1] : 0.0f));
    factor[l] = below * pivot;
    known[l] = (wet + (l == 0 ? dt * rain : 0.0f) + above * (l > 0 ? known[l - 1] : 0.0f)) * pivot;
    above = below;
  }
  for (int l = kSoil - 2; l >= 0; --l) known[l] += factor[l] * known[l + 1];
  for (int l = 0; l < kSoil; ++l) after[l * columns + c] = fminf(known[l], 0.5f);
}

// A potential by spherical harmonics: Legendre functions by recurrences, orders outside, degrees inside.
__global__ void harmonic_potential(const double2* terms, double* out, int stations) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= stations) return;
  double s, c, sin_m, cos_m, sum = 0, sectoral = 1;
  sincospi((i % 511 + 1) / 512.0, &s, &c);
  for (int m = 0; m <= kDegree; ++m) {
    double last = 0, now = sectoral;
    sincospi(i / 511 * m * 0.01, &sin_m, &cos_m);
    for (int l = m; l <= kDegree; ++l) {
      const double2 term = terms[l * (l + 1) / 2 + m];
      sum += now * (term.x * cos_m + term.y * sin_m);
      const double next = ((2 * l + 1) * c * now - (l + m) * last) / (l - m + 1);
      last = now, now = next;
    }
    sectoral *= s * (2 * m + 1) / (m + 1.0);
  }
  out[i] = sum;
}

void run(int n) {
  const int cells = n * n, columns = cells / 32, stations = cells / 128;
  float* fields = device_floats(8 * cells);
  float* heights = device_array<float>(cells, [n](int i) { return i / n + i % n + 3 * hashed_unit(i); });
  double2* terms = device_array<double2>(190, [](int i) { return make_double2(1.0 / (i + 1), 0.5); });
  Prism* prisms = device_array<Prism>(90, [](int i) {
    const float x = i % 10, y = i / 10;
    return Prism{{x, x + 1}, {y, y + 1}, {1 + x / 10, 2 + y / 5}, 0.3f, 0};
  });
  unsigned* passed = device_zeros<unsigned>(cells);
  const dim3 grid(ceil_div(n, 32), ceil_div(n, 8)), wide(ceil_div(n, 64), ceil_div(n, 6)), block(32, 8);
  for (int r = 0; r < kLaunches; ++r)
    acoustic_step<2><<<grid, block>>>(fields, fields + cells, fields + 2 * cells, n, n);
  for (int r = 0; r < kLaunches; ++r)
    acoustic_step<4><<<wide, dim3(64, 6)>>>(fields, fields + cells, fields + 2 * cells, n, n);
  for (int r = 0; r < kLaunches; ++r)
    elastic_velocities<<<grid, block>>>(fields, heights, fields + 6 * cells, n, n);
  for (int r = 0; r < kLaunches; ++r)
    absorb_borders<<<dim3(ceil_div(n, 16), ceil_div(n, 16), 3), dim3(16, 16)>>>(fields, 0.01f, 20, n, n);
  for (int r = 0; r < kLaunches; ++r) flow_paths<<<ceil_div(cells, 1024), 256>>>(heights, passed, 12, n);
  for (int r = 0; r < kLaunches; ++r)
    soil_columns<<<ceil_div(columns, 128), 128>>>(fields, fields + cells, 0.1f, 0.5f, columns);
  for (int r = 0; r < kLaunches; ++r) ray_times<<<ceil_div(columns, 320), 320>>>(fields, columns);
  for (int r = 0; r < kLaunches; ++r)
    prism_gravity<<<ceil_div(stations, 64), 64>>>(prisms, fields, 90, 100, stations);
  for (int r = 0; r < kLaunches; ++r)
    harmonic_potential<<<ceil_div(columns, 96), 96>>>(terms, (double*)fields, columns);
  free_all(fields, heights, terms, prisms, passed);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("earth_models");
}
