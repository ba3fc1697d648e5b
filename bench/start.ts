// What starting costs: help, version and completion against bare Node, a read command against the least script that asks the same of the
// same server, and the sandbox inside the process against that command. Needs `npm run build` before.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { atEnd, measureChild, type Row, report, secondsToAnswer, temporaryFolder } from './measure/measure.ts';

const program = join(process.cwd(), process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js');
const rounds = 21;
const folder = temporaryFolder();
/** For the data of a command that is the first in its folder. */
const unused = join(folder, 'unused');
// Beside the packages, so that it finds undici as any script would.
const minimal = join(process.cwd(), `bench-minimal-${process.pid}.mjs`);
// Variables of the shell are part of the cost of starting: with NODE_EXTRA_CA_CERTS, bare Node 20 takes three times as long.
const shell = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith('SOTRA_') ? [] : [[name, value]],
  ),
);
const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
});
const state = { ...shell, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder };

const board = execFileSync(process.execPath, [program, '--sandbox', 'leaderboard', 'list', '--json'], { env: state });
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(board);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
atEnd(() => rmSync(minimal, { force: true }));
writeFileSync(
  minimal,
  `import { Client } from 'undici';
const client = new Client('${url}');
const { body } = await client.request({ path: '/v2/leaderboard', method: 'GET', headers: { authorization: 'Bearer key' } });
console.log(JSON.stringify(JSON.parse(await body.text()), null, 2));
await client.close();
`,
);
report(await rowsFor(url));
server.close();

async function rowsFor(url: string): Promise<Row[]> {
  const there = { ...state, SOTRA_BASE_URL: url, SOTRA_API_KEY: 'key' };
  const lines = {
    node: { argv: ['-e', '0'], env: shell },
    version: { argv: [program, '--version'], env: state },
    help: { argv: [program, '--help'], env: state },
    commandHelp: { argv: [program, 'leaderboard', 'list', '--help'], env: state },
    completion: { argv: [program, 'completion', 'bash'], env: state },
    callback: { argv: [program, 'context', 'list', '--columns', 'name'], env: state },
    minimal: { argv: [minimal], env: shell },
    json: { argv: [program, 'leaderboard', 'list', '--json'], env: there },
    unlogged: { argv: [program, 'leaderboard', 'list', '--json'], env: { ...there, SOTRA_HISTORY: '0' } },
    table: { argv: [program, 'leaderboard', 'list', '--format', 'table', '--quiet'], env: there },
    sandbox: { argv: [program, '--sandbox', 'leaderboard', 'list', '--json'], env: state },
    sandboxRows: { argv: [program, '--sandbox', 'leaderboard', 'list'], env: state },
    firstUse: { argv: [program, '--sandbox', 'leaderboard', 'list'], env: { ...state, SOTRA_DATA_DIR: unused } },
    mcp: { argv: [program, '--sandbox', 'mcp'], env: state, hello },
  };
  const taken: Record<string, number[]> = Object.fromEntries(Object.keys(lines).map((name) => [name, []]));
  // In turn, so that a machine that slows down slows all of them.
  for (let round = -2; round < rounds; round += 1)
    for (const [name, { argv, env, ...more }] of Object.entries(lines)) {
      rmSync(unused, { recursive: true, force: true });
      const seconds =
        'hello' in more ? await secondsToAnswer(argv, more.hello, env) : (await measureChild(argv, env)).seconds;
      const ms = seconds * 1000;
      if (round >= 0) taken[name]?.push(ms);
    }
  const row = (what: string, floor: string, measured: string, atMost?: number): Row => ({
    what,
    unit: 'ms',
    floor: taken[floor] ?? [],
    measured: taken[measured] ?? [],
    ...(atMost === undefined ? {} : { atMost }),
  });
  // Round by round, so that what slows the machine slows both.
  const subtract = (one: string, other: string): number[] =>
    (taken[one] ?? []).map((ms, round) => ms - (taken[other]?.[round] ?? 0));
  return [
    row('--version, bare node', 'node', 'version', 1.5),
    row('--help, bare node', 'node', 'help', 1.5),
    row('leaderboard list --help, bare node', 'node', 'commandHelp', 1.6),
    row('completion bash, bare node', 'node', 'completion', 1.6),
    row('completion of names, bare node', 'node', 'callback'),
    row('leaderboard list --json, a script with undici', 'minimal', 'json', 1.25),
    row('the same as a table, the same script', 'minimal', 'table', 1.4),
    { what: 'the history of calls, added to one call', unit: 'ms', measured: subtract('json', 'unlogged'), atMost: 3 },
    row('mcp to its first answer, --version', 'version', 'mcp', 2),
    row('--sandbox leaderboard list --json, that command', 'json', 'sandbox', 1.5),
    row('--sandbox leaderboard list, bare node', 'node', 'sandboxRows', 4.2),
    row('the first --sandbox command in a folder, a later one', 'sandboxRows', 'firstUse', 1.3),
  ];
}
