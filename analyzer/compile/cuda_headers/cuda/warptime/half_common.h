#pragma once
#pragma clang system_header

// What half and bfloat16 are built from.
template <class T> struct __wt_number;  // `narrow`: a float's bits in T, rounded to nearest
template <class T> __WT_DEVICE T __wt_narrow(float v) {
  T r;
  r.__x = __wt_number<T>::narrow(v);
  return r;
}
template <class T> __WT_DEVICE T __wt_of_bits(unsigned bits) {
  T r;
  r.__x = static_cast<unsigned short>(bits);
  return r;
}
