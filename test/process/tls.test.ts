import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPort, run, temporaryFolder } from '../support/harness.ts';
import { findNats, natsInstall, startCluster } from '../support/nats-server.ts';
import { start } from '../support/processes.ts';
import { isProof, some } from '../support/size.ts';

const altNames = [
  { type: 2, value: 'service.test' },
  { type: 2, value: 'localhost' },
];
const made = await generate([{ name: 'commonName', value: 'service.test' }], {
  keySize: 2048,
  extensions: [
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames },
  ],
} as Parameters<typeof generate>[1]);

/** A service behind a certificate that only its own authority vouches for; the authority's file, and what was asked. */
async function secureService() {
  const asked: string[] = [];
  const server = createServer({ key: made.private, cert: made.cert }, ({ url = '', headers }, response) => {
    asked.push(`${url} ${headers.authorization}`);
    response.end('{"traders":[]}');
  });
  const authority = join(temporaryFolder(), 'ca.pem');
  writeFileSync(authority, made.cert);
  return { port: await openPort(server), authority, asked };
}

/** A proxy that connects to one local port, whatever name a CONNECT asks for, and keeps what it was asked for. */
async function proxyTo(port: number) {
  const asked: string[] = [];
  const heads: string[] = [];
  const proxy = createHttpServer((_, response) => void response.writeHead(502).end());
  proxy.on('connect', ({ url = '', headers }, socket) => {
    heads.push(JSON.stringify(headers));
    asked.push(`${url}${headers['proxy-authorization'] === undefined ? '' : ' with a password'}`);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return { url: `http://127.0.0.1:${await openPort(proxy)}`, asked, heads };
}

/** The built program as a process: an authority is trusted from its start. */
async function trusting(argv: string, env: Record<string, string>) {
  const { ended, printed } = start(argv, { SOTRA_API_KEY: 'key', ...env });
  return { code: await ended, ...printed };
}

test('a certificate of an own authority is refused with the way out, and taken with NODE_EXTRA_CA_CERTS', async () => {
  const { port, authority, asked } = await secureService();
  const argv = `leaderboard list --json --base-url https://localhost:${port}`;
  const refused = await run(argv, { env: { SOTRA_API_KEY: 'key' } });
  expect([refused.code, refused.out]).toEqual([9, '']);
  const { error } = JSON.parse(refused.err);
  expect(error.message).toMatch(/^the certificate of https:\/\/localhost:\d+ is not trusted: /);
  expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
  const doctor = await run(`doctor --json --base-url https://localhost:${port}`, { env: { SOTRA_API_KEY: 'key' } });
  expect([doctor.code, JSON.parse(doctor.out).checks]).toEqual([
    9,
    expect.arrayContaining([
      expect.objectContaining({
        check: 'tls',
        state: 'problem',
        found: `the certificate of https://localhost:${port} is not trusted: self-signed certificate`,
        fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      }),
    ]),
  ]);
  // Trying again would not change it.
  expect(error.message).not.toContain('attempts');
  expect(asked).toEqual([]);
  const taken = await trusting(`${argv} --verbose`, { NODE_EXTRA_CA_CERTS: authority });
  expect([taken.code, JSON.parse(taken.out)]).toEqual([0, { traders: [] }]);
  expect(asked).toEqual(['/v2/leaderboard Bearer key']);
  if (!isProof) return;
  const other = await trusting(argv.replace('localhost', '127.0.0.1'), { NODE_EXTRA_CA_CERTS: authority });
  expect(other.code).toBe(9);
  expect(JSON.parse(other.err).error.message).toContain('is not trusted');
});

test('HTTPS_PROXY leads to the service, the key hidden from the proxy; NO_PROXY and this machine go straight', async () => {
  const { port, authority, asked } = await secureService();
  const proxy = await proxyTo(port);
  const trust = { NODE_EXTRA_CA_CERTS: authority };
  const far = `leaderboard list --json --base-url https://service.test:${port} --retries 0`;
  for (const env of [{ HTTPS_PROXY: proxy.url }, { https_proxy: proxy.url.replace('//', '//user:word@') }]) {
    const { code, out } = await trusting(far, { ...trust, ...env });
    expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
  }
  expect(proxy.asked).toEqual([`service.test:${port}`, `service.test:${port} with a password`]);
  expect(proxy.heads.join('')).not.toContain('Bearer');
  expect(asked).toEqual(['/v2/leaderboard Bearer key', '/v2/leaderboard Bearer key']);
  if (isProof) {
    const near = await trusting(far.replace('service.test', 'localhost'), { ...trust, HTTPS_PROXY: proxy.url });
    expect(near.code).toBe(0);
  }
  const own = { SOTRA_API_KEY: 'key', HTTPS_PROXY: proxy.url };
  const spared = await run(far, { env: { ...own, NO_PROXY: 'example.com,service.test' } });
  expect(spared.code).toBe(9);
  expect(JSON.parse(spared.err).error.message).toMatch(/^the name service\.test has no address/);
  expect(proxy.asked).toHaveLength(2);
  const wrong = await run(far, { env: { ...own, HTTPS_PROXY: 'nowhere' } });
  expect(wrong.code).toBe(2);
  expect(JSON.parse(wrong.err).error.message).toContain(
    'HTTPS_PROXY "nowhere": must be an http, https or socks5 address',
  );
});

test('plain http is for this machine alone', async () => {
  const { code, err } = await run('leaderboard list --json --base-url http://service.test');
  expect(code).toBe(2);
  expect(JSON.parse(err).error.code).toBe('insecure-url');
});

/** A certificate that is its own authority. */
async function certificate(folder: string, name: string, altName: object, notAfterDate: string) {
  const made = await generate([{ name: 'commonName', value: name }], {
    keySize: 2048,
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate: new Date(notAfterDate),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [altName] },
    ],
  } as Parameters<typeof generate>[1]);
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.private);
  return { cert, config: `tls { cert_file: "${cert}", key_file: "${key}" }` };
}

const [localhost, address] = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' },
];
/** What servers are certified as, and until when. */
const certified = {
  named: [localhost, '2090-01-01'],
  numbered: [address, '2090-01-01'],
  expired: [localhost, '2021-01-01'],
} as const;

/** Which server is called and how, the certificates that the program trusts, the exit code and the message. */
const rows: readonly (readonly [server: string, place: string, trusted: string, code: number, says: string])[] = [
  ['named', 'tls://localhost', 'named', 3, 'the inbox TLS does not exist at localhost:'],
  ['numbered', 'tls://127.0.0.1', 'numbered', 3, 'the inbox TLS does not exist at 127.0.0.1:'],
  ['named', 'tls://localhost', 'numbered', 9, 'self-signed certificate'],
  ['named', 'nats://localhost', 'numbered', 9, 'self-signed certificate'],
  ['named', 'tls://127.0.0.1', 'named', 9, "IP: 127.0.0.1 is not in the cert's list"],
  ['numbered', 'tls://localhost', 'numbered', 9, 'Host: localhost. is not'],
  ['expired', 'tls://localhost', 'expired', 9, 'certificate has expired'],
  ['plain', 'tls://localhost', 'named', 9, "server does not support 'tls'"],
];

describe.skipIf(findNats() === undefined)(`an inbox behind TLS (${findNats() ? 'found' : natsInstall})`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-tls-'));
  const servers: Record<string, Awaited<ReturnType<typeof startCluster>>> = {};
  const chosen = some(rows, 2);
  const names = new Set(chosen.flatMap(([server, , trusted]) => [server, trusted]));
  beforeAll(async () => {
    for (const [name, [altName, until]] of Object.entries(certified)) {
      if (!names.has(name)) continue;
      const { config } = await certificate(folder, name, altName, until);
      servers[name] = await startCluster(1, config);
    }
    if (names.has('plain')) servers['plain'] = await startCluster(1);
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.end();
    rmSync(folder, { recursive: true });
  });

  test('is reached if its certificate is trusted, valid now and for that host; otherwise the error says why', async () => {
    const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    await Promise.all(
      chosen.map(async ([server, place, trusted, code, says]) => {
        const inbox = `${place}:${servers[server]?.servers[0]?.port}/TLS`;
        const trust = { NODE_EXTRA_CA_CERTS: join(folder, `${trusted}.pem`) };
        const { ended, printed } = start(['webhook', 'events', '--inbox', inbox], { ...env, ...trust });
        expect([server, place, trusted, await ended, printed.out]).toEqual([server, place, trusted, code, '']);
        expect(printed.err).toContain(says);
        expect(printed.err).toContain(code === 9 ? 'NODE_EXTRA_CA_CERTS' : 'sotra webhook listen');
      }),
    );
  });
});
