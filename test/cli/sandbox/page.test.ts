import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { outlineAll } from '../../../src/program.ts';
import { complaintsOf, openBrowser, pixelsIn, violationsOf } from '../../support/browser.ts';
import { run } from '../../support/harness.ts';
import { sessionOf, startPage } from '../../support/page.ts';

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
  await rows(tab, 'Closed positions').first().click();
  await expect.poll(() => tab.locator('figcaption').textContent()).toBe('Price in USD: 3 buys ▲, 1 sell ▼');
  await expect
    .poll(async () => [(await pixelsIn(tab, '--good')) > 40, (await pixelsIn(tab, '--bad')) > 20])
    .toEqual([true, true]);

  await tab.getByRole('link', { name: 'Controls' }).click();
  await tab.getByLabel('Value in USD').fill('nothing');
  await tab.getByRole('button', { name: 'Trade', exact: true }).click();
  await expect.poll(() => tab.locator('output').first().textContent()).toContain('usd null: must be');
  await tab.getByLabel('Value in USD').fill('300');
  await tab.getByRole('button', { name: 'Trade', exact: true }).click();
  await expect.poll(() => tab.locator('output').first().textContent()).toContain('Made; 0 deliveries.');
  await expect.poll(() => tab.locator('dd').nth(1).textContent()).toBe('2,509');

  const all = sent.join('\n');
  expect([all.includes(controlToken), /sandbox-key|authorization/i.test(all)]).toEqual([false, false]);
  // The browser tells of the refused trade by itself.
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});

test('ui shows any service, and neither changes a world nor runs what writes', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await (await openBrowser()).newPage();
  await page.goto(ui);
  await expect.poll(() => rows(page, 'Traders').count()).toBeGreaterThan(5);
  expect(await page.locator('.views a').allTextContents()).toEqual(['Leaderboard', 'Feed', 'Webhooks']);
  expect(await page.locator('.commands code').first().textContent()).toBe('sotra leaderboard list --limit 100');
  const call = (command: string, input = '{}') =>
    page.evaluate<string>(
      `fetch('/api/service/call?command=${command}&input=' + encodeURIComponent('${input}'), { headers: { 'x-sotra-session': sessionStorage.getItem('sotra-session') } }).then((answer) => answer.text())`,
    );
  expect(await call('webhook delete')).toBe('{"error":"command webhook delete: must be one that reads"}');
  expect(await call('sandbox reset')).toBe('{"error":"command sandbox reset: must be one that reads"}');
  const { code, err } = await run('sandbox start --open');
  expect([code, err]).toEqual([2, expect.stringContaining('--open would do nothing without --ui')]);
});

test('a page may give the inputs that are sent to the service, and none that opens, writes or shows what is on this machine', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const [{ origin }, headers] = [new URL(ui), await sessionOf(ui)];
  const ask = async (command: string, input: object) => {
    const query = new URLSearchParams({ command, input: JSON.stringify(input) });
    return (await fetch(`${origin}/api/service/call?${query}`, { headers })).json();
  };
  const reading = (await outlineAll()).filter(({ endpoint }) => endpoint?.method === 'GET');
  const local = reading.flatMap(({ words, fields }) =>
    fields.filter(({ source }) => source === 'local').map(({ key }) => [words.join(' '), key] as const),
  );
  expect(local).toEqual(
    expect.arrayContaining([
      ['webhook list', 'showSecrets'],
      ['profile positions', 'pricesFile'],
    ]),
  );
  for (const [command, key] of local)
    expect([command, key, await ask(command, { [key]: '/etc/hostname' })]).toEqual([
      command,
      key,
      { error: expect.stringContaining(`${command} has no input ${key}`) },
    ]);
  expect(await ask('leaderboard list', { limit: 1 })).toMatchObject({ data: { traders: [{}] } });
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
  expect(other.headers.get('access-control-allow-origin')).toBe('http://a.test');
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, 'http://a.test']);
  const { code, err } = await run('sandbox start --cors *');
  expect([code, err]).toEqual([2, expect.stringContaining('--cors *: must be the origin of pages')]);
});
