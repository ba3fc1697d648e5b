// What the pages cost: their size, the first paint of the sandbox against a local server, and the longest task while a list of 10,000
// deliveries scrolls.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { openEmbedded } from '../src/inbox/embedded/embedded-inbox.ts';
import { launchBrowser } from '../test/support/launch.ts';
import { report } from './measure/row.ts';

const rounds = 5;
const deliveries = 10_000;
const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));

/** A page that a command of ours serves, opened; `close` ends both. */
async function open(tab: Page, ...argv: string[]): Promise<{ close: () => Promise<void> }> {
  const ready = join(folder, `ready-${argv[0]}`);
  const env = { ...process.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const child = spawn(process.execPath, ['bin/sotra.js', ...argv, '--quiet', '--ready-file', ready], { env });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (!existsSync(ready)) await delay(20);
  await tab.goto(JSON.parse(readFileSync(ready, 'utf8')).ui);
  return {
    close: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

async function firstPaint(tab: Page): Promise<number> {
  await tab.reload();
  await tab.locator('.row').first().waitFor();
  return tab.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime");
}

/** Of a scroll from the first row to the last. */
function longestTask(tab: Page): Promise<number> {
  return tab.evaluate<number>(`(async () => {
    const list = document.querySelector('.list');
    let longest = 0;
    new PerformanceObserver((seen) => {
      for (const { duration } of seen.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' });
    for (let at = 0; at <= 200; at += 1) {
      list.scrollTop = (list.scrollHeight / 200) * at;
      await new Promise(requestAnimationFrame);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    return longest;
  })()`);
}

async function fill(): Promise<void> {
  const world = {
    now: Date.now,
    sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }),
    pid: process.pid,
    system: { node: process.versions.node, platform: process.platform, isAlive: () => true, readStartTime: () => '' },
  };
  const at = join(folder, 'webhook', 'inbox', 'default');
  const inbox = openEmbedded({ folder: at, name: 'default', listens: false, onDamaged: () => undefined, world });
  const bodyOf = (id: number) => Buffer.from(`{"events":[{"eventId":"e${id}","eventType":"new-feed-item"}]}`);
  const made = Array.from({ length: deliveries }, (_, id) => ({
    webhook: '/#1',
    atMs: id,
    headers: [],
    body: bodyOf(id),
  }));
  await inbox.store(made);
  await inbox.close();
}

const browser = await launchBrowser();
try {
  const files = readdirSync('dist/web').map((name) => readFileSync(join('dist/web', name)));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  const tab = await browser.newPage();
  const sandbox = await open(tab, 'sandbox', 'start', '--port', '0', '--ui');
  const paints: number[] = [];
  for (let round = 0; round < rounds; round += 1) paints.push(await firstPaint(tab));
  await sandbox.close();
  await fill();
  const inbox = await open(tab, 'webhook', 'ui');
  await tab.locator(`[aria-setsize="${deliveries}"]`).first().waitFor();
  const tasks: number[] = [];
  for (let round = 0; round < rounds; round += 1) tasks.push(await longestTask(tab));
  await inbox.close();
  report([
    { what: 'size of the pages, each file gzipped', unit: 'KB', measured: [bytes / 1000], atMost: 80 },
    { what: 'first paint of the sandbox page', unit: 'ms', measured: paints, atMost: 300 },
    {
      what: `longest task over 50 ms while ${deliveries} deliveries scroll (0: none)`,
      unit: 'ms',
      measured: tasks,
      atMost: 50,
    },
  ]);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
