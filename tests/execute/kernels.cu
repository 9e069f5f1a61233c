// Kernels that the executor's tests run, each a shape that compilers make something of its own from. kernels_test.cc has what they must give.

// Each warp sums its numbers by shuffles, each block by shared memory.
__global__ void sums(int n, const int *in, int *out)
{
    __shared__ int parts[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; w++) total += parts[w];
        out[blockIdx.x] = total;
    }
}

// A tree in dynamic shared memory: halving strides, a barrier in a loop.
extern __shared__ float tree[];
__global__ void tree_sums(const float *in, float *out)
{
    tree[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) tree[threadIdx.x] += tree[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tree[0];
}

// Steps to 1: loops of different lengths in the lanes of a warp, 64-bit arithmetic, two sides.
__global__ void collatz(int n, int *steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = i + 1;
    int count = 0;
    while (x != 1) {
        if (x % 2 == 0) x /= 2;
        else x = 3 * x + 1;
        if (++count == 200) break;
    }
    steps[i] = count;
}

__global__ void histogram(int n, const unsigned char *in, unsigned *bins)
{
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__device__ __noinline__ int power(int base, int exponent)
{
    if (exponent == 0) return 1;
    int half = power(base, exponent / 2);
    return exponent % 2 == 0 ? half * half : half * half * base;
}
struct Pair { int x; long long y; };
__device__ __noinline__ Pair both(Pair a, int scale)
{
    Pair result;
    result.x = a.x * scale;
    result.y = a.y + a.x;
    return result;
}
__global__ void calls(Pair start, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair p = both(start, i);
    out[i] = power(3, i % 8) + p.x + p.y;
}

// 16 x 16 tiles through shared memory, padded.
__global__ void transpose(int width, const double *in, double *out)
{
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * width + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__constant__ float taps[8] = {0.5f, -0.25f, 0.125f, 1.0f, -1.0f, 2.0f, 0.75f, 0.0625f};
__device__ int launches = 5;
__global__ void filter(int n, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += taps[k] * in[(i + k) % n];
    out[i] = sum;
    if (i == 0) launches++;
}

// An array of the thread's own, indexed by data: local memory. A switch: perhaps a jump table.
__global__ void machine(int n, const int *code, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[8] = {i, 1, 2, 3, 4, 5, 6, 7};
    for (int k = 0; k < n; k++) {
        int op = code[k];
        int &top = stack[(op >> 4) & 7];
        switch (op & 15) {
            case 0: top += 5; break;
            case 1: top *= 3; break;
            case 2: top -= stack[(i + k) & 7]; break;
            case 3: top ^= k; break;
            case 4: top = -top; break;
            case 5: top >>= 1; break;
            case 6: if (top > 100) top = 100; break;
            default: top = stack[0];
        }
    }
    int sum = 0;
    for (int k = 0; k < 8; k++) sum = sum * 31 + stack[k];
    out[i] = sum;
}

__global__ void bit_tricks(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    unsigned y = __brev(x) ^ (__popc(x) * 0x01010101u) ^ (unsigned)__clz(x) << 8 ^ __byte_perm(x, ~x, 0x3715);
    y += __umulhi(x, 0x9e3779b9u) + (x / 7) + (x % 1000) + (unsigned)__ffs(x);
    unsigned long long wide = ((unsigned long long)x << 32 | y) * 0x123456789abcdefull;
    out[i] = (unsigned)(wide >> 29) ^ (unsigned)(wide % 1000003u);
}

__global__ void vectors(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.w, v.z, v.y + v.x, v.x / v.y);
}

// Doubles, conversions, and comparisons of every kind.
__global__ void numbers(const double *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    float f = (float)x;
    long long whole = (long long)x;
    unsigned char byte = (unsigned char)(int)x;
    short s = (short)whole;
    out[i] = x * 0.5 + f + whole + byte + s + (x > 3 ? 1.0 : x < -3 ? -1.0 : 0.25) + __dsqrt_rn(x * x + 1) + __ddiv_rn(1.0, x * x + 2);
}

// All threads of a warp vote; the odd ones match.
__global__ void votes(const int *in, unsigned *out)
{
    int i = threadIdx.x;
    unsigned ballot = __ballot_sync(0xffffffffu, in[i] > 0);
    int all = __all_sync(0xffffffffu, in[i] > -100), any = __any_sync(0xffffffffu, in[i] == 7);
    unsigned same = __match_any_sync(0xffffffffu, in[i] & 3);
    out[i] = ballot ^ same ^ (unsigned)(all * 2 + any) ^ (unsigned)__shfl_xor_sync(0xffffffffu, in[i], 5);
}
