// The fast Walsh-Hadamard transform: one stage of butterflies a launch, in place, in the order of Hadamard's matrix.
//
// B. J. Fino, V. R. Algazi, Unified matrix treatment of the fast Walsh-Hadamard transform (1976). X[k] = sum of x[n] (-1)^(number of ones in n AND k).

// N:  size of the transform, a power of two; launched with N / 2 threads or more
// h:  distance of the two values of a butterfly: 1, 2, 4, …, N / 2
// x:  N values
__global__ void walsh_hadamard(int N, int h, float *x)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N / 2)
        return;
    int i = j / h * 2 * h + j % h;
    float a = x[i];
    float b = x[i + h];
    x[i] = a + b;
    x[i + h] = a - b;
}
