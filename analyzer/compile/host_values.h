// What host code computes with, as far as launches need it: see host_launches.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compile/host_arithmetic.h"

namespace clang {
class CXXRecordDecl;
class FieldDecl;
class FunctionDecl;
class ValueDecl;
}  // namespace clang

namespace warptime::compiling {

// A part of an object: fields and constant indices from the outside in. `inexact`: some element of an array,
// nobody knows which.
struct HostPlace {
  struct Part {
    const clang::FieldDecl* field = nullptr;
    std::int64_t index = 0;  // where there is no field
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  int object = -1;
  std::vector<Part> parts;
  bool inexact = false;
  friend auto operator<=>(const HostPlace&, const HostPlace&) = default;
};

struct HostValue;
using HostBindings = std::map<const clang::ValueDecl*, HostPlace>;

struct HostValue {
  enum class Kind : std::uint8_t {
    unknown,   // `id` tells it from other unknown values
    integer,   // expression
    real,      // expression / denominator
    decimal,   // number: a real constant that is no small fraction
    pointer,   // to `place`, `expression` elements further where it is into an array
    record,    // fields
    array,     // elements
    function,  // function
    closure,   // function, with the variables around it
  };
  Kind kind = Kind::unknown;
  int id = 0;
  Expression expression;
  Expression denominator = 1;
  double number = 0;
  HostPlace place;
  bool into_array = false;
  const clang::FunctionDecl* function = nullptr;
  std::shared_ptr<const HostBindings> around;
  std::map<HostPlace::Part, std::shared_ptr<const HostValue>> members;  // of records and arrays
  bool whole = false;  // a record or array: members not listed are zero

  static HostValue of(Expression expression) {
    HostValue value;
    value.kind = Kind::integer;
    value.expression = std::move(expression);
    return value;
  }
  bool is(Kind wanted) const { return kind == wanted; }
  bool is_known() const { return kind == Kind::integer && expression.is_integer(); }
};

bool same_value(const HostValue& a, const HostValue& b);
HostValue with_substitution(const HostValue& value, const Substitution& replacements);

// The memory of the program at one point of its run. Copied where paths part.
class HostMemory {
 public:
  // Nothing where nothing was stored.
  const HostValue* find(const HostPlace& place) const;
  void store(const HostPlace& place, HostValue value);
  void erase(int object) { objects_.erase(object); }
  const std::map<int, std::shared_ptr<const HostValue>>& objects() const { return objects_; }
  void replace(int object, std::shared_ptr<const HostValue> value) { objects_[object] = std::move(value); }

 private:
  std::map<int, std::shared_ptr<const HostValue>> objects_;
};

}  // namespace warptime::compiling
