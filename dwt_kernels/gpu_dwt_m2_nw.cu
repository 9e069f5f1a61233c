// gpu_dwt_m2_nw: matrix-based DWT, two outputs a thread (one of each band), without wrapping: the signal is followed by its own first K - 2
// samples, so that no filter has to begin again.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.4, Listing 8. The listing is missing from the text; this is Listing 9 (the same
// with four outputs a thread) with its first pair alone, and Listing 6 without its wrap, which agree. The guard is not in the listings,
// where N is a power of two and the blocks divide N / 2.
#include <cuda_runtime.h>

// K:       filter length, even
// Nd2:     N / 2, where the transform has size N, even; launched with N / 2 threads or more
// y:       N values of the signal, then its first K - 2 again
// x:       N coefficients: low band, then high band
// hp, gp:  K filter coefficients each, low-pass and high-pass
__global__ void gpu_dwt_m2_nw(int K, int Nd2, float *y, float *x, float *hp, float *gp)
{
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= Nd2)
        return;

    int i = i1 * 2, k;
    float t1 = y[i] * hp[0] + y[i + 1] * hp[1];
    float t2 = y[i] * gp[0] + y[i + 1] * gp[1];
    for (k = 2; k < K; k += 2)
    {
        t1 += y[i + k] * hp[k] + y[i + k + 1] * hp[k + 1];
        t2 += y[i + k] * gp[k] + y[i + k + 1] * gp[k + 1];
    }
    x[i1] = t1;
    x[i1 + Nd2] = t2;
}

// The data expansion, once the signal is in y on the device and before the launch: the first K - 2 samples again, after the last one.
inline cudaError_t expand(int K, int N, float *y)
{
    return cudaMemcpy(y + N, y, (K - 2) * sizeof(float), cudaMemcpyDeviceToDevice);
}
