// SPDX-License-Identifier: Apache-2.0
// The sheets: times of requests, batches, the server over time, and what was found.
#include <algorithm>
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

constexpr const char* kOfInstance = "The instance: the folder of its files; empty: all together.";
constexpr const char* kOfRank = "The data parallel rank; empty: all, or unknown.";

// The place of a row, in the columns that most sheets begin with.
struct Place {
  std::string instance{};
  std::int64_t dp_rank = -1;
};
Place PlaceOf(const Lane& lane) { return {lane.name, lane.dp_rank}; }

struct LatencyRow {
  Place place;
  RequestTime time{};
  const Group* group = nullptr;

  std::string_view Metric() const { return NameOf(time); }
  std::int64_t Known() const { return static_cast<std::int64_t>(group->Known(time)); }
  TimeNs Mean() const { return Known() > 0 ? group->Sum(time) / Known() : -1; }
};

template <int kPercent>
Cell TimeAt(const LatencyRow& row) {
  return kIfKnown(row.group->At(row.time, kPercent));
}

SheetColumns<LatencyRow> LatencyColumns() {
  using Item = LatencyRow;
  return {TextColumn<&Item::place, &Place::instance>("instance", 20, kOfInstance),
          CountColumn<&Item::place, &Place::dp_rank, kIfKnown>("dpRank", 8, kOfRank),
          TextColumn<&Item::Metric>(
              "metric", 8,
              "ttft: time to first token; tpot: time per output token behind the"
              " first; e2e: until the last token; queue: waiting to be scheduled."),
          CountColumn<&Item::Known>("requests", 10, "Requests of which the time is known."),
          CountColumn<&Item::Mean, kIfKnown>("meanNs", 14, "Mean, in ns."),
          ComputedColumn<Item>("p50Ns", Format::kInteger, "Median, in ns.", TimeAt<50>),
          ComputedColumn<Item>("p90Ns", Format::kInteger,
                               "90 % of the requests take no longer, in ns.", TimeAt<90>),
          ComputedColumn<Item>("p99Ns", Format::kInteger,
                               "99 % of the requests take no longer, in ns.", TimeAt<99>),
          ComputedColumn<Item>("maxNs", Format::kInteger, "The longest, in ns.", TimeAt<100>)};
}

struct LoadRow {
  Place place;
  const Group* group = nullptr;

  std::int64_t Count() const { return static_cast<std::int64_t>(group->Count()); }
  double PerSecond(double amount) const {
    return group->Seconds() > 0 ? amount / group->Seconds() : -1;
  }
};

SheetColumns<LoadRow> LoadColumns() {
  using Item = LoadRow;
  return {TextColumn<&Item::place, &Place::instance>("instance", 20, kOfInstance),
          CountColumn<&Item::place, &Place::dp_rank, kIfKnown>("dpRank", 8, kOfRank),
          CountColumn<&Item::Count>("requests", 10, "Requests."),
          CountColumn<&Item::group, &Group::prompt_tokens>("promptTokens", 14,
                                                           "Tokens of their prompts."),
          CountColumn<&Item::group, &Group::reply_tokens>("replyTokens", 14,
                                                          "Tokens of their replies."),
          ComputedColumn<Item>("requestsPerSecond", Format::kDecimals2,
                               "Requests per second from the first start to the last end.",
                               [](const Item& item) {
                                 return kIfKnown(item.PerSecond(static_cast<double>(item.Count())));
                               }),
          ComputedColumn<Item>("replyTokensPerSecond", Format::kDecimals2,
                               "Tokens of replies per second in the same time.",
                               [](const Item& item) {
                                 return kIfKnown(
                                     item.PerSecond(static_cast<double>(item.group->reply_tokens)));
                               }),
          ComputedColumn<Item>("prefixHitPercent", Format::kDecimals2,
                               "Tokens of prompts that came from the prefix cache, in percent.",
                               [](const Item& item) {
                                 const double rate = item.group->HitRate();
                                 return rate < 0 ? Cell() : Cell(100 * rate);
                               }),
          ComputedColumn<Item>(
              "preemptions", Format::kInteger,
              "Prompts that were read again after their request had decoded.",
              [](const Item& item) { return kIfKnown(CountPreemptions(*item.group)); })};
}

struct BatchRow {
  Place place;
  const BatchKind* kind = nullptr;

  std::int64_t Steps() const { return static_cast<std::int64_t>(kind->lengths.size()); }
  double Mean(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(kind->lengths.size());
  }
};

template <int kPercent>
Cell LengthAt(const BatchRow& row) {
  return Percentile(row.kind->lengths, kPercent);
}

SheetColumns<BatchRow> BatchColumns() {
  using Item = BatchRow;
  return {
      TextColumn<&Item::place, &Place::instance>("instance", 20, kOfInstance),
      CountColumn<&Item::place, &Place::dp_rank, kIfKnown>("dpRank", 8, kOfRank),
      TextColumn<&Item::kind, &BatchKind::phase>("phase", 10, "prefill, decode, mixed or unknown."),
      CountColumn<&Item::Steps>("batches", 10, "Batches that ran."),
      ComputedColumn<Item>("meanRequests", Format::kDecimals2, "Requests in a batch.",
                           [](const Item& item) -> Cell { return item.Mean(item.kind->requests); }),
      CountColumn<&Item::kind, &BatchKind::most_requests>(
          "maxRequests", 14, "Requests in the largest batch that was seen."),
      ComputedColumn<Item>("meanTokens", Format::kDecimals2, "Tokens scheduled in a batch.",
                           [](const Item& item) -> Cell {
                             if (!item.kind->tokens_known) return Cell();
                             return item.Mean(item.kind->tokens);
                           }),
      ComputedColumn<Item>("p50Ns", Format::kInteger, "Median of how long they ran, in ns.",
                           LengthAt<50>),
      ComputedColumn<Item>("p90Ns", Format::kInteger, "90 % of them ran no longer, in ns.",
                           LengthAt<90>),
      ComputedColumn<Item>("maxNs", Format::kInteger, "The longest, in ns.", LengthAt<100>)};
}

struct TimeRow {
  Place place;
  const Lane* lane = nullptr;
};

SheetColumns<TimeRow> TimeColumns() {
  using Item = TimeRow;
  return {TextColumn<&Item::place, &Place::instance>("instance", 20, kOfInstance),
          CountColumn<&Item::place, &Place::dp_rank, kIfKnown>("dpRank", 8, kOfRank),
          CountColumn<&Item::lane, &Lane::active_time>(
              "activeNs", 14,
              "Time in which requests were there, in ns; the next columns add up to it."),
          CountColumn<&Item::lane, &Lane::ran>("executionNs", 14, "A batch ran, in ns."),
          CountColumn<&Item::lane, &Lane::scheduled>(
              "schedulingNs", 14, "A batch was put together while none ran, in ns."),
          CountColumn<&Item::lane, &Lane::sampled>("samplingNs", 14,
                                                   "Tokens were chosen while no batch ran, in ns."),
          CountColumn<&Item::lane, &Lane::idle>("otherNs", 14, "None of these, in ns.")};
}

struct MomentRow {
  std::string instance{};
  Moment moment{};
};

SheetColumns<MomentRow> MomentColumns() {
  using Item = MomentRow;
  return {
      TextColumn<&Item::instance>("instance", 20, kOfInstance),
      CountColumn<&Item::moment, &Moment::number>("part", 8,
                                                  "Part of the whole time, counted from 0."),
      CountColumn<&Item::moment, &Moment::begin>(
          "startNs", 14, "Start of the part since the first record, in ns."),
      CountColumn<&Item::moment, &Moment::length>("durationNs", 14, "Length of the part, in ns."),
      CountColumn<&Item::moment, &Moment::arrivals>("arrivals", 10, "Requests that came."),
      CountColumn<&Item::moment, &Moment::waiting, kIfKnown>("waiting", 10,
                                                             "Most requests that waited."),
      CountColumn<&Item::moment, &Moment::running, kIfKnown>("running", 10,
                                                             "Most requests that ran."),
      CountColumn<&Item::moment, &Moment::swapped, kIfKnown>(
          "swapped", 10, "Most requests that were swapped out."),
      NumberColumn<&Item::moment, &Moment::batch_requests, kIfKnown>(
          "meanRequests", Format::kDecimals2, 14, "Requests in a batch."),
      ComputedColumn<Item>("leastFreePercent", Format::kDecimals2,
                           "Fewest blocks of the KV cache that were free, in percent of all.",
                           [](const Item& item) -> Cell {
                             if (item.moment.free_share < 0) return Cell();
                             return 100 * item.moment.free_share;
                           })};
}

struct TransferRow {
  const TransfersOfRank* of_rank = nullptr;

  std::int64_t Count() const { return static_cast<std::int64_t>(of_rank->lengths.size()); }
};

template <int kPercent>
Cell TransferAt(const TransferRow& row) {
  return Percentile(row.of_rank->lengths, kPercent);
}

SheetColumns<TransferRow> TransferColumns() {
  using Item = TransferRow;
  return {CountColumn<&Item::of_rank, &TransfersOfRank::rank, kIfKnown>(
              "rankId", 8, "The rank that fetches; empty: unknown."),
          CountColumn<&Item::Count>("transfers", 10, "Transfers from prefill to decode."),
          CountColumn<&Item::of_rank, &TransfersOfRank::tokens>(
              "tokens", 14, "Tokens whose keys and values moved."),
          ComputedColumn<Item>("p50Ns", Format::kInteger, "Median of their time, in ns.",
                               TransferAt<50>),
          ComputedColumn<Item>("p90Ns", Format::kInteger, "90 % of them take no longer, in ns.",
                               TransferAt<90>),
          ComputedColumn<Item>("maxNs", Format::kInteger, "The longest, in ns.", TransferAt<100>),
          ComputedColumn<Item>("nsPerToken", Format::kDecimals2,
                               "Median of the time divided by the tokens, in ns.",
                               [](const Item& item) -> Cell {
                                 if (item.of_rank->ns_per_token.empty()) return Cell();
                                 return Median(item.of_rank->ns_per_token);
                               })};
}

SheetColumns<Finding> FindingColumns() {
  using Item = Finding;
  return {TextColumn<&Item::cause>("finding", 26, "What was found, by a stable name."),
          TextColumn<&Item::where>("where", 20,
                                   "The instance, data parallel rank or rank; empty: everywhere."),
          ComputedColumn<Item>("sharePercent", Format::kDecimals2,
                               "The part of the time of all requests that it takes at most, in"
                               " percent; empty: unknown.",
                               [](const Item& item) -> Cell {
                                 if (item.share < 0) return Cell();
                                 return 100 * item.share;
                               }),
          TextColumn<&Item::title>("title", 50, "What is wrong."),
          TextColumn<&Item::evidence>("evidence", 100, "The numbers that say so."),
          TextColumn<&Item::mend>("mend", 80, "What to do about it."),
          TextColumn<&Item::refuted_by>("refutedBy", 60, "What would speak against it.")};
}

struct RequestRow {
  const ServerPart* server = nullptr;
  const Request* request = nullptr;

  TimesOfRequest Times() const {
    return TimesOf(request->first_token, request->dur, request->queued, request->reply_tokens);
  }
};

SheetColumns<RequestRow> RequestColumns() {
  using Item = RequestRow;
  const auto percent = [](const Item& item) -> Cell {
    return item.request->hit_rate < 0 ? Cell() : Cell(100 * item.request->hit_rate);
  };
  return {TextColumn<&Item::server, &ServerPart::name>("instance", 20, kOfInstance),
          TextColumn<&Item::request, &Request::id>("requestId", 36, "The id of the request."),
          CountColumn<&Item::request, &Request::dp_rank, kIfKnown>("dpRank", 8, kOfRank),
          CountColumn<&Item::request, &Request::start, kIfKnown>(
              "startNs", 20, "When it came, since the epoch, in ns."),
          CountColumn<&Item::request, &Request::prompt_tokens, kIfKnown>("promptTokens", 14,
                                                                         "Tokens of its prompt."),
          CountColumn<&Item::request, &Request::reply_tokens, kIfKnown>("replyTokens", 14,
                                                                        "Tokens of its reply."),
          CountColumn<&Item::request, &Request::queued, kIfKnown>("queueNs", 14,
                                                                  "How long it waited, in ns."),
          CountColumn<&Item::request, &Request::first_token, kIfKnown>(
              "firstTokenNs", 14, "Until its first token, in ns."),
          ComputedColumn<Item>(
              "perTokenNs", Format::kInteger, "For each token behind the first, in ns.",
              [](const Item& item) {
                return kIfKnown(item.Times()[static_cast<std::size_t>(RequestTime::kPerToken)]);
              }),
          CountColumn<&Item::request, &Request::dur, kIfKnown>("endToEndNs", 14,
                                                               "Until its last token, in ns."),
          ComputedColumn<Item>("prefixHitPercent", Format::kDecimals2,
                               "Tokens of its prompt that came from the prefix cache, in percent.",
                               percent),
          CountColumn<&Item::request, &Request::preemptions, kIfKnown>(
              "preemptions", 14, "How often its prompt was read again."),
          CountColumn<&Item::request, &Request::transfer_dur, kIfKnown>(
              "transferNs", 14, "How long its keys and values moved to decode, in ns.")};
}

Chart LatencyChart() {
  return {.kind = Chart::Kind::kBars,
          .title = "Time of requests by percentile",
          .labels = {"instance", "dpRank", "metric"},
          .values = {{"p50Ns"}, {"p90Ns"}, {"p99Ns"}},
          .measured = Measured::kNs};
}

}  // namespace

void AddSheets(const Scene& scene, const std::vector<Finding>& findings, Report& report) {
  ItemSheet found({"ServingFindings", ToTranslate("Why requests take longer than they have to")},
                  FindingColumns());
  for (const Finding& finding : findings) found.Add(finding);
  ItemSheet latency({"ServingLatency", ToTranslate("Times of requests by percentile")},
                    LatencyColumns());
  ItemSheet load({"ServingLoad", ToTranslate("Requests and tokens, and how many in a second")},
                 LoadColumns());
  for (const Group& group : scene.groups) {
    const Place place{group.name, group.dp_rank};
    for (std::size_t i = 0; i < kRequestTimes; ++i)
      latency.Add({place, static_cast<RequestTime>(i), &group});
    load.Add({place, &group});
  }
  latency.sheet.charts = {LatencyChart()};
  load.sheet.charts = {{.kind = Chart::Kind::kBars,
                        .title = "Tokens by instance and data parallel rank",
                        .labels = {"instance", "dpRank"},
                        .values = {{"promptTokens"}, {"replyTokens"}},
                        .measured = Measured::kCount,
                        .counted = "tokens"}};
  ItemSheet batches({"ServingBatches", ToTranslate("Batches that read prompts, decode, or both")},
                    BatchColumns());
  const std::vector<BatchKind> kinds = BatchKindsOf(scene);
  for (const BatchKind& kind : kinds) batches.Add({PlaceOf(*kind.lane), &kind});
  batches.sheet.charts = {{.kind = Chart::Kind::kBars,
                           .title = "How long batches run",
                           .labels = {"instance", "dpRank", "phase"},
                           .values = {{"p50Ns"}, {"p90Ns"}},
                           .measured = Measured::kNs}};
  ItemSheet times({"ServingTime", ToTranslate("What the server did while requests were there")},
                  TimeColumns());
  for (const Lane& lane : scene.lanes) {
    if (!lane.steps.empty()) times.Add({PlaceOf(lane), &lane});
  }
  times.sheet.charts = {{.kind = Chart::Kind::kStacked,
                         .title = "What the server did while requests were there",
                         .labels = {"instance", "dpRank"},
                         .values = {{"executionNs", Tint::kCompute},
                                    {"schedulingNs", Tint::kWait},
                                    {"samplingNs", Tint::kCopy},
                                    {"otherNs", Tint::kFree}},
                         .measured = Measured::kNs}};
  ItemSheet moments({"ServingOverTime", ToTranslate("The queue, batches and blocks over time")},
                    MomentColumns());
  for (const Moment& moment : MomentsOf(scene))
    moments.Add({scene.servers[moment.server]->name, moment});
  moments.sheet.charts = {{.kind = Chart::Kind::kBars,
                           .title = "Requests over time",
                           .labels = {"instance", "part"},
                           .values = {{"waiting", Tint::kWait}, {"running", Tint::kCompute}},
                           .measured = Measured::kCount,
                           .counted = "requests"}};
  ItemSheet transfers({"ServingTransfers", ToTranslate("Transfers from prefill to decode")},
                      TransferColumns());
  const std::vector<TransfersOfRank> by_rank = TransfersOf(scene);
  for (const TransfersOfRank& of_rank : by_rank) transfers.Add({&of_rank});
  PartSheet<RequestRow> requests(
      ItemSheet<RequestRow>({"ServingRequests", ToTranslate("Each request")}, RequestColumns()));
  for (const ServerPart* server : scene.servers) {
    for (const Request& request : server->requests) requests.Add({server, &request}, {});
  }
  for (Sheet* sheet : {&found.sheet, &latency.sheet, &load.sheet, &batches.sheet, &times.sheet,
                       &moments.sheet, &transfers.sheet})
    report.sheets.push_back(std::move(*sheet));
  report.sheets.push_back(std::move(requests).Take());
}

}  // namespace mpa::recipes::serving_requests
