// How every part of warptime reports wrong input: a list of diagnostics, which are values, and one formatter
// that makes compiler-like messages of them. A user's mistake is a Diagnostic; a broken invariant is an
// assert.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime {

enum class Severity { note, warning, error };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string message;
  std::string file;         // as the user named it; empty: not about a file
  int line = 0;             // 1-based; 0: not about a line
  int column = 0;           // 1-based, in bytes; 0: not about a column
  std::string source_line;  // the text of `line`, for the caret; may be empty
  std::string hint;         // the remedy, if there is one
  // Text that another program (a compiler) already formatted: printed as it is, instead of everything above.
  std::string verbatim;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

// `file:12:7: error: message`, the line, a caret, `hint: …`; ends in a newline.
std::string to_text(const Diagnostic& diagnostic);
std::string to_text(const Diagnostics& diagnostics);

Diagnostic error(std::string message, std::string hint = {});
Diagnostic error_at(std::string file, int line, int column, std::string message, std::string hint = {});

// The diagnostics of a Result without a value; out of line, since hundreds of functions hold one.
class Failure {
 public:
  Failure() = default;  // none: there is a value
  explicit Failure(Diagnostics diagnostics);
  explicit Failure(Diagnostic diagnostic);
  Failure(const Failure& other);
  Failure(Failure&& other) noexcept : diagnostics_(std::exchange(other.diagnostics_, nullptr)) {}
  Failure& operator=(Failure other) noexcept {
    std::swap(diagnostics_, other.diagnostics_);
    return *this;
  }
  ~Failure() {
    if (diagnostics_ != nullptr) destroy(diagnostics_);
  }

  const Diagnostics& diagnostics() const;  // empty without a failure

 private:
  static void destroy(Diagnostics* diagnostics);

  Diagnostics* diagnostics_ = nullptr;
};

// Throws std::logic_error: a Result was read that has no value.
[[noreturn]] void no_value();

// A value, or the diagnostics that say why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                          // NOLINT: implicit on purpose
  Result(Diagnostics diagnostics) : failure_(std::move(diagnostics)) {}  // NOLINT
  Result(Diagnostic diagnostic) : failure_(std::move(diagnostic)) {}     // NOLINT

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() {
    if (!value_) no_value();
    return *value_;
  }
  const T& operator*() const {
    if (!value_) no_value();
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Diagnostics& diagnostics() const { return failure_.diagnostics(); }

 private:
  std::optional<T> value_;
  Failure failure_;
};

}  // namespace warptime
