#!/usr/bin/env bash
# Runs an experiment with several client processes, on this machine or on others: experiment.sh with --ranks, and what
# that needs installed and built first. The server runs where this script does; start it there.
#
# Usage: scripts/cluster.sh NAME|FILE.toml --ranks N [OPTION...]     all options of experiment.sh, and:
#   --ranks N            so many client processes, which measure together; in-flight counts and rates are divided
#   --hosts A,B:4|@FILE  the client machines, with how many on each; @FILE: one on a line ('a slots=4'). In a Slurm job
#                        the machines of the job but this one
#   --launcher mpirun|srun|none  what starts them (default: srun in a Slurm job, mpirun with --hosts, else none: each by
#                        itself, agreeing through files)
#   --launch COMMAND     with --launcher none: what a client's command is put behind, such as 'timeout 60 ssh {host}'.
#                        Where ssh, rsh, pdsh or the like is named in it, the command is quoted for the shell on the other
#                        machine; {command} in it stands for the command, quoted as one word: 'my-remote {host} {command}'
#   --client-cpus LIST[;LIST...]  CPUs of the client processes of a machine, in turn
#   --server-address NAME  by which they reach the server (default this machine's host name)
#   --help
# The folder of results (--results DIR) and the programs must be on a file system that all machines see. Results and
# exit status are those of experiment.sh; each process's own file stays in ranks/ of the folder of results.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

help_if_asked "$0" "$@"
has_flag "--ranks --resume --list --template --keys" "$@" || die "--ranks N is missing; see --help"
exec "$ROOT/scripts/experiment.sh" "$@"
