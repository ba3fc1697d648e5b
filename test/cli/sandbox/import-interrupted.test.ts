import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
const token = '0x5180db8f5c931aae63c74266b211f580155ecac8';

/** Buys of 1 for 10 by 300 wallets, one a second; the last at that time. */
function file(count: number, lastMs: number): string {
  const path = join(temporaryFolder(), 'trades.csv');
  const rows = Array.from({ length: count }, (_, index) => {
    const time = new Date(lastMs - (count - 1 - index) * 1000).toISOString();
    return `${time},base,0x${((index % 300) + 1).toString(16).padStart(40, '0')},${token},buy,1,10,0x${count}${index}`;
  });
  writeFileSync(path, ['time,chain,trader,token,side,amount,usd,tx', ...rows].join('\n'));
  return path;
}

/** One import, given up as soon as it says this on stderr. */
async function givenUp(
  path: string,
  env: Record<string, string>,
  said: string,
): Promise<{ row: number; stored: number }> {
  const user = new AbortController();
  const { code, out, err } = await run(`sandbox import ${path}`, {
    env,
    now: noon,
    tty: 80,
    signal: user.signal,
    onErr: (text) => void (text.includes(said) && user.abort()),
  });
  expect([code, out]).toEqual([130, '']);
  const [, row = '', stored = ''] = /error: interrupted at row ([\d,]+); trades stored: ([\d,]+)\n/.exec(err) ?? [];
  return { row: Number(row.replace(',', '')), stored: Number(stored.replace(',', '')) };
}

const answers = async (env: Record<string, string>) => [
  JSON.parse((await run('sandbox status --json', { env, now: noon })).out),
  JSON.parse((await run('--sandbox leaderboard list --json', { env, now: noon })).out),
];

const imported = async (path: string, env: Record<string, string>) =>
  JSON.parse((await run(`sandbox import ${path} --json`, { env, now: noon })).out);

test('an import that was given up says how many trades it stored, and the same command imports the others', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const count = size(70_000, 140_000);
  const path = file(count, noon);
  const { row, stored } = await givenUp(path, env, '50,000 trades stored');
  expect(stored).toBeGreaterThan(0);
  expect(row).toBeGreaterThanOrEqual(stored);
  expect((await answers(env))[0]).toMatchObject({ trades: stored });
  expect(await imported(path, env)).toMatchObject({ imported: count - stored, repeated: stored });
});
