// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mpa {

/// A pattern that repeats in the kernels of a graph: its layers. Where layers take turns, as with
/// full and windowed attention, the pattern is that of several; where one kernel of many differs,
/// it is the same.
struct LayerPattern {
  std::size_t begin = 0;         ///< first kernel that is part of it
  std::size_t length = 0;        ///< of the pattern, in kernels
  std::size_t covered = 0;       ///< kernels from `begin` on that follow it
  std::size_t layers_in_it = 1;  ///< as most of its kernels occur so often in it
  double same = 1;               ///< share of them that have the name of their predecessor

  /// Layers in all, the last of which may lack a few kernels.
  std::size_t Layers() const { return (2 * covered * layers_in_it + length) / (2 * length); }
  double KernelsInLayer() const {
    return static_cast<double>(length) / static_cast<double>(layers_in_it);
  }
  /// The place of a kernel in the pattern; empty outside of it.
  std::optional<std::size_t> PlaceOf(std::size_t kernel) const {
    if (kernel < begin || kernel >= begin + covered) return std::nullopt;
    return (kernel - begin) % length;
  }
};

/// The pattern that covers most of the kernels, of several about as good the shortest. `names` are
/// numbers of the kernels' names, in order. Empty when less than half of the kernels repeat one.
/// Takes time in proportion to the kernels.
std::optional<LayerPattern> FindLayers(std::span<const std::uint32_t> names);

}  // namespace mpa
