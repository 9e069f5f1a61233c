// What an analysis says about a document: values, which a process can hand to another one as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lsp/document.h"
#include "lsp/json_rpc.h"

namespace warptime::lsp {

// Lines count from 1.
struct Answer {
  // A line of text above a line of the document: a code lens.
  struct Lens {
    int line = 1;
    std::string title;
    friend bool operator==(const Lens&, const Lens&) = default;
  };
  enum class Severity { error = 1, warning = 2, information = 3 };  // as the protocol numbers them
  struct Finding {
    int line = 1;
    int column = 0;  // of a byte, from 1; 0: the whole line
    Severity severity = Severity::error;
    std::string code;  // "compiler", "coalesced", …
    std::string message;
    friend bool operator==(const Finding&, const Finding&) = default;
  };
  // What is shown of a line that the pointer rests on, in Markdown.
  struct Hover {
    int line = 1;
    std::string text;
    friend bool operator==(const Hover&, const Hover&) = default;
  };
  std::vector<Lens> lenses;
  std::vector<Finding> findings;
  std::vector<Hover> hovers;
  friend bool operator==(const Answer&, const Answer&) = default;
};

Json to_json(const Answer& answer);
// Nothing: it is none.
std::optional<Answer> read_answer(const Json& json);

// All of it `lines` further down.
Answer moved(Answer answer, int lines);
void append(Answer& to, Answer more);
// The answer for the text before a change, for the one behind it: what is about lines that the change removed goes, but for
// those of a change within lines, which stay.
void follow(Answer& answer, const LineChange& change);

}  // namespace warptime::lsp
