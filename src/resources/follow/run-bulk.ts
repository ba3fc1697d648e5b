import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { openTwice } from '../../files/source.ts';
import { formatCount } from '../../output/format.ts';
import { showProgress } from '../../output/show-progress.ts';
import { type BulkPlan, type BulkResult, type BulkSource, firstBatch, planBulk, sendBulk } from './bulk.ts';
import { bulk as bulkEndpoint } from './endpoints.ts';
import { undoPath } from './undo.ts';
import { bulk as view } from './view.ts';

interface BulkInput {
  file: string;
  fromLine: number;
  undoFile: string | undefined;
}

/** Checks a file of entries, then sends it. Errors: those of `planBulk` and `sendBulk`; `usage` for a file that is not there. */
export async function runBulk({ file, fromLine, undoFile }: BulkInput, context: Context): Promise<Result> {
  const undoTo = await undoPath(undoFile, file, context);
  const content = await openTwice(file, context, `--file ${file}`);
  try {
    const source = { name: file, open: content.open, fromLine, signal: context.world.signal };
    const plan = await planBulk(source, context.warn);
    if (plan.entries === 0) return nothingToSend(context);
    if (context.options.preview) return await preview(source, plan, context);
    return await send(source, plan, undoTo, context);
  } finally {
    content.remove();
  }
}

async function send(source: BulkSource, plan: BulkPlan, undoTo: string, context: Context): Promise<Result> {
  const progress = await showProgress(context, { silent: plan.requests === 1 });
  let shown = -1;
  try {
    const answer = await sendBulk(source, plan, {
      context,
      undoTo,
      onEvent: ({ entries }) => {
        const tenth = progress.live ? entries : Math.floor((entries * 10) / plan.entries);
        if (tenth !== shown) progress.step(`sent ${formatCount(entries)} of ${formatCount(plan.entries)} entries`);
        shown = tenth;
      },
    });
    return { kind: 'answer', answer, view, notes: answer.targetProfiles === null ? [tooMany] : [] };
  } finally {
    progress.stop();
  }
}

const tooMany = 'The profiles are too many to be named; targetProfiles is null.';

async function preview(source: BulkSource, plan: BulkPlan, context: Context): Promise<Result> {
  const requests =
    plan.requests === 1 ? '1 request' : `${formatCount(plan.requests)} requests, of which this is the first`;
  context.note(`${formatCount(plan.entries)} entries would go in ${requests}.`);
  await context.call(bulkEndpoint, { entries: (await firstBatch(source)).map(({ entry }) => entry) });
  return { kind: 'none' };
}

function nothingToSend(context: Context): Result {
  context.note('There are no entries: nothing was sent.');
  const answer: BulkResult = {
    entries: 0,
    follows: 0,
    unfollows: 0,
    requests: 0,
    targets: 0,
    targetProfiles: [],
    undoFile: null,
  };
  return { kind: 'answer', answer, view };
}
