// SPDX-License-Identifier: Apache-2.0
// The progress line.
#include "mpa/base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

#include "mpa/base/console.h"
#include "mpa/base/language.h"

namespace mpa {
namespace {

std::atomic<std::int64_t> g_total = 0;
std::atomic<std::int64_t> g_done = 0;
std::atomic<std::int64_t> g_next_ms = 200;  // work that takes less shows no line at all
std::atomic<bool> g_shown = false;

std::int64_t MillisecondsSinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start)
      .count();
}

// A terminal that went away is not a reason to end the run.
void Show(const std::string& text) {
  (void)std::fputs(text.c_str(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace

void AddProgressTotal(std::int64_t bytes) {
  MillisecondsSinceStart();
  g_total += bytes;
}

void AddProgress(std::int64_t bytes) {
  static const bool terminal = IsTerminal(stderr);
  const std::int64_t done = g_done += bytes;
  if (!terminal) return;
  const std::int64_t now = MillisecondsSinceStart();
  std::int64_t due = g_next_ms;
  if (now < due || !g_next_ms.compare_exchange_strong(due, now + 100)) return;
  const std::int64_t total = std::max<std::int64_t>(g_total, 1);
  g_shown = true;
  Show(Say("\rreading {:3d} % of {:.1f} MB\033[K", std::min<std::int64_t>(100, done * 100 / total),
           static_cast<double>(total) / 1e6));
}

void ClearProgressLine() {
  if (g_shown.exchange(false)) Show("\r\033[K");
}

}  // namespace mpa
