// The frequencies in a signal: n frames of 512 samples, each of them 128 samples after the one before.
#include "device.h"

constexpr int kFrame = 512, kHop = 128, kBins = 256;

// Frames with soft edges, from samples of 16 bits.
__global__ void cut_frames(const short* samples, float* frames, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, frame = blockIdx.y * blockDim.y + threadIdx.y;
  if (frame >= n || t >= kFrame) return;
  const float window = 0.5f - 0.5f * cospif(2.0f * t / kFrame);
  frames[frame * kFrame + t] = window * samples[frame * kHop + t] / 32768.0f;
}

// How strong 16 tones are in each frame: two values that follow each other, a tone and a frame per thread.
__global__ void tone_strengths(const float* frames, float* strengths, float lowest, int n) {
  int tone = threadIdx.x;
  int frame = blockIdx.x * blockDim.y + threadIdx.y;
  if (frame >= n) return;
  float factor = 2.0f * cosf(lowest * (tone + 1));
  float before = 0.0f;
  float now = 0.0f;
  for (int t = 0; t < kFrame; t++) {
    float next = frames[frame * kFrame + t] + factor * now - before;
    before = now;
    now = next;
  }
  strengths[frame * 16 + tone] = now * now + before * before - factor * now * before;
}

// All frequencies as sums of products: the frame and a table of sines in shared memory, a frequency per thread.
__global__ void powers(const float* __restrict__ frames, float* __restrict__ out) {
  __shared__ float frame[kFrame], sines[kFrame];
  for (int t = threadIdx.x; t < kFrame; t += blockDim.x) {
    frame[t] = frames[blockIdx.x * kFrame + t];
    sines[t] = sinpif(2.0f * t / kFrame);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) {
    float re = 0, im = 0;
    int at = 0;
#pragma unroll 4
    for (int t = 0; t < kFrame; ++t) {
      im += frame[t] * sines[at];
      re += frame[t] * sines[(at + kFrame / 4) % kFrame];
      at = (at + k) % kFrame;
    }
    out[blockIdx.x * kBins + k] = re * re + im * im;
  }
}

// Bands as wide as ears have them: triangles over the frequencies, whose ends are from a formula.
__global__ void ear_bands(const float* powers, float* bands, int n) {
  const int band = threadIdx.x, frame = blockIdx.x * blockDim.y + threadIdx.y;
  if (frame >= n) return;
  const int first = band * (band + 10) / 6, middle = (band + 1) * (band + 11) / 6,
            last = (band + 2) * (band + 12) / 6;
  float sum = 1e-9f;
  for (int k = first; k < last && k < kBins; ++k) {
    const float weight =
        k < middle ? (k - first + 0.5f) / (middle - first) : (last - k + 0.5f) / (last - middle);
    sum += weight * powers[frame * kBins + k];
  }
  bands[frame * 32 + band] = 10 * log10f(sum);
}

// The mean power of each frequency over the frames, in memory: every eighth frame for a block.
__global__ void mean_powers(const float* powers, double* means, int parts, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, part = blockIdx.y;
  means[part * kBins + k] = 0;
  for (int frame = part; frame < n; frame += parts) means[part * kBins + k] += powers[frame * kBins + k];
  means[part * kBins + k] /= n / parts;
}

// Frames back to a signal: each sample from the four frames that it is in, two samples for each thread.
__global__ void join_frames(const float2* frames, float2* signal, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * kHop / 2) return;
  const int newest = i / (kHop / 2), t = i % (kHop / 2);
  float2 sum = make_float2(0, 0);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (newest >= k) {
      const float2 v = frames[(newest - k) * (kFrame / 2) + k * (kHop / 2) + t];
      sum.x += v.x;
      sum.y += v.y;
    }
  signal[i] = make_float2(0.5f * sum.x, 0.5f * sum.y);
}

void run(int n) {
  short* samples = device_array<short>(n * kHop + kFrame, [](int i) { return static_cast<short>(i * 7919); });
  float* frames = device_floats(n * kFrame);
  float* power = device_zeros<float>(n * kBins);
  float* out = device_zeros<float>(n * kHop + 16 * kBins);
  for (int r = 0; r < kLaunches; ++r) cut_frames<<<dim3(kFrame / 256, n), dim3(256, 1)>>>(samples, frames, n);
  for (int r = 0; r < kLaunches; ++r)
    tone_strengths<<<ceil_div(n, 16), dim3(16, 16)>>>(frames, out, 0.05f, n);
  for (int r = 0; r < kLaunches; ++r) powers<<<n, 128>>>(frames, power);
  for (int r = 0; r < kLaunches; ++r) ear_bands<<<ceil_div(n, 8), dim3(32, 8)>>>(power, out, n);
  for (int r = 0; r < kLaunches; ++r) mean_powers<<<dim3(kBins / 64, 8), 64>>>(power, (double*)out, 8, n);
  for (int r = 0; r < kLaunches; ++r)
    join_frames<<<ceil_div(n * kHop / 2, 256), 256>>>((float2*)frames, (float2*)out, n);
  free_all(samples, frames, power, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("spectra");
}
