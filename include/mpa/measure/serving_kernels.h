// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

/// What kernels and graphs say of the steps of a server.
namespace mpa {

/// The first dimension of the first tensor of "32,4096;4096,4096", in quotes or brackets or not;
/// -1: there is none.
std::int64_t FirstDimension(std::string_view shapes);

/// Gives the marks of a server the tokens for which the graphs were captured that they replay: by
/// the capture that explains a replay ("capture_32_FULL"), else by what most kernels of the graph
/// have as the first dimension of their first tensor. Needs the launches and kernels; marks whose
/// graph is unknown keep -1.
void AddGraphTokens(RankTrace& trace);

/// Marks the steps of a server that gives them no names: those of the profiler, without them the
/// launches of graphs that hold attention. Attention over a cache decodes, other attention reads
/// prompts, and most products have the tokens of the step as the first dimension of their first
/// tensor. Adds nothing to a rank with marks, to one whose kernels no server runs, and for steps
/// whose phase or tokens are unknown.
void InferServingMarks(RankTrace& trace);

/// Kernels that choose tokens, by row: launched within a function or range whose name says so
/// ("vllm/v1/sample/sampler.py(90): forward"), or named so themselves (ArgMax, Multinomial). Where
/// the host is not recorded the name of the kernel alone tells.
std::vector<bool> FindSampling(const RankTrace& trace);

}  // namespace mpa
