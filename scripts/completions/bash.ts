import { askNames, type CommandTree, nameLists, type Slot, type TreeNode, valueCases } from './tree.ts';

/** The completion script for bash 3.2 and newer. */
export function bashScript({ nodes, globals, valued }: CommandTree): string {
  const globalNames = globals.map(({ flag }) => flag);
  return `# bash completion for sotra, written by \`sotra completion bash\`.

# The words that may follow the words of a command.
_sotra_children() {
  case "$1" in
${nodes.flatMap(childrenCase).join('\n')}
  esac
}

# The flags of a command, beyond those that every command takes.
_sotra_flags() {
  case "$1" in
${nodes.flatMap(flagsCase).join('\n')}
  esac
}

# What may stand in a place: \`<command> --flag\`, or \`<command> 1\` for the first argument.
_sotra_values() {
  case "$1" in
${valueCases({ nodes, globals }, valueCase).join('\n')}
  esac
}

${askNames('"$@"')}
_sotra() {
  COMPREPLY=()
  local line="\${COMP_LINE:0:COMP_POINT}" current='' before='' here='' skip='' word slot=1 found='' candidates='' lead=''
  local IFS=$' \\t\\n' globbing=+f
  # What is typed may be a secret, and before bash 5.1 a here-string is a file.
  [[ $- == *f* ]] && globbing=-f
  set -f
  local -a words=($line)
  set "$globbing"
  # readline breaks words at = : and @ as well; here a word is what stands between spaces.
  [[ $line == *[[:space:]] ]] && words+=('')
  current="\${words[\${#words[@]} - 1]}"
  for word in "\${words[@]:1:\${#words[@]} - 2}"; do
    if [[ -n $skip ]]; then
      skip=''
      continue
    fi
    before=''
    case "$word" in
    --*=*) ;;
    -*)
      case '${` ${valued.join(' ')} `}' in *" $word "*) skip=1 before="$word" ;; esac
      ;;
    *)
      case " $(_sotra_children "$here") " in
      *" $word "*) here="\${here:+$here }$word" ;;
      *) slot=$((slot + 1)) ;;
      esac
      ;;
    esac
  done
  if [[ -n $skip ]]; then
    found="$(_sotra_values "$here $before")"
  elif [[ $current == --*=* ]]; then
    found="$(_sotra_values "$here \${current%%=*}")"
    lead="\${current%%=*}="
  elif [[ $current == -* ]]; then
    candidates="$(_sotra_flags "$here") ${globalNames.join(' ')} --help"
  else
    candidates="$(_sotra_children "$here")"
    [[ -z $candidates ]] && found="$(_sotra_values "$here $slot")"
  fi
  case " $found " in
  *' @files '*)
    compopt -o default 2>/dev/null
    return
    ;;
  *' @list '*) [[ $current == *,* ]] && lead="\${current%,*}," ;;
  esac
${Object.entries(nameLists).map(askedNames).join('\n')}
  # Of a list, what it holds already is not offered again.
  local held=''
  [[ $lead == *, ]] && held="\${lead#--*=}"
  for word in $found; do
    case ",$held" in *",$word,"*) continue ;; esac
    case "$word" in ${Object.keys(nameLists)
      .map((name) => `@${name}`)
      .join(' | ')} | @list) ;; *) candidates="$candidates $lead$word" ;; esac
  done
  # What readline takes for the word ends at its last break; only the rest of a candidate is put in its place.
  local rest="$current" drop=0 at
  for ((at = 0; at < \${#current}; at++)); do
    case "$COMP_WORDBREAKS" in *"\${current:at:1}"*) [[ \${current:at:1} != @ ]] && drop=$((at + 1)) ;; esac
  done
  for word in $candidates; do
    [[ $word == "$rest"* ]] || continue
    case " \${COMPREPLY[*]} " in *" \${word:drop} "*) ;; *) COMPREPLY+=("\${word:drop}") ;; esac
  done
}

complete -F _sotra sotra
`;
}

function askedNames([name, line]: [string, string]): string {
  return `  case " $found " in *' @${name} '*) found="$found $(_sotra_names "\${words[0]}" ${line})" ;; esac`;
}

function childrenCase({ path, children }: TreeNode): string[] {
  if (children.length === 0) return [];
  return [`  '${path}') echo '${children.map(({ word }) => word).join(' ')}' ;;`];
}

function flagsCase({ path, flags }: TreeNode): string[] {
  return flags.length === 0 ? [] : [`  '${path}') echo '${flags.map(({ flag }) => flag).join(' ')}' ;;`];
}

function valueCase(pattern: string, { values, names, file, list }: Slot): string[] {
  const words = [...values, ...(names === undefined ? [] : [`@${names}`]), ...(file ? ['@files'] : [])];
  if (words.length === 0) return [];
  return [`  ${pattern}) echo '${[...words, ...(list ? ['@list'] : [])].join(' ')}' ;;`];
}
