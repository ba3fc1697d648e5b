import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';

const images = { raw: null, xs: null, sm: null };
const trader = (name: string, total: number) => ({
  profile: { id: `id-${name}`, name, images, addresses: [], metadata: {} },
  pnl: { total, perChain: { base: total } },
  hasComments: false,
});

test('a saved leaderboard is compared with a later one: entered, left, moved, PnL change', async () => {
  const boards = [
    [trader('ann', 300), trader('bob', 200), trader('cat', 100)],
    [trader('bob', 500), trader('ann', 300), trader('dan', 150)],
  ];
  const service = await stub((_, response, count) => response.end(JSON.stringify({ traders: boards[count - 1] })));
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  const now = Date.parse('2026-11-20T12:00:00Z');
  const saved = await run('leaderboard list --save', { env, now, tty: 80 });
  expect(saved).toMatchObject({ code: 0 });
  const later = await run('leaderboard diff --format csv', { env, now: now + 3_600_000 });
  expect(later.code).toBe(0);
  const lines = later.out.trim().split('\n');
  const about = (name: string) => lines.find((line) => line.includes(name)) ?? '';
  expect(about('dan')).toContain('entered');
  expect(about('cat')).toContain('left');
  expect(about('bob')).toContain('300');
  expect(service.requests.map(({ url }) => url)).toEqual(['/v2/leaderboard', '/v2/leaderboard?limit=50']);
});

test('without a saved leaderboard there is nothing to compare with, and the error says how to save one', async () => {
  const service = await stub((_, response) => response.end('{"traders":[]}'));
  const { code, err, out } = await run('leaderboard diff', { env: service.env });
  expect(code).not.toBe(0);
  expect(out).toBe('');
  expect(err).toContain('leaderboard list --save');
});
