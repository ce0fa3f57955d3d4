// SPDX-License-Identifier: Apache-2.0
// Small JSON documents.
#include "mpa/io/json_document.h"

#include <algorithm>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/io/input_text.h"

namespace mpa::io {

nlohmann::json ReadJson(const std::filesystem::path& path) {
  const InputText input(path);
  if (input.text().empty()) return nlohmann::json::object();
  try {
    return nlohmann::json::parse(input.text());
  } catch (const nlohmann::json::exception& error) {
    std::string_view reason = error.what();  // "[json.exception...] parse error at line 2, ..."
    reason.remove_prefix(std::min(reason.size(), reason.find("] ") + 2));
    Fail(ErrorKind::kCorrupt, "{}: not valid JSON: {}", path.string(), reason);
  }
}

const nlohmann::json& Member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

}  // namespace mpa::io
