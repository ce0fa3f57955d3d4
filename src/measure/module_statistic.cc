// SPDX-License-Identifier: Apache-2.0
// Modules with their operators and kernels, summed over calls that did the same.
#include "mpa/measure/module_statistic.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/measure/nesting.h"

namespace mpa {
namespace {

// A row while it has no name of its own variant yet.
struct VariantRow {
  std::uint32_t variant = 0;   ///< which operators the module's calls ran, in order of appearance
  TimeNs op_start = 0;         ///< of the first of the row's operators
  std::uint32_t position = 0;  ///< of the operator in the module
  ModuleStatisticRow row;
};

// The variants of one module, by number.
using Variants = std::set<std::uint32_t>;

void Rename(const Variants& variants, VariantRow& row) {
  if (variants.size() < 2) return;
  const auto number = std::distance(variants.begin(), variants.find(row.variant));
  row.row.module += "_" + std::to_string(number);
}

bool SameModule(const VariantRow& a, const VariantRow& b) {
  return std::tie(a.row.parent, a.row.module) == std::tie(b.row.parent, b.row.module);
}

void NamePerRun(std::vector<VariantRow>& rows) {
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    Variants variants;
    for (; end < rows.size() && SameModule(rows[end], rows[begin]); ++end) {
      variants.insert(rows[end].variant);
    }
    for (std::size_t i = begin; i < end; ++i) Rename(variants, rows[i]);
  }
}

void NameOnce(std::vector<VariantRow>& rows) {
  std::map<std::pair<std::string, std::string>, Variants> modules;
  for (const VariantRow& row : rows) {
    modules[{row.row.parent, row.row.module}].insert(row.variant);
  }
  for (VariantRow& row : rows) Rename(modules[{row.row.parent, row.row.module}], row);
}

// Sorts the rows by the starts of their first operators; of those that start together the outer
// one comes first.
void OrderRows(std::vector<VariantRow>& rows) {
  std::ranges::sort(rows, [](const VariantRow& a, const VariantRow& b) {
    const auto key = [](const VariantRow& row) {
      return std::tie(row.op_start, row.position, row.row.parent, row.row.module, row.row.op,
                      row.row.kernels, row.variant);
    };
    return key(a) < key(b);
  });
}

// Appends the number of its variant to the name of each module that has several.
void NameVariants(VariantNaming naming, std::vector<VariantRow>& rows) {
  naming == VariantNaming::kOnce ? NameOnce(rows) : NamePerRun(rows);
}

// Numbers texts in the order in which they come.
class TextNumbers {
 public:
  std::uint32_t Of(std::string text) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  const std::string& Text(std::uint32_t number) const { return *texts_[number]; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

// `name` without the counters that the graph compiler appends: trans_TransData_17 and ReduceSum7,
// not MatMulV2. The kernels of the operator library (aclnn...) have none.
std::string WithoutCounters(std::string_view name) {
  if (name.starts_with("aclnn")) return std::string(name);
  std::string text;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('_', begin), name.size());
    std::string_view word = name.substr(begin, end - begin);
    const std::size_t letter = word.find_last_not_of("0123456789");
    if (letter == std::string_view::npos) {
      word = {};
    } else if (word[letter] != 'V') {
      word = word.substr(0, letter + 1);
    }
    if (!word.empty() && !text.empty()) text += '_';
    text += word;
    begin = end + 1;
  }
  return text.empty() ? std::string(name) : text;
}

// An operator in a module.
struct Record {
  const OpWork* work = nullptr;
  std::uint32_t path = 0, label = 0;  // texts: the modules around it, and its own
  std::uint32_t call = 0;             // of the module
  std::uint32_t position = 0;         // among the operators of the call
  TimeNs module_start = 0, op_start = 0;
};

class Statistic {
 public:
  Statistic(const RankTrace& trace, const ThreadGroups& groups, const AllOpWork& work,
            const ModuleStatisticOptions& options)
      : trace_(trace), groups_(groups), work_(work), options_(options) {}

  ModuleStatistic Sum() && {
    ranges_ = FindForwardModules(trace_, groups_);
    result_.source = ranges_.source;
    if (options_.backward) AddBackwardModules(trace_, groups_, ranges_);
    nest_ = Nest(ranges_.spans, OpSpans());
    MakeRecords();
    Cover();
    MakeRows();
    return std::move(result_);
  }

 private:
  std::vector<NestSpan> OpSpans() const {
    const HostOps& ops = trace_.host_ops;
    std::vector<NestSpan> spans;
    for (const OpWork& work : work_.ops) {
      const std::int32_t track = ops.track[work.op];
      spans.push_back(
          {ops.start[work.op], ops.start[work.op] + ops.dur[work.op], groups_.Of(track)});
    }
    return spans;
  }

  // The texts of modules, of each made once.
  struct Names {
    std::uint32_t path = 0, label = 0;
    bool known = false;
  };

  const Names& NamesOf(std::uint32_t module) {
    Names& names = names_[module];
    if (names.known) return names;
    const std::string& name = ranges_.infos[module].name;
    names = {texts_.Of(PathAround(ranges_, nest_, module)),
             texts_.Of(in_backward_[module] ? "[Backward]" + name : name), true};
    return names;
  }

  void MakeRecords() {
    names_.resize(ranges_.spans.size());
    in_backward_.resize(ranges_.spans.size());
    for (const std::uint32_t module : nest_.modules) {  // outer ones first
      const std::int64_t parent = nest_.parent[module];
      in_backward_[module] =
          ranges_.infos[module].backward ||
          (parent != NestPlace::kNone && in_backward_[static_cast<std::size_t>(parent)]);
    }
    // Of a whole backward pass the ranges are one call, unless other modules are around some.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::uint32_t> calls;
    for (const std::uint32_t item : nest_.items) {
      const NestPlace& place = nest_.places[item];
      if (place.straddles) ++result_.straddlers;
      if (place.module == NestPlace::kNone) continue;
      const auto module = static_cast<std::uint32_t>(place.module);
      const Names& names = NamesOf(module);
      const ModuleRanges::Info& info = ranges_.infos[module];
      const auto number = static_cast<std::uint32_t>(calls.size());
      const bool whole = info.backward && options_.whole_backward;
      const auto call = calls.try_emplace(
          {names.path, names.label, whole ? info.forward : module, whole}, number);
      records_.push_back({&work_.ops[item], names.path, names.label, call.first->second, 0,
                          ranges_.spans[module].start, trace_.host_ops.start[work_.ops[item].op]});
    }
    std::ranges::stable_sort(records_, [](const Record& a, const Record& b) {
      return std::tie(a.module_start, a.op_start) < std::tie(b.module_start, b.op_start);
    });
    ops_of_call_.resize(calls.size());
    for (Record& record : records_) {
      std::vector<StringId>& ops = ops_of_call_[record.call];
      record.position = static_cast<std::uint32_t>(ops.size());
      ops.push_back(trace_.host_ops.name[record.work->op]);
    }
  }

  void Cover() {
    ModuleCoverage& coverage = result_.coverage;
    TimeNs launched = 0;
    for (const OpWork& work : work_.ops) {
      launched += ComputedBy(work);
      coverage.collectives += TimeOf(work) - ComputedBy(work);
    }
    for (const Record& record : records_) coverage.in_modules += ComputedBy(*record.work);
    coverage.outside_modules = launched - coverage.in_modules;
    for (const DeviceWork& work : work_.without_op) {
      (work.IsComputeKernel() ? coverage.without_op : coverage.collectives) += work.dur;
    }
  }

  static TimeNs TimeOf(const OpWork& work) {
    TimeNs time = 0;
    for (const DeviceWork& kernel : work.kernels) time += kernel.dur;
    return time;
  }

  static TimeNs ComputedBy(const OpWork& work) {
    TimeNs time = 0;
    for (const DeviceWork& kernel : work.kernels) {
      if (kernel.IsComputeKernel()) time += kernel.dur;
    }
    return time;
  }

  std::uint32_t KernelList(const OpWork& work) {
    std::string list;
    for (const DeviceWork& kernel : work.kernels) {
      if (!list.empty()) list += ", ";
      const std::string name = KernelNameOf(trace_, kernel);
      list += options_.without_counters ? WithoutCounters(name) : name;
    }
    return texts_.Of(std::move(list));
  }

  void MakeRows() {
    std::map<std::vector<StringId>, std::uint32_t> variants;  // numbered in order of appearance
    using Key = std::tuple<std::uint32_t, std::uint32_t, StringId, std::uint32_t, std::uint32_t,
                           std::uint32_t>;
    std::map<Key, std::size_t> row_of;
    std::vector<VariantRow> rows;
    std::vector<std::uint32_t> variant_of_call(ops_of_call_.size(), kNoVariant);
    for (const Record& record : records_) {
      std::uint32_t& variant = variant_of_call[record.call];
      if (variant == kNoVariant) {
        variant =
            variants
                .try_emplace(ops_of_call_[record.call], static_cast<std::uint32_t>(variants.size()))
                .first->second;
      }
      const StringId op = trace_.host_ops.name[record.work->op];
      const std::uint32_t kernels = KernelList(*record.work);
      const auto [found, is_new] = row_of.try_emplace(
          {record.path, record.label, op, record.position, kernels, variant}, rows.size());
      if (is_new) {
        rows.push_back({.variant = variant,
                        .op_start = record.op_start,
                        .position = record.position,
                        .row = {}});
        ModuleStatisticRow& row = rows.back().row;
        row.parent = texts_.Text(record.path);
        row.module = texts_.Text(record.label);
        row.op = trace_.strings.View(op);
        row.kernels = texts_.Text(kernels);
      }
      VariantRow& row = rows[found->second];
      row.op_start = std::min(row.op_start, record.op_start);
      ++row.row.count;
      row.row.total += TimeOf(*record.work);
      row.row.computed += ComputedBy(*record.work);
      row.row.work.insert(row.row.work.end(), record.work->kernels.begin(),
                          record.work->kernels.end());
    }
    OrderRows(rows);
    NameVariants(options_.variants, rows);
    for (VariantRow& row : rows) {
      row.row.average = static_cast<double>(row.row.total) / static_cast<double>(row.row.count);
      result_.rows.push_back(std::move(row.row));
    }
  }

  static constexpr std::uint32_t kNoVariant = static_cast<std::uint32_t>(-1);

  const RankTrace& trace_;
  const ThreadGroups& groups_;
  const AllOpWork& work_;
  const ModuleStatisticOptions& options_;
  ModuleRanges ranges_;
  ModuleNest nest_;
  TextNumbers texts_;
  std::vector<Names> names_;       // by module
  std::vector<bool> in_backward_;  // by module
  std::vector<Record> records_;
  std::vector<std::vector<StringId>> ops_of_call_;
  ModuleStatistic result_;
};

}  // namespace

ModuleStatistic SumModules(const RankTrace& trace, const ThreadGroups& groups,
                           const AllOpWork& work, const ModuleStatisticOptions& options) {
  return Statistic(trace, groups, work, options).Sum();
}

}  // namespace mpa
