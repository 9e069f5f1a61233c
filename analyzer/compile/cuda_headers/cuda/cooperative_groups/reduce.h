// Reductions over groups of a warp: redux.sync for 32-bit integers from sm_80 on, else a butterfly of shuffles.
#pragma once
#pragma clang system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {

namespace details {

#if __CUDA_ARCH__ >= 800
template <class Operation> struct in_hardware { static constexpr bool arithmetic = false, bits = false; };
#define __WT_REDUX(name, kind, function)                                                                 \
  template <class Of> struct in_hardware<name<Of>> {                                                     \
    static constexpr bool arithmetic = kind == 0, bits = kind == 1;                                      \
    template <class T> static __WT_MEMBER T reduce(unsigned mask, T v) { return function(mask, v); } \
  };
__WT_REDUX(plus, 0, __reduce_add_sync)
__WT_REDUX(less, 0, __reduce_min_sync)
__WT_REDUX(greater, 0, __reduce_max_sync)
__WT_REDUX(bit_and, 1, __reduce_and_sync)
__WT_REDUX(bit_or, 1, __reduce_or_sync)
__WT_REDUX(bit_xor, 1, __reduce_xor_sync)
#undef __WT_REDUX
template <class T> inline constexpr bool is_word = __is_same(T, int) || __is_same(T, unsigned);
#endif

template <unsigned Size, class T, class Operation>
__WT_DEVICE T reduce_tile(const tile<Size>& group, T v, Operation operation) {
#if __CUDA_ARCH__ >= 800
  if constexpr (is_word<T> && in_hardware<Operation>::arithmetic)
    return in_hardware<Operation>::reduce(group.mask(), v);
  else if constexpr (is_word<T> && in_hardware<Operation>::bits)
    return static_cast<T>(in_hardware<Operation>::reduce(group.mask(), static_cast<unsigned>(v)));
  else
#endif
  {
    for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2) v = operation(v, group.shfl_xor(v, lanes));
    return v;
  }
}

}  // namespace details

template <unsigned Size, class Parent, class T, class Operation>
__WT_TARGET typename details::same<T>::type reduce(const thread_block_tile<Size, Parent>& group, T&& v,
                                                   Operation&& operation) {
  typedef typename details::same<T>::type Value;
  typedef typename details::same<Operation>::type Plain;
  return details::reduce_tile<Size, Value, Plain>(group, static_cast<Value>(v), operation);
}

template <class T, class Operation>
__WT_TARGET typename details::same<T>::type reduce(const coalesced_group& group, T&& v, Operation&& operation) {
  typename details::same<T>::type r = v;
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned offset = 1; offset < 32; offset *= 2) {  // of a whole warp, as data decide the group's size
    const auto other = group.shfl_down(r, offset);
    if (rank + offset < size) r = operation(r, other);
  }
  return group.shfl(r, 0);
}

// One thread of the group adds the group's result to an atomic object, or stores it there.
template <class Group, class Atomic, class T, class Operation>
__WT_DEVICE void reduce_update_async(const Group& group, Atomic& to, T&& v, Operation&& operation) {
  const auto r = reduce(group, v, operation);
  if (group.thread_rank() == 0) to.fetch_add(r);
}
template <class Group, class Atomic, class T, class Operation>
__WT_DEVICE void reduce_store_async(const Group& group, Atomic& to, T&& v, Operation&& operation) {
  const auto r = reduce(group, v, operation);
  if (group.thread_rank() == 0) to.store(r);
}

}  // namespace cooperative_groups
