// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {

inline constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

/// How much of a diagnosis goes into its document.
struct Extent {
  std::size_t findings = kAll, evidence = kAll;
  bool all_accounts = true, notes = true, skipped = true, metrics = true;
  std::size_t list = kAll;  ///< of ranks, steps and settings
  std::size_t text = kAll;  ///< characters of a name
  bool innocent_calls = true;
  bool all_settings = true;  ///< those that are not known to bear on the performance, too
};

/// A number, the label of a capture without one, or null where neither is known.
inline nlohmann::ordered_json RankJson(RankId rank) {
  if (rank.IsLabel()) return RankName(rank);
  return rank.IsKnown() ? nlohmann::ordered_json(rank.Number()) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json RanksJson(const std::vector<RankId>& ranks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RankId rank : ranks) list.push_back(RankJson(rank));
  return list;
}

/// Json of texts and lists that may be cut, and what they leave out.
class CutJson {
 public:
  explicit CutJson(const Extent& extent) : extent_(extent) {}

  void Omit(const char* what, std::size_t count) {
    if (count > 0) omitted_[what] = omitted_.value(what, std::size_t{0}) + count;
  }

  /// Where the texts of captures are shortened, the middle goes.
  std::string Text(const std::string& text) const;

  template <typename Number>
  nlohmann::ordered_json List(const std::vector<Number>& values, const char* what) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < std::min(values.size(), extent_.list); ++i)
      list.push_back(values[i]);
    Omit(what, values.size() - list.size());
    return list;
  }

  nlohmann::ordered_json Ranks(const std::vector<RankId>& ranks) {
    std::vector<nlohmann::ordered_json> all;
    for (const RankId rank : ranks) all.push_back(RankJson(rank));
    return List(all, "ranks");
  }

  nlohmann::ordered_json TakeOmitted() { return std::move(omitted_); }

  const Extent& extent() const { return extent_; }

 private:
  const Extent extent_;
  nlohmann::ordered_json omitted_ = {{"findings", 0}, {"evidence", 0}};
};

/// "fault", "opportunity".
std::string_view NameOf(FindingKind kind);

/// Of ranks that are not analysed: ["damaged"].
nlohmann::ordered_json StatesJson(const std::vector<RankState>& states);

/// A finding of the document.
nlohmann::ordered_json FindingJson(const Diagnosis& diagnosis, const Finding& finding,
                                   CutJson& cut);

}  // namespace mpa
