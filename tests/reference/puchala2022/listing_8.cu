// Puchala et al. (2022), Listing 8 as printed: one stage of the lattice-based DWT, without the guard of dwt_kernels/ltt.cu.
// With --rolled --rearrange its program has the items of Listing 9 (samples/puchala2022/listing_9.yaml).
__global__ void ltt(int k, int L, int N, float *data, float *coefs)
{
    int k0, k1, k2;
    float t, s, a, b;
    k0 = 2 * k;
    k1 = 2 * (threadIdx.x + blockDim.x * blockIdx.x) + (k % 2);
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
    else
    {
        data[k1] = t * a;
        data[k2] = s * b;
    }
}
