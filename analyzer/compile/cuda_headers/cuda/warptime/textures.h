#pragma once
#pragma clang system_header

// Texture and surface objects and references, read and written with one instruction each. A read of `float2` is one `tex` of
// four results too: the rest is unused.
#include "vector_types.h"

enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct surfaceReference { cudaChannelFormatDesc channelDesc; };

#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#define cudaTextureTypeCubemap 12
#define cudaTextureType1DLayered 241
#define cudaTextureType2DLayered 242
#define cudaSurfaceType1D 1
#define cudaSurfaceType2D 2
#define cudaSurfaceType3D 3
#define cudaSurfaceType2DLayered 242

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

template <class T, int Type = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) __wt_reference_texture : public textureReference {
  __attribute__((host)) __wt_reference_texture(int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                                cudaTextureAddressMode address = cudaAddressModeClamp);
  __attribute__((host)) __wt_reference_texture(int normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                                cudaChannelFormatDesc format);
};
template <class T, int Type = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) __wt_reference_surface : public surfaceReference {
  __attribute__((host)) __wt_reference_surface();
};
// CUDA has no references since version 12, and their names are free.
#ifndef __WARPTIME_NO_TEXTURE
template <class T, int Type = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
using texture = __wt_reference_texture<T, Type, Mode>;
#endif
#ifndef __WARPTIME_NO_SURFACE
template <class T, int Type = cudaSurfaceType1D>
using surface = __wt_reference_surface<T, Type>;
#endif

namespace __wt_texture {

// What a texture of T holds, and how T is made of four of them.
template <class T> struct element;
#define __WT_ELEMENT(type, word, letter)                                                                    \
  template <> struct element<type> {                                                                        \
    typedef word value;                                                                                     \
    static constexpr char kind = letter;                                                                    \
    template <class V> static __WT_MEMBER type make(V x, V, V, V) { return static_cast<type>(x); }          \
  };
#define __WT_VECTOR_ELEMENTS(name, type, word, letter)                                                      \
  template <> struct element<name##1> {                                                                     \
    typedef word value;                                                                                     \
    static constexpr char kind = letter;                                                                    \
    template <class V> static __WT_MEMBER name##1 make(V x, V, V, V) { return {static_cast<type>(x)}; }     \
  };                                                                                                        \
  template <> struct element<name##2> {                                                                     \
    typedef word value;                                                                                     \
    static constexpr char kind = letter;                                                                    \
    template <class V> static __WT_MEMBER name##2 make(V x, V y, V, V) {                                    \
      return {static_cast<type>(x), static_cast<type>(y)};                                                  \
    }                                                                                                       \
  };                                                                                                        \
  template <> struct element<name##4> {                                                                     \
    typedef word value;                                                                                     \
    static constexpr char kind = letter;                                                                    \
    template <class V> static __WT_MEMBER name##4 make(V x, V y, V z, V w) {                                \
      return {static_cast<type>(x), static_cast<type>(y), static_cast<type>(z), static_cast<type>(w)};      \
    }                                                                                                       \
  };
__WT_ELEMENT(char, int, 's')
__WT_ELEMENT(signed char, int, 's')
__WT_ELEMENT(short, int, 's')
__WT_ELEMENT(int, int, 's')
__WT_ELEMENT(long, int, 's')
__WT_ELEMENT(unsigned char, unsigned, 'u')
__WT_ELEMENT(unsigned short, unsigned, 'u')
__WT_ELEMENT(unsigned int, unsigned, 'u')
__WT_ELEMENT(unsigned long, unsigned, 'u')
__WT_ELEMENT(float, float, 'f')
__WT_VECTOR_ELEMENTS(char, signed char, int, 's')
__WT_VECTOR_ELEMENTS(short, short, int, 's')
__WT_VECTOR_ELEMENTS(int, int, int, 's')
__WT_VECTOR_ELEMENTS(uchar, unsigned char, unsigned, 'u')
__WT_VECTOR_ELEMENTS(ushort, unsigned short, unsigned, 'u')
__WT_VECTOR_ELEMENTS(uint, unsigned, unsigned, 'u')
__WT_VECTOR_ELEMENTS(float, float, float, 'f')
#undef __WT_ELEMENT
#undef __WT_VECTOR_ELEMENTS

// A texture that normalises integers gives floats.
template <class T> struct normalized { typedef float type; };
#define __WT_NORMALIZED(name)                                      \
  template <> struct normalized<name##1> { typedef float1 type; }; \
  template <> struct normalized<name##2> { typedef float2 type; }; \
  template <> struct normalized<name##4> { typedef float4 type; };
__WT_NORMALIZED(char)
__WT_NORMALIZED(uchar)
__WT_NORMALIZED(short)
__WT_NORMALIZED(ushort)
#undef __WT_NORMALIZED
template <class T, cudaTextureReadMode Mode> struct result { typedef T type; };
template <class T> struct result<T, cudaReadModeNormalizedFloat> { typedef typename normalized<T>::type type; };

template <class Reference> __WT_DEVICE unsigned long long handle_of(Reference reference) {
  unsigned long long handle;
  __asm__("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
  return handle;
}

#define __WT_READ(instruction, ...)                                                             \
  typedef element<T> as;                                                                                     \
  typename as::value x, y, z, w;                                                                             \
  if constexpr (as::kind == 's')                                                                             \
    __asm__ __volatile__(instruction(".s32") : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(t), __VA_ARGS__);    \
  else if constexpr (as::kind == 'u')                                                                        \
    __asm__ __volatile__(instruction(".u32") : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(t), __VA_ARGS__);    \
  else                                                                                                       \
    __asm__ __volatile__(instruction(".f32") : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(t), __VA_ARGS__);    \
  return as::make(x, y, z, w);

template <class T> __WT_DEVICE T fetch_1d(unsigned long long t, int x0) {
#define __WT_I(type) "tex.1d.v4" type ".s32 {%0, %1, %2, %3}, [%4, {%5}];"
  __WT_READ(__WT_I, "r"(x0))
#undef __WT_I
}
#define __WT_I(type) "tex.1d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5}];"
template <class T> __WT_DEVICE T read_1d(unsigned long long t, float x0) { __WT_READ(__WT_I, "f"(x0)) }
#undef __WT_I
#define __WT_I(type) "tex.2d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
template <class T> __WT_DEVICE T read_2d(unsigned long long t, float x0, float y0) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0))
}
#undef __WT_I
#define __WT_I(type) "tex.3d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
template <class T> __WT_DEVICE T read_3d(unsigned long long t, float x0, float y0, float z0) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0), "f"(z0))
}
#undef __WT_I
#define __WT_I(type) "tex.a1d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
template <class T> __WT_DEVICE T read_1d_layered(unsigned long long t, float x0, int layer) {
  __WT_READ(__WT_I, "r"(layer), "f"(x0))
}
#undef __WT_I
#define __WT_I(type) "tex.a2d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
template <class T> __WT_DEVICE T read_2d_layered(unsigned long long t, float x0, float y0, int layer) {
  __WT_READ(__WT_I, "r"(layer), "f"(x0), "f"(y0))
}
#undef __WT_I
#define __WT_I(type) "tex.cube.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
template <class T> __WT_DEVICE T read_cubemap(unsigned long long t, float x0, float y0, float z0) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0), "f"(z0))
}
#undef __WT_I
#define __WT_I(type) "tex.level.1d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5}], %6;"
template <class T> __WT_DEVICE T read_1d_level(unsigned long long t, float x0, float level) {
  __WT_READ(__WT_I, "f"(x0), "f"(level))
}
#undef __WT_I
#define __WT_I(type) "tex.level.2d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;"
template <class T> __WT_DEVICE T read_2d_level(unsigned long long t, float x0, float y0, float level) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0), "f"(level))
}
#undef __WT_I
#define __WT_I(type) "tex.level.3d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;"
template <class T> __WT_DEVICE T read_3d_level(unsigned long long t, float x0, float y0, float z0, float level) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0), "f"(z0), "f"(level))
}
#undef __WT_I
#define __WT_I(type) "tld4.r.2d.v4" type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
template <class T> __WT_DEVICE T gather_2d(unsigned long long t, float x0, float y0) {
  __WT_READ(__WT_I, "f"(x0), "f"(y0))
}
#undef __WT_I
#undef __WT_READ

}  // namespace __wt_texture

// Each function for texture references, for objects, and for objects with the result in a variable.
#define __WT_TEXTURE(name, read, declared, passed)                                                               \
  template <class T, int Type, cudaTextureReadMode Mode>                                                         \
  __WT_DEVICE typename __wt_texture::result<T, Mode>::type name(__wt_reference_texture<T, Type, Mode> t, __WT_LIST declared) {  \
    return __wt_texture::read<typename __wt_texture::result<T, Mode>::type>(__wt_texture::handle_of(t), __WT_LIST passed); \
  }                                                                                                              \
  template <class T> __WT_DEVICE T name(cudaTextureObject_t t, __WT_LIST declared) {                             \
    return __wt_texture::read<T>(t, __WT_LIST passed);                                                           \
  }                                                                                                              \
  template <class T> __WT_DEVICE void name(T* to, cudaTextureObject_t t, __WT_LIST declared) {                   \
    *to = __wt_texture::read<T>(t, __WT_LIST passed);                                                            \
  }
#define __WT_LIST(...) __VA_ARGS__
__WT_TEXTURE(tex1Dfetch, fetch_1d, (int x), (x))
__WT_TEXTURE(tex1D, read_1d, (float x), (x))
__WT_TEXTURE(tex2D, read_2d, (float x, float y), (x, y))
__WT_TEXTURE(tex3D, read_3d, (float x, float y, float z), (x, y, z))
__WT_TEXTURE(tex1DLayered, read_1d_layered, (float x, int layer), (x, layer))
__WT_TEXTURE(tex2DLayered, read_2d_layered, (float x, float y, int layer), (x, y, layer))
__WT_TEXTURE(texCubemap, read_cubemap, (float x, float y, float z), (x, y, z))
__WT_TEXTURE(tex1DLod, read_1d_level, (float x, float level), (x, level))
__WT_TEXTURE(tex2DLod, read_2d_level, (float x, float y, float level), (x, y, level))
__WT_TEXTURE(tex3DLod, read_3d_level, (float x, float y, float z, float level), (x, y, z, level))
#undef __WT_TEXTURE
template <class T> __WT_DEVICE T tex2Dgather(cudaTextureObject_t t, float x, float y, int = 0) {
  return __wt_texture::gather_2d<T>(t, x, y);
}

// Surfaces: by the size of what is moved. x counts bytes.
namespace __wt_texture {
#define __WT_SURFACE(name, shape, places, declared, ...)                                                     \
  template <class T> __WT_DEVICE T load_##name(unsigned long long s, __WT_LIST declared) {                   \
    T r;                                                                                                     \
    if constexpr (sizeof(T) <= 2) {                                                                          \
      unsigned short v;                                                                                      \
      if constexpr (sizeof(T) == 1)                                                                          \
        __asm__ __volatile__("suld.b." shape ".b8.trap %0, [%1, {" places(2, 3, 4) "}];" : "=h"(v) : "l"(s), __VA_ARGS__); \
      else                                                                                                   \
        __asm__ __volatile__("suld.b." shape ".b16.trap %0, [%1, {" places(2, 3, 4) "}];" : "=h"(v) : "l"(s), __VA_ARGS__); \
      __builtin_memcpy(&r, &v, sizeof(T));                                                                   \
    } else if constexpr (sizeof(T) == 4) {                                                                   \
      unsigned v;                                                                                            \
      __asm__ __volatile__("suld.b." shape ".b32.trap %0, [%1, {" places(2, 3, 4) "}];" : "=r"(v) : "l"(s), __VA_ARGS__); \
      __builtin_memcpy(&r, &v, sizeof(T));                                                                   \
    } else if constexpr (sizeof(T) == 8) {                                                                   \
      unsigned v[2];                                                                                         \
      __asm__ __volatile__("suld.b." shape ".v2.b32.trap {%0, %1}, [%2, {" places(3, 4, 5) "}];"             \
                           : "=r"(v[0]), "=r"(v[1]) : "l"(s), __VA_ARGS__);                                  \
      __builtin_memcpy(&r, v, sizeof(T));                                                                    \
    } else {                                                                                                 \
      unsigned v[4];                                                                                         \
      __asm__ __volatile__("suld.b." shape ".v4.b32.trap {%0, %1, %2, %3}, [%4, {" places(5, 6, 7) "}];"     \
                           : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(s), __VA_ARGS__);          \
      __builtin_memcpy(&r, v, sizeof(T));                                                                    \
    }                                                                                                        \
    return r;                                                                                                \
  }                                                                                                          \
  template <class T> __WT_DEVICE void store_##name(unsigned long long s, T r, __WT_LIST declared) {          \
    if constexpr (sizeof(T) <= 2) {                                                                          \
      unsigned short v = 0;                                                                                  \
      __builtin_memcpy(&v, &r, sizeof(T));                                                                   \
      if constexpr (sizeof(T) == 1)                                                                          \
        __asm__ __volatile__("sust.b." shape ".b8.trap [%1, {" places(2, 3, 4) "}], %0;" ::"h"(v), "l"(s), __VA_ARGS__ : "memory"); \
      else                                                                                                   \
        __asm__ __volatile__("sust.b." shape ".b16.trap [%1, {" places(2, 3, 4) "}], %0;" ::"h"(v), "l"(s), __VA_ARGS__ : "memory"); \
    } else if constexpr (sizeof(T) == 4) {                                                                   \
      __asm__ __volatile__("sust.b." shape ".b32.trap [%1, {" places(2, 3, 4) "}], %0;"                      \
                           ::"r"(__builtin_bit_cast(unsigned, r)), "l"(s), __VA_ARGS__ : "memory");          \
    } else if constexpr (sizeof(T) == 8) {                                                                   \
      unsigned v[2];                                                                                         \
      __builtin_memcpy(v, &r, sizeof(T));                                                                    \
      __asm__ __volatile__("sust.b." shape ".v2.b32.trap [%2, {" places(3, 4, 5) "}], {%0, %1};"             \
                           ::"r"(v[0]), "r"(v[1]), "l"(s), __VA_ARGS__ : "memory");                          \
    } else {                                                                                                 \
      unsigned v[4];                                                                                         \
      __builtin_memcpy(v, &r, sizeof(T));                                                                    \
      __asm__ __volatile__("sust.b." shape ".v4.b32.trap [%4, {" places(5, 6, 7) "}], {%0, %1, %2, %3};"     \
                           ::"r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "l"(s), __VA_ARGS__ : "memory");    \
    }                                                                                                        \
  }
#define __WT_PLACES1(a, b, c) "%" #a
#define __WT_PLACES2(a, b, c) "%" #a ", %" #b
#define __WT_PLACES3(a, b, c) "%" #a ", %" #b ", %" #c ", %" #c
__WT_SURFACE(1d, "1d", __WT_PLACES1, (int x), "r"(x))
__WT_SURFACE(2d, "2d", __WT_PLACES2, (int x, int y), "r"(x), "r"(y))
__WT_SURFACE(3d, "3d", __WT_PLACES3, (int x, int y, int z), "r"(x), "r"(y), "r"(z))
__WT_SURFACE(2d_layered, "a2d", __WT_PLACES3, (int x, int y, int layer), "r"(layer), "r"(x), "r"(y))
#undef __WT_SURFACE
#undef __WT_PLACES1
#undef __WT_PLACES2
#undef __WT_PLACES3
}  // namespace __wt_texture

#define __WT_SURFACE(name, shape, declared, passed)                                                            \
  template <class T> __WT_DEVICE T name##read(cudaSurfaceObject_t s, __WT_LIST declared,                       \
                                              cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                \
    return __wt_texture::load_##shape<T>(s, __WT_LIST passed);                                                 \
  }                                                                                                            \
  template <class T> __WT_DEVICE void name##read(T* to, cudaSurfaceObject_t s, __WT_LIST declared,             \
                                                 cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {             \
    *to = __wt_texture::load_##shape<T>(s, __WT_LIST passed);                                                  \
  }                                                                                                            \
  template <class T> __WT_DEVICE void name##write(T v, cudaSurfaceObject_t s, __WT_LIST declared,              \
                                                  cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {            \
    __wt_texture::store_##shape(s, v, __WT_LIST passed);                                                       \
  }                                                                                                            \
  template <class T, class U, int Type> __WT_DEVICE void name##read(T* to, __wt_reference_surface<U, Type> s, __WT_LIST declared, \
                                                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {   \
    *to = __wt_texture::load_##shape<T>(__wt_texture::handle_of(s), __WT_LIST passed);                         \
  }                                                                                                            \
  template <class T, class U, int Type> __WT_DEVICE T name##read(__wt_reference_surface<U, Type> s, __WT_LIST declared,       \
                                                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {      \
    return __wt_texture::load_##shape<T>(__wt_texture::handle_of(s), __WT_LIST passed);                        \
  }                                                                                                            \
  template <class T, class U, int Type> __WT_DEVICE void name##write(T v, __wt_reference_surface<U, Type> s, __WT_LIST declared, \
                                                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {  \
    __wt_texture::store_##shape(__wt_texture::handle_of(s), v, __WT_LIST passed);                              \
  }
__WT_SURFACE(surf1D, 1d, (int x), (x))
__WT_SURFACE(surf2D, 2d, (int x, int y), (x, y))
__WT_SURFACE(surf3D, 3d, (int x, int y, int z), (x, y, z))
__WT_SURFACE(surf2DLayered, 2d_layered, (int x, int y, int layer), (x, y, layer))
#undef __WT_SURFACE
#undef __WT_LIST
