// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "mpa/query/query.h"

namespace mpa {

/// What `mcp` offers to language models: each tool is a command of this program with --agent, or a
/// statement of `query`. All of them read, and only below one directory.
class McpTools {
 public:
  using Json = nlohmann::ordered_json;

  explicit McpTools(std::filesystem::path root) : root_(std::move(root)) {}

  /// Name, description and arguments of each tool, as the protocol lists them.
  static Json List();

  struct Result {
    std::string text;
    bool is_error = false;
  };
  /// Throws Error (kUsage) for an unknown tool. Anything else that goes wrong is in the result.
  Result Call(const std::string& name, const Json& arguments);

 private:
  bool IsBelow(const std::filesystem::path& path) const;
  std::string PathIn(const Json& arguments, const char* key) const;
  QueryJob& JobOf(const std::string& captures, const std::string& base);

  std::filesystem::path root_;
  std::string loaded_;             // the captures of `job_`
  std::unique_ptr<QueryJob> job_;  // the last one; the next question about it reads no file again
};

}  // namespace mpa
