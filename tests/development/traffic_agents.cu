// Agent simulations on a lattice of n x n places: cars, pedestrians, flocks, buyers and walkers.
#include "device.h"

constexpr int kFlock = 1024, kItems = 16, kBins = 96, kSorted = 512;

struct Car {
  float position, speed, wish, headway;
};

// Cars on n ring roads by the intelligent driver model. Each car follows the next one of its ring.
__global__ void drive_rings(const Car* cars, Car* moved, float length, float step, int per_ring) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, ring = blockIdx.y * per_ring;
  if (k >= per_ring) return;
  Car car = cars[ring + k];
  const Car leader = cars[ring + (k + 1 < per_ring ? k + 1 : 0)];
  float gap = leader.position - car.position - 5;
  if (gap < 0) gap += length;
  const float closing = car.speed * (car.speed - leader.speed) / 3.4f;
  const float ratio = (2 + fmaxf(0.0f, car.speed * car.headway + closing)) / fmaxf(gap, 0.5f);
  const float acceleration = 1.4f * (1 - powf(car.speed / car.wish, 4) - ratio * ratio);
  car.speed = fmaxf(0.0f, car.speed + step * acceleration);
  car.position = fmodf(car.position + step * car.speed, length);
  moved[ring + k] = car;
}

// Social forces between pedestrians: a list of agents for each cell, searched in 3 x 3 cells.
__global__ void social_forces(const float2* positions, const int* __restrict__ starts,
                              const int* __restrict__ order, float2* forces, int cells, int agents) {
  const int slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= agents) return;
  const int me = order[slot];
  const float2 here = positions[me];
  const int cx = min((int)here.x, cells - 1), cy = min((int)here.y, cells - 1);
  float2 force = make_float2(0, 0);
  for (int y = max(cy - 1, 0); y <= min(cy + 1, cells - 1); ++y) {
    const int last = starts[y * cells + min(cx + 1, cells - 1) + 1];
    for (int k = starts[y * cells + max(cx - 1, 0)]; k < last; ++k) {
      const int other = order[k];
      const float dx = here.x - positions[other].x, dy = here.y - positions[other].y;
      const float squared = dx * dx + dy * dy;
      if (other == me || squared > 1) continue;
      const float distance = sqrtf(squared + 1e-6f), push = __expf((0.3f - distance) * 4) / distance;
      force.x += push * dx;
      force.y += push * dy;
    }
  }
  forces[me] = force;
}

// Flocking: every pair inside flocks of 1024, by tiles in shared memory. Places in x and y, speeds in z, w.
__global__ void __launch_bounds__(256) flock_together(const float4* __restrict__ birds,
                                                      float2* __restrict__ speeds, int agents) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x, first = i / kFlock * kFlock;
  const float4 me = birds[min(i, agents - 1)];
  float count = 1e-3f, vx = 0, vy = 0, ax = 0, ay = 0;
  for (int start = first; start < min(first + kFlock, agents); start += 256) {
    tile[threadIdx.x] = birds[min(start + (int)threadIdx.x, agents - 1)];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 256; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, squared = dx * dx + dy * dy;
      const float near = squared < 0.2f ? 1.0f : 0.0f, push = near * rsqrtf(squared + 0.01f);
      count += near;
      vx += near * tile[k].z;
      vy += near * tile[k].w;
      ax -= push * dx;
      ay -= push * dy;
    }
    __syncthreads();
  }
  if (i < agents) speeds[i] = make_float2(vx / count + 0.1f * ax, vy / count + 0.1f * ay);
}

// An auction: each buyer finds the best and second best of 16 items and bids for the best.
__global__ void bid_for_items(const float* values, const float* prices, unsigned long long* bids,
                              int buyers) {
  const int buyer = blockIdx.x * blockDim.x + threadIdx.x;
  if (buyer >= buyers) return;
  int base = buyer / 32 * kItems, item = 0;
  float best = -1e30f, second = -1e30f;
  for (int k = 0; k < kItems; ++k) {
    const float worth = values[k * buyers + buyer] - prices[base + k];
    second = fmaxf(second, fminf(best, worth));
    item = worth > best ? k : item;
    best = fmaxf(best, worth);
  }
  const unsigned bid = __float_as_uint(prices[base + item] + best - second + 0.01f);
  atomicMax(&bids[base + item], (unsigned long long)bid << 32 | buyer);
}

// One sweep of distances to the exits. A thread goes down eight rows with the three rows in registers.
__global__ void relax_distances(const unsigned short* old, unsigned short* out, int* changed, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 8;
  int changes = 0;
  if (x < n) {
    int above = old[max(top - 1, 0) * n + x], here = old[top * n + x];
    for (int y = top; y < min(top + 8, n); ++y) {
      const int below = old[min(y + 1, n - 1) * n + x];
      const int beside = min(old[y * n + max(x - 1, 0)], old[y * n + min(x + 1, n - 1)]);
      const int nearest = min(here, min(min(above, below), beside) + 1);
      changes += nearest < here;
      out[y * n + x] = nearest;
      above = here;
      here = below;
    }
  }
  changes = __syncthreads_count(changes > 0);
  if (threadIdx.x == 0 && changes > 0) atomicAdd(changed, changes);
}

// Random walks with a generator of 64 bits, until a walker leaves the lattice or has made its steps.
__global__ void walk(const unsigned char* walls, short* lengths, unsigned long long seed, int steps, int n) {
  const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  unsigned long long state = seed + i * 0x9e3779b97f4a7c15ull;
  int x = i % n, y = i / n, made = 0;
  while (made < steps && x > 0 && x < n - 1 && y > 0 && y < n - 1) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const int way = (int)(state >> 62), side = way & 1 ? 1 : -1;
    const int nx = way < 2 ? x + side : x, ny = way < 2 ? y : y + side;
    if (walls[ny * n + nx] != 2) x = nx, y = ny;
    ++made;
  }
  lengths[i] = made;
}

// A histogram of the speeds of cars, in dynamic shared memory and then in global memory.
__global__ void count_speeds(const Car* cars, int* histogram, float width, int count) {
  extern __shared__ int bins[];
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[min((int)(cars[i].speed / width), kBins - 1)], 1);
  __syncthreads();
  if (threadIdx.x < kBins && bins[threadIdx.x] > 0) atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

// Steps of a sort by odd-even transposition: two keys for each thread in shared memory.
__global__ void odd_even_steps(const int* keys, int* sorted, int steps, int count) {
  __shared__ int held[kSorted];
  const int base = blockIdx.x * kSorted;
  for (int k = threadIdx.x; k < kSorted; k += blockDim.x) held[k] = keys[min(base + k, count - 1)];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int left = 2 * threadIdx.x + step % 2;
    if (left + 1 < kSorted) {
      const int a = held[left], b = held[left + 1];
      if (a > b) held[left] = b, held[left + 1] = a;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < kSorted && base + k < count; k += blockDim.x) sorted[base + k] = held[k];
}

void run(int n) {
  const int agents = n * n, cells = n / 2, lots = ceil_div(agents, 32) * kItems;
  const dim3 strips(ceil_div(n, 128), ceil_div(n, 8));
  std::vector<float2> places(agents);
  const auto start = [=](int c) { return c == 0 ? 0 : c == cells * cells ? agents : 4 * c + c * 7 % 3; };
  const auto agent = [=](int slot) { return static_cast<int>(slot * 7919ll % agents); };
  for (int c = 0; c < cells * cells; ++c)
    for (int k = start(c); k < start(c + 1); ++k)
      places[agent(k)] = {c % cells + hashed_unit(k), c / cells + hashed_unit(~k)};
  Car* cars = device_array<Car>(agents, [n](int i) {
    return Car{20 * (i % n) + 5 * hashed_unit(i), 5 + 20 * hashed_unit(~i), 25.0f + i % 9, 1.2f};
  });
  float4* birds = device_array<float4>(agents, [](int i) {
    return float4{3 * hashed_unit(i), 3 * hashed_unit(~i), i % 7 * 0.1f, i % 5 * 0.1f};
  });
  float2* positions = device_array<float2>(agents, [&](int i) { return places[i]; });
  int *starts = device_array<int>(cells * cells + 1, start), *order = device_array<int>(agents, agent);
  float4* moved = device_zeros<float4>(agents);
  unsigned char* walls = device_array<unsigned char>(agents, [](int i) { return i * 2654435761u >> 30; });
  unsigned short* distances = device_array<unsigned short>(agents, [](int i) { return i * 31 % 9000; });
  float *values = device_floats(kItems * agents), *prices = device_floats(lots);
  unsigned long long* bids = device_zeros<unsigned long long>(lots);
  int* counts = device_zeros<int>(kBins);
  for (int r = 0; r < kLaunches; ++r)
    drive_rings<<<dim3(ceil_div(n, 96), n), 96>>>(cars, (Car*)moved, 20.0f * n, 0.2f, n);
  for (int r = 0; r < kLaunches; ++r)
    social_forces<<<ceil_div(agents, 128), 128>>>(positions, starts, order, (float2*)moved, cells, agents);
  for (int r = 0; r < kLaunches; ++r)
    flock_together<<<ceil_div(agents, 256), 256>>>(birds, (float2*)moved, agents);
  for (int r = 0; r < kLaunches; ++r)
    bid_for_items<<<ceil_div(agents, 384), 384>>>(values, prices, bids, agents);
  for (int r = 0; r < kLaunches; ++r)
    relax_distances<<<strips, 128>>>(distances, (unsigned short*)moved, counts, n);
  for (int r = 0; r < kLaunches; ++r) walk<<<strips, 1024>>>(walls, (short*)moved, 12345, 100, n);
  for (int r = 0; r < kLaunches; ++r)
    count_speeds<<<264, 512, kBins * sizeof(int)>>>(cars, counts, 0.3f, agents);
  for (int r = 0; r < kLaunches; ++r)
    odd_even_steps<<<ceil_div(agents, kSorted), kSorted / 2>>>(order, (int*)moved, 200, agents);
  free_all(cars, birds, positions, starts, order, moved, walls, distances, values, prices, bids, counts);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("traffic_agents");
}
