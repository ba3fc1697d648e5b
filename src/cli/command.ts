import type { Example, InputOf, Method, Params, Source } from '../api/endpoint.ts';
import type { Context } from '../context.ts';
import type { Result } from '../output/result.ts';
import type { AnyView } from '../output/view.ts';

export { isDuration, option } from '../commands/params.ts';
export type { Result };

type Use = 'requests' | 'service' | 'sandbox' | 'changes' | 'events' | 'repeats' | 'answers' | 'calls' | 'json';

export interface Command {
  words: readonly string[];
  summary: string;
  description?: string;
  params: Params;
  /** Keys of params of which at least one is required. */
  oneOf?: readonly (readonly string[])[];
  endpoint?: { method: Method; path: string; source: Source; deprecated?: string };
  examples: readonly Example[];
  uses: readonly Use[];
  /** Beyond 0, 1, 2 and 130. */
  exitCodes: readonly number[];
  view?: () => Promise<AnyView>;
  /** Describes what cannot be undone, such as `delete webhook 2f1d`: it must be confirmed first. */
  confirms?: (input: never) => string;
  run: (input: never, context: Context) => Promise<Result>;
}

export function defineCommand<P extends Params>(
  command: Omit<Command, 'run' | 'params' | 'oneOf'> & {
    params: P;
    oneOf?: readonly (readonly (keyof P & string)[])[];
    run: (input: InputOf<P>, context: Context) => Promise<Result>;
  },
): Command {
  return command as Command;
}
