// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <simdjson.h>
#include <sqlite3.h>
#include <xlsxwriter.h>
#include <zlib.h>

#include <CLI/Version.hpp>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "mpa/base/commit.h"
#include "mpi_job.h"

namespace mpa {
namespace {

constexpr const char* kArchitecture =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "unknown";
#endif

constexpr const char* kCompiler =
#if defined(__clang__)
    "Clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

// Whether libc and the libraries are part of the program.
constexpr const char* kLinked =
#if defined(MPA_STATIC)
    "static";
#else
    "dynamic";
#endif

std::string NumbersText(std::initializer_list<int> numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

// The kernels of simdjson that fit the processor best: they are chosen at the first use.
std::string ActiveKernel() {
  [[maybe_unused]] const bool valid = simdjson::validate_utf8("", 0);
  const simdjson::implementation& kernel = *simdjson::get_active_implementation();
  return fmt::format("{} ({})", kernel.name(), kernel.description());
}

}  // namespace

std::string VersionText() {
  const std::string fmt_version =
      NumbersText({FMT_VERSION / 10'000, FMT_VERSION / 100 % 100, FMT_VERSION % 100});
  const std::string simdjson_version =
      NumbersText({simdjson::SIMDJSON_VERSION_MAJOR, simdjson::SIMDJSON_VERSION_MINOR,
                   simdjson::SIMDJSON_VERSION_REVISION});
  const std::string json_version = NumbersText(
      {NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH});
  const std::string mpi = MpiLibrary();
  return fmt::format(
      "msprof-analyze {}\n"
      "commit        {}\n"
      "architecture  {}, {}\n"
      "compiler      {}\n"
      "libraries     glibc {}, SQLite {}, zlib {}, fmt {}, simdjson {},\n"
      "              libxlsxwriter {}, nlohmann_json {}, CLI11 {}\n"
      "MPI           {}\n"
      "JSON kernel   {}\n",
      MPA_VERSION, BuildCommit(), kArchitecture, kLinked, kCompiler, gnu_get_libc_version(),
      sqlite3_libversion(), zlibVersion(), fmt_version, simdjson_version, lxw_version(),
      json_version, CLI11_VERSION, mpi.empty() ? "none" : mpi, ActiveKernel());
}

}  // namespace mpa
