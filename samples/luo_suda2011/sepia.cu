// `Sepia` of Table 3 of Luo and Suda (2011): "filter for artificially aging images", 800 x 800. Each colour of a pixel becomes a weighted sum of
// its three colours, rounded, at most 255.

constexpr int pixels = 800 * 800;

struct Weights
{
    float red, green, blue;
};

__device__ unsigned char aged(const Weights &by, float red, float green, float blue)
{
    return fminf(by.red * red + by.green * green + by.blue * blue + 0.5f, 255.0f);
}

// in, out: red, green and blue of each pixel in turn, 0 to 255
// to_red, to_green, to_blue: how much of each colour goes where, such as 0.393, 0.769, 0.189
__global__ void sepia(const unsigned char *in, unsigned char *out, Weights to_red, Weights to_green, Weights to_blue)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += threads)
    {
        float red = in[3 * i], green = in[3 * i + 1], blue = in[3 * i + 2];
        out[3 * i] = aged(to_red, red, green, blue);
        out[3 * i + 1] = aged(to_green, red, green, blue);
        out[3 * i + 2] = aged(to_blue, red, green, blue);
    }
}
