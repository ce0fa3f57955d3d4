// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace mpa {

/// A text that programs read, for people in the language of the process: what fmt::format() made of
/// one of these forms is said by it again, and what stands in its fields, too. Whole sentences come
/// before what they are made of. As it is where no form fits.
std::string Reworded(const std::string& text, std::span<const char* const> forms);

}  // namespace mpa
