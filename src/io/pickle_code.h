// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mpa::io {

/// The instructions of pickles that make plain values.
enum class PickleCode : std::uint8_t {
  kProto = 0x80,
  kFrame = 0x95,
  kStop = '.',
  kMark = '(',
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kInt = 'J',
  kInt1 = 'K',
  kInt2 = 'M',
  kLong1 = 0x8a,
  kReal = 'G',
  kShortText = 0x8c,
  kText = 'X',
  kLongText = 0x8d,
  kShortBytes = 'C',
  kBytes = 'B',
  kLongBytes = 0x8e,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kGet = 'h',
  kLongGet = 'j',
  kPut = 'q',
  kLongPut = 'r',
  kMemoize = 0x94,
};

/// How Python calls another instruction, "REDUCE", and whether it runs code or imports; an empty
/// name is no instruction.
struct RefusedCode {
  unsigned char code = 0;
  std::string_view name;
  bool runs_code = false;
};
RefusedCode RefusedCodeOf(unsigned char code);

}  // namespace mpa::io
