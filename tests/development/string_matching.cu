// Searching texts for patterns, exactly and with errors, by a thread per place or by a thread per stretch.
// n is the number of characters of each of the two texts (a genome of four letters, a prose of 26), and a
// multiple of 64.
#include "device.h"

constexpr int kMost = 64;  // the longest pattern

__constant__ unsigned char pattern[kMost];
__constant__ unsigned pattern_words[8];
__constant__ unsigned long long letter_masks[256];

// The letters a, c, g and t as 0, 1, 3 and 2.
__device__ int letter_code(unsigned character) {
  return character >> 1 & 3;
}

// Compares the pattern at each place of the text, a thread per place, until the first difference.
__global__ void compare_everywhere(const unsigned char* text, int* found, int length, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at > n - length) return;
  int k = 0;
  while (k < length && text[at + k] == pattern[k]) ++k;
  if (k == length) atomicAdd(found, 1);
}

// Marks the places where the pattern stands up to some differences, the text of a block in shared memory.
__global__ void compare_in_tile(const unsigned char* text, unsigned char* marks, int length, int allowed,
                                int n) {
  __shared__ unsigned char tile[256 + kMost];
  const int base = blockIdx.x * 256;
  for (int k = threadIdx.x; k < 256 + length - 1; k += 256) tile[k] = base + k < n ? text[base + k] : 0;
  __syncthreads();
  const int at = base + threadIdx.x;
  if (at >= n) return;
  int differences = 0;
  for (int k = 0; k < length && differences <= allowed; ++k)
    differences += tile[threadIdx.x + k] != pattern[k];
  marks[at] = differences <= allowed;
}

// Skips through a stretch of text per thread by the table of last occurrences (Horspool).
__global__ void skip_ahead(const unsigned char* text, const unsigned char* skips, int* counts, int length,
                           int stretch, int n) {
  __shared__ unsigned char skip[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) skip[k] = skips[k];
  __syncthreads();
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n / stretch) return;
  const int end = min((thread + 1) * stretch, n - length + 1);
  int found = 0;
  for (int at = thread * stretch; at < end;) {
    const unsigned char last = text[at + length - 1];
    if (last == pattern[length - 1]) {
      int k = length - 2;
      while (k >= 0 && text[at + k] == pattern[k]) --k;
      found += k < 0;
    }
    at += max(1, static_cast<int>(skip[last]));
  }
  counts[thread] = found;
}

// Reads a stretch of text per thread once and falls back to the longest border where letters differ.
__global__ void fall_back(const unsigned char* text, const int* borders, int* total, int length, int stretch,
                          int n) {
  __shared__ int border[kMost];
  if (threadIdx.x < length) border[threadIdx.x] = borders[threadIdx.x];
  __syncthreads();
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int found = 0;
  if (thread < n / stretch) {
    const int start = thread * stretch, end = min(start + stretch + length - 1, n);
    int state = 0;
    for (int i = start; i < end; ++i) {
      const unsigned char c = text[i];
      while (state > 0 && pattern[state] != c) state = border[state - 1];
      if (pattern[state] == c) ++state;
      if (state == length) {
        ++found;
        state = border[state - 1];
      }
    }
  }
  found = __reduce_add_sync(0xffffffffu, found);
  if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(total, found);
}

// Compares a rolling hash of the text with that of the pattern, and the letters where both agree.
__global__ void roll_hash(const unsigned char* text, int* counts, unsigned wanted, unsigned power, int length,
                          int stretch, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n / stretch) return;
  const int start = thread * stretch, end = min(start + stretch, n - length + 1);
  int found = 0;
  if (start < end) {
    unsigned hash = 0;
    for (int k = 0; k < length; ++k) hash = hash * 257 + text[start + k];
    for (int at = start; at < end; ++at) {
      if (hash == wanted) {
        bool same = true;
        for (int k = 0; k < length; ++k) same = same && text[at + k] == pattern[k];
        found += same;
      }
      if (at + 1 < end) hash = (hash - text[at] * power) * 257 + text[at + length];
    }
  }
  counts[thread] = found;
}

// Holds all begun matches as bits of a word, the text of a block loaded as words into padded rows.
__global__ void shift_and(const unsigned* words, unsigned char* counts, int length, int n) {
  constexpr int kRow = 64, kRows = 128;
  __shared__ unsigned tile[(kRows + 1) * (kRow / 4 + 1)];
  const int base = blockIdx.x * (kRows * kRow / 4);
  for (int w = threadIdx.x; w < (kRows + 1) * kRow / 4; w += kRows)
    tile[w / (kRow / 4) * (kRow / 4 + 1) + w % (kRow / 4)] = base + w < n / 4 ? words[base + w] : 0;
  __syncthreads();
  const unsigned long long last = 1ull << (length - 1);
  unsigned long long state = 0;
  int found = 0;
  for (int k = 0; k < kRow + length - 1; ++k) {
    const int row = threadIdx.x + k / kRow, column = k % kRow;
    const unsigned word = tile[row * (kRow / 4 + 1) + column / 4];
    state = (state << 1 | 1) & letter_masks[word >> 8 * (column % 4) & 255];
    found += (state & last) != 0;
  }
  const int thread = blockIdx.x * kRows + threadIdx.x;
  if (thread < n / kRow) counts[thread] = static_cast<unsigned char>(found);
}

// Finds the pattern with up to kErrors insertions, deletions and changes, a word of bits for each number.
template <int kErrors>
__global__ void shift_with_errors(const unsigned char* text, const unsigned* masks, int* counts, int length,
                                  int stretch, int n) {
  __shared__ unsigned mask[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) mask[k] = masks[k];
  __syncthreads();
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n / stretch) return;
  unsigned state[kErrors + 1];
#pragma unroll
  for (int e = 0; e <= kErrors; ++e) state[e] = (1u << e) - 1;
  int found = 0;
  const int start = thread * stretch, end = min(start + stretch + length - 1, n);
  for (int i = start; i < end; ++i) {
    const unsigned now = mask[text[i]];
    unsigned old = state[0];
    state[0] = (state[0] << 1 | 1) & now;
#pragma unroll
    for (int e = 1; e <= kErrors; ++e) {
      const unsigned before = state[e];
      state[e] = ((before << 1 | 1) & now) | old | (old | state[e - 1]) << 1 | 1;
      old = before;
    }
    found += state[kErrors] >> (length - 1) & 1;
  }
  counts[thread] = found;
}

// Finds the least edit distance between 64 letters and any piece of a stretch of text, a column of the table
// held in two words of bits.
__global__ void least_distance(const uint4* text, const unsigned long long* equal, int* distances,
                               int stretch, int n) {
  __shared__ unsigned long long same[4];
  if (threadIdx.x < 4) same[threadIdx.x] = equal[threadIdx.x];
  __syncthreads();
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n / stretch) return;
  const int start = thread * stretch / 16, end = min(start + stretch / 16 + 4, n / 16);
  unsigned long long up = ~0ull, down = 0;
  int score = 64, best = 64;
  for (int i = start; i < end; ++i) {
    const uint4 sixteen = text[i];
    const unsigned four[4] = {sixteen.x, sixteen.y, sixteen.z, sixteen.w};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const unsigned long long eq = same[letter_code(four[k / 4] >> 8 * (k % 4))];
      const unsigned long long xv = eq | down, xh = (((eq & up) + up) ^ up) | eq;
      unsigned long long ph = down | ~(xh | up), mh = up & xh;
      score += static_cast<int>(ph >> 63) - static_cast<int>(mh >> 63);
      ph <<= 1;
      mh <<= 1;
      up = mh | ~(xv | ph);
      down = ph & xv;
      best = min(best, score);
    }
  }
  distances[thread] = best;
}

// Runs an automaton of 4096 states over a stretch of genome per thread and counts the accepting states.
__global__ void run_automaton(const unsigned char* text, const unsigned short* next,
                              const unsigned char* accepting, int* counts, int stretch, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n / stretch) return;
  const int start = thread * stretch, end = start + stretch;
  int state = 0, found = 0;
  for (int i = max(0, start - 5); i < end; ++i) {
    state = __ldg(next + 4 * state + letter_code(text[i]));
    if (i >= start && accepting[state]) ++found;
  }
  counts[thread] = found;
}

// Counts the differing letters of 32 at each of four places per thread, four letters per comparison.
__global__ void count_differences(const unsigned* words, uchar4* differences, int n) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= n / 4 - 8) return;
  unsigned window[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) window[k] = words[w + k];
  int bits[4] = {0, 0, 0, 0};
#pragma unroll
  for (int shift = 0; shift < 4; ++shift) {
#pragma unroll
    for (int k = 0; k < 8; ++k)
      bits[shift] +=
          __popc(__vcmpne4(__funnelshift_r(window[k], window[k + 1], 8 * shift), pattern_words[k]));
  }
  differences[w] = make_uchar4(bits[0] / 8, bits[1] / 8, bits[2] / 8, bits[3] / 8);
}

// Computes the edit distance of pairs of 32 letters, a warp per pair and a lane per row, along the diagonals.
__global__ void pair_distances(const unsigned char* text, int* distances, int pairs) {
  const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (pair >= pairs) return;
  const int mine = text[pair * 64 + lane], other = text[pair * 64 + 32 + lane];
  int left = lane + 1, diagonal = lane;
  for (int step = 0; step < 63; ++step) {
    const int column = step - lane;
    const int letter = __shfl_sync(0xffffffffu, other, column & 31);
    int above = __shfl_up_sync(0xffffffffu, left, 1);
    if (lane == 0) above = column + 1;
    if (column >= 0 && column < 32) {
      const int value = min(min(left, above) + 1, diagonal + (mine != letter));
      diagonal = above;
      left = value;
    }
  }
  if (lane == 31) distances[pair] = left;
}

const char kGenes[] = "acgtacgacgtacgaattcgcatgcaacgtgtacgacgtaggatccatgcatacgtacgacgtt";
const char kWords[] = "thequickbrownfoxjumpsoverthelazydog";

void search(int n) {
  // Both texts hold their pattern now and then, and random letters elsewhere, in the prose some more often.
  unsigned char* genome = device_array<unsigned char>(n, [](int i) {
    return i % 997 < 64 ? kGenes[i % 997] : "acgt"[static_cast<int>(4 * hashed_unit(i))];
  });
  unsigned char* prose = device_array<unsigned char>(n, [](int i) {
    const float u = hashed_unit(i);
    return i % 4099 < 35 ? kWords[i % 4099] : 'a' + static_cast<int>(26 * u * u);
  });
  const int length = 16;
  unsigned char* skips = device_array<unsigned char>(256, [length](int letter) {
    int skip = length;
    for (int k = 0; k < length - 1; ++k)
      if (kWords[k] == letter) skip = length - 1 - k;
    return skip;
  });
  int* borders = device_array<int>(length, [](int last) {
    int longest = 0;
    for (int size = 1; size <= last; ++size)
      if (memcmp(kGenes, kGenes + last + 1 - size, size) == 0) longest = size;
    return longest;
  });
  unsigned* masks = device_array<unsigned>(256, [length](int letter) {
    unsigned mask = 0;
    for (int k = 0; k < length; ++k) mask |= (kGenes[k] == letter ? 1u : 0u) << k;
    return mask;
  });
  unsigned long long* equal = device_array<unsigned long long>(4, [](int code) {
    unsigned long long mask = 0;
    for (int k = 0; k < 64; ++k) mask |= ((kGenes[k] >> 1 & 3) == code ? 1ull : 0ull) << k;
    return mask;
  });
  // The state is the last six letters, which the dictionary holds or does not.
  unsigned short* next = device_array<unsigned short>(4 * 4096, [](int i) { return i % 4096; });
  unsigned char* accepting = device_array<unsigned char>(4096, [](int i) { return hashed_unit(i) < 0.05f; });
  unsigned long long wide_masks[256] = {};
  for (int k = 0; k < 48; ++k) wide_masks[static_cast<int>(kGenes[k])] |= 1ull << k;
  unsigned wanted = 0, power = 1;
  for (int k = 0; k < length; ++k) wanted = wanted * 257 + static_cast<unsigned char>(kGenes[k]);
  for (int k = 0; k < length - 1; ++k) power *= 257;
  int* counts = device_zeros<int>(n / 32);
  unsigned char* marks = device_zeros<unsigned char>(n);
  int* total = device_zeros<int>(1);

  cudaMemcpyToSymbol(letter_masks, wide_masks, sizeof wide_masks);
  cudaMemcpyToSymbol(pattern_words, kGenes, 32);
  cudaMemcpyToSymbol(pattern, kWords, 35);
  for (int run = 0; run < kLaunches; ++run)
    compare_everywhere<<<ceil_div(n, 256), 256>>>(prose, total, 35, n);
  for (int run = 0; run < kLaunches; ++run)
    skip_ahead<<<ceil_div(n / 64, 128), 128>>>(prose, skips, counts, length, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    compare_in_tile<<<ceil_div(n, 256), 256>>>(prose, marks, 24, 6, n);

  cudaMemcpyToSymbol(pattern, kGenes, 64);
  for (int run = 0; run < kLaunches; ++run)
    compare_everywhere<<<ceil_div(n, 1024), 1024>>>(genome, total, length, n);
  for (int run = 0; run < kLaunches; ++run)
    fall_back<<<ceil_div(n / 64, 64), 64>>>(genome, borders, total, length, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    roll_hash<<<ceil_div(n / 32, 192), 192>>>(genome, counts, wanted, power, length, 32, n);
  for (int run = 0; run < kLaunches; ++run)
    shift_and<<<ceil_div(n, 8192), 128>>>((unsigned*)genome, marks, 48, n);
  for (int run = 0; run < kLaunches; ++run)
    shift_with_errors<1><<<ceil_div(n / 64, 256), 256>>>(genome, masks, counts, length, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    shift_with_errors<4><<<ceil_div(n / 64, 32), 32>>>(genome, masks, counts, length, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    least_distance<<<ceil_div(n / 64, 128), 128>>>((uint4*)genome, equal, counts, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    run_automaton<<<ceil_div(n / 64, 512), 512>>>(genome, next, accepting, counts, 64, n);
  for (int run = 0; run < kLaunches; ++run)
    count_differences<<<ceil_div(n / 4, 256), 256>>>((unsigned*)genome, (uchar4*)marks, n);
  for (int run = 0; run < kLaunches; ++run)
    pair_distances<<<ceil_div(n / 2, 128), 128>>>(genome, counts, n / 64);
  free_all(genome, prose, skips, borders, masks, equal, next, accepting, counts, marks, total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) search(atoi(argv[i]));
  return finish("string_matching");
}
