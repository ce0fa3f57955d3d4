// SPDX-License-Identifier: Apache-2.0
// Small JSON documents.
#include "mpa/io/json_document.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/io/byte_stream.h"
#include "mpa/io/input_text.h"

namespace mpa::io {
namespace {

// Documents have a handful of levels. Each open level takes memory, and some functions recurse once
// per level.
constexpr int kMaxLevels = 100;

// Throws Error (kCorrupt) when more brackets are open than that.
void RefuseDeepNesting(std::string_view json) {
  int level = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') in_text = !in_text;
    if (in_text) {
      if (c == '\\') ++at;
    } else if (c == '[' || c == '{') {
      if (++level > kMaxLevels) {
        Fail(ErrorKind::kCorrupt, "byte {}: it is nested deeper than {} levels", at, kMaxLevels);
      }
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) {
  RefuseDeepNesting(text);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    constexpr std::size_t kMaxLength = 200;  // the library quotes what it read last, however long
    std::string_view reason = error.what();  // "[json.exception...] parse error at line 2, ..."
    reason.remove_prefix(std::min(reason.size(), reason.find("] ") + 2));
    Fail(ErrorKind::kCorrupt, "not valid JSON: {}", reason.substr(0, kMaxLength));
  }
}

nlohmann::json ReadJson(const std::filesystem::path& path, std::size_t most) {
  // Counted before anything is kept of it: a few MB of gzip can be as many GB.
  const InputText as_it_is(path, Content::kAsIs);
  ByteStream stream(path);
  std::size_t bytes = as_it_is.text().size();
  std::string inflated;
  if (stream.is_gzip()) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    bytes = 0;
    for (std::size_t got = kStep; got == kStep && bytes <= most;) {
      inflated.resize(bytes + kStep);
      got = stream.Read(inflated.data() + bytes, kStep);
      bytes += got;
    }
    inflated.resize(bytes);
  }
  if (bytes > most) {
    Fail(ErrorKind::kCorrupt,
         "{}: more than {} MB, which no such document of a capture has; it is not read",
         path.string(), most >> 20);
  }
  const std::string_view text = stream.is_gzip() ? inflated : as_it_is.text();
  InContext(path.string(), [&] { RefuseWideText(text); });
  if (text.empty()) return nlohmann::json::object();
  return InContext(path.string(), [&] { return ParseJson(text); });
}

nlohmann::json TryParseJson(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

const nlohmann::json& Member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

}  // namespace mpa::io
