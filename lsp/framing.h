// The base protocol of the Language Server Protocol: messages in a stream of bytes, each behind a header that says how long
// it is.
//
//   Content-Length: 52\r\n
//   \r\n
//   {"jsonrpc": "2.0", …
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warptime::lsp {

inline constexpr std::size_t kLongestMessage = std::size_t{64} << 20;

// Cuts a stream into the contents of messages, in whatever pieces its bytes come.
class FrameReader {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  // The content of the next message; nothing: more bytes are needed, or the stream is broken.
  std::optional<std::string> next();
  // Why nothing more can be read: a header without a length, or with one that is no number or above kLongestMessage. Where
  // the next message begins is not known then. Empty: all is well.
  const std::string& broken() const { return broken_; }

 private:
  std::optional<std::size_t> length_of(std::string_view header);

  std::string buffer_, broken_;
};

// The message for this content.
std::string framed(std::string_view content);

}  // namespace warptime::lsp
