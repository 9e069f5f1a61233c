// What the readers of kernel programs, plans, GPUs and calibrations share: YAML as plain values with their
// places in the file, and the usual errors about them. External interface: none; a library's own types stay
// in yaml_reader.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "simulator/program/expression/expression.h"

namespace warptime::yaml {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, mapping } kind = Kind::null;
  bool quoted = false;
  int line = 1, column = 1;
  std::string text;            // of a scalar, without its quotes
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a mapping, in order, keys as they come (twice the same is possible)
};
struct Entry {
  Node key;
  Node value;
};

// Every document of a stream. Errors: not YAML, nested too deeply, more than 1,000,000 nodes (with aliases
// expanded).
Result<std::vector<Node>> parse(std::string_view text, const std::string& file);

// The keys of the documents whose top level is a mapping; none if the text is not YAML.
std::vector<std::string> top_level_keys(std::string_view text);

// Reads values of one file and collects errors. After an error, the value is a default, and reading
// continues.
class Reader {
 public:
  Reader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  void error(const Node& where, std::string message, std::string hint = {});
  bool failed() const { return !errors_.empty(); }
  Diagnostics take() { return std::move(errors_); }

  // The scalar's text. `what` names the value in messages: "`name`".
  std::string text(const Node& node, std::string_view what);
  std::optional<std::int64_t> integer(const Node& node, std::string_view what);
  std::optional<double> number(const Node& node, std::string_view what);
  enum class Constant { any, count, number };  // count, number: a constant must evaluate, and not be negative
  Expression expression(const Node& node, std::string_view what, Constant constant = Constant::any);

 private:
  std::string_view text_;
  std::string file_;
  Diagnostics errors_;
};

// The values of a mapping by key. Reports an unknown key (with the nearest known one) and a key that occurs
// twice.
class Fields {
 public:
  Fields(Reader& reader, const Node& mapping, std::vector<std::string> known, std::string_view what);
  const Node* find(std::string_view key) const;  // null: missing
  const Node* require(std::string_view key);     // reports a missing key
  const Node& node() const { return mapping_; }

 private:
  Reader& reader_;
  const Node& mapping_;
  std::string what_;
};

// "`a`, `b` and `c`"
std::string list_of(const std::vector<std::string>& names);

// A scalar as the writers write it: plain if possible, otherwise in double quotes. in_flow: inside { } or [
// ].
std::string scalar(std::string_view text, bool in_flow = false);
// The same at the end of `out`.
void append_scalar(std::string& out, std::string_view text, bool in_flow = false);
// Makes what stands in `out` from `begin` on a scalar: in double quotes where it has to be.
void make_scalar(std::string& out, std::size_t begin, bool in_flow = false);

// Checks `warptime: 1`; errors: not a number, newer than `newest`.
void check_version(Reader& reader, const Fields& fields, int newest);

}  // namespace warptime::yaml
