// An epidemic in n regions with 200 people each: compartments with mobility between regions, and single
// people.
#include "device.h"

constexpr int kAges = 16;
constexpr int kPeople = 200;
enum State : unsigned char { kSusceptible, kExposed, kInfectious, kRecovered };

// Random numbers that follow from a counter and a key alone: the Philox generator with ten rounds.
__device__ inline uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
    const unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

__device__ inline float uniform(unsigned bits) {
  return ((bits >> 8) + 0.5f) / 16777216.0f;
}

// The force of infection in each region: the row of the mobility matrix times the shares of infectious
// people, with a warp for each row.
__global__ void region_forces(const float* __restrict__ mobility, const float* __restrict__ shares,
                              float* __restrict__ forces, float rate, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int c = lane; c < n; c += 32) sum += mobility[row * n + c] * shares[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) forces[row] = rate * sum;
}

// Cases that travellers bring to each region: column sums of the mobility matrix, a strip of rows for each
// block.
__global__ void imported_cases(const float* mobility, const float* cases, double* imported, int strip,
                               int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  const int last = min((int)(blockIdx.y + 1) * strip, n);
  double sum = 0;
  for (int row = blockIdx.y * strip; row < last; ++row)
    if (row != c) sum += (double)mobility[row * n + c] * cases[row];
  atomicAdd(&imported[c], sum);
}

// Four compartments of each region under many scenarios, by the Runge-Kutta rule of fourth order.
__global__ void seir_scenarios(const double* __restrict__ start, const double* __restrict__ rates,
                               double* __restrict__ end, double latent, double healing, double step,
                               int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double rate = rates[blockIdx.y];
  double y[4];
  for (int k = 0; k < 4; ++k) y[k] = start[k * n + i];
  const double people = y[0] + y[1] + y[2] + y[3];
  for (int s = 0; s < steps; ++s) {
    double at[4] = {y[0], y[1], y[2], y[3]}, sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (int stage = 0; stage < 4; ++stage) {
      const double infected = rate * at[0] * at[2] / people;
      const double slope[4] = {-infected, infected - latent * at[1], latent * at[1] - healing * at[2],
                               healing * at[2]};
      const double weight = stage == 0 || stage == 3 ? step / 6 : step / 3,
                   ahead = stage == 2 ? step : step / 2;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        sum[k] += weight * slope[k];
        at[k] = y[k] + ahead * slope[k];
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) y[k] += sum[k];
  }
  for (int k = 0; k < 4; ++k) end[((size_t)blockIdx.y * 4 + k) * n + i] = y[k];
}

// New infections in each age group of each region: the contact matrix between the groups, with sixteen
// regions and sixteen groups in a block.
__global__ void age_forces(const float* infectious, const float* susceptible, const float* people,
                           const float* contacts, float* infections, float rate, int n) {
  __shared__ float matrix[kAges][kAges + 1];
  __shared__ float shares[16][kAges];
  const int age = threadIdx.x, region = blockIdx.x * 16 + threadIdx.y, i = region * kAges + age;
  matrix[threadIdx.y][age] = contacts[threadIdx.y * kAges + age];
  shares[threadIdx.y][age] = region < n ? infectious[i] / people[i] : 0.0f;
  __syncthreads();
  if (region >= n) return;
  float force = 0;
  for (int k = 0; k < kAges; ++k) force += matrix[age][k] * shares[threadIdx.y][k];
  infections[i] = susceptible[i] * (1 - expf(-rate * force));
}

// A day in the course of each person: those exposed become infectious and those infectious recover when their
// time is up, and the length of the next stage is drawn.
__global__ void update_people(unsigned char* states, short* days, unsigned* recovered, unsigned day,
                              unsigned seed, int people) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < people; i += gridDim.x * blockDim.x) {
    const unsigned char state = states[i];
    if (state != kExposed && state != kInfectious) continue;
    const short left = days[i];
    if (left > 0) {
      days[i] = left - 1;
    } else if (state == kExposed) {
      const uint4 draw = philox(make_uint4(i, day, 0, 0), make_uint2(seed, 1));
      states[i] = kInfectious;
      days[i] = (short)(2 - 4 * __logf(uniform(draw.x)) + 2 * uniform(draw.y));
    } else {
      states[i] = kRecovered;
      atomicAdd(&recovered[i / kPeople], 1u);
    }
  }
}

// Each susceptible person is infected with a chance that follows from the force in the region of the day's
// visit.
__global__ void infect_people(unsigned char* states, short* days, const int* visited, const float* forces,
                              int* infections, unsigned day, unsigned seed, int people) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= people || states[i] != kSusceptible) return;
  const int region = visited[i];
  const uint4 draw = philox(make_uint4(i, day, 0, 0), make_uint2(seed, 2));
  if (uniform(draw.x) >= 1 - expf(-forces[region])) return;
  states[i] = kExposed;
  days[i] = (short)(1 + draw.y % 5);
  atomicAdd(&infections[region], 1);
}

// How many of each person's contacts are infectious; the lists of contacts are of many lengths.
__global__ void infectious_contacts(const unsigned char* __restrict__ states, const int* __restrict__ firsts,
                                    const int* __restrict__ contacts, const float* __restrict__ weights,
                                    float* __restrict__ exposure, int people) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= people) return;
  const int last = firsts[i + 1];
  float sum = 0;
  for (int k = firsts[i]; k < last; ++k)
    if (states[contacts[k]] == kInfectious) sum += weights[k];
  exposure[i] = sum;
}

// The people of each region by age group and state: a block for each region, which counts in shared memory.
__global__ void count_by_age(const unsigned char* states, const unsigned char* ages, int* table, int each) {
  __shared__ int counts[kAges * 4];
  if (threadIdx.x < kAges * 4) counts[threadIdx.x] = 0;
  __syncthreads();
  const int first = blockIdx.x * each;
  for (int k = threadIdx.x; k < each; k += blockDim.x)
    atomicAdd(&counts[ages[first + k] * 4 + states[first + k]], 1);
  __syncthreads();
  if (threadIdx.x < kAges * 4) table[blockIdx.x * kAges * 4 + threadIdx.x] = counts[threadIdx.x];
}

// A Poisson draw with a mean: by inversion if it is small, else by the normal distribution, and at most
// `most`.
__device__ int poisson(float mean, unsigned a, unsigned b, int most) {
  if (mean < 12) {
    float term = expf(-mean), left = uniform(a) - term;
    int k = 0;
    while (left > 0 && k < most && term > 1e-10f) {
      ++k;
      term *= mean / k;
      left -= term;
    }
    return k;
  }
  const float normal = sqrtf(-2 * logf(uniform(a))) * cospif(2 * uniform(b));
  return min(max((int)rintf(mean + sqrtf(mean) * normal), 0), most);
}

// Chance in whole numbers: 32 replicas of each region leap through time, with the events of a step drawn at
// once.
__global__ void tau_leaps(const int4* start, int4* end, int* peaks, float rate, float latent, float healing,
                          float tau, int steps, unsigned seed, int n) {
  const int region = blockIdx.x * blockDim.y + threadIdx.y, i = region * 32 + threadIdx.x;
  if (region >= n) return;
  int4 y = start[region];
  const float share = rate * tau / (y.x + y.y + y.z + y.w);
  int peak = y.z;
  for (int s = 0; s < steps; ++s) {
    const uint4 draw = philox(make_uint4(i, s, 0, 0), make_uint2(seed, 3));
    const uint4 more = philox(make_uint4(i, s, 1, 0), make_uint2(seed, 3));
    const int exposed = poisson(share * y.x * y.z, draw.x, draw.y, y.x);
    const int fallen_ill = poisson(latent * tau * y.y, draw.z, draw.w, y.y);
    const int healed = poisson(healing * tau * y.z, more.x, more.y, y.z);
    y.x -= exposed;
    y.y += exposed - fallen_ill;
    y.z += fallen_ill - healed;
    y.w += healed;
    peak = max(peak, y.z);
  }
  end[i] = y;
  peaks[i] = peak;
}

// The quartiles of the 32 replicas of each region, which a warp sorts among its lanes.
__global__ void replica_quartiles(const int* values, float4* out, int n) {
  const int region = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (region >= n) return;
  int own = values[region * 32 + lane];
#pragma unroll
  for (int size = 2; size <= 32; size *= 2)
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(0xffffffffu, own, step);
      const bool up = (lane & size) == 0, first = (lane & step) == 0;
      own = up == first ? min(own, other) : max(own, other);
    }
  const int low = __shfl_sync(0xffffffffu, own, 8), middle = __shfl_sync(0xffffffffu, own, 16),
            high = __shfl_sync(0xffffffffu, own, 24);
  if (lane == 31) out[region] = make_float4(low, middle, high, own);
}

void run(int n) {
  const int people = kPeople * n, scenarios = 24, strip = 128;
  float* mobility =
      device_array<float>(n * n, [n](int i) { return i / n == i % n ? 0.8f : 0.4f * hashed_unit(i) / n; });
  float* shares = device_array<float>(n, [](int i) { return 0.1f * hashed_unit(3 * i); });
  float* forces = device_array<float>(n, [](int i) { return 0.05f * hashed_unit(5 * i); });
  double* imported = device_zeros<double>(n);
  double* start = device_array<double>(4 * n, [n](int i) {
    return i < n ? 950.0 : i < 2 * n ? 30 * hashed_unit(i) : i < 3 * n ? 20.0 : 0.0;
  });
  double* rates = device_array<double>(scenarios, [](int s) { return 0.2 + 0.02 * s; });
  double* end = device_zeros<double>(scenarios * 4 * n);
  float* infectious = device_array<float>(kAges * n, [](int i) { return 9 * hashed_unit(i); });
  float* susceptible = device_array<float>(kAges * n, [](int i) { return 100 + 90 * hashed_unit(i); });
  float* groups = device_array<float>(kAges * n, [](int i) { return 200 + 50 * hashed_unit(7 * i); });
  float* matrix = device_array<float>(
      kAges * kAges, [](int i) { return i / kAges == i % kAges ? 6.0f : 2.0f / (1 + i % 5); });
  float* infections = device_zeros<float>(kAges * n);
  unsigned char* states = device_array<unsigned char>(people, [](int i) {
    const float part = hashed_unit(i);
    return static_cast<unsigned char>(part < 0.6f    ? kSusceptible
                                      : part < 0.7f  ? kExposed
                                      : part < 0.85f ? kInfectious
                                                     : kRecovered);
  });
  short* days =
      device_array<short>(people, [](int i) { return static_cast<short>(8 * hashed_unit(3 * i + 1)); });
  unsigned char* ages = device_array<unsigned char>(
      people, [](int i) { return static_cast<unsigned char>(kAges * hashed_unit(5 * i + 2)); });
  // Most stay in their region, the others go to any.
  int* visited = device_array<int>(people, [n](int i) {
    return hashed_unit(i + 9) < 0.8f ? i / kPeople : static_cast<int>(n * hashed_unit(7 * i + 5));
  });
  int* new_cases = device_zeros<int>(n);
  unsigned* recovered = device_zeros<unsigned>(n);
  std::vector<int> ends(people + 1, 0);
  for (int i = 0; i < people; ++i) ends[i + 1] = ends[i] + 4 + static_cast<int>(20 * hashed_unit(11 * i + 1));
  int* firsts = device_array<int>(people + 1, [&ends](int i) { return ends[i]; });
  int* contacts = device_array<int>(ends[people], [people](int k) {
    const int near = k / 14 + static_cast<int>(kPeople * hashed_unit(k));
    return hashed_unit(3 * k + 7) < 0.7f ? near % people : static_cast<int>(hashed_unit(9 * k) * people) % people;
  });
  float* weights = device_floats(ends[people]);
  float* exposure = device_zeros<float>(people);
  int* table = device_zeros<int>(kAges * 4 * n);
  int4* counts = device_array<int4>(n, [](int i) {
    const int ill = 1 + static_cast<int>(60 * hashed_unit(i));
    return make_int4(2000 + i % 501, ill / 2, ill, 0);
  });
  int4* leapt = device_zeros<int4>(32 * n);
  int* peaks = device_zeros<int>(32 * n);
  float4* quartiles = device_zeros<float4>(n);
  for (int r = 0; r < kLaunches; ++r)
    region_forces<<<ceil_div(n, 8), 256>>>(mobility, shares, forces, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    imported_cases<<<dim3(ceil_div(n, 96), ceil_div(n, strip)), 96>>>(mobility, shares, imported, strip, n);
  for (int r = 0; r < kLaunches; ++r)
    seir_scenarios<<<dim3(ceil_div(n, 128), scenarios), 128>>>(start, rates, end, 0.2, 0.1, 0.25, 40, n);
  for (int r = 0; r < kLaunches; ++r)
    age_forces<<<ceil_div(n, 16), dim3(kAges, 16)>>>(infectious, susceptible, groups, matrix, infections,
                                                     0.05f, n);
  for (int r = 0; r < kLaunches; ++r)
    infectious_contacts<<<ceil_div(people, 320), 320>>>(states, firsts, contacts, weights, exposure, people);
  for (int r = 0; r < kLaunches; ++r)
    infect_people<<<ceil_div(people, 256), 256>>>(states, days, visited, forces, new_cases, r, 17u, people);
  for (int r = 0; r < kLaunches; ++r)
    update_people<<<min(ceil_div(people, 512), 528), 512>>>(states, days, recovered, r, 17u, people);
  for (int r = 0; r < kLaunches; ++r) count_by_age<<<n, 64>>>(states, ages, table, kPeople);
  for (int r = 0; r < kLaunches; ++r)
    tau_leaps<<<ceil_div(n, 4), dim3(32, 4)>>>(counts, leapt, peaks, 0.4f, 0.2f, 0.12f, 0.25f, 24, 5u, n);
  for (int r = 0; r < kLaunches; ++r) replica_quartiles<<<ceil_div(n, 32), 1024>>>(peaks, quartiles, n);
  free_all(mobility, shares, forces, imported, start, rates, end, infectious, susceptible, groups, matrix,
           infections, states, days, ages, visited, new_cases, recovered, firsts, contacts, weights, exposure,
           table, counts, leapt, peaks, quartiles);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("epidemics");
}
