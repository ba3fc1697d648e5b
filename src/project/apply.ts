import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { safeText } from '../model/safe-text.ts';
import { column } from '../output/columns.ts';
import { confirm } from '../output/confirm.ts';
import { counted } from '../output/format.ts';
import type { View } from '../output/view.ts';
import { runBulk } from '../resources/follow/bulk.ts';
import { openProject } from './open-project.ts';
import { type Differences, type Plan, withPlan } from './plan.ts';
import type { Change } from './webhook-steps.ts';

interface Row extends Change {
  by: 'apply' | 'hand';
}

const columns = [
  column.text<Row>('action', 'Change', 'what is to be done or was done'),
  column.text<Row>('what', 'What', 'a destination, a webhook, a follower', { cut: 'middle', keep: 16 }),
  column.count<Row>('count', 'How many', 'addresses or targets'),
  column.text<Row>('by', 'By', 'apply: sotra apply does it; hand: the service has no operation for it'),
  column.text<Row>('detail', 'Detail', 'which, or why by hand', { cut: 'end', drop: 1 }),
];

const rowsOf = (changes: readonly Change[], byHand: readonly Change[]): Row[] => [
  ...changes.map((change) => ({ ...change, by: 'apply' as const })),
  ...byHand.map((change) => ({ ...change, by: 'hand' as const })),
];

const table = { layout: 'table', columns, empty: 'Nothing to do: the service has what the file says.' } as const;

export const planned: View<Differences, Row> = {
  ...table,
  rows: ({ changes, byHand }) => rowsOf(changes, byHand),
};

/** A change that was made, with what came of it. */
type MadeChange = Change & { uid?: string; job?: string; undoFile?: string };
type ApplyAnswer = Omit<Differences, 'changes'> & { applied: MadeChange[] };

export const appliedView: View<ApplyAnswer, Row> = { ...table, rows: ({ applied, byHand }) => rowsOf(applied, byHand) };

interface ProjectInput {
  file?: string | undefined;
}

/** What file and service differ in; with `check` exit 10 where they do. Errors: as in `openProject` and `withPlan`. */
export async function showPlan(
  { file, check }: ProjectInput & { check?: boolean | undefined },
  context: Context,
): Promise<Result> {
  return withPlan(await openProject(file, context), context, async ({ differences, listeners }) => ({
    kind: 'answer',
    answer: differences,
    view: planned,
    notes: [
      ...(differences.changes.length > 0 ? ['sotra apply makes these changes.'] : []),
      ...listeners.map((line) => `Deliveries are received by: ${line}`),
    ],
    exitCode: check && !differences.inSync ? 10 : 0,
  }));
}

/** Makes the changes that the plan names, after a question. Errors: that of the first that fails, `partial` once something was done. */
export async function applyPlan({ file }: ProjectInput, context: Context): Promise<Result> {
  return withPlan(await openProject(file, context), context, async (plan) => {
    const { changes, ...rest } = plan.differences;
    if (changes.length > 0) {
      const lines = changes.map(({ action, what, count }) => `${safeText(`  ${action} ${what} (${count})`)}\n`);
      await confirm(`make ${counted(changes.length, 'change')} at ${rest.baseUrl}`, context, lines.join(''));
    }
    const applied = await makeChanges(plan, context);
    const answer: ApplyAnswer = { ...rest, inSync: rest.byHand.length === 0, applied };
    const [undoFile] = applied.flatMap((made) => made.undoFile ?? []);
    const notes = undoFile === undefined ? [] : [`The follows are undone by: sotra follow bulk --file ${undoFile}`];
    return { kind: 'answer', answer, view: appliedView, notes };
  });
}

async function makeChanges({ steps, folder }: Plan, context: Context): Promise<MadeChange[]> {
  const entries = steps.flatMap(({ entry }) => entry ?? []);
  const acts = steps.flatMap(({ change, run }) => (run === undefined ? [] : [{ changes: [change], run }]));
  if (entries.length > 0) {
    const file = join(folder, 'apply.ndjson');
    writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    const changes = steps.flatMap(({ change, entry }) => (entry === undefined ? [] : [change]));
    acts.push({ changes, run: () => runBulk({ file, fromLine: 1 }, context) });
  }
  const done: MadeChange[] = [];
  for (const { changes, run } of acts) {
    try {
      const result = await run();
      const { uid, job, undoFile } = result?.kind === 'answer' ? (result.answer as Partial<MadeChange>) : {};
      const came = { ...(uid && { uid }), ...(job && { job }), ...(undoFile && { undoFile }) };
      done.push(...changes.map((change) => ({ ...change, ...came })));
    } catch (thrown) {
      throw partialError(thrown, done, changes);
    }
  }
  return done;
}

function partialError(thrown: unknown, done: readonly Change[], failed: readonly Change[]): unknown {
  const error = toSotraError(thrown);
  if (!(thrown instanceof SotraError) || (done.length === 0 && error.code !== 'partial')) return thrown;
  const { code, status, requestId, details } = error;
  return new SotraError(
    code === 'interrupted' ? code : 'partial',
    `${counted(done.length, 'change')} made, then: ${error.message}`,
    {
      hint: 'sotra apply continues.',
      status,
      requestId,
      cause: thrown,
      details: { applied: done, failed, error: details ?? null },
    },
  );
}
