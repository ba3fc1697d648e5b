import { describeKind, itemOf } from '../contract/kind.ts';
import { wrapWords } from '../model/wrap.ts';
import { type GlobalFlag, programFlags, takenFlags } from './globals.ts';
import { beginsWith, type Field, listTopics, makeInputSchema, type Outline } from './outline.ts';

export type HelpLine = readonly [label: string, says: string];

export type Part = readonly [title: string, body: string | readonly (string | HelpLine)[]];

/**
 * Help of the program, a noun or a command; for JSON the entries of its commands. `undefined` for unknown words.
 */
export function helpText(
  words: readonly string[],
  outlines: readonly Outline[],
  { width, json }: { width: number; json: boolean },
): string | undefined {
  const under = outlines.filter((outline) => beginsWith(outline.words, words));
  if (under.length === 0) return undefined;
  if (json) return `${JSON.stringify(commandTree(under), null, 2)}\n`;
  if (words.length === 0) return formatParts(programParts(outlines), width);
  const exact = under.find((outline) => outline.words.length === words.length);
  return exact === undefined ? groupHelp(words, under, width) : commandHelp(exact, width);
}

/** Help of the program, not laid out yet. */
function programParts(commands: readonly Outline[]): Part[] {
  const nouns = [...new Set(commands.map((command) => command.words[0] ?? ''))];
  const isOfService = (noun: string) =>
    commands.some(({ words, endpoint }) => words[0] === noun && endpoint !== undefined);
  const describeNoun = (noun: string): HelpLine => [noun, nounSummary(noun, commands)];
  return [
    [
      '',
      'Social trading from the command line: leaderboards, profiles, positions, signed comments, feeds and webhooks.',
    ],
    ['USAGE', ['sotra <command> [arguments] [flags]']],
    ['THE SERVICE', nouns.filter(isOfService).map(describeNoun)],
    ['THE TOOL', nouns.filter((noun) => !isOfService(noun)).map(describeNoun)],
    ['FLAGS', globalLines(programFlags)],
    [
      'MORE',
      [
        ['sotra <command> --help', 'one command'],
        ['sotra help <topic>', listTopics(commands).join(', ')],
        ['sotra help rate-limited', 'an error code, or an exit code (help 7)'],
      ],
    ],
  ];
}

function nounSummary(noun: string, commands: readonly Outline[]): string {
  const own = commands.filter(({ words }) => words[0] === noun);
  const alone = own.find(({ words }) => words.length === 1);
  return alone?.summary ?? own.map(({ words }) => words.slice(1).join(' ')).join(', ');
}

function groupHelp(words: readonly string[], own: readonly Outline[], width: number): string {
  const summary = ({ summary: text, endpoint }: Outline) =>
    endpoint?.deprecated === undefined ? text : `${text} (deprecated)`;
  return formatParts(
    [
      ['USAGE', [`sotra ${words.join(' ')} <command> [flags]`]],
      ['COMMANDS', own.map((command): HelpLine => [command.words.slice(words.length).join(' '), summary(command)])],
      ['MORE', [`sotra ${words.join(' ')} ${own[0]?.words.slice(words.length).join(' ')} --help`]],
    ],
    width,
  );
}

const maxLines = 60;

/** On one screen: where that is too long, fewer examples, then the first sentence of the description. */
function commandHelp(command: Outline, width: number): string {
  const { description, examples } = command;
  const first = /^[\s\S]*?[.:](?=\n|$)/.exec(description ?? '')?.[0];
  const fewer = { ...command, examples: examples.slice(0, 2) };
  const least = { ...command, description: first, examples: examples.slice(0, 1) };
  const texts = [command, fewer, { ...fewer, description: first }, least].map((each) =>
    formatParts(commandParts(each), width),
  );
  return texts.find((text) => text.trimEnd().split('\n').length <= maxLines) ?? texts.at(-1) ?? '';
}

/** Help of a command, not laid out yet. */
function commandParts(command: Omit<Outline, 'description'> & { description?: string | undefined }): Part[] {
  const { words, summary, description: says, fields, endpoint, examples, columns } = command;
  const positional = fields.filter((field) => field.positional);
  const flags = fields.filter((field) => !field.positional);
  const typed = positional.map(({ kind, label }) => (kind.optional ? `[${label.slice(1, -1)}]` : label));
  const usage = ['sotra', ...words, ...typed, ...(flags.length > 0 ? ['[flags]'] : [])];
  const note = endpoint?.deprecated === undefined ? [] : [`Deprecated: ${endpoint.deprecated}.`];
  const sends = `sends ${endpoint?.method} ${endpoint?.path}`;
  const shared = takenFlags(command).filter((flag) => !programFlags.includes(flag));
  const named = shared.filter(({ flag }) => !flags.some((own) => own.flag === flag)).map(({ flag }) => `--${flag}`);
  return [
    ['', `${summary}.`],
    ['', [...(says === undefined ? [] : [says]), ...note].join('\n')],
    ['USAGE', [usage.join(' '), ...(endpoint === undefined ? [] : [['', sends] as const])]],
    ['ARGUMENTS', positional.map(fieldLine)],
    ['FLAGS', flags.map(fieldLine)],
    ['GLOBAL FLAGS', [['', [...named, 'and those of sotra --help'].join(', ')]]],
    ['EXAMPLES', examples.flatMap(({ argv, says: does }) => [['', `# ${does}`] as const, `sotra ${argv}`])],
    ['COLUMNS', columns.length === 0 ? [] : [['', columns.map(({ key }) => key).join(', ')]]],
  ];
}

function fieldLine(field: Field): HelpLine {
  const { label, kind, positional, help } = field;
  const required = kind.optional || positional ? '' : ' (required)';
  const item = itemOf(kind);
  const several = kind.type === 'list' ? `; repeatable${field.whole ? '' : ', or comma-separated'}` : '';
  const isShort = item.type === 'text' && item.maxLength === undefined;
  const isPlain = (isShort || item.type === 'boolean') && !kind.nullable;
  const allowed = isPlain ? '' : `: ${describeKind(kind)}`;
  const byDefault = field.serviceDefault === undefined ? '' : `; default: ${field.serviceDefault} (set by the service)`;
  const value = kind.type === 'boolean' || positional ? '' : ` <${valueName(field)}>`;
  const short = field.short === undefined ? '' : `-${field.short}, `;
  return [`${short}${label}${value}`, `${help}${allowed}${several}${byDefault}${required}`];
}

/** What stands for the value of flags whose own last word does not say it. */
const valueNames: readonly (readonly [name: string, ...flags: string[]])[] = [
  ['file', 'out', 'junit', 'rejects', 'db', 'signed', 'replay', 'inbox-creds'],
  ['url', 'to', 'forward-to', 'inbox'],
  ['origin', 'cors'],
  ['time', 'since', 'until', 'as-of', 'older-than', 'newer-than', 'track-exit-until'],
  ['duration', 'interval', 'tolerance', 'for', 'late', 'repeats-within', 'wait', 'watch'],
  ['size', 'max-bytes'],
  ['variable', 'key-env'],
  ['name', 'key', 'column'],
  ['name=value', 'query', 'wire'],
  ['hash', 'tx'],
  ['id', 'position'],
  ['uid', 'webhook'],
  ['json', 'data'],
  ['request', 'expect'],
  ['limit', 'keep'],
  ['period', 'timeframe'],
];

function valueName({ flag, identifier, kind }: Field): string {
  const { type } = itemOf(kind);
  const [named = ''] = valueNames.find(([, ...flags]) => flags.includes(flag)) ?? [];
  const isNumber = type === 'integer' || type === 'number';
  const lastWord =
    flag
      .split('-')
      .at(-1)
      ?.replace(/(?<=ss)es$|(?<![su])s$/, '') ?? '';
  const one = type === 'json' ? 'json' : isNumber ? 'n' : identifier === true ? 'address' : named || lastWord;
  return kind.type === 'list' ? `${one},...` : one;
}

function globalLines(flags: readonly GlobalFlag[]): HelpLine[] {
  return [
    ...flags.map(({ flag, value, help }): HelpLine => [`--${flag}${value ? ` <${value}>` : ''}`, help]),
    ['--help, --version', 'show help, or the version'],
  ];
}

const [maxWidth, maxLabel] = [100, 28];
const [narrow, narrowLabel] = [60, 12];

export function formatParts(parts: readonly Part[], width: number): string {
  const room = Math.max(20, Math.min(width, maxWidth));
  const shown = parts.filter(([, body]) => body.length > 0);
  return shown
    .map(([title, body]) => `${title === '' ? '' : `${title}\n`}${bodyLines(body, room).join('\n')}\n`)
    .join('\n');
}

function bodyLines(body: Part[1], room: number): string[] {
  if (typeof body === 'string') return wrapProse(body, room);
  const labels = body.map((line) => (typeof line === 'string' ? 0 : line[0].length));
  const longest = Math.max(...labels);
  const label = room < narrow && longest > narrowLabel ? 0 : Math.min(maxLabel, longest);
  return body.flatMap((line) => (typeof line === 'string' ? wrapCommand(line, room) : labelLine(line, label, room)));
}

function labelLine([label, says]: HelpLine, width: number, room: number): string[] {
  const below = label.length > width;
  const indent = ' '.repeat(width === 0 ? (label === '' ? 2 : 6) : width + 4);
  const lines = says === '' ? [] : wrapWords(says, Math.max(20, room - indent.length)).map((line) => indent + line);
  if (label === '') return lines.map((line) => `  ${line.trimStart()}`);
  if (below) return [`  ${label}`, ...lines];
  return [`  ${label.padEnd(width)}  ${(lines[0] ?? '').trimStart()}`.trimEnd(), ...lines.slice(1)];
}

/**
 * A line to type, continued on the next where it is too long: between flags with their values, never within quotes; within a longer word,
 * where the next line begins at the margin.
 */
export function wrapCommand(command: string, room: number): string[] {
  if (command.length + 2 <= room || !command.startsWith('sotra ')) return [`  ${command}`];
  const words = command.match(/(?:(?:--?\w[\w-]*|<) (?!-))?(?:\\.|'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length + ' \\'.length <= room) lines[lines.length - 1] = longer;
    else lines.push(...brokenWord(`${lines.length === 0 ? '  ' : '    '}${word}`, room));
  }
  return lines.map((line, index) => {
    const next = lines[index + 1];
    if (next === undefined) return line;
    return next.startsWith(' ') && line.length + ' \\'.length <= room ? `${line} \\` : `${line}\\`;
  });
}

function brokenWord(word: string, room: number): string[] {
  if (word.length < room || /['"]/.test(word)) return [word];
  return [word.slice(0, room - 1), ...brokenWord(word.slice(room - 1), room)];
}

/**
 * Paragraphs of at most `width` characters. A line that does not end a sentence continues in the next; lines with columns (two spaces)
 * stay apart.
 */
export function wrapProse(text: string, width: number): string[] {
  const paragraphs: string[] = [];
  for (const line of text.split('\n')) {
    const before = paragraphs.at(-1);
    const joins = before !== undefined && !/[.:!?]$/.test(before) && !/ {2}/.test(before) && !/ {2}/.test(line);
    if (joins && line !== '' && before !== '') paragraphs[paragraphs.length - 1] = `${before} ${line}`;
    else paragraphs.push(line);
  }
  return paragraphs.flatMap((paragraph) => {
    const [lead = ''] = /^.*?(?<! ) {2,}(?=\S)/.exec(paragraph) ?? [];
    const room = Math.max(20, width - lead.length);
    const indent = ' '.repeat(lead.length);
    return wrapWords(paragraph.slice(lead.length), room).map((line, index) => (index === 0 ? lead : indent) + line);
  });
}

/** Commands as `--help --json` prints them. `schemaVersion` counts the changes that a reader has to know of. */
function commandTree(outlines: readonly Outline[]) {
  return { schemaVersion: 1, commands: outlines.map(makeCommandEntry) };
}

function makeCommandEntry(outline: Outline) {
  const { words, summary, endpoint, fields, exitCodes, examples } = outline;
  return {
    command: words.join(' '),
    summary,
    endpoint: endpoint === undefined ? null : { ...endpoint, deprecated: endpoint.deprecated ?? null },
    inputs: fields.map(describeInput),
    inputSchema: makeInputSchema(fields),
    globalFlags: takenFlags(outline).map(({ flag }) => `--${flag}`),
    exitCodes: [0, 1, 2, ...exitCodes],
    examples,
  };
}

/** `key` is its name in the input schema; `source` is spec, public, assumed or local. */
function describeInput({ key, label, kind, help, source }: Field) {
  const {
    min = null,
    max = null,
    choices = [],
    type,
  } = itemOf(kind) as { type: string; min?: number; max?: number; choices?: readonly unknown[] };
  return {
    ...{ key, label, help, type, list: kind.type === 'list', required: !kind.optional },
    ...{ nullable: kind.nullable === true, choices: choices.map(String), min, max, source },
  };
}
