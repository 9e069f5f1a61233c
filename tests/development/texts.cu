// Texts of n letters.
#include "device.h"

__global__ void find_word(const char* text, const char* word, int length, int* found, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - length) return;
  int k = 0;
  while (k < length && text[i + k] == word[k]) ++k;
  if (k == length) atomicAdd(found, 1);
}

__global__ void to_capitals(const uchar4* in, uchar4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  uchar4 c = in[i];
  c.x = c.x >= 'a' && c.x <= 'z' ? c.x - 32 : c.x;
  c.y = c.y >= 'a' && c.y <= 'z' ? c.y - 32 : c.y;
  c.z = c.z >= 'a' && c.z <= 'z' ? c.z - 32 : c.z;
  c.w = c.w >= 'a' && c.w <= 'z' ? c.w - 32 : c.w;
  out[i] = c;
}

// A line of 64 letters for each thread.
__global__ void line_lengths(const char* text, int* lengths, int lines) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  int length = 0;
  while (length < 64 && text[i * 64 + length] != 10) ++length;
  lengths[i] = length;
}

__constant__ char letters[64];

__global__ void to_base_64(const unsigned char* in, char* out, int groups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  const unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
  out[4 * i] = letters[bits >> 18];
  out[4 * i + 1] = letters[bits >> 12 & 63];
  out[4 * i + 2] = letters[bits >> 6 & 63];
  out[4 * i + 3] = letters[bits & 63];
}

void run(int n) {
  char* text = device_array<char>(
      n, [](int i) { return static_cast<char>(i % 37 == 0 ? 10 : 'a' + i % 7 * (i % 5)); });
  char* word = device_array<char>(8, [](int i) { return static_cast<char>('a' + i); });
  char* out = device_zeros<char>(2 * n);
  int* found = device_zeros<int>(1);
  for (int r = 0; r < kLaunches; ++r) find_word<<<ceil_div(n, 256), 256>>>(text, word, 8, found, n);
  for (int r = 0; r < kLaunches; ++r)
    to_capitals<<<ceil_div(n, 1024), 256>>>((uchar4*)text, (uchar4*)out, n / 4);
  for (int r = 0; r < kLaunches; ++r) line_lengths<<<ceil_div(n, 64 * 128), 128>>>(text, (int*)out, n / 64);
  for (int r = 0; r < kLaunches; ++r)
    to_base_64<<<ceil_div(n / 3, 256), 256>>>((unsigned char*)text, out, n / 3);
  free_all(text, word, out, found);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("texts");
}
