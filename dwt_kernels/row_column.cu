// What makes a two-dimensional transform of a one-dimensional one: rows padded and laid end to end, and transposition.
//
// D. Puchala, K. Stokfiszewski, K. Wieloch, Execution time prediction model for parallel GPU realization of discrete transforms
// computation algorithms (2022), Fig. 2: every row of a matrix is followed by its own first K - 2 elements, cyclically, and all rows in one
// line are transformed at once by the kernel for one dimension (mtx.cu, ltt.cu, or their inverses). The filters that begin in a row never
// reach beyond its padding, so that the rows stay apart; what the padding itself gives is dropped. Then the matrix is transposed, its
// columns are transformed as rows, and it is transposed back.

// rows, columns: of the matrix
// pitch:  length of a padded row: columns + K - 2
// shift:  column of the matrix that comes first in a padded row, not below 0. 0: the padding follows the row; columns - (K - 2): it comes
//         before the row, as the inverse needs it. Launched with rows * pitch threads or more.
// in:     rows x columns values
// out:    rows x pitch values
__global__ void pad_rows(int rows, int columns, int pitch, int shift, float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * pitch)
        return;
    int row = i / pitch;
    int column = (i % pitch + shift) % columns;
    out[i] = in[row * columns + column];
}

// Drops the padding and transposes. A block of 32 x 8 threads moves a tile of 32 x 32 values through shared memory, so that both the reads
// and the writes of a warp are neighbours in memory. The tiles are numbered along the rows of the matrix: ceil(columns / 32) of them, then
// the next 32 rows.
//
// first:  column of a padded row where the matrix begins
// in:     rows x pitch values
// out:    columns x rows values
__global__ void crop_transpose(int rows, int columns, int pitch, int first, float *in, float *out)
{
    __shared__ float tile[32][33];   // a 33rd column puts the 32 values of a column into different banks

    int tiles = (columns + 31) / 32;
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int column = 32 * (blockIdx.x % tiles), row = 32 * (blockIdx.x / tiles);

    for (int i = y; i < 32; i += 8)
        if (row + i < rows && column + x < columns)
            tile[i][x] = in[(row + i) * pitch + first + column + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (column + i < columns && row + x < rows)
            out[(column + i) * rows + row + x] = tile[x][i];
}
