// The words that Thrust undefines before it includes NVIDIA's headers, which define them again. No #pragma once.
#ifndef __host__
#define __host__ __attribute__((host))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
