// `Matrix` of Table 3 of Luo and Suda (2011): the product of two matrices of 256 x 256, a value at a time. The size of b is a constant, as in the
// programs of that time, and the loop is left rolled, as nvcc 3.2 leaves it.

constexpr int size = 256;

// rows: of a, such as 256
// a:    rows x size matrix, row by row
// b:    size x size matrix, row by row
// c:    their product
__global__ void matrix(int rows, const float *a, const float *b, float *c)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * size; i += threads)
    {
        const float *row = a + i / size * size, *column = b + i % size;
        float sum = 0;
#pragma unroll 1
        for (int k = size; k > 0; k--)
        {
            sum += *row * *column;
            row++;
            column += size;
        }
        c[i] = sum;
    }
}
