import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { until } from '../support/until.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const header = 'time,chain,trader,token,symbol,side,amount,usd,tx';
const token = '0x5180db8f5c931aae63c74266b211f580155ecac8';
const count = 60_000;
const traders = 300;

function address(index: number): string {
  return `0x${(index + 1).toString(16).padStart(40, '0')}`;
}

/** Every trader buys 1 for 10, then sells 1 for 12, in turn: 2 USD a pair. The last second of the file is at noon. */
function row(index: number): string {
  const time = new Date(now - (count - 1 - index) * 10_000).toISOString();
  const isBuy = Math.floor(index / traders) % 2 === 0;
  return `${time},base,${address(index % traders)},${token},GM,${isBuy ? 'buy' : 'sell'},1,${isBuy ? 10 : 12},0x${index}`;
}

function file(rows: readonly string[]): string {
  const path = join(temporaryFolder(), 'trades.csv');
  writeFileSync(path, [header, ...rows].join('\n'));
  return path;
}

const imported = async (env: Record<string, string>, rows: readonly string[]) =>
  JSON.parse((await run(`sandbox import ${file(rows)} --json`, { env, now })).out);

function indexesOf({ SOTRA_DATA_DIR }: { SOTRA_DATA_DIR: string }): unknown[] {
  const db = openDb(join(SOTRA_DATA_DIR, 'sandbox.db'));
  const rows = db.all("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name");
  db.close();
  return rows.map(({ sql }) => sql);
}

const answers = async (env: Record<string, string>) => [
  JSON.parse((await run('--sandbox leaderboard list --limit 250 --json', { env, now })).out),
  JSON.parse((await run(`--sandbox profile positions ${address(7)} closed --max 200 --json`, { env, now })).out),
  JSON.parse((await run(`--sandbox token positions base ${token} closed --max 50 --json`, { env, now })).out),
];

test('a large import into an empty world, the same rows in small files, and a large one over older rows are one world', async () => {
  const rows = Array.from({ length: count }, (_, index) => row(index));
  const world = () => ({ SOTRA_DATA_DIR: temporaryFolder() });
  const [large, small, late] = [world(), world(), world()];
  // Every hundredth row is in the file twice.
  const doubled = rows.flatMap((each, index) => (index % 100 === 0 ? [each, each] : [each]));
  expect(await imported(large, doubled)).toMatchObject({ rows: 60_600, imported: count, repeated: 600, traders });
  for (const from of [0, 20_000, 40_000]) await imported(small, rows.slice(from, from + 20_000));
  // The last rows first: what the large file brings is older than what is there, and 100 of its rows are there already.
  await imported(late, rows.slice(-100));
  expect(await imported(late, rows)).toMatchObject({ imported: count - 100, repeated: 100 });
  const [one, two, three] = [await answers(large), await answers(small), await answers(late)];
  expect(one).toEqual(two);
  expect(one).toEqual(three);
  const [board, closed] = one;
  expect(closed).toHaveLength(100);
  expect(board.traders).toHaveLength(250);
  // 60,000 rows over 300 traders: 100 pairs of 2 USD each.
  expect(board.traders[0].pnl.total).toBe(200);
  expect(indexesOf(large)).toEqual(indexesOf(small));
  expect(indexesOf(large)).toContain('CREATE UNIQUE INDEX trade_row_key ON trade (row_key)');
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'an import that %s ends has stored all or nothing, and the next is whole',
  async (signal) => {
    const folder = temporaryFolder();
    const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const trades = file(Array.from({ length: count }, (_, index) => row(index)));
    const first = start(['sandbox', 'import', trades, '--json'], env);
    onTestFinished(() => void first.child.kill('SIGKILL'));
    await until(() => existsSync(join(folder, 'sandbox.db')), 'it has begun');
    first.child.kill(signal);
    expect(await first.ended).toBe(signal === 'SIGINT' ? 130 : null);
    if (signal === 'SIGINT') expect(first.printed.err).toMatch(/interrupted at row [\d,]+; trades stored: 0"/);
    const second = start(['sandbox', 'import', trades, '--json'], env);
    expect(await second.ended).toBe(0);
    const { imported: stored, repeated } = JSON.parse(second.printed.out);
    expect([stored, repeated]).toEqual(stored === 0 ? [0, count] : [count, 0]);
  },
);
