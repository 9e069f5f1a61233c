// Parts of compressors and of codes, for n words of four bytes (n is a multiple of 1024).
#include "device.h"

using Byte = unsigned char;

// The starts of runs of equal bytes: a bit for each byte, and their number in each block.
__global__ void run_starts(const Byte* bytes, unsigned* flags, int* counts, int count) {
  __shared__ int starts;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) starts = 0;
  __syncthreads();
  const bool start = i < count && (i == 0 || bytes[i] != bytes[i - 1]);
  const unsigned vote = __ballot_sync(0xffffffff, start);
  if (threadIdx.x % 32 == 0 && i < count) {
    flags[i / 32] = vote;
    atomicAdd(&starts, __popc(vote));
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = starts;
}

// Differences in zigzag code, packed in kBits bits each. A warp packs 1024 values, each lane every 32nd.
template <int kBits>
__global__ void pack_deltas(const int* __restrict__ values, unsigned* __restrict__ packed, int groups) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, group = t / 32, lane = t % 32;
  if (group >= groups) return;
  unsigned long long buffer = 0;
  int held = 0, last = 0, word = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const int value = values[group * 1024 + k * 32 + lane], delta = value - last;
    const unsigned code = (static_cast<unsigned>(delta) << 1 ^ delta >> 31) & ((1u << kBits) - 1);
    last = value;
    buffer |= static_cast<unsigned long long>(code) << held;
    held += kBits;
    if (held >= 32) {
      packed[(group * kBits + word++) * 32 + lane] = static_cast<unsigned>(buffer);
      buffer >>= 32;
      held -= 32;
    }
  }
}

// Unpacking of fields of any width up to 16 bits, each by one shift of two words.
__global__ void unpack_fields(const unsigned* __restrict__ packed, short* out, int bits, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned position = i * bits, word = position >> 5;
    const unsigned code = __funnelshift_r(packed[word], packed[word + 1], position) & ((1u << bits) - 1);
    out[i] = (short)(code >> 1 ^ -(code & 1));
  }
}

// A histogram of bytes, with counters for each warp in shared memory.
__global__ void byte_histogram(const uint4* __restrict__ words, unsigned* histogram, int count) {
  __shared__ unsigned counters[8][256];
  for (int k = threadIdx.x; k < 8 * 256; k += blockDim.x) counters[k / 256][k % 256] = 0;
  __syncthreads();
  unsigned* own = counters[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const uint4 four = words[i];
    const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 16; ++k) atomicAdd(&own[parts[k / 4] >> (8 * (k % 4)) & 0xff], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; ++w) sum += counters[w][threadIdx.x];
  if (sum > 0) atomicAdd(&histogram[threadIdx.x], sum);
}

// Huffman codes of at most ten bits: a thread decodes 48 symbols from its chunk of 16 words.
__global__ void huffman_decode(const unsigned* __restrict__ stream, const unsigned short* __restrict__ table,
                               unsigned* out, int chunks) {
  __shared__ unsigned short entries[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) entries[k] = table[k];
  __syncthreads();
  const int chunk = blockIdx.x * blockDim.x + threadIdx.x;
  if (chunk >= chunks) return;
  const unsigned* next = stream + 16 * chunk;
  unsigned long long buffer = 0;
  int held = 0;
  for (int word = 0; word < 12; ++word) {
    unsigned symbols = 0;
    for (int k = 0; k < 4; ++k) {
      if (held < 10) {
        buffer = buffer << 32 | *next++;
        held += 32;
      }
      const unsigned entry = entries[buffer >> (held - 10) & 1023];
      held -= entry & 15;
      symbols = symbols << 8 | entry >> 4;
    }
    out[word * chunks + chunk] = symbols;
  }
}

// The longest match of up to 16 bytes in the 48 bytes before each position, from a window in shared memory.
__global__ void find_matches(const Byte* bytes, unsigned short* matches, int count) {
  __shared__ Byte window[48 + 256 + 16];
  const int start = blockIdx.x * 256, t = threadIdx.x;
  for (int k = t; k < 320; k += 256) {
    const int from = start + k - 48;
    window[k] = from >= 0 && from < count ? bytes[from] : 0;
  }
  __syncthreads();
  const Byte* here = window + 48 + t;
  int best = 0, away = 0;
  for (int distance = 1; distance <= 48 && best < 16; ++distance) {
    int length = 0;
    while (length < 16 && here[length] == here[length - distance]) ++length;
    if (length > best) best = length, away = distance;
  }
  if (start + t < count) matches[start + t] = best << 8 | away;
}

// The bytes of words in four planes, one for each place in a word: a transposition of four by four bytes.
__global__ void split_bytes(const uint4* __restrict__ words, unsigned* __restrict__ planes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint4 w = words[i];
  const unsigned low = __byte_perm(w.x, w.y, 0x5140), high = __byte_perm(w.x, w.y, 0x7362);
  const unsigned low2 = __byte_perm(w.z, w.w, 0x5140), high2 = __byte_perm(w.z, w.w, 0x7362);
  planes[i] = __byte_perm(low, low2, 0x5410);
  planes[count + i] = __byte_perm(low, low2, 0x7632);
  planes[2 * count + i] = __byte_perm(high, high2, 0x5410);
  planes[3 * count + i] = __byte_perm(high, high2, 0x7632);
}

// Four parity rows from ten rows of data, by logarithms in the field of 256 elements.
__global__ void reed_solomon(const unsigned* __restrict__ data, const Byte* __restrict__ tables,
                             unsigned* parity, int length) {
  __shared__ Byte logs[256], powers[512];
  for (int k = threadIdx.x; k < 768; k += blockDim.x) (k < 256 ? logs[k] : powers[k - 256]) = tables[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  unsigned sums[4] = {0, 0, 0, 0};
  for (int d = 0; d < 10; ++d) {
    const unsigned word = data[d * length + i];
    for (int shift = 0; shift < 32; shift += 8) {
      const unsigned byte = word >> shift & 0xff;
      if (byte == 0) continue;
#pragma unroll
      for (int p = 0; p < 4; ++p) sums[p] ^= (unsigned)powers[logs[byte] + p * d] << shift;
    }
  }
#pragma unroll
  for (int p = 0; p < 4; ++p) parity[p * length + i] = sums[p];
}

// The smallest Hamming distance of each code of 128 bits from the 32 codes before it.
__global__ void hamming(const ulonglong2* codes, Byte* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const ulonglong2 own = codes[i];
  int best = 128;
  for (int k = max(i - 32, 0); k < i; ++k) {
    const ulonglong2 other = codes[k];
    best = min(best, __popcll(own.x ^ other.x) + __popcll(own.y ^ other.y));
  }
  out[i] = best;
}

void run(int n) {
  unsigned* data = device_array<unsigned>(n, [](int i) { return (i / 5 * 2654435761u >> 9) & 0x070f0307u; });
  unsigned* noise = device_array<unsigned>(n, [](int i) { return i * 2654435761u ^ (i >> 2) * 2246822519u; });
  unsigned* out = device_zeros<unsigned>(n);
  int* counts = device_zeros<int>(n / 64);
  unsigned* histogram = device_zeros<unsigned>(256);
  unsigned short* table = device_array<unsigned short>(1024, [](int code) {
    const int length = 4 + 2 * (code >> 8);
    return (code >> (10 - length) & 0xff) << 4 | length;
  });
  Byte tables[768] = {};
  for (int k = 0, power = 1; k < 512; ++k) {
    tables[256 + k] = power;
    if (k < 255) tables[power] = k;
    power = power * 2 ^ (power & 128 ? 0x11d : 0);
  }
  Byte* field = device_array<Byte>(768, [&](int i) { return tables[i]; });
  for (int r = 0; r < kLaunches; ++r) run_starts<<<n / 64, 256>>>((Byte*)data, out, counts, 4 * n);
  for (int r = 0; r < kLaunches; ++r) pack_deltas<11><<<ceil_div(n, 4096), 128>>>((int*)data, out, n / 1024);
  for (int r = 0; r < kLaunches; ++r) pack_deltas<5><<<ceil_div(n, 8192), 256>>>((int*)data, out, n / 1024);
  for (int r = 0; r < kLaunches; ++r) unpack_fields<<<792, 320>>>(noise, (short*)out, 13, n);
  for (int r = 0; r < kLaunches; ++r) byte_histogram<<<264, 256>>>((uint4*)noise, histogram, n / 4);
  for (int r = 0; r < kLaunches; ++r) huffman_decode<<<ceil_div(n, 1536), 96>>>(noise, table, out, n / 16);
  for (int r = 0; r < kLaunches; ++r)
    find_matches<<<ceil_div(n, 256), 256>>>((Byte*)data, (unsigned short*)out, n);
  for (int r = 0; r < kLaunches; ++r) split_bytes<<<ceil_div(n, 2048), 512>>>((uint4*)data, out, n / 4);
  for (int r = 0; r < kLaunches; ++r) reed_solomon<<<ceil_div(n / 10, 192), 192>>>(noise, field, out, n / 10);
  for (int r = 0; r < kLaunches; ++r) hamming<<<n / 256, 64>>>((ulonglong2*)noise, (Byte*)out, n / 4);
  free_all(data, noise, out, counts, histogram, table, field);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("compression_and_codes");
}
