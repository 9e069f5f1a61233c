#include "simulator/base/diagnostic.h"
#include "simulator/base/did_you_mean.h"

#include <gtest/gtest.h>

namespace warptime {
namespace {

Diagnostic with_source(Diagnostic diagnostic, std::string line) {
  diagnostic.source_line = std::move(line);
  return diagnostic;
}

TEST(Diagnostic, ReadsLikeACompilers) {
  EXPECT_EQ(to_text(with_source(error_at("mtx.cu", 12, 7, "no such thing", "remove it"), "  for (things)")),
            "mtx.cu:12:7: error: no such thing\n"
            "  for (things)\n"
            "      ^\n"
            "hint: remove it\n");
}

TEST(Diagnostic, LeavesOutWhatItDoesNotKnow) {
  EXPECT_EQ(to_text(error("no GPU")), "error: no GPU\n");
  EXPECT_EQ(to_text(error_at("a.yaml", 0, 0, "empty")), "a.yaml: error: empty\n");
  EXPECT_EQ(to_text(error_at("a.yaml", 3, 0, "odd")), "a.yaml:3: error: odd\n");
}

TEST(Diagnostic, NamesItsSeverity) {
  Diagnostic note = error("taken to pass");
  note.severity = Severity::note;
  EXPECT_EQ(to_text(note), "note: taken to pass\n");
  note.severity = Severity::warning;
  EXPECT_EQ(to_text(note), "warning: taken to pass\n");
}

TEST(Diagnostic, PutsTheCaretUnderTabsAndCharactersOfSeveralBytes) {
  EXPECT_EQ(to_text(with_source(error_at("f", 1, 3, "m"), "\té x")), "f:1:3: error: m\n\té x\n\t ^\n");
  EXPECT_EQ(to_text(with_source(error_at("f", 1, 4, "m"), "\té x")), "f:1:4: error: m\n\té x\n\t ^\n");
}

TEST(Diagnostic, ShowsTheNeighbourhoodInALineOfAMegabyte) {
  const std::string line = std::string(500'000, 'a') + "!" + std::string(500'000, 'b');
  const std::string text = to_text(with_source(error_at("f", 1, 500'001, "m"), line));
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("a!b"), std::string::npos);
}

TEST(Diagnostic, KeepsControlCharactersFromTheTerminal) {
  EXPECT_EQ(to_text(with_source(error_at("f", 1, 1, "m"), "\x1b[31m")), "f:1:1: error: m\n?[31m\n^\n");
}

TEST(Diagnostic, PrintsVerbatimTextAsItStands) {
  Diagnostic diagnostic = error("not shown");
  diagnostic.verbatim = "mtx.cu:1:1: error: expected ';'";
  EXPECT_EQ(to_text(Diagnostics{diagnostic, error("next")}),
            "mtx.cu:1:1: error: expected ';'\nerror: next\n");
}

TEST(Nearest, FindsASlipOfTheFinger) {
  const std::vector<std::string> names = {"load", "store", "calc", "rtx-2080", "rtx-2060"};
  EXPECT_EQ(nearest("laod", names), "load");
  EXPECT_EQ(nearest("stor", names), "store");
  EXPECT_EQ(nearest("rtx2080", names), "rtx-2080");
  EXPECT_EQ(nearest("RTX-2080", names), "rtx-2080");
  EXPECT_EQ(nearest("sto", names), "store");
  EXPECT_EQ(nearest("banana", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'l'), names), "");
}

}  // namespace
}  // namespace warptime
