#include "simulator/base/visible.h"

#include <gtest/gtest.h>

#include "simulator/base/diagnostic.h"

namespace warptime {
namespace {

TEST(VisibleTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(visible("plain ü µ 漢"), "plain ü µ 漢");
  EXPECT_EQ(visible("\x1b[31mred\x07\x7f"), "\\x1b[31mred\\x07\\x7f");
  EXPECT_EQ(visible("a\n\tb\r"), "a\\n\\tb\\x0d");
  EXPECT_EQ(visible("a\n\tb\r", LineBreaks::keep), "a\n\tb\\x0d");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m\xc2\xa0"),
            "\\xc2\\x9b31m\xc2\xa0");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
}

TEST(VisibleTest, DiagnosticsShowNoControlCharacters) {
  Diagnostic wrong = error_at("a\nb\x1b.cu", 3, 1, "no `\x1b[31m`", "not \x07");
  EXPECT_EQ(to_text(wrong), "a\\nb\\x1b.cu:3:1: error: no `\\x1b[31m`\nhint: not \\x07\n");
  wrong.verbatim = "x.cu: \x1b[1merror\n";
  EXPECT_EQ(to_text(wrong), "x.cu: \\x1b[1merror\n");
}

}  // namespace
}  // namespace warptime
