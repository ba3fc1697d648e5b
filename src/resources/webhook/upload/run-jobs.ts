import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { toSotraError } from '../../../errors.ts';
import { confirm, showPlan } from '../../../output/confirm.ts';
import { formatCount } from '../../../output/format.ts';
import { type JobRow, jobs as jobsView, type RemovedJob, removedJob } from '../view.ts';
import { findJobFolder, jobsFolder, listJobs, lockJob, setAside } from './jobs.ts';
import { type JobState, readJournal, resentChunks } from './journal.ts';
import { counted } from './show-upload.ts';

/** Every upload of this machine with what is confirmed, oldest first. */
export async function showJobs(context: Context): Promise<Result> {
  const answer = listJobs(await jobsFolder(context)).map(
    ({ state }): JobRow => ({
      job: state.plan.job,
      task: state.plan.task,
      uid: state.uid ?? null,
      destinationUrl: state.destinationUrl ?? null,
      baseUrl: state.plan.baseUrl,
      addresses: state.plan.addresses,
      chunks: state.plan.chunks,
      confirmed: state.done.size,
      resentChunks: resentChunks(state),
      finished: state.finishedMs !== undefined,
      startedAt: Math.floor(state.plan.atMs / 1000),
    }),
  );
  return { kind: 'answer', answer, view: jobsView };
}

/**
 * Removes what this machine keeps of an upload, damaged or not; nothing is sent. Errors: `not-found`, `locked` while it runs, `usage`
 * without a yes.
 */
export async function removeJob(name: string, context: Context): Promise<Result> {
  const folder = findJobFolder(await jobsFolder(context), name);
  const job = folder.slice(-12);
  const state = stateOf(folder);
  const lost = state instanceof Error ? [`what it confirmed: ${state.message}`] : losses(folder, state);
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
    await confirm(`remove upload ${job}`, context, lost.map((what) => `This loses ${what}.\n`).join(''));
    // First moved: a folder that is removed in part would be an upload without its list.
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

/** What is lost with an upload; each completes "This loses". */
function losses(folder: string, state: JobState | undefined): string[] {
  if (state === undefined) return [];
  const { plan, done, uid, finishedMs } = state;
  const open = plan.chunks - done.size;
  const lost: string[] = [];
  if (finishedMs === undefined && open > 0)
    lost.push(`${counted(open, 'chunk', 's')} of ${formatCount(plan.chunks)} not sent yet`);
  if (state.posting !== undefined) lost.push('whether its webhook was made, which sotra webhook list may show');
  if (done.size > 0) lost.push(`the record of what webhook ${uid} has, which webhook sync needs`);
  if (existsSync(join(folder, 'secret')))
    lost.push(`the secret of webhook ${uid}, which this machine has nowhere else`);
  return lost;
}
