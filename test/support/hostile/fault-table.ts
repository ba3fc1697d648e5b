import { expect } from 'vitest';
import { againstLong, inShort, type LongCommand, longCommands } from './faults.ts';

/** Typed from the exit codes of the command line: the exit code of a plain call, its column below, and the text of the error. */
export const faults: Readonly<Record<string, readonly [exitCode: number, column: string, says: string | RegExp]>> = {
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

const columns = ['lost', 'no', 'busy', '500', 'down', 'garbled', 'shape', 'moved', 'refused'] as const;

/**
 * The whole table, typed by hand: for each command and the number of requests that are answered well before the fault, the exit code (`=`: that
 * of the fault) and the methods that the service gets in order, with one repeat allowed. What a single column cannot say follows by fault.
 */
const table = `
                                  lost        | no       | busy        | 500        | down        | garbled    | shape   | moved    | refused
feed actor/watch              0 : = G2     | = G1     | = G2     | = G2    | = G2     | = G1       | 13 G1   | = G1     | =
feed actor/watch              1 : = G3     | = G2     | = G3     | = G3    | = G3     | = G3     | 13 G2   | = G2     | = G1
feed home/watch               0 : = G2     | = G1     | = G2     | = G2    | = G2     | = G1       | 13 G1   | = G1     | =
feed home/watch               1 : = G3     | = G2     | = G3     | = G3    | = G3     | = G3     | 13 G2   | = G2     | = G1
feed actor/all                0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
feed actor/all                1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
feed home/all                 0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
feed home/all                 1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
profile followers/all         0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
profile followers/all         1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
profile follows/all           0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
profile follows/all           1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
profile positions/all         0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
profile positions/all         1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
token positions/all           0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
token positions/all           1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
request/paginate              0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
request/paginate              1 : = G3        | = G2     | = G3        | = G3       | = G3        | = G2       | 0 G2    | = G2     | = G1
request/get                   0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
request/post                  0 : = P1        | = P1     | = P2        | = P1       | = P1        | = P1       | 0 P1    | = P1     | =
webhook register/file         0 : = G2       | = G1     | = G2       | = G2       | = G2       | = G2       | 13 G1   | = G1     | =
webhook register/file         1 : = G1 P1 G2 | = G1 P1  | = G1 P2 | = G1 P1 G2 | = G1 P1 G2 | = G1 P1 G2 | 13 G1 P1| = G1 P1  | = G1
webhook register/file         2 : 10 G1 P1 U2| 10 G1 P1 U1|10 G1 P1 U2| 10 G1 P1 U2 |10 G1 P1 U2| 10 G1 P1 U2| 0 G1 P1 U2| 10 G1 P1 U1| 10 G1 P1
webhook add-addresses/file    0 : = U2       | = U1     | = U2       | = U2       | = U2       | = U2       | 0 U3    | = U1     | =
webhook add-addresses/file    1 : 10 U3      | 10 U2    | 10 U3      | 10 U3      | 10 U3      | 10 U3      | 0 U3    | 10 U2    | 10 U1
webhook sync                  0 : = U2       | = U1     | = U2       | = U2       | = U2       | = U2       | 0 U3    | = U1     | =
webhook sync                  1 : 10 U3      | 10 U2    | 10 U3      | 10 U3      | 10 U3      | 10 U3      | 0 U3    | 10 U2    | 10 U1
follow bulk/file              0 : = P1        | = P1     | = P2        | = P1       | = P1        | = P1       | 0 P3    | = P1     | =
follow bulk/file              1 : 10 P2       | 10 P2    | 10 P3       | 10 P2      | 10 P2       | 10 P2      | 0 P3    | 10 P2    | 10 P1
comment post/from             1 : = G1 P1 G2  | 10 G1 P1 G1 P1 G1 P1 | = G1 P2 | = G1 P1 G2 | = G1 P1 G2 | = G1 P1 G1 | 12 G1 P1 | = G1 P1 | = G1      | 401: = G1 P1 | 403: = G1 P1
comment post/from             3 : 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G1 P1 | 10 G1 P1 G1 P2 | 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G2 | 10 G1 P1 G1 P1 G1 | 12 G1 P1 G1 P1 | 10 G1 P1 G1 P1 | 10 G1 P1 G1 | 401: 10 G1 P1 G1 P1 | 403: 10 G1 P1 G1 P1
auth status                   0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
auth login                    0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
doctor                        0 : 9 G1        | 0 G1     | 0 G1        | 0 G1       | 0 G1        | 0 G1       | 0 G1    | = G1     | =        | 401: = G1    | 403: = G1 | reset in the body: 0 G1 | stalled body: 0 G1
history run                   0 : = G2        | = G1     | = G2        | = G2       | = G2        | = G1       | 0 G1    | = G1     | =
`;

export interface Row {
  name: string;
  well: number;
  cells: Readonly<Record<string, string>>;
}

/** The table, a row for each command and each place where the fault begins. */
export const rows = table
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
export function expected({ cells }: Row, fault: string): { code: number; sent: string } {
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
export async function checkRow(row: Row, names: readonly string[]): Promise<void> {
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
