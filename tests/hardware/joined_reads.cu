// Which SMs' reads reach L2 as one, and for how long: data/development.md, "Reads of several SMs".
//
//   nvcc -arch=sm_90 -o joined_reads tests/hardware/joined_reads.cu && ./joined_reads
//   ncu --csv --clock-control none --metrics lts__t_sectors_srcunit_tex_op_read.sum -k read_on ./joined_reads
//   … --cache-control none: L2 has the data
//
// Prints on which SM each block of small grids runs. The launches of read_on are, in their order: SM 0 with each of
// the 131 others, SM 37 with each, SM 0 with 1, 2 and 3 where the second begins later, and all SMs.
#include <cstdio>

__device__ int this_sm() {
  int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

__device__ unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void where(int* sms) {
  if (threadIdx.x == 0) sms[blockIdx.x] = this_sm();
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() < begin + 20000) {
  }
}

// `lines` lines of 128 bytes on SMs `first` and `second`, the second `delay` cycles later; first < 0: on all.
__global__ void read_on(const float* data, float* out, int first, int second, int delay, int lines) {
  const int sm = this_sm();
  if (first >= 0 && sm != first && sm != second) return;
  const unsigned long long begin = ((nanoseconds() >> 14) + 2) << 14;
  while (nanoseconds() < begin) {
  }
  if (sm == second && delay != 0)
    for (const long long from = clock64(); clock64() < from + delay;) {
    }
  float sum = 0;
  for (int i = 0; i < lines; i += 4)
    for (int k = 0; k < 4; ++k) sum += data[(i + k) * 32 + threadIdx.x];
  if (sum == 1.5f) out[threadIdx.x] = sum;
}

int main() {
  constexpr int sms = 132, lines = 512, most_blocks = 2 * sms;
  int* places;
  float* data;
  cudaMalloc(&places, 4 * most_blocks);
  cudaMalloc(&data, 1 << 24);
  cudaMemset(data, 0, 1 << 24);
  for (const int blocks : {8, 32, 64, 128, sms, most_blocks})
    for (const int threads : {64, 1024}) {
      int on[most_blocks];
      where<<<blocks, threads>>>(places);
      cudaMemcpy(on, places, 4 * blocks, cudaMemcpyDeviceToHost);
      printf("%d blocks of %d threads:", blocks, threads);
      for (int b = 0; b < blocks; ++b) printf(" %d", on[b]);
      puts("");
    }
  float* out = data + (1 << 20);
  for (int other = 1; other < sms; ++other) read_on<<<sms, 32>>>(data, out, 0, other, 0, lines);
  for (int other = 0; other < sms; ++other)
    if (other != 37) read_on<<<sms, 32>>>(data, out, 37, other, 0, lines);
  for (const int delay : {0, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 4000})
    for (int other = 1; other <= 3; ++other) read_on<<<sms, 32>>>(data, out, 0, other, delay, lines);
  for (const int threads : {32, 256})
    for (int times = 0; times < 3; ++times) read_on<<<sms, threads>>>(data, out, -1, -1, 0, lines);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
