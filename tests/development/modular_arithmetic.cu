// Arithmetic modulo primes, n numbers of 64 or 32 bits.
#include "device.h"

using Word = unsigned long long;

constexpr Word kMersenne = (1ull << 61) - 1;

__device__ Word times_mersenne(Word a, Word b) {
  const Word high = __umul64hi(a, b), low = a * b;
  const Word sum = (low & kMersenne) + (low >> 61 | high << 3);
  return sum >= kMersenne ? sum - kMersenne : sum;
}

// Squares and products in turn, `rounds` of them, by the reduction that needs no division.
__global__ void chains_of_products(const Word* in, Word* out, Word modulus, Word inverse, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Word start = in[i];
  Word value = start;
  for (int k = 0; k < rounds; ++k) {
    const Word other = k % 2 == 0 ? value : start;
    const Word low = value * other, high = __umul64hi(value, other);
    const Word carried = __umul64hi(low * inverse, modulus);
    value = high >= carried ? high - carried : high + modulus - carried;
  }
  out[i] = value;
}

__constant__ Word coefficients[24];

// A polynomial with coefficients in constant memory, modulo 2^61 - 1.
template <int kDegree>
__global__ void polynomials(const Word* __restrict__ in, Word* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Word x = in[i] & (kMersenne >> 1);
    Word sum = coefficients[kDegree];
#pragma unroll
    for (int k = kDegree - 1; k >= 0; --k) {
      sum = times_mersenne(sum, x) + coefficients[k];
      sum = sum >= kMersenne ? sum - kMersenne : sum;
    }
    out[i] = sum;
  }
}

// A stage of a transform over the numbers modulo a prime: sums and differences of pairs `half` apart.
__global__ void butterflies(unsigned* values, const unsigned* roots, int half, unsigned prime, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n / 2) {
    int k = t % half;
    int at = t / half * 2 * half + k;
    unsigned long long product = (unsigned long long)values[at + half] * roots[k * (n / 2 / half) % 4096];
    unsigned a = values[at] % prime;
    unsigned b = product % prime;
    values[at] = a + b < prime ? a + b : a + b - prime;
    values[at + half] = a >= b ? a - b : a + prime - b;
  }
}

// Where a generator of random numbers is after i * distance steps, by as many doublings as that number has bits.
__global__ void skip_ahead(Word* states, Word seed, int distance, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Word factor = 6364136223846793005ull, more = 1442695040888963407ull, all = 1, added = 0;
  for (Word steps = static_cast<Word>(i) * distance; steps > 0; steps >>= 1) {
    if (steps & 1) {
      all *= factor;
      added = added * factor + more;
    }
    more *= factor + 1;
    factor *= factor;
  }
  states[i] = all * seed + added;
}

// A number from its residues modulo four primes.
__global__ void from_residues(const int4* residues, Word* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 r = residues[i];
  const Word a = static_cast<unsigned>(r.x) % 32749u;
  const Word b = (static_cast<unsigned>(r.y) % 32719u + 2 * 32719u - a) * 11997 % 32719u;
  const Word c =
      ((static_cast<unsigned>(r.z) % 32717u + 2 * 32717u - a) * 27605 + 2 * 32717u - b) * 16359 % 32717u;
  const Word d = (((static_cast<unsigned>(r.w) % 32713u + 2 * 32713u - a) * 20900 + 2 * 32713u - b) * 27261 +
                  2 * 32713u - c) *
                 24535 % 32713u;
  out[i] = a + 32749ull * (b + 32719ull * (c + 32717ull * d));
}

// By which of 54 odd numbers each odd number from `first` on can be divided, a bit for each.
__global__ void small_divisors(const int* divisors, Word* bits, int first, int n) {
  __shared__ int divisor[54];
  if (threadIdx.x < 54) divisor[threadIdx.x] = divisors[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int number = first + 2 * i;
  Word found = 0;
  for (int k = 0; k < 54; ++k) found |= static_cast<Word>(number % divisor[k] == 0) << k;
  bits[i] = found;
}

void run(int n) {
  Word table[24];
  for (int k = 0; k < 24; ++k) table[k] = 88172645463325252ull * (k + 1) >> 4;
  cudaMemcpyToSymbol(coefficients, table, sizeof table);
  Word* in = device_array<Word>(2 * n, [](int i) { return (i + 1) * 11400714819323198485ull >> 3; });
  Word* out = device_zeros<Word>(n);
  unsigned* roots = device_array<unsigned>(4096, [](int i) { return i * 40503u % 998244353u; });
  int* divisors = device_array<int>(54, [](int i) { return 3 + 2 * i; });
  for (int r = 0; r < kLaunches; ++r)
    chains_of_products<<<ceil_div(n, 256), 256>>>(in, out, 4611686018427387847ull, 4449872473921163767ull, 40,
                                                  n);
  for (int r = 0; r < kLaunches; ++r) polynomials<23><<<1056, 128>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    butterflies<<<ceil_div(n / 2, 256), 256>>>((unsigned*)in, roots, 16, 998244353u, n);
  for (int r = 0; r < kLaunches; ++r)
    butterflies<<<ceil_div(n / 2, 256), 256>>>((unsigned*)in, roots, n / 4, 998244353u, n);
  for (int r = 0; r < kLaunches; ++r) skip_ahead<<<ceil_div(n, 128), 128>>>(out, 42ull, 1024, n);
  for (int r = 0; r < kLaunches; ++r) from_residues<<<ceil_div(n, 192), 192>>>((int4*)in, out, n);
  for (int r = 0; r < kLaunches; ++r) small_divisors<<<ceil_div(n, 512), 512>>>(divisors, out, 1000001, n);
  free_all(in, out, roots, divisors);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("modular_arithmetic");
}
