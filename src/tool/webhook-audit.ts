import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { withInbox } from '../inbox/open-inbox.ts';
import { type InboxPlace, momentOption, store } from '../inbox/params.ts';
import { parseDuration, parseMoment } from '../model/duration.ts';
import type { Card } from '../model/position.ts';
import { column } from '../output/columns.ts';
import { counted, formatCount } from '../output/format.ts';
import { showProgress } from '../output/progress.ts';
import type { View } from '../output/view.ts';
import { addAddresses, exampleUid } from '../resources/webhook/endpoints.ts';
import { jobsOfService, listConfirmed } from '../upload/jobs.ts';
import { readAddresses } from '../upload/read-addresses.ts';
import {
  compareEvents,
  expectEvents,
  type Finding,
  listAudience,
  makeEventKey,
  type ReceivedEvent,
  readFeed,
} from './audit-events.ts';

interface Audit {
  uid: string;
  destinationUrl: string | null;
  /** Unix seconds. */
  since: number;
  wallets: number;
  expected: number;
  received: number;
  missing: number;
  late: number;
  doubled: number;
  pending: number;
  /** Who deliveries were for that is not among the wallets. */
  unlisted: string[];
  findings: Finding[];
}

const maxNamed = 3;

const view: View<Audit, Finding> = {
  layout: 'table',
  rows: ({ findings }) => findings,
  columns: [
    column.text('state', 'State', 'missing, late, doubled, or pending: so new that it may still come'),
    column.text('kind', 'Kind', 'kind of the event that the feed makes'),
    column.text('why', 'Why', 'first-buy, repeat-buy or aped-in, by the published rules', { drop: 3 }),
    column.time('at', 'When', 'time of the trade or comment, Unix seconds'),
    column.count('delay', 'Delay', 'seconds until the first delivery'),
    column.address('trader', 'Trader', 'whose trade or comment', { drop: 2 }),
    column.text('symbol', 'Token', 'symbol of the token', { drop: 4 }),
    column.text('reason', 'Reason', 'why, where it can be known', { cut: 'end' }),
    column.text('transactionHash', 'Transaction', 'of the trade', { extra: true }),
    column.text('comment', 'Comment', 'uid of the comment', { extra: true }),
    column.text('eventIds', 'Events', 'ids of the stored events', ({ eventIds }) => eventIds.join(' '), {
      extra: true,
    }),
  ],
  empty: 'Nothing is missing, late or doubled.',
  notes: ({ uid, expected, wallets, missing, late, doubled, pending, unlisted }) => [
    `${counted(expected, 'event')} expected by the feeds of ${counted(wallets, 'wallet')}: ` +
      `${missing} missing, ${late} late, ${doubled} doubled, ${pending} pending.`,
    ...(unlisted.length === 0
      ? []
      : [
          `Deliveries came for ${counted(unlisted.length, 'wallet')} that this machine did not upload to ${uid}: ` +
            `${unlisted.slice(0, maxNamed).join(', ')}${unlisted.length > maxNamed ? ', ...' : ''}`,
        ]),
  ],
};

const audit: Command = defineCommand({
  words: ['webhook', 'audit'],
  summary: 'Compare what webhook listen stored with what the feeds of the wallets show',
  description:
    'Reads the home feed of each wallet of the webhook, as this machine uploaded them or as --file names them, and says which buys and\n' +
    'comments should have made an event, by the published rules, and have no stored one, a late one or several. Copies are in no feed and\n' +
    'are not looked at; what was traded before this machine uploaded the addresses is not expected. A reason is given where it can be known.\n' +
    'Whom deliveries were for, and this machine did not upload, is named (unlisted in JSON). --check exits 10 where an event is missing, late\n' +
    'or doubled.',
  params: {
    uid: addAddresses.params.uid,
    since: momentOption('only trades and comments since a time, or within 1h (default 24h)'),
    late: option.duration('how long after its trade an event is late (default 5m)', '90s or 5m'),
    file: option.text('the wallets, in place of those that this machine uploaded'),
    check: option.flag('exit 10 where an event is missing, late or doubled'),
    ...store,
  },
  examples: [
    { argv: `webhook audit ${exampleUid} --since 24h`, says: 'the last day' },
    { argv: `webhook audit ${exampleUid} --since 6h --check --json`, says: 'for a job that runs every six hours' },
  ],
  uses: ['requests'],
  exitCodes: [3, 10, ...serviceExitCodes],
  view: async () => view,
  run: runAudit,
});

interface AuditInput extends InboxPlace {
  uid: string;
  since?: string | undefined;
  late?: string | undefined;
  file?: string | undefined;
  check?: boolean | undefined;
}

async function runAudit(input: AuditInput, context: Context): Promise<Result> {
  const nowMs = context.world.now();
  const { wallets, destinationUrl, uploadedMs } = await findAuditWallets(input, context);
  // What was traded before the webhook had its addresses made no event for it.
  // Feeds tell times in whole seconds.
  const sinceMs = Math.floor(Math.max(uploadedMs, parseMoment(input.since ?? '24h', nowMs, 'ago') ?? 0) / 1000) * 1000;
  const cards = await readFeeds(wallets, sinceMs, context);
  const expected = expectEvents(cards, sinceMs);
  const query = { sinceMs, ...(destinationUrl !== null && { webhook: readPathAndQuery(destinationUrl) }) };
  const unlisted = new Set<string>();
  const stored = async (inbox: Inbox): Promise<Result> => {
    const received: ReceivedEvent[] = [];
    for await (const event of inbox.events(query)) {
      for (const wallet of listAudience(event)) if (!wallets.has(wallet)) unlisted.add(wallet);
      const key = makeEventKey(event);
      if (key !== undefined) received.push({ eventId: event.eventId, key, atMs: event.delivery.atMs });
    }
    return compareReceived(received, await inbox.stats({ sinceMs }));
  };
  const compareReceived = (received: readonly ReceivedEvent[], hours: Awaited<ReturnType<Inbox['stats']>>): Result => {
    const lateMs = parseDuration(input.late ?? '5m') ?? 0;
    const findings = compareEvents(expected, received, { nowMs, lateMs, hours });
    const count = (state: Finding['state']) => findings.filter((each) => each.state === state).length;
    const answer: Audit = {
      ...{ uid: input.uid, destinationUrl, since: Math.floor(sinceMs / 1000), wallets: wallets.size },
      ...{ expected: expected.length, received: received.length },
      ...{ missing: count('missing'), late: count('late'), doubled: count('doubled'), pending: count('pending') },
      unlisted: [...unlisted].sort(),
      findings,
    };
    const isWrong = findings.length > answer.pending;
    return { kind: 'answer', answer, view, exitCode: input.check && isWrong ? 10 : 0 };
  };
  return withInbox<Result>(input, context, () => compareReceived([], []), stored);
}

function readPathAndQuery(destination: string): string {
  const { pathname, search } = new URL(destination);
  return pathname + search;
}

interface Wallets {
  wallets: ReadonlySet<string>;
  destinationUrl: string | null;
  uploadedMs: number;
}

/** The wallets of a webhook, as named or as this machine uploaded them. Errors: `not-found` where neither says them. */
async function findAuditWallets({ uid, file }: AuditInput, context: Context): Promise<Wallets> {
  const jobs = (await jobsOfService(context, (each) => each === uid)).filter(({ state }) => state.uid === uid);
  const destinationUrl = jobs.find(({ state }) => state.destinationUrl !== undefined)?.state.destinationUrl ?? null;
  const uploadedMs = jobs[0]?.state.plan.atMs ?? 0;
  if (file !== undefined) {
    const { addresses: wallets } = await readAddresses({ file }, context);
    return { wallets, destinationUrl, uploadedMs };
  }
  const wallets = new Set(listConfirmed(jobs, uid).flat());
  if (wallets.size > 0) return { wallets, destinationUrl, uploadedMs };
  throw new SotraError('not-found', `this machine uploaded no addresses to webhook ${uid}`, {
    hint: 'Name them with --file; the service does not list them. sotra webhook jobs shows what was uploaded from here.',
  });
}

/** The cards of the home feeds, each once, back to a time. */
async function readFeeds(wallets: ReadonlySet<string>, sinceMs: number, context: Context): Promise<Iterable<Card>> {
  const cards = new Map<string, Card>();
  const progress = await showProgress(context);
  let read = 0;
  try {
    for (const wallet of wallets) {
      if (progress.live) progress.step(`read ${formatCount(read)} of ${counted(wallets.size, 'feed')}`);
      for await (const card of readFeed(wallet, sinceMs, context)) cards.set(card.itemId, card);
      read += 1;
    }
  } finally {
    progress.stop();
  }
  return cards.values();
}

export const commands: readonly Command[] = [audit];
