// SPDX-License-Identifier: Apache-2.0
#include "module_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

// Modules by their path; a path comes behind those of the modules around it.
struct ModuleRow {
  TimeNs time = 0;  // with the modules within
  std::vector<std::string> children;
};

class ModulesByPath {
 public:
  explicit ModulesByPath(const std::vector<ModuleStatisticRow>& rows) {
    for (const ModuleStatisticRow& row : rows) {
      const std::string path = row.parent.empty() ? row.module : row.parent + "/" + row.module;
      total_ += row.computed;
      for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
        Node(path.substr(0, end)).time += row.computed;
        if (end == std::string::npos) break;
      }
    }
  }

  TimeNs total() const { return total_; }
  std::size_t Size() const { return modules_.size() - 1; }

  // Calls visit(path, depth, time), the largest first, modules within behind those around them.
  void Visit(const std::function<void(const std::string&, std::size_t, TimeNs)>& visit) {
    std::vector<std::pair<std::string, std::size_t>> open;
    const auto push_children = [&](const std::string& path, std::size_t depth) {
      std::vector<std::string> children = modules_[path].children;
      std::stable_sort(children.begin(), children.end(),
                       [&](const std::string& a, const std::string& b) {
                         return modules_[a].time < modules_[b].time;  // the largest is taken first
                       });
      for (const std::string& child : children) open.emplace_back(child, depth);
    };
    push_children("", 0);
    while (!open.empty()) {
      const auto [path, depth] = open.back();
      open.pop_back();
      visit(path, depth, modules_[path].time);
      push_children(path, depth + 1);
    }
  }

 private:
  ModuleRow& Node(const std::string& path) {
    const auto [found, is_new] = modules_.try_emplace(path);
    if (is_new) {
      const std::size_t slash = path.rfind('/');
      modules_[slash == std::string::npos ? "" : path.substr(0, slash)].children.push_back(path);
    }
    return modules_[path];
  }

  std::map<std::string, ModuleRow> modules_ = {{"", {}}};
  TimeNs total_ = 0;
};

}  // namespace

std::vector<std::string> ModuleScreen(const std::vector<ModuleStatisticRow>& rows,
                                      std::size_t most_lines) {
  ModulesByPath modules(rows);
  std::vector<std::string> lines;
  const AmountScale scale(Quantity::kTime, modules.total());
  std::size_t left = 0;
  modules.Visit([&](const std::string& path, std::size_t depth, TimeNs time) {
    if (lines.size() >= most_lines) {
      ++left;
      return;
    }
    constexpr double kBar = 20;
    const double share = modules.total() > 0
                             ? static_cast<double>(time) / static_cast<double>(modules.total())
                             : 0.0;
    const std::string bar(static_cast<std::size_t>(std::lround(share * kBar)), '#');
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::string start = fmt::format("{:<20} {:5.1f} % {:>9} {}  ", bar, share * 100,
                                          scale.Text(scale.Rounded(time)), scale.unit());
    const std::string label = std::string(2 * depth, ' ') + Printable(path.substr(name));
    lines.push_back(start + CutEnd(label, kScreenColumns - start.size()));
  });
  if (left > 0) lines.push_back(fmt::format("... and {} smaller modules", left));
  return lines;
}

}  // namespace mpa
