// The main job on the built-in sandbox, one command after another as a user types them; leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sotra = fileURLToPath(new URL('../bin/sotra.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sotra-demo-'));
const env = { ...process.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
if (process.stdout.isTTY && env.NO_COLOR === undefined) env.FORCE_COLOR ??= '1';

function show(line) {
  process.stdout.write(`\n$ sotra ${line}\n`);
  const { status } = spawnSync(process.execPath, [sotra, ...line.split(' '), '--format', 'table'], {
    env,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`sotra ${line} ended with ${status}`);
}

function ask(line) {
  const { stdout } = spawnSync(process.execPath, [sotra, ...line.split(' ')], { env, encoding: 'utf8' });
  return stdout;
}

try {
  show('--sandbox leaderboard list --limit 10');
  show('--sandbox leaderboard list --chains solana --timeframe 7d --limit 5');
  const third = ask('--sandbox leaderboard list --limit 3 --columns address').trim().split('\n')[2];
  show(`--sandbox leaderboard rank ${third}`);
  show(`--sandbox profile get ${third}`);
  show(`--sandbox profile positions ${third} closed --chains all --limit 5`);
  show('--sandbox token positions base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed open --price 0.0041 --limit 5');
  show('sandbox status');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
