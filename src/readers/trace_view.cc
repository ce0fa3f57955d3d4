// SPDX-License-Identifier: Apache-2.0
// trace_view.json: the whole timeline of an NPU text capture. Pieces of the file are parsed in
// parallel into fragments; device events are told apart by their process, whose name may come last.
#include <string>
#include <vector>

#include "mpa/base/parallel.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_cut.h"
#include "mpa/readers/reader.h"
#include "trace_events.h"
#include "trace_fragment.h"
#include "trace_join.h"

namespace mpa::readers {
namespace {

void Read(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const io::InputText input(file.path);
  const std::string file_name = file.path.filename().string();
  const io::CutArray cut = CutEvents(file, input.text(), trace.issues);
  std::vector<TraceFragment> fragments(cut.pieces.size());
  ParallelFor(fragments.size(), [&](std::size_t i) {
    FillFragment(cut.pieces[i], request, file_name, fragments[i]);
  });
  JoinFragments(fragments, request.wanted, trace);
}

}  // namespace

Reader TraceView() {
  return {"trace_view.json", FileKind::kTraceView,
          Tables::kHostOps | Tables::kLaunches | Tables::kDeviceTasks | Tables::kCommunications |
              Tables::kCommTasks | Tables::kOverlaps | Tables::kSteps | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx | Tables::kCoreClocks |
              kRuntimeTables | Tables::kGarbageCollections,
          Read};
}

}  // namespace mpa::readers
