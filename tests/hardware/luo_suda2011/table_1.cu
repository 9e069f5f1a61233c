// The microbenchmarks of Luo and Suda (2011), section 3.1: of each class of Table 1 a kernel that repeats one instruction 10,000 times (unroll x
// loops), and one with the same loop and nothing in it. The difference of their times, over the repetitions, is the cost of the instruction.
// The instruction is inline PTX: each takes the result of the one before, and no compiler folds it; ptxas does, of integers (docs/luo-suda.md).

constexpr int loops = 100, unroll = 100;

// in, out: a value for each thread; the results are stored so that the instructions have a purpose
#define INT_KERNEL(name, instruction)                                                                                                               \
    __global__ void name(const int *in, int *out)                                                                                                   \
    {                                                                                                                                               \
        int id = blockIdx.x * blockDim.x + threadIdx.x, x = in[id];                                                                                 \
        [[maybe_unused]] int y = id | 3;                                                                                                            \
        _Pragma("unroll 1") for (int i = 0; i < loops; i++)                                                                                         \
        {                                                                                                                                           \
            _Pragma("unroll") for (int j = 0; j < unroll; j++) instruction;                                                                         \
        }                                                                                                                                           \
        out[id] = x;                                                                                                                                \
    }
#define FLOAT_KERNEL(name, instruction)                                                                                                             \
    __global__ void name(const float *in, float *out)                                                                                               \
    {                                                                                                                                               \
        int id = blockIdx.x * blockDim.x + threadIdx.x;                                                                                             \
        float x = in[id];                                                                                                                           \
        [[maybe_unused]] float y = id + 3;                                                                                                          \
        _Pragma("unroll 1") for (int i = 0; i < loops; i++)                                                                                         \
        {                                                                                                                                           \
            _Pragma("unroll") for (int j = 0; j < unroll; j++) instruction;                                                                         \
        }                                                                                                                                           \
        out[id] = x;                                                                                                                                \
    }

#define INT_CONST(name, ptx) INT_KERNEL(name##_int_const, asm volatile(ptx " %0, %0, 3;" : "+r"(x)))
#define INT_REG(name, ptx) INT_KERNEL(name##_int_reg, asm volatile(ptx " %0, %0, %1;" : "+r"(x) : "r"(y)))
#define FLOAT_CONST(name, ptx) FLOAT_KERNEL(name##_float_const, asm volatile(ptx " %0, %0, 0f40400000;" : "+f"(x)))
#define FLOAT_REG(name, ptx) FLOAT_KERNEL(name##_float_reg, asm volatile(ptx " %0, %0, %1;" : "+f"(x) : "f"(y)))
#define BINARY(name, of_int, of_float) INT_CONST(name, of_int) INT_REG(name, of_int) FLOAT_CONST(name, of_float) FLOAT_REG(name, of_float)

INT_KERNEL(nothing_int, asm volatile("" : "+r"(x) : "r"(y)))
FLOAT_KERNEL(nothing_float, asm volatile("" : "+f"(x) : "f"(y)))
BINARY(add, "add.s32", "add.f32")
BINARY(sub, "sub.s32", "sub.f32")
BINARY(mul, "mul.lo.s32", "mul.f32")
BINARY(div, "div.s32", "div.rn.f32")
BINARY(min, "min.s32", "min.f32")
BINARY(max, "max.s32", "max.f32")
INT_CONST(and, "and.b32") INT_REG(and, "and.b32")
INT_CONST(or, "or.b32") INT_REG(or, "or.b32")
INT_CONST(xor, "xor.b32") INT_REG(xor, "xor.b32")
INT_KERNEL(neg_int, asm volatile("neg.s32 %0, %0;" : "+r"(x)))
INT_KERNEL(not_int, asm volatile("not.b32 %0, %0;" : "+r"(x)))
FLOAT_KERNEL(neg_float, asm volatile("neg.f32 %0, %0;" : "+f"(x)))

// ld/st: each load takes its address from the one before. In: 0 throughout, with each warp on a line of its own.
__global__ void load(const int *in, int *out)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x, x = id;
#pragma unroll 1
    for (int i = 0; i < loops; i++)
    {
#pragma unroll
        for (int j = 0; j < unroll; j++)
            x = in[x] + id;
    }
    out[id] = x;
}
