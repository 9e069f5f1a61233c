// Models of magnets on lattices: Ising, XY and Potts spins, labels of clusters, correlations, and moments
// that turn in the fields of their neighbours.
// n is the side of the square lattice, a multiple of 64; the block in 3D has n / 8 x n / 8 x 64 moments.
#include "device.h"

struct Moment {
  float x, y, z;
};

__constant__ float kAccepts[5] = {1.0f, 1.0f, 0.5f, 0.17f, 0.03f};

__device__ unsigned next_random(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

// Flips Ising spins of one colour; both colours have an array of half the columns, and a state per site.
template <int kColour>
__global__ void ising_sweep(signed char* own, const signed char* other, unsigned* states, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int half = n / 2;
  if (x >= half || y >= n) return;
  const int i = y * half + x, south = y > 0 ? i - half : i + (n - 1) * half;
  const int north = y < n - 1 ? i + half : x, shift = (y + kColour) % 2 ? x + 1 : x - 1;
  const int side = y * half + (shift + half) % half, spin = own[i];
  const int sum = other[i] + other[side] + other[south] + other[north];
  unsigned state = states[i] * 1664525u + 1013904223u;
  states[i] = state;
  if ((state >> 8) * 0x1p-24f < kAccepts[(spin * sum + 4) / 2]) own[i] = -spin;
}

// Turns the angles of XY spins of one colour, with random numbers made from the site and the sweep.
__global__ void xy_sweep(float* angles, float beta, unsigned sweep, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + sweep) & 1);
  if (x >= n || y >= n) return;
  unsigned state = (y * n + x) * 2654435761u + sweep * 40503u + 1;
  const float old = angles[y * n + x], turn = 4 * ((next_random(state) >> 8) * 0x1p-24f - 0.5f);
  const float around[4] = {angles[y * n + (x + 1) % n], angles[y * n + (x + n - 1) % n],
                           angles[(y + 1) % n * n + x], angles[(y + n - 1) % n * n + x]};
  float change = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) change += cosf(old - around[k]) - cosf(old + turn - around[k]);
  if (change <= 0 || __expf(-beta * change) > (next_random(state) >> 8) * 0x1p-24f)
    angles[y * n + x] = fmodf(old + turn, 6.2831853f);
}

// Draws Potts spins of kStates states from their neighbours, a colour at a time.
template <int kStates>
__global__ void potts_sweep(unsigned char* spins, unsigned* states, float weight, int colour, int n) {
  const int half = n / 2;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * half; i += gridDim.x * blockDim.x) {
    const int y = i / half, x = 2 * (i % half) + ((y + colour) & 1);
    const int a = spins[y * n + (x + 1) % n], b = spins[y * n + (x + n - 1) % n];
    const int c = spins[(y + 1) % n * n + x], d = spins[(y + n - 1) % n * n + x];
    float sums[kStates], sum = 0;
    for (int q = 0; q < kStates; ++q) {
      sum += (a == q ? weight : 1) * (b == q ? weight : 1) * (c == q ? weight : 1) * (d == q ? weight : 1);
      sums[q] = sum;
    }
    unsigned state = states[i];
    const float draw = sum * ((next_random(state) >> 8) * 0x1p-24f);
    int chosen = 0;
    for (int q = 0; q < kStates - 1; ++q) chosen += draw >= sums[q];
    spins[y * n + x] = chosen;
    states[i] = state;
  }
}

// Spreads the least label over bonds inside tiles of 32 x 32 until none changes.
__global__ void spread_labels(const unsigned char* bonds, int* labels, int n) {
  __shared__ int tile[32][32];
  __shared__ unsigned char links[32][32];
  const int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x;
  int label = i, changed = 1;
  links[y][x] = bonds[i];
  while (changed) {
    tile[y][x] = label;
    __syncthreads();
    const int before = label;
    if (x < 31 && (links[y][x] & 1)) label = min(label, tile[y][x + 1]);
    if (x > 0 && (links[y][x - 1] & 1)) label = min(label, tile[y][x - 1]);
    if (y < 31 && (links[y][x] & 2)) label = min(label, tile[y + 1][x]);
    if (y > 0 && (links[y - 1][x] & 2)) label = min(label, tile[y - 1][x]);
    changed = __syncthreads_or(label != before);
  }
  labels[i] = label;
}

// Follows the labels of the sites to the root of their cluster.
__global__ void find_roots(const int* parents, int* roots, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int root = i;
  while (parents[root] != root) root = parents[root];
  roots[i] = root;
}

// Sums the products of spins at distances up to the number of threads, a block for each row.
__global__ void row_correlations(const signed char* spins, int* sums, int n) {
  extern __shared__ signed char row[];
  for (int x = threadIdx.x; x < n; x += blockDim.x) row[x] = spins[blockIdx.x * n + x];
  __syncthreads();
  int sum = 0, at = threadIdx.x;
  for (int x = 0; x < n; ++x) {
    sum += row[x] * row[at];
    if (++at == n) at = 0;
  }
  atomicAdd(&sums[threadIdx.x], sum);
}

// Sums the energy of the bonds of a lattice, four spins of a row at a time.
__global__ void lattice_energy(const char4* spins, unsigned long long* energy, int quads, int rows) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads * rows; i += gridDim.x * blockDim.x) {
    const int x = i % quads, y = i / quads;
    const char4 s = spins[i], next = spins[x < quads - 1 ? i + 1 : y * quads];
    const char4 below = spins[y < rows - 1 ? i + quads : x];
    sum -= s.x * (s.y + below.x) + s.y * (s.z + below.y) + s.z * (s.w + below.z) + s.w * (next.x + below.w);
  }
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(energy, (unsigned long long)(long long)sum);
}

// Turns moments in 3D by the equation of Landau, Lifshitz and Gilbert, with exchange between neighbours.
__global__ void llg_step(const Moment* from, Moment* to, float step, float damping, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x, plane = nx * ny;
  const int others[6] = {x > 0 ? i - 1 : i, x < nx - 1 ? i + 1 : i, y > 0 ? i - nx : i,
                         y < ny - 1 ? i + nx : i, z > 0 ? i - plane : i, z < nz - 1 ? i + plane : i};
  const Moment m = from[i];
  Moment field = {0.1f, 0, 0.3f * m.z};
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    field.x += from[others[k]].x;
    field.y += from[others[k]].y;
    field.z += from[others[k]].z;
  }
  const float cx = m.y * field.z - m.z * field.y, cy = m.z * field.x - m.x * field.z,
              cz = m.x * field.y - m.y * field.x;
  const float rx = m.x - step * (cx + damping * (m.y * cz - m.z * cy));
  const float ry = m.y - step * (cy + damping * (m.z * cx - m.x * cz));
  const float rz = m.z - step * (cz + damping * (m.x * cy - m.y * cx));
  const float scale = rsqrtf(rx * rx + ry * ry + rz * rz + 1e-12f);
  to[i] = {rx * scale, ry * scale, rz * scale};
}

// Flips spins that are packed as bits, 32 of a row in a word, with majorities found by logic.
__global__ void packed_sweep(unsigned* words, unsigned* states, int colour, int width, int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const int i = y * width + x;
  const unsigned s = words[i], west = words[x > 0 ? i - 1 : i + width - 1];
  const unsigned east = words[x < width - 1 ? i + 1 : i + 1 - width];
  const unsigned a = s ^ (s << 1 | west >> 31), b = s ^ (s >> 1 | east << 31);
  const unsigned c = s ^ words[(y + 1) % rows * width + x], d = s ^ words[(y + rows - 1) % rows * width + x];
  const unsigned two = (a & b) | (c & d) | ((a | b) & (c | d)), one = a | b | c | d;
  unsigned state = states[i];
  const unsigned quarter = next_random(state) & next_random(state), eighth = quarter & next_random(state);
  const unsigned mask = (y + colour) & 1 ? 0xaaaaaaaau : 0x55555555u;
  words[i] = s ^ (mask & (two | (one & quarter) | eighth));
  states[i] = state;
}

void run(int n) {
  const int sites = n * n, half = n / 2, side = n / 8;
  signed char* spins = device_array<signed char>(sites, [](int i) { return hashed_unit(i) < 0.6f ? 1 : -1; });
  unsigned* states = device_array<unsigned>(sites, [](int i) { return i * 2654435761u + 99991u; });
  unsigned* words = device_array<unsigned>(sites, [](int i) { return (i ^ i >> 7) * 2246822519u; });
  float* angles = device_array<float>(sites, [](int i) { return 6.28f * hashed_unit(i); });
  unsigned char* colours = device_array<unsigned char>(sites, [](int i) { return i / 3 % 4; });
  int* parents = device_array<int>(
      sites, [](int i) { return hashed_unit(i) < 0.2f ? i : max(i - 1 - (int)(90 * hashed_unit(~i)), 0); });
  int* labels = device_zeros<int>(sites);
  Moment* moments = device_array<Moment>(sites, [](int i) { return Moment{0.6f, 0.8f * (i % 2), 0.5f}; });
  Moment* turned = device_zeros<Moment>(sites);
  unsigned long long* sums = device_zeros<unsigned long long>(256);
  const dim3 wide(32, 8), halves(half / 32, n / 8), tile(32, 32), tiles(n / 32, n / 32);
  const dim3 brick(16, 4, 4), bricks(ceil_div(side, 16), ceil_div(side, 4), 16), rows(ceil_div(n, 192), n);
  for (int r = 0; r < kLaunches; ++r)
    ising_sweep<0><<<halves, wide>>>(spins, spins + sites / 2, states, n);
  for (int r = 0; r < kLaunches; ++r) xy_sweep<<<halves, wide>>>(angles, 1.1f, r, n);
  for (int r = 0; r < kLaunches; ++r) potts_sweep<4><<<528, 128>>>(colours, states, 2.2f, r % 2, n);
  for (int r = 0; r < kLaunches; ++r) spread_labels<<<tiles, tile>>>(colours, labels, n);
  for (int r = 0; r < kLaunches; ++r) find_roots<<<ceil_div(sites, 512), 512>>>(parents, labels, sites);
  for (int r = 0; r < kLaunches; ++r) row_correlations<<<n, 256, n>>>(spins, (int*)sums, n);
  for (int r = 0; r < kLaunches; ++r) lattice_energy<<<396, 1024>>>((char4*)spins, sums + 200, n / 4, n);
  for (int r = 0; r < kLaunches; ++r)
    llg_step<<<bricks, brick>>>(moments, turned, 0.02f, 0.1f, side, side, 64);
  for (int r = 0; r < kLaunches; ++r) packed_sweep<<<rows, 192>>>(words, states, r % 2, n, n);
  free_all(spins, states, words, angles, colours, parents, labels, moments, turned, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("magnet_simulations");
}
