import { expect, test } from 'vitest';
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

test('the guide for agents leads to the tree of commands and to the interface', async () => {
  const { out, code } = await run('help agents', { tty: 80 });
  expect(code).toBe(0);
  for (const named of ['sotra <command> --help', 'sotra openapi', 'sotra help exit-codes', '--sandbox', '--dry-run'])
    expect(out).toContain(named);
});
