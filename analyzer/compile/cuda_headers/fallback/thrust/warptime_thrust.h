// The part of Thrust that device code uses, and of the rest enough for host code to be parsed, where neither a CUDA
// Toolkit nor libthrust-dev is installed. Algorithms in device code are plain loops, as with thrust::seq.
#pragma once
#pragma clang system_header

#include <cuda_runtime.h>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define THRUST_VERSION 200000
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_NS_QUALIFIER ::thrust
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }
#define THRUST_DEVICE_SYSTEM_CPP 4
#define THRUST_DEVICE_SYSTEM_OMP 2
#define THRUST_DEVICE_SYSTEM_CUDA 1
#define THRUST_DEVICE_SYSTEM 1
#pragma push_macro("__WT")
#define __WT __attribute__((host, device, nodebug))

namespace thrust {

// Function objects.
#define __WT_FUNCTOR(name, result, expression)                                                     \
  template <class T = void> struct name {                                                          \
    typedef T first_argument_type;                                                                 \
    typedef T second_argument_type;                                                                \
    typedef result result_type;                                                                    \
    __WT constexpr result operator()(const T& a, const T& b) const { return expression; }          \
  };                                                                                               \
  template <> struct name<void> {                                                                  \
    template <class A, class B> __WT constexpr auto operator()(const A& a, const B& b) const -> decltype(expression) { \
      return expression;                                                                           \
    }                                                                                              \
  };
__WT_FUNCTOR(plus, T, a + b)
__WT_FUNCTOR(minus, T, a - b)
__WT_FUNCTOR(multiplies, T, a * b)
__WT_FUNCTOR(divides, T, a / b)
__WT_FUNCTOR(modulus, T, a % b)
__WT_FUNCTOR(equal_to, bool, a == b)
__WT_FUNCTOR(not_equal_to, bool, a != b)
__WT_FUNCTOR(less, bool, a < b)
__WT_FUNCTOR(greater, bool, a > b)
__WT_FUNCTOR(less_equal, bool, a <= b)
__WT_FUNCTOR(greater_equal, bool, a >= b)
__WT_FUNCTOR(logical_and, bool, a && b)
__WT_FUNCTOR(logical_or, bool, a || b)
__WT_FUNCTOR(bit_and, T, a & b)
__WT_FUNCTOR(bit_or, T, a | b)
__WT_FUNCTOR(bit_xor, T, a ^ b)
__WT_FUNCTOR(maximum, T, a < b ? b : a)
__WT_FUNCTOR(minimum, T, b < a ? b : a)
#undef __WT_FUNCTOR
#define __WT_FUNCTOR(name, result, expression)                                            \
  template <class T = void> struct name {                                                 \
    typedef T argument_type;                                                              \
    typedef result result_type;                                                           \
    __WT constexpr result operator()(const T& a) const { return expression; }             \
  };                                                                                      \
  template <> struct name<void> {                                                         \
    template <class A> __WT constexpr auto operator()(const A& a) const -> decltype(expression) { return expression; } \
  };
__WT_FUNCTOR(negate, T, -a)
__WT_FUNCTOR(logical_not, bool, !a)
__WT_FUNCTOR(identity, T, a)
__WT_FUNCTOR(square, T, a * a)
#undef __WT_FUNCTOR
template <class A = void, class B = void> struct project1st {
  __WT constexpr const A& operator()(const A& a, const B&) const { return a; }
};
template <class A = void, class B = void> struct project2nd {
  __WT constexpr const B& operator()(const A&, const B& b) const { return b; }
};
template <class A, class R> struct unary_function {
  typedef A argument_type;
  typedef R result_type;
};
template <class A, class B, class R> struct binary_function {
  typedef A first_argument_type;
  typedef B second_argument_type;
  typedef R result_type;
};
template <class F> struct unary_negate {
  F f;
  template <class A> __WT constexpr bool operator()(const A& a) const { return !f(a); }
};
template <class F> __WT constexpr unary_negate<F> not1(const F& f) { return unary_negate<F>{f}; }
template <class T> __WT constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __WT constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class Less> __WT constexpr const T& min(const T& a, const T& b, Less less) { return less(b, a) ? b : a; }
template <class T, class Less> __WT constexpr const T& max(const T& a, const T& b, Less less) { return less(a, b) ? b : a; }
template <class T> __WT constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}

// Pairs and tuples: the first element comes first in memory.
template <class A, class B> struct pair {
  typedef A first_type;
  typedef B second_type;
  A first;
  B second;
  __WT constexpr pair() : first(), second() {}
  __WT constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <class C, class D> __WT constexpr pair(const pair<C, D>& other) : first(other.first), second(other.second) {}
  template <class C, class D> __WT constexpr pair(const std::pair<C, D>& other) : first(other.first), second(other.second) {}
};
template <class A, class B> __WT constexpr pair<A, B> make_pair(A a, B b) { return pair<A, B>(a, b); }
template <class A, class B> __WT constexpr bool operator==(const pair<A, B>& a, const pair<A, B>& b) {
  return a.first == b.first && a.second == b.second;
}
template <class A, class B> __WT constexpr bool operator!=(const pair<A, B>& a, const pair<A, B>& b) { return !(a == b); }
template <class A, class B> __WT constexpr bool operator<(const pair<A, B>& a, const pair<A, B>& b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}

struct null_type {};
template <class... Ts> class tuple;
template <> class tuple<> {
 public:
  template <class... Us> __WT constexpr void assign() {}
};
template <class T> struct tuple_size;
template <class... Ts> struct tuple_size<tuple<Ts...>> : std::integral_constant<size_t, sizeof...(Ts)> {};
template <class A, class B> struct tuple_size<pair<A, B>> : std::integral_constant<size_t, 2> {};
template <class T> struct tuple_size<const T> : tuple_size<T> {};
template <size_t I, class T> struct tuple_element;
template <size_t I, class T, class... Rest> struct tuple_element<I, tuple<T, Rest...>> : tuple_element<I - 1, tuple<Rest...>> {};
template <class T, class... Rest> struct tuple_element<0, tuple<T, Rest...>> { typedef T type; };
template <class A, class B> struct tuple_element<0, pair<A, B>> { typedef A type; };
template <class A, class B> struct tuple_element<1, pair<A, B>> { typedef B type; };
template <size_t I, class T> struct tuple_element<I, const T> { typedef const typename tuple_element<I, T>::type type; };
template <size_t I, class T> using tuple_element_t = typename tuple_element<I, T>::type;
template <class T, class... Rest> class tuple<T, Rest...> {
 public:
  T head;
  tuple<Rest...> tail;
  __WT constexpr tuple() : head(), tail() {}
  tuple(const tuple&) = default;
  template <bool Some = (sizeof...(Rest) > 0), class = std::enable_if_t<Some>>
  __WT constexpr tuple(const T& v, const Rest&... rest) : head(v), tail(rest...) {}
  template <class U, class... Us,
            class = std::enable_if_t<sizeof...(Us) == sizeof...(Rest) && std::is_constructible<T, U&&>::value &&
                                     !std::is_same<std::decay_t<U>, tuple>::value>>
  __WT constexpr tuple(U&& v, Us&&... rest) : head(static_cast<U&&>(v)), tail(static_cast<Us&&>(rest)...) {}
  template <class U, class... Us, class = std::enable_if_t<sizeof...(Us) == sizeof...(Rest)>>
  __WT constexpr tuple(const tuple<U, Us...>& other) : head(other.head), tail(other.tail) {}
  __WT constexpr tuple& operator=(const tuple& other) {  // through references too
    head = other.head;
    tail = other.tail;
    return *this;
  }
  template <class U, class... Us> __WT constexpr tuple& operator=(const tuple<U, Us...>& other) {
    head = other.head;
    tail = other.tail;
    return *this;
  }
  template <class A, class B> __WT constexpr tuple& operator=(const pair<A, B>& other) {
    head = other.first;
    tail.head = other.second;
    return *this;
  }
  template <size_t I> __WT constexpr auto& get() {
    if constexpr (I == 0) return head;
    else return tail.template get<I - 1>();
  }
  template <size_t I> __WT constexpr const auto& get() const {
    if constexpr (I == 0) return head;
    else return tail.template get<I - 1>();
  }
  __WT constexpr void swap(tuple& other) { thrust::swap(*this, other); }
};
#if __cpp_deduction_guides
template <class... Ts> tuple(Ts...) -> tuple<Ts...>;
template <class A, class B> pair(A, B) -> pair<A, B>;
#endif
template <size_t I, class... Ts> __WT constexpr tuple_element_t<I, tuple<Ts...>>& get(tuple<Ts...>& t) { return t.template get<I>(); }
template <size_t I, class... Ts> __WT constexpr const tuple_element_t<I, tuple<Ts...>>& get(const tuple<Ts...>& t) { return t.template get<I>(); }
template <size_t I, class... Ts> __WT constexpr tuple_element_t<I, tuple<Ts...>>&& get(tuple<Ts...>&& t) {
  return static_cast<tuple_element_t<I, tuple<Ts...>>&&>(t.template get<I>());
}
template <size_t I, class A, class B> __WT constexpr tuple_element_t<I, pair<A, B>>& get(pair<A, B>& p) {
  if constexpr (I == 0) return p.first;
  else return p.second;
}
template <size_t I, class A, class B> __WT constexpr const tuple_element_t<I, pair<A, B>>& get(const pair<A, B>& p) {
  if constexpr (I == 0) return p.first;
  else return p.second;
}
template <class... Ts> __WT constexpr tuple<std::decay_t<Ts>...> make_tuple(Ts&&... v) { return tuple<std::decay_t<Ts>...>(static_cast<Ts&&>(v)...); }
template <class... Ts> __WT constexpr tuple<Ts&...> tie(Ts&... v) { return tuple<Ts&...>(v...); }
template <class... As, class... Bs> __WT constexpr bool operator==(const tuple<As...>& a, const tuple<Bs...>& b) {
  if constexpr (sizeof...(As) == 0) return true;
  else return a.head == b.head && a.tail == b.tail;
}
template <class... As, class... Bs> __WT constexpr bool operator!=(const tuple<As...>& a, const tuple<Bs...>& b) { return !(a == b); }
template <class... As, class... Bs> __WT constexpr bool operator<(const tuple<As...>& a, const tuple<Bs...>& b) {
  if constexpr (sizeof...(As) == 0) return false;
  else return a.head < b.head || (!(b.head < a.head) && a.tail < b.tail);
}
template <class... As, class... Bs> __WT constexpr bool operator>(const tuple<As...>& a, const tuple<Bs...>& b) { return b < a; }

// Pointers to the device's memory.
template <class T> class device_ptr {
  T* p_;

 public:
  typedef T element_type;
  typedef std::remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef device_ptr pointer;
  typedef T& reference;
  typedef std::random_access_iterator_tag iterator_category;
  __WT constexpr device_ptr() : p_(nullptr) {}
  __WT constexpr device_ptr(decltype(nullptr)) : p_(nullptr) {}
  template <class U> __WT constexpr explicit device_ptr(U* p) : p_(static_cast<T*>(p)) {}
  template <class U, class = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  __WT constexpr device_ptr(const device_ptr<U>& other) : p_(other.get()) {}
  __WT constexpr T* get() const { return p_; }
  __WT constexpr T& operator*() const { return *p_; }
  __WT constexpr T* operator->() const { return p_; }
  __WT constexpr T& operator[](ptrdiff_t i) const { return p_[i]; }
  __WT constexpr device_ptr& operator++() { ++p_; return *this; }
  __WT constexpr device_ptr& operator--() { --p_; return *this; }
  __WT constexpr device_ptr operator++(int) { return device_ptr(p_++); }
  __WT constexpr device_ptr operator--(int) { return device_ptr(p_--); }
  __WT constexpr device_ptr& operator+=(ptrdiff_t n) { p_ += n; return *this; }
  __WT constexpr device_ptr& operator-=(ptrdiff_t n) { p_ -= n; return *this; }
  __WT constexpr device_ptr operator+(ptrdiff_t n) const { return device_ptr(p_ + n); }
  __WT constexpr device_ptr operator-(ptrdiff_t n) const { return device_ptr(p_ - n); }
  template <class U> __WT constexpr ptrdiff_t operator-(const device_ptr<U>& other) const { return p_ - other.get(); }
  template <class U> __WT constexpr bool operator==(const device_ptr<U>& other) const { return p_ == other.get(); }
  template <class U> __WT constexpr bool operator!=(const device_ptr<U>& other) const { return p_ != other.get(); }
  template <class U> __WT constexpr bool operator<(const device_ptr<U>& other) const { return p_ < other.get(); }
  __WT constexpr explicit operator bool() const { return p_ != nullptr; }
};
template <> class device_ptr<void> {
  void* p_;

 public:
  __WT constexpr explicit device_ptr(void* p = nullptr) : p_(p) {}
  __WT constexpr void* get() const { return p_; }
};
template <class T> using device_reference = T&;
template <class T> __WT constexpr T* raw_pointer_cast(T* p) { return p; }
template <class T> __WT constexpr T* raw_pointer_cast(const device_ptr<T>& p) { return p.get(); }
template <class T> __WT constexpr device_ptr<T> device_pointer_cast(T* p) { return device_ptr<T>(p); }
template <class T> __WT constexpr device_ptr<T> device_pointer_cast(const device_ptr<T>& p) { return p; }
template <class T> __WT constexpr T& raw_reference_cast(T& v) { return v; }
template <class T> __WT constexpr const T& raw_reference_cast(const T& v) { return v; }
device_ptr<void> device_malloc(size_t bytes);
template <class T> device_ptr<T> device_malloc(size_t n);
void device_free(device_ptr<void> p);
template <class T> void device_free(device_ptr<T> p);

// Iterators: `Self` says what it is at a place, and how to move.
using std::iterator_traits;
template <class It> struct iterator_value { typedef typename iterator_traits<It>::value_type type; };
template <class It> struct iterator_reference { typedef typename iterator_traits<It>::reference type; };
template <class It> struct iterator_pointer { typedef typename iterator_traits<It>::pointer type; };
template <class It> struct iterator_difference { typedef typename iterator_traits<It>::difference_type type; };
template <class It> using iterator_value_t = typename iterator_traits<It>::value_type;
struct device_system_tag {};
struct host_system_tag {};
struct any_system_tag : device_system_tag {};
template <class It> struct iterator_system { typedef device_system_tag type; };
struct use_default {};
struct random_access_traversal_tag {};
typedef std::random_access_iterator_tag random_access_device_iterator_tag;
typedef std::random_access_iterator_tag random_access_host_iterator_tag;
template <class Self, class Value, class Reference> class __wt_iterator {
  __WT constexpr Self& self() { return static_cast<Self&>(*this); }
  __WT constexpr const Self& self() const { return static_cast<const Self&>(*this); }

 public:
  typedef Value value_type;
  typedef ptrdiff_t difference_type;
  typedef const Value* pointer;
  typedef Reference reference;
  typedef std::random_access_iterator_tag iterator_category;
  __WT constexpr Reference operator*() const { return self().dereference(); }
  __WT constexpr Reference operator[](ptrdiff_t n) const { return (self() + n).dereference(); }
  __WT constexpr Self& operator++() { self().advance(1); return self(); }
  __WT constexpr Self& operator--() { self().advance(-1); return self(); }
  __WT constexpr Self operator++(int) { Self old = self(); self().advance(1); return old; }
  __WT constexpr Self operator--(int) { Self old = self(); self().advance(-1); return old; }
  __WT constexpr Self& operator+=(ptrdiff_t n) { self().advance(n); return self(); }
  __WT constexpr Self& operator-=(ptrdiff_t n) { self().advance(-n); return self(); }
  __WT constexpr Self operator+(ptrdiff_t n) const { Self moved = self(); moved.advance(n); return moved; }
  __WT constexpr Self operator-(ptrdiff_t n) const { Self moved = self(); moved.advance(-n); return moved; }
  __WT constexpr friend Self operator+(ptrdiff_t n, const Self& it) { return it + n; }
  __WT constexpr friend ptrdiff_t operator-(const Self& a, const Self& b) { return b.distance_to(a); }
  __WT constexpr friend bool operator==(const Self& a, const Self& b) { return a.distance_to(b) == 0; }
  __WT constexpr friend bool operator!=(const Self& a, const Self& b) { return a.distance_to(b) != 0; }
  __WT constexpr friend bool operator<(const Self& a, const Self& b) { return a.distance_to(b) > 0; }
  __WT constexpr friend bool operator>(const Self& a, const Self& b) { return a.distance_to(b) < 0; }
  __WT constexpr friend bool operator<=(const Self& a, const Self& b) { return a.distance_to(b) >= 0; }
  __WT constexpr friend bool operator>=(const Self& a, const Self& b) { return a.distance_to(b) <= 0; }
};
template <class It> __WT constexpr ptrdiff_t distance(It a, It b) { return b - a; }
template <class It, class N> __WT constexpr void advance(It& it, N n) { it += n; }
template <class It> __WT constexpr It next(It it, ptrdiff_t n = 1) { return it + n; }
template <class It> __WT constexpr It prev(It it, ptrdiff_t n = 1) { return it - n; }

template <class T, class System = use_default, class Traversal = use_default, class Difference = use_default>
class counting_iterator : public __wt_iterator<counting_iterator<T, System, Traversal, Difference>, T, T> {
  T v_;

 public:
  __WT constexpr counting_iterator() : v_() {}
  __WT constexpr explicit counting_iterator(T v) : v_(v) {}
  __WT constexpr T base() const { return v_; }
  __WT constexpr T dereference() const { return v_; }
  __WT constexpr void advance(ptrdiff_t n) { v_ = static_cast<T>(v_ + n); }
  __WT constexpr ptrdiff_t distance_to(const counting_iterator& other) const { return static_cast<ptrdiff_t>(other.v_) - static_cast<ptrdiff_t>(v_); }
};
template <class T> __WT constexpr counting_iterator<T> make_counting_iterator(T v) { return counting_iterator<T>(v); }

template <class T, class Index = ptrdiff_t, class System = use_default>
class constant_iterator : public __wt_iterator<constant_iterator<T, Index, System>, T, T> {
  T v_;
  ptrdiff_t at_;

 public:
  __WT constexpr constant_iterator() : v_(), at_(0) {}
  __WT constexpr explicit constant_iterator(const T& v, ptrdiff_t at = 0) : v_(v), at_(at) {}
  __WT constexpr T dereference() const { return v_; }
  __WT constexpr void advance(ptrdiff_t n) { at_ += n; }
  __WT constexpr ptrdiff_t distance_to(const constant_iterator& other) const { return other.at_ - at_; }
};
template <class T> __WT constexpr constant_iterator<T> make_constant_iterator(T v, ptrdiff_t at = 0) { return constant_iterator<T>(v, at); }

template <class F, class It> using __wt_transformed = decltype(std::declval<F&>()(*std::declval<It&>()));
template <class F, class It, class R, class V> struct __wt_transform_types {
  typedef R reference;
  typedef std::conditional_t<std::is_same<V, use_default>::value, std::decay_t<R>, V> value;
};
template <class F, class It, class V> struct __wt_transform_types<F, It, use_default, V>
    : __wt_transform_types<F, It, __wt_transformed<F, It>, V> {};
template <class F, class It, class R = use_default, class V = use_default>
class transform_iterator : public __wt_iterator<transform_iterator<F, It, R, V>, typename __wt_transform_types<F, It, R, V>::value,
                                                typename __wt_transform_types<F, It, R, V>::reference> {
  It it_;
  F f_;

 public:
  __WT constexpr transform_iterator() : it_(), f_() {}
  __WT constexpr transform_iterator(const It& it, const F& f) : it_(it), f_(f) {}
  __WT constexpr explicit transform_iterator(const It& it) : it_(it), f_() {}
  transform_iterator(const transform_iterator&) = default;
  __WT constexpr transform_iterator& operator=(const transform_iterator& other) {  // lambdas cannot be assigned
    it_ = other.it_;
    return *this;
  }
  __WT constexpr const It& base() const { return it_; }
  __WT constexpr F functor() const { return f_; }
  __WT constexpr typename __wt_transform_types<F, It, R, V>::reference dereference() const { return const_cast<F&>(f_)(*it_); }
  __WT constexpr void advance(ptrdiff_t n) { it_ += n; }
  __WT constexpr ptrdiff_t distance_to(const transform_iterator& other) const { return other.it_ - it_; }
};
template <class F, class It> __WT constexpr transform_iterator<F, It> make_transform_iterator(It it, F f) { return transform_iterator<F, It>(it, f); }

template <class T> class zip_iterator;
template <class... Its>
class zip_iterator<tuple<Its...>> : public __wt_iterator<zip_iterator<tuple<Its...>>, tuple<typename iterator_traits<Its>::value_type...>,
                                                         tuple<typename iterator_traits<Its>::reference...>> {
  tuple<Its...> its_;
  typedef tuple<typename iterator_traits<Its>::reference...> referred;
  template <size_t... I> __WT constexpr referred refer(std::index_sequence<I...>) const { return referred(*thrust::get<I>(its_)...); }
  template <size_t... I> __WT constexpr void advance(ptrdiff_t n, std::index_sequence<I...>) {
    const int in_order[] = {0, (static_cast<void>(thrust::get<I>(its_) += n), 0)...};
    static_cast<void>(in_order);
  }

 public:
  __WT constexpr zip_iterator() : its_() {}
  __WT constexpr zip_iterator(const tuple<Its...>& its) : its_(its) {}
  __WT constexpr const tuple<Its...>& get_iterator_tuple() const { return its_; }
  __WT constexpr referred dereference() const { return refer(std::index_sequence_for<Its...>()); }
  __WT constexpr void advance(ptrdiff_t n) { advance(n, std::index_sequence_for<Its...>()); }
  __WT constexpr ptrdiff_t distance_to(const zip_iterator& other) const { return thrust::get<0>(other.its_) - thrust::get<0>(its_); }
};
template <class... Its> __WT constexpr zip_iterator<tuple<Its...>> make_zip_iterator(const tuple<Its...>& its) { return zip_iterator<tuple<Its...>>(its); }
template <class... Its> __WT constexpr zip_iterator<tuple<Its...>> make_zip_iterator(const Its&... its) {
  return zip_iterator<tuple<Its...>>(tuple<Its...>(its...));
}
template <class F> struct zip_function {
  F f;
  template <class T, size_t... I> __WT constexpr decltype(auto) call(T&& t, std::index_sequence<I...>) const { return f(thrust::get<I>(t)...); }
  template <class T> __WT constexpr decltype(auto) operator()(T&& t) const {
    return call(t, std::make_index_sequence<tuple_size<std::decay_t<T>>::value>());
  }
};
template <class F> __WT constexpr zip_function<F> make_zip_function(F f) { return zip_function<F>{f}; }

template <class Values, class Indices>
class permutation_iterator : public __wt_iterator<permutation_iterator<Values, Indices>, typename iterator_traits<Values>::value_type,
                                                  typename iterator_traits<Values>::reference> {
  Values values_;
  Indices at_;

 public:
  __WT constexpr permutation_iterator() : values_(), at_() {}
  __WT constexpr permutation_iterator(Values values, Indices at) : values_(values), at_(at) {}
  __WT constexpr const Indices& base() const { return at_; }
  __WT constexpr typename iterator_traits<Values>::reference dereference() const { return values_[*at_]; }
  __WT constexpr void advance(ptrdiff_t n) { at_ += n; }
  __WT constexpr ptrdiff_t distance_to(const permutation_iterator& other) const { return other.at_ - at_; }
};
template <class Values, class Indices> __WT constexpr permutation_iterator<Values, Indices> make_permutation_iterator(Values values, Indices at) {
  return permutation_iterator<Values, Indices>(values, at);
}

template <class It>
class reverse_iterator : public __wt_iterator<reverse_iterator<It>, typename iterator_traits<It>::value_type, typename iterator_traits<It>::reference> {
  It it_;

 public:
  __WT constexpr reverse_iterator() : it_() {}
  __WT constexpr explicit reverse_iterator(It it) : it_(it) {}
  __WT constexpr It base() const { return it_; }
  __WT constexpr typename iterator_traits<It>::reference dereference() const { It before = it_; return *--before; }
  __WT constexpr void advance(ptrdiff_t n) { it_ -= n; }
  __WT constexpr ptrdiff_t distance_to(const reverse_iterator& other) const { return it_ - other.it_; }
};
template <class It> __WT constexpr reverse_iterator<It> make_reverse_iterator(It it) { return reverse_iterator<It>(it); }

// What is written through it is not kept, or is what a function makes of it.
struct __wt_nowhere {
  template <class T> __WT constexpr const __wt_nowhere& operator=(const T&) const { return *this; }
};
template <class System = use_default> class discard_iterator : public __wt_iterator<discard_iterator<System>, __wt_nowhere, __wt_nowhere> {
  ptrdiff_t at_;

 public:
  __WT constexpr discard_iterator(ptrdiff_t at = 0) : at_(at) {}
  __WT constexpr __wt_nowhere dereference() const { return {}; }
  __WT constexpr void advance(ptrdiff_t n) { at_ += n; }
  __WT constexpr ptrdiff_t distance_to(const discard_iterator& other) const { return other.at_ - at_; }
};
__WT constexpr inline discard_iterator<> make_discard_iterator(ptrdiff_t at = 0) { return discard_iterator<>(at); }
template <class F, class It> struct __wt_through {
  It it;
  F f;
  template <class T> __WT constexpr const __wt_through& operator=(const T& v) const {
    *it = const_cast<F&>(f)(v);
    return *this;
  }
};
template <class F, class It>
class transform_output_iterator : public __wt_iterator<transform_output_iterator<F, It>, __wt_through<F, It>, __wt_through<F, It>> {
  It it_;
  F f_;

 public:
  __WT constexpr transform_output_iterator(It it, F f) : it_(it), f_(f) {}
  __WT constexpr __wt_through<F, It> dereference() const { return {it_, f_}; }
  __WT constexpr void advance(ptrdiff_t n) { it_ += n; }
  __WT constexpr ptrdiff_t distance_to(const transform_output_iterator& other) const { return other.it_ - it_; }
};
template <class F, class It> __WT constexpr transform_output_iterator<F, It> make_transform_output_iterator(It it, F f) {
  return transform_output_iterator<F, It>(it, f);
}

// Where an algorithm runs.
struct __wt_policy {
  template <class Stream> __WT constexpr const __wt_policy& on(Stream) const { return *this; }
  template <class A> __WT constexpr const __wt_policy& operator()(A&&) const { return *this; }
};
template <class Derived> struct execution_policy : __wt_policy {};
template <class Derived> struct device_execution_policy : __wt_policy {};
template <class Derived> struct host_execution_policy : __wt_policy {};
namespace detail {
template <class Derived> struct execution_policy_base : __wt_policy {};
template <class T, class P> using normal_iterator = P;
}  // namespace detail
static constexpr __attribute__((device)) __wt_policy seq{};
static constexpr __attribute__((device)) __wt_policy host{};
static constexpr __attribute__((device)) __wt_policy device{};
namespace cuda {
static constexpr __attribute__((device)) __wt_policy par{};
static constexpr __attribute__((device)) __wt_policy par_nosync{};
template <class Derived> struct execution_policy : __wt_policy {};
template <class T> using pointer = device_ptr<T>;
}  // namespace cuda
namespace omp {
static constexpr __attribute__((device)) __wt_policy par{};
}
namespace system {
using std::error_code;
using std::system_error;
namespace cuda = thrust::cuda;
}  // namespace system
using std::error_code;
using std::system_error;
const std::error_category& cuda_category();
const std::error_category& system_category();
template <class T> using __wt_if_policy = std::enable_if_t<std::is_base_of<__wt_policy, T>::value>;
// The same with a policy before it.
#define __WT_POLICY(name)                                                                            \
  template <class P, class... As, class = __wt_if_policy<P>>                                         \
  __WT constexpr decltype(auto) name(const P&, As... as) {                                           \
    return thrust::name(as...);                                                                      \
  }

template <class It, class F> __WT constexpr It for_each(It begin, It end, F f) {
  for (; begin != end; ++begin) f(*begin);
  return begin;
}
template <class It, class N, class F, class = std::enable_if_t<std::is_integral<N>::value>> __WT constexpr It for_each_n(It begin, N n, F f) {
  for (; n > 0; --n, ++begin) f(*begin);
  return begin;
}
template <class In, class Out> __WT constexpr Out copy(In begin, In end, Out out) {
  for (; begin != end; ++begin, ++out) *out = *begin;
  return out;
}
template <class In, class N, class Out, class = std::enable_if_t<std::is_integral<N>::value>> __WT constexpr Out copy_n(In begin, N n, Out out) {
  for (; n > 0; --n, ++begin, ++out) *out = *begin;
  return out;
}
template <class In, class Out, class Predicate, class = decltype(static_cast<bool>(std::declval<Predicate&>()(*std::declval<In&>())))>
__WT constexpr Out copy_if(In begin, In end, Out out, Predicate p) {
  for (; begin != end; ++begin) {
    if (p(*begin)) {
      *out = *begin;
      ++out;
    }
  }
  return out;
}
template <class It, class T> __WT constexpr void fill(It begin, It end, const T& v) {
  for (; begin != end; ++begin) *begin = v;
}
template <class It, class N, class T, class = std::enable_if_t<std::is_integral<N>::value>> __WT constexpr It fill_n(It begin, N n, const T& v) {
  for (; n > 0; --n, ++begin) *begin = v;
  return begin;
}
template <class It> __WT constexpr void sequence(It begin, It end) {
  typename iterator_traits<It>::value_type v = 0;
  for (; begin != end; ++begin, ++v) *begin = v;
}
template <class It, class T> __WT constexpr void sequence(It begin, It end, T v) {
  for (; begin != end; ++begin, ++v) *begin = v;
}
template <class It, class T> __WT constexpr void sequence(It begin, It end, T v, T step) {
  for (; begin != end; ++begin, v = v + step) *begin = v;
}
template <class In, class Out, class F> __WT constexpr Out transform(In begin, In end, Out out, F f) {
  for (; begin != end; ++begin, ++out) *out = f(*begin);
  return out;
}
template <class A, class B, class Out, class F> __WT constexpr Out transform(A begin, A end, B other, Out out, F f) {
  for (; begin != end; ++begin, ++other, ++out) *out = f(*begin, *other);
  return out;
}
template <class It, class T, class F> __WT constexpr T reduce(It begin, It end, T sum, F f) {
  for (; begin != end; ++begin) sum = f(sum, *begin);
  return sum;
}
template <class It, class T> __WT constexpr T reduce(It begin, It end, T sum) { return thrust::reduce(begin, end, sum, plus<>()); }
template <class It> __WT constexpr typename iterator_traits<It>::value_type reduce(It begin, It end) {
  return thrust::reduce(begin, end, typename iterator_traits<It>::value_type(0), plus<>());
}
template <class It, class F, class T, class G> __WT constexpr T transform_reduce(It begin, It end, F f, T sum, G g) {
  for (; begin != end; ++begin) sum = g(sum, f(*begin));
  return sum;
}
template <class A, class B, class T> __WT constexpr T inner_product(A begin, A end, B other, T sum) {
  for (; begin != end; ++begin, ++other) sum = sum + *begin * *other;
  return sum;
}
template <class In, class Out, class F> __WT constexpr Out inclusive_scan(In begin, In end, Out out, F f) {
  if (begin == end) return out;
  typename iterator_traits<In>::value_type sum = *begin;
  *out = sum;
  for (++begin, ++out; begin != end; ++begin, ++out) *out = sum = f(sum, *begin);
  return out;
}
template <class In, class Out> __WT constexpr Out inclusive_scan(In begin, In end, Out out) { return thrust::inclusive_scan(begin, end, out, plus<>()); }
template <class In, class Out, class T, class F> __WT constexpr Out exclusive_scan(In begin, In end, Out out, T sum, F f) {
  for (; begin != end; ++begin, ++out) {
    const T before = sum;
    sum = f(sum, *begin);
    *out = before;
  }
  return out;
}
template <class In, class Out, class T> __WT constexpr Out exclusive_scan(In begin, In end, Out out, T sum) {
  return thrust::exclusive_scan(begin, end, out, sum, plus<>());
}
template <class In, class Out> __WT constexpr Out exclusive_scan(In begin, In end, Out out) {
  return thrust::exclusive_scan(begin, end, out, typename iterator_traits<In>::value_type(0), plus<>());
}
template <class It, class T, class Less = less<>> __WT constexpr It lower_bound(It begin, It end, const T& v, Less less = Less()) {
  for (auto n = end - begin; n > 0;) {
    const auto half = n / 2;
    if (less(begin[half], v)) {
      begin += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return begin;
}
template <class It, class T, class Less = less<>> __WT constexpr It upper_bound(It begin, It end, const T& v, Less less = Less()) {
  for (auto n = end - begin; n > 0;) {
    const auto half = n / 2;
    if (!less(v, begin[half])) {
      begin += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return begin;
}
template <class It, class T> __WT constexpr bool binary_search(It begin, It end, const T& v) {
  begin = thrust::lower_bound(begin, end, v);
  return begin != end && !(v < *begin);
}
template <class It, class Predicate> __WT constexpr It find_if(It begin, It end, Predicate p) {
  while (begin != end && !p(*begin)) ++begin;
  return begin;
}
template <class It, class T> __WT constexpr It find(It begin, It end, const T& v) {
  while (begin != end && !(*begin == v)) ++begin;
  return begin;
}
template <class It, class Predicate> __WT constexpr bool any_of(It begin, It end, Predicate p) { return thrust::find_if(begin, end, p) != end; }
template <class It, class Predicate> __WT constexpr bool none_of(It begin, It end, Predicate p) { return thrust::find_if(begin, end, p) == end; }
template <class It, class Predicate> __WT constexpr bool all_of(It begin, It end, Predicate p) {
  for (; begin != end; ++begin) {
    if (!p(*begin)) return false;
  }
  return true;
}
template <class It, class Predicate> __WT constexpr ptrdiff_t count_if(It begin, It end, Predicate p) {
  ptrdiff_t n = 0;
  for (; begin != end; ++begin) n += p(*begin) ? 1 : 0;
  return n;
}
template <class It, class T> __WT constexpr ptrdiff_t count(It begin, It end, const T& v) {
  ptrdiff_t n = 0;
  for (; begin != end; ++begin) n += *begin == v ? 1 : 0;
  return n;
}
template <class A, class B> __WT constexpr bool equal(A begin, A end, B other) {
  for (; begin != end; ++begin, ++other) {
    if (!(*begin == *other)) return false;
  }
  return true;
}
template <class It, class Less = less<>> __WT constexpr It min_element(It begin, It end, Less less = Less()) {
  It least = begin;
  for (; begin != end; ++begin) {
    if (less(*begin, *least)) least = begin;
  }
  return least;
}
template <class It, class Less = less<>> __WT constexpr It max_element(It begin, It end, Less less = Less()) {
  It most = begin;
  for (; begin != end; ++begin) {
    if (less(*most, *begin)) most = begin;
  }
  return most;
}
template <class Map, class In, class Out> __WT constexpr Out gather(Map begin, Map end, In in, Out out) {
  for (; begin != end; ++begin, ++out) *out = in[*begin];
  return out;
}
template <class In, class Map, class Out> __WT constexpr void scatter(In begin, In end, Map map, Out out) {
  for (; begin != end; ++begin, ++map) out[*map] = *begin;
}
// Of these, host code needs no more than declarations; a call in device code is one of a function that is not known.
template <class T> using __wt_if_iterator = std::enable_if_t<!std::is_base_of<__wt_policy, T>::value>;
#define __WT_FIRST(name) template <class It, class... As, class = __wt_if_iterator<It>> __WT constexpr It name(It begin, As... as);
#define __WT_THIRD(name) template <class A, class Out, class... As> __WT constexpr Out name(A begin, A end, Out out, As... as);
#define __WT_VOID(name) template <class It, class... As, class = __wt_if_iterator<It>> __WT constexpr void name(It begin, As... as);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-inline"
__WT_VOID(sort)
__WT_VOID(sort_by_key)
__WT_VOID(stable_sort)
__WT_VOID(stable_sort_by_key)
__WT_VOID(shuffle)
__WT_VOID(replace)
__WT_VOID(replace_if)
__WT_VOID(reverse)
__WT_VOID(tabulate)
__WT_VOID(generate)
__WT_FIRST(unique)
__WT_FIRST(remove)
__WT_FIRST(remove_if)
__WT_FIRST(partition)
__WT_FIRST(stable_partition)
__WT_THIRD(unique_copy)
__WT_THIRD(remove_copy)
__WT_THIRD(remove_copy_if)
__WT_THIRD(adjacent_difference)
__WT_THIRD(inclusive_scan_by_key)
__WT_THIRD(exclusive_scan_by_key)
__WT_THIRD(transform_inclusive_scan)
__WT_THIRD(transform_exclusive_scan)
template <class A, class B, class Out, class Stencil, class... As> __WT constexpr Out transform_if(A begin, A end, B stencil, Out out, As... as);
template <class A, class B, class Out, class Predicate> __WT constexpr Out copy_if(A begin, A end, B stencil, Out out, Predicate p);
template <class A, class B, class C, class... As> __WT constexpr void scatter_if(A begin, A end, B map, C stencil, As... as);
template <class Keys, class Values, class... As> __WT constexpr pair<Keys, Values> unique_by_key(Keys begin, Keys end, Values values, As... as);
template <class A, class B, class C, class D, class... As> __WT constexpr pair<C, D> reduce_by_key(A begin, A end, B values, C keys_out, D out, As... as);
template <class A, class B, class C, class D, class... As> __WT constexpr pair<C, D> unique_by_key_copy(A begin, A end, B values, C keys_out, D out, As... as);
template <class It, class... As> __WT constexpr pair<It, It> minmax_element(It begin, It end, As... as);
template <class It, class... As> __WT constexpr bool is_sorted(It begin, It end, As... as);
template <class A, class B, class Out, class... As> __WT constexpr Out merge(A begin, A end, B other, B other_end, Out out, As... as);
template <class A, class B, class Out, class... As> __WT constexpr Out set_difference(A begin, A end, B other, B other_end, Out out, As... as);
template <class A, class B, class Out, class... As> __WT constexpr Out set_intersection(A begin, A end, B other, B other_end, Out out, As... as);
template <class A, class B, class Out, class... As> __WT constexpr Out set_union(A begin, A end, B other, B other_end, Out out, As... as);
#pragma clang diagnostic pop
#undef __WT_FIRST
#undef __WT_THIRD
#undef __WT_VOID
__WT_POLICY(for_each)
__WT_POLICY(for_each_n)
__WT_POLICY(copy)
__WT_POLICY(copy_n)
__WT_POLICY(copy_if)
__WT_POLICY(fill)
__WT_POLICY(fill_n)
__WT_POLICY(sequence)
__WT_POLICY(transform)
__WT_POLICY(reduce)
__WT_POLICY(transform_reduce)
__WT_POLICY(inner_product)
__WT_POLICY(inclusive_scan)
__WT_POLICY(exclusive_scan)
__WT_POLICY(lower_bound)
__WT_POLICY(upper_bound)
__WT_POLICY(binary_search)
__WT_POLICY(find)
__WT_POLICY(find_if)
__WT_POLICY(any_of)
__WT_POLICY(none_of)
__WT_POLICY(all_of)
__WT_POLICY(count)
__WT_POLICY(count_if)
__WT_POLICY(equal)
__WT_POLICY(min_element)
__WT_POLICY(max_element)
__WT_POLICY(gather)
__WT_POLICY(scatter)
__WT_POLICY(sort)
__WT_POLICY(sort_by_key)
__WT_POLICY(stable_sort)
__WT_POLICY(stable_sort_by_key)
__WT_POLICY(unique)
__WT_POLICY(unique_copy)
__WT_POLICY(unique_by_key)
__WT_POLICY(unique_by_key_copy)
__WT_POLICY(remove)
__WT_POLICY(remove_if)
__WT_POLICY(remove_copy)
__WT_POLICY(remove_copy_if)
__WT_POLICY(replace)
__WT_POLICY(replace_if)
__WT_POLICY(reverse)
__WT_POLICY(reduce_by_key)
__WT_POLICY(minmax_element)
__WT_POLICY(is_sorted)
__WT_POLICY(inclusive_scan_by_key)
__WT_POLICY(exclusive_scan_by_key)
__WT_POLICY(transform_inclusive_scan)
__WT_POLICY(transform_exclusive_scan)
__WT_POLICY(transform_if)
__WT_POLICY(scatter_if)
__WT_POLICY(partition)
__WT_POLICY(merge)
__WT_POLICY(tabulate)
__WT_POLICY(generate)
#undef __WT_POLICY

// Vectors, for host code.
template <class T> struct device_allocator : std::allocator<T> {
  typedef device_ptr<T> pointer;
  typedef device_ptr<const T> const_pointer;
  template <class U> struct rebind { typedef device_allocator<U> other; };
  device_ptr<T> allocate(size_t n);
  void deallocate(device_ptr<T> p, size_t n);
};
template <class T> using device_malloc_allocator = device_allocator<T>;
template <class T> using device_new_allocator = device_allocator<T>;
template <class T, class Pointer, class Const> class __wt_vector {
  Pointer begin_;
  size_t size_;

 public:
  typedef T value_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef Pointer pointer;
  typedef Const const_pointer;
  typedef T& reference;
  typedef const T& const_reference;
  typedef Pointer iterator;
  typedef Const const_iterator;
  __wt_vector();
  explicit __wt_vector(size_t n);
  __wt_vector(size_t n, const T& v);
  __wt_vector(std::initializer_list<T> list);
  template <class It, class = typename iterator_traits<It>::value_type> __wt_vector(It begin, It end);
  template <class U, class P, class C> __wt_vector(const __wt_vector<U, P, C>& other);
  template <class U, class A> __wt_vector(const std::vector<U, A>& other);
  __wt_vector(const __wt_vector& other);
  ~__wt_vector();
  __wt_vector& operator=(const __wt_vector& other);
  template <class Other> __wt_vector& operator=(const Other& other);
  T& operator[](size_t i);
  const T& operator[](size_t i) const;
  T& front();
  T& back();
  const T& front() const;
  const T& back() const;
  Pointer data() { return begin_; }
  Const data() const { return begin_; }
  Pointer begin() { return begin_; }
  Const begin() const { return begin_; }
  Const cbegin() const { return begin_; }
  Pointer end() { return begin_ + static_cast<ptrdiff_t>(size_); }
  Const end() const { return begin_ + static_cast<ptrdiff_t>(size_); }
  Const cend() const { return begin_ + static_cast<ptrdiff_t>(size_); }
  thrust::reverse_iterator<Pointer> rbegin();
  thrust::reverse_iterator<Pointer> rend();
  size_t size() const { return size_; }
  size_t capacity() const;
  bool empty() const { return size_ == 0; }
  void push_back(const T& v);
  void pop_back();
  void resize(size_t n);
  void resize(size_t n, const T& v);
  void reserve(size_t n);
  void shrink_to_fit();
  void clear();
  void swap(__wt_vector& other);
  template <class... As> void assign(As&&... as);
  template <class... As> Pointer insert(Pointer at, As&&... as);
  template <class... As> Pointer erase(Pointer at, As&&... as);
};
template <class T, class A = device_allocator<T>> class device_vector : public __wt_vector<T, device_ptr<T>, device_ptr<const T>> {
 public:
  using __wt_vector<T, device_ptr<T>, device_ptr<const T>>::__wt_vector;
  using __wt_vector<T, device_ptr<T>, device_ptr<const T>>::operator=;
};
template <class T, class A = std::allocator<T>> class host_vector : public __wt_vector<T, T*, const T*> {
 public:
  using __wt_vector<T, T*, const T*>::__wt_vector;
  using __wt_vector<T, T*, const T*>::operator=;
};
template <class T, class A = std::allocator<T>> class universal_vector : public __wt_vector<T, T*, const T*> {
 public:
  using __wt_vector<T, T*, const T*>::__wt_vector;
  using __wt_vector<T, T*, const T*>::operator=;
};
template <class T, class P, class C, class Other> bool operator==(const __wt_vector<T, P, C>& a, const Other& b);

// Random numbers as the C++ library defines these engines.
template <class T, T A, T C, T M> class linear_congruential_engine {
  T x_;

 public:
  typedef T result_type;
  static constexpr T min = C == 0 ? 1 : 0, max = M - 1, default_seed = 1;
  __WT explicit linear_congruential_engine(T s = default_seed) { seed(s); }
  __WT void seed(T s = default_seed) { x_ = C % M == 0 && s % M == 0 ? 1 : s % M; }
  __WT T operator()() { return x_ = static_cast<T>((static_cast<unsigned long long>(x_) * A + C) % M); }
  __WT void discard(unsigned long long n) {  // x becomes A^n x + C (A^n - 1) / (A - 1)
    unsigned long long a = A, c = C, times = 1, plus = 0;
    for (; n > 0; n >>= 1) {
      if (n & 1) {
        times = times * a % M;
        plus = (plus * a + c) % M;
      }
      c = (a + 1) * c % M;
      a = a * a % M;
    }
    x_ = static_cast<T>((times * x_ + plus) % M);
  }
};
typedef linear_congruential_engine<unsigned, 16807, 0, 2147483647> minstd_rand0;
typedef linear_congruential_engine<unsigned, 48271, 0, 2147483647> minstd_rand;
typedef minstd_rand default_random_engine;
template <class T = double> class uniform_real_distribution {
  T a_, b_;

 public:
  typedef T result_type;
  __WT explicit uniform_real_distribution(T a = 0, T b = 1) : a_(a), b_(b) {}
  template <class Engine> __WT T operator()(Engine& engine) {
    const T v = static_cast<T>(engine() - Engine::min) / (static_cast<T>(Engine::max - Engine::min) + 1);
    return v * (b_ - a_) + a_;
  }
};
template <class T = int> class uniform_int_distribution {
  T a_, b_;

 public:
  typedef T result_type;
  __WT explicit uniform_int_distribution(T a = 0, T b = std::numeric_limits<T>::max()) : a_(a), b_(b) {}
  template <class Engine> __WT T operator()(Engine& engine) {
    return static_cast<T>(uniform_real_distribution<double>(a_, static_cast<double>(b_) + 1)(engine));
  }
};
template <class T = double> class normal_distribution {
  T mean_, deviation_;

 public:
  typedef T result_type;
  __WT explicit normal_distribution(T mean = 0, T deviation = 1) : mean_(mean), deviation_(deviation) {}
  template <class Engine> __attribute__((device)) T operator()(Engine& engine) {
    const T u = uniform_real_distribution<T>()(engine);
    return mean_ + deviation_ * normcdfinv(u);
  }
};
namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::minstd_rand0;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random
}  // namespace thrust

// For structured bindings.
namespace std {
template <class... Ts> struct tuple_size<thrust::tuple<Ts...>> : integral_constant<size_t, sizeof...(Ts)> {};
template <size_t I, class... Ts> struct tuple_element<I, thrust::tuple<Ts...>> : thrust::tuple_element<I, thrust::tuple<Ts...>> {};
template <class A, class B> struct tuple_size<thrust::pair<A, B>> : integral_constant<size_t, 2> {};
template <size_t I, class A, class B> struct tuple_element<I, thrust::pair<A, B>> : thrust::tuple_element<I, thrust::pair<A, B>> {};
}  // namespace std
#pragma pop_macro("__WT")
