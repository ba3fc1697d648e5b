import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNats, natsInstall, startCluster } from '../support/nats-server.ts';
import { start } from '../support/processes.ts';
import { some } from '../support/size.ts';

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

/** Which server is asked how, whom the program trusts, the exit code and what it says. */
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
  beforeAll(async () => {
    for (const [name, [altName, until]] of Object.entries(certified)) {
      const { config } = await certificate(folder, name, altName, until);
      servers[name] = await startCluster(1, config);
    }
    servers['plain'] = await startCluster(1);
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.end();
    rmSync(folder, { recursive: true });
  });

  test('is reached where its certificate is trusted, in time and of that host; what is wrong is said', async () => {
    const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    await Promise.all(
      some(rows, 3).map(async ([server, place, trusted, code, says]) => {
        const inbox = `${place}:${servers[server]?.servers[0]?.port}/TLS`;
        const trust = { NODE_EXTRA_CA_CERTS: join(folder, `${trusted}.pem`) };
        const { ended, printed } = start(['webhook', 'events', '--inbox', inbox], { ...env, ...trust });
        expect([server, place, trusted, await ended, printed.out]).toEqual([server, place, trusted, code, '']);
        expect(printed.err).toContain(says);
        expect(printed.err).toContain(code === 9 ? 'NODE_EXTRA_CA_CERTS' : 'sotra inbox create');
      }),
    );
  });
});
