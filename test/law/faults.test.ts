import { expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import {
  againstLong,
  allFaults,
  type CommandLine,
  createManualTimeouts,
  failing,
  inShort,
  type LongCommand,
  longCommands,
  scripts,
  serviceCommands,
} from '../support/hostile/faults.ts';
import { isProof, some } from '../support/size.ts';

const flags = ['--json', '--retries', '1'];

/** Typed from the exit codes of the command line: the exit code of a plain call, the column of its kind, and the text of the error. */
const faults: Readonly<Record<string, readonly [exitCode: number, column: string, says: string | RegExp]>> = {
  'reset before answer': [9, 'lost', /(?:closed|reset) the connection before it answered/],
  'reset in the body': [9, 'lost', 'closed the connection in the middle of the answer'],
  'no first byte': [9, 'lost', 'did not answer within 30 s'],
  'stalled body': [9, 'lost', 'did not answer within 30 s'],
  400: [6, 'no', 'HTTP 400'],
  401: [4, 'no', /HTTP 401|refuses this key/],
  403: [4, 'no', /HTTP 403|refuses this key/],
  404: [5, 'no', 'HTTP 404'],
  409: [6, 'no', 'HTTP 409'],
  413: [6, 'no', 'HTTP 413'],
  429: [7, 'busy', 'HTTP 429'],
  '429 with Retry-After': [7, 'busy', 'HTTP 429'],
  500: [8, '500', 'HTTP 500'],
  502: [8, 'down', 'HTTP 502'],
  503: [8, 'down', 'HTTP 503'],
  garbage: [13, 'garbled', 'a body that is not JSON'],
  'truncated JSON': [13, 'garbled', 'a body that is not JSON'],
  'endless body': [13, 'garbled', 'larger than 1 MB'],
  '100 MB body': [13, 'garbled', 'larger than 1 MB'],
  'wrong shape': [0, 'shape', ''],
  'redirect in a circle': [9, 'moved', 'redirect'],
  'redirect elsewhere': [9, 'moved', 'redirects to https://elsewhere.example'],
  refused: [9, 'refused', 'nothing is listening at'],
};

/** How often the server gets a plain call by the kind of its fault: once, or once more where that is safe. */
const sentAs = {
  lost: 'again but POST',
  no: 'once',
  busy: 'again',
  500: 'again but POST',
  down: 'again but POST',
  garbled: 'once',
  moved: 'once',
} as const;
type Sent = (typeof sentAs)[keyof typeof sentAs];

const singleCalls = Object.entries(faults).flatMap(([fault, [exitCode, kind]]) =>
  fault in scripts && kind in sentAs ? [[fault, exitCode, sentAs[kind as keyof typeof sentAs]] as const] : [],
);

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
 * The methods in the order of sending. A webhook is made only where the list says that there is none yet; whether a comment was taken is looked
 * up where its answer is lost.
 */
function methodsOf({ name, method }: CommandLine, exitCode: number, sent: Sent): string[] {
  const times = sent === 'again' || (sent === 'again but POST' && method !== 'POST') ? 2 : 1;
  const passing = sent !== 'once' || exitCode === 13;
  const listing = sent === 'once' ? 1 : 2;
  if (name === 'webhook register') return Array(listing).fill('GET');
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

const columns = ['lost', 'no', 'busy', '500', 'down', 'garbled', 'shape', 'moved', 'refused'] as const;

/**
 * The whole table, typed by hand: for each command and the number of requests that are answered well before the fault, the exit code (`=`: that
 * of the fault) and the methods that the service gets in order, with one repeat allowed. What a single column cannot say follows by fault.
 */
const table = `
                                  lost        | no       | busy        | 500        | down        | garbled    | shape   | moved    | refused
feed actor/watch              0 : = G2     | = G1     | = G2     | = G2    | = G2     | = G1       | 13 G1   | = G1     | =
feed actor/watch              1 : = G3     | = G2     | = G3     | = G3    | = G3     | = G3     | 13 G2   | = G2     | = G1
feed actor/all                0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
feed actor/all                1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
request/post                  0 : = P1        | = P1     | = P2        | = P1       | = P1        | = P1       | 0 P1    | = P1     | =
webhook register/file         0 : = G2       | = G1     | = G2       | = G2       | = G2       | = G1       | 13 G1   | = G1     | =
webhook register/file         1 : = G1 P1 G2 | = G1 P1  | = G1 P2 | = G1 P1 G2 | = G1 P1 G2 | = G1 P1 G1 | 13 G1 P1| = G1 P1  | = G1
webhook register/file         2 : 10 G1 P1 U2| 10 G1 P1 U1|10 G1 P1 U2| 10 G1 P1 U2 |10 G1 P1 U2| 10 G1 P1 U1| 0 G1 P1 U2| 10 G1 P1 U1| 10 G1 P1
webhook add-addresses/file    0 : = U2       | = U1     | = U2       | = U2       | = U2       | = U1       | 0 U3    | = U1     | =
webhook add-addresses/file    1 : 10 U3      | 10 U2    | 10 U3      | 10 U3      | 10 U3      | 10 U2      | 0 U3    | 10 U2    | 10 U1
follow bulk/file              0 : = P1        | = P1     | = P2        | = P1       | = P1        | = P1       | 0 P3    | = P1     | =
follow bulk/file              1 : 10 P2       | 10 P2    | 10 P3       | 10 P2      | 10 P2       | 10 P2      | 0 P3    | 10 P2    | 10 P1
comment post/from             1 : = G1 P1 G2  | 10 G1 P1 G1 P1 G1 P1 | = G1 P2 | = G1 P1 G2 | = G1 P1 G2 | = G1 P1 G1 | 12 G1 P1 | = G1 P1 | = G1      | 401: = G1 P1 | 403: = G1 P1
comment post/from             3 : 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G1 P1 | 10 G1 P1 G1 P2 | 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G1 | 12 G1 P1 G1 P1 | 10 G1 P1 G1 P1 | 10 G1 P1 G1 | 401: 10 G1 P1 G1 P1 | 403: 10 G1 P1 G1 P1
auth status                   0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
doctor                        0 : 9 G1        | 0 G1     | 0 G1        | 0 G1       | 0 G1        | 0 G1       | 0 G1    | = G1     | =        | 401: = G1    | 403: = G1 | reset in the body: 0 G1 | stalled body: 0 G1
`;

interface Row {
  name: string;
  well: number;
  cells: Readonly<Record<string, string>>;
}

/** The table, a row for each command and each place where the fault begins. */
const rows = table
  .trim()
  .split('\n')
  .slice(1)
  .map((line): Row => {
    const [, name = '', well, rest = ''] = /^(.*\S) +(\d) : (.*)$/.exec(line) ?? [];
    const cells = rest.split('|').map((cell) => cell.trim());
    const named = cells.map((cell, index): [string, string] => {
      const [, fault, own] = /^(.+): (.*)$/.exec(cell) ?? [];
      return [fault ?? columns[index] ?? '', own ?? cell];
    });
    return { name, well: Number(well), cells: Object.fromEntries(named) };
  });

/** These answer with what they found out, also where that is nothing good; their exit code says so. */
const reports = ['doctor', 'auth status'];
const letters: Readonly<Record<string, string>> = { G: 'GET', P: 'POST', U: 'PUT', D: 'DELETE' };

/** What a row says of a fault. */
function expected({ cells }: Row, fault: string): { code: number; sent: string } {
  const [ownCode = Number.NaN, column = ''] = faults[fault] ?? [];
  const [code = '', ...sent] = (cells[fault] ?? cells[column] ?? '').split(' ');
  const methods = sent.map((each) => `${letters[each[0] ?? '']} ${each.slice(1)}`);
  return { code: code === '=' ? ownCode : Number(code), sent: methods.join(', ') };
}

function commandOf(name: string): LongCommand {
  const command = longCommands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return command;
}

/** Runs a row's command against one fault after the other and holds what happens against the table. */
async function checkRow(row: Row, names: readonly string[]): Promise<void> {
  const command = commandOf(row.name);
  const flags = command.argv.includes('--format') ? '' : '--json';
  const seen = await Promise.all(
    names.map(async (fault) => {
      const cell = await againstLong(command, { fault, well: row.well }, `--retries 1 ${flags}`);
      return { fault, ...cell, sent: inShort(cell.requests) };
    }),
  );
  expect(seen.map(({ fault, code, sent }) => ({ fault, code, sent }))).toEqual(
    names.map((fault) => ({ fault, ...expected(row, fault) })),
  );
  for (const { fault, code, out, err } of seen) {
    const errors = err.split('\n').filter((line) => line.startsWith('{"error":'));
    const isReported = reports.includes(row.name) && out !== '';
    expect([fault, errors.length]).toEqual([fault, code === 0 || isReported ? 0 : 1]);
    for (const error of errors) expect([fault, JSON.parse(error).error.exitCode]).toEqual([fault, code]);
    if (errors.length > 0) expect(err + out).toMatch(faults[fault]?.[2] ?? '');
    // What came before the fault is out, whole.
    const values = flags === '' ? out.split('\n').slice(0, -1) : [out].filter((text) => text !== '');
    for (const value of values) JSON.parse(value);
    expect([fault, out === '' || out.endsWith('\n')]).toEqual([fault, true]);
    if (/\/(all|paginate)$/.test(row.name) && code !== 0) expect([fault, values.length]).toEqual([fault, row.well]);
  }
}

test('every fault has its line, and no cell is empty', () => {
  expect(Object.keys(faults).sort()).toEqual([...allFaults].sort());
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(longCommands.map(({ name }) => name)));
  for (const row of rows) for (const fault of allFaults) expect(expected(row, fault).code).toBeGreaterThanOrEqual(0);
});

/** One or two of each column; the proof has them all. */
const oneOfEach = [
  ...['reset in the body', 'no first byte', '401', '404', '429', '500', '503', 'garbage', 'wrong shape', 'refused'],
  'redirect elsewhere',
];

test.each(some(rows, 5))('$name with $well requests answered well ends as the table says', async (row) => {
  await checkRow(row, isProof ? allFaults : oneOfEach);
});
