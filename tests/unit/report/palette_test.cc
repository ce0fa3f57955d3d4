// SPDX-License-Identifier: Apache-2.0
// Whether the colours can be seen and told apart.
//
// Contrast: WCAG 2.1, "relative luminance" and "contrast ratio"; 1.4.11 asks 3:1 of graphics.
// Colours as people without cones for red or for green see them: G. M. Machado, M. M. Oliveira,
// L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
// IEEE TVCG 15(6), 2009, table 1, severity 1.0, applied to linear RGB.
// Distance: CIE 1976 Lab (D65), Euclidean; 2.3 is just noticeable side by side.
#include "mpa/report/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mpa {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;
using Ground = std::uint32_t Colour::*;

constexpr Matrix kUnchanged = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kWithoutRed = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kWithoutGreen = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};
// From linear sRGB to XYZ (IEC 61966-2-1).
constexpr Matrix kToXyz = {{{0.4124564, 0.3575761, 0.1804375},
                            {0.2126729, 0.7151522, 0.0721750},
                            {0.0193339, 0.1191920, 0.9503041}}};

Vector Linear(std::uint32_t colour) {
  Vector linear{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = ((colour >> (16 - 8 * i)) & 0xff) / 255.0;
    linear[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return linear;
}

Vector Product(const Matrix& matrix, const Vector& vector) {
  Vector product{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) product[i] += matrix[i][j] * vector[j];
  }
  return product;
}

double Contrast(std::uint32_t a, std::uint32_t b) {
  const double first = Product(kToXyz, Linear(a))[1], second = Product(kToXyz, Linear(b))[1];
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Vector Lab(std::uint32_t colour, const Matrix& eyes) {
  Vector seen = Product(eyes, Linear(colour));
  for (double& value : seen) value = std::clamp(value, 0.0, 1.0);
  constexpr Vector kWhite = {0.95047, 1, 1.08883};
  Vector xyz = Product(kToXyz, seen);
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = xyz[i] / kWhite[i];
    xyz[i] = part > 216.0 / 24389 ? std::cbrt(part) : (24389.0 / 27 * part + 16) / 116;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double Distance(std::uint32_t a, std::uint32_t b, const Matrix& eyes = kUnchanged) {
  const Vector first = Lab(a, eyes), second = Lab(b, eyes);
  return std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

// To those who confuse red and green.
double RedGreenDistance(std::uint32_t a, std::uint32_t b) {
  return std::min(Distance(a, b, kWithoutRed), Distance(a, b, kWithoutGreen));
}

std::vector<Colour> AllColours() {
  std::vector<Colour> all;
  for (const ColourOfMeaning& meaning : kMeanings) all.push_back(meaning.colour);
  for (const std::span<const Colour> colours :
       {std::span<const Colour>(kSeriesColours), std::span<const Colour>(kMemoryColours),
        std::span<const Colour>(kDataTypeColours)})
    all.insert(all.end(), colours.begin(), colours.end());
  return all;
}

constexpr Ground kGrounds[] = {&Colour::light, &Colour::dark};

TEST(Palette, FormulasGiveKnownValues) {
  EXPECT_NEAR(Contrast(0x000000, 0xffffff), 21, 0.001);    // WCAG
  EXPECT_NEAR(Contrast(0x777777, 0xffffff), 4.48, 0.005);  // WebAIM's contrast checker
  EXPECT_NEAR(Lab(0xff0000, kUnchanged)[0], 53.24, 0.01);  // sRGB red, D65
  EXPECT_NEAR(Lab(0xff0000, kUnchanged)[1], 80.09, 0.01);
  EXPECT_NEAR(Lab(0xff0000, kUnchanged)[2], 67.20, 0.01);
  // Red and a dark green of the same lightness: far apart, but not to everybody.
  EXPECT_GT(Distance(0xb54a3c, 0x6b7326), 50);
  EXPECT_LT(RedGreenDistance(0xb54a3c, 0x6b7326), 15);
}

TEST(Palette, ColoursStandOutFromTheirGround) {
  for (const Colour& colour : AllColours()) {
    for (const Ground ground : kGrounds) {
      EXPECT_GE(Contrast(colour.*ground, kPageGround.*ground), 3) << std::hex << colour.*ground;
      EXPECT_GE(Contrast(colour.*ground, kCardGround.*ground), 3) << std::hex << colour.*ground;
    }
  }
}

// Parts of a step are stacked in several orders: each of them may stand beside each other one.
TEST(Palette, PartsOfAStepAreToldApartWithoutRedOrGreen) {
  const auto is_part = [](Tint tint) { return tint <= Tint::kBase; };
  for (const ColourOfMeaning& a : kMeanings) {
    for (const ColourOfMeaning& b : kMeanings) {
      if (a.tint >= b.tint) continue;
      const bool beside = is_part(a.tint) && is_part(b.tint);
      const bool changes = a.tint >= Tint::kBase && b.tint >= Tint::kBase;  // in a waterfall
      for (const Ground ground : kGrounds) {
        EXPECT_GE(RedGreenDistance(a.colour.*ground, b.colour.*ground), beside || changes ? 20 : 10)
            << a.name << ", " << b.name;
        EXPECT_GE(Distance(a.colour.*ground, b.colour.*ground), 20) << a.name << ", " << b.name;
      }
    }
  }
}

void ExpectNeighboursApart(std::span<const Colour> colours) {
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const Colour& next = colours[(i + 1) % colours.size()];
    for (const Ground ground : kGrounds)
      EXPECT_GE(RedGreenDistance(colours[i].*ground, next.*ground), 16) << i;
    for (std::size_t j = 0; j < i; ++j) {
      for (const Ground ground : kGrounds)
        EXPECT_GE(Distance(colours[i].*ground, colours[j].*ground), 12) << i << ", " << j;
    }
  }
}

TEST(Palette, NeighboursAreToldApartWithoutRedOrGreen) {
  ExpectNeighboursApart(kSeriesColours);
  ExpectNeighboursApart(kMemoryColours);
  ExpectNeighboursApart(kDataTypeColours);
}

// What means nothing must not look as what means something.
TEST(Palette, OtherPalettesDifferFromMeanings) {
  const std::vector<Colour> all = AllColours();
  for (std::size_t i = kMeanings.size(); i < all.size(); ++i) {
    for (const ColourOfMeaning& meaning : kMeanings) {
      for (const Ground ground : kGrounds)
        EXPECT_GE(Distance(all[i].*ground, meaning.colour.*ground), 8)
            << std::hex << all[i].*ground << ", " << meaning.name;
    }
  }
}

// Chrome's viewer knows these names (catapult, tracing/base/color_scheme.html).
TEST(Palette, TracesHaveTheNearestNamesOfChrome) {
  const std::map<std::string, std::uint32_t> names = {{"thread_state_uninterruptible", 0xb67d8f},
                                                      {"thread_state_iowait", 0xff8c00},
                                                      {"thread_state_running", 0x7ec894},
                                                      {"thread_state_runnable", 0x85a0d2},
                                                      {"thread_state_sleeping", 0xf0f0f0},
                                                      {"thread_state_unknown", 0xc79b7d},
                                                      {"background_memory_dump", 0x00b4b4},
                                                      {"light_memory_dump", 0x0000b4},
                                                      {"detailed_memory_dump", 0xb400b4},
                                                      {"vsync_highlight_color", 0x0000ff},
                                                      {"generic_work", 0x7d7d7d},
                                                      {"good", 0x007d00},
                                                      {"bad", 0xb47d00},
                                                      {"terrible", 0xb40000},
                                                      {"black", 0x000000},
                                                      {"grey", 0xdddddd},
                                                      {"white", 0xffffff},
                                                      {"yellow", 0xffff00},
                                                      {"olive", 0x646400},
                                                      {"rail_response", 0x4387fd},
                                                      {"rail_animation", 0xf44a3f},
                                                      {"rail_idle", 0xee8e00},
                                                      {"rail_load", 0x0da861},
                                                      {"startup", 0xe6e600},
                                                      {"heap_dump_stack_frame", 0x808080},
                                                      {"heap_dump_child_node_arrow", 0xcc6600}};
  std::set<std::string_view> used;
  for (const ColourOfMeaning& meaning : kMeanings) {
    const auto nearest = std::ranges::min_element(
        names, {}, [&](const auto& name) { return Distance(name.second, meaning.colour.light); });
    EXPECT_EQ(meaning.in_traces, nearest->first) << meaning.name;
    EXPECT_TRUE(used.insert(meaning.in_traces).second) << meaning.name;
  }
}

TEST(Palette, NamesAreThoseOfVariables) {
  EXPECT_EQ(NameOf(Tint::kNone), "");
  EXPECT_EQ(NameOf(Tint::kUnsplit), "unsplit");
  EXPECT_EQ(NameOf(Tint::kMemory, 13), "m1");  // twelve colours
  EXPECT_EQ(TraceColourOf(Tint::kNone), "");
  const std::string style = PaletteStyle();
  const std::size_t dark = style.find("prefers-color-scheme: dark");
  EXPECT_LT(style.find("--wait: #c51e9d;"), dark);
  EXPECT_GT(style.find("--wait: #f15dc6;"), dark);
  EXPECT_LT(style.find("--m11: "), dark);
  EXPECT_EQ(style.find("--m12: "), std::string::npos);
}

}  // namespace
}  // namespace mpa
