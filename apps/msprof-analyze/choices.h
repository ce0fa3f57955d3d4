// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Values that an option can have, kept with its definition: the shell completes them.
namespace mpa {

/// Refuses other values.
CLI::Validator OneOf(std::vector<std::string> values);

/// Refuses anything but a version like the example: numbers and words such as "RC1" with dots
/// between.
CLI::Validator Version(std::string example);

/// Refuses nothing: what is right depends on other options, and is checked with them.
CLI::Validator Suggested(std::span<const std::string_view> values);
/// The same for a list of values that commas separate.
CLI::Validator SuggestedList(std::span<const std::string_view> values);

struct OptionValues {
  enum class Kind : std::uint8_t {
    kNone,  ///< it takes no value
    kFree,  ///< nothing is known
    kFiles,
    kDirectories,
    kWords,  ///< one of `words`
    kList,   ///< several of `words`, separated by commas
  };
  Kind kind = Kind::kNone;
  std::vector<std::string> words{};  ///< of kFiles: what may stand instead of a file
};

/// By the option's type and validators. Of a type PATH, FILE or OUT are files, of DIR directories.
OptionValues ValuesOf(const CLI::Option& option);

}  // namespace mpa
