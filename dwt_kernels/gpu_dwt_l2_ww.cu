// gpu_dwt_l2_ww: lattice-based DWT, one butterfly a thread, one stage a launch, in place, the pairs wrapped with comparisons.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.6, Listing 10. Launched for k = 0, …, K / 2 - 1. The guard is not in the
// listing, where N is a power of two and the blocks divide N / 2.
//
// Every stage pairs neighbours that stand one place further right. The last one also scales, and exchanges its outputs, so that pair m
// of the transform is the low band's coefficient at place 2 * m + K / 2 - 1 and the high band's at the next, modulo N.

// K:    filter length, even
// N:    transform size, even; launched with N / 2 threads or more
// k:    stage
// a:    wtg[k], the tangent factor of the stage
// psi:  wtg[K / 2], the scale
// x:    N values: the signal before the first stage, the coefficients after the last
__global__ void gpu_dwt_l2_ww(int K, int N, int k, float a, float psi, float *x)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= N)
        return;

    int i1, i2;
    if ((i1 = i + k) >= N)
        i1 -= N;
    if ((i2 = i1 + 1) >= N)
        i2 -= N;
    float t1 = x[i1];
    float t2 = x[i2];
    if (k == K / 2 - 1)
    {
        t1 *= psi;
        t2 *= psi;
        int ii = i1;
        i1 = i2;
        i2 = ii;
    }
    x[i1] = t1 + a * t2;
    x[i2] = a * t1 - t2;
}
