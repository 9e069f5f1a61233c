#include "simulator/base/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace warptime {
namespace {

constexpr std::size_t kLongestField = std::size_t{1} << 20;
constexpr std::size_t kMostFields = 4096;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  Result<std::vector<CsvRecord>> read() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      CsvRecord record;
      record.line = line_;
      if (!read_record(record)) return *wrong_;
      const bool empty = record.fields.size() == 1 && record.fields.front().empty();
      if (!empty) records.push_back(std::move(record));
    }
    return records;
  }

 private:
  bool read_record(CsvRecord& record) {
    while (true) {
      std::string field;
      if (!read_field(field)) return false;
      if (field.size() > kLongestField) return fail(record.line, "a field of more than 2^20 bytes");
      record.fields.push_back(std::move(field));
      if (record.fields.size() > kMostFields)
        return fail(record.line, fmt::format("more than {} fields", kMostFields));
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ < text_.size() && text_[at_] == '\r') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') {
        ++at_;
        ++line_;
      }
      return true;
    }
  }

  bool read_field(std::string& field) {
    const auto begin = text_.find_first_not_of(" \t", at_);
    if (begin != std::string_view::npos && text_[begin] == '"') {
      at_ = begin + 1;
      return read_quoted(field);
    }
    const auto end = end_of_field();
    field = without_blanks(text_.substr(at_, end - at_));
    at_ = end;
    return true;
  }

  std::size_t end_of_field() const {
    auto end = at_;
    while (end < text_.size() && text_[end] != ',' && text_[end] != '\r' && text_[end] != '\n') ++end;
    return end;
  }

  bool read_quoted(std::string& field) {
    const int first_line = line_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        if (at_ >= text_.size() || text_[at_] != '"') {
          // Whatever stands between the closing quote and the comma belongs to the field.
          const auto end = end_of_field();
          field += without_blanks(text_.substr(at_, end - at_));
          at_ = end;
          return true;
        }
        ++at_;
      }
      if (c == '\n') ++line_;
      field += c;
      if (field.size() > kLongestField) break;
    }
    return fail(first_line, "an unclosed quote");
  }

  bool fail(int line, std::string_view what) {
    wrong_ = error_at(file_, line, 0, fmt::format("this is not a CSV file: {}", what));
    return false;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::optional<Diagnostic> wrong_;
};

}  // namespace

Result<std::vector<CsvRecord>> read_csv(std::string_view text, const std::string& file) {
  return CsvReader(text, file).read();
}

std::string csv_quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

bool read_decimal(std::string_view text, double& number, bool separators) {
  std::string plain;
  if (separators && text.find(',') != std::string_view::npos) {
    const std::size_t point = std::min(text.find('.'), text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ',') {
        plain += text[i];
      } else if (i == 0 || i > point || (point - i) % 4 != 0) {
        return false;
      }
    }
    text = plain;
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return false;
  number = value;
  return true;
}

bool read_whole(std::string_view text, std::int64_t& number) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return false;
  number = value;
  return true;
}

}  // namespace warptime
