// The lifting-based wavelet transform in one buffer: odd samples are moved behind the even ones in place, then both are lifted in place.
//
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), section 4: Algorithm 1 (chunk generation), Algorithm 2 (chunk rearrangement), equations 1 and 2 (lifting), with a high-pass and a
// low-pass kernel, as in sections 3 and 3.1. Beside the data, n values, there is only the array of representative elements, fewer than
// ceil(n / 2b) numbers; a separate output buffer (lifting_laan.cu) would take n more.
//
// An image of rows x columns values is transformed row by row, then column by column. For rows, a chunk is b values of one row. For columns,
// a row of the image takes the part of a chunk: even and odd chunks then alternate from the start, so that there is nothing to generate.
// Signals are periodic. The wavelets, with their steps in order:
//   Deslauriers-Dubuc (13,7)  high += lift4(-1, 1/16, -9/16);                    low += lift4(-2, -1/32, 9/32)
//   5/3                       high += lift2(0, -1/2);                            low += lift2(-1, 1/4)
//   9/7                       high += lift2(0, -1.586134); low += lift2(-1, -0.052980); high += lift2(0, 0.882911); low += lift2(-1, 0.443507),
//                             then low and high are scaled by 1.149604 and its inverse

constexpr int largest_chunk = 512;   // elements: b of the paper, for blocks of 1024 threads

// The smallest chunk number of every circular permutation (Algorithm 3, computed on the CPU), in constant memory: 64 KiB of it at most.
__constant__ int representatives[16384];

// Algorithm 1: within every segment of 2b values, the even ones first. One block of 2b threads a segment.
//
// b:  values in a chunk, at most 512
// x:  the data, a multiple of 2b values
__global__ void chunk_generation(int b, float *x)
{
    // A column for the even values, one for the odd ones, and one that puts neighbours of a column into different banks.
    __shared__ float s[largest_chunk][3];

    int i = threadIdx.x;
    int j = blockIdx.x;
    s[i / 2][i % 2] = x[2 * b * j + i];
    __syncthreads();
    int k = i < b ? 2 * i : 2 * (i - b) + 1;
    x[2 * b * j + i] = s[k / 2][k % 2];
}

// Algorithm 2: even chunks first, then the odd ones, by moving the chunks of one circular permutation one after the other. The chunk that
// belongs at place i stands at 2 i mod (2m - 1). One block a permutation and signal, one thread a value of a chunk.
//
// chunks:        2m, the chunks of one signal
// l:             number of representative elements; launched with l blocks a signal
// offset:        where they begin in the array, which may hold those of rows and of columns
// signal_stride: from a value of one signal to that of the next: the row's length, or for columns the block's width
// chunk_stride:  from one chunk to the next: b, or for columns the row's length
__global__ void chunk_rearrangement(int chunks, int l, int offset, int signal_stride, int chunk_stride, float *x)
{
    int first = representatives[offset + blockIdx.x % l];
    float *signal = x + blockIdx.x / l * signal_stride + threadIdx.x;

    float w = signal[first * chunk_stride];
    int i = first;
    int next = 2 * i % (chunks - 1);
    do   // a permutation has two chunks at least: the first and the last chunk, which stay, are none
    {
        signal[i * chunk_stride] = signal[next * chunk_stride];
        i = next;
        next = 2 * i % (chunks - 1);
    } while (next != first);
    signal[i * chunk_stride] = w;
}

// The values of a block and the `halo` after them, from place `from` of a periodic signal on, in shared memory.
__device__ void load_window(float *window, const float *source, int half, int from, int halo)
{
    window[threadIdx.x] = source[(from + half + threadIdx.x) % half];
    if (threadIdx.x < halo)
        window[blockDim.x + threadIdx.x] = source[(from + half + blockDim.x + threadIdx.x) % half];
    __syncthreads();
}

// One lifting step along the rows, with two equal weights: target[t] += weight * (source[t + first] + source[t + first + 1]). Half of
// equations 1 and 2; target and source are different halves of the rows, so that the step can be done in place.
//
// half:    values in a band of a row; launched with ceil(half / blockDim.x) blocks a row, of 256 threads at most
// first:   of the neighbours, from -half on
// target, source: a band of the first row; the next row is 2 * half values further on
__global__ void lift2_rows(int half, int first, float weight, float *target, float *source)
{
    __shared__ float window[256 + 1];

    int blocks = (half + blockDim.x - 1) / blockDim.x;
    int row = blockIdx.x / blocks * 2 * half;
    int from = blockIdx.x % blocks * blockDim.x;
    load_window(window, source + row, half, from + first, 1);
    int t = from + threadIdx.x;
    if (t < half)
        target[row + t] += weight * (window[threadIdx.x] + window[threadIdx.x + 1]);
}

// One lifting step along the rows, with four weights: outer, inner, inner, outer, for source[t + first] to source[t + first + 3].
__global__ void lift4_rows(int half, int first, float outer, float inner, float *target, float *source)
{
    __shared__ float window[256 + 3];

    int blocks = (half + blockDim.x - 1) / blockDim.x;
    int row = blockIdx.x / blocks * 2 * half;
    int from = blockIdx.x % blocks * blockDim.x;
    load_window(window, source + row, half, from + first, 3);
    int t = from + threadIdx.x;
    if (t < half)
        target[row + t] += outer * (window[threadIdx.x] + window[threadIdx.x + 3]) + inner * (window[threadIdx.x + 1] + window[threadIdx.x + 2]);
}

// The same steps along the columns. A thread has one value; neighbouring threads have neighbouring columns, so that no shared memory is needed
// for reads to be coalesced.
//
// half:    rows in a band; launched with half * columns threads or more
__global__ void lift2_columns(int half, int columns, int first, float weight, float *target, float *source)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half * columns)
        return;
    int t = i / columns + first + half;
    source += i % columns;
    target[i] += weight * (source[t % half * columns] + source[(t + 1) % half * columns]);
}

__global__ void lift4_columns(int half, int columns, int first, float outer, float inner, float *target, float *source)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half * columns)
        return;
    int t = i / columns + first + half;
    source += i % columns;
    target[i] += outer * (source[t % half * columns] + source[(t + 3) % half * columns]) +
                 inner * (source[(t + 1) % half * columns] + source[(t + 2) % half * columns]);
}

// Multiplies every second run of `run` values by high, the others by low: run is the band's length for rows, and the band's rows times
// columns for columns. Launched with n threads or more.
__global__ void scale_bands(int n, int run, float low, float high, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] *= i / run % 2 == 0 ? low : high;
}
