// SPDX-License-Identifier: Apache-2.0
// Tensors of operators, and the names of their types and formats.
#include "tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mpa::raw {

std::span<const NamedNumber> TensorTypes() {
  return kNumbered<
      "0: FLOAT, FLOAT16, INT8, INT32, UINT8, 6: INT16, UINT16, UINT32, INT64, UINT64, DOUBLE,"
      " BOOL, STRING, DUAL_SUB_INT8, DUAL_SUB_UINT8, COMPLEX64, COMPLEX128, QINT8, QINT16, QINT32,"
      " QUINT8, QUINT16, RESOURCE, STRING_REF, DUAL, DT_VARIANT, DT_BF16, DT_UNDEFINED, DT_INT4,"
      " DT_UINT1, DT_INT2, DT_UINT2, DT_COMPLEX32, DT_HIFLOAT8, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN,"
      " DT_FLOAT8_E8M0, DT_FLOAT6_E3M2, DT_FLOAT6_E2M3, DT_FLOAT4_E2M1, DT_FLOAT4_E1M2, DT_MAX,"
      " 229: NUMBER_TYPE_BEGIN_, BOOL_, INT_, INT8_, INT16_, INT32_, INT64_, UINT_, UINT8_,"
      " UINT16_, UINT32_, UINT64_, FLOAT_, FLOAT16_, FLOAT32_, FLOAT64_, COMPLEX_,"
      " NUMBER_TYPE_END_, 4294967295: UNDEFINED">;
}

std::span<const NamedNumber> TensorFormats() {
  return kNumbered<
      "0: NCHW, NHWC, ND, NC1HWC0, FRACTAL_Z, NC1C0HWPAD, NHWC1C0, FSR_NCHW, FRACTAL_DECONV,"
      " C1HWNC0, FRACTAL_DECONV_TRANSPOSE, FRACTAL_DECONV_SP_STRIDE_TRANS, NC1HWC0_C04,"
      " FRACTAL_Z_C04, CHWN, FRACTAL_DECONV_SP_STRIDE8_TRANS, HWCN, NC1KHKWHWC0, BN_WEIGHT,"
      " FILTER_HWCK, HASHTABLE_LOOKUP_LOOKUPS, HASHTABLE_LOOKUP_KEYS, HASHTABLE_LOOKUP_VALUE,"
      " HASHTABLE_LOOKUP_OUTPUT, HASHTABLE_LOOKUP_HITS, C1HWNCoC0, MD, NDHWC, FRACTAL_ZZ,"
      " FRACTAL_NZ, NCDHW, DHWCN, NDC1HWC0, FRACTAL_Z_3D, CN, NC, DHWNC, FRACTAL_Z_3D_TRANSPOSE,"
      " FRACTAL_ZN_LSTM, FRACTAL_Z_G, RESERVED, ALL, NULL, ND_RNN_BIAS, FRACTAL_ZN_RNN, END,"
      " 47: NCL, FRACTAL_Z_WINO, C1HWC0, FRACTAL_NZ_C0_16, FRACTAL_NZ_C0_32, FRACTAL_NZ_C0_2,"
      " FRACTAL_NZ_C0_4, FRACTAL_NZ_C0_8, END, 200: UNKNOWN_, DEFAULT_, NC1KHKWHWC0_, ND_, NCHW_,"
      " NHWC_, HWCN_, NC1HWC0_, FRAC_Z_, C1HWNCOC0_, FRAC_NZ_, NC1HWC0_C04_, FRACTAL_Z_C04_,"
      " NDHWC_, FRACTAL_ZN_LSTM_, FRACTAL_ZN_RNN_, ND_RNN_BIAS_, NDC1HWC0_, NCDHW_, FRACTAL_Z_3D_,"
      " DHWNC_, DHWCN_, 255: MAX, 4294967295: UNDEFINED">;
}

std::span<const NamedNumber> CoreTypes() {
  return kNumbered<
      "0: AI_CORE, AI_CPU, AI_VECTOR_CORE, WRITE_BACK, MIX_AIC, MIX_AIV, FFTS_PLUS, DSA_SQE, DVPP,"
      " COMMUNICATION, FUSION, INVALID, 256: HCCL_AI_CPU">;
}

// Shapes, types and formats of the tensors of operators.

namespace {

constexpr std::size_t kTensorSize = 44;
using Tensor = Record<kTensorSize>;

// Of unknown numbers the decimal text.
void AppendName(std::span<const NamedNumber> names, std::uint32_t number, std::string& text) {
  const std::string_view name = NameOf(names, number);
  if (name.empty()) {
    fmt::format_to(std::back_inserter(text), "{}", number);
  } else {
    text += name;
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
  constexpr std::size_t kTensors = 36, kMax = 5;
  std::vector<TensorRecord> records;
  records.reserve(CountRecords(input.files, kStem, kAdditionalSize));
  ForEachJudgedRecord<kAdditionalSize>(
      input, kStem, [&](const Record<kAdditionalSize>& record, const Slice&) {
        const std::size_t count = std::min<std::size_t>(record.U32(32), kMax);
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
