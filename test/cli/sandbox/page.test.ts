import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, tableRows, violationsOf } from '../../support/browser.ts';
import { run, stub } from '../../support/harness.ts';
import { sessionOf, startPage } from '../../support/page.ts';

test('the page of the sandbox shows the leaderboard and a trader', async () => {
  const { url, ui, controlToken } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  const sent: string[] = [];
  tab.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
  await tab.goto(ui);
  await expect
    .poll(() => tableRows(tab, 'Traders').first().textContent())
    .toBe('1mossyledger.alpha.test+$412,000.22+$297K+$8.71K+$106K–+20.6%85%200x143c…8432↗');
  expect(await violationsOf(tab)).toEqual([]);
  await tab.getByLabel('Chain').selectOption('solana');
  await expect.poll(() => tableRows(tab, 'Traders').first().textContent()).toContain('1Ines Valdrée+$15,420.13');
  expect(await tab.locator('.commands code').allTextContents()).toEqual([
    'sotra --sandbox leaderboard list --chains solana --limit 100',
    expect.stringContaining(`'${url}/v2/leaderboard?chains=solana&limit=100'`),
  ]);

  // By keyboard alone.
  await tab.getByPlaceholder('Filter').focus();
  await tab.keyboard.type('valdr');
  await expect.poll(() => tableRows(tab, 'Traders').count()).toBe(1);
  await tableRows(tab, 'Traders').locator('th a').focus();
  await tab.keyboard.press('Enter');
  await expect.poll(() => tab.locator('h3').first().textContent()).toBe('Ines Valdrée');
  await expect.poll(() => tableRows(tab, 'Open positions').count()).toBeGreaterThan(0);
  await expect.poll(() => tableRows(tab, 'Closed positions').count()).toBeGreaterThan(3);
  await tab.getByRole('img').focus();
  await tab.keyboard.press('Home');
  await expect.poll(() => tab.locator('figcaption').textContent()).toMatch(/^[+-]\$[\d.,]+ up to 2/);
  const all = sent.join('\n');
  expect([all.includes(controlToken), /sandbox-key|authorization/i.test(all)]).toEqual([false, false]);
  expect(complaints).toEqual([]);
});

test('a board is sorted by any column, narrowed by what is typed and walked by keys; columns are those of the terminal', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  await tab.goto(ui);
  const traders = tableRows(tab, 'Traders');
  await expect.poll(() => traders.count()).toBeGreaterThan(10);
  const names = async () => (await tab.locator('tbody th a').allTextContents()).slice(0, 3);
  const served = await names();
  expect(served).toEqual(['mossyledger.alpha.test', 'cobalt.alpha.test', 'Ines Valdrée']);
  const sortBy = (title: string) => tab.getByRole('button', { name: title, exact: false }).click();
  const order = () => tab.getByRole('columnheader', { name: 'PnL', exact: false }).getAttribute('aria-sort');
  await sortBy('PnL');
  expect([await order(), await names()]).toEqual(['descending', served]);
  await sortBy('PnL');
  await expect.poll(names).toEqual(['bagelfutures.alpha.test', expect.any(String), expect.any(String)]);
  expect(await order()).toBe('ascending');
  await sortBy('PnL');
  expect([await order(), await names()]).toEqual([null, served]);

  // An address finds its trader, also where its column is not shown.
  await tab.getByText('Columns', { exact: true }).click();
  await tab.getByLabel('Address address').uncheck();
  await tab.getByLabel('Profile profileId').check();
  expect((await tab.getByRole('columnheader').allTextContents()).join(' ')).toBe(
    '# Trader PnL Base Solana Ethereum Hyperliquid ROI 30d Win 30d Trades 30d Profile',
  );
  await tab.getByText('Columns', { exact: true }).click();
  await tab.getByPlaceholder('Filter').fill('0x69247DC5');
  await expect.poll(names).toEqual(['cobalt.alpha.test']);
  await tab.getByPlaceholder('Filter').fill('');

  await tab.locator('.data .scroll').focus();
  for (const key of ['j', 'j', 'ArrowDown', 'k']) await tab.keyboard.press(key);
  await expect.poll(() => tab.evaluate('document.activeElement.textContent')).toBe('cobalt.alpha.test');
  await tab.keyboard.press('End');
  await expect.poll(() => tab.evaluate('document.activeElement.textContent')).toBe('bagelfutures.alpha.test');
  await tab.keyboard.press('Enter');
  await expect.poll(() => tab.locator('h3').first().textContent()).toBe('bagelfutures.alpha.test');
});

test('a view that cannot be had says why once, and nothing beside it seems to load', async () => {
  const { env } = await stub((_, response) => response.writeHead(503).end('down'));
  const { ui } = await startPage('ui', env);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(ui);
  await expect.poll(() => tab.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('503')]);
  expect(await tab.locator('.frame, .empty').count()).toBe(0);
});

test('ui shows any service, and neither changes a world nor calls endpoints that write', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await (await openBrowser()).newPage();
  await page.goto(ui);
  await expect.poll(() => tableRows(page, 'Traders').count()).toBeGreaterThan(5);
  expect(await page.locator('.views a').allTextContents()).toEqual(['Leaderboard', 'Webhooks', 'Requests']);
  expect(await page.locator('.commands code').first().textContent()).toBe('sotra leaderboard list --limit 100');
  const call = (endpoint: string) =>
    page.evaluate<string>(
      `fetch('/api/service/call?endpoint=${endpoint}', { headers: { 'x-sotra-session': sessionStorage.getItem('sotra-session') } }).then((answer) => answer.text())`,
    );
  expect(await call('webhook.delete')).toBe(
    '{"error":"endpoint webhook.delete: must be one that reads","code":"usage"}',
  );
  expect(await call('sandbox.reset')).toBe('{"error":"endpoint sandbox.reset: must be one that reads","code":"usage"}');
  const { code, err } = await run('sandbox start --open');
  expect([code, err]).toEqual([2, expect.stringContaining('--open would do nothing without --ui')]);
});

/** The answers of a page to its calls of endpoints. */
async function askPage(ui: string) {
  const [{ origin }, headers] = [new URL(ui), await sessionOf(ui)];
  return async (endpoint: string, input: object) => {
    const query = new URLSearchParams({ endpoint, input: JSON.stringify(input) });
    return (await fetch(`${origin}/api/service/call?${query}`, { headers })).json();
  };
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

test('a call comes with the command and the curl line that give the same, and without the secret of a webhook', async () => {
  const { ui, url, env } = await startPage('sandbox start --port 0 --ui');
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
    commands: [
      {
        name: 'Command',
        line: 'sotra --sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --provided-addresses-only --chains base,hyperliquid --limit 1',
      },
      {
        name: 'As curl',
        line: expect.stringMatching(
          /^curl .* --request GET '.*providedAddressesOnly=true&chains=base&chains=hyperliquid&limit=1' .*"authorization: Bearer \$SOTRA_API_KEY"$/,
        ),
      },
    ],
  });
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  const webhooks = await ask('webhook.list', {});
  expect(webhooks).toMatchObject({
    data: [{ destinationUrl: 'http://127.0.0.1:9/hook', secret: '***' }],
    commands: [{ line: 'sotra --sandbox webhook list' }, { line: expect.stringContaining(`${url}/v1/webhooks/feed`) }],
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
