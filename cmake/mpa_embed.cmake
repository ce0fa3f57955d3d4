# Texts that are part of the program.

# mpa_embed(<room> <name>=<file>... [PACKED <name>=<file>...]): the room gets `constexpr std::string_view <name>` of each
# file, and `constexpr Packed <name>` of large ones, in embedded/<room>.h of the build folder. The files are read when the
# program is built.
function(mpa_embed room)
  set(header ${CMAKE_BINARY_DIR}/embedded/${room}.h)
  set(files ${ARGN})
  list(REMOVE_ITEM files PACKED)
  list(TRANSFORM files REPLACE "^[^=]*=" "")
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DHEADER=${header} "-DENTRIES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded.cmake
    VERBATIM)
  target_sources(mpa_${room} PRIVATE ${header})
  target_include_directories(mpa_${room} PRIVATE ${CMAKE_BINARY_DIR})
endfunction()

# What draws the charts of pages: one version, whose contents are known. Another one has to be looked at before it
# goes into pages that people pass on.
set(MPA_D3_VERSION 5.16.0)
set(MPA_D3_SHA256 63cdc8691107d063922c58ece1b9b4eeb9fef305429a55d3d962eea0812f1e03)
find_file(MPA_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist REQUIRED)
find_file(MPA_D3_LICENCE copyright PATHS /usr/share/doc/node-d3 REQUIRED)
file(SHA256 ${MPA_D3} sum)
if(NOT sum STREQUAL MPA_D3_SHA256)
  message(FATAL_ERROR "${MPA_D3} is not D3 ${MPA_D3_VERSION} as Debian 12 has it; see cmake/mpa_embed.cmake")
endif()
