import { decode } from '@toon-format/toon';
import { expect, test } from 'vitest';
import { answering, run } from '../../support/harness.ts';

const profile = {
  id: 'p',
  name: 'a, "b"\u202E\nc',
  images: {},
  addresses: ['0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2'],
};
const trader = {
  profile: { ...profile, metadata: {}, isNSFW: false, status: 'active' },
  pnl: { total: 1.5, perChain: {} },
};

test('--format toon is the rows of the table, read back by any reader of TOON, and smaller than JSON of the same columns', async () => {
  const { env } = await answering({ traders: [trader, trader, trader] });
  const line = 'leaderboard list --columns rank,name,pnlUsd';
  const { out } = await run(`${line} --format toon`, { env });
  expect(out).toBe('[3]{rank,name,pnlUsd}:\n  1,"a, \\"b\\" c",1.5\n  2,"a, \\"b\\" c",1.5\n  3,"a, \\"b\\" c",1.5\n');
  expect(decode(out)).toHaveLength(3);
  const json = JSON.stringify(JSON.parse((await run(`${line} --json`, { env })).out));
  expect(out.length).toBeLessThan(json.length * 0.8);
});

test('a record is its fields in TOON; what has no table, and a list without an end, are refused', async () => {
  const { env } = await answering({ ranking: 3, pnl: { total: 7, perChain: {} } });
  const address = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  const { out } = await run(`leaderboard rank ${address} --format toon --columns ranking,pnlUsd`, { env });
  expect(out).toBe('ranking: 3\npnlUsd: 7\n');
  expect(await run('openapi --format toon', { env })).toMatchObject({ code: 2 });
  const watched = await run(`feed actor ${address} --watch 1s --format toon`, { env });
  expect(watched).toMatchObject({ code: 2, err: expect.stringContaining('--format toon: it begins with the number') });
});
