// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

/// "chain" of a finding in the document; lists of ranks have at most so many, and a count beside
/// them.
nlohmann::ordered_json ChainJson(const FindingChain& chain, std::size_t most_ranks);

}  // namespace mpa
