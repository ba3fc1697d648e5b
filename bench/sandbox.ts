// How the sandbox does with a million trades (another number as the first argument, or in SOTRA_BENCH_TRADES): import against bare
// inserts of the same rows, frequent requests against those to a world of 10,000 trades, and answers under load against a bare Hono route.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { storedNow } from '../src/sandbox/db/settings.ts';
import { type Db, openDb } from '../src/sandbox/db/store.ts';
import { dropTotals, keepTotals } from '../src/sandbox/ledger/figures.ts';
import { answerer } from '../src/sandbox/serve/answer.ts';
import { measureChild, startServer } from './measure/child.ts';
import { type Row, report } from './measure/row.ts';
import { type Floor, insertBare } from './sandbox/floor.ts';
import { requestsASecond, serveBare } from './sandbox/load.ts';
import { type Market, writeTrades } from './sandbox/trades.ts';

const self = fileURLToPath(import.meta.url);
const [role, ...rest] = process.argv.slice(2);
const program = join(process.cwd(), process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js');
const smallCount = 10_000;
const rounds = 15;
const loadRounds = 15;
const loadSeconds = 1;
/** Trades of the import that is done many times; the large one is done once. */
const middleCount = 100_000;

if (role === 'bare') serveBare(readFileSync(rest[0] ?? '', 'utf8'), (url) => process.stdout.write(`${url}\n`));
else if (role === 'floor') writeFileSync(rest[2] ?? '', JSON.stringify(insertBare(rest[0] ?? '', rest[1] ?? '')));
else await main(Number(role ?? process.env['SOTRA_BENCH_TRADES'] ?? 1_000_000));

interface Made {
  db: string;
  market: Market;
  seconds: number;
  cpuSeconds: number;
  peakMb: number;
}

async function main(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
  try {
    const small = await importInto(folder, smallCount);
    const large = await importInto(folder, count);
    const floor = await floorOf(folder, large.db);
    const rate = (seconds: number) => [count / seconds];
    const what = `import of ${count} trades`;
    const [bare, bareUnindexed] = ['bare inserts into the same table', 'bare inserts without an index'];
    report([
      await importMany(folder, bare),
      {
        what: `${what}, ${bare}`,
        unit: 'items/s',
        floor: rate(floor.indexed),
        measured: rate(large.seconds),
        atLeast: 0.3,
      },
      { what: `${what}, ${bareUnindexed}`, unit: 'items/s', floor: rate(floor.plain), measured: rate(large.seconds) },
      { what, unit: 's', measured: [large.seconds], atMost: (60 * count) / 1_000_000 },
      { what: `${what}, processor time`, unit: 's', measured: [large.cpuSeconds] },
      { what: `${what}, memory`, unit: 'MB', measured: [large.peakMb] },
    ]);
    report(await askBoth(small, large, count));
    report(await underLoad(folder, large));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function floorOf(folder: string, db: string): Promise<Floor> {
  const floorFile = join(folder, 'floor.json');
  await measureChild([self, 'floor', db, folder, floorFile]);
  for (const name of ['indexed.db', 'plain.db']) rmSync(join(folder, name), { force: true });
  return JSON.parse(readFileSync(floorFile, 'utf8'));
}

async function importMany(folder: string, bare: string): Promise<Row> {
  const taken = { floor: [] as number[], measured: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const { db, seconds } = await importInto(folder, middleCount, `round-${round}`);
    taken.measured.push(middleCount / seconds);
    taken.floor.push(middleCount / (await floorOf(folder, db)).indexed);
    rmSync(dirname(db), { recursive: true });
  }
  return { what: `import of ${middleCount} trades, ${bare}`, unit: 'items/s', ...taken, atLeast: 0.3 };
}

async function importInto(folder: string, count: number, name = String(count)): Promise<Made> {
  const file = join(folder, `${count}.csv`);
  const market = await writeTrades(file, count);
  const data = join(folder, name);
  mkdirSync(data);
  const env = { SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: data };
  const { seconds, cpuSeconds, peakMb } = await measureChild(
    [program, 'sandbox', 'import', file, '--json', '--quiet'],
    env,
  );
  rmSync(file);
  return { db: join(data, 'sandbox.db'), market, seconds, cpuSeconds, peakMb };
}

/** The same questions to both worlds in turn, each to an application that has answered nothing yet, as a command's own is. */
async function askBoth(small: Made, large: Made, count: number): Promise<Row[]> {
  const worlds = [small, large].map(({ db, market }) => ({ db: openDb(db), questions: questionsOf(market) }));
  const rows: Row[] = [];
  for (const what of Object.keys(worlds[0]?.questions ?? {})) {
    const taken = worlds.map((): number[] => []);
    for (let round = -1; round < rounds; round += 1)
      for (const [index, { db, questions }] of worlds.entries()) {
        const ms = await ask(db, questions[what] ?? '');
        if (round >= 0) taken[index]?.push(ms);
      }
    const [floor = [], measured = []] = taken;
    const atMost = what === boardQuestion ? 1.5 : 3;
    rows.push({ what: `${what}, ${count} trades to ${smallCount}`, unit: 'ms', floor, measured, atMost });
  }
  for (const { db } of worlds) db.close();
  return [...rows, await askWithoutTotals(large, count)];
}

/** A board with kept totals against the same board added up from all trades of its window. */
async function askWithoutTotals({ db: file, market }: Made, count: number): Promise<Row> {
  const db = openDb(file);
  const [floor, measured]: [number[], number[]] = [[], []];
  const path = questionsOf(market)[boardQuestion] ?? '';
  for (let round = 0; round < rounds; round += 1) {
    dropTotals(db);
    floor.push(await ask(db, path));
    db.transaction(() => keepTotals(db, storedNow(db, Date.now())));
    measured.push(await ask(db, path));
  }
  db.close();
  return { what: `${boardQuestion} of ${count} trades, without kept totals`, unit: 'ms', floor, measured, atMost: 0.5 };
}

const boardQuestion = 'leaderboard list';

function questionsOf({ traders, tokens }: Market): Record<string, string> {
  // Neither the busiest nor the quietest.
  const trader = traders[Math.floor(traders.length / 4)]?.address;
  const token = tokens[Math.floor(tokens.length / 24) * 6 + 2];
  return {
    [boardQuestion]: '/v2/leaderboard',
    'token positions': `/v1/tokens/${token?.chain}/${token?.address}/positions/open`,
    'closed token positions': `/v1/tokens/${token?.chain}/${token?.address}/positions/closed`,
    'feed actor': `/v1/feed/actor?identifier=${trader}`,
    'profile get': profileOf(trader),
  };
}

function profileOf(trader: string | undefined): string {
  return `/v1/addresses/${trader}/profile`;
}

async function ask(db: Db, path: string): Promise<number> {
  const answer = answerer({ db, now: Date.now, wire: {} });
  const started = performance.now();
  const authorization = 'Bearer sandbox-key-a';
  const request = { method: 'GET', origin: 'http://localhost', target: path, authorization, body: () => '' };
  const { status, text } = await answer(request);
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
  return performance.now() - started;
}

async function underLoad(folder: string, { db, market }: Made): Promise<Row[]> {
  const ready = join(folder, 'ready.json');
  const servers: ChildProcess[] = [];
  try {
    const argv = [program, 'sandbox', 'start', '--port', '0', '--db', db, '--ready-file', ready, '--quiet'];
    const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    servers.push(spawn(process.execPath, argv, { stdio: 'ignore', env }));
    const { url } = await readyFrom(ready);
    const rows: Row[] = [];
    for (const [what, path] of [
      ['leaderboard list', '/v2/leaderboard'],
      ['profile get', profileOf(market.traders[3]?.address)],
    ] as const) {
      const answer = await fetch(url + path, { headers: { authorization: 'Bearer sandbox-key-a' } });
      const file = join(folder, 'answer.json');
      writeFileSync(file, await answer.text());
      const bare = await startServer([self, 'bare', file]);
      servers.push(bare.server);
      const [floor, measured]: [number[], number[]] = [[], []];
      for (let round = 0; round < loadRounds; round += 1) {
        floor.push(await requestsASecond(bare.url + path, loadSeconds));
        measured.push(await requestsASecond(url + path, loadSeconds));
      }
      rows.push({ what: `${what} under load, bare Hono route`, unit: 'requests/s', floor, measured });
    }
    return rows;
  } finally {
    for (const server of servers) server.kill();
  }
}

async function readyFrom(file: string): Promise<{ url: string }> {
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
