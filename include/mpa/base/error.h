// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/base/language.h"

namespace mpa {

/// What went wrong, in the terms that decide the exit code.
enum class ErrorKind {
  kUsage,     ///< the command line is wrong
  kInput,     ///< an input is missing, unreadable or of no known kind
  kCorrupt,   ///< an input is there but its content is broken
  kOutput,    ///< an output cannot be written
  kResource,  ///< memory or disk exhausted
  kInternal,  ///< a bug in this program
};

/// The process exit code for an error of this kind (see README.md, "Exit codes").
int ExitCode(ErrorKind kind);

/// The exit code of a run that ended with a report from which bad input had to be left out.
inline constexpr int kExitPartial = 5;

/// The one exception type of the program. Thrown at the fault; each level on the way out puts the
/// place it knows in front: "rank 3: kernel_details.csv:812: bad duration 'x'".
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), text_(std::move(message)) {}

  /// Puts `where` in front of the message.
  void AddContext(std::string_view where);

  ErrorKind kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorKind kind_;
  std::string text_;
};

/// True when the input is at fault, so that other ranks can still be read; not when there is no
/// room or no memory.
inline bool IsBadInput(const Error& error) {
  return error.kind() == ErrorKind::kInput || error.kind() == ErrorKind::kCorrupt;
}

/// Throws an Error; the arguments are those of Say().
template <typename... Args>
[[noreturn]] void Fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, Say(format, std::forward<Args>(args)...));
}

/// Runs `body` and adds `where` to an Error that escapes it.
template <typename Body>
decltype(auto) InContext(std::string_view where, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.AddContext(where);
    throw;
  }
}

}  // namespace mpa
