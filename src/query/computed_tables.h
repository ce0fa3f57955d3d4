// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Tables that analyses fill when a statement first names them: what the screens show, by the same
/// functions. Texts that no capture holds are kept as they are.
namespace mpa::query {

/// Where the time of every step went, to the nanosecond: the leaves of the advisor's account, which
/// add up to the step.
template <template <typename> class Of>
struct AccountFields {
  Of<std::int64_t> step = Initially{-1};
  Of<std::string_view> leaf{};          ///< "comp.matmul", "comm.wait.peer", "free.sync.scalar"
  Of<TimeNs> ns{};                      ///< of the step that the leaf takes
  Of<TimeNs> step_start{}, step_dur{};  ///< the window of the step on the device
};
struct AccountTable : Table<AccountFields> {};

/// Times in which the device had nothing to do, by their cause; of an account the parts free.*.
template <template <typename> class Of>
struct GapFields {
  Of<TimeNs> start{}, dur{};  ///< on the clock of the device
  Of<std::int64_t> step = Initially{-1};
  Of<std::string_view> cause{};  ///< the leaf of the account
  Of<std::string> host_event{};  ///< what the host did meanwhile
};
struct GapTable : Table<GapFields> {};

/// Hardware counters of kernels, a row for each kernel and counter.
template <template <typename> class Of>
struct CounterOfKernelFields {
  Of<std::int64_t> kernel{};  ///< id of the kernel
  Of<StringId> name{};        ///< as the capture names it, "aic_mac_ratio"
  Of<double> value{};         ///< in the unit of the capture
};
struct CounterOfKernelTable : Table<CounterOfKernelFields> {};

/// The device work of operators: of each operator and kernel that it launched itself.
template <template <typename> class Of>
struct OpDeviceFields {
  Of<std::int64_t> op{};                         ///< id of the operator
  Of<std::int64_t> kernel = Initially{-1};       ///< id of the kernel
  Of<std::int64_t> comm = Initially{-1};         ///< id of the operation of communication
  Of<std::int64_t> device_task = Initially{-1};  ///< id of the task
  Of<TimeNs> start{}, ns{};                      ///< when it ran, and for how long
};
struct OpDeviceTable : Table<OpDeviceFields> {};

/// When ranks came to collectives, on one clock, and how long they waited there for the last.
template <template <typename> class Of>
struct ArrivalFields {
  Of<std::string> side{};
  Of<std::int64_t> instance{};  ///< number of the operation, the same for all of its ranks
  Of<std::string> name{};
  Of<std::string> comm_group{};  ///< its name
  Of<RankId> rank{};
  Of<std::int64_t> comm = Initially{-1};  ///< id of the operation on that rank
  Of<std::int64_t> step = Initially{-1};
  Of<TimeNs> arrived{};  ///< on the clock of the lowest rank
  Of<TimeNs> late_ns{};  ///< behind the first that came
  Of<TimeNs> wait_ns{};  ///< until the last one came
  Of<bool> captured{};   ///< else others saw that it came, or waited for it
};
struct ArrivalTable : Table<ArrivalFields> {};

/// What costs the step time: the findings of the advisor.
template <template <typename> class Of>
struct FindingFields {
  Of<std::string> side{};
  Of<std::string> key{};   ///< "rank.late_host/r5"; `advisor why KEY` explains it
  Of<std::string> kind{};  ///< fault, or what works as written and could be faster
  Of<std::string> severity{};
  Of<std::string> title{};             ///< what is wrong, in words
  Of<std::string> advice{};            ///< what to do about it
  Of<TimeNs> gain_ns = Initially{-1};  ///< of a step, that a fix saves
  Of<std::string> ranks{};             ///< "0,5"
};
struct FindingTable : Table<FindingFields> {};

/// What changed in the median step from the base (-bp) to the comparison, a tree for each rank of
/// both: children add up to their parent.
template <template <typename> class Of>
struct ChangeFields {
  Of<RankId> rank{};                        ///< of both sides
  Of<std::int64_t> parent = Initially{-1};  ///< id of the row that it is a part of
  Of<std::string> kind{};                   ///< component, kernel, collective, operator, host
  Of<std::string> name{};
  Of<std::string> leaf{};                 ///< of the account
  Of<TimeNs> base_ns{}, comparison_ns{};  ///< in the median step
  Of<TimeNs> change_ns{};
};
struct ChangeTable : Table<ChangeFields> {};

/// What captures hold, and why they lack the rest.
template <template <typename> class Of>
struct CapturedFields {
  Of<std::string> side{};
  Of<RankId> rank{};
  Of<std::string> what{};   ///< "kernels", "counters", "stacks"
  Of<std::string> state{};  ///< yes, no; NULL: not known without reading all of it
};
struct CapturedTable : Table<CapturedFields> {};

/// All texts of the captures. In the vendor's databases other tables have ids of them; the views of
/// these names have the texts, each of which is its own id here.
template <template <typename> class Of>
struct TextFields {
  Of<std::string_view> id{}, value{};
};
struct TextTable : Table<TextFields> {};

}  // namespace mpa::query
