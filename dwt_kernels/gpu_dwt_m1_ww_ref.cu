// gpu_dwt_m1_ww_ref: matrix-based DWT, one output a thread, the filter wrapped with a modulo division. The reference of its paper.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.1, Listing 5. The guard against threads beyond N is not in the listing,
// where N is a power of two and the blocks divide it.

// K:   filter length, even
// N:   transform size, even; launched with N threads or more
// x:   N values of the signal
// y:   N coefficients: low band at even places, high band at odd ones
// gh:  2 x K filter coefficients, low-pass first
__global__ void gpu_dwt_m1_ww_ref(int K, int N, float *x, float *y, float *gh)
{
    float v = 0;
    int i, k1, k2, id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N)
        return;

    k1 = 2 * (id / 2);
    k2 = (id % 2) * K;   // odd outputs take the second filter
    for (i = 0; i < K; i++)
    {
        v = v + x[k1] * gh[k2];
        k1 = (k1 + 1) % N;
        k2 = k2 + 1;
    }
    y[id] = v;
}
