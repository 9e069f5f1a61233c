// Optics of lenses: traced rays, wave fronts, diffraction, propagation, blurring and recovery of phases.
// n is the side of the images in pixels, a multiple of 32; the image that is summed up directly has n / 4.
#include "device.h"

struct Surface {
  float vertex, curvature, ratio, aperture;
};
constexpr int kSurfaces = 8, kOrders = 6;
constexpr float kTurn = 6.2831853f;
__constant__ Surface surfaces[kSurfaces];
__constant__ double2 zernike[kOrders * kOrders];
__constant__ double factorials[kOrders] = {1, 1, 2, 6, 24, 120};

// Traces rays through spherical surfaces to the image plane, for two fields (z) and all of the pupil (x, y).
__global__ void trace_rays(float2* spots, float* paths, float field, float image, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= n || j >= n) return;
  float x = (2 * i + 1.0f) / n - 1, y = (2 * j + 1.0f) / n - 1, z = -1, length = 0;
  float u = field * k, v = 0, w = sqrtf(1 - u * u);
  bool passes = true;
  for (int s = 0; s < kSurfaces && passes; ++s) {
    const Surface lens = surfaces[s];
    const float c = lens.curvature, plane = (lens.vertex - z) / w;
    x += plane * u;
    y += plane * v;
    const float f = c * (x * x + y * y), g = w - c * (x * u + y * v), inside = g * g - c * f;
    const float step = inside > 0 ? f / (g + sqrtf(inside)) : 0;
    x += step * u;
    y += step * v;
    z = lens.vertex + step * w;
    length += plane + step;
    const float nx = -c * x, ny = -c * y, nz = 1 - c * step * w, cosine = nx * u + ny * v + nz * w;
    const float bent = 1 - lens.ratio * lens.ratio * (1 - cosine * cosine);
    passes = inside > 0 && bent > 0 && x * x + y * y < lens.aperture * lens.aperture;
    const float along = sqrtf(fmaxf(bent, 0.0f)) - lens.ratio * cosine;
    u = lens.ratio * u + along * nx;
    v = lens.ratio * v + along * ny;
    w = lens.ratio * w + along * nz;
  }
  const float rest = (image - z) / w;
  const int out = (k * n + j) * n + i;
  spots[out] = passes ? make_float2(x + rest * u, y + rest * v) : make_float2(-9, -9);
  paths[out] = passes ? length + rest : 0;
}

// The wrapped phase of a wave front of Zernike polynomials up to the fifth order.
__global__ void zernike_phase(float* phase, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const double x = (2 * i + 1.0) / n - 1, y = (2 * j + 1.0) / n - 1, r = hypot(x, y), angle = atan2(y, x);
  double sum = 0, sine, cosine, powers[kOrders] = {1};
  for (int k = 1; k < kOrders; ++k) powers[k] = powers[k - 1] * r;
#pragma unroll
  for (int m = 0; m < kOrders; ++m) {
    sincos(m * angle, &sine, &cosine);
#pragma unroll
    for (int order = m; order < kOrders; order += 2) {
      double radial = 0;
      for (int s = 0; s <= (order - m) / 2; ++s)
        radial += (s % 2 ? -1 : 1) * factorials[order - s] * powers[order - 2 * s] /
                  (factorials[s] * factorials[(order + m) / 2 - s] * factorials[(order - m) / 2 - s]);
      sum += radial * (zernike[order * kOrders + m].x * cosine + zernike[order * kOrders + m].y * sine);
    }
  }
  phase[j * n + i] = r > 1 ? 0 : sum - kTurn * rint(sum / kTurn);
}

// Sums the waves of point sources (x, y, amplitude, phase in turns) at each pixel, in tiles of sources.
__global__ void diffraction_sum(const float4* sources, float* intensity, int count, float waves, int side) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float x = (i % side) * (2.0f / side) - 1, y = (i / side) * (2.0f / side) - 1;
  float re = 0, im = 0, sine, cosine;
  for (int first = 0; first < count; first += 256) {
    tile[threadIdx.x] = sources[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 256; ++k) {
      const float dx = x - tile[k].x, dy = y - tile[k].y, far = dx * dx + dy * dy, r = sqrtf(far + 100);
      sincospif(2 * (waves * far / (r + 10) + tile[k].w), &sine, &cosine);
      re += tile[k].z / r * cosine;
      im += tile[k].z / r * sine;
    }
    __syncthreads();
  }
  if (i < side * side) intensity[i] = re * re + im * im;
}

// Unwraps the fringes of each row, a warp per row, which sums the turns of 32 pixels at a time.
__global__ void unwrap_rows(const float* wrapped, float* out, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= n) return;
  float last = wrapped[row * n];
  int before = 0;
  for (int x = lane; x < n; x += 32) {
    const float here = wrapped[row * n + x], left = __shfl_up_sync(0xffffffffu, here, 1);
    int turns = __float2int_rn(((lane == 0 ? last : left) - here) / kTurn);
    for (int step = 1; step < 32; step <<= 1) {
      const int other = __shfl_up_sync(0xffffffffu, turns, step);
      if (lane >= step) turns += other;
    }
    out[row * n + x] = here + kTurn * (before + turns);
    before += __shfl_sync(0xffffffffu, turns, 31);
    last = __shfl_sync(0xffffffffu, here, 31);
  }
}

// Multiplies two complex pixels at a time with the quadratic phase of Fresnel's propagation.
__global__ void fresnel_chirp(float4* field, double rate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (i >= n / 2) return;
  float4 v = field[y * (n / 2) + i];
  const double dx = 2 * i - n / 2, dy = y - n / 2;
  const double near = rate * (dx * dx + dy * dy), next = near + rate * (2 * dx + 1);
  float s, c, t, d;
  sincospif(2 * static_cast<float>(near - rint(near)), &s, &c);
  sincospif(2 * static_cast<float>(next - rint(next)), &t, &d);
  field[y * (n / 2) + i] = {v.x * c - v.y * s, v.x * s + v.y * c, v.z * d - v.w * t, v.z * t + v.w * d};
}

// Transforms lines of kPoints complex numbers in place by a unitary Fourier transform, a block per line.
template <int kPoints>
__global__ void __launch_bounds__(kPoints / 2) transform_lines(float2* field) {
  __shared__ float2 line[kPoints];
  const int t = threadIdx.x, start = blockIdx.x * kPoints, bits = __ffs(kPoints) - 1;
  for (int k = t; k < kPoints; k += kPoints / 2) line[__brev(k) >> (32 - bits)] = field[start + k];
  for (int half = 1; half < kPoints; half *= 2) {
    __syncthreads();
    const int low = t % half, a = 2 * (t - low) + low;
    float sine, cosine;
    sincospif(-static_cast<float>(low) / half, &sine, &cosine);
    const float2 p = line[a], q = line[a + half];
    const float re = q.x * cosine - q.y * sine, im = q.x * sine + q.y * cosine;
    line[a] = {p.x + re, p.y + im};
    line[a + half] = {p.x - re, p.y - im};
  }
  __syncthreads();
  for (int k = t; k < kPoints; k += kPoints / 2)
    field[start + k] = {line[k].x * rsqrtf(kPoints), line[k].y * rsqrtf(kPoints)};
}

// Blurs an image by a point spread of (2 kRadius + 1) squared weights that depends on the zone of the pixel.
template <int kRadius>
__global__ void blur(const unsigned char* zones, const float* psf, const float* image, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float* weights = psf + zones[y * n + x] * (2 * kRadius + 1) * (2 * kRadius + 1);
  float sum = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy)
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx)
      sum += *weights++ * image[min(max(y + dy, 0), n - 1) * n + min(max(x + dx, 0), n - 1)];
  out[y * n + x] = sum;
}

// Gives a field its measured amplitude and leaves its phase, as Gerchberg and Saxton do, and sums the misfit.
__global__ void impose_amplitude(float2* field, const float* __restrict__ measured, double* misfit, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float2 v = field[i];
    const float now = hypotf(v.x, v.y), scale = now > 0 ? measured[i] / now : 0;
    field[i] = make_float2(v.x * scale, v.y * scale);
    sum += (now - measured[i]) * (now - measured[i]);
  }
  for (int mask = 1; mask < 32; mask <<= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (threadIdx.x % 32 == 0) atomicAdd(misfit, static_cast<double>(sum));
}

void run(int n) {
  const int all = n * n, side = n / 4, tiles = ceil_div(side * side, 256);
  Surface lenses[kSurfaces];
  for (int s = 0; s < kSurfaces; ++s) lenses[s] = {0.2f * s, 0.2f - s % 2 * 0.3f, s % 2 ? 1.5f : 0.67f, 1.1f};
  double2 terms[kOrders * kOrders];
  for (int k = 0; k < kOrders * kOrders; ++k) terms[k] = {1.0 / (k + 1), 0.3 - 0.01 * k};
  cudaMemcpyToSymbol(surfaces, lenses, sizeof lenses);
  cudaMemcpyToSymbol(zernike, terms, sizeof terms);
  float2 *field = (float2*)device_array<float>(2 * all, hashed_unit), *spots = device_zeros<float2>(2 * all);
  float *phase = device_zeros<float>(all), *out = device_zeros<float>(2 * all);
  float *amplitude = device_array<float>(all, hashed_unit), *spreads = device_floats(16 * 49);
  float4* sources = (float4*)device_array<float>(4 * 512, hashed_unit);
  unsigned char* zones = device_array<unsigned char>(all, [](int i) { return i / 64 * 7 % 16; });
  double* misfit = device_zeros<double>(1);
  const dim3 pupil(16, 8, 2), pupils(n / 16, n / 8), slim(32, 4), slims(n / 32, n / 4);
  const dim3 pairs(ceil_div(n, 512), n);
  for (int r = 0; r < kLaunches; ++r) trace_rays<<<pupils, pupil>>>(spots, out, 0.05f, 3, n);
  for (int r = 0; r < kLaunches; ++r) zernike_phase<<<slims, slim>>>(phase, n);
  for (int r = 0; r < kLaunches; ++r) diffraction_sum<<<tiles, 256>>>(sources, out, 512, 900, side);
  for (int r = 0; r < kLaunches; ++r) unwrap_rows<<<ceil_div(n, 4), 128>>>(phase, out, n);
  for (int r = 0; r < kLaunches; ++r) fresnel_chirp<<<pairs, 256>>>((float4*)field, 1e-4, n);
  for (int r = 0; r < kLaunches; ++r) transform_lines<512><<<all / 512, 256>>>(field);
  for (int r = 0; r < kLaunches; ++r) transform_lines<1024><<<all / 1024, 512>>>(field);
  for (int r = 0; r < kLaunches; ++r) blur<2><<<slims, slim>>>(zones, spreads, amplitude, out, n);
  for (int r = 0; r < kLaunches; ++r) impose_amplitude<<<660, 320>>>(field, amplitude, misfit, all);
  free_all(field, spots, phase, out, amplitude, spreads, sources, zones, misfit);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("lens_systems");
}
