import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, tableRows, violationsOf } from '../support/browser.ts';
import { run, temporaryFolder, until } from '../support/harness.ts';
import { listen } from '../support/listening.ts';
import { startPage } from '../support/served.ts';

test('the Board tab is sorted, narrowed and kept in the address; a trader opens beside it', async () => {
  const { ui, controlToken } = await startPage('sandbox start --port 0 --ui');
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  const sent: string[] = [];
  tab.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
  await tab.goto(ui);
  await tab.getByRole('link', { name: 'Board', exact: true }).click();
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
  await expect.poll(async () => (await names())[0]).toBe('bagelfutures.alpha.test');
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

test('--open gives the address to the browser, and prints it if none can be started', async () => {
  const folder = temporaryFolder();
  const [browser, opened] = [join(folder, 'browser'), join(folder, 'opened')];
  writeFileSync(browser, `#!/bin/sh\necho "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`, { mode: 0o755 });
  const first = await listen(folder, '--ui --open', undefined, { BROWSER: browser });
  const argument = String(await until(() => existsSync(opened) && readFileSync(opened, 'utf8'))).trim();
  // Every local user can read the arguments of a program: this one names a file that only its owner can read.
  expect(argument).toMatch(/^file:\/\/\/.*\/open\.html$/);
  const file = new URL(argument);
  expect(readFileSync(file, 'utf8')).toContain(`url=${first.ui}"`);
  expect([statSync(file).mode & 0o777, statSync(new URL('.', file)).mode & 0o777]).toEqual([0o600, 0o700]);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(argument);
  await expect.poll(() => tab.title()).toBe('listener · sotra');
  await expect.poll(() => tab.locator('.state').textContent()).toBe('Live');
  // The code is in no address that the browser keeps, and a reload goes on.
  expect(tab.url()).toBe(`${new URL(first.ui).origin}/ui`);
  await tab.reload();
  await expect.poll(() => tab.locator('.state').textContent()).toBe('Live');
  // As in another tab.
  await tab.evaluate('sessionStorage.clear()');
  await tab.goto(first.ui);
  await expect.poll(() => tab.getByRole('alert').textContent()).toContain('Press Enter in the terminal');
  await first.stop();
  expect(existsSync(new URL('.', file))).toBe(false);
  const second = await listen(folder, '--ui --open', undefined, { BROWSER: join(folder, 'absent') });
  await until(() => second.shown.err.includes('No browser can be started here'));
  expect(second.shown.err).toContain(`Open this link, which works once:\n  ${second.ui}\n`);
  expect((await second.stop()).code).toBe(0);
});

test('of a trader with more positions than are shown, the newest are shown and named so', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const trader = `0x${'1'.repeat(40)}`;
  const rows = Array.from({ length: 101 }, (_, index) =>
    ['buy', 'sell'].map((side) => `179000${1000 + index},${trader},0x${String(index).padStart(40, '0')},${side},1,5`),
  );
  const file = join(env.SOTRA_DATA_DIR, 'trades.csv');
  writeFileSync(file, ['time,trader,token,side,amount,usd', ...rows.flat()].join('\n'));
  await run(`sandbox import ${file} --chain base`, { env });
  const { ui } = await startPage('sandbox start --port 0 --ui --empty', env);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(ui);
  await tab.goto(`${new URL(ui).origin}/ui#/board/${trader}`);
  await expect.poll(() => tab.locator('.detail h3').allTextContents()).toContain('Closed positions, the latest 100');
  await expect.poll(() => tableRows(tab, 'Closed positions').count()).toBe(100);
});
