// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/raw/session.h"

/// The files of WriteText(). Each function writes one, or none where the capture has nothing for
/// it, and throws Error (kOutput) that names the file.
namespace mpa::profiler_output {

void WriteTraceView(const raw::Session& session, const std::filesystem::path& path);
void WriteKernelDetails(const raw::Session& session, const std::filesystem::path& path);
void WriteOperatorDetails(const raw::Session& session, const std::filesystem::path& path);
void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& path);
void WriteApiStatistic(const raw::Session& session, const std::filesystem::path& path);
void WriteStepTraceTime(const raw::Session& session, const std::filesystem::path& path);
void WriteOperatorMemory(const raw::Session& session, const std::filesystem::path& path);
void WriteMemoryRecord(const raw::Session& session, const std::filesystem::path& path);
void WriteModuleMemory(const raw::Session& session, const std::filesystem::path& path);
void WriteHccs(const raw::Session& session, const std::filesystem::path& path);
void WritePcie(const raw::Session& session, const std::filesystem::path& path);
void WriteNic(const raw::Session& session, const std::filesystem::path& path);
void WriteRoce(const raw::Session& session, const std::filesystem::path& path);
void WriteL2Cache(const raw::Session& session, const std::filesystem::path& path);
void WriteTaskTime(const raw::Session& session, const std::filesystem::path& path);
void WriteDataPreprocess(const raw::Session& session, const std::filesystem::path& path);
void WriteInputQueue(const raw::Session& session, const std::filesystem::path& path);
void WriteCommunication(const raw::Session& session, const std::filesystem::path& path);
void WriteCommunicationMatrix(const raw::Session& session, const std::filesystem::path& path);

}  // namespace mpa::profiler_output
