// The server's side of the protocol: its life, documents, requests that wait, and mistakes of the client.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lsp/server.h"

namespace warptime::lsp {
namespace {

using std::chrono::milliseconds;

class NoAnalyses : public Analyses {
 public:
  void start(std::uint64_t number, const Question& question) override {
    last = number;
    questions.push_back(question);
  }
  void stop(const std::string& uri) override { stopped.push_back(uri); }
  std::uint64_t last = 0;
  std::vector<Question> questions;
  std::vector<std::string> stopped;
};

class ServerTest : public testing::Test {
 protected:
  // Sends a message, and returns what came back.
  std::vector<Json> send(const Json& message) { return send_text(message.dump()); }
  std::vector<Json> send_text(const std::string& content) {
    sent.clear();
    server.receive(content, now);
    server.tick(now);
    return sent;
  }
  std::vector<Json> ask(int id, const std::string& method, const Json& params = Json::object()) {
    return send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
  }
  std::vector<Json> tell(const std::string& method, const Json& params = Json::object()) {
    return send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  void initialize(const Json& options = nullptr) {
    Json params = {{"capabilities", {{"workspace", {{"codeLens", {{"refreshSupport", true}}}}}}}};
    if (!options.is_null()) params["initializationOptions"] = options;
    ask(0, "initialize", params);
    tell("initialized");
  }
  void open(const std::string& text, const std::string& uri = "file:///k.cu") {
    tell("textDocument/didOpen",
         {{"textDocument", {{"uri", uri}, {"languageId", "cuda"}, {"version", 1}, {"text", text}}}});
  }
  std::vector<Json> change(const Json& changes, int version = 2) {
    return tell("textDocument/didChange", {{"textDocument", {{"uri", "file:///k.cu"}, {"version", version}}},
                                           {"contentChanges", changes}});
  }
  std::vector<Json> wait(milliseconds time) {
    sent.clear();
    now += time;
    server.tick(now);
    return sent;
  }
  std::vector<Json> answer(const Answer& of, bool final = true) {
    sent.clear();
    server.answered(analyses.last, of, final, now);
    return sent;
  }
  static int error_of(const std::vector<Json>& messages) {
    return messages.empty() || !messages.back().contains("error")
               ? 0
               : messages.back()["error"]["code"].get<int>();
  }

  NoAnalyses analyses;
  std::vector<Json> sent;
  Server::Clock::time_point now{};
  Server server{"1.0", [this](const std::string& content) { sent.push_back(Json::parse(content)); },
                analyses};
};

Json at(int line, int character = 0) {
  return {{"line", line}, {"character", character}};
}

Json lens_request() {
  return {{"textDocument", {{"uri", "file:///k.cu"}}}};
}

TEST_F(ServerTest, LivesFromInitializeToExit) {
  EXPECT_EQ(error_of(ask(1, "textDocument/codeLens", lens_request())), -32002);
  EXPECT_EQ(error_of(ask(2, "shutdown")), -32002);
  const auto initialized = ask(3, "initialize", {{"capabilities", Json::object()}});
  ASSERT_EQ(initialized.size(), 1U);
  const Json capabilities = initialized[0]["result"]["capabilities"];
  EXPECT_EQ(capabilities["textDocumentSync"]["change"], 2);
  EXPECT_EQ(capabilities["positionEncoding"], "utf-16");
  EXPECT_EQ(initialized[0]["result"]["serverInfo"]["version"], "1.0");
  EXPECT_EQ(error_of(ask(4, "initialize")), -32600);
  EXPECT_EQ(ask(5, "shutdown")[0]["result"], nullptr);
  EXPECT_EQ(error_of(ask(6, "textDocument/codeLens", lens_request())), -32600);
  EXPECT_FALSE(server.exited());
  tell("exit");
  EXPECT_TRUE(server.exited());
  EXPECT_EQ(server.exit_status(), 0);
}

TEST_F(ServerTest, ExitWithoutShutdownIsAFailure) {
  tell("exit");
  EXPECT_TRUE(server.exited());
  EXPECT_EQ(server.exit_status(), 1);
}

TEST_F(ServerTest, MistakesHaveTheProtocolsCodes) {
  initialize();
  EXPECT_EQ(error_of(ask(1, "textDocument/rename")), -32601);
  EXPECT_EQ(error_of(ask(2, "$/unknown")), -32601);
  EXPECT_EQ(error_of(ask(3, "textDocument/hover")), -32602);
  EXPECT_EQ(error_of(ask(4, "textDocument/hover", {{"textDocument", 7}})), -32602);
  EXPECT_EQ(error_of(send_text("{")), -32700);
  EXPECT_EQ(error_of(send_text("[]")), -32600);
  EXPECT_TRUE(tell("$/unknown").empty());
  EXPECT_TRUE(tell("unknown").empty());
  // A wrong notification is in the log, and has no answer.
  const auto logged =
      tell("textDocument/didOpen", {{"textDocument", {{"uri", "file:///k.cu"}, {"languageId", 7}}}});
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0]["method"], "window/logMessage");
}

TEST_F(ServerTest, AnalysesWhatIsOpenAsTheEditorHasIt) {
  initialize({{"warptime", {{"gpu", "a100"}}}});
  open("one\n", "file:///dir%20x/k.cu");
  ASSERT_EQ(analyses.questions.size(), 1U);
  EXPECT_EQ(analyses.questions[0].text, "one\n");
  EXPECT_EQ(analyses.questions[0].path, "/dir x/k.cu");
  EXPECT_EQ(analyses.questions[0].settings["warptime"]["gpu"], "a100");
  open("not CUDA", "file:///k.txt");
  EXPECT_EQ(analyses.questions.size(), 2U);  // its language says that it is
}

TEST_F(ServerTest, ChangesThatFollowEachOtherAreAnalysedTogether) {
  initialize();
  open("one\ntwo\n");
  change(Json::array({{{"range", {{"start", at(1, 0)}, {"end", at(1, 3)}}}, {"text", "2"}},
                      {{"range", {{"start", at(1, 1)}, {"end", at(1, 1)}}}, {"text", "\n3"}}}));
  change(Json::array({{{"range", {{"start", at(0, 0)}, {"end", at(0, 0)}}}, {"text", "µ"}}}), 3);
  EXPECT_EQ(analyses.questions.size(), 1U);
  wait(milliseconds(40));
  ASSERT_EQ(analyses.questions.size(), 2U);
  EXPECT_EQ(analyses.questions[1].text, "µone\n2\n3\n");
  change(Json::array({{{"text", "whole"}}}), 4);
  wait(milliseconds(40));
  EXPECT_EQ(analyses.questions[2].text, "whole");
}

TEST_F(ServerTest, PublishesFindingsWithTheVersion) {
  initialize();
  open("int µ = value;\nline two\n");
  const auto published = answer({{}, {{1, 11, Answer::Severity::warning, "coalesced", "slow"}}, {}});
  ASSERT_EQ(published.size(), 1U);
  EXPECT_EQ(published[0]["method"], "textDocument/publishDiagnostics");
  const Json params = published[0]["params"];
  EXPECT_EQ(params["version"], 1);
  EXPECT_EQ(params["diagnostics"][0]["severity"], 2);
  EXPECT_EQ(params["diagnostics"][0]["source"], "warptime");
  EXPECT_EQ(params["diagnostics"][0]["range"]["start"], at(0, 9));
  EXPECT_EQ(params["diagnostics"][0]["range"]["end"], at(0, 13));
}

TEST_F(ServerTest, RequestsWaitForTheAnalysis) {
  initialize();
  open("kernel\nloop\n");
  EXPECT_TRUE(ask(7, "textDocument/codeLens", lens_request()).empty());
  EXPECT_TRUE(wait(milliseconds(100)).empty());
  const auto answered = answer({{{2, "7 instructions"}}, {}, {}});
  ASSERT_EQ(answered.size(), 2U);
  EXPECT_EQ(answered[1]["id"], 7);
  EXPECT_EQ(answered[1]["result"][0]["command"]["title"], "7 instructions");
  EXPECT_EQ(answered[1]["result"][0]["range"]["start"], at(1, 0));
}

TEST_F(ServerTest, RequestsDoNotWaitLong) {
  initialize();
  open("kernel\nloop\n");
  answer({{{2, "old"}}, {}, {}});
  change(Json::array({{{"range", {{"start", at(0, 0)}, {"end", at(0, 0)}}}, {"text", "\n\n"}}}));
  EXPECT_TRUE(ask(8, "textDocument/codeLens", lens_request()).empty());
  const auto late = wait(milliseconds(150));
  ASSERT_EQ(late.size(), 1U);
  // What was known before, where its line is now.
  EXPECT_EQ(late[0]["result"][0]["command"]["title"], "old");
  EXPECT_EQ(late[0]["result"][0]["range"]["start"]["line"], 3);
  // When more is known, the editor is told to ask again.
  const auto refreshed = answer({{{4, "new"}}, {}, {}});
  ASSERT_EQ(refreshed.size(), 2U);
  EXPECT_EQ(refreshed[1]["method"], "workspace/codeLens/refresh");
}

TEST_F(ServerTest, HoversAreOfALine) {
  initialize();
  open("one\ntwo\n");
  answer({{}, {}, {{2, "a"}, {2, "b"}}});
  const auto hover =
      ask(9, "textDocument/hover", {{"textDocument", {{"uri", "file:///k.cu"}}}, {"position", at(1, 2)}});
  EXPECT_EQ(hover[0]["result"]["contents"]["value"], "a\n\n---\n\nb");
  const auto none =
      ask(10, "textDocument/hover", {{"textDocument", {{"uri", "file:///k.cu"}}}, {"position", at(0, 0)}});
  EXPECT_EQ(none[0]["result"], nullptr);
}

TEST_F(ServerTest, WaitingRequestsCanBeCancelled) {
  initialize();
  open("one\n");
  ask(11, "textDocument/codeLens", lens_request());
  EXPECT_EQ(error_of(tell("$/cancelRequest", {{"id", 11}})), -32800);
  EXPECT_EQ(answer({}).size(), 1U);                            // it has its answer
  EXPECT_TRUE(tell("$/cancelRequest", {{"id", 11}}).empty());  // and is not known any more
}

TEST_F(ServerTest, AnswersToOlderTextsAreIgnored) {
  initialize();
  open("one\n");
  change(Json::array({{{"text", "two\n"}}}));
  EXPECT_TRUE(answer({{{1, "old"}}, {}, {}}).empty());
  wait(milliseconds(40));
  EXPECT_FALSE(answer({{{1, "new"}}, {}, {}}).empty());
}

TEST_F(ServerTest, WhatFailsLeavesTheLastAnswer) {
  initialize();
  open("one\n");
  answer({{{1, "good"}}, {}, {}});
  change(Json::array({{{"text", "one!\n"}}}));
  wait(milliseconds(40));
  sent.clear();
  server.failed(analyses.last, "it crashed", now);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent[0]["params"]["diagnostics"][0]["message"], "it crashed");
  const auto lenses = ask(12, "textDocument/codeLens", lens_request());
  EXPECT_EQ(lenses[0]["result"][0]["command"]["title"], "good");
}

TEST_F(ServerTest, ClosingTakesFindingsAway) {
  initialize();
  open("one\n");
  answer({{}, {{1, 0, Answer::Severity::error, "compiler", "x"}}, {}});
  const auto closed = tell("textDocument/didClose", lens_request());
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_TRUE(closed[0]["params"]["diagnostics"].empty());
  EXPECT_EQ(analyses.stopped.back(), "file:///k.cu");
  EXPECT_EQ(ask(13, "textDocument/codeLens", lens_request())[0]["result"], nullptr);
}

TEST_F(ServerTest, NewSettingsAreANewAnalysis) {
  initialize();
  open("one\n");
  answer({});
  tell("workspace/didChangeConfiguration", {{"settings", {{"warptime", {{"options", "--gpu v100"}}}}}});
  ASSERT_EQ(analyses.questions.size(), 2U);
  EXPECT_EQ(analyses.questions[1].settings["warptime"]["options"], "--gpu v100");
}

TEST_F(ServerTest, UrisOfOtherKindsHaveNoPath) {
  EXPECT_EQ(path_of("untitled:Untitled-1"), "");
  EXPECT_EQ(path_of("file:///a/%C3%A4%2B.cu"), "/a/ä+.cu");
  EXPECT_EQ(path_of("file:///a%00b"), "");
  EXPECT_EQ(path_of("file:///100%"), "/100%");
}

}  // namespace
}  // namespace warptime::lsp
