// SPDX-License-Identifier: Apache-2.0
// Operators of the framework (torch.op_range), their tree and the steps among them, and the queue
// by which they hand work over (torch.op_mark).
#include <algorithm>
#include <limits>
#include <unordered_map>

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
    ops_.dur[row] = end - start;
    ops_.sequence[row] = fixed.I64(16);
    ops_.process[row] = fixed.I64(24);
    ops_.thread[row] = fixed.I64(32);
    ops_.forward_thread[row] = fixed.I64(48);
    ForEachTlv(value.substr(kTorchOpFixedSize), [&](std::uint16_t field, std::string_view text) {
      if (std::vector<StringId>* column = Column(field)) (*column)[row] = texts.Number(text);
    });
    return true;
  }

 private:
  std::vector<StringId>* Column(std::uint16_t field) const {
    if (field == kName) return &ops_.name;
    if (field == kStack && Intersects(wanted_, Parts::kStacks)) return &ops_.stack.Stored();
    if (!Intersects(wanted_, Parts::kDetails)) return nullptr;
    switch (field) {
      case kTypes:
        return &ops_.types.Stored();
      case kShapes:
        return &ops_.shapes.Stored();
      case kStack:
        return &ops_.stack.Stored();
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
    while (top >= 0 && ops.start[row] > ops.End(top)) top = ops.parent[top];
    ops.parent[row] = top;
    top = static_cast<std::int32_t>(row);
  }
}

// -1: none, or out of range.
std::int32_t StepNumber(std::string_view name) {
  const std::int64_t number = io::ParseInt(name.substr(name.rfind('#') + 1)).value_or(-1);
  const bool fits = number >= 0 && number <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(number) : -1;
}

}  // namespace

void ReadOperators(const std::filesystem::path& file, const FrameworkClock& clock, Parts wanted,
                   Session& part) {
  const TlvFile records(file, part.issues);
  TorchOps& ops = part.ops;
  std::apply([&](auto&... column) { (column.resize(records.Size()), ...); }, ops.Columns());
  ops.dur.assign(records.Size(), -1);  // invalid range: rows of damaged records are left out
  RunTexts texts(records);
  DecodeRecords(records, kTorchOpRecord, texts, part.issues, Decoder(clock, wanted, ops));
  texts.Intern(part.strings);
  texts.Translate(ops.name);
  if (Intersects(wanted, Parts::kDetails)) {
    for (auto* column : {&ops.types.Stored(), &ops.shapes.Stored(), &ops.modules, &ops.extra}) {
      texts.Translate(*column);
    }
  }
  if (Intersects(wanted, Parts::kDetails | Parts::kStacks)) texts.Translate(ops.stack.Stored());
  ops.Reorder(RangesInOrder(ops.start, ops.dur));
  FindParents(ops);
}

void FindSteps(const TorchOps& ops, const StringPool& strings, Steps& steps) {
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    if (ops.parent[row] >= 0) continue;
    const std::string_view name = strings.View(ops.name[row]);
    if (!IsProfilerStep(name)) continue;
    const std::int32_t id = StepNumber(name);
    if (id < 0) continue;
    steps.Append({.id = id,
                  .start = ops.start[row],
                  .end = ops.End(row),
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
  std::ranges::sort(numbered, [](const Numbered& a, const Numbered& b) {
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.row < b.row;
  });
  BackwardPairs::Row pair;
  const auto end_pair = [&] {
    if (pair.forward < 0 || pair.backward < 0) return;
    pair.forward_time = ops.start[pair.forward];
    pair.backward_time = ops.start[pair.backward];
    pairs.Append(pair);
  };
  for (const Numbered& op : numbered) {
    if (op.sequence != pair.sequence) {
      end_pair();
      pair = {{}, {.sequence = op.sequence}};
    }
    (ops.forward_thread[op.row] == 0 ? pair.forward : pair.backward) = op.row;
  }
  end_pair();
}

// torch.op_mark: begin and end of enqueuing work, and of its execution.

namespace {

constexpr std::uint16_t kRecordType = 2;
constexpr std::size_t kFixedSize = 40;
constexpr std::uint16_t kNameField = 1;

struct Mark {
  std::int64_t correlation = 0, thread = 0, process = 0;
  bool dequeue = false, end = false;
};

struct Marks {
  std::vector<TimeNs> time;  // -1: damaged
  std::vector<Mark> mark;
  std::vector<StringId> name;
};

Marks ReadMarks(const std::filesystem::path& file, const FrameworkClock& clock, Session& part) {
  const TlvFile records(file, part.issues);
  Marks marks;
  marks.time.resize(records.Size(), -1);
  marks.mark.resize(records.Size());
  marks.name.resize(records.Size());
  RunTexts texts(records);
  const auto decode = [&](std::string_view value, std::size_t row, LocalTexts& run_texts) {
    if (value.size() < kFixedSize) return false;
    const Record<kFixedSize> fixed(value.data());
    const std::uint64_t category = fixed.U64(8);
    const TimeNs time = clock.Ns(fixed.I64(0));
    if (category > 3 || time < 0 || !clock.IsPlausible(time)) return false;
    marks.time[row] = time;
    marks.mark[row] = {.correlation = fixed.I64(16),
                       .thread = fixed.I64(24),
                       .process = fixed.I64(32),
                       .dequeue = category >= 2,
                       .end = category % 2 == 1};
    ForEachTlv(value.substr(kFixedSize), [&](std::uint16_t field, std::string_view text) {
      if (field == kNameField) marks.name[row] = run_texts.Number(text);
    });
    return true;
  };
  DecodeRecords(records, kRecordType, texts, part.issues, decode);
  texts.Intern(part.strings);
  texts.Translate(marks.name);
  return marks;
}

std::vector<std::size_t> ByTime(const std::vector<TimeNs>& time) {
  std::vector<RowTime> rows;
  rows.reserve(time.size());
  for (std::size_t row = 0; row < time.size(); ++row) {
    if (time[row] >= 0) rows.push_back({time[row], 0, row});
  }
  return InOrder(std::move(rows));
}

// The marks of one side on one thread that wait for their ends, by name. An end takes the latest
// begin of its name; older ones of that name never ended. Most ends follow their begin at once.
class OpenMarks {
 public:
  void Begin(StringId name, TimeNs time) {
    if (waits_ && name != name_) others_[name_] = time_;
    waits_ = true;
    name_ = name;
    time_ = time;
  }

  /// -1: no begin was found.
  TimeNs TakeBegin(StringId name) {
    if (waits_ && name == name_) {
      waits_ = false;
      if (!others_.empty()) others_.erase(name);
      return time_;
    }
    const auto found = others_.find(name);
    if (found == others_.end()) return -1;
    const TimeNs time = found->second;
    others_.erase(found);
    return time;
  }

 private:
  bool waits_ = false;
  StringId name_{};
  TimeNs time_ = 0;
  std::unordered_map<StringId, TimeNs> others_;
};

class MarkPairing {
 public:
  OpenMarks& Of(const Mark& mark) {
    if (threads_.empty() || mark.thread != thread_) {
      thread_ = mark.thread;
      current_ = &threads_[mark.thread];
    }
    return mark.dequeue ? current_->dequeue : current_->enqueue;
  }

 private:
  struct Sides {
    OpenMarks enqueue, dequeue;
  };
  std::unordered_map<std::int64_t, Sides> threads_;
  std::int64_t thread_ = 0;
  Sides* current_ = nullptr;
};

void PairMarks(const Marks& marks, Session& part) {
  part.queue.Reserve(marks.time.size() / 2);
  MarkPairing pairing;
  for (const std::size_t row : ByTime(marks.time)) {
    const Mark& mark = marks.mark[row];
    OpenMarks& open = pairing.Of(mark);
    if (!mark.end) {
      open.Begin(marks.name[row], marks.time[row]);
      continue;
    }
    const TimeNs start = open.TakeBegin(marks.name[row]);
    if (start < 0 || !IsRange(start, marks.time[row])) {
      part.issues.Count("end of queued work left out, its begin is missing", "torch.op_mark");
      continue;
    }
    // The mark at the begin of an enqueue does not know its correlation yet.
    part.queue.Append({.start = start,
                       .dur = marks.time[row] - start,
                       .dequeue = mark.dequeue,
                       .correlation = mark.correlation,
                       .name = marks.name[row],
                       .process = mark.process,
                       .thread = mark.thread});
  }
}

std::vector<std::int32_t> SideByCorrelation(const QueueRanges& queue, bool dequeue) {
  std::vector<std::int32_t> rows;
  for (std::size_t row = 0; row < queue.Size(); ++row) {
    if ((queue.dequeue[row] != 0) == dequeue) rows.push_back(static_cast<std::int32_t>(row));
  }
  const auto before = [&](std::int32_t a, std::int32_t b) {
    return queue.correlation[a] < queue.correlation[b];
  };
  if (!std::ranges::is_sorted(rows, before)) {
    std::ranges::stable_sort(rows, before);
  }
  return rows;
}

// An enqueue is named after the work it hands over, which its own mark may not contain.
void MatchSides(QueueRanges& queue) {
  const std::vector<std::int32_t> dequeues = SideByCorrelation(queue, true);
  auto next = dequeues.begin();
  for (const std::int32_t enqueue : SideByCorrelation(queue, false)) {
    const std::int64_t correlation = queue.correlation[enqueue];
    while (next != dequeues.end() && queue.correlation[*next] < correlation) ++next;
    const bool matches = next != dequeues.end() && queue.correlation[*next] == correlation;
    queue.name[enqueue] = matches ? queue.name[*next] : StringId::kEmpty;
    if (!matches) continue;
    queue.partner[enqueue] = *next;
    queue.partner[*next] = enqueue;
    ++next;
  }
}

}  // namespace

void ReadTaskQueue(const std::filesystem::path& file, const FrameworkClock& clock, Session& part) {
  PairMarks(ReadMarks(file, clock, part), part);
  QueueRanges& queue = part.queue;
  queue.Reorder(RangesInOrder(queue.start, queue.dur));
  MatchSides(queue);
}

void FindEnqueuingOps(const TorchOps& ops, QueueRanges& queue) {
  std::size_t next = 0;
  std::int32_t top = -1;  // of the stack that makes the tree of operators
  for (std::size_t row = 0; row < queue.Size(); ++row) {
    if (queue.dequeue[row]) continue;
    const TimeNs start = queue.start[row];
    for (; next < ops.Size() && ops.start[next] <= start; ++next) {
      top = static_cast<std::int32_t>(next);
    }
    while (top >= 0 && start > ops.End(top)) top = ops.parent[top];
    if (top >= 0 && ops.thread[top] == queue.thread[row]) queue.op[row] = top;
  }
}

}  // namespace mpa::raw
