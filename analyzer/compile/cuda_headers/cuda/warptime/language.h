#pragma once
#pragma clang system_header

struct uint3 { unsigned int x, y, z; };
struct dim3 {
  unsigned int x, y, z;
  __attribute__((host, device, nodebug)) constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __attribute__((host, device, nodebug)) constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __attribute__((host, device, nodebug)) constexpr operator uint3() const { return uint3{x, y, z}; }
};

// threadIdx and its like: reading a member reads the special register. They cannot be made, copied or written.
#define __WT_REGISTER(variable, type, registers)                                                          \
  struct __wt_##variable {                                                                                \
    __declspec(property(get = __get_x)) unsigned int x;                                                   \
    __declspec(property(get = __get_y)) unsigned int y;                                                   \
    __declspec(property(get = __get_z)) unsigned int z;                                                   \
    __WT_GETTER(__get_x, registers##_x)                                                                   \
    __WT_GETTER(__get_y, registers##_y)                                                                   \
    __WT_GETTER(__get_z, registers##_z)                                                                   \
    __attribute__((device, always_inline, nodebug)) operator dim3() const { return dim3(x, y, z); }       \
    __attribute__((device, always_inline, nodebug)) operator uint3() const { return uint3{x, y, z}; }     \
    __wt_##variable(const __wt_##variable&) = delete;                                                     \
    void operator=(const __wt_##variable&) = delete;                                                      \
  };                                                                                                      \
  extern const __attribute__((device, weak)) __wt_##variable variable;
#define __WT_GETTER(name, register_name)                                                                  \
  static __inline__ __attribute__((device, always_inline, nodebug)) unsigned int name() {                 \
    return static_cast<unsigned int>(__nvvm_read_ptx_sreg_##register_name());                             \
  }
__WT_REGISTER(threadIdx, uint3, tid)
__WT_REGISTER(blockIdx, uint3, ctaid)
__WT_REGISTER(blockDim, dim3, ntid)
__WT_REGISTER(gridDim, dim3, nctaid)
#undef __WT_REGISTER
#undef __WT_GETTER

static __attribute__((host, device, unused)) constexpr int warpSize = 32;

// The device's own, and where its printf and assert end up.
extern "C" {
__attribute__((device)) int printf(const char* format, ...);
__attribute__((device)) int vprintf(const char* format, const char* arguments);
__attribute__((device)) void* malloc(size_t bytes);
__attribute__((device)) void free(void* pointer);
__attribute__((device)) void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
                                          size_t char_size) __attribute__((noreturn));
}
__WT_DEVICE void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) {
  __assertfail(condition, file, line, function, 1);
}
__WT_DEVICE void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
__WT_DEVICE void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
__WT_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
__WT_DEVICE void __threadfence() { __nvvm_membar_gl(); }
__WT_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
