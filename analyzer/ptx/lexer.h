// PTX text → tokens. Lossless: the texts of all tokens, trivia included, joined give back the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warptime::ptx {

enum class TokenKind : std::uint8_t {
  end,        // the end of the text; empty
  space,      // blanks and line ends
  comment,    // // … or /* … */; also a preprocessor's # 12 "file.cu"
  word,       // mov.u32, %tid.x, $L__BB0_1, _: an identifier with the .suffixes and ::suffixes that touch it
  directive,  // .reg: a dot and one identifier
  integer,    // 12, 0x1F, 0b101, 017, 12U
  floating,   // 1.5, 1e5, 0f3f800000, 0d3ff0000000000000
  string,     // "…", without escapes, as in ptxas
  punctuation,   // one character
  unterminated,  // a /* comment or a string that does not end
  invalid,       // a byte that is not part of PTX
};

struct Token {
  TokenKind kind = TokenKind::end;
  char mark = 0;           // the character of a punctuation; 0: another kind
  bool dotted = false;     // a word that has suffixes
  std::uint32_t line = 0;  // 1-based
  std::string_view text;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text)
      : begin_(text.data()), position_(text.data()), end_(text.data() + text.size()) {}

  // The next token of any kind.
  void next(Token& result);

  // The next token that is neither space nor comment.
  void next_significant(Token& result);

  std::string_view text() const { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }
  const char* position() const { return position_; }

  // Continues at `position` on the line `line`, after all tokens read so far.
  void skip_to(const char* position, std::uint32_t line) { position_ = position, line_ = line; }

 private:
  void skip_spaces();
  void skip_word();
  bool skip_comment();  // false: a comment that does not end
  bool skip_line_marker();
  void finish(Token& result, TokenKind kind, const char* start) const;
  void punctuation(Token& result);
  void word(Token& result);
  void directive(Token& result);
  void comment(Token& result);
  void number(Token& result);
  void quoted(Token& result);

  const char* begin_;
  const char* position_;
  const char* end_;
  std::uint32_t line_ = 1;
};

// All tokens of `text`, trivia included, without the end.
std::vector<Token> tokenize(std::string_view text);

// Whether `c` can be in an identifier after its first character.
bool is_word_character(char c);

}  // namespace warptime::ptx
