// What it costs that blocks share lines of 128 bytes of an array that they change in place: rows of `d` elements, `w` apart, of which a
// block of `bx` threads in x has a part, and the first begins `off` elements behind the array's begin. `reads` arrays are read,
// `updates` are read and written, and `writes` are written. Prints `bytes,reads,updates,writes,d,w,rows,off,bx,by,us,tb_s`: bytes is
// an element's, us by events over five launches, tb_s what is read and written.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/shared_lines.cu -o shared_lines && ./shared_lines
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T, int kReads, int kUpdates, int kWrites>
__global__ void rows(T* p, size_t pitch, int d, int w, int off) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= d) return;
  const size_t i = (size_t)y * w + x + off;
  T sum = 0, updated[kUpdates + 1];
#pragma unroll
  for (int k = 0; k < kReads; ++k) sum += p[k * pitch + i];
#pragma unroll
  for (int k = 0; k < kUpdates; ++k) updated[k] = p[(kReads + k) * pitch + i];
#pragma unroll
  for (int k = 0; k < kUpdates; ++k) p[(kReads + k) * pitch + i] = updated[k] + sum;
#pragma unroll
  for (int k = 0; k < kWrites; ++k) p[(kReads + kUpdates + k) * pitch + i] = sum + k;
}

constexpr size_t kPitch = 30 << 20;  // words

cudaEvent_t before, after;
float* memory;

template <class T, int kReads, int kUpdates, int kWrites>
void run(int d, int w, int n, int off, int bx, int by) {
  const auto launch = [&] {
    rows<T, kReads, kUpdates, kWrites><<<dim3((d + bx - 1) / bx, n / by), dim3(bx, by)>>>(
        (T*)memory, kPitch * 4 / sizeof(T), d, w, off);
  };
  launch();
  check(cudaDeviceSynchronize());
  float best = 1e9;
  for (int k = 0; k < 3; ++k) {
    check(cudaEventRecord(before));
    for (int j = 0; j < 5; ++j) launch();
    check(cudaEventRecord(after));
    check(cudaEventSynchronize(after));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before, after));
    best = std::min(best, ms / 5);
  }
  check(cudaGetLastError());
  const double bytes = sizeof(T) * (kReads + 2.0 * kUpdates + kWrites) * d * n;
  std::printf("%zu,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%.3f\n", sizeof(T), kReads, kUpdates, kWrites, d, w, n, off, bx, by,
              best * 1000, bytes / best / 1e9);
}

template <class T>
void run_all(int d, int w, int n, int off, int bx, int by) {
  run<T, 0, 1, 0>(d, w, n, off, bx, by);
  run<T, 1, 1, 0>(d, w, n, off, bx, by);
  run<T, 0, 3, 0>(d, w, n, off, bx, by);
  run<T, 3, 3, 0>(d, w, n, off, bx, by);
  run<T, 0, 0, 1>(d, w, n, off, bx, by);
  run<T, 1, 0, 1>(d, w, n, off, bx, by);
  run<T, 3, 0, 2>(d, w, n, off, bx, by);
}

}  // namespace

int main() {
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  check(cudaMalloc(&memory, 9 * 4 * kPitch + 65536));
  check(cudaMemset(memory, 0, 9 * 4 * kPitch + 65536));
  std::printf("bytes,reads,updates,writes,d,w,rows,off,bx,by,us,tb_s\n");
  for (const int n : {78400, 3136}) {  // memory has the arrays, or L2
    for (const int off : {0, 8, 16, 24, 1, 4})
      for (const int bx : {32, 64, 96}) run_all<float>(288, 288, n, off, bx, bx == 32 ? 8 : 4);
    run_all<float>(280, 280, n, 0, 32, 8);
    run_all<float>(281, 281, n, 0, 32, 8);
    run_all<float>(285, 285, n, 0, 64, 4);
    for (const int off : {0, 4, 8, 1}) run_all<double>(288, 288, n / 2, off, 32, 8);
    run_all<double>(285, 285, n / 2, 0, 64, 4);
  }
  return 0;
}
