// A fluid of about eight particles in each of n x n x n cells, whose edge is the reach of the particles.
#include "device.h"

constexpr int kListed = 32;

struct Particle {
  float x, y, z, density;
  float vx, vy, vz, energy;
};

// The cell of each particle by a hash of its three numbers, with the particle's number beside it.
__global__ void hash_cells(const float4* places, uint2* keys, float inverse, unsigned mask, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = places[i];
  const int x = (int)floorf(p.x * inverse), y = (int)floorf(p.y * inverse), z = (int)floorf(p.z * inverse);
  const unsigned hash = (unsigned)x * 73856093u ^ (unsigned)y * 19349663u ^ (unsigned)z * 83492791u;
  keys[i] = make_uint2(hash & mask, i);
}

// Densities from all particles of the 27 cells around, which are sorted: each cell knows where its own begin.
__global__ void densities_of_cells(const float4* __restrict__ places, const int* __restrict__ cell_of,
                                   const int* __restrict__ starts, float* __restrict__ out, float reach,
                                   float mass, int side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = places[i];
  const int cell = cell_of[i], cx = cell % side, cy = cell / side % side, cz = cell / (side * side);
  const float square = reach * reach;
  float sum = 0;
  for (int z = max(cz - 1, 0); z <= min(cz + 1, side - 1); ++z)
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y) {
      // The cells of a row are neighbours in memory too.
      const int row = (z * side + y) * side;
      const int first = starts[row + max(cx - 1, 0)], last = starts[row + min(cx + 1, side - 1) + 1];
      for (int k = first; k < last; ++k) {
        const float4 q = __ldg(&places[k]);
        const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
        const float rest = square - (dx * dx + dy * dy + dz * dz);
        if (rest > 0) sum += rest * rest * rest;
      }
    }
  out[i] = mass * 1.5666815f * sum / (square * square * square * square * reach);
}

// Densities by a cubic spline over listed neighbours, and the pressures that follow: the k-th of all side by side.
__global__ void densities_and_pressures(const float4* places, const int* list, float2* out, float reach,
                                        float mass, float stiffness, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = places[i];
  const float scale = 2 / reach, norm = 0.31830989f * scale * scale * scale;
  float sum = 1;
  for (int k = 0; k < kListed; ++k) {
    const float4 q = places[list[k * n + i]];
    const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    const float far = sqrtf(dx * dx + dy * dy + dz * dz) * scale;
    if (far < 1)
      sum += 1 - 1.5f * far * far + 0.75f * far * far * far;
    else if (far < 2)
      sum += 0.25f * (2 - far) * (2 - far) * (2 - far);
  }
  const float density = mass * norm * sum;
  out[i] = make_float2(density, stiffness * (powf(density, 7.0f) - 1));
}

// The forces of pressure and viscosity of listed neighbours; a list of its own for each particle.
__global__ void __launch_bounds__(128)
    forces(const float4* __restrict__ places, const float4* __restrict__ speeds,
           const float2* __restrict__ densities, const int4* __restrict__ lists, float4* __restrict__ out,
           float reach, float mass, float viscosity, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = places[i], v = speeds[i];
  const float2 own = densities[i];
  const float push = own.y / (own.x * own.x + 1e-6f), sixth = reach * reach * reach * reach * reach * reach;
  const float norm = 14.323945f / sixth;
  float fx = 0, fy = 0, fz = -9.81f;
  for (int k = 0; k < kListed / 4; ++k) {
    const int4 four = lists[i * (kListed / 4) + k];
    const int all[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float4 q = places[all[j]], w = speeds[all[j]];
      const float2 other = densities[all[j]];
      const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
      const float far = sqrtf(dx * dx + dy * dy + dz * dz) + 1e-6f, rest = fmaxf(reach - far, 0.0f);
      const float pressure = mass * (push + other.y / (other.x * other.x + 1e-6f)) * norm * rest * rest / far;
      const float drag = mass * viscosity * norm * rest / (other.x + 1e-6f);
      fx += pressure * dx + drag * (w.x - v.x);
      fy += pressure * dy + drag * (w.y - v.y);
      fz += pressure * dz + drag * (w.z - v.z);
    }
  }
  out[i] = make_float4(fx, fy, fz, 0);
}

// A step of all particles, which the walls of a box throw back: place, speed, density and energy are together.
__global__ void move(Particle* all, const float4* forces, float step, float width, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Particle p = all[i];
    const float4 f = forces[i];
    p.vx += step * f.x;
    p.vy += step * f.y;
    p.vz += step * f.z;
    p.x += step * p.vx;
    p.y += step * p.vy;
    p.z += step * p.vz;
    if (p.x < 0 || p.x > width) {
      p.x = fminf(fmaxf(p.x, 0.0f), width);
      p.vx *= -0.5f;
    }
    if (p.y < 0 || p.y > width) {
      p.y = fminf(fmaxf(p.y, 0.0f), width);
      p.vy *= -0.5f;
    }
    if (p.z < 0 || p.z > width) {
      p.z = fminf(fmaxf(p.z, 0.0f), width);
      p.vz *= -0.5f;
    }
    p.energy += step * p.density;
    all[i] = p;
  }
}

// Speeds that are drawn to those around: a block for each cell, the 27 cells about it in shared memory.
__global__ void __launch_bounds__(64)
    smooth_speeds(const float4* places, const float4* speeds, const int* starts, float4* out, float reach,
                  float share, int side) {
  __shared__ float4 place[27 * 12], speed[27 * 12];
  const int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z, t = threadIdx.y * 8 + threadIdx.x;
  int count = 0;
  for (int z = max(cz - 1, 0); z <= min(cz + 1, side - 1); ++z)
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y) {
      const int row = (z * side + y) * side;
      const int first = starts[row + max(cx - 1, 0)], last = starts[row + min(cx + 1, side - 1) + 1];
      if (first + t < last) {
        place[count + t] = places[first + t];
        speed[count + t] = speeds[first + t];
      }
      count += last - first;
    }
  __syncthreads();
  const int cell = (cz * side + cy) * side + cx, end = starts[cell + 1];
  const unsigned mask = 0xffu << (t & 24);
  for (int i = starts[cell] + threadIdx.y; i < end; i += 8) {
    const float4 p = places[i], v = speeds[i];
    float x = 0, y = 0, z = 0;
    for (int k = threadIdx.x; k < count; k += 8) {
      const float dx = place[k].x - p.x, dy = place[k].y - p.y, dz = place[k].z - p.z;
      const float q = (dx * dx + dy * dy + dz * dz) / (reach * reach);
      if (q < 1) {
        const float weight = (1 - q) * (1 - q) * (1 - q);
        x += weight * (speed[k].x - v.x);
        y += weight * (speed[k].y - v.y);
        z += weight * (speed[k].z - v.z);
      }
    }
    for (int step = 4; step > 0; step /= 2) {
      x += __shfl_down_sync(mask, x, step, 8);
      y += __shfl_down_sync(mask, y, step, 8);
      z += __shfl_down_sync(mask, z, step, 8);
    }
    if (threadIdx.x == 0) out[i] = make_float4(v.x + share * x, v.y + share * y, v.z + share * z, v.w);
  }
}

// The matrix that corrects the kernels' slopes at each particle, and the spread of the flow: sums in precision T.
template <class T>
__global__ void correct_slopes(const float4* places, const float4* speeds, const int* list, T* out, T reach,
                               T volume, int each, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = places[i], v = speeds[i];
  T xx = T(1e-3), xy = 0, xz = 0, yy = xx, yz = 0, zz = xx, spread = 0;
  for (int k = 0; k < each; ++k) {
    const int other = list[k * n + i];
    const float4 q = places[other], w = speeds[other];
    const T dx = (T)q.x - p.x, dy = (T)q.y - p.y, dz = (T)q.z - p.z;
    const T far = sqrt(dx * dx + dy * dy + dz * dz) / reach, rest = far < 1 ? 1 - far : T(0);
    const T slope = volume * rest * rest * rest;
    xx += slope * dx * dx;
    xy += slope * dx * dy;
    xz += slope * dx * dz;
    yy += slope * dy * dy;
    yz += slope * dy * dz;
    zz += slope * dz * dz;
    spread += slope * (dx * (w.x - v.x) + dy * (w.y - v.y) + dz * (w.z - v.z));
  }
  const T a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
  const T inverse = 1 / (xx * a + xy * b + xz * c);
  out[i] = a * inverse;
  out[n + i] = b * inverse;
  out[2 * n + i] = c * inverse;
  out[3 * n + i] = (xx * zz - xz * xz) * inverse;
  out[4 * n + i] = (xy * xz - xx * yz) * inverse;
  out[5 * n + i] = (xx * yy - xy * xy) * inverse;
  out[6 * n + i] = spread;
}

// The longest step that all particles allow, by their speeds and by the forces on them.
__global__ void allowed_step(const float4* speeds, const float4* forces, int* least, float reach, float sound,
                             int n) {
  __shared__ float part[16];
  float own = 1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = speeds[i], f = forces[i];
    const float speed = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    const float force = sqrtf(f.x * f.x + f.y * f.y + f.z * f.z);
    own = fminf(own, fminf(0.4f * reach / (sound + speed), 0.25f * sqrtf(reach / (force + 1e-6f))));
  }
  for (int step = 16; step > 0; step /= 2) own = fminf(own, __shfl_xor_sync(0xffffffffu, own, step));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 16; ++w) own = fminf(own, part[w]);
    atomicMin(least, __float_as_int(own));
  }
}

static float scattered(int i) {
  return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
}

void run(int n) {
  const int cells = n * n * n;
  // Five to eleven particles in a cell.
  std::vector<int> ends(cells + 1, 0), cell(12 * cells);
  for (int c = 0; c < cells; ++c) {
    ends[c + 1] = ends[c] + 5 + (c * 5 + c / n) % 7;
    for (int i = ends[c]; i < ends[c + 1]; ++i) cell[i] = c;
  }
  const int count = ends[cells];
  int* starts = device_array<int>(cells + 1, [&ends](int i) { return ends[i]; });
  int* cell_of = device_array<int>(count, [&cell](int i) { return cell[i]; });
  float4* places = device_array<float4>(count, [&cell, n](int i) {
    const int c = cell[i];
    return make_float4(c % n + scattered(3 * i), c / n % n + scattered(3 * i + 1),
                       c / (n * n) + scattered(3 * i + 2), 1);
  });
  float4* speeds = device_array<float4>(count, [](int i) {
    return make_float4(scattered(i) - 0.5f, scattered(5 * i) - 0.5f, scattered(7 * i) - 0.5f, 0);
  });
  Particle* particles = device_array<Particle>(count, [&cell, n](int i) {
    const int c = cell[i];
    return Particle{c % n + scattered(3 * i),
                    c / n % n + scattered(3 * i + 1),
                    c / (n * n) + scattered(3 * i + 2),
                    1,
                    scattered(i) - 0.5f,
                    scattered(5 * i) - 0.5f,
                    scattered(7 * i) - 0.5f,
                    1};
  });
  // The k-th neighbour is in the same cell or in one of those around.
  const auto neighbour = [&cell, &ends, n, cells, count](int i, int k) {
    const int c = cell[i] + (k % 3 - 1) + (k / 3 % 3 - 1) * n + (k / 9 % 3 - 1) * n * n;
    const int near = c < 0 || c >= cells ? cell[i] : c, size = ends[near + 1] - ends[near];
    return ends[near] + (i + 3 * k) % size;
  };
  int* side_by_side =
      device_array<int>(kListed * count, [&](int i) { return neighbour(i % count, i / count); });
  int* own_lists =
      device_array<int>(kListed * count, [&](int i) { return neighbour(i / kListed, i % kListed); });
  uint2* keys = device_zeros<uint2>(count);
  float2* densities = device_zeros<float2>(count);
  float4* out = device_zeros<float4>(count);
  double* corrections = device_zeros<double>(7 * count);
  int* least = device_array<int>(1, [](int) { return bits_of(1e30f); });
  for (int r = 0; r < kLaunches; ++r)
    hash_cells<<<ceil_div(count, 256), 256>>>(places, keys, 1.0f, 0xffffu, count);
  for (int r = 0; r < kLaunches; ++r)
    densities_of_cells<<<ceil_div(count, 128), 128>>>(places, cell_of, starts, (float*)out, 1.0f, 0.125f, n,
                                                      count);
  for (int r = 0; r < kLaunches; ++r)
    densities_and_pressures<<<ceil_div(count, 256), 256>>>(places, side_by_side, densities, 1.0f, 0.125f,
                                                           0.1f, count);
  for (int r = 0; r < kLaunches; ++r)
    forces<<<ceil_div(count, 128), 128>>>(places, speeds, densities, (int4*)own_lists, out, 1.0f, 0.125f,
                                          0.02f, count);
  for (int r = 0; r < kLaunches; ++r)
    move<<<min(ceil_div(count, 512), 264), 512>>>(particles, out, 1e-6f, (float)n, count);
  for (int r = 0; r < kLaunches; ++r)
    smooth_speeds<<<dim3(n, n, n), dim3(8, 8)>>>(places, speeds, starts, out, 1.0f, 0.1f, n);
  for (int r = 0; r < kLaunches; ++r)
    correct_slopes<float><<<ceil_div(count, 192), 192>>>(places, speeds, side_by_side, (float*)corrections,
                                                         1.0f, 0.1f, kListed, count);
  for (int r = 0; r < kLaunches; ++r)
    correct_slopes<double>
        <<<ceil_div(count, 64), 64>>>(places, speeds, side_by_side, corrections, 1.0, 0.1, 24, count);
  for (int r = 0; r < kLaunches; ++r)
    allowed_step<<<min(ceil_div(count, 512), 396), 512>>>(speeds, out, least, 1.0f, 10.0f, count);
  free_all(starts, cell_of, places, speeds, particles, side_by_side, own_lists, keys, densities, out,
           corrections, least);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("smoothed_particles");
}
