// SPDX-License-Identifier: Apache-2.0
// From raw captures to the files that other tools read.
#include "mpa/pipeline/parse.h"

#include <fmt/format.h>

#include <system_error>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/progress.h"
#include "mpa/capture/capture.h"
#include "mpa/io/directory_lock.h"
#include "mpa/io/output_file.h"
#include "mpa/profiler_output/profiler_output.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "ASCEND_PROFILER_OUTPUT";
constexpr const char* kDoneMark = "analyse.done";  // by which other tools know that it is complete

// Where the results of a capture are made: below -o, or in the capture.
fs::path PlaceBelowOutput(const fs::path& capture, const ParseRequest& request) {
  const fs::path below = capture.lexically_relative(fs::canonical(request.path));
  const bool named = !below.empty() && below != "." && *below.begin() != "..";
  return named ? below : capture.filename();
}

fs::path HomeOf(const fs::path& capture, const ParseRequest& request) {
  return request.output ? *request.output / PlaceBelowOutput(capture, request) : capture;
}

void PrepareHome(const fs::path& capture, const ParseRequest& request) {
  if (!request.output) {
    return InContext("-d (-o writes elsewhere)", [&] { io::PrepareOutputDirectory(capture); });
  }
  InContext("-o", [&] {
    io::PrepareDirectoryBelow(*request.output, PlaceBelowOutput(capture, request));
  });
}

bool HoldsAnything(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory, ignored) && !fs::is_empty(directory, ignored);
}

void CheckTarget(const fs::path& home, const ParseRequest& request) {
  const fs::path results = home / kResults;
  std::error_code ignored;
  if (fs::exists(results, ignored) && !fs::is_directory(results, ignored)) {
    Fail(ErrorKind::kOutput, "{}: a file has this name; -o writes elsewhere", results.string());
  }
  if (!request.replace && HoldsAnything(results)) {
    Fail(ErrorKind::kUsage,
         "{}: the results exist already; --force replaces them, -o writes elsewhere",
         results.string());
  }
}

// The files of earlier results that are not written anew stay.
void KeepOthers(const fs::path& old, const fs::path& fresh) {
  for (const auto& entry : fs::directory_iterator(old)) {
    const fs::path kept = fresh / entry.path().filename();
    if (fs::exists(kept) || entry.path().filename() == kDoneMark) continue;
    std::error_code error;
    fs::create_hard_link(entry.path(), kept, error);
    if (error) fs::copy(entry.path(), kept, fs::copy_options::recursive);
  }
}

// The small documents that make a directory a capture of its own.
void CopyDocuments(const fs::path& capture, const fs::path& home) {
  for (const auto& entry : fs::directory_iterator(capture)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !name.starts_with("profiler_") || !name.ends_with(".json")) {
      continue;
    }
    io::OutputFile copy(home / name);
    fs::copy_file(entry.path(), copy.temporary_path());
    copy.Replace(home / name);
  }
}

void Write(const raw::Session& session, const ParseRequest& request, const fs::path& directory) {
  ParallelFor(2, [&](std::size_t i) {
    if (i == 0 && request.text) profiler_output::WriteText(session, directory);
    if (i == 1 && request.database) profiler_output::WriteDatabases(session, directory);
  });
  io::TextFile(directory / kDoneMark).Close();
}

// Parses one capture into `home`; adds what had to be left out to the notes.
void ParseCapture(const RankInput& input, const fs::path& home, const ParseRequest& request,
                  ParseOutcome& outcome) {
  const io::DirectoryLock lock = io::LockForChanges(home);
  CheckTarget(home, request);  // again: another run may have written there meanwhile
  const fs::path capture = input.files.front().path;
  AddProgressTotal(input.files.front().bytes);
  const raw::Session session = raw::ReadSession(capture, raw::Parts::kAll);
  LogInfo("{} -> {}", capture.string(), SessionRows(session));
  for (const std::string& line : session.issues.Lines()) {
    outcome.notes.push_back(fmt::format("{}: {}", capture.string(), line));
    outcome.partial = true;
  }
  const fs::path results = home / kResults;
  io::OutputFile output(results);
  const fs::path& fresh = output.temporary_path();
  try {
    fs::create_directory(fresh);
    Write(session, request, fresh);
    if (home != capture) CopyDocuments(capture, home);
    if (HoldsAnything(results)) KeepOthers(results, fresh);
    output.Replace(results);
  } catch (const fs::filesystem_error& error) {
    Fail(ErrorKind::kOutput, "{}: {}", results.string(), error.code().message());
  }
  outcome.written.push_back(results);
}

}  // namespace

ParseOutcome Parse(const ParseRequest& request) {
  Discovery found =
      Discover(request.path, {.force = request.replace, .raw = true, .chosen = request.chosen});
  ParseOutcome outcome;
  for (const Discovery::Unusable& unusable : found.unusable) {
    outcome.notes.push_back(Say("{}; it is left out", unusable.Text()));
    outcome.partial = true;
  }
  if (found.ranks.empty()) {
    Fail(ErrorKind::kInput, "{}",
         found.unusable.empty() ? request.path.string() +
                                      ": no raw capture; give the directory that the profiler wrote"
                                : found.unusable.front().Text());
  }
  std::vector<fs::path> homes;
  std::vector<const RankInput*> inputs;
  for (const RankInput& input : found.ranks) {
    homes.push_back(HomeOf(input.files.front().path, request));
    CheckTarget(homes.back(), request);
    PrepareHome(input.files.front().path, request);
    inputs.push_back(&input);
  }
  NoteUnreadRecords(inputs, outcome.notes);
  for (std::size_t i = 0; i < homes.size(); ++i) {
    try {
      ParseCapture(found.ranks[i], homes[i], request, outcome);
    } catch (const Error& error) {
      if (homes.size() == 1 || !IsBadInput(error)) throw;
      outcome.notes.push_back(Say("{}; it is left out", error.what()));
      outcome.partial = true;
    }
  }
  if (outcome.written.empty()) {
    Fail(ErrorKind::kInput, "{}: no capture could be read: {}", request.path.string(),
         outcome.notes.front());
  }
  return outcome;
}

}  // namespace mpa
