// `Sepia` of Table 3 of Luo and Suda (2011): "filter for artificially aging images", 800 x 800. Each colour of a pixel becomes a weighted sum of
// its three colours, rounded, at most 255. The loop is left rolled, as nvcc 3.2 leaves it.

__device__ unsigned char aged(float by_red, float by_green, float by_blue, float red, float green, float blue)
{
    return fminf(by_red * red + by_green * green + by_blue * blue + 0.5f, 255.0f);
}

// pixels: such as 640000
// in, out: red, green and blue of each pixel in turn, 0 to 255
// red_to_red, …: how much of each colour goes where, such as 0.393, 0.769 and 0.189 to red
__global__ void sepia(int pixels, const unsigned char *in, unsigned char *out, float red_to_red, float green_to_red, float blue_to_red,
                      float red_to_green, float green_to_green, float blue_to_green, float red_to_blue, float green_to_blue,
                      float blue_to_blue)
{
    int threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += threads)
    {
        float red = in[3 * i], green = in[3 * i + 1], blue = in[3 * i + 2];
        out[3 * i] = aged(red_to_red, green_to_red, blue_to_red, red, green, blue);
        out[3 * i + 1] = aged(red_to_green, green_to_green, blue_to_green, red, green, blue);
        out[3 * i + 2] = aged(red_to_blue, green_to_blue, blue_to_blue, red, green, blue);
    }
}
