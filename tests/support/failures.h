// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "mpa/base/error.h"

namespace mpa::test {

/// The Error that `body` throws; fails the test and gives an internal error when it throws none.
template <typename Body>
Error ErrorOf(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(ErrorKind::kInternal, "no Error was thrown");
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// For EXPECT_PRED_FORMAT2: the message shows both texts.
inline ::testing::AssertionResult HasText(const char*, const char*, const std::string& text,
                                          const std::string& part) {
  if (Contains(text, part)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

}  // namespace mpa::test

#define EXPECT_HAS_TEXT(text, part) EXPECT_PRED_FORMAT2(::mpa::test::HasText, text, part)
