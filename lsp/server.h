// A language server (LSP 3.17) without its effects: it takes the contents of messages and gives some back, and asks for
// analyses, which somebody else makes. Time comes from the caller, so that tests need no clock, process or file.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/answer.h"
#include "lsp/document.h"
#include "lsp/json_rpc.h"

namespace warptime::lsp {

// What is to be analysed.
struct Question {
  std::string uri;
  std::string path;  // of a file, as the user's system names it; empty: the document is in no file
  std::string text;
  Json settings;  // of the client: `initializationOptions`, then what `workspace/didChangeConfiguration` gave
};

class Analyses {
 public:
  virtual ~Analyses() = default;
  // Begins to analyse, in place of what is under way for this document. Answers go to Server::answered() with this number.
  virtual void start(std::uint64_t number, const Question& question) = 0;
  virtual void stop(const std::string& uri) = 0;
};

class Server {
 public:
  using Clock = std::chrono::steady_clock;
  using Send = std::function<void(const std::string& content)>;

  // version: of this program.
  Server(std::string version, Send send, Analyses& analyses);

  // A message of the client, whatever it is.
  void receive(std::string_view content, Clock::time_point now);

  // What an analysis has found so far, and, with `final`, at its end. Numbers of analyses that were replaced are ignored.
  void answered(std::uint64_t number, const Answer& answer, bool final, Clock::time_point now);
  // An analysis ended without an answer: what it said last stays, with this beside it.
  void failed(std::uint64_t number, const std::string& why, Clock::time_point now);

  // Does what has become due. To be called at the time that due() gave, or earlier.
  void tick(Clock::time_point now);
  std::optional<Clock::time_point> due() const;

  // The client said `exit`; status 0 if it said `shutdown` before, else 1.
  bool exited() const { return exited_; }
  int exit_status() const { return shut_down_ ? 0 : 1; }

 private:
  // Changes that follow each other within this time are analysed together.
  static constexpr std::chrono::milliseconds kPause{30};
  // A request about a document that is being analysed waits so long; then it gets what was known before.
  static constexpr std::chrono::milliseconds kPatience{150};

  struct Open {
    Document document;
    Json version;
    bool analysed = false;                   // it is CUDA
    std::uint64_t number = 0;                // of the analysis under way; 0: none
    std::optional<Clock::time_point> start;  // of one that is to begin
    Answer answer;                           // the last one, as far as it still holds
    bool pending() const { return number != 0 || start.has_value(); }
  };
  struct Waiting {
    Json id;
    std::string uri;
    bool lenses = false;  // else: a hover
    int line = 0;
    Clock::time_point until;
  };

  void handle_request(const Message& message, Clock::time_point now);
  void handle_notification(const Message& message, Clock::time_point now);
  void log(const std::string& text);
  void initialize(const Message& message);
  void open(const Json& params, Clock::time_point now);
  void change(const Json& params, Clock::time_point now);
  void close(const Json& params);
  void cancel(const Json& params);
  void configure(const Json& settings, Clock::time_point now);
  void ask(const Message& message, bool lenses, Clock::time_point now);
  void reply(const Waiting& waiting);
  void reply_to_waiting(const std::string& uri);
  void publish(const std::string& uri, const Open& open);
  void refresh_lenses();
  void ended(std::uint64_t number, Clock::time_point now);

  std::string version_;
  Send send_;
  Analyses& analyses_;
  Json settings_ = Json::object();
  std::map<std::string, Open> open_;
  std::vector<Waiting> waiting_;
  std::uint64_t last_number_ = 0, last_request_ = 0;
  bool initialized_ = false, shut_down_ = false, exited_ = false;
  bool refreshes_lenses_ = false;
  bool replied_early_ = false;  // with what was known before: lenses are to be asked for again
};

// The path of a file: URI, its %-escapes resolved; empty: another URI.
std::string path_of(std::string_view uri);

}  // namespace warptime::lsp
