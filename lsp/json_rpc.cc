#include "lsp/json_rpc.h"

namespace warptime::lsp {
namespace {

// Nesting beyond this is no message of the protocol; what handles JSON may recurse.
constexpr int kDeepest = 200;

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Whatever bytes its strings hold.
std::string text_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Message broken(ErrorCode code, std::string why, Json id = nullptr) {
  Message message;
  message.id = std::move(id);
  message.code = code;
  message.why = std::move(why);
  return message;
}

}  // namespace

Message read_message(std::string_view content) {
  if (is_too_deep(content)) return broken(ErrorCode::parse_error, "JSON is nested too deeply");
  Json json = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return broken(ErrorCode::parse_error, "not JSON");
  if (!json.is_object()) return broken(ErrorCode::invalid_request, "a message is an object");
  const auto id = json.find("id");
  const bool has_id = id != json.end();
  if (has_id && !id->is_string() && !id->is_number_integer() && !id->is_null())
    return broken(ErrorCode::invalid_request, "an id is a number or a string");
  const Json known_id = has_id ? *id : Json();
  if (const auto version = json.find("jsonrpc"); version == json.end() || *version != "2.0")
    return broken(ErrorCode::invalid_request, "`jsonrpc` is not \"2.0\"", known_id);
  Message message;
  message.id = known_id;
  const auto method = json.find("method");
  if (method == json.end()) {
    if (!has_id || (!json.contains("result") && !json.contains("error")))
      return broken(ErrorCode::invalid_request, "neither a request nor a response", known_id);
    message.kind = Message::Kind::response;
    return message;
  }
  if (!method->is_string()) return broken(ErrorCode::invalid_request, "`method` is not a string", known_id);
  message.kind = has_id ? Message::Kind::request : Message::Kind::notification;
  message.method = method->get<std::string>();
  if (const auto params = json.find("params"); params != json.end()) message.params = *params;
  return message;
}

std::string response(const Json& id, const Json& result) {
  return text_of({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string error_response(const Json& id, ErrorCode code, std::string_view message) {
  return text_of({{"jsonrpc", "2.0"},
                  {"id", id},
                  {"error", {{"code", static_cast<int>(code)}, {"message", std::string(message)}}}});
}

std::string notification(std::string_view method, const Json& params) {
  return text_of({{"jsonrpc", "2.0"}, {"method", std::string(method)}, {"params", params}});
}

std::string request(const Json& id, std::string_view method, const Json& params) {
  return text_of({{"jsonrpc", "2.0"}, {"id", id}, {"method", std::string(method)}, {"params", params}});
}

}  // namespace warptime::lsp
