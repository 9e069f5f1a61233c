// n particles of a beam in a ring of magnets and cavities.
#include "device.h"

struct Element {
  int kind;
  float length, strength;
};

__constant__ Element ring[48];

struct Particle {
  float x, px, y, py, z, d;
};

// Once around the ring: which of the five kinds comes next is the same for all threads.
__global__ void around_ring(Particle* beam, int turns, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = beam[i];
  for (int turn = 0; turn < turns; ++turn) {
    for (int e = 0; e < 48; ++e) {
      const Element element = ring[e];
      switch (element.kind) {
        case 0:  // drift
          p.x += element.length * p.px;
          p.y += element.length * p.py;
          p.z -= 0.5f * element.length * (p.px * p.px + p.py * p.py);
          break;
        case 1: {  // quadrupole, thin
          const float k = element.strength / (1 + p.d);
          p.px -= k * p.x;
          p.py += k * p.y;
          break;
        }
        case 2: {  // sextupole, thin
          const float k = 0.5f * element.strength;
          p.px -= k * (p.x * p.x - p.y * p.y);
          p.py += 2 * k * p.x * p.y;
          break;
        }
        case 3: {  // bend
          const float s = __sinf(element.strength), c = __cosf(element.strength), x = p.x;
          p.x = c * x + element.length * s * p.px;
          p.px = c * p.px - s * x / element.length;
          p.y += element.length * element.strength * p.py;
          p.z -= s * x;
          break;
        }
        default:  // cavity
          p.d += element.strength * sinf(element.length * p.z);
      }
    }
  }
  beam[i] = p;
}

// A thick quadrupole in double precision, its six coordinates in arrays of their own: focusing or not by the sign.
__global__ void thick_quadrupole(double* x, double* px, double* y, double* py, const double* d, double k,
                                 double length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double strength = k / (1 + d[i]), root = sqrt(fabs(strength)), angle = root * length;
  double s, c;
  sincos(angle, &s, &c);
  const double e = exp(angle), ch = 0.5 * (e + 1 / e), sh = 0.5 * (e - 1 / e);
  const double x0 = x[i], px0 = px[i], y0 = y[i], py0 = py[i];
  if (strength > 0) {
    x[i] = c * x0 + s / root * px0;
    px[i] = c * px0 - root * s * x0;
    y[i] = ch * y0 + sh / root * py0;
    py[i] = ch * py0 + root * sh * y0;
  } else {
    x[i] = ch * x0 + sh / root * px0;
    px[i] = ch * px0 + root * sh * x0;
    y[i] = c * y0 + s / root * py0;
    py[i] = c * py0 - root * s * y0;
  }
}

// First and second moments of two coordinates, in double precision.
__global__ void moments(const double* x, const double* px, double* sums, int n) {
  double sum[5] = {0, 0, 0, 0, 0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double a = x[i], b = px[i];
    sum[0] += a;
    sum[1] += b;
    sum[2] += a * a;
    sum[3] += a * b;
    sum[4] += b * b;
  }
  __shared__ double part[5][32];
#pragma unroll
  for (int m = 0; m < 5; ++m) {
    for (int s = 16; s > 0; s /= 2) sum[m] += __shfl_down_sync(0xffffffffu, sum[m], s);
    if (threadIdx.x % 32 == 0) part[m][threadIdx.x / 32] = sum[m];
  }
  __syncthreads();
  if (threadIdx.x < 5) {
    double all = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) all += part[threadIdx.x][w];
    atomicAdd(&sums[threadIdx.x], all);
  }
}

// The field of a multipole of order 12 by Horner's rule in complex numbers, with an aperture that loses particles.
__global__ void multipole(const double2* at, double2* kick, unsigned char* lost, double radius, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 z = at[i];
  if (z.x * z.x + z.y * z.y > radius * radius) {
    lost[i] = 1;
    return;
  }
  double re = 1e-3, im = 2e-3;
#pragma unroll
  for (int order = 12; order > 0; --order) {
    const double r = re * z.x - im * z.y + 1e-4 * order;
    im = re * z.y + im * z.x - 2e-4;
    re = r;
  }
  kick[i] = make_double2(re, im);
}

void run(int n) {
  Element elements[48];
  for (int e = 0; e < 48; ++e)
    elements[e] = {e % 2 == 0 ? 0 : e % 16 == 15 ? 4 : 1 + e / 2 % 3, 0.5f + e % 5, (e % 3 - 1) * 0.01f};
  cudaMemcpyToSymbol(ring, elements, sizeof elements);
  float* beam = device_floats(6 * n);
  double* x = device_doubles(n);
  double* px = device_doubles(n);
  double* y = device_doubles(n);
  double* py = device_doubles(n);
  double* d = device_doubles(n);
  double* points = device_doubles(2 * n);
  double* kicks = device_zeros<double>(2 * n);
  double* sums = device_zeros<double>(5);
  unsigned char* lost = device_zeros<unsigned char>(n);
  for (int r = 0; r < kLaunches; ++r) around_ring<<<ceil_div(n, 192), 192>>>((Particle*)beam, 2, n);
  for (int r = 0; r < kLaunches; ++r)
    thick_quadrupole<<<ceil_div(n, 256), 256>>>(x, px, y, py, d, 0.3, 0.7, n);
  for (int r = 0; r < kLaunches; ++r) moments<<<264, 512>>>(points, kicks, sums, n);
  for (int r = 0; r < kLaunches; ++r) moments<<<40, 1024>>>(points, kicks, sums, n);
  for (int r = 0; r < kLaunches; ++r)
    multipole<<<ceil_div(n, 128), 128>>>((double2*)points, (double2*)kicks, lost, 2.0, n);
  free_all(beam, x, px, y, py, d, points, kicks, sums, lost);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("beam_tracking");
}
