import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { displayWidth } from '../../../src/output/text-width.ts';
import { run } from '../../support/harness.ts';
import { connect } from '../../support/mcp-client.ts';

test('names choose the tools, and what is not allowed is not offered', async () => {
  const { client } = await connect('--sandbox mcp --tools leaderboard_list,profile_get');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['leaderboard_list', 'profile_get']);
  expect((await run('mcp --tools profil_get')).err).toContain('Did you mean profile_get?');
  expect((await run('mcp --tools webhook_delete')).err).toContain('Add --allow-writes.');
});

test('the entry for clients starts the server as it was asked for, with its service and without a key', async () => {
  const env = { SOTRA_BASE_URL: 'https://api.example.com', SOTRA_API_KEY: 'a-secret-key' };
  const { out, err, code } = await run('mcp --config --allow-writes --tools profile_get --retries 0 --json', { env });
  const flags = ['--allow-writes', '--tools', 'profile_get', '--retries', '0'];
  const args = ['mcp', ...flags, '--base-url', 'https://api.example.com'];
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out).entries.map(({ settings }: { settings: object }) => settings)).toEqual([
    { mcpServers: { sotra: { command: 'sotra', args } } },
    { servers: { sotra: { type: 'stdio', command: 'sotra', args } } },
  ]);
  const text = await run('--sandbox mcp --config');
  expect(text.out).toMatch(/^Claude Desktop .*, Claude Code .*, Cursor .*:\n\{\n {2}"mcpServers"/);
  expect(text.out).toContain('"--sandbox",\n        "mcp"\n');
  expect(await run('mcp --config')).toMatchObject({ code: 2, err: expect.stringContaining('no service') });
});

test('the guide for agents is one page, and leads to the tree of commands and to the interface', async () => {
  const { out, code } = await run('help agents', { tty: 80 });
  const lines = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.length).toBeLessThanOrEqual(60);
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
  for (const named of ['sotra --help --json', 'sotra openapi', 'sotra help exit-codes', '--sandbox', '--dry-run'])
    expect(out).toContain(named);
});

interface Entry {
  command: string;
  inputs: { key: string }[];
  inputSchema: { properties: Record<string, unknown> };
}

test('the tree of commands has a version, and a JSON Schema of the inputs of each', async () => {
  const { schemaVersion, commands } = JSON.parse((await run('--help --json')).out) as {
    schemaVersion: number;
    commands: Entry[];
  };
  expect(schemaVersion).toBe(1);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  ajvFormats.default(ajv);
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
  expect(check('profile set-name', { identifier: 'ext:1', clear: true })).toBe(true);
  expect(check('feed actor', { identifier: 'ext:1', minTradeUsd: 100 })).toBe(true);
  expect(check('feed actor', { identifier: 'ext:1', minTradeUsd: 5 })).toBe(false);
});
