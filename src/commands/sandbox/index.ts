import { parseDuration } from '../../api/duration.ts';
import { local } from '../../api/endpoint.ts';
import { parsed } from '../../api/kind.ts';
import { tradeParams } from '../../sandbox/ledger/trade.ts';
import type { Command } from '../command.ts';
import { db } from '../params.ts';
import { asOf, empty, importParams, logParams, readyFile, simulateParams, startParams } from './params.ts';
import { importView, logView, simulated, statusView, stopView, traded } from './view.ts';

const whichSandbox =
  'Uses the sandbox at --base-url or SOTRA_BASE_URL, the one of --ready-file, or the only one that is running.';

const durationKind = parsed(parseDuration, 'must be a time such as 90s, 12h or 8d');

export function setUp(sandbox: Command): void {
  sandbox
    .command('start')
    .summary('Serve the sandbox on 127.0.0.1')
    .description(
      'It answers like the service, with the API keys sandbox-key-a and sandbox-key-b, and keeps its data in the database of --sandbox. ' +
        '--verbose prints each request. Ctrl-C or sotra sandbox stop stops it.',
    )
    .params(startParams)
    .changes()
    .example('sandbox start --port 4010 --verbose', 'serve on http://127.0.0.1:4010 and print requests')
    .example('sandbox start --ui', 'with a page: leaderboard, traders, webhooks, requests')
    .example('sandbox start --detach', 'in the background')
    .run(async (input, context) => (await import('./start.ts')).startServed(input, context));

  sandbox
    .command('stop')
    .summary('Stop a served sandbox')
    .description(whichSandbox)
    .params({ readyFile })
    .changes()
    .shares('timeout')
    .prints(stopView)
    .example('sandbox stop', 'the only one that is running')
    .example('sandbox stop --base-url http://127.0.0.1:4010', 'one of several')
    .run(async (input, context) => (await import('./served.ts')).stopServed(input, context));

  sandbox
    .command('status')
    .summary('Show what the sandbox has: trades, traders, clock, keys')
    .params({ db })
    .prints(statusView)
    .example('sandbox status --json', 'as JSON')
    .run(async (input, context) => (await import('./open-sandbox.ts')).sandboxStatus(input.db, context));

  sandbox
    .command('log')
    .summary('List the last requests to a served sandbox')
    .description(`${whichSandbox} It keeps the last 1,000 requests and only the last characters of their keys.`)
    .params(logParams)
    .shares('dryRun', 'timeout')
    .prints(logView)
    .example('sandbox log', 'the last 50 requests, oldest first')
    .example('sandbox log --limit 1000 --format ndjson', 'all of them, as NDJSON')
    .run(async (input, context) => (await import('./served.ts')).showLog(input, context));

  sandbox
    .command('import')
    .summary('Import trades from a CSV or NDJSON file')
    .description(
      'Columns: time, trader, token, side, amount, usd (or priceUsd); optional: chain, symbol, name, tx, orderId, direction, leverage, supply. ' +
        'The file may be gzipped. Invalid rows are reported, duplicates count once, and times are shifted so that the newest trade is now. ' +
        'A new sandbox has only the imported trades.',
    )
    .params(importParams)
    .changes()
    .prints(importView)
    .example('sandbox import trades.csv --chain base --map value_usd=usd', 'a file with another column name')
    .run(async (input, context) => (await import('./import.ts')).importFile(input, context));

  sandbox
    .command('trade')
    .summary('Make one trade now, with its position, feed items and webhook events')
    .params({ ...tradeParams, db })
    .changes()
    .prints(traded)
    .example(
      'sandbox trade --chain base --trader 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --token 0x5180db8f5c931aae63c74266b211f580155ecac8 --side buy --amount 1000 --usd 250',
      'a buy that followers see as an event',
    )
    .run(async (input, context) => (await import('./simulate.ts')).tradeNow(input, context));

  sandbox
    .command('advance')
    .summary("Move the sandbox's clock forward")
    .params({ duration: local(durationKind, 'how far, such as 12h or 8d', { positional: true }), db })
    .changes()
    .prints(statusView)
    .example('sandbox advance 8d', 'eight days')
    .run(async ({ duration, db }, context) =>
      (await import('./open-sandbox.ts')).advanceSandbox(duration, db, context),
    );

  sandbox
    .command('simulate')
    .summary('Make trades for a while, with their feed items and webhook events')
    .description('The traders of the sandbox keep trading. Ctrl-C ends it.')
    .params(simulateParams)
    .changes()
    .prints(simulated)
    .example('sandbox simulate --rate 20/s --for 1m', 'a busy minute')
    .run(async (input, context) => (await import('./simulate.ts')).simulate(input, context));

  sandbox
    .command('reset')
    .summary('Delete all data and start again with the built-in data')
    .description('Asks for confirmation if you added data; without a terminal that needs --yes.')
    .params({ empty, asOf, db })
    .changes()
    .prints(statusView)
    .example('sandbox reset', 'the built-in data')
    .run(async (input, context) => (await import('./open-sandbox.ts')).resetSandbox(input, context));
}
