// Fluids in boxes: steps of solvers in a flat box of 16 n x 8 n cells and in a cube of n x n x n cells.
#include "device.h"

__device__ __forceinline__ float bilinear(const float* field, float x, float y, int width, int height) {
  x = fminf(fmaxf(x, 0.0f), width - 1.0f);
  y = fminf(fmaxf(y, 0.0f), height - 1.0f);
  const int x0 = min((int)x, width - 2), y0 = min((int)y, height - 2);
  const float fx = x - x0, fy = y - y0;
  const float* row = field + y0 * width + x0;
  const float low = row[0] + fx * (row[1] - row[0]);
  const float high = row[width] + fx * (row[width + 1] - row[width]);
  return low + fy * (high - low);
}

// Semi-Lagrangian advection in the flat box: back along the velocity by the midpoint rule, then sample.
__global__ void advect_density(const float* __restrict__ u, const float* __restrict__ v,
                               const float* __restrict__ density, float* __restrict__ out, float dt,
                               int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const float half_x = x - 0.5f * dt * u[i], half_y = y - 0.5f * dt * v[i];
  const float from_x = x - dt * bilinear(u, half_x, half_y, width, height);
  const float from_y = y - dt * bilinear(v, half_x, half_y, width, height);
  out[i] = 0.999f * bilinear(density, from_x, from_y, width, height);
}

// Divergence of velocities that are kept on the faces of the cells.
__global__ void divergence_of_faces(const float* u, const float* v, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int i = y * width + x;
  if (x < width - 1 && y < height - 1) out[i] = u[i + 1] - u[i] + v[i + width] - v[i];
}

// A Jacobi sweep for the pressure in the flat box, with a tile and its rim in shared memory.
template <class T, int kWide, int kHigh>
__global__ void jacobi_tiles(const T* pressure, const T* right, T* out, int width, int height) {
  __shared__ T tile[kHigh + 2][kWide + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * kWide + tx, y = blockIdx.y * kHigh + ty;
  const int cx = min(x, width - 1), cy = min(y, height - 1);
  tile[ty + 1][tx + 1] = pressure[cy * width + cx];
  if (tx == 0) tile[ty + 1][0] = pressure[cy * width + max(cx - 1, 0)];
  if (tx == kWide - 1) tile[ty + 1][kWide + 1] = pressure[cy * width + min(cx + 1, width - 1)];
  if (ty == 0) tile[0][tx + 1] = pressure[max(cy - 1, 0) * width + cx];
  if (ty == kHigh - 1) tile[kHigh + 1][tx + 1] = pressure[min(cy + 1, height - 1) * width + cx];
  __syncthreads();
  if (x >= width || y >= height) return;
  const T north = y < height - 1 ? tile[ty + 2][tx + 1] : tile[ty + 1][tx + 1];
  const T east = x < width - 1 ? tile[ty + 1][tx + 2] : tile[ty + 1][tx + 1];
  out[y * width + x] = (tile[ty + 1][tx] + east + tile[ty][tx + 1] + north - right[y * width + x]) * T(0.25);
}

// A half sweep of over-relaxation in the cube: the inner cells of one colour.
__global__ void red_black_sweep(float* pressure, const float* divergence, float omega, int colour, int n) {
  const int y = 1 + blockIdx.y * blockDim.y + threadIdx.y, z = 1 + blockIdx.z * blockDim.z + threadIdx.z;
  const int x = 1 + 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + z + colour) & 1);
  if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int i = (z * n + y) * n + x, layer = n * n;
  const float sides = pressure[i - 1] + pressure[i + 1] + pressure[i - n] + pressure[i + n];
  const float sum = sides + pressure[i - layer] + pressure[i + layer];
  pressure[i] = (1 - omega) * pressure[i] + omega * (sum - divergence[i]) / 6;
}

__device__ float curl(const float* u, const float* v, int i, int width) {
  return 0.5f * (v[i + 1] - v[i - 1] - u[i + width] + u[i - width]);
}

// Forces in the flat box: vorticity confinement, and buoyancy by the density, none in the outermost cells.
__global__ void body_forces(const float* u, const float* v, const float* density, float2* forces,
                            float confinement, float lift, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const int i = y * width + x;
  if (x < 2 || x > width - 3 || y < 2 || y > height - 3) return;
  const float spin = curl(u, v, i, width);
  const float gx = 0.5f * (fabsf(curl(u, v, i + 1, width)) - fabsf(curl(u, v, i - 1, width)));
  const float gy = 0.5f * (fabsf(curl(u, v, i + width, width)) - fabsf(curl(u, v, i - width, width)));
  const float scale = confinement * spin * rsqrtf(gx * gx + gy * gy + 1e-10f);
  forces[i] = make_float2(gy * scale, lift * (density[i] - 0.5f) - gx * scale);
}

// The rim of the flat box: velocities turn round at walls, and corners copy the cell across the diagonal.
__global__ void boundary_ring(float* u, float* v, float* density, int width, int height) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, which = blockIdx.y;
  if (k >= 2 * (width + height)) return;
  const int side = k - 2 * width;  // not negative at the left and at the right
  const int x = side < 0 ? k % width : (side < height ? 0 : width - 1);
  const int y = side < 0 ? (k < width ? 0 : height - 1) : side % height;
  const int inner_x = min(max(x, 1), width - 2), inner_y = min(max(y, 1), height - 2);
  const bool turned = (which == 0 && inner_x != x) || (which == 1 && inner_y != y);
  float* field = which == 0 ? u : which == 1 ? v : density;
  const float value = field[inner_y * width + inner_x];
  field[y * width + x] = turned ? -value : value;
}

__device__ __forceinline__ float godunov(float back, float forward, float sign) {
  const float a = sign > 0 ? fmaxf(back, 0.0f) : fminf(back, 0.0f);
  const float b = sign > 0 ? fminf(forward, 0.0f) : fmaxf(forward, 0.0f);
  return fmaxf(a * a, b * b);
}

// A step that brings a level set of the cube back to a distance.
__global__ void reinitialise(const float* __restrict__ phi, float* __restrict__ out, float step, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int i = (z * n + y) * n + x;
  const float here = phi[i], sign = here / sqrtf(here * here + 1);
  const float west = x > 0 ? phi[i - 1] : here, east = x < n - 1 ? phi[i + 1] : here;
  const float south = y > 0 ? phi[i - n] : here, north = y < n - 1 ? phi[i + n] : here;
  const float below = z > 0 ? phi[i - n * n] : here, above = z < n - 1 ? phi[i + n * n] : here;
  const float slope = godunov(here - west, east - here, sign) + godunov(here - south, north - here, sign) +
                      godunov(here - below, above - here, sign);
  out[i] = here - step * sign * (sqrtf(slope) - 1);
}

// Flux-limited transport along the rows of the flat box: a block for each row, the row in shared memory.
template <bool kVanLeer>
__global__ void transport_rows(const double* amounts, double* out, double courant, int width) {
  extern __shared__ double row[];
  const double* from = amounts + (size_t)blockIdx.x * width;
  for (int k = threadIdx.x; k < width; k += blockDim.x) row[k] = from[k];
  __syncthreads();
  for (int k = threadIdx.x; k < width; k += blockDim.x) {
    double flux[2];
    for (int side = 0; side < 2; ++side) {
      const int cell = (k + side + width - 1) % width;
      const double back = row[cell] - row[cell > 0 ? cell - 1 : width - 1];
      const double ahead = row[cell < width - 1 ? cell + 1 : 0] - row[cell];
      double slope = 0;
      if (back * ahead > 0)
        slope = kVanLeer ? 2 * back * ahead / (back + ahead) : (fabs(back) < fabs(ahead) ? back : ahead);
      flux[side] = courant * (row[cell] + 0.5 * (1 - courant) * slope);
    }
    out[(size_t)blockIdx.x * width + k] = row[k] + flux[0] - flux[1];
  }
}

// The sum of squares of the residuals of the pressure in the flat box.
__global__ void residual_norm(const double* pressure, const double* right, double* sum, int width,
                              int height) {
  double squares = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < width * height; i += gridDim.x * blockDim.x) {
    const int x = i % width, y = i / width;
    if (x == 0 || x == width - 1 || y == 0 || y == height - 1) continue;
    const double around = pressure[i - 1] + pressure[i + 1] + pressure[i - width] + pressure[i + width];
    const double rest = right[i] - (around - 4 * pressure[i]);
    squares += rest * rest;
  }
  for (int d = 16; d > 0; d >>= 1) squares += __shfl_down_sync(0xffffffffu, squares, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, squares);
}

void run(int n) {
  const int width = 16 * n, height = 8 * n, area = width * height, volume = n * n * n;
  float* u = device_array<float>(area, [width](int i) { return 3 * sinf(0.02f * (i / width)); });
  float* v = device_array<float>(area, [width](int i) { return 2 * cosf(0.03f * (i % width)); });
  float* density = device_floats(area);
  float* advected = device_zeros<float>(area);
  float2* forces = device_zeros<float2>(area);
  double* pressure = device_doubles(area);
  double* right = device_array<double>(area, [](int i) { return 0.001 * (i % 77 - 38); });
  double* out = device_zeros<double>(area);
  float* divergence = device_array<float>(volume, [](int i) { return 0.01f * (i % 91 - 45); });
  float* potential = device_floats(volume);
  float* phi = device_array<float>(volume, [](int i) { return 20 * hashed_unit(i) - 8; });
  float* distance = device_zeros<float>(volume);
  double* norm = device_zeros<double>(1);
  const dim3 flat(ceil_div(width, 32), ceil_div(height, 8)), narrow(ceil_div(width, 24), ceil_div(height, 8));
  const dim3 halves(ceil_div(n, 32), ceil_div(n, 8), ceil_div(n, 2)), wall(ceil_div(48 * n, 128), 3);
  const dim3 cube(ceil_div(n, 32), ceil_div(n, 4), ceil_div(n, 2)), rows(ceil_div(width, 96), height);
  for (int r = 0; r < kLaunches; ++r)
    advect_density<<<flat, dim3(32, 8)>>>(u, v, density, advected, 0.7f, width, height);
  for (int r = 0; r < kLaunches; ++r)
    divergence_of_faces<<<flat, dim3(32, 8)>>>(u, v, advected, width, height);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_tiles<float, 32, 8><<<flat, dim3(32, 8)>>>(density, u, advected, width, height);
  for (int r = 0; r < kLaunches; ++r)
    jacobi_tiles<double, 24, 8><<<narrow, dim3(24, 8)>>>(pressure, right, out, width, height);
  for (int r = 0; r < kLaunches; ++r)
    red_black_sweep<<<halves, dim3(16, 8, 2)>>>(potential, divergence, 1.7f, r % 2, n);
  for (int r = 0; r < kLaunches; ++r)
    body_forces<<<rows, 96>>>(u, v, density, forces, 0.3f, 0.1f, width, height);
  for (int r = 0; r < kLaunches; ++r) boundary_ring<<<wall, 128>>>(u, v, density, width, height);
  for (int r = 0; r < kLaunches; ++r) reinitialise<<<cube, dim3(32, 4, 2)>>>(phi, distance, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    transport_rows<true><<<height, 160, width * sizeof(double)>>>(pressure, out, 0.4, width);
  for (int r = 0; r < kLaunches; ++r)
    transport_rows<false><<<height, 1024, width * sizeof(double)>>>(pressure, out, 0.4, width);
  for (int r = 0; r < kLaunches; ++r)
    residual_norm<<<min(ceil_div(area, 256), 1056), 256>>>(pressure, right, norm, width, height);
  free_all(u, v, density, advected, forces, pressure, right, out, divergence, potential, phi, distance,
           norm);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("fluid_boxes");
}
