import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createProxy, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('a call through the proxy of the environment reaches the service over TLS, and the proxy never sees the key', async () => {
  const names = [{ name: 'commonName', value: 'service.test' }];
  const { private: key, cert } = await generate(names, {
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'service.test' }] },
    ],
  });
  const keys: unknown[] = [];
  const service = createServer({ key, cert }, (request, response) => {
    keys.push(request.headers.authorization);
    response.end('{"traders":[]}');
  });
  const servicePort = await portOf(service);
  const asked: string[] = [];
  const proxy = createProxy((client) =>
    client.once('data', (head) => {
      asked.push(head.toString());
      const tunnel = connect(servicePort, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        tunnel.pipe(client).pipe(tunnel);
      });
      for (const side of [client, tunnel]) side.on('error', () => tunnel.destroy());
    }),
  );
  const proxyPort = await portOf(proxy);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'ca.pem'), cert);
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/sotra.js', 'leaderboard', 'list', '--json'], {
    env: {
      PATH: process.env['PATH'],
      SOTRA_CONFIG_DIR: folder,
      SOTRA_DATA_DIR: folder,
      SOTRA_BASE_URL: 'https://service.test',
      SOTRA_API_KEY: 'secret-key',
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    },
  });
  expect(stdout).toBe('{\n  "traders": []\n}\n');
  expect(keys).toEqual(['Bearer secret-key']);
  expect(asked.map((head) => head.split('\r\n')[0])).toEqual(['CONNECT service.test:443 HTTP/1.1']);
  expect(asked.join('')).not.toContain('secret-key');
});

test('a proxy that refuses, or does not run, is named as what failed, by the error and by why', async () => {
  const asked: string[] = [];
  const proxy = createProxy((client) =>
    client.once('data', (head) => {
      asked.push(head.toString());
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    }),
  );
  const port = await portOf(proxy);
  const idle = createProxy();
  const idlePort = await portOf(idle);
  await new Promise((resolve) => idle.close(resolve));
  for (const [address, why] of [
    [`http://user:pass@127.0.0.1:${port}`, `the proxy http://127.0.0.1:${port} answered 407`],
    [
      `http://127.0.0.1:${idlePort}`,
      `the proxy http://127.0.0.1:${idlePort} cannot be reached: connect ECONNREFUSED 127.0.0.1:${idlePort}`,
    ],
  ] as const) {
    const folder = temporaryFolder();
    const sotra = (...words: string[]) =>
      new Promise<{ code: number; out: string; err: string }>((resolve) => {
        const env = {
          PATH: process.env['PATH'],
          SOTRA_CONFIG_DIR: folder,
          SOTRA_DATA_DIR: folder,
          SOTRA_BASE_URL: 'https://service.test',
          SOTRA_API_KEY: 'secret-key',
          HTTPS_PROXY: address,
        };
        execFile(process.execPath, ['bin/sotra.js', ...words], { env }, (error, out, err) =>
          resolve({ code: Number(error?.code ?? 0), out, err }),
        );
      });
    const { code, err } = await sotra('leaderboard', 'list', '--retries', '0');
    expect([code, err]).toEqual([
      9,
      `error: cannot reach https://service.test: ${why}\n` +
        'hint: HTTPS_PROXY or HTTP_PROXY names it. NO_PROXY=service.test goes without. sotra why says more.\n',
    ]);
    expect((await sotra('why')).out).toContain(`The service was not reached: ${why}.`);
  }
  expect(asked.map((head) => head.split('\r\n')[0])).toEqual(['CONNECT service.test:443 HTTP/1.1']);
});
