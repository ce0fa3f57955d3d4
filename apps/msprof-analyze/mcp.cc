// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze mcp`: the Model Context Protocol on stdin and stdout, one JSON-RPC message on
// each line. Revision 2026-07-28, where every request says which version it speaks, and the
// revisions before it, which begin with `initialize`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "command.h"
#include "mcp_tools.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "printing.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;
using Json = McpTools::Json;

constexpr std::string_view kVersion = "2026-07-28";
// Without 2025-03-26, the only one in which several requests may share a line.
constexpr std::string_view kSessionVersions[] = {"2025-11-25", "2025-06-18", "2024-11-05"};
constexpr std::size_t kMostBytes = 1 << 20;  // of a message
constexpr int kDeepest = 100;                // a copy of it takes the stack

constexpr const char* kInstructions =
    "Profiles of models on Ascend NPUs. Call check first, then diagnose; why explains a finding by"
    " its key; query answers the rest in SQL. Times are ns. Never add durations of several streams"
    " or"
    " ranks, never call a wait for peers compute, never judge from one step.";

enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kUnknownMethod = -32601,
  kInvalidParams = -32602,
  kUnsupportedVersion = -32022,
};

struct Refusal {
  int code;
  std::string message;
  Json data{};
};

class Server {
 public:
  explicit Server(fs::path root) : tools_(std::move(root)) {}

  /// The answer to a line; empty: none is due.
  std::string Answer(const std::string& line) {
    Json id;
    try {
      bool is_deep = false;
      const auto keep = [&](int depth, Json::parse_event_t, const Json&) {
        is_deep = is_deep || depth > kDeepest;
        return depth <= kDeepest;
      };
      const Json message = Json::parse(line, keep, false);
      if (message.is_discarded()) throw Refusal{kParseError, "invalid JSON"};
      if (is_deep) throw Refusal{kInvalidRequest, "nested too deeply"};
      const bool has_id = message.is_object() && message.contains("id");
      if (has_id && (message["id"].is_string() || message["id"].is_number_integer()))
        id = message["id"];
      const bool is_request = message.is_object() && message.value("jsonrpc", Json()) == "2.0" &&
                              message.contains("method") && message["method"].is_string();
      if (!is_request) throw Refusal{kInvalidRequest, "not a JSON-RPC 2.0 request"};
      if (!has_id) return {};  // a notification
      if (id.is_null()) throw Refusal{kInvalidRequest, "id must be a string or an integer"};
      const Json params = message.value("params", Json::object());
      if (!params.is_object()) throw Refusal{kInvalidParams, "params must be an object"};
      return Reply(id, "result", Result(message["method"].get<std::string>(), params));
    } catch (const Refusal& refusal) {
      Json error = {{"code", refusal.code}, {"message", refusal.message}};
      if (!refusal.data.is_null()) error["data"] = refusal.data;
      return Reply(id, "error", error);
    }
  }

 private:
  static std::string Reply(const Json& id, const char* key, const Json& value) {
    return Json({{"jsonrpc", "2.0"}, {"id", id}, {key, value}})
               .dump(-1, ' ', false, Json::error_handler_t::replace) +
           '\n';
  }

  static Json ServerInfo() { return {{"name", "msprof-analyze"}, {"version", MPA_VERSION}}; }
  // What a client learns first, in every revision.
  static Json Introduction() {
    return {{"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", ServerInfo()},
            {"instructions", kInstructions}};
  }

  static Json SupportedVersions() {
    Json versions = {std::string(kVersion)};
    for (const std::string_view version : kSessionVersions) versions.push_back(version);
    return versions;
  }

  // Throws Refusal for a request without version, unless an `initialize` came before.
  bool SaysItsVersion(const Json& params) const {
    const Json meta = params.value("_meta", Json::object());
    const Json version =
        meta.is_object() ? meta.value("io.modelcontextprotocol/protocolVersion", Json()) : Json();
    if (version.is_null() && has_session_) return false;
    const bool has_both =
        version.is_string() && meta.contains("io.modelcontextprotocol/clientCapabilities");
    if (!has_both)
      throw Refusal{kInvalidParams,
                    "_meta must have io.modelcontextprotocol/protocolVersion and"
                    " .../clientCapabilities; earlier versions begin with initialize",
                    {{"supported", SupportedVersions()}}};
    if (version != kVersion)
      throw Refusal{kUnsupportedVersion,
                    "Unsupported protocol version",
                    {{"supported", SupportedVersions()}, {"requested", version}}};
    return true;
  }

  Json Result(const std::string& method, const Json& params) {
    if (method == "initialize") return Initialize(params);
    const bool is_modern = SaysItsVersion(params);
    Json result;
    if (method == "server/discover") {
      result = Introduction();
      result["supportedVersions"] = SupportedVersions();
    } else if (method == "tools/list") {
      result = {{"tools", McpTools::List()}};
    } else if (method == "tools/call") {
      result = Call(params);
    } else if (method == "ping" && !is_modern) {
      return Json::object();
    } else {
      throw Refusal{kUnknownMethod, "unknown method: " + method};
    }
    if (!is_modern) return result;
    result["resultType"] = "complete";
    if (method != "tools/call") {
      constexpr int kDay = 86'400'000;
      result["ttlMs"] = kDay;
      result["cacheScope"] = "public";
    }
    result["_meta"] = {{"io.modelcontextprotocol/serverInfo", ServerInfo()}};
    return result;
  }

  Json Initialize(const Json& params) {
    const Json asked = params.value("protocolVersion", Json());
    const bool known =
        asked.is_string() &&
        std::ranges::find(kSessionVersions, asked.get<std::string>()) != std::end(kSessionVersions);
    has_session_ = true;
    Json result = Introduction();
    result["protocolVersion"] = known ? asked : Json(std::string(kSessionVersions[0]));
    return result;
  }

  Json Call(const Json& params) {
    const Json name = params.value("name", Json());
    if (!name.is_string()) throw Refusal{kInvalidParams, "name must be that of a tool"};
    McpTools::Result called;
    try {
      called = tools_.Call(name.get<std::string>(), params.value("arguments", Json::object()));
    } catch (const Error& error) {
      throw Refusal{kInvalidParams, error.what()};
    }
    Json text = {{"type", "text"}, {"text", std::string(Trim(called.text))}};
    return {{"content", Json::array({std::move(text)})}, {"isError", called.is_error}};
  }

  McpTools tools_;
  bool has_session_ = false;
};

// A line, without what is beyond kMostBytes. False at the end of the input.
bool ReadLine(std::istream& stream, std::string& line, bool& too_long) {
  line.clear();
  too_long = false;
  for (int c = stream.get(); c != std::istream::traits_type::eof(); c = stream.get()) {
    if (c == '\n') return true;
    too_long = too_long || line.size() == kMostBytes;
    if (!too_long) line += static_cast<char>(c);
  }
  return !line.empty();
}

int RunMcp(const std::string& given) {
  std::error_code error;
  const fs::path root =
      fs::canonical(given.empty() ? fs::current_path() : fs::path(ExpandHome(given)), error);
  if (error || !fs::is_directory(root, error))
    Fail(ErrorKind::kInput, "--root {}: not a directory; check the path", given);
  Server server(root);
  std::string line;
  for (bool too_long = false; ReadLine(std::cin, line, too_long);) {
    if (Trim(line).empty()) continue;
    Print(server.Answer(too_long ? "" : line));
    FinishStdout();
  }
  return 0;
}

HelpPage McpPage() {
  HelpPage page;
  page.summary =
      "Serves language models: the Model Context Protocol on standard input and output. Six tools"
      " read captures below one directory; nothing is written.";
  page.usage = {"mcp [--root DIR]"};
  page.examples = {"mcp --root ./result"};
  page.documents = {"agents.md"};
  return page;
}

}  // namespace

Command AddMcp(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("mcp", "Serve language models over standard input and output");
  const auto root = std::make_shared<std::string>();
  const OptionAdder add(*app);
  add("--root", *root, "Directory with captures [default: the current one]", "DIR", kMaxUsed);
  return {app, [root] { return RunMcp(*root); }, McpPage};
}

}  // namespace mpa
