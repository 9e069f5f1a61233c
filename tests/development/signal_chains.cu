// Chains of digital signal processing on n samples: filters, spectra, detectors and a decoder.
#include "device.h"

constexpr int kMostTaps = 128;
__constant__ float taps[kMostTaps];

// A FIR filter in direct form. The input starts kTaps - 1 samples before the output.
template <int kTaps>
__global__ void fir_direct(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < kTaps; ++k) sum += taps[k] * in[i + kTaps - 1 - k];
  out[i] = sum;
}

// Decimation by kFactor of 16-bit samples. The block sorts its span of the input by phase.
template <int kFactor, int kPhaseTaps, int kBlock>
__global__ void decimate_polyphase(const short* __restrict__ in, short* __restrict__ out, int n) {
  constexpr int kWide = kBlock + kPhaseTaps - 1;
  __shared__ float phases[kFactor][kWide];
  const int first = blockIdx.x * kBlock * kFactor;
  for (int k = threadIdx.x; k < kWide * kFactor; k += kBlock)
    phases[k % kFactor][k / kFactor] = first + k < n ? in[first + k] / 32768.0f : 0.0f;
  __syncthreads();
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n / kFactor) return;
  float sum = 0;
  for (int t = 0; t < kPhaseTaps; ++t) {
#pragma unroll
    for (int p = 0; p < kFactor; ++p) sum += taps[t * kFactor + p] * phases[p][threadIdx.x + t];
  }
  out[i] = static_cast<short>(max(-32768, min(32767, __float2int_rn(sum * 32768))));
}

struct Cascade {
  float b0[4], b1[4], b2[4], a1[4], a2[4];
};

// A cascade of four recursive sections, a thread for each channel. Channels are side by side.
__global__ void biquad_cascade(const float* __restrict__ in, float* __restrict__ out, Cascade cascade,
                               int channels, int samples) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float z1[4] = {}, z2[4] = {};
  for (int t = 0; t < samples; ++t) {
    float x = in[t * channels + c];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const float y = cascade.b0[s] * x + z1[s];
      z1[s] = cascade.b1[s] * x - cascade.a1[s] * y + z2[s];
      z2[s] = cascade.b2[s] * x - cascade.a2[s] * y;
      x = y;
    }
    out[t * channels + c] = x;
  }
}

// The power of one tone for each thread, and a frame for each block, with a Hamming window.
__global__ void goertzel_tones(const float* in, float* powers, int length) {
  extern __shared__ float frame[];
  for (int k = threadIdx.x; k < length; k += blockDim.x)
    frame[k] = in[blockIdx.x * length + k] * (0.54f - 0.46f * cosf(6.2831853f * k / (length - 1)));
  __syncthreads();
  const float turn = 2 * cospif(2.0f * (threadIdx.x + 1) / length);
  float last = 0, before = 0;
  for (int k = 0; k < length; ++k) {
    const float next = frame[k] + turn * last - before;
    before = last;
    last = next;
  }
  powers[blockIdx.x * blockDim.x + threadIdx.x] = last * last + before * before - turn * last * before;
}

__device__ inline float2 rotated(float2 v, float angle) {
  float s, c;
  sincosf(angle, &s, &c);
  return make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// One pass of an FFT that sorts itself: butterflies of two or four points, `span` apart in the output.
template <int kRadix>
__global__ void fft_pass(const float2* __restrict__ in, float2* __restrict__ out, int span, int points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, part = points / kRadix;
  if (i >= part) return;
  const int k = i & (span - 1);
  const float angle = -6.2831853f * k / (span * kRadix);
  float2* to = out + (i - k) * kRadix + k;
  float2 v[kRadix];
#pragma unroll
  for (int q = 0; q < kRadix; ++q) v[q] = q == 0 ? in[i] : rotated(in[i + q * part], q * angle);
  if (kRadix == 2) {
    to[0] = make_float2(v[0].x + v[1].x, v[0].y + v[1].y);
    to[span] = make_float2(v[0].x - v[1].x, v[0].y - v[1].y);
  } else {
    const float2 a = v[0], b = v[1 % kRadix], c = v[2 % kRadix], d = v[3 % kRadix];
    const float2 ac = make_float2(a.x + c.x, a.y + c.y), am = make_float2(a.x - c.x, a.y - c.y);
    const float2 bd = make_float2(b.x + d.x, b.y + d.y), bm = make_float2(b.y - d.y, d.x - b.x);
    to[0] = make_float2(ac.x + bd.x, ac.y + bd.y);
    to[span] = make_float2(am.x + bm.x, am.y + bm.y);
    to[2 * span] = make_float2(ac.x - bd.x, ac.y - bd.y);
    to[3 * span] = make_float2(am.x - bm.x, am.y - bm.y);
  }
}

// Autocorrelation: a warp for each lag, in double precision.
__global__ void autocorrelate(const float* __restrict__ in, double* __restrict__ out, int length) {
  const int lag = blockIdx.x * blockDim.y + threadIdx.y, lags = gridDim.x * blockDim.y;
  const float* frame = in + blockIdx.y * length;
  double sum = 0;
  for (int k = threadIdx.x; k < length - lag; k += 32) sum += static_cast<double>(frame[k]) * frame[k + lag];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) out[blockIdx.y * lags + lag] = sum / (length - lag);
}

__device__ inline float from_mulaw(unsigned char code) {
  const int c = ~code, level = (((c & 15) * 2 + 33) << (c >> 4 & 7)) - 33;
  return (c & 128 ? -level : level) / 8031.0f;
}

// Automatic gain: an envelope with attack and release. Each channel is one run of mu-law bytes.
__global__ void gain_control(const unsigned char* in, float* out, float2 rates, int channels, int length) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float envelope = 0, gain = 1;
  for (int t = 0; t < length; ++t) {
    const float x = from_mulaw(in[c * length + t]), level = fabsf(x);
    envelope += (level > envelope ? rates.x : rates.y) * (level - envelope);
    if (t % 8 == 7) gain = fminf(0.25f / (envelope + 1e-3f), 20.0f);
    out[c * length + t] = tanhf(gain * x);
  }
}

// A Viterbi decoder of 64 states at rate 1/2 for at most 128 steps. The block has a thread for each state.
__global__ void __launch_bounds__(64) viterbi_decode(const char2* symbols, unsigned* bits, int steps) {
  __shared__ unsigned char trellis[128];
  __shared__ int metrics[2][64];
  __shared__ unsigned choices[128][2];
  const int state = threadIdx.x, from = state >> 1;
  for (int r = state; r < 128; r += 64) trellis[r] = (__popc(r & 0171) & 1) << 1 | (__popc(r & 0133) & 1);
  metrics[0][state] = state == 0 ? 0 : -100000;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const char2 s = symbols[blockIdx.x * steps + step];
    const int low = trellis[state], high = trellis[state + 64], *old = metrics[step & 1];
    const int first = old[from] + (low & 2 ? -s.x : s.x) + (low & 1 ? -s.y : s.y);
    const int second = old[from + 32] + (high & 2 ? -s.x : s.x) + (high & 1 ? -s.y : s.y);
    const unsigned chosen = __ballot_sync(0xffffffffu, second > first);
    if (state % 32 == 0) choices[step][state / 32] = chosen;
    metrics[~step & 1][state] = max(first, second);
    __syncthreads();
  }
  if (state > 0) return;
  unsigned word = 0;
  for (int step = steps - 1, at = 0; step >= 0; --step) {
    word |= (at & 1u) << (step & 31);
    at = at >> 1 | (choices[step][at >> 5] >> (at & 31) & 1) << 5;
    if (step % 32 == 0) bits[blockIdx.x * ((steps + 31) / 32) + step / 32] = word, word = 0;
  }
}

void run(int n) {
  const int channels = n / 125, frames = n / 400, bursts = n / 96;
  int points = 1024;
  while (2 * points <= n) points *= 2;
  float host_taps[kMostTaps];
  for (int k = 0; k < kMostTaps; ++k) host_taps[k] = (hashed_unit(k) - 0.5f) / 32;
  cudaMemcpyToSymbol(taps, host_taps, sizeof host_taps);
  const Cascade cascade = {0.2f, 0.3f, 0.2f,  0.1f,  0.3f,  0.2f,  0.1f,  0.3f, 0.2f, 0.1f,
                           0.3f, 0.2f, -0.5f, -0.4f, -0.3f, -0.2f, 0.25f, 0.2f, 0.3f, 0.1f};
  float* in = device_floats(n + kMostTaps);
  short* shorts = device_array<short>(n, [](int i) { return static_cast<short>(i * 40503u >> 3); });
  unsigned char* codes = device_array<unsigned char>(n, [](int i) { return i * 2654435761u >> 24; });
  char2* symbols = device_array<char2>(n, [](int i) { return make_char2(i % 251 - 125, i % 241 - 120); });
  float2* signal = device_array<float2>(points, [](int i) { return make_float2(i % 61, i % 47); });
  float2* spectrum = device_zeros<float2>(points);
  float* out = device_zeros<float>(n);
  double* lags = device_zeros<double>(frames * 40);
  for (int r = 0; r < kLaunches; ++r) fir_direct<33><<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) fir_direct<128><<<ceil_div(n, 512), 512>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r)
    decimate_polyphase<5, 16, 192><<<ceil_div(n / 5, 192), 192>>>(shorts, (short*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    biquad_cascade<<<ceil_div(channels, 64), 64>>>(in, out, cascade, channels, 125);
  for (int r = 0; r < kLaunches; ++r) goertzel_tones<<<frames, 96, 400 * sizeof(float)>>>(in, out, 400);
  for (int r = 0; r < kLaunches; ++r) fft_pass<2><<<points / 512, 256>>>(signal, spectrum, 1, points);
  for (int r = 0; r < kLaunches; ++r) fft_pass<4><<<points / 512, 128>>>(signal, spectrum, 16, points);
  for (int r = 0; r < kLaunches; ++r) autocorrelate<<<dim3(5, frames), dim3(32, 8)>>>(in, lags, 400);
  for (int r = 0; r < kLaunches; ++r)
    gain_control<<<ceil_div(channels, 160), 160>>>(codes, out, make_float2(0.3f, 0.01f), channels, 125);
  for (int r = 0; r < kLaunches; ++r) viterbi_decode<<<bursts, 64>>>(symbols, (unsigned*)out, 96);
  free_all(in, shorts, codes, symbols, signal, spectrum, out, lags);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("signal_chains");
}
