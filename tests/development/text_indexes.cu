// Indexes of n bytes of text: folding, hashes of n-grams, Bloom filters, encodings, distances and weights.
#include "device.h"

__constant__ char kAlphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Case folding of four bytes at a time with a table in shared memory, and the number of separators.
__global__ void fold_case(const uchar4* text, const unsigned char* table, uchar4* folded,
                          unsigned long long* separators, int quads) {
  __shared__ unsigned char fold[256];
  fold[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int found = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 in = text[i];
    const uchar4 out = make_uchar4(fold[in.x], fold[in.y], fold[in.z], fold[in.w]);
    found += (out.x == ' ') + (out.y == ' ') + (out.z == ' ') + (out.w == ' ');
    folded[i] = out;
  }
  found = __reduce_add_sync(0xffffffffu, found);
  if (threadIdx.x % 32 == 0) atomicAdd(separators, (unsigned long long)found);
}

__host__ __device__ constexpr unsigned power_of(unsigned base, int exponent) {
  return exponent == 0 ? 1 : base * power_of(base, exponent - 1);
}

// Fingerprints: the smallest rolling hash of the n-grams that start in a stretch of 48 bytes.
template <int kGram>
__global__ void winnow_grams(const unsigned char* __restrict__ text, unsigned* __restrict__ smallest,
                             int n) {
  constexpr unsigned kBase = 257, kLast = power_of(kBase, kGram - 1);
  const int stretch = blockIdx.x * blockDim.x + threadIdx.x, start = stretch * 48;
  if (start + 48 + kGram > n) return;
  unsigned hash = 0;
#pragma unroll
  for (int k = 0; k < kGram; ++k) hash = hash * kBase + text[start + k];
  unsigned least = hash;
  for (int k = 0; k < 47; ++k) {
    hash = (hash - text[start + k] * kLast) * kBase + text[start + k + kGram];
    least = min(least, hash ^ hash >> 15);
  }
  smallest[stretch] = least;
}

__device__ unsigned long long mix(unsigned long long x) {
  x *= 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  x *= 0xd1342543de82ef95ull;
  return x ^ x >> 32;
}

// A Bloom filter with four bits for each key: insertion by atomicOr, or a query whose answers a ballot packs.
template <bool kInsert>
__global__ void bloom_filter(const unsigned long long* keys, unsigned* filter, unsigned mask,
                             unsigned* answers, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool present = i < count;
  const unsigned long long hash = present ? mix(keys[i] + !kInsert * (i & 1)) : 0;
  const unsigned step = (unsigned)(hash >> 32) | 1;
  unsigned bit = (unsigned)hash;
  for (int k = 0; k < 4 && present; ++k, bit += step) {
    if (kInsert) atomicOr(&filter[bit >> 5 & mask], 1u << (bit & 31));
    if (!kInsert) present = filter[bit >> 5 & mask] >> (bit & 31) & 1;
  }
  if (kInsert) return;
  const unsigned votes = __ballot_sync(0xffffffffu, present);
  if (i < count && threadIdx.x % 32 == 0) answers[i / 32] = votes;
}

// Base64: three bytes become four letters of the alphabet in constant memory.
__global__ void base64_encode(const unsigned char* bytes, uchar4* letters, int triples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= triples) return;
  const unsigned word = bytes[3 * i] << 16 | bytes[3 * i + 1] << 8 | bytes[3 * i + 2];
  letters[i] = make_uchar4(kAlphabet[word >> 18], kAlphabet[word >> 12 & 63], kAlphabet[word >> 6 & 63],
                           kAlphabet[word & 63]);
}

// UTF-8: each byte must be a continuation exactly where one of the three bytes before it asks for one.
__global__ void validate_utf8(const unsigned char* text, int* errors, int n) {
  __shared__ unsigned char tile[192 + 3];
  const int i = blockIdx.x * 192 + threadIdx.x;
  tile[threadIdx.x + 3] = i < n ? text[i] : 0;
  if (threadIdx.x < 3) tile[threadIdx.x] = i >= 3 ? text[i - 3] : 0;
  __syncthreads();
  const unsigned char own = tile[threadIdx.x + 3];
  const bool two = tile[threadIdx.x + 2] >= 0xc0, three = tile[threadIdx.x + 1] >= 0xe0;
  const bool asked = two || three || tile[threadIdx.x] >= 0xf0;
  const bool wrong = i < n && (asked != ((own & 0xc0) == 0x80) || own >= 0xf8);
  const int sum = __syncthreads_count(wrong);
  if (threadIdx.x == 0) errors[blockIdx.x] = sum;
}

// The edit distance of two strings of 128 bytes: a block goes over the anti-diagonals, a row a thread.
__global__ void edit_distance(const unsigned char* text, short* distances) {
  __shared__ short diagonals[3][129];
  __shared__ unsigned char second[128];
  const int row = threadIdx.x + 1;
  const unsigned char own = text[blockIdx.x * 1024 + threadIdx.x];
  second[threadIdx.x] = text[blockIdx.x * 1024 + 512 + threadIdx.x];
  if (row == 1) diagonals[0][0] = 0, diagonals[1][0] = diagonals[1][1] = 1;
  __syncthreads();
  for (int d = 2; d <= 256; ++d) {
    const short *before = diagonals[(d + 1) % 3], *last = diagonals[(d + 2) % 3];
    const int column = d - row;
    if (column >= 1 && column <= 128) {
      const int changed = before[row - 1] + (own != second[column - 1]);
      diagonals[d % 3][row] = min(changed, min(last[row - 1], last[row]) + 1);
    }
    if (column == 0) diagonals[d % 3][row] = d;
    if (row == 1) diagonals[d % 3][0] = d;
    __syncthreads();
  }
  if (row == 128) distances[blockIdx.x] = diagonals[256 % 3][128];
}

// Weights of the 1000 terms in each document by their frequencies, with a norm of one: four terms a thread.
__global__ void weigh_terms(const unsigned short* __restrict__ counts, const int* __restrict__ documents_with,
                            float* __restrict__ weights, int documents) {
  __shared__ float squares;
  if (threadIdx.x == 0) squares = 1e-6f;
  __syncthreads();
  float kept[4], sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int term = k * 250 + threadIdx.x, count = counts[blockIdx.x * 1000 + term];
    kept[k] = count > 0 ? (1 + log2f(count)) * logf((1.0f + documents) / (1 + documents_with[term])) : 0.0f;
    sum += kept[k] * kept[k];
  }
  atomicAdd(&squares, sum);
  __syncthreads();
  for (int k = 0; k < 4; ++k) weights[blockIdx.x * 1000 + k * 250 + threadIdx.x] = kept[k] * rsqrtf(squares);
}

// A finite automaton of eight states over chunks of 64 bytes, a thread for each, read as words.
__global__ void run_automaton(const unsigned* text, const unsigned char* table, uchar2* out, int chunks) {
  extern __shared__ unsigned char next[];
  for (int k = threadIdx.x; k < 8 * 256; k += blockDim.x) next[k] = table[k];
  __syncthreads();
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  if (chunk >= chunks) return;
  int state = 0, accepted = 0;
  for (int w = 0; w < 16; ++w) {
    unsigned word = text[chunk * 16 + w];
#pragma unroll
    for (int k = 0; k < 4; ++k, word >>= 8) {
      state = next[state * 256 + (word & 255)];
      accepted += state == 7;
    }
  }
  out[chunk] = make_uchar2(state, accepted);
}

void run(int n) {
  const int keys_count = n / 16, documents = n / 2000, chunks = n / 64;
  int words = 1024;
  while (words < keys_count) words *= 2;
  unsigned char* text = device_array<unsigned char>(n, [](int i) {
    const int kind = int(64 * hashed_unit(i));
    return kind < 26 ? 'a' + kind : kind < 52 ? 'A' + kind - 26 : kind < 61 ? ' ' : '0' + kind - 61;
  });
  const char* sample = "a\xc3\xa9 \xe2\x82\xac-\xf0\x9f\x98\x80";
  unsigned char* symbols = device_array<unsigned char>(n, [sample](int i) { return sample[i % 12]; });
  unsigned char* folding = device_array<unsigned char>(256, [](int i) { return i < 48 ? 32 : i | 32; });
  unsigned char* automaton = device_array<unsigned char>(8 * 256, [](int i) { return 8 * hashed_unit(i); });
  unsigned long long* keys = device_array<unsigned long long>(keys_count, [](int i) { return i * 977ull; });
  unsigned short* counts = device_array<unsigned short>(n / 2, [](int i) { return i % 7 < 4 ? 0 : i % 50; });
  int* documents_with = device_ints(1000, documents);
  uchar4* folded = device_zeros<uchar4>(n / 4);
  uchar4* letters = device_zeros<uchar4>(n / 3);
  float* weights = device_zeros<float>(n / 2);
  unsigned* filter = device_zeros<unsigned>(words);
  unsigned* answers = device_zeros<unsigned>(keys_count / 32 + 1);
  unsigned* smallest = device_zeros<unsigned>(n / 48 + 1);
  int* errors = device_zeros<int>(n / 192 + 1);
  unsigned long long* separators = device_zeros<unsigned long long>(1);
  for (int r = 0; r < kLaunches; ++r)
    fold_case<<<min(ceil_div(n, 2048), 1056), 256>>>((uchar4*)text, folding, folded, separators, n / 4);
  for (int r = 0; r < kLaunches; ++r) winnow_grams<5><<<ceil_div(n, 48 * 128), 128>>>(text, smallest, n);
  for (int r = 0; r < kLaunches; ++r) winnow_grams<12><<<ceil_div(n, 48 * 64), 64>>>(text, smallest, n);
  for (int r = 0; r < kLaunches; ++r)
    bloom_filter<true><<<ceil_div(keys_count, 128), 128>>>(keys, filter, words - 1, answers, keys_count);
  for (int r = 0; r < kLaunches; ++r)
    bloom_filter<false><<<ceil_div(keys_count, 512), 512>>>(keys, filter, words - 1, answers, keys_count);
  for (int r = 0; r < kLaunches; ++r) base64_encode<<<ceil_div(n / 3, 192), 192>>>(text, letters, n / 3);
  for (int r = 0; r < kLaunches; ++r) validate_utf8<<<ceil_div(n, 192), 192>>>(symbols, errors, n);
  for (int r = 0; r < kLaunches; ++r) edit_distance<<<n / 1024, 128>>>(text, (short*)smallest);
  for (int r = 0; r < kLaunches; ++r)
    weigh_terms<<<documents, 250>>>(counts, documents_with, weights, documents);
  for (int r = 0; r < kLaunches; ++r)
    run_automaton<<<ceil_div(chunks, 96), 96, 2048>>>((unsigned*)text, automaton, (uchar2*)letters, chunks);
  free_all(text, symbols, folding, automaton, keys, counts, documents_with, folded, letters, weights, filter,
           answers, smallest, errors, separators);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("text_indexes");
}
