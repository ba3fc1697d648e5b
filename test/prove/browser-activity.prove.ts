import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, tableRows, violationsOf } from '../support/browser.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';
import { fillInbox } from '../support/inbox.ts';
import { listen, send } from '../support/listening.ts';
import { startPage } from '../support/served.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const rows = (tab: Page) => tab.locator('.browse .row');
const title = (tab: Page) => tab.locator('.detail h2').textContent();
const focused = (tab: Page) => tab.evaluate<string>('document.activeElement.textContent');

async function openTab(ui: string) {
  const context = await (await openBrowser()).newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const tab = await context.newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  return { tab, context, complaints };
}

/** Presses Tab until what has the focus reads so. */
async function tabTo(tab: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await focused(tab)) === text) return;
    await tab.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${text}`);
}

test('by keyboard alone one sees why the last request failed and sends it corrected; the address leads back there', async () => {
  const { url, ui } = await startPage('sandbox start --port 0 --ui');
  const asked = (path: string) => fetch(url + path, { headers: { authorization: 'Bearer sandbox-key-a' } });
  await asked('/v2/leaderboard?limit=900');
  await asked('/v2/leaderboard?limit=3');
  const { tab, context, complaints } = await openTab(ui);
  await expect.poll(() => rows(tab).count()).toBe(2);
  const press = async (...keys: string[]) => {
    for (const key of keys) await tab.keyboard.press(key);
  };
  await press('j', 'j', 'Enter');
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=900');
  await press('Escape');
  // The next j goes on from the row that was open.
  await expect.poll(() => focused(tab)).toContain('limit=900');
  await press('/');
  await tab.keyboard.type('whole number');
  await expect.poll(() => rows(tab).first().getAttribute('href')).toBe('#/activity/req-1?q=whole+number');
  await press('Escape', 'j', 'Enter');
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=900');
  expect(await tab.locator('.problem').textContent()).toContain('limit 900: must be a whole number from 1 to 250.');
  expect(new URL(tab.url()).hash).toBe('#/activity/req-1?q=whole+number');
  await tabTo(tab, 'Edit');
  await press('Enter');
  await tab.getByLabel('limit').focus();
  await press('ControlOrMeta+a');
  await tab.keyboard.type('25');
  await press('Enter');
  await expect.poll(() => title(tab)).toBe('200 GET /v2/leaderboard?limit=25');
  // The form stays open for the next try.
  await tab.getByLabel('limit').fill('901');
  await press('Enter');
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=901');
  expect(await violationsOf(tab)).toEqual([]);
  await tab.getByRole('button', { name: 'Copy link' }).click();
  const other = await context.newPage();
  await other.goto(await tab.evaluate<string>('navigator.clipboard.readText()'));
  await expect.poll(() => title(other)).toBe('400 GET /v2/leaderboard?limit=901');
  await press('?');
  await expect.poll(() => tab.getByRole('dialog').textContent()).toContain('next and previous row');
  await press('Escape', 'Escape');
  await expect.poll(() => tab.locator('.detail').count()).toBe(0);
  await tab.goBack();
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=901');
  await tab.reload();
  await expect.poll(() => title(tab)).toBe('400 GET /v2/leaderboard?limit=901');
  expect(complaints).toEqual([]);
});

test('by keyboard alone one follows a trade to the answer of the target, and sends the attempt again', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  let status = 500;
  const hook = await stub((_, response) => response.writeHead(status).end());
  await run(`webhook register --url ${hook.url}/hook --wallet-addresses ext:user-1`, { env });
  await run(`follow add ext:user-1 ${trader}`, { env });
  const { tab, complaints } = await openTab(ui);
  const trade = `sandbox trade --chain base --trader ${trader} --side buy --amount 5 --usd 900`;
  await run(`${trade} --token 0x532f27101965dd16442e59d40670faf5ebb142e4`, { env });
  const openRow = async (kind: string) => {
    const row = tab.locator('.detail .rows .row').filter({ hasText: kind }).first();
    await row.waitFor();
    await row.focus();
    await tab.keyboard.press('Enter');
  };
  const traded = rows(tab).filter({ hasText: 'trade' });
  await expect.poll(() => traded.count()).toBe(1);
  await traded.focus();
  await tab.keyboard.press('Enter');
  await expect.poll(() => title(tab)).toMatch(/^traded buy \$900\.00 of \S+ on base$/);
  await openRow('event');
  await expect.poll(() => title(tab)).toBe('stored new-feed-item');
  await openRow('attempt');
  await expect.poll(() => title(tab)).toBe(`500 new-feed-item → ${hook.url}/hook`);
  status = 200;
  for (const name of ['Send again', 'Yes, send again']) {
    await tab.getByRole('button', { name, exact: true }).focus();
    await tab.keyboard.press('Enter');
  }
  await expect.poll(() => title(tab)).toBe(`200 new-feed-item → ${hook.url}/hook`);
  expect(await violationsOf(tab)).toEqual([]);
  await openRow('event');
  await openRow('trade');
  await expect.poll(() => title(tab)).toContain('$900.00');
  expect(complaints).toEqual([]);
});

test('axe-core finds nothing on any view, narrow and wide, light and dark, and no view is too wide', async () => {
  const { ui, url, env } = await startPage('sandbox start --port 0 --ui');
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  await fetch(`${url}/v2/leaderboard?limit=900`);
  const { tab } = await openTab(ui);
  await tab.getByRole('button', { name: 'Send test event' }).click();
  await rows(tab).filter({ hasText: 'attempt' }).waitFor();
  const found: Record<string, string[]> = {};
  const views = ['/activity/req-1', '/activity/attempt-1', '/board', `/board/${trader}`, '/webhooks'];
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [380, 1280]) {
      await tab.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await tab.setViewportSize({ width, height: 800 });
      for (const hash of views) {
        await tab.goto(`${new URL(ui).origin}/ui#${hash}`);
        await tab.locator('.row, .problem').first().waitFor();
        await expect.poll(() => tab.locator('.frame').count()).toBe(0);
        const wide = await tab.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        const wrong = [...(await violationsOf(tab)), ...(wide > 0 ? [`${wide} pixels too wide`] : [])];
        if (wrong.length > 0) found[`${hash} ${colorScheme} ${width}`] = wrong;
      }
    }
  expect(found).toEqual({});
});

/** Texts that must stay text; their scripts would change `document.title`. */
const scripts = ['<svg onload=document.title=1>', '"><script>document.title=2</script>', 'javascript:alert(1)'];
const attacks = [...naughty, ...scripts];

/** Counts elements that our pages never draw, such as a text that became markup, and links away from the page. */
const strangers = `document.querySelectorAll(
  '.app :is(img, script, iframe, object, embed, style, video, audio, input[onfocus], math), .app a:not([href^="#"]), .app [onclick], .app [onerror]'
).length`;

async function showAll(tab: Page): Promise<void> {
  const more = tab.getByRole('button', { name: 'Show more' });
  while ((await more.count()) > 0) await more.click();
}

test('untrusted text stays text in every field of an event, and none of it runs', async () => {
  const folder = temporaryFolder();
  await fillInbox(
    folder,
    attacks.map((text, index) => {
      const feedItem = { itemTitle: text, [text]: text };
      const event = { eventId: `e${index}`, eventType: text, walletAddresses: [text], feedItem };
      const body = Buffer.from(JSON.stringify({ events: [event] }));
      return { headers: ['x-name', encodeURIComponent(text)], body };
    }),
  );
  const { ui, url } = await listen(folder, '--ui');
  for (const text of attacks.slice(-40)) await send(url, text, {}, `/${encodeURIComponent(text).slice(0, 200)}`);
  const { tab, complaints } = await openTab(ui);
  await expect.poll(() => rows(tab).count()).toBe(200);
  await rows(tab).first().click();
  for (let index = 0; index < 60; index += 1) await tab.keyboard.press('j');
  await showAll(tab);
  await expect.poll(() => rows(tab).count()).toBe(attacks.length + 40);
  expect([await tab.title(), await tab.evaluate(strangers), complaints]).toEqual(['listener · sotra', 0, []]);
});

test('untrusted text stays text in every field of a board, a trader, a webhook, a request and an error', async () => {
  const { now, tab, show, env, complaints } = await openService();
  const answer = (body: unknown, status = 200) => Object.assign(now, { status, body: JSON.stringify(body) });
  const expectText = async (shown: string) => {
    await tab.locator(shown).first().waitFor();
    await showAll(tab);
    expect([await tab.title(), await tab.evaluate(strangers)]).toEqual(['service · sotra', 0]);
  };
  const metadata = { pnl30d: 1, winRate30d: 0.5, tradeCount30d: 3, roiPercent30d: 1 };
  const profile = (text: string, id: string) => ({
    id,
    name: text,
    images: { [text]: text },
    addresses: [text],
    externalId: text,
    metadata: { ...metadata, twitterHandle: text, farcasterUsername: text },
  });
  const pnl = { total: 1, perChain: {} };
  answer({ traders: attacks.map((text, index) => ({ profile: profile(text, `ext:${index}`), pnl })) });
  await show('/board');
  await expectText('tbody th');
  const secrets = (text: string) => ({ destinationUrl: text, walletAddresses: [text], secret: text });
  answer(attacks.map((text, index) => ({ uid: `hook-${index}`, ...secrets(text) })));
  await show('/webhooks');
  await expectText('tbody th');
  const markup = [...attacks.entries()].filter(([, text]) => /[<>&"'`]|script/i.test(text)).slice(-40);
  for (const [index] of markup) {
    await show(`/webhooks/hook-${index}`);
    await expectText('.detail h2');
  }
  for (const [index, text] of markup) {
    answer(profile(text, `ext:${index}`));
    await show(`/board/ext:${index}`);
    await expectText('.detail h2');
  }
  const texts = markup.map(([, text]) => text);
  answer({ error: texts.join(' '), [texts.join(' ')]: texts }, 400);
  await show('/board?chain=base');
  await expectText('.problem');
  const query = new URLSearchParams(texts.map((text): [string, string] => [text, text]));
  await run(['request', 'GET', `/v1/x?${query}`], { env });
  await show('/activity');
  await rows(tab).filter({ hasText: '/v1/x' }).first().click();
  await expectText('.detail :is(.leaf, .lines)');
  expect(complaints.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([]);
});

/** A service with answers that a test can change, and its page at the board. */
async function openService() {
  const now = { status: 200, body: '{"traders":[]}', headers: {} as Record<string, string> };
  const service = await stub(async (_, response) => {
    response.writeHead(now.status, { 'content-type': 'application/json', ...now.headers }).end(now.body);
  });
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  const { ui } = await startPage('ui', env);
  const opened = await openTab(ui);
  const show = (hash: string) => opened.tab.goto(`${new URL(ui).origin}/ui#${hash}`);
  return { now, service, env, show, ...opened };
}

test('empty, refused, dead, of another shape: one sentence each, with a button', async () => {
  const { now, tab, show } = await openService();
  await expect.poll(() => tab.locator('.empty').textContent()).toContain('No requests yet.sotra leaderboard list');
  const problem = tab.getByRole('alert');
  for (const [index, [status, body, says]] of [
    [401, '{"error":"no"}', '401'],
    [503, 'down', '503'],
    [200, '{"traders":[', 'JSON'],
    [200, '{"data":[]}', 'an unexpected shape at traders'],
  ].entries()) {
    Object.assign(now, { status, body });
    await show(index % 2 === 0 ? '/board?timeframe=7d' : '/board?chain=base');
    await expect.poll(() => problem.allTextContents()).toEqual([expect.stringContaining(String(says))]);
    expect([await violationsOf(tab), await tab.locator('.frame').count()]).toEqual([[], 0]);
    Object.assign(now, { status: 200, body: '{"traders":[]}' });
    await tab.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => tab.locator('.empty').textContent()).toBe('No trader matches.');
    await show('/activity');
    await tab.getByRole('searchbox').waitFor();
  }
});

test('of 10,000 traders the first 1,000 are kept and 200 drawn', async () => {
  const { now, tab, show } = await openService();
  const traders = Array.from({ length: 10_000 }, (_, index) => ({
    profile: { id: `ext:${index}`, name: `trader ${index}`, images: {}, addresses: [], metadata: {} },
    pnl: { total: 10_000 - index, perChain: {} },
  }));
  now.body = JSON.stringify({ traders });
  await show('/board');
  await expect.poll(() => tableRows(tab, 'Traders').count()).toBe(200);
  expect(await tab.locator('.tools [role=status]').textContent()).toBe('1,000 rows');
});

test('of more requests than are kept, the newest are shown and named so', async () => {
  const { ui, url } = await startPage('sandbox start --port 0 --ui --empty');
  for (let index = 0; index < 1001; index += 1) await (await fetch(`${url}/v1/leaderboard`)).text();
  const { tab } = await openTab(ui);
  await expect.poll(() => tab.locator('.tools [role=status]').textContent()).toBe('1,000 rows, the newest');
});

test('a webhook shows its secret when asked, and is deleted after a question', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  const { tab } = await openTab(ui);
  await tab.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await tableRows(tab, 'Webhooks').locator('a').click();
  await tab.getByRole('button', { name: 'Show secret' }).click();
  await expect.poll(() => tab.locator('.detail output code').textContent()).toMatch(/^whsec_[\w-]{40,}$/);
  await tab.getByRole('button', { name: 'Delete the webhook' }).click();
  expect((await run('webhook list --json', { env })).out).toContain('127.0.0.1:9');
  await tab.getByRole('button', { name: 'Yes, delete the webhook' }).click();
  await expect.poll(() => tab.locator('.empty').textContent()).toBe('No webhooks yet.');
  const page = await run('webhook list --json', { env });
  expect(JSON.parse(page.out)).toEqual([]);
});
