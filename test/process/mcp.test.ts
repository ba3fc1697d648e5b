import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { stub, temporaryFolder, until } from '../support/harness.ts';
import { textOf } from '../support/mcp-client.ts';
import { program, start as startProgram } from '../support/processes.ts';

interface Server {
  client: Client;
  transport: StdioClientTransport;
  /** What the client could not read as the protocol. */
  faults: Error[];
  err: () => string;
}

/** The official client with the built program as its server. */
async function start(argv: readonly string[], more: Record<string, string> = {}): Promise<Server> {
  const folder = temporaryFolder();
  const env = { PATH: process.env['PATH'] ?? '', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...more };
  const transport = new StdioClientTransport({ command: process.execPath, args: [...argv], env, stderr: 'pipe' });
  const client = new Client({ name: 'test', version: '1' });
  const faults: Error[] = [];
  client.onerror = (fault) => faults.push(fault);
  let err = '';
  transport.stderr?.on('data', (chunk) => (err += chunk));
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, transport, faults, err: () => err };
}

const leaderboard = { name: 'leaderboard_list', arguments: { limit: 3 } };

test('the official client starts the program, lists and calls; stdout is the protocol alone, also with --verbose', async () => {
  const service = await stub((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"traders":[]}');
  });
  const { client, faults, err } = await start([program, 'mcp', '--verbose'], service.env);
  expect((await client.listTools()).tools.length).toBeGreaterThan(15);
  expect(textOf(await client.callTool(leaderboard))).toBe('no rows\ncomplete');
  expect(faults).toEqual([]);
  await until(() => err().includes('GET'));
  expect(err()).not.toContain('stub-key');
});

const opening = (id: number) => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })}\n`;
};

function pipe(stdin: string, env: Record<string, string> = {}) {
  const running = startProgram(env['SOTRA_BASE_URL'] ? 'mcp' : 'mcp --sandbox', env);
  running.child.stdin.write(stdin);
  return running;
}

test('the end of stdin ends it, whatever is still asked; a line that is not a message is skipped', async () => {
  const silent = await stub(() => undefined);
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'leaderboard_list', arguments: {} } };
  const held = pipe(`${opening(1)}{"no":"message"}\n${JSON.stringify(call)}\n`, silent.env);
  await until(() => silent.requests.length > 0);
  held.child.stdin.end();
  expect([await held.ended, held.printed.err]).toEqual([
    0,
    'warning: skipped a line on stdin that is not a message of the protocol\n',
  ]);
});

test('Ctrl-C ends it without a word', async () => {
  const { child, printed, ended } = pipe(opening(1));
  await until(() => printed.out.includes('"id":1'));
  child.kill('SIGINT');
  expect([await ended, printed.err]).toEqual([0, '']);
});
