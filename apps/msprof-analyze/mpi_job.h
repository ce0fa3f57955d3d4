// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mpa/pipeline/parts.h"

/// Processes that mpirun starts and that send their parts to the first of them. mpi_job.cc does it
/// with MPI; no_mpi.cc stands for it in programs without.
namespace mpa {

/// "Open MPI v4.1.4"; empty without MPI.
std::string MpiLibrary();

/// Starts MPI. Gives the share of this process, which is its number. From then on it has to end by
/// RunMpiJob(), or mpirun ends the others. Throws Error (kUsage) without MPI.
Shard ShareOfMpi();

/// Makes parts of the share and gives the files that whoever merges needs.
using MakeParts = std::function<std::vector<std::filesystem::path>()>;

/// Makes one report. `lost`: what is missing, each with its process and the reason. Gives the exit
/// code.
using MergeParts = std::function<int(const std::vector<std::string>& lost)>;

/// Runs `make` in each process, brings all files into `directory` of process 0, and runs `merge`
/// there. What fails in one process costs its share; all of them wait for the report. Gives the
/// exit code of `merge` in process 0, and 0 in the others: mpirun would end process 0 otherwise.
/// Throws in process 0 what `merge` throws, or `make` if no process has a share.
int RunMpiJob(const std::filesystem::path& directory, const MakeParts& make,
              const MergeParts& merge);

}  // namespace mpa
