// The lifting-based wavelet transform from one buffer into another. Columns have a thread each; lifting_separate.cu has sliding windows.
//
// W. J. van der Laan, A. C. Jalba, J. B. T. M. Roerdink, Accelerating wavelet lifting on graphics hardware using CUDA (2011), as described in
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), sections 2 and 3.1: rows in shared memory with a halo, and the block layout: the low band in one piece, then the high band.
// Deslauriers-Dubuc (13,7) wavelet (equations 1 and 2); signals are periodic.

constexpr int pairs = 128;   // a block of 128 threads makes 128 values of each band: r = 256
constexpr int halo = 3;      // pairs to each side: h = 6 values, four taps to predict and four to update

__device__ float predicted(float odd, float a, float b, float c, float d)
{
    return odd - (-1.0f / 16 * (a + d) + 9.0f / 16 * (b + c));
}

__device__ float updated(float even, float a, float b, float c, float d)
{
    return even + (-1.0f / 32 * (a + d) + 9.0f / 32 * (b + c));
}

// n:    length of a row, even; launched with ceil(n / 256) blocks of 128 threads a row
// in:   rows of n values
// out:  rows of n coefficients: low band, then high band
__global__ void laan_rows(int n, float *in, float *out)
{
    __shared__ float even[pairs + 2 * halo], odd[pairs + 2 * halo], high[pairs + 2 * halo];

    int half = n / 2;
    int blocks = (half + pairs - 1) / pairs;
    int row = blockIdx.x / blocks * n;
    int from = blockIdx.x % blocks * pairs;

    // Place i of the shared arrays is pair from + i - halo of the row. Two values a thread, and the last few by the first threads.
    int place = 2 * (from - halo + n) + threadIdx.x;
    float *into = threadIdx.x % 2 == 0 ? even : odd;
    into[threadIdx.x / 2] = in[row + place % n];
    into[threadIdx.x / 2 + pairs / 2] = in[row + (place + pairs) % n];
    if (threadIdx.x < 4 * halo)
        into[threadIdx.x / 2 + pairs] = in[row + (place + 2 * pairs) % n];
    __syncthreads();

    // High band, with the neighbours that the low band needs: pairs from - 2 to from + pairs.
    int k = threadIdx.x + 1;
    high[k] = predicted(odd[k], even[k - 1], even[k], even[k + 1], even[k + 2]);
    if (threadIdx.x < 3)
    {
        k += pairs;
        high[k] = predicted(odd[k], even[k - 1], even[k], even[k + 1], even[k + 2]);
    }
    __syncthreads();

    int t = from + threadIdx.x, i = threadIdx.x + halo;
    if (t < half)
    {
        out[row + t] = updated(even[i], high[i - 2], high[i - 1], high[i], high[i + 1]);
        out[row + half + t] = high[i];
    }
}

// One thread a column, with a window that slides down the rows in registers: every value is loaded once, but for the few that the
// wrapped ends need again.
//
// rows:    length of a column, even
// columns: launched with as many threads or more
__global__ void laan_columns(int rows, int columns, float *in, float *out)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    in += column;
    out += column;
    int half = rows / 2;

    // For pair t: even values t - 3 … t + 3 slide, of which the high band at t + 1 needs the last four.
    float e0 = in[(2 * half - 2) * columns];   // even value t - 1 at t = 0
    float e1 = in[0], e2 = in[2 % rows * columns], e3 = in[4 % rows * columns];
    float e_1 = in[(rows - 4 + rows) % rows * columns], e_2 = in[(rows - 6 + 2 * rows) % rows * columns];
    float d0 = predicted(in[(rows - 3 + rows) % rows * columns], e_2, e_1, e0, e1);   // high band at t - 2
    float d1 = predicted(in[(rows - 1) * columns], e_1, e0, e1, e2);                 // at t - 1
    float d2 = predicted(in[1 * columns], e0, e1, e2, e3);                            // at t
    for (int t = 0; t < half; t++)
    {
        float e4 = in[(2 * t + 6) % rows * columns];
        float d3 = predicted(in[(2 * t + 3) % rows * columns], e1, e2, e3, e4);
        out[t * columns] = updated(e1, d0, d1, d2, d3);
        out[(half + t) * columns] = d2;
        e1 = e2;
        e2 = e3;
        e3 = e4;
        d0 = d1;
        d1 = d2;
        d2 = d3;
    }
}
