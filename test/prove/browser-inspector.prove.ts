import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, violationsOf } from '../support/browser.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { startPage } from '../support/page.ts';

const isFocused = (element: { ownerDocument: { activeElement: unknown } }): boolean =>
  element.ownerDocument.activeElement === element;

/** Presses Tab until something has the focus. */
async function tabTo(tab: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let presses = 0; presses < 60; presses += 1) {
    if (await wanted.evaluate(isFocused)) return;
    await tab.keyboard.press('Tab');
  }
  throw new Error('Tab does not lead there');
}

const title = (tab: Page) => tab.locator('.detail h2').textContent();

test('by keyboard alone one sees why the last request failed and sends it again corrected', async () => {
  const { url, ui } = await startPage('sandbox start --port 0 --ui');
  const asked = (path: string) => fetch(url + path, { headers: { authorization: 'Bearer sandbox-key-a' } });
  await asked('/v2/leaderboard?limit=3');
  await asked('/v2/leaderboard?limit=900');
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  await tabTo(tab, tab.getByRole('link', { name: 'Requests' }));
  await tab.keyboard.press('Enter');
  await tab.locator('.row').first().waitFor();
  await tab.keyboard.press('/');
  await tab.keyboard.type('whole number');
  await expect.poll(() => tab.locator('.row').count()).toBe(1);
  await tabTo(tab, tab.getByRole('listbox', { name: 'Requests' }));
  await tab.keyboard.press('j');
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=900');
  expect(await tab.locator('.why').textContent()).toContain('limit 900: must be a whole number from 1 to 250.');
  await tab.keyboard.press('Enter');
  await tabTo(tab, tab.getByText('Send again with changes'));
  await tab.keyboard.press('Enter');
  await tabTo(tab, tab.getByLabel('limit'));
  await tab.keyboard.press('ControlOrMeta+a');
  await tab.keyboard.type('25');
  await tab.keyboard.press('Enter');
  await expect.poll(() => title(tab)).toBe('200 GET /v2/leaderboard?limit=25');
  expect(await tab.locator('.why').textContent()).toContain('The call succeeded');
  expect(await violationsOf(tab)).toEqual([]);
  for (const key of ['Escape', 'Escape']) await tab.keyboard.press(key);
  await expect.poll(() => tab.locator('.detail').count()).toBe(0);
  expect(await tab.evaluate('document.activeElement.className')).toBe('list');
  expect([await tab.title(), complaints]).toEqual(['Sandbox · sotra', []]);
});

test('calls of commands to a service come to its page as they are made, and one is sent again with changes', async () => {
  const service = await stub((seen, response) => {
    const isBad = seen.url.includes('limit=3');
    response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' });
    response.end(isBad ? '{"error":"limit 3: must be 5"}' : '{"traders":[]}');
  });
  const { ui, env } = await startPage('ui', { ...service.env, SOTRA_API_KEY: 'a-secret-key-1234' });
  const tab = await (await openBrowser()).newPage({ viewport: { width: 380, height: 800 }, colorScheme: 'dark' });
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  await tab.getByRole('link', { name: 'Requests' }).click();
  const rows = tab.locator('.row');
  // What the page asked itself.
  await expect.poll(() => rows.first().textContent()).toMatch(/^200GET \/v2\/leaderboard\?limit=100.* ms, sotra ui /);
  await run('leaderboard list --limit 3', { env });
  await expect
    .poll(() => rows.first().textContent())
    .toMatch(/^400GET .+limit 3: must be 5.+leaderboard list --limit 3$/);
  await tab.getByLabel('Status').selectOption('failed');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.first().click();
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=3');
  expect(await tab.locator('.why').textContent()).toContain('limit 3: must be 5');
  expect(await violationsOf(tab)).toEqual([]);
  await tab.getByText('Send again with changes').click();
  await tab.getByLabel('limit').fill('25');
  await tab.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => title(tab)).toBe('200 GET /v2/leaderboard?limit=25');

  // What may change something is asked about.
  await run('request DELETE /v1/webhooks/feed/one --yes', { env });
  await tab.goto(`${new URL(ui).origin}/service#/requests`);
  await tab.getByRole('button', { name: '← List' }).click();
  await tab.getByLabel('Status').selectOption('');
  await expect.poll(() => rows.first().textContent()).toContain('DELETE /v1/webhooks/feed/one');
  await rows.first().click();
  await tab.getByText('Send again with changes').click();
  const send = tab.getByRole('button', { name: 'Send', exact: true });
  await send.click();
  const said = tab.locator('output').first();
  await expect.poll(() => said.textContent()).toBe('This sends DELETE to the service. Press Send again to do so.');
  const deleted = () => service.requests.filter(({ method }) => method === 'DELETE').length;
  expect(deleted()).toBe(1);
  await send.click();
  await expect.poll(deleted).toBe(2);
  expect(await tab.locator('body').textContent()).not.toContain('a-secret-key');
  expect(complaints).toEqual([]);
});

test('by keyboard alone one finds a failed forward and sends it again', async () => {
  let status = 503;
  const target = await stub((_, response) => response.writeHead(status).end());
  const { url, ui } = await listen(
    temporaryFolder(),
    `--ui --forward-to ${target.url}/hook?token=a-secret --retries 0`,
  );
  const deliver = (id: string) => send(url, bodyOf(id), signed(bodyOf(id)));
  expect(await deliver('e1')).toBe(200);
  await expect.poll(() => target.requests.length).toBe(1);
  status = 200;
  expect(await deliver('e2')).toBe(200);
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  await expect.poll(() => tab.locator('.row .forwarded').count()).toBe(1);
  const time = tab.locator('.row time').first();
  expect([await time.textContent(), await time.getAttribute('title')]).toEqual([
    expect.stringMatching(/^\d+s ago$/),
    expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\dZ$/),
  ]);
  await tab.keyboard.press('?');
  await expect.poll(() => tab.getByRole('dialog', { name: 'Keys' }).count()).toBe(1);
  expect(await violationsOf(tab)).toEqual([]);
  await tab.keyboard.press('Escape');
  await tabTo(tab, tab.getByLabel('Status'));
  await tab.keyboard.type('refused');
  await expect.poll(() => tab.locator('.row').count()).toBe(1);
  await tabTo(tab, tab.getByRole('listbox', { name: 'Deliveries' }));
  await tab.keyboard.press('j');
  await expect.poll(() => tab.locator('.forward p').first().textContent()).toMatch(/^503 in \d+ ms, first try, /);
  expect(await tab.locator('.detail').textContent()).not.toContain('a-secret');
  await tab.keyboard.press('Enter');
  await tabTo(tab, tab.getByRole('button', { name: /^Send again to http:.*token=\*\*\*/ }));
  await tab.keyboard.press('Enter');
  await expect.poll(() => tab.locator('.forward output').textContent()).toMatch(/^Taken: 200 in \d+ ms$/);
  expect([target.requests.at(-1)?.url, target.requests.at(-1)?.body]).toEqual(['/hook?token=a-secret', bodyOf('e1')]);
  const figures = await tab.locator('.counters').innerText();
  expect(figures.replaceAll('\n', ' ')).toBe('Stored 2 Waiting 0');
  expect([await violationsOf(tab), complaints]).toEqual([[], []]);
});

test('a webhook of the sandbox shows its secret when asked, and is deleted after a question', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  await run('webhook register --url http://127.0.0.1:9/hook?token=a-secret --wallet-addresses ext:one', { env });
  const tab = await (await openBrowser()).newPage({ viewport: { width: 380, height: 800 }, colorScheme: 'dark' });
  await tab.goto(ui);
  await tab.getByRole('link', { name: 'Webhooks' }).click();
  await tab.locator('.row').first().click();
  await expect.poll(() => title(tab)).toBe('http://127.0.0.1:9/hook?token=***');
  expect(await tab.locator('body').textContent()).not.toMatch(/whsec_|a-secret/);
  await tab.getByRole('button', { name: 'Show the secret' }).click();
  await expect.poll(() => tab.locator('output').first().textContent()).toMatch(/^whsec_[\w-]{43}$/);
  await tab.getByRole('button', { name: 'Delete the webhook' }).click();
  expect(await violationsOf(tab)).toEqual([]);
  await tab.getByRole('button', { name: 'Yes, delete the webhook' }).click();
  const detail = tab.locator('.detail');
  await expect.poll(() => detail.textContent()).toContain('Deleted, with what waited to be delivered.');
  await tab.getByRole('button', { name: '← List' }).click();
  await expect.poll(() => tab.getByRole('button', { name: 'Webhooks 0' }).count()).toBe(1);
});
