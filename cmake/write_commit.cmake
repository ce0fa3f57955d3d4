# Writes HEADER with the commit of the sources in ROOT, if it does not say so already. Sources that
# are no checkout of git have the commit "unknown".
function(ask_git variable)
  execute_process(COMMAND git -C ${ROOT} ${ARGN}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(answer "")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

ask_git(commit rev-parse --short=12 HEAD)
ask_git(date show -s --format=%cd --date=short HEAD)
ask_git(changes status --porcelain --untracked-files=no)
if(NOT commit)
  set(commit unknown)
elseif(changes)
  string(APPEND commit " with changes")
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT "#pragma once
#define MPA_COMMIT \"@commit@\"
#define MPA_COMMIT_DATE \"@date@\"
")
