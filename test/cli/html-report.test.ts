import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { complaintsOf, openBrowser, violationsOf } from '../support/browser.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { sampled } from '../support/hostile/corpus.ts';
import { fillInbox } from '../support/inbox.ts';
import { serveSandbox } from '../support/served.ts';
import { inTurn, some } from '../support/size.ts';

const now = Date.UTC(2026, 10, 26, 12);
const address = `0x${'1'.repeat(40)}`;
const figures = { roiPercent30d: 30, winRate30d: 0.75, tradeCount30d: 4, commentCount30d: 0 };

const images = { raw: null, xs: null, sm: null };

const trader = (name: string, base: number, solana: number) => ({
  profile: { id: 'p', name, addresses: [address], images, metadata: figures },
  pnl: { total: base + solana, perChain: { base, solana } },
  hasComments: false,
});

const board = (...names: string[]) => ({ traders: names.map((name, index) => trader(name, 1000 - 1500 * index, 20)) });

const reportFile = () => join(temporaryFolder(), 'report.html');
const read = (file: string) => readFileSync(file, 'utf8');
const cellsOf = (row: string) =>
  [...row.matchAll(/<(t[hd])[^>]*>(.*?)<\/\1>/g)].map(([, , cell = '']) => cell.replaceAll(/<[^>]+>/g, ''));
const rowsOf = (html: string) => html.match(/<tr>.*<\/tr>/g)?.map(cellsOf);

test('--out writes the table that a terminal shows, its chart, the time, the service and the command, and prints what is printed without it', async () => {
  const { env, url } = await answering(board('ann', 'bob'));
  const file = reportFile();
  const plain = await run('leaderboard list --limit 2', { env, now });
  const made = await run(`leaderboard list --limit 2 --out ${file}`, { env, now });
  expect([made.code, made.out, made.err]).toEqual([0, plain.out, `Wrote ${file}.\n${plain.err}`]);
  const html = read(file);
  const shown = await run('leaderboard list --limit 2', { env, now, tty: 200 });
  expect(rowsOf(html)?.[0]).toEqual(shown.out.split('\n')[0]?.split(/ {2,}/));
  expect(rowsOf(html)?.slice(1)).toEqual([
    ['1', 'ann', '+$1,020.00', '+$1K', '+$20.00', '–', '–', '+30.0%', '75%', '4', address],
    ['2', 'bob', '-$480.00', '-$500.00', '+$20.00', '–', '–', '+30.0%', '75%', '4', address],
  ]);
  expect(html).toContain('<h1><bdi>Leaderboard: all chains, 30 days</bdi></h1>');
  expect(html).toContain('<th scope="row" class="naming strong"><bdi>ann</bdi></th>');
  expect(html).toContain('<dd>2026-11-26 12:00:00Z</dd>');
  expect(html).toContain(`<dd>${url}</dd>`);
  expect(html).toContain(`<code>sotra leaderboard list --limit 2 --out ${file}</code>`);
  // From 500 of losses to 1,020 of gains: zero is at 32.89 percent.
  expect(html).toContain(
    '<rect class="series-0" x="32.89%" width="65.79%" height="14"><title>Base: +$1K</title></rect>',
  );
  expect(html).toContain(
    '<rect class="series-0" x="0%" width="32.89%" height="14"><title>Base: -$500.00</title></rect>',
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a report has the scale that the terminal chooses: where one bar would leave no room, a logarithmic one, which it says', async () => {
  const { env } = await answering({
    traders: [trader('ann', 1_000_000, 0), trader('bob', 100, 0), trader('cid', 90, 0), trader('dee', -80, 0)],
  });
  const file = reportFile();
  await run(`leaderboard list --out ${file}`, { env, now });
  const html = read(file);
  const title = 'Realized PnL by trader and chain (logarithmic scale)';
  expect(html).toContain(`<h2>${title}</h2>`);
  expect((await run('leaderboard list --chart', { env, now, tty: 80 })).out.split('\n')[0]).toBe(title);
  // Bars of 10^5, 11, 10 and 9 times ten: 5, 1.04, 1 and 0.95 of 5.95 in all.
  const widths = [...html.matchAll(/<rect[^>]* width="([\d.]+)%"/g)].map(([, width]) => Math.round(Number(width)));
  expect(widths).toEqual([84, 17, 17, 16]);
});

test('--columns, --json and --quiet hold beside --out', async () => {
  const { env } = await answering(board('ann', 'bob'));
  const file = reportFile();
  const { out, err } = await run(`leaderboard list --json --columns name,pnlUsd --quiet --out ${file}`, { env });
  expect([JSON.parse(out)[0], err]).toEqual([{ name: 'ann', pnlUsd: 1020 }, '']);
  expect(rowsOf(read(file))?.[1]).toEqual(['ann', '+$1,020.00']);
});

/** The trader of the sandbox with the best PnL, and what asks for him. */
async function bestTrader() {
  const { envA: env } = await serveSandbox();
  const [{ profile }] = JSON.parse((await run('leaderboard list --limit 1 --json', { env })).out).traders;
  return { env, profile: profile as { name: string; addresses: string[] } };
}

test('every page of --all is in the file', async () => {
  const { env, profile } = await bestTrader();
  const file = reportFile();
  const line = `profile positions ${profile.addresses[0]} open --all --limit 2`;
  const ids = (await run(`${line} --columns itemId --format tsv`, { env })).out.trim().split('\n').slice(1);
  expect((await run(`${line} --columns itemId,token --out ${file}`, { env })).code).toBe(0);
  expect(ids.length).toBeGreaterThan(4);
  expect(
    rowsOf(read(file))
      ?.slice(1)
      .map(([id]) => id),
  ).toEqual(ids);
  expect(read(file)).toContain(`<title>Open positions of ${profile.name} · sotra</title>`);
});

test('a file that exists is replaced after a yes alone, and no request is sent before', async () => {
  const service = await answering(board('ann'));
  const file = reportFile();
  writeFileSync(file, 'before');
  const refused = await run(`leaderboard list --out ${file}`, { env: service.env });
  expect([refused.code, refused.err, read(file), service.requests]).toEqual([
    2,
    `error: cannot ask whether to replace ${file} (--out): stdin is not a terminal\nhint: Add --yes to do it without a question.\n`,
    'before',
    [],
  ]);
  expect((await run(`leaderboard list --out ${file} --yes`, { env: service.env })).code).toBe(0);
  expect(read(file)).toContain('<!doctype html>');
});

test.each([
  ['report.pdf', 2, '--out report.pdf: must end in .html: it is one HTML file'],
  ['/nowhere/report.html', 3, '--out /nowhere/report.html: there is no folder /nowhere'],
  ['/proc/report.html', 3, 'cannot write /proc/report.html: ENOENT'],
])('what cannot be written is refused before anything is sent: %s', async (file, code, says) => {
  const service = await answering(board('ann'));
  const refused = await run(`leaderboard list --out ${file}`, { env: service.env });
  expect([refused.code, refused.out, service.requests]).toEqual([code, '', []]);
  expect(refused.err).toContain(`error: ${says}`);
});

test('nothing is written by a preview, by a call that fails, and of a list without an end', async () => {
  const file = reportFile();
  const failing = await answering({ error: 'no' }, 404);
  const lines = ['--dry-run', '--curl', ''].map((flag) => `leaderboard list --out ${file} ${flag}`);
  const codes = [];
  for (const line of lines) codes.push((await run(line, { env: failing.env })).code);
  const watched = await run(`leaderboard list --watch 1s --out ${file}`, { env: failing.env });
  const followed = await run(`webhook events --follow --out ${file}`);
  expect([codes, watched.code, followed.code, existsSync(file)]).toEqual([[0, 0, 5], 2, 2, false]);
  expect(watched.err).toContain('--watch and --out cannot be used together');
  expect(followed.err).toContain('--out needs the end of the list, which --follow does not have');
});

test('an answer of another shape is written as it came', async () => {
  const { env } = await answering({ boards: ['<b>'] });
  const file = reportFile();
  expect((await run(`leaderboard list --out ${file}`, { env })).code).toBe(0);
  expect(read(file)).toContain('<bdi>{&#34;boards&#34;:[&#34;&#60;b&#62;&#34;]}</bdi>');
});

test('keys and secrets that were typed or answered are not in the file', async () => {
  const folder = temporaryFolder();
  const [key, hook] = ['a-key-of-ours-1234', 'whsec_c2VjcmV0LXNlY3JldA'];
  const body = JSON.stringify({ events: [{ eventId: 'one', eventType: 'copyswap', secret: 'hunter2', note: hook }] });
  await fillInbox(folder, [{ webhook: '/a#11111111', atMs: now, body: Buffer.from(body), headers: [] }]);
  const env = { SOTRA_DATA_DIR: folder };
  const file = reportFile();
  expect((await run(`webhook show one --out ${file}`, { env })).code).toBe(0);
  expect(read(file)).toContain('&#34;eventId&#34;:&#34;one&#34;');
  expect(read(file)).not.toMatch(/hunter2|c2VjcmV0/);
  const service = await stub((_, response) => response.end(JSON.stringify(board(`ann ${key}`))));
  await run(['leaderboard', 'list', '--out', file, '--yes', '--record', join(folder, `${hook}.har`)], {
    env: { ...service.env, SOTRA_API_KEY: key },
  });
  expect(read(file)).toContain('whsec_***');
  expect(read(file)).not.toMatch(/a-key-of-ours|c2VjcmV0/);
});

/** Where text may end up: as it is read, and as it is written. */
const steers = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

test('a report of each kind loads nothing, holds hostile names as text, and reads well on a telephone and by ear', async () => {
  const folder = temporaryFolder();
  const names = ['', '<script>alert(0)</script>', '\u202egnp.exe', ...sampled];
  const { env, profile } = await bestTrader();
  const hostile = await answering(board(...names));
  const [wallet] = profile.addresses;
  const positions = JSON.parse((await run(`profile positions ${wallet} open --json --limit 1`, { env })).out);
  const event = { eventId: 'one', eventType: 'copyswap', feedItem: { itemTitle: '<img src=x onerror=alert(1)>' } };
  const body = Buffer.from(JSON.stringify({ events: [event] }));
  await fillInbox(folder, [{ webhook: '/a#11111111', atMs: now, body, headers: ['content-type', 'text/<b>'] }]);
  const lines: Record<string, readonly [line: string, env: Record<string, string>]> = {
    hostile: ['leaderboard list --columns rank,name', hostile.env],
    board: ['leaderboard list --limit 5', env],
    profile: [`profile get ${wallet}`, env],
    positions: [`profile positions ${wallet} open --limit 3`, env],
    position: [`position get ${positions[0].itemId}`, env],
    events: ['webhook events', { SOTRA_DATA_DIR: folder }],
    event: ['webhook show one', { SOTRA_DATA_DIR: folder }],
  };
  const tab = await (await openBrowser()).newPage();
  const complaints = complaintsOf(tab);
  const asked: string[] = [];
  await tab.route('**', (route) => {
    asked.push(route.request().url());
    return route.request().url().startsWith('file:') ? route.continue() : route.abort();
  });
  const files: string[] = [];
  const screens = inTurn([
    ['light', 380],
    ['dark', 1280],
  ] as const);
  for (const [name, [line, used]] of some(Object.entries(lines), 4)) {
    const file = join(folder, `${name}.html`);
    const { code, err } = await run(`${line} --out ${file}`, { env: used, now });
    expect([code, err.includes('Wrote')], name).toEqual([0, true]);
    expect(read(file).match(steers), name).toBeNull();
    files.push(pathToFileURL(file).href);
    for (const [colorScheme, width] of screens()) {
      await tab.emulateMedia({ colorScheme });
      await tab.setViewportSize({ width, height: 800 });
      await tab.goto(pathToFileURL(file).href);
      expect(await tab.evaluate('document.documentElement.scrollWidth'), name).toBe(width);
      expect(await tab.evaluate("document.querySelectorAll('script, img, link, a, b, iframe, [onerror]').length")).toBe(
        0,
      );
      expect(await violationsOf(tab), `${name} ${colorScheme}`).toEqual([]);
    }
  }
  expect([complaints, [...new Set(asked)]]).toEqual([[], files]);
  await tab.goto(files[0] ?? '');
  const shown = await tab.locator('tbody th').allTextContents();
  expect([shown.length, shown.slice(0, 3)]).toEqual([names.length, ['–', '<script>alert(0)</script>', 'gnp.exe']]);
});
