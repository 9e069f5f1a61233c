#include "lsp/answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warptime::lsp {
namespace {

// The line where one of before is now; 0: nowhere.
int followed(int line, const LineChange& change) {
  if (line < change.first) return line;
  if (line >= change.first + change.removed) return line + change.inserted - change.removed;
  return line < change.first + change.inserted ? line : 0;
}

template <class List>
void follow_all(List& list, const LineChange& change) {
  for (auto& one : list) one.line = followed(one.line, change);
  std::erase_if(list, [](const auto& one) { return one.line < 1; });
}

template <class List>
void move_all(List& list, int lines) {
  for (auto& one : list) one.line += lines;
}

template <class List>
void append_all(List& to, List more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

Json to_json(const Answer& answer) {
  Json lenses = Json::array(), findings = Json::array(), hovers = Json::array();
  for (const auto& one : answer.lenses) lenses.push_back({one.line, one.title});
  for (const auto& one : answer.findings)
    findings.push_back({one.line, one.column, static_cast<int>(one.severity), one.code, one.message});
  for (const auto& one : answer.hovers) hovers.push_back({one.line, one.text});
  return {{"lenses", std::move(lenses)}, {"findings", std::move(findings)}, {"hovers", std::move(hovers)}};
}

std::optional<Answer> read_answer(const Json& json) try {
  Answer answer;
  for (const Json& one : json.at("lenses"))
    answer.lenses.push_back({one.at(0).get<int>(), one.at(1).get<std::string>()});
  for (const Json& one : json.at("findings"))
    answer.findings.push_back({one.at(0).get<int>(), one.at(1).get<int>(),
                               static_cast<Answer::Severity>(one.at(2).get<int>()),
                               one.at(3).get<std::string>(), one.at(4).get<std::string>()});
  for (const Json& one : json.at("hovers"))
    answer.hovers.push_back({one.at(0).get<int>(), one.at(1).get<std::string>()});
  return answer;
} catch (const Json::exception&) {
  return std::nullopt;
}

Answer moved(Answer answer, int lines) {
  move_all(answer.lenses, lines);
  move_all(answer.findings, lines);
  move_all(answer.hovers, lines);
  return answer;
}

void append(Answer& to, Answer more) {
  append_all(to.lenses, std::move(more.lenses));
  append_all(to.findings, std::move(more.findings));
  append_all(to.hovers, std::move(more.hovers));
}

void follow(Answer& answer, const LineChange& change) {
  follow_all(answer.lenses, change);
  follow_all(answer.findings, change);
  follow_all(answer.hovers, change);
}

}  // namespace warptime::lsp
