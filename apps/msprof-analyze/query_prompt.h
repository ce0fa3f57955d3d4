// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace mpa {

/// Asks for statements on the terminal until somebody leaves. `answer` answers one; an Error that
/// it throws is told, and the next statement is asked for.
void PromptForStatements(const std::function<void(const std::string& statement)>& answer);

}  // namespace mpa
