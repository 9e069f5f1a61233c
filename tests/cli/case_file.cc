#include "case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace warptime::testing {
namespace {

// Reads a case line by line; indented lines belong to the word before them.
class CaseReader {
 public:
  CaseReader(Case& into, std::istream& text) : case_(into) {
    for (std::string line; std::getline(text, line);) lines_.push_back(std::move(line));
  }

  void read() {
    while (next_ < lines_.size() && case_.mistake.empty()) read_word(lines_[next_++]);
    if (case_.mistake.empty() && case_.steps.empty()) mistake("no command");
  }

 private:
  void mistake(const std::string& what) {
    if (case_.mistake.empty()) case_.mistake = "line " + std::to_string(next_) + ": " + what;
  }

  // The rest of `line` after `word`, where it begins with that.
  static std::optional<std::string> after(const std::string& line, const std::string& word) {
    if (line.compare(0, word.size(), word) != 0) return std::nullopt;
    return line.substr(word.size());
  }

  std::vector<std::string> block() {
    std::vector<std::string> block;
    while (next_ < lines_.size() && (after(lines_[next_], "  ") || lines_[next_].empty()))
      block.push_back(lines_[next_].empty() ? "" : lines_[next_].substr(2)), ++next_;
    while (!block.empty() && block.back().empty()) block.pop_back();
    return block;
  }

  std::string block_text() {
    std::string text;
    for (const auto& line : block()) text += line + "\n";
    return text;
  }

  void read_word(const std::string& line) {
    if (line.empty() || line[0] == '#') return;
    if (const auto where = after(line, "only where: ")) {
      case_.only_where = *where;
    } else if (const auto file = after(line, "file ")) {
      case_.files.emplace_back(*file, block_text());
    } else if (const auto command = after(line, "$ ")) {
      case_.steps.push_back({static_cast<int>(next_), *command, 0, {}, {}});
      for (const auto& more : block()) case_.steps.back().command += "\n" + more;
    } else if (case_.steps.empty()) {
      mistake("`" + line + "` before any command");
    } else if (const auto status = after(line, "exit: ")) {
      case_.steps.back().exit_status = std::stoi(*status);
    } else if (const auto out = after(line, "stdout")) {
      read_expectation(*out, case_.steps.back().out);
    } else if (const auto err = after(line, "stderr")) {
      read_expectation(*err, case_.steps.back().err);
    } else {
      mistake("`" + line + "` is not understood");
    }
  }

  void read_expectation(const std::string& kind, StreamExpectation& into) {
    if (kind == ":")
      into.exactly = block_text();
    else if (kind == " is empty")
      into.exactly = "";
    else if (kind == " is JSON")
      into.json = true;
    else if (kind == " is CSV")
      into.csv = true;
    else if (kind == " has:")
      into.has = block();
    else if (kind == " lacks:")
      into.lacks = block();
    else
      mistake("`" + kind + "` is not understood");
  }

  Case& case_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
};

std::size_t count_fields(const std::string& line) {
  bool quoted = false;
  std::size_t count = 1;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++count;
  }
  return count;
}

bool is_csv(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line)) return false;
  const auto fields = count_fields(line);
  std::size_t rows = 0;
  for (; std::getline(lines, line); ++rows)
    if (count_fields(line) != fields) return false;
  return rows > 0;
}

std::string compare_stream(const std::string& name, const StreamExpectation& expected,
                           const std::string& text) {
  std::string wrong;
  const auto complain = [&](const std::string& what) { wrong += name + " " + what + "\n"; };
  if (expected.exactly && text != *expected.exactly) complain("is not exactly:\n" + *expected.exactly);
  std::size_t from = 0;
  for (const auto& piece : expected.has) {
    const auto found = text.find(piece, from);
    if (found == std::string::npos)
      complain("has not, or not in this order: " + piece);
    else
      from = found + piece.size();
  }
  for (const auto& piece : expected.lacks)
    if (text.find(piece) != std::string::npos) complain("has: " + piece);
  if (expected.json && !nlohmann::json::accept(text)) complain("is not JSON");
  if (expected.csv && !is_csv(text)) complain("is not CSV with rows of as many fields as its heading");
  if (!wrong.empty()) wrong += name + " was:\n" + text;
  return wrong;
}

}  // namespace

Case read_case(const std::string& path) {
  Case result;
  result.name = std::filesystem::path(path).stem().string();
  std::ifstream text(path);
  CaseReader(result, text).read();
  return result;
}

std::string compare(const Step& step, const StepOutcome& outcome) {
  // What a case does not mention must not be there: messages where all is well, results where it is not.
  StreamExpectation out = step.out, err = step.err;
  if (!err.given() && step.exit_status == 0) err.exactly = "";
  if (!out.given() && step.exit_status != 0) out.exactly = "";
  std::string wrong;
  if (outcome.exit_status != step.exit_status)
    wrong += "exit status " + std::to_string(outcome.exit_status) + ", not " +
             std::to_string(step.exit_status) + "\nstderr was:\n" + outcome.err;
  return wrong + compare_stream("stdout", out, outcome.out) + compare_stream("stderr", err, outcome.err);
}

}  // namespace warptime::testing
