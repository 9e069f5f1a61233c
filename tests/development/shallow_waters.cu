// n x n cells of shallow water over a bed: the depth, two discharges and the height of the bed for each cell.
#include <cmath>

#include "device.h"

constexpr float kGravity = 9.81f;
constexpr float kDry = 1e-3f;

struct __align__(16) Cell {
  double h, hu, hv, bed;
};

struct Soil {
  double conductivity, suction, rain;
};

// The flux of mass and of two momenta through the left face of each cell (HLL); a face between dry cells has none.
__global__ void face_fluxes_hll(const float* __restrict__ h, const float* __restrict__ hu,
                                const float* __restrict__ hv, const float* __restrict__ bed,
                                float* __restrict__ mass, float* __restrict__ along,
                                float* __restrict__ across, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int right = y * n + x, left = x > 0 ? right - 1 : right;
  float hl = h[left], hr = h[right];
  float f0 = 0, f1 = 0, f2 = 0;
  if (hl > kDry || hr > kDry) {
    const float ul = hl > kDry ? hu[left] / hl : 0.0f, ur = hr > kDry ? hu[right] / hr : 0.0f;
    const float vl = hl > kDry ? hv[left] / hl : 0.0f, vr = hr > kDry ? hv[right] / hr : 0.0f;
    const float zl = bed[left], zr = bed[right], z = fmaxf(zl, zr);
    hl = fmaxf(0.0f, hl + zl - z);
    hr = fmaxf(0.0f, hr + zr - z);
    const float cl = sqrtf(kGravity * hl), cr = sqrtf(kGravity * hr);
    const float sl = fminf(ul - cl, ur - cr), sr = fmaxf(ul + cl, ur + cr);
    const float ml = hl * ul, mr = hr * ur;
    const float pl = ml * ul + 0.5f * kGravity * hl * hl, pr = mr * ur + 0.5f * kGravity * hr * hr;
    if (sl >= 0) {
      f0 = ml;
      f1 = pl;
    } else if (sr <= 0) {
      f0 = mr;
      f1 = pr;
    } else {
      const float inverse = 1.0f / (sr - sl);
      f0 = (sr * ml - sl * mr + sl * sr * (hr - hl)) * inverse;
      f1 = (sr * pl - sl * pr + sl * sr * (mr - ml)) * inverse;
    }
    f2 = f0 * (f0 > 0 ? vl : vr);
  }
  mass[right] = f0;
  along[right] = f1;
  across[right] = f2;
}

__device__ inline void rusanov(double hl, double ql, double tl, double hr, double qr, double tr,
                               double* flux) {
  const double il = hl > 1e-6 ? 1.0 / hl : 0.0, ir = hr > 1e-6 ? 1.0 / hr : 0.0;
  const double ul = ql * il, ur = qr * ir;
  const double speed = fmax(fabs(ul) + sqrt(9.81 * hl), fabs(ur) + sqrt(9.81 * hr));
  flux[0] = 0.5 * (ql + qr - speed * (hr - hl));
  flux[1] = 0.5 * (ql * ul + qr * ur + 4.905 * (hl * hl + hr * hr) - speed * (qr - ql));
  flux[2] = 0.5 * (tl * ul + tr * ur - speed * (tr - tl));
}

// One explicit step of each cell with Rusanov fluxes on its four sides, in double precision, from a shared tile.
__global__ void __launch_bounds__(128) rusanov_step(const Cell* in, Cell* out, double ratio, int n) {
  __shared__ Cell tile[10][18];
  const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 180; k += 128) {
    const int x = min(max(x0 + k % 18, 0), n - 1), y = min(max(y0 + k / 18, 0), n - 1);
    tile[k / 18][k % 18] = in[y * n + x];
  }
  __syncthreads();
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = x0 + tx, y = y0 + ty;
  if (x >= n || y >= n) return;
  const Cell own = tile[ty][tx];
  const Cell w = tile[ty][tx - 1], e = tile[ty][tx + 1], s = tile[ty - 1][tx], t = tile[ty + 1][tx];
  double west[3], east[3], south[3], north[3];
  rusanov(w.h, w.hu, w.hv, own.h, own.hu, own.hv, west);
  rusanov(own.h, own.hu, own.hv, e.h, e.hu, e.hv, east);
  rusanov(s.h, s.hv, s.hu, own.h, own.hv, own.hu, south);
  rusanov(own.h, own.hv, own.hu, t.h, t.hv, t.hu, north);
  Cell result;
  result.h = fmax(0.0, own.h - ratio * (east[0] - west[0] + north[0] - south[0]));
  result.hu =
      own.hu - ratio * (east[1] - west[1] + north[2] - south[2]) - ratio * 4.905 * own.h * (e.bed - w.bed);
  result.hv =
      own.hv - ratio * (east[2] - west[2] + north[1] - south[1]) - ratio * 4.905 * own.h * (t.bed - s.bed);
  result.bed = own.bed;
  out[y * n + x] = result;
}

// New depths and discharges from the differences of the face fluxes and the slope of the bed.
__global__ void apply_fluxes(const float* h, const float* hu, const float* hv, const float* bed,
                             const float* mass, const float* along, const float* across, float* new_h,
                             float* new_hu, float* new_hv, float ratio, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const int next = x < n - 1 ? i + 1 : i, last = x > 0 ? i - 1 : i;
  const float depth = h[i] - ratio * (mass[next] - mass[i]);
  if (depth <= kDry) {
    new_h[i] = fmaxf(depth, 0.0f);
    new_hu[i] = 0;
    new_hv[i] = 0;
    return;
  }
  new_h[i] = depth;
  new_hu[i] =
      hu[i] - ratio * (along[next] - along[i]) - ratio * 0.5f * kGravity * depth * (bed[next] - bed[last]);
  new_hv[i] = hv[i] - ratio * (across[next] - across[i]);
}

// Semi-implicit Manning friction on both discharges, in a grid-stride loop; dry cells come to rest.
__global__ void manning_friction(const float* h, const float2* discharge, const float* roughness,
                                 float2* slowed, float dt, int cells) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    const float depth = h[i];
    float2 q = make_float2(0, 0);
    if (depth > kDry) {
      q = discharge[i];
      const float m = roughness[i];
      const float speed = sqrtf(q.x * q.x + q.y * q.y) / depth;
      const float drag = kGravity * m * m * speed / powf(depth, 4.0f / 3.0f);
      const float factor = 1.0f / (1.0f + dt * drag);
      q.x *= factor;
      q.y *= factor;
    }
    slowed[i] = q;
  }
}

// Rain and Green-Ampt infiltration by Newton's method, the soil's numbers looked up by its kind, in double precision.
__global__ void infiltrate(const unsigned char* __restrict__ kinds, const Soil* __restrict__ soils,
                           const double* __restrict__ soaked, double* __restrict__ now_soaked,
                           double* __restrict__ water, double dt, int iterations, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const Soil soil = soils[kinds[i]];
  const double before = soaked[i], supply = soil.rain * dt;
  const double target = before + soil.conductivity * dt;
  double f = target;
  for (int k = 0; k < iterations; ++k) {
    const double sum = soil.suction + f;
    const double miss = f - soil.suction * log(sum / (soil.suction + before)) - target;
    f -= miss * sum / (f + 1e-9);
  }
  const double taken = fmin(fmax(f - before, 0.0), supply);
  now_soaked[i] = before + taken;
  water[i] = supply - taken;
}

// The fastest wave of all cells, which limits the time step: a tree in shared memory, then an atomic maximum.
__global__ void fastest_wave(const float* h, const float* hu, const float* hv, int* fastest, int cells) {
  __shared__ float best[256];
  float own = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < cells; i += gridDim.x * 256) {
    const float depth = h[i];
    if (depth > kDry) {
      const float u = fabsf(hu[i]), v = fabsf(hv[i]);
      own = fmaxf(own, fmaxf(u, v) / depth + sqrtf(kGravity * depth));
    }
  }
  best[threadIdx.x] = own;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(fastest, __float_as_int(best[0]));
}

// The local-inertia formula for the flow between a cell and the next one, along x or along y.
template <bool kAlongX>
__global__ void local_inertia(const float* __restrict__ h, const float* __restrict__ bed,
                              const float* __restrict__ q, float* __restrict__ next, float dt, float dx,
                              float manning, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x, j = kAlongX ? i + 1 : i + n;
  const float za = bed[i], zb = bed[j];
  const float a = za + h[i], b = zb + h[j];
  const float flow = fmaxf(a, b) - fmaxf(za, zb);
  float result = 0;
  if (flow > kDry) {
    const float old = q[i], slope = (b - a) / dx;
    result = (old - kGravity * flow * dt * slope) /
             (1.0f + kGravity * dt * manning * manning * fabsf(old) / powf(flow, 7.0f / 3.0f));
    const float most = flow * sqrtf(kGravity * flow);
    result = fminf(fmaxf(result, -most), most);
  }
  next[i] = result;
}

// The volume of water in each catchment: a thread goes down some rows and adds whenever the catchment changes.
__global__ void catchment_volumes(const float* h, const int* catchments, float* volumes, int rows, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  const int first = blockIdx.y * rows, end = min(first + rows, n);
  int now = catchments[first * n + x];
  float sum = 0;
  for (int y = first; y < end; ++y) {
    const int own = catchments[y * n + x];
    if (own != now) {
      atomicAdd(&volumes[now], sum);
      sum = 0;
      now = own;
    }
    sum += h[y * n + x];
  }
  atomicAdd(&volumes[now], sum);
}

float bed_at(int i, int n) {
  const float x = (i % n) * 6.2831853f / n, y = (i / n) * 6.2831853f / n;
  return 1.5f * sinf(3 * x) * cosf(2 * y) + 0.25f * sinf(17 * x + 11 * y);
}

void run(int n) {
  const int cells = n * n;
  const auto bed_of = [n](int i) { return bed_at(i, n); };
  const auto depth_of = [n](int i) { return fmaxf(0.0f, 0.2f - bed_at(i, n)); };
  float* bed = device_array<float>(cells, bed_of);
  float* h = device_array<float>(cells, depth_of);
  float* hu = device_array<float>(cells, [](int i) { return (i % 613) / 613.0f - 0.5f; });
  float* hv = device_array<float>(cells, [](int i) { return (i % 419) / 838.0f - 0.25f; });
  float* pairs = device_floats(2 * cells);
  float* slowed = device_zeros<float>(2 * cells);
  float* roughness = device_array<float>(cells, [](int i) { return 0.02f + 0.01f * (i % 7); });
  float* fluxes = device_zeros<float>(3 * cells);
  float* states = device_zeros<float>(3 * cells);
  Cell* before = device_array<Cell>(cells, [n](int i) {
    const double z = bed_at(i, n);
    return Cell{fmax(0.0, 0.2 - z), (i % 613) / 1226.0 - 0.25, (i % 419) / 838.0 - 0.25, z};
  });
  Cell* after = device_zeros<Cell>(cells);
  unsigned char* kinds = device_array<unsigned char>(
      cells, [n](int i) { return static_cast<unsigned char>((i % n / 9 * 5 + i / n / 13 * 3) % 12); });
  Soil* soils = device_array<Soil>(12, [](int i) {
    return Soil{1e-6 * (1 + i), 0.05 + 0.02 * i, 2e-6 + 1e-6 * i};
  });
  double* soaked = device_array<double>(cells, [](int i) { return 0.01 + (i % 777) / 7770.0; });
  double* now_soaked = device_zeros<double>(cells);
  double* water = device_zeros<double>(cells);
  int* catchments = device_array<int>(cells, [n](int i) {
    const int x = i % n, y = i / n;
    return (x + y / 3) * 16 / (2 * n) * 16 + (y + x / 5) * 16 / (2 * n);
  });
  float* volumes = device_zeros<float>(256);
  int* fastest = device_zeros<int>(1);

  for (int r = 0; r < kLaunches; ++r)
    face_fluxes_hll<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(
        h, hu, hv, bed, fluxes, fluxes + cells, fluxes + 2 * cells, n);
  for (int r = 0; r < kLaunches; ++r)
    rusanov_step<<<dim3(ceil_div(n, 16), ceil_div(n, 8)), dim3(16, 8)>>>(before, after, 0.02, n);
  for (int r = 0; r < kLaunches; ++r)
    apply_fluxes<<<dim3(ceil_div(n, 64), ceil_div(n, 2)), dim3(64, 2)>>>(
        h, hu, hv, bed, fluxes, fluxes + cells, fluxes + 2 * cells, states, states + cells,
        states + 2 * cells, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    manning_friction<<<min(ceil_div(cells, 384), 528), 384>>>(h, (float2*)pairs, roughness, (float2*)slowed,
                                                              0.5f, cells);
  for (int r = 0; r < kLaunches; ++r)
    infiltrate<<<ceil_div(cells, 128), 128>>>(kinds, soils, soaked, now_soaked, water, 60.0, 4, cells);
  for (int r = 0; r < kLaunches; ++r)
    fastest_wave<<<min(ceil_div(cells, 1024), 1056), 256>>>(h, hu, hv, fastest, cells);
  for (int r = 0; r < kLaunches; ++r)
    local_inertia<true>
        <<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(h, bed, hu, slowed, 0.5f, 10.0f, 0.03f, n);
  for (int r = 0; r < kLaunches; ++r)
    local_inertia<false>
        <<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(h, bed, hv, slowed, 0.5f, 10.0f, 0.03f, n);
  for (int r = 0; r < kLaunches; ++r)
    catchment_volumes<<<dim3(ceil_div(n, 96), ceil_div(n, 24)), 96>>>(h, catchments, volumes, 24, n);
  free_all(bed, h, hu, hv, pairs, slowed, roughness, fluxes, states, before, after, kinds, soils, soaked,
           now_soaked, water, catchments, volumes, fastest);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("shallow_waters");
}
