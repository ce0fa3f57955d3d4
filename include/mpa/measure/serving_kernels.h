// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/model/serving_batch.h"

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

/// A step of a server that names what its steps consist of, on the host, from the begin of the
/// first range to the end of the last one.
struct StageStep {
  TimeNs start = 0, end = 0;
  ServingPhase phase = ServingPhase::kUnknown;  ///< as the ranges tell it
};
/// Steps that begin with "prepare input" and go on with "forward", "post process", "sample_token"
/// or "draft_token" (vllm-ascend), that begin with "gpu_model_runner: preprocess" and go on with
/// other ranges of that prefix (vLLM), or that are "modelExec" (msServiceProfiler, for MindIE, vLLM
/// and SGLang). In order of time; of one of them.
std::vector<StageStep> FindStageSteps(const RankTrace& trace);

/// What kernels of attention do that read prompts and decode, by the tensors that they get: a query
/// has one token of each request, or more. The requests are the rows of the table of blocks, an
/// integer matrix. kUnknown where the shapes do not tell.
ServingPhase PhaseOfFusedAttention(std::string_view shapes, std::string_view types);

/// Marks the steps of a server that gives them no names: those of FindStageSteps(), else those of
/// the profiler, without them the launches of graphs that hold attention. Attention over a cache
/// decodes, other attention reads prompts, and most products have the tokens of the step as the
/// first dimension of their first tensor. A graph that is launched three times or more with the
/// same kernels, and attends to a cache, decodes, whatever is known of its tensors. Adds nothing to
/// a rank with marks, to one whose kernels no server runs, and, but for steps with names, nothing
/// where phase or tokens are unknown.
void InferServingMarks(RankTrace& trace);

/// Kernels that choose tokens, by row: launched within a function or range whose name says so
/// ("vllm/v1/sample/sampler.py(90): forward"), or named so themselves (ArgMax, Multinomial). Where
/// the host is not recorded the name of the kernel alone tells.
std::vector<bool> FindSampling(const RankTrace& trace);

}  // namespace mpa
