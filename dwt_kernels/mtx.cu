// The matrix-based discrete wavelet transform: each thread multiplies one row of the transform matrix with the signal.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), Listing 6. The listing as printed says `k2 = (id % 2) * L`; the kernel has no L, and the row of
// filter coefficients of an odd output begins after the K of an even one: K is meant. It has no guard either, since N is a power of two
// there, and the blocks divide it.

// K:      filter length, even
// N:      transform size, even; launched with N threads, or more where the blocks do not divide N: those have nothing to do
// idata:  N values of the signal, read periodically
// odata:  N coefficients: low band at even places, high band at odd ones
// coefs:  2 x K filter coefficients, low-pass first
__global__ void mtx(int K, int N, float *idata, float *odata, float *coefs)
{
    int id, k1, k2, i;
    float v = 0.0f;

    id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N)
        return;
    k1 = 2 * (id / 2);   // where the filter begins in the signal
    k2 = (id % 2) * K;   // even outputs take the low-pass, odd ones the high-pass filter
    for (i = 0; i < K; i++)
    {
        v = v + idata[k1] * coefs[k2];
        k1 = (k1 + 1) % N;
        k2++;
    }
    odata[id] = v;
}
