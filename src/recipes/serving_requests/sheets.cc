// SPDX-License-Identifier: Apache-2.0
// The sheets: times of requests, batches, the server over time, and what was found.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/measure/quantiles.h"
#include "mpa/report/chart.h"
#include "mpa/report/member_columns.h"
#include "outputs.h"
#include "overview.h"

namespace mpa::recipes::serving_requests {
namespace {

constexpr auto kAsPercent = [](double share) { return share < 0 ? Cell() : Cell(100 * share); };
constexpr auto kCounted = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
constexpr auto kMedian = [](const auto& list) { return list.empty() ? Cell() : Median(list); };

template <int kPercent>
constexpr auto kPercentile =
    [](const std::vector<TimeNs>& sorted) { return kIfKnown(At(sorted, kPercent)); };

// `kTimes` is the member with the times, in ascending order.
template <auto kTimes>
SheetColumns<ItemOf<kTimes>> PercentileColumns() {
  return {CountColumn<kTimes, kPercentile<50>>("p50Ns", 14, "Median, in ns."),
          CountColumn<kTimes, kPercentile<90>>("p90Ns", 14, "90 % take no longer, in ns."),
          CountColumn<kTimes, kPercentile<99>>("p99Ns", 14, "99 % take no longer, in ns."),
          CountColumn<kTimes, kPercentile<100>>("maxNs", 14, "The longest, in ns.")};
}

template <auto... kInstance>
auto InstanceColumn() {
  return TextColumn<kInstance...>("instance", 20,
                                  "The instance: the folder of its files; empty: all together.");
}

template <auto... kRank>
auto DpRankColumn() {
  return CountColumn<kRank..., kIfKnown>("dpRank", 8,
                                         "The data parallel rank; empty: all, or unknown.");
}

struct LatencyRow {
  RequestTime metric{};
  const Group* group = nullptr;

  const std::vector<TimeNs>& Times() const { return group->TimesOf(metric); }
  TimeNs Mean() const { return Times().empty() ? -1 : SumOf(Times()) / kCounted(Times()); }
};

SheetColumns<LatencyRow> LatencyColumns() {
  using Item = LatencyRow;
  return Joined(
      {InstanceColumn<&Item::group, &Group::name>(), DpRankColumn<&Item::group, &Group::dp_rank>(),
       TextColumn<&Item::metric>(
           "metric", 8,
           "ttft: time to first token; tpot: time per output token behind the"
           " first; e2e: until the last token; queue: waiting to be scheduled."),
       CountColumn<&Item::Times, kCounted>("requests", 10, "Requests of which the time is known."),
       CountColumn<&Item::Mean, kIfKnown>("meanNs", 14, "Mean, in ns.")},
      PercentileColumns<&Item::Times>());
}

SheetColumns<Group> LoadColumns() {
  using Item = Group;
  return {InstanceColumn<&Item::name>(),
          DpRankColumn<&Item::dp_rank>(),
          CountColumn<&Item::requests, kCounted>("requests", 10, "Requests."),
          CountColumn<&Item::prompt_tokens>("promptTokens", 14, "Tokens of their prompts."),
          CountColumn<&Item::reply_tokens>("replyTokens", 14, "Tokens of their replies."),
          NumberColumn<&Item::RequestsPerSecond, kIfKnown>(
              "requestsPerSecond", Format::kDecimals2, 14,
              "Requests per second from the first start to the last end."),
          NumberColumn<&Item::ReplyTokensPerSecond, kIfKnown>(
              "replyTokensPerSecond", Format::kDecimals2, 14,
              "Tokens of replies per second in the same time."),
          NumberColumn<&Item::HitRate, kAsPercent>(
              "prefixHitPercent", Format::kDecimals2, 14,
              "Tokens of prompts that came from the prefix cache, in percent."),
          CountColumn<&Item::Preemptions, kIfKnown>(
              "preemptions", 14, "Prompts that were read again after their request had decoded.")};
}

SheetColumns<BatchKind> BatchColumns() {
  using Item = BatchKind;
  return Joined(
      {InstanceColumn<&Item::lane, &Lane::name>(), DpRankColumn<&Item::lane, &Lane::dp_rank>(),
       TextColumn<&Item::phase>("phase", 10, "prefill, decode, mixed or unknown."),
       CountColumn<&Item::lengths, kCounted>("batches", 10, "Batches that ran."),
       NumberColumn<&Item::MeanRequests>("meanRequests", Format::kDecimals2, 14,
                                         "Requests in a batch."),
       CountColumn<&Item::most_requests>("maxRequests", 14,
                                         "Requests in the largest batch that was seen."),
       NumberColumn<&Item::MeanTokens, kIfKnown>("meanTokens", Format::kDecimals2, 14,
                                                 "Tokens scheduled in a batch.")},
      PercentileColumns<&Item::lengths>());
}

SheetColumns<Lane> TimeColumns() {
  using Item = Lane;
  return {InstanceColumn<&Item::name>(),
          DpRankColumn<&Item::dp_rank>(),
          CountColumn<&Item::times, &LaneTimes::active>(
              "activeNs", 14,
              "Time in which requests were there, in ns; the next columns add up to it."),
          CountColumn<&Item::times, &LaneTimes::ran>("executionNs", 14, "A batch ran, in ns."),
          CountColumn<&Item::times, &LaneTimes::scheduled>(
              "schedulingNs", 14, "A batch was put together while none ran, in ns."),
          CountColumn<&Item::times, &LaneTimes::sampled>(
              "samplingNs", 14, "Tokens were chosen while no batch ran, in ns."),
          CountColumn<&Item::times, &LaneTimes::idle>("otherNs", 14, "None of these, in ns.")};
}

SheetColumns<Moment> MomentColumns() {
  using Item = Moment;
  return {
      InstanceColumn<&Item::server, &ServerPart::name>(),
      CountColumn<&Item::number>("part", 8, "Part of the whole time, counted from 0."),
      CountColumn<&Item::begin>("startNs", 14, "Start of the part since the first record, in ns."),
      CountColumn<&Item::length>("durationNs", 14, "Length of the part, in ns."),
      CountColumn<&Item::arrivals>("arrivals", 10, "Requests that came."),
      CountColumn<&Item::waiting, kIfKnown>("waiting", 10, "Most requests that waited."),
      CountColumn<&Item::running, kIfKnown>("running", 10, "Most requests that ran."),
      CountColumn<&Item::swapped, kIfKnown>("swapped", 10, "Most requests that were swapped out."),
      NumberColumn<&Item::batch_requests, kIfKnown>("meanRequests", Format::kDecimals2, 14,
                                                    "Requests in a batch."),
      NumberColumn<&Item::free_share, kAsPercent>(
          "leastFreePercent", Format::kDecimals2, 14,
          "Fewest blocks of the KV cache that were free, in percent of all.")};
}

SheetColumns<TransfersOfRank> TransferColumns() {
  using Item = TransfersOfRank;
  return Joined(
      {CountColumn<&Item::rank, kIfKnown>("rankId", 8, "The rank that fetches; empty: unknown."),
       CountColumn<&Item::lengths, kCounted>("transfers", 10, "Transfers from prefill to decode."),
       CountColumn<&Item::tokens>("tokens", 14, "Tokens whose keys and values moved.")},
      PercentileColumns<&Item::lengths>(),
      {NumberColumn<&Item::ns_per_token, kMedian>(
          "nsPerToken", Format::kDecimals2, 14,
          "Median of the time divided by the tokens, in ns.")});
}

SheetColumns<Finding> FindingColumns() {
  using Item = Finding;
  return {TextColumn<&Item::cause>("finding", 26, "What was found, by a stable name."),
          TextColumn<&Item::where>("where", 20,
                                   "The instance, data parallel rank or rank; empty: everywhere."),
          NumberColumn<&Item::share, kAsPercent>(
              "sharePercent", Format::kDecimals2, 14,
              "The part of the time of all requests that it takes at most, in"
              " percent; empty: unknown."),
          TextColumn<&Item::title>("title", 50, "What is wrong."),
          TextColumn<&Item::evidence>("evidence", 100, "The numbers that say so."),
          TextColumn<&Item::mend>("mend", 80, "What to do about it."),
          TextColumn<&Item::refuted_by>("refutedBy", 60, "What would speak against it.")};
}

struct RequestRow {
  const ServerPart* server = nullptr;
  const Request* request = nullptr;

  TimeNs PerToken() const {
    return TimesOf(request->first_token, request->dur, request->queued,
                   request->reply_tokens)[static_cast<std::size_t>(RequestTime::kPerToken)];
  }
};

SheetColumns<RequestRow> RequestColumns() {
  using Item = RequestRow;
  constexpr auto kOf = &Item::request;
  return {
      InstanceColumn<&Item::server, &ServerPart::name>(),
      TextColumn<kOf, &Request::id>("requestId", 36, "The id of the request."),
      DpRankColumn<kOf, &Request::dp_rank>(),
      CountColumn<kOf, &Request::start, kIfKnown>("startNs", 20,
                                                  "When it came, since the epoch, in ns."),
      CountColumn<kOf, &Request::prompt_tokens, kIfKnown>("promptTokens", 14,
                                                          "Tokens of its prompt."),
      CountColumn<kOf, &Request::reply_tokens, kIfKnown>("replyTokens", 14, "Tokens of its reply."),
      CountColumn<kOf, &Request::queued, kIfKnown>("queueNs", 14, "How long it waited, in ns."),
      CountColumn<kOf, &Request::first_token, kIfKnown>("firstTokenNs", 14,
                                                        "Until its first token, in ns."),
      CountColumn<&Item::PerToken, kIfKnown>("perTokenNs", 14,
                                             "For each token behind the first, in ns."),
      CountColumn<kOf, &Request::dur, kIfKnown>("endToEndNs", 14, "Until its last token, in ns."),
      NumberColumn<kOf, &Request::hit_rate, kAsPercent>(
          "prefixHitPercent", Format::kDecimals2, 14,
          "Tokens of its prompt that came from the prefix cache, in percent."),
      CountColumn<kOf, &Request::preemptions, kIfKnown>("preemptions", 14,
                                                        "How often its prompt was read again."),
      CountColumn<kOf, &Request::transfer_dur, kIfKnown>(
          "transferNs", 14, "How long its keys and values moved to decode, in ns.")};
}

// Of a metric alone: tokens take milliseconds, requests seconds.
Chart LatencyChart(const char* title, RequestTime metric) {
  return {.kind = Chart::Kind::kBars,
          .title = title,
          .labels = {"instance", "dpRank", "metric"},  // the row of all has no other
          .values = {{"p50Ns"}, {"p90Ns"}, {"p99Ns"}},
          .measured = Measured::kNs,
          .only_in = "metric",
          .only = std::string(NameOf(metric))};
}

Chart LoadChart(bool of_instances) {
  if (of_instances) {
    Chart chart = HeatOf("Waiting requests over time", "instance", "part", {"waiting"},
                         Measured::kCount, Chart::SameLabel::kNever);
    chart.counted = "requests";
    return chart;
  }
  return {.kind = Chart::Kind::kBars,
          .title = "Requests over time",
          .labels = {"part"},
          .values = {{"waiting", Tint::kWait}, {"running", Tint::kCompute}},
          .measured = Measured::kCount,
          .counted = "requests"};
}

template <typename Items>
void AddList(const SheetTitle& title, SheetColumns<typename Items::value_type> columns,
             const Items& items, std::vector<Chart> charts, Report& report) {
  ItemSheet list(title, std::move(columns));
  for (const auto& item : items) list.Add(item);
  list.sheet.charts = std::move(charts);
  report.sheets.push_back(std::move(list.sheet));
}

}  // namespace

void AddSheets(const Scene& scene, const std::vector<Finding>& findings, Report& report) {
  AddList({"ServingFindings", ToTranslate("Why requests take longer than they have to")},
          FindingColumns(), findings, {}, report);
  std::vector<LatencyRow> latencies;
  for (const Group& group : scene.groups) {
    for (std::size_t i = 0; i < kRequestTimes; ++i)
      latencies.push_back({static_cast<RequestTime>(i), &group});
  }
  AddList({"ServingLatency", ToTranslate("Times of requests by percentile")}, LatencyColumns(),
          latencies,
          {LatencyChart("Time to first token", RequestTime::kFirstToken),
           LatencyChart("Time per output token", RequestTime::kPerToken),
           LatencyChart("Time until the last token", RequestTime::kEndToEnd)},
          report);
  AddList({"ServingLoad", ToTranslate("Requests and tokens, and how many in a second")},
          LoadColumns(), scene.groups,
          {{.kind = Chart::Kind::kBars,
            .title = "Tokens by instance and data parallel rank",
            .labels = {"instance", "dpRank"},
            .values = {{"promptTokens"}, {"replyTokens"}},
            .measured = Measured::kCount,
            .counted = "tokens"}},
          report);
  AddList({"ServingBatches", ToTranslate("Batches that read prompts, decode, or both")},
          BatchColumns(), BatchKindsOf(scene),
          {{.kind = Chart::Kind::kBars,
            .title = "How long batches run",
            .labels = {"instance", "dpRank", "phase"},
            .values = {{"p50Ns"}, {"p90Ns"}},
            .measured = Measured::kNs}},
          report);
  std::vector<Lane> busy;
  for (const Lane& lane : scene.lanes) {
    if (!lane.steps.empty()) busy.push_back(lane);
  }
  AddList({"ServingTime", ToTranslate("What the server did while requests were there")},
          TimeColumns(), busy,
          {{.kind = Chart::Kind::kStacked,
            .title = "What the server did while requests were there",
            .labels = {"instance", "dpRank"},
            .values = {{"executionNs", Tint::kCompute},
                       {"schedulingNs", Tint::kWait},
                       {"samplingNs", Tint::kCopy},
                       {"otherNs", Tint::kFree}},
            .measured = Measured::kNs}},
          report);
  AddList({"ServingOverTime", ToTranslate("The queue, batches and blocks over time")},
          MomentColumns(), MomentsOf(scene), {LoadChart(scene.HasInstances())}, report);
  AddList({"ServingTransfers", ToTranslate("Transfers from prefill to decode")}, TransferColumns(),
          TransfersOf(scene), {}, report);
  PartSheet<RequestRow> requests(
      ItemSheet<RequestRow>({"ServingRequests", ToTranslate("Each request")}, RequestColumns()));
  for (const ServerPart* server : scene.servers) {
    for (const Request& request : server->requests) requests.Add({server, &request}, {});
  }
  report.sheets.push_back(std::move(requests).Take());
}

}  // namespace mpa::recipes::serving_requests
