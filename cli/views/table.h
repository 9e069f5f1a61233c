// Building blocks of the views: aligned columns, CSV fields, and numbers for people and for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

// Rows under their titles, columns two spaces apart, as wide as their widest cell (in characters, not bytes).
// Written in portions, so that a long sweep takes constant memory: widths only grow. On a terminal that is too narrow
// (text_style()), columns that do not fit stand below, behind the first `keys` columns again.
class Table {
 public:
  explicit Table(std::vector<Column> columns, std::size_t keys = 1);
  void add(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }
  // The rows added since the last call; the first call also returns the titles.
  std::string take();

 private:
  // Of these columns.
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns) const;
  std::string titles(const std::vector<std::size_t>& columns) const;
  // The columns of each piece of the table, from left to right.
  std::vector<std::vector<std::size_t>> pieces() const;

  std::vector<Column> columns_;
  std::size_t keys_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool titled_ = false;
};

// `text` in lines of at most `width` characters (if its words allow it), all but the first indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// Quoted where RFC 4180 asks for it.
std::string csv_field(std::string_view text);
// With its newline.
std::string csv_line(const std::vector<std::string>& fields);

// The shortest text that parses to the same number: 112, 19.74838709677419.
std::string exact(double number);
void append_exact(double number, std::string& into);
// The same in JSON: whole numbers as such.
nlohmann::ordered_json exact_json(double number);
// JSON text of `value`, whatever bytes its strings hold.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// Four significant digits in a suitable unit: "19.75 µs", "1.204 ms".
std::string sensible_time(double microseconds);
// The same with three digits: "8.47 µs".
std::string short_time(double microseconds);
// "1234.5", without superfluous digits.
std::string sensible(double number);

// What follows a title: ", K = 8, N = 1024"; empty without parameters.
std::string with_values(const std::vector<std::pair<std::string, std::int64_t>>& parameters);

// Shares of `total` in percent with one decimal, rounded so that what is printed sums to exactly 100.0 (all
// "-" where total is 0).
std::vector<std::string> percentages(const std::vector<double>& parts, double total);

}  // namespace warptime::cli
