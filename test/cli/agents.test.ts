import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { displayWidth } from '../../src/output/text-width.ts';
import { run } from '../support/harness.ts';

test('the guide for agents is one page, and leads to the tree of commands and to the interface', async () => {
  const { out, code } = await run('help agents', { tty: 80 });
  const lines = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.length).toBeLessThanOrEqual(60);
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
  for (const named of ['sotra commands --json', 'sotra openapi', 'sotra help exit-codes', '--sandbox', '--dry-run'])
    expect(out).toContain(named);
});

interface Entry {
  command: string;
  inputs: { key: string }[];
  inputSchema: { properties: Record<string, unknown> };
}

test('the tree of commands has a version, and a JSON Schema of the inputs of each', async () => {
  const { schemaVersion, commands } = JSON.parse((await run('commands --json')).out) as {
    schemaVersion: number;
    commands: Entry[];
  };
  expect(schemaVersion).toBe(1);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  for (const { command, inputs, inputSchema } of commands) {
    expect([command, ajv.validateSchema(inputSchema)]).toEqual([command, true]);
    expect(inputs.map(({ key }) => key)).toEqual(Object.keys(inputSchema.properties));
  }
  const check = (command: string, input: unknown) =>
    ajv.validate(commands.find((one) => one.command === command)?.inputSchema ?? {}, input);
  expect(check('leaderboard list', { chains: ['base', 'solana'], limit: 250, onlyWithComments: true })).toBe(true);
  expect(check('leaderboard list', { chains: [56] })).toBe(false);
  expect(check('leaderboard list', { limit: 251 })).toBe(false);
  expect(check('leaderboard list', { rows: 1 })).toBe(false);
  expect(check('profile get', {})).toBe(false);
  expect(check('profile set-name', { identifier: 'ext:1', name: null })).toBe(true);
  expect(check('feed actor', { identifier: 'ext:1', minTradeUsd: 100 })).toBe(true);
  expect(check('feed actor', { identifier: 'ext:1', minTradeUsd: 5 })).toBe(false);
});
