import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test } from 'vitest';
import { openPort, proxyTo, run, temporaryFolder } from '../support/harness.ts';
import { findNats, natsInstall, startCluster } from '../support/nats-server.ts';
import { start } from '../support/processes.ts';

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

/** The built program as a process: an authority is trusted from its start. */
async function trusting(argv: string, env: Record<string, string>) {
  const { ended, printed } = start(argv, { SOTRA_API_KEY: 'key', ...env });
  return { code: await ended, ...printed };
}

test('a certificate of a private authority is refused with the fix, and accepted with NODE_EXTRA_CA_CERTS', async () => {
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
  const other = await trusting(argv.replace('localhost', '127.0.0.1'), { NODE_EXTRA_CA_CERTS: authority });
  expect(other.code).toBe(9);
  expect(JSON.parse(other.err).error).toMatchObject({
    message: `the certificate of https://127.0.0.1:${port} is not for 127.0.0.1`,
    hint: 'Check the host of the base URL: another server may answer at its address. sotra why says more.',
  });
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
  expect(proxy.asked).toEqual(Array(2).fill(`CONNECT service.test:${port}`));
  expect(proxy.heads.map((head) => head['proxy-authorization'])).toEqual([undefined, 'Basic dXNlcjp3b3Jk']);
  expect(JSON.stringify(proxy.heads)).not.toContain('Bearer');
  expect(asked).toEqual(['/v2/leaderboard Bearer key', '/v2/leaderboard Bearer key']);
  const own = { SOTRA_API_KEY: 'key', HTTPS_PROXY: proxy.url };
  const spared = await run(far, { env: { ...own, NO_PROXY: 'example.com,service.test' } });
  expect(spared.code).toBe(9);
  expect(JSON.parse(spared.err).error).toMatchObject({
    message: 'the name service.test has no address',
    hint: expect.not.stringContaining('proxy'),
  });
  expect(proxy.asked).toHaveLength(2);
});

const tlsRows = [
  ['trusted', 'tls://localhost', 3, 'the inbox TLS does not exist at localhost:'],
  ['another host', 'tls://127.0.0.1', 9, "IP: 127.0.0.1 is not in the cert's list"],
  ['not trusted', 'nats://localhost', 9, 'self-signed certificate'],
  ['plain', 'tls://localhost', 9, "server does not support 'tls'"],
] as const;

test.skipIf(findNats() === undefined)(
  `an inbox behind TLS is reached if its certificate is trusted, else the error says why (${findNats() ? 'found' : natsInstall})`,
  async () => {
    const folder = temporaryFolder();
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    writeFileSync(cert, made.cert);
    writeFileSync(key, made.private);
    const secure = await startCluster(1, `tls { cert_file: "${cert}", key_file: "${key}" }`);
    const plain = await startCluster(1);
    onTestFinished(async () => {
      await secure.end();
      await plain.end();
    });
    for (const [what, place, code, says] of tlsRows) {
      const { port } = (what === 'plain' ? plain : secure).servers[0] ?? {};
      const trust = what === 'not trusted' ? {} : { NODE_EXTRA_CA_CERTS: cert };
      const { ended, printed } = start(['webhook', 'events', '--inbox', `${place}:${port}/TLS`], trust);
      expect([what, await ended, printed.out]).toEqual([what, code, '']);
      expect(printed.err).toContain(says);
      expect(printed.err).toContain(code === 9 ? 'NODE_EXTRA_CA_CERTS' : 'sotra webhook listen');
    }
  },
);
