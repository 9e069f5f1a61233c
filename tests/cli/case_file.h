// A test case of the command line: a text file that says what is typed and what must come of it. See
// README.md beside it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warptime::testing {

// What one of the two output streams must be.
struct StreamExpectation {
  std::optional<std::string> exactly;
  std::vector<std::string> has;    // substrings, in this order
  std::vector<std::string> lacks;  // substrings
  bool json = false;               // one JSON value
  bool csv = false;                // a heading, and rows of as many fields
  bool given() const { return exactly || !has.empty() || !lacks.empty() || json || csv; }
};

struct Step {
  int line = 0;
  std::string command;  // for the shell
  int exit_status = 0;
  StreamExpectation out, err;
};

struct Case {
  std::string name;        // the file's, without its extension
  std::string only_where;  // a shell command; the case is skipped where it fails
  std::vector<std::pair<std::string, std::string>> files;  // written before the first step
  std::vector<Step> steps;
  std::string mistake;  // of the case file itself; empty: none
};

Case read_case(const std::string& path);

struct StepOutcome {
  int exit_status = 0;
  std::string out, err;
};

// What is wrong, for a person; empty: nothing.
std::string compare(const Step& step, const StepOutcome& outcome);

}  // namespace warptime::testing
