// SPDX-License-Identifier: Apache-2.0
// Collectives and their pieces on the timeline: a row for each group, below it one for each plane.

#include "mpa/raw/labels.h"
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

std::string_view NameOr(std::span<const raw::NamedNumber> names, std::int64_t number) {
  const std::string_view name = raw::NameOf(names, number);
  return name.empty() ? "INVALID_TYPE" : name;
}

std::string GroupNames(const TraceSource& source) {
  const raw::Session& session = source.session;
  std::string out;
  for (std::size_t i = 0; i < source.groups.size(); ++i) {
    const GroupRow& group = source.groups[i];
    const std::uint64_t process = source.Process(Layer::kCommunication, group.device);
    if (i == 0 || source.groups[i - 1].device != group.device) {
      PutProcess(out, process, "Communication", DeviceLabel(group.device), Layer::kCommunication);
    }
    const std::string_view name = session.strings.View(group.name);
    PutThread(out, process, group.thread,
              name.empty() || name == kNone ? "Communication"
                                            : "Group " + std::string(name) + " Communication",
              group.thread);
    for (const std::int64_t plane : group.planes) {
      const std::int64_t thread = group.thread + 1 + plane;
      PutThread(out, process, thread, "Plane " + std::to_string(plane), thread);
    }
  }
  return out;
}

void PutPart(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Session& session = source.session;
  const raw::CollectiveParts& parts = session.parts;
  if (parts.collective[i] < 0 || parts.plane[i] < 0) return;
  const auto task = static_cast<std::size_t>(parts.task[i]);
  TracePlace place = source.CollectivePlace(static_cast<std::size_t>(parts.collective[i]));
  place.thread += 1 + parts.plane[i];
  place.time = session.tasks.start[task];
  const std::string_view name = source.texts[parts.name[i]];
  BeginSlice(out, "", place, session.tasks.dur[task], name);
  Put(out, R"("notify_id": ")", parts.notify[i], R"-(", "duration estimated(us)": )-",
      Decimal{parts.estimated[i]}, R"(, "stream id": )", session.tasks.stream[task],
      R"(, "task id": )", session.tasks.task[task], R"(, "context id": )",
      session.tasks.context[task], R"(, "task type": ")", name, R"(", "src rank": )",
      parts.local_rank[i], R"(, "dst rank": )", parts.remote_rank[i], R"(, "transport type": ")",
      NameOr(raw::TransportTypes(), parts.transport[i]), R"-(", "size(Byte)": )-", parts.bytes[i],
      R"(, "data type": ")", NameOr(raw::CommunicationDataTypes(), parts.data_type[i]),
      R"(", "link type": ")", NameOr(raw::LinkTypes(), parts.link[i]),
      R"-(", "bandwidth(GB/s)": )-", Decimal{parts.bandwidth[i] / 1e9}, R"(, "model id": )",
      session.tasks.model[task], "}}");
}

void PutCollective(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Collectives& collectives = source.session.collectives;
  const TracePlace place = source.CollectivePlace(i);
  const std::uint64_t connection = source.Connection(collectives.call[i]);
  BeginSlice(out, "", place, Duration(collectives.start[i], collectives.end[i]),
             source.texts[collectives.name[i]]);
  Put(out, R"("rank_size": )", collectives.rank_size[i], R"(, "connection_id": )", connection,
      R"(, "model id": )", collectives.model[i], R"(, "data_type": ")",
      NameOr(raw::CommunicationDataTypes(), collectives.data_type[i]), R"(", "alg_type": ")",
      source.texts[collectives.algorithm[i]], R"(", "count": )", collectives.count[i],
      R"(, "relay": ")", collectives.relay[i] == 1 ? "yes" : "no", R"(", "retry": ")",
      collectives.retry[i] == 1 ? "yes" : "no", R"("}})");
  PutLaunchArrow(out, 'f', connection, place);
}

}  // namespace

void WriteCommunicationEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  file.Write(GroupNames(source));
  const bool level0 = IsLevel0(session);
  file.WriteRows(level0 ? 0 : session.parts.Size(),
                 [&](std::size_t i, std::string& out) { PutPart(source, i, out); });
  file.WriteRows(session.collectives.Size(),
                 [&](std::size_t i, std::string& out) { PutCollective(source, i, out); });
}

}  // namespace mpa::profiler_output
