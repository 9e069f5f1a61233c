// The discrete Hartley transform by its definition: each thread sums one coefficient.
//
// R. N. Bracewell, Discrete Hartley transform (1983). X[k] = sum of x[n] cas(2 pi n k / N), where cas is cos + sin.

// N:    size of the transform; launched with N threads or more
// x:    N values
// X:    N coefficients
// cas:  cas(2 pi i / N) for i = 0, …, N - 1
__global__ void hartley(int N, float *x, float *X, float *cas)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= N)
        return;
    float sum = 0;
    int angle = 0;
    for (int n = 0; n < N; n++)
    {
        sum += x[n] * cas[angle];
        angle = (angle + k) % N;
    }
    X[k] = sum;
}
