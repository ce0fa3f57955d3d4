// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/mfu/roofline.h"
#include "mpa/mfu/shapes.h"
#include "part_facts.h"

namespace mpa {
namespace {

// The limits of the Python tool.
constexpr std::size_t kMaxOfVerdict = 5;
constexpr double kMinCubeBytes = 100.0 * (1 << 20);  // of all calls
constexpr double kMinShareOfType = 0.01;
constexpr TimeNs kMinTimeOfType = 1'000'000'000;
constexpr std::int64_t kCubeAxis = 256, kAttentionAxis = 128;

// Means over the measured calls, in thousandths.
struct MeanLoads {
  double mac = 0, mte2 = 0, fixpipe = 0, vec = 0, vector_mte2 = 0, vector_mte3 = 0;
};

struct CallsOfKernel {
  std::size_t row = 0;  // of the first call
  std::int64_t count = 0, measured = 0;
  TimeNs time = 0;
  MeanLoads loads;
};

struct UnitLimit {
  std::string_view unit;
  double load, limit;  // thousandths
};

// The first limit that is reached, else how far the nearest one is.
struct Judgement {
  std::string_view unit;
  double room = 0;
  bool bound = false;
};

Judgement JudgeLoads(std::initializer_list<UnitLimit> limits) {
  Judgement nearest;
  for (const UnitLimit& limit : limits) {
    if (limit.load >= limit.limit) return {limit.unit, 0, true};
    const double room = (limit.limit - limit.load) / 1000;
    if (nearest.unit.empty() || room < nearest.room) nearest = {limit.unit, room, false};
  }
  return nearest;
}

// Both units reach their limits, which is the first thing to look at.
UnitLimit BothOf(std::string_view unit, double first, double first_limit, double second,
                 double second_limit) {
  return {unit, first >= first_limit && second >= second_limit ? 1000.0 : -1e9, 1000};
}

bool IsTiledShape(const Shape& shape, std::string_view format) {
  return shape.size() >= 4 && format.find("NZ") != std::string_view::npos;
}

// The columns of a matrix: in tiles those of all tiles.
std::int64_t InnerAxis(const Shape& shape, std::string_view format) {
  return IsTiledShape(shape, format) ? shape[shape.size() - 4] * shape.back() : shape.back();
}

class PerfJudge {
 public:
  explicit PerfJudge(const RankTrace& trace) : trace_(trace), kernels_(trace.kernels) {}

  std::vector<PerfRow> Judge() && {
    Collect();
    std::vector<PerfRow> rows;
    for (const auto& [key, calls] : calls_) {
      const PerfFamily family = std::get<0>(key);
      if (family == PerfFamily::kVector && !Matters(kernels_.op_type[calls.row])) continue;
      const KernelTensors tensors = TensorsOf(calls.row);
      if (family == PerfFamily::kCube &&
          BytesOf(calls.row, tensors) * static_cast<double>(calls.count) < kMinCubeBytes)
        continue;
      AddRow(family, calls, tensors, rows);
    }
    return Longest(std::move(rows));
  }

 private:
  using Key =
      std::tuple<PerfFamily, StringId, StringId, StringId>;  // name, shapes of inputs and outputs

  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  std::optional<PerfFamily> FamilyOf(std::size_t row) const {
    const std::string_view type = View(kernels_.op_type[row]);
    const Core core = CoreNamed(View(kernels_.core[row]));
    const KernelClass type_class = ClassOfType(type);
    if (type_class == KernelClass::kAttention) return PerfFamily::kAttention;
    const bool is_product = type_class == KernelClass::kMatmul ||
                            type_class == KernelClass::kGroupedMatmul ||
                            type_class == KernelClass::kMc2;
    if (core == Core::kCube && is_product) return PerfFamily::kCube;
    if (core == Core::kVector) return PerfFamily::kVector;
    return std::nullopt;
  }

  void Collect() {
    const KernelLoads& loads = trace_.kernel_loads;
    std::map<std::pair<StringId, StringId>, std::optional<PerfFamily>>
        families;  // by core and type
    for (std::size_t i = 0; i < loads.Size(); ++i) {
      total_ += kernels_.dur[i];
      const auto [known, is_new] = families.try_emplace({kernels_.core[i], kernels_.op_type[i]});
      if (is_new) known->second = FamilyOf(i);
      if (!known->second) continue;
      if (*known->second == PerfFamily::kVector) of_type_[kernels_.op_type[i]] += kernels_.dur[i];
      if (IsOneOf(View(kernels_.shapes[i]), {"", "N/A"})) continue;
      CallsOfKernel& calls =
          calls_[{*known->second, kernels_.name[i], kernels_.shapes[i], kernels_.output_shapes[i]}];
      if (calls.count++ == 0) calls.row = i;
      calls.time += kernels_.dur[i];
      AddLoads(i, calls);
    }
  }

  void AddLoads(std::size_t row, CallsOfKernel& calls) const {
    const KernelLoads& loads = trace_.kernel_loads;
    const auto measured = {loads.aic_mac[row], loads.aic_mte2[row], loads.aic_fixpipe[row],
                           loads.aiv_vec[row], loads.aiv_mte2[row], loads.aiv_mte3[row]};
    if (std::max(measured) < 0) return;
    ++calls.measured;
    const auto add = [](std::int16_t share, double& sum) {
      sum += std::max<std::int16_t>(share, 0);
    };
    add(loads.aic_mac[row], calls.loads.mac);
    add(loads.aic_mte2[row], calls.loads.mte2);
    add(loads.aic_fixpipe[row], calls.loads.fixpipe);
    add(loads.aiv_vec[row], calls.loads.vec);
    // Where one core does both there is but one counter.
    add(std::max(loads.aiv_mte2[row], loads.aic_mte2[row]), calls.loads.vector_mte2);
    add(loads.aiv_mte3[row], calls.loads.vector_mte3);
  }

  bool Matters(StringId type) const {
    const TimeNs time = of_type_.at(type);
    return time >= kMinTimeOfType ||
           static_cast<double>(time) >= kMinShareOfType * static_cast<double>(total_);
  }

  KernelTensors TensorsOf(std::size_t row) const {
    return KernelTensors::Parse(View(kernels_.shapes[row]), View(kernels_.input_formats[row]),
                                View(kernels_.output_shapes[row]),
                                View(kernels_.output_formats[row]));
  }

  // Of one call. Types that are not known have two bytes, as most have.
  double BytesOf(std::size_t row, const KernelTensors& tensors) const {
    const auto sum = [](const Shapes& shapes, const std::vector<std::string>& types) {
      double bytes = 0;
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const std::int64_t element = i < types.size() ? BytesOfElement(types[i]) : 0;
        bytes += static_cast<double>(ElementsOf(shapes[i])) *
                 static_cast<double>(element > 0 ? element : 2);
      }
      return bytes;
    };
    return sum(tensors.inputs, ParseTensorNames(View(kernels_.input_types[row]))) +
           sum(tensors.outputs, ParseTensorNames(View(trace_.kernel_loads.output_types[row])));
  }

  void AddRow(PerfFamily family, const CallsOfKernel& calls, const KernelTensors& tensors,
              std::vector<PerfRow>& rows) const {
    PerfRow row;
    row.family = family;
    row.what = BadAxes(family, calls.row, tensors);
    row.verdict = PerfVerdict::kShape;
    if (row.what.empty()) {
      if (calls.measured == 0) return;
      const Judgement judgement = JudgeCalls(family, calls);
      row.verdict = judgement.bound ? PerfVerdict::kBound : PerfVerdict::kRoom;
      row.what = judgement.unit;
      row.room = judgement.room;
    }
    row.name = View(kernels_.name[calls.row]);
    row.type = View(kernels_.op_type[calls.row]);
    row.shapes = View(kernels_.shapes[calls.row]);
    row.types = View(kernels_.input_types[calls.row]);
    row.count = calls.count;
    row.time = calls.time;
    rows.push_back(std::move(row));
  }

  // The axes that are not multiples of what the units take at once; empty where they are, or are
  // not known.
  std::string BadAxes(PerfFamily family, std::size_t row, const KernelTensors& tensors) const {
    if (family == PerfFamily::kCube) {
      if (!tensors.HasInput(0) || !tensors.HasInput(1)) return {};
      const bool fits = InnerAxis(tensors.inputs[0], tensors.InputFormat(0)) % kCubeAxis == 0 &&
                        InnerAxis(tensors.inputs[1], tensors.InputFormat(1)) % kCubeAxis == 0;
      return fits ? "" : "inner axis";
    }
    // Other attention has other layouts.
    if (family != PerfFamily::kAttention || !tensors.HasInput(0) ||
        !View(kernels_.op_type[row]).starts_with("FlashAttentionScore"))
      return {};
    // Maxima of the rows of scores, (batch, heads, queries, 8): an input of the gradient.
    const bool grad = View(kernels_.op_type[row]) == "FlashAttentionScoreGrad";
    const std::size_t place = grad ? 8 : 0;
    const bool known = grad ? tensors.HasInput(place) : tensors.HasOutput(place);
    const Shape scores = !known ? Shape{} : grad ? tensors.inputs[place] : tensors.outputs[place];
    const Shape& query = tensors.inputs[0];
    // Without one tensor for all sequences the query is (tokens, heads, D), else (batch, S, heads
    // times D).
    std::optional<std::int64_t> depth, length;
    if (query.size() == 4 || (query.size() == 3 && scores.size() == 3)) depth = query.back();
    if (scores.size() == 4) length = scores[2];
    if (query.size() == 3 && scores.size() == 4 && scores[1] > 0 && query.back() % scores[1] == 0)
      depth = query.back() / scores[1];
    const auto fits = [](const std::optional<std::int64_t>& axis) {
      return !axis || *axis % kAttentionAxis == 0;
    };
    if (!fits(depth) && !fits(length)) return "D, S";
    return !fits(depth) ? "D" : !fits(length) ? "S" : "";
  }

  Judgement JudgeCalls(PerfFamily family, const CallsOfKernel& calls) const {
    const auto mean = [&](double sum) { return sum / static_cast<double>(calls.measured); };
    const MeanLoads& loads = calls.loads;
    const double mac = mean(loads.mac), mte2 = mean(loads.mte2), fixpipe = mean(loads.fixpipe),
                 vec = mean(loads.vec);
    const double in = mean(loads.vector_mte2), out = mean(loads.vector_mte3);
    if (family == PerfFamily::kCube) {
      return JudgeLoads(
          {BothOf("mac_and_mte2", mac, 800, mte2, 950), {"mac", mac, 800}, {"mte2", mte2, 950}});
    }
    if (family == PerfFamily::kVector) {
      return JudgeLoads({{"vec_mte2_mte3", vec + in + out, 900},
                         {"mte2", in, 700},
                         {"mte3", out, 700},
                         {"vec", vec, 700}});
    }
    if (View(kernels_.op_type[calls.row]) == "FlashAttentionScoreGrad") {
      return JudgeLoads({BothOf("fixpipe_and_mte2", fixpipe, 750, mte2, 800),
                         {"mte2", mte2, 800},
                         {"fixpipe", fixpipe, 750}});
    }
    return JudgeLoads(
        {BothOf("mte2_and_vec", mte2, 800, vec, 750), {"mte2", mte2, 800}, {"vec", vec, 750}});
  }

  // In the order of families and verdicts. Captures number texts differently, so the texts decide
  // between equal ones.
  static std::vector<PerfRow> Longest(std::vector<PerfRow> rows) {
    const auto weight = [](const PerfRow& row) {
      return static_cast<double>(row.time) * (row.verdict == PerfVerdict::kRoom ? row.room : 1);
    };
    StableSort(rows, [&](const PerfRow& a, const PerfRow& b) {
      if (std::tie(a.family, a.verdict) != std::tie(b.family, b.verdict))
        return std::tie(a.family, a.verdict) < std::tie(b.family, b.verdict);
      if (weight(a) != weight(b)) return weight(a) > weight(b);
      return std::tie(a.name, a.shapes, a.types) < std::tie(b.name, b.shapes, b.types);
    });
    std::map<std::pair<PerfFamily, PerfVerdict>, std::size_t> kept;
    std::erase_if(rows, [&](const PerfRow& row) {
      return ++kept[{row.family, row.verdict}] > kMaxOfVerdict;
    });
    return rows;
  }

  const RankTrace& trace_;
  const Kernels& kernels_;
  TimeNs total_ = 0;
  std::map<StringId, TimeNs> of_type_;  // vector kernels
  std::map<Key, CallsOfKernel> calls_;
};

}  // namespace

std::vector<PerfRow> KernelPerformance(const RankTrace& trace) { return PerfJudge(trace).Judge(); }

}  // namespace mpa
