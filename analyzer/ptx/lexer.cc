#include "analyzer/ptx/lexer.h"

#include <array>
#include <cstring>

namespace warptime::ptx {
namespace {

enum CharacterClass : std::uint8_t {
  blank = 1,       // space, tab, carriage return, form feed, vertical tab, newline
  word_start = 2,  // letters, _, $, %
  word_part = 4,   // letters, digits, _, $
  digit = 8,
  hex_digit = 16,
  mark = 32,  // punctuation of PTX
};

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[static_cast<unsigned char>(c)] = blank;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = word_start | word_part;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = word_start | word_part;
  for (int c = '0'; c <= '9'; ++c) classes[c] = word_part | digit | hex_digit;
  for (int c = 'a'; c <= 'f'; ++c) classes[c] |= hex_digit;
  for (int c = 'A'; c <= 'F'; ++c) classes[c] |= hex_digit;
  classes['_'] = classes['$'] = word_start | word_part;
  classes['%'] = word_start;
  for (char c : {'(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '@',
                 '!', '+', '-', '*', '/', '|', '&', '^', '~', '?', '=', '.'})
    classes[static_cast<unsigned char>(c)] = mark;
  return classes;
}

constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is(char c, std::uint8_t character_class) {
  return (classes[static_cast<unsigned char>(c)] & character_class) != 0;
}

}  // namespace

bool is_word_character(char c) {
  return is(c, word_part);
}

// Behind the word characters at the position, four at a time as long as there are so many.
inline void Lexer::skip_word() {
  const char* p = position_;
  for (; end_ - p >= 4; p += 4) {
    if (!is(p[0], word_part)) return void(position_ = p);
    if (!is(p[1], word_part)) return void(position_ = p + 1);
    if (!is(p[2], word_part)) return void(position_ = p + 2);
    if (!is(p[3], word_part)) return void(position_ = p + 3);
  }
  while (p != end_ && is(*p, word_part)) ++p;
  position_ = p;
}

inline void Lexer::finish(Token& result, TokenKind kind, const char* start) const {
  result.kind = kind;
  result.mark = 0;
  result.dotted = false;
  result.line = line_;
  result.text = {start, static_cast<std::size_t>(position_ - start)};
}

inline void Lexer::punctuation(Token& result) {
  const char* start = position_++;
  finish(result, TokenKind::punctuation, start);
  result.mark = *start;
}

inline void Lexer::skip_spaces() {
  const char* p = position_;
  for (; p != end_ && is(*p, blank); ++p) line_ += *p == '\n';
  position_ = p;
}

// At a comment's start: goes behind it; the newline that ends a // comment is no part of it.
bool Lexer::skip_comment() {
  const auto rest = static_cast<std::size_t>(end_ - position_);
  if (position_[1] == '/') {
    const void* newline = std::memchr(position_, '\n', rest);
    position_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
    return true;
  }
  const std::size_t close = std::string_view(position_, rest).find("*/", 2);
  const char* stop = close == std::string_view::npos ? end_ : position_ + close + 2;
  for (; position_ != stop; ++position_) line_ += *position_ == '\n';
  return close != std::string_view::npos;
}

// # 12 "file.cu" or #line 12 "file.cu", up to the end of its line. False: something else.
bool Lexer::skip_line_marker() {
  std::string_view rest(position_, static_cast<std::size_t>(end_ - position_));
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t length = rest.size();
  const auto skip = [&](std::uint8_t character_class) {
    const std::size_t before = rest.size();
    while (!rest.empty() && is(rest.front(), character_class)) rest.remove_prefix(1);
    return rest.size() != before;
  };
  rest.remove_prefix(1);
  if (rest.substr(0, 4) == "line") rest.remove_prefix(4);
  if (!skip(blank) || !skip(digit) || !skip(blank) || rest.empty() || rest.front() != '"') return false;
  if (rest.find('"', 1) == std::string_view::npos) return false;
  position_ += length;
  return true;
}

// An identifier, then any number of .suffix and ::suffix. A lone % is the remainder operator.
[[gnu::always_inline]] inline void Lexer::word(Token& result) {
  const char* start = position_++;
  skip_word();
  if (position_ == start + 1 && (*start == '%' || *start == '$')) {
    if (*start == '$') return finish(result, TokenKind::invalid, start);
    position_ = start;
    return punctuation(result);
  }
  bool dotted = false;
  while (end_ - position_ > 1) {
    if (position_[0] == '.' && is(position_[1], word_part)) {
      position_ += 2;
    } else if (position_[0] == ':' && position_[1] == ':' && end_ - position_ > 2 &&
               is(position_[2], word_part)) {
      position_ += 3;
    } else {
      break;
    }
    dotted = true;
    skip_word();
  }
  finish(result, TokenKind::word, start);
  result.dotted = dotted;
}

void Lexer::next_significant(Token& result) {
  for (;;) {
    skip_spaces();
    if (position_ == end_) return finish(result, TokenKind::end, position_);
    const char c = *position_;
    if (is(c, word_start)) return word(result);
    if (is(c, mark) && c != '/' && c != '.') return punctuation(result);
    const char after = end_ - position_ > 1 ? position_[1] : '\0';
    if (c == '#' && skip_line_marker()) continue;
    if (c != '/' || (after != '/' && after != '*')) return next(result);
    const char* start = position_;
    const std::uint32_t line = line_;
    if (skip_comment()) continue;
    finish(result, TokenKind::unterminated, start);
    result.line = line;
    return;
  }
}

void Lexer::next(Token& result) {
  const char* start = position_;
  if (position_ == end_) return finish(result, TokenKind::end, start);
  const char c = *position_;
  const char after = end_ - position_ > 1 ? position_[1] : '\0';
  if (is(c, word_start)) return word(result);
  if (is(c, digit) || (c == '.' && is(after, digit))) return number(result);
  if (c == '.' && is(after, word_part)) return directive(result);
  if (c == '/' && (after == '/' || after == '*')) return comment(result);
  if (c == '"') return quoted(result);
  if (is(c, mark)) return punctuation(result);
  if (is(c, blank)) {
    const std::uint32_t line = line_;
    skip_spaces();
    finish(result, TokenKind::space, start);
    result.line = line;
    return;
  }
  if (c == '#' && skip_line_marker()) return finish(result, TokenKind::comment, start);
  ++position_;
  finish(result, TokenKind::invalid, start);
}

void Lexer::directive(Token& result) {
  const char* start = position_++;
  skip_word();
  while (end_ - position_ > 2 && position_[0] == ':' && position_[1] == ':' && is(position_[2], word_part)) {
    position_ += 3;
    skip_word();
  }
  finish(result, TokenKind::directive, start);
}

void Lexer::comment(Token& result) {
  const char* start = position_;
  const std::uint32_t line = line_;
  const bool closed = skip_comment();
  finish(result, closed ? TokenKind::comment : TokenKind::unterminated, start);
  result.line = line;
}

void Lexer::number(Token& result) {
  const char* start = position_;
  const auto run = [&](std::uint8_t character_class) {
    const char* from = position_;
    while (position_ != end_ && is(*position_, character_class)) ++position_;
    return position_ - from;
  };
  const auto at = [&](std::ptrdiff_t offset) { return end_ - position_ > offset ? position_[offset] : '\0'; };
  if (at(0) == '0') {
    const char base = static_cast<char>(at(1) | 0x20);
    if (base == 'f' || base == 'd') {  // the bits of a float or double, always in full
      const std::ptrdiff_t digits = base == 'f' ? 8 : 16;
      std::ptrdiff_t there = 0;
      while (there < digits && is(at(2 + there), hex_digit)) ++there;
      if (there == digits) {
        position_ += 2 + digits;
        return finish(result, TokenKind::floating, start);
      }
    }
    if ((base == 'x' && is(at(2), hex_digit)) || (base == 'b' && (at(2) == '0' || at(2) == '1'))) {
      position_ += 2;
      run(base == 'x' ? hex_digit : digit);
      if (at(0) == 'U') ++position_;
      return finish(result, TokenKind::integer, start);
    }
  }
  run(digit);
  bool floating = false;
  if (at(0) == '.') {
    floating = true;
    ++position_;
    run(digit);
  }
  if ((at(0) | 0x20) == 'e') {
    const std::ptrdiff_t sign = at(1) == '+' || at(1) == '-' ? 1 : 0;
    if (is(at(1 + sign), digit)) {
      floating = true;
      position_ += 1 + sign;
      run(digit);
    }
  }
  if (!floating && at(0) == 'U') ++position_;
  return finish(result, floating ? TokenKind::floating : TokenKind::integer, start);
}

// PTX strings have no escapes, so that a backslash stands for itself, and may go over several lines.
void Lexer::quoted(Token& result) {
  const char* start = position_++;
  const std::uint32_t line = line_;
  while (position_ != end_ && *position_ != '"') line_ += *position_++ == '\n';
  const bool closed = position_ != end_;
  position_ += closed;
  finish(result, closed ? TokenKind::string : TokenKind::unterminated, start);
  result.line = line;
}

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(text);
  for (Token token;;) {
    lexer.next(token);
    if (token.kind == TokenKind::end) return tokens;
    tokens.push_back(token);
  }
}

}  // namespace warptime::ptx
