// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/gate_report.h"

/// What a gate found, in the forms that platforms show. Texts, not files: they are small.
namespace mpa {

/// Lines for the screen, the headline first; `brief`: in one line of kShortHeadline characters at
/// most. Names of what changed give way where a line is longer than `width`; other names from
/// captures are as they are.
std::vector<std::string> FormatGateText(const GateReport& report, bool brief = false,
                                        std::size_t width = 80);

/// One document; docs/gate.md describes it. Keys are only ever added under one schema_version.
std::string FormatGateJson(const GateReport& report);

/// At most 64 KB, the size that comments of platforms may have.
std::string FormatGateMarkdown(const GateReport& report);

/// A test case for each metric, and one for what kept the gate from judging.
std::string FormatGateJunit(const GateReport& report);

/// Gauges in seconds and bytes.
std::string FormatGateOpenMetrics(const GateReport& report);

/// Workflow commands of GitHub Actions, at most 10: what failed first.
std::string FormatGateAnnotations(const GateReport& report);

/// Throws Error (kOutput) when AppendGateSummary() could not write to this file.
void CheckGateSummary(const std::filesystem::path& path);

/// Appends the Markdown report to a file that others write to, too. Throws Error (kOutput).
void AppendGateSummary(const GateReport& report, const std::filesystem::path& path);

}  // namespace mpa
