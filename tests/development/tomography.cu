// Pictures of n x n pixels of what is inside, from shadows at many angles, and back.
#include "device.h"

constexpr int kAngles = 48;

__constant__ float cosines[kAngles], sines[kAngles];

// From the shadows back over the picture: each pixel adds up where it was seen, between two readings.
__global__ void smear_back(const float* __restrict__ shadows, float* __restrict__ picture, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float u = x - 0.5f * n, v = y - 0.5f * n;
  float sum = 0;
  for (int k = 0; k < kAngles; ++k) {
    const float at = fminf(fmaxf(u * cosines[k] + v * sines[k] + 0.5f * n, 0.0f), n - 2.0f);
    const int i = static_cast<int>(at);
    const float share = at - i;
    sum += (1 - share) * shadows[k * n + i] + share * shadows[k * n + i + 1];
  }
  picture[y * n + x] = sum * 3.1415927f / kAngles;
}

// The shadow at each angle: a ray per thread, a step of one pixel at a time, added up in memory.
__global__ void cast_shadows(const float* picture, float* shadows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = blockIdx.y;
  if (i < n) {
    float c = cosines[k];
    float s = sines[k];
    shadows[k * n + i] = 0.0f;
    for (int t = 0; t < n; t++) {
      int x = (int)((i - n / 2) * c - (t - n / 2) * s + n / 2);
      int y = (int)((i - n / 2) * s + (t - n / 2) * c + n / 2);
      if (x >= 0 && x < n && y >= 0 && y < n) shadows[k * n + i] += picture[y * n + x];
    }
  }
}

// Sharpened before: every second reading weighed by one over the square of its distance; 2 * reach + 1 of them.
__global__ void sharpen(const float* shadows, float* out, int reach, int n) {
  extern __shared__ float part[];
  const int first = blockIdx.x * blockDim.x, width = blockDim.x + 2 * reach, row = blockIdx.y * n;
  for (int k = threadIdx.x; k < width; k += blockDim.x) {
    const int i = first + k - reach;
    part[k] = i >= 0 && i < n ? shadows[row + i] : 0;
  }
  __syncthreads();
  if (first + threadIdx.x >= n) return;
  const float* middle = part + threadIdx.x + reach;
  float sum = 0.25f * middle[0];
  for (int k = 1; k <= reach; k += 2) sum -= (middle[k] + middle[-k]) / (9.8696044f * k * k);
  out[row + first + threadIdx.x] = sum;
}

// Counts of a detector to the thickness of what was in the way, and less at the edges of the fan.
__global__ void counts_to_thickness(const unsigned short* counts, float* out, int distance, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float u = x - 0.5f * n;
  out[y * n + x] =
      -logf((counts[y * n + x] + 1.0f) / 65536.0f) * distance / sqrtf(1.0f * distance * distance + u * u);
}

// Rings come from readings that are always wrong: each column's mean, and then the column without what sticks out.
__global__ void without_rings(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= n - 1) return;
  float own = 0, sides = 0;
  for (int y = 0; y < n; ++y) {
    own += in[y * n + x];
    sides += in[y * n + x - 1] + in[y * n + x + 1];
  }
  const float wrong = (own - 0.5f * sides) / n;
  for (int y = 0; y < n; ++y) out[y * n + x] = in[y * n + x] - wrong;
}

// A step to a picture of fewer edges, in double precision: roots and divisions.
__global__ void fewer_edges(const double* in, double* out, double step, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const double here = in[i], dx = in[i + 1] - here, dy = in[i + n] - here;
  const double left = here - in[i - 1], left_up = in[i - 1 + n] - in[i - 1];
  const double low = here - in[i - n], low_right = in[i - n + 1] - in[i - n];
  out[i] = here - step * (-(dx + dy) / sqrt(dx * dx + dy * dy + 1e-6) +
                          left / sqrt(left * left + left_up * left_up + 1e-6) +
                          low / sqrt(low * low + low_right * low_right + 1e-6));
}

void run(int n) {
  float c[kAngles], s[kAngles];
  for (int k = 0; k < kAngles; ++k) {
    c[k] = 1 - k / 24.0f;
    s[k] = k < 24 ? k / 24.0f : 2 - k / 24.0f;
  }
  cudaMemcpyToSymbol(cosines, c, sizeof c);
  cudaMemcpyToSymbol(sines, s, sizeof s);
  const int count = n * n, reach = 64;
  double* picture = device_doubles(count);
  double* out = device_zeros<double>(count);
  float* shadows = device_floats(2 * kAngles * n);
  float* readings = device_floats(count);
  for (int r = 0; r < kLaunches; ++r)
    smear_back<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(shadows, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    cast_shadows<<<dim3(ceil_div(n, 64), kAngles), 64>>>(readings, shadows, n);
  for (int r = 0; r < kLaunches; ++r)
    sharpen<<<dim3(ceil_div(n, 128), kAngles), 128, (128 + 2 * reach) * sizeof(float)>>>(
        shadows, shadows + kAngles * n, reach, n);
  for (int r = 0; r < kLaunches; ++r)
    counts_to_thickness<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>((unsigned short*)picture,
                                                                                (float*)out, 2 * n, n);
  for (int r = 0; r < kLaunches; ++r) without_rings<<<ceil_div(n, 64), 64>>>(readings, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    fewer_edges<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(picture, out, 0.01, n);
  free_all(picture, out, shadows, readings);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tomography");
}
