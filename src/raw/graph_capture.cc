// SPDX-License-Identifier: Apache-2.0
// The runtime's records of captured graphs.
#include "graph_capture.h"

#include <algorithm>

namespace mpa::raw {
namespace {

// A capture of a stream for a model; `status` 0 begins it.
struct CaptureRecord {
  std::uint32_t status = 0, device = 0, stream = 0, original_stream = 0, model = 0;
};

CaptureRecord ReadNarrow(const Record<kCompactSize>& record) {
  return {.status = record.U16(24),
          .device = record.U16(32),
          .stream = record.U16(26),
          .original_stream = record.U16(28),
          .model = record.U16(30)};
}

CaptureRecord ReadWide(const Record<kCompactSize>& record) {
  return {.status = record.U8(26),
          .device = record.U16(24),
          .stream = record.U32(28),
          .original_stream = record.U32(32),
          .model = record.U32(36)};
}

constexpr std::uint32_t kBegins = 0;

}  // namespace

GraphCapture::GraphCapture(const HostInput& input, TensorSets& sets)
    : wide_task_ids_(input.wide_task_ids) {
  ReadStreams(input);
  ReadOps(input, sets);
  ReadLongOps(input, sets);
}

void GraphCapture::ReadStreams(const HostInput& input) {
  constexpr std::string_view kNarrow = "compact.capture_stream_info",
                             kWide = "compact.capture_stream_info_v2";
  // Runtimes that write both write the same.
  const bool narrow = CountRecords(input.files, kNarrow, 1) > 0;
  ForEachHostRecord<kCompactSize>(
      input.files, narrow ? kNarrow : kWide, input.issues,
      [&](const Record<kCompactSize>& record, const Slice&) {
        const CaptureRecord capture = narrow ? ReadNarrow(record) : ReadWide(record);
        if (capture.status != kBegins) return;  // names no stream, whose end begins a batch anyway
        starts_[{capture.device, capture.stream}].push_back(
            {input.clock.HostNs(record.U64(16)), capture.model, capture.original_stream});
      });
  for (auto& [stream, starts] : starts_) {
    std::ranges::sort(starts);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  }
}

// `head` holds the bytes before the tensors.
void GraphCapture::AddOp(const Record<kCapturedOpHead>& head, std::string_view tensors, bool aging,
                         TensorSets& sets) {
  constexpr std::size_t kTensorSize = 44;
  const std::uint32_t task = head.U32(36);
  ops_[{head.U32(28), head.U32(32), wide_task_ids_ ? task : task & 0xFFFF}] = {
      .name = head.U64(48),
      .op_type = head.U64(56),
      .attributes = head.U64(64),
      .core = head.U32(40),
      .blocks = head.U32(44),
      .tensors = sets.Intern(tensors.substr(0, std::size_t{head.U32(84)} * kTensorSize)),
      .hf32 = head.U32(80) != 0,
      .dynamic = aging};
}

void GraphCapture::ReadOps(const HostInput& input, TensorSets& sets) {
  ForEachHostRecord<kAdditionalSize>(
      input.files, "additional.capture_op_info", input.issues,
      [&](const Record<kAdditionalSize>& record, const Slice& slice) {
        AddOp(Record<kCapturedOpHead>(record.Bytes().data()),
              record.Bytes().substr(kCapturedOpHead), slice.aging, sets);
      });
}

// Records with a length that depends on their tensors.
void GraphCapture::ReadLongOps(const HostInput& input, TensorSets& sets) {
  constexpr std::string_view kStem = "variable.capture_op_info";
  constexpr std::size_t kHead = 24;
  VisitHostSlices(
      input.files, kStem, 1, input.issues, [&](std::string_view bytes, const Slice& slice) {
        while (!bytes.empty()) {
          if (bytes.size() < kCapturedOpHead) {
            return input.issues.Count("file cut off inside a record, read up to there", kStem);
          }
          const Record<kCapturedOpHead> head(bytes.data());
          const std::size_t length = kHead + std::size_t{head.U32(12)};
          if (head.U16(0) != kHostMagic.value || length < kCapturedOpHead) {
            return input.issues.Count("rest of a file left out, a record in it is damaged", kStem);
          }
          if (length > bytes.size()) {
            return input.issues.Count("file cut off inside a record, read up to there", kStem);
          }
          AddOp(head, bytes.substr(kCapturedOpHead, length - kCapturedOpHead), slice.aging, sets);
          bytes.remove_prefix(length);
        }
      });
}

std::int64_t GraphCapture::ModelOf(const HostTask& task) const {
  const auto found = starts_.find({task.device, task.stream});
  if (found == starts_.end() || task.batch >= found->second.size()) return kNoModel;
  const Start& start = found->second[task.batch];
  return start.time <= task.time ? std::int64_t{start.model} : kNoModel;
}

const CapturedOp* GraphCapture::OpOf(const HostTask& task) const {
  const auto found = ops_.find({task.device, task.stream, task.task});
  return found == ops_.end() ? nullptr : &found->second;
}

void GraphCapture::AddCapturedStreams(std::set<std::int64_t>& streams) const {
  std::set<std::int64_t> captured;
  for (const auto& [stream, starts] : starts_) {
    const bool any = std::ranges::any_of(
        starts, [&](const Start& start) { return streams.contains(start.original_stream); });
    if (any) captured.insert(stream.second);
  }
  streams.merge(captured);
}

std::vector<std::int64_t> ReadScheduleStreams(const HostInput& input, const GraphCapture& capture) {
  std::set<std::int64_t> streams;
  ForEachHostRecord<kAdditionalSize>(
      input.files, "additional.mc2_comm_info", input.issues,
      [&](const Record<kAdditionalSize>& record, const Slice&) { streams.insert(record.U32(44)); });
  capture.AddCapturedStreams(streams);
  return {streams.begin(), streams.end()};
}

}  // namespace mpa::raw
