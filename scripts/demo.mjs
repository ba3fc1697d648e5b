// The main jobs on the built-in sandbox, one command after another as a user types them; leaves nothing behind.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/sotra.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sotra-demo-'));
const settings = Object.entries(process.env).filter(([name]) => !name.startsWith('SOTRA_'));
const env = { ...Object.fromEntries(settings), SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
if (process.stdout.isTTY && env.NO_COLOR === undefined) env.FORCE_COLOR ??= '1';
const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const follower = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

/** Runs a command line and shows it with what it prints. */
function show(line) {
  process.stdout.write(`\n$ sotra ${line}\n`);
  const { status } = spawnSync(process.execPath, [program, ...line.split(' '), '--format', 'table'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`sotra ${line} ended with ${status}`);
}

/** What a command line prints on stdout. */
function ask(line) {
  const { stdout } = spawnSync(process.execPath, [program, ...line.split(' ')], { cwd: folder, env, encoding: 'utf8' });
  return stdout.trim();
}

async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts `webhook listen` and waits until it can be reached. */
async function startListener(line) {
  process.stdout.write(`\n$ sotra ${line} &\n`);
  const ready = join(folder, 'ready.json');
  const changes = watch(folder);
  const child = spawn(process.execPath, [program, ...line.split(' '), '--ready-file', ready], {
    cwd: folder,
    env,
    stdio: 'ignore',
  });
  await new Promise((resolve, reject) => {
    changes.on('change', () => existsSync(ready) && resolve());
    child.once('exit', (code) => reject(new Error(`sotra ${line} ended with ${code}`)));
  }).finally(() => changes.close());
  return child;
}

let listener;
try {
  show('--sandbox leaderboard list --limit 10');
  const third = ask('--sandbox leaderboard list --limit 3 --columns address').split('\n')[2];
  show(`--sandbox leaderboard rank ${third}`);
  show(`--sandbox profile get ${third}`);
  show(`--sandbox profile positions ${third} closed --chains all --limit 5`);

  writeFileSync(join(folder, 'trader.key'), `0x${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  const unsigned = `--chain base --tx 0x${'1'.repeat(64)} --token ${token} --text gm`;
  const trader = JSON.parse(ask(`--sandbox comment sign ${unsigned} --key-file trader.key --json`)).signerAddress;
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/hook`;
  show(`--sandbox webhook sync --url ${url} --wallet-addresses ${follower} --secret-file hook.secret`);
  show(`--sandbox follow add ${follower} ${trader}`);
  listener = await startListener(`webhook listen --port ${port} --secret-file hook.secret`);
  show(`sandbox trade --chain base --trader ${trader} --side buy --amount 10000 --usd 41 --token ${token}`);
  show('--sandbox comment post gm --last --key-file trader.key --yes');
  show('webhook events');

  process.stdout.write(`
All of it ran in the sandbox that comes with sotra. Type next:
  node bin/sotra.js --sandbox leaderboard list --chains solana --timeframe 7d --limit 5
  node bin/sotra.js --sandbox profile get '#1'
  node bin/sotra.js --help
`);
} finally {
  listener?.kill();
  rmSync(folder, { recursive: true, force: true });
}
