// Matrix times vector, the naive way: each thread multiplies one row of the matrix with the vector.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), Listing 2. The guard is not in the listing, where the blocks divide N.

// N:        size of the vectors; launched with N threads or more
// mtx:      N x N matrix, row by row
// vec_in:   N values
// vec_out:  N values, zero before the launch
__global__ void mtx_mul_vec(int N, float *mtx, float *vec_in, float *vec_out)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= N)
        return;
    for (int j = 0; j < N; j++)
        vec_out[i] += mtx[i * N + j] * vec_in[j];
}
