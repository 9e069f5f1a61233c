// Effects on n audio channels of 960 samples, or five times as many of 192: filters, delays, gain, mixing, meters.
#include <cmath>

#include "device.h"

struct Meter {
  float power, peak;
  int crossings;
};

struct Send {
  int track;
  float left, right;
};

// Each sample as a weighted sum of the last `taps` samples: samples and taps in dynamic shared memory.
__global__ void fir_long(const float* __restrict__ in, const float* __restrict__ taps_in,
                         float* __restrict__ out, int taps, int frames) {
  extern __shared__ float shared[];
  float* taps_own = shared;
  float* samples = shared + taps;
  const float* row = in + blockIdx.x * frames;
  const int first = blockIdx.y * blockDim.x;
  for (int k = threadIdx.x; k < taps; k += blockDim.x) taps_own[k] = taps_in[k];
  for (int k = threadIdx.x; k < blockDim.x + taps - 1; k += blockDim.x) {
    const int at = first + k - taps + 1;
    samples[k] = at >= 0 && at < frames ? row[at] : 0.0f;
  }
  __syncthreads();
  const int t = first + threadIdx.x;
  if (t >= frames) return;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < taps; ++k) sum += taps_own[k] * samples[threadIdx.x + taps - 1 - k];
  out[blockIdx.x * frames + t] = sum;
}

// A cascade of second-order filters, one channel a thread, the channels side by side in memory; the state is kept.
template <class T, int kSections>
__global__ void biquad_cascade(const T* in, T* out, const T* coefficients, T* state, int frames,
                               int channels) {
  const int channel = blockIdx.x * blockDim.x + threadIdx.x;
  if (channel >= channels) return;
  T b0[kSections], b1[kSections], b2[kSections], a1[kSections], a2[kSections], s1[kSections], s2[kSections];
#pragma unroll
  for (int k = 0; k < kSections; ++k) {
    b0[k] = coefficients[5 * k];
    b1[k] = coefficients[5 * k + 1];
    b2[k] = coefficients[5 * k + 2];
    a1[k] = coefficients[5 * k + 3];
    a2[k] = coefficients[5 * k + 4];
    s1[k] = state[2 * k * channels + channel];
    s2[k] = state[(2 * k + 1) * channels + channel];
  }
  for (int t = 0; t < frames; ++t) {
    T x = in[t * channels + channel];
#pragma unroll
    for (int k = 0; k < kSections; ++k) {
      const T y = b0[k] * x + s1[k];
      s1[k] = b1[k] * x - a1[k] * y + s2[k];
      s2[k] = b2[k] * x - a2[k] * y;
      x = y;
    }
    out[t * channels + channel] = x;
  }
#pragma unroll
  for (int k = 0; k < kSections; ++k) {
    state[2 * k * channels + channel] = s1[k];
    state[(2 * k + 1) * channels + channel] = s2[k];
  }
}

// A compressor: each thread follows the level of its own channel, whose samples are one after the other in memory.
__global__ void compress_dynamics(const float* in, float* out, float threshold, float slope, float attack,
                                  float release, int frames, int channels) {
  const int channel = blockIdx.x * blockDim.x + threadIdx.x;
  if (channel >= channels) return;
  const float* row = in + channel * frames;
  float level = 1e-4f;
  for (int t = 0; t < frames; ++t) {
    const float x = row[t], size = fabsf(x);
    level += (size > level ? attack : release) * (size - level);
    const float over = log2f(level) - threshold;
    float gain = 1;
    if (over > 0) gain = exp2f(-slope * over);
    out[channel * frames + t] = gain * x;
  }
}

// Another sampling rate: each output sample from twelve input samples, with weights from a table of phases.
template <int kTaps>
__global__ void change_rate(const float* __restrict__ in, const float* __restrict__ phases,
                            float* __restrict__ out, int up, int down, int frames, int frames_out) {
  const int channel = blockIdx.x, t = blockIdx.y * blockDim.x + threadIdx.x;
  if (t >= frames_out) return;
  const int place = t * down, first = place / up - kTaps / 2 + 1;
  const float* weights = phases + place % up * kTaps;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kTaps; ++k) {
    const int at = min(max(first + k, 0), frames - 1);
    sum += __ldg(weights + k) * __ldg(in + channel * frames + at);
  }
  out[channel * frames_out + t] = sum;
}

// A reverberator: some feedback combs in turn, each with its delay line as a ring in shared memory; a channel a block.
__global__ void reverb_combs(const float* in, float* out, const int* delays, float feedback, float damping,
                             int combs, int frames) {
  __shared__ float ring[1024];
  const float* row = in + (size_t)blockIdx.x * frames;
  float* wet = out + (size_t)blockIdx.x * frames;
  for (int comb = 0; comb < combs; ++comb) {
    const int delay = delays[comb];
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) ring[k] = 0;
    __syncthreads();
    for (int start = 0; start < frames; start += blockDim.x) {
      const int t = start + threadIdx.x;
      const float old = ring[(t - delay) & 1023], older = ring[(t - delay - 1) & 1023];
      __syncthreads();
      if (t < frames) {
        ring[t & 1023] = row[t] + feedback * ((1 - damping) * old + damping * older);
        wet[t] = comb == 0 ? old : wet[t] + old;
      }
      __syncthreads();
    }
  }
}

// Noise reduction on complex spectra: a gain for each bin from its power and the noise's, with the two bins beside it.
__global__ void spectral_gate(const float2* spectra, const float* noise, float2* out, float least, int bins,
                              int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int bin = i % bins;
    float gain = 0, weight = 0;
    for (int d = -1; d <= 1; ++d) {
      if (bin + d < 0 || bin + d >= bins) continue;
      const float2 z = spectra[i + d];
      const float power = z.x * z.x + z.y * z.y, share = d == 0 ? 2.0f : 1.0f;
      float own = least;
      if (power > noise[bin + d]) own = fmaxf(least, sqrtf(1.0f - noise[bin + d] / power));
      gain += share * own;
      weight += share;
    }
    gain /= weight;
    const float2 z = spectra[i];
    out[i] = make_float2(gain * z.x, gain * z.y);
  }
}

// Mixes tracks to stereo buses: each bus adds its tracks, found by their numbers, four samples a thread.
__global__ void mix_buses(const float4* tracks, const Send* sends, float4* left, float4* right, int each,
                          int quads) {
  const int t = blockIdx.y * blockDim.x + threadIdx.x, bus = blockIdx.x;
  if (t >= quads) return;
  float4 l = make_float4(0, 0, 0, 0), r = l;
  for (int k = 0; k < each; ++k) {
    const Send send = sends[bus * each + k];
    const float4 v = tracks[send.track * quads + t];
    l.x += send.left * v.x;
    l.y += send.left * v.y;
    l.z += send.left * v.z;
    l.w += send.left * v.w;
    r.x += send.right * v.x;
    r.y += send.right * v.y;
    r.z += send.right * v.z;
    r.w += send.right * v.w;
  }
  left[bus * quads + t] = l;
  right[bus * quads + t] = r;
}

// Power, peak and zero crossings of each channel of 16-bit samples: a block of 1024 threads reduces one or more rows.
__global__ void __launch_bounds__(1024)
    meter_levels(const short* samples, Meter* meters, int frames, int channels) {
  __shared__ float powers[32], peaks[32];
  __shared__ int crossings[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int channel = blockIdx.x; channel < channels; channel += gridDim.x) {
    const short* row = samples + channel * frames;
    float power = 0, peak = 0;
    int crossed = 0;
    for (int t = threadIdx.x; t < frames; t += blockDim.x) {
      const float x = row[t] * (1.0f / 32768);
      power += x * x;
      peak = fmaxf(peak, fabsf(x));
      if (t > 0 && (row[t] < 0) != (row[t - 1] < 0)) ++crossed;
    }
    for (int s = 16; s > 0; s >>= 1) {
      power += __shfl_xor_sync(0xffffffffu, power, s);
      peak = fmaxf(peak, __shfl_xor_sync(0xffffffffu, peak, s));
      crossed += __shfl_xor_sync(0xffffffffu, crossed, s);
    }
    if (lane == 0) {
      powers[warp] = power;
      peaks[warp] = peak;
      crossings[warp] = crossed;
    }
    __syncthreads();
    if (warp == 0) {
      power = powers[lane];
      peak = peaks[lane];
      crossed = crossings[lane];
      for (int s = 16; s > 0; s >>= 1) {
        power += __shfl_down_sync(0xffffffffu, power, s);
        peak = fmaxf(peak, __shfl_down_sync(0xffffffffu, peak, s));
        crossed += __shfl_down_sync(0xffffffffu, crossed, s);
      }
      if (lane == 0) meters[channel] = {power / frames, peak, crossed};
    }
    __syncthreads();
  }
}

float sample(int i) {
  unsigned h = static_cast<unsigned>(i) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return static_cast<float>((h ^ h >> 13) % 2000u) / 1000 - 1;
}

void run(int n) {
  const int frames = 960, total = n * frames, frames_out = 1044, bins = 480, each = 24,
            buses = ceil_div(n, 8);
  const int taps = 256, part = 192, voices = 5 * n;
  float* in = device_array<float>(total, [](int i) { return sample(i) * (0.2f + i / 960 % 5 * 0.2f); });
  float* out = device_zeros<float>(total);
  double* precise = device_array<double>(total, [](int i) { return static_cast<double>(sample(i)); });
  double* precise_out = device_zeros<double>(total);
  float* rated = device_zeros<float>(n * frames_out);
  float* weights = device_array<float>(taps, [](int i) { return expf(-0.02f * i) * cosf(0.3f * i) * 0.1f; });
  float* phases =
      device_array<float>(160 * 12, [](int i) { return (i % 12 < 6 ? i % 12 + 1 : 12 - i % 12) / 42.0f; });
  const auto coefficient = [](int i) {
    const double values[5] = {0.2, 0.4, 0.2, -0.5, 0.3};
    return values[i % 5] * (1 + i / 5 * 0.02);
  };
  float* coefficients = device_array<float>(20, [=](int i) { return static_cast<float>(coefficient(i)); });
  double* exact = device_array<double>(20, coefficient);
  float* state = device_zeros<float>(8 * voices);
  double* exact_state = device_zeros<double>(4 * voices);
  int* delays = device_array<int>(6, [](int i) { return 353 + 67 * i; });
  float* noise = device_array<float>(bins, [](int i) { return 0.1f + 0.3f * (i % 7) / 7; });
  Send* sends = device_array<Send>(buses * each, [n](int i) {
    const int track =
        static_cast<int>((static_cast<unsigned>(i) * 2654435761u >> 5) % static_cast<unsigned>(n));
    return Send{track, 0.1f + i % 9 * 0.05f, 0.5f - i % 9 * 0.05f};
  });
  float* left = device_zeros<float>(buses * frames);
  float* right = device_zeros<float>(buses * frames);
  short* samples =
      device_array<short>(total, [](int i) { return static_cast<short>(20000 * sample(i / 3)); });
  Meter* meters = device_zeros<Meter>(n);

  for (int r = 0; r < kLaunches; ++r)
    fir_long<<<dim3(n, ceil_div(frames, 192)), 192, (192 + 2 * taps) * sizeof(float)>>>(in, weights, out,
                                                                                        taps, frames);
  for (int r = 0; r < kLaunches; ++r)
    biquad_cascade<float, 4><<<ceil_div(voices, 64), 64>>>(in, out, coefficients, state, part, voices);
  for (int r = 0; r < kLaunches; ++r)
    biquad_cascade<double, 2>
        <<<ceil_div(voices, 128), 128>>>(precise, precise_out, exact, exact_state, part, voices);
  for (int r = 0; r < kLaunches; ++r)
    compress_dynamics<<<ceil_div(voices, 96), 96>>>(in, out, -2.0f, 0.6f, 0.2f, 0.01f, part, voices);
  for (int r = 0; r < kLaunches; ++r)
    change_rate<12>
        <<<dim3(n, ceil_div(frames_out, 128)), 128>>>(in, phases, rated, 160, 147, frames, frames_out);
  for (int r = 0; r < kLaunches; ++r) reverb_combs<<<n, 320>>>(in, out, delays, 0.8f, 0.3f, 6, frames);
  for (int r = 0; r < kLaunches; ++r)
    spectral_gate<<<min(ceil_div(n * bins, 512), 1056), 512>>>((float2*)in, noise, (float2*)out, 0.1f, bins,
                                                               n * bins);
  for (int r = 0; r < kLaunches; ++r)
    mix_buses<<<dim3(buses, ceil_div(frames / 4, 128)), 128>>>((float4*)in, sends, (float4*)left,
                                                               (float4*)right, each, frames / 4);
  for (int r = 0; r < kLaunches; ++r) meter_levels<<<min(n, 528), 1024>>>(samples, meters, frames, n);
  free_all(in, out, precise, precise_out, rated, weights, phases, coefficients, exact, state, exact_state,
           delays, noise, sends, left, right, samples, meters);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("audio_effects");
}
