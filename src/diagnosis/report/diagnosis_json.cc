// SPDX-License-Identifier: Apache-2.0
// The JSON document of a diagnosis, whole or cut to a size.
#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "chain_views.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// How much of the diagnosis goes into the document.
struct Extent {
  std::size_t findings = kAll, evidence = kAll;
  bool all_accounts = true, notes = true, skipped = true, metrics = true;
  std::size_t list = kAll;  // of ranks, steps and settings
  std::size_t text = kAll;  // characters of a name
  bool symptoms = true;
};

std::string_view NameOf(FindingKind kind) {
  return kind == FindingKind::kFault ? "fault" : "opportunity";
}

std::string_view NameOf(Certainty confidence) {
  static constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

// Json of texts and lists that may be cut, and what they leave out.
class CutJson {
 public:
  explicit CutJson(const Extent& extent) : extent_(extent) {}

  void Omit(const char* what, std::size_t count) {
    if (count > 0) omitted_[what] = omitted_.value(what, std::size_t{0}) + count;
  }

  // Where the texts of captures are shortened, the middle goes.
  std::string Text(const std::string& text) const {
    return extent_.text == kAll ? text : ShortenMiddle(ValidUtf8(text), extent_.text);
  }

  template <typename Number>
  Json List(const std::vector<Number>& values, const char* what) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(values.size(), extent_.list); ++i)
      list.push_back(values[i]);
    Omit(what, values.size() - list.size());
    return list;
  }

  Json TakeOmitted() { return std::move(omitted_); }

  const Extent& extent() const { return extent_; }

 private:
  const Extent extent_;
  Json omitted_ = {{"findings", 0}, {"evidence", 0}};
};

// A finding of the document.
class FindingJson {
 public:
  FindingJson(const Diagnosis& diagnosis, Language language, CutJson& cut)
      : of_(diagnosis), language_(language), cut_(cut), extent_(cut.extent()) {}

  Json Make(const FoundCause& finding) {
    const double share = of_.step > 0 ? Ratio(finding.gain, of_.step) : 0.0;
    Json json = {
        {"id", finding.finding->id},
        {"key", finding.key},
        {"kind", NameOf(finding.kind)},
        {"severity", mpa::NameOf(ImpactOf(of_, finding))},
        {"confidence", NameOf(finding.confidence)},
        {"gain_ns", finding.gain},
        {"alone_ns", finding.alone},
        {"gain_max_ns", finding.gain_max},
        {"share", share},
        {"ranks", cut_.List(finding.ranks, "ranks")},
        {"steps", cut_.List(finding.steps, "steps")},
        {"persistence", PersistenceOf(finding)},
        {"owner", finding.finding->owners},
        {"cause_leaf", finding.category.empty() ? Json(nullptr) : Json(finding.category)},
        {"after", finding.after},
        {"hides", HiddenBy(finding)},
        {"with_next", finding.with_next},
    };
    if (extent_.metrics) {
      json["metrics"] = MetricsOf(finding);
    } else {
      cut_.Omit("metrics", finding.metrics.size());
    }
    if (finding.setting) json["setting"] = SettingOf(*finding.setting);
    if (finding.chain && extent_.metrics)
      json["chain"] = ChainJson(*finding.chain, std::min<std::size_t>(extent_.list, 16));
    json["evidence"] = EvidenceOf(finding);
    json["actions"] = ActionsOf(finding);
    json["next"] = Json::array();
    if (extent_.metrics) {
      json["next"].push_back("advisor why " + finding.key + " -d DIR --json");
      json["next"].push_back("advisor timeline " + finding.key + " -d DIR");
    }
    json["text"] = {{"title", TitleOf(finding, language_)},
                    {"advice", AdviceOf(finding, language_)}};
    return json;
  }

 private:
  // Keys of the findings that show once this one is fixed.
  Json HiddenBy(const FoundCause& finding) const {
    Json keys = Json::array();
    for (const FoundCause& other : of_.findings) {
      const bool hidden = std::ranges::find(other.after, finding.key) != other.after.end();
      if (hidden && keys.size() < extent_.list) keys.push_back(other.key);
    }
    return keys;
  }

  Json ActionsOf(const FoundCause& finding) {
    Json actions = Json::array();
    for (const Action& action : mpa::ActionsOf(finding)) {
      Json args = Json::object();
      for (const auto& [name, value] : action.args) {
        std::visit([&args, &name = name](const auto& of) { args[std::string(name)] = of; }, value);
      }
      if (action.of_ranks && !finding.ranks.empty())
        args["ranks"] = cut_.List(finding.ranks, "ranks");
      actions.push_back({{"what", action.what}, {"args", std::move(args)}});
    }
    return actions;
  }

  Json SettingOf(const FoundSetting& setting) {
    Json values = Json::array();
    for (const auto& [value, ranks] : setting.values) {
      if (values.size() < extent_.list)
        values.push_back({{"value", cut_.Text(value)}, {"ranks", cut_.List(ranks, "ranks")}});
    }
    return {{"variable", setting.variable},
            {"values", std::move(values)},
            {"differs", setting.differs},
            {"serves", setting.serves.empty() ? Json(nullptr) : Json(setting.serves)}};
  }

  static Json MetricsOf(const FoundCause& finding) {
    Json metrics = Json::array();
    for (const Metric& metric : finding.metrics) {
      metrics.push_back(
          {{"name", metric.info->name}, {"value", metric.value}, {"unit", metric.info->unit}});
    }
    return metrics;
  }

  Json EvidenceOf(const FoundCause& finding) {
    Json rows = Json::array();
    for (const Evidence& evidence : finding.evidence) {
      if (rows.size() == extent_.evidence) break;
      Json row = {{"rank", evidence.rank},
                  {"capture", cut_.Text(evidence.capture)},
                  {"source", cut_.Text(evidence.source)},
                  {"table", evidence.table},
                  {"name", cut_.Text(evidence.name)},
                  {"start_ns", evidence.start},
                  {"dur_ns", evidence.dur},
                  {"calls_per_step", evidence.calls},
                  {"time_per_step_ns", evidence.time},
                  {"of_ns", evidence.of_all}};
      if (evidence.peer >= 0) row["peer"] = evidence.peer;
      if (!evidence.op.empty()) row["op"] = cut_.Text(evidence.op);
      if (!evidence.line.empty()) row["source_line"] = cut_.Text(evidence.line);
      rows.push_back(std::move(row));
    }
    cut_.Omit("evidence", finding.evidence.size() - rows.size());
    return rows;
  }

  // Of how many counted steps the finding was seen in.
  Json PersistenceOf(const FoundCause& finding) const {
    const std::size_t total = of_.steps.size();
    const std::size_t seen = std::min(finding.steps.size(), total);
    std::string_view name = "unknown";
    if (total >= 3) {
      const double share = Ratio(seen, total);
      name = share >= of_.thresholds[kSystematicShare]     ? "systematic"
             : share >= of_.thresholds[kIntermittentShare] ? "intermittent"
                                                           : "one-off";
      if (seen == 1) name = "one-off";
    }
    return {{"class", name}, {"steps_seen", seen}, {"steps_total", total}};
  }

  const Diagnosis& of_;
  const Language language_;
  CutJson& cut_;
  const Extent& extent_;
};

// Makes the document, and counts what it leaves out.
class DocumentMaker {
 public:
  DocumentMaker(const Diagnosis& diagnosis, const Extent& extent, Language language)
      : of_(diagnosis), language_(language), cut_(extent) {}

  Json Make() && {
    Json document = {{"schema", "mpa.diagnosis/1"}, {"complete", of_.complete}};
    document["capture"] = Capture();
    document["step_ns"] = of_.step;
    document["floor_ns"] = of_.floor;
    document["accounting"] = Accounts();
    document["findings"] = Findings();
    document["not_causes"] = Symptoms();
    document["skipped"] = Skipped();
    if (!of_.hidden.empty() && extent_.skipped) document["hidden"] = Hidden();
    if (!of_.fine.empty() && extent_.skipped) document["fine"] = Fine();
    if (!of_.needed.empty() && extent_.symptoms) document["needed"] = Needed();
    if (!extent_.skipped) cut_.Omit("hidden", of_.hidden.size());
    if (!extent_.skipped) cut_.Omit("fine", of_.fine.size());
    if (!extent_.symptoms) cut_.Omit("needed", of_.needed.size());
    if (!of_.lateness.ranks.empty() && extent_.symptoms) document["late_ranks"] = LateRanksOf();
    document["notes"] = Notes();
    document["omitted"] = cut_.TakeOmitted();
    return document;
  }

 private:
  Json Capture() {
    Json settings = Json::object();
    for (const auto& [name, value] : of_.settings) {
      if (settings.size() < extent_.list) settings[cut_.Text(name)] = cut_.Text(value);
    }
    Json capture = {{"ranks", cut_.List(of_.ranks, "ranks")},
                    {"world", of_.world},
                    {"steps", cut_.List(of_.steps, "steps")},
                    {"dropped_steps", cut_.List(of_.dropped_steps, "steps")},
                    {"level", cut_.Text(of_.level)},
                    {"formats", of_.formats},
                    {"settings", settings}};
    if (!of_.replayed.ranks.empty()) capture["replayed"] = of_.replayed.ranks.size();
    return capture;
  }

  static Json Account(const AccountRow& row) {
    Json categories = Json::object();
    for (const auto& [category, time] : row.categories) categories[std::string(category)] = time;
    return {
        {"rank", row.rank}, {"step", row.step}, {"window_ns", row.window}, {"leaves", categories}};
  }

  Json Accounts() {
    Json rows = Json::array();
    if (extent_.all_accounts) {
      for (const AccountRow& row : of_.accounting) rows.push_back(Account(row));
    } else if (!of_.accounting.empty() && extent_.symptoms) {
      std::vector<const AccountRow*> by_length;
      for (const AccountRow& row : of_.accounting) by_length.push_back(&row);
      std::ranges::stable_sort(by_length, {}, &AccountRow::window);
      rows.push_back(Account(*by_length[NearestRankAbove(by_length.size(), 50)]));
    }
    cut_.Omit("accounting", of_.accounting.size() - rows.size());
    return rows;
  }

  Json LateRanksOf() {
    Json list = Json::array();
    for (const LateRanks& late : of_.lateness.ranks) {
      if (list.size() == extent_.list) break;
      list.push_back({{"ranks", late.ranks},
                      {"captured", late.captured},
                      {"collectives", late.times},
                      {"late_ns", late.sum},
                      {"late_as_last_ns", late.as_last},
                      {"most_ns", late.most}});
    }
    cut_.Omit("late_ranks", of_.lateness.ranks.size() - list.size());
    return list;
  }

  Json Findings() {
    Json findings = Json::array();
    for (const FoundCause& finding : of_.findings) {
      if (findings.size() < extent_.findings) {
        findings.push_back(FindingJson(of_, language_, cut_).Make(finding));
      } else {
        cut_.Omit("findings", 1);
        cut_.Omit("evidence", finding.evidence.size());
      }
    }
    return findings;
  }

  Json Symptoms() {
    Json rows = Json::array();
    for (const Symptom& symptom : of_.not_causes) {
      if (!extent_.symptoms) break;
      rows.push_back({{"name", cut_.Text(symptom.name)},
                      {"cost_ns", symptom.cost},
                      {"explained_by",
                       symptom.explained_by.empty() ? Json(nullptr) : Json(symptom.explained_by)}});
      if (!symptom.line.empty()) rows.back()["source_line"] = cut_.Text(symptom.line);
    }
    cut_.Omit("not_causes", of_.not_causes.size() - rows.size());
    return rows;
  }

  Json Skipped() {
    Json rows = Json::array();
    for (const NotJudged& row : of_.not_judged) {
      if (!extent_.skipped) break;
      rows.push_back(
          {{"id", row.finding->id}, {"needs", row.needs.english}, {"hint", row.hint.english}});
    }
    cut_.Omit("skipped", of_.not_judged.size() - rows.size());
    return rows;
  }

  Json Fine() const {
    Json ids = Json::array();
    for (const FindingInfo* finding : of_.fine) ids.push_back(finding->id);
    return ids;
  }

  Json Hidden() const {
    Json rows = Json::array();
    for (const FoundCause& cause : of_.hidden) {
      rows.push_back({{"id", cause.finding->id},
                      {"key", cause.key},
                      {"kind", NameOf(cause.kind)},
                      {"alone_ns", cause.alone},
                      {"if_others_do", cause.if_others_do},
                      {"ranks", cause.ranks},
                      {"behind", cause.after},
                      {"text", {{"title", TitleOf(cause, language_)}}}});
    }
    return rows;
  }

  Json Needed() const {
    Json rows = Json::array();
    for (const NeededFinding& row : of_.needed)
      rows.push_back({{"key", row.key}, {"gain_ns", row.gain}});
    return rows;
  }

  Json Notes() {
    const std::vector<std::string> notes = NotesOf(of_, language_);
    if (extent_.notes) return notes;
    cut_.Omit("notes", notes.size());
    return Json::array();
  }

  const Diagnosis& of_;
  const Language language_;
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
  const auto make = [&] {
    return TextOf(DocumentMaker(diagnosis, extent, options.language).Make(), bounded);
  };
  const auto fits = [&](const std::string& text) {
    return !bounded || text.size() <= options.max_chars;
  };
  // The least useful goes first.
  const std::function<void()> cuts[] = {
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
  extent.symptoms = false;
  extent.list = 0;
  extent.text = 3;
  return make();
}

}  // namespace mpa
