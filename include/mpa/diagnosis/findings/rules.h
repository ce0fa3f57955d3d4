// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"

/// The thresholds of the diagnosis, which a file may replace.
namespace mpa {

/// Shares are parts of 1, times are ns. Threshold::meaning says what each one means. Facts of the
/// chip are 0 unless a file gives them: its entry has them then (ChipLimits).
struct Rules {
  // All findings.
  double least_share = 0.01, least_ns = 10'000, search_share = 0.002, pair_share = 0.03,
         fault_share = 0.03;
  double low_share = 0.01, medium_share = 0.03, high_share = 0.1, critical_share = 0.2;
  double warm_up_ratio = 1.2, warm_up_compiling = 0.03, warm_up_rest = 0.1, systematic_share = 0.6,
         intermittent_share = 0.2;
  double innocent_share = 0.05, explained_share = 0.5, hidden_share = 0.2;
  double grown_ratio = 1.2, least_operations = 5;
  // Ranks.
  double late_share = 0.005, late_of_peers = 0.05, late_peers = 2, late_pair_steps = 2,
         late_alike = 1.35;
  double unmatched_share = 0.05, late_blocks_ratio = 1.5, late_clock_ratio = 0.97,
         foreign_share = 0.5;
  double late_cause_share = 0.8, late_main_share = 0.6, late_behind_share = 0.2,
         lateness_share = 0.002, lateness_ns = 50'000;
  double outsider_share = 0.02, outsider_ns = 50'000;
  double jitter_steps = 5, jitter_ranks = 3, jitter_share = 0.03, jitter_top_share = 0.4;
  // Communication.
  double link_bandwidth_ratio = 0.7, link_least_bytes = 32'768;
  double link_slow_share = 0.6, link_members = 3;
  double card_gbs = 0, card_share = 0.4;
  double port_gbs = 0, port_share = 0.6, port_bytes = 1 << 20;
  double small_latency_ratio = 2, small_count_share = 0.2, small_calls = 4;
  double small_bytes = 16 << 20, small_vector_gain = 0.5, bucket_calls = 20;
  double exposed_share = 0.1, exposed_gain = 0.5;
  double overlap_share = 0.65, beside_ns = 30'000, alone_share = 0.9;
  double odd_ratio = 0.7, beside_ratio = 0.7, compared_tasks = 5, alike_sizes = 4;
  double retransmit_ratio = 20;
  double inner_share = 0.03, inner_gain = 0.5;
  double buffer_bytes = 200 << 20, buffer_ratio = 0.85, buffer_reach = 8;
  // Pipelines.
  double stage_ratio = 1.05, bubble_share = 0.05;
  // Hosts.
  double loader_ns = 1'000'000, usual_syncs = 2, stall_ratio = 20, checkpoint_copy_ns = 20'000,
         launch_gain = 0.2;
  double launch_run = 10, launch_share = 0.05, gap_ns = 20'000'000;
  double python_share = 0.02, python_gain = 0.5;
  double blocking_share = 0.5;
  double cpu_ratio = 3, cpu_launches = 50, cpu_steps = 3;
  // Devices.
  double aicpu_gain = 0.9, format_gain = 0.7, attention_gain = 0.9, attention_reach = 8,
         attention_sequence = 128;
  double slow_share = 0.02, slow_use = 0.5, slow_reach = 0.6, slow_kernel_ns = 20'000,
         memory_gbs = 0, cache_bytes = 0;
  double variance_share = 0.02, variance_ratio = 2, variance_calls = 10;
  double fp32_share = 0.05, fp32_gain = 0.5, fp32_most = 0.75;
  double optimizer_share = 0.03, optimizer_launches = 50, optimizer_gain = 0.6;
  double zero_calls = 20;
  double unfused_share = 0.02, unfused_chain = 3;
  double clock_ratio = 0.95;
  double memory_retries = 0.5, memory_in_pieces = 1.4;
  double few_steps = 3, long_ratio = 2;
};

// What files may set them to at most.
inline constexpr double kLongestTime = 1e12, kMostBytes = 1e12, kMostCalls = 1e6;

/// A whole number or a time among the rules.
inline std::int64_t Whole(double rule) { return static_cast<std::int64_t>(rule); }
/// A count and the least one that a rule wants.
inline bool IsAtLeast(std::size_t count, double rule) { return static_cast<double>(count) >= rule; }
/// A share of a time.
inline TimeNs ShareOf(TimeNs time, double share) {
  return static_cast<TimeNs>(static_cast<double>(time) * share);
}

}  // namespace mpa
