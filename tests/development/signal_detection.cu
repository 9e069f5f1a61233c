// Detection of signals in 64 channels of n samples: matched filters, thresholds, spectra, lags and beams.
#include "device.h"

constexpr int kChannels = 64, kMaxTaps = 64;
constexpr int kWindow = 5, kGuard = 2;  // of the detector on a map
constexpr int kLags = 128, kPart = 256, kFrame = 512, kBins = 64;
constexpr int kSensors = 16, kBeams = 32, kShortFrame = 256, kShortLags = 32;
constexpr float kTurn = 6.2831853f;

__constant__ float2 pulse[kMaxTaps];

// Matched filter with a template of real numbers, in its plainest form.
__global__ void match_plain(const float* signal, const float* taps, float* out, int length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int channel = blockIdx.y;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < length; k++) {
    if (i + k < n) sum += taps[k] * signal[channel * n + i + k];
  }
  out[channel * n + i] = sum;
}

// Matched filter of complex samples: the pulse in constant memory, samples in shared memory.
// What comes out is the power of the match.
template <int kTaps, int kThreads>
__global__ void match_pulse(const float2* __restrict__ signal, float* __restrict__ power, int n) {
  __shared__ float2 part[kThreads + kTaps];
  const int first = blockIdx.x * kThreads;
  const float2* own = signal + blockIdx.y * n;
  for (int k = threadIdx.x; k < kThreads + kTaps; k += kThreads)
    part[k] = first + k < n ? own[first + k] : make_float2(0, 0);
  __syncthreads();
  const int i = first + threadIdx.x;
  if (i >= n) return;
  float re = 0, im = 0;
#pragma unroll 16
  for (int k = 0; k < kTaps; ++k) {
    const float2 s = part[threadIdx.x + k], p = pulse[k];
    re += s.x * p.x + s.y * p.y;
    im += s.y * p.x - s.x * p.y;
  }
  power[blockIdx.y * n + i] = re * re + im * im;
}

// Detector with a constant rate of false alarms along a line: the noise is the mean of cells on both sides.
__global__ void detect_on_lines(const float* power, unsigned char* hits, int guard, int train, float factor,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* line = power + blockIdx.y * n;
  float noise = 0;
  for (int k = guard + 1; k <= guard + train; ++k) noise += line[max(i - k, 0)] + line[min(i + k, n - 1)];
  hits[blockIdx.y * n + i] = line[i] * (2 * train) > factor * noise;
}

// The same on a map: the noise is that of a square but for a smaller one in its middle.
__global__ void detect_on_map(const float* __restrict__ power, unsigned char* __restrict__ hits, float factor,
                              int rows, int columns) {
  constexpr int kArea = (2 * kWindow + 1) * (2 * kWindow + 1) - (2 * kGuard + 1) * (2 * kGuard + 1);
  __shared__ float tile[8 + 2 * kWindow][32 + 2 * kWindow];
  const int left = blockIdx.x * 32 - kWindow, top = blockIdx.y * 8 - kWindow;
  for (int j = threadIdx.y; j < 8 + 2 * kWindow; j += 8) {
    const float* row = power + min(max(top + j, 0), rows - 1) * columns;
    for (int i = threadIdx.x; i < 32 + 2 * kWindow; i += 32)
      tile[j][i] = row[min(max(left + i, 0), columns - 1)];
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= columns || y >= rows) return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * kWindow; ++j) {
#pragma unroll
    for (int i = 0; i <= 2 * kWindow; ++i) {
      const bool guarded = abs(j - kWindow) <= kGuard && abs(i - kWindow) <= kGuard;
      if (!guarded) sum += tile[threadIdx.y + j][threadIdx.x + i];
    }
  }
  hits[y * columns + x] = tile[threadIdx.y + kWindow][threadIdx.x + kWindow] * kArea > factor * sum;
}

// Places of the samples above a threshold. Each block has 1024 samples, and room for as many places.
__global__ void collect_hits(const float* __restrict__ samples, int* __restrict__ places,
                             int* __restrict__ counts, float threshold) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, base = blockIdx.x * 1024;
  for (int k = threadIdx.x; k < 1024; k += 256) {
    const bool hit = samples[base + k] > threshold;
    const unsigned votes = __ballot_sync(0xffffffffu, hit);
    int start = 0;
    if (lane == 0) start = atomicAdd(&found, __popc(votes));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (hit) places[base + start + __popc(votes & ((1u << lane) - 1))] = base + k;
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

// Envelope that rises quickly and falls slowly: each thread follows a segment of its own.
__global__ void follow_envelope(const float* signal, float* envelope, float rise, float fall, int length,
                                int segments) {
  const int segment = blockIdx.x * blockDim.x + threadIdx.x;
  if (segment >= segments) return;
  const float* from = signal + segment * length;
  float* to = envelope + segment * length;
  float level = 0;
  for (int i = 0; i < length; ++i) {
    const float size = fabsf(from[i]), rate = size > level ? rise : fall;
    level += rate * (size - level);
    to[i] = level;
  }
}

// Correlation of two signals part by part: a thread for each lag, both parts in shared memory.
__global__ void correlate_lags(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ out, int n) {
  __shared__ float own[kPart], later[kPart + kLags];
  const int channel = blockIdx.y, first = blockIdx.x * kPart;
  for (int k = threadIdx.x; k < kPart; k += kLags) own[k] = a[channel * n + first + k];
  for (int k = threadIdx.x; k < kPart + kLags; k += kLags)
    later[k] = first + k < n ? b[channel * n + first + k] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kPart; ++k) sum += own[k] * later[k + threadIdx.x];
  out[(channel * gridDim.x + blockIdx.x) * kLags + threadIdx.x] = sum;
}

// Energy of windows of 256 samples in decibels: a warp for each window, sums in double precision.
__global__ void window_energies(const float4* __restrict__ samples, float* __restrict__ energies,
                                int windows) {
  const int window = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (window >= windows) return;
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const float4 v = samples[window * 64 + k * 32 + lane];
    sum += static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y;
    sum += static_cast<double>(v.z) * v.z + static_cast<double>(v.w) * v.w;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) energies[window] = 10 * log10f(static_cast<float>(sum) + 1e-12f);
}

// Goertzel's recurrence: a block for each frame, a thread for each frequency.
__global__ void goertzel_bank(const float* signal, float* power, float spacing, int length) {
  __shared__ float frame[kFrame];
  for (int k = threadIdx.x; k < length; k += blockDim.x) frame[k] = signal[blockIdx.x * length + k];
  __syncthreads();
  const float factor = 2 * cosf(kTurn * spacing * (threadIdx.x + 1));
  float before = 0, last = 0;
  for (int k = 0; k < length; ++k) {
    const float next = frame[k] + factor * last - before;
    before = last;
    last = next;
  }
  power[blockIdx.x * blockDim.x + threadIdx.x] = last * last + before * before - factor * last * before;
}

// Phases without jumps of whole turns, many lines side by side.
__global__ void unwrap_phases(const float* __restrict__ phases, float* __restrict__ out, int steps,
                              int lines) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  float last = phases[line], turns = 0;
  out[line] = last;
  for (int s = 1; s < steps; ++s) {
    const float phase = phases[s * lines + line];
    turns -= rintf((phase - last) * (1 / kTurn));
    last = phase;
    out[s * lines + line] = phase + kTurn * turns;
  }
}

// Low-pass filter that keeps one sample of kFactor.
template <int kFactor>
__global__ void decimate(const float* __restrict__ signal, const float* __restrict__ taps,
                         float* __restrict__ out, int length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (i >= n / kFactor) return;
  const float* own = signal + channel * n;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < length; ++k) sum += __ldg(&taps[k]) * __ldg(&own[min(i * kFactor + k, n - 1)]);
  out[channel * (n / kFactor) + i] = sum;
}

// Running median of kWidth samples, which are put in order in registers.
template <int kWidth>
__global__ void running_median(const float* signal, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (i >= n) return;
  float v[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) v[k] = signal[channel * n + min(max(i + k - kWidth / 2, 0), n - 1)];
#pragma unroll
  for (int round = 0; round < kWidth; ++round) {
#pragma unroll
    for (int k = round % 2; k + 1 < kWidth; k += 2) {
      const float low = fminf(v[k], v[k + 1]);
      v[k + 1] = fmaxf(v[k], v[k + 1]);
      v[k] = low;
    }
  }
  out[channel * n + i] = v[kWidth / 2];
}

// Power of beams: samples of the sensors, each with its delay for the beam, are added up and squared.
__global__ void beam_power(const float* __restrict__ signal, const int* __restrict__ delays,
                           float* __restrict__ power, int sensors, int n) {
  __shared__ float parts[8];
  const int i = blockIdx.x * 256 + threadIdx.x, beam = blockIdx.y;
  float sum = 0;
  for (int s = 0; s < sensors; ++s) sum += signal[s * n + min(i + delays[beam * sensors + s], n - 1)];
  float square = i < n ? sum * sum : 0;
  for (int d = 16; d > 0; d /= 2) square += __shfl_down_sync(0xffffffffu, square, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = square;
  __syncthreads();
  if (threadIdx.x < 8) {
    square = parts[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) square += __shfl_down_sync(0xffu, square, d);
    if (threadIdx.x == 0) power[beam * gridDim.x + blockIdx.x] = square / 256;
  }
}

// Autocorrelation of short frames in double precision: a thread for each lag of each frame.
__global__ void autocorrelate(const double* samples, double* out, int length, int lags, int frames) {
  const int frame = blockIdx.x * blockDim.y + threadIdx.y, lag = threadIdx.x;
  if (frame >= frames) return;
  const double* own = samples + frame * length;
  double sum = 0;
  for (int k = 0; k + lag < length; ++k) sum += own[k] * own[k + lag];
  out[frame * lags + lag] = sum / (length - lag);
}

// n is a multiple of 1024.
void run(int n) {
  const int count = kChannels * n, segments = count / 128, windows = count / 256, frames = count / kFrame;
  const int lines = n / 8, short_frames = n / 8, parts = n / kPart;
  float* signal =
      device_array<float>(count, [](int i) { return 2 * hashed_unit(static_cast<unsigned>(i)) - 1; });
  float* other = device_array<float>(count, [](int i) { return hashed_unit(static_cast<unsigned>(i) + 3); });
  float* out = device_zeros<float>(count);
  float2* samples = device_array<float2>(count, [](int i) {
    const unsigned k = 2u * static_cast<unsigned>(i);
    return make_float2(hashed_unit(k) - 0.5f, hashed_unit(k + 1) - 0.5f);
  });
  float* taps = device_array<float>(kMaxTaps, [](int i) { return 0.02f + 0.001f * (i % 16); });
  unsigned char* hits = device_zeros<unsigned char>(count);
  int* places = device_zeros<int>(count);
  int* counts = device_zeros<int>(count / 1024);
  float* lags = device_zeros<float>(kChannels * parts * kLags);
  float* energies = device_zeros<float>(windows);
  float* spectra = device_zeros<float>(frames * kBins);
  int* delays = device_array<int>(kBeams * kSensors, [](int i) { return i / kSensors * (i % kSensors) / 8; });
  float* beams = device_zeros<float>(kBeams * parts);
  double* double_samples =
      device_array<double>(short_frames * kShortFrame, [](int i) { return i % 37 * 0.05 - 0.9; });
  double* correlations = device_zeros<double>(short_frames * kShortLags);
  float2 chirp[kMaxTaps];
  for (int k = 0; k < kMaxTaps; ++k) chirp[k] = make_float2(cosf(0.01f * k * k), sinf(0.01f * k * k));
  cudaMemcpyToSymbol(pulse, chirp, sizeof chirp);
  for (int r = 0; r < kLaunches; ++r)
    match_plain<<<dim3(ceil_div(n, 256), kChannels), 256>>>(signal, taps, out, 48, n);
  for (int r = 0; r < kLaunches; ++r)
    match_pulse<64, 128><<<dim3(ceil_div(n, 128), kChannels), 128>>>(samples, out, n);
  for (int r = 0; r < kLaunches; ++r)
    match_pulse<32, 256><<<dim3(ceil_div(n, 256), kChannels), 256>>>(samples, out, n);
  for (int r = 0; r < kLaunches; ++r)
    detect_on_lines<<<dim3(ceil_div(n, 128), kChannels), 128>>>(other, hits, 2, 12, 1.5f, n);
  for (int r = 0; r < kLaunches; ++r)
    detect_on_map<<<dim3(ceil_div(n, 32), kChannels / 8), dim3(32, 8)>>>(other, hits, 1.8f, kChannels, n);
  for (int r = 0; r < kLaunches; ++r) collect_hits<<<count / 1024, 256>>>(signal, places, counts, 0.9f);
  for (int r = 0; r < kLaunches; ++r)
    follow_envelope<<<ceil_div(segments, 64), 64>>>(signal, out, 0.5f, 0.02f, 128, segments);
  for (int r = 0; r < kLaunches; ++r)
    correlate_lags<<<dim3(parts, kChannels), kLags>>>(signal, other, lags, n);
  for (int r = 0; r < kLaunches; ++r)
    window_energies<<<ceil_div(windows, 8), 256>>>((float4*)signal, energies, windows);
  for (int r = 0; r < kLaunches; ++r) goertzel_bank<<<frames, kBins>>>(signal, spectra, 0.00390625f, kFrame);
  for (int r = 0; r < kLaunches; ++r)
    unwrap_phases<<<ceil_div(lines, 128), 128>>>(signal, out, 8 * kChannels, lines);
  for (int r = 0; r < kLaunches; ++r)
    decimate<4><<<dim3(ceil_div(n / 4, 128), kChannels), 128>>>(signal, taps, out, 32, n);
  for (int r = 0; r < kLaunches; ++r)
    running_median<5><<<dim3(ceil_div(n, 512), kChannels), 512>>>(signal, out, n);
  for (int r = 0; r < kLaunches; ++r)
    running_median<11><<<dim3(ceil_div(n, 128), kChannels), 128>>>(signal, out, n);
  for (int r = 0; r < kLaunches; ++r)
    beam_power<<<dim3(parts, kBeams), 256>>>(signal, delays, beams, kSensors, n);
  for (int r = 0; r < kLaunches; ++r)
    autocorrelate<<<ceil_div(short_frames, 4), dim3(kShortLags, 4)>>>(double_samples, correlations,
                                                                      kShortFrame, kShortLags, short_frames);
  free_all(signal, other, out, samples, taps, hits, places, counts, lags, energies, spectra, delays, beams);
  free_all(double_samples, correlations);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("signal_detection");
}
