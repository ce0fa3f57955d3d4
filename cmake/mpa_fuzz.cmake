# mpa_fuzz_target(<name> SOURCES <file>... LIBS <target>... [RUNS <n>])
#
# A libFuzzer program fuzz_<name>, whose main file is <name>.cc, and a test fuzz.<name> that runs it
# RUNS times (default 200) from its seeds. The program writes its seeds itself when it is started
# with MPA_FUZZ_WRITE_SEEDS=<directory>. The target fuzzers, which has to be there, builds them all.
# See tests/fuzz/README.md.
function(mpa_fuzz_target name)
  cmake_parse_arguments(FUZZ "" "RUNS" "SOURCES;LIBS" ${ARGN})
  if(NOT FUZZ_RUNS)
    set(FUZZ_RUNS 200)
  endif()
  add_executable(fuzz_${name} ${name}.cc ${FUZZ_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_LIBS} mpa_compiler)
  # libFuzzer wants at least one file that counts what is reached.
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})
  set(seeds ${CMAKE_BINARY_DIR}/fuzz_seeds/${name})
  add_test(NAME fuzz.${name}.seeds COMMAND fuzz_${name})
  set_tests_properties(fuzz.${name}.seeds PROPERTIES
    ENVIRONMENT MPA_FUZZ_WRITE_SEEDS=${seeds}
    FIXTURES_REQUIRED raw_captures FIXTURES_SETUP fuzz_seeds_${name})
  add_test(NAME fuzz.${name}
    COMMAND fuzz_${name} -runs=${FUZZ_RUNS} -seed=1 -timeout=20 -rss_limit_mb=2048 -max_len=65536
            -entropic=0 ${seeds})
  set_tests_properties(fuzz.${name} PROPERTIES
    FIXTURES_REQUIRED "raw_captures;fuzz_seeds_${name}" TIMEOUT 600)
endfunction()
