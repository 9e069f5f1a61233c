// Cellular automata on n x n cells: life in several ways, cycles, fires, majorities, ants and reactions.
#include "device.h"

__device__ __host__ inline unsigned mixed(unsigned v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

// Life, a byte for each cell, all neighbours from global memory. The edges are joined.
__global__ void life_bytes(const unsigned char* cells, unsigned char* next, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      if (dx == 0 && dy == 0) continue;
      int nx = (x + dx + n) % n;
      int ny = (y + dy + n) % n;
      alive += cells[ny * n + nx];
    }
  }
  next[y * n + x] = alive == 3 || (alive == 2 && cells[y * n + x] == 1);
}

// Life from tiles in shared memory, with a border of one cell.
template <int kWidth, int kHeight>
__global__ void life_tiles(const unsigned char* __restrict__ cells, unsigned char* __restrict__ next, int n) {
  __shared__ unsigned char tile[kHeight + 2][kWidth + 2];
  const int left = blockIdx.x * kWidth - 1, top = blockIdx.y * kHeight - 1;
  for (int k = threadIdx.y * kWidth + threadIdx.x; k < (kHeight + 2) * (kWidth + 2); k += kWidth * kHeight) {
    const int i = k % (kWidth + 2), j = k / (kWidth + 2);
    tile[j][i] = cells[(top + j + n) % n * n + (left + i + n) % n];
  }
  __syncthreads();
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = left + i, y = top + j;
  if (x >= n || y >= n) return;
  const int alive = tile[j - 1][i - 1] + tile[j - 1][i] + tile[j - 1][i + 1] + tile[j][i - 1] +
                    tile[j][i + 1] + tile[j + 1][i - 1] + tile[j + 1][i] + tile[j + 1][i + 1];
  next[y * n + x] = (alive | tile[j][i]) == 3;
}

struct Bits {
  unsigned ones, twos;
};

// How many of three neighbours in a row are alive, for 32 cells at once.
__device__ Bits three(unsigned left, unsigned here, unsigned right) {
  const unsigned west = here << 1 | left >> 31, east = here >> 1 | right << 31, either = west ^ east;
  return {either ^ here, (west & east) | (either & here)};
}

// Life with 32 cells in a word.
__global__ void life_words(const unsigned* __restrict__ cells, unsigned* __restrict__ next, int words,
                           int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= n) return;
  const int left = x > 0 ? x - 1 : words - 1, right = x < words - 1 ? x + 1 : 0;
  const unsigned* up = cells + (y > 0 ? y - 1 : n - 1) * words;
  const unsigned* own = cells + y * words;
  const unsigned* down = cells + (y < n - 1 ? y + 1 : 0) * words;
  const unsigned here = own[x], west = here << 1 | own[left] >> 31, east = here >> 1 | own[right] << 31;
  const Bits a = three(up[left], up[x], up[right]), c = three(down[left], down[x], down[right]);
  const Bits b = {west ^ east, west & east};
  const unsigned ones = a.ones ^ b.ones ^ c.ones;
  const unsigned carry = (a.ones & b.ones) | (c.ones & (a.ones ^ b.ones));
  const unsigned odd = a.twos ^ b.twos ^ c.twos ^ carry;
  const unsigned one_pair = odd & ~((a.twos & b.twos) | (c.twos & carry));
  next[y * words + x] = one_pair & (ones | here);
}

// Cyclic automaton: a cell goes to its next state if enough cells around it are there.
__global__ void cyclic_step(const int* cells, int* next, int states, int radius, int threshold, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int own = cells[y * n + x], successor = (own + 1) % states;
  int count = 0;
  for (int j = max(y - radius, 0); j <= min(y + radius, n - 1); ++j)
    for (int i = max(x - radius, 0); i <= min(x + radius, n - 1); ++i) count += cells[j * n + i] == successor;
  next[y * n + x] = count >= threshold ? successor : own;
}

// Majority of a cube of 27 cells in three dimensions.
__global__ void majority_cube(const unsigned char* __restrict__ cells, unsigned char* __restrict__ next,
                              int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= side || y >= side || z >= side) return;
  const int left = max(x - 1, 0), right = min(x + 1, side - 1);
  int sum = 0;
#pragma unroll
  for (int dz = -1; dz <= 1; ++dz) {
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
      const int j = min(max(y + dy, 0), side - 1), k = min(max(z + dz, 0), side - 1);
      const unsigned char* row = cells + (k * side + j) * side;
      sum += row[left] + row[x] + row[right];
    }
  }
  next[(z * side + y) * side + x] = sum > 13;
}

enum Ground : unsigned char { kEmpty, kTree, kFire };

// Forest fire: trees grow and are struck by chance, and burn if a neighbour burns.
__global__ void forest_fire(const unsigned char* cells, unsigned char* next, unsigned seed, unsigned growth,
                            unsigned lightning, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const unsigned char own = cells[i];
  unsigned char result = kEmpty;
  if (own == kTree) {
    const bool burns = (x > 0 && cells[i - 1] == kFire) || (x < n - 1 && cells[i + 1] == kFire) ||
                       (y > 0 && cells[i - n] == kFire) || (y < n - 1 && cells[i + n] == kFire);
    result = burns || mixed(i + seed) < lightning ? kFire : kTree;
  } else if (own == kEmpty) {
    result = mixed(i ^ seed) < growth ? kTree : kEmpty;
  }
  next[i] = result;
}

// Lines of 1024 cells under one of the 256 elementary rules: a warp for each line, 32 cells for each thread.
__global__ void rule_lines(const unsigned* lines, unsigned* out, unsigned rule, int steps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (i >= count * 32) return;
  unsigned here = lines[i];
  for (int s = 0; s < steps; ++s) {
    const unsigned left = __shfl_sync(0xffffffffu, here, (lane + 31) % 32);
    const unsigned right = __shfl_sync(0xffffffffu, here, (lane + 1) % 32);
    const unsigned west = here << 1 | left >> 31, east = here >> 1 | right << 31;
    unsigned result = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned mask = 0u - (rule >> k & 1);
      result |= mask & (k & 4 ? west : ~west) & (k & 2 ? here : ~here) & (k & 1 ? east : ~east);
    }
    here = result;
  }
  out[i] = here;
}

constexpr int kReach = 5;

// Larger than life: all cells of a square of 11 x 11 count, from tiles in shared memory.
__global__ void large_life(const unsigned char* __restrict__ cells, unsigned char* __restrict__ next,
                           int2 birth, int2 survival, int n) {
  __shared__ unsigned char tile[8 + 2 * kReach][32 + 2 * kReach];
  const int left = blockIdx.x * 32 - kReach, top = blockIdx.y * 8 - kReach;
  for (int j = threadIdx.y; j < 8 + 2 * kReach; j += 8) {
    const int row = (top + j + n) % n * n;
    for (int i = threadIdx.x; i < 32 + 2 * kReach; i += 32) tile[j][i] = cells[row + (left + i + n) % n];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= n || y >= n) return;
  int sum = 0;
  for (int j = 0; j <= 2 * kReach; ++j) {
#pragma unroll
    for (int i = 0; i <= 2 * kReach; ++i) sum += tile[threadIdx.y + j][threadIdx.x + i];
  }
  const bool alive = tile[threadIdx.y + kReach][threadIdx.x + kReach];
  const int2 range = alive ? survival : birth;
  next[y * n + x] = sum >= range.x && sum <= range.y;
}

// Critters on Margolus blocks of 2 x 2 cells, which are shifted in every other step.
__global__ void margolus_critters(const unsigned char* cells, unsigned char* next, int shift, int n) {
  const int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
  if (bx >= n / 2 || by >= n / 2) return;
  const int x = 2 * bx + shift, y = 2 * by + shift;
  const int right = x + 1 < n ? x + 1 : 0, below = y + 1 < n ? y + 1 : 0;
  const int a = cells[y * n + x], b = cells[y * n + right];
  const int c = cells[below * n + x], d = cells[below * n + right];
  const int sum = a + b + c + d, flip = sum != 2, turn = sum == 3;
  next[y * n + x] = (turn ? d : a) ^ flip;
  next[y * n + right] = (turn ? c : b) ^ flip;
  next[below * n + x] = (turn ? b : c) ^ flip;
  next[below * n + right] = (turn ? a : d) ^ flip;
}

// Langton's ant, each on its own board of 32 x 32 cells, a word for each row. The boards are private arrays.
__global__ void walk_ants(int* __restrict__ black, int steps, int ants) {
  const int ant = blockIdx.x * blockDim.x + threadIdx.x;
  if (ant >= ants) return;
  unsigned board[32];
  const unsigned seed = mixed(ant);
  for (int j = 0; j < 32; ++j) board[j] = seed & 1024 ? 0 : 0x10000000u >> j % 28;
  int x = seed & 31, y = seed >> 5 & 31, heading = seed >> 11 & 3;
  for (int s = 0; s < steps; ++s) {
    const unsigned row = board[y];
    heading = (heading + (row >> x & 1 ? 3 : 1)) & 3;
    board[y] = row ^ 1u << x;
    x = (x + (heading == 1) - (heading == 3)) & 31;
    y = (y + (heading == 2) - (heading == 0)) & 31;
  }
  int sum = 0;
  for (int j = 0; j < 32; ++j) sum += __popc(board[j]);
  black[ant] = sum;
}

// How many cells of each of four species lie in each tile of 64 x 64 cells.
__global__ void count_species(const unsigned char* __restrict__ cells, int* __restrict__ counts, int n) {
  __shared__ int parts[8][4];
  const int x = blockIdx.x * 64 + threadIdx.x % 4 * 16, y = blockIdx.y * 64 + threadIdx.x / 4;
  const uint4 sixteen = *reinterpret_cast<const uint4*>(cells + y * n + x);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned s = 0; s < 4; ++s) {
    const unsigned same = s * 0x01010101u;
    const int bits = __popc(__vcmpeq4(sixteen.x, same)) + __popc(__vcmpeq4(sixteen.y, same)) +
                     __popc(__vcmpeq4(sixteen.z, same)) + __popc(__vcmpeq4(sixteen.w, same));
    const int sum = __reduce_add_sync(0xffffffffu, bits / 8);
    if (lane == 0) parts[warp][s] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 4) return;
  int sum = 0;
  for (int w = 0; w < 8; ++w) sum += parts[w][threadIdx.x];
  counts[(blockIdx.y * gridDim.x + blockIdx.x) * 4 + threadIdx.x] = sum;
}

// One step of two substances that react and spread.
template <class Real>
__global__ void react_and_spread(const Real* __restrict__ u, const Real* __restrict__ v,
                                 Real* __restrict__ new_u, Real* __restrict__ new_v, Real feed, Real kill,
                                 int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const int left = x > 0 ? i - 1 : i + n - 1, right = x < n - 1 ? i + 1 : i - n + 1;
  const int up = y > 0 ? i - n : x + (n - 1) * n, down = y < n - 1 ? i + n : x;
  const Real a = u[i], b = v[i], change = a * b * b;
  const Real spread_a = u[left] + u[right] + u[up] + u[down] - 4 * a;
  const Real spread_b = v[left] + v[right] + v[up] + v[down] - 4 * b;
  new_u[i] = a + Real(0.16) * spread_a - change + feed * (1 - a);
  new_v[i] = b + Real(0.08) * spread_b + change - (feed + kill) * b;
}

// n is a multiple of 512.
void run(int n) {
  const int count = n * n, words = n / 32, side = n / 16, lines = 4 * n, ants = 8 * n, half = n / 2;
  unsigned char* cells = device_array<unsigned char>(
      count, [](int i) { return static_cast<unsigned char>(mixed(static_cast<unsigned>(i)) >> 7 & 1); });
  unsigned char* next = device_zeros<unsigned char>(count);
  unsigned char* species = device_array<unsigned char>(
      count, [](int i) { return static_cast<unsigned char>(mixed(static_cast<unsigned>(i)) >> 9 & 3); });
  unsigned char* forest = device_array<unsigned char>(count, [](int i) {
    const unsigned v = mixed(static_cast<unsigned>(i)) & 63;
    return static_cast<unsigned char>(v == 0 ? kFire : v < 40 ? kTree : kEmpty);
  });
  unsigned* packed =
      device_array<unsigned>(words * n, [](int i) { return mixed(static_cast<unsigned>(i)) & 0x5a7e3c6bu; });
  unsigned* next_packed = device_zeros<unsigned>(words * n);
  int* states =
      device_array<int>(count, [](int i) { return static_cast<int>(mixed(static_cast<unsigned>(i)) % 14); });
  int* next_states = device_zeros<int>(count);
  unsigned char* cube = device_array<unsigned char>(side * side * side, [](int i) {
    return static_cast<unsigned char>(mixed(static_cast<unsigned>(i)) >> 3 & 1);
  });
  unsigned char* next_cube = device_zeros<unsigned char>(side * side * side);
  unsigned* line_words =
      device_array<unsigned>(lines * 32, [](int i) { return mixed(static_cast<unsigned>(i)); });
  unsigned* next_lines = device_zeros<unsigned>(lines * 32);
  int* black = device_zeros<int>(ants);
  int* counts = device_zeros<int>((n / 64) * (n / 64) * 4);
  float* u =
      device_array<float>(count, [](int i) { return 0.5f + 0.5f * hashed_unit(static_cast<unsigned>(i)); });
  float* v =
      device_array<float>(count, [](int i) { return 0.3f * hashed_unit(static_cast<unsigned>(i) + 99); });
  float* new_u = device_zeros<float>(count);
  float* new_v = device_zeros<float>(count);
  double* double_u = device_array<double>(half * half, [](int i) { return 0.5 + i % 13 * 0.03; });
  double* double_v = device_array<double>(half * half, [](int i) { return i % 17 * 0.02; });
  double* new_double_u = device_zeros<double>(half * half);
  double* new_double_v = device_zeros<double>(half * half);
  for (int r = 0; r < kLaunches; ++r)
    life_bytes<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(cells, next, n);
  for (int r = 0; r < kLaunches; ++r)
    life_tiles<32, 8><<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(cells, next, n);
  for (int r = 0; r < kLaunches; ++r)
    life_tiles<64, 16><<<dim3(ceil_div(n, 64), ceil_div(n, 16)), dim3(64, 16)>>>(cells, next, n);
  for (int r = 0; r < kLaunches; ++r)
    life_words<<<dim3(ceil_div(words, 16), ceil_div(n, 8)), dim3(16, 8)>>>(packed, next_packed, words, n);
  for (int r = 0; r < kLaunches; ++r)
    cyclic_step<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(states, next_states, 14, 1, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    majority_cube<<<dim3(ceil_div(side, 32), ceil_div(side, 4), ceil_div(side, 2)), dim3(32, 4, 2)>>>(
        cube, next_cube, side);
  for (int r = 0; r < kLaunches; ++r)
    forest_fire<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(forest, next, 12345u, 40000000u,
                                                                        4000u, n);
  for (int r = 0; r < kLaunches; ++r)
    rule_lines<<<ceil_div(lines, 4), 128>>>(line_words, next_lines, 110u, 200, lines);
  for (int r = 0; r < kLaunches; ++r)
    large_life<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(cells, next, make_int2(34, 45),
                                                                       make_int2(33, 57), n);
  for (int r = 0; r < kLaunches; ++r)
    margolus_critters<<<dim3(ceil_div(half, 32), ceil_div(half, 8)), dim3(32, 8)>>>(cells, next, 1, n);
  for (int r = 0; r < kLaunches; ++r) walk_ants<<<ceil_div(ants, 64), 64>>>(black, 300, ants);
  for (int r = 0; r < kLaunches; ++r) count_species<<<dim3(n / 64, n / 64), 256>>>(species, counts, n);
  for (int r = 0; r < kLaunches; ++r)
    react_and_spread<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(u, v, new_u, new_v, 0.035f,
                                                                             0.06f, n);
  for (int r = 0; r < kLaunches; ++r)
    react_and_spread<<<dim3(ceil_div(half, 128), half), 128>>>(double_u, double_v, new_double_u, new_double_v,
                                                               0.035, 0.06, half);
  free_all(cells, next, species, forest, packed, next_packed, states, next_states, cube, next_cube);
  free_all(line_words, next_lines, black, counts, u, v, new_u, new_v);
  free_all(double_u, double_v, new_double_u, new_double_v);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("cellular_automata");
}
