// Whole numbers: primes, powers modulo, numbers of 256 bits, greatest common divisors.
#include "device.h"

__global__ void primes(unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned value = 2 * i + 3;
  unsigned char prime = 1;
  for (unsigned d = 3; d * d <= value; d += 2)
    if (value % d == 0) {
      prime = 0;
      break;
    }
  out[i] = prime;
}

__global__ void powers_modulo(const unsigned* bases, unsigned* out, unsigned exponent, unsigned modulus,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long base = bases[i] % modulus, result = 1;
  for (unsigned e = exponent; e > 0; e >>= 1) {
    if (e & 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  out[i] = static_cast<unsigned>(result);
}

__global__ void multiply_256(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x[8], y[8], z[16];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    x[k] = a[k * n + i];
    y[k] = b[k * n + i];
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) z[k] = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    unsigned long long carry = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      carry += static_cast<unsigned long long>(x[k]) * y[j] + z[j + k];
      z[j + k] = static_cast<unsigned>(carry);
      carry >>= 32;
    }
    z[j + 8] = static_cast<unsigned>(carry);
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) out[k * n + i] = z[k];
}

__global__ void divisors(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i] + 1, y = b[i] + 1;
  while (y != 0) {
    const int t = x % y;
    x = y;
    y = t;
  }
  out[i] = x;
}

void run(int n) {
  unsigned* a = (unsigned*)device_ints(8 * n, 1 << 30);
  unsigned* out = device_zeros<unsigned>(16 * n);
  for (int r = 0; r < kLaunches; ++r) primes<<<ceil_div(n, 256), 256>>>((unsigned char*)out, n);
  for (int r = 0; r < kLaunches; ++r) powers_modulo<<<ceil_div(n, 256), 256>>>(a, out, 65537, 1000000007, n);
  for (int r = 0; r < kLaunches; ++r) multiply_256<<<ceil_div(n, 128), 128>>>(a, a, out, n);
  for (int r = 0; r < kLaunches; ++r) divisors<<<ceil_div(n, 64), 64>>>((int*)a, (int*)a + n, (int*)out, n);
  free_all(a, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("integers");
}
