// Docking of a small molecule to a large one: n poses, their scores, gradients, maps and comparisons.
#include "device.h"

constexpr int kAtoms = 32;      // of the ligand
constexpr int kReceptor = 768;  // atoms of the receptor
constexpr int kTypes = 16, kTorsions = 6, kMapSide = 64;
constexpr int kPerLigand = 1024;  // poses whose energies are compared
constexpr int kPlane = 128;       // points of the Coulomb map along x and y

// A place and a turn of the whole ligand.
struct Pose {
  float4 turn;  // a unit quaternion
  float3 shift;
  float energy;
};

__constant__ float4 charges[kReceptor];
// Of each torsion: the two atoms of its axis and the first of the atoms that turn.
__constant__ int4 torsion_atoms[kTorsions];

__device__ unsigned mixed(unsigned v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

__device__ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// An atom of the ligand in a pose. The charge stays in w.
__device__ float4 placed(const Pose& pose, float4 atom) {
  const float3 axis = make_float3(pose.turn.x, pose.turn.y, pose.turn.z);
  float3 t = cross(axis, make_float3(atom.x, atom.y, atom.z));
  t = make_float3(2 * t.x, 2 * t.y, 2 * t.z);
  const float3 s = cross(axis, t);
  return make_float4(atom.x + pose.turn.w * t.x + s.x + pose.shift.x,
                     atom.y + pose.turn.w * t.y + s.y + pose.shift.y,
                     atom.z + pose.turn.w * t.z + s.z + pose.shift.z, atom.w);
}

// Softened van der Waals and Coulomb energy of two atoms.
__device__ float pair_energy(float4 a, float4 b) {
  const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  const float square = dx * dx + dy * dy + dz * dz + 0.8f, inverse = 1.0f / square;
  const float sixth = inverse * inverse * inverse;
  return 0.2f * sixth * (sixth - 2) + a.w * b.w * rsqrtf(square);
}

// Scores, a thread for each pose, which goes over all pairs of atoms.
__global__ void score_poses_naive(const Pose* poses, const float4* ligand, const float4* receptor,
                                  float* energies, int atoms, int others, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Pose pose = poses[i];
  float energy = 0;
  for (int a = 0; a < atoms; a++) {
    float4 atom = placed(pose, ligand[a]);
    for (int b = 0; b < others; b++) energy += pair_energy(atom, receptor[b]);
  }
  energies[i] = energy;
}

// Scores, a block for each pose: the ligand lies in shared memory, the threads share the receptor.
__global__ void score_poses_shared(const Pose* __restrict__ poses, const float4* __restrict__ ligand,
                                   const float4* __restrict__ receptor, float* __restrict__ energies,
                                   int others) {
  __shared__ float4 moved[kAtoms];
  __shared__ float parts[4];
  if (threadIdx.x < kAtoms) moved[threadIdx.x] = placed(poses[blockIdx.x], ligand[threadIdx.x]);
  __syncthreads();
  float energy = 0;
  for (int b = threadIdx.x; b < others; b += blockDim.x) {
    const float4 other = receptor[b];
#pragma unroll 8
    for (int a = 0; a < kAtoms; ++a) energy += pair_energy(moved[a], other);
  }
  for (int d = 16; d > 0; d /= 2) energy += __shfl_down_sync(0xffffffffu, energy, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = energy;
  __syncthreads();
  if (threadIdx.x == 0) energies[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}

__device__ float trilinear(const float* map, int at, float tx, float ty, float tz) {
  const int row = kMapSide, plane = kMapSide * kMapSide;
  const float a = map[at] + tx * (map[at + 1] - map[at]);
  const float b = map[at + row] + tx * (map[at + row + 1] - map[at + row]);
  const float c = map[at + plane] + tx * (map[at + plane + 1] - map[at + plane]);
  const float d = map[at + plane + row] + tx * (map[at + plane + row + 1] - map[at + plane + row]);
  const float low = a + ty * (b - a), high = c + ty * (d - c);
  return low + tz * (high - low);
}

// Scores from maps of the energy: a thread for each atom, a warp for each pose.
__global__ void interpolate_maps(const float4* __restrict__ placed_atoms, const float* __restrict__ steric,
                                 const float* __restrict__ electric, float* __restrict__ energies,
                                 int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count * kAtoms) return;
  const float4 atom = placed_atoms[i];
  const float x = fminf(fmaxf(4 * atom.x + 32, 0.0f), kMapSide - 1.01f);
  const float y = fminf(fmaxf(4 * atom.y + 32, 0.0f), kMapSide - 1.01f);
  const float z = fminf(fmaxf(4 * atom.z + 32, 0.0f), kMapSide - 1.01f);
  const int left = static_cast<int>(x), top = static_cast<int>(y), front = static_cast<int>(z);
  const int at = (front * kMapSide + top) * kMapSide + left;
  float energy = trilinear(steric, at, x - left, y - top, z - front) +
                 atom.w * trilinear(electric, at, x - left, y - top, z - front);
  for (int d = 16; d > 0; d /= 2) energy += __shfl_xor_sync(0xffffffffu, energy, d);
  if (threadIdx.x % 32 == 0) energies[i / kAtoms] = energy;
}

// Places of all atoms of all poses.
__global__ void move_ligands(const Pose* poses, const float4* ligand, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count * kAtoms) out[i] = placed(poses[i / kAtoms], ligand[i % kAtoms]);
}

// Torsions, one after another: a warp for each pose, an atom for each lane.
__global__ void turn_torsions(const float4* __restrict__ atoms, const float* __restrict__ angles,
                              float4* __restrict__ out, int torsions, int count) {
  const int pose = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (pose >= count) return;
  const float4 start = atoms[pose * kAtoms + lane];
  float x = start.x, y = start.y, z = start.z;
  for (int t = 0; t < torsions; ++t) {
    const int4 which = torsion_atoms[t];
    const float ox = __shfl_sync(0xffffffffu, x, which.x), oy = __shfl_sync(0xffffffffu, y, which.x);
    const float oz = __shfl_sync(0xffffffffu, z, which.x);
    float ax = __shfl_sync(0xffffffffu, x, which.y) - ox, ay = __shfl_sync(0xffffffffu, y, which.y) - oy;
    float az = __shfl_sync(0xffffffffu, z, which.y) - oz;
    const float shrink = rsqrtf(ax * ax + ay * ay + az * az + 1e-6f);
    ax *= shrink;
    ay *= shrink;
    az *= shrink;
    float sine, cosine;
    sincosf(angles[pose * torsions + t], &sine, &cosine);
    const float3 from = make_float3(x - ox, y - oy, z - oz);
    const float3 side = cross(make_float3(ax, ay, az), from);
    const float along = (1 - cosine) * (ax * from.x + ay * from.y + az * from.z);
    if (lane >= which.z) {
      x = ox + cosine * from.x + sine * side.x + along * ax;
      y = oy + cosine * from.y + sine * side.y + along * ay;
      z = oz + cosine * from.z + sine * side.z + along * az;
    }
  }
  out[pose * kAtoms + lane] = make_float4(x, y, z, start.w);
}

// Root mean square distance of each frame to the first one, with places one after another.
__global__ void distance_to_first(const float* places, float* distances, int atoms, int frames) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frames) return;
  double sum = 0;
  for (int a = 0; a < atoms; ++a) {
    for (int c = 0; c < 3; ++c) {
      const float d = places[(i * atoms + a) * 3 + c] - places[a * 3 + c];
      sum += d * d;
    }
  }
  distances[i] = static_cast<float>(sqrt(sum / atoms));
}

// Which pairs of poses are alike: tiles of 16 x 16 pairs.
__global__ void alike_poses(const float* __restrict__ places, unsigned char* __restrict__ alike, float limit,
                            int count) {
  constexpr int kLength = 3 * kAtoms;
  __shared__ float a[16][kLength + 1], b[16][kLength + 1];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  for (int k = thread; k < 16 * kLength; k += 256) {
    const int pose = k / kLength, c = k % kLength;
    a[pose][c] = places[min(static_cast<int>(blockIdx.y) * 16 + pose, count - 1) * kLength + c];
    b[pose][c] = places[min(static_cast<int>(blockIdx.x) * 16 + pose, count - 1) * kLength + c];
  }
  __syncthreads();
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= count || j >= count) return;
  float sum = 0;
#pragma unroll 8
  for (int c = 0; c < kLength; ++c) {
    const float d = a[threadIdx.y][c] - b[threadIdx.x][c];
    sum += d * d;
  }
  alike[i * count + j] = sum < limit * limit * kAtoms;
}

// Force on each atom of each pose and its energy. The receptor comes in tiles.
template <int kTile>
__global__ void energy_gradients(const float4* __restrict__ atoms, const float4* __restrict__ receptor,
                                 float4* __restrict__ forces, int others, int count) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float4 own = atoms[min(i, count - 1)];
  float fx = 0, fy = 0, fz = 0, energy = 0;
  for (int first = 0; first < others; first += kTile) {
    const int number = min(kTile, others - first);
    if (static_cast<int>(threadIdx.x) < number) tile[threadIdx.x] = receptor[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < number; ++k) {
      const float4 other = tile[k];
      const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
      const float root = rsqrtf(dx * dx + dy * dy + dz * dz + 0.8f), inverse = root * root;
      const float sixth = inverse * inverse * inverse, coulomb = own.w * other.w * root;
      const float strength = (2.4f * sixth * (sixth - 1) + coulomb) * inverse;
      energy += 0.2f * sixth * (sixth - 2) + coulomb;
      fx += strength * dx;
      fy += strength * dy;
      fz += strength * dz;
    }
    __syncthreads();
  }
  if (i < count) forces[i] = make_float4(fx, fy, fz, energy);
}

// Coulomb potential at points of a map, kPoints of a row for each thread. The charges are constants.
template <int kPoints>
__global__ void coulomb_map(float* __restrict__ map, float spacing, int others) {
  const int x = blockIdx.x * blockDim.x * kPoints + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  float sums[kPoints];
#pragma unroll
  for (int p = 0; p < kPoints; ++p) sums[p] = 0;
  for (int k = 0; k < others; ++k) {
    const float4 atom = charges[k];
    const float dy = y * spacing - atom.y, dz = z * spacing - atom.z, rest = dy * dy + dz * dz + 0.01f;
#pragma unroll
    for (int p = 0; p < kPoints; ++p) {
      const float dx = (x + p * static_cast<int>(blockDim.x)) * spacing - atom.x;
      sums[p] += atom.w * rsqrtf(dx * dx + rest);
    }
  }
#pragma unroll
  for (int p = 0; p < kPoints; ++p) map[(z * kPlane + y) * kPlane + x + p * blockDim.x] = sums[p];
}

// Desolvation: weights for pairs of types from a table in shared memory, which fall with the distance.
__global__ void desolvation(const float4* atoms, const int* types, const float4* receptor,
                            const int* receptor_types, const float* table, float* out, int others,
                            int count) {
  __shared__ float weights[kTypes * kTypes];
  for (int k = threadIdx.x; k < kTypes * kTypes; k += blockDim.x) weights[k] = table[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 own = atoms[i];
  const int type = types[i % kAtoms];
  float sum = 0;
  for (int k = 0; k < others; ++k) {
    const float4 other = receptor[k];
    const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
    const float fall = __expf(-0.04f * (dx * dx + dy * dy + dz * dz));
    sum += weights[receptor_types[k] * kTypes + type] * fall;
  }
  out[i] = sum;
}

// The best of the poses of each ligand.
__global__ void best_of_ligand(const float* energies, float* best, int* which, int poses) {
  __shared__ float values[256];
  __shared__ int places[256];
  const int t = threadIdx.x;
  const float* own = energies + blockIdx.x * poses;
  float least = 1e30f;
  int place = 0;
  for (int i = t; i < poses; i += 256) {
    if (own[i] < least) {
      least = own[i];
      place = i;
    }
  }
  values[t] = least;
  places[t] = place;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d && values[t + d] < values[t]) {
      values[t] = values[t + d];
      places[t] = places[t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    best[blockIdx.x] = values[0];
    which[blockIdx.x] = places[0];
  }
}

// Poses go downhill among four wells, in double precision.
__global__ void settle_poses(const double* __restrict__ starts, double* __restrict__ ends, double rate,
                             int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double x = starts[i], y = starts[count + i], z = starts[2 * count + i];
  for (int s = 0; s < steps; ++s) {
    double fx = -0.1 * x, fy = -0.1 * y, fz = -0.1 * z;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const double dx = x - (w & 1 ? 1.5 : -1.5), dy = y - (w & 2 ? 1.2 : -1.2), dz = z - 0.3 * w;
      const double depth = exp(-(dx * dx + dy * dy + dz * dz));
      fx -= 2 * depth * dx;
      fy -= 2 * depth * dy;
      fz -= 2 * depth * dz;
    }
    x += rate * fx;
    y += rate * fy;
    z += rate * fz;
  }
  ends[i] = x;
  ends[count + i] = y;
  ends[2 * count + i] = z;
}

__device__ float bumpy(float x, float y, float z) {
  return 0.1f * (x * x + y * y + z * z) + __sinf(3 * x) * __cosf(2 * y) + 0.5f * __sinf(4 * z);
}

// Monte Carlo: random moves, of which those uphill are taken now and then.
__global__ void jump_poses(Pose* __restrict__ out, const Pose* __restrict__ poses, float width, float heat,
                           int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Pose pose = poses[i];
  float energy = bumpy(pose.shift.x, pose.shift.y, pose.shift.z);
  unsigned random = mixed(i + 1);
  for (int s = 0; s < steps; ++s) {
    random = random * 1664525u + 1013904223u;
    const unsigned other = mixed(random);
    const float x = pose.shift.x + width * ((random >> 16) * (1.0f / 32768) - 1);
    const float y = pose.shift.y + width * ((other & 0xffff) * (1.0f / 32768) - 1);
    const float z = pose.shift.z + width * ((other >> 16) * (1.0f / 32768) - 1);
    const float tried = bumpy(x, y, z);
    if (tried < energy || __expf((energy - tried) / heat) > (random & 0xffff) * (1.0f / 65536)) {
      pose.shift = make_float3(x, y, z);
      energy = tried;
    }
  }
  pose.energy = energy;
  out[i] = pose;
}

float4 any_atom(int i) {
  const unsigned k = 4u * static_cast<unsigned>(i);
  return make_float4(12 * hashed_unit(k) - 6, 12 * hashed_unit(k + 1) - 6, 12 * hashed_unit(k + 2) - 6,
                     hashed_unit(k + 3) - 0.5f);
}

// n is a multiple of 256.
void run(int n) {
  const int atoms = n * kAtoms, frames = 8 * n, pairs = n / 2, ligands = n, chains = 16 * n, planes = n / 256;
  Pose* poses = device_array<Pose>(chains, [](int i) {
    const unsigned k = 7u * static_cast<unsigned>(i);
    const float x = hashed_unit(k) - 0.5f, y = hashed_unit(k + 1) - 0.5f, z = hashed_unit(k + 2) - 0.5f;
    const float w = 0.1f + hashed_unit(k + 3), shrink = 1 / sqrtf(x * x + y * y + z * z + w * w);
    Pose pose;
    pose.turn = make_float4(x * shrink, y * shrink, z * shrink, w * shrink);
    pose.shift =
        make_float3(4 * hashed_unit(k + 4) - 2, 4 * hashed_unit(k + 5) - 2, 4 * hashed_unit(k + 6) - 2);
    pose.energy = 0;
    return pose;
  });
  Pose* new_poses = device_zeros<Pose>(chains);
  float4* ligand = device_array<float4>(kAtoms, [](int i) {
    return make_float4(0.3f * (i % 8) - 1, 0.6f * (i / 8) - 1, 0.1f * (i % 5), 0.1f);
  });
  float4* receptor = device_array<float4>(kReceptor, any_atom);
  float4* placed_atoms = device_array<float4>(atoms, [](int i) {
    const float4 centre = any_atom(i / kAtoms), offset = any_atom(i % kAtoms);
    return make_float4(centre.x + 0.2f * offset.x, centre.y + 0.2f * offset.y, centre.z + 0.2f * offset.z,
                       offset.w);
  });
  float4* moved_atoms = device_zeros<float4>(atoms);
  float* energies = device_zeros<float>(n);
  float* steric = device_array<float>(kMapSide * kMapSide * kMapSide,
                                      [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* electric = device_array<float>(
      kMapSide * kMapSide * kMapSide, [](int i) { return hashed_unit(static_cast<unsigned>(i) + 5) - 0.5f; });
  float* angles =
      device_array<float>(n * kTorsions, [](int i) { return 6 * hashed_unit(static_cast<unsigned>(i)) - 3; });
  float* places = device_array<float>(frames * 3 * kAtoms,
                                      [](int i) { return 3 * hashed_unit(static_cast<unsigned>(i)); });
  float* distances = device_zeros<float>(frames);
  unsigned char* alike = device_zeros<unsigned char>(pairs * pairs);
  float* map = device_zeros<float>(planes * kPlane * kPlane);
  int* types = device_array<int>(kAtoms, [](int i) { return i * 7 % kTypes; });
  int* receptor_types = device_array<int>(kReceptor, [](int i) { return (i * 5 + i / 16) % kTypes; });
  float* table = device_array<float>(kTypes * kTypes, [](int i) { return 0.01f * (i % 19) - 0.05f; });
  float* solvation = device_zeros<float>(atoms);
  float* all_energies =
      device_array<float>(ligands * kPerLigand, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* best = device_zeros<float>(ligands);
  int* which = device_zeros<int>(ligands);
  double* starts = device_array<double>(3 * chains, [](int i) { return i % 101 * 0.03 - 1.5; });
  double* ends = device_zeros<double>(3 * chains);
  std::vector<float4> constants(kReceptor);
  for (int k = 0; k < kReceptor; ++k) constants[k] = any_atom(k);
  cudaMemcpyToSymbol(charges, constants.data(), constants.size() * sizeof(float4));
  std::vector<int4> axes(kTorsions);
  for (int t = 0; t < kTorsions; ++t) axes[t] = make_int4(4 * t, 4 * t + 2, 4 * t + 3, 0);
  cudaMemcpyToSymbol(torsion_atoms, axes.data(), axes.size() * sizeof(int4));
  for (int r = 0; r < kLaunches; ++r)
    score_poses_naive<<<ceil_div(n, 64), 64>>>(poses, ligand, receptor, energies, kAtoms, kReceptor, n);
  for (int r = 0; r < kLaunches; ++r)
    score_poses_shared<<<n, 128>>>(poses, ligand, receptor, energies, kReceptor);
  for (int r = 0; r < kLaunches; ++r)
    interpolate_maps<<<ceil_div(atoms, 256), 256>>>(placed_atoms, steric, electric, energies, n);
  for (int r = 0; r < kLaunches; ++r)
    move_ligands<<<ceil_div(atoms, 512), 512>>>(poses, ligand, moved_atoms, n);
  for (int r = 0; r < kLaunches; ++r)
    turn_torsions<<<ceil_div(n, 4), dim3(32, 4)>>>(placed_atoms, angles, moved_atoms, kTorsions, n);
  for (int r = 0; r < kLaunches; ++r)
    distance_to_first<<<ceil_div(frames, 128), 128>>>(places, distances, kAtoms, frames);
  for (int r = 0; r < kLaunches; ++r)
    alike_poses<<<dim3(ceil_div(pairs, 16), ceil_div(pairs, 16)), dim3(16, 16)>>>(places, alike, 2.1f, pairs);
  for (int r = 0; r < kLaunches; ++r)
    energy_gradients<128>
        <<<ceil_div(atoms, 128), 128>>>(placed_atoms, receptor, moved_atoms, kReceptor, atoms);
  for (int r = 0; r < kLaunches; ++r)
    coulomb_map<1><<<dim3(kPlane / 32, kPlane / 4, planes), dim3(32, 4)>>>(map, 0.2f, kReceptor);
  for (int r = 0; r < kLaunches; ++r)
    coulomb_map<4><<<dim3(kPlane / 128, kPlane / 8, planes), dim3(32, 8)>>>(map, 0.2f, kReceptor);
  for (int r = 0; r < kLaunches; ++r)
    desolvation<<<ceil_div(atoms, 192), 192>>>(placed_atoms, types, receptor, receptor_types, table,
                                               solvation, kReceptor, atoms);
  for (int r = 0; r < kLaunches; ++r) best_of_ligand<<<ligands, 256>>>(all_energies, best, which, kPerLigand);
  for (int r = 0; r < kLaunches; ++r)
    settle_poses<<<ceil_div(chains, 128), 128>>>(starts, ends, 0.05, 25, chains);
  for (int r = 0; r < kLaunches; ++r)
    jump_poses<<<ceil_div(chains, 256), 256>>>(new_poses, poses, 0.3f, 0.5f, 50, chains);
  free_all(poses, new_poses, ligand, receptor, placed_atoms, moved_atoms, energies, steric, electric, angles);
  free_all(places, distances, alike, map, types, receptor_types, table, solvation, all_energies, best, which);
  free_all(starts, ends);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("molecule_docking");
}
