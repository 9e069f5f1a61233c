// Macros, constants, enumerators, ceil, casts, conditional operators: all known.
#include <cmath>

#define BLOCK 256
#define BLOCKS(n) (((n) + BLOCK - 1) / BLOCK)
enum { width = 1000, height = 333 };
constexpr int tile = 16;
static const int images = 3;

__global__ void one(float* a, int n) { a[blockIdx.x] = n; }
__global__ void two(float* a, int w, int h) { a[blockIdx.x] = w * h; }

int main() {
  float* a = nullptr;
  const int n = width * height;
  one<<<BLOCKS(n), BLOCK>>>(a, n);
  one<<<(int)ceil(n / (float)BLOCK), BLOCK>>>(a, n);
  one<<<(unsigned)ceilf((double)n / BLOCK), dim3(BLOCK)>>>(a, n);
  dim3 block(tile, tile);
  dim3 grid((width + tile - 1) / tile, (height - 1) / block.y + 1, images);
  two<<<grid, block>>>(a, width, height);
  one<<<n % BLOCK == 0 ? n / BLOCK : n / BLOCK + 1, BLOCK, 2 * BLOCK * sizeof(double)>>>(a, n);
  one<<<1 << 10, n > 1000 ? 512 : 32>>>(a, n);
}
