import { type Command, type Frame, type Result, readInterval } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { column } from '../output/columns.ts';
import { counted } from '../output/format.ts';
import { readCell } from '../output/grid.ts';
import {
  type AnyColumn,
  type AnyView,
  type CellValue,
  cellValue,
  knownColumns,
  readLoosely,
  type View,
} from '../output/view.ts';
import { chooseMark, compareSnapshots, type RowChange, type RowKey, type Snapshot, takeSnapshot } from './changes.ts';
import { createPace } from './pace.ts';

interface WatchOptions {
  command: Command;
  key: RowKey;
  /** As typed. */
  input: Readonly<Record<string, unknown>>;
  context: Context;
}

type Watch = Omit<WatchOptions, 'input'> & { typed: Readonly<Record<string, unknown>>; everyMs: number };

/**
 * What a command prints while it is run again and again. Ends with a signal: `interrupted`. Errors: `usage`; those of the command that do not
 * pass.
 */
export async function watchCommand({ input, ...watched }: WatchOptions): Promise<Result> {
  const { command, context } = watched;
  const { watch: every, ...typed } = input;
  const { options, world } = context;
  checkWatch(typed, options);
  if (options.preview) return command.run(typed as never, context);
  const watch = { ...watched, typed, everyMs: readInterval(String(every)) };
  context.stopWaiting();
  const { plain, jq, format = 'table' } = options;
  if (world.io.out.isTTY && !plain && jq === undefined && format === 'table')
    return { kind: 'screen', frames: drawnFrames(watch) };
  const { columns } = options;
  // The columns were those of the command; printed are changes.
  Object.assign(options, { columns: undefined, ...(!plain && { format: options.format ?? 'ndjson' }) });
  return { kind: 'items', batches: changesIn(watch, columns), view: changesView, live: true };
}

/** Errors: `usage`. */
function checkWatch(typed: Readonly<Record<string, unknown>>, options: Context['options']): void {
  const rival = ['all', 'max', 'out', 'chart'].find((flag) => typed[flag] !== undefined && typed[flag] !== false);
  if (rival !== undefined) throw usageError(`--watch and --${rival} cannot be used together`, 'Omit one of them.');
  if (options.format === 'md') throw usageError('--format md needs the end of the list, which --watch does not have');
}

type AnswerResult = Result & { kind: 'answer'; view: AnyView };

/** The answers of a command round by round; `undefined` where there was none. */
async function* runRounds(
  { command, typed, everyMs, context }: Watch,
  say: (text: string) => unknown,
): AsyncGenerator<AnswerResult | undefined> {
  const { signal } = context.world;
  const pace = createPace(context, everyMs, say);
  for (let rounds = 0; ; ) {
    try {
      const result = (await command.run(typed as never, context)) as AnswerResult;
      rounds += 1;
      await pace.succeeded();
      yield result;
    } catch (thrown) {
      if (!signal.aborted) await pace.failed(thrown, rounds > 0 ? ['bad-answer'] : []);
      yield undefined;
    }
    await pace.pause();
    if (signal.aborted) throw new SotraError('interrupted', `stopped after ${counted(rounds, 'round')}`);
  }
}

async function* changesIn(watch: Watch, columns: readonly string[] | undefined): AsyncGenerator<readonly RowChange[]> {
  const { context, everyMs, typed, key } = watch;
  let before: Snapshot | undefined;
  for await (const result of runRounds(watch, context.note)) {
    if (result === undefined) continue;
    const { view, answer } = result;
    const chosen = columns === undefined ? view.columns : knownColumns(view, columns);
    const now = takeSnapshot(view, { answer, input: typed, id: key.id, columns: chosen });
    if (before === undefined)
      context.note(
        `Watching ${counted(now.size, 'row')} every ${everyMs / 1000} s; changes are printed as they come. Ctrl-C stops.`,
      );
    else {
      const changes = compareSnapshots(before, now, new Date(context.world.now()).toISOString(), key);
      if (changes.length > 0) yield changes;
    }
    before = now;
  }
}

const json = (cells: RowChange['now']) => (cells === null ? null : JSON.stringify(cells));

const changesView: View<unknown, RowChange> = {
  layout: 'table',
  rows: () => [],
  columns: [
    column.text('at', 'Time', 'when it was seen'),
    column.text('change', 'Change', 'entered, left, up, down or changed'),
    column.text('item', 'Item', 'what tells the row from others', { cut: 'middle' }),
    column.text('name', 'Name', 'display name', ({ name }) => name),
    column.text('before', 'Before', 'what was in the columns that changed', ({ before }) => json(before), {
      cut: 'end',
    }),
    column.text('now', 'Now', 'what is in them', ({ now }) => json(now), { cut: 'end' }),
  ],
};

async function* drawnFrames(watch: Watch): AsyncGenerator<Frame> {
  const { context, everyMs, typed, key } = watch;
  let status = '';
  let before: Snapshot | undefined;
  let last: Frame = { answer: undefined, view: { layout: 'table', rows: () => [], columns: [] }, notes: [] };
  const say = (text: string) => {
    status = text;
  };
  for await (const result of runRounds(watch, say)) {
    if (result !== undefined) {
      status = '';
      const { view, answer } = result;
      const rows = takeSnapshot(view, { answer, input: typed, id: key.id, columns: view.columns });
      const changes = before === undefined ? [] : compareSnapshots(before, rows, '', key);
      const left = changes.filter(({ change }) => change === 'left').map(({ name, item }) => name ?? item);
      const notes = [
        ...(left.length === 0 ? [] : [`Left: ${left.join(', ')}.`]),
        ...(result.notes ?? []),
        ...(readLoosely(() => view.notes?.(answer as never, typed as never)) ?? []),
        ...(rows.size === 0 && view.empty !== undefined ? [view.empty] : []),
      ];
      last = { answer, view: before === undefined ? view : markView(view, before, key), notes };
      before = rows;
    }
    const time = new Date(context.world.now()).toISOString().slice(11, 19);
    yield { ...last, notes: [...last.notes, `${time}Z, every ${everyMs / 1000} s. ${status || 'Ctrl-C stops.'}`] };
  }
}

/** The view with a mark at each cell that differs from before, and a plus at a row that is new. */
function markView(view: AnyView, before: Snapshot, { id, rank }: RowKey): AnyView {
  const idColumn = view.columns.find(({ key }) => key === id);
  const columns = view.columns.map((each, place) =>
    markColumn(each, (value, row, index) => {
      const item = idColumn === undefined ? '' : String(cellValue(idColumn, row, index));
      const cells = before.get(item)?.cells;
      if (cells === undefined) return place === 0 ? '+' : undefined;
      return chooseMark(each, value, cells[each.key], rank);
    }),
  );
  return { ...view, columns };
}

function markColumn(
  each: AnyColumn,
  markFor: (value: CellValue, row: unknown, index: number) => string | undefined,
): AnyColumn {
  return {
    ...each,
    show: (row: never, index: number) => {
      const shown = readCell(each, row, index);
      const mark = markFor(cellValue(each, row, index), row, index);
      if (mark === undefined) return shown;
      const { text, short, tone = 'strong' } = shown;
      return { text: `${mark} ${text}`, tone, ...(short !== undefined && { short: `${mark} ${short}` }) };
    },
  };
}
