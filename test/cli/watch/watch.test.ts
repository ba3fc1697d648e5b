import { expect, test } from 'vitest';
import { type RunOptions, run, stub } from '../../support/harness.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

type Places = readonly (readonly [name: string, pnl: number])[];
type Round = Places | { status: number; headers?: Record<string, string> };

function boardOf(places: Places, profile: object): string {
  const traders = places.map(([name, total]) => ({
    profile: { ...profile, id: `id-${name}`, name },
    pnl: { total, perChain: {} },
    isFollowedByUser: false,
  }));
  return JSON.stringify({ traders });
}

/** Watches a board that is another in each round, until the last was seen twice. */
async function watchBoard(rounds: readonly Round[], flags = '', options: RunOptions = {}) {
  const stop = new AbortController();
  const texts: string[] = [];
  const [{ profile }] = JSON.parse((await run('--sandbox leaderboard list --limit 1 --json')).out).traders;
  const service = await stub((_, response, count) => {
    if (count > rounds.length + 1) stop.abort();
    const round = rounds[Math.min(count, rounds.length) - 1] ?? [];
    if ('status' in round) response.writeHead(round.status, round.headers).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(boardOf(round, profile));
  });
  const onOut = (text: string) => void texts.push(text);
  const given = {
    env: service.env,
    signal: stop.signal,
    skipWaits: true,
    onOut,
    now: Date.UTC(2026, 0, 2),
    ...options,
  };
  const outcome = await run(`leaderboard list --watch 1s --retries 9 ${flags}`, given);
  return { ...outcome, texts, service, lines: outcome.out.split('\n').filter(Boolean) };
}

test('in a pipe only what changed is printed: who moved, came and left, with what was before', async () => {
  const { lines, code, err } = await watchBoard([
    [
      ['ann', 30],
      ['bob', 20],
      ['cy', 10],
    ],
    [
      ['ann', 30],
      ['bob', 20],
      ['cy', 10],
    ],
    [
      ['bob', 35],
      ['ann', 30],
      ['dee', 1],
    ],
  ]);
  expect(code).toBe(130);
  expect(err).toMatch(
    /^Watching 3 rows every 1 s; changes are printed as they come. Ctrl-C stops.\nerror: stopped after [45] rounds\n$/,
  );
  const changes = lines.map((line) => JSON.parse(line));
  expect(changes.map(({ change, item, name }) => [change, item, name])).toEqual([
    ['up', 'id-bob', 'bob'],
    ['down', 'id-ann', 'ann'],
    ['entered', 'id-dee', 'dee'],
    ['left', 'id-cy', 'cy'],
  ]);
  expect(changes[0]).toEqual({
    at: expect.stringMatching(/^2026-01-02T00:00:\d\d\.000Z$/),
    change: 'up',
    item: 'id-bob',
    name: 'bob',
    before: { rank: 2, pnlUsd: 20 },
    now: { rank: 1, pnlUsd: 35 },
  });
  expect(changes[2]).toMatchObject({ before: null, now: { rank: 3, name: 'dee', pnlUsd: 1 } });
  expect(changes[3]).toMatchObject({ before: { rank: 3, name: 'cy' }, now: null });
});

test('named columns alone are compared; other formats print a line a change', async () => {
  const rounds: Round[] = [
    [
      ['ann', 30],
      ['bob', 20],
    ],
    [
      ['ann', 31],
      ['bob', 20],
    ],
    [
      ['bob', 40],
      ['ann', 31],
    ],
  ];
  const ranks = await watchBoard(rounds, '--columns rank --json');
  expect(ranks.lines.map((line) => JSON.parse(line).now)).toEqual([{ rank: 1 }, { rank: 2 }]);
  const csv = await watchBoard(rounds, '--columns pnlUsd --format csv');
  expect(csv.lines.map((line) => line.slice(line.indexOf(',')))).toEqual([
    ',change,item,name,before,now',
    ',changed,id-ann,ann,"{""pnlUsd"":30}","{""pnlUsd"":31}"',
    ',changed,id-bob,bob,"{""pnlUsd"":20}","{""pnlUsd"":40}"',
  ]);
  const filtered = await watchBoard(rounds, '--jq .name');
  expect(filtered.lines).toEqual(['ann', 'bob', 'ann']);
});

test('on a terminal the table is drawn again in its place, what changed is marked, and the marks go again', async () => {
  const { texts, out } = await watchBoard(
    [
      [
        ['ann', 30],
        ['bob', 20],
      ],
      [
        ['bob', 35],
        ['cy', 31],
      ],
      [
        ['bob', 35],
        ['cy', 31],
      ],
    ],
    '--columns rank,name,pnlUsd',
    { tty: 60 },
  );
  const rows = (text: string) =>
    text
      .split('\n')
      .map((line) => line.replaceAll(/\u001b\[[?\d]*[a-zA-Z]|\r/g, '').replaceAll(/ +/g, ' '))
      .slice(2);
  expect(rows(texts[0] ?? '').slice(0, 3)).toEqual([
    '1 ann +$30.00',
    '2 bob +$20.00',
    expect.stringMatching(/^00:00:00Z, every 1 s. Ctrl-C stops.$/),
  ]);
  expect(rows(texts[1] ?? '').slice(0, 3)).toEqual(['▲ 1 bob ▲ +$35.00', '+ 2 cy +$31.00', 'Left: ann.']);
  expect(rows(texts[2] ?? '').slice(0, 2)).toEqual(['1 bob +$35.00', '2 cy +$31.00']);
  // Five lines up, to where the first of them stands.
  expect(texts[1]?.startsWith('\u001b[?7l\u001b[5A\r')).toBe(true);
  expect(out.includes('\u001b[2J')).toBe(false);
  const plain = await watchBoard([[['ann', 30]], [['ann', 31]]], '--columns rank,name --ascii', { tty: 60 });
  expect(plain.out).not.toMatch(/[▲▼…]/);
});

test('what fails for a while is told below the table, which stays; a wrong answer at the start is an error', async () => {
  // One that no call repeats by itself.
  const { texts, code } = await watchBoard([[['ann', 30]], { status: 501 }, [['ann', 30]]], '--columns name', {
    tty: 60,
  });
  expect(code).toBe(130);
  expect(texts.some((text) => text.includes('ann') && text.includes('HTTP 501') && text.includes('retrying'))).toBe(
    true,
  );
  expect(texts.at(-1)).toContain('Ctrl-C stops.');
  expect(await watchBoard([{ status: 404 }])).toMatchObject({ code: 5, out: '' });
});

test('a wait that the service asks for is kept; one longer than --timeout ends it with exit 7', async () => {
  let waitedMs = 0;
  const limited = { status: 429, headers: { 'retry-after': '40' } };
  const { code, lines } = await watchBoard([[['ann', 1]], limited, limited, limited, [['ann', 2]]], '--timeout 1m');
  expect(code).toBe(130);
  for (const line of lines) waitedMs = Date.parse(JSON.parse(line).at) - Date.UTC(2026, 0, 2);
  expect(waitedMs).toBeGreaterThanOrEqual(120_000);
  expect(await watchBoard([[['ann', 1]], limited], '--timeout 30s')).toMatchObject({ code: 7, out: '' });
});

test('the interval may be left out, also before an argument, and has limits', async () => {
  const shown = await run(`--sandbox leaderboard rank --watch ${wallet} --dry-run`);
  expect([shown.code, shown.out.split('\n')[0]]).toEqual([
    0,
    `GET http://sandbox.localhost/v2/leaderboard/ranking?address=${wallet}`,
  ]);
  for (const [flags, why] of [
    ['--watch 5', '--watch 5: must be a time from 100ms to 1h, such as 5s'],
    ['--watch 10ms', '--watch 10ms: must be a time from 100ms to 1h'],
    ['--watch --chart', '--watch and --chart cannot be used together'],
    ['--watch --format md', '--format md needs the end of the list'],
  ] as const) {
    const { code, err, out } = await run(`--sandbox leaderboard list ${flags}`);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(why)]);
  }
});

test.each([
  `leaderboard rank ${wallet}`,
  `profile get ${wallet}`,
  `profile positions ${wallet} open`,
  'token positions base 0x940181a94a35a4569e4529a3cdfb74e38fd98631 open',
  'webhook list',
])('%s is watched until it is stopped', async (argv) => {
  const stop = new AbortController();
  const texts: string[] = [];
  const onOut = (text: string) => {
    if (texts.push(text) === 3) stop.abort();
  };
  const { code } = await run(`--sandbox ${argv} --watch 100ms`, {
    tty: 100,
    signal: stop.signal,
    skipWaits: true,
    onOut,
  });
  expect(code).toBe(130);
  expect(texts[2]).toContain('every 0.1 s');
});

test('webhook jobs is watched without a service', async () => {
  const stop = new AbortController();
  const { code, err } = await run('webhook jobs --watch', {
    signal: stop.signal,
    onErr: (text) => text.startsWith('Watching') && stop.abort(),
  });
  expect([code, err]).toEqual([130, expect.stringMatching(/^Watching 0 rows every 10 s/)]);
});
