// SPDX-License-Identifier: Apache-2.0
// Call stacks of a profiler database, which are stored frame by frame.
#include "profiler_db_stacks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>

namespace mpa::readers {
namespace {

// Assembles call stacks from their frames, which come one stack after the other, mostly by depth.
// Most stacks are the same over and over: a text is made once.
class CallStackJoiner {
 public:
  explicit CallStackJoiner(DbInput& input) : input_(input) {}

  void Add(std::int64_t stack, std::int64_t depth, StringId text) {
    if (stack != current_) Finish();
    current_ = stack;
    ordered_ = ordered_ && (frames_.empty() || frames_.back().depth <= depth);
    frames_.push_back({depth, text});
  }

  CallStacks Take() {
    Finish();
    stacks_.Sort();
    return std::move(stacks_);
  }

 private:
  struct Frame {
    std::int64_t depth = 0;
    StringId text{};
  };
  struct HashOfTexts {
    std::size_t operator()(const std::vector<StringId>& texts) const {
      std::size_t hash = texts.size();
      for (const StringId text : texts) hash = hash * 1'000'003 + static_cast<std::size_t>(text);
      return hash;
    }
  };

  void Finish() {
    if (!current_) return;
    if (!ordered_) std::ranges::stable_sort(frames_, {}, &Frame::depth);
    texts_.clear();
    for (const Frame& frame : frames_) texts_.push_back(frame.text);
    const auto [found, is_new] = joined_.try_emplace(texts_);
    if (is_new) found->second = input_.trace.strings.Intern(Joined());
    stacks_.Add(*current_, found->second);
    frames_.clear();
    ordered_ = true;
  }

  std::string Joined() const {
    std::string text;
    for (const StringId frame : texts_) {
      if (!text.empty()) text += ";\r\n";
      text += input_.trace.strings.View(frame);
    }
    return text;
  }

  DbInput& input_;
  CallStacks stacks_;
  std::unordered_map<std::vector<StringId>, StringId, HashOfTexts> joined_;
  std::optional<std::int64_t> current_;
  std::vector<Frame> frames_;  // of the current stack
  std::vector<StringId> texts_;
  bool ordered_ = true;
};

// The stacks if the table holds them in order, as exporters write them: to sort a large table
// SQLite writes it to a file.
std::optional<CallStacks> ReadOrderedStacks(DbInput& input) {
  CallStackJoiner joiner(input);
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  bool ordered = true;
  input.database.Scan("id, stack, stackDepth", "PYTORCH_CALLCHAINS NOT INDEXED",
                      [&](const io::Row& row) {
                        if (!ordered || row.IsNull(0)) return;
                        const std::int64_t id = row.IntOr(0, -1);
                        ordered = row.IsInteger(0) && row.IsInteger(2) && last <= id;
                        last = id;
                        if (ordered) joiner.Add(id, row.IntOr(2, -1), input.strings.Text(row, 1));
                      });
  if (!ordered) return std::nullopt;
  return joiner.Take();
}

}  // namespace

void CallStacks::Sort() {
  if (!std::ranges::is_sorted(stacks_, {}, &Stack::id)) {
    std::ranges::stable_sort(stacks_, {}, &Stack::id);
  }
}

std::optional<StringId> CallStacks::Find(std::int64_t id) const {
  const auto behind = std::ranges::upper_bound(stacks_, id, {}, &Stack::id);
  if (behind == stacks_.begin() || std::prev(behind)->id != id) return std::nullopt;
  return std::prev(behind)->text;
}

CallStacks ReadCallStacks(DbInput& input) {
  if (!input.database.HasTable("PYTORCH_CALLCHAINS")) return {};
  if (auto stacks = ReadOrderedStacks(input)) return std::move(*stacks);
  CallStackJoiner joiner(input);
  io::Statement rows =
      input.database.Query("SELECT id, stack FROM PYTORCH_CALLCHAINS ORDER BY id, stackDepth");
  while (rows.Step()) {
    if (const auto id = rows.Int(0)) joiner.Add(*id, 0, input.strings.Text(rows.row(), 1));
  }
  return joiner.Take();
}

}  // namespace mpa::readers
