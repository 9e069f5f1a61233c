// n blocks of 1024 whole numbers each: as differences, in few bits, in runs and in bytes, with checks.
#include "device.h"

// Differences of neighbours with the sign in the lowest bit, four for each thread, and the bits that a block needs.
__global__ void encode_differences(const int4* in, uint4* out, int* firsts, unsigned char* widths) {
  __shared__ unsigned part[8];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32;
  const int4 v = in[i];
  int before = __shfl_up_sync(0xffffffffu, v.w, 1);
  if (t == 0) {
    before = v.x;
    firsts[blockIdx.x] = v.x;
  } else if (lane == 0) {
    before = ((const int*)in)[4 * i - 1];
  }
  const int a = v.x - before, b = v.y - v.x, c = v.z - v.y, d = v.w - v.z;
  uint4 z;
  z.x = (unsigned)a << 1 ^ (unsigned)(a >> 31);
  z.y = (unsigned)b << 1 ^ (unsigned)(b >> 31);
  z.z = (unsigned)c << 1 ^ (unsigned)(c >> 31);
  z.w = (unsigned)d << 1 ^ (unsigned)(d >> 31);
  out[i] = z;
  const unsigned bits = __reduce_or_sync(0xffffffffu, z.x | z.y | z.z | z.w);
  if (lane == 0) part[t / 32] = bits;
  __syncthreads();
  if (t == 0) {
    unsigned all = 0;
    for (int w = 0; w < 8; ++w) all |= part[w];
    widths[blockIdx.x] = 32 - __clz(all);
  }
}

// Numbers less a smallest one in kBits bits each: a warp for a block, each lane fills words of its own.
template <int kBits>
__global__ void pack_lanes(const unsigned* in, const unsigned* smallest, unsigned* out, int blocks) {
  const int block = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (block >= blocks) return;
  const unsigned least = smallest[block], mask = (1u << kBits) - 1;
  in += (size_t)block * 1024 + lane;
  out += (size_t)block * kBits * 32 + lane;
  unsigned word = 0;
#pragma unroll
  for (int row = 0; row < 32; ++row) {
    const unsigned v = (in[row * 32] - least) & mask;
    const int shift = row * kBits % 32;
    word |= v << shift;
    if (shift + kBits >= 32) {
      out[row * kBits / 32 * 32] = word;
      word = shift + kBits > 32 ? v >> (32 - shift) : 0;
    }
  }
}

// Back from kBits bits each to signed differences and to their running sums down each lane's column.
template <int kBits>
__global__ void __launch_bounds__(128)
    unpack_and_sum(const unsigned* __restrict__ in, const int* __restrict__ firsts, int* __restrict__ out,
                   int blocks) {
  const int block = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (block >= blocks) return;
  unsigned words[kBits];
#pragma unroll
  for (int w = 0; w < kBits; ++w) words[w] = in[((size_t)block * kBits + w) * 32 + lane];
  int sum = firsts[block];
#pragma unroll
  for (int row = 0; row < 32; ++row) {
    const int word = row * kBits / 32, shift = row * kBits % 32;
    unsigned v = words[word] >> shift;
    if (shift + kBits > 32) v |= words[(word + 1) % kBits] << (32 - shift);
    v &= (1u << kBits) - 1;
    sum += (int)(v >> 1) ^ -(int)(v & 1);
    out[(size_t)block * 1024 + row * 32 + lane] = sum;
  }
}

// Runs of equal bytes within each 512: their values, their lengths and their number.
__global__ void __launch_bounds__(512)
    find_runs(const unsigned char* in, unsigned char* values, unsigned short* lengths, int* counts) {
  __shared__ int before[17];
  __shared__ unsigned short starts[513];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, first = blockIdx.x * 512;
  const unsigned char own = in[first + t];
  const bool head = t == 0 || in[first + t - 1] != own;
  const unsigned heads = __ballot_sync(0xffffffffu, head);
  if (lane == 0) before[warp + 1] = __popc(heads);
  if (t == 0) before[0] = 0;
  __syncthreads();
  if (t == 0)
    for (int w = 1; w <= 16; ++w) before[w] += before[w - 1];
  __syncthreads();
  const int runs = before[16];
  if (head) {
    const int place = before[warp] + __popc(heads & ((1u << lane) - 1));
    starts[place] = t;
    values[first + place] = own;
  }
  if (t == 0) {
    starts[runs] = 512;
    counts[blockIdx.x] = runs;
  }
  __syncthreads();
  if (t < runs) lengths[first + t] = starts[t + 1] - starts[t];
}

// Numbers as one to five bytes of seven bits each, one after the other within a block's place in memory.
__global__ void write_bytes(const uint4* in, unsigned char* out, int* sizes) {
  __shared__ int sums[8];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const uint4 quad = in[blockIdx.x * 256 + t];
  const unsigned v[4] = {quad.x, quad.y, quad.z, quad.w};
  int own = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) own += (38 - __clz(v[k] | 1)) / 7;
  int sum = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  int place = sum - own;
  for (int w = 0; w < warp; ++w) place += sums[w];
  unsigned char* at = out + (size_t)blockIdx.x * 5120 + place;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned rest = v[k];
    while (rest >= 128) {
      *at++ = rest | 128;
      rest >>= 7;
    }
    *at++ = rest;
  }
  if (t == 255) sizes[blockIdx.x] = place + own;
}

// A check of the 4096 bytes of each block by two sums modulo 65521: a warp for a block, 16 bytes at a time.
__global__ void check_sums(const uint4* in, unsigned* out, int blocks) {
  const int block = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (block >= blocks) return;
  unsigned plain = 0, weighted = 0;
  for (int k = 0; k < 8; ++k) {
    const uint4 v = in[block * 256 + k * 32 + lane];
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
    const unsigned after = 4096 - (k * 32 + lane) * 16;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned sum = __dp4a(words[w], 0x01010101u, 0u);
      plain += sum;
      weighted += (after - 4 * w - 4) * sum + __dp4a(words[w], 0x01020304u, 0u);
    }
  }
  plain %= 65521u;
  weighted %= 65521u;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    plain += __shfl_xor_sync(0xffffffffu, plain, step);
    weighted += __shfl_xor_sync(0xffffffffu, weighted, step);
  }
  if (lane == 0) out[block] = (weighted + 4096) % 65521u << 16 | (plain + 1) % 65521u;
}

// The width that makes each block smallest if larger numbers are kept apart, from counts of the widths of all.
__global__ void choose_widths(const unsigned* in, uchar2* out, int each) {
  __shared__ int counts[33];
  const int t = threadIdx.x;
  if (t < 33) counts[t] = 0;
  __syncthreads();
  for (int k = t; k < each; k += blockDim.x) atomicAdd(&counts[32 - __clz(in[blockIdx.x * each + k])], 1);
  __syncthreads();
  if (t >= 32) return;
  const int width = t + 1;
  int apart = 0;
  for (int w = width + 1; w <= 32; ++w) apart += counts[w];
  int best = (width * each + apart * 44) << 6 | t;
  for (int step = 16; step > 0; step /= 2) best = min(best, __shfl_xor_sync(0xffffffffu, best, step));
  if ((best & 63) == t) out[blockIdx.x] = make_uchar2(width, min(apart, 255));
}

// The least, the greatest and the sum of each block's numbers: a warp for each block, in a loop over the blocks.
template <class T>
__global__ void block_ranges(const T* in, T* least, T* most, long long* sums, int each, int blocks) {
  for (int block = blockIdx.x * blockDim.y + threadIdx.y; block < blocks; block += gridDim.x * blockDim.y) {
    const T* own = in + (size_t)block * each;
    T low = own[threadIdx.x], high = low;
    long long sum = low;
    for (int k = threadIdx.x + 32; k < each; k += 32) {
      const T v = own[k];
      low = v < low ? v : low;
      high = v > high ? v : high;
      sum += v;
    }
    for (int step = 16; step > 0; step /= 2) {
      const T other_low = __shfl_down_sync(0xffffffffu, low, step);
      const T other_high = __shfl_down_sync(0xffffffffu, high, step);
      low = other_low < low ? other_low : low;
      high = other_high > high ? other_high : high;
      sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    if (threadIdx.x == 0) {
      least[block] = low;
      most[block] = high;
      sums[block] = sum;
    }
  }
}

void run(int n) {
  const int count = 1024 * n;
  // Numbers that grow slowly, with some that jump; and numbers of all sizes.
  int* rising = device_array<int>(count, [](int i) {
    const unsigned mixed = static_cast<unsigned>(i) * 2654435761u >> 9;
    return 4 * i + static_cast<int>(mixed % 29u) + (mixed % 97u == 5 ? 700 : 0);
  });
  unsigned* sizes_mixed = device_array<unsigned>(count, [](int i) {
    const unsigned mixed = static_cast<unsigned>(i) * 2246822519u;
    return mixed >> (4 + (mixed >> 3) % 27u);
  });
  unsigned char* kinds = device_array<unsigned char>(count, [](int i) {
    return static_cast<unsigned char>((static_cast<unsigned>(i / 3) * 2654435761u >> 20) & 3u);
  });
  unsigned* out = device_zeros<unsigned>(count + count / 4);
  unsigned short* lengths = device_zeros<unsigned short>(count);
  int* firsts = device_zeros<int>(2 * n);
  int* counts = device_zeros<int>(2 * n);
  long long* least = device_zeros<long long>(n);
  long long* most = device_zeros<long long>(n);
  long long* sums = device_zeros<long long>(n);
  unsigned char* widths = device_zeros<unsigned char>(2 * n);
  for (int r = 0; r < kLaunches; ++r)
    encode_differences<<<n, 256>>>((int4*)rising, (uint4*)out, firsts, widths);
  for (int r = 0; r < kLaunches; ++r)
    pack_lanes<7><<<ceil_div(n, 8), 256>>>((unsigned*)rising, (unsigned*)firsts, out, n);
  for (int r = 0; r < kLaunches; ++r)
    pack_lanes<16><<<ceil_div(n, 2), 64>>>((unsigned*)rising, (unsigned*)firsts, out, n);
  for (int r = 0; r < kLaunches; ++r)
    unpack_and_sum<9><<<ceil_div(n, 4), 128>>>(sizes_mixed, firsts, (int*)out, n);
  for (int r = 0; r < kLaunches; ++r) find_runs<<<2 * n, 512>>>(kinds, (unsigned char*)out, lengths, counts);
  for (int r = 0; r < kLaunches; ++r)
    write_bytes<<<n, 256>>>((uint4*)sizes_mixed, (unsigned char*)out, counts);
  for (int r = 0; r < kLaunches; ++r)
    check_sums<<<ceil_div(n, 6), 192>>>((uint4*)sizes_mixed, (unsigned*)counts, n);
  for (int r = 0; r < kLaunches; ++r) choose_widths<<<n, 128>>>(sizes_mixed, (uchar2*)widths, 1024);
  for (int r = 0; r < kLaunches; ++r)
    block_ranges<int>
        <<<min(ceil_div(n, 8), 528), dim3(32, 8)>>>(rising, (int*)least, (int*)most, sums, 1024, n);
  for (int r = 0; r < kLaunches; ++r)
    block_ranges<long long>
        <<<min(ceil_div(n, 16), 132), dim3(32, 16)>>>((long long*)rising, least, most, sums, 512, n);
  free_all(rising, sizes_mixed, kinds, out, lengths, firsts, counts, least, most, sums, widths);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("packed_integers");
}
