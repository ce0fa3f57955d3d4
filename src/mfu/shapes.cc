// SPDX-License-Identifier: Apache-2.0
// Reads the texts in which captures hold shapes, types and formats of tensors.
#include "mpa/mfu/shapes.h"

#include <algorithm>
#include <optional>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// Empty for "no information".
std::string_view Content(std::string_view text) {
  text = Trim(WithoutQuotes(Trim(text)));
  return text == "N/A" ? std::string_view() : text;
}

// Calls `use` with what stands between the separators; stops when it gives false.
template <typename Use>
bool ForEachPart(std::string_view text, char separator, Use use) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!use(Trim(text.substr(0, end)))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

std::optional<Shape> ParseShape(std::string_view text) {
  Shape shape;
  if (text.empty()) return shape;
  const bool good = ForEachPart(text, ',', [&](std::string_view part) {
    const auto size = WholeNumber<std::int64_t>(part);
    if (!size || *size < 0) return false;
    shape.push_back(*size);
    return true;
  });
  if (!good) return std::nullopt;
  return shape;
}

}  // namespace

std::string_view WithoutQuotes(std::string_view shapes) {
  constexpr std::string_view kQuotes = "\"'";
  const std::size_t first = std::min(shapes.find_first_not_of(kQuotes), shapes.size());
  shapes.remove_prefix(first);
  return shapes.substr(0, shapes.find_last_not_of(kQuotes) + 1);
}

Shapes ParseShapes(std::string_view text) {
  Shapes shapes;
  text = Content(text);
  if (text.empty()) return shapes;
  const bool good = ForEachPart(text, ';', [&](std::string_view part) {
    std::optional<Shape> shape = ParseShape(part);
    if (!shape) return false;
    shapes.push_back(std::move(*shape));
    return true;
  });
  if (!good) shapes.clear();
  return shapes;
}

std::vector<std::string> ParseTensorNames(std::string_view text) {
  std::vector<std::string> names;
  text = Content(text);
  if (text.empty()) return names;
  ForEachPart(text, ';', [&](std::string_view part) {
    std::string name(part);
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    for (const std::string_view prefix : {"DT_", "FORMAT_"}) {
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    names.push_back(std::move(name));
    return true;
  });
  return names;
}

KernelTensors KernelTensors::Parse(std::string_view input_shapes, std::string_view input_formats,
                                   std::string_view output_shapes,
                                   std::string_view output_formats) {
  return {.inputs = ParseShapes(input_shapes),
          .outputs = ParseShapes(output_shapes),
          .input_formats = ParseTensorNames(input_formats),
          .output_formats = ParseTensorNames(output_formats)};
}

}  // namespace mpa
