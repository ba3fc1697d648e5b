import { askNames, type CommandTree, nameLists, type Slot, type TreeNode, valueCases } from './tree.ts';

/** The completion script for zsh 5: a file `_sotra` in $fpath, or sourced. */
export function zshScript({ nodes, globals, valued }: CommandTree): string {
  return `#compdef sotra
# zsh completion for sotra, written by \`sotra completion zsh\`.

_sotra_children() {
  case "$1" in
${nodes.flatMap(childrenCase).join('\n')}
  esac
}

_sotra_flags() {
  case "$1" in
${nodes.flatMap(flagsCase).join('\n')}
  esac
}

# Sets values, names, file and list for a place: \`<command> --flag\`, or \`<command> 1\` for the first argument.
_sotra_values() {
  case "$1" in
${valueCases({ nodes, globals }, valueCase).join('\n')}
  esac
}

${askNames('"$program" "$@"')}
_sotra_offer() {
  local -a values
  local names='' file='' list=''
  _sotra_values "$1"
  if [[ -n $file ]]; then
    _files
    return
  fi
  case "$names" in
${Object.entries(nameLists).map(askedNames).join('\n')}
  esac
  if [[ -n $list ]]; then
    compset -P '*,'
    compadd -qS , -a values
  else
    compadd -a values
  fi
}

_sotra() {
  local here='' skip='' word before='' program="\${(Q)words[1]}"
  local -i slot=1
  local -a children flags valued
  valued=(${valued.join(' ')})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then
      skip=''
      continue
    fi
    case "$word" in
    --*=*) ;;
    -*) if (( \${valued[(Ie)$word]} )); then skip=1; before="$word"; fi ;;
    *)
      children=()
      _sotra_children "$here"
      if [[ -n "\${children[(r)\${(b)word}:*]}" ]]; then
        here="\${here:+$here }$word"
      else
        slot+=1
      fi
      ;;
    esac
  done
  if [[ -n $skip ]]; then
    _sotra_offer "$here $before"
  elif [[ "$PREFIX" == --*=* ]]; then
    word="\${PREFIX%%=*}"
    compset -P '*='
    _sotra_offer "$here $word"
  elif [[ "$PREFIX" == -* ]]; then
    flags=()
    _sotra_flags "$here"
    flags+=(
${globals.map((flag) => `      ${describe(flag.flag, flag.help)}`).join('\n')}
      '--help:show help'
    )
    _describe -o 'flag' flags
  else
    children=()
    _sotra_children "$here"
    if (( \${#children} )); then
      _describe 'command' children
    else
      _sotra_offer "$here $slot"
    fi
  fi
}

if [[ "\${funcstack[1]}" == _sotra ]]; then
  _sotra "$@"
else
  compdef _sotra sotra
fi
`;
}

function askedNames([name, line]: [string, string]): string {
  return `  ${name}) values+=(\${(f)"$(_sotra_names ${line})"}) ;;`;
}

function childrenCase({ path, children }: TreeNode): string[] {
  if (children.length === 0) return [];
  return [`  '${path}') children=(${children.map(({ word, help }) => describe(word, help)).join(' ')}) ;;`];
}

function flagsCase({ path, flags }: TreeNode): string[] {
  if (flags.length === 0) return [];
  return [`  '${path}') flags=(${flags.map(({ flag, help }) => describe(flag, help)).join(' ')}) ;;`];
}

function valueCase(pattern: string, { values, names, file, list }: Slot): string[] {
  const parts = [
    ...(values.length === 0 ? [] : [`values=(${values.join(' ')})`]),
    ...(names === undefined ? [] : [`names=${names}`]),
    ...(file ? ['file=1'] : []),
  ];
  return parts.length === 0 ? [] : [`  ${pattern}) ${[...parts, ...(list ? ['list=1'] : [])].join(' ')} ;;`];
}

function describe(word: string, help: string): string {
  return `'${word.replaceAll(':', '\\:')}:${help.replaceAll("'", `'\\''`)}'`;
}
