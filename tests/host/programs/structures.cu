// Sizes in structures, arrays, globals; through pointers; launches by function.
struct Config {
  int n;
  int steps = 4;
  struct { int x, y; } tile;
  dim3 block;
};

int default_size = 2048;
static const int blocks_by_level[] = {64, 16, 4, 1};

__global__ void step(float* a, int n, double h) { a[threadIdx.x] = n * h; }

static void set(Config* config, int n) {
  config->n = n;
  config->tile.x = 16;
  config->tile.y = config->tile.x / 2;
}

int main() {
  float* a;
  Config config;
  set(&config, default_size);
  config.block = dim3(config.tile.x, config.tile.y, 2);
  cudaMalloc(&a, config.n * sizeof(float));
  for (int i = 0; i < config.steps; i++) step<<<dim3(config.n / 16, config.n / 8), config.block>>>(a, config.n, 0.25);
  for (int level = 0; level < 4; level++) step<<<blocks_by_level[level], 32>>>(a, level, 1.0);
  int n = config.n;
  double h = 0.5;
  void* arguments[] = {&a, &n, &h};
  cudaLaunchKernel((const void*)step, dim3(n / 256), dim3(256), arguments, 512, 0);
  cudaLaunchCooperativeKernel((void*)step, 8, 128, arguments);
}
