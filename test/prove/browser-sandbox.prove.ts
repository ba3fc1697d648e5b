import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { splitUnseen } from '../../src/model/safe-text.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { complaintsOf, openBrowser, samePicture, tableRows, violationsOf } from '../support/browser.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';
import { forwardPort, startPage } from '../support/page.ts';

const views = {
  leaderboard: '/leaderboard',
  trader: '/trader/0x143cf5cccbc8447504a99413dec7ea93ec228432',
  position: '/position/6527ff56-9ac0-5c42-812c-d84aa9a0cf53',
  token: '/token/base/0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
  feed: '/feed',
  webhooks: '/webhooks',
  requests: '/requests',
  controls: '/controls',
};

/** Shows a view and waits until nothing is loading. */
async function show(tab: Page, origin: string, hash: string): Promise<void> {
  await tab.goto(`${origin}/service#${hash}`);
  await tab.locator('.part, .inspect').first().waitFor();
  await expect.poll(() => tab.locator('.frame').count()).toBe(0);
  await tab.waitForLoadState('networkidle', { timeout: 300 }).catch(() => undefined);
}

test('axe-core finds nothing on any view, narrow and wide, light and dark', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const browser = await openBrowser();
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(ui);
  const found: Record<string, string[]> = {};
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1280]) {
      await tab.emulateMedia({ colorScheme });
      await tab.setViewportSize({ width, height: 800 });
      for (const [name, hash] of Object.entries(views)) {
        await show(tab, new URL(ui).origin, hash);
        const wide = await tab.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        // Where a part of the page scrolls, the page itself does not.
        const long =
          width === 1280 ? await tab.evaluate<number>('document.documentElement.scrollHeight - innerHeight') : 0;
        const rows =
          '[...document.querySelectorAll(".row")].filter((row) => row.scrollHeight > row.clientHeight).length';
        const high = await tab.evaluate<number>(rows);
        const wrong = [
          ...(await violationsOf(tab)),
          ...(wide > 0 ? [`${wide} pixels too wide`] : []),
          ...(long > 0 ? [`${long} pixels of nothing below`] : []),
          ...(high > 0 ? [`${high} rows are cut off`] : []),
        ];
        if (wrong.length > 0) found[`${name} ${colorScheme} ${width}`] = wrong;
      }
    }
  expect(found).toEqual({});
});

/** A picture of what is in sight once nothing moves any more: lists get their height after they have their rows. */
async function stillPicture(tab: Page): Promise<Buffer> {
  // Ports and folders are others each time.
  const mask = [tab.locator('.commands'), tab.locator('.where')];
  const take = () => tab.screenshot({ mask, animations: 'disabled' });
  for (let last = await take(); ; ) {
    const next = await take();
    if (next.equals(last)) return next;
    last = next;
  }
}

test('the views look as they did, at three widths', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui --as-of 2026-11-20T12:00:00Z');
  const context = await (await openBrowser()).newContext({ deviceScaleFactor: 0.5 });
  const tab = await context.newPage();
  await tab.goto(ui);
  const folder = 'test/pictures/pages';
  mkdirSync(folder, { recursive: true });
  const different: string[] = [];
  for (const width of [360, 1280, 1920])
    for (const name of ['leaderboard', 'trader', 'position', 'controls'] as const) {
      await tab.setViewportSize({ width, height: 900 });
      await show(tab, new URL(ui).origin, views[name]);
      const picture = await stillPicture(tab);
      const file = join(folder, `${name}-${width}.png`);
      if (!existsSync(file) || process.env['SOTRA_NEW_PICTURES'] === '1') writeFileSync(file, picture);
      else if (!(await samePicture(tab.context(), picture, readFileSync(file)))) {
        writeFileSync(join('node_modules/.cache', `${name}-${width}.png`), picture);
        different.push(`${name} at ${width}: see node_modules/.cache/${name}-${width}.png`);
      }
    }
  expect(different).toEqual([]);
});

const chunk = 100;
const seen = (text: string) =>
  splitUnseen(text)
    .map((part) => part.text)
    .join('');

/** What the rows of a table are about, by scrolling through it. */
async function namesOf(tab: Page, table: string): Promise<Set<string>> {
  const names = new Set<string>();
  const rows = tableRows(tab, table);
  await rows.first().locator('th a').focus();
  for (const key of ['Home', ...Array(10).fill('PageDown'), 'End']) {
    await tab.keyboard.press(key);
    await tab.evaluate('new Promise(requestAnimationFrame)');
    for (const name of await rows.locator('th').allTextContents()) names.add(name);
  }
  return names;
}

test('five hundred hostile names and comments are text, with marks for what would not be seen', async () => {
  const texts = Array.from({ length: 5 * chunk }, (_, index) =>
    index < 20 ? `<img src=x onerror="document.title=${index}">` : (naughty[index % naughty.length] ?? ''),
  );
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const address = (index: number) => `0x${String(index + 1).padStart(40, '0')}`;
  const token = (index: number) => `0x${'f'.repeat(39)}${Math.floor(index / chunk)}`;
  const lines = texts.map((_, index) => `1795000000,${address(index)},${token(index)},T,buy,10,500,${index}`);
  const csv = ['time,trader,token,symbol,side,amount,usd,tx', ...lines].join('\n');
  expect((await run('sandbox import - --chain base --sandbox', { env, stdin: csv })).code).toBe(0);
  const db = openDb(join(folder, 'sandbox.db'));
  texts.forEach((text, index) => {
    const wallet = address(index);
    db.run('INSERT OR REPLACE INTO profile (id, name) SELECT profile_id, ? FROM wallet WHERE address = ?', [
      text,
      wallet,
    ]);
    db.run(
      `INSERT INTO comment (id, trade_id, chain, token, transaction_hash, wallet, text, at_ms)
       SELECT ?, id, chain, token, tx, wallet, ?, at_ms FROM trade WHERE wallet = ?`,
      [crypto.randomUUID(), text, wallet],
    );
  });
  db.close();
  const { ui } = await startPage('--sandbox ui', env);
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  const [names, comments] = [new Set<string>(), new Set<string>()];
  for (let index = 0; index < texts.length; index += chunk) {
    await show(tab, new URL(ui).origin, `/token/base/${token(index)}`);
    for (const text of await namesOf(tab, 'Holders')) names.add(text);
    for (const text of await tab.locator('blockquote > p').allTextContents()) comments.add(text);
    expect(await tab.locator('main img, main script, main iframe, main a[href^="javascript"]').count()).toBe(0);
  }
  const missing = texts.filter((text) => !names.has(seen(text)));
  const untold = texts.filter((text) => !comments.has(seen(text)));
  expect([missing, untold, await tab.title(), complaints]).toEqual([[], [], 'Sandbox · sotra', []]);
});

test('a page whose sandbox is simulating follows it, and shows each request that others make', async () => {
  const { ui, url } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const port = await forwardPort(ui);
  await tab.goto(port.ui);
  await tab.getByRole('link', { name: 'Controls' }).click();
  await tab.getByLabel('Trades a second').fill('20/s');
  await tab.getByRole('button', { name: 'Start' }).click();
  const trades = async () => Number((await tab.locator('dd').nth(1).textContent())?.replaceAll(',', ''));
  await expect.poll(trades).toBeGreaterThan(2520);
  await tab.getByRole('button', { name: 'Stop 20/s' }).click();
  await expect.poll(() => tab.getByRole('button', { name: 'Start' }).count()).toBe(1);
  await tab.getByRole('link', { name: 'Requests' }).click();
  port.cut();
  await expect.poll(() => tab.locator('.state').textContent()).toMatch(/^Not connected/);
  const headers = { authorization: 'Bearer sandbox-key-a' };
  for (let limit = 1; limit <= 30; limit += 1) await fetch(`${url}/v2/leaderboard?limit=${limit}`, { headers });
  port.mend();
  await expect.poll(() => rows(tab, 'Requests').first().getAttribute('aria-setsize')).toBe('30');
});

const rows = (tab: Page, list: string) => tab.getByRole('listbox', { name: list }).getByRole('option');

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202E';

test('feed, token, webhooks, deliveries and requests are shown as they come; faults are set and the world reset', async () => {
  const { url, ui, env } = await startPage('--sandbox ui');
  const page = await (await openBrowser()).newPage({ colorScheme: 'dark', viewport: { width: 360, height: 800 } });
  const complaints = complaintsOf(page);
  await page.goto(ui);
  const open = (name: string) => page.getByRole('link', { name, exact: true }).click();
  await open('Feed');
  await expect.poll(() => tableRows(page, 'Newest first').count()).toBeGreaterThan(5);
  expect(await violationsOf(page)).toEqual([]);

  const csv = `time,trader,token,symbol,side,amount,usd\n${Math.floor(Date.now() / 1000)},0x${'ab'.repeat(20)},0x${'cd'.repeat(20)},"${hostile.replaceAll('"', '""')}",buy,10,500\n`;
  expect((await run('sandbox import - --chain base', { env, stdin: csv })).code).toBe(0);
  await page.goto(`${new URL(ui).origin}/service#/token/base/0x${'cd'.repeat(20)}`);
  await expect.poll(() => tableRows(page, 'Holders').count()).toBe(1);
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
  await expect.poll(() => tableRows(page, 'Traders').count()).toBeGreaterThan(5);

  const hook = await answering({});
  const user = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  await run(`webhook register --url ${hook.url}/hook --wallet-addresses ${user}`, { env });
  await open('Webhooks');
  await expect.poll(() => rows(page, 'Webhooks').count()).toBe(1);
  expect((await run('webhook trigger new-feed-item', { env })).code).toBe(0);
  await page.getByRole('button', { name: /^Deliveries/ }).click();
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
