import { expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import { checkRow, expected, faults, rows } from '../support/hostile/fault-table.ts';
import {
  againstLong,
  allFaults,
  type CommandLine,
  createManualTimeouts,
  failing,
  longCommands,
  scripts,
  serviceCommands,
} from '../support/hostile/faults.ts';
import { outlines } from '../support/outlines.ts';
import { isProof, long, some } from '../support/size.ts';

const flags = ['--json', '--retries', '1'];

/** What the server gets: once, once more where that is safe, or as the few commands do that are more than one call. */
type Kind = 'once' | 'again' | 'again but POST' | 'again if GET';

/** Typed from the exit codes of the command line and the rules of repeating: fault, exit code, how often it is sent. */
const singleCalls: readonly [fault: string, exitCode: number, sent: Kind][] = [
  ['reset before answer', 9, 'again but POST'],
  ['reset in the body', 9, 'again but POST'],
  ['no first byte', 9, 'again but POST'],
  ['stalled body', 9, 'again but POST'],
  ['400', 6, 'once'],
  ['401', 4, 'once'],
  ['403', 4, 'once'],
  ['404', 5, 'once'],
  ['409', 6, 'once'],
  ['413', 6, 'once'],
  ['429', 7, 'again'],
  ['429 with Retry-After', 7, 'again'],
  ['500', 8, 'again if GET'],
  ['502', 8, 'again but POST'],
  ['503', 8, 'again but POST'],
  ['garbage', 13, 'once'],
  ['truncated JSON', 13, 'once'],
  ['redirect in a circle', 9, 'once'],
  ['endless body', 13, 'once'],
];

test('every fault has its line', () => {
  const lines = singleCalls.map(([fault]) => fault);
  expect([...lines, 'wrong shape'].sort()).toEqual(Object.keys(scripts).sort());
});

/** One command against a server that fails so: what it ended with, and what the server got, in order. */
async function against(fault: string, { argv, stdin }: CommandLine, more: readonly string[] = flags) {
  const waiting = await createManualTimeouts();
  const service = await stub(failing(fault, waiting));
  const { transport } = waiting;
  const outcome = await run([...argv, ...more], {
    env: service.env,
    stdin,
    skipWaits: true,
    maxAnswerBytes: 1024 ** 2,
    transport,
  });
  return { ...outcome, requests: service.requests.map(({ method }) => method) };
}

/**
 * The methods in the order of sending. Uploads repeat what may pass, as often as --retries says, and a webhook is made only where the list says that there is none yet; whether
 * a comment was taken is looked up where its answer is lost.
 */
function methodsOf({ name, method }: CommandLine, exitCode: number, sent: Kind): string[] {
  const repeats =
    sent === 'again' ||
    (sent === 'again but POST' && method !== 'POST') ||
    (sent === 'again if GET' && method === 'GET');
  const times = repeats ? 2 : 1;
  const passing = sent !== 'once' || exitCode === 8 || exitCode === 13;
  if (name === 'webhook add-addresses') return Array(passing ? 2 : times).fill('PUT');
  const listing = sent === 'once' ? 1 : 2;
  if (name === 'webhook register') return Array(passing ? 2 : listing).fill('GET');
  const isLost = passing && sent !== 'again';
  if (name === 'comment post' && isLost) return ['POST', ...Array(listing).fill('GET')];
  return Array(times).fill(method);
}

test.each(singleCalls)('%s ends every command with %i and one error, and is sent %s', async (fault, exitCode, sent) => {
  for (const command of ['reset before answer', '503'].includes(fault) ? serviceCommands : some(serviceCommands, 4)) {
    const { name } = command;
    const { code, out, err, requests } = await against(fault, command);
    expect([name, code, out]).toEqual([name, exitCode, '']);
    const { error } = JSON.parse(err);
    expect(error.message.length).toBeGreaterThan(10);
    expect([name, requests]).toEqual([name, methodsOf(command, exitCode, sent)]);
  }
});

long('a body of 100 MB ends every command with 13', async () => {
  for (const { name, argv, stdin } of serviceCommands) {
    const command = { name, argv: argv.join(' '), wells: [0], stdin };
    const { code, requests } = await againstLong(command, { fault: '100 MB body', well: 0 }, flags.join(' '));
    expect([name, code, requests.length > 0]).toEqual([name, 13, true]);
  }
});

test('a wrong shape is shown with a warning that names the place, and with --strict is exit 13', async () => {
  for (const command of serviceCommands) {
    const { name } = command;
    // A comment that does not come back as it was signed, and a webhook without its id, are errors of their own.
    const loose = name === 'comment post' ? 12 : name === 'webhook register' ? 13 : 0;
    expect([name, (await against('wrong shape', command)).code]).toEqual([name, loose]);
    const { code, out } = await against('wrong shape', command, [...flags, '--strict']);
    expect([name, code, out]).toEqual([name, 13, '']);
  }
});

test('a refused connection is exit 9 and said so; nothing was sent, so that POST is tried again as well', async () => {
  for (const { name, argv, stdin } of serviceCommands) {
    const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'key' };
    const { code, out, err } = await run([...argv, ...flags], {
      env,
      stdin,
      skipWaits: true,
      maxAnswerBytes: 1024 ** 2,
    });
    expect([name, code, out]).toEqual([name, 9, '']);
    const { error } = JSON.parse(err);
    expect(error.code).toBe('network');
    expect(error.message).toMatch(/^nothing is listening at http:\/\/127\.0\.0\.1:9 /);
    // Those that go on with a file say instead where they stopped.
    if (!['webhook register', 'webhook add-addresses', 'follow bulk'].includes(name))
      expect([name, error.details.attempts]).toEqual([
        name,
        [
          { reason: 'nothing is listening at http://127.0.0.1:9', waitedMs: 0 },
          { reason: 'nothing is listening at http://127.0.0.1:9', waitedMs: null },
        ],
      ]);
  }
});

test('every command is in the table of single calls, in the one of long calls, or among those that never call the service', async () => {
  const single = serviceCommands.map(({ name }) => name);
  const long = longCommands.map(({ name }) => name.split('/')[0]);
  const alone =
    `alias set, alias list, alias remove, auth logout, comment sign, comment verify, completion, context list,
    bundle, history clear, history list, history show,
    context remove, context set, context show, context use, help, key export, key generate, key import, key list, key remove, mcp, openapi, sandbox advance,
    sandbox import, sandbox log, sandbox reset, sandbox simulate, sandbox start, sandbox status, sandbox stop, sandbox trade, webhook events,
    webhook exam, webhook forward, webhook listen, webhook replay, webhook show, webhook trigger, webhook verify, why`.split(
      /,\s+/,
    );
  const all = outlines.map(({ words }) => words.join(' '));
  // These ask about the intents in a journal, by commands that stand here, and for what a page shows; their own tests say how that ends.
  const others = ['ui'];
  expect([...new Set([...single, ...long, ...alone, ...others])].sort()).toEqual(all.sort());
  expect(alone.filter((name) => [...single, ...long].includes(name))).toEqual([]);
});

test('every fault and every command has its line, and no cell is empty', () => {
  expect(Object.keys(faults).sort()).toEqual([...allFaults].sort());
  const lines = rows.map(({ name, well }) => `${name} ${well}`);
  expect(lines).toEqual(longCommands.flatMap(({ name, wells }) => wells.map((well) => `${name} ${well}`)));
  for (const row of rows) for (const fault of allFaults) expect(expected(row, fault).code).toBeGreaterThanOrEqual(0);
});

/** One or two of each column; the proof has them all. */
const oneOfEach = [
  'reset in the body',
  'no first byte',
  '401',
  '404',
  '429',
  '500',
  '503',
  'garbage',
  'wrong shape',
  'refused',
];

test.each(some(rows, 5))('$name with $well requests answered well ends as the table says', async (row) => {
  await checkRow(row, isProof ? allFaults : [...oneOfEach, 'redirect elsewhere']);
});
