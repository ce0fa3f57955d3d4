// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/commit.h"

#include <mpa_commit.h>  // made by cmake/write_commit.cmake

namespace mpa {

std::string_view BuildCommit() { return MPA_COMMIT; }

std::string_view BuildCommitDate() { return MPA_COMMIT_DATE; }

}  // namespace mpa
