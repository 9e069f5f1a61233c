// Sequences of biology: n short reads, proteins and sites of trees. Alignments, models, counts, likelihoods.
#include "device.h"

constexpr int kLetters = 128, kStates = 32, kWindow = 24, kSteps = 8;

struct Genotypes {
  int reference, mixed, other;
  float deviation;
};

__constant__ float rates[4] = {0.14f, 0.48f, 1.0f, 2.38f};

// Smith-Waterman for pairs of reads: a block for a pair, a thread for a letter, steps over anti-diagonals.
template <class T, int kQuery>
__global__ void smith_waterman(const char* __restrict__ reads, int* best, T open, T extend) {
  __shared__ T line[2][kQuery + 1], gaps[2][kQuery + 1];
  __shared__ char subject[kLetters];
  const int t = threadIdx.x, first = blockIdx.x * 2 * kLetters;
  for (int k = t; k < kLetters; k += kQuery) subject[k] = reads[first + kLetters + k];
  const char letter = reads[first + t];
  for (int k = 0; k < 2; ++k) {
    line[k][t] = line[k][kQuery] = 0;
    gaps[k][t] = gaps[k][kQuery] = -open;
  }
  __syncthreads();
  T diagonal = 0, own = 0, across = -open, most = 0;
  for (int d = 0; d < kQuery + kLetters - 1; ++d) {
    const int j = d - t, from = d & 1;
    const T above = line[from][t], down = max(gaps[from][t] - extend, above - open);
    if (j >= 0 && j < kLetters) {
      across = max(across - extend, own - open);
      const T match = diagonal + (letter == subject[j] ? 5 : -4);
      own = max(max(match, across), max(down, 0));
      most = max(most, own);
    }
    line[from ^ 1][t + 1] = own;
    gaps[from ^ 1][t + 1] = down;
    diagonal = above;
    __syncthreads();
  }
  const int warp_best = __reduce_max_sync(0xffffffffu, static_cast<int>(most));
  if (t % 32 == 0) atomicMax(&best[blockIdx.x], warp_best);
}

// One anti-diagonal of a very long alignment, with 16-bit scores. The diagonal before is read at two places.
__global__ void align_diagonal(const char* a, const char* b, const short* last, const short* before,
                               short* gap_a, short* gap_b, short* next, int length) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (k >= length) return;
  const short across = max(gap_a[k] - 1, last[k] - 11), down = max(gap_b[k] - 1, last[k - 1] - 11);
  const int match = before[k - 1] + (a[k] == b[length - 1 - k] ? 5 : -4);
  gap_a[k] = across;
  gap_b[k] = down;
  next[k] = max(max(match, 0), max(across, down));
}

// Scores of all windows of a protein by a profile with 20 letters. Hits are written as bits.
__global__ void score_windows(const char* text, const float* table, unsigned* hits, float cut, int windows) {
  __shared__ float scores[kWindow][20];
  __shared__ char letters[320 + kWindow];
  const int t = threadIdx.x, first = blockIdx.x * blockDim.x, window = first + t;
  for (int k = t; k < kWindow * 20; k += blockDim.x) scores[k / 20][k % 20] = table[k];
  for (int k = t; k < blockDim.x + kWindow && first + k < windows + kWindow; k += blockDim.x)
    letters[k] = text[first + k];
  __syncthreads();
  float score = 0;
  if (window < windows)
    for (int k = 0; k < kWindow; ++k) score += scores[k][letters[t + k]];
  const unsigned bits = __ballot_sync(0xffffffffu, score > cut);
  if (t % 32 == 0 && window < windows) hits[window / 32] = bits;
}

// Counts of 15-mers whose hash is a multiple of four. A word has sixteen bases of two bits.
__global__ void count_kmers(const unsigned* bases, unsigned* counts, int table_bits, int words) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const unsigned long long pair = bases[i] | (unsigned long long)bases[(i + 1) % words] << 32;
    for (int k = 0; k < 16; ++k) {
      unsigned hash = (static_cast<unsigned>(pair >> 2 * k) & 0x3fffffffu) * 2654435761u;
      hash = (hash ^ hash >> 15) * 2246822519u;
      if ((hash & 3) == 0) atomicAdd(&counts[hash >> (32 - table_bits)], 1u);
    }
  }
}

// Eight steps of Viterbi's algorithm with 32 states: a warp for a read, a lane for a state.
__global__ void viterbi_steps(const char* reads, const float* moves, const float* starts, float* scores,
                              unsigned char* origins, int n) {
  __shared__ float costs[kStates][kStates + 1];
  const int lane = threadIdx.x, read = blockIdx.x * blockDim.y + threadIdx.y;
  for (int k = threadIdx.y; k < kStates; k += blockDim.y)
    costs[k][lane] = logf(moves[k * kStates + lane] + 0.1f);
  __syncthreads();
  if (read >= n) return;
  float score = starts[read * kStates + lane];
  for (int step = 0; step < kSteps; ++step) {
    float best = -1e30f;
    int origin = 0;
#pragma unroll 8
    for (int k = 0; k < kStates; ++k) {
      const float path = __shfl_sync(0xffffffffu, score, k) + costs[k][lane];
      origin = path > best ? k : origin;
      best = fmaxf(best, path);
    }
    score = best - (reads[read * kLetters + step] == lane % 4 ? 0.2f : 2.1f);
    origins[(read * kSteps + step) * kStates + lane] = origin;
  }
  scores[read * kStates + lane] = score;
}

// Edit distances by Myers' method: the 64 letters of a pattern are bits of a word. Letters are n bytes apart.
__global__ void edit_distances(const char* letters, int* distances, int length, int n) {
  __shared__ unsigned long long masks[4][96];
  const int i = blockIdx.x * 96 + threadIdx.x, t = threadIdx.x;
  if (i >= n) return;
  for (int c = 0; c < 4; ++c) masks[c][t] = 0;
  for (int k = 0; k < 64; ++k) masks[letters[k * n + i]][t] |= 1ull << k;
  unsigned long long plus = ~0ull, minus = 0;
  int distance = 64;
  for (int k = 0; k < length; ++k) {
    const unsigned long long equal = masks[letters[(64 + k) * n + i]][t];
    const unsigned long long zero = (((equal & plus) + plus) ^ plus) | equal | minus;
    unsigned long long up = minus | ~(zero | plus), down = plus & zero;
    distance += static_cast<int>(up >> 63) - static_cast<int>(down >> 63);
    up = up << 1 | 1;
    plus = down << 1 | ~(zero | up);
    minus = up & zero;
  }
  distances[i] = distance;
}

// Likelihoods below a node of a tree: products of two branches' sums, for each site and category of rates.
template <class T, int kKinds, int kSites>
__global__ void join_branches(const T* __restrict__ left, const T* __restrict__ right, T* __restrict__ out,
                              T length, int sites) {
  __shared__ T chances[kKinds][kKinds + 1], ends[2][kSites][kKinds];
  const int state = threadIdx.x, y = threadIdx.y, category = blockIdx.z;
  const int site = blockIdx.x * kSites + y, at = (site * 4 + category) * kKinds + state;
  for (int from = y; from < kKinds; from += kSites) {
    const T decay = exp(-length * rates[category] * (1 + (from + state) % 3));
    chances[from][state] = from == state ? decay + (1 - decay) / kKinds : (1 - decay) / kKinds;
  }
  ends[0][y][state] = site < sites ? left[at] : T(0);
  ends[1][y][state] = site < sites ? right[at] : T(0);
  __syncthreads();
  if (site >= sites) return;
  T first = 0, second = 0;
  for (int k = 0; k < kKinds; ++k) {
    first += chances[k][state] * ends[0][y][k];
    second += chances[k][state] * ends[1][y][k];
  }
  out[at] = first * second;
}

// Genotypes of 512 people at each place of the genome, two bits each: a warp for a place.
__global__ void count_genotypes(const unsigned* packed, Genotypes* out, int places) {
  const int place = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (place >= places) return;
  const unsigned word = packed[place * 32 + lane], high = word >> 1 & 0x55555555u, low = word & 0x55555555u;
  const int counts = __reduce_add_sync(0xffffffffu, __popc(high & low) << 16 | __popc(high ^ low));
  if (lane > 0) return;
  const int other = counts >> 16, mixed = counts & 0xffff, reference = 512 - other - mixed;
  const float share = (2 * other + mixed + 0.5f) / 1025, expected = 1024 * share * (1 - share);
  out[place] = {reference, mixed, other, (mixed - expected) * (mixed - expected) / expected};
}

void run(int n) {
  const int letters = n << 7, length = n * 16, parts = n * 80, pairs = n / 16, windows = n * 64 - kWindow;
  char* reads = device_array<char>(letters, [](int i) { return (char)(4 * hashed_unit(i)); });
  char* protein = device_array<char>(n * 64, [](int i) { return (char)(20 * hashed_unit(i)); });
  unsigned* packed = device_array<unsigned>(n * 32, [](int i) { return (i + 1u) * 2654435761u ^ i << 9; });
  short *scores = device_array<short>(2 * length, [](int i) { return (short)(i % 60); });
  short *gaps = device_zeros<short>(3 * length);
  float *left = device_floats(parts), *right = device_floats(parts), *out = device_zeros<float>(parts);
  double *left4 = device_doubles(n * 16), *right4 = device_doubles(n * 16), *out4 = (double*)out;
  unsigned char* origins = device_zeros<unsigned char>(n * kSteps * kStates);
  unsigned* counts = device_zeros<unsigned>(1 << 20);
  int* best = device_zeros<int>(n);
  for (int r = 0; r < kLaunches; ++r) smith_waterman<int, 128><<<pairs, 128>>>(reads, best, 11, 1);
  for (int r = 0; r < kLaunches; ++r) smith_waterman<short, 64><<<pairs, 64>>>(reads, best, 8, 2);
  for (int r = 0; r < kLaunches; ++r)
    align_diagonal<<<ceil_div(length, 256), 256>>>(reads, reads + length, scores, scores + length, gaps,
                                                   gaps + length, gaps + 2 * length, length);
  for (int r = 0; r < kLaunches; ++r)
    score_windows<<<ceil_div(windows, 320), 320>>>(protein, left, (unsigned*)out, 14, windows);
  for (int r = 0; r < kLaunches; ++r) count_kmers<<<264, 512>>>(packed, counts, 20, n * 8);
  for (int r = 0; r < kLaunches; ++r)
    viterbi_steps<<<ceil_div(n, 8), dim3(32, 8)>>>(reads, left, right, out, origins, n);
  for (int r = 0; r < kLaunches; ++r) edit_distances<<<ceil_div(n, 96), 96>>>(reads, best, 64, n);
  for (int r = 0; r < kLaunches; ++r)
    join_branches<double, 4, 32><<<dim3(ceil_div(n, 32), 1, 4), dim3(4, 32)>>>(left4, right4, out4, 0.1, n);
  for (int r = 0; r < kLaunches; ++r)
    join_branches<float, 20, 12><<<dim3(ceil_div(n, 12), 1, 4), dim3(20, 12)>>>(left, right, out, 0.2f, n);
  for (int r = 0; r < kLaunches; ++r) count_genotypes<<<ceil_div(n, 4), 128>>>(packed, (Genotypes*)out, n);
  free_all(reads, protein, packed, scores, gaps, left, right, left4, right4, out, origins, counts, best);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("bio_sequences");
}
