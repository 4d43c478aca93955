# Read at the first prompt of every session shell. Frames each command for the executor and reports how it ended.
#   descriptor 250: private line to the executor (commands come in, reports go out; fields end in NUL)
#   /dev/tty: two markers in the output itself, C where a command's output begins and D where it ends;
#   written to the terminal and not to stdout, so `exec >file` cannot lose them.
# A shell started inside this one inherits that descriptor, and reads this file when the executor types so.
{ builtin true >&250; } 2>/dev/null || {
  exec 250<&3
  # Those that came along from the executor are nobody's here: the other side of this terminal is among them. Bash keeps its
  # own at the top, and those that a redirection around this loop would have replaced: there must be none.
  for __tendon_fd in /proc/self/fd/*; do
    case ${__tendon_fd##*/} in [012] | 250 | 25[2-5]) ;; *) builtin eval "exec ${__tendon_fd##*/}>&-" ;; esac
  done
  builtin unset __tendon_fd
}
# Where the memory runs out, what the agent starts goes before the executor.
{ builtin echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
# Line ends leave the terminal as they are written: turning each into `\r\n` takes the kernel 20 times as long as all the rest.
builtin command stty -opost </dev/tty >/dev/null 2>&1
builtin unset PROMPT_COMMAND HISTFILE
builtin set +o history +H
PS1='' PS2=''
builtin unset PS0
__tendon_code=0 __tendon_id='' __tendon_running=1 __tendon_trace='' __tendon_command='' __tendon_held=''

# Takes the next command. Keeps `$?` of the one before, as an ordinary prompt does.
__tendon_begin() {
  # A shell that cannot take its command must not run another in its place; the executor starts a new one.
  IFS= builtin read -r -d '' -u 250 __tendon_id && IFS= builtin read -r -d '' -u 250 __tendon_command &&
    IFS= builtin read -r -d '' -u 250 __tendon_given || builtin kill -9 $$
  [[ -z $__tendon_given ]] || builtin eval "$__tendon_given"
  [[ -z $__tendon_held ]] || PS1=''
  __tendon_given='' __tendon_held=''
  __tendon_command="$__tendon_trace$__tendon_command"
  __tendon_running=1
  builtin printf '\e]133;C;%s\a' "$__tendon_id" >/dev/tty
  builtin return "$__tendon_code"
}

# $1: exit code. Reports it with directory and exported variables, then marks the end of the output.
__tendon_end() {
  __tendon_code=$1
  # A quote that a command left open leaves the parser in the middle of a line; one that ends puts it back.
  builtin eval :
  __tendon_forget
  __tendon_trace=''
  case $- in *x*) __tendon_trace='set -x; ' ;; esac
  case $- in *v*) __tendon_trace+=$'set -v\n' ;; esac
  builtin set +xev +o history
  [[ -z ${!-} ]] || __tendon_jobs >/dev/tty
  # Input that the command left unread must not become commands. Counted: where a function of the command's is called
  # `builtin`, none of this reads anything.
  local user='\u' host='\h' reads=20000
  [[ -z $__tendon_held ]] || reads=0
  while ((reads-- > 0)) && builtin read -t 0; do builtin read -r -t 0.05 -n 4096 __tendon_command || builtin break; done </dev/tty
  builtin printf '\0\36%s\0' end >&250
  builtin printf '%s\0' "$__tendon_id" "$1" "$PWD" "${!:--1}" "${user@P}" "${host@P}" >&250
  builtin declare -px >&250
  builtin printf '\0' >&250
  __tendon_arm
  # From here on it has been said; a Ctrl-C before makes the prompt say it once more.
  __tendon_command='' __tendon_running=0
  if builtin printf '\e]133;D;%s;%s\a' "$__tendon_id" "$1" >/dev/tty; then builtin printf '\36marked\0%s\0' "$__tendon_id" >&250; fi
}

# What was given to the command that ended is nobody else's.
__tendon_forget() {
  [[ -z ${__tendon_secrets-} ]] || builtin eval "builtin unset -v$__tendon_secrets"
  __tendon_secrets=''
}

# Says which background jobs have ended, where an ordinary shell says it: before the prompt.
__tendon_jobs() {
  local line
  while IFS= builtin read -r line; do
    # No job is an empty line here.
    [[ -z $line || $line == \[+([0-9])\]*Running* ]] || builtin printf '%s\n' "$line"
  done <<<"$(builtin jobs -n)"
  builtin jobs -n >/dev/null
}

# Runs before every prompt; it has work only where a command was left without reaching its end (Ctrl-C).
__tendon_prompt() {
  local code=$?
  if [[ ${__tendon_running-} == 1 || -n ${__tendon_held-} ]]; then __tendon_end "$code"; else __tendon_arm; fi
}

# Prompts and hooks that a command has changed (venv, starship, an own PROMPT_COMMAND): nothing is shown as a prompt, and
# hooks run after ours, unseen.
__tendon_arm() {
  # Only where there is something to take back: after a syntax error bash prints PS0 from where its old value was.
  [[ -z ${PS0-} ]] || builtin unset PS0
  [[ ${PS1-} == "${__tendon_held-}" ]] || PS1=${__tendon_held-}
  [[ -z ${PS2-} ]] || PS2=''
  [[ ${PROMPT_COMMAND-} == *__tendon_prompt* ]] && builtin return
  local hooks=${PROMPT_COMMAND[*]+"${PROMPT_COMMAND[*]}"}
  builtin unset PROMPT_COMMAND
  PROMPT_COMMAND='{ __tendon_prompt; } 2>/dev/null'
  [[ -z $hooks ]] || PROMPT_COMMAND+=$'; {\n'"$hooks"$'\n} >/dev/null 2>&1'
}

# A person types here until the next command comes: with a prompt, at which it is said each time how the shell stands.
__tendon_hold() { __tendon_held='\w \$ '; } 2>/dev/null

# A shell that ends (`exit`, `set -e`), and one that goes to sleep, leave their variables, functions, aliases and options to the
# next one.
__tendon_leave() {
  __tendon_forget
  builtin printf '\0\36%s\0' "$1" >&250
  builtin printf '%s\0' "$__tendon_id" "$2" "$PWD" >&250
  {
    builtin declare -p; builtin declare -f; builtin alias -p; builtin shopt -p; builtin umask -p
    for __tendon_option in nounset noglob noclobber allexport pipefail; do
      [[ -o $__tendon_option ]] && builtin printf 'builtin set -o %s\n' "$__tendon_option"
    done
  } 2>/dev/null >&250
  builtin printf '\0' >&250
}
__tendon_exit() {
  local code=$?
  __tendon_leave exit "$code"
}
__tendon_state() { __tendon_leave state 0; } 2>/dev/null
builtin trap '{ __tendon_exit; } 2>/dev/null' EXIT

# The executor's first words: what a shell before this one left, the folder to start in, and a name for this start.
# In one piece: it is parsed before the aliases are there that were left.
{
  IFS= builtin read -r -d '' -u 250 __tendon_command && [[ -n $__tendon_command ]] && {
    # What was left by another release holds the functions of that.
    __tendon_own=$(builtin declare -f __tendon_begin __tendon_end __tendon_forget __tendon_jobs __tendon_prompt __tendon_arm \
      __tendon_hold __tendon_leave __tendon_exit __tendon_state)
    builtin eval "$__tendon_command"
    __tendon_command=-u
    builtin shopt -q expand_aliases && __tendon_command=-s
    builtin shopt -u expand_aliases
    builtin eval "$__tendon_own"
    builtin shopt "$__tendon_command" expand_aliases
    builtin unset __tendon_own
  }
  IFS= builtin read -r -d '' -u 250 __tendon_command && [[ -n $__tendon_command ]] && builtin cd -- "$__tendon_command" && builtin unset OLDPWD
  IFS= builtin read -r -d '' -u 250 __tendon_id
  builtin set +e
  __tendon_running=1
  __tendon_end 0
} 2>/dev/null
