const BASH = `# bash completion of agentctl; see: agentctl completion --help
_agentctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  # Readline passes the = of --flag=value as a separate word.
  [[ "$current" == "=" ]] && current=""
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    if [[ "$line" == ":files" ]]; then
      compopt -o default 2>/dev/null
    elif [[ "$line" == "$current"* ]]; then
      COMPREPLY+=("$line")
    fi
  done < <(agentctl __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _agentctl agentctl
`

const ZSH = `#compdef agentctl
# zsh completion of agentctl; see: agentctl completion --help
_agentctl() {
  local -a found
  local line name does
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      _files
      continue
    fi
    name="\${line%%$'\\t'*}"
    does="\${line#*$'\\t'}"
    [[ "$does" == "$line" ]] && does=""
    found+=("\${name//:/\\\\:}:$does")
  done < <(agentctl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe agentctl found
}
if [ "$funcstack[1]" = "_agentctl" ]; then
  _agentctl "$@"
else
  compdef _agentctl agentctl
fi
`

const FISH = `# fish completion of agentctl; see: agentctl completion --help
function __agentctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (agentctl __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c agentctl -f -a '(__agentctl_complete)'
`

/** Returns the completion script of a shell. The scripts run `agentctl __complete`, so they never become outdated. */
export const completionScript = (shell: "bash" | "zsh" | "fish"): string =>
  ({ bash: BASH, zsh: ZSH, fish: FISH })[shell]
