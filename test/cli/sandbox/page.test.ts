import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, pixelsIn, violationsOf } from '../../support/browser.ts';
import { answering, run, stub } from '../../support/harness.ts';
import { startPage } from '../../support/page.ts';

const rows = (tab: Page, list: string) => tab.getByRole('listbox', { name: list }).getByRole('option');

test('the page of the sandbox shows the leaderboard, a trader and a position, and makes a trade', async () => {
  const { url, ui, controlToken } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  const sent: string[] = [];
  tab.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
  await tab.goto(ui);
  await expect.poll(() => rows(tab, 'Traders').first().textContent()).toContain('mossyledger.alpha.test+$412,000.22');
  expect(await violationsOf(tab)).toEqual([]);
  expect(await pixelsIn(tab, '--accent')).toBeGreaterThan(1000);
  await tab.getByRole('img').focus();
  await tab.keyboard.press('End');
  await expect.poll(() => tab.locator('figcaption').textContent()).toBe('40. bagelfutures.alpha.test: -$83,119.90');
  await tab.keyboard.press('ArrowLeft');
  await expect.poll(() => tab.locator('figcaption').textContent()).toMatch(/^39\. /);
  await tab.keyboard.press('Tab');
  await expect.poll(() => tab.locator('figcaption').textContent()).toBe('Realized PnL of these traders');
  await tab.getByLabel('Chain').selectOption('solana');
  await expect.poll(() => rows(tab, 'Traders').first().textContent()).toContain('1Ines Valdrée+$15,420.13');
  expect(await tab.locator('.commands code').allTextContents()).toEqual([
    'sotra --sandbox leaderboard list --chains solana --limit 100',
    expect.stringContaining(`'${url}/v2/leaderboard?chains=solana&limit=100'`),
  ]);

  // By keyboard alone.
  await tab.getByRole('listbox', { name: 'Traders' }).focus();
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await expect.poll(() => tab.locator('h3').first().textContent()).toBe('Ines Valdrée');
  await expect.poll(() => rows(tab, 'Closed positions').count()).toBeGreaterThan(3);
  expect(await violationsOf(tab)).toEqual([]);
  await rows(tab, 'Closed positions').first().click();
  await expect.poll(() => tab.locator('figcaption').textContent()).toBe('Price in USD: 3 buys ▲, 1 sell ▼');
  await expect
    .poll(async () => [(await pixelsIn(tab, '--good')) > 40, (await pixelsIn(tab, '--bad')) > 20])
    .toEqual([true, true]);
  expect(await violationsOf(tab)).toEqual([]);

  await tab.getByRole('link', { name: 'Controls' }).click();
  await tab.getByLabel('Value in USD').fill('nothing');
  await tab.getByRole('button', { name: 'Trade', exact: true }).click();
  await expect.poll(() => tab.locator('output').first().textContent()).toContain('usd null: must be');
  await tab.getByLabel('Value in USD').fill('300');
  await tab.getByRole('button', { name: 'Trade', exact: true }).click();
  await expect.poll(() => tab.locator('output').first().textContent()).toContain('Made; 0 deliveries.');
  await expect.poll(() => tab.locator('dd').nth(1).textContent()).toBe('2,509');
  expect(await violationsOf(tab)).toEqual([]);

  const all = sent.join('\n');
  expect([all.includes(controlToken), /sandbox-key|authorization/i.test(all)]).toEqual([false, false]);
  // The browser tells of the refused trade by itself.
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202E';

test('feed, token, webhooks, deliveries and requests are shown as they come; faults are set and the world reset', async () => {
  const { url, ui, env } = await startPage('--sandbox ui');
  const page = await (await openBrowser()).newPage({ colorScheme: 'dark', viewport: { width: 360, height: 800 } });
  const complaints = complaintsOf(page);
  await page.goto(ui);
  const open = (name: string) => page.getByRole('link', { name, exact: true }).click();
  await open('Feed');
  await expect.poll(() => rows(page, 'Feed').count()).toBeGreaterThan(5);
  expect(await violationsOf(page)).toEqual([]);

  const csv = `time,trader,token,symbol,side,amount,usd\n${Math.floor(Date.now() / 1000)},0x${'ab'.repeat(20)},0x${'cd'.repeat(20)},"${hostile.replaceAll('"', '""')}",buy,10,500\n`;
  expect((await run('sandbox import - --chain base', { env, stdin: csv })).code).toBe(0);
  await page.goto(`${new URL(ui).origin}/service#/token/base/0x${'cd'.repeat(20)}`);
  await expect.poll(() => rows(page, 'Holders').count()).toBe(1);
  expect(await page.locator('h3').first().textContent()).toBe(`${hostile.slice(0, -1)}U+202E on base`);
  expect(await violationsOf(page)).toEqual([]);

  await open('Requests');
  const asked = (path: string) => fetch(url + path, { headers: { authorization: 'Bearer sandbox-key-a' } });
  await asked('/v2/leaderboard?limits=3');
  await expect.poll(() => rows(page, 'Requests').first().textContent()).toMatch(/^200GET.*, ignored: limits$/);
  await open('Controls');
  await page.getByLabel('Fault: what').fill('503:every=1:GET /v2/**');
  await page.getByRole('button', { name: 'Add' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Remove' }).count()).toBe(1);
  const shown = page.locator('.commands code', { hasText: '/_sandbox/faults' });
  await page.getByLabel('Fault: what').fill("401:every=1:GET /it's");
  const line = String(await shown.textContent());
  await promisify(execFile)('bash', ['-c', line], { timeout: 20_000 });
  await expect.poll(() => page.getByRole('button', { name: 'Remove' }).count()).toBe(2);
  expect((await asked('/v2/leaderboard')).status).toBe(503);
  await open('Requests');
  await expect.poll(() => rows(page, 'Requests').first().textContent()).toMatch(/^503GET.*, fault: 503:every=1:GET /);
  // The page itself meets none.
  await open('Leaderboard');
  await expect.poll(() => rows(page, 'Traders').count()).toBeGreaterThan(5);

  const hook = await answering({});
  const user = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  await run(`webhook register --url ${hook.url}/hook --wallet-addresses ${user}`, { env });
  await open('Webhooks');
  await expect.poll(() => rows(page, 'Webhooks').count()).toBe(1);
  expect((await run('webhook trigger new-feed-item', { env })).code).toBe(0);
  await expect.poll(() => rows(page, 'Deliveries').first().textContent()).toContain('new-feed-itemdelivered');
  expect(await violationsOf(page)).toEqual([]);

  await open('Controls');
  await page.getByRole('button', { name: 'Reset' }).click();
  expect(await page.locator('output').last().textContent()).toContain('is deleted. Press again');
  await page.getByRole('button', { name: 'Delete and reset' }).click();
  await expect.poll(() => page.locator('output').last().textContent()).toBe('It is a new world.');
  await open('Webhooks');
  await expect.poll(() => rows(page, 'Webhooks').count()).toBe(0);
  expect([await page.title(), complaints]).toEqual(['Sandbox \u00b7 sotra', []]);
});

test('ui shows any service, and neither changes a world nor runs what writes', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await (await openBrowser()).newPage();
  await page.goto(ui);
  await expect.poll(() => rows(page, 'Traders').count()).toBeGreaterThan(5);
  expect(await page.locator('.views a').allTextContents()).toEqual(['Leaderboard', 'Feed', 'Webhooks']);
  expect(await page.locator('.commands code').first().textContent()).toBe('sotra leaderboard list --limit 100');
  const call = (command: string) =>
    page.evaluate<string>(`fetch('/api/service/call?command=${command}&input={}').then((answer) => answer.text())`);
  expect(await call('webhook delete')).toBe('{"error":"command webhook delete: must be one that reads"}');
  expect(await call('sandbox reset')).toBe('{"error":"command sandbox reset: must be one that reads"}');
  const { code, err } = await run('sandbox start --open');
  expect([code, err]).toEqual([2, expect.stringContaining('--open would do nothing without --ui')]);
});

test('the page of a service is refreshed while it is seen, and not before the time that the service names', async () => {
  let isBusy = false;
  const service = await stub((_, response) => {
    const headers = { 'content-type': 'application/json', ...(isBusy && { 'retry-after': '2' }) };
    response.writeHead(isBusy ? 429 : 200, headers).end(isBusy ? '{}' : '{"traders":[]}');
  });
  const { ui } = await startPage('ui', service.env);
  const tab = await (await openBrowser()).newPage();
  await tab.clock.install();
  await tab.goto(ui);
  await expect.poll(() => tab.getByText('No trader fits these filters.').count()).toBe(1);
  const count = () => service.requests.length;
  const first = count();
  const pass = () => tab.clock.fastForward(31_000);
  await pass();
  await expect.poll(count).toBe(first + 1);

  const hide = (hidden: boolean) =>
    tab.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })`);
  await hide(true);
  await pass();
  await hide(false);
  isBusy = true;
  await pass();
  await expect.poll(() => tab.getByRole('alert').textContent()).toContain('The service asks to wait 2 s');
  const refusedMs = Date.now();
  expect(count()).toBe(first + 2);
  isBusy = false;
  await expect
    .poll(async () => {
      await pass();
      return count();
    })
    .toBeGreaterThan(first + 2);
  expect(Date.now() - refusedMs).toBeGreaterThan(1500);
  await expect.poll(() => tab.getByRole('alert').count()).toBe(0);
});
