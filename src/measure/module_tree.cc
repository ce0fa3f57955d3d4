// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/module_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/module_ranges.h"

namespace mpa {
namespace {

bool IsOptimizer(std::string_view name) { return StartsWithIgnoringCase(name, "optimizer"); }

// Spans of calls with their names.
struct Calls {
  StringPool texts;
  std::vector<NestSpan> spans;
  std::vector<std::int32_t> caller;  // thread whose Python functions led to the call
  std::vector<std::string_view> name;

  template <typename Table>
  void Add(const Table& table, std::size_t row, std::string_view call_name,
           std::int32_t call_caller) {
    spans.push_back({table.start[row], table.start[row] + table.dur[row], table.track[row]});
    name.push_back(texts.View(texts.Intern(call_name)));
    caller.push_back(call_caller);
  }
};

// Texts of calls within calls: "a;\nb;\nc" for c within b within a. Python itself allows 1000
// levels; what is beyond, or longer than a cell of a workbook, ends with "...".
class Stacks {
 public:
  explicit Stacks(const Nesting& nesting) : nesting_(nesting) {
    constexpr std::uint32_t kMaxLevels = 1000;
    const std::size_t calls = nesting.InOrder().size();
    std::vector<std::uint32_t> level(calls, 1);
    last_told_.resize(calls);
    for (const std::uint32_t call : nesting.InOrder()) {
      const std::int64_t parent = nesting.Parent(call);
      if (parent != Nesting::kNone) level[call] = level[static_cast<std::size_t>(parent)] + 1;
      last_told_[call] =
          level[call] <= kMaxLevels ? call : last_told_[static_cast<std::size_t>(parent)];
    }
  }

  // `name` tells the name of a call.
  template <typename Name>
  std::string Of(std::int64_t call, Name name) const {
    constexpr std::size_t kMaxBytes = 32 << 10;
    if (call == Nesting::kNone) return "";
    std::vector<std::size_t> path;
    const std::uint32_t last = last_told_[static_cast<std::size_t>(call)];
    for (std::int64_t at = last; at != Nesting::kNone;
         at = nesting_.Parent(static_cast<std::size_t>(at))) {
      path.push_back(static_cast<std::size_t>(at));
    }
    bool whole = last == call;
    std::string text;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      const std::string_view part = name(*at);
      if (text.size() + part.size() > kMaxBytes) {
        whole = false;
        break;
      }
      if (!text.empty()) text += ";\n";
      text += part;
    }
    if (whole) return text;
    return text.empty() ? "..." : text + ";\n...";
  }

 private:
  const Nesting& nesting_;
  std::vector<std::uint32_t> last_told_;  // the call itself, or the one around it at the last level
};

// The Python functions that are not modules, for the call stacks.
class Functions {
 public:
  explicit Functions(const RankTrace& trace)
      : trace_(trace),
        rows_(FunctionRows(trace)),
        nesting_(Nest(trace.python_calls, rows_)),
        stacks_(nesting_) {}

  // The call stack at a time, empty when nothing runs there.
  std::string StackAt(std::int32_t track, TimeNs time) const {
    return stacks_.Of(nesting_.FindAround(track, time), [&](std::size_t call) {
      return trace_.strings.View(trace_.python_calls.name[rows_[call]]);
    });
  }

 private:
  static std::vector<std::uint32_t> FunctionRows(const RankTrace& trace) {
    std::vector<std::uint32_t> rows;
    rows.reserve(trace.python_calls.Size());
    for (std::size_t i = 0; i < trace.python_calls.Size(); ++i) {
      if (!IsModuleCall(trace.strings.View(trace.python_calls.name[i])))
        rows.push_back(static_cast<std::uint32_t>(i));
    }
    return rows;
  }

  static Nesting Nest(const PythonCalls& calls, const std::vector<std::uint32_t>& rows) {
    std::vector<NestSpan> spans;
    spans.reserve(rows.size());
    for (const std::uint32_t row : rows) {
      spans.push_back({calls.start[row], calls.start[row] + calls.dur[row], calls.track[row]});
    }
    return Nesting(std::move(spans));
  }

  const RankTrace& trace_;
  std::vector<std::uint32_t> rows_;
  Nesting nesting_;
  Stacks stacks_;
};

// One pass of the model while it is built.
class TreeBuilder {
 public:
  explicit TreeBuilder(Calls calls)
      : calls_(std::move(calls)), nesting_(calls_.spans), work_(calls_.name.size()) {
    tree_.texts = std::move(calls_.texts);
    tree_.modules.resize(calls_.name.size());
    tree_.roots = nesting_.Roots();
    for (const std::uint32_t call : nesting_.InOrder()) {  // parents before children
      Module& module = tree_.modules[call];
      module.start = calls_.spans[call].start;
      module.end = calls_.spans[call].end;
      module.name = calls_.name[call];
      const std::int64_t parent = nesting_.Parent(call);
      const Module* outer =
          parent == Nesting::kNone ? nullptr : &tree_.modules[static_cast<std::size_t>(parent)];
      module.depth = outer != nullptr ? outer->depth + 1 : 2;
      SetFullName(outer, module);
      const auto children = nesting_.Children(call);
      module.children.assign(children.begin(), children.end());
    }
  }

  // The innermost module around a time; null when there is none.
  const Module* At(std::int32_t track, TimeNs time) const {
    const std::int64_t call = nesting_.FindAround(track, time);
    return call == Nesting::kNone ? nullptr : &tree_.modules[static_cast<std::size_t>(call)];
  }

  // Takes the operator if a module of this pass holds it. Those around it come before it.
  bool TakeOp(const OpTree& tree, std::uint32_t op) {
    const HostOps& ops = tree.trace().host_ops;
    const NestSpan span{ops.start[op], ops.start[op] + ops.dur[op], ops.track[op]};
    std::int64_t call = nesting_.FindEnclosing(span);
    // In the backward pass the operator is the call.
    while (call != Nesting::kNone &&
           calls_.spans[static_cast<std::size_t>(call)].start == span.start)
      call = nesting_.Parent(static_cast<std::size_t>(call));
    if (call == Nesting::kNone) return false;
    places_.resize(ops.Size());
    places_[op].call = call;
    // What lies within an operator of the same call is part of it.
    const std::int64_t around = tree.Parent(op);
    if (around != Nesting::kNone && places_[static_cast<std::size_t>(around)].call == call)
      return true;
    std::vector<ModuleOp>& listed = tree_.modules[static_cast<std::size_t>(call)].ops;
    places_[op].number = static_cast<std::int64_t>(listed.size());
    listed.push_back({op, {}});
    return true;
  }

  // Work comes in order of its launch on each thread.
  void TakeWork(const LaunchedWork& launched) {
    const std::int64_t call = nesting_.Find(launched.track, launched.launched);
    if (call != Nesting::kNone) work_[static_cast<std::size_t>(call)].push_back(&launched);
  }

  void FindCallStacks(const Functions& functions) {
    if (tree_.too_deep) return;
    const Stacks stacks(nesting_);
    for (std::size_t i = 0; i < tree_.modules.size(); ++i) {
      Module& module = tree_.modules[i];
      std::string stack = functions.StackAt(calls_.caller[i], module.start);
      if (stack.empty()) {
        stack = stacks.Of(static_cast<std::int64_t>(i),
                          [&](std::size_t call) { return calls_.name[call]; });
      }
      module.call_stack = Kept(stack);
    }
  }

  ModuleTree Finish(const OpTree& ops) {
    for (std::size_t i = 0; i < tree_.modules.size(); ++i) {
      Module& module = tree_.modules[i];
      GiveWorkToOps(ops, i);
      for (const LaunchedWork* launched : work_[i]) {
        module.device_self += launched->work.Time();
      }
    }
    for (auto call = nesting_.InOrder().rbegin(); call != nesting_.InOrder().rend(); ++call) {
      Module& module = tree_.modules[*call];
      module.device_total += module.device_self;
      const std::int64_t parent = nesting_.Parent(*call);
      if (parent == Nesting::kNone) continue;
      tree_.modules[static_cast<std::size_t>(parent)].device_total += module.device_total;
    }
    return std::move(tree_);
  }

 private:
  void SetFullName(const Module* outer, Module& module) {
    const std::string_view around = outer != nullptr ? outer->full_name : std::string_view();
    tree_.too_deep = tree_.too_deep || module.depth > static_cast<int>(kMaxModuleLevels) + 1 ||
                     around.size() + module.name.size() >= kMaxModulePath;
    if (!tree_.too_deep) module.full_name = Kept(fmt::format("{}/{}", around, module.name));
  }

  std::string_view Kept(std::string_view text) {
    return tree_.texts.View(tree_.texts.Intern(text));
  }

  // Each launch belongs to the operator of the call in which it happened.
  void GiveWorkToOps(const OpTree& ops, std::size_t call) {
    for (const LaunchedWork* launched : work_[call]) {
      std::int64_t op = places_.empty() ? Nesting::kNone : launched->op;
      for (; op != Nesting::kNone; op = ops.Parent(static_cast<std::size_t>(op))) {
        const OpPlace& place = places_[static_cast<std::size_t>(op)];
        if (place.number < 0 || place.call != static_cast<std::int64_t>(call)) continue;
        tree_.modules[call].ops[static_cast<std::size_t>(place.number)].work.push_back(
            launched->work);
        break;
      }
    }
  }

  // Where an operator is listed: the call that holds it, and its place there.
  struct OpPlace {
    std::int64_t call = Nesting::kNone;
    std::int64_t number = -1;  // within an operator of the call: none
  };
  Calls calls_;
  Nesting nesting_;
  std::vector<std::vector<const LaunchedWork*>> work_;  // by module
  std::vector<OpPlace> places_;                         // by operator
  ModuleTree tree_;
};

Calls ForwardCalls(const RankTrace& trace) {
  Calls calls;
  const PythonCalls& python = trace.python_calls;
  for (std::size_t i = 0; i < python.Size(); ++i) {
    const std::string_view name = trace.strings.View(python.name[i]);
    if (!IsModuleCall(name)) continue;
    calls.Add(python, i, name, python.track[i]);
  }
  const HostOps& ops = trace.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const std::string_view name = trace.strings.View(ops.name[i]);
    if (!IsOptimizer(name)) continue;
    calls.Add(ops, i, name, ops.track[i]);
  }
  return calls;
}

Calls BackwardCalls(const OpTree& tree, const TreeBuilder& forward) {
  Calls calls;
  const RankTrace& trace = tree.trace();
  const HostOps& ops = trace.host_ops;
  const BackwardLinks& links = trace.backward_links;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const Module* module = forward.At(links.forward_track[i], links.forward_time[i]);
    const std::int64_t op = tree.Find(links.backward_track[i], links.backward_time[i]);
    if (module == nullptr || op == Nesting::kNone) continue;
    const auto row = static_cast<std::size_t>(op);
    if (ops.start[row] != links.backward_time[i]) continue;
    if (IsOptimizer(trace.strings.View(ops.name[row]))) continue;
    calls.Add(ops, row, fmt::format("[ BACKWARD ]{}", module->full_name), links.forward_track[i]);
  }
  return calls;
}

}  // namespace

ExactSum ModuleOp::Time() const {
  ExactSum time;
  for (const DeviceWork& launched : work) time += launched.Time();
  return time;
}

bool HasModules(const RankTrace& trace) {
  return std::ranges::any_of(trace.python_calls.name,
                             [&](StringId name) { return IsModuleCall(trace.strings.View(name)); });
}

ModuleTrees BuildModuleTrees(const OpTree& ops) {
  const RankTrace& trace = ops.trace();
  TreeBuilder forward(ForwardCalls(trace));
  TreeBuilder backward(BackwardCalls(ops, forward));
  {
    const Functions functions(trace);  // many, and of no more use afterwards
    forward.FindCallStacks(functions);
    backward.FindCallStacks(functions);
  }
  for (const std::uint32_t op : ops.InOrder()) {
    if (ops.IsStep(op) || IsOptimizer(trace.strings.View(trace.host_ops.name[op]))) continue;
    if (!forward.TakeOp(ops, op)) backward.TakeOp(ops, op);
  }
  for (const LaunchedWork& launched : ops.Launched()) {
    forward.TakeWork(launched);
    backward.TakeWork(launched);
  }
  return {forward.Finish(ops), backward.Finish(ops)};
}

}  // namespace mpa
