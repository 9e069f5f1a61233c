// Search and alignment of short reads in a genome of n bases: seeds, indexes, alignments and filters.
#include "device.h"

constexpr int kMer = 31, kQuality = 100, kRead = 128, kReference = 192, kStates = 32;
typedef unsigned long long ull;

struct Rank { unsigned counts[4]; ull high, low; };  // counts of each base before a block of 64, and its bit planes
struct First { unsigned rows[4]; };

// Hashes the canonical 31-mer at each base: the smaller of the word and its reverse complement.
__global__ void hash_kmers(const unsigned* __restrict__ packed, ull* hashes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int word = i / 16, shift = i % 16 * 2;
  if (i > n - kMer) return;
  const unsigned a = packed[word], b = packed[word + 1], c = packed[word + 2];
  const ull mask = (1ull << 2 * kMer) - 1;
  const ull forward = (__funnelshift_r(a, b, shift) | static_cast<ull>(__funnelshift_r(b, c, shift)) << 32) & mask;
  ull back = __brevll(forward ^ (0xAAAAAAAAAAAAAAAAull & mask)) >> (64 - 2 * kMer);
  back = (back >> 1 & 0x5555555555555555ull) | (back & 0x5555555555555555ull) << 1;
  ull hash = forward < back ? forward : back;
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
  hashes[i] = hash ^ hash >> 33;
}

// Aligns a read with a stretch of the genome by Smith-Waterman with affine gaps: a block a pair, a thread a row.
__global__ void smith_waterman(const char* reads, const char* genome, int* scores) {
  __shared__ int diagonals[3][kRead + 1], gaps[2][kRead + 1], best;
  const int row = threadIdx.x + 1;
  const char base = reads[blockIdx.x * kRead + threadIdx.x], *target = genome + blockIdx.x * kReference;
  for (int k = threadIdx.x; k <= kRead; k += kRead) {
    diagonals[0][k] = diagonals[1][k] = diagonals[2][k] = 0;
    gaps[0][k] = gaps[1][k] = -99;
  }
  if (threadIdx.x == 0) best = 0;
  int across = -99, highest = 0;
  __syncthreads();
  for (int d = 0; d < kRead + kReference - 1; ++d) {
    const int column = d - threadIdx.x;
    const int *before = diagonals[(d + 1) % 3], *last = diagonals[(d + 2) % 3];
    int h = 0, down = -99;
    if (column >= 0 && column < kReference) {
      across = max(across - 1, last[row] - 4);
      down = max(gaps[(d + 1) % 2][row - 1] - 1, last[row - 1] - 4);
      h = max(max(0, before[row - 1] + (base == target[column] ? 2 : -3)), max(across, down));
    }
    highest = max(highest, h);
    diagonals[d % 3][row] = h;
    gaps[d % 2][row] = down;
    __syncthreads();
  }
  atomicMax(&best, highest);
  __syncthreads();
  if (threadIdx.x == 0) scores[blockIdx.x] = best;
}

__device__ unsigned rank_of(const Rank* index, int base, unsigned row) {
  const Rank block = index[row / 64];
  const ull match = (base & 2 ? block.high : ~block.high) & (base & 1 ? block.low : ~block.low);
  return block.counts[base] + __popcll(match & ((1ull << row % 64) - 1));
}

// Searches backwards in an index of ranks until the interval of rows is empty or the seed of 20 bases is used up.
__global__ void search_backwards(const Rank* index, const unsigned* seeds, First first, int2* out, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const ull seed = seeds[i] | static_cast<ull>(seeds[i + 1]) << 32;
  unsigned low = 0, high = n;
  int k = 0;
  for (; k < 20 && low < high; ++k) {
    const int base = seed >> 2 * k & 3;
    low = first.rows[base] + rank_of(index, base, low);
    high = first.rows[base] + rank_of(index, base, high);
  }
  out[i] = make_int2(high - low, k);
}

// Runs the forward pass of a hidden Markov model of 32 states, a warp for a sequence, a lane for a state.
__global__ void hmm_forward(const unsigned* packed, const float* transitions, const float* emissions, float* logs,
                            int sequences) {
  const int sequence = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (sequence >= sequences) return;
  float column[kStates], emission[4], alpha = 1.0f / kStates, log = 0;
#pragma unroll
  for (int k = 0; k < kStates; ++k) column[k] = transitions[k * kStates + lane] + 0.01f;
  for (int k = 0; k < 4; ++k) emission[k] = emissions[k * kStates + lane] + 0.05f;
  for (int t = 0; t < 64; ++t) {
    const int base = packed[sequence * 4 + t / 16] >> t % 16 * 2 & 3;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kStates; ++k) sum += __shfl_sync(~0u, alpha, k) * column[k];
    alpha = sum * (base & 2 ? (base & 1 ? emission[3] : emission[2]) : (base & 1 ? emission[1] : emission[0]));
    float total = alpha;
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(~0u, total, d);
    alpha /= total, log += logf(total);
  }
  if (lane == 0) logs[sequence] = log;
}

// Puts hashes into a Bloom filter of three bits each, or asks for them and counts those present.
template <bool kInsert>
__global__ void bloom_filter(const ull* hashes, unsigned* filter, unsigned mask, int* found, int count) {
  int hits = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned step = static_cast<unsigned>(hashes[i] >> 32) | 1;
    unsigned bit = static_cast<unsigned>(hashes[i]);
    bool present = true;
    for (int k = 0; k < 3 && present; ++k, bit += step) {
      const unsigned place = (bit & mask) / 32, flag = 1u << bit % 32;
      if (kInsert) atomicOr(&filter[place], flag);
      else present = filter[place] & flag;
    }
    hits += present;
  }
  if (!kInsert && hits) atomicAdd(found, hits);
}

// Finds the least edit distance of a pattern of 64 bases in a text of 160, bit-parallel after Myers.
__global__ void edit_distances(const unsigned* packed, int* distances, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  ull equal[4] = {0, 0, 0, 0}, plus = ~0ull, minus = 0;
  for (int k = 0; k < 64; ++k) {
    const unsigned base = packed[4 * i + k / 16] >> k % 16 * 2 & 3;
    for (unsigned b = 0; b < 4; ++b) equal[b] |= static_cast<ull>(b == base) << k;
  }
  int score = 64, best = 64;
  for (int k = 0; k < 160; ++k) {
    const unsigned base = packed[4 * i + 2 + k / 16] >> k % 16 * 2 & 3;
    const ull eq = base & 2 ? (base & 1 ? equal[3] : equal[2]) : (base & 1 ? equal[1] : equal[0]);
    const ull diagonal = (((eq & plus) + plus) ^ plus) | eq | minus;
    const ull up = minus | ~(diagonal | plus), down = plus & diagonal;
    score += static_cast<int>(up >> 63) - static_cast<int>(down >> 63);
    plus = down << 1 | ~(diagonal | up << 1);
    minus = up << 1 & diagonal;
    best = min(best, score);
  }
  distances[i] = best;
}

// Trims the end of a read where the qualities are poor: the cut of the greatest sum, up to where the sum is negative.
__global__ void trim_reads(const char* qualities, short* lengths, int threshold, int reads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= reads) return;
  int sum = 0, greatest = 0, length = kQuality;
  for (int k = kQuality - 1; k >= 0 && sum >= 0; --k) {
    sum += threshold - qualities[i * kQuality + k];
    if (sum > greatest) greatest = sum, length = k;
  }
  lengths[i] = static_cast<short>(length);
}

// Takes the share of G and C in windows of 256 letters that start every 32: ballots, then sums of eight counts.
__global__ void gc_windows(const char* letters, float* shares, int windows) {
  __shared__ int counts[40];
  for (int k = threadIdx.x; k < 40 * 32; k += blockDim.x) {
    const char letter = letters[blockIdx.x * 1024 + k];
    const unsigned votes = __ballot_sync(~0u, letter == 'G' || letter == 'C');
    if (k % 32 == 0) counts[k / 32] = __popc(votes);
  }
  __syncthreads();
  const int window = blockIdx.x * 32 + threadIdx.x;
  int sum = 0;
  if (threadIdx.x >= 32 || window >= windows) return;
  for (int k = 0; k < 8; ++k) sum += counts[threadIdx.x + k];
  shares[window] = sum / 256.0f;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)
void run(int n) {
  const int pairs = n / 1024, reads = n / 128, words = n / 16, kmers = n - kMer + 1, blocks = ceil_div(n, 256);
  unsigned bits = 1024, totals[4] = {0, 0, 0, 0};
  while (bits < 8u * n) bits *= 2;
  auto* letters = device_array<char>(n + 4096, [](int i) { return "ACGT"[i * 2654435761u >> 23 & 3]; });
  auto* qualities = device_array<char>(n, [](int i) { return 40 - i % kQuality / 4 + i * 40503u / 512 % 9; });
  Rank* index = device_array<Rank>(n / 64 + 2, [&](int i) {
    Rank block = {{totals[0], totals[1], totals[2], totals[3]}, i * 0x9E3779B97F4A7C15ull, ~i * 0xD6E8FEB86659FD93ull};
    for (int k = 0; k < 64 && i <= n / 64; ++k) ++totals[2 * (block.high >> k & 1) + (block.low >> k & 1)];
    return block;
  });
  const First first = {{0, totals[0], totals[0] + totals[1], totals[0] + totals[1] + totals[2]}};
  unsigned *packed = device_array<unsigned>(words + 64, [](int i) { return (i + 77u) * 2246822519u; });
  ull* hashes = device_zeros<ull>(n);
  unsigned *filter = device_zeros<unsigned>(bits / 32);
  float *model = device_array<float>(1024, hashed_unit), *out = device_zeros<float>(n);
  REPEAT hash_kmers<<<blocks, 256>>>(packed, hashes, n);
  REPEAT smith_waterman<<<pairs, kRead>>>(letters + 64, letters, (int*)out);
  REPEAT search_backwards<<<ceil_div(reads * 4, 192), 192>>>(index, packed, first, (int2*)out, n, reads * 4);
  REPEAT hmm_forward<<<ceil_div(reads, 4), dim3(32, 4)>>>(packed, model, model, out, reads);
  REPEAT bloom_filter<true><<<ceil_div(kmers, 2048), 1024>>>(hashes, filter, bits - 1, (int*)out, kmers / 2);
  REPEAT bloom_filter<false><<<ceil_div(kmers, 512), 512>>>(hashes, filter, bits - 1, (int*)out, kmers);
  REPEAT edit_distances<<<ceil_div(reads, 64), 64>>>(packed, (int*)out, reads);
  REPEAT trim_reads<<<ceil_div(n / kQuality, 32), 32>>>(qualities, (short*)out, 22, n / kQuality);
  REPEAT gc_windows<<<ceil_div(n, 1024), 320>>>(letters, out, n / 32);
  free_all(letters, qualities, index, packed, filter, hashes, model, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("genome_search");
}
