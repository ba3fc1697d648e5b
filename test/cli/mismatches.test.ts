import { expect, test } from 'vitest';
import { cardOf } from '../support/feed-cards.ts';
import { answering, failure, type RunOptions, run, runJson, stub } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

const address = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const good = {
  profile: { id: 'p', name: 'Ana', addresses: [address], metadata: { roiPercent30d: 20.6, tradeCount30d: 3 } },
  pnl: { total: 12.5, perChain: {} },
};
const list = 'leaderboard list --columns name,pnlUsd,roiPercent30d,address';

test('a row of another shape shows the values that it has, and the other rows are complete', async () => {
  const wrong = { profile: { name: 7, metadata: { roiPercent30d: { a: 1 } } }, pnl: { total: 'much' } };
  const service = await answering({ traders: [wrong, null, good] });
  const { code, out, err } = await run(list, { env: service.env, tty: 80 });
  expect(code).toBe(0);
  const cells = out
    .split('\n')
    .slice(2, 5)
    .map((line) => line.trimEnd().split(/ {2,}/));
  expect(cells.flat()).toEqual(['7', 'much', '{"a":1}', '–', '–', '–', '–', '–', 'Ana', '+$12.50', '+20.6%', address]);
  expect(err).toContain('warning: GET /v2/leaderboard answered with an unexpected shape at\n  traders.0');
  const rows = await run(`${list} --format csv`, { env: service.env });
  expect(rows.out).toBe(`name,pnlUsd,roiPercent30d,address\n7,much,"{""a"":1}",\n,,,\nAna,12.5,20.6,${address}\n`);
  expect((await run(`${list} --strict`, { env: service.env })).code).toBe(13);
});

test.each(['{"traders":{"a":1}}', '[]', '7', 'null', '"text"', '{}'])(
  'an answer that is not a leaderboard is shown as received: %s',
  async (body) => {
    const service = await answering(body);
    const { code, out, err } = await run('leaderboard list', { env: service.env, tty: 80 });
    expect({ code, shown: JSON.parse(out) }).toEqual({ code: 0, shown: JSON.parse(body) });
    expect(err).toContain('warning: the answer does not have the shape of this table; shown as received');
    expect(await run('leaderboard list --format ndjson', { env: service.env })).toMatchObject({ out: `${body}\n` });
  },
);

test('columns that were named stay on a narrow terminal, as cards; an absurd number leaves the others their room', async () => {
  const rich = { ...good, pnl: { total: 1.236e40, perChain: {} } };
  const service = await answering({ traders: [rich, good] });
  const named = '--columns name,pnlUsd,roiPercent30d,winRate30d,trades30d,address,profileId';
  const narrow = await run(`leaderboard list ${named}`, { env: service.env, tty: 60 });
  for (const header of ['Trader', 'PnL', 'ROI 30d', 'Win 30d', 'Trades 30d', 'Address', 'Profile'])
    expect(narrow.out).toMatch(new RegExp(`^${header} `, 'm'));
  const { out } = await run('leaderboard list', { env: service.env, tty: 120 });
  expect(out).toContain('+$12,360,000,000,000');
  expect(out).toContain('+$12.50');
  expect(out.split('\n')[0]).toContain('Address');
});

test('addresses are complete if there is room, else shortened', async () => {
  const service = await answering({ traders: [good] });
  const argv = 'leaderboard list --columns name,pnlUsd,address';
  expect((await run(argv, { env: service.env, tty: 80 })).out).toContain(address);
  expect((await run(argv, { env: service.env, tty: 40 })).out).toContain(' 0x143c…8432');
});

test('characters that hide or reorder text are escaped on a terminal and unchanged in a pipe', async () => {
  const name = 'A\u202e\u200bB';
  const service = await answering({ traders: [{ ...good, profile: { ...good.profile, name } }] });
  for (const words of [
    'leaderboard list --json',
    'leaderboard list --format ndjson',
    'leaderboard list --jq .traders[0].profile.name',
    'request GET /v2/leaderboard',
  ]) {
    const shown = await run(words, { env: service.env, tty: 80 });
    expect([words, shown.out.includes('A\\u202e\\u200bB'), shown.out.includes('\u202e')]).toEqual([words, true, false]);
    const piped = await run(words, { env: service.env });
    expect([words, piped.out.includes(name)]).toEqual([words, true]);
  }
  // A spreadsheet would show the text reordered.
  const csv = await run('leaderboard list --format csv --columns name', { env: service.env });
  expect(csv.out).toBe('name\nA\u200bB\n');
});

test('a terminal shows what a call is waiting for, a pipe and --quiet do not', async () => {
  const list = async (flags: string, options: RunOptions) => {
    const { env } = await stub((_, response, count) => {
      if (count === 1) response.writeHead(429, { 'retry-after': '1' }).end('{"error":"slow down"}');
      else setTimeout(() => response.end('{"traders":[]}'), 700);
    });
    return run(`leaderboard list ${flags}`, { env, ...options });
  };
  const terminal = { tty: 100, showWaits: true };
  const [shown, piped, quiet] = await Promise.all([list('', terminal), list('', {}), list('--quiet', terminal)]);
  expect(shown.err).toMatch(/slow down.*; trying again in [01] s/);
  expect(shown.err).toMatch(/waiting for 127\.0\.0\.1:\d+ \(GET \/v2\/leaderboard\)/);
  expect(shown.code).toBe(0);
  expect(piped.err).not.toMatch(/waiting|again/);
  expect(quiet.err).toBe('');
});

const uid = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

/** An answer of the sandbox with one text in it replaced. */
async function served(argv: string, from: string, to: string) {
  const { out } = await run(`--sandbox ${argv} --json`);
  expect(out).toContain(from);
  return answering(JSON.parse(out.replaceAll(from, to)));
}

test('--strict refuses a value that the document does not list; without --strict the value is shown', async () => {
  const onMars = ['"tokenChain": "base"', '"tokenChain": "mars"'] as const;
  for (const [argv, from, to, place] of [
    [
      `profile get ${address}`,
      '"status": "active"',
      '"status": "dormant"',
      'status: "dormant" is not one of unnamed, ',
    ],
    [`position get ${uid}`, ...onMars, 'metadata.tokenChain: "mars" is not one of ethereum, '],
    [`profile positions ${address} open --limit 1`, ...onMars, '0.metadata.tokenChain: "mars" is not one of'],
  ] as const) {
    const { env } = await served(argv, from, to);
    expect(await run(`${argv} --strict`, { env })).toEqual(failure(13, place));
    expect([argv, (await run(argv, { env })).code]).toEqual([argv, 0]);
  }
  expect(await run(`--sandbox profile get ${address} --strict`)).toMatchObject({ code: 0, err: '' });
});

const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

test.each([`profile positions ${address} open`, `token comments base ${degen}`])(
  '%s shows times that come in milliseconds as it shows seconds',
  async (argv) => {
    const service = await serveSandbox({ now: () => Date.UTC(2026, 10, 20) });
    const { out: seconds } = await run(`${argv} --json`, { env: service.envA });
    const millis = seconds.replaceAll(/("\w*(?:timestamp|TradeAt|Unix)": )(\d{10})\b/g, '$1$2000');
    expect(millis).not.toBe(seconds);
    const [inSeconds, inMillis] = [await answering(seconds), await answering(millis)];
    for (const format of ['', '--format csv', '--format tsv']) {
      const shown = await run(`${argv} ${format}`, { env: inMillis.env, tty: 200 });
      expect(shown).toEqual(await run(`${argv} ${format}`, { env: inSeconds.env, tty: 200 }));
      expect(shown.out + shown.err).toMatch(format === '' ? /2026-1[01]-\d\d/ : /./);
    }
    expect((await run(`${argv} --json`, { env: inMillis.env })).out).toBe(millis);
  },
);

test('--newer-than compares with times that come in milliseconds', async () => {
  const items = [cardOf('new', 1_795_218_360_000), cardOf('old', 1_795_218_300_000)];
  const { env } = await answering({ items, pagination: { olderItemsURL: null, newerItemsURL: null } });
  const argv = `feed actor ${address} --newer-than 1795218330 --all --format csv --columns itemId`;
  expect((await run(argv, { env })).out).toBe('itemId\nnew\n');
});

const flagged = {
  id: '2f991d88-4e6a-54f7-b130-a9788a9a06ab',
  name: 'rude words',
  images: { raw: null, xs: null, sm: null },
  addresses: [address],
  metadata: { twitterHandle: 'rude_handle', pnl30d: 12 },
  isNSFW: { nsfwImage: false, nsfwText: true },
};

test('names that the service flags as NSFW are hidden from people, and shown with --show-nsfw and to machines', async () => {
  const clean = { ...flagged, id: '3f991d88-4e6a-54f7-b130-a9788a9a06ab', name: 'kind words', isNSFW: false };
  const onlyImage = { ...clean, name: 'plain words', isNSFW: { nsfwImage: true, nsfwText: false } };
  const traders = [flagged, clean, onlyImage].map((profile) => ({ profile, pnl: { total: 1 } }));
  const { env } = await answering({ traders });
  const table = await run('leaderboard list', { env, tty: 120 });
  for (const shown of ['kind words', 'plain words']) expect(table.out).toContain(shown);
  for (const { out } of [table, await run('leaderboard list --format table', { env })])
    expect([out, out]).toEqual([expect.stringContaining('(hidden: NSFW)'), expect.not.stringContaining('rude')]);
  expect((await run('leaderboard list --show-nsfw', { env, tty: 120 })).out).toContain('rude words');
  for (const format of ['json', 'csv', 'ndjson'])
    expect((await run(`leaderboard list --format ${format}`, { env })).out).toContain('rude words');
});

test('a flagged trader is hidden on cards and in comments, handles included', async () => {
  const profile = await answering(flagged);
  const argv = `profile get ${address}`;
  const got = await run(argv, { env: profile.env, tty: 120 });
  expect(got.out).toContain('(hidden: NSFW)');
  expect(got.out).not.toContain('rude');
  expect((await run(`${argv} --show-nsfw`, { env: profile.env, tty: 120 })).out).toContain('rude');
  const card = await runJson(`--sandbox feed actor ${address} --limit 1`);
  const [item] = card.items;
  const actor = { ...item.actor, name: 'rude words', profile: { ...flagged } };
  const feed = await answering({ ...card, items: [{ ...item, itemTitle: 'rude words', actor }] });
  const shown = await run(`feed actor ${address}`, { env: feed.env, tty: 120 });
  expect(shown.out).toContain('(hidden: NSFW)');
  expect(shown.out).not.toContain('rude');
});
