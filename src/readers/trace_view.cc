// SPDX-License-Identifier: Apache-2.0
// trace_view.json, msprof_*.json: the whole timeline of an NPU text capture.
#include <string>
#include <utility>

#include "mpa/readers/reader.h"
#include "trace_fragment.h"
#include "trace_join.h"
#include "trace_pieces.h"

namespace mpa::readers {
namespace {

void ReadTraceView(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  TraceJoin join(request.wanted, trace);
  BeginEnds begin_ends;
  std::string file_name;
  const auto read = [&](const CaptureFile& slice) {
    file_name = slice.path.filename().string();
    ReadPieces<TraceFragment>(
        slice, trace.issues,
        [&](EventParser& parser, const io::EventPiece& piece, TraceFragment& fragment) {
          return FillFragment(parser, piece, request, file_name, fragment);
        },
        [&](TraceFragment& fragment) {
          join.Add(fragment);
          begin_ends.Append(std::move(fragment.begin_ends));
        });
  };
  read(file);
  for (const std::filesystem::path& slice : file.slices) read({file.kind, slice});
  TraceFragment of_pairs;
  FillFragment(begin_ends, request, file_name, of_pairs);
  join.Add(of_pairs);
  join.Finish();
}

}  // namespace

Reader TraceView() {
  return {"trace_view.json", FileKind::kTraceView,
          Tables::kHostOps | Tables::kLaunches | Tables::kDeviceTasks | Tables::kCommunications |
              Tables::kCommTasks | Tables::kOverlaps | Tables::kSteps | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx | Tables::kCoreClocks |
              kRuntimeTables | Tables::kGarbageCollections | Tables::kCounters,
          ReadTraceView};
}

}  // namespace mpa::readers
