import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, tableRows, violationsOf } from '../../support/browser.ts';
import { run, stub } from '../../support/harness.ts';
import { openPageApi, startPage } from '../../support/page.ts';

const goTo = (tab: Page, view: string) => tab.getByRole('link', { name: view, exact: true }).click();

test('the Board tab is sorted, narrowed and kept in the address; a trader opens beside it', async () => {
  const { ui, controlToken } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  const sent: string[] = [];
  tab.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
  await tab.goto(ui);
  await goTo(tab, 'Board');
  const traders = tableRows(tab, 'Traders');
  await expect
    .poll(() => traders.first().textContent())
    .toBe('1mossyledger.alpha.test+$412,000.22+$297,310+$8,711+$105,979–+20.6%85%200x143c…8432');
  // The terminal rounds each figure by its size.
  await expect
    .poll(() => traders.filter({ hasText: 'wickhunter' }).textContent())
    .toBe('17wickhunter+$125.63–+$126––+0.4%71%28BDrd…4Rhr');
  const names = async () => (await tab.locator('.browse tbody th a').allTextContents()).slice(0, 3);
  const served = ['mossyledger.alpha.test', 'cobalt.alpha.test', 'Ines Valdrée'];
  expect(await names()).toEqual(served);
  const sortBy = (title: string) => tab.getByRole('button', { name: title }).click();
  const order = () => tab.getByRole('columnheader', { name: 'PnL' }).first().getAttribute('aria-sort');
  await sortBy('PnL');
  await expect.poll(order).toBe('descending');
  await sortBy('PnL');
  await expect.poll(names).toEqual(['bagelfutures.alpha.test', expect.any(String), expect.any(String)]);
  await tab.getByPlaceholder('Filter').fill('0x69247DC5');
  await expect.poll(names).toEqual(['cobalt.alpha.test']);
  await tab.getByPlaceholder('Filter').fill('');
  await traders.first().locator('td').nth(3).click();
  await expect.poll(() => tab.locator('.detail h2').textContent()).toBe('bagelfutures.alpha.test');
  expect(await order()).toBe('ascending');
  await expect.poll(() => tableRows(tab, 'Closed positions').count()).toBeGreaterThan(0);
  expect(await violationsOf(tab)).toEqual([]);
  await tab.goBack();
  await expect.poll(() => tab.locator('.detail').count()).toBe(0);
  expect([await order(), (await names())[0]]).toEqual(['ascending', 'bagelfutures.alpha.test']);
  await tab.goForward();
  await tab.reload();
  await expect.poll(() => tab.locator('.detail h2').textContent()).toBe('bagelfutures.alpha.test');
  await expect
    .poll(() => tab.getByRole('img').getAttribute('aria-label'))
    .toMatch(/^[+-]\$[\d.,]+ realized by \d+ positions$/);
  const all = sent.join('\n');
  expect([all.includes(controlToken), /sandbox-key|authorization/i.test(all)]).toEqual([false, false]);
  expect(complaints).toEqual([]);
});

test('a view that cannot be had says why once, and nothing beside it seems to load', async () => {
  const { env } = await stub((_, response) => response.writeHead(503).end('down'));
  const { ui } = await startPage('ui', env);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(ui);
  await goTo(tab, 'Board');
  await expect.poll(() => tab.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('503')]);
  expect(await tab.locator('.frame, .empty').count()).toBe(0);
});

test('ui shows any service, and a page calls endpoints that read alone', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await openPageApi(ui);
  expect((await page('list')).json.facts).toEqual({
    title: 'service',
    address: url,
    curl: `curl --silent --show-error --request GET ${url}/v2/leaderboard --header "authorization: Bearer $SOTRA_API_KEY"`,
    empty: 'No requests yet.',
    line: 'sotra leaderboard list',
    canTest: false,
    hasService: true,
  });
  for (const endpoint of ['webhook.delete', 'sandbox.reset'])
    expect((await page(`call?endpoint=${endpoint}`)).text).toBe(
      `{"error":"endpoint ${endpoint}: must be one that reads","code":"usage"}`,
    );
});

/** The answers of a page to its calls of endpoints. */
async function askPage(ui: string) {
  const page = await openPageApi(ui);
  return async (endpoint: string, input: object) =>
    (await page(`call?${new URLSearchParams({ endpoint, input: JSON.stringify(input) })}`)).json;
}

test('a page may give the inputs that are sent to the service, and none that opens, writes or shows what is on this machine', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  const local = [
    ['webhook.list', 'showSecrets'],
    ['profile.positions', 'pricesFile'],
    ['profile.get', 'chart'],
    ['leaderboard.list', 'chart'],
    ['feed.home', 'watch'],
    ['token.comments', 'all'],
  ] as const;
  for (const [endpoint, key] of local)
    expect([endpoint, key, await ask(endpoint, { [key]: '/etc/hostname' })]).toEqual([
      endpoint,
      key,
      { error: expect.stringContaining(`${endpoint} has no input ${key}`), code: 'usage' },
    ]);
  expect(await ask('leaderboard.list', { limit: 1 })).toMatchObject({ data: { traders: [{}] } });
});

test('a call comes with the command that gives the same, and without the secret of a webhook', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  const positions = await ask('profile.positions', {
    identifier: '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
    status: 'closed',
    providedAddressesOnly: true,
    chains: ['base', 'hyperliquid'],
    limit: 1,
  });
  expect(positions).toMatchObject({
    tables: [{ layout: 'table', rows: [expect.any(Array)] }],
    command:
      'sotra --sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --provided-addresses-only --chains base,hyperliquid --limit 1',
  });
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  const webhooks = await ask('webhook.list', {});
  expect(webhooks).toMatchObject({
    data: [{ destinationUrl: 'http://127.0.0.1:9/hook', secret: '***' }],
    command: 'sotra --sandbox webhook list',
  });
  expect(JSON.stringify(webhooks)).not.toContain('whsec_');
});

test('sandbox start --cors lets the pages of these origins ask, and refuses what is no origin', async () => {
  const { url } = await startPage('sandbox start --port 0 --cors http://a.test --cors http://localhost:5173');
  const ask = (origin: string, method = 'GET') =>
    fetch(`${url}/v2/leaderboard`, {
      method,
      headers: { origin, authorization: 'Bearer sandbox-key-a', 'access-control-request-method': 'GET' },
    });
  const [allowed, other, preflight] = [
    await ask('http://localhost:5173'),
    await ask('http://evil.test'),
    await ask('http://a.test', 'OPTIONS'),
  ];
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'http://localhost:5173']);
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, 'http://a.test']);
  const { code, err } = await run('sandbox start --cors *');
  expect([code, err]).toEqual([2, expect.stringContaining('--cors *: must be the origin of pages')]);
});
