# Completion of warptime for bash. `warptime complete` knows the options; this asks it.
_warptime() {
  local line=${COMP_LINE:0:COMP_POINT} word value directive=
  local -a words=()
  # Words as a shell would split them; bash's own list also splits at = and :.
  read -a words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local current=${words[${#words[@]}-1]}
  # What bash replaces begins behind the last of these characters.
  local kept=
  [[ $COMP_WORDBREAKS == *=* && $current == *=* ]] && kept=${current%"${current##*=}"}
  [[ $COMP_WORDBREAKS == *:* && ${current#"$kept"} == *:* ]] && kept=${current%"${current##*:}"}
  COMPREPLY=()
  while IFS=$'\t' read -r value word; do
    case $value in
      :*) directive+=$value ;;
      *) [[ $value == "$current"* ]] && COMPREPLY+=("${value#"$kept"}") ;;
    esac
  done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
  [[ $directive == *:nospace* ]] && compopt -o nospace
  if [[ $directive == *:files* || $directive == *:folders* ]]; then
    local kind=-f
    [[ $directive == *:files* ]] || kind=-d
    compopt -o filenames
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "$kind" -- "${current#"$kept"}")
  fi
}
complete -F _warptime warptime
