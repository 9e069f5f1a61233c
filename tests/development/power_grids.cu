// A power grid of n buses with three lines for every two of them: load flow, outages of lines, and loads over
// a day.
#include "device.h"

constexpr int kTimes = 96;
constexpr int kBlock = 24;

struct Line {
  int from, to;
  float conductance, susceptance, charging, tap;
};

struct Load {
  float peak, share, warmth;
  int type;
};

__device__ inline double2 times(double2 a, double2 b) {
  return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// The power that goes into the grid at each bus: the voltage times the conjugate of its row of the admittance
// matrix times all voltages, with rows of one width, column after column.
__global__ void bus_powers(const double2* __restrict__ admittances, const int* __restrict__ columns,
                           const double2* __restrict__ voltages, double2* __restrict__ powers, int width,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double2 current = make_double2(0, 0);
  for (int k = 0; k < width; ++k) {
    const int column = columns[k * n + i];
    if (column < 0) break;
    const double2 part = times(admittances[k * n + i], voltages[column]);
    current.x += part.x;
    current.y += part.y;
  }
  powers[i] = times(voltages[i], make_double2(current.x, -current.y));
}

// The currents into all buses from rows of many lengths, in single precision: eight lanes for each row.
__global__ void bus_currents(const int* firsts, const int* columns, const float2* admittances,
                             const float2* voltages, float2* currents, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 8, lane = t % 8;
  float2 sum = make_float2(0, 0);
  if (row < n) {
    const int last = firsts[row + 1];
    for (int k = firsts[row] + lane; k < last; k += 8) {
      const float2 y = admittances[k], v = voltages[columns[k]];
      sum.x += y.x * v.x - y.y * v.y;
      sum.y += y.x * v.y + y.y * v.x;
    }
  }
  for (int step = 4; step > 0; step /= 2) {
    sum.x += __shfl_down_sync(0xffffffffu, sum.x, step, 8);
    sum.y += __shfl_down_sync(0xffffffffu, sum.y, step, 8);
  }
  if (row < n && lane == 0) currents[row] = sum;
}

// The flow of power into both ends of each line and its loss, from magnitudes and angles of voltages.
__global__ void line_flows(const Line* lines, const double* magnitudes, const double* angles, double2* flows,
                           double* losses, int count) {
  const int l = blockIdx.x * blockDim.x + threadIdx.x;
  if (l >= count) return;
  const Line line = lines[l];
  const double tap = line.tap, g = line.conductance, b = line.susceptance, c = line.charging;
  const double u = magnitudes[line.from] / tap, v = magnitudes[line.to];
  double sine, cosine;
  sincos(angles[line.from] - angles[line.to], &sine, &cosine);
  const double p = u * u * g - u * v * (g * cosine + b * sine);
  const double q = -u * u * (b + c) - u * v * (g * sine - b * cosine);
  const double back_p = v * v * g - u * v * (g * cosine - b * sine);
  const double back_q = -v * v * (b + c) + u * v * (g * sine + b * cosine);
  flows[l] = make_double2(p, q);
  flows[count + l] = make_double2(back_p, back_q);
  losses[l] = p + back_p;
}

// Newton steps of many small grids at once: each thread solves one dense system in registers, without pivots
// as the diagonals are strong. The systems are side by side, element after element.
template <class T, int kSize>
__global__ void newton_small(const T* matrices, const T* mismatches, T* states, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  T a[kSize][kSize], b[kSize];
#pragma unroll
  for (int r = 0; r < kSize; ++r) {
    b[r] = mismatches[r * count + i];
#pragma unroll
    for (int c = 0; c < kSize; ++c) a[r][c] = matrices[(r * kSize + c) * count + i] + (r == c ? kSize : 0);
  }
#pragma unroll
  for (int k = 0; k < kSize; ++k) {
    const T inverse = 1 / a[k][k];
#pragma unroll
    for (int r = k + 1; r < kSize; ++r) {
      const T factor = a[r][k] * inverse;
#pragma unroll
      for (int c = k + 1; c < kSize; ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  }
#pragma unroll
  for (int r = kSize - 1; r >= 0; --r) {
#pragma unroll
    for (int c = r + 1; c < kSize; ++c) b[r] -= a[r][c] * b[c];
    b[r] /= a[r][r];
    states[r * count + i] -= b[r];
  }
}

// Newton steps of areas with 24 unknowns: four rows of threads reduce the matrix of an area in shared memory
// by the method of Gauss and Jordan.
__global__ void newton_areas(const double* matrices, const double* mismatches, double* states) {
  __shared__ double a[kBlock][kBlock + 1], b[kBlock], factors[kBlock];
  const int c = threadIdx.x, area = blockIdx.x;
  for (int r = threadIdx.y; r < kBlock; r += blockDim.y)
    a[r][c] = matrices[(area * kBlock + r) * kBlock + c] + (r == c ? kBlock : 0);
  if (threadIdx.y == 0) b[c] = mismatches[area * kBlock + c];
  __syncthreads();
  for (int k = 0; k < kBlock; ++k) {
    if (threadIdx.y == 0) factors[c] = c == k ? 0 : a[c][k] / a[k][k];
    __syncthreads();
    if (c > k)
      for (int r = threadIdx.y; r < kBlock; r += blockDim.y) a[r][c] -= factors[r] * a[k][c];
    if (threadIdx.y == 0 && c != k) b[c] -= factors[c] * b[k];
    __syncthreads();
  }
  if (threadIdx.y == 0) states[area * kBlock + c] -= b[c] / a[c][c];
}

// Load flow of radial feeders, a thread for each: currents are summed from the end to the head, then voltages
// fall from the head to the end, for some rounds.
__global__ void sweep_feeders(const float2* __restrict__ loads, const float2* __restrict__ impedances,
                              float2* voltages, float2* currents, int length, int rounds, int feeders) {
  const int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= feeders) return;
  for (int round = 0; round < rounds; ++round) {
    float2 sum = make_float2(0, 0);
    for (int k = length - 1; k >= 0; --k) {
      const float2 s = loads[k * feeders + f];
      const float2 v = round == 0 ? make_float2(1, 0) : voltages[k * feeders + f];
      const float scale = 1 / (v.x * v.x + v.y * v.y);
      sum.x += (s.x * v.x + s.y * v.y) * scale;
      sum.y += (s.x * v.y - s.y * v.x) * scale;
      currents[k * feeders + f] = sum;
    }
    float2 v = make_float2(1, 0);
    for (int k = 0; k < length; ++k) {
      const float2 z = impedances[k * feeders + f], current = currents[k * feeders + f];
      v.x -= z.x * current.x - z.y * current.y;
      v.y -= z.x * current.y + z.y * current.x;
      voltages[k * feeders + f] = v;
    }
  }
}

// The outages of single lines, a block for each: the flows of all others after it, how many are overloaded,
// by how much in sum, and which is worst.
__global__ void screen_outages(const float* __restrict__ factors, const float* __restrict__ flows,
                               const float* __restrict__ limits, const int* __restrict__ outages,
                               int* overloaded, int* worst, int lines) {
  __shared__ float tops[8];
  __shared__ int counts[8], places[8];
  const int out = outages[blockIdx.x];
  const float lost = flows[out];
  const float* row = factors + (size_t)blockIdx.x * lines;
  float top = 0;
  int count = 0, place = -1;
  for (int l = threadIdx.x; l < lines; l += blockDim.x) {
    if (l == out) continue;
    const float loading = fabsf(flows[l] + row[l] * lost) / limits[l];
    if (loading > 1) ++count;
    if (loading > top) {
      top = loading;
      place = l;
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    count += __shfl_down_sync(0xffffffffu, count, step);
    const float other = __shfl_down_sync(0xffffffffu, top, step);
    const int other_place = __shfl_down_sync(0xffffffffu, place, step);
    if (other > top) {
      top = other;
      place = other_place;
    }
  }
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    counts[warp] = count;
    tops[warp] = top;
    places[warp] = place;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < (int)blockDim.x / 32; ++w) {
    count += counts[w];
    if (tops[w] > top) {
      top = tops[w];
      place = places[w];
    }
  }
  overloaded[blockIdx.x] = count;
  worst[blockIdx.x] = place;
}

// The load of each customer in each quarter of an hour: a thread for each time, some customers for each
// block.
__global__ void load_profiles(const Load* loads, const float* shapes, const float* temperatures,
                              float* profiles, int n) {
  const int t = threadIdx.x;
  const float cold = fmaxf(18 - temperatures[t], 0.0f);
  for (int i = blockIdx.x; i < n; i += gridDim.x) {
    const Load load = loads[i];
    const float base = load.peak * (load.share + (1 - load.share) * shapes[load.type * kTimes + t]);
    profiles[i * kTimes + t] = base * (1 + load.warmth * cold);
  }
}

void run(int n) {
  const int width = 7, count = n + n / 2, outages = n < 1000 ? 48 : 256, areas = n / kBlock, length = 24;
  const int feeders = n / length;
  // Each bus is joined to two to six others, most of them close by.
  const auto degree = [](int i) { return 2 + i % 5 * 3 % 5; };
  const auto neighbour = [n](int i, int k) {
    return k < 4 ? (i + (k % 2 ? 1 : -1) * (1 + k / 2 * 37) + n) % n : (int)(hashed_unit(7 * i + k) * n) % n;
  };
  std::vector<int> ends(n + 1, 0), row_of;
  for (int i = 0; i < n; ++i) ends[i + 1] = ends[i] + 1 + degree(i);
  for (int i = 0; i < n; ++i) row_of.insert(row_of.end(), 1 + degree(i), i);
  int* ell_columns = device_array<int>(width * n, [&](int at) {
    const int k = at / n, i = at % n;
    return k == 0 ? i : k <= degree(i) ? neighbour(i, k - 1) : -1;
  });
  double2* ell_values = device_array<double2>(width * n, [n](int at) {
    return at < n ? make_double2(9, -40) : make_double2(-1 - hashed_unit(at), 5 + 3 * hashed_unit(at + 1));
  });
  int* firsts = device_array<int>(n + 1, [&](int i) { return ends[i]; });
  int* columns = device_array<int>(ends[n], [&](int at) {
    const int i = row_of[at], k = at - ends[i];
    return k == 0 ? i : neighbour(i, k - 1);
  });
  float2* values = device_array<float2>(ends[n], [&](int at) {
    return at == ends[row_of[at]] ? make_float2(9, -40)
                                  : make_float2(-1 - hashed_unit(at), 5 + hashed_unit(at + 1));
  });
  double2* voltages = device_array<double2>(
      n, [](int i) { return make_double2(0.95 + 0.1 * hashed_unit(i), 0.2 * hashed_unit(3 * i) - 0.1); });
  float2* voltages_f =
      device_array<float2>(n, [](int i) { return make_float2(0.95f + 0.1f * hashed_unit(i), 0); });
  double2* powers = device_zeros<double2>(n);
  float2* currents = device_zeros<float2>(n);
  double* magnitudes = device_array<double>(n, [](int i) { return 0.95 + 0.1 * hashed_unit(i); });
  double* angles = device_array<double>(n, [](int i) { return 0.3 * hashed_unit(5 * i + 1); });
  Line* lines = device_array<Line>(count, [&](int l) {
    const int from = l % n, to = neighbour(from, l / n * 4 + l % 3);
    return Line{from, to, 1 + hashed_unit(l), -5 - hashed_unit(l + 3), 0.02f, l % 9 ? 1 : 0.98f};
  });
  double2* line_powers = device_zeros<double2>(2 * count);
  double* losses = device_zeros<double>(count);
  double* small = device_doubles(36 * n);
  double* mismatches = device_doubles(6 * n);
  double* states = device_zeros<double>(6 * n);
  float* small_f = device_floats(16 * n);
  float* mismatches_f = device_floats(4 * n);
  float* states_f = device_zeros<float>(4 * n);
  float2* loads = device_array<float2>(
      n, [](int i) { return make_float2(0.003f * hashed_unit(i), 0.001f * hashed_unit(i + 5)); });
  float2* impedances =
      device_array<float2>(n, [](int i) { return make_float2(0.004f, 0.008f * hashed_unit(i)); });
  float2* feeder_voltages = device_zeros<float2>(n);
  float* factors = device_array<float>(outages * count, [](int i) { return 0.2f * hashed_unit(i) - 0.1f; });
  float* flows = device_array<float>(count, [](int l) { return 2 * hashed_unit(l) - 1; });
  float* limits = device_array<float>(count, [](int l) { return 0.9f + 0.5f * hashed_unit(3 * l); });
  int* out = device_array<int>(outages, [=](int i) { return (int)(hashed_unit(i) * count) % count; });
  int* overloaded = device_zeros<int>(outages);
  int* worst = device_zeros<int>(outages);
  Load* customers = device_array<Load>(n, [](int i) {
    return Load{1 + 9 * hashed_unit(i), 0.3f * hashed_unit(i + 1), 0.02f * hashed_unit(i + 2), i % 11 * 5 % 12};
  });
  float* shapes = device_floats(12 * kTimes);
  float* temperatures = device_array<float>(kTimes, [](int t) { return 20 - 0.004f * (t - 56) * (t - 56); });
  float* profiles = device_zeros<float>(n * kTimes);
  for (int r = 0; r < kLaunches; ++r)
    bus_powers<<<ceil_div(n, 128), 128>>>(ell_values, ell_columns, voltages, powers, width, n);
  for (int r = 0; r < kLaunches; ++r)
    bus_currents<<<ceil_div(n, 32), 256>>>(firsts, columns, values, voltages_f, currents, n);
  for (int r = 0; r < kLaunches; ++r)
    line_flows<<<ceil_div(count, 192), 192>>>(lines, magnitudes, angles, line_powers, losses, count);
  for (int r = 0; r < kLaunches; ++r)
    newton_small<double, 6><<<ceil_div(n, 64), 64>>>(small, mismatches, states, n);
  for (int r = 0; r < kLaunches; ++r)
    newton_small<float, 4><<<ceil_div(n, 128), 128>>>(small_f, mismatches_f, states_f, n);
  for (int r = 0; r < kLaunches; ++r) newton_areas<<<areas, dim3(kBlock, 4)>>>(small, mismatches, states);
  for (int r = 0; r < kLaunches; ++r)
    sweep_feeders<<<ceil_div(feeders, 32), 32>>>(loads, impedances, feeder_voltages, currents, length, 8,
                                                 feeders);
  for (int r = 0; r < kLaunches; ++r)
    screen_outages<<<outages, 256>>>(factors, flows, limits, out, overloaded, worst, count);
  for (int r = 0; r < kLaunches; ++r)
    load_profiles<<<min(n, 2112), kTimes>>>(customers, shapes, temperatures, profiles, n);
  free_all(ell_columns, ell_values, firsts, columns, values, voltages, voltages_f, powers, currents,
           magnitudes, angles, lines, line_powers, losses, small, mismatches, states, small_f, mismatches_f,
           states_f, loads, impedances, feeder_voltages, factors, flows, limits, out, overloaded, worst,
           customers, shapes, temperatures, profiles);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("power_grids");
}
