// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"

/// What the fuzzers have in common.
namespace mpa::test {

/// Ends the program: a finding.
[[noreturn]] void Die(std::string_view why);

/// Runs `body`. An Error that it throws must tell what is wrong, in a message with the text
/// `place`, and be no bug of ours; nothing else may be thrown. Returns whether it threw nothing.
bool Try(std::string_view place, const std::function<void()>& body);

/// A directory of its own in memory where the system has one there: every input is written to a
/// file. Removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the directory, making the directories it needs; returns its path.
  std::filesystem::path Write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

/// A file below testdata/captures.
std::string Captured(std::string_view name);

/// One thing that is fed with broken inputs.
struct Target {
  std::string name;
  std::vector<std::string> seeds;
  std::function<void(std::string_view input)> run;
};

/// What a program feeds; each has this function of its own. The first byte of an input tells which
/// target gets the rest; where there is one only, it gets all.
std::vector<Target> Targets();

}  // namespace mpa::test
