import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, temporaryFolder } from './harness.ts';

export const now = Date.parse('2026-11-20T12:00:00Z');

export const wallet = (digit: string) => `0x${digit.repeat(40)}`;

/** A sandbox that holds these trades and nothing else: rows of time, chain, trader, token, side, amount, usd, direction, leverage. */
export async function worldOf(rows: readonly string[]): Promise<Record<string, string>> {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const file = join(temporaryFolder(), 'trades.csv');
  const lines = rows.map((row, index) => {
    const [time = '', chain, trader, token = '', side, amount, usd, direction = '', leverage = ''] = row.split(' ');
    return [
      time,
      chain,
      trader,
      token,
      token.slice(-2),
      side,
      amount,
      usd,
      direction,
      leverage,
      `0xhash${index}`,
    ].join();
  });
  writeFileSync(file, ['time,chain,trader,token,symbol,side,amount,usd,direction,leverage,tx', ...lines].join('\n'));
  const reset = await run('sandbox reset --empty --yes', { env, now });
  const imported = await run(`sandbox import ${file}`, { env, now });
  if (reset.code + imported.code > 0) throw new Error(reset.err + imported.err);
  return env;
}
