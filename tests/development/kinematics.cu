// Bodies that turn: quaternions, chains of joints, skins over bones.
#include "device.h"

struct Quaternion {
  float w, x, y, z;
};

__device__ Quaternion product(Quaternion a, Quaternion b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// The attitude of n bodies after `steps` steps of their own rate.
__global__ void integrate_attitudes(float4* attitudes, const float* rates, float step, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = attitudes[i];
  Quaternion q = {a.w, a.x, a.y, a.z};
  const float x = rates[3 * i], y = rates[3 * i + 1], z = rates[3 * i + 2];
  for (int k = 0; k < steps; ++k) {
    const Quaternion change = product(q, {0, x, y, z});
    q = {q.w + step * change.w, q.x + step * change.x, q.y + step * change.y, q.z + step * change.z};
    const float factor = rsqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = {q.w * factor, q.x * factor, q.y * factor, q.z * factor};
  }
  attitudes[i] = make_float4(q.x, q.y, q.z, q.w);
}

__constant__ float links[4 * 7];

__device__ __noinline__ void append_joint(double* pose, double angle, const float* link) {
  double s, c;
  sincos(angle + link[0], &s, &c);
  const double ca = link[1], sa = link[2], a = link[3];
  for (int row = 0; row < 3; ++row) {
    const double p0 = pose[row * 4], p1 = pose[row * 4 + 1], p2 = pose[row * 4 + 2];
    pose[row * 4] = p0 * c + p1 * s;
    pose[row * 4 + 1] = -p0 * s * ca + p1 * c * ca + p2 * sa;
    pose[row * 4 + 2] = p0 * s * sa - p1 * c * sa + p2 * ca;
    pose[row * 4 + 3] += p0 * a * c + p1 * a * s;
  }
}

// Where the hand of an arm with seven joints is, a function call for each of them, the pose in local memory.
__global__ void hands(const double* angles, double* positions, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  for (int joint = 0; joint < 7; ++joint) append_joint(pose, angles[joint * n + i], links + 4 * joint);
  positions[3 * i] = pose[3];
  positions[3 * i + 1] = pose[7];
  positions[3 * i + 2] = pose[11];
}

// A vertex follows four bones out of 60, whose matrices are in shared memory.
__global__ void skin(const float* vertices, const uchar4* bones, const float4* shares, const float4* matrices,
                     float* out, int n) {
  __shared__ float4 pose[60 * 3];
  for (int k = threadIdx.x; k < 60 * 3; k += blockDim.x) pose[k] = matrices[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = vertices[3 * i], y = vertices[3 * i + 1], z = vertices[3 * i + 2];
  const uchar4 b = bones[i];
  const float4 share = shares[i];
  const int which[4] = {b.x % 60, b.y % 60, b.z % 60, b.w % 60};
  const float part[4] = {share.x, share.y, share.z, share.w};
  float rx = 0, ry = 0, rz = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 m0 = pose[which[k] * 3], m1 = pose[which[k] * 3 + 1], m2 = pose[which[k] * 3 + 2];
    rx += part[k] * (m0.x * x + m0.y * y + m0.z * z + m0.w);
    ry += part[k] * (m1.x * x + m1.y * y + m1.z * z + m1.w);
    rz += part[k] * (m2.x * x + m2.y * y + m2.z * z + m2.w);
  }
  out[3 * i] = rx;
  out[3 * i + 1] = ry;
  out[3 * i + 2] = rz;
}

// Between two key frames: along the arc, or straight where they are near each other.
__global__ void between_frames(const float4* keys, const float* times, float4* out, int frames, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float at = times[i] * (frames - 1);
  const int key = min(static_cast<int>(at), frames - 2);
  const float t = at - key;
  const float4 a = keys[key];
  float4 b = keys[key + 1];
  float cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  if (cosine < 0) {
    b = make_float4(-b.x, -b.y, -b.z, -b.w);
    cosine = -cosine;
  }
  float p = 1 - t, q = t;
  if (cosine < 0.9995f) {
    const float angle = acosf(cosine), factor = 1 / sinf(angle);
    p = sinf(p * angle) * factor;
    q = sinf(q * angle) * factor;
  }
  out[i] = make_float4(p * a.x + q * b.x, p * a.y + q * b.y, p * a.z + q * b.z, p * a.w + q * b.w);
}

void run(int n) {
  float table[28];
  for (int k = 0; k < 28; ++k) table[k] = k % 5 * 0.25f;
  cudaMemcpyToSymbol(links, table, sizeof table);
  float* attitudes = device_floats(4 * n);
  float* rates = device_floats(3 * n);
  double* angles = device_doubles(7 * n);
  int* bones = device_ints(n, 1 << 30);
  float* matrices = device_floats(720);
  double* out = device_zeros<double>(3 * n);
  float* times = device_floats(n);
  for (int r = 0; r < kLaunches; ++r)
    integrate_attitudes<<<ceil_div(n, 128), 128>>>((float4*)attitudes, rates, 0.01f, 20, n);
  for (int r = 0; r < kLaunches; ++r) hands<<<ceil_div(n, 64), 64>>>(angles, out, n);
  for (int r = 0; r < kLaunches; ++r)
    skin<<<ceil_div(n, 256), 256>>>(rates, (uchar4*)bones, (float4*)attitudes, (float4*)matrices, (float*)out,
                                    n);
  for (int r = 0; r < kLaunches; ++r)
    skin<<<ceil_div(n, 1024), 1024>>>(rates, (uchar4*)bones, (float4*)attitudes, (float4*)matrices,
                                      (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    between_frames<<<ceil_div(n, 192), 192>>>((float4*)matrices, times, (float4*)out, 180, n);
  free_all(attitudes, rates, angles, bones, matrices, out, times);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("kinematics");
}
