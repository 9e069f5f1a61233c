// The lattice-based discrete wavelet transform: one stage of butterfly operations, in place.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), Listing 8 and equation 3. A transform with filters of length K is L = K / 2 + 1 launches of N / 2 threads,
// with k = 0, …, L - 1. The guard is not in the listing, where N is a power of two and the blocks divide N / 2.
//
// Every stage pairs neighbours that stand one place further right, so that output pair m of the transform (the low and the high band that
// begin at data[2 * m]) ends at places 2 * m + K / 2 - 1 and the next, modulo N. The last stage begins one place further still: its
// first coefficient scales the high band, its second the low band.

// k:      stage
// L:      number of stages, K / 2 + 1
// N:      transform size, even
// data:   N values: the signal before the first stage, the coefficients after the last
// coefs:  two coefficients a stage
__global__ void ltt(int k, int L, int N, float *data, float *coefs)
{
    int k0, k1, k2;
    float t, s, a, b;

    k0 = 2 * k;
    k1 = 2 * (threadIdx.x + blockDim.x * blockIdx.x) + (k % 2);   // odd stages pair the neighbours the other way
    if (k1 >= N)
        return;
    k2 = (k1 + 1) % N;
    t = coefs[k0];
    s = coefs[k0 + 1];
    a = data[k1];
    b = data[k2];
    if (k < L - 1)
    {
        data[k1] = a + t * b;
        data[k2] = s * a + b;
    }
    else   // the last stage only scales
    {
        data[k1] = t * a;
        data[k2] = s * b;
    }
}
