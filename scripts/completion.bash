# Completion of Slurm's commands and of slurm-shim itself for bash 4 and newer. The build appends
# the tables that it works from; nothing here knows an option.
# shellcheck shell=bash disable=SC2154

# A question to one of the commands, beside the one that is being completed; never for long.
_slurm_shim_ask() {
  local command=$1
  shift
  timeout 2 "$directory$command" "$@" 2>/dev/null </dev/null
}

_slurm_shim_value_words() { # kind of values
  case $1 in
    partitions) _slurm_shim_ask sinfo -h -o %R ;;
    nodes) _slurm_shim_ask sinfo -h -N -o %N ;;
    jobs) _slurm_shim_ask squeue --me -h -o %i ;;
    fields) _slurm_shim_ask "$command" --helpformat ;;
    states) echo "$_slurm_shim_states" ;;
    nodestates) echo "$_slurm_shim_nodestates" ;;
    signals) echo "$_slurm_shim_signals" ;;
    *'|'*) echo "${1//|/ }" ;;
  esac
}

# Replies with what may stand where `typed` stands. `lead` is what bash keeps in front of it.
_slurm_shim_reply() { # candidates, typed, lead
  local list
  list=$(compgen -W "$1" -- "$2")
  [[ -n $list ]] || return 0
  local IFS=$'\n' item
  local -A seen=()
  for item in $list; do
    [[ -n ${seen[$item]-} ]] || COMPREPLY+=("$3$item")
    seen[$item]=1
  done
}

_slurm_shim_reply_value() { # kind, typed, lead
  local last=${2##*,}
  if [[ $1 == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -P "$3" -- "$2")
    return
  fi
  _slurm_shim_reply "$(_slurm_shim_value_words "$1")" "$last" "$3${2%"$last"}"
}

# The row of --name or of a letter, in `row_name row_arity row_values`; false when there is none.
_slurm_shim_find() { # name or letter
  local row rest letter
  for row in $rows; do
    row_name=${row%%:*} rest=${row#*:} letter=${row##*:}
    row_arity=${rest%%:*} rest=${rest#*:} row_values=${rest%:*}
    [[ $1 == "$row_name" || $1 == "$letter" ]] && return 0
  done
  return 1
}

# Whether the word asks for the next one as its value.
_slurm_shim_wants_value() { # word
  local row_name row_arity row_values i
  case $1 in
    --*=*) return 1 ;;
    --*) _slurm_shim_find "${1#--}" && [[ $row_arity == r ]] ;;
    *)
      for ((i = 1; i < ${#1}; i++)); do
        _slurm_shim_find "${1:i:1}" || return 1
        [[ $row_arity == n ]] || { [[ $row_arity == r && $i -eq $((${#1} - 1)) ]]; return; }
      done
      return 1 ;;
  esac
}

_slurm_shim_options() { # typed
  local row rest list=''
  for row in $rows; do
    rest=${row#*:}
    if [[ ${rest%%:*} == r ]]; then list+=" --${row%%:*}="; else list+=" --${row%%:*}"; fi
  done
  _slurm_shim_reply "$list" "$1" ''
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}

# The words behind a command such as scontrol or scancel.
_slurm_shim_operands() { # typed, operands before it...
  local typed=$1 verb list=''
  shift
  if [[ -n $verbs ]]; then
    for verb in $verbs; do
      if [[ $# -eq 0 ]]; then
        list+=" ${verb%%:*}"
      elif [[ $# -eq 1 && ${verb%%:*} == "$1" ]]; then
        list+=" ${verb#*:}"
      fi
    done
    if [[ -n ${list// /} ]]; then
      _slurm_shim_reply "$list" "$typed" ''
    elif [[ $# -gt 0 ]]; then
      case "$1 ${2-}" in
        'show node'*) _slurm_shim_reply_value nodes "$typed" '' ;;
        'show partition'*) _slurm_shim_reply_value partitions "$typed" '' ;;
        'show job'* | 'show step'* | hold* | release* | requeue* | suspend* | resume* | top* | wait_job* | 'write batch_script'*)
          _slurm_shim_reply_value jobs "$typed" '' ;;
      esac
    fi
    return
  fi
  case $command in
    scancel) _slurm_shim_reply_value jobs "$typed" '' ;;
    srun | salloc)
      if [[ $# -eq 0 && $typed != */* ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$typed")
      else
        _slurm_shim_reply_value files "$typed" ''
      fi ;;
    sbatch | sbcast) _slurm_shim_reply_value files "$typed" '' ;;
  esac
}

_slurm_shim() {
  local command=${1##*/} directory='' rows='' verbs='' word raw typed lead i
  local row_name row_arity row_values value_of='' closed=''
  local -a words=() operands=()
  COMPREPLY=()
  [[ $1 != */* ]] || directory=${1%/*}/

  # bash has cut the line at '=' and ':' too; put it together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 1 && ($word == [=:] || ${COMP_WORDS[i - 1]} == [=:]) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  typed=${words[${#words[@]} - 1]}
  raw=${COMP_WORDS[COMP_CWORD]}
  [[ $raw != [=:] ]] || raw=''
  lead=${typed%"$raw"}

  if [[ $command == slurm-shim ]]; then
    if [[ ${#words[@]} -eq 2 ]]; then
      _slurm_shim_reply "$_slurm_shim_commands" "$typed" ''
      return
    fi
    words=("${words[@]:1}")
    command=${words[0]}
  fi
  _slurm_shim_table "$command"
  [[ -n $rows ]] || return 0

  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ -n $value_of ]]; then
      value_of=''
    elif [[ -z $closed && $word == -- ]]; then
      closed=1
    elif [[ -z $closed && $word == -?* ]]; then
      if _slurm_shim_wants_value "$word"; then value_of=$word; fi
    else
      operands+=("$word")
      # What follows a script or a program is its own.
      case $command in sbatch | srun | salloc) closed=1 ;; esac
    fi
  done

  if [[ -n $value_of ]]; then
    case $value_of in
      --*) _slurm_shim_find "${value_of#--}" ;;
      *) _slurm_shim_find "${value_of: -1}" ;;
    esac
    _slurm_shim_reply_value "$row_values" "$typed" ''
  elif [[ -z $closed && $typed == --*=* ]]; then
    word=${typed%%=*}
    if _slurm_shim_find "${word#--}"; then
      _slurm_shim_reply_value "$row_values" "${typed#*=}" "$word="
    fi
  elif [[ -z $closed && $typed == -[!-]?* ]] && _slurm_shim_find "${typed:1:1}" && [[ $row_arity != n ]]; then
    _slurm_shim_reply_value "$row_values" "${typed:2}" "${typed:0:2}"
  elif [[ -z $closed && $typed == -* ]]; then
    _slurm_shim_options "$typed"
  else
    _slurm_shim_operands "$typed" "${operands[@]}"
  fi
  # What bash has cut off is there already.
  for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$lead"}; done
}
