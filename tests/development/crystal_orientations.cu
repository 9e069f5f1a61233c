// The orientations of n crystals, as quaternions: rotations, symmetries, textures.
#include "device.h"

__device__ float4 times(float4 a, float4 b) {
  return make_float4(
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}

// From three angles in planes of their own.
__global__ void from_angles(const float* angles, float4* orientations, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = 6.2831853f * angles[i], b = 3.1415927f * angles[n + i], c = 6.2831853f * angles[2 * n + i];
  const float s = sinf(b / 2), t = cosf(b / 2);
  orientations[i] =
      make_float4(s * cosf((a - c) / 2), s * sinf((a - c) / 2), t * sinf((a + c) / 2), t * cosf((a + c) / 2));
}

__constant__ float4 symmetries[24];

// The least angle between two crystals by the 24 rotations of a cube.
__global__ void misorientations(const float4* __restrict__ orientations, float* angles, int distance, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = orientations[i], b = orientations[(i + distance) % n];
  const float4 between = times(make_float4(-a.x, -a.y, -a.z, a.w), b);
  float most = 0;
  for (int k = 0; k < 24; ++k) {
    const float4 s = symmetries[k];
    most = fmaxf(most, fabsf(s.w * between.w - s.x * between.x - s.y * between.y - s.z * between.z));
  }
  angles[i] = 2 * acosf(fminf(most, 1.0f));
}

// A strain of each crystal, six numbers in planes of their own, turned to the axes of the sample.
__global__ void turn_strains(const float4* orientations, const double* strains, double* turned, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 q = orientations[i];
  const double x = q.x, y = q.y, z = q.z, w = q.w;
  const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                          {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                          {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
  const double xx = strains[i], yy = strains[n + i], zz = strains[2 * n + i];
  const double yz = strains[3 * n + i], xz = strains[4 * n + i], xy = strains[5 * n + i];
  const double e[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
  int at = i;
#pragma unroll
  for (int a = 0; a < 3; ++a)
#pragma unroll
    for (int b = 0; b <= a; ++b) {
      double sum = 0;
#pragma unroll
      for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int d = 0; d < 3; ++d) sum += r[a][c] * e[c][d] * r[b][d];
      turned[at] = sum;
      at += n;
    }
}

// On a map of `width` crystals a row: the mean of each one and its four neighbours, which may be of the other sign.
__global__ void smooth(const float4* orientations, float4* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const float4 here = orientations[y * width + x];
  const int around[4] = {-width, -1, 1, width};
  float4 sum = here;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 q = orientations[y * width + x + around[k]];
    const float sign = copysignf(1.0f, here.x * q.x + here.y * q.y + here.z * q.z + here.w * q.w);
    sum.x += sign * q.x;
    sum.y += sign * q.y;
    sum.z += sign * q.z;
    sum.w += sign * q.w;
  }
  const float factor = rsqrtf(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w + 1e-12f);
  out[y * width + x] = make_float4(sum.x * factor, sum.y * factor, sum.z * factor, sum.w * factor);
}

// How much of each of 48 ideal orientations is in a crystal: bells around them, which lie in shared memory.
__global__ void __launch_bounds__(128) textures(const float4* __restrict__ orientations, const float4* ideals,
                                                float* density, float sharpness, int n) {
  __shared__ float4 centre[48];
  if (threadIdx.x < 48) centre[threadIdx.x] = ideals[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float4 q = orientations[i];
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < 48; ++k) {
    const float4 c = centre[k];
    const float cosine = q.x * c.x + q.y * c.y + q.z * c.z + q.w * c.w;
    sum += expf(sharpness * (cosine * cosine - 1));
  }
  density[i] = sum / 48;
}

// Where the third axis of each crystal meets the upper half of a sphere, counted on a disc of 64 x 64.
__global__ void pole_figure(const float4* orientations, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 q = orientations[i];
    float x = 2 * (q.x * q.z + q.y * q.w), y = 2 * (q.y * q.z - q.x * q.w);
    const float z = 1 - 2 * (q.x * q.x + q.y * q.y), factor = 1 / (1 + fabsf(z));
    const int column = min(max(static_cast<int>(32 + 32 * x * factor), 0), 63);
    const int row = min(max(static_cast<int>(32 + 32 * y * factor), 0), 63);
    atomicAdd(counts + row * 64 + column, 1);
  }
}

void run(int n) {
  float4 turns[24];
  for (int k = 0; k < 24; ++k) turns[k] = make_float4(k % 3 * 0.5f, k % 4 * 0.25f, k % 5 * 0.2f, 0.5f);
  cudaMemcpyToSymbol(symmetries, turns, sizeof turns);
  const int width = 256;
  float* angles = device_floats(3 * n);
  float* orientations = device_zeros<float>(4 * n);
  double* strains = device_doubles(6 * n);
  double* out = device_zeros<double>(6 * n);
  for (int r = 0; r < kLaunches; ++r)
    from_angles<<<ceil_div(n, 256), 256>>>(angles, (float4*)orientations, n);
  for (int r = 0; r < kLaunches; ++r)
    misorientations<<<ceil_div(n, 256), 256>>>((float4*)orientations, (float*)out, 256, n);
  for (int r = 0; r < kLaunches; ++r)
    turn_strains<<<ceil_div(n, 128), 128>>>((float4*)orientations, strains, out, n);
  for (int r = 0; r < kLaunches; ++r)
    smooth<<<dim3(ceil_div(width, 16), ceil_div(n / width, 16)), dim3(16, 16)>>>(
        (float4*)orientations, (float4*)out, width, n / width);
  for (int r = 0; r < kLaunches; ++r)
    textures<<<ceil_div(n, 128), 128>>>((float4*)orientations, (float4*)angles, (float*)out, 12.0f, n);
  for (int r = 0; r < kLaunches; ++r) pole_figure<<<264, 256>>>((float4*)orientations, (int*)out, n);
  free_all(angles, orientations, strains, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("crystal_orientations");
}
