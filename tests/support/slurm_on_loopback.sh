#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command within a Slurm of four nodes, all of them this machine.
#
#     slurm_on_loopback.sh DIR COMMAND...
#
# DIR takes keys, state and logs; what is in it is removed. srun and sbatch of COMMAND use this Slurm alone.
# Exit status: that of COMMAND; 77 if Slurm is not installed or this user may not start it, 1 if it
# does not come up.
set -u
state=$1
shift
mkdir -p "$state"
PATH=${PATH}:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun; do
  command -v "$program" > "$state/found" || { echo "SKIPPED: no $program (Debian: slurm-wlm munge)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: slurmd needs the rights of root"; exit 77; }

rm -rf "$state"
mkdir -p "$state"
chmod 755 "$state"
mkdir -p "$state/munge" "$state/save"
dd if=/dev/urandom of="$state/munge/key" bs=1024 count=1 2> "$state/found"
chmod 700 "$state/munge"
chmod 400 "$state/munge/key"
munged --force --foreground --key-file="$state/munge/key" --socket="$state/socket" --pid-file="$state/munge/pid" \
  --log-file="$state/munge/log" --seed-file="$state/munge/seed" > "$state/munge/out" 2>&1 &
pids=$!
# Five ports that nobody has: below those that the kernel gives to connections (from 32768), and not in use.
base=$((20000 + $$ % 2500 * 5))
while for port in 0 1 2 3 4; do printf ':%04X .* 0A \n' $((base + port)); done | grep -q -f - /proc/net/tcp; do
  base=$((20000 + (base - 20000 + 5) % 12500))
done
host=$(hostname -s)
cat > "$state/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$state/socket
CredType=cred/munge
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool.%n
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.%n.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 1))-$((base + 4))] CPUs=2 RealMemory=1024
PartitionName=all Nodes=n[1-4] Default=YES State=UP
END
export SLURM_CONF="$state/slurm.conf"
trap 'kill -9 $pids 2> "$state/found"; wait' EXIT
tries=0
until [ -S "$state/socket" ]; do
  tries=$((tries + 1)); [ $tries -lt 50 ] || { echo "munged does not start"; exit 1; }
  sleep 0.1
done
slurmctld -D > "$state/slurmctld.out" 2>&1 &
pids="$pids $!"
for node in n1 n2 n3 n4; do
  slurmd -D -N $node > "$state/$node.out" 2>&1 &
  pids="$pids $!"
done
tries=0
until [ "$(sinfo -h -t idle -o %D 2> "$state/found")" = 4 ]; do
  tries=$((tries + 1))
  [ $tries -lt 150 ] || { echo "Slurm does not come up"; tail -n 3 "$state"/*.log "$state"/*.out; exit 1; }
  sleep 0.2
done
"$@"
