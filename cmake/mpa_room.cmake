# The headers that most files of all rooms include, compiled once: a tenth of the time of small rooms. Not in
# the preset debug, which would not notice that a file lacks one of them.
if(MPA_UNITY)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "")
  add_library(mpa_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(mpa_precompiled PRIVATE fmt::fmt mpa_compiler)
  target_precompile_headers(mpa_precompiled PRIVATE
    <fmt/format.h> <algorithm> <functional> <map> <optional> <span> <string> <unordered_map> <vector>)
endif()

# Compiles the sources of a target together, those of one room in one go, since most of the time of a
# compiler goes into headers. Names in unnamed namespaces have to differ within a room for that. The
# preset debug and scripts/tidy.sh compile each file by itself, so that no file lives on the includes
# of another.
function(mpa_unity target)
  if(NOT MPA_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH room ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    get_filename_component(room ${room} DIRECTORY)
    string(REGEX REPLACE "/.*" "" room "${room}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "sources_${room}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes the files of a unit for headers, and loses track of what std::variant holds.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>")
endfunction()

# mpa_room(<name> [HOT] ROOMS <room>... LIBS <target>... THIRD_PARTY <header prefix>...)
#
# A room is a static library mpa_<name> (alias mpa::<name>, with "::" for "/") made of the files in src/<name>/ and
# include/mpa/<name>/; folders within are rooms of their own, named recipes/<recipe>. ROOMS are the
# only rooms whose public headers it may include, THIRD_PARTY the only third-party headers; the test
# layers.<name> fails on any other include. Rooms stand above all that they use, so no two use each
# other, whatever lies between them. HOT rooms have the loops over the events of captures.
function(mpa_room name)
  cmake_parse_arguments(ROOM "HOT" "" "ROOMS;LIBS;THIRD_PARTY" ${ARGN})
  get_property(rooms GLOBAL PROPERTY mpa_rooms)
  foreach(used ${ROOM_ROOMS})
    if(NOT used IN_LIST rooms)
      message(FATAL_ERROR "room '${name}' uses '${used}', which is not listed before it")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY mpa_rooms ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  string(REPLACE "/" "_" target mpa_${name})
  string(REPLACE "/" "::" alias mpa::${name})
  list(TRANSFORM ROOM_ROOMS PREPEND mpa:: OUTPUT_VARIABLE neighbours)
  list(TRANSFORM neighbours REPLACE "/" "::")
  if(MPA_UNITY AND name MATCHES "^recipes/")  # mpa_recipe_batches() compiles it
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${neighbours} ${ROOM_LIBS})
  else()
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${target} PUBLIC ${neighbours} ${ROOM_LIBS} PRIVATE mpa_compiler)
    mpa_unity(${target})
    if(ROOM_HOT)
      target_compile_options(${target} PRIVATE
        $<$<CONFIG:Release>:-O2> $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-fthread-jumps>)
    elseif(MPA_UNITY)  # GCC needs precompiled headers of the same optimisation
      target_precompile_headers(${target} REUSE_FROM mpa_precompiled)
    endif()
  endif()
  add_library(${alias} ALIAS ${target})
  if(MPA_BUILD_TESTS)
    add_test(NAME layers.${name}
      COMMAND ${CMAKE_COMMAND}
        -DROOT=${CMAKE_SOURCE_DIR} -DROOM=${name}
        "-DROOMS=${ROOM_ROOMS}" "-DTHIRD_PARTY=${ROOM_THIRD_PARTY}"
        -P ${CMAKE_SOURCE_DIR}/cmake/check_layers.cmake)
  endif()
endfunction()

# mpa_recipe(<name> ROOMS <room>... LIBS <target>... THIRD_PARTY <header prefix>...)
#
# The room recipes/<name>. ROOMS, LIBS and THIRD_PARTY are what it uses beside that which every recipe may.
function(mpa_recipe name)
  cmake_parse_arguments(RECIPE "" "" "ROOMS;LIBS;THIRD_PARTY" ${ARGN})
  mpa_room(recipes/${name}
    ROOMS base capture measure model recipe report ${RECIPE_ROOMS}
    LIBS ${RECIPE_LIBS}
    THIRD_PARTY fmt/ ${RECIPE_THIRD_PARTY})
endfunction()

# Makes a room of each folder of recipes/ that is none yet.
function(mpa_other_recipes)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/recipes
    ${CMAKE_CURRENT_SOURCE_DIR}/recipes/*/*.cc)
  foreach(source ${sources})
    get_filename_component(name ${source} DIRECTORY)
    get_property(rooms GLOBAL PROPERTY mpa_rooms)
    if(NOT recipes/${name} IN_LIST rooms)
      mpa_recipe(${name})
    endif()
  endforeach()
endfunction()

# With unity the room recipes compiles the sources of the rooms recipes/<recipe>, several in one go: by itself each costs
# mostly headers. A batch is full at 90 kB of sources. Each recipe has a namespace of its own, so that names may be equal.
function(mpa_recipe_batches)
  if(NOT MPA_UNITY)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/recipes/*/*.cc)
  set(batch 1)
  set(bytes 0)
  set(folder "")
  foreach(source ${sources})
    get_filename_component(folder_of_source ${source} DIRECTORY)
    if(NOT folder_of_source STREQUAL folder AND bytes GREATER 90000)
      math(EXPR batch "${batch} + 1")
      set(bytes 0)
    endif()
    set(folder ${folder_of_source})
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "batch_${batch}")
  endforeach()
  target_sources(mpa_recipes PRIVATE ${sources})
endfunction()

# The room recipes gets embedded/recipes.h: MPA_RECIPES(X) has X(R, F) for each function F() in the folder R of recipes/
# that makes a recipe; its namespace has the name of the folder.
function(mpa_recipe_list)
  set(header ${CMAKE_BINARY_DIR}/embedded/recipes.h)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/recipes/*/*.cc)
  add_custom_command(OUTPUT ${header}.stamp
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${CMAKE_CURRENT_SOURCE_DIR}/recipes -D HEADER=${header}
            -P ${CMAKE_SOURCE_DIR}/cmake/write_recipe_list.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${header}.stamp
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/cmake/write_recipe_list.cmake
    BYPRODUCTS ${header}
    COMMENT "")
  target_sources(mpa_recipes PRIVATE ${header}.stamp)
  target_include_directories(mpa_recipes PRIVATE ${CMAKE_BINARY_DIR})
endfunction()

# After the last mpa_room(): the test layers.rooms fails on a folder that is no room, and on an include
# that no test of a room sees.
function(mpa_check_rooms)
  get_property(rooms GLOBAL PROPERTY mpa_rooms)
  add_test(NAME layers.rooms
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} "-DROOMS=${rooms}" -P ${CMAKE_SOURCE_DIR}/cmake/check_rooms.cmake)
endfunction()
