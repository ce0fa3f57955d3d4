// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
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

/// Calls of modules of the model: nn.Module calls, or mstx ranges of the domain Module, and their
/// backward passes.
template <template <typename> class Of>
struct ModuleFields {
  Of<std::int64_t> parent = Initially{-1};  ///< id of the module around it
  Of<TimeNs> start{}, dur{};                ///< on the host
  Of<std::int64_t> step = Initially{-1};    ///< the step in which it began
  Of<std::string_view> name{};              ///< "Linear_0"
  Of<std::string_view> path{};              ///< the names of the modules around it: "Net/Layer_0"
  Of<bool> backward{};                      ///< a part of the backward pass
  Of<TimeNs> device_ns{};                   ///< kernels and collectives of its own operators
  Of<TimeNs> device_total_ns{};             ///< the same with those of all modules within
};
struct ModuleTable : Table<ModuleFields> {
  std::set<std::string, std::less<>> texts{};
};

/// Steps of a server of language models, and what the device did in each, as serving_phases has it.
template <template <typename> class Of>
struct ServingStepFields {
  Of<TimeNs> start{}, dur{};                       ///< on the device, to the next step
  Of<std::string> phase{};                         ///< prefill, decode, mixed, dummy or unknown
  Of<std::int64_t> requests = Initially{-1};       ///< in the batch
  Of<std::int64_t> prompt_tokens = Initially{-1};  ///< of prompts that it read
  Of<std::int64_t> output_tokens = Initially{-1};  ///< that it generated
  Of<std::int64_t> graph_size = Initially{-1};     ///< requests that its captured graph is made for
  Of<bool> warm_up{};                              ///< the statistics leave it out
  Of<TimeNs> time_per_prompt_token_ns = Initially{-1};  ///< of prefill
  Of<TimeNs> time_to_next_token_ns = Initially{-1};     ///< of decode, for each request
  /// a part of the step; the eight of them add up to it
  Of<TimeNs> attention_ns{}, matrix_ns{}, sampling_ns{}, other_kernel_ns{}, communication_ns{},
      waiting_ns{}, copy_ns{}, host_ns{};
};
struct ServingStepTable : Table<ServingStepFields> {};

/// Requests to a server, as serving_requests has them.
template <template <typename> class Of>
struct RequestFields {
  Of<std::string> request_id{};              ///< as the server calls it
  Of<std::int64_t> dp_rank = Initially{-1};  ///< number of the data parallel rank
  Of<TimeNs> start = Initially{-1};          ///< when it came
  Of<std::int64_t> prompt_tokens = Initially{-1}, reply_tokens = Initially{-1};  ///< how many
  Of<TimeNs> queue_ns = Initially{-1};              ///< how long it waited
  Of<TimeNs> first_token_ns = Initially{-1};        ///< until its first token
  Of<TimeNs> per_token_ns = Initially{-1};          ///< for each token behind the first
  Of<TimeNs> end_to_end_ns = Initially{-1};         ///< until its last token
  Of<double> prefix_hit_percent = Initially{-1.0};  ///< of its prompt that a cache held
  Of<std::int64_t> preemptions = Initially{-1};     ///< how often its prompt was read again
  Of<TimeNs> transfer_ns = Initially{-1};  ///< how long its keys and values moved to decode
};
struct RequestTable : Table<RequestFields> {};

/// Roles of reinforcement learning in each iteration, all devices together, as rl_roles has them.
template <template <typename> class Of>
struct RlRoleFields {
  Of<std::string> side{};
  Of<std::int64_t> iteration{};   ///< from the directories, or counted from 0
  Of<std::string> role{};         ///< by one name for all that frameworks give it
  Of<std::string> kind{};         ///< rollout, reference, reward, update, weight sync, ...
  Of<std::int64_t> devices{};     ///< that run it
  Of<TimeNs> start_ns{};          ///< when the first device begins it, after the iteration's begin
  Of<TimeNs> end_ns{};            ///< when the last device ends it, after the iteration's begin
  Of<TimeNs> wall_ns{};           ///< time in which any device runs it
  Of<TimeNs> overlap_ns{};        ///< of that while another role runs as well
  Of<TimeNs> device_ns{};         ///< of all devices in it; the next four add up to it
  Of<TimeNs> computing_ns{};      ///< kernels compute
  Of<TimeNs> communication_ns{};  ///< communication that no kernel hides, with waiting
  Of<TimeNs> copy_ns{};           ///< nothing but copies runs
  Of<TimeNs> free_ns{};           ///< the device had nothing to do
  Of<TimeNs> waiting_ns{};        ///< of devices without a role while this one runs elsewhere
  Of<TimeNs> halving_gain_ns{};   ///< what all iterations save if it takes half as long
};
struct RlRoleTable : Table<RlRoleFields> {};

/// What captures hold, why they lack the rest, and what check warns of, without reading events.
template <template <typename> class Of>
struct CapturedFields {
  Of<std::string> side{};
  Of<RankId> rank{};
  Of<std::string> what{};     ///< "kernels", "counters", a table of the database, a warning's name
  Of<std::string> state{};    ///< yes, no, unread, warning; NULL: only the events tell
  Of<std::string> why{};      ///< why it is not there, or what is wrong
  Of<std::string> setting{};  ///< of the profiler that records it, or what to do
};
struct CapturedTable : Table<CapturedFields> {};

/// Runs that `compare --history` kept, a row for each metric: of such a file, given as a capture.
template <template <typename> class Of>
struct RunFields {
  Of<std::string> side{};
  Of<std::int64_t> run{};   ///< its number, from 1
  Of<TimeNs> time{};        ///< when it was added, since the epoch
  Of<std::string> label{};  ///< such as the commit
  Of<std::string> metric{};
  Of<std::string> unit{};        ///< ns, bytes or count
  Of<std::int64_t> value{};      ///< median of the run
  Of<std::int64_t> noise{};      ///< standard deviation that its gate expected
  Of<std::string> verdict{};     ///< of the gate; NULL: it did not judge the metric
  Of<std::string> allowed{};     ///< its limit: "3 %"
  Of<std::int64_t> exit_code{};  ///< of the gate
};
struct RunTable : Table<RunFields> {};

/// All texts of the captures. In the vendor's databases other tables have ids of them; the views of
/// these names have the texts, each of which is its own id here.
template <template <typename> class Of>
struct TextFields {
  Of<std::string_view> id{}, value{};
};
struct TextTable : Table<TextFields> {};

}  // namespace mpa::query
