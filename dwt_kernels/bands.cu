// Between the interleaved order in which mtx.cu and ltt.cu leave their coefficients (low, high, low, high, …) and two bands, each of its
// own. The next level of a multi-level transform works on the low band alone.

// N:      number of coefficients, even; launched with N / 2 threads or more
// first:  place of the first low coefficient: 0 after mtx, K / 2 - 1 after ltt
// in:     N coefficients, interleaved, beginning again at place 0 after place N - 1
// low, high: N / 2 coefficients each
__global__ void split_bands(int N, int first, float *in, float *low, float *high)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= N)
        return;
    low[i] = in[(2 * i + first) % N];
    high[i] = in[(2 * i + first + 1) % N];
}

// The inverse of split_bands.
__global__ void merge_bands(int N, int first, float *low, float *high, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= N)
        return;
    out[(2 * i + first) % N] = low[i];
    out[(2 * i + first + 1) % N] = high[i];
}
