# Fails when a folder with sources below src or include/mpa is no room, so that no layers.<room> test
# looks at its includes, and when a file includes another by a path that leads out of its folder. Run
# by the test layers.rooms; see mpa_room.cmake.
cmake_minimum_required(VERSION 3.22)
set(bad "")
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.cc ${ROOT}/src/*.h ${ROOT}/include/*.h
  ${ROOT}/apps/*.cc ${ROOT}/apps/*.h)
foreach(file ${files})
  get_filename_component(folder ${file} DIRECTORY)
  string(REGEX REPLACE "^(src|include/mpa)/" "" room ${folder})
  if(NOT folder MATCHES "^apps/" AND NOT room IN_LIST ROOMS)
    list(APPEND bad "${file}: ${folder} is no room of src/CMakeLists.txt")
  endif()
  file(STRINGS ${ROOT}/${file} outside REGEX "^[ \t]*#[ \t]*include[ \t]*\"(\\.\\./|[^\"]*/\\.\\./)")
  foreach(line ${outside})
    list(APPEND bad "${file}: ${line} leads out of its folder")
  endforeach()
endforeach()
if(bad)
  list(JOIN bad "\n  " text)
  message(FATAL_ERROR "not covered by the tests of layers:\n  ${text}")
endif()
