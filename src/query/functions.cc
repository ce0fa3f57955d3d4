// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job.h"
#include "mpa/base/columns.h"
#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/step_bounds.h"
#include "mpa/model/step_selection.h"

namespace mpa::query {
namespace {

// Values beyond that are no question about a capture; a statement can make any number of them.
constexpr std::size_t kMostValues = 100'000'000;

struct Values {
  std::vector<std::int64_t> whole{};
  std::vector<double> real{};  // all of them, once one is not whole
  double percent = 50;
};

// The object of an aggregate, which SQLite calls with all rows of a group and then once to end.
template <typename State>
State* StateOf(sqlite3_context* context) {
  auto** const place = static_cast<State**>(sqlite3_aggregate_context(context, sizeof(State*)));
  if (place == nullptr) return nullptr;
  if (*place == nullptr) *place = new (std::nothrow) State();
  return *place;
}
template <typename State>
std::unique_ptr<State> TakeState(sqlite3_context* context) {
  auto** const place = static_cast<State**>(sqlite3_aggregate_context(context, 0));
  return std::unique_ptr<State>(place == nullptr ? nullptr : std::exchange(*place, nullptr));
}

void TooMany(sqlite3_context* context) { sqlite3_result_error(context, "too many values", -1); }

void AddToValues(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const int type = sqlite3_value_numeric_type(arguments[0]);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  Values* const values = StateOf<Values>(context);
  if (values == nullptr) return sqlite3_result_error_nomem(context);
  if (count > 1) values->percent = std::clamp(sqlite3_value_double(arguments[1]), 0.0, 100.0);
  if (values->whole.size() + values->real.size() >= kMostValues) return TooMany(context);
  if (type == SQLITE_INTEGER && values->real.empty()) {
    values->whole.push_back(sqlite3_value_int64(arguments[0]));
    return;
  }
  values->real.insert(values->real.end(), values->whole.begin(), values->whole.end());
  values->whole.clear();
  values->real.push_back(sqlite3_value_double(arguments[0]));
}

void ResultOfValues(sqlite3_context* context) {
  const auto values = TakeState<Values>(context);
  if (!values || (values->whole.empty() && values->real.empty())) return;
  const double percent = values->percent;
  if (values->real.empty() && percent == std::floor(percent)) {
    std::ranges::sort(values->whole);
    return sqlite3_result_int64(context, Percentile(values->whole, static_cast<int>(percent)));
  }
  std::vector<double>& real = values->real;
  if (real.empty()) real.assign(values->whole.begin(), values->whole.end());
  std::ranges::sort(real);
  const double place = percent / 100 * static_cast<double>(real.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, real.size() - 1);
  sqlite3_result_double(
      context, real[below] + (place - static_cast<double>(below)) * (real[above] - real[below]));
}

// Of two numbers the interval that they begin and last.
std::optional<Interval> IntervalOf(sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) != SQLITE_INTEGER ||
      sqlite3_value_type(arguments[1]) != SQLITE_INTEGER)
    return std::nullopt;
  const TimeNs start = sqlite3_value_int64(arguments[0]), dur = sqlite3_value_int64(arguments[1]);
  if (!IsTime(start) || !IsDuration(dur)) return std::nullopt;
  return Interval{start, start + dur};
}

void AddInterval(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto interval = IntervalOf(arguments);
  if (!interval) return;
  auto* const intervals = StateOf<Intervals>(context);
  if (intervals == nullptr) return sqlite3_result_error_nomem(context);
  if (intervals->size() >= kMostValues) return TooMany(context);
  intervals->push_back(*interval);
}

void BusyTime(sqlite3_context* context) {
  const auto intervals = TakeState<Intervals>(context);
  sqlite3_result_int64(context, intervals ? Length(Union(std::move(*intervals))) : 0);
}

void Overlap(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto a = IntervalOf(arguments), b = IntervalOf(arguments + 2);
  if (!a || !b) return;
  sqlite3_result_int64(
      context, std::max<TimeNs>(0, std::min(a->end, b->end) - std::max(a->begin, b->begin)));
}

void Short(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
  if (text == nullptr) return;
  const std::string_view name(text, static_cast<std::size_t>(sqlite3_value_bytes(arguments[0])));
  constexpr int kColumns = 40;
  const int columns = count > 1 ? std::clamp(sqlite3_value_int(arguments[1]), 8, 400) : kColumns;
  const std::string shown =
      ShortenName(ShortFunctionName(name.substr(0, 10'000)), static_cast<std::size_t>(columns));
  sqlite3_result_text(context, shown.data(), static_cast<int>(shown.size()), SQLITE_TRANSIENT);
}

// The steps of ranks by their times on the device, each when it is first asked for.
struct StepFinder {
  Job& job;
  std::map<const LoadedPart*, StepBounds> bounds{};
};

void InStep(sqlite3_context* context, int count, sqlite3_value** arguments) {
  auto& finder = *static_cast<StepFinder*>(sqlite3_user_data(context));
  if (sqlite3_value_type(arguments[0]) != SQLITE_INTEGER) return;
  for (const auto& part : finder.job.Parts()) {
    if (count > 1 && part->rank.Number() != sqlite3_value_int64(arguments[1])) continue;
    const StepBounds& bounds =
        finder.bounds.try_emplace(part.get(), part->trace, kAsRecorded).first->second;
    const auto step =
        bounds.OfLaunchedWork(sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[0]));
    if (step) sqlite3_result_int64(context, bounds.Id(*step));
    return;
  }
}

// SQLite's own printf(), which works for many seconds where a width is large, on a connection that
// still has it.
struct PlainPrint {
  sqlite3* database = nullptr;
  PlainPrint() { sqlite3_open(":memory:", &database); }
  ~PlainPrint() { sqlite3_close_v2(database); }
  PlainPrint(const PlainPrint&) = delete;
  PlainPrint& operator=(const PlainPrint&) = delete;
};

bool HasLargeWidth(std::string_view format) {
  std::size_t digits = 0;
  for (const char c : format) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4 || c == '*') return true;
  }
  return false;
}

void Print(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const auto* format = count > 0 ? sqlite3_value_text(arguments[0]) : nullptr;
  if (format == nullptr) return;
  if (HasLargeWidth(reinterpret_cast<const char*>(format)))
    return sqlite3_result_error(context, "widths have four digits at most", -1);
  std::string sql = "SELECT printf(?";
  for (int i = 1; i < count; ++i) sql += ",?";
  const auto& plain = *static_cast<PlainPrint*>(sqlite3_user_data(context));
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(plain.database, (sql + ")").c_str(), -1, &statement, nullptr);
  for (int i = 0; i < count; ++i) sqlite3_bind_value(statement, i + 1, arguments[i]);
  if (sqlite3_step(statement) == SQLITE_ROW)
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
  sqlite3_finalize(statement);
}

constexpr FunctionInfo kFunctions[] = {
    {"median", "x", "the middle value of a group"},
    {"percentile", "x, p",
     "the value of a group that p percent do not exceed, between two values"
     " the part of the way"},
    {"busy_ns", "start, dur", "the time of a group in which at least one interval runs"},
    {"overlap_ns", "start, dur, start2, dur2", "the time that two intervals have in common"},
    {"in_step", "time [, rank]", "the step in which the host was then", kStepTables},
    {"short", "name [, columns]", "a name without parameters and outer parts, of 40 columns"},
};

}  // namespace

std::span<const FunctionInfo> AllFunctions() { return kFunctions; }

void AddFunctions(sqlite3* database, Job& job) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  const auto add_group = [&](const char* name, int arguments, auto* step, auto* end) {
    sqlite3_create_function_v2(database, name, arguments, kFlags, nullptr, nullptr, step, end,
                               nullptr);
  };
  add_group("median", 1, AddToValues, ResultOfValues);
  add_group("percentile", 2, AddToValues, ResultOfValues);
  add_group("busy_ns", 2, AddInterval, BusyTime);
  sqlite3_create_function_v2(database, "overlap_ns", 4, kFlags, nullptr, Overlap, nullptr, nullptr,
                             nullptr);
  for (const char* const name : {"printf", "format"}) {
    sqlite3_create_function_v2(database, name, -1, kFlags, new PlainPrint(), Print, nullptr,
                               nullptr,
                               [](void* plain) { delete static_cast<PlainPrint*>(plain); });
  }
  for (const int arguments : {1, 2}) {
    sqlite3_create_function_v2(database, "short", arguments, kFlags, nullptr, Short, nullptr,
                               nullptr, nullptr);
    sqlite3_create_function_v2(database, "in_step", arguments, SQLITE_UTF8, new StepFinder{job},
                               InStep, nullptr, nullptr,
                               [](void* finder) { delete static_cast<StepFinder*>(finder); });
  }
}

}  // namespace mpa::query
