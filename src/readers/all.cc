// SPDX-License-Identifier: Apache-2.0
// The list of readers. Plain calls: nothing for the linker to drop, and the order can be seen.
// CacheUseCsv() adds to the kernels that KernelDetailsCsv() read, and SchedulerTrace() knows the
// threads of the rank by what the others read.
#include "mpa/readers/reader.h"

namespace mpa {
namespace readers {

Reader ProfilerDb();
Reader TraceView();
Reader KinetoTrace();
Reader NpuKinetoTrace();
Reader KernelDetailsCsv();
Reader CacheUseCsv();
Reader MemoryRecordCsv();
Reader OperatorMemoryCsv();
Reader OpStatisticCsv();
Reader StepTraceTimeCsv();
Reader ModuleMemoryCsv();
Reader CommunicationJson();
Reader CommunicationMatrixJson();
Reader AnalysisDb();
Reader ProfilerMetadataJson();
Reader DeviceInfoJson();
Reader RawCapture();
Reader SystemCallsCsv();
Reader LockTrace();
Reader FunctionLog();
Reader SchedulerTrace();
Reader ServerTable();
Reader MemorySnapshot();

}  // namespace readers

const std::vector<Reader>& AllReaders() {
  static const std::vector<Reader> all = {
      readers::ProfilerDb(),
      readers::TraceView(),
      readers::KinetoTrace(),
      readers::NpuKinetoTrace(),
      readers::KernelDetailsCsv(),
      readers::CacheUseCsv(),
      readers::MemoryRecordCsv(),
      readers::OperatorMemoryCsv(),
      readers::OpStatisticCsv(),
      readers::StepTraceTimeCsv(),
      readers::ModuleMemoryCsv(),
      readers::CommunicationJson(),
      readers::CommunicationMatrixJson(),
      readers::AnalysisDb(),
      readers::RawCapture(),
      readers::ProfilerMetadataJson(),
      readers::DeviceInfoJson(),
      readers::SystemCallsCsv(),
      readers::LockTrace(),
      readers::FunctionLog(),
      readers::SchedulerTrace(),
      readers::ServerTable(),
      readers::MemorySnapshot(),
  };
  return all;
}

}  // namespace mpa
