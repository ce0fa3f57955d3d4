// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/raw/session.h"

/// The files of WriteText(). Each function writes one, or none where the capture has nothing for
/// it, and throws Error (kOutput) that names the file.
namespace mpa::profiler_output {

void WriteTraceView(const raw::Session& session, const std::filesystem::path& file);
void WriteKernelDetails(const raw::Session& session, const std::filesystem::path& file);
void WriteOperatorDetails(const raw::Session& session, const std::filesystem::path& file);
void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& file);
void WriteApiStatistic(const raw::Session& session, const std::filesystem::path& file);
void WriteStepTraceTime(const raw::Session& session, const std::filesystem::path& file);
void WriteOperatorMemory(const raw::Session& session, const std::filesystem::path& file);
void WriteMemoryRecord(const raw::Session& session, const std::filesystem::path& file);
void WriteModuleMemory(const raw::Session& session, const std::filesystem::path& file);
void WriteTaskTime(const raw::Session& session, const std::filesystem::path& file);
void WriteCommunication(const raw::Session& session, const std::filesystem::path& file);
void WriteCommunicationMatrix(const raw::Session& session, const std::filesystem::path& file);

}  // namespace mpa::profiler_output
