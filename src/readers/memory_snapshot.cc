// SPDX-License-Identifier: Apache-2.0
// Snapshots of the framework's allocator.
#include "mpa/base/error.h"
#include "mpa/io/pickle.h"
#include "mpa/readers/reader.h"
#include "snapshot_records.h"

namespace mpa::readers {
namespace {

void ReadSnapshot(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  io::Pickle pickle(file.path);
  SnapshotRecords records(file.path.filename().string(), trace);
  try {
    const io::PickleValue all = pickle.Read(records);
    InContext(file.path.string(), [&] { records.Finish(pickle, all); });
  } catch (const Error&) {
    records.Withdraw();
    throw;
  }
}

}  // namespace

Reader MemorySnapshot() {
  return {"memory snapshot", FileKind::kMemorySnapshot, Tables::kMemorySnapshot, ReadSnapshot};
}

}  // namespace mpa::readers
