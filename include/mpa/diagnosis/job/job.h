// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

/// Kernels of one type on one rank in one step.
struct KernelSum {
  TimeNs time = 0;
  TimeNs unmatched_shape_ns = 0;  ///< of `time`, in shapes that no other rank of the role has
  std::int64_t count = 0;
};

/// What is normal in a step for a type of kernels, among the ranks of a role.
struct UsualKernel {
  TimeNs time = 0;
  std::size_t ranks = 0;  ///< that run kernels of the type
};

/// Work of the host, calls of it that waited for the device, and what the device copied from the
/// host.
struct HostAmount {
  TimeNs time = 0;
  std::int64_t blocks = 0;
  TimeNs copies = 0;
};

/// True if the category is one of these.
inline bool IsOf(const std::vector<TimeCategory>& categories, TimeCategory category) {
  return std::ranges::find(categories, category) != categories.end();
}

/// What a rank did in a step, in sums that compare with those of other ranks.
struct StepWork {
  std::map<std::string, KernelSum> kernels;  ///< by type
  TimeNs compute = 0;
  TimeNs copied_in = 0;                        ///< copies from the host to the device
  std::array<TimeNs, kTimeCategories> host{};  ///< work of the host by class
  std::array<std::int64_t, kTimeCategories>
      blocks{};  ///< calls that waited for the device, by class

  /// The work of some classes, the waiting calls of others, and all copies to the device.
  HostAmount HostOf(const std::vector<TimeCategory>& categories,
                    const std::vector<TimeCategory>& waiting) const;
};

/// The job as the search for causes sees it.
struct Job {
  Thresholds thresholds;
  std::vector<DiagnosedRank> ranks;
  JobOperations operations;
  JobGraph graph;
  std::size_t steps = 0;            ///< of the capture
  std::size_t first_step = 0;       ///< earlier ones are warm-up
  TimeNs step_time = 0;             ///< mean of the counted steps
  std::vector<std::int32_t> stage;  ///< by rank: of the pipeline
  std::vector<std::int32_t> role;   ///< by rank: those of one role do the same work
  std::map<std::int32_t, std::vector<std::size_t>> ranks_of_role;
  std::map<std::int32_t, std::vector<bool>> one_load;  ///< HaveOneLoad() by role and step
  std::vector<std::vector<StepWork>> work;             ///< by rank and step
  /// By role and step, the types that any rank of the role runs.
  std::map<std::int32_t, std::vector<std::map<std::string, UsualKernel>>> usual_kernels;
  /// Those with kernels that take longer on all of their ranks than equal ones of other roles.
  std::set<std::int32_t> slow_roles;

  const RankDiagnosis& Part(RankIndex rank) const { return *ranks[rank].part; }
  const OperationPart& PartOf(const JointOperation::Member& member) const {
    return Part(member.rank).operations[member.collective];
  }
  /// True for the position of a step.
  bool Holds(std::int32_t step) const {
    return step >= 0 && static_cast<std::size_t>(step) < steps;
  }
  /// True for that of a step that counts.
  bool Counts(std::int32_t step) const {
    return Holds(step) && static_cast<std::size_t>(step) >= first_step;
  }
  std::size_t CountedSteps() const { return steps - first_step; }
  /// Ranks of the same role, the rank itself among them.
  const std::vector<std::size_t>& RoleOf(RankIndex rank) const {
    return ranks_of_role.at(role[rank]);
  }
  const UsualKernel& UsualOf(RankIndex rank, std::size_t step, const std::string& type) const {
    return usual_kernels.at(role[rank])[step].at(type);
  }
  /// True where the steps are those of a server.
  bool Serves() const;
  /// True where the ranks have about as much work in the step, as far as the names of a server's
  /// steps tell. Others do not show who is slow.
  bool HaveOneLoad(const std::vector<std::size_t>& members, std::size_t step) const;
  /// The same of all ranks of the role of this one.
  bool RoleHasOneLoad(RankIndex rank, std::size_t step) const {
    return one_load.at(role[rank])[step];
  }
  /// What is normal for HostOf() among some ranks, by step.
  std::vector<HostAmount> UsualHost(const std::vector<std::size_t>& members,
                                    const std::vector<TimeCategory>& categories,
                                    const std::vector<TimeCategory>& waiting) const;
  /// The same by role.
  std::map<std::int32_t, std::vector<HostAmount>> UsualHost(
      const std::vector<TimeCategory>& categories, const std::vector<TimeCategory>& waiting) const;
  std::vector<std::int32_t> CountedIds() const;
  /// The ids of steps at these positions; without that of a whole capture.
  std::vector<std::int32_t> IdsOf(const std::set<std::size_t>& positions) const;
  /// The part of step k of a rank by its position among the rank's steps; -1 for none.
  std::int32_t StepOfEdge(RankIndex rank, std::uint32_t edge) const;
};

/// What is normal among ranks of a role: their lower quartile, so that half of them may be slow.
TimeNs LowerQuartile(std::vector<TimeNs> values);

/// By rank. The stages of a pipeline do different work, and so do captures that have nothing to do
/// with each other.
std::vector<std::int32_t> RolesOf(const std::vector<DiagnosedRank>& ranks,
                                  const JobOperations& operations);

/// `operations`: what JoinOperations() gives of the ranks.
Job MakeJob(std::vector<DiagnosedRank> ranks, JobOperations operations,
            const Thresholds& thresholds);
Job MakeJob(std::vector<DiagnosedRank> ranks, const Thresholds& thresholds);

}  // namespace mpa
