// Stencils and loop nests in one to three dimensions, on a cube of n cells a side or its cells laid out otherwise.
#include "device.h"

constexpr int kPlaneSteps = 4;
__constant__ float kStar[5] = {0.4f, 0.15f, 0.08f, 0.05f, 0.02f};
__constant__ float kBoxWeights[4] = {0.3f, 0.06f, 0.03f, 0.015f};

struct Flow { float x, y, z; };

// Applies a symmetric star of radius R along a line, straight from global memory.
template <class T, int R>
__global__ void line_star(const T* __restrict__ in, T* __restrict__ out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < R || i >= count - R) return;
  T sum = in[i] * static_cast<T>(kStar[0]);
#pragma unroll
  for (int k = 1; k <= R; ++k) sum += static_cast<T>(kStar[k]) * (in[i - k] + in[i + k]);
  out[i] = sum;
}

// Advances a plane by four Jacobi steps in a tile of 32 by 32 cells, of which the inner 24 by 24 are kept.
__global__ void plane_temporal(const double* in, double* out, int width) {
  __shared__ double tile[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y, inner = 32 - 2 * kPlaneSteps;
  const int x = blockIdx.x * inner + tx - kPlaneSteps, y = blockIdx.y * inner + ty - kPlaneSteps;
  const bool inside = x > 0 && y > 0 && x < width - 1 && y < width - 1;
  tile[ty][tx] = in[min(max(y, 0), width - 1) * width + min(max(x, 0), width - 1)];
  __syncthreads();
#pragma unroll
  for (int step = 1; step <= kPlaneSteps; ++step) {
    const bool active = inside && tx >= step && tx < 32 - step && ty >= step && ty < 32 - step;
    double value = 0;
    if (active) value = 0.25 * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
    __syncthreads();
    if (active) tile[ty][tx] = value;
    __syncthreads();
  }
  const bool kept = tx >= kPlaneSteps && tx < 32 - kPlaneSteps && ty >= kPlaneSteps && ty < 32 - kPlaneSteps;
  if (kept && x < width && y < width) out[y * width + x] = tile[ty][tx];
}

// Smooths a plane with a separable box of radius R: columns in registers, rows by shuffles within a warp.
template <int R>
__global__ void plane_box_shuffle(const float* __restrict__ in, float* __restrict__ out, int width) {
  const int lane = threadIdx.x, x = blockIdx.x * (32 - 2 * R) + lane - R, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = min(max(x, 0), width - 1);
  float sum = 0;
#pragma unroll
  for (int k = -R; k <= R; ++k)
    sum += kBoxWeights[k < 0 ? -k : k] * in[min(max(y + k, 0), width - 1) * width + column];
  float total = kBoxWeights[0] * sum;
#pragma unroll
  for (int k = 1; k <= R; ++k)
    total += kBoxWeights[k] * (__shfl_up_sync(~0u, sum, k) + __shfl_down_sync(~0u, sum, k));
  if (lane >= R && lane < 32 - R && x < width && y < width) out[y * width + x] = total;
}

// Diffuses heat with an anisotropic tensor of three coefficients for each cell, nine points in double precision.
__global__ void plane_anisotropic(const double* u, const double* xx, const double* yy, double* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= width - 1) return;
  const int c = y * width + x;
  const double cross = u[c + width + 1] - u[c + width - 1] - u[c - width + 1] + u[c - width - 1];
  const double along = xx[c] * (u[c + 1] - u[c]) - xx[c - 1] * (u[c] - u[c - 1]);
  const double across = yy[c] * (u[c + width] - u[c]) - yy[c - width] * (u[c] - u[c - width]);
  out[c] = u[c] + 0.1 * (along + across) + 0.02 * sqrt(xx[c] * yy[c]) * cross;
}

// Averages the 27 cells of a box of radius one, one thread for each cell of the cube.
__global__ void cube_box(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float sum = 0;
  for (int k = -1; k <= 1; ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i)
        sum += kBoxWeights[abs(i) + abs(j) + abs(k)] * in[((z + k) * n + y + j) * n + x + i];
  out[(z * n + y) * n + x] = sum;
}

// Applies a star of radius R with a queue of registers along z and a tile of the present plane in shared memory.
template <int R>
__global__ void cube_star_queue(const float* __restrict__ in, float* __restrict__ out, int n, int depth) {
  __shared__ float tile[8 + 2 * R][32 + 2 * R];
  const int left = blockIdx.x * 32, top = blockIdx.y * 8, x = left + threadIdx.x, y = top + threadIdx.y;
  const int first = R + blockIdx.z * depth, last = min(first + depth, n - R), plane = n * n;
  if (first >= last) return;
  const float* column = in + min(y, n - 1) * n + min(x, n - 1);
  float queue[2 * R + 1];
#pragma unroll
  for (int k = 0; k < 2 * R; ++k) queue[k + 1] = column[(first - R + k) * plane];
  for (int z = first; z < last; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * R; ++k) queue[k] = queue[k + 1];
    queue[2 * R] = column[(z + R) * plane];
    for (int j = threadIdx.y; j < 8 + 2 * R; j += 8)
      for (int i = threadIdx.x; i < 32 + 2 * R; i += 32)
        tile[j][i] = in[z * plane + min(max(top + j - R, 0), n - 1) * n + min(max(left + i - R, 0), n - 1)];
    __syncthreads();
    float sum = kStar[0] * queue[R];
#pragma unroll
    for (int k = 1; k <= R; ++k) {
      const int i = threadIdx.x + R, j = threadIdx.y + R;
      sum += kStar[k] * (queue[R - k] + queue[R + k] + tile[j][i - k] + tile[j][i + k]);
      sum += kStar[k] * (tile[j - k][i] + tile[j + k][i]);
    }
    if (x >= R && y >= R && x < n - R && y < n - R) out[z * plane + y * n + x] = sum;
    __syncthreads();
  }
}

// Relaxes the cells of one colour of a chessboard cube in place, with over-relaxation.
__global__ void cube_red_black(double* u, const double* rhs, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z + 1;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + z + colour) % 2;
  if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int c = (z * n + y) * n + x, plane = n * n;
  const double sum = u[c - 1] + u[c + 1] + u[c - n] + u[c + n] + u[c - plane] + u[c + plane];
  u[c] += 1.5 * ((sum - 1e-3 * rhs[c]) / 6 - u[c]);
}

// Takes the curl of a vector field held as an array of structures.
__global__ void cube_curl(const Flow* __restrict__ v, Flow* __restrict__ curl, int n, float scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  for (int z = 1 + blockIdx.z * 16; z < min(17 + (int)blockIdx.z * 16, n - 1); ++z) {
    const int c = (z * n + y) * n + x, plane = n * n;
    const Flow e = v[c + 1], w = v[c - 1], s = v[c + n], b = v[c - n], up = v[c + plane], down = v[c - plane];
    curl[c] = {scale * (s.z - b.z - up.y + down.y), scale * (up.x - down.x - e.z + w.z),
               scale * (e.y - w.y - s.x + b.x)};
  }
}

// Takes the divergence of a conductivity times a gradient, cells numbered in one dimension.
__global__ void cube_flux_divergence(const double* u, const double* k, double* out, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, plane = n * n;
  const int x = c % n, y = c / n % n, z = c / plane;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int strides[3] = {1, n, plane};
  double sum = 0;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const int d = strides[axis];
    const double after = 2 * k[c] * k[c + d] / (k[c] + k[c + d] + 1e-9);
    const double before = 2 * k[c] * k[c - d] / (k[c] + k[c - d] + 1e-9);
    sum += after * (u[c + d] - u[c]) - before * (u[c] - u[c - d]);
  }
  out[c] = sum;
}

__device__ float minmod(float a, float b) {
  return a * b <= 0 ? 0 : fabsf(a) < fabsf(b) ? a : b;
}

// Advects a tracer over a plane by second-order upwind differences, the side chosen by the sign of the wind.
__global__ void plane_upwind(const float* q, const float* wind, float* out, int width, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= width - 2 || y >= width - 2) return;
  const int c = y * width + x;
  const float a = wind[c] - 0.5f, b = wind[c + 1] - 0.5f, m = q[c];
  float change;
  if (a > 0) change = a * (m - q[c - 1] + 0.5f * minmod(q[c + 1] - m, m - q[c - 1]));
  else change = a * (q[c + 1] - m - 0.5f * minmod(q[c + 2] - q[c + 1], q[c + 1] - m));
  if (b > 0) change += b * (m - q[c - width] + 0.5f * minmod(q[c + width] - m, m - q[c - width]));
  else change += b * (q[c + width] - m - 0.5f * minmod(q[c + 2 * width] - q[c + width], q[c + width] - m));
  out[c] = m - dt * change;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int count = n * n * n, side = ceil_div(n, 32), rows = ceil_div(n, 8);
  int width = 1;
  while ((width + 1) * (width + 1) <= count) ++width;
  float *a = device_floats(count), *b = device_zeros<float>(count), *wind = device_floats(count);
  double *u = device_doubles(count), *k = device_doubles(count), *out = device_zeros<double>(count);
  Flow *v = device_array<Flow>(count, [](int i) { return Flow{i % 31 / 31.0f, i % 47 / 47.0f, i % 59 / 59.0f}; });
  Flow* curl = device_zeros<Flow>(count);
  REPEAT line_star<float, 4><<<ceil_div(count, 256), 256>>>(a, b, count);
  REPEAT line_star<double, 2><<<ceil_div(count, 1024), 1024>>>(u, out, count);
  REPEAT plane_temporal<<<dim3(ceil_div(width, 24), ceil_div(width, 24)), dim3(32, 32)>>>(u, out, width);
  REPEAT plane_box_shuffle<3><<<dim3(ceil_div(width, 26), ceil_div(width, 6)), dim3(32, 6)>>>(a, b, width);
  REPEAT plane_anisotropic<<<dim3(ceil_div(width, 32), ceil_div(width, 4)), dim3(32, 4)>>>(u, k, u, out, width);
  REPEAT cube_box<<<dim3(ceil_div(n, 16), ceil_div(n, 4), ceil_div(n, 4)), dim3(16, 4, 4)>>>(a, b, n);
  REPEAT cube_star_queue<4><<<dim3(side, rows, ceil_div(n, 64)), dim3(32, 8)>>>(a, b, n, 64);
  REPEAT cube_star_queue<2><<<dim3(side, rows, 1), dim3(32, 8)>>>(a, b, n, n);
  REPEAT cube_red_black<<<dim3(ceil_div(n, 128), rows, n - 2), dim3(64, 8)>>>(u, k, r % 2, n);
  REPEAT cube_curl<<<dim3(side, ceil_div(n, 2), ceil_div(n, 16)), dim3(32, 2)>>>(v, curl, n, 0.5f);
  REPEAT cube_flux_divergence<<<ceil_div(count, 128), 128>>>(u, k, out, n);
  REPEAT plane_upwind<<<dim3(ceil_div(width, 64), ceil_div(width, 8)), dim3(64, 8)>>>(a, wind, b, width, 0.1f);
  free_all(a, b, wind, u, k, out, v, curl);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("stencil_factory");
}
