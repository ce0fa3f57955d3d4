// SPDX-License-Identifier: Apache-2.0
// The JSON document of a diagnosis, whole or cut to a size.
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "finding_json.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "mpa/measure/quantiles.h"
#include "mpa/settings/settings.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

// Makes the document, and counts what it leaves out.
class DocumentMaker {
 public:
  DocumentMaker(const Diagnosis& diagnosis, const Extent& extent)
      : diagnosis_(diagnosis), cut_(extent) {}

  Json Make() && {
    Json document = {{"schema", "mpa.diagnosis/1"}, {"complete", diagnosis_.complete}};
    document["capture"] = Capture();
    const bool is_judged = !diagnosis_.accounting.empty() || diagnosis_.ranks.empty();
    document["step_ns"] = is_judged ? Json(diagnosis_.step) : Json(nullptr);
    document["floor_ns"] = is_judged ? Json(diagnosis_.step_after_fixes) : Json(nullptr);
    if (diagnosis_.on_host) document["on_host"] = OnHost(*diagnosis_.on_host);
    document["accounting"] = Accounts();
    if (const auto shown = ShownAccount(diagnosis_); shown && extent_.all_accounts)
      document["shown_account"] = Shares(*shown);
    document["findings"] = Findings();
    document["not_causes"] = InnocentCalls();
    document["skipped"] = Skipped();
    if (!diagnosis_.hidden.empty() && extent_.skipped) document["hidden"] = Hidden();
    if (!diagnosis_.passed_checks.empty() && extent_.skipped) document["fine"] = Fine();
    if (diagnosis_.known_fusions > 0 && extent_.skipped) document["fusions"] = Fusions();
    if (!diagnosis_.hiding_findings_not_shown.empty() && extent_.innocent_calls)
      document["needed"] = Needed();
    if (!extent_.skipped) cut_.Omit("hidden", diagnosis_.hidden.size());
    if (!extent_.skipped) cut_.Omit("fine", diagnosis_.passed_checks.size());
    if (!extent_.skipped) cut_.Omit("fusions", diagnosis_.fusions.size());
    if (!extent_.innocent_calls) cut_.Omit("needed", diagnosis_.hiding_findings_not_shown.size());
    if (!diagnosis_.lateness.ranks.empty() && extent_.innocent_calls)
      document["late_ranks"] = LateRanksOf();
    document["notes"] = Notes();
    document["omitted"] = cut_.TakeOmitted();
    return document;
  }

 private:
  Json Capture() {
    Json settings = Json::object();
    for (const auto& [name, value] : diagnosis_.settings) {
      if (name.find(':') != std::string::npos) continue;  // see FlatSettings()
      if (settings.size() < extent_.list) settings[cut_.Text(name)] = cut_.Text(value);
    }
    Json capture = {{"ranks", cut_.Ranks(diagnosis_.ranks)},
                    {"world", diagnosis_.world},
                    {"steps", cut_.List(diagnosis_.steps, "steps")},
                    {"dropped_steps", cut_.List(diagnosis_.dropped_steps, "steps")},
                    {"level", cut_.Text(diagnosis_.level)},
                    {"formats", diagnosis_.formats},
                    {"settings", settings}};
    AddRecordedSettings(capture);
    if (!diagnosis_.lateness.absent.states.empty()) capture["absent"] = Absent();
    if (!diagnosis_.replayed.ranks.empty()) capture["replayed"] = diagnosis_.replayed.ranks.size();
    return capture;
  }

  // By state: lists of ranks.
  Json Absent() {
    std::map<RankState, std::vector<RankId>> ranks;
    for (const auto& [rank, state] : diagnosis_.lateness.absent.states)
      ranks[state].push_back(rank);
    Json absent = Json::object();
    for (const auto& [state, of_state] : ranks) absent[NameOf(state)] = cut_.Ranks(of_state);
    return absent;
  }

  static Json OnHost(const StepsOnHost& host) {
    Json categories = Json::object();
    for (const auto& [category, time] : host.categories) categories[category] = time;
    return {{"rank", RankJson(host.rank)},
            {"steps", host.steps},
            {"median_step_ns", host.median},
            {"all_steps_ns", host.all},
            {"leaves", categories}};
  }

  // All that the captures record, so that a later run can be compared with it.
  void AddRecordedSettings(Json& capture) {
    std::size_t count = 0;
    Json recorded = Json::object();
    for (const auto& [kind, values] : SettingsFromFlat(diagnosis_.settings)) {
      recorded[std::string(NameOf(kind))] = values;
      count += values.size();
    }
    if (extent_.all_settings) {
      capture["recorded_settings"] = std::move(recorded);
    } else {
      cut_.Omit("recorded_settings", count);
    }
  }

  static Json Account(const AccountRow& row) {
    Json categories = Json::object();
    for (const auto& [category, time] : row.categories) categories[std::string(category)] = time;
    Json account = {{"rank", RankJson(row.rank)},
                    {"step", row.step},
                    {"window_ns", row.window},
                    {"leaves", categories}};
    if (row.earlier.time > 0) account["earlier_work_ns"] = row.earlier.time;
    return account;
  }

  Json Accounts() {
    Json rows = Json::array();
    if (extent_.all_accounts) {
      for (const AccountRow& row : diagnosis_.accounting) rows.push_back(Account(row));
    } else if (!diagnosis_.accounting.empty() && extent_.innocent_calls) {
      std::vector<const AccountRow*> by_length;
      for (const AccountRow& row : diagnosis_.accounting) by_length.push_back(&row);
      StableSort(by_length, {}, &AccountRow::window);
      rows.push_back(Account(*by_length[PercentileIndexAbove(by_length.size(), 50)]));
    }
    cut_.Omit("accounting", diagnosis_.accounting.size() - rows.size());
    return rows;
  }

  // The account that the screen shows, with the parts that it names.
  static Json Shares(const AccountRow& row) {
    Json account = Account(row), shares = Json::array();
    account.erase("step");  // a mean over steps
    for (const StepShare& share : SharesOf(row)) {
      shares.push_back({{"name", share.name}, {"time_ns", share.time}, {"percent", share.percent}});
    }
    account["shares"] = std::move(shares);
    return account;
  }

  Json LateRanksOf() {
    Json list = Json::array();
    for (const LateRanks& late : diagnosis_.lateness.ranks) {
      if (list.size() == extent_.list) break;
      list.push_back(
          {{"ranks", RanksJson(late.ranks)},
           {"captured", late.captured},
           {"states", late.captured ? StatesJson({RankState::kCaptured})
                                    : StatesJson(diagnosis_.lateness.absent.Of(late.ranks))},
           {"collectives", late.times},
           {"late_ns", late.sum},
           {"late_as_last_ns", late.as_last},
           {"most_ns", late.most}});
    }
    cut_.Omit("late_ranks", diagnosis_.lateness.ranks.size() - list.size());
    return list;
  }

  Json Findings() {
    Json findings = Json::array();
    for (const Finding& finding : diagnosis_.findings) {
      if (findings.size() < extent_.findings) {
        findings.push_back(FindingJson(diagnosis_, finding, cut_));
      } else {
        cut_.Omit("findings", 1);
        cut_.Omit("evidence", finding.evidence.size());
      }
    }
    return findings;
  }

  Json InnocentCalls() {
    Json rows = Json::array();
    for (const InnocentCall& call : diagnosis_.innocent_calls) {
      if (!extent_.innocent_calls) break;
      rows.push_back(
          {{"name", cut_.Text(call.name)},
           {"cost_ns", call.cost},
           {"explained_by", call.explained_by.empty() ? Json(nullptr) : Json(call.explained_by)}});
      if (!call.line.empty()) rows.back()["source_line"] = cut_.Text(call.line);
    }
    cut_.Omit("not_causes", diagnosis_.innocent_calls.size() - rows.size());
    return rows;
  }

  Json Skipped() {
    Json rows = Json::array();
    for (const NotJudged& row : diagnosis_.not_judged) {
      if (!extent_.skipped) break;
      rows.push_back({{"id", row.type->id}, {"needs", row.needs}, {"hint", row.hint}});
      if (!row.ranks.empty()) rows.back()["ranks"] = RanksJson(row.ranks);
    }
    cut_.Omit("skipped", diagnosis_.not_judged.size() - rows.size());
    return rows;
  }

  Json Fine() const {
    Json ids = Json::array();
    for (const FindingType* finding : diagnosis_.passed_checks) ids.push_back(finding->id);
    return ids;
  }

  Json Fusions() const {
    Json open = Json::array();
    for (const SeenFusion& fusion : diagnosis_.fusions) {
      Json row = {{"key", fusion.key},
                  {"pieces", Translated(fusion.pieces)},
                  {"breaker", fusion.breaker.empty() ? Json(nullptr) : Json(fusion.breaker)},
                  {"calls_per_step", fusion.calls},
                  {"time_ns", fusion.time},
                  {"gone_ns", fusion.gone},
                  {"saves_ns", fusion.saves},
                  {"is_finding", fusion.is_finding}};
      if (fusion.place) {
        row["rank"] = RankJson(fusion.place->rank);
        row["name"] = cut_.Text(fusion.place->name);
        row["start_ns"] = fusion.place->start;
      }
      open.push_back(std::move(row));
    }
    return {{"known", diagnosis_.known_fusions}, {"open", std::move(open)}};
  }

  Json Hidden() const {
    Json rows = Json::array();
    for (const Finding& hidden : diagnosis_.hidden) {
      rows.push_back({{"id", hidden.type->id},
                      {"key", hidden.key},
                      {"kind", NameOf(hidden.kind)},
                      {"alone_ns", hidden.alone},
                      {"if_others_do", hidden.if_uncaptured_ranks_do_too},
                      {"ranks", RanksJson(hidden.ranks)},
                      {"behind", hidden.after},
                      {"text", {{"title", TitleOf(hidden)}}}});
    }
    return rows;
  }

  Json Needed() const {
    Json rows = Json::array();
    for (const NeededFinding& row : diagnosis_.hiding_findings_not_shown)
      rows.push_back({{"key", row.key}, {"gain_ns", row.gain}});
    return rows;
  }

  Json Notes() {
    const std::vector<std::string> notes = NotesOf(diagnosis_);
    if (extent_.notes) return notes;
    cut_.Omit("notes", notes.size());
    return Json::array();
  }

  const Diagnosis& diagnosis_;
  CutJson cut_;
  const Extent& extent_ = cut_.extent();
};

std::string TextOf(const Json& document, bool compact) {
  return PrintableJson(document.dump(compact ? -1 : 1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string DiagnosisJson(const Diagnosis& diagnosis, const DiagnosisJsonOptions& options) {
  constexpr std::size_t kShortList = 16, kShortText = 80;
  Extent extent{.findings = options.findings, .evidence = options.evidence};
  const bool bounded = options.max_chars > 0;
  const auto make = [&] { return TextOf(DocumentMaker(diagnosis, extent).Make(), bounded); };
  const auto fits = [&](const std::string& text) {
    return !bounded || text.size() <= options.max_chars;
  };
  // The least useful goes first.
  const std::function<void()> cuts[] = {
      [&] { extent.all_settings = false; },
      [&] { extent.evidence = std::min<std::size_t>(extent.evidence, 1); },
      [&] { extent.all_accounts = false; },
      [&] { extent.notes = false; },
      [&] { extent.skipped = false; },
      [&] { extent.metrics = false; },
      [&] {
        extent.list = kShortList;
        extent.text = kShortText;
      }};
  std::string text = make();
  for (const auto& cut : cuts) {
    if (fits(text)) return text;
    cut();
    text = make();
  }
  extent.findings = std::min(extent.findings, diagnosis.findings.size());
  while (!fits(text) && extent.findings > 0) {
    --extent.findings;
    text = make();
  }
  if (fits(text)) return text;
  extent.innocent_calls = false;
  extent.list = 0;
  extent.text = 3;
  return make();
}

}  // namespace mpa
