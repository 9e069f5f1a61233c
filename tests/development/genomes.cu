// A sequence of n bases, a byte each, 0 to 3: words, motifs, windows, alignments without gaps.
#include "device.h"

// The number that each word of `length` bases is, and of the word on the other strand the smaller one.
__global__ void word_codes(const unsigned char* bases, unsigned* codes, int length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + length > n) return;
  unsigned forward = 0, backward = 0;
  for (int k = 0; k < length; ++k) {
    const unsigned base = bases[i + k];
    forward = forward << 2 | base;
    backward |= (3 - base) << 2 * k;
  }
  codes[i] = min(forward, backward);
}

// How well a motif of 16 places fits at each position: a weight for each place and base, in shared memory.
template <int kLength>
__global__ void motif_scores(const unsigned char* __restrict__ bases, const float* __restrict__ weights,
                             float* __restrict__ scores, int n) {
  __shared__ float weight[kLength * 4];
  __shared__ unsigned char part[256 + kLength];
  const int first = blockIdx.x * 256;
  if (threadIdx.x < kLength * 4) weight[threadIdx.x] = weights[threadIdx.x];
  for (int k = threadIdx.x; k < 256 + kLength; k += 256) part[k] = first + k < n ? bases[first + k] : 0;
  __syncthreads();
  float score = 0;
#pragma unroll
  for (int k = 0; k < kLength; ++k) score += weight[4 * k + part[threadIdx.x + k]];
  if (first + threadIdx.x < n) scores[first + threadIdx.x] = score;
}

// The share of two of the four bases in windows that overlap by half: a window for each thread.
__global__ void window_shares(const unsigned char* bases, short* shares, int width, int windows) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w < windows) {
    int count = 0;
    for (int k = 0; k < width; k++) {
      int base = bases[w * (width / 2) + k];
      if (base == 1 || base == 2) count++;
    }
    shares[w] = (short)(1000 * count / width);
  }
}

// Of each ten words that follow each other the one with the least hash: the hashes in shared memory.
__global__ void least_hashes(const unsigned* codes, unsigned* out, int n) {
  __shared__ unsigned hashes[320];
  const int first = blockIdx.x * 310;
  const int i = first + threadIdx.x;
  unsigned h = i < n ? codes[i] : 0xffffffffu;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  hashes[threadIdx.x] = h ^ h >> 16;
  __syncthreads();
  if (threadIdx.x >= 310 || i >= n) return;
  unsigned least = hashes[threadIdx.x];
#pragma unroll
  for (int k = 1; k < 10; ++k) least = min(least, hashes[threadIdx.x + k]);
  out[i] = least;
}

__constant__ unsigned char query[96];

// The best piece of a query of 96 bases on each diagonal, as whole numbers.
__global__ void diagonal_scores(const unsigned char* __restrict__ bases, short* __restrict__ best, int match,
                                int other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 96 > n) return;
  int score = 0, most = 0;
#pragma unroll 8
  for (int k = 0; k < 96; ++k) {
    score = max(0, score + (bases[i + k] == query[k] ? match : other));
    most = max(most, score);
  }
  best[i] = most;
}

// Reads of 64 bases in 128 bits: in how many bases each differs from each of 32 others.
__global__ void differences(const ulonglong2* reads, const ulonglong2* others, unsigned char* out,
                            int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const ulonglong2 own = reads[i];
  for (int k = 0; k < 32; ++k) {
    const ulonglong2 other = others[k];
    const unsigned long long a = own.x ^ other.x, b = own.y ^ other.y;
    out[k * count + i] =
        __popcll((a | a >> 1) & 0x5555555555555555ull) + __popcll((b | b >> 1) & 0x5555555555555555ull);
  }
}

void run(int n) {
  unsigned char letters[96];
  for (int k = 0; k < 96; ++k) letters[k] = k * k % 5 % 4;
  cudaMemcpyToSymbol(query, letters, sizeof letters);
  unsigned char* bases = device_array<unsigned char>(
      n, [](int i) { return static_cast<unsigned char>(static_cast<unsigned>(i) * 2654435761u >> 13 & 3); });
  float* weights = device_floats(64);
  unsigned* codes = device_zeros<unsigned>(n);
  unsigned* out = device_zeros<unsigned>(n);
  const int windows = n / 128 - 1, reads = n / 16;
  for (int r = 0; r < kLaunches; ++r) word_codes<<<ceil_div(n, 256), 256>>>(bases, codes, 14, n);
  for (int r = 0; r < kLaunches; ++r)
    motif_scores<16><<<ceil_div(n, 256), 256>>>(bases, weights, (float*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    window_shares<<<ceil_div(windows, 128), 128>>>(bases, (short*)out, 256, windows);
  for (int r = 0; r < kLaunches; ++r) least_hashes<<<ceil_div(n, 310), 320>>>(codes, out, n);
  for (int r = 0; r < kLaunches; ++r)
    diagonal_scores<<<ceil_div(n, 512), 512>>>(bases, (short*)out, 2, -3, n);
  for (int r = 0; r < kLaunches; ++r)
    differences<<<ceil_div(reads, 256), 256>>>((ulonglong2*)codes, (ulonglong2*)bases, (unsigned char*)out,
                                               reads);
  free_all(bases, weights, codes, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("genomes");
}
