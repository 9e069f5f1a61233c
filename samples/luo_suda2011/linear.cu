// `Linear` of Table 3 of Luo and Suda (2011): "image filter to compute 9-pixels avg", 800 x 800. The image has a border of one pixel, so that
// every pixel has nine neighbours; border pixels at the ends of lines get a mean, too, which nobody reads. The loop is left
// rolled, as nvcc 3.2 leaves it.

constexpr int width = 800, pitch = width + 2;

// height: of the image, such as 800
// in:     (height + 2) x pitch pixels, and two more
// out:    height x pitch pixels, each the mean of nine
__global__ void linear(int height, const float *in, float *out)
{
    int threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < height * pitch; i += threads)
    {
        const float *above = in + i, *at = above + pitch, *below = at + pitch;
        out[i] = (above[0] + above[1] + above[2] + at[0] + at[1] + at[2] + below[0] + below[1] + below[2]) / 9;
    }
}
