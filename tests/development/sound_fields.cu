// Acoustics of a room of n by n by n (32, 64, ...) cells, heard by an array of 32 microphones.
#include "device.h"

constexpr int kMics = 32, kTaps = 64, kHarmonics = 16, kBands = 6, kSinc = 8;
constexpr float kSpeed = 343.0f, kRate = 16000.0f;

struct Room { float lx, ly, lz, reflection; };
struct Biquad { float b0, b1, b2, a1, a2; };
__constant__ float kWindow[kTaps] = {0.02f, 0.03f, 0.05f, 0.08f, 0.12f, 0.17f, 0.2f, 0.22f, 0.23f, 0.22f, 0.2f, 0.17f};
__constant__ Biquad kOctaves[kBands] = {{0.02f, 0, -0.02f, -1.95f, 0.96f}, {0.04f, 0, -0.04f, -1.9f, 0.92f},
    {0.07f, 0, -0.07f, -1.78f, 0.86f}, {0.14f, 0, -0.14f, -1.5f, 0.72f}, {0.24f, 0, -0.24f, -0.8f, 0.52f},
    {0.37f, 0, -0.37f, 0.4f, 0.26f}};

// Advances the pressure of a whole room by one leapfrog step, with walls that absorb a part at each missing neighbour.
__global__ void leapfrog_room(const float* __restrict__ now, float* old, float courant2, float beta, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int i = (z * n + y) * n + x;
  const int open = (x > 0) + (x < n - 1) + (y > 0) + (y < n - 1) + (z > 0) + (z < n - 1);
  float sum = 0;
  if (x > 0) sum += now[i - 1];
  if (x < n - 1) sum += now[i + 1];
  if (y > 0) sum += now[i - n];
  if (y < n - 1) sum += now[i + n];
  if (z > 0) sum += now[i - n * n];
  if (z < n - 1) sum += now[i + n * n];
  const float loss = 0.5f * sqrtf(courant2) * (6 - open) * beta;
  old[i] = ((2 - courant2 * open) * now[i] + courant2 * sum - (1 - loss) * old[i]) / (1 + loss);
}

// Advances the same pressure tile by tile: a block climbs through the storeys with the planes around it in registers.
template <int kX, int kY>
__global__ void __launch_bounds__(kX * kY) leapfrog_tiles(const float* now, float* old, float courant2, int n) {
  __shared__ float tile[kY + 2][kX + 2];
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  const int cx = min(x, n - 1), cy = min(y, n - 1), tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int place = cy * n + cx;
  float below = 0, here = now[place];
  for (int z = 0; z < n; ++z) {
    const float* plane = now + z * n * n;
    const float above = z + 1 < n ? plane[n * n + place] : 0.0f;
    tile[ty][tx] = here;
    if (tx == 1) tile[ty][0] = plane[cy * n + max(cx - 1, 0)];
    if (tx == kX) tile[ty][kX + 1] = plane[cy * n + min(cx + 1, n - 1)];
    if (ty == 1) tile[0][tx] = plane[max(cy - 1, 0) * n + cx];
    if (ty == kY) tile[kY + 1][tx] = plane[min(cy + 1, n - 1) * n + cx];
    __syncthreads();
    if (x < n && y < n) {
      const float sum = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + below + above;
      old[z * n * n + place] = (2 - 6 * courant2) * here + courant2 * sum - old[z * n * n + place];
    }
    __syncthreads();
    below = here, here = above;
  }
}

// Updates both velocities on a staggered plane in double precision, with a sponge along its border.
__global__ void plane_velocity(const double* pressure, double* vx, double* vy, double step, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx - 1 || y >= ny - 1) return;
  const int i = y * nx + x, edge = min(min(x, nx - 1 - x), min(y, ny - 1 - y));
  const double damping = edge < 16 ? exp(-0.004 * (16 - edge) * (16 - edge)) : 1.0;
  vx[i] = damping * (vx[i] - step * (pressure[i + 1] - pressure[i]));
  vy[i] = damping * (vy[i] - step * (pressure[i + nx] - pressure[i]));
}

// Adds the echo of each image of the source to the response at a microphone, spread over eight samples by a sinc.
__global__ void image_sources(const float* mics, float* responses, Room room, int order, int samples) {
  const int side = 2 * order + 1, image = blockIdx.x * blockDim.x + threadIdx.x, mic = blockIdx.y;
  if (image >= side * side * side) return;
  const int ix = image % side - order, iy = image / side % side - order, iz = image / (side * side) - order;
  const float dx = (ix + (ix & 1 ? 0.7f : 0.3f)) * room.lx - mics[3 * mic] * room.lx;
  const float dy = (iy + (iy & 1 ? 0.6f : 0.4f)) * room.ly - mics[3 * mic + 1] * room.ly;
  const float dz = (iz + (iz & 1 ? 0.8f : 0.2f)) * room.lz - mics[3 * mic + 2] * room.lz;
  const float distance = sqrtf(dx * dx + dy * dy + dz * dz) + 0.1f, arrival = distance * kRate / kSpeed;
  const float gain = powf(room.reflection, abs(ix) + abs(iy) + abs(iz)) / (12.566371f * distance);
  const int first = (int)arrival - kSinc / 2 + 1;
  for (int t = 0; t < kSinc; ++t) {
    const int sample = first + t;
    const float u = 3.1415927f * (sample - arrival + 1e-4f);
    const float weight = sinf(u) / u * (0.5f + 0.5f * cosf(u / (kSinc / 2)));
    if (sample >= 0 && sample < samples) atomicAdd(&responses[mic * samples + sample], gain * weight);
  }
}

// Steers the array at every point of a wall: delays from the distances, samples between two neighbours, power of sums.
__global__ void steer_and_sum(const float* signals, const float* mics, float* power, int side, int samples) {
  __shared__ float place[3 * kMics];
  const int local = threadIdx.y * blockDim.x + threadIdx.x;
  if (local < 3 * kMics) place[local] = mics[local];
  __syncthreads();
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= side || py >= side) return;
  const float x = 4.0f * px / side, y = 3.0f * py / side;
  float sums[8] = {};
  for (int m = 0; m < kMics; ++m) {
    const float dx = x - place[3 * m], dy = y - place[3 * m + 1], dz = 2.0f + place[3 * m + 2];
    const float delay = fminf(sqrtf(dx * dx + dy * dy + dz * dz) * (kRate / kSpeed), samples - 16.0f);
    const int whole = (int)delay;
    const float part = delay - whole, *signal = signals + m * samples + whole;
#pragma unroll
    for (int t = 0; t < 8; ++t) sums[t] += (1 - part) * signal[t] + part * signal[t + 1];
  }
  for (int t = 1; t < 8; ++t) sums[0] += sums[t] * sums[t];
  power[py * side + px] = sums[0];
}

// Runs a bank of octave filters over many channels; a thread keeps the states of its channel's six bands.
__global__ void octave_bank(const float* signals, float* levels, int channels, int length) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float s1[kBands] = {}, s2[kBands] = {}, energy[kBands] = {};
  for (int t = 0; t < length; ++t) {
    const float in = signals[t * channels + c];
#pragma unroll
    for (int b = 0; b < kBands; ++b) {
      const float out = kOctaves[b].b0 * in + s1[b];
      s1[b] = kOctaves[b].b1 * in - kOctaves[b].a1 * out + s2[b];
      s2[b] = kOctaves[b].b2 * in - kOctaves[b].a2 * out;
      energy[b] += out * out;
    }
  }
  for (int b = 0; b < kBands; ++b) levels[b * channels + c] = 10 * log10f(energy[b] / length + 1e-12f);
}

// Convolves each row with 64 taps; a block holds its samples and those before them in shared memory.
__global__ void smooth_rows(const float* in, float* out, int length) {
  extern __shared__ float window[];
  const int row = blockIdx.y * length, start = blockIdx.x * blockDim.x;
  for (int k = threadIdx.x; k < blockDim.x + kTaps; k += blockDim.x) {
    const int t = start + k - kTaps;
    window[k] = t >= 0 && t < length ? in[row + t] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll 16
  for (int k = 0; k < kTaps; ++k) sum += kWindow[k] * window[threadIdx.x + kTaps - k];
  if (start + threadIdx.x < length) out[row + start + threadIdx.x] = sum;
}

// Rotates Ambisonics of the third order: blocks of 1, 3, 5 and 7 harmonics are each multiplied by their own matrix.
__global__ void rotate_ambisonics(const float* in, float* out, const float* __restrict__ matrices, int samples) {
  __shared__ float m[84];
  for (int k = threadIdx.x; k < 84; k += blockDim.x) m[k] = matrices[k];
  __syncthreads();
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < samples; t += gridDim.x * blockDim.x) {
    float a[kHarmonics];
#pragma unroll
    for (int h = 0; h < kHarmonics; ++h) a[h] = in[h * samples + t];
    int at = 0;
#pragma unroll
    for (int l = 0; l < 4; ++l)
#pragma unroll
      for (int r = 0; r < 2 * l + 1; ++r) {
        float sum = 0;
        for (int c = 0; c < 2 * l + 1; ++c) sum += m[at++] * a[l * l + c];
        out[(l * l + r) * samples + t] = sum;
      }
  }
}

// Correlates pairs of microphones: each warp sums the products for one lag.
__global__ void correlate_pairs(const float* signals, float* correlation, int lags, int samples) {
  const int lag = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, pair = blockIdx.y;
  if (lag >= lags) return;
  const float *a = signals + 2 * pair * samples, *b = a + samples + lag;
  float sum = 0;
  for (int t = threadIdx.x % 32; t < samples - lag; t += 32) sum = fmaf(a[t], b[t], sum);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) correlation[pair * lags + lag] = sum;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int cells = n * n * n, samples = 256 * n, order = n / 16, side = 2 * order + 1, nx = 4 * n, ny = 2 * n;
  const Room room = {8.2f, 6.1f, 3.3f, 0.85f};
  float *field = device_floats(cells), *other = device_zeros<float>(cells), *levels = device_zeros<float>(16 * n * n);
  float *signals = device_array<float>(kMics * samples, [](int i) { return hashed_unit(i) - 0.5f; });
  float *mics = device_array<float>(3 * kMics, [](int i) { return hashed_unit(i); });
  float *responses = device_zeros<float>(kMics * samples), *matrices = device_floats(84);
  double *pressure = device_doubles(nx * ny), *vx = device_zeros<double>(nx * ny), *vy = device_zeros<double>(nx * ny);
  REPEAT leapfrog_room<<<dim3(ceil_div(n, 32), ceil_div(n, 4), ceil_div(n, 2)), dim3(32, 4, 2)>>>(
      field, other, 0.33f, 0.1f, n);
  REPEAT leapfrog_tiles<32, 16><<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(32, 16)>>>(field, other, 0.33f, n);
  REPEAT plane_velocity<<<dim3(ceil_div(nx, 64), ceil_div(ny, 4)), dim3(64, 4)>>>(pressure, vx, vy, 0.5, nx, ny);
  REPEAT image_sources<<<dim3(ceil_div(side * side * side, 128), kMics), 128>>>(mics, responses, room, order, samples);
  REPEAT steer_and_sum<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(signals, mics, levels, n, samples);
  REPEAT octave_bank<<<ceil_div(n * n, 64), 64>>>(field, levels, n * n, n);
  REPEAT smooth_rows<<<dim3(ceil_div(n * n, 1024), n), 1024, (1024 + kTaps) * sizeof(float)>>>(field, other, n * n);
  REPEAT rotate_ambisonics<<<ceil_div(cells / 16, 384), 192>>>(field, other, matrices, cells / 16);
  REPEAT correlate_pairs<<<dim3(ceil_div(n, 8), kMics / 2), 256>>>(signals, levels, n, samples);
  free_all(field, other, levels, signals, mics, responses, matrices, pressure, vx, vy);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sound_fields");
}
