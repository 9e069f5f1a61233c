// The lifting-based wavelet transform of images in one buffer, with the memory accesses of the paper: columns in chunks, as rows are, and each
// lifting of rows or columns in one pass over the data.
//
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), section 4.1 (chunk generation of columns, "without using the shared memory"), equations 1 and 2 (lifting) and Table 3. Algorithm 1
// for rows and Algorithm 2 are those of lifting_unified.cu: in a row-major image, a chunk of b rows is one run of values.
//
// Lifting reads r + 2h = 268 values for every r = 256 that it writes, as Table 3 has it. The paper does not say how a block keeps the values
// that its neighbours still need. Here a block lifts a whole row, or 32 whole columns, tile by tile: a tile's values are all loaded, its halo
// included, before the tile before it is stored, and what the last tile needs of the first is stored at the end.
// Deslauriers-Dubuc (13,7) wavelet; signals are periodic.

constexpr int pairs = 128;                // of a tile: r = 256 values
constexpr int halo = 3;                   // pairs to each side: h = 6 values
constexpr int tile = pairs + 2 * halo;    // pairs that are loaded
constexpr int strip = 32;                 // columns of a block, one for each lane of a warp
constexpr int each = pairs / 32;          // pairs of a tile for each of the 32 warps of lift_columns
constexpr int rows_of_thread = 32;        // values of a thread in chunk_generation_columns, in registers

__device__ float predicted(float odd, float a, float b, float c, float d)
{
    return odd - (-1.0f / 16 * (a + d) + 9.0f / 16 * (b + c));
}

__device__ float updated(float even, float a, float b, float c, float d)
{
    return even + (-1.0f / 32 * (a + d) + 9.0f / 32 * (b + c));
}

// Algorithm 1 for columns: within every segment of 2b rows, the even ones first. A block has 32 columns of a segment; its 2b threads hold all
// 64 b values in registers before they write the first.
//
// b:       rows in a chunk, a multiple of 16, at most 512
// columns: a multiple of 32; launched with columns / 32 * (rows / 2b) blocks of 2b threads
// x:       an image with a multiple of 2b rows
__global__ void __launch_bounds__(1024) chunk_generation_columns(int b, int columns, float *x)
{
    int strips = columns / strip;
    int lane = threadIdx.x % strip, warp = threadIdx.x / strip, warps = b / (strip / 2);
    x += blockIdx.x / strips * 2 * b * columns + blockIdx.x % strips * strip + lane;

    float value[rows_of_thread];
#pragma unroll
    for (int i = 0; i < rows_of_thread; i++)
        value[i] = x[(warp + i * warps) * columns];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows_of_thread; i++)
    {
        int row = warp + i * warps;
        x[(row / 2 + row % 2 * b) * columns] = value[i];
    }
}

// Equations 1 and 2 along the rows, in place, in one pass.
//
// half: values in a band of a row, 4 at least; launched with a block of 128 threads for each row
// x:    rows of 2 * half values: even ones, then odd ones; they become the low band, then the high band
__global__ void lift_rows(int half, float *x)
{
    __shared__ float even[tile], odd[tile];

    float *low = x + blockIdx.x * 2 * half, *high = low + half;
    int p = threadIdx.x;
    float next_even = low[(p - halo + half) % half], next_odd = high[(p - halo + half) % half];
    float more_even = 0, more_odd = 0, first_low = 0, first_high = 0;
    if (p < 2 * halo)
    {
        more_even = low[(p - halo + pairs) % half];
        more_odd = high[(p - halo + pairs) % half];
    }
    for (int from = 0; from < half; from += pairs)
    {
        even[p] = next_even;
        odd[p] = next_odd;
        if (p < 2 * halo)
        {
            even[p + pairs] = more_even;
            odd[p + pairs] = more_odd;
        }
        if (from + pairs < half)   // the next tile, whose halo is not overwritten yet
        {
            int next = from + pairs - halo + p;
            next_even = low[next % half];
            next_odd = high[next % half];
            if (p < 2 * halo)
            {
                more_even = low[(next + pairs) % half];
                more_odd = high[(next + pairs) % half];
            }
        }
        __syncthreads();
        // The high band in place of the odd values, with the neighbours that the low band needs: pairs from - 2 to from + 128.
        odd[p + 1] = predicted(odd[p + 1], even[p], even[p + 1], even[p + 2], even[p + 3]);
        if (p < 3)
            odd[p + 1 + pairs] = predicted(odd[p + 1 + pairs], even[p + pairs], even[p + 1 + pairs], even[p + 2 + pairs], even[p + 3 + pairs]);
        __syncthreads();
        float new_low = updated(even[p + halo], odd[p + 1], odd[p + 2], odd[p + 3], odd[p + 4]), new_high = odd[p + halo];
        if (from + p < halo)   // the last tile still needs what is there
        {
            first_low = new_low;
            first_high = new_high;
        }
        else if (from + p < half)
        {
            low[from + p] = new_low;
            high[from + p] = new_high;
        }
        __syncthreads();
    }
    if (p < halo)
    {
        low[p] = first_low;
        high[p] = first_high;
    }
}

// Equations 1 and 2 along the columns, in place, in one pass. A warp has a row of 32 neighbouring columns.
//
// half:    rows in a band, 4 at least
// columns: a multiple of 32; launched with columns / 32 blocks of 1024 threads
// x:       an image of 2 * half rows: even ones, then odd ones; they become the low band, then the high band
__global__ void __launch_bounds__(1024) lift_columns(int half, int columns, float *x)
{
    __shared__ float even[tile][strip], odd[tile][strip];

    int lane = threadIdx.x % strip, warp = threadIdx.x / strip;
    float *low = x + blockIdx.x * strip + lane, *high = low + half * columns;
    float next_even[each], next_odd[each], more_even = 0, more_odd = 0, first_low = 0, first_high = 0;
#pragma unroll
    for (int i = 0; i < each; i++)
    {
        int next = (warp + i * 32 - halo + half) % half;
        next_even[i] = low[next * columns];
        next_odd[i] = high[next * columns];
    }
    if (warp < 2 * halo)
    {
        more_even = low[(warp - halo + pairs) % half * columns];
        more_odd = high[(warp - halo + pairs) % half * columns];
    }
    for (int from = 0; from < half; from += pairs)
    {
#pragma unroll
        for (int i = 0; i < each; i++)
        {
            even[warp + i * 32][lane] = next_even[i];
            odd[warp + i * 32][lane] = next_odd[i];
        }
        if (warp < 2 * halo)
        {
            even[warp + pairs][lane] = more_even;
            odd[warp + pairs][lane] = more_odd;
        }
        if (from + pairs < half)   // the next tile, whose halo is not overwritten yet
        {
#pragma unroll
            for (int i = 0; i < each; i++)
            {
                int next = (from + pairs - halo + warp + i * 32) % half;
                next_even[i] = low[next * columns];
                next_odd[i] = high[next * columns];
            }
            if (warp < 2 * halo)
            {
                int next = (from + 2 * pairs - halo + warp) % half;
                more_even = low[next * columns];
                more_odd = high[next * columns];
            }
        }
        __syncthreads();
        // The high band in place of the odd values, with the neighbours that the low band needs: pairs from - 2 to from + 128.
#pragma unroll
        for (int i = 0; i < each; i++)
        {
            int k = warp + i * 32 + 1;
            odd[k][lane] = predicted(odd[k][lane], even[k - 1][lane], even[k][lane], even[k + 1][lane], even[k + 2][lane]);
        }
        if (warp < 3)
        {
            int k = warp + pairs + 1;
            odd[k][lane] = predicted(odd[k][lane], even[k - 1][lane], even[k][lane], even[k + 1][lane], even[k + 2][lane]);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < each; i++)
        {
            int k = warp + i * 32 + halo, t = from + warp + i * 32;
            float new_low = updated(even[k][lane], odd[k - 2][lane], odd[k - 1][lane], odd[k][lane], odd[k + 1][lane]);
            if (t < halo)   // the last tile still needs what is there
            {
                first_low = new_low;
                first_high = odd[k][lane];
            }
            else if (t < half)
            {
                low[t * columns] = new_low;
                high[t * columns] = odd[k][lane];
            }
        }
        __syncthreads();
    }
    if (warp < halo)
    {
        low[warp * columns] = first_low;
        high[warp * columns] = first_high;
    }
}
