// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {

/// What looks for findings: FindingInfo::find is FindBy() one of these.
class Finder {
 public:
  explicit Finder(CauseSearch& search)
      : search_(search),
        job_(search.job),
        rules_(search.job.rules),
        issuing_(search.issuing),
        causes_(search.causes) {}

 protected:
  /// True for the position of a step that counts.
  bool Counts(std::int32_t step) const {
    return step >= static_cast<std::int32_t>(job_.first_step) &&
           static_cast<std::size_t>(step) < job_.steps;
  }
  /// Names all ranks by naming none.
  void NameRanks(std::vector<std::int64_t> ranks, Cause& cause) const {
    if (ranks.size() < job_.ranks.size()) cause.finding.ranks = std::move(ranks);
  }

  CauseSearch& search_;
  const Job& job_;
  const Rules& rules_;
  IssuingOfRanks& issuing_;
  std::vector<Cause>& causes_;
};

template <typename Which>
void FindBy(CauseSearch& search) {
  Which(search).Find();
}

/// What the Python tool calls several findings.
inline constexpr Wording kSlowRankCategory{"slow rank", "慢卡分析"},
    kDispatchCategory{"Operator Dispatch Issues", "算子下发"},
    kFusibleCategory{"Affinity API Issues", "亲和API接口"},
    kSynchronisesCategory{"Synchronize Stream Issues", "Synchronize Stream Issues"};

}  // namespace mpa
