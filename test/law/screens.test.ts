import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { displayWidth } from '../../src/lib/output/text-width.ts';
import { answering, run, temporaryFolder } from '../support/harness.ts';
import { exampleStdin, outlines } from '../support/outlines.ts';
import { size, some } from '../support/size.ts';

const now = Date.UTC(2026, 10, 20, 12);
const env = { SOTRA_DATA_DIR: mkdtempSync(join(tmpdir(), 'sotra-test-')) };
afterAll(() => rmSync(env.SOTRA_DATA_DIR, { recursive: true, force: true }));

/** Command lines of the service that print a table, cards or a record: what they print does not change anything. */
const shown = some(
  outlines
    .filter(({ endpoint }) => endpoint?.method === 'GET')
    .flatMap(({ examples }) => examples.map(({ argv }) => argv))
    .filter((argv) => !/--json|--format|--curl|--dry-run|--jq/.test(argv)),
  12,
);

const show = (argv: string, tty: number, more: Parameters<typeof run>[1] = {}) =>
  run(argv, { env, tty, now, stdin: exampleStdin, ...more });

/** Lines that are too wide for the screen, other than values that cannot be broken: an address, an id. */
function tooWide(text: string, width: number): string[] {
  return text
    .split('\n')
    .filter((line) => displayWidth(line) > width)
    .filter((line) => line.trim().split(/ {2,}/).length > 2 || /\S \S+ \S/.test(line));
}

test('no line is wider than the screen, from 40 columns to 300, and nothing breaks on less', async () => {
  for (const argv of shown)
    for (const width of some([1, 7, 20, 39, 40, 55, 60, 79, 80, 100, 140, 300], 2)) {
      const { out, code } = await show(argv, width);
      expect([argv, width, code]).toEqual([argv, width, 0]);
      if (width >= 40) expect([argv, width, tooWide(out, width)]).toEqual([argv, width, []]);
    }
});

const withoutSgr = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, '');

test('color never carries meaning alone: without colors every screen has the same text', async () => {
  for (const argv of shown)
    for (const chart of [
      '',
      ...(outlines.find(({ words }) => argv.includes(words.join(' ')))?.fields ?? [])
        .filter(({ flag }) => flag === 'chart')
        .map(() => ' --chart'),
    ]) {
      const none = await show(argv + chart, 100);
      const colored = await show(argv + chart, 100, { colors: true });
      expect([argv, withoutSgr(colored.out)]).toEqual([argv, none.out]);
      expect([argv, withoutSgr(colored.err)]).toEqual([argv, none.err]);
      if (size(0, 1) === 0) continue;
      const refused = await show(`${argv}${chart} --no-color`, 100, { colors: true });
      expect([argv, refused.out]).toEqual([argv, none.out]);
    }
});

test('gains and losses have a sign, and a color if there are colors', async () => {
  const { out } = await show('--sandbox leaderboard list --limit 50', 140, { colors: true });
  expect(out).toMatch(/\u001b\[32m\+\$[\d,.]+/);
  expect(out).toMatch(/\u001b\[31m-\$[\d,.]+/);
});

const widths = [60, 80, 140] as const;

/** Screens that are reviewed whenever they change: the board at three widths, the others at 80 columns. */
const screens = {
  leaderboard: '--sandbox leaderboard list --limit 8',
  chart: '--sandbox leaderboard list --limit 8 --chart',
  position: '--sandbox position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53',
  help: '--help',
  error: 'leaderboard list --timeframe 7',
} as const;

test.each(Object.entries(screens))('%s is as reviewed', async (name, argv) => {
  let text = '';
  for (const tty of name === 'leaderboard' ? widths : [80]) {
    const { out, err } = await run(argv, { env, tty, now });
    text += `${tty} columns\n${out}${err}\n`;
  }
  await expect(text).toMatchFileSnapshot(`screens/${name}.txt`);
});
const own = () => ({ SOTRA_DATA_DIR: temporaryFolder() });

test('--columns selects fields of JSON and NDJSON, the values as csv gives them', async () => {
  const line = '--sandbox leaderboard list --limit 3 --columns rank,address,pnlUsd';
  const options = { env: own(), now: Date.UTC(2026, 10, 20, 12) };
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

test('pages, a record and an empty list obey --columns too', async () => {
  const options = { env: own() };
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

test('a request that is only shown is JSON if that is asked for; other forms are refused', async () => {
  const options = { env: { SOTRA_BASE_URL: 'http://127.0.0.1:9' } };
  const url = 'http://127.0.0.1:9/v2/leaderboard?limit=1';
  const line = 'leaderboard list --limit 1';
  expect(JSON.parse((await run(`${line} --dry-run --json`, options)).out)).toMatchObject({ method: 'GET', url });
  expect((await run(`${line} --dry-run --jq .url`, options)).out).toBe(`${url}\n`);
  for (const form of ['--dry-run --columns rank', '--dry-run --format csv', '--curl --jq .', '--curl --format tsv']) {
    const { code, out } = await run(`${line} ${form}`, options);
    expect([form, code, out]).toEqual([form, 2, '']);
  }
});
