// Comma-separated values as RFC 4180 describes them, with the line that each record begins on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"

namespace warptime {

struct CsvRecord {
  int line = 0;                     // 1-based, of its first character
  std::vector<std::string> fields;  // without quotes, and without blanks around an unquoted field
};

// All records of `text`, in order, without empty lines. Fields may be quoted, with "" for a quote; quoted
// fields may contain line ends. Lines may end in \r\n. A byte order mark at the start is skipped. Errors: an
// unclosed quote, a field of more than 2^20 bytes, a record of more than 4096 fields.
Result<std::vector<CsvRecord>> read_csv(std::string_view text, const std::string& file);

// Quoted if RFC 4180 requires it.
std::string csv_quoted(std::string_view field);

// The whole of `text` as a finite number, or nothing. With `separators`, as profilers print them: commas
// between groups of three digits are allowed ("1,234.5").
bool read_decimal(std::string_view text, double& number, bool separators = false);
// The whole of `text` as a 64-bit whole number.
bool read_whole(std::string_view text, std::int64_t& number);

}  // namespace warptime
