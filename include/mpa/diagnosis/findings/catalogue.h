// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// A text in every language.
struct Wording {
  std::string_view english, chinese;
  std::string_view In(Language language) const {
    return language == Language::kEnglish ? english : chinese;
  }
};

/// What the catalogue says of a finding; advice.h has what to do about it.
struct CatalogueEntry {
  std::string_view id;
  FindingKind kind = FindingKind::kFault;
  std::vector<std::string_view>
      owners;     ///< who can fix it: "model", "data", "framework", "operator", ...
  Wording title;  ///< with "{}" for the ranks or the link, where it has any
};

/// Of every id that a finding may have, in the order of the catalogue.
const std::vector<CatalogueEntry>& Catalogue();
/// The entry of an id. Throws std::out_of_range for an id that is not in the catalogue.
const CatalogueEntry& EntryOf(std::string_view id);
/// The key of calls that stand still, whose id is that of hosts that launch too slowly.
inline constexpr std::string_view kStallsKey = "host.launch_bound/stalls";
/// The title of a finding: that of its id, unless its key has one of its own.
const Wording& TitleWordsOf(const FoundCause& finding);

}  // namespace mpa
