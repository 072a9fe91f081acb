# SPDX-License-Identifier: GPL-3.0-or-later
# Completion for bash, by what the programs say themselves: `. tools/completion.bash`; the packages install it.

_ibready() {
  local words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="--help --version $("$1" --help 2>/dev/null | sed -nE 's/^    ([a-z][a-z-]+)( .*)?$/\1/p')"
  elif [[ "$2" == -* ]]; then
    words="$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_ibready_run() {
  local words="all" help
  help="$("$1" help 2>/dev/null)"
  case "$COMP_CWORD ${COMP_WORDS[1]}" in
    1\ *) words="$(sed -nE 's/^  ([a-z]+)( .*)?$/\1/p' <<<"$help")" ;;
    *\ test) words="all $(sed -n '/one step of them:/,/importer/p' <<<"$help" | sed 's/.*them://' | tr -d ',\n')" ;;
    *\ lint | *\ unit) ;;
    *) words="" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

# Where they have no word, files.
complete -o default -F _ibready ibready
[[ "${BASH_SOURCE[0]}" != *tools/completion.bash ]] || complete -o default -F _ibready_run ./run
