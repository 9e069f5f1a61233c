// The discrete cosine transform (DCT-II) by its definition: each thread sums one coefficient.
//
// N. Ahmed, T. Natarajan, K. R. Rao, Discrete cosine transform (1974), without scale factors: X[k] = sum of x[n] cos(pi (2 n + 1) k / (2 N)).

// N:        size of the transform; launched with N threads or more
// x:        N values
// X:        N coefficients
// cosines:  cos(2 pi i / (4 N)) for i = 0, …, 4 N - 1
__global__ void dct2_naive(int N, float *x, float *X, float *cosines)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= N)
        return;
    float sum = 0;
    int angle = k;
    for (int n = 0; n < N; n++)
    {
        sum += x[n] * cosines[angle];
        angle = (angle + 2 * k) % (4 * N);
    }
    X[k] = sum;
}
