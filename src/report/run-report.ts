import type { Command, Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { checkReplaceable, replaceFile, requireFolder } from '../files/durable-file.ts';
import { describeTyped } from '../log/keep-calls.ts';
import { column } from '../output/columns.ts';
import { confirmReplace } from '../output/confirm.ts';
import { withoutFlagged } from '../output/flagged.ts';
import { formatTime } from '../output/format.ts';
import { collectItems, knownColumns, listBlocks, listRows, oneBatch, rawItems, readLoosely } from '../output/view.ts';
import { type ReportPage, renderPage } from './page.ts';

interface ReportOptions {
  command: Command;
  /** As typed, without `--out`. */
  input: Readonly<Record<string, unknown>>;
  out: string;
  context: Context;
}

type ListResult = (Result & { kind: 'items' }) | (Result & { kind: 'answer' });

/**
 * What a command gives, after it was written to a file (mode 0600), whole. Errors: `usage` for a list without an end and where a file is not to
 * be replaced; `local-file`, before anything is sent, where it cannot be written; those of the command.
 */
export async function runReport({ command, input, out, context }: ReportOptions): Promise<Result> {
  const { options, world } = context;
  if (options.preview) {
    if (options.dryRun) context.note(`Would write ${out}.`);
    return command.run(input as never, context);
  }
  await confirmReplace('--out', out, context);
  requireFolder('--out', out);
  tryToWrite(out, () => checkReplaceable(out));
  const result = (await command.run(input as never, context)) as ListResult;
  if (result.kind === 'items' && result.live)
    throw usageError('--out needs the end of the list, which --follow does not have', 'Omit one of them.');
  const given = result.kind === 'items' ? await collectItems(result.batches) : result.answer;
  const service = command.uses.includes('requests') ? await context.service() : undefined;
  const { line, hide } = describeTyped(context.argv, service?.apiKey ?? null);
  const html = renderPage({
    ...describeAnswer(result, options.showNsfw ? given : withoutFlagged(given), { command, input, context }),
    made: {
      Made: formatTime(Math.floor(world.now() / 1000)),
      ...(service && { From: service.kind === 'sandbox' ? 'the built-in sandbox' : service.baseUrl }),
      By: `sotra ${world.version}`,
    },
    line,
    hide,
  });
  tryToWrite(out, () => replaceFile(out, html));
  context.stopWaiting();
  context.note(`Wrote ${out}.`);
  return result.kind === 'items' ? { ...result, batches: oneBatch(given as readonly unknown[]) } : result;
}

function tryToWrite(file: string, act: () => void): void {
  try {
    act();
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('local-file', `cannot write ${file}: ${readMessage(cause)}`, {
      hint: 'Free some disk space, or correct the permissions of its folder.',
      cause,
    });
  }
}

/** What a page shows of an answer, or of the items of a list; as it came where it does not fit. */
function describeAnswer(
  result: ListResult,
  answer: unknown,
  { command, input, context }: Pick<ReportOptions, 'command' | 'input' | 'context'>,
): Pick<ReportPage, 'title' | 'blocks' | 'notes' | 'chart'> {
  const { view = rawItems } = result;
  const isList = result.kind === 'items';
  const rows = isList ? (answer as readonly unknown[]) : listRows(view, answer, input);
  if (rows === undefined) {
    const asItCame = column.text('answer', 'Answer', 'as it came', () => JSON.stringify(answer));
    const block = { layout: 'record', columns: [asItCame], rows: [{}] } as const;
    return { title: command.summary, blocks: [block], chart: undefined, notes: [] };
  }
  const title = readLoosely(() => view.title?.(rows as never, input as never)) ?? command.summary;
  const main = { layout: view.layout, columns: knownColumns(view, context.options.columns), rows };
  const notes = readLoosely(() => view.notes?.(answer as never, input as never)) ?? [];
  return {
    title,
    blocks: [main, ...(isList ? [] : listBlocks(view, answer, input))],
    chart: readLoosely(() => view.chart?.(rows as never, input as never)),
    notes: [
      ...(rows.length === 0 && view.empty !== undefined ? [view.empty] : []),
      ...(isList ? [] : [...notes, ...(result.notes ?? [])]),
    ],
  };
}
