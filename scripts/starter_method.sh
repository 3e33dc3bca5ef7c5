#!/bin/bash -p
# The queue's starter_method: every job and every parallel task of the queue starts through it, with
# the command as its arguments. It tells them apart, gives a batch job the environment that the PE
# hook made, and hands the script to its supervisor. Rules: docs/job-files.md.
#
# -p: the user's BASH_ENV is not run here and his exported functions pass untouched. Nothing here
# may write to stdout or read stdin (both are the job's), assign a variable that a job could have
# exported, or end with 99 or 100 (the engine would requeue the job or put it into error state).

# 1, 2: the launcher's stepper, and any other task of a parallel job, start as they are. 8.1.9 sets
# no SGE_PE_TASK_ID, but on every engine the folder of a task lies below that of its job.
if [[ ${1-} == /* && ${2-} == stepper && ${3-} == --envelope || -n ${SGE_PE_TASK_ID-} ||
  ${SGE_JOB_SPOOL_DIR-} == */active_jobs/*/* ]]; then
  exec -- "$@"
fi

# 3: what the engine itself would have run: a script by the shell, a command (qsub -b y) as it is.
if [[ -n ${SGE_STARTER_SHELL_PATH-} && ${SGE_STARTER_SHELL_START_MODE-} != unix_behavior ]] &&
  [[ ${1-} == -s || ${1-} == */job_scripts/* ]]; then
  set -- "$SGE_STARTER_SHELL_PATH" "$@"
fi

_slurm_shim_dir=${TMPDIR:-/tmp}/slurm_shim

# 4: the folder and the files must be this user's alone: first the folder, then plain files.
_slurm_shim_check() {
  local files=("$_slurm_shim_dir") file status wanted=4 i
  for file in environment.failed environment batch.json; do
    file=$_slurm_shim_dir/$file
    [[ -e $file || -L $file ]] && files+=("$file")
  done
  # Raw mode in hexadecimal: names of file types depend on the language.
  mapfile -t status <<<"$(PATH=/usr/bin:/bin && exec stat -c '%f %u' -- "${files[@]}" 2>/dev/null)"
  for i in "${!files[@]}"; do
    if [[ ! ${status[i]-} =~ ^$wanted...\ $EUID$ ]] || ((0x${status[i]%% *} & 0022)); then
      printf '%s\n' "slurm-shim: warning: ${files[i]} is not private to this user, ignored" >&2
      return 1
    fi
    wanted=8
  done
}
if [[ ! -e $_slurm_shim_dir && ! -L $_slurm_shim_dir ]] || ! _slurm_shim_check; then
  _slurm_shim_dir=
fi

_slurm_shim_fail() {
  printf '%s\n' "slurm-shim: error: $1" >&2
  exit 1
}

# 5: the hook failed. The supervisor tells so in the user's own output file.
if [[ -n $_slurm_shim_dir && -e $_slurm_shim_dir/environment.failed ]]; then
  if [[ -e $_slurm_shim_dir/batch.json ]]; then
    exec -a slurm-shim -- "$_slurm_shim_dir/shim" batch-exec -- "$@"
  fi
  read -r _slurm_shim_reason <"$_slurm_shim_dir/environment.failed"
  _slurm_shim_fail "${_slurm_shim_reason:-the PE hook failed}"
fi

# 6: the hook made nothing: another PE, or none.
if [[ -z $_slurm_shim_dir || ! -e $_slurm_shim_dir/environment ]]; then
  if [[ -n ${SLURM_SHIM_REQ-} ]]; then
    _slurm_shim_fail "the PE hook did not run (queue's PE has no start_proc_args?)"
  fi
  exec -- "$@"
fi

# 7: the job's environment, then its supervisor; a job from plain qsub has none.
# shellcheck disable=SC1091
. "$_slurm_shim_dir/environment"
if [[ -e $_slurm_shim_dir/batch.json ]]; then
  exec -a slurm-shim -- "$_slurm_shim_dir/shim" batch-exec -- "$@"
fi
unset SLURM_SHIM_REQ SLURM_SHIM_TOKEN
exec -- "$@"
