// The parts of the C++ library that host code uses and that declarations beside kernels name, where the system has
// none: enough to be parsed. Nothing here runs.
#pragma once
#pragma clang system_header

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <tuple>
#include <utility>
#include <variant>

namespace std {

template <class T> struct allocator {
  typedef T value_type;
  typedef T* pointer;
  typedef const T* const_pointer;
  typedef T& reference;
  typedef const T& const_reference;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  template <class U> struct rebind { typedef allocator<U> other; };
  allocator() noexcept;
  template <class U> allocator(const allocator<U>&) noexcept;
  T* allocate(size_t n);
  void deallocate(T* p, size_t n);
};
template <class A> struct allocator_traits {
  typedef A allocator_type;
  typedef typename A::value_type value_type;
  typedef value_type* pointer;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  template <class U> using rebind_alloc = typename A::template rebind<U>::other;
};
template <class T> struct default_delete {};
template <class T> struct char_traits { typedef T char_type; };
template <class T> constexpr T* addressof(T& v) noexcept { return __builtin_addressof(v); }
template <class T> const T* addressof(const T&&) = delete;
template <class T> T* to_address(T* p) noexcept;

// An iterator of a container whose elements are anywhere.
template <class T, class Category = bidirectional_iterator_tag> class __wt_position {
 public:
  typedef Category iterator_category;
  typedef remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef T* pointer;
  typedef T& reference;
  __wt_position();
  template <class U> __wt_position(const __wt_position<U, Category>& other);
  T& operator*() const;
  T* operator->() const;
  __wt_position& operator++();
  __wt_position& operator--();
  __wt_position operator++(int);
  __wt_position operator--(int);
  bool operator==(const __wt_position& other) const;
#if __cplusplus < 202002L
  bool operator!=(const __wt_position& other) const;
#endif
};
template <class T> class __wt_jumping_position : public __wt_position<T, random_access_iterator_tag> {
 public:
  __wt_jumping_position& operator++();
  __wt_jumping_position& operator--();
  __wt_jumping_position operator++(int);
  __wt_jumping_position& operator+=(ptrdiff_t n);
  __wt_jumping_position operator+(ptrdiff_t n) const;
  __wt_jumping_position operator-(ptrdiff_t n) const;
  ptrdiff_t operator-(const __wt_jumping_position& other) const;
  bool operator<(const __wt_jumping_position& other) const;
};

template <class T, class A = allocator<T>> class vector {
  T* begin_;
  T* end_;
  T* reserved_;

 public:
  typedef T value_type;
  typedef A allocator_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef T* pointer;
  typedef T& reference;
  typedef const T& const_reference;
  typedef T* iterator;
  typedef const T* const_iterator;
  typedef std::reverse_iterator<T*> reverse_iterator;
  vector();
  explicit vector(const A& allocator);
  explicit vector(size_t n);
  vector(size_t n, const T& v);
  vector(initializer_list<T> list);
  template <class It, class = typename iterator_traits<It>::value_type> vector(It begin, It end);
  vector(const vector& other);
  vector(vector&& other) noexcept;
  ~vector();
  vector& operator=(const vector& other);
  vector& operator=(vector&& other) noexcept;
  vector& operator=(initializer_list<T> list);
  void assign(size_t n, const T& v);
  template <class It, class = typename iterator_traits<It>::value_type> void assign(It begin, It end);
  T& operator[](size_t i) { return begin_[i]; }
  const T& operator[](size_t i) const { return begin_[i]; }
  T& at(size_t i) { return begin_[i]; }
  const T& at(size_t i) const { return begin_[i]; }
  T* data() noexcept { return begin_; }
  const T* data() const noexcept { return begin_; }
  T* begin() noexcept { return begin_; }
  const T* begin() const noexcept { return begin_; }
  const T* cbegin() const noexcept { return begin_; }
  T* end() noexcept { return end_; }
  const T* end() const noexcept { return end_; }
  const T* cend() const noexcept { return end_; }
  reverse_iterator rbegin() { return reverse_iterator(end_); }
  reverse_iterator rend() { return reverse_iterator(begin_); }
  T& front() { return *begin_; }
  const T& front() const { return *begin_; }
  T& back() { return end_[-1]; }
  const T& back() const { return end_[-1]; }
  size_t size() const noexcept { return static_cast<size_t>(end_ - begin_); }
  size_t capacity() const noexcept;
  size_t max_size() const noexcept;
  bool empty() const noexcept { return begin_ == end_; }
  void push_back(const T& v);
  void push_back(T&& v);
  template <class... As> T& emplace_back(As&&... as) {}
  template <class... As> T* emplace(const T* at, As&&... as) {}
  template <class... As> T* insert(const T* at, As&&... as) {}
  T* insert(const T* at, initializer_list<T> list);
  T* erase(const T* at);
  T* erase(const T* begin, const T* end);
  void pop_back();
  void resize(size_t n);
  void resize(size_t n, const T& v);
  void reserve(size_t n);
  void shrink_to_fit();
  void clear() noexcept;
  void swap(vector& other) noexcept;
};
// Of bits: nothing in it can be pointed to.
template <class A> class vector<bool, A> {
 public:
  typedef bool value_type;
  typedef size_t size_type;
  struct reference {
    operator bool() const;
    reference& operator=(bool v);
  };
  vector();
  explicit vector(size_t n, bool v = false);
  vector(initializer_list<bool> list);
  template <class It, class = typename iterator_traits<It>::value_type> vector(It begin, It end);
  reference operator[](size_t i);
  bool operator[](size_t i) const;
  __wt_jumping_position<bool> begin() const;
  __wt_jumping_position<bool> end() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  void push_back(bool v);
  void resize(size_t n, bool v = false);
  void assign(size_t n, bool v);
  void clear() noexcept;
};
#if __cpp_deduction_guides
template <class T> vector(size_t, T) -> vector<T>;
template <class It, class = typename iterator_traits<It>::value_type> vector(It, It) -> vector<typename iterator_traits<It>::value_type>;
#endif
template <class T, class A> bool operator==(const vector<T, A>& a, const vector<T, A>& b);
template <class T, class A> bool operator!=(const vector<T, A>& a, const vector<T, A>& b);
template <class T, class A> bool operator<(const vector<T, A>& a, const vector<T, A>& b);

// What the other containers have in common.
template <class T, class Position> class __wt_container {
 public:
  typedef T value_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef T& reference;
  typedef const T& const_reference;
  typedef Position iterator;
  typedef Position const_iterator;
  Position begin() const;
  Position end() const;
  Position cbegin() const;
  Position cend() const;
  Position rbegin() const;
  Position rend() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  void clear() noexcept;
  void resize(size_t n);
  void resize(size_t n, const T& v);
  void reserve(size_t n);
  template <class... As> void assign(As&&... as) {}
  template <class At> Position erase(const At& at);
  Position erase(Position begin, Position end);
};
template <class T, class Position> bool operator==(const __wt_container<T, Position>& a, const __wt_container<T, Position>& b);
#define __WT_CONSTRUCTORS(name)                                    \
  name();                                                          \
  explicit name(size_t n);                                         \
  name(size_t n, const T& v);                                      \
  name(initializer_list<T> list);                                  \
  template <class It, class = typename iterator_traits<It>::value_type> name(It begin, It end);
template <class T, class Position> class __wt_sequence : public __wt_container<T, Position> {
 public:
  T& front() const;
  T& back() const;
  void push_back(const T& v);
  void push_front(const T& v);
  template <class... As> T& emplace_back(As&&... as) {}
  template <class... As> T& emplace_front(As&&... as) {}
  template <class... As> Position insert(Position at, As&&... as) {}
  template <class... As> Position insert_after(Position at, As&&... as) {}
  void pop_back();
  void pop_front();
  template <class... As> void sort(As&&... as) {}
  void reverse();
  template <class... As> void splice(As&&... as) {}
};
template <class T, class A = allocator<T>> class list : public __wt_sequence<T, __wt_position<T>> {
 public:
  __WT_CONSTRUCTORS(list)
};
template <class T, class A = allocator<T>> class forward_list : public __wt_sequence<T, __wt_position<T>> {
 public:
  __WT_CONSTRUCTORS(forward_list)
};
template <class T, class A = allocator<T>> class deque : public __wt_sequence<T, __wt_jumping_position<T>> {
 public:
  __WT_CONSTRUCTORS(deque)
  T& operator[](size_t i) const;
  T& at(size_t i) const;
};
#undef __WT_CONSTRUCTORS

template <class T, class Sequence = deque<T>> class queue {
 public:
  typedef T value_type;
  T& front() const;
  T& back() const;
  bool empty() const;
  size_t size() const;
  void push(const T& v);
  template <class... As> void emplace(As&&... as) {}
  void pop();
};
template <class T, class Sequence = vector<T>, class Less = less<T>> class priority_queue {
 public:
  typedef T value_type;
  priority_queue();
  explicit priority_queue(const Less& less);
  const T& top() const;
  bool empty() const;
  size_t size() const;
  void push(const T& v);
  template <class... As> void emplace(As&&... as) {}
  void pop();
};
template <class T, class Sequence = deque<T>> class stack {
 public:
  typedef T value_type;
  T& top() const;
  bool empty() const;
  size_t size() const;
  void push(const T& v);
  template <class... As> void emplace(As&&... as) {}
  void pop();
};

template <class K, class T> class __wt_associative : public __wt_container<T, __wt_position<T>> {
 public:
  typedef K key_type;
  typedef __wt_position<T> iterator;
  __wt_associative();
  __wt_associative(initializer_list<T> list);
  template <class It, class = typename iterator_traits<It>::value_type> __wt_associative(It begin, It end);
  iterator find(const K& key) const;
  size_t count(const K& key) const;
  bool contains(const K& key) const;
  iterator lower_bound(const K& key) const;
  iterator upper_bound(const K& key) const;
  pair<iterator, iterator> equal_range(const K& key) const;
  pair<iterator, bool> insert(const T& v);
  iterator insert(iterator at, const T& v);
  void insert(initializer_list<T> list);
  template <class It, class = typename iterator_traits<It>::value_type> void insert(It begin, It end);
  template <class... As> pair<iterator, bool> emplace(As&&... as) {}
};
template <class K, class V> class __wt_mapping : public __wt_associative<K, pair<const K, V>> {
 public:
  typedef V mapped_type;
  using __wt_associative<K, pair<const K, V>>::__wt_associative;
  V& operator[](const K& key);
  V& at(const K& key) const;
  template <class... As> pair<__wt_position<pair<const K, V>>, bool> try_emplace(const K& key, As&&... as) {}
  template <class U> pair<__wt_position<pair<const K, V>>, bool> insert_or_assign(const K& key, U&& v);
};
#define __WT_MAP(name, ...)                                                                    \
  template <class K, class V, __VA_ARGS__> class name : public __wt_mapping<K, V> {            \
   public:                                                                                     \
    using __wt_mapping<K, V>::__wt_mapping;                                                    \
  };
#define __WT_SET(name, ...)                                                                    \
  template <class K, __VA_ARGS__> class name : public __wt_associative<K, K> {                 \
   public:                                                                                     \
    using __wt_associative<K, K>::__wt_associative;                                            \
  };
__WT_MAP(map, class Less = less<K>, class A = allocator<pair<const K, V>>)
__WT_MAP(multimap, class Less = less<K>, class A = allocator<pair<const K, V>>)
__WT_MAP(unordered_map, class Hash = hash<K>, class Equal = equal_to<K>, class A = allocator<pair<const K, V>>)
__WT_MAP(unordered_multimap, class Hash = hash<K>, class Equal = equal_to<K>, class A = allocator<pair<const K, V>>)
__WT_SET(set, class Less = less<K>, class A = allocator<K>)
__WT_SET(multiset, class Less = less<K>, class A = allocator<K>)
__WT_SET(unordered_set, class Hash = hash<K>, class Equal = equal_to<K>, class A = allocator<K>)
__WT_SET(unordered_multiset, class Hash = hash<K>, class Equal = equal_to<K>, class A = allocator<K>)
#undef __WT_SET
#undef __WT_MAP

template <size_t N> class bitset {
 public:
  struct reference {
    operator bool() const;
    reference& operator=(bool v);
  };
  constexpr bitset() noexcept {}
  constexpr bitset(unsigned long long v) noexcept {}
  bool operator[](size_t i) const;
  reference operator[](size_t i);
  bool test(size_t i) const;
  bitset& set();
  bitset& set(size_t i, bool v = true);
  bitset& reset();
  bitset& reset(size_t i);
  size_t count() const noexcept;
  constexpr size_t size() const noexcept { return N; }
  bool any() const noexcept;
  bool none() const noexcept;
  unsigned long to_ulong() const;
};
template <class T> class valarray {
 public:
  valarray();
  explicit valarray(size_t n);
  valarray(const T& v, size_t n);
  T& operator[](size_t i);
  const T& operator[](size_t i) const;
  size_t size() const;
  T sum() const;
  T min() const;
  T max() const;
};

template <class C, class Traits = char_traits<C>> class basic_string_view {
  const C* data_;
  size_t size_;

 public:
  typedef C value_type;
  typedef size_t size_type;
  static constexpr size_t npos = static_cast<size_t>(-1);
  constexpr basic_string_view() noexcept : data_(nullptr), size_(0) {}
  constexpr basic_string_view(const C* s) : data_(s), size_(__builtin_strlen(s)) {}
  constexpr basic_string_view(const C* s, size_t n) : data_(s), size_(n) {}
  constexpr const C* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr size_t length() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const C* begin() const noexcept { return data_; }
  constexpr const C* end() const noexcept { return data_ + size_; }
  constexpr const C& operator[](size_t i) const { return data_[i]; }
  constexpr const C& front() const { return data_[0]; }
  constexpr const C& back() const { return data_[size_ - 1]; }
  constexpr void remove_prefix(size_t n) { data_ += n; size_ -= n; }
  constexpr void remove_suffix(size_t n) { size_ -= n; }
  constexpr basic_string_view substr(size_t from, size_t n = npos) const {
    return basic_string_view(data_ + from, n < size_ - from ? n : size_ - from);
  }
  template <class... As> size_t find(As... as) const;
  template <class... As> size_t rfind(As... as) const;
  int compare(basic_string_view other) const;
};
typedef basic_string_view<char> string_view;

template <class C, class Traits = char_traits<C>, class A = allocator<C>> class basic_string {
 public:
  typedef C value_type;
  typedef size_t size_type;
  typedef C* iterator;
  typedef const C* const_iterator;
  static constexpr size_t npos = static_cast<size_t>(-1);
  basic_string();
  basic_string(const C* s);
  basic_string(const C* s, size_t n);
  basic_string(size_t n, C c);
  basic_string(initializer_list<C> list);
  basic_string(const basic_string& other);
  basic_string(basic_string&& other) noexcept;
  basic_string(const basic_string& other, size_t from, size_t n = npos);
  explicit basic_string(basic_string_view<C, Traits> view);
  template <class It, class = typename iterator_traits<It>::value_type> basic_string(It begin, It end);
  ~basic_string();
  basic_string& operator=(const basic_string& other);
  basic_string& operator=(basic_string&& other) noexcept;
  basic_string& operator=(const C* s);
  basic_string& operator=(C c);
  operator basic_string_view<C, Traits>() const noexcept;
  const C* c_str() const noexcept;
  C* data() noexcept;
  const C* data() const noexcept;
  size_t size() const noexcept;
  size_t length() const noexcept;
  size_t capacity() const noexcept;
  bool empty() const noexcept;
  C* begin() noexcept;
  const C* begin() const noexcept;
  C* end() noexcept;
  const C* end() const noexcept;
  std::reverse_iterator<C*> rbegin() noexcept;
  std::reverse_iterator<C*> rend() noexcept;
  C& operator[](size_t i);
  const C& operator[](size_t i) const;
  C& at(size_t i);
  const C& at(size_t i) const;
  C& front();
  C& back();
  const C& front() const;
  const C& back() const;
  basic_string& operator+=(const basic_string& other);
  basic_string& operator+=(const C* s);
  basic_string& operator+=(C c);
  template <class... As> basic_string& append(As&&... as) {}
  template <class... As> basic_string& assign(As&&... as) {}
  template <class... As> basic_string& insert(size_t at, As&&... as) {}
  template <class... As> basic_string& replace(As&&... as) {}
  basic_string& erase(size_t from = 0, size_t n = npos);
  C* erase(const C* at);
  C* erase(const C* begin, const C* end);
  void push_back(C c);
  void pop_back();
  void resize(size_t n);
  void resize(size_t n, C c);
  void reserve(size_t n);
  void clear() noexcept;
  void swap(basic_string& other) noexcept;
  basic_string substr(size_t from = 0, size_t n = npos) const;
  template <class... As> int compare(As&&... as) const {}
#define __WT_FINDS(name, whence)                                \
  size_t name(const basic_string& s, size_t from = whence) const; \
  size_t name(const C* s, size_t from = whence) const;            \
  size_t name(C c, size_t from = whence) const;
  __WT_FINDS(find, 0)
  __WT_FINDS(rfind, npos)
  __WT_FINDS(find_first_of, 0)
  __WT_FINDS(find_first_not_of, 0)
  __WT_FINDS(find_last_of, npos)
  __WT_FINDS(find_last_not_of, npos)
#undef __WT_FINDS
  friend basic_string operator+(const basic_string& a, const basic_string& b) { return a; }
  friend basic_string operator+(const basic_string& a, const C* b) { return a; }
  friend basic_string operator+(const C* a, const basic_string& b) { return b; }
  friend basic_string operator+(const basic_string& a, C b) { return a; }
  friend basic_string operator+(C a, const basic_string& b) { return b; }
};
typedef basic_string<char> string;
typedef basic_string<wchar_t> wstring;
#define __WT_COMPARES(op)                                                                                                     \
  template <class C, class T, class A> bool operator op(const basic_string<C, T, A>& a, const basic_string<C, T, A>& b);     \
  template <class C, class T, class A> bool operator op(const basic_string<C, T, A>& a, const C* b);                         \
  template <class C, class T, class A> bool operator op(const C* a, const basic_string<C, T, A>& b);                         \
  template <class C, class T> bool operator op(basic_string_view<C, T> a, typename __wt_type<basic_string_view<C, T>>::type b);
__WT_COMPARES(==)
__WT_COMPARES(!=)
__WT_COMPARES(<)
__WT_COMPARES(>)
__WT_COMPARES(<=)
__WT_COMPARES(>=)
#undef __WT_COMPARES
template <class T> string to_string(T v);
int stoi(const string& s, size_t* end = nullptr, int base = 10);
long stol(const string& s, size_t* end = nullptr, int base = 10);
long long stoll(const string& s, size_t* end = nullptr, int base = 10);
unsigned long stoul(const string& s, size_t* end = nullptr, int base = 10);
unsigned long long stoull(const string& s, size_t* end = nullptr, int base = 10);
float stof(const string& s, size_t* end = nullptr);
double stod(const string& s, size_t* end = nullptr);
inline namespace literals {
inline namespace string_literals {
string operator""s(const char* s, size_t n);
}
inline namespace string_view_literals {
constexpr string_view operator""sv(const char* s, size_t n) noexcept { return string_view(s, n); }
}
}  // namespace literals

template <class T, class D = default_delete<T>> class unique_ptr {
  T* p_;

 public:
  typedef T element_type;
  typedef T* pointer;
  typedef D deleter_type;
  constexpr unique_ptr() noexcept : p_(nullptr) {}
  constexpr unique_ptr(decltype(nullptr)) noexcept : p_(nullptr) {}
  explicit unique_ptr(T* p) noexcept : p_(p) {}
  unique_ptr(T* p, const D& d) noexcept : p_(p) {}
  unique_ptr(unique_ptr&& other) noexcept;
  template <class U, class E> unique_ptr(unique_ptr<U, E>&& other) noexcept;
  ~unique_ptr();
  unique_ptr& operator=(unique_ptr&& other) noexcept;
  template <class U, class E> unique_ptr& operator=(unique_ptr<U, E>&& other) noexcept;
  unique_ptr& operator=(decltype(nullptr)) noexcept;
  T* get() const noexcept { return p_; }
  T& operator*() const { return *p_; }
  T* operator->() const noexcept { return p_; }
  T* release() noexcept;
  void reset(T* p = nullptr) noexcept;
  void swap(unique_ptr& other) noexcept;
  D& get_deleter() noexcept;
  explicit operator bool() const noexcept { return p_ != nullptr; }
};
template <class T, class D> class unique_ptr<T[], D> {
  T* p_;

 public:
  typedef T element_type;
  typedef T* pointer;
  constexpr unique_ptr() noexcept : p_(nullptr) {}
  constexpr unique_ptr(decltype(nullptr)) noexcept : p_(nullptr) {}
  explicit unique_ptr(T* p) noexcept : p_(p) {}
  unique_ptr(T* p, const D& d) noexcept : p_(p) {}
  unique_ptr(unique_ptr&& other) noexcept;
  ~unique_ptr();
  unique_ptr& operator=(unique_ptr&& other) noexcept;
  T* get() const noexcept { return p_; }
  T& operator[](size_t i) const { return p_[i]; }
  T* release() noexcept;
  void reset(T* p = nullptr) noexcept;
  explicit operator bool() const noexcept { return p_ != nullptr; }
};
template <class T> class shared_ptr {
  remove_extent_t<T>* p_;
  void* owners_;

 public:
  typedef remove_extent_t<T> element_type;
  constexpr shared_ptr() noexcept : p_(nullptr), owners_(nullptr) {}
  constexpr shared_ptr(decltype(nullptr)) noexcept : p_(nullptr), owners_(nullptr) {}
  template <class U> explicit shared_ptr(U* p);
  template <class U, class D> shared_ptr(U* p, D d) {}
  template <class U> shared_ptr(const shared_ptr<U>& other, element_type* p) noexcept;
  template <class U> shared_ptr(const shared_ptr<U>& other) noexcept;
  template <class U, class D> shared_ptr(unique_ptr<U, D>&& other);
  shared_ptr(const shared_ptr& other) noexcept;
  shared_ptr(shared_ptr&& other) noexcept;
  ~shared_ptr();
  shared_ptr& operator=(const shared_ptr& other) noexcept;
  shared_ptr& operator=(shared_ptr&& other) noexcept;
  template <class U> shared_ptr& operator=(const shared_ptr<U>& other) noexcept;
  element_type* get() const noexcept { return p_; }
  element_type& operator*() const noexcept { return *p_; }
  element_type* operator->() const noexcept { return p_; }
  element_type& operator[](ptrdiff_t i) const { return p_[i]; }
  void reset() noexcept;
  template <class U> void reset(U* p);
  template <class U, class D> void reset(U* p, D d) {}
  void swap(shared_ptr& other) noexcept;
  long use_count() const noexcept;
  explicit operator bool() const noexcept { return p_ != nullptr; }
};
template <class T> class weak_ptr {
 public:
  weak_ptr() noexcept;
  template <class U> weak_ptr(const shared_ptr<U>& other) noexcept;
  shared_ptr<T> lock() const noexcept;
  bool expired() const noexcept;
  void reset() noexcept;
};
template <class T> class enable_shared_from_this {
 public:
  shared_ptr<T> shared_from_this();
};
#define __WT_COMPARES(op)                                                                               \
  template <class T, class D, class U, class E> bool operator op(const unique_ptr<T, D>& a, const unique_ptr<U, E>& b); \
  template <class T, class D> bool operator op(const unique_ptr<T, D>& a, decltype(nullptr));           \
  template <class T, class U> bool operator op(const shared_ptr<T>& a, const shared_ptr<U>& b);         \
  template <class T> bool operator op(const shared_ptr<T>& a, decltype(nullptr));
__WT_COMPARES(==)
__WT_COMPARES(!=)
#undef __WT_COMPARES
template <class T, class... As> unique_ptr<T> make_unique(As&&... as) {}
template <class T, class... As> shared_ptr<T> make_shared(As&&... as) {}
template <class T, class U> shared_ptr<T> static_pointer_cast(const shared_ptr<U>& p);
template <class T, class U> shared_ptr<T> dynamic_pointer_cast(const shared_ptr<U>& p);

class exception {
 public:
  exception() noexcept;
  exception(const exception&) noexcept;
  virtual const char* what() const noexcept;
  virtual ~exception();
};
#define __WT_EXCEPTION(name, base)   \
  class name : public base {         \
   public:                           \
    explicit name(const char* what); \
    explicit name(const string& what); \
  };
class __wt_exception : public exception {
 public:
  explicit __wt_exception(const char* what = nullptr);
  explicit __wt_exception(const string& what);
};
__WT_EXCEPTION(runtime_error, __wt_exception)
__WT_EXCEPTION(logic_error, __wt_exception)
__WT_EXCEPTION(invalid_argument, logic_error)
__WT_EXCEPTION(out_of_range, logic_error)
__WT_EXCEPTION(length_error, logic_error)
__WT_EXCEPTION(domain_error, logic_error)
__WT_EXCEPTION(range_error, runtime_error)
__WT_EXCEPTION(overflow_error, runtime_error)
__WT_EXCEPTION(underflow_error, runtime_error)
#undef __WT_EXCEPTION
class bad_alloc : public exception {};
class bad_cast : public exception {};
typedef void* __wt_current_exception;
typedef __wt_current_exception exception_ptr;
exception_ptr current_exception() noexcept;
[[noreturn]] void rethrow_exception(exception_ptr p);
[[noreturn]] void terminate() noexcept;
int uncaught_exceptions() noexcept;

class error_category {
 public:
  virtual const char* name() const noexcept = 0;
  virtual string message(int number) const = 0;
  virtual ~error_category();
};
class error_code {
 public:
  error_code() noexcept;
  error_code(int number, const error_category& category) noexcept;
  int value() const noexcept;
  string message() const;
  explicit operator bool() const noexcept;
};
enum class errc { invalid_argument = 22, result_out_of_range = 34 };
const error_category& system_category() noexcept;
const error_category& generic_category() noexcept;
class system_error : public runtime_error {
 public:
  system_error(error_code code, const string& what);
  system_error(int number, const error_category& category, const string& what);
  const error_code& code() const noexcept;
};
class type_info {
 public:
  const char* name() const noexcept;
  size_t hash_code() const noexcept;
  bool operator==(const type_info& other) const noexcept;
  bool operator!=(const type_info& other) const noexcept;
};
class type_index {
 public:
  type_index(const type_info& info) noexcept;
  const char* name() const noexcept;
  bool operator==(const type_index& other) const noexcept;
  bool operator<(const type_index& other) const noexcept;
};
class any {
 public:
  any() noexcept;
  template <class T> any(T&& v);
  bool has_value() const noexcept;
  void reset() noexcept;
  const type_info& type() const noexcept;
};
template <class T> T any_cast(const any& v);
template <class T> T* any_cast(any* v) noexcept;

typedef ptrdiff_t streamsize;
typedef long streamoff;
class locale {
 public:
  locale();
  explicit locale(const char* name);
};
class ios_base {
 public:
  typedef int openmode;
  typedef int fmtflags;
  typedef int iostate;
  typedef int seekdir;
  static constexpr int in = 8, out = 16, binary = 4, app = 1, ate = 2, trunc = 32;
  static constexpr int beg = 0, cur = 1, end = 2;
  static constexpr int fixed = 4, scientific = 256, hex = 8, dec = 2, oct = 64, left = 32, right = 128, boolalpha = 1;
  static constexpr int badbit = 1, eofbit = 2, failbit = 4, goodbit = 0;
  fmtflags flags() const;
  fmtflags flags(fmtflags flags);
  fmtflags setf(fmtflags flags);
  fmtflags setf(fmtflags flags, fmtflags mask);
  void unsetf(fmtflags flags);
  streamsize precision() const;
  streamsize precision(streamsize digits);
  streamsize width() const;
  streamsize width(streamsize width);
  locale imbue(const locale& l);
  static bool sync_with_stdio(bool sync = true);
};
template <class C, class Traits = char_traits<C>> class basic_streambuf {
 public:
  virtual ~basic_streambuf();
};
template <class C, class Traits = char_traits<C>> class basic_ostream;
template <class C, class Traits = char_traits<C>> class basic_ios : public ios_base {
 public:
  explicit operator bool() const;
  bool operator!() const;
  bool good() const;
  bool eof() const;
  bool fail() const;
  bool bad() const;
  void clear(iostate state = goodbit);
  void exceptions(iostate state);
  iostate rdstate() const;
  basic_streambuf<C, Traits>* rdbuf() const;
  basic_streambuf<C, Traits>* rdbuf(basic_streambuf<C, Traits>* buffer);
  basic_ostream<C, Traits>* tie(basic_ostream<C, Traits>* to);
  C fill(C c);
};
template <class C, class Traits> class basic_ostream : virtual public basic_ios<C, Traits> {
 public:
  explicit basic_ostream(basic_streambuf<C, Traits>* buffer);
  basic_ostream& operator<<(basic_ostream& (*manipulator)(basic_ostream&));
  basic_ostream& operator<<(ios_base& (*manipulator)(ios_base&));
#define __WT_WRITES(type) basic_ostream& operator<<(type v);
  __WT_WRITES(bool)
  __WT_WRITES(short)
  __WT_WRITES(unsigned short)
  __WT_WRITES(int)
  __WT_WRITES(unsigned)
  __WT_WRITES(long)
  __WT_WRITES(unsigned long)
  __WT_WRITES(long long)
  __WT_WRITES(unsigned long long)
  __WT_WRITES(float)
  __WT_WRITES(double)
  __WT_WRITES(long double)
  __WT_WRITES(const void*)
  __WT_WRITES(basic_streambuf<C>*)
#undef __WT_WRITES
  basic_ostream& put(C c);
  basic_ostream& write(const C* s, streamsize n);
  basic_ostream& flush();
  basic_ostream& seekp(streamoff at, ios_base::seekdir from = ios_base::beg);
  streamoff tellp();
};
template <class C, class Traits = char_traits<C>> class basic_istream : virtual public basic_ios<C, Traits> {
 public:
  explicit basic_istream(basic_streambuf<C, Traits>* buffer);
  basic_istream& operator>>(basic_istream& (*manipulator)(basic_istream&));
  basic_istream& operator>>(ios_base& (*manipulator)(ios_base&));
#define __WT_READS(type) basic_istream& operator>>(type& v);
  __WT_READS(bool)
  __WT_READS(short)
  __WT_READS(unsigned short)
  __WT_READS(int)
  __WT_READS(unsigned)
  __WT_READS(long)
  __WT_READS(unsigned long)
  __WT_READS(long long)
  __WT_READS(unsigned long long)
  __WT_READS(float)
  __WT_READS(double)
  __WT_READS(long double)
#undef __WT_READS
  int get();
  basic_istream& get(C& c);
  int peek();
  basic_istream& unget();
  basic_istream& read(C* to, streamsize n);
  basic_istream& getline(C* to, streamsize n, C end = '\n');
  basic_istream& ignore(streamsize n = 1, int end = -1);
  streamsize gcount() const;
  basic_istream& seekg(streamoff at, ios_base::seekdir from = ios_base::beg);
  streamoff tellg();
};
template <class C, class Traits = char_traits<C>>
class basic_iostream : public basic_istream<C, Traits>, public basic_ostream<C, Traits> {
 public:
  explicit basic_iostream(basic_streambuf<C, Traits>* buffer);
};
template <class C, class T> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, C c);
template <class C, class T> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, const C* s);
template <class T> basic_ostream<char, T>& operator<<(basic_ostream<char, T>& to, signed char c);
template <class T> basic_ostream<char, T>& operator<<(basic_ostream<char, T>& to, unsigned char c);
template <class T> basic_ostream<char, T>& operator<<(basic_ostream<char, T>& to, const unsigned char* s);
template <class C, class T, class A> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, const basic_string<C, T, A>& s);
template <class C, class T> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, basic_string_view<C, T> s);
template <class C, class T> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, const error_code& code);
template <class C, class T, class U> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, const shared_ptr<U>& p);
template <class C, class T, size_t N> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, const bitset<N>& bits);
template <class C, class T> basic_istream<C, T>& operator>>(basic_istream<C, T>& from, C& c);
template <class C, class T> basic_istream<C, T>& operator>>(basic_istream<C, T>& from, C* s);
template <class C, class T, class A> basic_istream<C, T>& operator>>(basic_istream<C, T>& from, basic_string<C, T, A>& s);
template <class C, class T, class A> basic_istream<C, T>& getline(basic_istream<C, T>& from, basic_string<C, T, A>& s);
template <class C, class T, class A> basic_istream<C, T>& getline(basic_istream<C, T>& from, basic_string<C, T, A>& s, C end);
typedef basic_ios<char> ios;
typedef basic_streambuf<char> streambuf;
typedef basic_ostream<char> ostream;
typedef basic_istream<char> istream;
typedef basic_iostream<char> iostream;
typedef basic_ostream<wchar_t> wostream;
template <class C, class T = char_traits<C>, class A = allocator<C>> class basic_stringbuf : public basic_streambuf<C, T> {};
template <class C, class T = char_traits<C>> class basic_filebuf : public basic_streambuf<C, T> {};
#define __WT_STRING_STREAM(name, base)                                                                       \
  template <class C, class T = char_traits<C>, class A = allocator<C>> class basic_##name : public base<C, T> { \
   public:                                                                                                   \
    basic_##name();                                                                                          \
    explicit basic_##name(ios_base::openmode mode);                                                          \
    explicit basic_##name(const basic_string<C, T, A>& s, ios_base::openmode mode = 0);                      \
    basic_string<C, T, A> str() const;                                                                       \
    void str(const basic_string<C, T, A>& s);                                                                \
  };                                                                                                         \
  typedef basic_##name<char> name;
__WT_STRING_STREAM(ostringstream, basic_ostream)
__WT_STRING_STREAM(istringstream, basic_istream)
__WT_STRING_STREAM(stringstream, basic_iostream)
#undef __WT_STRING_STREAM
#define __WT_FILE_STREAM(name, base)                                                          \
  template <class C, class T = char_traits<C>> class basic_##name : public base<C, T> {       \
   public:                                                                                    \
    basic_##name();                                                                           \
    explicit basic_##name(const char* name, ios_base::openmode mode = 0);                     \
    explicit basic_##name(const string& name, ios_base::openmode mode = 0);                   \
    void open(const char* name, ios_base::openmode mode = 0);                                 \
    void open(const string& name, ios_base::openmode mode = 0);                               \
    bool is_open() const;                                                                     \
    void close();                                                                             \
  };                                                                                          \
  typedef basic_##name<char> name;
__WT_FILE_STREAM(ofstream, basic_ostream)
__WT_FILE_STREAM(ifstream, basic_istream)
__WT_FILE_STREAM(fstream, basic_iostream)
#undef __WT_FILE_STREAM
template <class T, class C = char, class Traits = char_traits<C>, class D = ptrdiff_t> class istream_iterator : public __wt_position<const T, input_iterator_tag> {
 public:
  istream_iterator();
  istream_iterator(basic_istream<C, Traits>& from);
};
template <class C, class Traits = char_traits<C>> class istreambuf_iterator : public __wt_position<const C, input_iterator_tag> {
 public:
  istreambuf_iterator();
  istreambuf_iterator(basic_istream<C, Traits>& from);
};
template <class T, class C = char, class Traits = char_traits<C>> class ostream_iterator : public back_insert_iterator<T> {
 public:
  ostream_iterator(basic_ostream<C, Traits>& to, const C* between = nullptr);
};
template <class C, class T> basic_ostream<C, T>& endl(basic_ostream<C, T>& to);
template <class C, class T> basic_ostream<C, T>& ends(basic_ostream<C, T>& to);
template <class C, class T> basic_ostream<C, T>& flush(basic_ostream<C, T>& to);
template <class C, class T> basic_istream<C, T>& ws(basic_istream<C, T>& from);
ios_base& fixed(ios_base& stream);
ios_base& scientific(ios_base& stream);
ios_base& defaultfloat(ios_base& stream);
ios_base& hex(ios_base& stream);
ios_base& dec(ios_base& stream);
ios_base& oct(ios_base& stream);
ios_base& left(ios_base& stream);
ios_base& right(ios_base& stream);
ios_base& boolalpha(ios_base& stream);
ios_base& noboolalpha(ios_base& stream);
ios_base& showpos(ios_base& stream);
struct __wt_manipulator {};
__wt_manipulator setw(int width);
__wt_manipulator setprecision(int digits);
__wt_manipulator setfill(char c);
__wt_manipulator setbase(int base);
__wt_manipulator put_time(const tm* at, const char* format);
template <class C, class T> basic_ostream<C, T>& operator<<(basic_ostream<C, T>& to, __wt_manipulator);
template <class C, class T> basic_istream<C, T>& operator>>(basic_istream<C, T>& from, __wt_manipulator);
extern ostream cout, cerr, clog;
extern istream cin;

struct from_chars_result { const char* ptr; errc ec; };
struct to_chars_result { char* ptr; errc ec; };
template <class... As> from_chars_result from_chars(const char* begin, const char* end, As&&... as) {}
template <class... As> to_chars_result to_chars(char* begin, char* end, As&&... as) {}
}  // namespace std
