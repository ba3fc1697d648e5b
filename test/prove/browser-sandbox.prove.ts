import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { splitUnseen } from '../../src/api/safe-text.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { complaintsOf, openBrowser, samePicture, tableRows, violationsOf } from '../support/browser.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';
import { forwardPort, startPage } from '../support/page.ts';

const views = {
  leaderboard: '/leaderboard',
  trader: '/trader/0x143cf5cccbc8447504a99413dec7ea93ec228432',
  webhooks: '/webhooks',
  requests: '/requests',
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
    for (const name of ['leaderboard', 'trader'] as const) {
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
  for (const key of ['Home', ...Array(30).fill('PageDown'), 'End']) {
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
  const commenter = (index: number) => address(1000 + Math.floor(index / chunk));
  const token = (index: number) => `0x${'f'.repeat(36)}${String(index).padStart(4, '0')}`;
  // A board holds 250 traders.
  const chain = (index: number) => (index < 250 ? 'base' : 'ethereum');
  const lines = texts.flatMap((_, index) => [
    `1795000000,${chain(index)},${address(index)},${token(index)},T,buy,10,500,a${index}`,
    `1795000100,${chain(index)},${address(index)},${token(index)},T,sell,10,900,b${index}`,
    `1795000200,${chain(index)},${commenter(index)},${token(index)},T,buy,10,500,c${index}`,
  ]);
  const csv = ['time,chain,trader,token,symbol,side,amount,usd,tx', ...lines].join('\n');
  expect((await run('sandbox import - --sandbox', { env, stdin: csv })).code).toBe(0);
  const db = openDb(join(folder, 'sandbox.db'));
  texts.forEach((text, index) => {
    db.run('INSERT OR REPLACE INTO profile (id, name) SELECT profile_id, ? FROM wallet WHERE address = ?', [
      text,
      address(index),
    ]);
    db.run(
      `INSERT INTO comment (id, trade_id, chain, token, transaction_hash, wallet, text, at_ms)
       SELECT ?, id, chain, token, tx, wallet, ?, at_ms FROM trade WHERE wallet = ? AND token = ?`,
      [crypto.randomUUID(), text, commenter(index), token(index)],
    );
  });
  db.close();
  const { ui } = await startPage('--sandbox ui', env);
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  const { origin } = new URL(ui);
  const [names, comments] = [new Set<string>(), new Set<string>()];
  const foreign = () => tab.locator('main img, main script, main iframe, main a[href^="javascript"]').count();
  for (const each of ['base', 'ethereum']) {
    await show(tab, origin, `/leaderboard?chain=${each}&limit=250`);
    for (const text of await namesOf(tab, 'Traders')) names.add(text);
    expect(await foreign()).toBe(0);
  }
  for (let index = 0; index < texts.length; index += chunk) {
    await show(tab, origin, `/trader/${commenter(index)}`);
    await expect.poll(() => tab.locator('blockquote > p').count()).toBe(chunk);
    for (const text of await tab.locator('blockquote > p').allTextContents()) comments.add(text);
    expect(await foreign()).toBe(0);
  }
  const missing = texts.filter((text) => !names.has(seen(text)));
  const untold = texts.filter((text) => !comments.has(seen(text)));
  expect([missing, untold, await tab.title(), complaints]).toEqual([[], [], 'Sandbox · sotra', []]);
});

test('the page of a sandbox follows trades that commands make, and shows each request that others make', async () => {
  const { ui, url, env } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const port = await forwardPort(ui);
  await tab.goto(port.ui);
  await tableRows(tab, 'Traders').first().waitFor();
  const shown = () => tab.locator('main').textContent();
  const million = /\+\$(999,\d|1,00\d,\d)/;
  expect(await shown()).not.toMatch(million);
  const profit =
    'sandbox trade --chain base --trader 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --amount 1000';
  for (const side of ['buy --usd 1', 'sell --usd 999999'])
    expect((await run(`${profit} --side ${side}`, { env })).code).toBe(0);
  await expect.poll(shown).toMatch(million);
  await tab.getByRole('link', { name: 'Requests' }).click();
  port.cut();
  await expect.poll(() => tab.locator('.state').textContent()).toMatch(/^Not connected/);
  const headers = { authorization: 'Bearer sandbox-key-a' };
  for (let limit = 1; limit <= 30; limit += 1) await fetch(`${url}/v2/leaderboard?limit=${limit}`, { headers });
  port.mend();
  await expect.poll(() => rows(tab, 'Requests').first().getAttribute('aria-setsize')).toBe('30');
});

const rows = (tab: Page, list: string) => tab.getByRole('listbox', { name: list }).getByRole('option');

test('webhooks, deliveries and requests are shown as they come, on a narrow screen', async () => {
  const { url, ui, env } = await startPage('--sandbox ui');
  const page = await (await openBrowser()).newPage({ colorScheme: 'dark', viewport: { width: 360, height: 800 } });
  const complaints = complaintsOf(page);
  await page.goto(ui);
  const open = (name: string) => page.getByRole('link', { name, exact: true }).click();
  await open('Requests');
  const asked = (path: string) => fetch(url + path, { headers: { authorization: 'Bearer sandbox-key-a' } });
  await asked('/v2/leaderboard?limits=3');
  await expect.poll(() => rows(page, 'Requests').first().textContent()).toMatch(/^200GET.*, ignored: limits$/);

  const hook = await answering({});
  const user = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  await run(`webhook register --url ${hook.url}/hook --wallet-addresses ${user}`, { env });
  await open('Webhooks');
  await expect.poll(() => rows(page, 'Webhooks').count()).toBe(1);
  expect((await run('webhook trigger new-feed-item', { env })).code).toBe(0);
  await page.getByRole('button', { name: /^Deliveries/ }).click();
  await expect.poll(() => rows(page, 'Deliveries').first().textContent()).toContain('new-feed-itemdelivered');
  expect(await violationsOf(page)).toEqual([]);

  expect((await run('sandbox reset --yes', { env })).code).toBe(0);
  await page.getByRole('button', { name: /^Webhooks/ }).click();
  await expect.poll(() => rows(page, 'Webhooks').count()).toBe(0);
  expect([await page.title(), complaints]).toEqual(['Sandbox \u00b7 sotra', []]);
});

test('a request that met a fault names it; the page itself meets none', async () => {
  const { url, ui, controlToken } = await startPage('sandbox start --port 0 --ui');
  await fetch(`${url}/_sandbox/faults`, {
    method: 'POST',
    headers: { 'x-control-token': controlToken, 'content-type': 'application/json' },
    body: '{"faults":["503:every=1:GET /v2/**"]}',
  });
  const page = await (await openBrowser()).newPage();
  await page.goto(ui);
  await expect.poll(() => tableRows(page, 'Traders').count()).toBeGreaterThan(5);
  const headers = { authorization: 'Bearer sandbox-key-a' };
  expect((await fetch(`${url}/v2/leaderboard`, { headers })).status).toBe(503);
  await page.getByRole('link', { name: 'Requests' }).click();
  await expect.poll(() => rows(page, 'Requests').first().textContent()).toMatch(/^503GET.*, fault: 503:every=1:GET /);
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
