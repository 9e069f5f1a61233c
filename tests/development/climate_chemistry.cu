// Chemistry, transport and surfaces of a climate on n (8, 16, ...) latitudes, 2 n longitudes and 32 levels.
#include "device.h"

constexpr int kLevels = 32, kBins = 12, kSpecies = 4, kAngles = 64, kOzones = 32;

struct Rates { float no_o3, photo, ho2_no, ho2_ho2, source; };
struct Soil { float temperature, moisture, dust; int type; };
__constant__ float kConductivity[7] = {0.3f, 0.9f, 1.4f, 0.6f, 2.2f, 1.1f, 0.8f};

// What four reactions make of ozone, NO, NO2 and HO2.
__device__ void tendencies(const float* y, const Rates& k, float* f) {
  const float r0 = k.no_o3 * y[1] * y[0], r1 = k.photo * y[2], r2 = k.ho2_no * y[3] * y[1];
  f[1] = (f[0] = r1 - r0) - r2;
  f[2] = r0 + r2 - r1;
  f[3] = k.source - r2 - 2 * k.ho2_ho2 * y[3] * y[3];
}

// Rosenbrock steps in a cell: a matrix of four by four is eliminated in private arrays.
__global__ void rosenbrock(const float* __restrict__ in, float* out, Rates k, float h, int steps, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float y[kSpecies], f[kSpecies];
  for (int s = 0; s < kSpecies; ++s) y[s] = in[s * cells + i];
  for (int step = 0; step < steps; ++step) {
    const float a = h * k.no_o3 * y[1], b = h * k.no_o3 * y[0], c = h * k.ho2_no * y[3], p = h * k.photo;
    const float d = h * k.ho2_no * y[1], e = h * 4 * k.ho2_ho2 * y[3];
    float m[kSpecies][kSpecies] = {
        {1 + a, b, -p, 0}, {a, 1 + b + c, -p, d}, {-a, -b - c, 1 + p, -d}, {0, c, 0, 1 + d + e}};
    tendencies(y, k, f);
    for (int col = 0; col < kSpecies; ++col)
#pragma unroll
      for (int row = col + 1; row < kSpecies; ++row) {
        const float ratio = m[row][col] / m[col][col];
        f[row] -= ratio * f[col];
        for (int j = col + 1; j < kSpecies; ++j) m[row][j] -= ratio * m[col][j];
      }
    for (int row = kSpecies - 1; row >= 0; --row) {
      for (int j = row + 1; j < kSpecies; ++j) f[row] -= m[row][j] * f[j];
      f[row] /= m[row][row];
      y[row] = fmaxf(y[row] + h * f[row], 0.0f);
    }
  }
  for (int s = 0; s < kSpecies; ++s) out[s * cells + i] = y[s];
}

// Rates of photolysis from a table of the sun's angle and of the ozone above, between four entries.
__global__ void photolysis(const float* ozone, const float* table, float* rates, float hour, int nx, int ny) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nx * ny; i += gridDim.x * blockDim.x) {
    const float latitude = 3.1415927f * ((i / nx + 0.5f) / ny - 0.5f), turn = 6.2831853f * (i % nx) / nx;
    const float sun = cosf(latitude) * cosf(turn + hour), angle = fmaxf(sun, 0.0f) * (kAngles - 1.001f);
    const int a = (int)angle;
    float above = 0;
    for (int level = 0; level < kLevels; ++level) {
      above += ozone[level * nx * ny + i];
      const float place = fminf(above, kOzones - 1.001f);
      const int o = (int)place;
      const float* t = table + a * kOzones + o;
      const float low = t[0] + (place - o) * (t[1] - t[0]);
      const float high = t[kOzones] + (place - o) * (t[kOzones + 1] - t[kOzones]);
      rates[level * nx * ny + i] = sun > 0 ? low + (angle - a) * (high - low) : 0.0f;
    }
  }
}

__device__ float limited(float before, float after) {  // van Leer's slope from those to both sides
  return before * after > 0 ? 2 * before * after / (before + after) : 0.0f;
}
__device__ float flux(float a, float b, float c, float d, float courant) {  // from b to c
  if (courant >= 0) return courant * (b + 0.5f * (1 - courant) * limited(b - a, c - b));
  return courant * (c - 0.5f * (1 + courant) * limited(c - b, d - c));
}

// Advection with a limiter along a circle of latitude (around the globe) or along a meridian (to its ends).
template <bool kMeridian>
__global__ void advect(const float* tracer, const float* wind, float* out, float scale, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const float* level = tracer + blockIdx.z * nx * ny;
  float q[5];
#pragma unroll
  for (int k = 0; k < 5; ++k)
    q[k] = kMeridian ? level[min(max(y + k - 2, 0), ny - 1) * nx + x] : level[y * nx + (x + k - 2 + nx) % nx];
  const float here = scale * (wind[y * nx + x] - 0.5f);
  const float after = scale * (wind[kMeridian ? min(y + 1, ny - 1) * nx + x : y * nx + (x + 1) % nx] - 0.5f);
  out[(blockIdx.z * ny + y) * nx + x] =
      q[2] + flux(q[0], q[1], q[2], q[3], here) - flux(q[1], q[2], q[3], q[4], after);
}

// Filters near both poles: a block smooths a circle of latitude, more often nearer to the pole.
__global__ void polar_filter(const float* field, float* out, int polar, int nx, int ny) {
  extern __shared__ float circle[];
  const int north = blockIdx.x < polar, steps = polar - blockIdx.x % polar;
  const int row = blockIdx.y * ny + (north ? blockIdx.x : ny - 1 - (blockIdx.x - polar));
  for (int x = threadIdx.x; x < nx; x += blockDim.x) circle[x] = field[row * nx + x];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const float* now = circle + step % 2 * nx;
    float* next = circle + (step + 1) % 2 * nx;
    for (int x = threadIdx.x; x < nx; x += blockDim.x)
      next[x] = 0.5f * now[x] + 0.25f * (now[x > 0 ? x - 1 : nx - 1] + now[x < nx - 1 ? x + 1 : 0]);
    __syncthreads();
  }
  for (int x = threadIdx.x; x < nx; x += blockDim.x) out[row * nx + x] = circle[steps % 2 * nx + x];
}

// Sunlight down a column, and the heat that each level keeps of it.
__global__ void radiate(const float* water, float* heating, float* ground, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= columns) return;
  double depth = 0, above = 1360;
  for (int level = 0; level < kLevels; ++level) {
    depth += 0.05 + 0.1 * water[level * columns + i];
    const double below = 1360 * exp(-depth);
    heating[level * columns + i] = static_cast<float>(above - below);
    above = below;
  }
  ground[i] = __expf(-static_cast<float>(depth));
}

// The surface by its type: water, ice, desert with gusts that lift dust, or soil with a balance of energy.
__global__ void surface(const Soil* soils, Soil* out, unsigned seed, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= columns) return;
  Soil s = soils[i];
  if (s.type < 2) {
    s.temperature += (s.type == 0 ? 0.01f : 0.05f) * (280 - s.temperature);
  } else if (s.type == 2) {
    unsigned state = (seed + i) * 747796405u + 2891336453u;
    for (int gust = 0; gust < 8; ++gust) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      const float u = 0.1f + sqrtf(-logf((state >> 8) * 5.9604645e-8f + 1e-7f)), ratio = 0.6f / u;
      if (ratio < 1) s.dust += 0.001f * powf(u, 3.0f) * (1 + ratio) * (1 - ratio * ratio);
    }
  } else {
    float t = s.temperature, error = 1;
    for (int k = 0; k < 20 && fabsf(error) > 1e-3f; ++k) {
      error = 300 - 5.67e-8f * t * t * t * t - kConductivity[s.type] * (t - s.temperature);
      t += error / (4 * 5.67e-8f * t * t * t + kConductivity[s.type]);
    }
    s.temperature = t;
  }
  out[i] = s;
}

// Rain runs down from each cell to its receiver, and so on, until it is in the ground or in the sea.
__global__ void route_rivers(const int* receivers, const float* rain, float* mouths, int columns) {
  int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= columns) return;
  float water = rain[cell];
  while (receivers[cell] != cell && water > 0.02f) {
    cell = receivers[cell];
    water -= 0.01f + 0.02f * water;
  }
  atomicAdd(&mouths[cell], water);
}

// Aerosol bins in a private array: growth moves them by a number of bins that differs, then pairs coagulate.
__global__ void aerosols(const float* numbers, const float* __restrict__ vapour, float* out, int cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cells) return;
  float bins[kBins] = {};
  const int shift = static_cast<int>(3 * vapour[i]);
  for (int b = 0; b < kBins; ++b) bins[min(kBins - 1, b + shift)] += numbers[b * cells + i];
  for (int b = 1; b < kBins; ++b)
    for (int c = 0; c < b; ++c) {
      const float pairs = 1e-3f * (1 + 0.1f * (b - c) * (b - c)) * bins[b] * bins[c];
      bins[c] -= pairs;
      bins[b] += 0.5f * pairs;
    }
  for (int b = 0; b < kBins; ++b) out[b * cells + i] = bins[b];
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int nx = 2 * n, columns = nx * n, polar = n / 6;
  const Rates rates = {0.8f, 0.5f, 1.2f, 0.3f, 0.01f};
  float *field = device_floats(kLevels * columns), *out = device_zeros<float>(kLevels * columns);
  float *wind = device_array<float>(columns, [](int i) { return hashed_unit(i / 4); });
  float *table = device_floats(kAngles * kOzones), *ground = device_zeros<float>(columns);
  int* receivers = device_array<int>(columns, [nx, columns](int i) {
    return std::min(i + nx * (i % 3 > 0) + i / 7 % 3, columns - 1); });
  Soil* soils = device_array<Soil>(columns, [](int i) { return Soil{260.0f + i % 50, 0.3f, 0, i / 13 % 7}; });
  Soil* after = device_zeros<Soil>(columns);
  REPEAT rosenbrock<<<ceil_div(8 * columns, 128), 128>>>(field, out, rates, 0.1f, 4, 8 * columns);
  REPEAT photolysis<<<ceil_div(columns, 512), 256>>>(field, table, out, 0.7f, nx, n);
  REPEAT advect<false><<<dim3(ceil_div(nx, 96), n, kLevels), 96>>>(field, wind, out, 0.8f, nx, n);
  REPEAT advect<true><<<dim3(nx / 16, n / 8, kLevels), dim3(16, 8)>>>(field, wind, out, 0.5f, nx, n);
  REPEAT polar_filter<<<dim3(2 * polar, kLevels), 256, 2 * nx * sizeof(float)>>>(field, out, polar, nx, n);
  REPEAT radiate<<<ceil_div(columns, 96), 96>>>(field, out, ground, columns);
  REPEAT surface<<<ceil_div(columns, 192), 192>>>(soils, after, 2024, columns);
  REPEAT route_rivers<<<ceil_div(columns, 256), 256>>>(receivers, wind, ground, columns);
  REPEAT aerosols<<<ceil_div(2 * columns, 64), 64>>>(field, wind, out, columns);
  free_all(field, out, wind, table, ground, receivers, soils, after);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("climate_chemistry");
}
