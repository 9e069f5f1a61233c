// The fast Fourier transform after Stockham: one stage a launch, from one array to another, the result in its natural order.
//
// W. T. Cochran et al., What is the fast Fourier transform? (1967), who give the algorithm as T. G. Stockham's; in the form for GPUs of
// N. K. Govindaraju et al., High performance discrete Fourier transforms on graphics processors (2008). X[k] = sum of x[n] exp(-2 pi i n k / N).
//
// Before a stage, the array holds N / Ns transforms of size Ns; after it, transforms of R Ns. Thread j reads the j-th of R parts of the
// array, turns the parts by twiddle factors, and makes a transform of size R of them.

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// N:    size of the transform, a power of two; launched with N / 2 threads or more
// Ns:   size of the transforms before the stage: 1, 2, 4, …, N / 2
// in, out: N values each, not the same array
// twiddles: exp(-2 pi i k / N) for k = 0, …, N - 1
__global__ void fft_radix2(int N, int Ns, float2 *in, float2 *out, float2 *twiddles)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N / 2)
        return;
    int k = j % Ns;

    float2 a = in[j];
    float2 b = in[j + N / 2] * twiddles[k * (N / (2 * Ns))];

    int i = j / Ns * 2 * Ns + k;
    out[i] = a + b;
    out[i + Ns] = a - b;
}

// N:    size of the transform, a power of four; launched with N / 4 threads or more
// Ns:   size of the transforms before the stage: 1, 4, 16, …, N / 4
__global__ void fft_radix4(int N, int Ns, float2 *in, float2 *out, float2 *twiddles)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N / 4)
        return;
    int k = j % Ns;
    int turn = k * (N / (4 * Ns));

    float2 a = in[j];
    float2 b = in[j + N / 4] * twiddles[turn];
    float2 c = in[j + N / 2] * twiddles[2 * turn];
    float2 d = in[j + 3 * (N / 4)] * twiddles[3 * turn];

    float2 even = a + c, odd = a - c, sum = b + d;
    float2 rest = make_float2(b.y - d.y, d.x - b.x);   // -i (b - d)

    int i = j / Ns * 4 * Ns + k;
    out[i] = even + sum;
    out[i + Ns] = odd + rest;
    out[i + 2 * Ns] = even - sum;
    out[i + 3 * Ns] = odd - rest;
}
