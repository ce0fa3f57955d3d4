// SPDX-License-Identifier: Apache-2.0
// The colours by name, and as variables of style sheets.
#include "mpa/report/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace mpa {
namespace {

const ColourOfMeaning* MeaningOf(Tint tint) {
  const auto found = std::ranges::find(kMeanings, tint, &ColourOfMeaning::tint);
  return found == kMeanings.end() ? nullptr : &*found;
}

std::span<const Colour> ShadesOf(Tint tint) {
  if (tint == Tint::kMemory) return kMemoryColours;
  if (tint == Tint::kDataType) return kDataTypeColours;
  return kSeriesColours;
}

std::string_view LetterOf(Tint tint) {
  return tint == Tint::kMemory ? "m" : tint == Tint::kDataType ? "d" : "t";
}

std::string Variables(std::uint32_t Colour::*ground) {
  std::string text;
  const auto add = [&](std::string_view name, const Colour& colour, std::string_view opacity = "") {
    text += fmt::format(" --{}: #{:06x}{};", name, colour.*ground, opacity);
  };
  add("page", kPageGround);
  add("card", kCardGround);
  for (const ColourOfMeaning& meaning : kMeanings) add(meaning.name, meaning.colour);
  add("band", ColourOf(Tint::kBase), "40");
  for (const Tint tint : {Tint::kNone, Tint::kMemory, Tint::kDataType}) {
    const std::span<const Colour> shades = ShadesOf(tint);
    for (std::size_t i = 0; i < shades.size(); ++i)
      add(fmt::format("{}{}", LetterOf(tint), i), shades[i]);
  }
  return text;
}

}  // namespace

std::string NameOf(Tint tint, std::size_t shade) {
  if (tint == Tint::kNone) return {};
  if (const ColourOfMeaning* meaning = MeaningOf(tint)) return std::string(meaning->name);
  return fmt::format("{}{}", LetterOf(tint), shade % ShadesOf(tint).size());
}

Colour ColourOf(Tint tint, std::size_t shade) {
  if (const ColourOfMeaning* meaning = MeaningOf(tint)) return meaning->colour;
  const std::span<const Colour> shades = ShadesOf(tint);
  return shades[shade % shades.size()];
}

std::string_view TraceColourOf(Tint tint) {
  const ColourOfMeaning* meaning = MeaningOf(tint);
  return meaning == nullptr ? std::string_view() : meaning->in_traces;
}

std::string PaletteStyle() {
  return fmt::format(":root {{{}}}\n@media (prefers-color-scheme: dark) {{\n  :root {{{}}}\n}}\n",
                     Variables(&Colour::light), Variables(&Colour::dark));
}

}  // namespace mpa
