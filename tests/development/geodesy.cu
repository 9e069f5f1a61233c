// n places on the Earth.
#include "device.h"

// Distances on the ellipsoid, by at most 20 steps until the longitude stands.
__global__ void distances(const double* latitudes, const double* longitudes, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  const double f = 1 / 298.257223563, b = 6356752.314245, a = 6378137;
  const double u1 = atan((1 - f) * tan(latitudes[i])), u2 = atan((1 - f) * tan(0.3 + latitudes[i + 1] * 0.5));
  double s1, c1, s2, c2;
  sincos(u1, &s1, &c1);
  sincos(u2, &s2, &c2);
  const double difference = 0.2 + longitudes[i];
  double lambda = difference, sin_sigma = 0, cos_sigma = 0, sigma = 0, cos2_alpha = 0, cos_m = 0;
  for (int k = 0; k < 20; ++k) {
    double s, c;
    sincos(lambda, &s, &c);
    const double p = c2 * s, q = c1 * s2 - s1 * c2 * c;
    sin_sigma = sqrt(p * p + q * q);
    cos_sigma = s1 * s2 + c1 * c2 * c;
    sigma = atan2(sin_sigma, cos_sigma);
    const double sin_alpha = c1 * c2 * s / sin_sigma;
    cos2_alpha = 1 - sin_alpha * sin_alpha;
    cos_m = cos_sigma - 2 * s1 * s2 / cos2_alpha;
    const double C = f / 16 * cos2_alpha * (4 + f * (4 - 3 * cos2_alpha)), before = lambda;
    lambda = difference + (1 - C) * f * sin_alpha *
                              (sigma + C * sin_sigma * (cos_m + C * cos_sigma * (2 * cos_m * cos_m - 1)));
    if (fabs(lambda - before) < 1e-12) break;
  }
  const double u = cos2_alpha * (a * a - b * b) / (b * b);
  out[i] = b * (1 + u / 4) * (sigma - u / 4 * sin_sigma * cos_m);
}

// From degrees to metres on a map, with a series of four terms, in single precision and fast functions.
__global__ void to_map(const float2* degrees, float2* metres, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 d = degrees[i];
  const float latitude = d.x * 0.8f, s = sinf(latitude), c = cosf(latitude);
  const float zone = floorf(d.y * 180 / 6) * 6 + 3, lambda = (d.y * 180 - zone) * 0.0174533f;
  const float t = s / c, t2 = t * t, eta2 = 0.00673950f * c * c, l = lambda * c, l2 = l * l;
  const float radius = 6399593.6f * rsqrtf(1 + eta2);
  const float arc = 6367449.1f * latitude - 16038.5f * __sinf(2 * latitude) + 16.8f * __sinf(4 * latitude) -
                    0.022f * __sinf(6 * latitude);
  metres[i] = make_float2(
      0.9996f * radius * l * (1 + l2 / 6 * (1 - t2 + eta2 + l2 / 20 * (5 - 18 * t2 + t2 * t2))) + 500000,
      0.9996f * (arc + radius * t * l2 / 2 * (1 + l2 / 12 * (5 - t2 + 9 * eta2))));
}

// Letters of 5 bits for the place: two numbers of 30 bits, their bits interleaved, a letter from each five.
__global__ void place_codes(const float2* degrees, char* codes, int n) {
  __shared__ char letters[32];
  if (threadIdx.x < 32) letters[threadIdx.x] = threadIdx.x < 10 ? '0' + threadIdx.x : 'b' + threadIdx.x - 10;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long mixed = 0;
  const unsigned x = degrees[i].x * 1073741823.0f, y = degrees[i].y * 1073741823.0f;
#pragma unroll
  for (int k = 0; k < 30; ++k)
    mixed |= static_cast<unsigned long long>((x >> k & 1) << 1 | (y >> k & 1)) << 2 * k;
#pragma unroll
  for (int k = 0; k < 12; ++k) codes[12 * i + k] = letters[mixed >> (55 - 5 * k) & 31];
}

// Whether a point is in a region of 60 corners, with a box around it that most points are not in.
__global__ void in_region(const float2* points, const float2* corners, unsigned char* inside, int count,
                          int n) {
  __shared__ float2 region[64];
  for (int k = threadIdx.x; k < count; k += blockDim.x) region[k] = corners[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 p = points[i];
  if (p.x < 0.2f || p.x > 0.6f) {
    inside[i] = 0;
    return;
  }
  bool odd = false;
  for (int k = 0; k < count; ++k) {
    const float2 a = region[k], b = region[k + 1 < count ? k + 1 : 0];
    if (a.y > p.y != b.y > p.y && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) odd = !odd;
  }
  inside[i] = odd;
}

void run(int n) {
  double* latitudes = device_doubles(n);
  double* longitudes = device_doubles(n);
  double* out = device_zeros<double>(2 * n);
  float* degrees = device_floats(2 * n);
  float* corners = device_floats(128);
  for (int r = 0; r < kLaunches; ++r) distances<<<ceil_div(n, 128), 128>>>(latitudes, longitudes, out, n);
  for (int r = 0; r < kLaunches; ++r) to_map<<<ceil_div(n, 256), 256>>>((float2*)degrees, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) to_map<<<ceil_div(n, 1024), 1024>>>((float2*)degrees, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) place_codes<<<ceil_div(n, 192), 192>>>((float2*)degrees, (char*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    in_region<<<ceil_div(n, 64), 64>>>((float2*)degrees, (float2*)corners, (unsigned char*)out, 60, n);
  free_all(latitudes, longitudes, out, degrees, corners);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("geodesy");
}
