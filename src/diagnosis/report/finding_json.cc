// SPDX-License-Identifier: Apache-2.0
// A finding in the JSON document of a diagnosis.
#include "finding_json.h"

#include <algorithm>
#include <string>
#include <variant>

#include "chain_views.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/cause_text.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

std::string_view NameOf(Certainty confidence) {
  return EnumName<Certainty::kHigh>(confidence, {"low", "medium", "high"});
}

class FindingMaker {
 public:
  FindingMaker(const Diagnosis& diagnosis, CutJson& cut)
      : diagnosis_(diagnosis), cut_(cut), extent_(cut.extent()) {}

  Json Make(const Finding& finding) {
    const double share = diagnosis_.step > 0 ? Share(finding.gain, diagnosis_.step) : 0.0;
    Json json = {
        {"id", finding.type->id},
        {"key", finding.key},
        {"kind", NameOf(finding.kind)},
        {"severity", mpa::NameOf(ImpactOf(diagnosis_, finding))},
        {"confidence", NameOf(finding.confidence)},
        {"gain_ns", finding.gain},
        {"alone_ns", finding.alone},
        {"gain_max_ns", finding.gain_max},
        {"share", share},
        {"ranks", cut_.Ranks(finding.ranks)},
        {"steps", cut_.List(finding.steps, "steps")},
        {"persistence", PersistenceOf(finding)},
        {"owner", finding.type->owners},
        {"cause_leaf", finding.category.empty() ? Json(nullptr) : Json(finding.category)},
        {"after", finding.after},
        {"hides", HiddenBy(finding)},
        {"with_next", finding.pays_only_with_next},
    };
    if (finding.absent) json["states"] = StatesJson(finding.absent->Of(finding.ranks));
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
    json["text"] = {{"title", TitleOf(finding)}, {"advice", AdviceOf(finding)}};
    if (CostsEachStep(finding) && extent_.metrics) {
      const JobCause cause = CauseOf(finding);
      json["text"]["cause"] = cut_.Text(cause.text);
      json["text"]["cause_detail"] = cut_.Text(cause.detail);
    }
    return json;
  }

 private:
  // Keys of the findings that show once this one is fixed.
  Json HiddenBy(const Finding& finding) const {
    Json keys = Json::array();
    for (const Finding& other : diagnosis_.findings) {
      const bool hidden = std::ranges::find(other.after, finding.key) != other.after.end();
      if (hidden && keys.size() < extent_.list) keys.push_back(other.key);
    }
    return keys;
  }

  Json ActionsOf(const Finding& finding) {
    Json actions = Json::array();
    for (const Action& action : mpa::ActionsOf(finding)) {
      Json args = Json::object();
      for (const auto& [name, value] : action.args) {
        std::visit([&args, &name = name](const auto& of) { args[std::string(name)] = of; }, value);
      }
      if (action.of_ranks && !finding.ranks.empty()) args["ranks"] = cut_.Ranks(finding.ranks);
      actions.push_back({{"what", action.what}, {"args", std::move(args)}});
    }
    return actions;
  }

  Json SettingOf(const FoundSetting& setting) {
    Json values = Json::array();
    for (const auto& [value, ranks] : setting.values) {
      if (values.size() < extent_.list)
        values.push_back({{"value", cut_.Text(value)}, {"ranks", cut_.Ranks(ranks)}});
    }
    return {{"variable", setting.variable},
            {"values", std::move(values)},
            {"differs", setting.differs},
            {"serves", setting.serves.empty() ? Json(nullptr) : Json(setting.serves)}};
  }

  static Json MetricsOf(const Finding& finding) {
    Json metrics = Json::array();
    for (const Metric& metric : finding.metrics) {
      metrics.push_back(
          {{"name", metric.info->name}, {"value", metric.value}, {"unit", metric.info->unit}});
    }
    return metrics;
  }

  Json EvidenceOf(const Finding& finding) {
    Json rows = Json::array();
    for (const Evidence& evidence : finding.evidence) {
      if (rows.size() == extent_.evidence) break;
      Json row = {{"rank", RankJson(evidence.rank)},
                  {"capture", cut_.Text(evidence.capture)},
                  {"source", cut_.Text(evidence.source)},
                  {"table", evidence.table},
                  {"name", cut_.Text(evidence.name)},
                  {"start_ns", evidence.start},
                  {"dur_ns", evidence.dur},
                  {"calls_per_step", evidence.calls},
                  {"time_per_step_ns", evidence.time},
                  {"of_ns", evidence.of_all}};
      if (evidence.peer >= 0) row["peer"] = RankJson(evidence.peer);
      if (!evidence.op.empty()) row["op"] = cut_.Text(evidence.op);
      if (!evidence.line.empty()) row["source_line"] = cut_.Text(evidence.line);
      rows.push_back(std::move(row));
    }
    cut_.Omit("evidence", finding.evidence.size() - rows.size());
    return rows;
  }

  // Of how many counted steps the finding was seen in.
  Json PersistenceOf(const Finding& finding) const {
    const std::size_t total = diagnosis_.steps.size();
    const std::size_t seen = std::min(finding.steps.size(), total);
    std::string_view name = "unknown";
    if (total >= 3) {
      const double share = Share(seen, total);
      name = share >= diagnosis_.thresholds[kSystematicShare]     ? "systematic"
             : share >= diagnosis_.thresholds[kIntermittentShare] ? "intermittent"
                                                                  : "one-off";
      if (seen == 1) name = "one-off";
    }
    return {{"class", name}, {"steps_seen", seen}, {"steps_total", total}};
  }

  const Diagnosis& diagnosis_;
  CutJson& cut_;
  const Extent& extent_;
};
}  // namespace

std::string CutJson::Text(const std::string& text) const {
  return extent_.text == kAll ? text : ShortenMiddle(ValidUtf8(text), extent_.text);
}

std::string_view NameOf(FindingKind kind) {
  return kind == FindingKind::kFault ? "fault" : "opportunity";
}

Json StatesJson(const std::vector<RankState>& states) {
  Json names = Json::array();
  for (const RankState state : states) names.push_back(mpa::NameOf(state));
  return names;
}

Json FindingJson(const Diagnosis& diagnosis, const Finding& finding, CutJson& cut) {
  return FindingMaker(diagnosis, cut).Make(finding);
}

}  // namespace mpa
