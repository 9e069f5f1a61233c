// Physics of a game: n x n points of cloth, bodies, soft bodies, crowds and characters.
#include "device.h"

constexpr int kFlock = 384;
__constant__ float4 planes[4] = {{0, 1, 0, 0}, {0.6f, 0.8f, 0, 0.1f}, {0, 0.8f, 0.6f, 0}, {-1, 0, 0, 0.9f}};

struct Body {
  float3 position, velocity, spin;
  float4 turn;
  float inverse_mass, radius;
};

__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ float3 xyz(float4 a) { return make_float3(a.x, a.y, a.z); }

// Cloth: springs to twelve points of the grid around a point, and a step of Verlet.
__global__ void cloth_springs(const float4* __restrict__ now, const float4* old, float4* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int dx[] = {1, -1, 0, 0, 1, 1, -1, -1, 2, -2, 0, 0}, dy[] = {0, 0, 1, -1, 1, -1, 1, -1, 0, 0, 2, -2};
  const float4 here = now[y * n + x];
  float3 force = {0, -9.81f, 0};
#pragma unroll
  for (int k = 0; k < 12; ++k) {
    const int sx = x + dx[k], sy = y + dy[k];
    if (sx < 0 || sy < 0 || sx >= n || sy >= n) continue;
    const float3 apart = xyz(now[sy * n + sx]) - xyz(here);
    const float rest = 0.05f * sqrtf((float)(dx[k] * dx[k] + dy[k] * dy[k]));
    force = force + 80.0f * (1 - rest * rsqrtf(dot(apart, apart) + 1e-8f)) * apart;
  }
  const float3 next = xyz(here) + 0.98f * (xyz(here) - xyz(old[y * n + x])) + 1e-4f * here.w * force;
  out[y * n + x] = make_float4(next.x, next.y, next.z, here.w);
}

// Rigid bodies: velocities damp, positions move, quaternions turn with the spin and are made unit again.
__global__ void integrate(Body* bodies, float dt, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Body body = bodies[i];
  body.velocity = 0.99f * body.velocity + make_float3(0, -9.81f * dt * body.inverse_mass, 0);
  body.position = body.position + dt * body.velocity;
  const float4 q = body.turn;
  const float3 v = xyz(q) + 0.5f * dt * (q.w * body.spin + cross(body.spin, xyz(q)));
  const float w = q.w - 0.5f * dt * dot(body.spin, xyz(q)), scale = rsqrtf(dot(v, v) + w * w + 1e-12f);
  body.turn = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * w);
  bodies[i] = body;
}

// Contacts of bodies with planes: impulses at the point of contact change velocity and spin.
__global__ void plane_contacts(const Body* bodies, float3* velocities, float bounce, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float3 velocity = bodies[i].velocity, spin = bodies[i].spin;
    for (int k = 0; k < 4; ++k) {
      const float3 normal = xyz(planes[k]), arm = -bodies[i].radius * normal;
      const float deep = bodies[i].radius - dot(normal, bodies[i].position) - planes[k].w;
      const float3 at_contact = velocity + cross(spin, arm);
      const float speed = dot(normal, at_contact);
      if (deep <= 0 || speed >= 0) continue;
      const float3 impulse = -(1 + bounce) * speed * normal - 0.2f * (at_contact - speed * normal);
      velocity = velocity + impulse;
      spin = spin + 2.5f * cross(arm, impulse);
    }
    velocities[i] = velocity + 0.01f * spin;
  }
}

// Broad phase: sorted places in a uniform grid of cells; a thread counts the overlaps of its place.
__global__ void broad_phase(const int* __restrict__ starts, const int* __restrict__ sorted,
                            const float2* __restrict__ places, unsigned char* overlaps, int side) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= side * side) return;
  const int cx = cell % side, cy = cell / side;
  for (int i = starts[cell]; i < starts[cell + 1]; ++i) {
    const float2 own = places[sorted[i]];
    int hits = -1;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y)
      for (int j = starts[y * side + max(cx - 1, 0)]; j < starts[y * side + min(cx + 1, side - 1) + 1]; ++j) {
        const float2 other = places[sorted[j]];
        hits += fabsf(other.x - own.x) < 0.5f && fabsf(other.y - own.y) < 0.5f;
      }
    overlaps[sorted[i]] = (unsigned char)hits;
  }
}

// Soft bodies: each tetrahedron keeps its volume and adds forces to its four corners.
__global__ void tetrahedra(const int4* corners, const float4* nodes, float* forces, float stiff, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const int4 c = corners[t];
  const float3 a = xyz(nodes[c.x]), u = xyz(nodes[c.y]) - a, v = xyz(nodes[c.z]) - a, w = xyz(nodes[c.w]) - a;
  const float volume = dot(cross(u, v), w) / 6, push = stiff * (1e-5f - volume);
  const float3 fu = push * cross(v, w), fv = push * cross(w, u), fw = push * cross(u, v);
  const float3 all[4] = {-1.0f * (fu + fv + fw), fu, fv, fw};
  for (int k = 0; k < 4; ++k) {
    float* force = forces + 3 * (&c.x)[k];
    atomicAdd(force, all[k].x), atomicAdd(force + 1, all[k].y), atomicAdd(force + 2, all[k].z);
  }
}

// Flocks of boids: each sees all others of its flock by tiles, keeps apart, and follows the mean.
__global__ void boids(const float4* __restrict__ places, float4* steering) {
  __shared__ float4 tile[128];
  const int first = blockIdx.y * kFlock, i = first + blockIdx.x * 128 + threadIdx.x;
  const float3 own = xyz(places[i]);
  float3 push = {0, 0, 0}, sum = {0, 0, 0};
  float seen = 0;
  for (int start = 0; start < kFlock; start += 128) {
    tile[threadIdx.x] = places[first + start + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      const float3 apart = own - xyz(tile[j]);
      const float square = dot(apart, apart), near = square < 0.1f ? 1.0f : 0.0f;
      push = push + near / (square + 0.01f) * apart, sum = sum + near * xyz(tile[j]);
      seen += near;
    }
    __syncthreads();
  }
  const float3 steer = 0.05f * push + (1 / seen) * sum - own;
  steering[i] = make_float4(steer.x, steer.y, steer.z, seen);
}

// Skinning: a vertex follows four bones of a palette with three rows of a matrix each.
__global__ void skinning(const float4* __restrict__ palette, const uchar4* __restrict__ bones,
                         const float4* __restrict__ weights, const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 b = bones[i];
  const float4 w = weights[i];
#pragma unroll
  for (int row = 0; row < 3; ++row) {
    const float4 p = palette[3 * b.x + row], q = palette[3 * b.y + row];
    const float4 r = palette[3 * b.z + row], s = palette[3 * b.w + row];
    const float x = w.x * p.x + w.y * q.x + w.z * r.x + w.w * s.x;
    const float y = w.x * p.y + w.y * q.y + w.z * r.y + w.w * s.y;
    const float z = w.x * p.z + w.y * q.z + w.z * r.z + w.w * s.z;
    out[3 * i + row] = x * in[3 * i] + y * in[3 * i + 1] + z * in[3 * i + 2] + w.x * p.w + w.y * q.w;
  }
}

// Ragdolls: a block has a chain of points in dynamic shared memory; even links are corrected, then odd ones.
__global__ void ragdolls(const float4* in, float4* out, float length, int sweeps) {
  extern __shared__ float4 points[];
  const int t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
  points[t] = in[at];
  for (int sweep = 0; sweep < 2 * sweeps; ++sweep) {
    __syncthreads();
    if (t % 2 != sweep % 2 || t + 1 >= blockDim.x) continue;
    const float3 apart = xyz(points[t + 1]) - xyz(points[t]);
    const float3 move = 0.5f * (1 - length * rsqrtf(dot(apart, apart) + 1e-9f)) * apart;
    const float3 a = xyz(points[t]) + move, b = xyz(points[t + 1]) - move;
    points[t] = make_float4(a.x, a.y, a.z, points[t].w);
    points[t + 1] = make_float4(b.x, b.y, b.z, points[t + 1].w);
  }
  __syncthreads();
  out[at] = points[t];
}

void run(int n) {
  const int count = n * n, side = n / 2, cells = side * side, flocks = count / kFlock;
  float4* now = (float4*)device_array<float>(4 * count, [n](int i) {
    return 0.05f * (i % 4 == 0 ? i / 4 % n : i % 4 == 1 ? i / 4 / n : i % 7);
  });
  float4* out = device_zeros<float4>(count);
  float* bodies = device_array<float>(20 * count, [](int i) { return 0.3f + hashed_unit(i) - i % 2; });
  int* starts = device_array<int>(cells + 1, [](int i) { return 4 * i; });
  int* sorted = device_array<int>(4 * cells, [](int i) { return i ^ (i >> 3 & 3); });
  float2* places = (float2*)device_array<float>(8 * cells, [side](int i) {
    return hashed_unit(i) + (i % 2 ? i / 8 / side : i / 8 % side);
  });
  int4* tets = (int4*)device_array<int>(
      4 * count, [=](int i) { return (i / 4 + i % 2 + i / 2 % 2 * n) % count; });
  float4* weights = (float4*)device_floats(4 * count);
  uchar4* bones = (uchar4*)device_array<unsigned char>(4 * count, [](int i) { return i / 64 % 50 + i % 4; });
  for (int r = 0; r < kLaunches; ++r)
    cloth_springs<<<dim3(ceil_div(n, 32), ceil_div(n, 6)), dim3(32, 6)>>>(now, now, out, n);
  for (int r = 0; r < kLaunches; ++r) integrate<<<ceil_div(count, 128), 128>>>((Body*)bodies, 0.001f, count);
  for (int r = 0; r < kLaunches; ++r)
    plane_contacts<<<ceil_div(count, 640), 320>>>((Body*)bodies, (float3*)out, 0.4f, count);
  for (int r = 0; r < kLaunches; ++r)
    broad_phase<<<ceil_div(cells, 64), 64>>>(starts, sorted, places, (unsigned char*)out, side);
  for (int r = 0; r < kLaunches; ++r)
    tetrahedra<<<ceil_div(count, 256), 256>>>(tets, now, (float*)out, 5.0f, count);
  for (int r = 0; r < kLaunches; ++r) boids<<<dim3(kFlock / 128, flocks), 128>>>(now, out);
  for (int r = 0; r < kLaunches; ++r)
    skinning<<<ceil_div(count, 1024), 1024>>>(now, bones, weights, bodies, (float*)out, count);
  for (int r = 0; r < kLaunches; ++r) ragdolls<<<count / 48, 48, 48 * sizeof(float4)>>>(now, out, 0.06f, 10);
  free_all(now, out, bodies, starts, sorted, places, tets, weights, bones);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("game_physics");
}
