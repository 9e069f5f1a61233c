// Matrix times matrix in tiles: a block makes 16 x 16 values of the product from pairs of tiles that it loads into shared memory, so that every value
// is loaded from global memory once for 16 uses.

constexpr int tile = 16;

// N:     size of the matrices; launched with ceil(N / 16)^2 blocks of 256 threads
// a, b:  N x N matrices, row by row
// c:     their product
__global__ void mtx_mul_mtx(int N, float *a, float *b, float *c)
{
    __shared__ float of_a[tile][tile], of_b[tile][tile];

    int x = threadIdx.x % tile, y = threadIdx.x / tile;
    int tiles = (N + tile - 1) / tile;
    int row = blockIdx.x / tiles * tile + y, column = blockIdx.x % tiles * tile + x;

    float sum = 0;
    for (int k = 0; k < tiles; k++)
    {
        // Beyond the matrices' edges there are zeros.
        of_a[y][x] = row < N && k * tile + x < N ? a[row * N + k * tile + x] : 0;
        of_b[y][x] = k * tile + y < N && column < N ? b[(k * tile + y) * N + column] : 0;
        __syncthreads();
        for (int i = 0; i < tile; i++)
            sum += of_a[y][i] * of_b[i][x];
        __syncthreads();
    }
    if (row < N && column < N)
        c[row * N + column] = sum;
}
