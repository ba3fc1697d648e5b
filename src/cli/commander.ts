import { Argument, CommanderError, Command as Node, Option } from 'commander';
import { type SotraError, seeHelp, usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import { findGroup, globalFlags, listWords } from './globals.ts';
import { beginsWith, type Field, type Outline, type TypedInput } from './outline.ts';
import { refuseRemovedFlag } from './removed-commands.ts';

type ReadArgv =
  | { kind: 'run'; outline: Outline; typed: TypedInput; globals: Record<string, unknown> }
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'version' };

/**
 * What commander makes of a command line; `found` is the command that its words name. Errors: `usage` for unknown words and flags, with
 * the nearest known one as hint.
 */
export function readArgv(argv: readonly string[], outlines: readonly Outline[], found: Outline | undefined): ReadArgv {
  const state: ParseState = { found, result: { kind: 'help', words: [] } };
  // Commander needs no other commands than the one that is named and those below it, and each takes time to build.
  const needed = outlines.filter(({ words }) => beginsWith(words, found?.words ?? []));
  try {
    state.program = buildProgram(needed, state);
    state.program.parse(withBareValues(argv, found?.fields ?? []), { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.code === 'commander.version') return { kind: 'version' };
    if (!['commander.helpDisplayed', 'commander.help'].includes(thrown.code))
      throw explainParseError(thrown, argv, outlines, state);
  }
  return state.result;
}

/** Gives a flag that stands alone its value: only what begins like an amount is one that was typed. */
function withBareValues(argv: readonly string[], fields: readonly Field[]): string[] {
  return argv.map((token, index) => {
    const field = fields.find(({ flag, bare }) => bare !== undefined && token === `--${flag}`);
    return field === undefined || /^\d+(?:\.\d+)?[a-z]{0,3}$/i.test(argv[index + 1] ?? '')
      ? token
      : `${token}=${field.bare}`;
  });
}

interface ParseState {
  found: Outline | undefined;
  program?: Node;
  /** That of the found command. */
  node?: Node;
  result: ReadArgv;
}

function buildProgram(outlines: readonly Outline[], state: ParseState): Node {
  const prepare = (node: Node, words: readonly string[]) => {
    node.exitOverride();
    node.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    node.helpOption('-h, --help', 'show help').helpCommand(false);
    node.helpInformation = () => {
      state.result = { kind: 'help', words };
      return '';
    };
    return node;
  };
  const program = prepare(new Node('sotra'), []);
  program.version('', '-V, --version');
  for (const { flag, value } of globalFlags)
    program.addOption(new Option(value ? `--${flag} <${value}>` : `--${flag}`));
  for (const outline of outlines) {
    let node = program;
    outline.words.forEach((word, index) => {
      const known = node.commands.find((child) => child.name() === word);
      const next = known ?? prepare(new Node(word), outline.words.slice(0, index + 1));
      if (!known) node.addCommand(next);
      node = next;
    });
    if (outline === state.found) fillCommand(node, outline, state);
  }
  return program;
}

function fillCommand(node: Node, outline: Outline, state: ParseState): void {
  const { fields } = outline;
  state.node = node;
  node.allowExcessArguments(false);
  for (const field of fields) {
    if (field.positional) node.addArgument(new Argument(`[${field.flag}${field.kind.list ? '...' : ''}]`));
    else if (!isGlobal(field)) for (const option of makeOptions(field)) node.addOption(option);
  }
  node.action(() => {
    state.result = { kind: 'run', outline, typed: readTyped(node, fields), globals: readTypedGlobals(node) };
  });
}

/** `context set --base-url`: a global flag that is also an input of a command. */
function isGlobal(field: Field): boolean {
  return globalFlags.some(({ flag }) => flag === field.flag);
}

function makeOptions(field: Field): Option[] {
  if (field.kind.type === 'boolean') return [new Option(`--${field.flag}`), new Option(`--no-${field.flag}`)];
  const short = field.short === undefined ? '' : `-${field.short}, `;
  const names = [`${short}--${field.flag}`, ...(field.otherFlags ?? []).map((flag) => `--${flag}`)];
  return names.map((name) => {
    const option = new Option(`${name} <value>`);
    if (field.kind.list) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    return option;
  });
}

function readTyped(node: Node, fields: readonly Field[]): TypedInput {
  const options = node.optsWithGlobals();
  let position = 0;
  const entries = fields.map((field) => {
    if (!field.positional) return [field.key, typedFor(field, options)];
    const value = node.processedArgs[position];
    position += 1;
    return [field.key, Array.isArray(value) && value.length === 0 ? undefined : value];
  });
  return Object.fromEntries(entries);
}

/** Errors: `usage` for two names of one flag. */
function typedFor({ flag, otherFlags = [] }: Field, options: Record<string, unknown>): unknown {
  const [typed, other] = [flag, ...otherFlags].filter((name) => options[attributeName(name)] !== undefined);
  if (typed !== undefined && other !== undefined)
    throw usageError(`--${other} is the same flag as --${typed}`, 'Omit one of them.');
  return typed === undefined ? undefined : options[attributeName(typed)];
}

function attributeName(flag: string): string {
  return new Option(`--${flag}`).attributeName();
}

function readTypedGlobals(node: Node): Record<string, unknown> {
  const { color, input, history, ...others } = node.optsWithGlobals();
  return { ...others, noColor: color === false, noInput: input === false, noHistory: history === false };
}

/** The error in our words, by commander's code. */
function explainParseError(
  { code }: CommanderError,
  argv: readonly string[],
  outlines: readonly Outline[],
  { program, found, node }: ParseState,
): SotraError {
  const words = found?.words ?? findGroup(argv, outlines);
  if (code === 'commander.optionMissingArgument') return usageError(`${argv.at(-1)} needs a value`, seeHelp);
  if (code === 'commander.unknownOption') {
    const { operands = [], unknown = [] } = program?.parseOptions([...argv]) ?? {};
    const own = node?.parseOptions([...operands.slice(words.length), ...unknown]).unknown ?? unknown;
    const [flag = ''] = own[0]?.split('=') ?? [];
    refuseRemovedFlag(flag, words);
    const known = [...globalFlags, ...(found?.fields ?? []).filter(({ positional }) => !positional)];
    const near = nearest(
      flag,
      known.map((each) => `--${each.flag}`),
    );
    return usageError(`unknown option '${flag}'`, unknownFlags.get(flag) ?? didYouMean(near) ?? seeHelp);
  }
  if (code === 'commander.unknownCommand') {
    const name = listWords(argv)[words.length] ?? '';
    const known = outlines.filter((outline) => beginsWith(outline.words, words));
    const near = nearest(
      name,
      known.map((each) => each.words[words.length] ?? ''),
    );
    return usageError(`unknown command '${name}'`, didYouMean(otherName(name, words, outlines) ?? near) ?? seeHelp);
  }
  const places = found?.fields.filter(({ positional }) => positional) ?? [];
  const surplus = (node?.args ?? []).slice(places.length);
  const takes = places.length === 0 ? 'no arguments' : places.map(({ label }) => label).join(' ');
  return usageError(`unexpected argument '${surplus.join(' ')}': ${words.join(' ')} takes ${takes}`, seeHelp);
}

const otherNames: ReadonlyMap<string, string> = new Map([
  ['login', 'auth login'],
  ['logout', 'auth logout'],
  ['whoami', 'auth status'],
  ['config', 'context'],
  ['configure', 'context set'],
  ['profiles', 'context list'],
  ['api', 'request'],
  ['curl', 'request'],
  ['listen', 'webhook listen'],
  ['events', 'webhook events'],
  ['trigger', 'webhook trigger'],
  ['sign', 'comment sign'],
  ['post', 'comment post'],
  ['verify', 'comment verify'],
  ['wallet', 'key'],
  ['ls', 'commands'],
  ['serve', 'sandbox start'],
  ['start', 'sandbox start'],
  ['schema', 'openapi'],
  ['completions', 'completion'],
  ['man', 'help'],
]);

const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['rm', ['remove', 'delete', 'delete-name', 'logout']],
  ['del', ['delete', 'remove']],
  ['delete', ['remove', 'delete-name']],
  ['remove', ['delete', 'delete-name']],
  ['create', ['register', 'generate', 'set', 'post', 'add']],
  ['new', ['generate', 'register', 'set', 'post', 'add']],
  ['add', ['set', 'import', 'register']],
  ['show', ['get', 'status', 'list']],
  ['view', ['get', 'show', 'status', 'list']],
  ['get', ['show', 'list', 'status']],
]);

const unknownFlags: ReadonlyMap<string, string> = new Map([
  ['-v', 'Did you mean --verbose? The version is sotra --version.'],
  ['-o', 'Did you mean --format? It takes table, json, ndjson, csv, tsv or md.'],
  ['--output', 'Did you mean --format? It takes table, json, ndjson, csv, tsv or md.'],
  ['-q', 'Did you mean --quiet?'],
  ['-y', 'Did you mean --yes?'],
  ['--fields', 'Did you mean --columns?'],
  ['--profile', 'Did you mean --context?'],
  ['--api-key', 'A key is never an argument: set SOTRA_API_KEY, or sotra auth login.'],
]);

/** The command that people of other tools mean by a name. */
function otherName(name: string, group: readonly string[], outlines: readonly Outline[]): string | undefined {
  const names = outlines.map(({ words }) => words.join(' '));
  const verb = otherVerbs.get(name)?.find((each) => names.includes([...group, each].join(' ')));
  const found = group.length === 0 ? otherNames.get(name) : verb && [...group, verb].join(' ');
  return found && `sotra ${found}`;
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant && `Did you mean ${meant}?`;
}
