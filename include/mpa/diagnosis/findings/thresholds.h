// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpa/base/threshold.h"
#include "mpa/base/time.h"
#include "mpa/measure/transfer_times.h"

/// The thresholds of the diagnosis, which a file may replace. Shares are parts of 1, times are ns.
namespace mpa {

// What files may set them to at most.
inline constexpr double kMaxTime = 1e12, kMaxBytes = 1e12, kMaxCalls = 1e6;

// Those that more than one file needs. Facts of the chip are 0 unless a file gives them: its entry
// has them then (ChipLimits).
inline constexpr Threshold kMinShare{"least_share", 0.01, 0, 1,
                                     "a finding saves at least this share of the step"},
    kMinNs{"least_ns", 10'000, 0, kMaxTime, "a finding saves at least this time"},
    kSearchShare{"search_share", 0.002, 0, 1, "gains below this share end the search for more"},
    kPairShare{"pair_share", 0.03, 0, 1,
               "two findings that pay only together save at least this share"},
    kFaultShare{"fault_share", 0.03, 0, 1,
                "what all ranks lose below this share is an opportunity, not a fault"},
    kLowShare{"low_share", 0.01, 0, 1, "severity low from this share on"},
    kMediumShare{"medium_share", 0.03, 0, 1, "severity medium from this share on"},
    kHighShare{"high_share", 0.1, 0, 1, "severity high from this share on"},
    kCriticalShare{"critical_share", 0.2, 0, 1, "severity critical from this share on"},
    kWarmUpRatio{"warm_up_ratio", 1.2, 1, 1000,
                 "a first step this many times as long as the others is warm-up"},
    kWarmUpCompiling{"warm_up_compiling", 0.03, 0, 1,
                     "a first step is warm-up if compiling takes this share of it, and hardly any"
                     " time of the others"},
    kWarmUpRest{"warm_up_rest", 0.1, 0, 1,
                "hardly any time: the others compile for at most this share of what the first step"
                " compiles"},
    kSystematicShare{"systematic_share", 0.6, 0, 1,
                     "a finding seen in this share of the steps is systematic"},
    kIntermittentShare{"intermittent_share", 0.2, 0, 1,
                       "a finding seen in this share of the steps is intermittent"},
    kInnocentShare{"innocent_share", 0.05, 0, 1,
                   "a call that waits for this share of the step looks guilty"},
    kExplainedShare{"explained_share", 0.5, 0, 1,
                    "a finding explains a wait that is shorter by this share without it"},
    kHiddenShare{
        "hidden_share", 0.2, 0, 1,
        "a finding hides behind others if its gain alone is smaller by more than this share"},
    kGrownRatio{"grown_ratio", 1.2, 1, 1000,
                "a finding has grown when it costs this many times what it cost in the baseline"},
    kMinOperations{"operations", 5, 1, kMaxCalls, "fewer operations do not show what is usual"},
    kLateShare{"share", 0.005, 0, 1, "a rank is late by at least this share of the step"},
    kLateOfPeers{"of_peers", 0.05, 0, 1000,
                 "a late rank takes longer than its peers by at least this share of their time"},
    kLatePeers{"peers", 2, 2, kMaxCalls,
               "ranks of a role, with the late one, that define what is normal"},
    kLatePairSteps{"pair_steps", 2, 1, kMaxCalls,
                   "of the two ranks of a role, the late one is slower in at least this many"
                   " steps, and in most of them"},
    kLateAlike{"alike", 1.35, 1, 1000,
               "late ranks whose excess differs by less than this ratio are one finding"},
    kUnmatchedShare{"unmatched_share", 0.05, 0, 1,
                    "above this share of operations that ranks lack, a group whose names have no"
                    " number is not compared"},
    kLateBlocksRatio{
        "blocks_ratio", 1.5, 1, 1000,
        "a rank waits for its device more often than its peers by more than this ratio"},
    kLateCauseShare{"cause_share", 0.8, 0, 1,
                    "work that explains this share of the lateness is the cause of it"},
    kLateMainShare{"main_share", 0.6, 0, 1,
                   "work that explains this share is mainly the cause; less is one of several"},
    kLateBehindShare{
        "behind_share", 0.2, 0, 1,
        "a rank has fallen behind at the first kernel that is late by this share of the lateness"},
    kLatenessShare{"lateness_share", 0.002, 0, 1,
                   "the wait for a rank is explained from this share of the step on"},
    kLatenessNs{"lateness_ns", 50'000, 0, kMaxTime,
                "waits for a rank are explained if they take at least this time"},
    kUncapturedShare{"share", 0.02, 0, 1,
                     "a rank that was not captured is late by at least this share of the step"},
    kUncapturedNs{"least_ns", 50'000, 0, kMaxTime,
                  "a rank that was not captured is late by at least this time"},
    kLinkBandwidthRatio{"bandwidth_ratio", kSlowLinkShare, 0, 1,
                        "a link is slow below this share of the usual bandwidth of its kind"},
    kLinkLeastBytes{"least_bytes", kShowsBandwidth, 1, kMaxBytes,
                    "smaller transfers do not show the bandwidth"},
    kCardGbs{"card_gbs", 0, 0, 1e6,
             "what a link between cards of a host moves, in GB/s; 0: as the chip's entry says"},
    kCardShare{"card_share", 0.4, 0, 1,
               "where all such links are equally slow, they are slow below this share of it"},
    kPortGbs{"port_gbs", 0, 0, 1e6,
             "rate of a port to other hosts, in GB/s; 0: from the chip's entry"},
    kPortBytes{"port_bytes", 1 << 20, 1, kMaxBytes,
               "operations that move less through a port do not show its speed"},
    kSmallLatencyRatio{"latency_ratio", 2, 1, 1000,
                       "a small operation takes this many times what its data needs"},
    kSmallCountShare{"count_share", 0.2, 0, 1,
                     "at least this share of a group's operations is small"},
    kSmallCalls{"calls", 4, 1, kMaxCalls,
                "a group has at least this many small operations per step"},
    kSmallBytes{"bytes", 16 << 20, 1, kMaxBytes, "larger operations do not count as small"},
    kSmallVectorGain{
        "vector_gain", 0.5, 0, 1,
        "in inference, vector cores remove this share of the latency of small operations"},
    kBucketCalls{"buckets", 20, 2, kMaxCalls,
                 "without recorded transfers, a group reduces at least this often per step"},
    kBesideNs{"beside_ns", 30'000, 0, kMaxTime,
              "an operation stands between kernels if they end and start within this time of it"},
    kAloneShare{"alone_share", 0.9, 0, 1,
                "what is computed needs an operation between kernels if nothing is computed for"
                " this share of it"},
    kBesideRatio{
        "ratio", 0.7, 0, 1,
        "tasks beside computing reach less than this share of the bandwidth of the others"},
    kComparedTasks{"tasks", 5, 1, kMaxCalls, "fewer tasks of a kind are not compared with others"},
    kAlikeSizes{"alike_sizes", 4, 1, 1e6,
                "tasks are compared with others that are at most this many times as large"},
    kMemoryGbs{"memory_gbs", 0, 0, 1e6,
               "highest bandwidth of the device memory, in GB/s; 0: as the chip's entry says"},
    kCacheBytes{"cache_bytes", 0, 0, kMaxBytes,
                "smaller tensors fit the cache and do not show that bandwidth; 0: from the chip's"
                " entry"},
    kMemoryBytes{"memory_bytes", 0, 0, kMaxBytes,
                 "memory that a device has at least; 0: as the chip's entry says"},
    kClockRatio{"ratio", 0.95, 0, 1, "a device is throttled below this share of its rated clock"},
    kFewSteps{"steps", 3, 1, kMaxCalls,
              "with fewer steps, a pattern cannot be distinguished from an accident"};

template <typename Part, typename Of>
double Share(Part part, Of whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}
/// A whole number or a time among the rules.
inline std::int64_t Whole(double rule) { return static_cast<std::int64_t>(rule); }
/// A count and the least one that a rule wants.
inline bool IsAtLeast(std::size_t count, double rule) { return static_cast<double>(count) >= rule; }
/// A share of a time.
inline TimeNs ShareOf(TimeNs time, double share) {
  return static_cast<TimeNs>(static_cast<double>(time) * share);
}

}  // namespace mpa
