// Functions called twice, by reference, with results, recursively; methods; lambdas; kernels as arguments.
#include <cstdio>

#define CHECK(call) check((call), __FILE__, __LINE__)
static void check(cudaError_t status, const char* file, int line) {
  if (status != cudaSuccess) {
    printf("%s:%d\n", file, line);
    return;
  }
}

__global__ void scale(float* a, int n) { a[threadIdx.x] *= n; }
__global__ void shift(float* a, int n) { a[threadIdx.x] += n; }

static int blocks_for(int n, int block) { return (n + block - 1) / block; }
static int next_power_of_2(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}
static int at_least(int n, int least) {
  if (n < least) return least;
  return n;
}
static void sizes(int n, dim3& grid, dim3& block) {
  block = dim3(32, 8);
  grid.x = blocks_for(n, 32);
  grid.y = blocks_for(n, 8);
}
static void run(float* a, int n, int block = 128) { scale<<<blocks_for(n, block), block>>>(a, n); }
static void halves(float* a, int n) {
  if (n < 256) return;
  shift<<<n / 256, 256>>>(a, n);
  halves(a, n / 2);
}
template <class Kernel>
static void time(Kernel kernel, float* a, int n) {
  kernel<<<n, 32>>>(a, n);
}

class Solver {
 public:
  Solver(int n, int steps) : n_(n), steps_(steps) { CHECK(cudaMalloc(&data_, n_ * sizeof(float))); }
  void solve() {
    for (int i = 0; i < steps_; ++i) shift<<<n_ / block_, block_>>>(data_, n_);
  }

 private:
  int n_, steps_, block_ = 64;
  float* data_;
};

int main(int argc, char** argv) {
  float* a;
  int n = 1000;
  if (argc < 1) return 1;
  CHECK(cudaMalloc((void**)&a, n * sizeof(float)));
  run(a, n);
  run(a, 2 * n, 64);
  dim3 grid, block;
  sizes(n, grid, block);
  scale<<<grid, block>>>(a, n);
  shift<<<next_power_of_2(n), at_least(n / 100, 32)>>>(a, n);
  halves(a, n);
  auto both = [&](int size) {
    scale<<<size, 32>>>(a, size);
    shift<<<size, n>>>(a, size);
  };
  both(7);
  time(shift, a, 9);
  Solver solver(4096, 5);
  solver.solve();
}
