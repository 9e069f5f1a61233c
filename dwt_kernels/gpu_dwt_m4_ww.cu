// gpu_dwt_m4_ww: matrix-based DWT, four outputs a thread (two neighbours of each band), the filters wrapped with a comparison.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.3, Listing 7. The one comparison wraps both pairs of outputs: at ik = N - 2 the second pair, two
// samples further along, begins again at y[0], and the first reads y[-2] and y[-1]. So the signal is preceded by its own last two samples.
// Restored from the text: the loop's `k += 2`. The guard is not in the listing, where N is a power of two and the blocks divide N / 4.
#include <cuda_runtime.h>

// K:       filter length, even
// N:       transform size, a multiple of 4, not less than K; launched with N / 4 threads or more
// Nd2:     N / 2
// y:       the signal's last two values, y[-2] and y[-1], then its N values from y[0] on
// x:       N coefficients: low band, then high band
// hp, gp:  K filter coefficients each, low-pass and high-pass
__global__ void gpu_dwt_m4_ww(int K, int N, int Nd2, float *y, float *x, float *hp, float *gp)
{
    int i1 = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i1 >= Nd2)
        return;

    int i = i1 * 2, k, ik;
    float t1 = y[i] * hp[0] + y[i + 1] * hp[1];
    float t2 = y[i] * gp[0] + y[i + 1] * gp[1];
    float t3 = y[i + 2] * hp[0] + y[i + 3] * hp[1];
    float t4 = y[i + 2] * gp[0] + y[i + 3] * gp[1];
    for (k = 2; k < K; k += 2)
    {
        if ((ik = i + k) >= N - 2)
            ik -= N;
        t1 += y[ik] * hp[k] + y[ik + 1] * hp[k + 1];
        t2 += y[ik] * gp[k] + y[ik + 1] * gp[k + 1];
        t3 += y[ik + 2] * hp[k] + y[ik + 3] * hp[k + 1];
        t4 += y[ik + 2] * gp[k] + y[ik + 3] * gp[k + 1];
    }
    x[i1] = t1;
    x[i1 + 1] = t3;
    x[i1 + Nd2] = t2;
    x[i1 + Nd2 + 1] = t4;
}

// Before the launch, once the signal is in y on the device: its last two samples again, before the first one.
inline cudaError_t expand(int N, float *y)
{
    return cudaMemcpy(y - 2, y + N - 2, 2 * sizeof(float), cudaMemcpyDeviceToDevice);
}
