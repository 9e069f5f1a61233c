#include "lsp/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace warptime::lsp {
namespace {

constexpr std::size_t kLongestHeader = 4096;
constexpr std::string_view kEndOfHeader = "\r\n\r\n";

bool is_name(std::string_view text, std::string_view name) {
  return std::equal(text.begin(), text.end(), name.begin(), name.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::optional<std::size_t> FrameReader::length_of(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const auto end = std::min(header.find("\r\n"), header.size());
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 2, header.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      broken_ = "a line of a header has no colon";
      return std::nullopt;
    }
    if (!is_name(trimmed(line.substr(0, colon)), "Content-Length")) continue;
    const std::string_view text = trimmed(line.substr(colon + 1));
    std::size_t value = 0;
    const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || stopped != text.data() + text.size() || value > kLongestMessage) {
      broken_ = "Content-Length is not a number of bytes up to " + std::to_string(kLongestMessage);
      return std::nullopt;
    }
    length = value;
  }
  if (!length) broken_ = "a header has no Content-Length";
  return length;
}

std::optional<std::string> FrameReader::next() {
  if (!broken_.empty()) return std::nullopt;
  const auto end = buffer_.find(kEndOfHeader);
  if (std::min(end, buffer_.size()) > kLongestHeader) {
    broken_ = "a header is longer than " + std::to_string(kLongestHeader) + " bytes";
    return std::nullopt;
  }
  if (end == std::string::npos) return std::nullopt;
  const auto length = length_of(std::string_view(buffer_).substr(0, end));
  if (!length) return std::nullopt;
  const std::size_t begin = end + kEndOfHeader.size();
  if (buffer_.size() - begin < *length) return std::nullopt;
  std::string content = buffer_.substr(begin, *length);
  buffer_.erase(0, begin + *length);
  return content;
}

std::string framed(std::string_view content) {
  std::string message = "Content-Length: " + std::to_string(content.size());
  message += kEndOfHeader;
  return message += content;
}

}  // namespace warptime::lsp
