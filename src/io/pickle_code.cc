// SPDX-License-Identifier: Apache-2.0
// The instructions of pickles that no snapshot has, by name.
#include "pickle_code.h"

#include <algorithm>
#include <array>

namespace mpa::io {
namespace {

constexpr std::array<RefusedCode, 34> kRefused = {{
    {'c', "GLOBAL", true},
    {0x93, "STACK_GLOBAL", true},
    {'R', "REDUCE", true},
    {'b', "BUILD", true},
    {'i', "INST", true},
    {'o', "OBJ", true},
    {0x81, "NEWOBJ", true},
    {0x92, "NEWOBJ_EX", true},
    {'P', "PERSID", true},
    {'Q', "BINPERSID", true},
    {0x82, "EXT1", true},
    {0x83, "EXT2", true},
    {0x84, "EXT4", true},
    {0x97, "NEXT_BUFFER", true},
    {0x98, "READONLY_BUFFER", true},
    {0x96, "BYTEARRAY8", false},
    {0x8f, "EMPTY_SET", false},
    {0x90, "ADDITEMS", false},
    {0x91, "FROZENSET", false},
    {'I', "INT", false},
    {'L', "LONG", false},
    {0x8b, "LONG4", false},
    {'F', "FLOAT", false},
    {'S', "STRING", false},
    {'T', "BINSTRING", false},
    {'U', "SHORT_BINSTRING", false},
    {'V', "UNICODE", false},
    {'p', "PUT", false},
    {'g', "GET", false},
    {'l', "LIST", false},
    {'d', "DICT", false},
    {'0', "POP", false},
    {'1', "POP_MARK", false},
    {'2', "DUP", false},
}};

}  // namespace

RefusedCode RefusedCodeOf(unsigned char code) {
  const auto* const found = std::ranges::find(kRefused, code, &RefusedCode::code);
  return found == kRefused.end() ? RefusedCode{code, "", false} : *found;
}

}  // namespace mpa::io
