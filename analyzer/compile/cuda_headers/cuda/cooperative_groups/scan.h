// Prefix sums over groups of a warp, by shuffles.
#pragma once
#pragma clang system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {

namespace details {
// Data decide the size of a coalesced group: as of a whole warp.
template <class Group> inline constexpr unsigned most_threads = 32;
template <unsigned Size, class Parent> inline constexpr unsigned most_threads<thread_block_tile<Size, Parent>> = Size;
}  // namespace details

template <class Group, class T, class Operation>
__WT_DEVICE typename details::same<T>::type inclusive_scan(const Group& group, T&& v, Operation&& operation) {
  typename details::same<T>::type r = v;
  const unsigned rank = group.thread_rank();
  for (unsigned offset = 1; offset < details::most_threads<Group>; offset *= 2) {
    const auto other = group.shfl_up(r, offset);
    if (rank >= offset) r = operation(other, r);
  }
  return r;
}
template <class Group, class T>
__WT_DEVICE typename details::same<T>::type inclusive_scan(const Group& group, T&& v) {
  return inclusive_scan(group, v, plus<typename details::same<T>::type>());
}
template <class Group, class T, class Operation>
__WT_DEVICE typename details::same<T>::type exclusive_scan(const Group& group, T&& v, Operation&& operation) {
  const auto before = group.shfl_up(inclusive_scan(group, v, operation), 1);
  return group.thread_rank() == 0 ? typename details::same<T>::type() : before;
}
template <class Group, class T>
__WT_DEVICE typename details::same<T>::type exclusive_scan(const Group& group, T&& v) {
  return exclusive_scan(group, v, plus<typename details::same<T>::type>());
}

}  // namespace cooperative_groups
