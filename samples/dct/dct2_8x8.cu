// The two-dimensional DCT-II of an image's blocks of 8 x 8 pixels, as image and video coders use it: C X C' in shared memory.
//
// N. Ahmed, T. Natarajan, K. R. Rao, Discrete cosine transform (1974), with the orthonormal scale of ITU-T T.81 (JPEG), section A.3.3.

// basis[k][n] = s cos(pi (2 n + 1) k / 16), with s = sqrt(1 / 8) for k = 0 and 1 / 2 for the others.
__constant__ float basis[8][8] = {
    {0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f},
    {0.49039264f, 0.415734806f, 0.277785117f, 0.097545161f, -0.097545161f, -0.277785117f, -0.415734806f, -0.49039264f},
    {0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f, 0.461939766f},
    {0.415734806f, -0.097545161f, -0.49039264f, -0.277785117f, 0.277785117f, 0.49039264f, 0.097545161f, -0.415734806f},
    {0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f},
    {0.277785117f, -0.49039264f, 0.097545161f, 0.415734806f, -0.415734806f, -0.097545161f, 0.49039264f, -0.277785117f},
    {0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f, 0.191341716f},
    {0.097545161f, -0.277785117f, 0.415734806f, -0.49039264f, 0.49039264f, -0.415734806f, 0.277785117f, -0.097545161f},
};

// columns:  of the image, a multiple of 8, as its rows are. A block of 64 threads makes one block of pixels, one value a thread; launched with
//           rows / 8 * columns / 8 blocks.
// in, out:  rows x columns values
__global__ void dct2_8x8(int columns, float *in, float *out)
{
    __shared__ float pixels[8][8], half_done[8][8];

    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    int across = columns / 8;
    int at = (blockIdx.x / across * 8 + y) * columns + blockIdx.x % across * 8 + x;

    pixels[y][x] = in[at];
    __syncthreads();
    float sum = 0;
    for (int n = 0; n < 8; n++)
        sum += basis[x][n] * pixels[y][n];   // along the rows
    half_done[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int n = 0; n < 8; n++)
        sum += basis[y][n] * half_done[n][x];   // along the columns
    out[at] = sum;
}
