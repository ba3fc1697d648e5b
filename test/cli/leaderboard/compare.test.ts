import { expect, test } from 'vitest';
import { run, stub } from '../../support/harness.ts';

test('the two versions of the sandbox show the same traders', async () => {
  const { code, out, err } = await run('--sandbox leaderboard compare --sections chain-base,all --check', { tty: 100 });
  expect([code, out]).toEqual([0, '']);
  expect(err).toContain(
    'Section chain-base and sotra leaderboard list --chains base: 27 traders in both, 0 differences.\n  only V2 has status\n',
  );
  const json = await run('--sandbox leaderboard compare --limit 2 --timeframe 7d --json');
  expect(JSON.parse(json.out).sections).toHaveLength(5);
  expect(JSON.parse(json.out).sections[1]).toMatchObject({
    ...{ key: 'chain-base', command: 'sotra leaderboard list --chains base --timeframe 7d', traders: 2 },
    differences: [],
  });
});

const profile = (id: string, more = {}) => ({
  ...{ id, name: `name of ${id}`, images: { raw: null, xs: null, sm: null }, addresses: [] },
  metadata: { pnl30d: 1, ...more },
});
const entry = (id: string, value: string, format = 'currency') => ({
  ...profile(id, { pumpName: 'x' }),
  reason: { title: 'PnL', value, format },
});
const trader = (id: string, total: number) => ({ profile: { ...profile(id), status: 'active' }, pnl: { total } });

test('traders in another order, with another value, and of one version only are named, and fields too', async () => {
  const sections = [
    {
      key: 'chain-zora',
      title: 'Zora',
      commenters: [entry('a', '5')],
      others: [],
    },
    {
      key: 'chain-base',
      title: 'Base',
      commenters: [entry('a', '50'), entry('gone', '45'), entry('b', '40.001')],
      others: [entry('c', 'lots', 'text'), entry('d', '1')],
    },
  ];
  const board = { traders: [trader('b', 40), trader('new', 39), trader('a', 30), trader('c', 20), trader('d', 1)] };
  const requests: string[] = [];
  const service = await stub(({ url }, response) => {
    requests.push(url);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url.startsWith('/v1/') ? { sections } : board));
  });
  const { code, out } = await run('leaderboard compare --limit 5 --timeframe 30d --check --json', { env: service.env });
  expect(code).toBe(10);
  expect(requests).toEqual([
    '/v1/leaderboard?limit=5&timeframe=30d',
    expect.stringMatching(/^\/v2\/leaderboard\?(?=.*chains(\[\])?=base)(?=.*limit=250)(?=.*timeframe=30d)/),
  ]);
  const [zora, base] = JSON.parse(out).sections;
  expect(zora).toMatchObject({ key: 'chain-zora', command: null, differences: [] });
  expect(base).toMatchObject({ traders: 4, fieldsOnlyInV1: ['metadata.pumpName'], fieldsOnlyInV2: ['status'] });
  const shown = base.differences.map(
    ({ difference, profileId, list, placeV1, placeV2, valueV1, valueV2 }: Record<string, unknown>) =>
      [profileId, difference, list, placeV1, placeV2, valueV1, valueV2].join(' '),
  );
  expect(shown).toEqual([
    'a order commenters 1 2 50 30',
    'a value commenters 1 2 50 30',
    'gone not in V2 commenters   45 ',
    'b order commenters 2 1 40.001 40',
    'new not in V1   2  39',
  ]);
});

test('without a service it ends as every read', async () => {
  const env = { SOTRA_BASE_URL: 'http://127.0.0.1:1' };
  expect(await run('leaderboard compare --retries 0', { env })).toMatchObject({ code: 9 });
  expect(await run('--sandbox leaderboard compare --limit 0')).toMatchObject({ code: 2 });
});
