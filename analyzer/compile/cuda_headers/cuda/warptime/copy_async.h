#pragma once
#pragma clang system_header

// The instructions behind asynchronous copies to shared memory: cp.async from sm_80 on, a load and a store before.
template <unsigned Bytes> __WT_TARGET void __wt_copy_async(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    __asm__ __volatile__("cp.async.cg.shared.global [%0], [%1], 16, 16;" ::"r"(shared), "l"(from) : "memory");
  else
    __asm__ __volatile__("cp.async.ca.shared.global [%0], [%1], %2, %2;" ::"r"(shared), "l"(from), "n"(Bytes) : "memory");
#else
  struct alignas(Bytes) Piece { unsigned words[Bytes / 4]; };
  *static_cast<Piece*>(to) = *static_cast<const Piece*>(from);
#endif
}
__WT_TARGET void __wt_commit_async() {
#if __CUDA_ARCH__ >= 800
  __asm__ __volatile__("cp.async.commit_group;" ::: "memory");
#endif
}
template <unsigned Groups> __WT_TARGET void __wt_wait_async() {
#if __CUDA_ARCH__ >= 800
  __asm__ __volatile__("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}
