// How long a load takes from each SM, which are at different distances from the slices of L2: a chain of loads in
// random order, of one SM after the other and of all at once. Prints `case,parameters,value,unit`.
//   nvcc -O3 -std=c++17 -arch=sm_90 tests/hardware/sm_latencies.cu -o sm_latencies
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kLoads = 2048;

// Each block, one per SM, goes through `lines` from a place of its own, kLoads loads past L1. Only the SM `only` does,
// or all (-1).
__global__ void chase(const unsigned* next, unsigned lines, int only, float* cycles, unsigned* out) {
  unsigned sm;
  asm("mov.u32 %0, %smid;" : "=r"(sm));
  if (only >= 0 && sm != static_cast<unsigned>(only)) return;
  unsigned p = static_cast<unsigned>((blockIdx.x * 7919ULL) % lines) * 32;
  const long long begin = clock64();
  for (int i = 0; i < kLoads; ++i) p = __ldcg(next + p);
  const long long end = clock64();
  *out = p;
  cycles[sm] = static_cast<float>(end - begin) / kLoads;
}

// The same of each access once: what the first loads of a launch take, in cycles, with as many warps as threads / 32.
__global__ void first_loads(const unsigned* next, float* cycles, unsigned* out) {
  unsigned sm;
  asm("mov.u32 %0, %smid;" : "=r"(sm));
  unsigned p = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  long long t[5];
  t[0] = clock64();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    p = __ldcg(next + p) + (i + 1) * (1 << 18);
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %1, 0xffffffff; @q trap; mov.u64 %0, %clock64; }"
                 : "=l"(t[i + 1])
                 : "r"(p)
                 : "memory");
  }
  *out = p;
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < 4; ++i)
      atomicMax(reinterpret_cast<int*>(cycles) + 4 * sm + i, static_cast<int>(t[i + 1] - t[i]));
}

}  // namespace

int main() {
  int device = 0;
  check(cudaGetDevice(&device));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device));
  const int sms = properties.multiProcessorCount;
  std::printf("case,parameters,value,unit\ndevice,%s,%d,SMs\n", properties.name, sms);
  unsigned *next, *out;
  float* cycles;
  constexpr std::size_t kBytes = 256 << 20;
  check(cudaMalloc(&next, kBytes));
  check(cudaMalloc(&out, sizeof(unsigned)));
  check(cudaMallocManaged(&cycles, sizeof(float) * 4 * sms));
  std::mt19937 random(1);
  for (const std::size_t bytes :
       {std::size_t{1} << 20, std::size_t{4} << 20, std::size_t{16} << 20, kBytes}) {
    const auto lines = static_cast<unsigned>(bytes / 128);
    std::vector<unsigned> order(lines), host(lines * 32);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    for (unsigned i = 0; i < lines; ++i) host[order[i] * 32] = order[(i + 1) % lines] * 32;
    check(cudaMemcpy(next, host.data(), bytes, cudaMemcpyHostToDevice));
    for (const bool together : {false, true}) {
      std::vector<float> found;
      for (int round = 0; round < 2; ++round) {
        found.clear();
        if (together) {
          chase<<<sms, 1>>>(next, lines, -1, cycles, out);
          check(cudaDeviceSynchronize());
          found.assign(cycles, cycles + sms);
        } else {
          for (int sm = 0; sm < sms; ++sm) {
            chase<<<sms, 1>>>(next, lines, sm, cycles, out);
            check(cudaDeviceSynchronize());
            found.push_back(cycles[sm]);
          }
        }
      }
      const float first = found[0];
      std::sort(found.begin(), found.end());
      const auto print = [&](const char* what, float value) {
        std::printf("%s,%zu KiB: %s,%.1f,cycles\n", together ? "all SMs" : "one SM", bytes >> 10, what,
                    value);
      };
      print("SM 0", first), print("least", found.front()), print("median", found[sms / 2]),
          print("most", found.back());
      print("mean", std::accumulate(found.begin(), found.end(), 0.0F) / static_cast<float>(sms));
    }
  }
  check(cudaMemset(next, 0, kBytes));
  for (const int blocks : {1, 16, sms / 2, sms})
    for (const int threads : {32, 64, 128, 256, 1024})
      for (int round = 0; round < 4; ++round) {
        std::fill(cycles, cycles + 4 * sms, 0.0F);
        first_loads<<<blocks, threads>>>(next, cycles, out);
        check(cudaDeviceSynchronize());
        if (round < 3) continue;
        const int* of = reinterpret_cast<const int*>(cycles);
        for (int i = 0; i < 4; ++i) {
          int most = 0, sum = 0, count = 0;
          for (int sm = 0; sm < sms; ++sm)
            if (of[4 * sm + i] != 0) most = std::max(most, of[4 * sm + i]), sum += of[4 * sm + i], ++count;
          std::printf("first loads,%d blocks of %d: load %d: mean of SMs,%d,cycles\n", blocks, threads, i + 1,
                      sum / count);
          std::printf("first loads,%d blocks of %d: load %d: most of SMs,%d,cycles\n", blocks, threads, i + 1,
                      most);
        }
      }
  return 0;
}
