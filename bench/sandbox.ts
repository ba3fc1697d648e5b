// How the sandbox does with a million trades (SOTRA_BENCH_TRADES: another number): an import against bare inserts of the same rows into the same
// table, and frequent requests against those to a world of 10,000 trades. Needs `npm run build` before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDb } from '../src/sandbox/db/store.ts';
import { createService } from '../src/sandbox/serve/answer.ts';
import { measureChild, type Row, report, temporaryFolder } from './measure/measure.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const [small, large] = [10_000, Number(process.env['SOTRA_BENCH_TRADES'] ?? 1_000_000)];
const rounds = 15;
/** Trades that are written or inserted at once. */
const lot = 20_000;
const newestMs = Date.parse('2026-11-20T12:00:00Z');

const address = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const [traders, tokens] = [(count: number) => Math.ceil(count / 50), (count: number) => Math.ceil(count / 250)];

if (process.argv[2] === 'floor') insertBare(process.argv[3] ?? '', process.argv[4] ?? '');
else {
  const worlds = [await importTrades(small), await importTrades(large)] as const;
  const [, { db, seconds, cpuSeconds, peakMb }] = worlds;
  const floor = await measureChild([fileURLToPath(import.meta.url), 'floor', db, join(temporaryFolder(), 'bare.db')]);
  const what = `import of ${large} trades`;
  report([
    { what: `${what}, bare inserts`, unit: 's', floor: [floor.seconds], measured: [seconds], atMost: 3.3 },
    { what: `${what}, bare inserts, processor time`, unit: 's', floor: [floor.cpuSeconds], measured: [cpuSeconds] },
    { what, unit: 's', measured: [seconds], atMost: (60 * large) / 1_000_000 },
    { what: `${what}, memory`, unit: 'MB', measured: [peakMb] },
    ...(await ask(worlds.map((world) => world.db))),
  ]);
}

/** A sandbox with trades of 45 days, oldest first: a trader for every 50 of them and a token for every 250. */
async function importTrades(count: number) {
  const folder = temporaryFolder();
  const file = join(folder, 'trades.csv');
  writeFileSync(file, 'time,chain,trader,token,symbol,side,amount,usd,tx\n');
  for (let from = 0; from < count; from += lot) {
    const lines = Array.from({ length: Math.min(lot, count - from) }, (_, index) => tradeLine(from + index, count));
    writeFileSync(file, lines.join(''), { flag: 'a' });
  }
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const usage = await measureChild([program, 'sandbox', 'import', file, '--json', '--quiet'], env);
  return { db: join(folder, 'sandbox.db'), ...usage };
}

function tradeLine(index: number, count: number): string {
  const time = new Date(newestMs - Math.floor(45 * 86_400_000 * (1 - (index + 1) / count))).toISOString();
  // Of each trader's tokens, a few are traded again and again.
  const trader = (index * 7919) % traders(count);
  const token = (trader + (Math.floor(index / 50) % 4)) % tokens(count);
  const usd = 20 + ((index * 31) % 4000);
  const side = index % 5 < 3 ? 'buy' : 'sell';
  const tx = `0x${index.toString(16).padStart(64, '0')}`;
  return `${time},${index % 3 === 0 ? 'base' : 'ethereum'},${address(trader)},${address(token)},T${token},${side},${usd / 2},${usd},${tx}\n`;
}

/** Inserts the trades of a sandbox's database into a new one with the same table and indexes, by one prepared statement in one transaction. */
function insertBare(from: string, to: string): void {
  const [source, target] = [openDb(from), openDb(to)];
  target.transaction(() => {
    for (let lastId = 0; ; ) {
      const rows = source.all<Record<string, string | number | null>>(
        'SELECT * FROM trade WHERE id > ? ORDER BY id LIMIT ?',
        [lastId, lot],
      );
      for (const row of rows)
        target.run(`INSERT INTO trade VALUES (${Object.keys(row).map(() => '?')})`, Object.values(row));
      if (rows.length < lot) return;
      lastId = Number(rows.at(-1)?.['id']);
    }
  });
}

/** The same questions to both worlds in turn, each to an application that has answered nothing yet, as a command's own is. */
async function ask(files: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  const questions = {
    'leaderboard list': '/v2/leaderboard',
    'token positions': `/v1/tokens/base/${address(7)}/positions/open`,
    'closed token positions': `/v1/tokens/base/${address(7)}/positions/closed`,
    'feed actor': `/v1/feed/actor?identifier=${address(7)}`,
    'profile get': `/v1/addresses/${address(7)}/profile`,
  };
  for (const [what, target] of Object.entries(questions)) {
    const taken: number[][] = files.map(() => []);
    for (let round = -1; round < rounds; round += 1)
      for (const [index, file] of files.entries()) {
        const db = openDb(file);
        const answer = createService({ db, now: Date.now, wire: {} });
        const started = performance.now();
        const authorization = 'Bearer sandbox-key-a';
        const { status } = await answer({
          method: 'GET',
          origin: 'http://localhost',
          target,
          authorization,
          body: () => '',
        });
        if (status !== 200) throw new Error(`${target}: ${status}`);
        if (round >= 0) taken[index]?.push(performance.now() - started);
        db.close();
      }
    const [floor = [], measured = []] = taken;
    const atMost = what === 'leaderboard list' ? 1.5 : 3;
    rows.push({ what: `${what}, ${large} trades to ${small}`, unit: 'ms', floor, measured, atMost });
  }
  return rows;
}
