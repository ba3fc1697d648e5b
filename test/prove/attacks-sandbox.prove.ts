import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seed } from '../support/draw.ts';
import { hostileRequest, sendRaw } from '../support/hostile/requests.ts';
import { program } from '../support/processes.ts';
import { until } from '../support/until.ts';

const authorization = 'Bearer sandbox-key-a';

/** A sandbox in a process of its own that may use 256 MB; `act` is given its address. */
async function withServed(act: (url: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-attacks-'));
  const ready = join(folder, 'ready.json');
  const argv = ['--max-old-space-size=256', program, 'sandbox', 'start', '--port', '0', '--ready-file', ready];
  const env = { PATH: process.env['PATH'] ?? '', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (text) => {
    printed += text;
  });
  try {
    await until(() => existsSync(ready), 'the sandbox answers');
    await act(JSON.parse(readFileSync(ready, 'utf8')).url);
    expect([child.exitCode, printed.split('\n').slice(1)]).toEqual([null, ['']]);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<number> {
  const startedMs = performance.now();
  expect((await fetch(`${url}/v2/leaderboard?limit=1`, { headers: { authorization } })).status).toBe(200);
  return performance.now() - startedMs;
}

test('20,000 requests of odd bytes: none is answered 500, none ends the sandbox', async () => {
  await withServed(async (url) => {
    const counts = new Map<number, number>();
    const lane = async (first: number) => {
      for (let index = first; index < 20_000; index += 8) {
        const text = hostileRequest(`attack ${seed} ${index}`, new URL(url).host);
        const { status } = await sendRaw(url, text);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        expect([text.slice(0, 300), status >= 200 && status < 500]).toEqual([text.slice(0, 300), true]);
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(lane));
    process.stdout.write(`${JSON.stringify([...counts])}\n`);
    await answers(url);
  });
});

test('unfinished heads and bodies without a key are cut off, and good requests are answered beside them', async () => {
  await withServed(async (url) => {
    const port = Number(new URL(url).port);
    let ended = 0;
    const hold = (text: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => {
        ended += 1;
      });
      socket.resume();
      socket.write(text);
      return socket;
    };
    const head = `host: ${new URL(url).host}\r\ncontent-length: 5000000\r\n\r\n`;
    const bodies = Array.from({ length: 300 }, () =>
      hold(`POST /v1/webhooks/feed HTTP/1.1\r\n${head}${'x'.repeat(60_000)}`),
    );
    const heads = Array.from({ length: 300 }, () => hold('GET /v2/leaderboard HTTP/1.1\r\nhost: loc'));
    for (let index = 0; index < 20; index += 1) expect(await answers(url)).toBeLessThan(5000);
    await until(() => ended === bodies.length + heads.length, 'all of them are closed');
    await answers(url);
  });
});

test('a flood of a body without a key is not kept', async () => {
  await withServed(async (url) => {
    const floods = Array.from({ length: 50 }, () => {
      const head = `host: ${new URL(url).host}\r\ntransfer-encoding: chunked\r\n\r\n`;
      return sendRaw(
        url,
        `PUT /v1/addresses/x/follow HTTP/1.1\r\n${head}${`ffff\r\n${'['.repeat(0xffff)}\r\n`.repeat(300)}`,
      );
    });
    await Promise.all(floods);
    await answers(url);
  });
});
