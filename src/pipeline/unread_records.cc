// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/capture/record_kinds.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

// What is not read of all captures together.
struct Unread {
  std::set<const RecordKind*> kinds;  // in the order of the table
  std::set<std::string> unknown;      // names of files
  std::vector<const RankInput*> captures;
};

void Add(const RankInput& input, Unread& unread) {
  const CaptureFile* raw = input.Find(FileKind::kRawCapture);
  if (raw == nullptr) return;
  const RecordInventory inventory = ListRecords(raw->path);
  bool any = !inventory.unknown.empty();
  for (const RecordInventory::Entry& entry : inventory.kinds) {
    if (entry.kind->use == RecordUse::kRead) continue;
    unread.kinds.insert(entry.kind);
    any = true;
  }
  for (const std::filesystem::path& file : inventory.unknown) {
    unread.unknown.insert(file.filename().string());
  }
  if (any) unread.captures.push_back(&input);
}

// "a, b, c and 4 more".
std::string Some(const std::set<std::string>& names) {
  constexpr std::size_t kMax = 4;
  const std::vector<std::string> first(names.begin(),
                                       std::next(names.begin(), std::min(kMax, names.size())));
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  return names.size() <= kMax ? text : Say("{} and {} more", text, names.size() - kMax);
}

}  // namespace

void NoteUnreadRecords(const std::vector<const RankInput*>& inputs,
                       std::vector<std::string>& notes) {
  Unread unread;
  for (const RankInput* input : inputs) {
    try {
      Add(*input, unread);
    } catch (const Error&) {
      continue;  // the reader says that the capture cannot be looked into
    }
  }
  std::vector<std::string> parts;
  if (!unread.kinds.empty()) {
    std::vector<std::string_view> names;
    for (const RecordKind* kind : unread.kinds) names.push_back(kind->name);
    parts.push_back(Say("recorded but not read: {}", fmt::join(names, ", ")));
  }
  if (!unread.unknown.empty()) {
    parts.push_back(Say("files of unknown kinds: {}", Some(unread.unknown)));
  }
  if (parts.empty()) return;
  const std::size_t count = unread.captures.size();
  const std::string where =
      count == 1 ? unread.captures.front()->path.string() : Say("{} captures", count);
  notes.push_back(Say("{}: {}; 'msprof-analyze check' says more", where, fmt::join(parts, "; ")));
}

// What a survey of raw captures does not see.

namespace {

std::vector<std::string> DamageOf(const RankFacts& facts, bool read) {
  try {
    return (read ? raw::ReadSession(facts.path, raw::Parts::kAll).issues
                 : raw::FindDamage(facts.path))
        .Lines();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput && error.kind() != ErrorKind::kCorrupt) throw;
    return {error.what()};
  }
}

// The advice of a line is shown apart from it.
Warning DamageWarning(std::string line) {
  std::string advice = "copy the capture again; if the job was killed, the rest is lost";
  for (const std::string_view english : {"; copy the capture again", "; give each PROF_* alone"}) {
    const std::string_view said = Translated(english);  // the ends of the forms are the same
    const std::size_t at = line.find(said);
    if (at == std::string::npos) continue;
    line.erase(at, said.size());
    if (english.starts_with("; give")) advice = english.substr(2);
  }
  return {"damaged_raw", std::move(line), std::move(advice), {}};
}

}  // namespace

void TellRawDamage(bool read, std::vector<RankFacts>& ranks) {
  ParallelFor(ranks.size(), [&](std::size_t i) {
    RankFacts& facts = ranks[i];
    // Links out of the capture are not followed: then there is nothing to read.
    if (facts.kind != CaptureKind::kNpuRaw || facts.bytes == 0 || !facts.problem.empty()) return;
    for (const std::string& line : DamageOf(facts, read)) {
      facts.complete = Recorded::kNo;
      facts.warnings.push_back(DamageWarning(line));
    }
  });
}

}  // namespace mpa
