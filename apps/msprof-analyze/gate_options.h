// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "export_options.h"
#include "help.h"
#include "mpa/capture/capture.h"
#include "mpa/gate/judge.h"
#include "mpa/gate/run_summary.h"

namespace mpa {

/// What --fail_on accepts.
HelpPage::List MetricsOfGates();

/// The options with which `compare` becomes a gate.
class GateOptions {
 public:
  /// Adds the options to a command; *this has to outlive the parsing.
  void AddTo(CLI::App& command);

  /// True when one of them was given, or something that only a gate knows: a baseline file to
  /// compare with, a type of file.
  bool Asked(const ExportOptions& exports, const std::vector<std::string>& base) const;
  bool LearnsNoise() const { return !learn_noise_.empty(); }
  /// False where runs are only looked at to be kept.
  bool NeedsBase() const { return !LearnsNoise() && save_baseline_.empty() && history_.empty(); }

  /// Everything below throws Error (kUsage) that names the option.
  gate::GateSettings Settings() const;
  gate::GatePolicy Policy() const;
  gate::RankStat RankStat() const;
  /// Metrics with patterns are those of the settings.
  gate::SummaryRequest Summary(const gate::GateSettings& settings) const;
  std::int64_t MemoryBytes() const;

  const std::string& save_baseline() const { return save_baseline_; }
  const std::string& learn_noise() const { return learn_noise_; }
  bool update_baseline() const { return update_baseline_; }
  const std::string& history() const { return history_; }
  std::size_t history_runs() const { return static_cast<std::size_t>(history_runs_.value_or(10)); }
  /// Of the run in the history: what was given, else what the CI job says of its commit.
  std::string Label() const;

 private:
  bool Given() const;

  std::vector<std::string> fail_on_, allow_mismatch_;
  std::string gate_file_, noise_, save_baseline_, learn_noise_, history_, label_;
  std::string rank_stat_, min_abs_, min_share_, on_inconclusive_, memory_limit_;
  std::optional<std::int64_t> warmup_, min_steps_, history_runs_;
  bool fail_on_new_op_ = false, strict_ = false, warn_only_ = false, update_baseline_ = false;
};

class Agent;

/// What a gate looks at, as it was given.
struct GateInputs {
  std::vector<std::string> comparison, base;
  std::string output;
  OpenOptions open;
};

/// Runs the gate; returns the exit code.
int RunGate(const GateInputs& inputs, const GateOptions& options, const ExportOptions& exports,
            Agent& agent);

}  // namespace mpa
