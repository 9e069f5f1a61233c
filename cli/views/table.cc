#include "cli/views/table.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "cli/views/style.h"
#include "simulator/base/visible.h"

namespace warptime::cli {
namespace {

// Characters of UTF-8 text: every byte but the continuation bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

constexpr std::size_t kBetween = 2;  // spaces

constexpr double largest_whole =
    9007199254740992.0;  // 2^53: up to here every whole number is itself as a double

}  // namespace

Table::Table(std::vector<Column> columns, std::size_t keys) : columns_(std::move(columns)), keys_(keys) {
  for (auto& column : columns_) {
    column.title = visible(column.title);
    widths_.push_back(width_of(column.title));
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (auto& cell : cells) cell = visible(cell);
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], width_of(cells[i]));
  rows_.push_back(std::move(cells));
}

std::vector<std::vector<std::size_t>> Table::pieces() const {
  std::vector<std::size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), 0);
  const auto width_with = [&](const std::vector<std::size_t>& columns) {
    std::size_t width = 0;
    for (const std::size_t column : columns) width += widths_[column] + kBetween;
    return width - std::min(width, kBetween);
  };
  const std::size_t room = text_style().width;
  if (room == 0 || width_with(all) <= room || columns_.size() <= keys_ + 1) return {all};
  const std::vector<std::size_t> keys(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keys_));
  std::vector<std::vector<std::size_t>> pieces{keys};
  for (std::size_t column = keys_; column < columns_.size(); ++column) {
    std::vector<std::size_t> with = pieces.back();
    with.push_back(column);
    // A column that does not fit beside the keys stands there all the same.
    if (width_with(with) <= room || pieces.back().size() == keys_)
      pieces.back() = std::move(with);
    else
      (pieces.emplace_back(keys)).push_back(column);
  }
  return pieces;
}

std::string Table::titles(const std::vector<std::size_t>& columns) const {
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  std::string text = line(titles, columns);
  if (!text_style().colour) return text;
  text.pop_back();
  return coloured(text, Colour::bold) + "\n";
}

std::string Table::take() {
  std::string text;
  const auto all = pieces();
  for (const auto& columns : all) {
    if (all.size() > 1 && rows_.empty() && titled_) continue;
    if (!text.empty()) text += "\n";
    if (!titled_ || all.size() > 1) text += titles(columns);
    for (const auto& row : rows_) text += line(row, columns);
  }
  titled_ = true;
  rows_.clear();
  return text;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& columns) const {
  std::string text;
  for (const std::size_t i : columns) {
    const std::string padding(widths_[i] - width_of(cells[i]), ' ');
    if (i != columns.front()) text.append(kBetween, ' ');
    text += columns_[i].align == Align::left ? cells[i] + padding : padding + cells[i];
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  constexpr std::size_t kNarrowest = 40;
  if (text_style().width > 0) width = std::min(width, std::max(text_style().width, kNarrowest));
  std::string result;
  std::size_t used = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    const bool at_start = used == indent;
    if (!at_start && used + 1 + width_of(word) > width) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!at_start) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width_of(word);
    if (end < text.size() && text[end] == '\n') {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string text;
  for (const auto& field : fields) text += csv_field(field) + ",";
  if (!text.empty()) text.pop_back();
  return text + "\n";
}

std::string exact(double number) {
  std::string text;
  append_exact(number, text);
  return text;
}

void append_exact(double number, std::string& into) {
  std::array<char, 32> text;  // "-2.2250738585072014e-308" is the longest
  char* end = nullptr;
  if (number == std::floor(number) && std::abs(number) < largest_whole) {
    end = fmt::format_to(text.data(), FMT_COMPILE("{}"), static_cast<std::int64_t>(number));
  } else {
    end = fmt::format_to(text.data(), FMT_COMPILE("{}"), number);
  }
  into.append(text.data(), end);
}

nlohmann::ordered_json exact_json(double number) {
  if (number == std::floor(number) && std::abs(number) < largest_whole)
    return static_cast<std::int64_t>(number);
  return number;
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string sensible_time(double microseconds) {
  struct Unit {
    double microseconds;
    const char* name;
  };
  for (const auto& unit : {Unit{1e6, "s"}, Unit{1e3, "ms"}, Unit{1, "µs"}}) {
    const double value = microseconds / unit.microseconds;
    // 999.95 would print as 1000.0 of the smaller unit.
    if (value < 0.99995 && unit.microseconds > 1) continue;
    if (value >= 1e9) return fmt::format("{:.4g} {}", value, unit.name);
    const int whole_digits = value < 1 ? 1 : 1 + static_cast<int>(std::log10(value * 1.00005));
    return fmt::format("{:.{}f} {}", value, std::max(0, 4 - whole_digits), unit.name);
  }
  return {};
}

std::string short_time(double microseconds) {
  const double unit = microseconds < 999.5 ? 1 : microseconds < 999.5e3 ? 1e3 : 1e6;
  const double value = microseconds / unit;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit == 1 ? "µs" : unit == 1e3 ? "ms" : "s");
}

std::string with_values(const std::vector<std::pair<std::string, std::int64_t>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format(", {} = {}", name, value);
  return text;
}

std::string sensible(double number) {
  if (std::abs(number) >= 1e15) return fmt::format("{:.4g}", number);
  std::string text = fmt::format("{:.3f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::vector<std::string> percentages(const std::vector<double>& parts, double total) {
  if (!(total > 0)) return std::vector<std::string>(parts.size(), "-");
  // Tenths of a percent, rounded down; the largest remainders take what is left of 1000.
  std::vector<int> tenths;
  std::vector<double> remainders;
  for (const double part : parts) {
    const double exact_tenths = std::max(0.0, part) / total * 1000;
    tenths.push_back(static_cast<int>(exact_tenths));
    remainders.push_back(exact_tenths - tenths.back());
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return remainders[a] > remainders[b]; });
  int left = 1000 - std::accumulate(tenths.begin(), tenths.end(), 0);
  for (const auto index : order)
    if (left-- > 0) ++tenths[index];

  std::vector<std::string> texts;
  for (const int value : tenths) texts.push_back(fmt::format("{}.{}%", value / 10, value % 10));
  return texts;
}

}  // namespace warptime::cli
