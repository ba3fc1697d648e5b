import { type CommandTree, nameLists, type Slot, type TreeFlag, type TreeNode } from './tree.ts';

/** The completion script for fish 3. */
export function fishScript({ nodes, globals, valued }: CommandTree): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== '');
  return `# fish completion for sotra, written by \`sotra completion fish\`.

# The command that the words before the cursor name, and the number of the argument that comes next.
function __sotra_place
    set -l here
    set -l slot 1
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case '--*=*'
            case '-*'
                contains -- $word ${valued.join(' ')}
                and set skip 1
            case '*'
                if contains -- "$here $word" ${paths.map((path) => quote(` ${path}`)).join(' ')}
                    set here "$here $word"
                else
                    set slot (math $slot + 1)
                end
        end
    end
    echo "$here"
    echo $slot
end

function __sotra_at
    set -l place (__sotra_place)
    test "$place[1]" = "$argv[1]"
    or return 1
    set -q argv[2]
    or return 0
    test $place[2] -ge $argv[2] -a $place[2] -le $argv[3]
end

# Asks the program for names, some of which others gave: only plain ones are offered. A key that is typed in front of the program is none of
# its business here.
function __sotra_names
    set -lu SOTRA_API_KEY
    set -l words (commandline -opc)
    $words[1] $argv 2>/dev/null | string match -r '^[A-Za-z0-9_.:@/][A-Za-z0-9_.:@/-]*$'
end

${Object.entries(nameLists).map(askedNames).join('\n\n')}

complete -c sotra -f
${globals.map((flag) => flagLine([], flag)).join('\n')}
complete -c sotra -s h -l help -d 'show help'
${nodes.flatMap(nodeLines).join('\n')}
`;
}

function askedNames([name, line]: [string, string]): string {
  return `function __sotra_${name}\n    __sotra_names ${line}\nend`;
}

function nodeLines({ path, children, flags, arguments: slots, rest }: TreeNode): string[] {
  const at = path === '' ? '' : ` ${path}`;
  const here = ['-n', quote(`__sotra_at "${at}"`)];
  return [
    ...children.map(({ word, help }) => ['complete -c sotra', ...here, '-a', quote(word), '-d', quote(help)].join(' ')),
    ...flags.map((flag) => flagLine(here, flag)),
    ...slots.flatMap((slot, index) => {
      const last = rest && index === slots.length - 1 ? 999 : index + 1;
      const offers = slot.file ? ['-F'] : offersOf(slot);
      return offers.length === 0
        ? []
        : [['complete -c sotra', '-n', quote(`__sotra_at "${at}" ${index + 1} ${last}`), ...offers].join(' ')];
    }),
  ];
}

function flagLine(condition: readonly string[], flag: TreeFlag): string {
  const value = !flag.takesValue ? [] : flag.file ? ['-r', '-F'] : ['-x', ...offersOf(flag)];
  const short = flag.short === undefined ? [] : ['-s', flag.short.slice(1)];
  const names = [...short, '-l', flag.flag.slice(2)];
  return ['complete -c sotra', ...condition, ...names, ...value, '-d', quote(flag.help)].join(' ');
}

function offersOf({ values, names, list }: Slot): string[] {
  const words = values.join(' ');
  const asked = names === undefined ? '' : `(__sotra_${names})`;
  if (values.length === 0 && names === undefined) return [];
  if (list) return ['-a', quote(`(__fish_append , ${[words, asked].join(' ').trim()})`)];
  return ['-a', quote([words, asked].join(' ').trim())];
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
