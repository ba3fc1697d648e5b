import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import { some } from '../support/size.ts';

const file = 'test/data/hostile/json/json_test_suite.json';

interface Case {
  name: string;
  expect: 'accept' | 'reject' | 'either' | 'transform';
  base64: string;
}

function readCases(): Case[] {
  return Object.values(JSON.parse(readFileSync(file, 'utf8')));
}

describe('JSONTestSuite as answers', () => {
  const cases = readCases();

  test.each(['request GET /x --json', 'leaderboard list --json', 'leaderboard list'])('%s', async (argv) => {
    expect(cases.length).toBe(165);
    let body = '';
    const service = await stub((_, response) => response.writeHead(200).end(Buffer.from(body, 'base64')));
    for (const { name, expect: verdict, base64 } of some(cases, argv.startsWith('request') ? 80 : 20)) {
      body = base64;
      const { code, out, err } = await run(argv, { env: service.env, tty: 80 });
      // A table needs the shape of the contract beside valid JSON.
      const asJson = argv.endsWith('--json');
      const allowed = verdict === 'reject' ? [13] : verdict === 'either' || !asJson ? [0, 13] : [0];
      expect([name, allowed]).toEqual([name, expect.arrayContaining([code])]);
      expect([name, err]).toEqual([name, expect.not.stringContaining('    at ')]);
      if (code === 0 && asJson) expect(() => JSON.parse(out)).not.toThrow();
      if (code !== 0) expect([name, out]).toEqual([name, '']);
    }
  });
});
