// The three-dimensional fast wavelet transform of a video with Daubechies' W4, one level in each dimension.
//
// G. Bernabé, Parallel 3D fast wavelet transform comparison on CPUs and GPUs (Ann. Mult. GPU Prog.), section 6.1, Figs. 2 to 4. Four
// frames are on the device at a time. From them come one frame of the reference video (H, low band in time) and one of the detailed video
// (G, high band); then the window moves on by two frames, of which the new ones take the place of the oldest. Both result frames are
// transformed along their rows, then along their columns. The paper prints no kernel; these follow its figures: blocks of 128
// threads, of which each loads four pixels into shared memory and makes one pair H, G. Video, rows and columns are periodic.

constexpr int threads = 128;

// Daubechies' filter of four taps: I. Daubechies, Ten Lectures on Wavelets (1992), Table 6.1, scaled to a sum of sqrt(2).
constexpr float h0 = 0.48296291314453416f, h1 = 0.8365163037378079f, h2 = 0.2241438680420134f, h3 = -0.12940952255126037f;

__device__ float low(float a, float b, float c, float d)
{
    return h0 * a + h1 * b + h2 * c + h3 * d;
}

__device__ float high(float a, float b, float c, float d)
{
    return h3 * a - h2 * b + h1 * c - h0 * d;
}

// Along time: pixel i of four frames.
//
// pixels:    of a frame, rows * columns; launched with ceil(pixels / 128) blocks of 128 threads
// first:     which of the four frames in memory is the earliest: 0 in even iterations, 2 in odd ones
// frames:    four frames
// reference, detailed: one frame each
__global__ void fwt_frames(int pixels, int first, float *frames, float *reference, float *detailed)
{
    __shared__ float pixel[4][threads];

    int i = blockIdx.x * threads + threadIdx.x;
    if (i < pixels)
        for (int frame = 0; frame < 4; frame++)
            pixel[frame][threadIdx.x] = frames[(first + frame) % 4 * pixels + i];
    __syncthreads();
    if (i >= pixels)
        return;
    float a = pixel[0][threadIdx.x], b = pixel[1][threadIdx.x], c = pixel[2][threadIdx.x], d = pixel[3][threadIdx.x];
    reference[i] = low(a, b, c, d);
    detailed[i] = high(a, b, c, d);
}

// Along the rows: low band to the left half, high band to the right. A block loads 258 neighbours and makes 128 pairs.
//
// columns:  of a frame, even; launched with ceil(columns / 256) blocks of 128 threads a row
__global__ void fwt_rows(int columns, float *in, float *out)
{
    __shared__ float pixel[2 * threads + 2];

    int half = columns / 2;
    int blocks = (half + threads - 1) / threads;
    int row = blockIdx.x / blocks * columns;
    int from = blockIdx.x % blocks * threads;   // the block's first pair

    pixel[threadIdx.x] = in[row + (2 * from + threadIdx.x) % columns];
    pixel[threadIdx.x + threads] = in[row + (2 * from + threadIdx.x + threads) % columns];
    if (threadIdx.x < 2)
        pixel[threadIdx.x + 2 * threads] = in[row + (2 * from + threadIdx.x + 2 * threads) % columns];
    __syncthreads();

    int k = from + threadIdx.x, i = 2 * threadIdx.x;
    if (k >= half)
        return;
    out[row + k] = low(pixel[i], pixel[i + 1], pixel[i + 2], pixel[i + 3]);
    out[row + half + k] = high(pixel[i], pixel[i + 1], pixel[i + 2], pixel[i + 3]);
}

// Along the columns: low band to the upper half, high band to the lower. Neighbouring threads have neighbouring columns, so that the four
// loads of a warp are coalesced each.
//
// rows, columns: of a frame, rows even; launched with ceil(columns / 128) blocks of 128 threads for each of the rows / 2 pairs
__global__ void fwt_columns(int rows, int columns, float *in, float *out)
{
    __shared__ float pixel[4][threads];

    int blocks = (columns + threads - 1) / threads;
    int k = blockIdx.x / blocks;
    int column = blockIdx.x % blocks * threads + threadIdx.x;
    if (column < columns)
        for (int j = 0; j < 4; j++)
            pixel[j][threadIdx.x] = in[(2 * k + j) % rows * columns + column];
    __syncthreads();
    if (column >= columns)
        return;
    float a = pixel[0][threadIdx.x], b = pixel[1][threadIdx.x], c = pixel[2][threadIdx.x], d = pixel[3][threadIdx.x];
    out[k * columns + column] = low(a, b, c, d);
    out[(rows / 2 + k) * columns + column] = high(a, b, c, d);
}
