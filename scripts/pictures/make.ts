import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/chromium.ts';
import { terminalPicture } from './terminal.ts';

const out = 'test/pictures';
const folder = mkdtempSync(join(tmpdir(), 'sotra-pictures-'));
const env = { ...process.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, COLUMNS: '110' };
const started: (() => void)[] = [];

/** Starts a command that serves a page, and gives what its ready file says. */
async function serve(argv: string): Promise<{ ui: string; url: string }> {
  const ready = join(folder, `ready-${started.length}`);
  const child = spawn(process.execPath, ['bin/sotra.js', ...argv.split(' '), '--quiet', '--ready-file', ready], {
    env,
  });
  started.push(() => void child.kill('SIGINT'));
  while (!existsSync(ready) && child.exitCode === null) await delay(20);
  return JSON.parse(readFileSync(ready, 'utf8'));
}

async function takePicture(tab: Page, name: string): Promise<void> {
  await delay(1500);
  await tab.screenshot({ path: join(out, `${name}.png`) });
}

async function deliver(url: string, id: string, eventType: string, itemTitle: string): Promise<void> {
  const feedItem = { itemTitle, metadata: { tokenSymbol: 'DEGEN', tokenChain: 'base', trades: [{ usdCost: 250 }] } };
  const body = JSON.stringify({ events: [{ eventId: id, eventType, walletAddresses: [], feedItem }] });
  const t = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', 'whsec_picture').update(`${t}.${body}`).digest('base64url');
  await fetch(`${url}/hook`, { method: 'POST', body, headers: { 'daylight-signature': `t=${t},v1=${signature}` } });
}

/** A wallet that says that it is there, and has one account (EIP-6963, EIP-1193). */
const announcedWallet = `
  const info = { uuid: crypto.randomUUID(), name: 'Example Wallet', icon: 'data:image/svg+xml,', rdns: 'com.example' };
  const provider = { request: async () => ['0x143cf5cccbc8447504a99413dec7ea93ec228432'], on: () => {}, removeListener: () => {} };
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
`;

const terminals = {
  leaderboard: '--sandbox leaderboard list --limit 8 --format table',
  chart: '--sandbox leaderboard list --limit 8 --chart',
};

const browser = await launchBrowser();
try {
  mkdirSync(out, { recursive: true });
  for (const [name, argv] of Object.entries(terminals)) {
    const output = execFileSync(process.execPath, ['bin/sotra.js', ...argv.split(' ')], {
      env: { ...env, FORCE_COLOR: '1' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    writeFileSync(join(out, `terminal-${name}.svg`), terminalPicture(`sotra ${argv}`, output));
  }
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const tab = await context.newPage();
  const sandbox = await serve('sandbox start --port 0 --ui');
  await tab.goto(sandbox.ui);
  await tab.getByRole('link', { name: 'Board', exact: true }).click();
  await takePicture(tab, 'sandbox-leaderboard');
  await tab.getByRole('link', { name: 'mossyledger' }).click();
  await takePicture(tab, 'sandbox-trader');
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'whsec_picture\n', { mode: 0o600 });
  const listener = await serve(`webhook listen --port 0 --ui --secret-file ${secret}`);
  for (const [index, name] of ['mossyledger', 'cobalt', 'Ines Valdrée', 'jun_h', 'northbound'].entries())
    await deliver(listener.url, `event-${index}`, index % 2 === 0 ? 'new-feed-item' : 'copyswap', name);
  await tab.goto(listener.ui);
  await tab.locator('.row').first().click();
  await takePicture(tab, 'deliveries');
  const tx = `0x${'ab'.repeat(32)}`;
  const comment = `--chain base --tx ${tx} --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --text gm --service-name Example`;
  const signing = await serve(`comment sign ${comment} --browser`);
  await tab.addInitScript(announcedWallet);
  await tab.goto(signing.ui);
  await tab.getByRole('button', { name: 'Example Wallet' }).click();
  await takePicture(tab, 'wallet');
} finally {
  for (const stop of started) stop();
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
