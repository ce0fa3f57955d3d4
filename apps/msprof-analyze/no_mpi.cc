// SPDX-License-Identifier: Apache-2.0
// In place of mpi_job.cc in programs without MPI.
#include "mpa/base/error.h"
#include "mpi_job.h"

namespace mpa {

std::string MpiLibrary() { return ""; }

Shard ShareOfMpi() {
  Fail(ErrorKind::kUsage,
       "--mpi: this program was built without MPI; leave --mpi out and give mpirun a directory -o"
       " that all machines see, or use --shard I/N and merge: see docs/cluster.md");
}

int RunMpiJob(const std::filesystem::path& /*directory*/, const MakeParts& /*make*/,
              const MergeParts& /*merge*/) {
  Fail(ErrorKind::kInternal, "built without MPI");
}

}  // namespace mpa
