import { type Endpoint, type EndpointsOf, type InputOf, local, type Param, type Params } from '../api/endpoint.ts';
import { integer, optional } from '../api/kind.ts';
import type { GlobalOptions } from '../commands/options.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { moreHint, walkPages } from '../http/paginate.ts';
import type { AnyView } from '../output/view.ts';
import { type Command, option, type Result } from './command.ts';

export const serviceExitCodes = [4, 5, 6, 7, 8, 9, 13, 130] as const;

export interface Additions<P extends Params, L extends Params> {
  /** Never sent, or easier to type than the input of the same key that they replace. */
  params?: L;
  description?: string;
  oneOf?: readonly (readonly (keyof (P & L) & string)[])[];
  exitCodes?: readonly number[];
  confirms?: (typed: InputOf<Omit<P, keyof L> & L>) => string;
  /** Makes the endpoint's input of what was typed; default: the inputs that the endpoint knows. */
  prepare?: (typed: InputOf<Omit<P, keyof L> & L>, context: Context) => InputOf<P> | Promise<InputOf<P>>;
  /** The view of an answer, where it depends on what was typed; called before anything is sent. */
  chooseView?: (typed: InputOf<Omit<P, keyof L> & L>, context: Context) => Promise<AnyView>;
}

/** The command of an endpoint: words, flags, help and request are derived; paging adds `--all` and `--max`. */
export function endpointCommand<P extends Params, L extends Params = Record<never, Param>>(
  endpoint: Endpoint<string, P>,
  view: () => Promise<AnyView>,
  {
    params,
    description = endpoint.description,
    oneOf = [],
    exitCodes = serviceExitCodes,
    confirms,
    prepare,
    chooseView = view,
  }: Additions<P, L> = {},
): Command {
  const { id, method, path, source, summary, deprecated, examples, paging } = endpoint;
  const texts = [description, confirms && 'Asks on a terminal; elsewhere --yes is needed.'].filter(
    (text) => text !== undefined,
  );
  return {
    words: id.split('.'),
    summary,
    ...(texts.length === 0 ? {} : { description: texts.join('\n') }),
    params: { ...endpoint.params, ...params, ...(paging === undefined || paging.kind === 'limit' ? {} : walkParams) },
    oneOf,
    endpoint: { method, path, source, ...(deprecated === undefined ? {} : { deprecated }) },
    examples: examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
    ...(confirms && { confirms: confirms as (typed: never) => string }),
    exitCodes,
    uses: ['requests'],
    view,
    run: async (typed: Record<string, unknown>, context: Context): Promise<Result> => {
      const picture = asksChart(typed, context.options) ? { chart: true } : {};
      const known = Object.fromEntries(Object.entries(typed).filter(([key]) => Object.hasOwn(endpoint.params, key)));
      const input = prepare === undefined ? (known as InputOf<P>) : await prepare(typed as never, context);
      const shown = await chooseView(typed as never, context);
      const ask = (asked: unknown, link?: string) => context.call(endpoint, asked as InputOf<P>, link);
      if (paging !== undefined && (typed['all'] === true || typed['max'] !== undefined)) {
        const max = typed['max'] as number | undefined;
        const onCut = () => context.note(`There is more: stopped after ${max} items (--max).`);
        const batches = walkPages({ paging, input: input as Record<string, unknown>, ask, max, onCut });
        return { kind: 'items', batches: countItems(batches), view: shown, ...picture };
      }
      const { data, text, isEmpty } = await ask(input);
      if (isEmpty && !(await endpoint.answer()).safeParse(null).success) {
        context.note('Done; the service sent no details.');
        return {
          kind: 'answer',
          answer: null,
          text,
          view: { ...shown, rows: () => [], notes: () => [], blocks: () => [] },
        };
      }
      const hint = paging && moreHint(paging, input as Record<string, unknown>, data);
      return {
        kind: 'answer',
        answer: data,
        text,
        view: shown,
        ...(hint === undefined ? {} : { notes: [hint] }),
        ...picture,
      };
    },
  };
}

/** Adds to an interruption how many items came. */
async function* countItems(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]> {
  let items = 0;
  try {
    for await (const batch of batches) {
      items += batch.length;
      yield batch;
    }
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'interrupted') throw thrown;
    throw new SotraError('interrupted', `interrupted after ${items} item${items === 1 ? '' : 's'}`, { cause: thrown });
  }
}

export type ViewsOf<M> = { [K in keyof EndpointsOf<M>]: () => Promise<AnyView> };

/** The commands of a noun: those written by hand, and a derived one for each other endpoint. */
export function deriveCommands<M extends object>(
  endpoints: M,
  views: ViewsOf<M>,
  byHand: readonly Command[],
): readonly Command[] {
  const taken = new Set(byHand.map(({ words }) => words.join('.')));
  const derived = Object.entries<() => Promise<AnyView>>(views).flatMap(([name, view]) => {
    const endpoint = endpoints[name as keyof M] as Endpoint;
    return taken.has(endpoint.id) ? [] : [endpointCommand(endpoint, view)];
  });
  return [...derived, ...byHand];
}

const walkParams: Params = {
  all: option.flag('fetch every page, printing items as they arrive'),
  max: local(optional(integer(1)), 'fetch pages until this many items'),
};

/** Errors: `usage` where a flag asks for another form of output at the same time. */
function asksChart(typed: Readonly<Record<string, unknown>>, options: GlobalOptions): boolean {
  if (typed['chart'] !== true) return false;
  const rival = findRival(options);
  if (rival === undefined) return true;
  throw usageError(`--chart and ${rival} contradict each other`, 'Omit one of them.');
}

function findRival({ format, jq, columns }: GlobalOptions): string | undefined {
  if (format === 'json') return '--json';
  if (format !== undefined && format !== 'table') return `--format ${format}`;
  if (jq !== undefined) return '--jq';
  return columns === undefined ? undefined : '--columns';
}
