// Template arguments choose the instance; a launch in a template is one per instance.
template <int block, class T>
__global__ void reduce(T* a, int n) { a[blockIdx.x] = n + block; }

template <int block>
void run(float* f, double* d, int n) {
  reduce<block, float><<<(n + block - 1) / block, block, block * sizeof(float)>>>(f, n);
  reduce<block><<<(n + block - 1) / block, block, block * sizeof(double)>>>(d, n);
}

void never(float* f);
template <class T>
void unused(T* a) { reduce<1, T><<<1, 1>>>(a, 1); }

int main() {
  float* f = nullptr;
  double* d = nullptr;
  run<128>(f, d, 5000);
  run<64>(f, d, 100);
  int threads = 32;
  switch (threads) {
    case 64: reduce<64, float><<<1, 64>>>(f, 64); break;
    case 32: reduce<32, float><<<1, 32>>>(f, 32); break;
    default: reduce<1, float><<<1, 1>>>(f, 1);
  }
}
