// SPDX-License-Identifier: Apache-2.0
// The JSON document of a diagnosis, whole or cut to a size.
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "mpa/diagnosis/diagnosis.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

// How much of the diagnosis goes into the document.
struct Extent {
  std::size_t findings, evidence;
  bool all_accounts = true, notes = true, skipped = true, metrics = true;
};

std::string_view NameOf(FindingKind kind) {
  return kind == FindingKind::kFault ? "fault" : "opportunity";
}

std::string_view NameOf(Certainty confidence) {
  switch (confidence) {
    case Certainty::kHigh: return "high";
    case Certainty::kMedium: return "medium";
    case Certainty::kLow: break;
  }
  return "low";
}

Json MetricsOf(const FoundCause& finding) {
  Json metrics = Json::array();
  for (const Metric& metric : finding.metrics) {
    metrics.push_back({{"name", metric.name}, {"value", metric.value}, {"unit", metric.unit}});
  }
  return metrics;
}

Json EvidenceOf(const FoundCause& finding, std::size_t most) {
  Json rows = Json::array();
  for (const Evidence& evidence : finding.evidence) {
    if (rows.size() == most) break;
    Json row = {{"rank", evidence.rank},   {"source", evidence.source}, {"table", evidence.table},
                {"name", evidence.name},   {"start_ns", evidence.start}, {"dur_ns", evidence.dur}};
    if (evidence.peer >= 0) row["peer"] = evidence.peer;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Of how many counted steps the finding was seen in.
Json PersistenceOf(const Diagnosis& diagnosis, const FoundCause& finding) {
  const std::size_t total = diagnosis.steps.size();
  const std::size_t seen = std::min(finding.steps.size(), total);
  std::string_view name = "unknown";
  if (total >= 3) {
    name = seen * 10 >= total * 6 ? "systematic" : seen * 10 >= total * 2 ? "intermittent" : "one-off";
    if (seen == 1) name = "one-off";
  }
  return {{"class", name}, {"steps_seen", seen}, {"steps_total", total}};
}

Json FindingOf(const Diagnosis& diagnosis, const FoundCause& finding, const Extent& extent) {
  const CatalogueEntry& entry = EntryOf(finding.id);
  Json json = {
      {"id", finding.id},
      {"key", finding.key},
      {"kind", NameOf(finding.kind)},
      {"severity", mpa::NameOf(ImpactOf(finding.gain, diagnosis.step))},
      {"confidence", NameOf(finding.confidence)},
      {"gain_ns", finding.gain},
      {"alone_ns", finding.alone},
      {"gain_max_ns", finding.gain_max},
      {"share", diagnosis.step > 0 ? static_cast<double>(finding.gain) / static_cast<double>(diagnosis.step) : 0.0},
      {"ranks", finding.ranks},
      {"steps", finding.steps},
      {"persistence", PersistenceOf(diagnosis, finding)},
      {"owner", Json::array({entry.owner})},
      {"cause_leaf", finding.leaf.empty() ? Json(nullptr) : Json(finding.leaf)},
      {"after", finding.after},
      {"with_next", finding.with_next},
  };
  if (extent.metrics) json["metrics"] = MetricsOf(finding);
  json["evidence"] = EvidenceOf(finding, extent.evidence);
  json["text"] = {{"title", entry.title.english}, {"advice", entry.advice.english}};
  return json;
}

Json AccountOf(const AccountRow& row) {
  Json leaves = Json::object();
  for (const auto& [leaf, time] : row.leaves) leaves[std::string(leaf)] = time;
  return {{"rank", row.rank}, {"step", row.step}, {"window_ns", row.window}, {"leaves", leaves}};
}

Json AccountsOf(const Diagnosis& diagnosis, bool all) {
  Json rows = Json::array();
  if (all) {
    for (const AccountRow& row : diagnosis.accounting) rows.push_back(AccountOf(row));
  } else if (!diagnosis.accounting.empty()) {
    std::vector<const AccountRow*> by_length;
    for (const AccountRow& row : diagnosis.accounting) by_length.push_back(&row);
    std::stable_sort(by_length.begin(), by_length.end(),
                     [](const AccountRow* a, const AccountRow* b) { return a->window < b->window; });
    rows.push_back(AccountOf(*by_length[by_length.size() / 2]));
  }
  return rows;
}

Json Document(const Diagnosis& diagnosis, const Extent& extent) {
  Json findings = Json::array();
  std::size_t evidence_left_out = 0;
  for (const FoundCause& finding : diagnosis.findings) {
    if (findings.size() < extent.findings) findings.push_back(FindingOf(diagnosis, finding, extent));
    evidence_left_out += finding.evidence.size() - std::min(finding.evidence.size(), extent.evidence);
  }
  const std::size_t left_out = diagnosis.findings.size() - findings.size();
  Json not_causes = Json::array();
  for (const NotACause& innocent : diagnosis.not_causes) {
    not_causes.push_back({{"name", innocent.name},
                          {"cost_ns", innocent.cost},
                          {"explained_by", innocent.explained_by.empty() ? Json(nullptr) : Json(innocent.explained_by)}});
  }
  Json skipped = Json::array();
  if (extent.skipped) {
    for (const NotJudged& row : diagnosis.not_judged) {
      skipped.push_back({{"id", row.id}, {"needs", row.needs}, {"hint", row.hint}});
    }
  }
  return {
      {"schema", "mpa.diagnosis/1"},
      {"complete", diagnosis.complete},
      {"capture",
       {{"ranks", diagnosis.ranks},
        {"world", diagnosis.world},
        {"steps", diagnosis.steps},
        {"dropped_steps", diagnosis.dropped_steps},
        {"level", diagnosis.level},
        {"formats", diagnosis.formats},
        {"settings", diagnosis.settings}}},
      {"step_ns", diagnosis.step},
      {"floor_ns", diagnosis.floor},
      {"accounting", AccountsOf(diagnosis, extent.all_accounts)},
      {"findings", findings},
      {"not_causes", not_causes},
      {"skipped", skipped},
      {"notes", extent.notes ? Json(diagnosis.notes) : Json::array()},
      {"omitted", {{"findings", left_out}, {"evidence", evidence_left_out}}},
  };
}

std::string TextOf(const Json& document, bool compact) {
  return document.dump(compact ? -1 : 1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string DiagnosisJson(const Diagnosis& diagnosis, const DiagnosisJsonOptions& options) {
  Extent extent{.findings = options.findings, .evidence = options.evidence};
  const bool bounded = options.max_chars > 0;
  std::string text = TextOf(Document(diagnosis, extent), bounded);
  const auto fits = [&] { return !bounded || text.size() <= options.max_chars; };
  // The least useful goes first.
  const std::function<void()> cuts[] = {
      [&] { extent.evidence = std::min<std::size_t>(extent.evidence, 1); },
      [&] { extent.all_accounts = false; }, [&] { extent.notes = false; },
      [&] { extent.skipped = false; },      [&] { extent.metrics = false; }};
  for (const auto& cut : cuts) {
    if (fits()) return text;
    cut();
    text = TextOf(Document(diagnosis, extent), bounded);
  }
  extent.findings = std::min(extent.findings, diagnosis.findings.size());
  while (!fits() && extent.findings > 0) {
    --extent.findings;
    text = TextOf(Document(diagnosis, extent), bounded);
  }
  return text;
}

}  // namespace mpa
