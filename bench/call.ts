// What calls cost through our client, as a command makes them one after another, beside bare undici and JSON.parse with the same server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'undici';
import { type ClientConfig, sendRequest } from '../src/client/client.ts';
import { createNetwork } from '../src/client/network.ts';
import { hideKeyInAnswers, secretHider } from '../src/client/secrets.ts';
import { usualLimits } from '../src/client/transport.ts';
import { report } from './measure/measure.ts';

const key = 'key-of-a-partner';
const calls = 200;
const rounds = 50;

// As large as a board of 50 traders.
const answer = JSON.stringify({
  traders: Array.from({ length: 50 }, (_, id) => ({
    profile: { id: String(id), name: `trader ${id}`, images: {}, addresses: [`0x${'a'.repeat(40)}`], metadata: {} },
    pnl: { total: id, perChain: { base: id, solana: id } },
  })),
});
const server = `
  const server = require('node:http').createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(${JSON.stringify(answer)});
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

const child = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
const network = await createNetwork({ now: Date.now, env: {} });
try {
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const baseUrl = `http://127.0.0.1:${String(port).trim()}`;
  const config: ClientConfig = {
    baseUrl,
    apiKey: key,
    hide: secretHider(key),
    hideKey: hideKeyInAnswers(key),
    wire: {},
    transport: network,
    userAgent: 'bench',
    retries: 2,
    timeoutMs: 30_000,
    maxTimeMs: 600_000,
    maxWaitMs: 60_000,
    maxBodyBytes: usualLimits.maxBodyBytes,
    signal: new AbortController().signal,
    now: Date.now,
    random: Math.random,
    sleep: async () => undefined,
    observe: () => undefined,
  };
  const headers = { accept: 'application/json', authorization: `Bearer ${key}` };
  const ours = () => sendRequest({ method: 'GET', path: '/v2/leaderboard?limit=50' }, config);
  const bare = async () =>
    JSON.parse(await (await request(`${baseUrl}/v2/leaderboard?limit=50`, { headers })).body.text());
  const millisOf = async (call: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    for (let count = 0; count < calls; count += 1) await call();
    return (performance.now() - started) / calls;
  };
  for (const call of [bare, ours]) await millisOf(call);
  const [floor, measured]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    floor.push(await millisOf(bare));
    measured.push(await millisOf(ours));
  }
  report([{ what: 'a call, beside undici and JSON.parse', unit: 'ms', floor, measured, atMost: 1.15 }]);
} finally {
  await network.close();
  child.kill();
}
