import type { Context } from '../context.ts';
import type { Example, InputOf, Param, Params } from '../contract/endpoint.ts';
import type { Kind } from '../contract/kind.ts';
import { kindOf } from '../contract/kind-of.ts';
import type { AnyView } from '../output/view.ts';
import type { Field, KnownCommands, Outline, Use } from './outline.ts';

/** What a command gives back; the runner prints it, a command never does. */
export type Result =
  /** One answer: `text` is its JSON exactly as received, where it came from the service. */
  | (Pictured & {
      kind: 'answer';
      answer: unknown;
      text?: string;
      view?: AnyView;
      notes?: readonly string[];
      exitCode?: number;
    })
  /** Items that arrive in batches, printed as they come; `live`: each batch at once, also on a terminal. */
  | (Pictured & { kind: 'items'; batches: AsyncIterable<readonly unknown[]>; view: AnyView; live?: boolean })
  /** Text as it is, e.g. a completion script. */
  | { kind: 'text'; text: string }
  | { kind: 'none'; exitCode?: number };

interface Pictured {
  /** Drawn as the view's chart in place of its table. */
  chart?: boolean;
}

export interface Command {
  /** The words typed, e.g. `leaderboard list`. */
  words: readonly string[];
  summary: string;
  description?: string;
  params: Params;
  /** Keys of params of which at least one must be given. */
  oneOf?: readonly (readonly string[])[];
  /** The endpoint it is one to one with. */
  endpoint?: NonNullable<Outline['endpoint']>;
  examples: readonly Example[];
  /** What it works with; decides which global flags it takes. */
  uses: readonly Use[];
  /** Exit codes it can end with beyond 0, 1, 2 and 130. */
  exitCodes: readonly number[];
  /** Its table, for help and output. */
  view?: () => Promise<AnyView>;
  /** Looks at the command line as it was typed, before anything is made of it; refuses by throwing. */
  checkArgv?: (argv: readonly string[]) => Promise<void>;
  /** For what cannot be undone: what would be done, such as `delete webhook 2f1d`; a yes is needed before it runs. */
  confirms?: (input: never) => string;
  run: (input: never, context: Context) => Promise<Result>;
}

/** The command as given, with `run` typed by its params. */
export function defineCommand<P extends Params>(
  command: Omit<Command, 'run' | 'params' | 'oneOf'> & {
    params: P;
    oneOf?: readonly (readonly (keyof P & string)[])[];
    run: (input: InputOf<P>, context: Context) => Promise<Result>;
  },
): Command {
  return command as Command;
}

/** The commands as data, and each of them when it runs. */
export interface Program extends KnownCommands {
  load: (outline: Outline) => Promise<Command>;
}

/** A command as plain data: its fields in the order of its params, its columns in the order of its table. Throws what loading the view throws. */
export async function outlineOf(command: Command): Promise<Outline> {
  const { words, summary, description, endpoint, params, examples, exitCodes, uses, view, checkArgv } = command;
  const columns = (await view?.())?.columns ?? [];
  return {
    words,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(endpoint === undefined ? {} : { endpoint }),
    examples,
    exitCodes,
    uses,
    fields: Object.entries(params).map(([key, param]) => fieldOf(key, param)),
    columns: columns.map(({ key, help, extra }) => ({ key, help, ...(extra && { extra }) })),
    ...(checkArgv === undefined ? {} : { checksArgv: true }),
  };
}

function fieldOf(key: string, param: Param): Field {
  const kind = kindOf(param.schema);
  const flag = param.flag ?? kebabCase(key);
  const { positional, short, oldFlags, whole, serviceDefault, help } = param;
  const argument = kind.list ? `<${flag}...>` : `<${flag}>`;
  return {
    key,
    label: positional ? argument : `--${flag}`,
    flag,
    kind,
    help,
    source: param.place === 'local' ? 'local' : param.source,
    ...(positional && { positional }),
    ...(short === undefined ? {} : { short }),
    ...(oldFlags === undefined ? {} : { oldFlags }),
    ...(whole && { whole }),
    ...(param.takesAddress === 'token'
      ? { identifier: 'token' }
      : takesIdentifier(kind, param) && { identifier: true }),
    ...(serviceDefault === undefined ? {} : { serviceDefault }),
  };
}

/** `onlyWithComments` -> `only-with-comments`. */
function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const anAddress = '0x0000000000000000000000000000000000000001';

function takesIdentifier(kind: Kind, param: Param): boolean {
  if (param.takesAddress === 'wallet') return true;
  if (kind.type !== 'text') return false;
  const takes = (text: string) => param.schema.safeParse(kind.list ? [text] : text).success;
  return takes(anAddress) && !takes('@name');
}
