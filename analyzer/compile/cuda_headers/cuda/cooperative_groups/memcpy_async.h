// Copies to shared memory by a whole group: cp.async from sm_80 on, loads and stores before.
#pragma once
#pragma clang system_header

#include "../cooperative_groups.h"
#include "../warptime/copy_async.h"

namespace cooperative_groups {

namespace details {
template <unsigned Bytes, class Group>
__WT_DEVICE void copy_pieces(const Group& group, char* to, const char* from, size_t bytes) {
  for (size_t at = group.thread_rank() * Bytes; at < bytes; at += group.size() * Bytes)
    __wt_copy_async<Bytes>(to + at, from + at);
}
}  // namespace details

template <class Group, class To, class From>
__WT_TARGET void memcpy_async(const Group& group, To* to, const From* from, size_t bytes) {
  char* target = reinterpret_cast<char*>(to);
  const char* source = reinterpret_cast<const char*>(from);
  constexpr unsigned alignment = alignof(To) < alignof(From) ? alignof(To) : alignof(From);
  if constexpr (alignment >= 16) {
    details::copy_pieces<16>(group, target, source, bytes);
  } else if constexpr (alignment >= 8) {
    details::copy_pieces<8>(group, target, source, bytes);
  } else if constexpr (alignment >= 4) {
    details::copy_pieces<4>(group, target, source, bytes);
  } else {
    for (size_t at = group.thread_rank(); at < bytes; at += group.size()) target[at] = source[at];
  }
  __wt_commit_async();
}
template <class Group, class To, class From>
__WT_TARGET void memcpy_async(const Group& group, To* to, size_t to_count, const From* from, size_t from_count) {
  memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(To));
}
template <class Group> __WT_TARGET void wait(const Group& group) {
  __wt_wait_async<0>();
  group.sync();
}
template <unsigned Stages, class Group> __WT_TARGET void wait_prior(const Group& group) {
  __wt_wait_async<Stages>();
  group.sync();
}

}  // namespace cooperative_groups
