// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "mpa/gate/baseline.h"
#include "mpa/gate/history.h"

/// The file in which gates keep their runs; docs/history.md has its tables.
namespace mpa {

/// True for a file that says it is a history.
bool IsHistoryFile(const std::filesystem::path& path);

/// Throws Error when the file is there and runs cannot be added to it.
void CheckHistory(const std::filesystem::path& path);

/// Adds a run with what later gates need to judge by it: its captures. Waits for others that do the
/// same. Throws Error (kCorrupt, kOutput).
void AddToHistory(const gate::HistoryRun& run, const gate::Baseline& captures,
                  const std::filesystem::path& path);

/// The newest runs, the oldest of them first. Throws Error (kInput, kCorrupt).
std::vector<gate::HistoryRun> ReadHistory(const std::filesystem::path& path, std::size_t newest);

/// The captures of the newest runs that passed their gate and were collected as the last of them:
/// what is judged by them is judged by the rolling median. The anchor is the first run of all.
/// Throws Error (kInput, kCorrupt).
gate::Baseline BaseOfHistory(const std::filesystem::path& path, std::size_t runs);

}  // namespace mpa
