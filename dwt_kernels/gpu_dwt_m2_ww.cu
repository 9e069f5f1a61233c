// gpu_dwt_m2_ww: matrix-based DWT, two outputs a thread (one of each band), the filters wrapped with a comparison.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.2, Listing 6 (there called GPU-B). Restored from the text: the loop's `k += 2`
// and its opening brace. The guard is not in the listing, where N is a power of two and the blocks divide N / 2.

// K:       filter length, even
// N:       transform size, even; launched with N / 2 threads or more
// Nd2:     N / 2
// y:       N values of the signal
// x:       N coefficients: low band, then high band
// hp, gp:  K filter coefficients each, low-pass and high-pass
__global__ void gpu_dwt_m2_ww(int K, int N, int Nd2, float *y, float *x, float *hp, float *gp)
{
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= Nd2)
        return;

    int i = i1 * 2, k, ik;
    float t1 = y[i] * hp[0] + y[i + 1] * hp[1];
    float t2 = y[i] * gp[0] + y[i + 1] * gp[1];
    for (k = 2; k < K; k += 2)
    {
        if ((ik = i + k) >= N)
            ik -= N;
        t1 += y[ik] * hp[k] + y[ik + 1] * hp[k + 1];
        t2 += y[ik] * gp[k] + y[ik + 1] * gp[k + 1];
    }
    x[i1] = t1;
    x[i1 + Nd2] = t2;
}
