// n rigid bodies in contact, spheres and boxes: n is a multiple of 128. Bodies near in number are near in space.
#include <cmath>

#include "device.h"

constexpr int kNeighbours = 12;

struct Box {
  float4 turn;
  float3 centre, half;
};

struct Bounds {
  float3 low, high;
};

struct Contact {
  int a, b;
  float nx, ny, nz;
  float mass, bias, friction, impulse, sideways;
};

struct Axes {
  float3 x, y, z;
};

__device__ inline Axes axes_of(float4 q) {
  Axes a;
  a.x =
      make_float3(1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y));
  a.y =
      make_float3(2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x));
  a.z =
      make_float3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
  return a;
}

__device__ inline float dot3(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ inline float3 cross3(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The axis-aligned bounds of turned boxes, somewhat enlarged; structures in and out.
__global__ void bounds_of_boxes(const Box* boxes, Bounds* bounds, float margin, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Box box = boxes[i];
  const Axes a = axes_of(box.turn);
  const float ex = fabsf(a.x.x) * box.half.x + fabsf(a.y.x) * box.half.y + fabsf(a.z.x) * box.half.z + margin;
  const float ey = fabsf(a.x.y) * box.half.x + fabsf(a.y.y) * box.half.y + fabsf(a.z.y) * box.half.z + margin;
  const float ez = fabsf(a.x.z) * box.half.x + fabsf(a.y.z) * box.half.y + fabsf(a.z.z) * box.half.z + margin;
  bounds[i].low = make_float3(box.centre.x - ex, box.centre.y - ey, box.centre.z - ez);
  bounds[i].high = make_float3(box.centre.x + ex, box.centre.y + ey, box.centre.z + ez);
}

// Which of the candidate pairs have bounds that overlap, and how many in all: one atomic addition per block.
__global__ void overlapping_pairs(const Bounds* __restrict__ bounds, const int2* __restrict__ pairs,
                                  unsigned char* __restrict__ flags, int* found, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int hit = 0;
  if (i < count) {
    const int2 pair = pairs[i];
    const float3 al = bounds[pair.x].low, ah = bounds[pair.x].high;
    const float3 bl = bounds[pair.y].low, bh = bounds[pair.y].high;
    hit = al.x <= bh.x && bl.x <= ah.x && al.y <= bh.y && bl.y <= ah.y && al.z <= bh.z && bl.z <= ah.z;
    flags[i] = hit;
  }
  const int sum = __syncthreads_count(hit);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(found, sum);
}

// The depth of two turned boxes in each other by fifteen separating axes; the search ends at the first that parts them.
__global__ void separating_axes(const Box* boxes, const int2* pairs, float* depths, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int2 pair = pairs[i];
  const Box a = boxes[pair.x], b = boxes[pair.y];
  const Axes u = axes_of(a.turn), v = axes_of(b.turn);
  const float3 between =
      make_float3(b.centre.x - a.centre.x, b.centre.y - a.centre.y, b.centre.z - a.centre.z);
  float least = 1e30f;
  for (int k = 0; k < 15; ++k) {
    float3 axis;
    if (k < 3) {
      axis = k == 0 ? u.x : k == 1 ? u.y : u.z;
    } else if (k < 6) {
      axis = k == 3 ? v.x : k == 4 ? v.y : v.z;
    } else {
      const int p = (k - 6) / 3, q = (k - 6) % 3;
      axis = cross3(p == 0 ? u.x : p == 1 ? u.y : u.z, q == 0 ? v.x : q == 1 ? v.y : v.z);
      const float square = dot3(axis, axis);
      if (square < 1e-6f) continue;
      const float inverse = rsqrtf(square);
      axis = make_float3(axis.x * inverse, axis.y * inverse, axis.z * inverse);
    }
    const float ra = a.half.x * fabsf(dot3(axis, u.x)) + a.half.y * fabsf(dot3(axis, u.y)) +
                     a.half.z * fabsf(dot3(axis, u.z));
    const float rb = b.half.x * fabsf(dot3(axis, v.x)) + b.half.y * fabsf(dot3(axis, v.y)) +
                     b.half.z * fabsf(dot3(axis, v.z));
    const float depth = ra + rb - fabsf(dot3(axis, between));
    if (depth < 0) {
      least = -1;
      break;
    }
    least = fminf(least, depth);
  }
  depths[i] = least;
}

// Hertz forces with damping and friction on spheres, from lists of at most twelve neighbours; missing ones are -1.
__global__ void hertz_forces(const float4* __restrict__ spheres, const float4* __restrict__ velocities,
                             const int* __restrict__ neighbours, float4* __restrict__ forces, float stiffness,
                             float damping, float friction, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 own = spheres[i], speed = velocities[i];
  float fx = 0, fy = 0, fz = 0;
  int touching = 0;
  for (int k = 0; k < kNeighbours; ++k) {
    const int j = neighbours[k * n + i];
    if (j < 0) continue;
    const float4 other = __ldg(spheres + j);
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float square = dx * dx + dy * dy + dz * dz, reach = own.w + other.w;
    if (square >= reach * reach) continue;
    const float4 theirs = __ldg(velocities + j);
    const float distance = sqrtf(square), inverse = 1.0f / fmaxf(distance, 1e-6f);
    const float nx = dx * inverse, ny = dy * inverse, nz = dz * inverse, depth = reach - distance;
    const float vx = theirs.x - speed.x, vy = theirs.y - speed.y, vz = theirs.z - speed.z;
    const float along = vx * nx + vy * ny + vz * nz;
    const float radius = own.w * other.w / reach;
    const float normal = fmaxf(stiffness * sqrtf(radius * depth) * depth - damping * along, 0.0f);
    const float tx = vx - along * nx, ty = vy - along * ny, tz = vz - along * nz;
    const float slide = sqrtf(tx * tx + ty * ty + tz * tz) + 1e-6f;
    const float side = fminf(friction * normal / slide, damping);
    fx += side * tx - normal * nx;
    fy += side * ty - normal * ny;
    fz += side * tz - normal * nz;
    ++touching;
  }
  forces[i] = make_float4(fx, fy, fz, touching);
}

// One sweep of projected Gauss-Seidel over a batch of contacts that share no body: normal impulse, then friction.
__global__ void solve_batch(Contact* contacts, float4* velocities, int first, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Contact c = contacts[first + i];
  float4 va = velocities[c.a], vb = velocities[c.b];
  const float dx = vb.x - va.x, dy = vb.y - va.y, dz = vb.z - va.z;
  const float along = dx * c.nx + dy * c.ny + dz * c.nz;
  const float before = c.impulse;
  c.impulse = fmaxf(before + c.mass * (c.bias - along), 0.0f);
  const float push = c.impulse - before;
  float tx = dx - along * c.nx, ty = dy - along * c.ny, tz = dz - along * c.nz;
  const float slide = rsqrtf(tx * tx + ty * ty + tz * tz + 1e-12f);
  tx *= slide;
  ty *= slide;
  tz *= slide;
  const float most = c.friction * c.impulse, held = c.sideways;
  c.sideways = fminf(fmaxf(held - c.mass * (tx * dx + ty * dy + tz * dz), -most), most);
  const float drag = c.sideways - held;
  const float px = push * c.nx + drag * tx, py = push * c.ny + drag * ty, pz = push * c.nz + drag * tz;
  va.x -= va.w * px;
  va.y -= va.w * py;
  va.z -= va.w * pz;
  vb.x += vb.w * px;
  vb.y += vb.w * py;
  vb.z += vb.w * pz;
  velocities[c.a] = va;
  velocities[c.b] = vb;
  contacts[first + i].impulse = c.impulse;
  contacts[first + i].sideways = c.sideways;
}

// Impulses of all contacts at once, added to both bodies with atomics; contacts without an impulse add nothing.
__global__ void spread_impulses(const int2* pairs, const float* depths, const float4* spheres, float* changes,
                                float strength, int count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float depth = depths[i];
    if (depth <= 0) continue;
    const int2 pair = pairs[i];
    const float4 a = spheres[pair.x], b = spheres[pair.y];
    const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float scale = strength * depth * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
    atomicAdd(&changes[pair.x], -scale * dx);
    atomicAdd(&changes[n + pair.x], -scale * dy);
    atomicAdd(&changes[2 * n + pair.x], -scale * dz);
    atomicAdd(&changes[pair.y], scale * dx);
    atomicAdd(&changes[n + pair.y], scale * dy);
    atomicAdd(&changes[2 * n + pair.y], scale * dz);
  }
}

// A time step for places and turns, planes of doubles: gyroscopic torque, quaternions made unit length again.
__global__ void integrate_bodies(const double* __restrict__ in, const double* __restrict__ spins,
                                 double* __restrict__ out, double* __restrict__ new_spins, double dt,
                                 double drag, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double ia = 1.0, ib = 1.5, ic = 2.0, keep = 1 / (1 + drag * dt);
  double vx = in[3 * n + i] * keep, vy = in[4 * n + i] * keep, vz = (in[5 * n + i] - 9.81 * dt) * keep;
  out[i] = in[i] + dt * vx;
  out[n + i] = in[n + i] + dt * vy;
  out[2 * n + i] = in[2 * n + i] + dt * vz;
  out[3 * n + i] = vx;
  out[4 * n + i] = vy;
  out[5 * n + i] = vz;
  double wx = spins[i], wy = spins[n + i], wz = spins[2 * n + i];
  const double tx = (ib - ic) * wy * wz, ty = (ic - ia) * wz * wx, tz = (ia - ib) * wx * wy;
  wx = (wx + dt * tx / ia) * keep;
  wy = (wy + dt * ty / ib) * keep;
  wz = (wz + dt * tz / ic) * keep;
  double qw = spins[3 * n + i], qx = spins[4 * n + i], qy = spins[5 * n + i], qz = spins[6 * n + i];
  const double h = 0.5 * dt;
  const double rw = qw - h * (wx * qx + wy * qy + wz * qz), rx = qx + h * (wx * qw + wy * qz - wz * qy);
  const double ry = qy + h * (wy * qw + wz * qx - wx * qz), rz = qz + h * (wz * qw + wx * qy - wy * qx);
  const double norm = 1 / sqrt(rw * rw + rx * rx + ry * ry + rz * rz);
  new_spins[i] = wx;
  new_spins[n + i] = wy;
  new_spins[2 * n + i] = wz;
  new_spins[3 * n + i] = rw * norm;
  new_spins[4 * n + i] = rx * norm;
  new_spins[5 * n + i] = ry * norm;
  new_spins[6 * n + i] = rz * norm;
}

// The kinetic energy of all bodies and the greatest speed: blocks of 1024 threads, sums in double precision.
__global__ void __launch_bounds__(1024)
    energy_and_speed(const float4* velocities, double* energies, float* speeds, int n) {
  __shared__ double sums[1024];
  __shared__ float most[1024];
  const int t = threadIdx.x;
  double sum = 0;
  float best = 0;
  for (int i = blockIdx.x * 1024 + t; i < n; i += gridDim.x * 1024) {
    const float4 v = velocities[i];
    const float square = v.x * v.x + v.y * v.y + v.z * v.z;
    if (v.w > 0) sum += 0.5 * square / v.w;
    best = fmaxf(best, square);
  }
  sums[t] = sum;
  most[t] = best;
  __syncthreads();
  for (int s = 512; s > 0; s >>= 1) {
    if (t < s) {
      sums[t] += sums[t + s];
      most[t] = fmaxf(most[t], most[t + s]);
    }
    __syncthreads();
  }
  if (t == 0) {
    energies[blockIdx.x] = sums[0];
    speeds[blockIdx.x] = sqrtf(most[0]);
  }
}

float random_at(int i) {
  unsigned h = static_cast<unsigned>(i) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return static_cast<float>((h ^ h >> 13) % 4096u) / 4096;
}

// Bodies lie on a grid of 32 x 32 x (n / 1024), somewhat moved from its points.
float place_at(int i, int axis) {
  const int at = axis == 0 ? i % 32 : axis == 1 ? i / 32 % 32 : i / 1024;
  return at + 0.4f * random_at(3 * i + axis);
}

int neighbour_at(int i, int k, int n) {
  const int offsets[kNeighbours] = {1, -1, 32, -32, 1024, -1024, 33, -33, 31, -31, 1025, -1025};
  const int j = i + offsets[k];
  return j < 0 || j >= n || random_at(7 * i + k) < 0.1f ? -1 : j;
}

void run(int n) {
  const int pairs_count = 4 * n, half = n / 2, batches = 3;
  Box* boxes = device_array<Box>(n, [](int i) {
    const float a = 3.0f * random_at(5 * i), b = 3.0f * random_at(5 * i + 1);
    Box box;
    box.turn = make_float4(sinf(a) * cosf(b), sinf(a) * sinf(b), 0, cosf(a));
    box.centre = make_float3(place_at(i, 0), place_at(i, 1), place_at(i, 2));
    box.half = make_float3(0.3f + 0.2f * random_at(i), 0.4f, 0.5f - 0.2f * random_at(i + 9));
    return box;
  });
  Bounds* bounds = device_zeros<Bounds>(n);
  float4* spheres = device_array<float4>(n, [](int i) {
    return make_float4(place_at(i, 0), place_at(i, 1), place_at(i, 2), 0.4f + 0.2f * random_at(i + 5));
  });
  const auto velocity = [](int i) {
    return make_float4(random_at(i) - 0.5f, random_at(i + 77) - 0.5f, random_at(i + 333) - 0.5f,
                       i % 50 == 0 ? 0.0f : 0.5f + random_at(i + 11));
  };
  float4* velocities = device_array<float4>(n, velocity);
  float4* solved = device_array<float4>(n, velocity);
  int* neighbours = device_array<int>(kNeighbours * n, [n](int i) { return neighbour_at(i % n, i / n, n); });
  float4* forces = device_zeros<float4>(n);
  int2* pairs = device_array<int2>(pairs_count, [n](int i) {
    const int offsets[4] = {1, 32, 1024, 1057};
    const int a = i / 4;
    return make_int2(a, (a + offsets[i % 4]) % n);
  });
  unsigned char* flags = device_zeros<unsigned char>(pairs_count);
  int* found = device_zeros<int>(1);
  float* depths = device_zeros<float>(pairs_count);
  float* changes = device_zeros<float>(3 * n);
  Contact* contacts = device_array<Contact>(batches * half, [half](int i) {
    const int batch = i / half, k = i % half;
    const float z = 2 * random_at(i) - 1, r = sqrtf(1 - z * z), angle = 6.28f * random_at(i + 3);
    return Contact{k ^ 37,
                   half + (k + 211 * batch) % half,
                   r * cosf(angle),
                   r * sinf(angle),
                   z,
                   0.5f,
                   0.1f * (i % 3),
                   0.4f,
                   0.0f,
                   0.0f};
  });
  double* bodies = device_doubles(6 * n);
  double* spins = device_array<double>(7 * n, [n](int i) {
    return i < 3 * n ? (i % 991) / 991.0 - 0.5 : i < 4 * n ? 0.9 : 0.25;
  });
  double* moved = device_zeros<double>(6 * n);
  double* turned = device_zeros<double>(7 * n);
  double* energies = device_zeros<double>(264);
  float* speeds = device_zeros<float>(264);

  for (int r = 0; r < kLaunches; ++r) bounds_of_boxes<<<ceil_div(n, 256), 256>>>(boxes, bounds, 0.02f, n);
  for (int r = 0; r < kLaunches; ++r)
    overlapping_pairs<<<ceil_div(pairs_count, 512), 512>>>(bounds, pairs, flags, found, pairs_count);
  for (int r = 0; r < kLaunches; ++r)
    separating_axes<<<ceil_div(pairs_count, 128), 128>>>(boxes, pairs, depths, pairs_count);
  for (int r = 0; r < kLaunches; ++r)
    hertz_forces<<<ceil_div(n, 128), 128>>>(spheres, velocities, neighbours, forces, 1000.0f, 0.5f, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r) solve_batch<<<ceil_div(half, 64), 64>>>(contacts, solved, half, half);
  for (int r = 0; r < kLaunches; ++r)
    spread_impulses<<<min(ceil_div(pairs_count, 256), 1584), 256>>>(pairs, depths, spheres, changes, 0.1f,
                                                                    pairs_count, n);
  for (int r = 0; r < kLaunches; ++r)
    integrate_bodies<<<ceil_div(n, 192), 192>>>(bodies, spins, moved, turned, 1e-3, 0.1, n);
  for (int r = 0; r < kLaunches; ++r)
    energy_and_speed<<<min(ceil_div(n, 1024), 264), 1024>>>(velocities, energies, speeds, n);
  free_all(boxes, bounds, spheres, velocities, solved, neighbours, forces, pairs, flags, found, depths,
           changes, contacts, bodies, spins, moved, turned, energies, speeds);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("contact_forces");
}
