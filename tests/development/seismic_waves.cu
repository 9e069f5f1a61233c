// Waves in a plane of n x n points of rock: velocities and stresses half a step apart in space and in time.
#include "device.h"

// Velocities from the stresses around them, differences of the fourth order.
__global__ void velocities(float* vx, float* vz, const float* xx, const float* zz, const float* xz,
                           const float* density, float step, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int z = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 2 && x < n - 2 && z >= 2 && z < n - 2) {
    int i = z * n + x;
    float dxx = 1.125f * (xx[i] - xx[i - 1]) - 0.0416667f * (xx[i + 1] - xx[i - 2]);
    float dxz = 1.125f * (xz[i] - xz[i - n]) - 0.0416667f * (xz[i + n] - xz[i - 2 * n]);
    float dzx = 1.125f * (xz[i + 1] - xz[i]) - 0.0416667f * (xz[i + 2] - xz[i - 1]);
    float dzz = 1.125f * (zz[i + n] - zz[i]) - 0.0416667f * (zz[i + 2 * n] - zz[i - n]);
    vx[i] += step * (dxx + dxz) / (density[i] + 1.0f);
    vz[i] += step * (dzx + dzz) / (density[i] + 1.0f);
  }
}

// Stresses from the velocities, with both constants of the rock; four columns of registers for each thread.
__global__ void __launch_bounds__(128)
    stresses(const float* __restrict__ vx, const float* __restrict__ vz, float* __restrict__ xx,
             float* __restrict__ zz, float* __restrict__ xz, const float* __restrict__ lambda,
             const float* __restrict__ mu, float step, int n) {
  const int x = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 8 + 2;
  if (x < 2 || x >= n - 2) return;
  int i = first * n + x;
  float a = vx[i - n], b = vx[i], c = vx[i + n], p = vz[i - 2 * n], q = vz[i - n], r = vz[i];
  for (int z = first; z < min(first + 8, n - 2); ++z) {
    const float d = vx[i + 2 * n], s = vz[i + n];
    const float dx = 1.125f * (vx[i + 1] - b) - 0.0416667f * (vx[i + 2] - vx[i - 1]);
    const float dz = 1.125f * (r - q) - 0.0416667f * (s - p);
    const float shear = 1.125f * (c - b + r - vz[i - 1]) - 0.0416667f * (d - a + vz[i + 1] - vz[i - 2]);
    const float m = mu[i], l = lambda[i];
    xx[i] += step * ((l + 2 * m) * dx + l * dz);
    zz[i] += step * ((l + 2 * m) * dz + l * dx);
    xz[i] += step * m * shear;
    a = b;
    b = c;
    c = d;
    p = q;
    q = r;
    r = s;
    i += n;
  }
}

// What comes near the left and the right edge dies away: `width` points of each row.
__global__ void sponge(float* vx, float* vz, float strength, int width, int n) {
  const int k = threadIdx.x, z = blockIdx.x * blockDim.y + threadIdx.y;
  if (k >= width || z >= n) return;
  const float far = strength * (width - k), factor = expf(-far * far);
  vx[z * n + k] *= factor;
  vz[z * n + k] *= factor;
  vx[z * n + n - 1 - k] *= factor;
  vz[z * n + n - 1 - k] *= factor;
}

__constant__ double differences[5] = {-2.847222, 1.6, -0.2, 0.025397, -0.001786};

// Pressure alone, in double precision and to the eighth order: 24 x 24 points in shared memory for 16 x 16.
__global__ void pressures(const double* now, double* next, const double* speeds, int n) {
  __shared__ double tile[24][24];
  const int left = blockIdx.x * 16 - 4, low = blockIdx.y * 16 - 4;
  for (int z = threadIdx.y; z < 24; z += 16)
    for (int x = threadIdx.x; x < 24; x += 16)
      tile[z][x] = now[min(max(low + z, 0), n - 1) * n + min(max(left + x, 0), n - 1)];
  __syncthreads();
  const int x = left + 4 + threadIdx.x, z = low + 4 + threadIdx.y, u = threadIdx.x + 4, w = threadIdx.y + 4;
  if (x >= n || z >= n) return;
  double sum = 2 * differences[0] * tile[w][u];
#pragma unroll
  for (int k = 1; k <= 4; ++k)
    sum += differences[k] * (tile[w][u - k] + tile[w][u + k] + tile[w - k][u] + tile[w + k][u]);
  const int i = z * n + x;
  next[i] = 2 * tile[w][u] - next[i] + 0.1 * speeds[i] * sum;
}

// The picture of what lies below: where waves from the source and waves from the receivers meet.
__global__ void meet(const float4* __restrict__ forward, const float4* __restrict__ backward, float4* image,
                     float4* light, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const float4 a = forward[i], b = backward[i];
  float4 sum = image[i], square = light[i];
  sum.x += a.x * b.x;
  sum.y += a.y * b.y;
  sum.z += a.z * b.z;
  sum.w += a.w * b.w;
  square.x += a.x * a.x;
  square.y += a.y * a.y;
  square.z += a.z * a.z;
  square.w += a.w * a.w;
  image[i] = sum;
  light[i] = square;
}

// What receivers at every fourth point of a deep column have heard, between the points: eight of them by their sines.
__global__ void receive(const float* vz, float* heard, float offset, int column, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * k + 8 >= n) return;
  float sum = 0, weights = 0;
  for (int m = 0; m < 8; ++m) {
    const float distance = m - 3 - offset, weight = sinpif(distance) / (3.1415927f * distance);
    sum += weight * vz[(4 * k + m) * n + column];
    weights += weight;
  }
  heard[k] += sum / weights;
}

void run(int n) {
  const int count = n * n;
  float* vx = device_floats(count);
  float* vz = device_floats(count);
  float* xx = device_floats(count);
  float* zz = device_floats(count);
  float* xz = device_floats(count);
  float* rock = device_floats(3 * count);
  double* now = device_doubles(count);
  double* next = device_doubles(count);
  double* speeds = device_doubles(count);
  float* heard = device_zeros<float>(n);
  for (int r = 0; r < kLaunches; ++r)
    velocities<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(vx, vz, xx, zz, xz, rock, 1e-3f, n);
  for (int r = 0; r < kLaunches; ++r)
    stresses<<<dim3(ceil_div(n, 128), ceil_div(n - 4, 8)), 128>>>(vx, vz, xx, zz, xz, rock + count,
                                                                  rock + 2 * count, 1e-3f, n);
  for (int r = 0; r < kLaunches; ++r) sponge<<<ceil_div(n, 8), dim3(32, 8)>>>(vx, vz, 0.015f, 24, n);
  for (int r = 0; r < kLaunches; ++r)
    pressures<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(now, next, speeds, n);
  for (int r = 0; r < kLaunches; ++r)
    meet<<<ceil_div(count / 4, 256), 256>>>((float4*)vx, (float4*)vz, (float4*)xx, (float4*)zz, count / 4);
  for (int r = 0; r < kLaunches; ++r) receive<<<ceil_div(n / 4, 32), 32>>>(vz, heard, 0.3f, n / 2, n);
  free_all(vx, vz, xx, zz, xz, rock, now, next, speeds, heard);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("seismic_waves");
}
