// SPDX-License-Identifier: Apache-2.0
// communication.json and communication_matrix.json: what each step's collectives moved, at which
// bandwidth, and between which ranks.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "communication_steps.h"
#include "megabytes.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/measure/collectives.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

using Json = nlohmann::json;

using io::Member;

constexpr const char *kTotal = "Total Op Info", *kBandwidths = "Communication Bandwidth Info";

// A member in units of `unit`.
std::int64_t Scaled(const Json& object, const char* key, double unit, Issues& issues) {
  const Json& value = Member(object, key);
  if (value.is_null() || value == "N/A") return 0;
  return TrafficOrZero(value.is_number() ? value.get<double>() * unit : -1, key, issues);
}

// The number; 0 if the member is missing or holds something else.
double Number(const Json& object, const char* key, Issues& issues) {
  const Json& value = Member(object, key);
  if (value.is_number()) return value.get<double>();
  if (!value.is_null() && value != "N/A") issues.Count("invalid number, taken as 0", key);
  return 0;
}

CommunicationTime TimeOf(const Json& info, Issues& issues) {
  const auto number = [&](const char* key) { return Number(info, key, issues); };
  return {.start_us = number("Start Timestamp(us)"),
          .elapse = number("Elapse Time(ms)"),
          .transit = number("Transit Time(ms)"),
          .wait = number("Wait Time(ms)"),
          .synchronization = number("Synchronization Time(ms)"),
          .idle = number("Idle Time(ms)"),
          .wait_ratio = number("Wait Time Ratio"),
          .synchronization_ratio = number("Synchronization Time Ratio")};
}

LinkUse UseOf(const Json& info, Issues& issues) {
  LinkUse use{.megabytes = Number(info, "Transit Size(MB)", issues),
              .milliseconds = Number(info, "Transit Time(ms)", issues),
              .bandwidth = Number(info, "Bandwidth(GB/s)", issues),
              .large_packet_ratio = Number(info, "Large Packet Ratio", issues),
              .sizes = {}};
  const Json& sizes = Member(info, "Size Distribution");
  if (!sizes.is_object()) return use;
  for (const auto& [size, packets] : sizes.items()) {
    const bool is_pair = packets.is_array() && packets.size() == 2 && packets[0].is_number() &&
                         packets[1].is_number();
    const auto megabytes = io::ParseReal(size);
    if (!is_pair || !megabytes) {
      issues.Count("packets left out, their size or time is invalid", "Size Distribution");
      continue;
    }
    use.sizes[*megabytes] = {packets[0].get<double>(), packets[1].get<double>()};
  }
  return use;
}

// "<operator>@<group>".
std::pair<std::string, std::string> NameAndGroup(const std::string& key) {
  const std::size_t at = key.rfind('@');
  if (at == std::string::npos) return {key, ""};
  return {key.substr(0, at), key.substr(at + 1)};
}

void AddOps(const Json& ops, std::vector<CommunicationOp>& summary, Issues& issues) {
  if (!ops.is_object()) return;
  for (const auto& [key, info] : ops.items()) {
    auto [name, group] = NameAndGroup(key);
    CommunicationOp op{.name = std::move(name), .group = std::move(group), .time = {}, .links = {}};
    op.time = TimeOf(Member(info, "Communication Time Info"), issues);
    const Json& bandwidths = Member(info, kBandwidths);
    for (const LinkKind kind : kAllLinkKinds) {
      const Json& use = Member(bandwidths, NameOf(kind).data());
      if (use.is_object()) op.links[kind] = UseOf(use, issues);
    }
    summary.push_back(std::move(op));
  }
}

void AddSummary(const Json& document, RankTrace& trace) {
  for (const auto& [key, kinds] : document.items()) {
    CommunicationStep& step = SummaryOf(key, trace);
    AddOps(Member(kinds, "p2p"), step.p2p, trace.issues);
    AddOps(Member(kinds, "collective"), step.collective, trace.issues);
  }
}

// What CANN's msprof writes, operators without step and kind, as torch_npu arranges it. Its total
// is of both kinds, so that of the collectives is summed up.
Json Arranged(const Json& operators) {
  Json arranged = Json::object();
  Json& step = arranged["step"];
  std::map<std::string, std::map<std::string, double>> total;
  for (const auto& [key, info] : operators.items()) {
    if (key == kTotal) continue;
    const bool is_p2p = IsPointToPointName(key);
    step[is_p2p ? "p2p" : "collective"][key] = info;
    const Json& links = Member(info, kBandwidths);
    if (is_p2p || !links.is_object()) continue;
    for (const auto& [link, use] : links.items()) {
      for (const char* amount : {"Transit Size(MB)", "Transit Time(ms)"}) {
        const Json& value = Member(use, amount);
        if (value.is_number()) total[link][amount] += value.get<double>();
      }
    }
  }
  step["collective"][kTotal][kBandwidths] = total;
  return arranged;
}

void ReadTransfers(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  Json document = io::ReadJson(file.path, io::kMostCommunication);
  if (!document.is_object()) return;
  const bool is_flat = std::ranges::any_of(document, [](const Json& member) {
    return member.is_object() && member.contains(kBandwidths);
  });
  if (is_flat) document = Arranged(document);
  if (Intersects(request.wanted, Tables::kCommSummary)) AddSummary(document, trace);
  for (const auto& [key, groups] : document.items()) {
    const Json& bandwidth = Member(Member(Member(groups, "collective"), kTotal), kBandwidths);
    const std::int32_t step = StepOfName(key);
    const auto add = [&](Transport transport, const char* name) {
      const Json& info = Member(bandwidth, name);
      if (!info.is_object()) return;
      trace.transfers.Append(
          {.step = step,
           .transport = transport,
           .bytes = Scaled(info, "Transit Size(MB)", 1e6, trace.issues),  // decimal megabytes
           .time = Scaled(info, "Transit Time(ms)", 1e6, trace.issues)});
    };
    add(Transport::kRdma, "RDMA");
    add(Transport::kSdma, "SDMA");
  }
}

// communication_matrix.json: the amounts moved between the ranks of a group.

std::string TextOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

double RealOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

// `links`: "<source>-<destination>" -> the amounts moved.
void AddLinks(const std::string& key, const Json& links, std::vector<MatrixEntry>& matrix,
              Issues& issues) {
  if (!links.is_object() || key.find('@') == std::string::npos) return;
  const auto [name, group] = NameAndGroup(key);
  for (const auto& [ends, info] : links.items()) {
    const std::size_t dash = ends.find('-');
    const auto source = io::ParseInt(std::string_view(ends).substr(0, dash));
    const auto destination = dash == std::string::npos
                                 ? std::nullopt
                                 : io::ParseInt(std::string_view(ends).substr(dash + 1));
    if (!source || !destination) {
      issues.Count("link left out, its ends are not rank numbers", "communication_matrix.json");
      continue;
    }
    matrix.push_back({.name = name,
                      .group = group,
                      .source = *source,
                      .destination = *destination,
                      .transport = TextOf(info, "Transport Type"),
                      .megabytes = RealOf(info, "Transit Size(MB)"),
                      .milliseconds = RealOf(info, "Transit Time(ms)"),
                      .bandwidth = RealOf(info, "Bandwidth(GB/s)"),
                      .op = TextOf(info, "Op Name")});
  }
}

void ReadMatrix(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const Json document = io::ReadJson(file.path, io::kMostCommunication);
  if (!document.is_object()) return;
  for (const auto& [key, kinds] : document.items()) {
    CommunicationStep& step = SummaryOf(key, trace);
    const auto add = [&, &of_step = kinds](const char* kind, std::vector<MatrixEntry>& matrix) {
      const Json& ops = Member(of_step, kind);
      if (!ops.is_object()) return;
      for (const auto& [name, links] : ops.items()) AddLinks(name, links, matrix, trace.issues);
    };
    add("p2p", step.p2p_matrix);
    add("collective", step.collective_matrix);
  }
}

}  // namespace

Reader CommunicationJson() {
  return {"communication.json", FileKind::kCommunication, Tables::kTransfers | Tables::kCommSummary,
          ReadTransfers};
}

Reader CommunicationMatrixJson() {
  return {"communication_matrix.json", FileKind::kCommMatrix, Tables::kCommSummary, ReadMatrix};
}

}  // namespace mpa::readers
