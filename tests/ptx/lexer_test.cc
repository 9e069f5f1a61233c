#include "analyzer/ptx/lexer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/ptx/ptx_text.h"

namespace warptime::ptx {
namespace {

std::string joined(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) text += token.text;
  return text;
}

// Kind letters: w word, d directive, i integer, f floating, s string, u unterminated, x invalid, punctuation
// as it stands.
std::string kinds(std::string_view text) {
  std::string result;
  for (const Token& token : tokenize(text)) {
    switch (token.kind) {
      case TokenKind::word:
        result += 'w';
        break;
      case TokenKind::directive:
        result += 'd';
        break;
      case TokenKind::integer:
        result += 'i';
        break;
      case TokenKind::floating:
        result += 'f';
        break;
      case TokenKind::string:
        result += 's';
        break;
      case TokenKind::unterminated:
        result += 'u';
        break;
      case TokenKind::invalid:
        result += 'x';
        break;
      case TokenKind::punctuation:
        result += token.mark;
        break;
      case TokenKind::space:
      case TokenKind::comment:
      case TokenKind::end:
        break;
    }
  }
  return result;
}

TEST(Lexer, TokensByKind) {
  const struct {
    const char* text;
    const char* kinds;
  } cases[] = {
      {"ld.global.L2::128B.v4.u32 {%r1,_}, [%rd1+-8];", "w{w,w},[w+-i];"},
      {".reg.b32 a;", "ddw;"},
      {".param .align 4 .b8 x[16]", "ddidw[i]"},
      {".align 4.b8", "dfw"},  // as ptxas has it
      {"L1: mov", "w:w"},
      {"$L__BB0_1:", "w:"},
      {"cp.async.bulk.mbarrier::complete_tx::bytes", "w"},
      {"%tid.x %p1|%p2 !%p", "ww|w!w"},
      {"0f3F800000 0d3FF0000000000000 1.5 1e5 .5 1.", "ffffff"},
      {"0f3F80000", "iw"},  // seven digits only
      {"12U 0x1F 0b101 017", "iiii"},
      {"0x1fu 12abc", "iwiw"},
      {"5 % 3", "i%i"},
      {"\"a\\\" b", "sw"},  // a backslash is no escape
      {"\"a", "u"},
      {"/* a", "u"},
      {"a/* b */c// d", "ww"},
      {"\x01 # ` é", "xxxxx"},
      {"@!%p bra", "@!ww"},
      {"a.b::c.d", "w"},
      {"a. b", "w.w"},
      {"", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(kinds(c.text), c.kinds) << c.text;
    EXPECT_EQ(joined(tokenize(c.text)), c.text);
  }
}

TEST(Lexer, LinesCountAlsoInCommentsAndStrings) {
  const auto tokens = tokenize("a\n/* x\n y */ b \"s\n t\" c\r\n// d\ne");
  std::string lines;
  for (const Token& token : tokens)
    if (token.kind == TokenKind::word) lines += std::string(token.text) + std::to_string(token.line) + " ";
  EXPECT_EQ(lines, "a1 b3 c4 e6 ");
}

TEST(Lexer, TokensJoinedGiveBackEveryFile) {
  for (const auto& entry : std::filesystem::directory_iterator(WARPTIME_PTX_TESTS "/data")) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string text = read_file(entry.path());
    EXPECT_TRUE(joined(tokenize(text)) == text) << entry.path();
  }
}

TEST(Lexer, TokensJoinedGiveBackAnyBytes) {
  std::mt19937 random(1);
  const std::string_view favourites = "./*\"%:$_09afxU \n\0{}[]";
  for (int run = 0; run < 2000; ++run) {
    std::string text;
    for (unsigned i = random() % 60; i != 0; --i)
      text += random() % 2 == 0 ? static_cast<char>(random()) : favourites[random() % favourites.size()];
    EXPECT_TRUE(joined(tokenize(text)) == text);
  }
}

}  // namespace
}  // namespace warptime::ptx
