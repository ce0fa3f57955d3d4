// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"

/// The small files next to the records, as text and JSON. Errors in a file are counted under its
/// name, with their consequence.
namespace mpa::raw {

using Json = nlohmann::json;

/// The text of a string or of a number; empty for anything else.
std::string TextOf(const Json& value);
/// A whole number or a text that contains one, far from overflow.
std::optional<std::int64_t> NumberOf(const Json& value);
/// The first element of an array; null when there is none.
const Json& FirstOf(const Json& array);
/// The members of an object, of an object, ...; null where one is missing.
const Json& MemberOf(const Json& object, std::initializer_list<const char*> keys);
/// The number in "device_0" after "device_"; empty for anything else.
std::optional<std::int64_t> NumberAfter(std::string_view name, std::string_view start);

bool IsDirectory(const std::filesystem::path& path);
/// The entries of a directory whose names begin with this text, in order.
std::vector<std::filesystem::path> EntriesWith(const std::filesystem::path& directory,
                                               std::string_view start);

/// Lines of "key: value".
class KeyValues {
 public:
  KeyValues() = default;
  explicit KeyValues(std::string text) : text_(std::move(text)) {}
  std::optional<std::int64_t> Find(std::string_view key) const;

 private:
  std::string text_;
};

/// Counts that a control file is `state` ("is missing"), with the consequence.
void CountControlFile(std::string_view name, std::string_view state, std::string_view cost,
                      const std::filesystem::path& place, Issues& issues);

/// The document at `path`, which messages call `name`; null when it is empty or broken.
Json ReadDocument(const std::filesystem::path& path, std::string_view name, std::string_view cost,
                  Issues& issues);

/// The control files of host/ or device_<N>/; null and empty ones are missing or broken.
struct SideDocuments {
  std::string name;  ///< "host", "device_0"
  std::filesystem::path directory;
  Json info, sample, start, end;
  KeyValues host_start, device_start;

  /// "device_0/start_info"
  std::string NameOf(std::string_view file) const;
};

SideDocuments ReadSideDocuments(const std::filesystem::path& directory, Issues& issues);

}  // namespace mpa::raw
