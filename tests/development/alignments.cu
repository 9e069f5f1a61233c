// n short reads and a genome that is 64 n bases long: how far sequences are from each other, and what they
// contain. Bases are numbers from 0 to 3, one in each byte.
#include "device.h"

// The edit distance of each pair of reads in a band about the diagonal, which moves along in registers. Bases
// of one place are side by side for all reads.
template <int kHalf>
__global__ void __launch_bounds__(128)
    banded_distance(const unsigned char* __restrict__ first, const unsigned char* __restrict__ second,
                    int* __restrict__ distances, int length, int n) {
  const int t = blockIdx.x * 128 + threadIdx.x;
  if (t >= n) return;
  constexpr int kBand = 2 * kHalf + 1, kFar = 1 << 20;
  int cost[kBand + 1], window[kBand];
#pragma unroll
  for (int b = 0; b < kBand; ++b) {
    cost[b] = b < kHalf ? kFar : b - kHalf;
    window[b] = b > kHalf ? second[(b - kHalf - 1) * n + t] : 255;
  }
  cost[kBand] = kFar;
  for (int i = 1; i <= length; ++i) {
    const int own = first[(i - 1) * n + t];
#pragma unroll
    for (int b = 0; b < kBand - 1; ++b) window[b] = window[b + 1];
    window[kBand - 1] = i + kHalf <= length ? second[(i + kHalf - 1) * n + t] : 255;
    int left = kFar;
#pragma unroll
    for (int b = 0; b < kBand; ++b) {
      const int j = i + b - kHalf;
      int best = min(cost[b] + (own != window[b]), min(cost[b + 1], left) + 1);
      if (j <= 0) best = j == 0 ? i : kFar;
      cost[b] = best;
      left = best;
    }
  }
  distances[t] = cost[kHalf];
}

// Where a pattern of up to 64 bases fits best into a text, a whole column of the table in the bits of two
// words.
__global__ void bit_parallel_search(const unsigned char* patterns, const unsigned char* texts, int2* best,
                                    int width, int length, int n) {
  __shared__ unsigned long long places[4][64];
  const int t = blockIdx.x * 64 + threadIdx.x;
  if (t >= n) return;
  for (int c = 0; c < 4; ++c) places[c][threadIdx.x] = 0;
  for (int k = 0; k < width; ++k) places[patterns[t * length + k]][threadIdx.x] |= 1ull << k;
  const unsigned long long top = 1ull << (width - 1);
  unsigned long long up = ~0ull, down = 0;
  int score = width, least = width, where = -1;
  for (int k = 0; k < length; ++k) {
    const unsigned long long same = places[texts[t * length + k]][threadIdx.x];
    const unsigned long long v = same | down, h = (((same & up) + up) ^ up) | same;
    unsigned long long more = down | ~(h | up), less = up & h;
    score += ((more & top) != 0) - ((less & top) != 0);
    more <<= 1;
    less <<= 1;
    up = less | ~(v | more);
    down = more & v;
    if (score < least) {
      least = score;
      where = k;
    }
  }
  best[t] = make_int2(least, where);
}

// The best local alignment of each pair, one diagonal of the table after the other: a block for each pair.
__global__ void local_by_diagonals(const unsigned char* first, const unsigned char* second, int* scores,
                                   int match, int gap, int length) {
  __shared__ int diagonals[3][161];
  __shared__ unsigned char a[160], b[160];
  __shared__ int all;
  for (int k = threadIdx.x; k <= length; k += blockDim.x) {
    if (k < length) {
      a[k] = first[blockIdx.x * length + k];
      b[k] = second[blockIdx.x * length + k];
    }
    diagonals[0][k] = diagonals[1][k] = diagonals[2][k] = 0;
  }
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  int best = 0;
  for (int d = 2; d <= 2 * length; ++d) {
    int *now = diagonals[d % 3], *last = diagonals[(d - 1) % 3], *before = diagonals[(d - 2) % 3];
    const int low = max(1, d - length), high = min(length, d - 1);
    for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
      const int along = before[i - 1] + (a[i - 1] == b[d - i - 1] ? match : -match);
      const int score = max(max(along, 0), max(last[i], last[i - 1]) - gap);
      now[i] = score;
      best = max(best, score);
    }
    __syncthreads();
  }
  atomicMax(&all, best);
  __syncthreads();
  if (threadIdx.x == 0) scores[blockIdx.x] = all;
}

// One diagonal of the table of two long sequences, with gaps that cost more to open than to go on with.
__global__ void long_diagonal(const unsigned char* first, const unsigned char* second, const int* before,
                              const int* last, const int* down, const int* right, int* next, int* next_down,
                              int* next_right, int open, int go_on, int d, int low, int high) {
  const int i = low + blockIdx.x * blockDim.x + threadIdx.x;
  if (i > high) return;
  const int e = max(right[i] - go_on, last[i] - open), f = max(down[i - 1] - go_on, last[i - 1] - open);
  const int along = before[i - 1] + (first[i - 1] == second[d - i - 1] ? 5 : -4);
  next_right[i] = e;
  next_down[i] = f;
  next[i] = max(along, max(e, f));
}

// The best local alignment of each pair with the same kind of gaps: a thread for each pair, its row in shared
// memory.
__global__ void __launch_bounds__(64) local_by_rows(const unsigned char* first, const unsigned char* second,
                                                    int* scores, int open, int go_on, int length, int count) {
  extern __shared__ short2 cells[];
  const int t = blockIdx.x * 64 + threadIdx.x;
  if (t >= count) return;
  for (int j = 0; j < length; ++j) cells[j * 64 + threadIdx.x] = make_short2(0, 0);
  int best = 0;
  for (int i = 0; i < length; ++i) {
    const int own = first[i * count + t];
    int corner = 0, left = 0, across = 0;
    for (int j = 0; j < length; ++j) {
      const short2 above = cells[j * 64 + threadIdx.x];
      const int down = max(above.y - go_on, above.x - open);
      across = max(across - go_on, left - open);
      const int along = corner + (own == second[j * count + t] ? 2 : -3);
      left = max(max(along, 0), max(down, across));
      corner = above.x;
      cells[j * 64 + threadIdx.x] = make_short2(left, down);
      best = max(best, left);
    }
  }
  scores[t] = best;
}

// The best of some motifs at each place of the genome, by the sums of their weights for bases and places.
__global__ void motif_scores(const unsigned char* __restrict__ genome, const float* __restrict__ motifs,
                             float* __restrict__ scores, unsigned char* __restrict__ which, int count,
                             int width, int places) {
  __shared__ unsigned char bases[192 + 32];
  __shared__ float weights[1024];
  const int start = blockIdx.x * 192, place = start + threadIdx.x;
  for (int k = threadIdx.x; k < 192 + width - 1; k += 192)
    bases[k] = start + k < places + width - 1 ? genome[start + k] : 0;
  for (int k = threadIdx.x; k < 4 * count * width; k += 192) weights[k] = motifs[k];
  __syncthreads();
  if (place >= places) return;
  float best = -1e30f;
  int from = 0;
  for (int m = 0; m < count; ++m) {
    float sum = 0;
    for (int k = 0; k < width; ++k) sum += weights[(m * width + k) * 4 + bases[threadIdx.x + k]];
    if (sum > best) {
      best = sum;
      from = m;
    }
  }
  scores[place] = best;
  which[place] = from;
}

// The place of the smallest hash in each window of some words of 15 bases: the hashes of a block in shared
// memory.
__global__ void minimisers(const unsigned char* genome, int* places, int window, int words) {
  __shared__ unsigned hashes[256 + 32];
  const int start = blockIdx.x * 256;
  for (int k = threadIdx.x; k < 256 + window - 1; k += 256) {
    unsigned hash = 0xffffffffu;
    if (start + k < words) {
      unsigned word = 0;
      for (int b = 0; b < 15; ++b) word = word << 2 | genome[start + k + b];
      word = (word ^ word >> 15) * 0x2c1b3c6du;
      hash = (word ^ word >> 6) * 0x297a2d39u;
    }
    hashes[k] = hash;
  }
  __syncthreads();
  const int own = start + threadIdx.x;
  if (own + window > words) return;
  unsigned least = hashes[threadIdx.x];
  int at = 0;
  for (int k = 1; k < window; ++k)
    if (hashes[threadIdx.x + k] < least) {
      least = hashes[threadIdx.x + k];
      at = k;
    }
  places[own] = own + at;
}

// How often each word of six bases occurs: threads take runs of 32 bases each, and counts are in shared
// memory.
__global__ void __launch_bounds__(1024) count_words(const unsigned char* genome, int* counts, int length) {
  __shared__ int own[4096];
  for (int k = threadIdx.x; k < 4096; k += 1024) own[k] = 0;
  __syncthreads();
  const int runs = (length - 5 + 31) / 32;
  for (int run = blockIdx.x * 1024 + threadIdx.x; run < runs; run += gridDim.x * 1024) {
    const int last = min(run * 32 + 37, length);
    int word = 0;
    for (int k = run * 32; k < last; ++k) {
      word = (word << 2 | genome[k]) & 4095;
      if (k >= run * 32 + 5) atomicAdd(&own[word], 1);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 1024)
    if (own[k] > 0) atomicAdd(&counts[k], own[k]);
}

// Seeds of two genomes that agree, drawn out to both sides until the score has dropped too far below its
// best.
__global__ void extend_seeds(const unsigned char* one, const unsigned char* two, const int2* seeds,
                             int4* found, int drop, int length, int count) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= count) return;
  const int2 seed = seeds[s];
  int best = 0, score = 0, right = 0, left = 0;
  for (int k = 0; seed.x + k < length && seed.y + k < length; ++k) {
    score += one[seed.x + k] == two[seed.y + k] ? 1 : -3;
    if (score > best) {
      best = score;
      right = k + 1;
    }
    if (score < best - drop) break;
  }
  score = best;
  for (int k = 1; seed.x >= k && seed.y >= k; ++k) {
    score += one[seed.x - k] == two[seed.y - k] ? 1 : -3;
    if (score > best) {
      best = score;
      left = k;
    }
    if (score < best - drop) break;
  }
  found[s] = make_int4(seed.x - left, seed.y - left, left + right, best);
}

static int draw(int i) { return static_cast<int>(static_cast<unsigned>(i) * 2654435761u >> 6); }

// A base of a genome, and of a copy of it in which some bases have changed.
static unsigned char base(int i) { return (draw(i) ^ draw(i / 3 + 77) >> 5) & 3; }
static unsigned char copied(int i) { return draw(5 * i + 1) % 16 == 0 ? (base(i) + 1) & 3 : base(i); }

void run(int n) {
  const int length = n < 2000 ? 40 : n < 50000 ? 100 : 150, genome = 64 * n, half = 8 * n, long_pair = 16 * n;
  const int pairs = n / 4, few = n / 8, count = 12, width = 11, window = 10, places = genome - width + 1;
  const int words = genome - 15 + 1, pattern = length < 64 ? length - 8 : 64;
  unsigned char* one = device_array<unsigned char>(genome, base);
  unsigned char* two = device_array<unsigned char>(genome, copied);
  unsigned char* reads = device_array<unsigned char>(n * length, base);
  unsigned char* others = device_array<unsigned char>(n * length, copied);
  float* motifs = device_array<float>(4 * count * width, [](int i) { return draw(i) % 1000 * 0.004f - 3; });
  int2* seeds = device_array<int2>(n, [genome](int i) {
    const int at = draw(i) % genome;
    return make_int2(at, i % 8 == 3 ? draw(i + 5) % genome : at);
  });
  int* distances = device_zeros<int>(n);
  int2* best = device_zeros<int2>(n);
  int4* found = device_zeros<int4>(n);
  float* scores = device_zeros<float>(genome);
  unsigned char* which = device_zeros<unsigned char>(genome);
  int* smallest = device_zeros<int>(genome);
  int* counts = device_zeros<int>(4096);
  int* diagonals = device_ints(4 * (long_pair + 1), 1000);
  int* next = device_zeros<int>(3 * (long_pair + 1));
  const int side = long_pair + 1;
  for (int r = 0; r < kLaunches; ++r)
    banded_distance<4><<<ceil_div(n, 128), 128>>>(reads, others, distances, length, n);
  for (int r = 0; r < kLaunches; ++r)
    banded_distance<10><<<ceil_div(n, 128), 128>>>(reads, others, distances, length, n);
  for (int r = 0; r < kLaunches; ++r)
    bit_parallel_search<<<ceil_div(n, 64), 64>>>(reads, others, best, pattern, length, n);
  for (int r = 0; r < kLaunches; ++r)
    local_by_diagonals<<<pairs, 96>>>(reads, others, distances, 2, 3, length);
  for (int r = 0; r < kLaunches; ++r)
    long_diagonal<<<ceil_div(long_pair - half, 256), 256>>>(
        one, two, diagonals, diagonals + side, diagonals + 2 * side, diagonals + 3 * side, next, next + side,
        next + 2 * side, 12, 1, long_pair + half, half + 1, long_pair);
  for (int r = 0; r < kLaunches; ++r)
    local_by_rows<<<ceil_div(few, 64), 64, 64 * length * sizeof(short2)>>>(reads, others, distances, 5, 2,
                                                                           length, few);
  for (int r = 0; r < kLaunches; ++r)
    motif_scores<<<ceil_div(places, 192), 192>>>(one, motifs, scores, which, count, width, places);
  for (int r = 0; r < kLaunches; ++r)
    minimisers<<<ceil_div(words - window + 1, 256), 256>>>(one, smallest, window, words);
  for (int r = 0; r < kLaunches; ++r)
    count_words<<<min(ceil_div(ceil_div(genome - 5, 32), 1024), 264), 1024>>>(one, counts, genome);
  for (int r = 0; r < kLaunches; ++r)
    extend_seeds<<<ceil_div(n, 128), 128>>>(one, two, seeds, found, 15, genome, n);
  free_all(one, two, reads, others, motifs, seeds, distances, best, found, scores, which, smallest, counts,
           diagonals, next);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("alignments");
}
