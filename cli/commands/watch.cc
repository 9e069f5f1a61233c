#include "cli/commands/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "analyzer/compile/limits.h"
#include "cli/commands/models_report.h"
#include "cli/io/capture.h"
#include "cli/io/file_watcher.h"
#include "cli/io/forked.h"
#include "cli/io/interrupt.h"
#include "cli/io/output.h"
#include "cli/io/report.h"
#include "cli/views/table.h"
#include "load/input.h"
#include "models/changes.h"
#include "models/inputs.h"
#include "simulator/base/did_you_mean.h"

namespace warptime::cli {
namespace {

using WatchJson = nlohmann::json;
using WatchClock = std::chrono::steady_clock;

// Editors that write in pieces do so without a pause.
constexpr auto kQuiet = std::chrono::milliseconds(15);
constexpr auto kLongestWait = std::chrono::hours(1);
constexpr std::size_t kMostNumbers = 40;

// What a run in its own process gave.
struct Ran {
  int status = done;
  std::string output, said;
  std::vector<std::string> files;
  WatchedAnswer answer;
};

// Takes what the run would print.
class RunCapture : public Capture {
 public:
  RunCapture(Ran& ran, std::function<void()> end) : ran_(ran), end_(std::move(end)) {}
  void write(std::string_view text) override { ran_.output += text; }
  void say(const Diagnostic& diagnostic) override {
    Diagnostic named = diagnostic;
    if (named.file.empty()) named.file = "warptime";
    ran_.said += to_text(named);
  }
  void exceed(const Diagnostic& why) override {
    say(why);
    ran_.status = wrong_input;
    end_();
  }
  void progress(std::uint64_t, std::uint64_t) override {}

 private:
  Ran& ran_;
  std::function<void()> end_;
};

WatchJson json_of(const Ran& ran) {
  WatchJson json = {
      {"status", ran.status},         {"output", ran.output},           {"said", ran.said},
      {"files", ran.files},           {"programs", WatchJson::array()}, {"times", WatchJson::array()},
      {"numbers", WatchJson::array()}};
  for (const KernelProgram& program : ran.answer.programs) json["programs"].push_back(to_yaml(program));
  for (const models::Cost& time : ran.answer.times)
    json["times"].push_back({time.plan, time.gpu, time.parameters, time.after_us});
  for (const auto& number : ran.answer.numbers)
    json["numbers"].push_back({number.of, number.name, number.value});
  return json;
}

std::optional<Ran> read_ran(const std::string& text) try {
  const WatchJson json = WatchJson::parse(text);
  Ran ran;
  ran.status = json.at("status").get<int>();
  ran.output = json.at("output").get<std::string>();
  ran.said = json.at("said").get<std::string>();
  ran.files = json.at("files").get<std::vector<std::string>>();
  for (const WatchJson& one : json.at("programs"))
    if (auto programs = read_kernel_programs(one.get<std::string>(), "program"))
      for (KernelProgram& program : *programs) ran.answer.programs.push_back(std::move(program));
  for (const WatchJson& one : json.at("times"))
    ran.answer.times.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>(),
                                one.at(2).get<std::vector<std::pair<std::string, std::int64_t>>>(),
                                std::nullopt, one.at(3).get<double>()});
  for (const WatchJson& one : json.at("numbers"))
    ran.answer.numbers.push_back(
        {one.at(0).get<std::string>(), one.at(1).get<std::string>(), one.at(2).get<double>()});
  return ran;
} catch (const WatchJson::exception&) {
  return std::nullopt;
}

// What the user may change: not the headers of the system.
bool may_change(const std::string& file) {
  return !file.starts_with("/usr/") && !file.starts_with("/warptime/") && !file.starts_with("/proc/");
}

// In the process of the run: the files that it read, and, of what did not compile, those that it includes.
std::vector<std::string> files_of(const Ran& ran, const std::vector<std::string>& flags) {
  std::vector<std::string> files = names_of_files_read();
  files.insert(files.end(), ran.answer.headers.begin(), ran.answer.headers.end());
  if (ran.status != done)
    for (const std::string& file : names_of_files_read()) {
      const auto text = read_text(file);
      if (!text || kind_of(file, *text) != InputKind::cuda) continue;
      const auto folder = std::filesystem::path(file).parent_path();
      for (const models::ModelInput& input : models::inputs_of(file, *text, flags).inputs)
        files.push_back((folder / input.file).lexically_normal().string());
    }
  std::erase_if(files, [](const std::string& file) { return !may_change(file); });
  for (std::string& file : files) file = std::filesystem::path(file).lexically_normal().string();
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

// Of a kernel's program: source, symbol or name, target.
using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const KernelProgram& program) {
  const Provenance& from = program.provenance;
  return {from.source, from.symbol.empty() ? from.kernel : from.symbol, from.target};
}

std::string name_of(const KernelProgram& program) {
  return program.provenance.kernel.empty() ? "kernel" : program.provenance.kernel;
}

// The kernels that changed, as `models update` says it.
std::string program_lines(const std::vector<KernelProgram>& before, const std::vector<KernelProgram>& after) {
  std::map<Key, const KernelProgram*> was;
  for (const KernelProgram& one : before) was[key_of(one)] = &one;
  std::string text;
  std::vector<std::string> said;  // one kernel for several targets changes alike
  for (const KernelProgram& one : after) {
    ModelReport report{name_of(one), one.provenance.source, {}, "changed", {}, {}};
    const auto found = was.find(key_of(one));
    if (found == was.end()) {
      report.status = "new";
    } else {
      report.changes = models::program_changes(*found->second, one);
      for (auto& change : models::provenance_changes(found->second->provenance, one.provenance))
        report.changes.push_back(std::move(change));
      was.erase(found);
      if (report.changes.empty()) continue;
    }
    std::string lines = changes_text(report);
    if (std::find(said.begin(), said.end(), lines) != said.end()) continue;
    text += lines;
    said.push_back(std::move(lines));
  }
  for (const auto& [key, program] : was)
    text += fmt::format("{} ({}): removed\n", name_of(*program), program->provenance.source);
  return text;
}

std::string time_lines(const std::vector<models::Cost>& before, std::vector<models::Cost> after) {
  // One plan is itself under another name, too.
  const auto is_one_plan = [](const std::vector<models::Cost>& costs) {
    return std::all_of(costs.begin(), costs.end(),
                       [&](const models::Cost& one) { return one.plan == costs.front().plan; });
  };
  const bool by_plan = !is_one_plan(before) || !is_one_plan(after);
  const auto row_of = [&](const models::Cost& cost) {
    return std::tuple(by_plan ? cost.plan : std::string(), cost.gpu, cost.parameters);
  };
  std::map<decltype(row_of(after.front())), double> was;
  for (const models::Cost& one : before) was.emplace(row_of(one), one.after_us);
  for (models::Cost& cost : after)
    if (const auto found = was.find(row_of(cost)); found != was.end()) cost.before_us = found->second;
  return costs_text(after);
}

std::string number_lines(const std::vector<WatchedAnswer::Number>& before,
                         const std::vector<WatchedAnswer::Number>& after) {
  std::map<std::pair<std::string, std::string>, double> was;
  for (const auto& one : before) was[{one.of, one.name}] = one.value;
  std::string text;
  std::size_t changes = 0;
  for (const auto& one : after) {
    const auto found = was.find({one.of, one.name});
    if (found != was.end() && found->second == one.value) continue;
    if (++changes > kMostNumbers) continue;
    if (found == was.end())
      text += fmt::format("  {}: {} ({})\n", one.name, sensible(one.value), one.of);
    else
      text += fmt::format(
          "  {}: {} → {}{} ({})\n", one.name, sensible(found->second), sensible(one.value),
          found->second != 0 ? fmt::format(", {}", models::growth_text(one.value / found->second - 1)) : "",
          one.of);
  }
  if (changes > kMostNumbers) text += fmt::format("  and {} more\n", changes - kMostNumbers);
  return text;
}

std::string changes_of(const WatchedAnswer& before, const WatchedAnswer& after) {
  const std::string programs = program_lines(before.programs, after.programs);
  const bool same_times = before.times.size() == after.times.size() &&
                          std::equal(before.times.begin(), before.times.end(), after.times.begin(),
                                     [](const auto& a, const auto& b) { return a.after_us == b.after_us; });
  std::string text = programs;
  if (!programs.empty() || !same_times) text += time_lines(before.times, after.times);
  text += number_lines(before.numbers, after.numbers);
  return text.empty() ? "  the answer is the same\n" : text;
}

Diagnostics check_options(const Arguments& arguments) {
  const auto& inputs = arguments.positionals();
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end())
    return {error("--watch needs a file: standard input does not change", "give the file's name")};
  if (arguments.has("sarif"))
    return {error("--sarif cannot be used with --watch", "run the command without --watch for a log")};
  const std::string format = arguments.value_or("format", "text");
  if ((format == "json" || format == "csv") && arguments.value_or("output", "-") == "-")
    return {error(fmt::format("--watch prints what changes, which is no {}", format),
                  "give the result a file that is kept up to date: -o FILE")};
  return {};
}

class Watch {
 public:
  Watch(const Arguments& arguments, const RunWatched& run, const RunFailed& failed)
      : arguments_(arguments),
        run_(run),
        failed_(failed),
        to_file_(arguments.value_or("output", "-") != "-"),
        files_(arguments.positionals()) {}

  int begin() {
    watcher_.watch(files_);
    const auto first = run_once(true, {});
    if (!first) return wrong_input;
    say_text(first->said);
    if (first->status == wrong_command_line) return first->status;
    if (!first->output.empty()) write_result(std::nullopt, first->output);
    take(*first);
    if (files_.empty())
      return fail(wrong_command_line, {error(fmt::format("--watch: {} {} no file that could change",
                                                         enumerate(arguments_.positionals()),
                                                         arguments_.positionals().size() == 1 ? "is" : "are"),
                                             "give the file of a kernel or a plan")});
    say_note(fmt::format("watching {}: Ctrl-C ends", watched_text()));
    while (true) follow();
  }

 private:
  // Nothing: it did not end well, and it was said how. A run whose files change meanwhile begins again. early: takes what
  // WatchedRun::answered() sends.
  std::optional<Ran> run_once(bool whole, const std::function<void(const Ran&)>& early) {
    // As long as a compilation may take, and what comes after it.
    const auto longest = std::chrono::milliseconds(static_cast<std::int64_t>(
                             1000 * std::min(compiling::compiler_limits().seconds, 1e6))) +
                         std::chrono::minutes(10);
    while (true) {
      auto child = Forked::start([&](const SendResult& send) { run_in_child(whole, send); },
                                 compiling::compiler_limits().memory_bytes + (std::uint64_t{8} << 30));
      if (!child) {
        say(child.diagnostics());
        return std::nullopt;
      }
      std::string text;
      bool again = false;
      // Each message is a line: an early one, and that of the end.
      const auto read_early = [&] {
        const std::size_t line = text.find('\n');
        if (line == std::string::npos) return;
        const auto ran = read_ran(text.substr(0, line));
        text.erase(0, line + 1);
        if (ran && early) early(*ran);
      };
      child->read_all(text, longest, [&] {
        read_early();
        return again = began_ && watcher_.changed();
      });
      read_early();
      if (again) {
        watcher_.wait(std::chrono::milliseconds(0), kQuiet);
        continue;
      }
      if (auto ran = read_ran(text)) return ran;
      const std::string how = child->ended();
      say(error(fmt::format("the run ended {}", how.empty() ? "early" : how)));
      return std::nullopt;
    }
  }

  void run_in_child(bool whole, const SendResult& send) const {
    Ran ran;
    const auto finish = [&] {
      ran.files = files_of(ran, arguments_.compiler_flags());
      send(json_of(ran).dump(-1, ' ', false, WatchJson::error_handler_t::replace));
    };
    RunCapture capture(ran, [&] {
      finish();
      end_now(0);
    });
    set_capture(&capture);
    const auto answered = [&] {
      send(json_of(ran).dump(-1, ' ', false, WatchJson::error_handler_t::replace) + "\n");
    };
    ran.status = run_(arguments_, {whole, &ran.answer, answered});
    set_capture(nullptr);
    finish();
  }

  void take(const Ran& ran) {
    if (ran.status == done) {
      last_ = ran.answer;
      answered_ = time_of_day();
      files_ = ran.files;
    } else {
      // What it read before is what it may need again.
      for (const std::string& file : ran.files)
        if (std::find(files_.begin(), files_.end(), file) == files_.end()) files_.push_back(file);
    }
    for (const std::string& input : arguments_.positionals())
      if (std::find(files_.begin(), files_.end(), input) == files_.end() &&
          std::filesystem::path(input).has_extension())
        files_.push_back(input);
    watcher_.watch(files_);
    began_ = true;
  }

  std::string watched_text() const {
    constexpr std::size_t kMostNames = 4;
    if (files_.size() <= kMostNames) return enumerate(files_);
    return fmt::format("{} and {} other files", files_.front(), files_.size() - 1);
  }

  void follow() {
    const auto changed = watcher_.wait(kLongestWait, kQuiet);
    if (changed.empty()) return;
    const auto begin = WatchClock::now();
    std::size_t said = 0;  // of what the run says
    bool told = false;
    const auto tell = [&](const Ran& ran) {
      const auto taken =
          std::chrono::duration_cast<std::chrono::milliseconds>(WatchClock::now() - begin + kQuiet);
      say_text(ran.said.substr(said));
      said = ran.said.size();
      if (told) return;
      told = true;
      std::string text =
          fmt::format("\n{}: {} changed ({} ms)\n", time_of_day(), enumerate(changed), taken.count());
      text += last_ ? changes_of(*last_, ran.answer) : ran.output;
      write_result(std::nullopt, text);
      last_ = ran.answer;
      answered_ = time_of_day();
    };
    const auto ran = run_once(to_file_ || !last_, [&](const Ran& early) {
      // A run that began again is told as another change.
      told = false;
      said = 0;
      tell(early);
    });
    if (!ran) return;
    if (ran->status != done) {
      say_text(ran->said.substr(said));
      say_note(last_ ? fmt::format("{}: the answer of {} stands", time_of_day(), answered_)
                     : fmt::format("{}: no answer yet", time_of_day()));
      if (last_ && failed_) failed_(ran->said);
      return take(*ran);
    }
    tell(*ran);
    take(*ran);
  }

  const Arguments& arguments_;
  const RunWatched& run_;
  const RunFailed& failed_;
  const bool to_file_;
  FileWatcher watcher_;
  std::vector<std::string> files_;
  std::optional<WatchedAnswer> last_;
  std::string answered_;
  bool began_ = false;
};

}  // namespace

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

OptionGroup with_watch(OptionGroup general) {
  general.options.insert(
      general.options.end() - 1,
      {"watch", "",
       "run again whenever the source or a header of it changes, and print what changed; with -o, "
       "FILE is kept up to date. Ctrl-C ends it"});
  return general;
}

int watch(const Arguments& arguments, const RunWatched& run, const RunFailed& failed) {
  if (const auto wrong = check_options(arguments); !wrong.empty()) return fail(wrong_command_line, wrong);
  say_when_interrupted({});
  return Watch(arguments, run, failed).begin();
}

}  // namespace warptime::cli
