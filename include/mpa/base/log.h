// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "mpa/base/language.h"

namespace mpa {

/// kNotice is for what every user should know of a run that went well: where the workbook lies.
enum class LogLevel { kError, kWarning, kNotice, kInfo, kDebug };

/// Lines above this level are dropped. Process-wide; the default is kNotice.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

/// Writes "msprof-analyze: <level>: <text>" to stderr, from any thread, a whole line at a time.
void WriteLog(LogLevel level, std::string_view text);

/// The arguments are those of Say().
template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(level)) WriteLog(level, Say(format, std::forward<Args>(args)...));
}

template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, format, std::forward<Args>(args)...);
}

template <typename... Args>
void LogNotice(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kNotice, format, std::forward<Args>(args)...);
}

template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, format, std::forward<Args>(args)...);
}

}  // namespace mpa
