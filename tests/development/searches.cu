// Keys sought in a sorted array, in a tree of 16 keys a node, in a hash table of n entries.
#include "device.h"

__global__ void halving(const int* sorted, const int* keys, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}

// Half a warp for each key, a lane for each of a node's keys; node c's children are 16 c + 1 … 16 c + 16.
__global__ void tree_of_16(const int* nodes, const int* keys, int* out, int depth, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
  if (i >= n) return;
  const int key = keys[i];
  const unsigned half = threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
  int node = 0;
  for (int d = 0; d < depth; ++d) {
    const unsigned less = __ballot_sync(half, nodes[node * 16 + lane] < key) & half;
    node = node * 16 + min(__popc(less), 15) + 1;
  }
  if (lane == 0) out[i] = node;
}

__global__ void insert_hashed(unsigned* table, const unsigned* keys, int size, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i] | 1u;
  unsigned slot = key * 2654435761u % size;
  for (int tries = 0; tries < 64; ++tries) {
    const unsigned old = atomicCAS(&table[slot], 0u, key);
    if (old == 0u || old == key) return;
    slot = slot + 1 < size ? slot + 1 : 0;
  }
}

__global__ void find_hashed(const unsigned* table, const unsigned* keys, int* out, int size, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i] | 1u;
  unsigned slot = key * 2654435761u % size;
  int found = -1;
  for (int tries = 0; tries < 64; ++tries) {
    const unsigned entry = table[slot];
    if (entry == key) found = slot;
    if (entry == key || entry == 0u) break;
    slot = slot + 1 < size ? slot + 1 : 0;
  }
  out[i] = found;
}

void run(int n) {
  int* sorted = device_array<int>(n, [](int i) { return i; });
  int* keys = device_ints(n, n);
  int* out = device_zeros<int>(n);
  unsigned* table = device_zeros<unsigned>(2 * n);
  const int blocks = ceil_div(n, 256);
  for (int r = 0; r < kLaunches; ++r) halving<<<blocks, 256>>>(sorted, keys, out, n);
  for (int r = 0; r < kLaunches; ++r) halving<<<ceil_div(n, 128), 128>>>(sorted, sorted, out, n);
  int* nodes = device_array<int>(16 * (1 + 16 + 256 + 4096), [n](int i) { return i % 16 * (n / 16); });
  for (int r = 0; r < kLaunches; ++r) tree_of_16<<<ceil_div(n, 8), 128>>>(nodes, keys, out, 4, n);
  for (int r = 0; r < kLaunches; ++r) insert_hashed<<<blocks, 256>>>(table, (unsigned*)keys, 2 * n, n);
  for (int r = 0; r < kLaunches; ++r) find_hashed<<<blocks, 256>>>(table, (unsigned*)keys, out, 2 * n, n);
  free_all(sorted, keys, out, table, nodes);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("searches");
}
