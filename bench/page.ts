// What the pages cost: their scripts; how long after the service's answer a board is drawn; and how much an
// open page slows down a listener, by a reader of its stream. Needs `npm run build` before.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../test/support/chromium.ts';
import { atEnd, temporaryFolder } from './measure/folder.ts';
import { type Row, report } from './measure/row.ts';

const rounds = 5;
/** A listener's throughput varies more. */
const listenRounds = 9;
/** The longest board of the interface. */
const boardRows = 250;
const secret = 'bench-secret';
/** Deliveries of one round, and those under way at once. */
const [sentAtOnce, connections] = [10_000, 16];

const browser = await launchBrowser();

/** With the scripts that it imports. */
function measureScripts(): Row[] {
  const read = (name: string) => readFileSync(join('dist/web', name), 'utf8');
  const sizeWith = (name: string, seen = new Set<string>()): number => {
    if (seen.has(name)) return 0;
    seen.add(name);
    const text = read(name);
    const imported = [...text.matchAll(/["']\.\/([\w-]+\.js)["']/g)].map(([, other = '']) => sizeWith(other, seen));
    return imported.reduce((sum, size) => sum + size, gzipSync(text, { level: 9 }).length / 1000);
  };
  return ['ui', 'wallet'].map((name) => ({
    what: `scripts of the ${name} page, gzipped`,
    unit: 'KB',
    measured: [sizeWith(`${name}.js`)],
    atMost: 45,
  }));
}

interface Served {
  ui: string;
  url: string;
  close: () => Promise<void>;
}

/** Starts a command that serves a page. */
async function serve(argv: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const folder = temporaryFolder();
  const ready = join(folder, 'ready');
  const secrets = join(folder, 'secret');
  writeFileSync(secrets, `${secret}\n`, { mode: 0o600 });
  const words = argv.map((word) => word.replace('<secrets>', secrets));
  const child = spawn(process.execPath, ['bin/sotra.js', ...words, '--quiet', '--ready-file', ready], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, ...env },
  });
  atEnd(() => child.kill());
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (!existsSync(ready)) await delay(20);
  const { ui = '', url = '' } = JSON.parse(readFileSync(ready, 'utf8'));
  const close = () => {
    child.kill('SIGINT');
    return ended;
  };
  return { ui, url, close };
}

/** A service with a board of so many traders. */
async function serveBoard(length: number): Promise<string> {
  const traders = Array.from({ length }, (_, index) => ({
    profile: {
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      name: `trader ${index}`,
      images: {},
      addresses: [`0x${String(index).padStart(40, '0')}`],
      metadata: { pnl30d: index, winRate30d: 0.5, tradeCount30d: 3, roiPercent30d: 1 },
    },
    pnl: { total: length - index, perChain: {} },
    hasComments: false,
  }));
  const body = JSON.stringify({ traders });
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Milliseconds from the last byte of the board to its rows, drawn. */
async function viewAfterAnswer(tab: Page): Promise<number> {
  await tab.reload();
  return tab.evaluate<number>(`(async () => {
    while (window.shownMs === undefined) await new Promise(requestAnimationFrame);
    const [{ responseEnd }] = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/ui/call'));
    return Math.max(0, window.shownMs - responseEnd);
  })()`);
}

/** Notes when the first row of a table was drawn. */
const noteRows = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('tbody tr th') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.shownMs = performance.now(); }));
  }).observe(document, { childList: true, subtree: true });`;

async function inRounds(measure: () => Promise<number>): Promise<number[]> {
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) figures.push(await measure());
  return figures;
}

async function measureViews(): Promise<Row[]> {
  const tab = await browser.newPage();
  await tab.addInitScript(noteRows);
  const sandbox = await serve(['sandbox', 'start', '--port', '0', '--ui']);
  /** It has its session once it shows rows: before that a reload would lose it. */
  const open = async (ui: string) => {
    await tab.goto(ui);
    await tab.getByRole('link', { name: 'Board', exact: true }).click();
    await tab.locator('tbody tr th').first().waitFor();
  };
  await open(sandbox.ui);
  const sandboxMs = await inRounds(() => viewAfterAnswer(tab));
  await sandbox.close();
  const openBoard = async (length: number) => {
    const service = await serve(['ui'], { SOTRA_BASE_URL: await serveBoard(length), SOTRA_API_KEY: 'a-key' });
    await open(service.ui);
    return service;
  };
  const board = await openBoard(boardRows);
  const boardMs = await inRounds(() => viewAfterAnswer(tab));
  await board.close();
  return [
    { what: 'first view of the sandbox, after its answer', unit: 'ms', measured: sandboxMs, atMost: 300 },
    { what: `first view of ${boardRows} traders, after the answer`, unit: 'ms', measured: boardMs, atMost: 300 },
  ];
}

/** Reads what a page is sent until the bench ends. */
async function openReader(ui: string): Promise<void> {
  const { origin, hash } = new URL(ui);
  const body = JSON.stringify({ code: hash.replace('#code=', '') });
  const headers = { origin, 'content-type': 'application/json' };
  const opened = await fetch(`${origin}/api/session`, { method: 'POST', headers, body });
  const { session } = (await opened.json()) as { session: string };
  const live = await fetch(`${origin}/api/ui/live`, { headers: { origin, 'x-sotra-session': session } });
  if (!live.ok || live.body === null) throw new Error(`the page is not served: ${live.status}`);
  void live.body.pipeTo(new WritableStream()).catch(() => undefined);
}

let sent = 0;
/** Deliveries a second that a listener takes. */
async function deliver(url: string): Promise<number> {
  const started = performance.now();
  const last = sent + sentAtOnce;
  const send = async () => {
    while (sent < last) {
      sent += 1;
      const body = `{"events":[{"eventId":"e${sent}","eventType":"new-feed-item","feedItem":{"itemTitle":"one of many"}}]}`;
      const t = Math.floor(Date.now() / 1000);
      const signature = createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');
      const headers = { 'daylight-signature': `t=${t},v1=${signature}`, 'content-type': 'application/json' };
      const { status } = await fetch(`${url}/hook`, { method: 'POST', headers, body });
      if (status !== 200) throw new Error(`the listener answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  return (sentAtOnce * 1000) / (performance.now() - started);
}

/** Two listeners in turn, of which one has a page open. */
async function measureListener(): Promise<Row> {
  const listen = ['webhook', 'listen', '--port', '0', '--secret-file', '<secrets>', '--ui'];
  const [bare, watched] = [await serve(listen), await serve(listen)];
  await openReader(watched.ui);
  const [floor, measured]: [number[], number[]] = [[], []];
  for (let round = 0; round <= listenRounds; round += 1) {
    const rates = [await deliver(bare.url), await deliver(watched.url)];
    if (round === 0) continue;
    floor.push(rates[0] ?? 0);
    measured.push(rates[1] ?? 0);
  }
  for (const each of [bare, watched]) await each.close();
  return { what: 'listen with a page open, without', unit: 'items/s', measured, floor, atLeast: 0.95 };
}

try {
  report([...measureScripts(), ...(await measureViews()), await measureListener()]);
} finally {
  await browser.close();
}
process.exit();
