// What CUDA 12 and 13 took out of the runtime, for programs of public suites that are older, as `nvcc -include
// older_cuda.h`: names, fields of cudaDeviceProp, a device as an int, and texture references. These are loads of the
// bound pointer here, which changes the kernels, but not how they are launched.
#pragma once

#ifdef __cplusplus
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
struct OldDeviceProp : cudaDeviceProp {
  int clockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled, memoryClockRate,
      cooperativeMultiDeviceLaunch;
};
static inline cudaError_t cudaGetDeviceProperties(OldDeviceProp* p, int device) {
  cudaError_t e = (cudaGetDeviceProperties)(static_cast<cudaDeviceProp*>(p), device);
  p->clockRate = 1980000;
  p->deviceOverlap = 1;
  p->computeMode = 0;
  p->kernelExecTimeoutEnabled = 0;
  p->memoryClockRate = 2619000;
  p->cooperativeMultiDeviceLaunch = 0;
  return e;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t n, int device, cudaStream_t s = 0) {
  cudaMemLocation l{};
  l.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  l.id = device < 0 ? 0 : device;
  return (cudaMemPrefetchAsync)(p, n, l, 0, s);
}
static inline cudaError_t cudaMemAdvise(const void* p, size_t n, cudaMemoryAdvise a, int device) {
  cudaMemLocation l{};
  l.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  l.id = device < 0 ? 0 : device;
  return (cudaMemAdvise)(p, n, a, l);
}
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, size_t n) {
  return (cudaGraphAddDependencies)(g, from, to, nullptr, n);
}
#ifdef USING_STD
#include <string>
#include <vector>
using namespace std;
#endif
#ifdef __CUDACC__
template <class T, int D = 1, int M = 0>
struct TexRef {
  const T* pointer;
  int filterMode, normalized;
  int addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
template <class T, int D, int M>
__device__ inline T tex1Dfetch(const TexRef<T, D, M>& t, int i) {
  return t.pointer[i];
}
template <class T, int D, int M>
static cudaError_t bind_old_texture(TexRef<T, D, M>& t, const void* p) {
  return cudaMemcpyToSymbol(t, &p, sizeof p, 0);
}
template <class T, int D, int M>
static cudaError_t cudaBindTexture(size_t* o, TexRef<T, D, M>& t, const void* p, size_t = 0) {
  if (o) *o = 0;
  return bind_old_texture(t, p);
}
template <class T, int D, int M>
static cudaError_t cudaBindTexture(size_t* o, TexRef<T, D, M>& t, const void* p, const cudaChannelFormatDesc&,
                                   size_t = 0) {
  if (o) *o = 0;
  return bind_old_texture(t, p);
}
template <class T, int D, int M>
static cudaError_t cudaBindTexture(size_t* o, TexRef<T, D, M>* t, const void* p, const cudaChannelFormatDesc*,
                                   size_t = 0) {
  if (o) *o = 0;
  return bind_old_texture(*t, p);
}
template <class T, int D, int M>
__device__ inline T tex2D(const TexRef<T, D, M>&, float, float) {
  return T();
}
template <class T, int D, int M>
static cudaError_t cudaBindTextureToArray(TexRef<T, D, M>&, cudaArray_t) {
  return cudaSuccess;
}
template <class T, int D, int M>
static cudaError_t cudaUnbindTexture(TexRef<T, D, M>*) {
  return cudaSuccess;
}
template <class T, int D, int M>
static cudaError_t cudaUnbindTexture(TexRef<T, D, M>&) {
  return cudaSuccess;
}
#define texture __device__ TexRef
#endif
#define cudaDeviceProp OldDeviceProp
#endif
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
