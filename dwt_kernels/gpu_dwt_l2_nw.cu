// gpu_dwt_l2_nw: lattice-based DWT, one butterfly a thread, one stage a launch, without wrapping: the signal is followed by its own first
// K - 2 samples, and every stage works on one pair less at its end.
//
// K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of one-dimensional discrete wavelet transform algorithms for
// GPU architectures (2022), section 4.2.7, Listing 11. The listing shows the butterfly alone: without the scale psi, which
// Fig. 6b and the sequential Listing 4 have in their last stage. That last stage is the second kernel here, as Listing 4 has it: it also
// puts the bands apart. So there are K / 2 launches: gpu_dwt_l2_nw for k = 0, …, K / 2 - 2, then gpu_dwt_l2_nw_last. The guard keeps the
// threads of later stages, of which the paper launches (N + K - 2) / 2 in each, within the data, as the bounds of Listing 4's loop do.
#include <cuda_runtime.h>

// NK2:  N + K - 2, where the transform has size N and the filters K taps; launched with NK2 / 2 threads or more
// k:    stage
// a:    wtg[k], the tangent factor of the stage
// y:    N values of the signal, then its first K - 2 again; worked on in place
__global__ void gpu_dwt_l2_nw(int NK2, int k, float a, float *y)
{
    int i = k + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= NK2 - k)
        return;

    float t = y[i] + a * y[i + 1];
    y[i + 1] = a * y[i] - y[i + 1];
    y[i] = t;
}

// The last stage.
//
// Nd2:  N / 2; launched with as many threads or more
// k:    K / 2 - 1
// a:    wtg[K / 2 - 1]
// psi:  wtg[K / 2], the scale
// y:    what the other stages left
// x:    N coefficients: low band, then high band
__global__ void gpu_dwt_l2_nw_last(int Nd2, int k, float a, float psi, float *y, float *x)
{
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= Nd2)
        return;

    int i = k + 2 * i1;
    x[i1] = (a * y[i] - y[i + 1]) * psi;
    x[i1 + Nd2] = (y[i] + a * y[i + 1]) * psi;
}

// The data expansion, once the signal is in y on the device and before the launch: the first K - 2 samples again, after the last one.
inline cudaError_t expand(int K, int N, float *y)
{
    return cudaMemcpy(y + N, y, (K - 2) * sizeof(float), cudaMemcpyDeviceToDevice);
}
