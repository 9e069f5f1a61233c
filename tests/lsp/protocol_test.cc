// The base protocol, JSON-RPC, and places in UTF-16.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lsp/answer.h"
#include "lsp/document.h"
#include "lsp/framing.h"
#include "lsp/json_rpc.h"

namespace warptime::lsp {
namespace {

std::vector<std::string> contents_of(std::string_view stream, std::size_t piece) {
  FrameReader reader;
  std::vector<std::string> contents;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.add(stream.substr(at, piece));
    while (auto content = reader.next()) contents.push_back(std::move(*content));
  }
  return contents;
}

std::string why_broken(std::string_view stream) {
  FrameReader reader;
  reader.add(stream);
  while (reader.next()) {
  }
  return reader.broken();
}

TEST(Framing, MessagesComeInAnyPieces) {
  const std::string stream = framed("one") + framed("") + framed("zwei µ");
  for (const std::size_t piece : {1, 2, 3, 7, 1000})
    EXPECT_EQ(contents_of(stream, piece), (std::vector<std::string>{"one", "", "zwei µ"})) << piece;
}

TEST(Framing, LengthsCountBytes) {
  EXPECT_EQ(framed("µ"), "Content-Length: 2\r\n\r\nµ");
}

TEST(Framing, HeadersHaveMoreLinesAndAnyCase) {
  EXPECT_EQ(
      contents_of("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:  2 \r\n\r\n{}",
                  4),
      std::vector<std::string>{"{}"});
}

TEST(Framing, BrokenHeadersSayWhy) {
  EXPECT_EQ(why_broken("Content-Type: x\r\n\r\n"), "a header has no Content-Length");
  EXPECT_EQ(why_broken("Content-Length: two\r\n\r\n"),
            "Content-Length is not a number of bytes up to 67108864");
  EXPECT_EQ(why_broken("Content-Length: -1\r\n\r\n"),
            "Content-Length is not a number of bytes up to 67108864");
  EXPECT_EQ(why_broken("Content-Length: 99999999999999\r\n\r\n"),
            "Content-Length is not a number of bytes up to 67108864");
  EXPECT_EQ(why_broken("hello\r\n\r\n"), "a line of a header has no colon");
  EXPECT_EQ(why_broken(std::string(5000, 'x')), "a header is longer than 4096 bytes");
  EXPECT_EQ(why_broken("Content-Length: 5\r\n"), "");
}

TEST(JsonRpc, TellsMessagesApart) {
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":1,"method":"a"})").kind, Message::Kind::request);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":"x","method":"a"})").id, "x");
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","method":"a","params":[1]})").kind, Message::Kind::notification);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":1,"result":null})").kind, Message::Kind::response);
}

TEST(JsonRpc, AnswersWhatIsNoMessage) {
  const auto code = [](std::string_view content) {
    const Message message = read_message(content);
    EXPECT_EQ(message.kind, Message::Kind::broken) << content;
    return message.code;
  };
  EXPECT_EQ(code("{"), ErrorCode::parse_error);
  EXPECT_EQ(code("\"\xff\""), ErrorCode::parse_error);
  EXPECT_EQ(code(std::string(100'000, '[')), ErrorCode::parse_error);
  EXPECT_EQ(code("[]"), ErrorCode::invalid_request);
  EXPECT_EQ(code(R"({"id":1,"method":"a"})"), ErrorCode::invalid_request);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1.5,"method":"a"})"), ErrorCode::invalid_request);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":7})"), ErrorCode::invalid_request);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0"})"), ErrorCode::invalid_request);
  EXPECT_EQ(read_message(R"({"id":7,"method":"a"})").id, 7);
}

TEST(Document, CountsUtf16CodeUnits) {
  // µ is one unit of two bytes, 𝄞 two units of four bytes.
  const Document document("aµ𝄞b\nsecond");
  EXPECT_EQ(document.offset({0, 0}), 0U);
  EXPECT_EQ(document.offset({0, 1}), 1U);
  EXPECT_EQ(document.offset({0, 2}), 3U);
  EXPECT_EQ(document.offset({0, 4}), 7U);
  EXPECT_EQ(document.offset({1, 3}), 12U);
  EXPECT_EQ(document.position(7), (Position{0, 4}));
  EXPECT_EQ(document.position(12), (Position{1, 3}));
}

TEST(Document, PlacesOutsideAreTheNearest) {
  const Document document("ab\n𝄞\n");
  EXPECT_EQ(document.offset({0, 99}), 2U);
  EXPECT_EQ(document.offset({1, 1}), 3U);  // within the pair
  EXPECT_EQ(document.offset({9, 0}), document.text().size());
  EXPECT_EQ(document.lines(), 3U);
}

TEST(Document, LinesEndInThreeWays) {
  const Document document("one\r\ntwo\rthree\nfour");
  EXPECT_EQ(document.lines(), 4U);
  EXPECT_EQ(document.line(0), "one");
  EXPECT_EQ(document.line(1), "two");
  EXPECT_EQ(document.line(3), "four");
  EXPECT_EQ(document.line(4), "");
}

TEST(Document, ChangesAreOfRanges) {
  Document document("one\ntwo\nthree\n");
  const auto change = document.replace({{0, 1}, {2, 2}}, "X\nµ");
  ASSERT_TRUE(change);
  EXPECT_EQ(document.text(), "oX\nµree\n");
  EXPECT_EQ(change->first, 1);
  EXPECT_EQ(change->removed, 3);
  EXPECT_EQ(change->inserted, 2);
  EXPECT_FALSE(document.replace({{1, 0}, {0, 0}}, ""));
  EXPECT_EQ(document.text(), "oX\nµree\n");
}

TEST(Document, AWholeTextChangesTheLinesThatDiffer) {
  Document document("a\nb\nc\nd");
  const LineChange change = document.replace_all("a\nx\ny\nz\nd");
  EXPECT_EQ(change.first, 2);
  EXPECT_EQ(change.removed, 2);
  EXPECT_EQ(change.inserted, 3);
}

TEST(Document, RangesOfLinesAndWords) {
  const Document document("  int µ = value;\n");
  EXPECT_EQ(document.range_of_line(1), (Range{{0, 2}, {0, 16}}));
  EXPECT_EQ(document.range_of_line(77), (Range{{1, 0}, {1, 0}}));
  EXPECT_EQ(document.range_of_word(1, 12), (Range{{0, 10}, {0, 15}}));  // `value`, behind the two bytes of µ
  EXPECT_EQ(document.range_of_word(1, 0), document.range_of_line(1));
}

TEST(Answer, IsTheSameBehindJson) {
  const Answer answer{{{3, "a lens"}}, {{4, 2, Answer::Severity::warning, "coalesced", "µ"}}, {{5, "hover"}}};
  EXPECT_EQ(read_answer(to_json(answer)), answer);
  EXPECT_FALSE(read_answer(Json::parse(R"({"lenses": 1})")));
}

TEST(Answer, FollowsChangesOfLines) {
  Answer answer;
  for (const int line : {1, 5, 6, 9}) answer.lenses.push_back({line, ""});
  follow(answer, {5, 2, 1});  // line 6 is gone
  std::vector<int> lines;
  for (const auto& lens : answer.lenses) lines.push_back(lens.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 5, 8}));
}

}  // namespace
}  // namespace warptime::lsp
