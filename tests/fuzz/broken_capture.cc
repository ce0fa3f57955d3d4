// SPDX-License-Identifier: Apache-2.0
#include "fuzz/broken_capture.h"

#include <algorithm>
#include <utility>

#include "fuzz/analysed_rank.h"
#include "mpa/raw/session.h"
#include "support/files.h"
#include "support/raw_session_checks.h"
#include "support/reading.h"

namespace mpa::test {

namespace fs = std::filesystem;

namespace {

// What the tables of the session promise, or what all commands make of them.
void Read(const fs::path& capture, bool as_session) {
  if (as_session) {
    Try("", [&] {
      const std::string breach = BrokenPromise(raw::ReadSession(capture, raw::Parts::kAll));
      if (!breach.empty()) Die(breach);
    });
    return;
  }
  RankTrace trace;
  const bool usable = Try("", [&] {
    ReaderOf(FileKind::kRawCapture)
        .read({FileKind::kRawCapture, capture, 0}, {kAllTables, ""}, trace);
  });
  if (usable) AnalyseRank(trace, 0);
}

}  // namespace

std::vector<Target> BrokenCaptures(const std::function<bool(const std::string&)>& belongs) {
  static const Scratch scratch;
  std::vector<Target> targets;
  for (const char* name : {"stars", "hwts"}) {
    const fs::path source = fs::path(MPA_GENERATED_CAPTURES) / name;
    if (!fs::is_directory(source)) Die("no captures, make them with: ctest -R raw.make_captures");
    fs::create_directories(scratch.path());
    fs::copy(source, scratch.path() / name, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".done") continue;
      const fs::path below = fs::relative(entry.path(), source);
      const fs::path capture = *below.begin();  // truth.json is none
      if (below == capture || !belongs(fs::relative(below, capture).string())) continue;
      const std::string file = (name / below).string();
      const std::string whole = ReadAll(entry.path());
      const auto read = [file, whole,
                         capture = scratch.path() / name / capture](std::string_view content) {
        scratch.Write(file, content);
        Read(capture, content.size() % 2 == 0);
        scratch.Write(file, whole);
      };
      std::string target = file;
      std::replace(target.begin(), target.end(), '/', '_');
      targets.push_back({std::move(target), {whole}, read});
    }
  }
  std::sort(targets.begin(), targets.end(),
            [](const Target& a, const Target& b) { return a.name < b.name; });
  return targets;
}

}  // namespace mpa::test
