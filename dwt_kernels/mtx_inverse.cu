// The inverse of mtx.cu: each thread multiplies one column of the transform matrix with the coefficients.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), section 3: for an orthogonal transform the inverse is the transposed matrix (equation 2), and has the same
// structure. The paper prints no kernel for it; this one is Listing 6 with rows and columns exchanged.

// K:      filter length, even
// N:      transform size, even; launched with N threads or more
// idata:  N coefficients: low band at even places, high band at odd ones, as mtx leaves them
// odata:  N values of the signal
// coefs:  2 x K filter coefficients, low-pass first: those of mtx
__global__ void mtx_inverse(int K, int N, float *idata, float *odata, float *coefs)
{
    int id, k1, k2, i;
    float v = 0.0f;

    id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N)
        return;
    k1 = 2 * (id / 2);   // the last pair of rows that has something in this column …
    k2 = id % 2;         // … and where the column cuts its filters
    for (i = 0; i < K; i += 2)
    {
        v = v + idata[k1] * coefs[k2] + idata[k1 + 1] * coefs[K + k2];
        k1 = (k1 + N - 2) % N;   // the pair of rows above begins two columns to the left
        k2 += 2;
    }
    odata[id] = v;
}
