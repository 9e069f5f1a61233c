// Tables filled by recurrences: shortest paths, alignments, most likely states.
#include "device.h"

// One step of shortest paths between all pairs.
__global__ void shortest_paths_step(int* distance, int k, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int through = distance[y * n + k] + distance[k * n + x];
  if (through < distance[y * n + x]) distance[y * n + x] = through;
}

// One diagonal of the longest common subsequence.
__global__ void diagonal(const char* a, const char* b, const int* before, const int* last, int* now, int d,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i >= n) return;
  const int j = d - i;
  if (j < 1 || j >= n) return;
  now[i] = a[i] == b[j] ? before[i - 1] + 1 : max(last[i - 1], last[i]);
}

// Distances between pairs of words of 32 letters, a row of the table in each thread's own array.
__global__ void edit_distances(const char* words, const char* others, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char row[33];
  for (int k = 0; k <= 32; ++k) row[k] = k;
  for (int y = 1; y <= 32; ++y) {
    int corner = row[0];
    row[0] = y;
    const char letter = words[(y - 1) * n + i];
    for (int x = 1; x <= 32; ++x) {
      const int above = row[x], cost = corner + (others[(x - 1) * n + i] != letter);
      row[x] = min(min(above, (int)row[x - 1]) + 1, cost);
      corner = above;
    }
  }
  out[i] = row[32];
}

// A step of Viterbi's algorithm over 64 states; a block for each sequence.
__global__ void viterbi_step(const float* moves, const float* emits, const float* before, float* after,
                             int* from) {
  __shared__ float old[64];
  const int state = threadIdx.x, sequence = blockIdx.x;
  old[state] = before[sequence * 64 + state];
  __syncthreads();
  float best = -1e30f;
  int at = 0;
  for (int s = 0; s < 64; ++s) {
    const float score = old[s] + moves[s * 64 + state];
    if (score > best) {
      best = score;
      at = s;
    }
  }
  after[sequence * 64 + state] = best + emits[sequence * 64 + state];
  from[sequence * 64 + state] = at;
}

void run(int n) {
  const int cells = n * n, words = n * 16;
  int* distance = device_ints(cells, 1000);
  for (int r = 0; r < kLaunches; ++r)
    shortest_paths_step<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(distance, 7, n);
  for (int r = 0; r < kLaunches; ++r)
    shortest_paths_step<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(distance, n / 2, n);
  free_all(distance);
  char* a = (char*)device_ints(cells, 4);
  int* lines = device_ints(3 * cells, 100);
  for (int r = 0; r < kLaunches; ++r)
    diagonal<<<ceil_div(cells, 256), 256>>>(a, a + cells, lines, lines + cells, lines + 2 * cells, cells,
                                            cells);
  free_all(a, lines);
  char* letters = (char*)device_ints(words * 16, 1 << 30);
  int* out = device_zeros<int>(words);
  for (int r = 0; r < kLaunches; ++r)
    edit_distances<<<ceil_div(words, 128), 128>>>(letters, letters + 32 * words, out, words);
  free_all(letters, out);
  float* scores = device_floats(64 * words);
  float* next = device_zeros<float>(64 * words);
  int* from = device_zeros<int>(64 * words);
  for (int r = 0; r < kLaunches; ++r) viterbi_step<<<words, 64>>>(scores, scores, scores, next, from);
  free_all(scores, next, from);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("dynamic_programming");
}
