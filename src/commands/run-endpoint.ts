import type { z } from 'zod';
import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import { moreHint, walkPages } from '../client/paginate.ts';
import type { Context } from '../context.ts';
import { usageError, warnOfRepeat } from '../errors.ts';
import { counted } from '../lib/output/format.ts';
import type { AnyView, Result } from '../lib/output/view.ts';
import type { GlobalOptions } from './options.ts';

export interface EndpointSettings<P extends Params, L extends Params, Answer = never> {
  /** The rows and columns of its answer. */
  view: AnyView & { rows: (answer: NoInfer<Answer>, input: never) => readonly unknown[] };
  /** Parameters that are never sent, or that replace one of the same key with a form that is easier to type. */
  params?: L;
  description?: string;
  requireAnyOf?: readonly (readonly (keyof (P & L) & string)[])[];
  /** Names the change that cannot be undone; without it nothing is asked. */
  confirms?: (typed: InputOf<Omit<P, keyof L> & L>) => string | undefined;
  /** The endpoint's input from the typed one; of both, only what the endpoint knows is sent. */
  prepare?: (typed: InputOf<Omit<P, keyof L> & L>, context: Context) => InputOf<P> | Promise<InputOf<P>>;
  /** The view of an answer, if it depends on the input. */
  chooseView?: (typed: InputOf<Omit<P, keyof L> & L>, context: Context) => AnyView | Promise<AnyView>;
  /** Called with an answer before it is printed; gives what differs of the result. */
  onAnswer?: (
    answer: NoInfer<Answer>,
    typed: InputOf<Omit<P, keyof L> & L>,
    context: Context,
  ) => Promise<Partial<Extract<Result, { kind: 'answer' }>>>;
  /** Items that come over time instead of one answer; `undefined` if they were not asked for. */
  watch?: (
    typed: InputOf<Omit<P, keyof L> & L>,
    input: InputOf<P>,
    context: Context,
  ) => Promise<AsyncIterable<readonly unknown[]> | undefined>;
}

type Typed = Readonly<Record<string, unknown>>;

/** The result of an endpoint's command: its answer, its pages, or the request of a preview. */
export async function runEndpoint(
  endpoint: Endpoint,
  { view, prepare, chooseView, onAnswer, watch }: EndpointSettings<Params, Params>,
  typed: Typed,
  context: Context,
): Promise<Result> {
  const { paging, params } = endpoint;
  const chart = asksChart(typed, context.options) ? { chart: true } : {};
  const prepared: object = (await prepare?.(typed as never, context)) ?? typed;
  const input = Object.fromEntries(Object.entries(prepared).filter(([key]) => Object.hasOwn(params, key)));
  const shown = (await chooseView?.(typed as never, context)) ?? view;
  if (context.options.preview)
    return { kind: 'request', request: await context.client.previewCall(endpoint, input as never) };
  const live = await watch?.(typed as never, input as never, context);
  if (live !== undefined) return { kind: 'items', batches: live, view: shown, live: true };
  const fetchPage = (asked: unknown, link?: string) =>
    context.client.call(endpoint, asked as never, { link }).catch((thrown: unknown) => {
      throw warnOfRepeat(thrown, endpoint.method);
    });
  if (paging !== undefined && (typed['all'] === true || typed['max'] !== undefined)) {
    const max = typed['max'] as number | undefined;
    const onMaxReached = () => context.note(`There is more: stopped after ${counted(max ?? 0, 'item')} (--max).`);
    return {
      kind: 'items',
      batches: walkPages({ paging, input, fetchPage, max, onMaxReached }),
      view: shown,
      ...chart,
    };
  }
  const { data, text, isEmpty } = await fetchPage(input);
  if (isEmpty && !((await endpoint.answer()) as z.ZodType).safeParse(null).success) {
    context.note('Done; the service sent no details.');
    const empty: AnyView = { ...shown, rows: () => [], notes: () => [], blocks: () => [] };
    return { kind: 'answer', answer: null, text, view: empty };
  }
  const hint = paging && moreHint(paging, input, data);
  const notes = hint === undefined ? [] : [hint];
  const changes = await onAnswer?.(data as never, typed as never, context);
  return { kind: 'answer', answer: data, text, view: shown, notes, ...chart, ...changes };
}

/** Errors: `usage` if an option asks for another form of output at the same time. */
function asksChart(typed: Typed, { format = 'table' }: GlobalOptions): boolean {
  if (typed['chart'] !== true) return false;
  if (format === 'table') return true;
  throw usageError(`option '--chart' cannot be used with ${format} output`, 'Omit one of them.');
}
