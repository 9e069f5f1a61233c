// warptime lsp: a language server on standard input and output.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compile/limits.h"
#include "cli/commands/commands.h"
#include "cli/io/capture.h"
#include "cli/io/forked.h"
#include "cli/io/interrupt.h"
#include "cli/io/report.h"
#include "cli/lsp/analysis.h"
#include "cli/options/options.h"
#include "lsp/framing.h"
#include "lsp/server.h"

namespace warptime::cli {
namespace {

CommandSyntax lsp_syntax() {
  CommandSyntax syntax;
  syntax.name = "lsp";
  syntax.summary = "serve editors: what kernels and loops cost, while you type (Language Server Protocol)";
  syntax.usage = "[OPTION...]";
  syntax.description =
      "Speaks the Language Server Protocol on standard input and output, for an editor that starts it. Of "
      ".cu and .cuh "
      "files it shows the cost of each kernel and loop, the compiler's messages, and what would make a "
      "kernel faster. "
      "The GPU, parameters and launches stand in the source (`// warptime: --gpu h200 --threads N --param "
      "N=2^20`), in "
      ".warptime.yaml, or in the editor's settings; without any, a launch is assumed.";
  syntax.examples = "  warptime lsp\n";
  std::vector<Option> options = limit_options();
  options.push_back({"stdio", "", "use standard input and output, as it always does; editors pass it"});
  options.push_back({"h,help", "", "print this help"});
  syntax.groups = {{"General", std::move(options)}};
  syntax.least_positionals = syntax.most_positionals = 0;
  return syntax;
}

using Clock = std::chrono::steady_clock;

// In the child: what exceeds a limit there is an answer, too. Nothing is printed.
class AnalysisCapture : public Capture {
 public:
  explicit AnalysisCapture(std::function<void(const Diagnostic&)> end) : end_(std::move(end)) {}
  void write(std::string_view) override {}
  void say(const Diagnostic&) override {}
  void exceed(const Diagnostic& why) override { end_(why); }
  void progress(std::uint64_t, std::uint64_t) override {}

 private:
  std::function<void(const Diagnostic&)> end_;
};

// Answers of analyses that each run in a process of their own.
class ForkedAnalyses : public lsp::Analyses {
 public:
  explicit ForkedAnalyses(const compiling::CompilerLimits& limits) : limits_(limits) {}
  void serve(lsp::Server& server) { server_ = &server; }

  void start(std::uint64_t number, const lsp::Question& question) override {
    stop(question.uri);
    const AnalysisCache& cache = caches_[question.uri];
    auto child = Forked::start([&](const SendResult& send) { analyse(question, cache, send); },
                               limits_.memory_bytes + (std::uint64_t{1} << 30));
    if (!child) {
      refused_.emplace_back(number, child.diagnostics().front().message);
      return;
    }
    running_.emplace(question.uri, Running{number, std::move(*child), {}, Clock::now() + longest()});
  }

  void stop(const std::string& uri) override { running_.erase(uri); }

  std::vector<pollfd> descriptors() const {
    std::vector<pollfd> all;
    for (const auto& [uri, one] : running_) all.push_back({one.child.descriptor(), POLLIN, 0});
    return all;
  }
  std::optional<Clock::time_point> due() const {
    if (!refused_.empty()) return Clock::now();
    std::optional<Clock::time_point> first;
    for (const auto& [uri, one] : running_) first = first ? std::min(*first, one.end) : one.end;
    return first;
  }

  // Takes what the children have written.
  void take() {
    for (const auto& [number, why] : std::exchange(refused_, {})) server_->failed(number, why, Clock::now());
    std::vector<std::string> uris;
    for (const auto& [uri, one] : running_) uris.push_back(uri);
    for (const std::string& uri : uris) take(uri);
  }

 private:
  struct Running {
    std::uint64_t number = 0;
    Forked child;
    std::string text;  // that is not a whole line yet
    Clock::time_point end;
  };

  std::chrono::milliseconds longest() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * std::min(limits_.seconds, 1e6)) + 5000);
  }

  void analyse(const lsp::Question& question, const AnalysisCache& cache, const SendResult& send) const {
    const auto report = [&](const AnalysisStep& step) {
      if (!send(to_json(step).dump(-1, ' ', false, lsp::Json::error_handler_t::replace) + "\n")) end_now(0);
    };
    AnalysisCapture capture([&](const Diagnostic& why) {
      AnalysisStep step;
      step.answer = only_finding(why);
      step.final = true;
      report(step);
      end_now(0);
    });
    set_capture(&capture);
    analyse_document(question,
                     {fmt::format("--max-time={}", limits_.seconds),
                      fmt::format("--max-memory={}", limits_.memory_bytes >> 20)},
                     cache, report);
  }

  void take(const std::string& uri) {
    const auto found = running_.find(uri);
    if (found == running_.end()) return;
    Running& one = found->second;
    const std::uint64_t number = one.number;
    const bool open = one.child.read(one.text);
    bool finished = false;
    for (auto end = one.text.find('\n'); end != std::string::npos && !finished; end = one.text.find('\n')) {
      auto step = read_step(lsp::Json::parse(one.text.substr(0, end), nullptr, false));
      one.text.erase(0, end + 1);
      if (!step) continue;
      finished = step->final;
      const lsp::Answer answer = step->answer;
      keep(caches_[uri], std::move(*step));
      server_->answered(number, answer, finished, Clock::now());
      // The server may have begun another analysis of the document.
      const auto still = running_.find(uri);
      if (still == running_.end() || still->second.number != number) return;
    }
    if (finished) {
      running_.erase(uri);
    } else if (!open) {
      const std::string how = one.child.ended();
      running_.erase(uri);
      server_->failed(
          number,
          fmt::format("the analysis ended {}: what is shown may be older", how.empty() ? "early" : how),
          Clock::now());
    } else if (Clock::now() > one.end) {
      running_.erase(uri);
      server_->failed(
          number,
          fmt::format("the analysis takes longer than {:g} s: what is shown may be older", limits_.seconds),
          Clock::now());
    }
  }

  const compiling::CompilerLimits limits_;
  lsp::Server* server_ = nullptr;
  std::map<std::string, Running> running_;       // by URI
  std::map<std::string, AnalysisCache> caches_;  // by URI
  std::vector<std::pair<std::uint64_t, std::string>> refused_;
};

bool write_to_client(std::string_view rest) {
  while (!rest.empty()) {
    const auto count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

int milliseconds_until(std::optional<Clock::time_point> first, std::optional<Clock::time_point> second) {
  if (first && second) first = std::min(*first, *second);
  if (!first) first = second;
  if (!first) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

int run_lsp(const Arguments& arguments) {
  if (const auto wrong = limit_compilers_by(arguments); !wrong.empty())
    return fail(wrong_command_line, wrong);
  say_when_interrupted({});
  bool writable = true;
  ForkedAnalyses analyses(compiling::compiler_limits());
  lsp::Server server(
      WARPTIME_VERSION,
      [&](const std::string& content) { writable = writable && write_to_client(lsp::framed(content)); },
      analyses);
  analyses.serve(server);
  lsp::FrameReader reader;
  while (writable && !server.exited()) {
    std::vector<pollfd> waiting = analyses.descriptors();
    waiting.push_back({STDIN_FILENO, POLLIN, 0});
    ::poll(waiting.data(), waiting.size(), milliseconds_until(server.due(), analyses.due()));
    analyses.take();
    if ((waiting.back().revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      char buffer[1 << 16];
      const auto count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) break;  // the client is gone
      if (count > 0) reader.add({buffer, static_cast<std::size_t>(count)});
    }
    while (!server.exited()) {
      const auto content = reader.next();
      if (!content) break;
      server.receive(*content, Clock::now());
    }
    if (!reader.broken().empty())
      return fail(wrong_input, {error_at("standard input", 0, 0, reader.broken())});
    server.tick(Clock::now());
  }
  return server.exited() ? server.exit_status() : wrong_input;
}

}  // namespace

Command lsp_command() {
  return {lsp_syntax(), run_lsp};
}

}  // namespace warptime::cli
