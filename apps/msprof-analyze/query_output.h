// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "mpa/query/query.h"
#include "mpa/writers/agent.h"

namespace mpa {

/// The answer as a table of at most `width` columns.
std::string FormatAnswer(const QueryAnswer& answer, std::size_t width);
std::string AnswerCsv(const QueryAnswer& answer);
/// As --agent has it.
void TellAgent(const QueryAnswer& answer, AgentAnswer& agent);
/// One document, of which rows at the end are left out where it has more than `most` characters; 0:
/// none are.
std::string AnswerJson(const QueryAnswer& answer, std::size_t most);

}  // namespace mpa
