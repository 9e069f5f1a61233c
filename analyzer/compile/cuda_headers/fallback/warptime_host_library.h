// The parts of the C++ library that host code uses and that declarations beside kernels name, where the system has
// none: enough to be parsed. Nothing here runs.
#pragma once
#pragma clang system_header

#include <algorithm>
#include <cstddef>

namespace std {

template <class T> struct allocator { typedef T value_type; };
template <class T> struct hash;
template <class T> struct default_delete {};
template <class It> struct iterator_traits {
  typedef typename It::value_type value_type;
  typedef typename It::difference_type difference_type;
  typedef typename It::reference reference;
  typedef typename It::pointer pointer;
  typedef typename It::iterator_category iterator_category;
};
struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
template <class T> struct iterator_traits<T*> {
  typedef remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef T& reference;
  typedef T* pointer;
  typedef random_access_iterator_tag iterator_category;
};
template <class It> class reverse_iterator {
  It it_;

 public:
  constexpr explicit reverse_iterator(It it) : it_(it) {}
  constexpr It base() const { return it_; }
  constexpr decltype(auto) operator*() const { It before = it_; return *--before; }
  constexpr reverse_iterator& operator++() { --it_; return *this; }
};
template <class It> constexpr auto distance(It a, It b) { return b - a; }
template <class C> constexpr auto begin(C& c) -> decltype(c.begin()) { return c.begin(); }
template <class C> constexpr auto end(C& c) -> decltype(c.end()) { return c.end(); }
template <class T, size_t N> constexpr T* begin(T (&a)[N]) { return a; }
template <class T, size_t N> constexpr T* end(T (&a)[N]) { return a + N; }
template <class T> constexpr T* addressof(T& v) { return __builtin_addressof(v); }

template <class T, class A = allocator<T>> class vector {
  T* begin_;
  T* end_;

 public:
  typedef T value_type;
  typedef size_t size_type;
  typedef T* iterator;
  typedef const T* const_iterator;
  vector();
  explicit vector(size_t n);
  vector(size_t n, const T& v);
  vector(initializer_list<T> list);
  template <class It> vector(It begin, It end);
  vector(const vector& other);
  ~vector();
  vector& operator=(const vector& other);
  T& operator[](size_t i) { return begin_[i]; }
  const T& operator[](size_t i) const { return begin_[i]; }
  T& at(size_t i) { return begin_[i]; }
  T* data() { return begin_; }
  const T* data() const { return begin_; }
  T* begin() { return begin_; }
  const T* begin() const { return begin_; }
  T* end() { return end_; }
  const T* end() const { return end_; }
  T& front() { return *begin_; }
  T& back() { return end_[-1]; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  void push_back(const T& v);
  template <class... As> T& emplace_back(As&&... as);
  void resize(size_t n);
  void resize(size_t n, const T& v);
  void reserve(size_t n);
  void clear();
};

class string {
 public:
  static constexpr size_t npos = static_cast<size_t>(-1);
  string();
  string(const char* s);
  string(const string& other);
  ~string();
  string& operator=(const string& other);
  const char* c_str() const;
  const char* data() const;
  size_t size() const;
  size_t length() const;
  bool empty() const;
  char& operator[](size_t i);
  string& operator+=(const string& other);
  size_t find(const string& other, size_t from = 0) const;
  string substr(size_t from, size_t n = npos) const;
};
string operator+(const string& a, const string& b);
bool operator==(const string& a, const string& b);
bool operator!=(const string& a, const string& b);
bool operator<(const string& a, const string& b);
template <class T> string to_string(T v);

template <class T, class D = default_delete<T>> class unique_ptr {
  T* p_;

 public:
  unique_ptr(T* p = nullptr) : p_(p) {}
  T* get() const { return p_; }
  T& operator*() const { return *p_; }
  T* operator->() const { return p_; }
  void reset(T* p = nullptr);
  explicit operator bool() const { return p_ != nullptr; }
};
template <class T, class D> class unique_ptr<T[], D> {
  T* p_;

 public:
  unique_ptr(T* p = nullptr) : p_(p) {}
  T* get() const { return p_; }
  T& operator[](size_t i) const { return p_[i]; }
};
template <class T> class shared_ptr : public unique_ptr<T> {
 public:
  using unique_ptr<T>::unique_ptr;
  template <class U> shared_ptr(const shared_ptr<U>& other);
};
template <class T, class... As> unique_ptr<T> make_unique(As&&... as);
template <class T, class... As> shared_ptr<T> make_shared(As&&... as);

class exception {
 public:
  virtual const char* what() const noexcept;
  virtual ~exception();
};
#define __WT_EXCEPTION(name, base)   \
  class name : public base {         \
   public:                           \
    name(const char* what);          \
    name(const string& what);        \
  };
class __wt_exception : public exception {
 public:
  __wt_exception(const char* what = nullptr);
  __wt_exception(const string& what);
};
__WT_EXCEPTION(runtime_error, __wt_exception)
__WT_EXCEPTION(logic_error, __wt_exception)
__WT_EXCEPTION(invalid_argument, logic_error)
__WT_EXCEPTION(out_of_range, logic_error)
#undef __WT_EXCEPTION

class ios_base {};
class ostream {
 public:
  ostream& operator<<(ostream& (*manipulator)(ostream&));
};
class istream {};
class ostringstream : public ostream {
 public:
  string str() const;
};
class stringstream : public ostringstream {};
class ofstream : public ostream {
 public:
  ofstream(const char* name = nullptr);
};
class ifstream : public istream {
 public:
  ifstream(const char* name = nullptr);
};
template <class T> ostream& operator<<(ostream& to, const T& v);
template <class T> istream& operator>>(istream& from, T& v);
ostream& endl(ostream& to);
ostream& flush(ostream& to);
extern ostream cout, cerr, clog;
extern istream cin;

}  // namespace std
