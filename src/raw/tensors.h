// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host_records.h"
#include "mpa/raw/labels.h"

/// The names behind the numbers in the description of operators, in order of the numbers.
namespace mpa::raw {

std::span<const NamedNumber> TensorTypes();
std::span<const NamedNumber> TensorFormats();
/// What an operator runs on: "AI_CORE", "MIX_AIC".
std::span<const NamedNumber> CoreTypes();

/// Tensors of an operator (tensor_info); five at most in one record.
struct TensorRecord {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t name = 0;  ///< hash of the operator's name
  std::uint32_t set = 0;   ///< in TensorSets
};

/// Texts of the tensors of an operator, "N/A" where it has none.
struct TensorTexts {
  StringId input_shapes{}, input_types{}, input_formats{};
  StringId output_shapes{}, output_types{}, output_formats{};
};

/// The different sets of tensors of a capture; there are few.
class TensorSets {
 public:
  explicit TensorSets(StringPool& strings) : strings_(strings) {}

  std::uint32_t Intern(std::string_view bytes);
  /// The texts of the tensors of all `sets`, one after the other.
  TensorTexts Texts(std::span<const std::uint32_t> sets);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  TensorTexts Build(std::span<const std::uint32_t> sets);

  StringPool& strings_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> sets_;  // keys of ids_
  std::vector<std::optional<TensorTexts>> texts_of_one_;
  std::map<std::vector<std::uint32_t>, TensorTexts> texts_of_many_;
};

/// In order of time.
std::vector<TensorRecord> ReadTensors(const HostInput& input, TensorSets& sets);

}  // namespace mpa::raw
