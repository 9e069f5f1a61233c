#include "cli/lsp/kernel_texts.h"

#include <algorithm>
#include <optional>

namespace warptime::cli {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Goes through a source token by token: words, and single characters of what else there is.
class SourceTokens {
 public:
  explicit SourceTokens(std::string_view text) : text_(text) {}

  // The beginning of the next token; nothing: the end.
  std::optional<std::size_t> next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_begins_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (starts("//")) {
        skip_line();
      } else if (starts("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (c == '#' && line_begins_) {
        skip_line();
      } else if (c == '"' || c == '\'') {
        line_begins_ = false;
        skip_literal(c);
      } else {
        line_begins_ = false;
        return take();
      }
    }
    return std::nullopt;
  }
  std::string_view token(std::size_t begin) const { return text_.substr(begin, end_ - begin); }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }

  std::size_t take() {
    const std::size_t begin = at_++;
    if (is_word(text_[begin])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      // A digit separator, 1'000, begins no character literal.
      const bool number = text_[begin] >= '0' && text_[begin] <= '9';
      while (number && at_ + 1 < text_.size() && text_[at_] == '\'' && is_word(text_[at_ + 1]))
        for (++at_; at_ < text_.size() && is_word(text_[at_]);) ++at_;
    }
    end_ = at_;
    raw_ = token(begin).ends_with('R');
    return begin;
  }

  // To the end of the line, or of the one that follows a backslash.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] == '\r' && at_ + 1 < text_.size()) ++at_;
      }
      ++at_;
    }
  }

  void skip_literal(char quote) {
    const bool raw = quote == '"' && raw_ && at_ == end_;
    raw_ = false;
    if (raw) {
      const auto open = text_.find('(', at_);
      if (open == std::string_view::npos) return void(at_ = text_.size());
      const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const auto end = text_.find(close, open);
      at_ = end == std::string_view::npos ? text_.size() : end + close.size();
      return;
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;
  bool line_begins_ = true, raw_ = false;
};

// The kernel whose `__global__` was the last token.
std::optional<KernelText> read_kernel(SourceTokens& tokens, std::size_t begin) {
  KernelText kernel;
  kernel.begin = begin;
  int parentheses = 0, braces = 0;
  std::string_view word;
  bool named = false;
  while (const auto at = tokens.next()) {
    const std::string_view token = tokens.token(*at);
    const char first = token.front();
    if (braces == 0 && parentheses == 0) {
      if (first == ';' || first == '}') return std::nullopt;  // a declaration, or none
      if (first == '(' && !named && word != "__launch_bounds__" && word != "__attribute__" &&
          word != "alignas" && !word.empty()) {
        named = true;
        kernel.name = std::string(word);
      }
      if (is_word(first)) word = token;
    }
    if (first == '(') ++parentheses;
    if (first == ')') --parentheses;
    if (first == '{' && parentheses == 0 && braces++ == 0) kernel.body = *at;
    if (first == '}' && parentheses == 0 && braces > 0 && --braces == 0) {
      kernel.end = *at + 1;
      return named ? std::optional(std::move(kernel)) : std::nullopt;
    }
    if (parentheses < 0) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<KernelText> find_kernel_texts(std::string_view text) {
  std::vector<KernelText> kernels;
  SourceTokens tokens(text);
  while (const auto at = tokens.next()) {
    if (tokens.token(*at) != "__global__") continue;
    if (auto kernel = read_kernel(tokens, *at)) kernels.push_back(std::move(*kernel));
  }
  std::size_t behind = 0;
  int line = 1;
  const auto line_at = [&](std::size_t offset) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(behind),
                                        text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    behind = offset;
    return line;
  };
  for (KernelText& kernel : kernels) {
    kernel.first_line = line_at(kernel.begin);
    kernel.last_line = line_at(kernel.end - 1);
  }
  return kernels;
}

std::string without_bodies(std::string_view text, const std::vector<KernelText>& kernels,
                           const std::vector<bool>& keep, std::string_view instead) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (keep[i]) continue;
    const std::string_view body = text.substr(kernels[i].body, kernels[i].end - kernels[i].body);
    result += text.substr(at, kernels[i].body - at);
    result += instead;
    result.append(static_cast<std::size_t>(std::count(body.begin(), body.end(), '\n')), '\n');
    at = kernels[i].end;
  }
  return result += text.substr(at);
}

}  // namespace warptime::cli
