// Cooperative groups: the classes and functions of CUDA's cooperative_groups.h, for one device. What a function costs is what
// it costs with nvcc: a rank in a block is a dot product of special registers, one in a tile is its low bits, a
// barrier of a tile is bar.warp.sync.
#pragma once
#pragma clang system_header

#include "cuda_runtime.h"

#define _COOPERATIVE_GROUPS_H_
#define _CG_VERSION 1013

namespace cooperative_groups {

namespace details {

__WT_DEVICE unsigned lane() {
  unsigned r;
  __asm__("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
__WT_DEVICE unsigned lanes_below() {
  unsigned r;
  __asm__("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}
__WT_DEVICE unsigned linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__WT_DEVICE unsigned linear_block() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
__WT_DEVICE unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
__WT_DEVICE unsigned lowest_lanes(unsigned count) { return 0xffffffffu >> (32 - count); }
__WT_DEVICE unsigned long long blocks_of_grid() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
// The lane that holds the bit number `rank` of `mask`, counted from 0. Halves the mask: a loop over bits would run as
// often as loaded data say, and its kernel have no time without them.
__WT_DEVICE unsigned lane_of_rank(unsigned mask, unsigned rank) {
  unsigned lane = 0;
  for (unsigned half = 16; half > 0; half /= 2) {
    const unsigned below = static_cast<unsigned>(__popc(mask & ((1u << half) - 1)));
    const bool above = rank >= below;
    rank -= above ? below : 0;
    lane += above ? half : 0;
    mask >>= above ? half : 0;
  }
  return lane;
}

// A value of any size is moved 32 bits at a time.
template <class T, class Move> __WT_DEVICE T by_words(const T& v, Move move) {
  if constexpr (sizeof(T) <= 4 && (__is_integral(T) || __is_floating_point(T))) {
    if constexpr (sizeof(T) == 4) return move(v);
    else return static_cast<T>(move(static_cast<int>(v)));
  } else {
    constexpr unsigned words = (sizeof(T) + 3) / 4;
    unsigned text[words] = {};
    __builtin_memcpy(text, &v, sizeof(T));
    for (unsigned i = 0; i < words; ++i) text[i] = move(text[i]);
    T r;
    __builtin_memcpy(&r, text, sizeof(T));
    return r;
  }
}

template <class T> struct same { typedef T type; };
template <class T> struct same<T&> { typedef T type; };
template <class T> struct same<const T&> { typedef T type; };
template <class T> struct same<T&&> { typedef T type; };

}  // namespace details

enum class thread_scope { thread_scope_thread = 3, thread_scope_block = 2, thread_scope_device = 1, thread_scope_system = 0 };

class thread_group {
 public:
  __WT_MEMBER thread_group(bool block, unsigned mask, unsigned tile) : block_(block), mask_(mask), tile_(tile) {}
  __WT_MEMBER unsigned size() const {
    return block_ ? details::threads_of_block() : tile_ ? tile_ : static_cast<unsigned>(__popc(mask_));
  }
  __WT_MEMBER unsigned num_threads() const { return size(); }
  __WT_MEMBER unsigned thread_rank() const {
    return block_ ? details::linear_thread()
           : tile_ ? details::lane() & (tile_ - 1)
                   : static_cast<unsigned>(__popc(mask_ & details::lanes_below()));
  }
  __WT_MEMBER void sync() const {
    if (block_) __syncthreads();
    else __syncwarp(mask_);
  }
  __WT_MEMBER bool is_valid() const { return true; }

 protected:
  bool block_;
  unsigned mask_, tile_;
};

class thread_block : public thread_group {
 public:
  static constexpr thread_scope thread_scope = cooperative_groups::thread_scope::thread_scope_block;
  __WT_MEMBER thread_block() : thread_group(true, 0, 0) {}
  static __WT_MEMBER void sync() { __syncthreads(); }
  static __WT_MEMBER unsigned thread_rank() { return details::linear_thread(); }
  static __WT_MEMBER unsigned size() { return details::threads_of_block(); }
  static __WT_MEMBER unsigned num_threads() { return details::threads_of_block(); }
  static __WT_MEMBER dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __WT_MEMBER dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __WT_MEMBER dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __WT_MEMBER dim3 dim_threads() { return group_dim(); }
  struct arrival_token {};
  static __WT_MEMBER arrival_token barrier_arrive() { return {}; }
  static __WT_MEMBER void barrier_wait(arrival_token&&) { __syncthreads(); }
};
__WT_DEVICE thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static constexpr thread_scope thread_scope = cooperative_groups::thread_scope::thread_scope_device;
  struct arrival_token { unsigned old; };
  __WT_MEMBER bool is_valid() const { return true; }
  // One thread of each block counts the block in and waits for the bit that the last one turns over. The counter lies
  // where the driver says.
  __WT_MEMBER void sync() const { barrier_wait(barrier_arrive()); }
  __WT_MEMBER arrival_token barrier_arrive() const {
    arrival_token token{0};
    __syncthreads();
    if (details::linear_thread() == 0) {
      const unsigned blocks = static_cast<unsigned>(details::blocks_of_grid());
      const unsigned step = details::linear_block() == 0 ? 0x80000000u - (blocks - 1) : 1;
      __threadfence();
      token.old = atomicAdd(counter(), step);
    }
    return token;
  }
  __WT_MEMBER void barrier_wait(arrival_token token) const {
    if (details::linear_thread() == 0) {
      const volatile unsigned* now = counter();
      while (((token.old ^ *now) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  static __WT_MEMBER unsigned long long size() {
    return details::blocks_of_grid() * details::threads_of_block();
  }
  static __WT_MEMBER unsigned long long num_threads() { return size(); }
  static __WT_MEMBER unsigned long long thread_rank() {
    return static_cast<unsigned long long>(details::linear_block()) * details::threads_of_block() +
           details::linear_thread();
  }
  static __WT_MEMBER unsigned long long block_rank() { return details::linear_block(); }
  static __WT_MEMBER unsigned long long num_blocks() { return details::blocks_of_grid(); }
  static __WT_MEMBER dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __WT_MEMBER dim3 dim_blocks() { return group_dim(); }
  static __WT_MEMBER dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }

 private:
  static __WT_MEMBER unsigned* counter() {
    unsigned low, high;
    __asm__("mov.u32 %0, %%envreg1;" : "=r"(low));
    __asm__("mov.u32 %0, %%envreg2;" : "=r"(high));
    return reinterpret_cast<unsigned*>(static_cast<unsigned long long>(low) << 32 | high) + 1;
  }
};
__WT_DEVICE grid_group this_grid() { return {}; }
__WT_DEVICE void sync(const grid_group& group) { group.sync(); }

// The threads of a warp that are here together.
class coalesced_group : public thread_group {
 public:
  explicit __WT_MEMBER coalesced_group(unsigned mask) : thread_group(false, mask, 0) {}
  __WT_MEMBER unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  __WT_MEMBER unsigned num_threads() const { return size(); }
  __WT_MEMBER unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(mask_ & details::lanes_below()));
  }
  __WT_MEMBER unsigned meta_group_rank() const { return 0; }
  __WT_MEMBER unsigned meta_group_size() const { return 1; }
  __WT_MEMBER void sync() const { __syncwarp(mask_); }
  __WT_MEMBER unsigned mask() const { return mask_; }
  template <class T> __WT_MEMBER T shfl(T v, unsigned from) const {
    const unsigned lane = from == 0 ? static_cast<unsigned>(__builtin_ctz(mask_))
                          : size() == 32 ? from : details::lane_of_rank(mask_, from);
    const unsigned mask = mask_;
    return details::by_words(v, [=](auto word) { return __shfl_sync(mask, word, static_cast<int>(lane), 32); });
  }
  template <class T> __WT_MEMBER T shfl_down(T v, unsigned delta) const {
    const unsigned rank = thread_rank() + delta;
    return shfl_at(v, rank < size() ? details::lane_of_rank(mask_, rank) : details::lane());
  }
  template <class T> __WT_MEMBER T shfl_up(T v, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl_at(v, rank >= delta ? details::lane_of_rank(mask_, rank - delta) : details::lane());
  }
  __WT_MEMBER int any(int p) const { return packed(__ballot_sync(mask_, p)) != 0; }
  __WT_MEMBER int all(int p) const { return (__ballot_sync(mask_, p) & mask_) == mask_; }
  __WT_MEMBER unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
  template <class T> __WT_MEMBER unsigned match_any(T v) const { return packed(__match_any_sync(mask_, v)); }
  template <class T> __WT_MEMBER unsigned match_all(T v, int& all) const {
    return packed(__match_all_sync(mask_, v, &all));
  }

 private:
  template <class T> __WT_MEMBER T shfl_at(T v, unsigned lane) const {
    const unsigned mask = mask_;
    return details::by_words(v, [=](auto word) { return __shfl_sync(mask, word, static_cast<int>(lane), 32); });
  }
  // The bits of the group's own lanes, next to each other.
  __WT_MEMBER unsigned packed(unsigned lanes) const {
    if (mask_ == 0xffffffffu) return lanes;
    unsigned r = 0, at = 0;
    for (unsigned left = mask_; left != 0; left &= left - 1, ++at) {
      if (lanes & left & (0u - left)) r |= 1u << at;
    }
    return r;
  }
};
__WT_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace details {
template <unsigned Size> class tile {
 public:
  static constexpr thread_scope thread_scope = cooperative_groups::thread_scope::thread_scope_block;
  static __WT_MEMBER constexpr unsigned size() { return Size; }
  static __WT_MEMBER constexpr unsigned num_threads() { return Size; }
  static __WT_MEMBER unsigned thread_rank() { return linear_thread() & (Size - 1); }
  static __WT_MEMBER unsigned mask() {
    if constexpr (Size == 32) return 0xffffffffu;
    else return lowest_lanes(Size) << (lane() & ~(Size - 1));
  }
  static __WT_MEMBER bool is_valid() { return true; }
  static __WT_MEMBER void sync() { __syncwarp(mask()); }
  template <class T> __WT_MEMBER T shfl(const T& v, int from) const {
    return by_words(v, [=](auto word) { return __shfl_sync(mask(), word, from, Size); });
  }
  template <class T> __WT_MEMBER T shfl_down(const T& v, unsigned delta) const {
    return by_words(v, [=](auto word) { return __shfl_down_sync(mask(), word, delta, Size); });
  }
  template <class T> __WT_MEMBER T shfl_up(const T& v, unsigned delta) const {
    return by_words(v, [=](auto word) { return __shfl_up_sync(mask(), word, delta, Size); });
  }
  template <class T> __WT_MEMBER T shfl_xor(const T& v, unsigned lanes) const {
    return by_words(v, [=](auto word) { return __shfl_xor_sync(mask(), word, static_cast<int>(lanes), Size); });
  }
  __WT_MEMBER int any(int p) const { return Size == 32 ? __any_sync(mask(), p) : ballot(p) != 0; }
  __WT_MEMBER int all(int p) const {
    return Size == 32 ? __all_sync(mask(), p) : ballot(p) == lowest_lanes(Size);
  }
  __WT_MEMBER unsigned ballot(int p) const {
    const unsigned lanes = __ballot_sync(mask(), p);
    return Size == 32 ? lanes : lanes >> (lane() & ~(Size - 1)) & lowest_lanes(Size);
  }
  template <class T> __WT_MEMBER unsigned match_any(T v) const {
    return __match_any_sync(mask(), v) >> (lane() & ~(Size - 1));
  }
  template <class T> __WT_MEMBER unsigned match_all(T v, int& all) const {
    return __match_all_sync(mask(), v, &all) >> (lane() & ~(Size - 1));
  }
};
}  // namespace details

template <unsigned Size, class Parent = void> class thread_block_tile;
template <unsigned Size> class thread_block_tile<Size, void> : public details::tile<Size> {
 public:
  template <class Parent> __WT_MEMBER thread_block_tile(const thread_block_tile<Size, Parent>&)
      : rank_(thread_block_tile<Size, Parent>::meta_group_rank()),
        size_(thread_block_tile<Size, Parent>::meta_group_size()) {}
  __WT_MEMBER operator thread_group() const { return thread_group(false, this->mask(), Size); }
  __WT_MEMBER unsigned meta_group_rank() const { return rank_; }
  __WT_MEMBER unsigned meta_group_size() const { return size_; }

 private:
  unsigned rank_, size_;
};
template <unsigned Size> class thread_block_tile<Size, thread_block> : public details::tile<Size> {
 public:
  __WT_MEMBER operator thread_group() const { return thread_group(false, this->mask(), Size); }
  static __WT_MEMBER unsigned meta_group_rank() { return details::linear_thread() / Size; }
  static __WT_MEMBER unsigned meta_group_size() { return (details::threads_of_block() + Size - 1) / Size; }
};
template <unsigned Size, unsigned Outer, class Parent>
class thread_block_tile<Size, thread_block_tile<Outer, Parent>> : public details::tile<Size> {
 public:
  __WT_MEMBER operator thread_group() const { return thread_group(false, this->mask(), Size); }
  static __WT_MEMBER unsigned meta_group_rank() { return (details::lane() & (Outer - 1)) / Size; }
  static __WT_MEMBER unsigned meta_group_size() { return Outer / Size; }
};

// With more than a warp in it a tile needs memory for its barriers, which the user gives; blocks of that size do not.
template <unsigned Size> struct block_tile_memory { char bytes[1]; };
template <unsigned Size> __WT_DEVICE thread_block this_thread_block(block_tile_memory<Size>&) { return {}; }

template <unsigned Size> __WT_DEVICE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) { return {}; }
template <unsigned Size, unsigned Outer, class Parent>
__WT_DEVICE thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(
    const thread_block_tile<Outer, Parent>&) {
  return {};
}
__WT_DEVICE thread_group tiled_partition(const thread_block&, unsigned size) {
  return thread_group(false, details::lowest_lanes(size) << (details::lane() & ~(size - 1)), size);
}
__WT_DEVICE thread_group tiled_partition(const thread_group&, unsigned size) {
  return thread_group(false, details::lowest_lanes(size) << (details::lane() & ~(size - 1)), size);
}
__WT_DEVICE coalesced_group binary_partition(const coalesced_group& group, bool p) {
  const unsigned lanes = __ballot_sync(group.mask(), p);
  return coalesced_group((p ? lanes : ~lanes) & group.mask());
}
template <unsigned Size, class Parent>
__WT_DEVICE coalesced_group binary_partition(const thread_block_tile<Size, Parent>& group, bool p) {
  const unsigned lanes = __ballot_sync(group.mask(), p);
  return coalesced_group((p ? lanes : ~lanes) & group.mask());
}
template <class Group, class Label> __WT_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.mask(), label));
}
template <class Group> __WT_DEVICE void sync(const Group& group) { group.sync(); }
template <class Group> __WT_DEVICE unsigned thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> __WT_DEVICE unsigned group_size(const Group& group) { return group.size(); }

template <class T = void> struct plus;
template <class T = void> struct less;
template <class T = void> struct greater;
template <class T = void> struct bit_and;
template <class T = void> struct bit_or;
template <class T = void> struct bit_xor;
#define __WT_OPERATION(name, result)                                                                      \
  template <class T> struct name {                                                                        \
    __WT_MEMBER T operator()(const T& a, const T& b) const { return result; }                      \
  };                                                                                                      \
  template <> struct name<void> {                                                                         \
    template <class T> __WT_MEMBER T operator()(const T& a, const T& b) const { return result; }   \
  };
__WT_OPERATION(plus, a + b)
__WT_OPERATION(less, b < a ? b : a)
__WT_OPERATION(greater, a < b ? b : a)
__WT_OPERATION(bit_and, a & b)
__WT_OPERATION(bit_or, a | b)
__WT_OPERATION(bit_xor, a ^ b)
#undef __WT_OPERATION

// Runs `work` in one thread of the group.
template <class Group, class Work> __WT_DEVICE void invoke_one(const Group& group, Work work) {
  if (group.thread_rank() == 0) work();
}

}  // namespace cooperative_groups
