// Undecided conditions: by a parameter where it decides them, else by a parameter of their own.
__global__ void small(float* a, int n) { a[threadIdx.x] = n; }
__global__ void large(float* a, int n) { a[threadIdx.x] = n; }
__global__ void extra(float* a) { a[0] = 1; }

int ask(const float* a);

void run(float* a, int n, bool verbose, int mode) {
  if (a == nullptr) return;
  if (n > 4096) {
    large<<<n / 1024, 1024>>>(a, n);
  } else {
    small<<<1, 256>>>(a, n);
  }
  if (ask(a) == 7) extra<<<1, 1>>>(a);
  if (verbose) extra<<<2, 2>>>(a);
  for (int i = 0; i < 10; i++) {
    if (i % 3 == 0) continue;
    small<<<i, 32>>>(a, i);
  }
  switch (mode) {
    case 0: small<<<n, 64>>>(a, 0); break;
    case 1:
    case 2: large<<<n, 128>>>(a, 1); break;
    default: extra<<<3, 3>>>(a);
  }
  int block = mode == 5 ? 512 : 64;
  small<<<n / block, block>>>(a, n);
}
