// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/measure/leaf.h"
#include "mpa/model/string_pool.h"

namespace mpa {

/// What the name of something on the host says of its class. Operators of the kinds kScalarSync and
/// kHostCopy are of these classes only if a blocking call is inside.
Leaf ClassOfOp(std::string_view name);
Leaf ClassOfPython(std::string_view frame);
/// Of a call of the runtime, "AscendCL@aclrtMemcpy" or without its level.
Leaf ClassOfCall(std::string_view name);
/// Of a range that the program marked; kPython: none.
Leaf ClassOfMark(std::string_view message);

/// Answers of one of these functions by text of a pool, each asked once.
class NamedClasses {
 public:
  NamedClasses(const StringPool& strings, Leaf (*class_of)(std::string_view))
      : strings_(strings), class_of_(class_of), known_(strings.Size(), kNotAsked) {}
  Leaf Of(StringId name) {
    std::uint8_t& known = known_[Index(name)];
    if (known == kNotAsked) known = static_cast<std::uint8_t>(class_of_(strings_.View(name)));
    return static_cast<Leaf>(known);
  }

 private:
  static constexpr std::uint8_t kNotAsked = 255;
  const StringPool& strings_;
  Leaf (*class_of_)(std::string_view);
  std::vector<std::uint8_t> known_;
};

}  // namespace mpa
