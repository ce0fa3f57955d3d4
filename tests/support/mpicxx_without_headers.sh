#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler of Open MPI on a machine that has it without its headers.
case "$1" in
  -showme:compile) echo -I/nowhere/openmpi/include ;;
  -showme:incdirs) echo /nowhere/openmpi/include ;;
  -showme:link) echo -L/nowhere/openmpi/lib -lmpi ;;
  -showme:libdirs) echo /nowhere/openmpi/lib ;;
  -showme:libs) echo mpi ;;
  -showme:*) exit 1 ;;
  *) exec c++ -I/nowhere/openmpi/include "$@" -L/nowhere/openmpi/lib -lmpi ;;
esac
