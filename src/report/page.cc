// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/page.h"

#include <array>

namespace mpa {

std::string_view NameOf(Tint tint) {
  constexpr std::array<std::string_view, 7> kNames = {"",     "compute", "wait", "transfer",
                                                      "copy", "free",    "base"};
  return kNames[static_cast<std::size_t>(tint)];
}

}  // namespace mpa
