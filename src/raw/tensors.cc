// SPDX-License-Identifier: Apache-2.0
// Shapes, types and formats of the tensors of operators.
#include "tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/raw/enumerations.h"
#include "tensor_names.h"

namespace mpa::raw {
namespace {

constexpr std::size_t kTensorSize = 44;
using Tensor = Record<kTensorSize>;

// Of unknown numbers the decimal text.
void AppendName(std::span<const NamedNumber> names, std::uint32_t number, std::string& text) {
  const auto found = std::lower_bound(
      names.begin(), names.end(), number,
      [](const NamedNumber& name, std::uint32_t wanted) { return name.number < wanted; });
  if (found != names.end() && found->number == number) {
    text += found->name;
  } else {
    fmt::format_to(std::back_inserter(text), "{}", number);
  }
}

void AppendFormat(std::uint32_t format, std::string& text) {
  constexpr std::uint32_t kUndefined = 0xFFFFFFFF;
  AppendName(TensorFormats(), format == kUndefined ? format : format & 0xFF, text);
  const std::uint32_t sub_format = (format >> 8) & 0xFFFF;
  if (format != kUndefined && sub_format > 0) {
    fmt::format_to(std::back_inserter(text), ":{}", sub_format);
  }
}

void AppendShape(const Tensor& tensor, std::string& text) {
  constexpr std::size_t kShape = 12, kDimensions = 8;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    const std::uint32_t size = tensor.U32(kShape + 4 * i);
    if (size == 0) break;
    if (i > 0) text += ',';
    fmt::format_to(std::back_inserter(text), "{}", size);
  }
}

// The texts of inputs or outputs.
struct TensorColumns {
  std::string shapes, types, formats;
  int count = 0;

  void Add(const Tensor& tensor) {
    if (count++ > 0) {
      shapes += ';';
      types += ';';
      formats += ';';
    }
    AppendFormat(tensor.U32(4), formats);
    AppendName(TensorTypes(), tensor.U32(8), types);
    AppendShape(tensor, shapes);
  }
  StringId Intern(StringPool& strings, std::string_view text) const {
    return strings.Intern(count == 0 ? "N/A" : text);
  }
};

}  // namespace

std::uint32_t TensorSets::Intern(std::string_view bytes) {
  if (const auto found = ids_.find(bytes); found != ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(sets_.size());
  sets_.push_back(&ids_.emplace(bytes, id).first->first);
  return id;
}

TensorTexts TensorSets::Texts(std::span<const std::uint32_t> sets) {
  if (sets.size() != 1) {
    const auto [place, fresh] = texts_of_many_.try_emplace({sets.begin(), sets.end()});
    if (fresh) place->second = Build(sets);
    return place->second;
  }
  texts_of_one_.resize(sets_.size());
  std::optional<TensorTexts>& texts = texts_of_one_[sets.front()];
  if (!texts) texts = Build(sets);
  return *texts;
}

TensorTexts TensorSets::Build(std::span<const std::uint32_t> sets) {
  TensorColumns inputs, outputs;
  for (const std::uint32_t set : sets) {
    const std::string& bytes = *sets_[set];
    for (std::size_t at = 0; at + kTensorSize <= bytes.size(); at += kTensorSize) {
      const Tensor tensor(bytes.data() + at);
      if (tensor.U32(0) == 0) inputs.Add(tensor);
      if (tensor.U32(0) == 1) outputs.Add(tensor);
    }
  }
  const auto quoted = [](const TensorColumns& side) { return '"' + side.shapes + '"'; };
  return {.input_shapes = inputs.Intern(strings_, quoted(inputs)),
          .input_types = inputs.Intern(strings_, inputs.types),
          .input_formats = inputs.Intern(strings_, inputs.formats),
          .output_shapes = outputs.Intern(strings_, quoted(outputs)),
          .output_types = outputs.Intern(strings_, outputs.types),
          .output_formats = outputs.Intern(strings_, outputs.formats)};
}

std::vector<TensorRecord> ReadTensors(const HostInput& input, TensorSets& sets) {
  constexpr std::string_view kStem = "additional.tensor_info";
  constexpr std::size_t kTensors = 36, kMost = 5;
  std::vector<TensorRecord> records;
  records.reserve(CountRecords(input.files, kStem, kAdditionalSize));
  ForEachJudgedRecord<kAdditionalSize>(
      input, kStem, [&](const Record<kAdditionalSize>& record, const Slice&) {
        const std::size_t count = std::min<std::size_t>(record.U32(32), kMost);
        records.push_back(
            {.time = input.clock.HostNs(record.U64(16)),
             .thread = record.U32(8),
             .name = record.U64(24),
             .set = sets.Intern(record.Bytes().substr(kTensors, count * kTensorSize))});
      });
  SortByTime(records);
  return records;
}

}  // namespace mpa::raw
