import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { long } from '../support/size.ts';
import { until } from '../support/until.ts';

/** Loaded before the program: its clock is that far ahead once a file is there, as when it is set, or the machine slept. */
const jumping = `
import { existsSync } from 'node:fs';
const { Date: Real } = globalThis;
let ahead = 0;
setInterval(() => {
  if (existsSync(process.env.JUMP_FILE)) ahead = Number(process.env.JUMP_MS);
}, 20).unref();
globalThis.Date = class extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + ahead);
    else super(...parts);
  }
  static now() {
    return Real.now() + ahead;
  }
};
`;

function startJumping(argv: string, jumpMs: number) {
  const folder = temporaryFolder();
  const [clock, jump] = [join(folder, 'clock.mjs'), join(folder, 'jump')];
  writeFileSync(clock, jumping);
  const env = { NODE_OPTIONS: `--import ${clock}`, JUMP_FILE: jump, JUMP_MS: String(jumpMs), SOTRA_DATA_DIR: folder };
  const running = start(argv.replaceAll('FOLDER', folder), env);
  return { ...running, folder, jump: () => writeFileSync(jump, '') };
}

/** Waits for a trade beyond those of the world that is made first, all at once. */
async function firstTrade(folder: string): Promise<void> {
  const file = join(folder, 'sandbox.db');
  await until(() => existsSync(file));
  const db = openDb(file);
  onTestFinished(() => db.close());
  const count = () => db.get<{ n: number }>('SELECT count(*) AS n FROM trade')?.n ?? 0;
  await until(() => count() > 0);
  const made = count();
  await until(() => count() > made);
}

const hourMs = 3_600_000;

test('a sandbox whose clock is set fifty years ahead answers as before', async () => {
  const { child, folder, ended, jump } = startJumping(
    'sandbox start --port 0 --ready-file FOLDER/ready.json',
    50 * 365.25 * 24 * hourMs,
  );
  const file = join(folder, 'ready.json');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}\n'));
  const { url } = JSON.parse(readFileSync(file, 'utf8'));
  const ask = async (path: string) => {
    const answer = await fetch(url + path, {
      headers: { authorization: 'Bearer sandbox-key-a' },
      signal: AbortSignal.timeout(10_000),
    });
    return [answer.status, Object.keys((await answer.json()) as object)];
  };
  expect(await ask('/v2/leaderboard?limit=3')).toEqual([200, ['traders']]);
  jump();
  for (let count = 0; count < 30; count += 1) {
    expect(await ask('/v2/leaderboard?limit=3')).toEqual([200, ['traders']]);
    await delay(10);
  }
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});

long('a simulation whose machine slept for eight hours still ends at Ctrl-C, and tells what it made', async () => {
  const { child, folder, printed, ended, jump } = startJumping(
    'sandbox simulate --rate 5000/s --for 24h --json',
    8 * hourMs,
  );
  await firstTrade(folder);
  jump();
  await delay(500);
  child.kill('SIGINT');
  const killed = Date.now();
  const code = await ended;
  expect([code, printed.err]).toEqual([130, expect.any(String)]);
  expect(Date.now() - killed).toBeLessThan(20_000);
  expect(JSON.parse(printed.out).trades).toBeGreaterThan(0);
});
