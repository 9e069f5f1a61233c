// Kernels of a regional weather model: n x n columns of 16 or 40 levels, level by level in memory.
#include "device.h"

constexpr int kMaxLevels = 40, kHalo = 3, kBands = 3, kFields = 4;
constexpr float kWarming = 2.5e6f / 1004.0f;  // latent heat over heat capacity
__constant__ float absorption[kBands] = {20, 90, 400};

__device__ float saturation(float t, float p) {
  const float e = 611.2f * expf(17.67f * (t - 273.15f) / (t - 29.65f));
  return 0.622f * e / fmaxf(p - 0.378f * e, 1.0f);
}

// Implicit vertical advection: a tridiagonal system for each column by the Thomas algorithm.
__global__ void vertical_advection(const double* __restrict__ w, const double* __restrict__ field,
                                   double* ratios, double* out, double dt, int n, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const int plane = n * n;
  int at = j * n + i;
  double ratio = 0, solved = 0;
  for (int k = 0; k < nz; ++k, at += plane) {
    const double lower = k > 0 ? -0.25 * dt * w[at] : 0.0;
    const double upper = k < nz - 1 ? 0.25 * dt * w[at + plane] : 0.0;
    double right = field[at] * (1 + lower + upper);
    if (k > 0) right -= lower * field[at - plane];
    if (k < nz - 1) right -= upper * field[at + plane];
    const double scale = 1.0 / (1.0 - lower * ratio);
    ratios[at] = ratio = upper * scale;
    out[at] = solved = (right - lower * solved) * scale;
  }
  at -= 2 * plane;
  for (int k = nz - 2; k >= 0; --k, at -= plane) out[at] = solved = out[at] - ratios[at] * solved;
}

// Horizontal diffusion by fluxes of the Laplacian. A flux that would steepen the gradient is set to zero.
__global__ void limited_diffusion(const float* in, float* out, float factor, int n) {
  __shared__ float tile[12][36];
  const int left = blockIdx.x * 32, top = blockIdx.y * 8, level = blockIdx.z * n * n;
  for (int y = threadIdx.y; y < 12; y += 8)
    for (int x = threadIdx.x; x < 36; x += 32)
      tile[y][x] = in[level + min(max(top + y - 2, 0), n - 1) * n + min(max(left + x - 2, 0), n - 1)];
  __syncthreads();
  if (left + threadIdx.x >= n || top + threadIdx.y >= n) return;
  const auto laplace = [&](int y, int x) {
    return tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x] - 4 * tile[y][x];
  };
  const auto flux = [&](int y, int x, int dy, int dx) {
    const float f = laplace(y + dy, x + dx) - laplace(y, x);
    return f * (tile[y + dy][x + dx] - tile[y][x]) > 0 ? 0.0f : f;
  };
  const int x = threadIdx.x + 2, y = threadIdx.y + 2;
  const float sum = flux(y, x, 0, 1) - flux(y, x - 1, 0, 1) + flux(y, x, 1, 0) - flux(y - 1, x, 1, 0);
  out[level + (top + y - 2) * n + left + x - 2] = tile[y][x] - factor * sum;
}

// Fourth-order hyperdiffusion in both directions, straight from global memory.
__global__ void hyperdiffusion(const double* __restrict__ in, double* out, double factor, int n, int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 2, j = blockIdx.y * blockDim.y + threadIdx.y + 2;
  const int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= n - 2 || j >= n - 2 || k >= nz) return;
  const double* f = in + ((size_t)k * n + j) * n + i;
  const double across = f[-2] + f[2] - 4 * (f[-1] + f[1]) + 6 * f[0];
  const double along = f[-2 * n] + f[2 * n] - 4 * (f[-n] + f[n]) + 6 * f[0];
  out[((size_t)k * n + j) * n + i] = f[0] - factor * (across + along);
}

// Warm rain from the top of a column down: saturation adjustment, conversion, accretion, evaporation.
__global__ void microphysics(const float* temperature, const float* pressure, const float* vapour,
                             const float* cloud, float* out_t, float* rain, float dt, int n, int nz) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n * n) return;
  float falling = 0;
  for (int at = (nz - 1) * n * n + column; at >= 0; at -= n * n) {
    float t = temperature[at], qv = vapour[at], qc = cloud[at], qs = saturation(t, pressure[at]);
    for (int pass = 0; pass < 3 && (qv > qs || qc > 0); ++pass) {
      const float slope = 1 + qs * 4302.6f * kWarming / ((t - 29.65f) * (t - 29.65f));
      const float change = fmaxf((qv - qs) / slope, -qc);
      t += kWarming * change, qv -= change, qc += change;
      qs = saturation(t, pressure[at]);
    }
    if (qc > 5e-4f) falling += 1e-3f * dt * (qc - 5e-4f);
    if (falling > 1e-7f) {
      if (qc > 1e-8f) falling += fminf(qc, 2.2f * dt * qc * powf(falling, 0.875f));
      else falling -= fminf(falling, dt * 0.02f * fmaxf(0.0f, 1 - qv / qs) * sqrtf(falling));
    }
    out_t[at] = t;
    rain[at] = falling *= 0.9f;
  }
}

// Two-stream radiation: albedos are added from the ground up, then the beams go down, band by band.
__global__ void two_stream(const float* __restrict__ cloud, const float* __restrict__ vapour,
                           float* __restrict__ heating, float sun, int n, int nz) {
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y;
  if (i >= n) return;
  float below[kMaxLevels + 1], passed[kMaxLevels], warmed[kMaxLevels];
  for (int k = 0; k < nz; ++k) warmed[k] = 0;
  for (int band = 0; band < kBands; ++band) {
    below[0] = 0.15f;
    for (int k = 0; k < nz; ++k) {
      const int at = (k * n + j) * n + i;
      const float through = __expf(-1.66f * (absorption[band] * vapour[at] + 300 * cloud[at]));
      const float bounced = 0.4f * (1 - through);
      passed[k] = through / (1 - bounced * below[k]);
      below[k + 1] = bounced + through * below[k] * passed[k];
    }
    float down = sun / kBands;
    for (int k = nz - 1; k >= 0; --k) {
      warmed[k] += down * (1 - below[k + 1] - passed[k] * (1 - below[k]));
      down *= passed[k];
    }
  }
  for (int k = 0; k < nz; ++k) heating[(k * n + j) * n + i] = warmed[k];
}

// Winds on a staggered grid: pressure gradient with a table of map factors.
__global__ void pressure_gradient(const float* __restrict__ p, const float* __restrict__ t,
                                  const float* __restrict__ map, float* du, float* dv, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n - 1 || j >= n - 1) return;
  const int flat = j * n + i, c = blockIdx.z * n * n + flat;
  const float density = p[c] / t[c], across = density + p[c + 1] / t[c + 1];
  const float along = density + p[c + n] / t[c + n];
  du[c] = -287.0f * (map[flat] + map[flat + 1]) * (p[c + 1] - p[c]) / (3000.0f * across);
  dv[c] = -287.0f * (map[flat] + map[flat + n]) * (p[c + n] - p[c]) / (3000.0f * along);
}

// Packs the strips inside the halo of four sides into a buffer, or unpacks a buffer into the halo.
template <bool kPack>
__global__ void copy_halo(float* fields, float* buffer, int n, int nz) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x, side = blockIdx.z, cells = nz * n * kHalo;
  if (cell >= cells) return;
  int depth = (side < 2 ? cell % kHalo : cell / n % kHalo) + (kPack ? kHalo : 0);
  const int along = side < 2 ? cell / kHalo % n : cell % n, k = cell / (kHalo * n);
  if (side & 1) depth = n - 1 - depth;
  float& inside = fields[(blockIdx.y * nz + k) * n * n + (side < 2 ? along * n + depth : depth * n + along)];
  float& packed = buffer[(side * kFields + blockIdx.y) * cells + cell];
  (kPack ? packed : inside) = kPack ? inside : packed;
}

// Sedimentation of rain: the largest fall in the column says how many inner time steps it needs.
__global__ void sedimentation(const float* rain, float* out, float dt, int n, int nz) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, plane = n * n;
  if (column >= plane) return;
  float q[kMaxLevels], most = 0;
  for (int k = 0; k < nz; ++k) most = fmaxf(most, q[k] = 0.01f * rain[k * plane + column]);
  const int steps = 1 + (int)(14.0f * powf(most, 0.1364f) * dt / 250.0f);
  for (int step = 0; step < steps; ++step) {
    float from_above = 0;
    for (int k = nz - 1; k >= 0; --k) {
      const float leaving = fminf(q[k], q[k] * 14.0f * __powf(q[k] + 1e-12f, 0.1364f) * dt / (250 * steps));
      q[k] += from_above - leaving;
      from_above = leaving;
    }
  }
  for (int k = 0; k < nz; ++k) out[k * plane + column] = q[k];
}

// Water in each column, a thread for a column.
__global__ void column_sums(const float* cloud, const float* p, double* paths, int plane, int nz) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= plane) return;
  double sum = 0;
  for (int k = 1; k < nz; ++k) sum += cloud[k * plane + c] * (p[(k - 1) * plane + c] - p[k * plane + c]);
  paths[c] = sum / 9.81;
}

void run(int n) {
  const int nz = n < 64 ? 16 : kMaxLevels, plane = n * n, points = nz * plane, columns = ceil_div(n, 32);
  float* t = device_array<float>(points, [&](int i) { return 300 - i / plane + 5 * hashed_unit(i); });
  float* p = device_array<float>(points, [&](int i) { return 1e5f - 2000 * (i / plane) - i % n; });
  float* vapour = device_array<float>(points, [&](int i) { return 0.02f * hashed_unit(i / 8); });
  float* cloud = device_array<float>(points, [](int i) { return fdim(hashed_unit(i / 16), 0.7f) * 4e-3f; });
  float* map = device_array<float>(plane, [n](int i) { return 1 + 0.1f * (i / n) / n; });
  float* fields = device_floats(kFields * points);
  float* buffer = device_zeros<float>(4 * kFields * nz * n * kHalo);
  double* w = device_doubles(points + plane);
  double *out = device_zeros<double>(points), *ratios = device_zeros<double>(points);
  float *f1 = fields + points, *f2 = f1 + points, *f3 = f2 + points;
  const dim3 tiles(columns, ceil_div(n, 8), nz), strips(ceil_div(nz * n * kHalo, 256), kFields, 4);
  for (int r = 0; r < kLaunches; ++r)
    vertical_advection<<<dim3(columns, ceil_div(n, 4)), dim3(32, 4)>>>(w, w + plane, ratios, out, 0.5, n, nz);
  for (int r = 0; r < kLaunches; ++r) limited_diffusion<<<tiles, dim3(32, 8)>>>(fields, f1, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    hyperdiffusion<<<dim3(columns, ceil_div(n, 4), nz / 2), dim3(32, 4, 2)>>>(w, out, 0.01, n, nz);
  for (int r = 0; r < kLaunches; ++r)
    microphysics<<<ceil_div(plane, 128), 128>>>(t, p, vapour, cloud, f1, f2, 20.0f, n, nz);
  for (int r = 0; r < kLaunches; ++r) two_stream<<<dim3(columns, n), 32>>>(cloud, vapour, f3, 1000.0f, n, nz);
  for (int r = 0; r < kLaunches; ++r) pressure_gradient<<<tiles, dim3(32, 8)>>>(p, t, map, f1, f3, n);
  for (int r = 0; r < kLaunches; ++r) copy_halo<true><<<strips, 256>>>(fields, buffer, n, nz);
  for (int r = 0; r < kLaunches; ++r) copy_halo<false><<<strips, 256>>>(fields, buffer, n, nz);
  for (int r = 0; r < kLaunches; ++r) sedimentation<<<ceil_div(plane, 192), 192>>>(f2, f3, 300, n, nz);
  for (int r = 0; r < kLaunches; ++r) column_sums<<<ceil_div(plane, 96), 96>>>(cloud, p, out, plane, nz);
  free_all(t, p, vapour, cloud, map, fields, buffer, w, out, ratios);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("weather_steps");
}
