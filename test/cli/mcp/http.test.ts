import { expect, test } from 'vitest';
import { run, stub } from '../../support/harness.ts';

import { clientOf, serve, textOf, valuesOf } from '../../support/mcp-client.ts';
import { until } from '../../support/until.ts';

test.each(['legacy', 'auto'] as const)('the official client lists and calls tools over HTTP: %s', async (mode) => {
  const client = await clientOf(await serve(), { versionNegotiation: { mode } });
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('leaderboard_list');
  const result = await client.callTool({ name: 'leaderboard_list', arguments: { limit: 3 } });
  expect(valuesOf(result).rows).toHaveLength(3);
  expect(textOf(await client.callTool({ name: 'explain_error', arguments: { code: 'rate-limited' } }))).toContain(
    '429',
  );
});

test('only who knows the token may ask, from this machine and from no page of another site', async () => {
  const { url, token } = await serve();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const ask = async (headers: Record<string, string>, path = url) => {
    const more = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return (await fetch(path, { method: 'POST', body, headers: { ...more, ...headers } })).status;
  };
  const authorization = `Bearer ${token}`;
  expect(await ask({ authorization })).toBe(200);
  expect(await ask({})).toBe(401);
  expect(await ask({ authorization: `Bearer ${token.slice(1)}x` })).toBe(401);
  expect(await ask({ authorization, origin: 'https://evil.example' })).toBe(403);
  expect(await ask({ authorization, origin: 'null' })).toBe(403);
  expect(await ask({ authorization, origin: 'http://localhost:3000' })).toBe(200);
  expect(await ask({ authorization }, url.replace('/mcp', '/other'))).toBe(404);
});

test('a page that reaches the port by a name of its own is refused by its Host', async () => {
  const { url, token } = await serve();
  const { request } = await import('node:http');
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'rebound.example', authorization: `Bearer ${token}` };
    const asked = request(url, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
    asked.end('{}');
  });
  expect(status).toBe(403);
});

test('without a file for it the token is shown once, on stderr; a port that is taken is an error', async () => {
  const stop = new AbortController();
  const { url } = await serve();
  const ended = run('--sandbox mcp --http 0', {
    signal: stop.signal,
    onErr: (text) => {
      if (text.includes('Ctrl-C')) stop.abort();
    },
  });
  const { out, err, code } = await ended;
  expect([out, code]).toEqual(['', 0]);
  expect(err).toMatch(
    /^Token, shown once: [\w-]{32}\nTools for agents on http:\/\/127\.0\.0\.1:\d+\/mcp\. Ctrl-C stops it\.\n$/,
  );
  const taken = await run(`--sandbox mcp --http ${new URL(url).port}`);
  expect([taken.code, taken.err]).toEqual([3, expect.stringContaining('cannot listen on port')]);
});

test.each(['legacy', 'auto'] as const)(
  'a canceled call over HTTP ends its request to the service: %s',
  async (mode) => {
    let gone: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const service = await stub((_, response) => void response.on('close', gone));
    const client = await clientOf(await serve('mcp', service.env), { versionNegotiation: { mode } });
    const stop = new AbortController();
    const call = client.callTool({ name: 'leaderboard_list', arguments: {} }, { signal: stop.signal });
    call.catch(() => undefined);
    await until(() => service.requests.length > 0);
    stop.abort();
    await expect(call).rejects.toThrow();
    await closed;
  },
);
