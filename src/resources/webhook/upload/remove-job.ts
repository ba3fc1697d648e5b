import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { toSotraError } from '../../../errors.ts';
import { confirm } from '../../../output/confirm.ts';
import { showPlan } from '../../../output/dry-run.ts';
import { formatCount } from '../../../output/format.ts';
import { type RemovedJob, removedJob } from '../view.ts';
import { findJobFolder, jobsFolder, lockJob, setAside } from './jobs.ts';
import { type JobState, readJournal } from './journal.ts';
import { counted } from './show-upload.ts';

/**
 * Removes what this machine keeps of an upload, damaged or not; the service is not asked. Errors: `not-found`, `locked` while it runs, `usage`
 * without a yes.
 */
export async function removeJob(name: string, context: Context): Promise<Result> {
  const folder = findJobFolder(await jobsFolder(context), name);
  const job = folder.slice(-12);
  const state = stateOf(folder);
  const lost = state instanceof Error ? [`what it confirmed: ${state.message}`] : losses(folder, state);
  const deed = `remove upload ${job}`;
  if (context.options.dryRun)
    return showPlan([
      { action: 'remove', what: `upload ${job}`, detail: folder },
      ...lost.map((what) => ({ action: 'lose', what, detail: null })),
    ]);
  const plan = state instanceof Error || state === undefined ? undefined : state.plan;
  const release = lockJob(
    dirname(folder),
    plan ?? { job, task: 'sync', baseUrl: '', destinationUrl: null },
    context.world,
  );
  try {
    await confirm(deed, context, lost.map((what) => `This loses ${what}.\n`).join(''));
    // In one step: a folder that is half removed would be an upload without its list.
    rmSync(setAside(folder), { recursive: true, force: true });
  } finally {
    release();
  }
  const uid = state instanceof Error ? null : (state?.uid ?? null);
  return { kind: 'answer', answer: { job, uid, lost } satisfies RemovedJob, view: removedJob };
}

function stateOf(folder: string): JobState | undefined | Error {
  try {
    return readJournal(folder);
  } catch (thrown) {
    return toSotraError(thrown);
  }
}

/** What goes with an upload, each as what follows "This loses". */
function losses(folder: string, state: JobState | undefined): string[] {
  if (state === undefined) return [];
  const { plan, done, uid, finishedMs } = state;
  const open = plan.chunks - done.size;
  return [
    ...(finishedMs === undefined && open > 0
      ? [`${counted(open, 'chunk', 's')} of ${formatCount(plan.chunks)} not sent yet`]
      : []),
    ...(state.posting === undefined ? [] : ['whether its webhook was made, which sotra webhook list may show']),
    ...(done.size === 0 ? [] : [`the record of what webhook ${uid} has, which webhook sync needs`]),
    ...(existsSync(join(folder, 'secret'))
      ? [`the secret of webhook ${uid}, which this machine has nowhere else`]
      : []),
  ];
}
