#include "simulator/program/program_documents.h"

#include <algorithm>
#include <optional>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

// Takes a line, with what ends it, off the front of `text`.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool begins_document(std::string_view line) {
  return line.starts_with("---") && is_blank(line.substr(3));
}

// A key of a block mapping or a comment: what a line of the top level can be told to be.
bool is_plain_line(std::string_view line) {
  if (is_blank(line) || line.front() == '#') return true;
  const std::size_t colon = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  return colon != std::string_view::npos && colon > 0 && line[colon] == ':';
}

std::optional<ProgramDocument> document_of(std::string_view text) {
  ProgramDocument document = {{}, {}, text};
  std::string names;  // the lines that say them
  bool of_name = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const bool indented = line.front() == ' ';
    if (indented && of_name && !is_blank(line)) return std::nullopt;
    if (indented) continue;
    if (!is_plain_line(line)) return std::nullopt;
    of_name = line.starts_with("kernel:") || line.starts_with("symbol:");
    if (of_name) names += line;
  }
  const auto read = yaml::parse(names, {});
  if (!read || read->size() > 1) return std::nullopt;
  if (read->empty()) return document;
  for (const yaml::Entry& entry : read->front().entries) {
    std::string& name = entry.key.text == "kernel" ? document.kernel : document.symbol;
    if (entry.value.kind != yaml::Node::Kind::scalar || !name.empty()) return std::nullopt;
    name = entry.value.text;
  }
  return document;
}

}  // namespace

std::vector<ProgramDocument> program_documents(std::string_view text) {
  std::vector<ProgramDocument> documents;
  const auto add = [&](std::string_view one) {
    if (is_blank(one)) return true;
    auto document = document_of(one);
    if (document) documents.push_back(std::move(*document));
    return document.has_value();
  };
  const char* begin = text.data();
  while (!text.empty()) {
    const char* line_begin = text.data();
    const std::string_view line = take_line(text);
    if (!begins_document(line)) continue;
    if (!add({begin, line_begin})) return {};
    begin = text.data();
  }
  if (!add({begin, text.data()})) return {};
  return documents;
}

}  // namespace warptime
