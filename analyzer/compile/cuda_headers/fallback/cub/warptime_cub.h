// The part of CUB that kernels use, for warps and blocks, and of the rest enough for host code to be parsed, where
// neither a CUDA Toolkit nor libcub-dev is installed. Reductions, scans and exchanges go through shuffles and shared
// memory as CUB's do by default; a scan of a block goes by warps whatever algorithm is asked for.
#pragma once
#pragma clang system_header

#include <cuda_runtime.h>
#include <cstddef>
#include <iterator>
#include <type_traits>

#define CUB_VERSION 200000
#define CUB_NS_QUALIFIER ::cub
#define CUB_NS_PREFIX
#define CUB_NS_POSTFIX
#define CUB_NAMESPACE_BEGIN namespace cub {
#define CUB_NAMESPACE_END }
#define CUB_PTX_ARCH __CUDA_ARCH__
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) < (b)) ? (b) : (a))
#define CUB_QUOTIENT_CEILING(a, b) (((a) + (b) - 1) / (b))
#pragma push_macro("__WT")
#define __WT __attribute__((host, device, nodebug))

namespace cub {

struct NullType {
  template <class T> __WT NullType& operator=(const T&) { return *this; }
  __WT bool operator==(const NullType&) const { return true; }
  __WT bool operator!=(const NullType&) const { return false; }
};
template <int N> struct Int2Type { enum { VALUE = N }; };
template <int N, int Count = N, int So = 0> struct Log2 { enum { VALUE = (1 << So) < N ? Log2<N, (Count >> 1), So + 1>::VALUE : So }; };
template <int N, int So> struct Log2<N, 0, So> { enum { VALUE = (1 << (So - 1)) < N ? So : So - 1 }; };
template <int N> struct PowerOfTwo { enum { VALUE = (N & (N - 1)) == 0 }; };
template <bool B, class A, class C> struct If { typedef std::conditional_t<B, A, C> Type; };
template <class A, class B> struct Equals { enum { VALUE = std::is_same<A, B>::value }; };
template <class K, class V> struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  K key;
  V value;
  __WT KeyValuePair() {}
  __WT KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
  __WT bool operator!=(const KeyValuePair& b) const { return value != b.value || key != b.key; }
};
template <class T> struct UnitWord {
  template <int Most> using word = std::conditional_t<sizeof(T) % 8 == 0 && alignof(T) % 8 == 0 && Most >= 8, unsigned long long,
                                   std::conditional_t<sizeof(T) % 4 == 0 && alignof(T) % 4 == 0, unsigned,
                                   std::conditional_t<sizeof(T) % 2 == 0 && alignof(T) % 2 == 0, unsigned short, unsigned char>>>;
  typedef word<4> ShuffleWord;
  typedef word<8> VolatileWord;
  typedef std::conditional_t<sizeof(T) % 16 == 0 && alignof(T) % 16 == 0, ulonglong2, word<8>> DeviceWord;
};
template <class T> struct Uninitialized {
  typename UnitWord<T>::DeviceWord storage[sizeof(T) / sizeof(typename UnitWord<T>::DeviceWord)];
  __WT T& Alias() { return reinterpret_cast<T&>(*this); }
};
template <class T> struct DoubleBuffer {
  T* d_buffers[2];
  int selector;
  __WT DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
  __WT DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate}, selector(0) {}
  __WT T* Current() { return d_buffers[selector]; }
  __WT T* Alternate() { return d_buffers[selector ^ 1]; }
};

#define __WT_OPERATOR(name, expression)                                                    \
  struct name {                                                                            \
    template <class A, class B> __WT auto operator()(const A& a, const B& b) const { return expression; } \
  };
__WT_OPERATOR(Sum, a + b)
__WT_OPERATOR(Difference, a - b)
__WT_OPERATOR(Division, a / b)
__WT_OPERATOR(Equality, a == b)
__WT_OPERATOR(Inequality, a != b)
#undef __WT_OPERATOR
struct Max {
  template <class T> __WT T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
  template <class T> __WT T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct ArgMax {
  template <class K, class V> __WT KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V> __WT KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
template <class To> struct CastOp {
  template <class A> __WT To operator()(const A& a) const { return static_cast<To>(a); }
};

// Threads.
__WT_DEVICE unsigned LaneId() { return __nvvm_read_ptx_sreg_laneid(); }
__WT_DEVICE unsigned WarpId() { return __nvvm_read_ptx_sreg_warpid(); }
__WT_DEVICE int RowMajorTid(int x, int y, int z) {
  return static_cast<int>((z == 1 ? 0 : threadIdx.z * x * y) + (y == 1 ? 0 : threadIdx.y * x) + threadIdx.x);
}
__WT_DEVICE void CTA_SYNC() { __syncthreads(); }
__WT_DEVICE void WARP_SYNC(unsigned mask) { __syncwarp(mask); }
template <class T, class Shuffle> __WT_DEVICE T __wt_by_words(const T& v, Shuffle shuffle) {
  typedef typename UnitWord<T>::ShuffleWord word;
  T result = v;
  const word* from = reinterpret_cast<const word*>(&v);
  word* to = reinterpret_cast<word*>(&result);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / sizeof(word)); ++i) to[i] = static_cast<word>(shuffle(static_cast<unsigned>(from[i])));
  return result;
}
// As CUB's: the last and the first thread of the logical warp bound a shuffle; the others keep their own value.
template <int Width, class T> __WT_DEVICE T ShuffleDown(const T& v, int offset, int last, unsigned mask) {
  return __wt_by_words(v, [=](unsigned w) { return __nvvm_shfl_sync_down_i32(mask, w, offset, ((32 - Width) << 8) | last); });
}
template <int Width, class T> __WT_DEVICE T ShuffleUp(const T& v, int offset, int first, unsigned mask) {
  return __wt_by_words(v, [=](unsigned w) { return __nvvm_shfl_sync_up_i32(mask, w, offset, ((32 - Width) << 8) | first); });
}
template <int Width, class T> __WT_DEVICE T ShuffleIndex(const T& v, int from, unsigned mask) {
  return __wt_by_words(v, [=](unsigned w) { return __nvvm_shfl_sync_idx_i32(mask, w, from, ((32 - Width) << 8) | 0x1f); });
}

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier M, class It> __WT_DEVICE typename std::iterator_traits<It>::value_type ThreadLoad(It it) { return *it; }
template <CacheStoreModifier M, class It, class T> __WT_DEVICE void ThreadStore(It it, T v) { *it = v; }
template <int N, class T, class Op> __WT_DEVICE T ThreadReduce(T (&items)[N], Op op) {
  T sum = items[0];
#pragma unroll
  for (int i = 1; i < N; ++i) sum = op(sum, items[i]);
  return sum;
}

// A step of a sum: the shuffle itself says whether there was a thread to take from.
#define __WT_SUM_STEP(type, direction, letter, add)                                                       \
  __WT_DEVICE type __wt_sum_##direction(type v, int offset, int bound, unsigned mask) {                   \
    type sum;                                                                                             \
    asm volatile("{.reg .pred from; .reg ." add " other; shfl.sync." #direction ".b32 other|from, %1, %2, %3, %4; "  \
                 "@from add." add " other, other, %1; mov." add " %0, other;}"                            \
                 : "=" letter(sum) : letter(v), "r"(offset), "r"(bound), "r"(mask));                      \
    return sum;                                                                                           \
  }
__WT_SUM_STEP(float, down, "f", "f32")
__WT_SUM_STEP(int, down, "r", "s32")
__WT_SUM_STEP(unsigned, down, "r", "u32")
__WT_SUM_STEP(float, up, "f", "f32")
__WT_SUM_STEP(int, up, "r", "s32")
__WT_SUM_STEP(unsigned, up, "r", "u32")
#undef __WT_SUM_STEP
template <class T, class Op> inline constexpr bool __wt_is_plain_sum =
    std::is_same<Op, Sum>::value && (std::is_same<T, float>::value || std::is_same<T, int>::value || std::is_same<T, unsigned>::value);

// Warps.
template <class T, int Width = 32, int Arch = 0> class WarpReduce {
  int lane_;
  unsigned mask_;

 public:
  typedef NullType TempStorage;
  __attribute__((device)) explicit WarpReduce(TempStorage&) : lane_(static_cast<int>(LaneId())), mask_(0xffffffffu) {
    if (Width < 32 && (Width & (Width - 1)) == 0) {
      mask_ = ((1u << Width) - 1) << (lane_ / Width * Width);
      lane_ %= Width;
    }
  }
  template <class Op> __attribute__((device)) T Reduce(T v, Op op) {
    if constexpr (__wt_is_plain_sum<T, Op>) {
#pragma unroll
      for (int offset = 1; offset < Width; offset *= 2) v = __wt_sum_down(v, offset, ((32 - Width) << 8) | (Width - 1), mask_);
      return v;
    }
    return Reduce(v, op, Width);
  }
  template <class Op> __attribute__((device)) T Reduce(T v, Op op, int valid) {
#pragma unroll
    for (int offset = 1; offset < Width; offset *= 2) {
      const T other = ShuffleDown<Width>(v, offset, Width - 1, mask_);
      if (lane_ + offset < valid) v = op(v, other);
    }
    return v;
  }
  __attribute__((device)) T Sum(T v) { return Reduce(v, cub::Sum()); }
  __attribute__((device)) T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
};

template <class T, int Width = 32, int Arch = 0> class WarpScan {
  int lane_;
  unsigned mask_;

 public:
  typedef NullType TempStorage;
  __attribute__((device)) explicit WarpScan(TempStorage&) : lane_(static_cast<int>(LaneId())), mask_(0xffffffffu) {
    if (Width < 32 && (Width & (Width - 1)) == 0) {
      mask_ = ((1u << Width) - 1) << (lane_ / Width * Width);
      lane_ %= Width;
    }
  }
  template <class Op> __attribute__((device)) void InclusiveScan(T v, T& result, Op op) {
    if constexpr (__wt_is_plain_sum<T, Op>) {
#pragma unroll
      for (int offset = 1; offset < Width; offset *= 2) v = __wt_sum_up(v, offset, (32 - Width) << 8, mask_);
      result = v;
      return;
    }
#pragma unroll
    for (int offset = 1; offset < Width; offset *= 2) {
      const T other = ShuffleUp<Width>(v, offset, 0, mask_);
      if (lane_ >= offset) v = op(other, v);
    }
    result = v;
  }
  template <class Op> __attribute__((device)) void InclusiveScan(T v, T& result, Op op, T& total) {
    InclusiveScan(v, result, op);
    total = ShuffleIndex<Width>(result, Width - 1, mask_);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, Op op) {
    T inclusive;
    InclusiveScan(v, inclusive, op);
    result = ShuffleUp<Width>(inclusive, 1, 0, mask_);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, T initial, Op op) {
    ExclusiveScan(v, result, op);
    result = lane_ == 0 ? initial : op(initial, result);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, T initial, Op op, T& total) {
    T inclusive;
    InclusiveScan(v, inclusive, op);
    total = ShuffleIndex<Width>(inclusive, Width - 1, mask_);
    result = ShuffleUp<Width>(inclusive, 1, 0, mask_);
    result = lane_ == 0 ? initial : op(initial, result);
  }
  __attribute__((device)) void InclusiveSum(T v, T& result) { InclusiveScan(v, result, cub::Sum()); }
  __attribute__((device)) void InclusiveSum(T v, T& result, T& total) { InclusiveScan(v, result, cub::Sum(), total); }
  __attribute__((device)) void ExclusiveSum(T v, T& result) { ExclusiveScan(v, result, T(), cub::Sum()); }
  __attribute__((device)) void ExclusiveSum(T v, T& result, T& total) { ExclusiveScan(v, result, T(), cub::Sum(), total); }
  __attribute__((device)) T Broadcast(T v, unsigned from) { return ShuffleIndex<Width>(v, static_cast<int>(from), mask_); }
};

// Blocks.
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int Arch = 0> class BlockReduce {
  static constexpr int threads = X * Y * Z, width = threads < 32 ? threads : 32, warps = (threads + 31) / 32;
  struct Shared { Uninitialized<T> of_warp[warps]; };
  Shared* shared_;
  int thread_;
  static __attribute__((device)) Shared& own() {
    static __attribute__((shared)) Shared storage;
    return storage;
  }
  template <bool Full, class Op> __attribute__((device)) T of_block(T of_warp, Op op, int valid) {
    if (warps == 1) return of_warp;
    if (thread_ % 32 == 0) shared_->of_warp[thread_ / 32].Alias() = of_warp;
    __syncthreads();
    if (thread_ == 0) {
#pragma unroll
      for (int i = 1; i < warps; ++i) {
        if (Full || i * 32 < valid) of_warp = op(of_warp, shared_->of_warp[i].Alias());
      }
    }
    return of_warp;
  }

 public:
  struct TempStorage : Shared {};
  __attribute__((device)) BlockReduce() : shared_(&own()), thread_(RowMajorTid(X, Y, Z)) {}
  __attribute__((device)) explicit BlockReduce(TempStorage& storage) : shared_(&storage), thread_(RowMajorTid(X, Y, Z)) {}
  template <class Op> __attribute__((device)) T Reduce(T v, Op op) {
    NullType none;
    return of_block<true>(WarpReduce<T, width>(none).Reduce(v, op), op, threads);
  }
  template <class Op> __attribute__((device)) T Reduce(T v, Op op, int valid) {
    NullType none;
    const int left = valid - thread_ / 32 * 32;
    return of_block<false>(WarpReduce<T, width>(none).Reduce(v, op, left < width ? left : width), op, valid);
  }
  template <int N, class Op> __attribute__((device)) T Reduce(T (&items)[N], Op op) { return Reduce(ThreadReduce(items, op), op); }
  __attribute__((device)) T Sum(T v) { return Reduce(v, cub::Sum()); }
  __attribute__((device)) T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
  template <int N> __attribute__((device)) T Sum(T (&items)[N]) { return Reduce(items, cub::Sum()); }
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int Arch = 0> class BlockScan {
  static constexpr int threads = X * Y * Z, width = threads < 32 ? threads : 32, warps = (threads + 31) / 32;
  struct Shared { Uninitialized<T> of_warp[warps], prefix; };
  template <class P> using if_callback = std::enable_if_t<!std::is_convertible<P, T>::value>;
  // What a callback says is before the block: the first warp asks it.
  template <class P> __attribute__((device)) T ask(P& callback, const T& total) {
    if (thread_ < 32) {
      const T prefix = callback(total);
      if (thread_ == 0) shared_->prefix.Alias() = prefix;
    }
    __syncthreads();
    return shared_->prefix.Alias();
  }
  Shared* shared_;
  int thread_;
  static __attribute__((device)) Shared& own() {
    static __attribute__((shared)) Shared storage;
    return storage;
  }
  // What the warps before have together: of the first one nothing.
  template <class Op> __attribute__((device)) T before(T of_warp, Op op, T& total) {
    const int warp = thread_ / 32;
    if (thread_ % 32 == 31 || thread_ == threads - 1) shared_->of_warp[warp].Alias() = of_warp;
    __syncthreads();
    total = shared_->of_warp[0].Alias();
    T sum = total;
#pragma unroll
    for (int i = 1; i < warps; ++i) {
      if (warp == i) sum = total;
      total = op(total, shared_->of_warp[i].Alias());
    }
    return sum;
  }

 public:
  struct TempStorage : Shared {};
  __attribute__((device)) BlockScan() : shared_(&own()), thread_(RowMajorTid(X, Y, Z)) {}
  __attribute__((device)) explicit BlockScan(TempStorage& storage) : shared_(&storage), thread_(RowMajorTid(X, Y, Z)) {}
  template <class Op> __attribute__((device)) void InclusiveScan(T v, T& result, Op op, T& total) {
    NullType none;
    WarpScan<T, width>(none).InclusiveScan(v, result, op);
    const T prefix = before(result, op, total);
    if (thread_ >= 32) result = op(prefix, result);
  }
  template <class Op> __attribute__((device)) void InclusiveScan(T v, T& result, Op op) {
    T total;
    InclusiveScan(v, result, op, total);
  }
  template <class Op, class P, class = if_callback<P>> __attribute__((device)) void InclusiveScan(T v, T& result, Op op, P& callback) {
    T total;
    InclusiveScan(v, result, op, total);
    result = op(ask(callback, total), result);
  }
  template <class Op, class P, class = if_callback<P>> __attribute__((device)) void ExclusiveScan(T v, T& result, Op op, P& callback) {
    NullType none;
    T inclusive, total;
    WarpScan<T, width>(none).InclusiveScan(v, inclusive, op);
    result = ShuffleUp<width>(inclusive, 1, 0, 0xffffffffu);
    const T of_warps = before(inclusive, op, total);
    const T initial = ask(callback, total);
    const T prefix = thread_ < 32 ? initial : op(initial, of_warps);
    result = thread_ % 32 == 0 ? prefix : op(prefix, result);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, T initial, Op op, T& total) {
    NullType none;
    T inclusive;
    WarpScan<T, width>(none).InclusiveScan(v, inclusive, op);
    result = ShuffleUp<width>(inclusive, 1, 0, 0xffffffffu);
    T prefix = before(inclusive, op, total);
    prefix = thread_ < 32 ? initial : op(initial, prefix);
    result = thread_ % 32 == 0 ? prefix : op(prefix, result);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, T initial, Op op) {
    T total;
    ExclusiveScan(v, result, initial, op, total);
  }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, Op op) { ExclusiveScan(v, result, T(), op); }
  template <class Op> __attribute__((device)) void ExclusiveScan(T v, T& result, Op op, T& total) { ExclusiveScan(v, result, T(), op, total); }
  template <int N, class Op> __attribute__((device)) void ExclusiveScan(T (&items)[N], T (&results)[N], T initial, Op op, T& total) {
    T prefix;
    ExclusiveScan(ThreadReduce(items, op), prefix, initial, op, total);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T item = items[i];
      results[i] = prefix;
      prefix = op(prefix, item);
    }
  }
  template <int N, class Op> __attribute__((device)) void ExclusiveScan(T (&items)[N], T (&results)[N], T initial, Op op) {
    T total;
    ExclusiveScan(items, results, initial, op, total);
  }
  template <int N, class Op> __attribute__((device)) void InclusiveScan(T (&items)[N], T (&results)[N], Op op, T& total) {
    T prefix;
    ExclusiveScan(ThreadReduce(items, op), prefix, T(), op, total);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      prefix = i == 0 && thread_ == 0 ? items[0] : op(prefix, items[i]);
      results[i] = prefix;
    }
  }
  template <int N, class Op> __attribute__((device)) void InclusiveScan(T (&items)[N], T (&results)[N], Op op) {
    T total;
    InclusiveScan(items, results, op, total);
  }
  __attribute__((device)) void InclusiveSum(T v, T& result) { InclusiveScan(v, result, cub::Sum()); }
  __attribute__((device)) void InclusiveSum(T v, T& result, T& total) { InclusiveScan(v, result, cub::Sum(), total); }
  __attribute__((device)) void ExclusiveSum(T v, T& result) { ExclusiveScan(v, result, T(), cub::Sum()); }
  __attribute__((device)) void ExclusiveSum(T v, T& result, T& total) { ExclusiveScan(v, result, T(), cub::Sum(), total); }
  template <class P, class = if_callback<P>> __attribute__((device)) void InclusiveSum(T v, T& result, P& callback) { InclusiveScan(v, result, cub::Sum(), callback); }
  template <class P, class = if_callback<P>> __attribute__((device)) void ExclusiveSum(T v, T& result, P& callback) { ExclusiveScan(v, result, cub::Sum(), callback); }
  template <int N> __attribute__((device)) void InclusiveSum(T (&items)[N], T (&results)[N]) { InclusiveScan(items, results, cub::Sum()); }
  template <int N> __attribute__((device)) void InclusiveSum(T (&items)[N], T (&results)[N], T& total) { InclusiveScan(items, results, cub::Sum(), total); }
  template <int N> __attribute__((device)) void ExclusiveSum(T (&items)[N], T (&results)[N]) { ExclusiveScan(items, results, T(), cub::Sum()); }
  template <int N> __attribute__((device)) void ExclusiveSum(T (&items)[N], T (&results)[N], T& total) { ExclusiveScan(items, results, T(), cub::Sum(), total); }
};

// Loads and stores of a block's items: "blocked" is N in a row for each thread, "striped" is a thread's items a block
// or a warp apart. One place in 32 is left free where the items of a thread would meet in one bank.
template <class T, int Threads, int N> struct __wt_exchange_storage {
  static constexpr bool padded = N > 4 && (N & (N - 1)) == 0;
  static constexpr int places = Threads * N + (padded ? Threads * N / 32 : 0);
  T items[places];
  static __attribute__((device)) int place(int i) { return padded ? i + (i >> 5) : i; }
};
template <class T, int X, int N, bool Slicing = false, int Y = 1, int Z = 1, int Arch = 0> class BlockExchange {
  static constexpr int threads = X * Y * Z, width = threads < 32 ? threads : 32;
  typedef __wt_exchange_storage<T, threads, N> Shared;
  Shared* shared_;
  int thread_;

 public:
  struct TempStorage : Uninitialized<Shared> {};
  __attribute__((device)) explicit BlockExchange(TempStorage& storage) : shared_(&storage.Alias()), thread_(RowMajorTid(X, Y, Z)) {}
  // `from` and `to` say where the i-th item of a thread lies.
  template <class Out, class From, class To, class Wait> __attribute__((device)) void move(const T (&in)[N], Out (&out)[N], From from, To to, Wait wait) {
#pragma unroll
    for (int i = 0; i < N; ++i) shared_->items[Shared::place(from(i))] = in[i];
    wait();
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = shared_->items[Shared::place(to(i))];
  }
  template <class Out> __attribute__((device)) void StripedToBlocked(const T (&in)[N], Out (&out)[N]) {
    move(in, out, [this](int i) { return i * threads + thread_; }, [this](int i) { return thread_ * N + i; }, [] { __syncthreads(); });
  }
  template <class Out> __attribute__((device)) void BlockedToStriped(const T (&in)[N], Out (&out)[N]) {
    move(in, out, [this](int i) { return thread_ * N + i; }, [this](int i) { return i * threads + thread_; }, [] { __syncthreads(); });
  }
  template <class Out> __attribute__((device)) void WarpStripedToBlocked(const T (&in)[N], Out (&out)[N]) {
    const int first = thread_ / width * width * N, lane = thread_ % width;
    move(in, out, [=](int i) { return first + i * width + lane; }, [=](int i) { return first + lane * N + i; }, [] { __syncwarp(); });
  }
  template <class Out> __attribute__((device)) void BlockedToWarpStriped(const T (&in)[N], Out (&out)[N]) {
    const int first = thread_ / width * width * N, lane = thread_ % width;
    move(in, out, [=](int i) { return first + lane * N + i; }, [=](int i) { return first + i * width + lane; }, [] { __syncwarp(); });
  }
  template <class Out, class Rank> __attribute__((device)) void ScatterToBlocked(const T (&in)[N], Out (&out)[N], Rank (&ranks)[N]) {
    move(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [this](int i) { return thread_ * N + i; }, [] { __syncthreads(); });
  }
  template <class Out, class Rank> __attribute__((device)) void ScatterToStriped(const T (&in)[N], Out (&out)[N], Rank (&ranks)[N]) {
    move(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [this](int i) { return i * threads + thread_; }, [] { __syncthreads(); });
  }
};

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
// Where the i-th item of a thread lies in global memory: 0 to 2 as BLOCK_LOAD_DIRECT and STRIPED, or by warps.
template <int How, int Threads, int N> __WT_DEVICE int __wt_item(int thread, int i) {
  if (How == BLOCK_LOAD_DIRECT || How == BLOCK_LOAD_VECTORIZE) return thread * N + i;
  if (How == BLOCK_LOAD_STRIPED || How == BLOCK_LOAD_TRANSPOSE) return i * Threads + thread;
  constexpr int width = Threads < 32 ? Threads : 32;
  return thread / width * width * N + i * width + thread % width;
}
template <int Size> struct __wt_vector;
template <> struct __wt_vector<4> { typedef unsigned type; };
template <> struct __wt_vector<8> { typedef uint2 type; };
template <> struct __wt_vector<16> { typedef uint4 type; };
// The widest vector of at most 16 bytes and 4 items that N items divide into.
template <class T, int N> struct __wt_widest {
  static constexpr int items = N % 4 == 0 && sizeof(T) * 4 <= 16 ? 4 : N % 2 == 0 && sizeof(T) * 2 <= 16 ? 2 : 1;
  static constexpr int bytes = static_cast<int>(sizeof(T)) * items;
  static constexpr bool possible = items > 1 && (bytes == 4 || bytes == 8 || bytes == 16);
};

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int Arch = 0> class BlockLoad {
  static constexpr int threads = X * Y * Z;
  static constexpr bool exchanges = A >= BLOCK_LOAD_TRANSPOSE;
  typedef BlockExchange<T, X, N, false, Y, Z> Exchange;
  struct None {};
  typedef std::conditional_t<exchanges, typename Exchange::TempStorage, None> Storage;
  Storage* shared_;
  int thread_;
  static __attribute__((device)) Storage& own() {
    static __attribute__((shared)) Storage storage;
    return storage;
  }
  __attribute__((device)) void to_blocked(T (&items)[N]) {
    if constexpr (A == BLOCK_LOAD_TRANSPOSE) Exchange(*shared_).StripedToBlocked(items, items);
    else if constexpr (exchanges) Exchange(*shared_).WarpStripedToBlocked(items, items);
  }

 public:
  typedef Storage TempStorage;
  __attribute__((device)) BlockLoad() : shared_(&own()), thread_(RowMajorTid(X, Y, Z)) {}
  __attribute__((device)) explicit BlockLoad(TempStorage& storage) : shared_(&storage), thread_(RowMajorTid(X, Y, Z)) {}
  template <class It> __attribute__((device)) void Load(It from, T (&items)[N]) {
    if constexpr (A == BLOCK_LOAD_VECTORIZE && std::is_pointer<It>::value && __wt_widest<T, N>::possible) {
      typedef __wt_widest<T, N> widest;
      typedef typename __wt_vector<widest::bytes>::type vector;
      const vector* vectors = reinterpret_cast<const vector*>(from + thread_ * N);
#pragma unroll
      for (int i = 0; i < N / widest::items; ++i) {
        const vector v = vectors[i];
#pragma unroll
        for (int j = 0; j < widest::items; ++j) items[i * widest::items + j] = reinterpret_cast<const T*>(&v)[j];
      }
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) items[i] = from[__wt_item<A, threads, N>(thread_, i)];
      to_blocked(items);
    }
  }
  template <class It> __attribute__((device)) void Load(It from, T (&items)[N], int valid) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (__wt_item<A, threads, N>(thread_, i) < valid) items[i] = from[__wt_item<A, threads, N>(thread_, i)];
    }
    to_blocked(items);
  }
  template <class It, class D> __attribute__((device)) void Load(It from, T (&items)[N], int valid, D otherwise) {
#pragma unroll
    for (int i = 0; i < N; ++i) items[i] = otherwise;
    Load(from, items, valid);
  }
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int Arch = 0> class BlockStore {
  static constexpr int threads = X * Y * Z;
  static constexpr bool exchanges = A >= BLOCK_STORE_TRANSPOSE;
  typedef BlockExchange<T, X, N, false, Y, Z> Exchange;
  struct None {};
  typedef std::conditional_t<exchanges, typename Exchange::TempStorage, None> Storage;
  Storage* shared_;
  int thread_;
  static __attribute__((device)) Storage& own() {
    static __attribute__((shared)) Storage storage;
    return storage;
  }
  __attribute__((device)) void from_blocked(T (&items)[N]) {
    if constexpr (A == BLOCK_STORE_TRANSPOSE) Exchange(*shared_).BlockedToStriped(items, items);
    else if constexpr (exchanges) Exchange(*shared_).BlockedToWarpStriped(items, items);
  }

 public:
  typedef Storage TempStorage;
  __attribute__((device)) BlockStore() : shared_(&own()), thread_(RowMajorTid(X, Y, Z)) {}
  __attribute__((device)) explicit BlockStore(TempStorage& storage) : shared_(&storage), thread_(RowMajorTid(X, Y, Z)) {}
  template <class It> __attribute__((device)) void Store(It to, T (&items)[N]) {
    if constexpr (A == BLOCK_STORE_VECTORIZE && std::is_pointer<It>::value && __wt_widest<T, N>::possible) {
      typedef __wt_widest<T, N> widest;
      typedef typename __wt_vector<widest::bytes>::type vector;
      vector* vectors = reinterpret_cast<vector*>(to + thread_ * N);
#pragma unroll
      for (int i = 0; i < N / widest::items; ++i) {
        vector v;
#pragma unroll
        for (int j = 0; j < widest::items; ++j) reinterpret_cast<T*>(&v)[j] = items[i * widest::items + j];
        vectors[i] = v;
      }
    } else {
      from_blocked(items);
#pragma unroll
      for (int i = 0; i < N; ++i) to[__wt_item<A, threads, N>(thread_, i)] = items[i];
    }
  }
  // CUB keeps the number of valid items in shared memory where it exchanges; here each thread has it.
  template <class It> __attribute__((device)) void Store(It to, T (&items)[N], int valid) {
    from_blocked(items);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (__wt_item<A, threads, N>(thread_, i) < valid) to[__wt_item<A, threads, N>(thread_, i)] = items[i];
    }
  }
};

template <class T, int N, class It> __WT_DEVICE void LoadDirectBlocked(int thread, It from, T (&items)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) items[i] = from[thread * N + i];
}
template <class T, int N, class It> __WT_DEVICE void StoreDirectBlocked(int thread, It to, T (&items)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[thread * N + i] = items[i];
}
template <int Threads, class T, int N, class It> __WT_DEVICE void LoadDirectStriped(int thread, It from, T (&items)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) items[i] = from[thread + i * Threads];
}
template <int Threads, class T, int N, class It> __WT_DEVICE void StoreDirectStriped(int thread, It to, T (&items)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[thread + i * Threads] = items[i];
}

// Sorts and histograms of a block are not here: a call of one is of a function that is not known.
template <class K, int X, int N, class V = NullType, int Bits = 4, bool Memoize = true, int A = 0, int Config = 0, int Y = 1, int Z = 1, int Arch = 0>
class BlockRadixSort {
 public:
  struct TempStorage { unsigned counters[X * Y * Z * 8]; };
  __attribute__((device)) BlockRadixSort();
  __attribute__((device)) explicit BlockRadixSort(TempStorage& storage);
  template <class... As> __attribute__((device)) void Sort(As&&... as);
  template <class... As> __attribute__((device)) void SortDescending(As&&... as);
  template <class... As> __attribute__((device)) void SortBlockedToStriped(As&&... as);
  template <class... As> __attribute__((device)) void SortDescendingBlockedToStriped(As&&... as);
};
template <class T, int X, int Y = 1, int Z = 1, int Arch = 0> class BlockDiscontinuity {
 public:
  struct TempStorage { T items[X * Y * Z]; };
  __attribute__((device)) BlockDiscontinuity();
  __attribute__((device)) explicit BlockDiscontinuity(TempStorage& storage);
  template <class... As> __attribute__((device)) void FlagHeads(As&&... as);
  template <class... As> __attribute__((device)) void FlagTails(As&&... as);
};
template <class T, int X, int N, int Bins, int A = 0, int Y = 1, int Z = 1, int Arch = 0> class BlockHistogram {
 public:
  struct TempStorage { unsigned counters[X * Y * Z]; };
  __attribute__((device)) explicit BlockHistogram(TempStorage& storage);
  template <class... As> __attribute__((device)) void InitHistogram(As&&... as);
  template <class... As> __attribute__((device)) void Histogram(As&&... as);
  template <class... As> __attribute__((device)) void Composite(As&&... as);
};

// Iterators.
template <class V, class F, class It, class Offset = ptrdiff_t> class TransformInputIterator {
  It it_;
  F f_;

 public:
  typedef V value_type;
  typedef Offset difference_type;
  typedef V* pointer;
  typedef V reference;
  typedef std::random_access_iterator_tag iterator_category;
  __WT TransformInputIterator(It it, F f) : it_(it), f_(f) {}
  __WT V operator*() const { return f_(*it_); }
  template <class I> __WT V operator[](I i) const { return f_(it_[i]); }
  template <class I> __WT TransformInputIterator operator+(I n) const { return TransformInputIterator(it_ + n, f_); }
  __WT TransformInputIterator& operator++() { ++it_; return *this; }
};
template <class V, class Offset = ptrdiff_t> class CountingInputIterator {
  V v_;

 public:
  typedef V value_type;
  typedef Offset difference_type;
  typedef V* pointer;
  typedef V reference;
  typedef std::random_access_iterator_tag iterator_category;
  __WT explicit CountingInputIterator(const V& v) : v_(v) {}
  __WT V operator*() const { return v_; }
  template <class I> __WT V operator[](I i) const { return v_ + static_cast<V>(i); }
  template <class I> __WT CountingInputIterator operator+(I n) const { return CountingInputIterator(v_ + static_cast<V>(n)); }
  __WT CountingInputIterator& operator++() { ++v_; return *this; }
};
template <class V, class Offset = ptrdiff_t> class ConstantInputIterator {
  V v_;

 public:
  typedef V value_type;
  typedef Offset difference_type;
  typedef V* pointer;
  typedef V reference;
  typedef std::random_access_iterator_tag iterator_category;
  __WT explicit ConstantInputIterator(const V& v, Offset = 0) : v_(v) {}
  __WT V operator*() const { return v_; }
  template <class I> __WT V operator[](I) const { return v_; }
  template <class I> __WT ConstantInputIterator operator+(I) const { return *this; }
};

// What host code calls.
#define __WT_STATIC(name) template <class... As> static cudaError_t name(As&&... as);
struct DeviceReduce {
  __WT_STATIC(Reduce)
  __WT_STATIC(Sum)
  __WT_STATIC(Min)
  __WT_STATIC(Max)
  __WT_STATIC(ArgMin)
  __WT_STATIC(ArgMax)
  __WT_STATIC(ReduceByKey)
};
struct DeviceSegmentedReduce : DeviceReduce {};
struct DeviceScan {
  __WT_STATIC(InclusiveSum)
  __WT_STATIC(ExclusiveSum)
  __WT_STATIC(InclusiveScan)
  __WT_STATIC(ExclusiveScan)
  __WT_STATIC(InclusiveSumByKey)
  __WT_STATIC(ExclusiveSumByKey)
};
struct DeviceRadixSort {
  __WT_STATIC(SortKeys)
  __WT_STATIC(SortKeysDescending)
  __WT_STATIC(SortPairs)
  __WT_STATIC(SortPairsDescending)
};
struct DeviceSegmentedRadixSort : DeviceRadixSort {};
struct DeviceSegmentedSort : DeviceRadixSort {};
struct DeviceMergeSort : DeviceRadixSort {};
struct DeviceRunLengthEncode {
  __WT_STATIC(Encode)
  __WT_STATIC(NonTrivialRuns)
};
struct DeviceSelect {
  __WT_STATIC(Flagged)
  __WT_STATIC(If)
  __WT_STATIC(Unique)
};
struct DevicePartition {
  __WT_STATIC(Flagged)
  __WT_STATIC(If)
};
struct DeviceHistogram {
  __WT_STATIC(HistogramEven)
  __WT_STATIC(HistogramRange)
};
#undef __WT_STATIC
template <class... Ts> struct DispatchScan {
  template <class... As> static cudaError_t Dispatch(As&&... as);
};
template <bool Descending, class... Ts> struct DispatchRadixSort {
  template <class... As> static cudaError_t Dispatch(As&&... as);
};
template <bool Descending, class... Ts> struct DispatchSegmentedRadixSort : DispatchRadixSort<Descending, Ts...> {};
struct CachingDeviceAllocator {
  template <class... As> explicit CachingDeviceAllocator(As... as);
  template <class... As> cudaError_t DeviceAllocate(As&&... as);
  template <class... As> cudaError_t DeviceFree(As&&... as);
};
int CurrentDevice();
template <class... As> cudaError_t SmVersion(As&&... as);
template <class... As> cudaError_t MaxSmOccupancy(As&&... as);
}  // namespace cub
#pragma pop_macro("__WT")
