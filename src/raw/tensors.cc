// SPDX-License-Identifier: Apache-2.0
// Tensors of operators, and the names of their types and formats.
#include "tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/raw/enumerations.h"

namespace mpa::raw {
namespace {

constexpr NamedNumber kTensorTypes[] = {{0, "FLOAT"},
                                        {1, "FLOAT16"},
                                        {2, "INT8"},
                                        {3, "INT32"},
                                        {4, "UINT8"},
                                        {6, "INT16"},
                                        {7, "UINT16"},
                                        {8, "UINT32"},
                                        {9, "INT64"},
                                        {10, "UINT64"},
                                        {11, "DOUBLE"},
                                        {12, "BOOL"},
                                        {13, "STRING"},
                                        {14, "DUAL_SUB_INT8"},
                                        {15, "DUAL_SUB_UINT8"},
                                        {16, "COMPLEX64"},
                                        {17, "COMPLEX128"},
                                        {18, "QINT8"},
                                        {19, "QINT16"},
                                        {20, "QINT32"},
                                        {21, "QUINT8"},
                                        {22, "QUINT16"},
                                        {23, "RESOURCE"},
                                        {24, "STRING_REF"},
                                        {25, "DUAL"},
                                        {26, "DT_VARIANT"},
                                        {27, "DT_BF16"},
                                        {28, "DT_UNDEFINED"},
                                        {29, "DT_INT4"},
                                        {30, "DT_UINT1"},
                                        {31, "DT_INT2"},
                                        {32, "DT_UINT2"},
                                        {33, "DT_COMPLEX32"},
                                        {34, "DT_HIFLOAT8"},
                                        {35, "DT_FLOAT8_E5M2"},
                                        {36, "DT_FLOAT8_E4M3FN"},
                                        {37, "DT_FLOAT8_E8M0"},
                                        {38, "DT_FLOAT6_E3M2"},
                                        {39, "DT_FLOAT6_E2M3"},
                                        {40, "DT_FLOAT4_E2M1"},
                                        {41, "DT_FLOAT4_E1M2"},
                                        {42, "DT_MAX"},
                                        {229, "NUMBER_TYPE_BEGIN_"},
                                        {230, "BOOL_"},
                                        {231, "INT_"},
                                        {232, "INT8_"},
                                        {233, "INT16_"},
                                        {234, "INT32_"},
                                        {235, "INT64_"},
                                        {236, "UINT_"},
                                        {237, "UINT8_"},
                                        {238, "UINT16_"},
                                        {239, "UINT32_"},
                                        {240, "UINT64_"},
                                        {241, "FLOAT_"},
                                        {242, "FLOAT16_"},
                                        {243, "FLOAT32_"},
                                        {244, "FLOAT64_"},
                                        {245, "COMPLEX_"},
                                        {246, "NUMBER_TYPE_END_"},
                                        {0xFFFFFFFF, "UNDEFINED"}};
constexpr NamedNumber kTensorFormats[] = {{0, "NCHW"},
                                          {1, "NHWC"},
                                          {2, "ND"},
                                          {3, "NC1HWC0"},
                                          {4, "FRACTAL_Z"},
                                          {5, "NC1C0HWPAD"},
                                          {6, "NHWC1C0"},
                                          {7, "FSR_NCHW"},
                                          {8, "FRACTAL_DECONV"},
                                          {9, "C1HWNC0"},
                                          {10, "FRACTAL_DECONV_TRANSPOSE"},
                                          {11, "FRACTAL_DECONV_SP_STRIDE_TRANS"},
                                          {12, "NC1HWC0_C04"},
                                          {13, "FRACTAL_Z_C04"},
                                          {14, "CHWN"},
                                          {15, "FRACTAL_DECONV_SP_STRIDE8_TRANS"},
                                          {16, "HWCN"},
                                          {17, "NC1KHKWHWC0"},
                                          {18, "BN_WEIGHT"},
                                          {19, "FILTER_HWCK"},
                                          {20, "HASHTABLE_LOOKUP_LOOKUPS"},
                                          {21, "HASHTABLE_LOOKUP_KEYS"},
                                          {22, "HASHTABLE_LOOKUP_VALUE"},
                                          {23, "HASHTABLE_LOOKUP_OUTPUT"},
                                          {24, "HASHTABLE_LOOKUP_HITS"},
                                          {25, "C1HWNCoC0"},
                                          {26, "MD"},
                                          {27, "NDHWC"},
                                          {28, "FRACTAL_ZZ"},
                                          {29, "FRACTAL_NZ"},
                                          {30, "NCDHW"},
                                          {31, "DHWCN"},
                                          {32, "NDC1HWC0"},
                                          {33, "FRACTAL_Z_3D"},
                                          {34, "CN"},
                                          {35, "NC"},
                                          {36, "DHWNC"},
                                          {37, "FRACTAL_Z_3D_TRANSPOSE"},
                                          {38, "FRACTAL_ZN_LSTM"},
                                          {39, "FRACTAL_Z_G"},
                                          {40, "RESERVED"},
                                          {41, "ALL"},
                                          {42, "NULL"},
                                          {43, "ND_RNN_BIAS"},
                                          {44, "FRACTAL_ZN_RNN"},
                                          {45, "END"},
                                          {47, "NCL"},
                                          {48, "FRACTAL_Z_WINO"},
                                          {49, "C1HWC0"},
                                          {50, "FRACTAL_NZ_C0_16"},
                                          {51, "FRACTAL_NZ_C0_32"},
                                          {52, "FRACTAL_NZ_C0_2"},
                                          {53, "FRACTAL_NZ_C0_4"},
                                          {54, "FRACTAL_NZ_C0_8"},
                                          {55, "END"},
                                          {200, "UNKNOWN_"},
                                          {201, "DEFAULT_"},
                                          {202, "NC1KHKWHWC0_"},
                                          {203, "ND_"},
                                          {204, "NCHW_"},
                                          {205, "NHWC_"},
                                          {206, "HWCN_"},
                                          {207, "NC1HWC0_"},
                                          {208, "FRAC_Z_"},
                                          {209, "C1HWNCOC0_"},
                                          {210, "FRAC_NZ_"},
                                          {211, "NC1HWC0_C04_"},
                                          {212, "FRACTAL_Z_C04_"},
                                          {213, "NDHWC_"},
                                          {214, "FRACTAL_ZN_LSTM_"},
                                          {215, "FRACTAL_ZN_RNN_"},
                                          {216, "ND_RNN_BIAS_"},
                                          {217, "NDC1HWC0_"},
                                          {218, "NCDHW_"},
                                          {219, "FRACTAL_Z_3D_"},
                                          {220, "DHWNC_"},
                                          {221, "DHWCN_"},
                                          {255, "MAX"},
                                          {0xFFFFFFFF, "UNDEFINED"}};
constexpr NamedNumber kCoreTypes[] = {{0, "AI_CORE"},       {1, "AI_CPU"},  {2, "AI_VECTOR_CORE"},
                                      {3, "WRITE_BACK"},    {4, "MIX_AIC"}, {5, "MIX_AIV"},
                                      {6, "FFTS_PLUS"},     {7, "DSA_SQE"}, {8, "DVPP"},
                                      {9, "COMMUNICATION"}, {10, "FUSION"}, {11, "INVALID"},
                                      {256, "HCCL_AI_CPU"}};

}  // namespace

std::span<const NamedNumber> TensorTypes() { return kTensorTypes; }
std::span<const NamedNumber> TensorFormats() { return kTensorFormats; }
std::span<const NamedNumber> CoreTypes() { return kCoreTypes; }

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
