// Mapping, localisation and planning of robots: n particles, points or arms on a map of about 4 n cells.
#include "device.h"

constexpr int kBeams = 12, kJoints = 7, kNodes = 256, kSteps = 40;
__constant__ float kTwists[kJoints] = {-1.5708f, 1.5708f, 1.5708f, -1.5708f, -1.5708f, 1.5708f, 0};
__constant__ float kOffsets[kJoints] = {0.34f, 0, 0.4f, 0, 0.4f, 0, 0.126f};

// Updates the log-odds of each cell of an occupancy grid with a sweep of 360 ranges.
__global__ void update_occupancy(float* odds, const float* ranges, float px, float py, int edge) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= edge || y >= edge) return;
  const float dx = x + 0.5f - px, dy = y + 0.5f - py, distance = sqrtf(dx * dx + dy * dy);
  const int beam = static_cast<int>((atan2f(dy, dx) + 3.14159265f) * 57.29577f) % 360;
  const float range = 5 + ranges[beam] * edge;
  if (distance > range + 2) return;
  const float change = distance > range - 2 ? 0.85f : -0.4f;
  odds[y * edge + x] = fminf(fmaxf(odds[y * edge + x] + change, -5.0f), 5.0f);
}

// Casts a ray from each pose through the grid, cell by cell, until an obstacle, the border or 300 cells.
__global__ void cast_rays(const unsigned char* __restrict__ map, const float4* poses, float* out, int edge, int rays) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rays) return;
  const float4 pose = poses[i];
  float s, c;
  sincosf(pose.z, &s, &c);
  int x = static_cast<int>(pose.x), y = static_cast<int>(pose.y);
  const float stepX = 1 / fmaxf(fabsf(c), 1e-6f), stepY = 1 / fmaxf(fabsf(s), 1e-6f);
  float nextX = (c > 0 ? x + 1 - pose.x : pose.x - x) * stepX, nextY = (s > 0 ? y + 1 - pose.y : pose.y - y) * stepY;
  float range = 0;
  for (int k = 0; k < 300; ++k) {
    if (x < 0 || y < 0 || x >= edge || y >= edge || map[y * edge + x]) break;
    range = fminf(nextX, nextY);
    if (nextX < nextY) x += c > 0 ? 1 : -1, nextX += stepX;
    else y += s > 0 ? 1 : -1, nextY += stepY;
  }
  out[i] = range;
}

// Moves particles with noise and weighs them by the map's likelihood where twelve beams end.
__global__ void weigh_particles(float4* particles, const float* field, const float* scan, int seed, int edge, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = particles[i];
  unsigned noise = (i ^ seed) * 2654435761u;
  noise ^= (noise ^ noise >> 15) * 2246822519u >> 13;
  p = make_float4(p.x + noise % 64 / 64.0f, p.y - noise / 64 % 64 / 64.0f, p.z + noise / 4096 % 64 / 640.0f, 0);
  float log = 0;
  for (int k = 0; k < kBeams; ++k) {
    float s, c;
    __sincosf(p.z + k * 0.5236f, &s, &c);
    const int x = static_cast<int>(p.x + 30 * scan[k] * c), y = static_cast<int>(p.y + 30 * scan[k] * s);
    if (x >= 0 && y >= 0 && x < edge && y < edge) log += __logf(fabsf(field[y * edge + x]) + 0.05f);
    else log -= 3;
  }
  p.w = expf(0.2f * log);
  particles[i] = p;
}

// Resamples particles systematically: each thread bisects the cumulative weights and copies its ancestor.
__global__ void resample(const float* cumulative, const float4* particles, float4* out, float offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float aim = (i + offset) / n;
  int low = 0, high = n - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    cumulative[middle] < aim ? low = middle + 1 : high = middle;
  }
  out[i] = particles[low];
}

// Multiplies out the seven joint transforms of an arm, in three rows of four numbers.
__global__ void forward_kinematics(const float* __restrict__ angles, float4* poses, int arms) {
  const int arm = blockIdx.x * blockDim.x + threadIdx.x;
  if (arm >= arms) return;
  float pose[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
#pragma unroll
  for (int j = 0; j < kJoints; ++j) {
    float s, c, st, ct;
    sincosf(angles[arm * kJoints + j], &s, &c);
    sincosf(kTwists[j], &st, &ct);
#pragma unroll
    for (int row = 0; row < 3; ++row) {
      const float a = pose[row][0], b = pose[row][1], d = pose[row][2];
      pose[row][0] = a * c + b * s;
      pose[row][1] = (b * c - a * s) * ct + d * st;
      pose[row][2] = (a * s - b * c) * st + d * ct;
      pose[row][3] += d * kOffsets[j];
    }
  }
  for (int row = 0; row < 3; ++row)
    poses[3 * arm + row] = make_float4(pose[row][0], pose[row][1], pose[row][2], pose[row][3]);
}

// Finds the node of a random tree nearest to each sample, nodes passing through a tile in shared memory.
__global__ void nearest_node(const float4* tree, const float4* samples, int* nearest, int nodes, int count) {
  __shared__ float4 tile[kNodes];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 q = samples[min(i, count - 1)];
  float least = 1e30f;
  int best = 0;
  for (int start = 0; start < nodes; start += kNodes) {
    for (int k = threadIdx.x; k < kNodes; k += blockDim.x) tile[k] = tree[min(start + k, nodes - 1)];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kNodes; ++k) {
      const float dx = tile[k].x - q.x, dy = tile[k].y - q.y, turn = tile[k].z - q.z;
      const float distance = dx * dx + dy * dy + 0.3f * turn * turn;
      if (distance < least) best = start + k;
      least = fminf(least, distance);
    }
    __syncthreads();
  }
  if (i < count) nearest[i] = min(best, nodes - 1);
}

// Adds up the products of matched points for a step of iterative closest point, by warps and then atomically.
__global__ void icp_sums(const float4* points, const float4* targets, const int* matches, double* sums, int n) {
  float sum[9] = {0};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 p = points[i], q = targets[matches[i]];
    const float a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
    for (int k = 0; k < 9; ++k) sum[k] += a[k / 3] * b[k % 3];
  }
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    for (int d = 16; d > 0; d /= 2) sum[k] += __shfl_down_sync(~0u, sum[k], d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[k], static_cast<double>(sum[k]));
  }
}

// Runs a Kalman filter of place and speed for each tracked target over some measurements, in double precision.
__global__ void kalman_batch(double* states, const double* measured, int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double* s = states + 5 * i;
  double place = s[0], speed = s[1], pp = s[2] + 1, pv = 0.1 * s[3], vv = s[4] + 1;
  for (int k = 0; k < steps; ++k) {
    place += 0.1 * speed;
    pp += 0.2 * pv + 0.01 * vv + 1e-4;
    pv += 0.1 * vv;
    const double gain = pp / (pp + 0.05), turn = pv / (pp + 0.05), surprise = measured[k * count + i] - place;
    place += gain * surprise, speed += turn * surprise;
    vv += 1e-3 - turn * pv;
    pp *= 1 - gain, pv *= 1 - gain;
  }
  s[0] = place, s[1] = speed, s[2] = pp, s[3] = pv, s[4] = vv;
}

// Rolls out trajectories of a bicycle model over a cost map until they leave it or hit an obstacle.
__global__ void roll_out(const float2* controls, const unsigned char* map, float4* poses, float* out, int edge, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = poses[i];
  float cost = 0, speed = 1;
  for (int k = 0; k < kSteps; ++k) {
    const float2 u = controls[k * n + i];
    speed = fminf(fmaxf(speed + u.x - 0.5f, 0), 3);
    p.z += 0.4f * speed * tanf(u.y - 0.5f);
    p.x += speed * cosf(p.z), p.y += speed * sinf(p.z);
    const int x = static_cast<int>(floorf(p.x)), y = static_cast<int>(floorf(p.y));
    if (x < 0 || y < 0 || x >= edge || y >= edge || map[y * edge + x]) break;
    cost += u.x * u.x + 0.1f * fabsf(p.x - 0.5f * edge);
  }
  out[i] = cost;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)
void run(int n) {
  int edge = 1;
  while ((edge + 1) * (edge + 1) <= 4 * n) ++edge;
  const int cells = edge * edge, blocks = ceil_div(n, 256), tracks = n / 2, rollouts = n / 4;
  const dim3 squares(ceil_div(edge, 32), ceil_div(edge, 8));
  auto* map = device_array<unsigned char>(cells, [](int i) { return hashed_unit(i) < 0.01f; });
  auto* poses = device_array<float4>(n, [edge](int i) {
    return make_float4(edge * hashed_unit(3 * i), edge * hashed_unit(3 * i + 1), 6 * hashed_unit(3 * i + 2), 0);
  });
  float *field = device_array<float>(cells, hashed_unit), *angles = device_floats(kJoints * n);
  float *weights = device_array<float>(n, [n](int i) { return (i + hashed_unit(i)) / n; });
  float *controls = device_array<float>(2 * kSteps * rollouts, hashed_unit), *out = device_zeros<float>(12 * n);
  double *states = device_doubles(5 * tracks), *measured = device_doubles(10 * tracks), *sums = device_zeros<double>(9);
  int* matches = device_ints(n, n);
  REPEAT update_occupancy<<<squares, dim3(32, 8)>>>(field, angles, 0.4f * edge, 0.6f * edge, edge);
  REPEAT cast_rays<<<ceil_div(n, 128), 128>>>(map, poses, out, edge, n);
  REPEAT resample<<<ceil_div(n, 1024), 1024>>>(weights, poses, (float4*)out, 0.3f, n);
  REPEAT forward_kinematics<<<ceil_div(n, 192), 192>>>(angles, (float4*)out, n);
  REPEAT nearest_node<<<ceil_div(n, 128 * 64), 128>>>(poses, poses + n / 2, (int*)out, n / 32, n / 64);
  REPEAT icp_sums<<<std::min(blocks, 528), 512>>>(poses, poses, matches, sums, n);
  REPEAT kalman_batch<<<ceil_div(tracks, 64), 64>>>(states, measured, 10, tracks);
  REPEAT roll_out<<<ceil_div(rollouts, 32), 32>>>((float2*)controls, map, poses, out, edge, rollouts);
  REPEAT weigh_particles<<<blocks, 256>>>(poses, field, angles, r, edge, n);
  free_all(map, poses, field, angles, weights, controls, out, states, measured, sums, matches);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("robot_planning");
}
