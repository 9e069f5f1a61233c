// Speech recognition: n frames of audio, from the samples to the scores of labels.
#include "device.h"

constexpr int kHop = 160, kFrame = 400, kPadded = 512, kBands = 80, kUtterance = 100;
constexpr int kChannels = 64, kLabels = 40, kStates = 2 * kLabels + 1, kWarped = 96, kMicrophones = 8;
constexpr float kNever = -1e30f;

struct Filter {
  short first, count;
  float scale;
};

__constant__ Filter filters[kBands];

// A block cuts one frame out of the samples, with pre-emphasis and a Hann window, and pads it with zeros.
__global__ void frame_windows(const short* __restrict__ samples, float* __restrict__ frames) {
  const short* from = samples + blockIdx.x * kHop;
  for (int k = threadIdx.x; k < kPadded; k += blockDim.x) {
    float value = 0;
    if (k < kFrame) {
      const float before = k > 0 ? from[k - 1] : from[0];
      const float window = 0.5f - 0.5f * cospif(2.0f * k / (kFrame - 1));
      value = (from[k] - 0.97f * before) * window / 32768;
    }
    frames[blockIdx.x * kPadded + k] = value;
  }
}

// Mel bands of a spectrum of 256 complex numbers: a warp for each frame, a lane for each band.
__global__ void mel_bank(const float2* spectra, float* bands, int n) {
  const int frame = blockIdx.x * blockDim.y + threadIdx.y;
  if (frame >= n) return;
  const float2* spectrum = spectra + frame * (kPadded / 2);
  for (int band = threadIdx.x; band < kBands; band += 32) {
    const Filter f = filters[band];
    float sum = 0;
    for (int k = 0; k < f.count; ++k) {
      const float2 bin = spectrum[f.first + k];
      const float weight = 1 - fabsf((2 * k + 1.0f) / f.count - 1);
      sum += weight * (bin.x * bin.x + bin.y * bin.y);
    }
    bands[frame * kBands + band] = f.scale * sum;
  }
}

// Logarithms of an utterance's bands, less their mean and over their deviation. A thread has one band.
__global__ void normalise_utterances(const float* bands, float* normal, int n) {
  const int first = blockIdx.x * kUtterance, last = min(first + kUtterance, n);
  double sum = 0, squares = 0;
  for (int t = first; t < last; ++t) {
    const float value = logf(bands[t * kBands + threadIdx.x] + 1e-6f);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / (last - first);
  const float scale = rsqrtf(fmaxf(squares / (last - first) - mean * mean, 1e-4f));
  for (int t = first; t < last; ++t) {
    const int i = t * kBands + threadIdx.x;
    normal[i] = (logf(bands[i] + 1e-6f) - static_cast<float>(mean)) * scale;
  }
}

// A convolution over time with a stride of two. The input of a block's outputs is in dynamic shared memory.
template <int kWidth>
__global__ void strided_convolution(const float* __restrict__ input, const float* __restrict__ weights,
                                    float* __restrict__ output, int n, int outputs) {
  extern __shared__ float tile[];
  const int first = blockIdx.x * blockDim.y, channel = threadIdx.x, from = 2 * first * kBands;
  for (int k = threadIdx.y * kChannels + channel; k < (2 * blockDim.y - 2 + kWidth) * kBands;
       k += kChannels * blockDim.y)
    tile[k] = from + k < n * kBands ? input[from + k] : 0.0f;
  __syncthreads();
  const int t = first + threadIdx.y;
  if (t >= outputs) return;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < kWidth * kBands; ++k)
    sum += weights[k * kChannels + channel] * tile[2 * threadIdx.y * kBands + k];
  output[t * kChannels + channel] = fmaxf(sum, 0.0f);
}

template <class T>
struct alignas(16) Gates {
  T in, forget, cell, out;
};

// New cells and outputs of LSTM layers, from an array of structures with the four gates.
template <class T>
__global__ void lstm_cells(const Gates<T>* __restrict__ gates, const T* __restrict__ cells,
                           T* __restrict__ next, T* __restrict__ hidden, int units, int n) {
  const int unit = blockIdx.y * blockDim.x + threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  if (unit >= units || row >= n) return;
  const int i = row * units + unit;
  const Gates<T> g = gates[i];
  const T in = 1 / (1 + exp(-g.in)), forget = 1 / (1 + exp(-g.forget - 1)), out = 1 / (1 + exp(-g.out));
  const T cell = forget * cells[i] + in * tanh(g.cell);
  next[i] = cell;
  hidden[i] = out * tanh(cell);
}

// The forward pass of connectionist temporal classification: a block for an utterance, a thread for a state.
__global__ void ctc_forward(const float* __restrict__ scores, const unsigned char* __restrict__ labels,
                            float* likelihoods, int n) {
  __shared__ float alpha[2][kStates + 2];
  const int s = threadIdx.x, first = blockIdx.x * kUtterance, steps = min(kUtterance, n - first);
  const bool live = s < kStates, symbol = live && s % 2 == 1;
  const unsigned char* own = labels + blockIdx.x * kLabels;
  const int label = symbol ? own[s / 2] : 0;
  const bool skips = symbol && s > 1 && label != own[s / 2 - 1];
  if (s < 2) alpha[0][s] = alpha[1][s] = kNever;
  if (live) alpha[0][s + 2] = s < 2 ? scores[first * kBands + label] : kNever;
  __syncthreads();
  for (int t = 1; t < steps; ++t) {
    const float* old = alpha[(t - 1) & 1];
    if (live) {
      const float a = old[s + 2], b = old[s + 1], c = skips ? old[s] : kNever;
      const float top = fmaxf(a, fmaxf(b, c));
      const float sum = __expf(a - top) + __expf(b - top) + __expf(c - top);
      alpha[t & 1][s + 2] = top + __logf(sum) + scores[(first + t) * kBands + label];
    }
    __syncthreads();
  }
  if (s >= kStates - 2 && s < kStates) likelihoods[blockIdx.x * 2 + s % 2] = alpha[(steps - 1) & 1][s + 2];
}

// Beam forming for a line of eight microphones: delays with parts of samples, in a grid-stride loop.
__global__ void delay_and_sum(const short* channels, float* beam, float slope, int length) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    float sum = 0;
#pragma unroll
    for (int m = 0; m < kMicrophones; ++m) {
      const float delay = slope * m, part = delay - floorf(delay);
      const int at = m * length + max(i - static_cast<int>(delay), 1);
      sum += channels[at] + part * (channels[at - 1] - channels[at]);
    }
    beam[i] = sum / kMicrophones;
  }
}

// Dynamic time warping of two sequences of 96 steps, by diagonals. A thread has one row.
__global__ void time_warp(const float4* features, float* costs) {
  __shared__ float diagonal[3][kWarped + 1];
  const int i = threadIdx.x;
  const float4 *a = features + blockIdx.x * 160, *b = a + kWarped;
  const float4 own = a[i];
  for (int k = i; k < 3 * (kWarped + 1); k += kWarped) (&diagonal[0][0])[k] = -kNever;
  __syncthreads();
  for (int d = 0; d < 2 * kWarped - 1; ++d) {
    const float *last = diagonal[(d + 2) % 3], *before = diagonal[(d + 1) % 3];
    const int j = d - i;
    float best = -kNever;
    if (j >= 0 && j < kWarped) {
      const float4 other = b[j];
      best = fabsf(own.x - other.x) + fabsf(own.y - other.y) + fabsf(own.z - other.z);
      best += d == 0 ? 0.0f : fminf(before[i], fminf(last[i], last[i + 1]));
    }
    diagonal[d % 3][i + 1] = best;
    __syncthreads();
  }
  if (i == kWarped - 1) costs[blockIdx.x] = diagonal[(2 * kWarped - 2) % 3][kWarped];
}

void run(int n) {
  const int utterances = ceil_div(n, kUtterance), length = n * 20;
  Filter bank[kBands];
  for (int b = 0; b < kBands; ++b) bank[b] = {short(b * b / 32), short(b / 8 + 2), 1};
  cudaMemcpyToSymbol(filters, bank, sizeof bank);
  short* samples = device_array<short>(n * kHop + kFrame, [](int i) { return i % 997 * 791 % 20000; });
  float* frames = device_zeros<float>(n * kPadded);
  float* bands = device_zeros<float>(n * kBands);
  float* normal = device_zeros<float>(n * kBands);
  float* weights = device_floats(5 * kBands * kChannels);
  float* cells = device_floats(n * 128);
  float* next = device_zeros<float>(n * 128);
  float* hidden = device_zeros<float>(n * 128);
  unsigned char* labels = device_array<unsigned char>(utterances * kLabels, [](int i) { return 1 + i % 79; });
  for (int r = 0; r < kLaunches; ++r) frame_windows<<<n, 128>>>(samples, frames);
  for (int r = 0; r < kLaunches; ++r)
    mel_bank<<<ceil_div(n, 6), dim3(32, 6)>>>((float2*)frames, bands, n);
  for (int r = 0; r < kLaunches; ++r) normalise_utterances<<<utterances, kBands>>>(bands, normal, n);
  for (int r = 0; r < kLaunches; ++r)
    strided_convolution<3><<<ceil_div(n, 32), dim3(64, 16), 10560>>>(normal, weights, next, n, n / 2);
  for (int r = 0; r < kLaunches; ++r)
    strided_convolution<5><<<ceil_div(n, 10), dim3(64, 5), 4160>>>(normal, weights, next, n, n / 2);
  for (int r = 0; r < kLaunches; ++r)
    lstm_cells<<<dim3(ceil_div(n, 4), 2), dim3(64, 4)>>>((Gates<float>*)frames, cells, next, hidden, 128, n);
  for (int r = 0; r < kLaunches; ++r)
    lstm_cells<<<dim3(ceil_div(n, 12), 2), dim3(32, 12)>>>((Gates<double>*)frames, (double*)cells,
                                                          (double*)next, (double*)hidden, 64, n);
  for (int r = 0; r < kLaunches; ++r) ctc_forward<<<utterances, 96>>>(normal, labels, hidden, n);
  for (int r = 0; r < kLaunches; ++r)
    delay_and_sum<<<min(ceil_div(length, 256), 1056), 256>>>(samples, hidden, 3.3f, length);
  for (int r = 0; r < kLaunches; ++r) time_warp<<<n / 8 - 1, kWarped>>>((float4*)normal, hidden);
  free_all(samples, frames, bands, normal, weights, cells, next, hidden, labels);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("speech_models");
}
