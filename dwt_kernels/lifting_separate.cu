// The lifting-based wavelet transform of columns from one buffer into another, in vertically long blocks with a sliding window: with the rows
// of lifting_laan.cu, the previous method that the unified buffer is compared with.
//
// W. J. van der Laan, A. C. Jalba, J. B. T. M. Roerdink, Accelerating wavelet lifting on graphics hardware using CUDA (2011), as described in
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), sections 2, 3.1, 4.1 and 5.3: a warp has a row of 32 neighbouring columns, a block is responsible for r = 256 values of each, and
// reads h = 6 more to each side. Block layout: the low band's rows, then those of the high band. Deslauriers-Dubuc (13,7) wavelet
// (equations 1 and 2); signals are periodic.

constexpr int pairs = 128;   // a block makes 128 rows of each band: r = 256
constexpr int halo = 3;      // pairs to each side: h = 6 values
constexpr int strip = 32;    // columns of a block, one for each lane of a warp
constexpr int step = 8;      // pairs by which the window slides, one for each warp
constexpr int window = 32;   // pairs in shared memory: a slide's 8 and what is needed before and after, a power of two for cheap remainders

__device__ float predicted(float odd, float a, float b, float c, float d)
{
    return odd - (-1.0f / 16 * (a + d) + 9.0f / 16 * (b + c));
}

__device__ float updated(float even, float a, float b, float c, float d)
{
    return even + (-1.0f / 32 * (a + d) + 9.0f / 32 * (b + c));
}

// Every value of the block's 256 rows and of the 6 to each side is loaded once: 2 (1 + h/r) loads and stores for each value of the image.
//
// rows:    length of a column, even, 8 at least
// columns: a multiple of 32; launched with columns / 32 * ceil(rows / 256) blocks of 256 threads
// in:      an image of rows x columns values
// out:     its coefficients: rows of the low band, then of the high band
__global__ void window_columns(int rows, int columns, float *in, float *out)
{
    __shared__ float even[window][strip], odd[window][strip];

    int strips = columns / strip;
    int lane = threadIdx.x % strip, warp = threadIdx.x / strip;
    int from = blockIdx.x / strips * pairs;   // the block's first pair
    int half = rows / 2;
    in += blockIdx.x % strips * strip + lane;
    out += blockIdx.x % strips * strip + lane;

    // Pair from + p - halo of the column is at place p modulo `window` of the arrays. The window begins with the halo above, and what
    // the first value's filters reach below it.
    if (warp < 2 * halo)
    {
        int row = (2 * (from - halo + warp) + rows) % rows;
        even[warp][lane] = in[row * columns];
        odd[warp][lane] = in[(row + 1) * columns];
    }
    int row = 2 * (from + halo + warp) % rows;
    float next_even = in[row * columns], next_odd = in[(row + 1) * columns];
    __syncthreads();
    if (warp < 3)   // the high band at pairs from - 2 to from, in place of the odd values
        odd[warp + 1][lane] = predicted(odd[warp + 1][lane], even[warp][lane], even[warp + 1][lane], even[warp + 2][lane], even[warp + 3][lane]);

    for (int t = 0; t < pairs; t += step)
    {
        even[(t + warp + 2 * halo) % window][lane] = next_even;
        odd[(t + warp + 2 * halo) % window][lane] = next_odd;
        __syncthreads();
        if (t + step < pairs)   // loads of the next slide are under way while this one is computed
        {
            row = 2 * (from + t + step + halo + warp) % rows;
            next_even = in[row * columns];
            next_odd = in[(row + 1) * columns];
        }
        int k = t + warp + halo + 1;
        odd[k % window][lane] = predicted(odd[k % window][lane], even[(k - 1) % window][lane], even[k % window][lane],
                                          even[(k + 1) % window][lane], even[(k + 2) % window][lane]);
        __syncthreads();
        int i = t + warp + halo;
        float high = odd[i % window][lane];
        if (from + t + warp < half)
        {
            out[(from + t + warp) * columns] =
                updated(even[i % window][lane], odd[(i - 2) % window][lane], odd[(i - 1) % window][lane], high, odd[(i + 1) % window][lane]);
            out[(half + from + t + warp) * columns] = high;
        }
    }
}
