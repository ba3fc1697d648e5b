import { request } from 'node:http';
import { connect } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser } from '../support/browser.ts';
import { temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';
import { fillInbox } from '../support/inbox.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { sessionOf, startPage } from '../support/page.ts';

/** The address of the page of the default store of a data directory. */
const servePage = async (folder: string) => (await listen(folder, '--ui')).ui;

/** The least of at most seven measurements, up to one that is small enough: what else a machine does adds to each, and takes nothing away. */
async function least(enough: number, measure: () => Promise<number>): Promise<number> {
  let found = await measure();
  for (let round = 1; round < 7 && found > enough; round += 1) found = Math.min(found, await measure());
  return found;
}

const rows = (tab: Page) => tab.locator('[role=option]');

test('a list of 10,000 deliveries is shown soon and scrolls without a task over 50 ms', async () => {
  const folder = temporaryFolder();
  const deliveries = Array.from({ length: 10_000 }, (_, index) => ({
    body: Buffer.from(bodyOf(`event-${index}`)),
    atMs: Date.now() - index * 1000,
  }));
  await fillInbox(folder, deliveries);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(await servePage(folder));
  const whole = () => expect.poll(() => rows(tab).first().getAttribute('aria-setsize')).toBe('10000');
  await whole();
  const paint = await least(300, async () => {
    await tab.reload();
    await whole();
    return tab.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime");
  });
  const { most, busy } = await tab.evaluate<{ most: number; busy: number }>(`(async () => {
    const list = document.querySelector('.list');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    window.tasks = [];
    new PerformanceObserver((seen) => tasks.push(...seen.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    // One that is seen, so that none seen means something.
    setTimeout(() => { for (const end = performance.now() + 80; performance.now() < end;); });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const busy = tasks.length;
    window.most = 0;
    window.scroll = async () => {
      tasks.splice(0);
      for (let at = 0; at <= 200; at += 1) {
        list.scrollTop = (list.scrollHeight / 200) * at;
        await new Promise(requestAnimationFrame);
        most = Math.max(most, document.querySelectorAll('[role=option]').length);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      return tasks.length;
    };
    await scroll();
    return { most, busy };
  })()`);
  const tasks = await least(0, () => tab.evaluate<number>('scroll()'));
  process.stdout.write(`first paint ${Math.round(paint)} ms; tasks over 50 ms: ${tasks}; rows at once: ${most}\n`);
  expect([paint <= 300, busy > 0, tasks, most < 60]).toEqual([true, true, 0, true]);
  expect(await rows(tab).last().textContent()).toContain('new-feed-item');
});

/** What the stream of the page sends until it holds a text. */
function readLive(origin: string, headers: Record<string, string>, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}/api/deliveries/live`, { headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
        if (!text.includes(end)) return;
        resolve(text);
        sent.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('a page that lost its connection goes on where it was, without a gap', async () => {
  const { url, ui } = await listen(temporaryFolder(), '--ui');
  const { origin } = new URL(ui);
  const own = await sessionOf(ui);
  const deliver = (id: string) => send(url, bodyOf(id), signed(bodyOf(id)));
  const [, id = ''] = /"id":"([^"]+)","kind":"load"/.exec(await readLive(origin, own, '\n')) ?? [];
  for (let index = 0; index < 50; index += 1) expect(await deliver(`missed-${index}`)).toBe(200);
  const text = await readLive(origin, { ...own, 'last-event-id': id }, 'missed-49');
  const ids = [...text.matchAll(/"id":"(missed-\d+)"/g)].map((match) => match[1]);
  expect([ids, text.includes('"load"')]).toEqual([Array.from({ length: 50 }, (_, n) => `missed-${n}`), false]);
  expect(await readLive(origin, { ...own, 'last-event-id': 'another-run-1' }, '\n')).toContain('"kind":"load"');
});

test('names of others stay text, and nothing of them runs', async () => {
  const folder = temporaryFolder();
  const names = [...naughty, '<svg onload=document.title=1>', '"><script>document.title=2</script>'];
  await fillInbox(
    folder,
    names.map((itemTitle, index) => ({
      body: Buffer.from(JSON.stringify({ eventId: `e${index}`, eventType: itemTitle, feedItem: { itemTitle } })),
    })),
  );
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  await tab.goto(await servePage(folder));
  await expect.poll(() => rows(tab).first().getAttribute('aria-setsize')).toBe(String(names.length));
  await tab.getByRole('listbox').focus();
  for (const _ of names) await tab.keyboard.press('ArrowDown');
  await expect.poll(() => tab.locator('h2').count()).toBe(1);
  expect([await tab.title(), await tab.locator('.app img, .app script, .list svg').count(), complaints]).toEqual([
    'Deliveries · sotra',
    0,
    [],
  ]);
});

test('slow and huge requests are ended, and the page answers meanwhile', async () => {
  const { ui } = await listen(temporaryFolder(), '--ui');
  const { port, origin } = new URL(ui);
  const closed = (head: string) =>
    new Promise<string>((resolve) => {
      let answer = '';
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(head));
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(answer));
    });
  const slow = closed(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx: `);
  const long = closed(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx: ${'a'.repeat(64 * 1024)}\r\n\r\n`);
  const own = await sessionOf(ui);
  const huge = await fetch(`${origin}/api/deliveries/replay`, {
    method: 'POST',
    headers: { ...own, origin, 'content-type': 'application/json' },
    body: 'a'.repeat(1_000_000),
  });
  expect([huge.status, (await long).slice(0, 12), (await slow).slice(0, 12)]).toEqual([
    413,
    'HTTP/1.1 431',
    'HTTP/1.1 408',
  ]);
});

test('a delivery links to its trader if a service is configured', async () => {
  const { env } = await startPage('sandbox start --port 0 --ui');
  const { url, ui, stop } = await listen(temporaryFolder(), '--ui', undefined, {
    SOTRA_BASE_URL: String(env['SOTRA_BASE_URL']),
    SOTRA_API_KEY: 'sandbox-key-a',
  });
  const actor = { address: '0x143cf5cccbc8447504a99413dec7ea93ec228432' };
  const body = JSON.stringify({ events: [{ eventId: 'e1', eventType: 'new-feed-item', feedItem: { actor } }] });
  expect(await send(url, body, signed(body))).toBe(200);
  const tab = await (await openBrowser()).newPage();
  await tab.goto(ui);
  await rows(tab).first().click();
  await tab.getByRole('link', { name: 'Trader' }).click();
  await expect.poll(() => tab.locator('h3').first().textContent()).toBe('mossyledger.alpha.test');
  await stop();
});
