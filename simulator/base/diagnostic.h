// How every part of warptime reports wrong input: a list of diagnostics, which are values, and one formatter
// that makes compiler-like messages of them. A user's mistake is a Diagnostic; a broken invariant is an
// assert.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
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
};

using Diagnostics = std::vector<Diagnostic>;

// `file:12:7: error: message`, the line, a caret, `hint: …`; ends in a newline.
std::string to_text(const Diagnostic& diagnostic);
std::string to_text(const Diagnostics& diagnostics);

Diagnostic error(std::string message, std::string hint = {});
Diagnostic error_at(std::string file, int line, int column, std::string message, std::string hint = {});

// A value, or the diagnostics that say why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Diagnostics diagnostics) : state_(std::in_place_index<1>, std::move(diagnostics)) {}  // NOLINT
  Result(Diagnostic diagnostic)
      : state_(std::in_place_index<1>, Diagnostics{std::move(diagnostic)}) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Diagnostics& diagnostics() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

}  // namespace warptime
