// The inverse of ltt.cu: one stage of the lattice, from its last stage back to its first, in place.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), Fig. 1 (inverse) and Listing 8, which is the forward direction. Launched for k = 0, …, L - 1: first the
// scaling, then the butterflies, each with the places of the forward stage that it undoes.

// k:      how many stages are undone already
// L:      number of stages, K / 2 + 1
// N:      transform size, even; launched with N / 2 threads or more
// data:   N values: the coefficients, where ltt leaves them, before the first launch; the signal after the last
// coefs:  two coefficients a stage, in the order of the forward stages: those of the inverse butterfly [1 t; s 1] are [1 -t; -s 1], and
//         the scaling takes with it what the determinants 1 - t s leave over
__global__ void ltt_inverse(int k, int L, int N, float *data, float *coefs)
{
    int stage, k0, k1, k2;
    float t, s, a, b;

    stage = L - 1 - k;
    k0 = 2 * stage;
    k1 = 2 * (threadIdx.x + blockDim.x * blockIdx.x) + (stage % 2);
    if (k1 >= N)
        return;
    k2 = (k1 + 1) % N;
    t = coefs[k0];
    s = coefs[k0 + 1];
    a = data[k1];
    b = data[k2];
    if (k > 0)
    {
        data[k1] = a + t * b;
        data[k2] = s * a + b;
    }
    else
    {
        data[k1] = t * a;
        data[k2] = s * b;
    }
}
