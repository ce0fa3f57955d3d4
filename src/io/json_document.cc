// SPDX-License-Identifier: Apache-2.0
// Small JSON documents.
#include "mpa/io/json_document.h"

#include "mpa/base/error.h"
#include "mpa/io/input_text.h"

namespace mpa::io {

nlohmann::json ReadJson(const std::filesystem::path& path) {
  const InputText input(path);
  if (input.text().empty()) return nlohmann::json::object();
  try {
    return nlohmann::json::parse(input.text());
  } catch (const nlohmann::json::exception& error) {
    Fail(ErrorKind::kCorrupt, "{}: not valid JSON: {}", path.string(), error.what());
  }
}

}  // namespace mpa::io
