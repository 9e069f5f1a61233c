// JSON-RPC 2.0, as the Language Server Protocol uses it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warptime::lsp {

using Json = nlohmann::json;

// Of JSON-RPC, and of LSP 3.17.
enum class ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  server_not_initialized = -32002,
  request_cancelled = -32800,
};

struct Message {
  enum class Kind { request, notification, response, broken } kind = Kind::broken;
  Json id;             // of a request; null: a broken message whose id is not known
  std::string method;  // of a request or a notification
  Json params;         // null: none
  // Of a broken message: what to answer.
  ErrorCode code = ErrorCode::invalid_request;
  std::string why;
};

// Any text; what is no message is Kind::broken.
Message read_message(std::string_view content);

// The contents of messages.
std::string response(const Json& id, const Json& result);
std::string error_response(const Json& id, ErrorCode code, std::string_view message);
std::string notification(std::string_view method, const Json& params);
std::string request(const Json& id, std::string_view method, const Json& params);

}  // namespace warptime::lsp
