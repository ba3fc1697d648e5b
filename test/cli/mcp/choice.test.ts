import { expect, test } from 'vitest';
import { run } from '../../support/harness.ts';
import { connect } from '../../support/mcp-client.ts';

test('names choose the tools, and what is not allowed is not offered', async () => {
  const { client } = await connect('--sandbox mcp --tools leaderboard_list,profile_get');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['leaderboard_list', 'profile_get']);
  expect((await run('mcp --tools profil_get')).err).toContain('Did you mean profile_get?');
  expect((await run('mcp --tools webhook_delete')).err).toContain('Add --allow-writes.');
});

test('the entry for clients starts the server as it was asked for, without a key', async () => {
  const env = { SOTRA_BASE_URL: 'https://api.example.com', SOTRA_API_KEY: 'a-secret-key' };
  const { out, err, code } = await run('mcp --config --allow-writes --tools profile_get --retries 0 --json', { env });
  const args = [
    'mcp',
    '--base-url',
    'https://api.example.com',
    '--retries',
    '0',
    '--tools',
    'profile_get',
    '--allow-writes',
  ];
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out).entries.map(({ settings }: { settings: object }) => settings)).toEqual([
    { mcpServers: { sotra: { command: 'sotra', args } } },
    { servers: { sotra: { type: 'stdio', command: 'sotra', args } } },
  ]);
  const text = await run('--sandbox mcp --config');
  expect(text.out).toMatch(/^Claude Desktop .*, Claude Code .*, Cursor .*:\n\{\n {2}"mcpServers"/);
  const none = await run('mcp --config');
  expect([none.code, none.err]).toEqual([0, expect.stringContaining('the entry names none')]);
});

test('the servers of entries are what a client starts', async () => {
  const { out } = await run('--sandbox mcp --config --json');
  const [first] = JSON.parse(out).entries;
  const { client } = await connect(first.settings.mcpServers.sotra.args.join(' '));
  expect((await client.listTools()).tools.length).toBeGreaterThan(15);
});

test('a server over HTTP is gone: the flags say what takes its place', async () => {
  for (const argv of ['mcp --http 0', '--sandbox mcp --http=4020', 'mcp --ready-file f', 'mcp --config --http 0'])
    expect([argv, await run(argv)]).toMatchObject([
      argv,
      { code: 2, out: '', err: expect.stringContaining('sotra mcp --config') },
    ]);
});
