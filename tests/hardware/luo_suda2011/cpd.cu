// For a, b, c and d of Luo and Suda (2011), section 3.4: kernels of a known share P of computation. Each iteration loads a value and then adds
// `work` times in registers, so that P = 65 work / (65 work + 200) on a GTX 260, beside the loop. CPD is N_act c / T, where T is the time of an
// iteration.

constexpr int loops = 1000;

// in, out: a value for each thread; in holds 0 throughout
// work:    additions for each load, a multiple of 4
__global__ void cpd(int work, const float *in, float *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float x = id;
#pragma unroll 1
    for (int i = 0; i < loops; i++)
    {
        float y = in[id + (x < 0)];
#pragma unroll 1
        for (int j = 0; j < work; j += 4)
        {
            asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
            asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
            asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
            asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
        }
    }
    out[id] = x;
}
