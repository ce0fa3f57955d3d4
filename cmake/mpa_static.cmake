# The same targets as find_package() makes, of the static libraries in MPA_STATIC_ROOT/lib, for a
# program without any shared library. scripts/package.sh puts them there.
# The definitions are those of the shared libraries, so that compilers give the same objects.
function(mpa_archive target name)
  cmake_parse_arguments(ARCHIVE "" "" "DEFINITIONS;LIBS" ${ARGN})
  add_library(${target} STATIC IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${MPA_STATIC_ROOT}/lib/lib${name}.a)
  target_compile_definitions(${target} INTERFACE ${ARCHIVE_DEFINITIONS})
  target_link_libraries(${target} INTERFACE ${ARCHIVE_LIBS})
endfunction()

mpa_archive(ZLIB::ZLIB z)
mpa_archive(SQLite::SQLite3 sqlite3 LIBS m)
mpa_archive(fmt::fmt fmt DEFINITIONS FMT_SHARED)
mpa_archive(simdjson::simdjson simdjson DEFINITIONS SIMDJSON_THREADS_ENABLED=1 LIBS Threads::Threads)
mpa_archive(mpa_xlsxwriter xlsxwriter LIBS ZLIB::ZLIB)
mpa_archive(mpa_bsd bsd)
mpa_archive(mpa_tinfo tinfo)
mpa_archive(mpa_edit edit LIBS mpa_tinfo mpa_bsd)
