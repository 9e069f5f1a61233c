// n events in a detector: energies in 32 x 32 cells, and tracks of particles through its layers.
#include "device.h"

// The height and the time of each pulse from ten samples, by two sums with weights.
__constant__ float heights[10];
__constant__ float times[10];
__global__ void fit_pulses(const short* samples, float* energies, float* late, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  const short* own = samples + (size_t)i * 10;
  const float base = 0.5f * (own[0] + own[1]);
  float height = 0, time = 0;
#pragma unroll
  for (int k = 0; k < 10; ++k) {
    height += heights[k] * (own[k] - base);
    time += times[k] * (own[k] - base);
  }
  energies[i] = height;
  late[i] = height > 20.0f ? time / height : 0.0f;
}

// Cells that have more than their eight neighbours: a row of an event for each warp, a bit for each cell.
__global__ void find_seeds(const float* energies, unsigned* seeds, float threshold) {
  const int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y, event = blockIdx.y;
  const float* own = energies + event * 1024;
  const float energy = own[y * 32 + x];
  bool most = energy > threshold;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int column = x + dx, row = y + dy;
      if ((dx != 0 || dy != 0) && column >= 0 && row >= 0 && column < 32 && row < 32)
        most = most && own[row * 32 + column] < energy;
    }
  const unsigned word = __ballot_sync(0xffffffffu, most);
  if (x == 0) seeds[event * 32 + y] = word;
}

// The energy and the middle of the 5 x 5 cells about each seed: a warp for each event, a seed after the other.
__global__ void sum_clusters(const float* energies, const unsigned* seeds, float4* clusters, int events) {
  const int event = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (event >= events) return;
  const int dx = lane % 5 - 2, dy = lane / 5 - 2;
  int found = 0;
  for (int y = 0; y < 32; ++y) {
    unsigned word = seeds[event * 32 + y];
    while (word != 0 && found < 32) {
      const int x = __ffs(word) - 1;
      word &= word - 1;
      const int column = x + dx, row = y + dy;
      float energy = 0;
      if (lane < 25 && column >= 0 && row >= 0 && column < 32 && row < 32)
        energy = energies[event * 1024 + row * 32 + column];
      float mx = energy * dx, my = energy * dy;
      for (int step = 16; step > 0; step /= 2) {
        energy += __shfl_xor_sync(0xffffffffu, energy, step);
        mx += __shfl_xor_sync(0xffffffffu, mx, step);
        my += __shfl_xor_sync(0xffffffffu, my, step);
      }
      if (lane == 0) clusters[event * 32 + found] = make_float4(energy, x + mx / energy, y + my / energy, 25);
      ++found;
    }
  }
}

// The cells above a threshold one after the other, in their order: an event for each block of 1024 threads.
__global__ void __launch_bounds__(1024)
    pack_hits(const float* energies, uint2* hits, int* counts, float threshold) {
  __shared__ int ends[32];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const float energy = energies[blockIdx.x * 1024 + t];
  const unsigned votes = __ballot_sync(0xffffffffu, energy > threshold);
  if (lane == 0) ends[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    int sum = ends[lane];
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    ends[lane] = sum;
  }
  __syncthreads();
  const int place = (warp > 0 ? ends[warp - 1] : 0) + __popc(votes & ((1u << lane) - 1));
  if (energy > threshold) hits[blockIdx.x * 1024 + place] = make_uint2(t, __float_as_uint(energy));
  if (t == 0) counts[blockIdx.x] = ends[31];
}

// Straight lines through 128 points: each votes for 64 directions, and the most votes win.
__global__ void vote_lines(const float2* points, int* best) {
  __shared__ int votes[64 * 64];
  __shared__ int most;
  for (int k = threadIdx.x; k < 4096; k += 128) votes[k] = 0;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const float2 p = points[blockIdx.x * 128 + threadIdx.x];
  for (int k = 0; k < 64; ++k) {
    float sine, cosine;
    sincospif(k / 64.0f, &sine, &cosine);
    const int place = (int)(20.0f * (p.x * cosine + p.y * sine) + 21.0f);
    atomicAdd(&votes[k * 64 + (place & 63)], 1);
  }
  __syncthreads();
  int own = 0;
  for (int k = threadIdx.x; k < 4096; k += 128) own = max(own, votes[k] << 12 | k);
  atomicMax(&most, own);
  __syncthreads();
  if (threadIdx.x == 0) best[blockIdx.x] = most;
}

// Tracks through twelve layers: a place, two slopes and a bend, and how sure each is, layer after layer.
__global__ void __launch_bounds__(128) fit_tracks(const float2* hits, float* out, float noise, int tracks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tracks) return;
  float state[4] = {0, 0, 0, 0}, sure[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c) sure[r][c] = r == c ? 10.0f : 0.0f;
  for (int layer = 0; layer < 12; ++layer) {
    state[0] += state[2];
    state[1] += state[3];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      sure[0][c] += sure[2][c];
      sure[1][c] += sure[3][c];
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      sure[r][0] += sure[r][2];
      sure[r][1] += sure[r][3];
      sure[r][r] += noise;
    }
    const float2 hit = hits[layer * tracks + i];
    const float measured[2] = {hit.x, hit.y};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const float inverse = 1 / (sure[m][m] + 0.1f), miss = measured[m] - state[m];
      float gain[4], row[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        gain[k] = sure[k][m] * inverse;
        row[k] = sure[m][k];
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        state[r] += gain[r] * miss;
#pragma unroll
        for (int c = 0; c < 4; ++c) sure[r][c] -= gain[r] * row[c];
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) out[k * tracks + i] = state[k];
}

void run(int n) {
  float shape[10], slope[10];
  for (int k = 0; k < 10; ++k) {
    shape[k] = k < 3 ? 0 : (10 - k) / 28.0f;
    slope[k] = (k - 5) / 20.0f;
  }
  cudaMemcpyToSymbol(heights, shape, sizeof shape);
  cudaMemcpyToSymbol(times, slope, sizeof slope);
  const int cells = 1024 * n, tracks = 64 * n;
  short* samples = device_array<short>(10 * cells, [](int i) {
    return static_cast<short>((static_cast<unsigned>(i) * 2654435761u >> 12) % 500u);
  });
  float* energies = device_array<float>(cells, [](int i) {
    return static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 10) % 4096u) / 4096;
  });
  float* fitted = device_zeros<float>(cells);
  float* late = device_zeros<float>(cells);
  unsigned* seeds = device_zeros<unsigned>(32 * n);
  float* out = device_zeros<float>(2 * cells);
  float* points = device_floats(24 * tracks);
  int* counts = device_zeros<int>(n);
  for (int r = 0; r < kLaunches; ++r) fit_pulses<<<ceil_div(cells, 256), 256>>>(samples, fitted, late, cells);
  for (int r = 0; r < kLaunches; ++r) find_seeds<<<dim3(4, n), dim3(32, 8)>>>(energies, seeds, 0.5f);
  for (int r = 0; r < kLaunches; ++r) sum_clusters<<<ceil_div(n, 2), 64>>>(energies, seeds, (float4*)out, n);
  for (int r = 0; r < kLaunches; ++r) pack_hits<<<n, 1024>>>(energies, (uint2*)out, counts, 0.8f);
  for (int r = 0; r < kLaunches; ++r) vote_lines<<<n, 128>>>((float2*)points, counts);
  for (int r = 0; r < kLaunches; ++r)
    fit_tracks<<<ceil_div(tracks, 128), 128>>>((float2*)points, out, 0.01f, tracks);
  free_all(samples, energies, fitted, late, seeds, out, points, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("calorimeters");
}
