// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/capture/survey.h"
#include "mpa/pipeline/analyzer_checks.h"

namespace mpa {

/// What `check` prints: the survey, and what was found out of each rank.
struct CheckReport {
  Survey survey;
  std::vector<JudgedCapture> judged;
  std::vector<CheckedGroup> groups;

  /// Some analyzer runs on some rank.
  bool Usable() const;
};

/// Something that a capture may hold, as programs and people call it.
struct RecordedContent {
  Recorded Contents::*state;
  const char *key, *words;
};
inline constexpr RecordedContent kRecordedContents[] = {
    {&Contents::device_tasks, "device_tasks", "device work"},
    {&Contents::kernels, "kernels", "compute kernels"},
    {&Contents::kernel_types, "kernel_types", "operator types"},
    {&Contents::kernel_cores, "kernel_cores", "core types"},
    {&Contents::counters, "counters", "counters"},
    {&Contents::l2_cache, "l2_cache", "L2 cache"},
    {&Contents::op_attributes, "operator_attributes", "attributes"},
    {&Contents::communication, "communication", "communication"},
    {&Contents::communication_tasks, "communication_tasks", "communication tasks"},
    {&Contents::bandwidths, "bandwidths", "bandwidths"},
    {&Contents::host_ops, "host_operators", "host operators"},
    {&Contents::stacks, "stacks", "stacks"},
    {&Contents::memory, "memory", "memory"},
    {&Contents::op_memory, "operator_memory", "memory of operators"},
    {&Contents::mstx, "mstx", "mstx"},
    {&Contents::chip, "chip", "chip"}};

/// One screen for people; ranks of which the same is to be said are one block.
std::string FormatCheckText(const CheckReport& report, bool color);

/// The same, line by line.
std::vector<std::string> CheckLines(const CheckReport& report);

/// One JSON document; keys are only ever added under the same schema_version.
std::string FormatCheckJson(const CheckReport& report);

}  // namespace mpa
