#include "lsp/server.h"

#include <algorithm>
#include <utility>

namespace warptime::lsp {
namespace {

// What a message lacks makes it wrong for its method.
struct WrongParams {
  std::string why;
};

const Json& member(const Json& of, const char* name) {
  const auto found = of.is_object() ? of.find(name) : of.end();
  if (!of.is_object() || found == of.end()) throw WrongParams{std::string("`") + name + "` is missing"};
  return *found;
}

std::string text_member(const Json& of, const char* name) {
  const Json& value = member(of, name);
  if (!value.is_string()) throw WrongParams{std::string("`") + name + "` is not a string"};
  return value.get<std::string>();
}

std::size_t number_member(const Json& of, const char* name) {
  const Json& value = member(of, name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 0x7FFFFFFF)
    throw WrongParams{std::string("`") + name + "` is not a number from 0 to 2^31 - 1"};
  return value.get<std::size_t>();
}

Position position_member(const Json& of, const char* name) {
  const Json& position = member(of, name);
  return {number_member(position, "line"), number_member(position, "character")};
}

Range range_member(const Json& of, const char* name) {
  const Json& range = member(of, name);
  return {position_member(range, "start"), position_member(range, "end")};
}

std::string uri_of(const Json& params) {
  return text_member(member(params, "textDocument"), "uri");
}

Json json_of(const Position& position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json json_of(const Range& range) {
  return {{"start", json_of(range.start)}, {"end", json_of(range.end)}};
}

bool is_cuda(const Json& document, const std::string& uri) {
  const std::string language = document.value("languageId", "");
  return language == "cuda" || language == "cuda-cpp" || language == "cu" || uri.ends_with(".cu") ||
         uri.ends_with(".cuh");
}

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

Json capabilities() {
  return {{"positionEncoding", "utf-16"},
          {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
          {"codeLensProvider", {{"resolveProvider", false}}},
          {"hoverProvider", true}};
}

bool can_refresh_lenses(const Json& params) {
  const Json pointer =
      params.is_object()
          ? params.value("/capabilities/workspace/codeLens/refreshSupport"_json_pointer, Json(false))
          : Json(false);
  return pointer.is_boolean() && pointer.get<bool>();
}

}  // namespace

std::string path_of(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return {};
  uri.remove_prefix(scheme.size());
  uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // the host's name
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const int high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(uri[i + 2]) : -1;
    if (low >= 0) {
      path += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path.find('\0') == std::string::npos ? path : std::string();
}

Server::Server(std::string version, Send send, Analyses& analyses)
    : version_(std::move(version)), send_(std::move(send)), analyses_(analyses) {}

void Server::receive(std::string_view content, Clock::time_point now) {
  const Message message = read_message(content);
  switch (message.kind) {
    case Message::Kind::request:
      return handle_request(message, now);
    case Message::Kind::notification:
      return handle_notification(message, now);
    case Message::Kind::response:
      return;  // to our refreshes, which have no result
    case Message::Kind::broken:
      return send_(error_response(message.id, message.code, message.why));
  }
}

void Server::handle_request(const Message& message, Clock::time_point now) {
  const std::string& method = message.method;
  if (shut_down_)
    return send_(error_response(message.id, ErrorCode::invalid_request, "the server has shut down"));
  if (!initialized_ && method != "initialize")
    return send_(error_response(message.id, ErrorCode::server_not_initialized, "`initialize` comes first"));
  try {
    if (method == "initialize") {
      initialize(message);
    } else if (method == "shutdown") {
      shut_down_ = true;
      for (const auto& [uri, open] : open_) analyses_.stop(uri);
      for (const Waiting& one : std::exchange(waiting_, {}))
        send_(error_response(one.id, ErrorCode::request_cancelled, "the server shuts down"));
      send_(response(message.id, nullptr));
    } else if (method == "textDocument/codeLens") {
      ask(message, true, now);
    } else if (method == "textDocument/hover") {
      ask(message, false, now);
    } else {
      send_(error_response(message.id, ErrorCode::method_not_found, "unknown method " + method));
    }
  } catch (const WrongParams& wrong) {
    send_(error_response(message.id, ErrorCode::invalid_params, wrong.why));
  } catch (const Json::exception& wrong) {  // a value of another type
    send_(error_response(message.id, ErrorCode::invalid_params, wrong.what()));
  }
}

void Server::handle_notification(const Message& message, Clock::time_point now) {
  const std::string& method = message.method;
  if (method == "exit") {
    exited_ = true;
    return;
  }
  if (!initialized_ || shut_down_) return;
  try {
    if (method == "textDocument/didOpen") {
      open(message.params, now);
    } else if (method == "textDocument/didChange") {
      change(message.params, now);
    } else if (method == "textDocument/didSave") {
      // Headers may have changed with it.
      for (auto& [uri, document] : open_)
        if (document.analysed) document.start = now;
    } else if (method == "textDocument/didClose") {
      close(message.params);
    } else if (method == "workspace/didChangeConfiguration") {
      configure(member(message.params, "settings"), now);
    } else if (method == "$/cancelRequest") {
      cancel(message.params);
    }
  } catch (const WrongParams& wrong) {
    log(method + ": " + wrong.why);
  } catch (const Json::exception& wrong) {
    log(method + ": " + wrong.what());
  }
}

// Of a notification, which has no answer.
void Server::log(const std::string& text) {
  send_(notification("window/logMessage", {{"type", 1}, {"message", text}}));
}

void Server::initialize(const Message& message) {
  if (initialized_)
    return send_(error_response(message.id, ErrorCode::invalid_request, "`initialize` was sent before"));
  initialized_ = true;
  refreshes_lenses_ = can_refresh_lenses(message.params);
  if (message.params.is_object() && message.params.contains("initializationOptions"))
    settings_ = message.params["initializationOptions"];
  send_(response(message.id, {{"capabilities", capabilities()},
                              {"serverInfo", {{"name", "warptime"}, {"version", version_}}}}));
}

void Server::open(const Json& params, Clock::time_point now) {
  const Json& of = member(params, "textDocument");
  const std::string uri = text_member(of, "uri");
  Open opened{Document(text_member(of, "text")), of.value("version", Json()), is_cuda(of, uri), 0, {}, {}};
  if (opened.analysed) opened.start = now;
  analyses_.stop(uri);
  open_.insert_or_assign(uri, std::move(opened));
}

void Server::change(const Json& params, Clock::time_point now) {
  const Json& of = member(params, "textDocument");
  const auto found = open_.find(text_member(of, "uri"));
  if (found == open_.end()) throw WrongParams{"the document is not open"};
  Open& open = found->second;
  const Json& changes = member(params, "contentChanges");
  if (!changes.is_array()) throw WrongParams{"`contentChanges` is not a list"};
  for (const Json& one : changes) {
    const std::string text = text_member(one, "text");
    if (!one.contains("range")) {
      follow(open.answer, open.document.replace_all(text));
      continue;
    }
    const auto change = open.document.replace(range_member(one, "range"), text);
    if (!change) throw WrongParams{"a range ends before it starts"};
    follow(open.answer, *change);
  }
  open.version = of.value("version", Json());
  if (open.analysed) open.start = now + kPause;
}

void Server::close(const Json& params) {
  const std::string uri = uri_of(params);
  const auto found = open_.find(uri);
  if (found == open_.end()) return;
  analyses_.stop(uri);
  found->second.answer = {};
  found->second.version = nullptr;
  found->second.number = 0;
  found->second.start.reset();
  publish(uri, found->second);
  reply_to_waiting(uri);
  open_.erase(found);
}

void Server::cancel(const Json& params) {
  const Json& id = member(params, "id");
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.id == id; });
  if (found == waiting_.end()) return;  // it was answered
  waiting_.erase(found);
  send_(error_response(id, ErrorCode::request_cancelled, "cancelled"));
}

void Server::configure(const Json& settings, Clock::time_point now) {
  settings_ = settings;
  for (auto& [uri, open] : open_)
    if (open.analysed) open.start = now;
}

void Server::ask(const Message& message, bool lenses, Clock::time_point now) {
  Waiting asked{message.id, uri_of(message.params), lenses, 0, now + kPatience};
  if (!lenses) asked.line = static_cast<int>(position_member(message.params, "position").line) + 1;
  const auto found = open_.find(asked.uri);
  if (found != open_.end() && found->second.pending())
    waiting_.push_back(std::move(asked));
  else
    reply(asked);
}

void Server::reply(const Waiting& waiting) {
  const auto found = open_.find(waiting.uri);
  if (found == open_.end()) return send_(response(waiting.id, nullptr));
  const Open& open = found->second;
  if (waiting.lenses) {
    Json lenses = Json::array();
    for (const auto& one : open.answer.lenses)
      lenses.push_back({{"range", json_of(open.document.range_of_line(one.line))},
                        {"command", {{"title", one.title}, {"command", ""}}}});
    return send_(response(waiting.id, lenses));
  }
  std::string text;
  for (const auto& one : open.answer.hovers)
    if (one.line == waiting.line) text += (text.empty() ? "" : "\n\n---\n\n") + one.text;
  if (text.empty()) return send_(response(waiting.id, nullptr));
  send_(response(waiting.id, {{"contents", {{"kind", "markdown"}, {"value", text}}},
                              {"range", json_of(open.document.range_of_line(waiting.line))}}));
}

void Server::reply_to_waiting(const std::string& uri) {
  std::vector<Waiting> rest;
  for (Waiting& one : std::exchange(waiting_, {})) {
    if (one.uri == uri)
      reply(one);
    else
      rest.push_back(std::move(one));
  }
  waiting_ = std::move(rest);
}

void Server::publish(const std::string& uri, const Open& open) {
  Json diagnostics = Json::array();
  for (const auto& one : open.answer.findings)
    diagnostics.push_back({{"range", json_of(open.document.range_of_word(one.line, one.column))},
                           {"severity", static_cast<int>(one.severity)},
                           {"code", one.code},
                           {"source", "warptime"},
                           {"message", one.message}});
  Json params = {{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
  if (open.version.is_number_integer()) params["version"] = open.version;
  send_(notification("textDocument/publishDiagnostics", params));
}

void Server::refresh_lenses() {
  replied_early_ = false;
  if (refreshes_lenses_)
    send_(request("warptime-" + std::to_string(++last_request_), "workspace/codeLens/refresh", nullptr));
}

void Server::answered(std::uint64_t number, const Answer& answer, bool final, Clock::time_point now) {
  for (auto& [uri, open] : open_) {
    if (open.number != number || open.start) continue;
    const bool other_lenses = open.answer.lenses != answer.lenses;
    open.answer = answer;
    publish(uri, open);
    if (final) open.number = 0;
    // An editor that has shown what came first does not ask again by itself.
    const bool asked = std::any_of(waiting_.begin(), waiting_.end(),
                                   [&uri = uri](const Waiting& one) { return one.uri == uri; });
    reply_to_waiting(uri);
    if (other_lenses && (!asked || replied_early_)) refresh_lenses();
    break;
  }
  tick(now);
}

void Server::failed(std::uint64_t number, const std::string& why, Clock::time_point now) {
  for (auto& [uri, open] : open_) {
    if (open.number != number) continue;
    open.number = 0;
    if (open.start) break;
    std::erase_if(open.answer.findings, [](const auto& one) { return one.code == "analysis"; });
    open.answer.findings.push_back({1, 0, Answer::Severity::error, "analysis", why});
    publish(uri, open);
    reply_to_waiting(uri);
    break;
  }
  tick(now);
}

void Server::tick(Clock::time_point now) {
  for (auto& [uri, open] : open_) {
    if (!open.start || *open.start > now) continue;
    open.start.reset();
    open.number = ++last_number_;
    analyses_.start(open.number, {uri, path_of(uri), open.document.text(), settings_});
  }
  for (std::size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].until > now) {
      ++i;
      continue;
    }
    const Waiting late = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    replied_early_ = replied_early_ || late.lenses;
    reply(late);
  }
}

std::optional<Server::Clock::time_point> Server::due() const {
  std::optional<Clock::time_point> first;
  const auto take = [&](Clock::time_point time) { first = first ? std::min(*first, time) : time; };
  for (const auto& [uri, open] : open_)
    if (open.start) take(*open.start);
  for (const Waiting& one : waiting_) take(one.until);
  return first;
}

}  // namespace warptime::lsp
