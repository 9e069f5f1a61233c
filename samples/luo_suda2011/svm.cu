// `Svm` of Table 3 of Luo and Suda (2011): "kernel from a SVM-based algorithm" on an input of 512 x 768, of a face classifier (Linderman et al.
// 2008). The decision function of a linear support vector machine for the window at each pixel; the loops are left rolled.

constexpr int width = 768, window = 32, pitch = width + window;

// height:   of the image, such as 512
// image:    (height + window) x pitch pixels
// weight:   window x window weights, column by column
// decision: height x width values
__global__ void svm(int height, const float *image, const float *weight, float bias, float *decision)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < height * width; i += threads)
    {
        const float *line = image + i / width * pitch + i % width;
        float sum = bias;
#pragma unroll 1
        for (int y = 0; y < window; y++, line += pitch)
        {
            const float *pixel = line, *by = weight + y;
#pragma unroll 1
            for (int x = window; x > 0; x--)
            {
                sum += *pixel * *by;
                pixel++;
                by += window;
            }
        }
        decision[i] = sum;
    }
}
