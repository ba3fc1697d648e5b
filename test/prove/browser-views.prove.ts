import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, tableRows, violationsOf } from '../support/browser.ts';
import { stub } from '../support/harness.ts';
import { startPage } from '../support/page.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const heading = (tab: Page) => tab.locator('h3').first().textContent();

async function open(argv = 'sandbox start --port 0 --ui', env: Record<string, string> = {}) {
  const { ui } = await startPage(argv, env);
  const context = await (await openBrowser()).newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const tab = await context.newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  return { tab, context, complaints, show: (hash: string) => tab.goto(`${new URL(ui).origin}/service#${hash}`) };
}

const pasted = (tab: Page) => tab.evaluate<string>('navigator.clipboard.readText()');

test('by keyboard alone: Enter opens a trader and Escape leads back; / narrows a table, ? names the keys', async () => {
  const { tab, complaints } = await open();
  await expect.poll(() => tableRows(tab, 'Traders').count()).toBeGreaterThan(10);
  const press = async (...keys: string[]) => {
    for (const key of keys) await tab.keyboard.press(key);
  };
  await press('j', 'j', 'j', 'Enter');
  await expect.poll(() => heading(tab)).toBe('Ines Valdrée');
  expect(await tab.locator('.views [aria-current]').textContent()).toBe('Leaderboard');
  expect(await tab.locator('.crumbs').textContent()).toBe('LeaderboardInes Valdrée');
  await expect.poll(() => tableRows(tab, 'Open positions').count()).toBeGreaterThan(0);
  await press('?');
  await expect.poll(() => tab.getByRole('dialog').textContent()).toContain('next and previous row');
  expect(await violationsOf(tab)).toEqual([]);
  await press('Escape');
  await expect.poll(() => tab.getByRole('dialog').count()).toBe(0);
  await press('Escape');
  await expect.poll(() => heading(tab)).toBe('Leaderboard');
  await expect.poll(() => tableRows(tab, 'Traders').count()).toBeGreaterThan(10);
  await press('/');
  expect(await tab.evaluate('document.activeElement.placeholder')).toBe('Filter: a name, an address');
  await tab.keyboard.type('mossy');
  await expect.poll(() => tableRows(tab, 'Traders').count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('an id is copied by a click and leads to the explorer of its chain; a link of a view opens in a tab of its own', async () => {
  const { tab, context, show } = await open('sandbox start --port 0 --ui --as-of 2026-11-20T12:00:00Z');
  const asked: string[] = [];
  context.on('request', (request) => asked.push(new URL(request.url()).hostname));
  await show(`/trader/${trader}`);
  const positions = tab.locator('section', { has: tab.getByRole('heading', { name: 'Closed positions' }) });
  await positions.getByText('Columns', { exact: true }).click();
  await positions.getByLabel('Transaction transactionHash').check();
  await positions.getByText('Columns', { exact: true }).click();
  await positions.getByPlaceholder('Filter').fill('KEYCAT');
  const first = tableRows(tab, 'Closed positions').first();
  const copied = first.getByRole('button').first();
  await copied.click();
  await expect.poll(() => copied.textContent()).toBe('Copied');
  const hash = await pasted(tab);
  expect(hash).toMatch(/^0x[\da-f]{64}$/);
  const link = first.getByRole('link');
  expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
    `https://basescan.org/tx/${hash}`,
    'noreferrer',
  ]);
  const time = first.locator('time');
  expect([await time.textContent(), await time.getAttribute('title'), await time.getAttribute('datetime')]).toEqual([
    expect.stringMatching(/^\d+d ago$/),
    expect.stringMatching(/^2026-1\d-\d\d \d\d:\d\d:\d\dZ$/),
    expect.stringMatching(/^2026-1\d-\d\dT\d\d:\d\d:\d\dZ$/),
  ]);
  await tab.getByRole('button', { name: 'link of this view' }).click();
  const other = await context.newPage();
  await other.goto(await pasted(tab));
  await expect.poll(() => heading(other)).toBe('mossyledger.alpha.test');
  // Without any other page of this session.
  const stranger = await (await openBrowser()).newPage();
  await stranger.goto(await pasted(tab));
  await expect.poll(() => stranger.getByRole('alert').textContent()).toContain('Press Enter in the terminal');
  expect([...new Set(asked)]).toEqual(['127.0.0.1']);
});

test('a trader has handles, follow counts, holding time and figures by chain, as sotra profile get shows them', async () => {
  const { tab, show } = await open();
  await show(`/trader/${trader}`);
  await expect
    .poll(() => tab.locator('dt').allTextContents())
    .toEqual('Profile,Status,Handles,Addresses,Followers,Following,Comments,Copied,Holds for'.split(','));
  const text = (await tab.locator('dl').first().textContent()) ?? '';
  expect(text).toContain('twitter:mossyledger_  farcaster:mossyledger  ens:mossyledger.eth');
  expect(text).toContain('6 here, 10 in all');
  expect(text).toContain('42.6 h');
  expect(await tab.getByRole('table', { name: 'Trading' }).getByRole('columnheader').allTextContents()).toEqual(
    'Chain,Window,PnL,ROI,Volume,Wins,Trades'.split(','),
  );
  await expect.poll(() => tableRows(tab, 'Follows').count()).toBe(15);
  // Where all rows have the same, a column is not shown.
  const heads = (table: string) => tab.getByRole('table', { name: table }).getByRole('columnheader').allTextContents();
  expect((await heads('Open positions')).slice(0, 3)).toEqual(['Token', 'Chain', 'Side']);
  // What a filter does not change is named.
  await show('/leaderboard?chain=base');
  await expect.poll(() => tab.getByText('of all chains together').count()).toBe(1);
});

/** A service that answers as it is told, and its page. */
async function openService() {
  const now = { status: 200, body: '{"traders":[]}', headers: {} as Record<string, string>, wait: Promise.resolve() };
  const service = await stub(async (_, response) => {
    await now.wait;
    response.writeHead(now.status, { 'content-type': 'application/json', ...now.headers }).end(now.body);
  });
  return { now, service, begin: () => open('ui', service.env) };
}

test('states of a view: a frame while it loads, a line to paste where it is empty, and why it failed once, with a button', async () => {
  const { now, begin } = await openService();
  let answer: () => void = () => undefined;
  now.wait = new Promise((resolve) => {
    answer = resolve;
  });
  const { tab, show } = await begin();
  await expect.poll(() => tab.getByRole('status', { name: 'Traders: loading' }).count()).toBe(1);
  expect([await violationsOf(tab), await tab.getByText('Loading').count()]).toEqual([[], 0]);
  answer();
  await expect
    .poll(() => tab.locator('.empty code').textContent())
    .toBe('sotra leaderboard list --chains solana --limit 5');
  expect(await tab.locator('.state').textContent()).toBe('Every 30 s');

  Object.assign(now, { status: 401, body: '{"error":"no"}' });
  await show(`/trader/${trader}`);
  const problem = tab.getByRole('alert');
  await expect.poll(() => problem.allTextContents()).toEqual([expect.stringContaining('401')]);
  await expect.poll(() => tab.locator('.state').textContent()).toMatch(/^Failing, last good answer \d\d:\d\d:\d\dZ$/);
  expect([await violationsOf(tab), await tab.locator('.frame').count()]).toEqual([[], 0]);
  // What could not be had is not said to be empty.
  await show('/webhooks');
  await expect.poll(() => problem.allTextContents()).toEqual([expect.stringContaining('/v1/webhooks/feed')]);
  expect(await tab.locator('.empty code').count()).toBe(0);
  Object.assign(now, { status: 200, body: '{"traders":[]}' });
  await show('/leaderboard');
  await expect.poll(() => tab.getByText('No trader fits').count()).toBe(1);
  await expect.poll(() => problem.count()).toBe(0);

  Object.assign(now, { status: 503, body: 'down' });
  await show('/leaderboard?timeframe=7d');
  await expect.poll(() => problem.allTextContents()).toEqual([expect.stringContaining('503')]);
  Object.assign(now, { status: 200, body: '{"traders":[]}' });
  await tab.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => tab.locator('.state').textContent()).toBe('Every 30 s');

  Object.assign(now, { body: '{"traders":[' });
  await show('/leaderboard?timeframe=7d&limit=10');
  await expect.poll(() => problem.count()).toBe(1);
});

test('a service that asks to wait is asked again when the time is over, which is counted down', async () => {
  const { now, service, begin } = await openService();
  Object.assign(now, { status: 429, headers: { 'retry-after': '3' }, body: '{}' });
  const { tab } = await begin();
  await expect.poll(() => tab.getByRole('timer').textContent()).toMatch(/^Asks again in [123] s\.$/);
  const asked = service.requests.length;
  Object.assign(now, { status: 200, headers: {}, body: '{"traders":[]}' });
  await expect.poll(() => tab.getByText('No trader fits').count()).toBe(1);
  expect([service.requests.length, await tab.getByRole('alert').count()]).toEqual([asked + 1, 0]);
});

const profile = (index: number, name: string) => ({
  profile: {
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    name,
    images: {},
    addresses: [`0x${String(index).padStart(40, '0')}`],
    metadata: { pnl30d: index, winRate30d: 0.5, tradeCount30d: 3, roiPercent30d: 1 },
  },
  pnl: { total: 10_000 - index, perChain: {} },
  hasComments: false,
});

test('of 10,000 rows the first 1,000 are shown, with a name of 300 characters and one from right to left, narrow and wide', async () => {
  const { now, begin } = await openService();
  const names = ['n'.repeat(300), 'שלום עולם', '\u202Egnp.exe'];
  const traders = Array.from({ length: 10_000 }, (_, index) => profile(index, names[index] ?? `trader ${index}`));
  now.body = JSON.stringify({ traders });
  const { tab, complaints } = await begin();
  const rows = tableRows(tab, 'Traders');
  await expect.poll(() => rows.count()).toBeGreaterThan(20);
  expect(await rows.locator('th').nth(2).textContent()).toBe('U+202Egnp.exe');
  for (const [width, colorScheme] of [
    [380, 'light'],
    [768, 'dark'],
    [1280, 'dark'],
    [1920, 'light'],
  ] as const) {
    await tab.emulateMedia({ colorScheme });
    await tab.setViewportSize({ width, height: 800 });
    const wide = await tab.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect([width, wide, await violationsOf(tab)]).toEqual([width, 0, []]);
    expect(await rows.count()).toBeLessThan(60);
  }
  await rows.first().locator('th a').focus();
  await tab.keyboard.press('End');
  await expect.poll(() => tab.evaluate('document.activeElement.textContent')).toBe('trader 999');
  expect(complaints).toEqual([]);
});
