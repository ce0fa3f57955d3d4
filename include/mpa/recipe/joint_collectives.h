// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/capture/ability.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/report.h"

/// Collectives that several ranks ran together, put together from what each rank recorded.
namespace mpa {

/// The collectives of one rank in order of start, without operators between two ranks and without
/// those whose group is not known. Texts are positions in `texts`.
struct RankCollectives {
  struct Row {
    std::uint32_t group = 0, name = 0, type = 0, data_type = 0;
    TimeNs start = 0, dur = 0;
    std::int64_t count = -1;      ///< of elements; -1: not recorded
    std::int32_t operation = -1;  ///< row of the rank's communications
  };
  std::vector<std::string> texts;
  std::vector<Row> rows;
};

template <class Archive>
void serialize(Archive& archive, RankCollectives::Row& row) {
  archive(row.group, row.name, row.type, row.data_type, row.start, row.dur, row.count,
          row.operation);
}
template <class Archive>
void serialize(Archive& archive, RankCollectives& part) {
  archive(part.texts, part.rows);
}

RankCollectives CollectivesOfRank(const RankTrace& trace);

/// A run of a collective on one rank.
struct CollectiveMember {
  std::size_t rank = 0;  ///< position of the rank's part
  const RankCollectives::Row* row = nullptr;
};

/// A collective with the ranks that took part, in order of their parts.
struct JointCollective {
  std::string group, name;
  std::vector<CollectiveMember> members;
};

struct JointCollectives {
  std::vector<JointCollective> all;  ///< by group and name as first seen, then by occurrence
  /// Names of collectives that the ranks of their group ran differently often: which belong
  /// together is not known, and they are in `all` not at all.
  std::size_t uneven = 0;
};

/// The n-th run of a name in a group on one rank belongs to the n-th on every other. The parts have
/// to outlive what is returned.
JointCollectives JoinCollectives(const std::vector<const RankCollectives*>& parts);

/// Adds a note on `uneven` ones. Throws Error (kInput) when there are no collectives at all.
void NoteCollectives(std::string_view recipe, const JointCollectives& collectives, Report& report);

/// Of recipes that look at joint collectives.
Verdict JudgeCollectives(const RankFacts& facts);

}  // namespace mpa
