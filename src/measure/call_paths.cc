// SPDX-License-Identifier: Apache-2.0
// Which Python functions and operators were open on a thread of the host.
#include "mpa/measure/call_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/graph_replays.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// The outermost first; captures have the innermost first.
// No program nests as deep; in broken captures, where all spans may overlap, text would grow with
// the square of their number.
constexpr std::int32_t kDeepest = 400;

template <typename Table>
NestSpan SpanOf(const Table& table, std::int32_t row) {
  const auto at = static_cast<std::size_t>(row);
  return {table.start[at], table.start[at] + table.dur[at], table.track[at]};
}

}  // namespace

std::vector<std::string_view> FramesOfStack(std::string_view stack) {
  std::vector<std::string_view> frames;
  for (const std::string_view piece : Split(stack, ';')) {
    if (const std::string_view frame = Trim(piece); !frame.empty()) frames.push_back(frame);
  }
  std::ranges::reverse(frames);
  return frames;
}

CallPaths::CallPaths(const RankTrace& trace) : CallPaths(trace, FunctionsAndOps(trace)) {}

CallPaths::CallPaths(const RankTrace& trace, std::vector<Source> sources)
    : trace_(trace),
      sources_(std::move(sources)),
      nesting_(SpansOfSources(trace, sources_)),
      around_(sources_.size()),
      frames_(trace.strings.Size(), kUnknown),
      python_frames_(trace.strings.Size(), kUnknown) {}

// Of two equal spans the later one is the inner one.
std::vector<CallPaths::Source> CallPaths::FunctionsAndOps(const RankTrace& trace) {
  std::vector<Source> sources;
  sources.reserve(trace.python_calls.Size() + trace.host_ops.Size());
  for (std::size_t i = 0; i < trace.python_calls.Size(); ++i)
    sources.push_back({PieceTable::kPythonCalls, static_cast<std::int32_t>(i)});
  for (std::size_t i = 0; i < trace.host_ops.Size(); ++i)
    sources.push_back({PieceTable::kHostOps, static_cast<std::int32_t>(i)});
  return sources;
}

// What ran when a graph was captured did not run when the graph was replayed.
std::vector<CallPaths::Source> CallPaths::AllOfHost(const RankTrace& trace) {
  const ReplayedCalls replayed(trace);
  std::vector<Source> sources = FunctionsAndOps(trace);
  std::erase_if(sources, [&](const Source& source) {
    if (source.table == PieceTable::kHostOps)
      return static_cast<bool>(trace.host_ops.replayed[static_cast<std::size_t>(source.row)]);
    const NestSpan span = SpanOf(trace.python_calls, source.row);
    return replayed.Contain(span.track, span.start, span.end);
  });
  for (std::size_t i = 0; i < trace.queued_work.Size(); ++i)
    sources.push_back({PieceTable::kQueuedWork, static_cast<std::int32_t>(i)});
  for (std::size_t i = 0; i < trace.host_calls.Size(); ++i)
    sources.push_back({PieceTable::kHostCalls, static_cast<std::int32_t>(i)});
  return sources;
}

std::vector<NestSpan> CallPaths::SpansOfSources(const RankTrace& trace,
                                                const std::vector<Source>& sources) {
  std::vector<NestSpan> spans;
  spans.reserve(sources.size());
  for (const auto& [table, row] : sources) {
    spans.push_back(table == PieceTable::kPythonCalls  ? SpanOf(trace.python_calls, row)
                    : table == PieceTable::kHostOps    ? SpanOf(trace.host_ops, row)
                    : table == PieceTable::kQueuedWork ? SpanOf(trace.queued_work, row)
                                                       : SpanOf(trace.host_calls, row));
    spans.back().is_mark =
        table == PieceTable::kHostOps &&
        IsStepMark(trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(row)]));
  }
  return spans;
}

std::int32_t CallPaths::FrameOf(const Source& source) {
  const StringId text = HostTextOf(trace_, source.table, source.row);
  const bool is_python = source.table == PieceTable::kPythonCalls;
  std::int32_t& frame = (is_python ? python_frames_ : frames_)[Index(text)];
  if (frame == kUnknown) {
    const std::string name = HostNameOf(trace_, source.table, source.row);
    // Captures call the level of a call by different names.
    const bool is_call = source.table == PieceTable::kHostCalls;
    frame = tree_.Frame(FrameText(is_call ? WithoutLevel(name) : name));
  }
  return frame;
}

// An operator within another has the stack of that one, and perhaps more functions within.
std::int32_t CallPaths::AddStack(std::int32_t node, StringId before, StringId stack) {
  const auto [found, is_new] = stacks_.try_emplace({node, before, stack}, node);
  if (!is_new) return found->second;
  const auto outer = FramesOfStack(trace_.strings.View(before));
  const auto frames = FramesOfStack(trace_.strings.View(stack));
  const auto [ignored, first] = std::ranges::mismatch(outer, frames);
  for (auto frame = first; frame != frames.end(); ++frame)
    node = tree_.Child(node, FrameText(*frame));
  return found->second = node;
}

CallPaths::Around CallPaths::Within(const Around& outer, const Source& source) {
  Around inner = outer;
  if (++inner.depth > kDeepest) return inner;
  const std::string_view name = trace_.strings.View(HostTextOf(trace_, source.table, source.row));
  if (source.table == PieceTable::kHostOps) {
    if (IsStepMark(name)) return inner;
    const StringId stack = trace_.host_ops.stack[static_cast<std::size_t>(source.row)];
    if (!outer.has_function && stack != outer.stack && HasStack(trace_, stack)) {
      inner.node = AddStack(outer.node, outer.stack, stack);
      inner.stack = stack;
    }
  } else if (source.table == PieceTable::kPythonCalls) {
    inner.has_function = outer.has_function || !name.starts_with("nn.Module");
  }
  inner.node = tree_.Child(inner.node, FrameOf(source));
  return inner;
}

std::int32_t CallPaths::NodeOf(std::size_t span) {
  std::vector<std::size_t> unknown;  // from the inner to the outer ones
  auto at = static_cast<std::int64_t>(span);
  for (; at != Nesting::kNone; at = nesting_.Parent(static_cast<std::size_t>(at))) {
    if (around_[static_cast<std::size_t>(at)].node != kUnknown) break;
    unknown.push_back(static_cast<std::size_t>(at));
  }
  Around around{.node = kNone};
  if (at != Nesting::kNone) {
    around = around_[static_cast<std::size_t>(at)];
  } else if (!roots_.empty()) {
    around.node = roots_[static_cast<std::size_t>(nesting_.At(span).track)];
  }
  for (auto inner = unknown.rbegin(); inner != unknown.rend(); ++inner)
    around = around_[*inner] = Within(around, sources_[*inner]);
  return around.node;
}

std::int32_t CallPaths::At(std::int32_t track, TimeNs time) {
  const std::int64_t span = nesting_.Find(track, time);
  return span == Nesting::kNone ? kNone : NodeOf(static_cast<std::size_t>(span));
}

std::int32_t CallPaths::OfHost(const Piece& piece, TimeNs offset) {
  const auto row = static_cast<std::size_t>(piece.row);
  std::int32_t around = kNone;
  switch (piece.table) {
    case PieceTable::kHostOps:
      return OfOp(row);
    case PieceTable::kPythonCalls:
      return NodeOf(row);
    case PieceTable::kHostCalls:
      around = At(trace_.host_calls.track[row], trace_.host_calls.start[row]);
      break;
    case PieceTable::kQueuedWork:
      around = At(trace_.queued_work.queued_track[row], trace_.queued_work.queued[row]);
      break;
    case PieceTable::kMstx:
      around = At(trace_.mstx.track[row], piece.begin + offset);
      break;
    default:
      return kNone;
  }
  return tree_.Child(around, FrameOf({piece.table, piece.row}));
}

bool HasPythonFrames(const RankTrace& trace) {
  return !trace.python_calls.Empty() ||
         std::ranges::any_of(trace.host_ops.stack,
                             [&](StringId stack) { return HasStack(trace, stack); });
}

namespace {

// Those that launch work or hand it to another thread to launch; of captures that do not say, those
// that run operators, or else call the runtime.
std::set<std::int32_t> IssuingThreads(const RankTrace& trace) {
  std::set<std::int32_t> threads;
  const auto add = [&](std::initializer_list<const std::vector<std::int32_t>*> columns) {
    if (!threads.empty()) return;
    for (const auto* column : columns) threads.insert(column->begin(), column->end());
    std::erase_if(threads, [&](std::int32_t track) {
      return track < 0 || static_cast<std::size_t>(track) >= trace.tracks.Size();
    });
  };
  add({&trace.launches.host_track, &trace.queued_work.queued_track, &trace.queued_work.track});
  add({&trace.host_ops.track, &trace.python_calls.track});
  add({&trace.host_calls.track});
  return threads;
}

}  // namespace

PathTree HostPaths(const RankTrace& trace) {
  CallPaths paths(trace, CallPaths::AllOfHost(trace));
  PathTreeBuilder& tree = paths.tree_;
  const Nesting& nesting = paths.nesting_;
  paths.roots_.assign(trace.tracks.Size(), CallPaths::kNone);
  std::vector<std::optional<TimeNs>> first(trace.tracks.Size());
  for (const std::uint32_t span : nesting.InOrder()) {
    const std::int32_t track = nesting.At(span).track;
    if (track >= 0 && !first[static_cast<std::size_t>(track)])
      first[static_cast<std::size_t>(track)] = nesting.At(span).start;
  }
  // Numbers of threads differ from rank to rank: they are counted in the order of their begins.
  std::map<std::pair<TimeNs, std::int32_t>, std::int32_t> others;
  const std::int32_t main = MainTrackOf(trace);
  for (const std::int32_t track : IssuingThreads(trace)) {
    const auto place = static_cast<std::size_t>(track);
    if (!first[place]) continue;
    if (track == main) {
      paths.roots_[place] = tree.Child(PathTreeBuilder::kRoot, "[main thread]");
    } else {
      others[{*first[place], track}] = track;
    }
  }
  int number = 1;
  for (const auto& [begin, track] : others) {
    paths.roots_[static_cast<std::size_t>(track)] =
        tree.Child(PathTreeBuilder::kRoot, fmt::format("[thread {}]", ++number));
  }
  std::vector<std::int32_t> nothing(paths.roots_.size(), CallPaths::kNone);
  std::vector<TimeNs> own(nesting.InOrder().size(), 0);
  for (std::size_t track = 0; track < paths.roots_.size(); ++track) {
    if (paths.roots_[track] == CallPaths::kNone) continue;
    nothing[track] = tree.Child(paths.roots_[track], "[nothing recorded]");
    nesting.VisitOpen(static_cast<std::int32_t>(track),
                      [&](std::int64_t span, TimeNs begin, TimeNs end) {
                        if (span == Nesting::kNone) return tree.Add(nothing[track], end - begin, 1);
                        own[static_cast<std::size_t>(span)] += end - begin;
                      });
  }
  for (const std::uint32_t span : nesting.InOrder()) {
    const std::int32_t track = nesting.At(span).track;
    if (track < 0 || nothing[static_cast<std::size_t>(track)] == CallPaths::kNone) continue;
    const std::int32_t node = paths.NodeOf(span);
    const bool is_root = node == paths.roots_[static_cast<std::size_t>(track)];
    tree.Add(is_root ? nothing[static_cast<std::size_t>(track)] : node, own[span], 1);
  }
  return std::move(tree).Take();
}

}  // namespace mpa
