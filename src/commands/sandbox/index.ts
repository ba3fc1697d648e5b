import { local } from '../../api/endpoint.ts';
import { fitting } from '../../api/formats.ts';
import { formatted } from '../../api/kind.ts';
import { type Command, defineCommand, isDuration } from '../../cli/command.ts';
import { parseDuration } from '../../model/duration.ts';
import { tradeParams } from '../../sandbox/trades/live-trades.ts';
import { asOf, db, empty, importParams, logParams, readyFile, simulateParams, startParams } from './params.ts';
import { logView, showLog, stopServed, stopView, withSandboxFile } from './served.ts';

const start = defineCommand({
  words: ['sandbox', 'start'],
  summary: 'Serve the sandbox on this machine',
  description:
    'Serves the interface of the real service on 127.0.0.1 only, with the keys sandbox-key-a and sandbox-key-b.\n' +
    'State is kept in the same database as --sandbox unless --db says otherwise. Ctrl-C stops it, or sotra sandbox stop.\n' +
    '--verbose prints a line for each request: time, method, path, status, key, and names that the endpoint does not know.',
  params: startParams,
  examples: [
    { argv: 'sandbox start --port 4010 --verbose', says: 'serve on http://127.0.0.1:4010 and show each request' },
    { argv: 'sandbox start --ui', says: 'with a page: leaderboard, traders, webhooks, requests' },
    { argv: 'sandbox start --detach', says: 'in the background, until sotra sandbox stop' },
  ],
  uses: ['changes'],
  exitCodes: [3, 124],
  run: async (input, context) => (await import('./start.ts')).startServed(input, context),
});

const importFile = defineCommand({
  words: ['sandbox', 'import'],
  summary: 'Read trades from a CSV or NDJSON file into the sandbox',
  description:
    'Columns: time, trader, token, side, amount, usd, and where known chain, symbol, name, tx, orderId, direction, leverage, supply.\n' +
    'Rows with errors are reported with their line, the others are imported; the same row twice is one trade. All times move by one constant so\n' +
    'that the newest trade is now. Files may be gzip. Importing into a sandbox that does not exist yet makes one with these trades only.',
  params: importParams,
  examples: [
    { argv: 'sandbox import trades.csv --chain base --map value_usd=usd', says: 'a file with its own column name' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3, 10],
  view: async () => (await import('./import.ts')).importView,
  run: async (input, context) =>
    withSandboxFile(context, input.db, async (file) => (await import('./import.ts')).importFile(input, context, file)),
});

const reset = defineCommand({
  words: ['sandbox', 'reset'],
  summary: 'Replace the world by a new one',
  description: 'Asks on a terminal where something was imported, traded or posted since; elsewhere it needs --yes.',
  params: { empty, asOf, db },
  examples: [{ argv: 'sandbox reset', says: 'the built-in world, as on the first day' }],
  uses: ['service', 'changes'],
  exitCodes: [3],
  view: async () => (await import('./state.ts')).statusView,
  run: async (input, context) =>
    withSandboxFile(context, input.db, async (file) => (await import('./state.ts')).resetSandbox(input, context, file)),
});

const status = defineCommand({
  words: ['sandbox', 'status'],
  summary: 'What the sandbox holds: trades, traders, clock, keys',
  params: { db },
  examples: [{ argv: 'sandbox status --json', says: 'as JSON' }],
  uses: ['service'],
  exitCodes: [3],
  view: async () => (await import('./state.ts')).statusView,
  run: async (input, context) => (await import('./state.ts')).sandboxStatus(input.db, context),
});

const advance = defineCommand({
  words: ['sandbox', 'advance'],
  summary: "Move the sandbox's clock forward",
  params: {
    duration: local(
      formatted(fitting(isDuration, 'must be a time such as 90s, 12h or 8d')),
      'how far, such as 12h or 8d',
      { positional: true },
    ),
    db,
  },
  examples: [{ argv: 'sandbox advance 8d', says: 'eight days later' }],
  uses: ['service', 'changes'],
  exitCodes: [3],
  view: async () => (await import('./state.ts')).statusView,
  run: async ({ duration, db }, context) =>
    (await import('./state.ts')).advanceSandbox(parseDuration(duration) ?? 0, db, context),
});

const whichSandbox =
  'The sandbox is the one at --base-url or SOTRA_BASE_URL, that of --ready-file, or the only one that runs.';

const log = defineCommand({
  words: ['sandbox', 'log'],
  summary: 'The latest requests of a served sandbox',
  description: `${whichSandbox}\nIt remembers the last 1,000. Keys are shown by partner and their last four characters.`,
  params: logParams,
  examples: [
    { argv: 'sandbox log', says: 'the last 50 requests, oldest first' },
    { argv: 'sandbox log --limit 1000 --format ndjson', says: 'all that are remembered, one JSON object a line' },
  ],
  uses: ['service', 'answers'],
  exitCodes: [5, 9, 12],
  view: async () => logView,
  run: showLog,
});

const stop = defineCommand({
  words: ['sandbox', 'stop'],
  summary: 'Stop a served sandbox',
  description: `${whichSandbox}\nOnly a process that answers to the control token of that sandbox is stopped.`,
  params: { readyFile },
  examples: [
    { argv: 'sandbox stop', says: 'the one that sandbox start --detach started' },
    { argv: 'sandbox stop --base-url http://127.0.0.1:4010', says: 'one of several' },
  ],
  uses: ['service', 'answers', 'changes'],
  exitCodes: [5, 9, 124],
  view: async () => stopView,
  run: stopServed,
});

const trade = defineCommand({
  words: ['sandbox', 'trade'],
  summary: 'Make one trade happen now, with everything that follows: position, feed, webhooks',
  params: { ...tradeParams, db },
  examples: [
    {
      argv: 'sandbox trade --chain base --trader 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --token 0x5180db8f5c931aae63c74266b211f580155ecac8 --side buy --amount 1000 --usd 250',
      says: 'a buy that followers get as an event',
    },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  view: async () => (await import('./simulate.ts')).traded,
  run: async (input, context) => (await import('./simulate.ts')).tradeNow(input, context),
});

const simulate = defineCommand({
  words: ['sandbox', 'simulate'],
  summary: 'Make trades happen for a while, with their feed items and webhook events',
  description:
    'Without --replay the traders of the world keep trading what they trade. With it a file of trades happens again, its distances in\n' +
    'time kept and --speed times as fast. Webhooks are delivered by a served sandbox on the same database, or by this command.',
  params: simulateParams,
  examples: [
    { argv: 'sandbox simulate --rate 20/s --for 1m', says: 'a busy minute' },
    { argv: 'sandbox simulate --replay trades.csv.gz --speed 60x', says: 'an hour of real trades in a minute' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3, 130],
  view: async () => (await import('./simulate.ts')).simulated,
  run: async (input, context) => (await import('./simulate.ts')).simulate(input, context),
});

export const commands: readonly Command[] = [start, log, stop, importFile, reset, status, advance, trade, simulate];
