// SPDX-License-Identifier: Apache-2.0
// torch.op_range: the operators of the framework, their tree, and the steps among them.
#include <algorithm>

#include "mpa/io/numbers.h"
#include "mpa/model/step_bounds.h"
#include "stages.h"
#include "time_order.h"
#include "tlv.h"

namespace mpa::raw {
namespace {

constexpr std::uint16_t kTorchOpRecord = 1;
constexpr std::size_t kTorchOpFixedSize = 58;

enum Field : std::uint16_t {
  kName = 2,
  kTypes = 3,
  kShapes = 4,
  kStack = 8,
  kModules = 9,  // this and the next one not seen in real data
  kExtra = 10,
};

class Decoder {
 public:
  Decoder(const FrameworkClock& clock, Parts wanted, TorchOps& ops)
      : clock_(clock), wanted_(wanted), ops_(ops) {}

  bool operator()(std::string_view value, std::size_t row, LocalTexts& texts) const {
    if (value.size() < kTorchOpFixedSize) return false;
    const Record<kTorchOpFixedSize> fixed(value.data());
    const TimeNs start = clock_.Ns(fixed.I64(0));
    const TimeNs end = clock_.Ns(fixed.I64(8));
    if (!IsRange(start, end) || !clock_.IsPlausible(start) || !clock_.IsPlausible(end)) {
      return false;
    }
    ops_.start[row] = start;
    ops_.end[row] = end;
    ops_.sequence[row] = fixed.I64(16);
    ops_.process[row] = fixed.I64(24);
    ops_.thread[row] = fixed.I64(32);
    ops_.forward_thread[row] = fixed.I64(48);
    ops_.scope[row] = fixed.U8(56);
    ForEachTlv(value.substr(kTorchOpFixedSize), [&](std::uint16_t field, std::string_view text) {
      if (std::vector<StringId>* column = Column(field)) (*column)[row] = texts.Number(text);
    });
    return true;
  }

 private:
  std::vector<StringId>* Column(std::uint16_t field) const {
    if (field == kName) return &ops_.name;
    if (field == kStack && Overlap(wanted_, Parts::kStacks)) return &ops_.stack;
    if (!Overlap(wanted_, Parts::kDetails)) return nullptr;
    switch (field) {
      case kTypes:
        return &ops_.types;
      case kShapes:
        return &ops_.shapes;
      case kStack:
        return &ops_.stack;
      case kModules:
        return &ops_.modules;
      case kExtra:
        return &ops_.extra;
      default:
        return nullptr;
    }
  }

  const FrameworkClock& clock_;
  Parts wanted_;
  TorchOps& ops_;
};

// One stack for all threads: an operator belongs to the one that is open when it starts, wherever
// that one runs.
void FindParents(TorchOps& ops) {
  std::int32_t top = -1;
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    while (top >= 0 && ops.start[row] > ops.end[top]) top = ops.parent[top];
    ops.parent[row] = top;
    top = static_cast<std::int32_t>(row);
  }
}

std::int64_t StepNumber(std::string_view name) {
  return io::ParseInt(name.substr(name.rfind('#') + 1)).value_or(-1);
}

}  // namespace

void ReadOperators(const std::filesystem::path& file, const FrameworkClock& clock, Parts wanted,
                   Session& part) {
  const TlvFile records(file, part.issues);
  TorchOps& ops = part.ops;
  std::apply([&](auto&... column) { (column.resize(records.Size()), ...); }, ops.Columns());
  ops.end.assign(records.Size(), -1);  // invalid range: rows of damaged records are left out
  RunTexts texts(records);
  DecodeRecords(records, kTorchOpRecord, texts, part.issues, Decoder(clock, wanted, ops));
  texts.Intern(part.strings);
  texts.Translate(ops.name);
  if (Overlap(wanted, Parts::kDetails)) {
    for (auto* column : {&ops.types, &ops.shapes, &ops.modules, &ops.extra}) {
      texts.Translate(*column);
    }
  }
  if (Overlap(wanted, Parts::kDetails | Parts::kStacks)) texts.Translate(ops.stack);
  ops.Reorder(RangesInOrder(ops.start, ops.end));
  FindParents(ops);
}

void FindSteps(const TorchOps& ops, const StringPool& strings, Steps& steps) {
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    if (ops.parent[row] >= 0) continue;
    const std::string_view name = strings.View(ops.name[row]);
    if (!IsStepMark(name)) continue;
    const std::int64_t id = StepNumber(name);
    if (id < 0) continue;
    steps.Append({.id = id,
                  .start = ops.start[row],
                  .end = ops.end[row],
                  .op = static_cast<std::int32_t>(row)});
  }
}

void FindBackwardPairs(const TorchOps& ops, BackwardPairs& pairs) {
  struct Numbered {
    std::int64_t sequence;
    std::int32_t row;
  };
  std::vector<Numbered> numbered;
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    if (ops.sequence[row] >= 0) {
      numbered.push_back({ops.sequence[row], static_cast<std::int32_t>(row)});
    }
  }
  std::sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) {
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.row < b.row;
  });
  BackwardPairs::Row pair;
  const auto end_pair = [&] {
    if (pair.forward >= 0 && pair.backward >= 0) pairs.Append(pair);
  };
  for (const Numbered& op : numbered) {
    if (op.sequence != pair.sequence) {
      end_pair();
      pair = {.sequence = op.sequence};
    }
    (ops.forward_thread[op.row] == 0 ? pair.forward : pair.backward) = op.row;
  }
  end_pair();
}

}  // namespace mpa::raw
