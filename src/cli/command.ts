import type { Context } from '../context.ts';
import type { Example, InputOf, Params } from '../contract/endpoint.ts';
import type { AnyView } from '../output/view.ts';
import type { Use } from './globals.ts';
import type { KnownCommands, Outline } from './outline.ts';

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
