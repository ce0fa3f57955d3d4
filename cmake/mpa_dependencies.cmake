# Third-party libraries, all from the distribution. Each gets one target name here; the rooms that
# may use it are listed in src/CMakeLists.txt.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

find_path(MPA_CSV_INCLUDE csv.h PATH_SUFFIXES libfccp fast-cpp-csv-parser REQUIRED)
if(MPA_SANITIZE)
  # The parser's buffer of 48 MB is free to allocate, but the address sanitizer marks every byte of it,
  # which took more than half of a test's time. The copy has a buffer of 3 MB, for lines of up to 1 MB.
  file(READ ${MPA_CSV_INCLUDE}/csv.h header)
  string(REPLACE "block_len = 1<<24;" "block_len = 1<<20;" smaller "${header}")
  if(smaller STREQUAL header)
    message(FATAL_ERROR "${MPA_CSV_INCLUDE}/csv.h: block_len is not where it was; see cmake/mpa_dependencies.cmake")
  endif()
  set(MPA_CSV_INCLUDE ${PROJECT_BINARY_DIR}/csv)
  file(WRITE ${MPA_CSV_INCLUDE}/csv.h "${smaller}")
endif()
add_library(mpa_csv INTERFACE)
target_include_directories(mpa_csv SYSTEM INTERFACE ${MPA_CSV_INCLUDE})
# The parser's own reading thread would escape the --jobs budget.
target_compile_definitions(mpa_csv INTERFACE CSV_IO_NO_THREAD)

if(MPA_STATIC_ROOT)
  if(MPA_MPI)
    message(FATAL_ERROR "MPA_MPI: libraries of MPI cannot be linked into a static program; leave MPA_STATIC_ROOT out")
  endif()
  include(mpa_static)
  return()
endif()
find_package(fmt REQUIRED)
find_package(SQLite3 3.38 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)

find_path(MPA_XLSXWRITER_INCLUDE xlsxwriter.h REQUIRED)
find_library(MPA_XLSXWRITER_LIBRARY xlsxwriter REQUIRED)
add_library(mpa_xlsxwriter INTERFACE)
target_include_directories(mpa_xlsxwriter SYSTEM INTERFACE ${MPA_XLSXWRITER_INCLUDE})
target_link_libraries(mpa_xlsxwriter INTERFACE ${MPA_XLSXWRITER_LIBRARY})

find_path(MPA_EDIT_INCLUDE histedit.h REQUIRED)
find_library(MPA_EDIT_LIBRARY edit REQUIRED)
add_library(mpa_edit INTERFACE)
target_include_directories(mpa_edit SYSTEM INTERFACE ${MPA_EDIT_INCLUDE})
target_link_libraries(mpa_edit INTERFACE ${MPA_EDIT_LIBRARY})

# Of the C++ library only what is C: the rest was taken out of MPI.
set(MPI_CXX_SKIP_MPICXX ON)
if(MPA_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
elseif(NOT MPA_SANITIZE)
  # Login nodes have the compiler of MPI often without its headers. CMake then stops at the folders that it names, so
  # it is asked for MPI only where a program compiles.
  find_program(MPI_CXX_COMPILER NAMES mpicxx mpic++)
  set(includes_mpi ${PROJECT_BINARY_DIR}/includes_mpi.cc)
  file(CONFIGURE OUTPUT ${includes_mpi} CONTENT "#include <mpi.h>\n")
  execute_process(COMMAND ${MPI_CXX_COMPILER} -Werror=missing-include-dirs -fsyntax-only ${includes_mpi}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
endif()
