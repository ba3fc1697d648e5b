import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const names = { plain: 'a-name-that-goes-on-'.repeat(10), wide: '漢字の長い名前'.repeat(30) };

function profileOf(name: string) {
  const metadata = { pnl30d: 1234.5, roiPercent30d: 12, winRate30d: 0.5, tradeCount30d: 12, commentCount30d: 3 };
  return { id: '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e', name, images: {}, addresses: [wallet], metadata };
}

function answersOf(name: string) {
  const profile = profileOf(name);
  const pnl = { total: 1234.5, perChain: { base: 1234.5 } };
  const copytrades = { count: 12, distinctActors: 3, volumeUSD: 1234.5 };
  const trader = { profile, pnl, hasComments: true, isFollowedByUser: false };
  const period = { periodStartUnix: 1_700_000_000, periodEndUnix: 1_702_000_000 };
  const section = {
    key: 'all',
    title: 't',
    description: 'd',
    commenters: [{ ...profile, reason: { title: 't', value: '1', format: 'text' }, metrics: {} }],
    others: [],
  };
  return {
    'leaderboard list': { traders: [trader] },
    'leaderboard copytraded': { traders: [{ ...trader, copytrades }], ...period },
    'leaderboard sections': { sections: [section] },
    [`profile followers ${wallet}`]: { items: [profile], cursor: '' },
    [`profile follows ${wallet}`]: { items: [profile], cursor: '' },
  };
}

test.each(Object.entries(names))(
  'a %s name of two hundred characters is cut and the list stays a table',
  async (_, name) => {
    for (const [argv, answer] of Object.entries(answersOf(name))) {
      const { env: own } = await answering(answer);
      const env = { ...own, SOTRA_DATA_DIR: temporaryFolder() };
      for (const tty of [80, 120]) {
        const { out, code } = await run(`${argv} --quiet`, { env, tty });
        expect([argv, code]).toEqual([argv, 0]);
        const lines = out.split('\n').map((line) => line.trimEnd());
        expect([argv, tty, lines.filter((line) => stringWidth(line) > tty)]).toEqual([argv, tty, []]);
        // One line of headers, one of dashes, one of the trader.
        expect([argv, lines[0]]).toEqual([argv, expect.stringMatching(/(Trader|Name) /)]);
        const row = lines.find((line) => line.includes(name.slice(0, 4)));
        expect([argv, row]).toEqual([argv, expect.stringContaining('…')]);
      }
      const whole = await run(`${argv} --format csv --quiet`, { env });
      expect([argv, whole.out.includes(name)]).toEqual([argv, true]);
    }
  },
);

test('the built program lines up names of every script', async () => {
  const scripts = [
    'Ines Valdrée',
    '漢字の名前',
    '👨‍👩‍👧 family',
    'e\u0301te\u0301',
    '한글',
    '1\ufe0f\u20e3 one',
    'नमस्ते',
    'x\u3099',
    '🇯🇵🇫🇷',
  ];
  const traders = scripts.flatMap((name) => answersOf(name)['leaderboard list'].traders);
  const { env } = await stub((_, response) => response.end(JSON.stringify({ traders })));
  const argv = ['bin/sotra.js', 'leaderboard', 'list', '--format', 'table', '--quiet'];
  const own = { PATH: process.env['PATH'], SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { ...env, ...own } });
  const rows = stdout.split('\n').filter((line) => line.includes('0xa4e2'));
  expect(rows.map((row, index) => row.includes(scripts[index] ?? '?'))).toEqual(scripts.map(() => true));
  expect(new Set(rows.map((row) => stringWidth(row))).size).toBe(1);
});
