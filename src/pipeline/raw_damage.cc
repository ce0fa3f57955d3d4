// SPDX-License-Identifier: Apache-2.0
// What a survey of raw captures cannot see.
#include "mpa/pipeline/raw_damage.h"

#include <algorithm>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/raw/session.h"

namespace mpa {
namespace {

// Of all captures together.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

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

// Without the advice, which has a line of its own.
std::string WithoutAdvice(std::string line) {
  constexpr std::string_view kAdvice = "; copy the capture again";
  if (const std::size_t at = line.find(kAdvice); at != std::string::npos) {
    line.erase(at, kAdvice.size());
  }
  return line;
}

}  // namespace

void TellRawDamage(std::vector<RankFacts>& ranks) {
  std::int64_t left = kMostBytes;
  std::vector<std::uint8_t> read(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].kind != CaptureKind::kNpuRaw || ranks[i].bytes > left) continue;
    left -= ranks[i].bytes;
    read[i] = 1;
  }
  ParallelFor(ranks.size(), [&](std::size_t i) {
    RankFacts& facts = ranks[i];
    // Links out of the capture are not followed: then there is nothing to read.
    if (facts.kind != CaptureKind::kNpuRaw || facts.bytes == 0 || !facts.problem.empty()) return;
    for (const std::string& line : DamageOf(facts, read[i] != 0)) {
      facts.complete = Recorded::kNo;
      facts.warnings.push_back({"damaged_raw",
                                WithoutAdvice(line),
                                "copy the capture again; if the job was killed, the rest is lost",
                                {}});
    }
  });
}

}  // namespace mpa
