#include "simulator/program/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "simulator/base/did_you_mean.h"

namespace warptime::yaml {
namespace {

constexpr std::size_t kMostNodes = 1'000'000;
constexpr std::size_t kMostErrors = 20;

std::string line_of(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view rest = text.substr(std::min(begin, text.size()));
  rest = rest.substr(0, rest.find('\n'));
  if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
  return std::string(rest);
}

Diagnostic error_in(std::string_view text, const std::string& file, int line, int column, std::string message,
                    std::string hint = {}) {
  Diagnostic diagnostic = error_at(file, line, column, std::move(message), std::move(hint));
  diagnostic.source_line = line_of(text, line);
  return diagnostic;
}

// Thrown by TreeBuilder through yaml-cpp's parser, to stop it.
struct Stop {
  YAML::Mark mark;
  const char* message;
};

// Builds the nodes from yaml-cpp's events. Unlike yaml-cpp's own tree it has bounds: aliases are written out
// and count, and a parser that goes round in circles is stopped.
class TreeBuilder : public YAML::EventHandler {
 public:
  std::vector<Node> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // Some wrong text gives yaml-cpp one empty document after another without being read on.
    if (documents_started_ && mark.pos == document_.pos) throw Stop{mark, "not YAML: unexpected text"};
    documents_started_ = true;
    document_ = mark;
    anchors_.clear();
    open_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(made(mark, Node::Kind::null), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = made(mark, Node::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Stop{mark, "an alias inside its own anchor"};
    count(mark, size(found->second));
    add(found->second, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back({made(mark, Node::Kind::sequence), anchor, {}, false});
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back({made(mark, Node::Kind::mapping), anchor, {}, false});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    Node key;  // of the entry that is being read, where has_key
    bool has_key;
  };

  Node made(const YAML::Mark& mark, Node::Kind kind) {
    count(mark, 1);
    Node node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void count(const YAML::Mark& mark, std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > kMostNodes)
      throw Stop{mark,
                 "the YAML has more than 1,000,000 nodes, with aliases "
                 "expanded"};
  }

  static std::size_t size(const Node& node) {
    std::size_t nodes = 1;
    for (const Node& item : node.items) nodes += size(item);
    for (const Entry& entry : node.entries) nodes += size(entry.key) + size(entry.value);
    return nodes;
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed.node), closed.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      count(document_, size(node));
      anchors_[anchor] = node;
    }
    if (open_.empty()) {
      documents_.push_back(std::move(node));
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.has_key) {
      parent.node.entries.push_back({std::move(parent.key), std::move(node)});
      parent.has_key = false;
    } else {
      parent.key = std::move(node);
      parent.has_key = true;
    }
  }

  std::vector<Node> documents_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  YAML::Mark document_;
  bool documents_started_ = false;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<std::vector<Node>> parse(std::string_view text, const std::string& file) {
  const auto wrong = [&](const YAML::Mark& mark, std::string message) {
    const bool placed = !mark.is_null();
    return error_in(text, file, placed ? mark.line + 1 : 0, placed ? mark.column + 1 : 0, std::move(message));
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const Stop& stop) {
    return wrong(stop.mark, stop.message);
  } catch (const YAML::DeepRecursion& deep) {
    return wrong(deep.mark, "the YAML is nested too deeply");
  } catch (const YAML::Exception& exception) {
    return wrong(exception.mark, fmt::format("not YAML: {}", exception.msg));
  }
}

std::vector<std::string> top_level_keys(std::string_view text) {
  std::vector<std::string> keys;
  const auto documents = parse(text, {});
  if (!documents) return keys;
  for (const Node& document : *documents)
    for (const Entry& entry : document.entries) keys.push_back(entry.key.text);
  return keys;
}

void Reader::error(const Node& where, std::string message, std::string hint) {
  if (errors_.size() >= kMostErrors) return;
  errors_.push_back(error_in(text_, file_, where.line, where.column, std::move(message), std::move(hint)));
}

std::string Reader::text(const Node& node, std::string_view what) {
  if (node.kind == Node::Kind::null) return {};
  if (node.kind != Node::Kind::scalar)
    error(node, fmt::format("{} must be a single value, not a list or a mapping", what));
  return node.text;
}

std::optional<std::int64_t> Reader::integer(const Node& node, std::string_view what) {
  std::int64_t value = 0;
  const char* const end = node.text.data() + node.text.size();
  if (node.kind == Node::Kind::scalar) {
    const auto [stopped, status] = std::from_chars(node.text.data(), end, value);
    if (status == std::errc() && stopped == end) return value;
    if (status == std::errc::result_out_of_range) {
      error(node, fmt::format("{}: {} does not fit 64 bits", what, node.text));
      return std::nullopt;
    }
  }
  error(node, fmt::format("{} must be a whole number", what));
  return std::nullopt;
}

std::optional<double> Reader::number(const Node& node, std::string_view what) {
  double value = 0;
  const char* const end = node.text.data() + node.text.size();
  if (node.kind == Node::Kind::scalar) {
    const auto [stopped, status] = std::from_chars(node.text.data(), end, value);
    if (status == std::errc() && stopped == end && std::isfinite(value)) return value;
  }
  error(node, fmt::format("{} must be a number", what));
  return std::nullopt;
}

Expression Reader::expression(const Node& node, std::string_view what, Constant constant) {
  if (node.kind != Node::Kind::scalar) {
    error(node, node.kind == Node::Kind::null
                    ? fmt::format("{} has no value", what)
                    : fmt::format("{} must be an expression, not a list or a mapping", what));
    return {};
  }
  auto parsed = Expression::parse(node.text);
  Node place = node;
  place.items.clear();
  if (!parsed) {
    const Diagnostic& why = parsed.diagnostics().front();
    place.column += why.column - 1 + (node.quoted ? 1 : 0);
    error(place, fmt::format("{}: {}", what, why.message), why.hint);
    return {};
  }
  if (constant == Constant::any || !parsed->names().empty()) return *parsed;
  const auto check = [&](const auto& value) {
    if (!value) {
      error(node, fmt::format("{}: {}", what, value.diagnostics().front().message));
    } else if (*value < 0) {
      error(node, fmt::format("{} is negative: {}", what, *value));
    }
  };
  if (constant == Constant::count) {
    check(evaluate_count(*parsed, {}));
  } else {
    check(evaluate_number(*parsed, {}));
  }
  return *parsed;
}

Fields::Fields(Reader& reader, const Node& mapping, std::vector<std::string> known, std::string_view what)
    : reader_(reader), mapping_(mapping), what_(what) {
  if (mapping.kind != Node::Kind::mapping) {
    reader.error(mapping, fmt::format("{} must be a mapping (`key: value` lines)", what));
    return;
  }
  std::vector<std::string_view> seen;
  for (const Entry& entry : mapping.entries) {
    if (entry.key.kind != Node::Kind::scalar) {
      reader.error(entry.key, fmt::format("a key of {} must be a name", what));
      continue;
    }
    const std::string& key = entry.key.text;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string near = nearest(key, known);
      reader.error(entry.key, fmt::format("unknown key `{}` in {}", key, what),
                   near.empty() ? fmt::format("there are {}", list_of(known))
                                : fmt::format("did you mean `{}`?", near));
    } else if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      reader.error(entry.key, fmt::format("`{}` occurs twice", key));
    } else {
      seen.push_back(key);
    }
  }
}

const Node* Fields::find(std::string_view key) const {
  for (const Entry& entry : mapping_.entries) {
    if (entry.key.kind == Node::Kind::scalar && entry.key.text == key) return &entry.value;
  }
  return nullptr;
}

const Node* Fields::require(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr && mapping_.kind == Node::Kind::mapping) {
    reader_.error(mapping_, fmt::format("{} has no `{}`", what_, key));
  }
  return found;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += fmt::format("`{}`", names[i]);
  }
  return text;
}

namespace {

// Other readers of YAML take these for something else than text.
bool means_something_else(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {"~",  "null", "true", "false", "yes", "no",
                                                              "on", "off",  "y",    "n",     "nan"};
  constexpr std::size_t longest = 5;
  if (text.size() > longest) return false;
  // `N` and `Y` are names of parameters that nobody takes for a truth value any more.
  if (text == "N" || text == "Y" || text == "n" || text == "y") return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Where a character stops a scalar from being plain.
enum Unsafe : std::uint8_t { everywhere = 1, in_flow_only = 2, in_front = 4 };

constexpr std::array<std::uint8_t, 256> unsafe_characters() {
  std::array<std::uint8_t, 256> unsafe{};
  for (std::size_t c = 0; c < unsafe.size(); ++c)
    if (c < 0x20 || c >= 0x7F) unsafe[c] = everywhere;
  for (const char c : std::string_view(",[]{}:#?\"'")) unsafe[static_cast<unsigned char>(c)] |= in_flow_only;
  for (const char c : std::string_view("!&*-?|>@`\"'%#,[]{}:=.<"))
    unsafe[static_cast<unsigned char>(c)] |= in_front;
  return unsafe;
}

bool plain_is_safe(std::string_view text, bool in_flow) {
  static constexpr auto kUnsafe = unsafe_characters();
  const auto unsafe = [](char c) { return kUnsafe[static_cast<unsigned char>(c)]; };
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if ((unsafe(text.front()) & in_front) != 0) {
    const bool negative_or_fraction = (text.front() == '-' || text.front() == '.') && text.size() > 1 &&
                                      text[1] != ' ' && text[1] != '-' && text[1] != '.';
    if (!negative_or_fraction) return false;
  }
  std::uint8_t any = 0;
  for (const char c : text) any |= unsafe(c);
  if ((any & everywhere) != 0 || (in_flow && (any & in_flow_only) != 0)) return false;
  if ((any & in_flow_only) != 0 &&
      (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos))
    return false;
  return !means_something_else(text);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void append_scalar(std::string& out, std::string_view text, bool in_flow) {
  if (plain_is_safe(text, in_flow))
    out += text;
  else
    append_quoted(out, text);
}

void make_scalar(std::string& out, std::size_t begin, bool in_flow) {
  if (plain_is_safe(std::string_view(out).substr(begin), in_flow)) return;
  const auto text = out.substr(begin);
  out.resize(begin);
  append_quoted(out, text);
}

std::string scalar(std::string_view text, bool in_flow) {
  std::string out;
  append_scalar(out, text, in_flow);
  return out;
}

void check_version(Reader& reader, const Fields& fields, int newest) {
  const Node* version = fields.find("warptime");
  if (version == nullptr) return;
  const auto number = reader.integer(*version, "`warptime` (the version of the format)");
  if (!number) return;
  if (*number > newest) {
    reader.error(*version,
                 fmt::format("format {} is newer than this warptime, which reads up to {}", *number, newest));
  } else if (*number < 1) {
    reader.error(*version, fmt::format("unknown format {}", *number), fmt::format("`warptime: {}`", newest));
  }
}

}  // namespace warptime::yaml
