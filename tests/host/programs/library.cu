// Without main(): what a function sets may have been set before another one is called.
int blocks = 16;
int threads = 64;
const int most = 4;

__global__ void work(float* data) { data[threadIdx.x] = 0; }

void prepare(int n) { blocks = n / threads; }

void once(float* data) {
  work<<<blocks, threads>>>(data);
  work<<<most, 32>>>(data);
}

void again(float* data, int n) {
  prepare(n);
  work<<<blocks, threads>>>(data);
}
