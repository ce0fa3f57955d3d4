// SPDX-License-Identifier: Apache-2.0
// The log on stderr.
#include "mpa/base/log.h"

#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "mpa/base/console.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/progress.h"

namespace mpa {
namespace {

std::atomic<LogLevel> g_level = LogLevel::kNotice;

struct LevelStyle {
  const char* name;
  const char* color;
};

LevelStyle StyleOf(LogLevel level) {
  constexpr LevelStyle kStyles[] = {{"error", "\033[1;31m"},
                                    {"warning", "\033[1;33m"},
                                    {"note", "\033[1;32m"},
                                    {"info", "\033[36m"},
                                    {"debug", "\033[2m"}};
  return kStyles[static_cast<std::size_t>(level)];
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }

bool LogEnabled(LogLevel level) { return level <= g_level.load(); }

void WriteLog(LogLevel level, std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> warnings;  // each is said once
  static const bool color = UseColor(stderr);
  const LevelStyle style = StyleOf(level);
  const std::string line =
      fmt::format("msprof-analyze: {}{}{}: {}\n", color ? style.color : "", Translated(style.name),
                  color ? "\033[0m" : "", Printable(text));
  const std::lock_guard lock(mutex);
  if (level == LogLevel::kWarning && !warnings.emplace(text).second) return;
  ClearProgressLine();
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace mpa
