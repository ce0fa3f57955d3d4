// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The colours of pages, flame graphs, workbooks and exported traces: one for each meaning.
/// docs/report.md promises them, and the test cli.palette holds all four against its tables.
namespace mpa {

/// What a colour means.
enum class Tint : std::uint8_t {
  kNone,  ///< nothing: the next of kSeriesColours
  kCompute,
  kWait,
  kTransfer,
  kUnsplit,  ///< communication of which it is unknown how much is waiting
  kCopy,
  kFree,
  kBase,
  kWorse,
  kBetter,
  kMemory,    ///< one of kMemoryColours
  kDataType,  ///< one of kDataTypeColours
};
constexpr Tint LastOf(Tint) { return Tint::kDataType; }

/// On light and on dark ground, as 0xRRGGBB.
struct Colour {
  std::uint32_t light = 0, dark = 0;
};

struct ColourOfMeaning {
  Tint tint{};
  std::string_view name;  ///< of the variable in style sheets: "compute"
  Colour colour{};
  /// The nearest of the names that traces may give as `cname`, which Chrome's viewer draws in
  /// colours of its own; Perfetto ignores them.
  std::string_view in_traces;
};

/// Graphics need a contrast of 3:1 (WCAG 2.1, 1.4.11), and people who confuse red and green have to
/// tell neighbours apart. tests/unit/report/palette_test.cc has the formulas.
inline constexpr auto kMeanings = std::to_array<ColourOfMeaning>({
    {Tint::kCompute, "compute", {0x3e71de, 0x2f7cf2}, "rail_response"},
    {Tint::kWait, "wait", {0xc51e9d, 0xf15dc6}, "detailed_memory_dump"},
    {Tint::kTransfer, "transfer", {0xca7333, 0xf97606}, "heap_dump_child_node_arrow"},
    {Tint::kUnsplit, "unsplit", {0x5e4208, 0xefc878}, "olive"},
    {Tint::kCopy, "copy", {0x006d55, 0x74b7a1}, "background_memory_dump"},
    {Tint::kFree, "free", {0x8b8d90, 0x696d76}, "heap_dump_stack_frame"},
    {Tint::kBase, "base", {0x313745, 0xe8e8e8}, "black"},
    {Tint::kWorse, "worse", {0xbe4038, 0xe86f66}, "rail_animation"},
    {Tint::kBetter, "better", {0x449d67, 0x8bf8a2}, "rail_load"},
});

/// Of series that mean none of it, such as roles or threads.
inline constexpr auto kSeriesColours = std::to_array<Colour>({{0x6c6aa5, 0x3e92c7},
                                                              {0x78452e, 0xa8f0e1},
                                                              {0xb76a88, 0xdde994},
                                                              {0xa94f08, 0x48aca7},
                                                              {0x624459, 0xd0a542},
                                                              {0x4a3484, 0xf3b5c0},
                                                              {0x587003, 0xa1a67b},
                                                              {0x4c8351, 0xa5723e},
                                                              {0x349797, 0x67dc83}});

/// Of what memory is held for, in the order of its categories.
inline constexpr auto kMemoryColours = std::to_array<Colour>({{0x91040b, 0xc881fe},
                                                              {0x5b4c79, 0x5478bd},
                                                              {0x7a1744, 0x876183},
                                                              {0xd14a57, 0xd65244},
                                                              {0x683330, 0xc19dd9},
                                                              {0x3c3d5d, 0xb081a4},
                                                              {0x3d4e89, 0xd68687},
                                                              {0x895778, 0xe570e0},
                                                              {0x5f48bc, 0xedaec3},
                                                              {0xc06193, 0x9a5f60},
                                                              {0x325fb2, 0x13a2e9},
                                                              {0x9e2b42, 0x9c92c0}});

/// Of data types, in the order of their width.
inline constexpr auto kDataTypeColours = std::to_array<Colour>({{0x124a40, 0x98e781},
                                                                {0x6c6225, 0x919262},
                                                                {0x7a9477, 0x16d9c5},
                                                                {0x4c522d, 0x45cb67},
                                                                {0x56897a, 0x62998e},
                                                                {0x2d4128, 0xf7dd62},
                                                                {0x39500b, 0xaed9b8}});

/// What charts are drawn on: the page, and boxes on it.
inline constexpr Colour kPageGround{0xffffff, 0x111113}, kCardGround{0xf5f6f8, 0x1b1c1f};

/// "compute", and "m3" of memory; empty for kNone. `shade`: which one of memory and data types.
std::string NameOf(Tint tint, std::size_t shade = 0);

/// The colour; of kNone the series' colour `shade`.
Colour ColourOf(Tint tint, std::size_t shade = 0);

/// The name for traces; empty: the viewer chooses.
std::string_view TraceColourOf(Tint tint);

/// The variables of style sheets: each colour as --compute, --t0, --m0, --d0, on light and on dark
/// ground.
std::string PaletteStyle();

}  // namespace mpa
