// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/raw/session.h"

namespace mpa::test {

/// What a session promises of every capture, however broken: rows that name rows of other tables
/// name existing ones. The first breach as text, or nothing.
std::string BrokenPromise(const raw::Session& session);

}  // namespace mpa::test
