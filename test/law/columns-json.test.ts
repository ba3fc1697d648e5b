import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const env = () => ({ SOTRA_DATA_DIR: temporaryFolder() });

test('--columns selects fields of JSON and NDJSON, the values as csv gives them', async () => {
  const line = '--sandbox leaderboard list --limit 3 --columns rank,address,pnlUsd';
  const options = { env: env(), now: Date.UTC(2026, 10, 20, 12) };
  const rows = JSON.parse((await run(`${line} --json`, options)).out);
  expect(rows.map((row: object) => Object.keys(row))).toEqual(Array(3).fill(['rank', 'address', 'pnlUsd']));
  expect(rows[0].rank).toBe(1);
  const lines = (await run(`${line} --format ndjson`, options)).out.trimEnd().split('\n');
  expect(lines.map((each) => JSON.parse(each))).toEqual(rows);
  const csv = (await run(`${line} --format csv`, options)).out.trimEnd().split('\n');
  expect(csv.map((each) => each.trim())).toEqual([
    'rank,address,pnlUsd',
    ...rows.map(({ rank, address, pnlUsd }: Record<string, unknown>) => `${rank},${address},${pnlUsd}`),
  ]);
});

test('a walk, a record and an empty list keep to --columns too', async () => {
  const options = { env: env() };
  const walk = await run('--sandbox profile followers ext:user_1 --all --columns address --json', options);
  for (const row of JSON.parse(walk.out)) expect(Object.keys(row)).toEqual(['address']);
  const record = await run(
    '--sandbox profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --columns name --json',
    options,
  );
  expect(JSON.parse(record.out)).toEqual([{ name: expect.any(String) }]);
  const none = await answering([]);
  expect((await run('webhook list --columns uid --json', { env: none.env })).out).toBe('[]\n');
  expect((await run('webhook list --columns uid --format ndjson', { env: none.env })).out).toBe('');
});

test('a cell that the service left out is null, and an answer of another shape is shown whole with a warning', async () => {
  const partly = await answering([{ uid: 'a' }]);
  const some = await run('webhook list --columns uid,destinationUrl --json', { env: partly.env });
  expect(JSON.parse(some.out)).toEqual([{ uid: 'a', destinationUrl: null }]);
  const other = await answering({ traders: 7 });
  const odd = await run('leaderboard list --columns rank --json', { env: other.env });
  expect([odd.code, odd.out]).toEqual([0, '{\n  "traders": 7\n}\n']);
  expect(odd.err).toContain('the answer does not have the shape of this table; shown as received');
});

test('a request that is only shown is text, JSON or a curl line; other forms are refused', async () => {
  const options = { env: { SOTRA_BASE_URL: 'http://127.0.0.1:9' } };
  const url = 'http://127.0.0.1:9/v2/leaderboard?limit=1';
  const line = 'leaderboard list --limit 1';
  expect((await run(`${line} --dry-run`, options)).out).toMatch(
    /^GET http:\/\/127\.0\.0\.1:9\/v2\/leaderboard\?limit=1\n/,
  );
  expect(JSON.parse((await run(`${line} --dry-run --json`, options)).out)).toMatchObject({ method: 'GET', url });
  expect((await run(`${line} --dry-run --jq .url`, options)).out).toBe(`${url}\n`);
  for (const form of ['--dry-run --columns rank', '--dry-run --format csv', '--curl --jq .', '--curl --format tsv']) {
    const { code, out } = await run(`${line} ${form}`, options);
    expect([form, code, out]).toEqual([form, 2, '']);
  }
});
