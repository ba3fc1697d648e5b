import { z } from 'zod';
import { type Command, defineCommand, intervalParam, option, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { resolveIdentifier } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { checkInput } from '../contract/request.ts';
import { usageError } from '../errors.ts';
import { eventFilters, store } from '../inbox/params.ts';
import { namesKnownTo } from '../log/recall.ts';
import { isUuid } from '../model/address.ts';
import { parseDuration } from '../model/duration.ts';
import type { Comment } from '../model/position.ts';
import * as comments from '../resources/comment/endpoints.ts';
import { views as commentViews } from '../resources/comment/index.ts';
import * as boards from '../resources/leaderboard/endpoints.ts';
import { views as boardViews } from '../resources/leaderboard/index.ts';
import * as positions from '../resources/position/endpoints.ts';
import { views as positionViews } from '../resources/position/index.ts';

const interval = intervalParam('ask this often (default 2s)');
const ends =
  'Prints it and exits 0 as soon as it happens, at once if it has; exits 124 when it does not within --timeout (default 30s).';

const exitCodes = [...serviceExitCodes, 124].sort((a, b) => a - b);

/** The answer of `look`, as a result; asked again until there is one. */
async function waitResult(
  otherwise: string,
  { interval }: { interval?: string | undefined },
  context: Context,
  look: () => Promise<Result | undefined>,
): Promise<Result> {
  const { waitFor } = await import('../watch/pace.ts');
  return waitFor(look, { otherwise, everyMs: parseDuration(interval ?? '2s') ?? 0, context });
}

const position = defineCommand({
  words: ['wait', 'position', 'closed'],
  summary: 'Wait until a position is closed',
  description: ends,
  params: {
    position: local(
      z.array(z.string().min(1)).min(1).max(4),
      'its id, or wallet, chain, contract and perhaps the Unix time of a trade',
      {
        positional: true,
        takesAddress: 'token',
      },
    ),
    interval,
  },
  examples: [
    { argv: '--sandbox wait position closed 5574bd46-fcaf-5c88-a2bb-2f161fa0463d', says: 'by its id' },
    {
      argv: 'wait position closed 0x465bdc4499e12488c05fd6b60f545ff5d781e755 base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --timeout 1h',
      says: 'what a wallet holds of a token now',
    },
  ],
  uses: ['requests'],
  exitCodes,
  view: positionViews.get,
  run: async (input, context) => {
    const id = await positionId(input.position, context);
    return waitResult(`position ${id} was not closed`, input, context, async () => {
      const { data, text } = await context.call(positions.get, { id });
      if (data.metadata?.positionStats?.isOpen !== false) return undefined;
      return { kind: 'answer', answer: data, text, view: await positionViews.get() };
    });
  },
});

/** Errors: `usage`; those of the call that finds it. */
async function positionId([first = '', chain, contract, time]: readonly string[], context: Context): Promise<string> {
  if (chain === undefined) return first;
  if (contract === undefined)
    throw usageError(
      `<position> ${first} ${chain}: neither an id nor wallet, chain and contract`,
      'Such as: 0x465b... base 0x4ed4...',
    );
  const nowMs = context.world.now();
  const now = chain === 'hyperliquid' ? nowMs : Math.floor(nowMs / 1000);
  const wallet = await resolveIdentifier({ label: '<position>', identifier: true }, first, await namesKnownTo(context));
  const trade = checkInput(positions.find, { address: wallet, chain, contract, timestamp: time ?? String(now) });
  return (await context.call(positions.find, trade as never)).data.itemId;
}

const { address, chains, onlyWithComments, timeframe } = boards.rank.params;

const rank = defineCommand({
  words: ['wait', 'rank'],
  summary: 'Wait until a trader has a place on the leaderboard',
  description: ends,
  params: {
    address: { ...address, positional: true },
    atMost: local(z.int().min(1), 'the place to reach, or a better one'),
    chains,
    onlyWithComments,
    timeframe,
    interval,
  },
  examples: [
    {
      argv: '--sandbox wait rank 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --at-most 100',
      says: 'among the first hundred',
    },
    {
      argv: 'wait rank 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --at-most 10 --chains solana --timeout 30m --interval 1m',
      says: 'among the first ten of Solana, asking each minute',
    },
  ],
  uses: ['requests'],
  exitCodes,
  view: boardViews.rank,
  run: async ({ interval: every, atMost, ...asked }, context) =>
    waitResult(`${asked.address} did not reach place ${atMost}`, { interval: every }, context, async () => {
      const { data, text } = await context.call(boards.rank, asked);
      if (typeof data.ranking !== 'number' || data.ranking > atMost) return undefined;
      return { kind: 'answer', answer: data, text, view: await boardViews.rank() };
    }),
});

const comment = defineCommand({
  words: ['wait', 'comment'],
  summary: 'Wait until a comment can be read',
  description: `The service has no way to ask for one comment: name its swap (--tx) or its token (--token) with --chain; otherwise it is looked for\nin what webhook listen stored. ${ends}`,
  params: {
    uid: local(z.string().refine(isUuid, 'must be the uid of a comment (a UUID)'), 'uid of the comment', {
      positional: true,
    }),
    chain: { ...comments.list.params.chain, schema: comments.list.params.chain.schema.optional() },
    tx: option.text('transaction hash of the swap; on hyperliquid also an order id'),
    token: option.text('token that was swapped', { takesAddress: 'token' }),
    interval,
  },
  examples: [
    {
      argv: '--sandbox wait comment 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --chain base',
      says: 'among those on a token',
    },
    {
      argv: 'wait comment 2f991d88-4e6a-54f7-b130-a9788a9a06ab --timeout 2m',
      says: 'until it was delivered to this machine',
    },
  ],
  uses: ['requests'],
  exitCodes,
  view: commentViews.post,
  run: async (input, context) => {
    const { uid, chain, tx, token } = input;
    if ((tx === undefined) === (token === undefined) ? chain !== undefined || tx !== undefined : chain === undefined)
      throw usageError(
        'a comment is found by --chain with --tx, or by --chain with --token',
        'Omit all three to look among stored deliveries.',
      );
    return waitResult(`comment ${uid} did not come`, input, context, async () => {
      if (chain === undefined)
        return findEvent({ type: 'comment-created' }, context, ({ event }) =>
          JSON.stringify(event).includes(`"${uid}"`),
        );
      const all = tx === undefined ? await onToken(chain, token ?? '', context) : await onSwap(chain, tx, context);
      const found = all.find((each) => each.uid === uid);
      return found && { kind: 'answer', answer: found, view: await commentViews.post() };
    });
  },
});

type Chain = (typeof comments.list.params.chain.schema)['_output'];

async function onSwap(chain: Chain, tx: string, context: Context): Promise<readonly Comment[]> {
  const { data } = await context.call(comments.list, { hashes: [tx], chain });
  return Object.values(data).flatMap((swap) => swap.comments ?? []);
}

async function onToken(chain: Chain, contractAddress: string, context: Context): Promise<readonly Comment[]> {
  const { data } = await context.call(comments.ofToken, { chain, contractAddress });
  return data.map((item) => item.comment);
}

const event = defineCommand({
  words: ['wait', 'webhook', 'event'],
  summary: 'Wait until webhook listen stored an event',
  description: `The newest that fits, also one of before: --since 0s takes only what comes from now on. ${ends}`,
  params: { ...eventFilters, ...store, interval },
  examples: [
    { argv: 'wait webhook event --type new-feed-item --since 0s --timeout 2m', says: 'the next feed item' },
    {
      argv: 'wait webhook event --address 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
      says: 'one that names a wallet',
    },
  ],
  uses: ['answers'],
  exitCodes: [3, 5, 9, 124],
  view: async () => (await import('../inbox/view.ts')).events,
  run: async ({ interval: every, ...query }, context) => {
    // How long ago is counted from the start of the wait.
    const agoMs = parseDuration(query.since ?? '');
    const since = agoMs === undefined ? query.since : new Date(context.world.now() - agoMs).toISOString();
    return waitResult('no such event came', { interval: every }, context, () =>
      findEvent({ ...query, since }, context),
    );
  },
});

type EventsInput = Parameters<typeof import('../inbox/run-events.ts').showEvents>[0];

/** The newest stored event that fits. */
async function findEvent(
  query: EventsInput,
  context: Context,
  fits: (row: { event: unknown }) => boolean = () => true,
): Promise<Result | undefined> {
  const { showEvents } = await import('../inbox/run-events.ts');
  return pickRow(await showEvents({ ...query, limit: 1000 }, context), fits);
}

/** The first row of a list that fits, by itself. */
function pickRow<Row>(list: Result, fits: (row: Row) => boolean): Result | undefined {
  if (list.kind !== 'answer' || list.view === undefined) return undefined;
  const found = (list.answer as Row[]).find(fits);
  return found && { kind: 'answer', answer: found, view: { ...list.view, rows: (row: never) => [row] } };
}

const job = defineCommand({
  words: ['wait', 'job'],
  summary: 'Wait until an upload is finished',
  description: ends,
  params: {
    job: local(z.string().min(1), 'name of the upload, or its start; webhook jobs lists them', { positional: true }),
    interval,
  },
  examples: [
    { argv: 'wait job 3f9a --timeout 10m', says: 'an upload that another process does' },
    { argv: 'wait job 3f9a --json', says: 'as JSON' },
  ],
  uses: ['answers'],
  exitCodes: [3, 5, 124],
  view: async () => (await import('../resources/webhook/view.ts')).jobs,
  run: async (input, context) => {
    const { findJob, jobsFolder, showJobs } = await import('../upload/jobs.ts');
    const { state } = findJob(await jobsFolder(context), input.job);
    const isDone = (row: { job: string; finished: boolean }) => row.job === state.plan.job && row.finished;
    return waitResult(`upload ${state.plan.job} did not finish`, input, context, async () =>
      pickRow(await showJobs(context), isDone),
    );
  },
});

export const commands: readonly Command[] = [position, rank, comment, event, job];
