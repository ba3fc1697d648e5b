import {
  Command as CommanderCommand,
  type ErrorOptions,
  type HelpConfiguration,
  type HelpContext,
  type Option,
} from 'commander';
import { type Endpoint, type Example, flagName, type InputOf, type Param, type Params } from '../api/endpoint.ts';
import type { Context } from '../context.ts';
import type { Io } from '../lib/io.ts';
import { wrapWords } from '../lib/output/messages.ts';
import type { AnyView, Result } from '../lib/output/view.ts';
import { programOptions, requestOptions, type SharedOption, sharedOption } from './options.ts';
import { createOptions, ParamArgument } from './params.ts';
import type { TypedInput } from './read-input.ts';

/** One command line as it runs. */
export interface Session {
  /** As typed. */
  argv: readonly string[];
  io: Io;
  /** Writes a line on stderr. */
  say: (line: string) => void;
  /** From now on lines are written as they come, also with `--json`. */
  stream: () => void;
  /** Reads the input of a command, runs its action and prints the result. */
  run: (command: Command, action: Action<Params>) => Promise<void>;
  /** Of the command that ran. */
  exitCode: number;
}

/** The endpoint of a command, as help and messages name it. */
type EndpointLine = Pick<Endpoint, 'id' | 'method' | 'path' | 'source'> & { deprecated?: string | undefined };

export type Action<P extends Params> = (input: InputOf<P>, context: Context) => Promise<Result>;

/** Commander's error about a command line; `mistakes.ts` adds the line to type. */
export class RefusedLine extends Error {
  readonly command: Command;
  readonly code: string | undefined;

  constructor(command: Command, message: string, code: string | undefined) {
    super(message);
    this.command = command;
    this.code = code;
  }
}

/** A command of sotra: a command of commander with typed parameters, and more text for its help. */
export class Command<P extends Params = Record<never, Param>> extends CommanderCommand {
  declare readonly commands: readonly Command[];
  declare parent: Command | null;
  readonly session: Session;
  endpoint: EndpointLine | undefined;
  parameters: Params = {};
  /** Keys of parameters of which at least one must be given. */
  requireAnyOf: readonly (readonly string[])[] = [];
  examples: readonly Example[] = [];
  view: AnyView | undefined;
  /** Names what cannot be undone, and is asked about first. */
  question: ((input: never) => string | undefined) | undefined;
  /** Of a group that is loaded when it is used: what adds its subcommands, or what a command without them takes and does. */
  loader: (() => Promise<{ setUp: (group: Command) => void }>) | undefined;
  /** Printed at the end of its help. */
  footer: string | undefined;
  readonly #shared: SharedOption[] = [];
  #changes = false;
  #isLoaded = false;

  constructor(name: string, session: Session) {
    super(name);
    this.session = session;
    // Commander's own does not load a group first.
    this.helpCommand(false);
    this.hook('preSubcommand', (_, subcommand) => (subcommand as Command).load());
  }

  override createCommand(name = ''): Command<Record<never, Param>> {
    return new Command(name, this.session);
  }

  /** Adds the subcommands of a group, or the options of a command, once: adding those of all commands would slow each start. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    (await this.loader?.())?.setUp(this);
    for (const option of createOwnOptions(this, this.parameters)) this.addOption(option);
    for (const name of this.#shared) this.addOption(sharedOption(name));
  }

  /** Loads it and its subcommands. */
  async loadAll(): Promise<void> {
    await this.load();
    await Promise.all(this.commands.map((command) => command.loadAll()));
  }

  /** Errors: `RefusedLine` for a subcommand that does not exist; commander would print the help of its group. */
  override helpInformation(context?: HelpContext): string {
    const [word] = this.args;
    const isUnknown = word !== undefined && !word.startsWith('-') && this.findSubcommand(word) === undefined;
    if (this.commands.length > 0 && isUnknown)
      this.error(`unknown command '${word}'`, { code: 'commander.unknownCommand' });
    const details = this.#formatDetails();
    return super.helpInformation(context) + (details === '' ? '' : `${details}\n`);
  }

  override error(message: string, { code }: ErrorOptions = {}): never {
    throw new RefusedLine(this as unknown as Command, message, code);
  }

  /** Adds an argument or an option for each parameter. `requireAnyOf`: keys of which at least one must be given. */
  params<Q extends Params>(params: Q, requireAnyOf: readonly (readonly (keyof Q & string)[])[] = []): Command<Q> {
    this.parameters = params;
    this.requireAnyOf = requireAnyOf;
    for (const [key, param] of Object.entries(params))
      if (param.positional) this.addArgument(new ParamArgument(key, param));
    return this as unknown as Command<Q>;
  }

  /** Adds options that commands share. */
  shares(...names: readonly SharedOption[]): this {
    this.#shared.push(...names);
    return this;
  }

  /** Adds the options of a command that makes requests. */
  requests(): this {
    return this.shares(...requestOptions);
  }

  /** Of a command that changes something locally or sends it: adds `--dry-run`. Such a command takes no row of a board. */
  changes(): this {
    this.#changes = true;
    return this.#shared.includes('dryRun') ? this : this.shares('dryRun');
  }

  /** Whether it only reads: then it also takes names and rows of the last board. */
  get isReading(): boolean {
    return this.endpoint === undefined ? !this.#changes : this.endpoint.method === 'GET';
  }

  /** Adds the options of a command that prints rows or an answer; the help lists the columns of `view`. */
  prints(view?: AnyView): this {
    this.view = view;
    return view === undefined || view.columns.length === 0 ? this.shares('jq') : this.shares('columns', 'jq');
  }

  /** Asks before the action runs: `change` is what cannot be undone, such as `delete webhook 2f1d`. */
  confirms(change: (input: InputOf<P>) => string | undefined): this {
    this.question = change as (input: never) => string | undefined;
    return this;
  }

  /** A line that exits with 0 in the sandbox, for the help. */
  example(argv: string, says: string): this {
    this.examples = [...this.examples, { argv, says }];
    return this;
  }

  /** Sets the action: it reads the input, calls `action` and prints its result. cli.ts loads run-command.ts for it, so that help does not. */
  run(action: Action<P>): this {
    return this.action(() => this.session.run(this as unknown as Command, action as Action<Params>));
  }

  /** What was typed for the parameters, by their keys. */
  readTyped(): TypedInput {
    const options = this.optsWithGlobals();
    return Object.fromEntries(
      Object.entries(this.parameters).map(([key, { positional }]) => [
        key,
        positional ? this.#readArgument(key) : options[key],
      ]),
    );
  }

  #readArgument(key: string): TypedInput[string] {
    const place = this.registeredArguments.findIndex((each) => each instanceof ParamArgument && each.key === key);
    const value: string | string[] | undefined = this.processedArgs[place];
    return Array.isArray(value) && value.length === 0 ? undefined : value;
  }

  /** What was typed for the options that commands share; a parameter may have the name of one that its command does not share. */
  readShared(): Readonly<Record<string, unknown>> {
    const own = this.opts();
    return { ...findRoot(this).opts(), ...Object.fromEntries(this.#shared.map((name) => [name, own[name]])) };
  }

  #formatDetails(): string {
    if (this.footer !== undefined) return `\n${this.footer}`;
    const columns = this.view?.columns.map(({ key }) => key) ?? [];
    return formatDetails({ examples: this.examples, columns, shared: this.#shared }, this.session.io.out.width);
  }

  /** The subcommand of this name or alias. */
  findSubcommand(word: string): Command | undefined {
    return this.commands.find((each) => each.name() === word || each.alias() === word);
  }

  /** Its words: `webhook`, `list`. */
  get words(): readonly string[] {
    return nameLine(this).split(' ').slice(1);
  }

  get sharedOptions(): readonly SharedOption[] {
    return this.#shared;
  }
}

/** The program takes its own options anywhere on the line, so that a command does not declare them again: `context set --base-url`. */
function createOwnOptions(command: CommanderCommand, params: Params): Option[] {
  const ofProgram = findRoot(command).options.map(({ long }) => long);
  return Object.entries(params).flatMap(([key, param]) =>
    param.positional || ofProgram.includes(`--${flagName(key, param)}`) ? [] : createOptions(key, param),
  );
}

function findRoot(command: CommanderCommand): CommanderCommand {
  return command.parent === null ? command : findRoot(command.parent);
}

const maxWidth = 100;

/** How commander lays out help, at the width of the terminal. */
export function createHelpConfiguration(width: number): HelpConfiguration {
  return {
    helpWidth: Math.min(width, maxWidth),
    minWidthToWrap: 20,
    commandUsage: (command: Command) => `${nameLine(command)} ${command.usage()}`,
    commandDescription: (command: Command) =>
      [command.parent === null || command.summary() === '' ? '' : `${command.summary()}.`, command.description()]
        .filter((text) => text !== '')
        .join('\n\n'),
    subcommandTerm: (command: Command) => command.name(),
  };
}

/** The words of a command, without the aliases that commander would show. */
export function nameLine(command: Command): string {
  return command.parent === null ? command.name() : `${nameLine(command.parent)} ${command.name()}`;
}

interface Details {
  examples: readonly Example[];
  /** The names that `--columns` takes. */
  columns: readonly string[];
  shared: readonly SharedOption[];
}

/** What follows commander's help of a command: the options that commands share, examples, columns. */
function formatDetails({ examples, columns, shared }: Details, width: number): string {
  if (examples.length === 0) return '';
  const room = Math.min(width, maxWidth);
  const lines = [
    ...(shared.length === 0
      ? []
      : wrap(`Shared options (sotra help options): ${listFlags(shared.map(sharedOption))}`, room)),
    ...wrap(`Global options (sotra --help): ${listFlags(programOptions())}`, room),
    '',
    'Examples:',
    ...examples.flatMap(({ argv, says }) => [`  # ${says}`, `  sotra ${argv}`]),
    ...(columns.length === 0 ? [] : ['', ...wrap(`Columns: ${columns.join(', ')}`, room)]),
  ];
  return `\n${lines.join('\n')}`;
}

/** Further lines are indented. */
function wrap(line: string, width: number): string[] {
  return wrapWords(line, width - 2).map((each, index) => (index === 0 ? each : `  ${each}`));
}

function listFlags(options: readonly Option[]): string {
  return options.map(({ long }) => long).join(', ');
}
