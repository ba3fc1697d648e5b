import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, credsAuthenticator, nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answering, failure, run, temporaryFolder, until } from '../../../support/harness.ts';
import { bodyOf, listen, send, signed } from '../../../support/listening.ts';
import { findNats, natsInstall, startCluster } from '../../../support/nats-server.ts';
import { long } from '../../../support/size.ts';

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A token as `nsc` makes them: claims signed by a key (github.com/nats-io/jwt, version 2). */
function encode(claims: Record<string, unknown>, issuer: KeyPair): string {
  const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iss = issuer.getPublicKey();
  const jti = createHash('sha256').update(JSON.stringify(claims)).digest('hex');
  const payload = { jti, iat: Math.floor(Date.now() / 1000), iss, ...claims };
  const signed = `${text({ typ: 'JWT', alg: 'ed25519-nkey' })}.${text(payload)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}

/** Configuration of a server whose users have credentials, and what writes a file of them. */
function operatorConfig() {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const stored = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1, max_ack_pending: -1 };
  const accountJwt = (key: KeyPair, limits: Record<string, unknown>) =>
    encode({ sub: key.getPublicKey(), name: 'a', nats: { limits, type: 'account', version: 2 } }, operator);
  const operatorClaims = { sub: operator.getPublicKey(), name: 'o', nats: { type: 'operator', version: 2 } };
  const config = [
    `operator: ${encode(operatorClaims, operator)}`,
    `system_account: ${system.getPublicKey()}`,
    'resolver: MEMORY',
    `resolver_preload: { ${account.getPublicKey()}: "${accountJwt(account, { ...unlimited, ...stored })}", ` +
      `${system.getPublicKey()}: "${accountJwt(system, unlimited)}" }`,
  ].join('\n');
  /** `permissions`: what may be published to and subscribed to; absent: everything. */
  const writeCreds = (to: string, { expiresMs, publish }: { expiresMs?: number; publish?: readonly string[] } = {}) => {
    const user = nkeys.createUser();
    const limits = { subs: -1, data: -1, payload: -1 };
    const nats = { ...limits, ...(publish && { pub: { allow: publish } }), type: 'user', version: 2 };
    const exp = expiresMs === undefined ? {} : { exp: Math.ceil((Date.now() + expiresMs) / 1000) };
    const jwt = encode({ sub: user.getPublicKey(), name: 'u', ...exp, nats }, account);
    const seed = new TextDecoder().decode(user.getSeed());
    writeFileSync(
      to,
      `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
      { mode: 0o600 },
    );
    return to;
  };
  return { config, writeCreds };
}

/** Does something to the streams behind the back of those who use them, as their user may. */
async function manage<T>(port: number, credsFile: string, act: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const authenticator = credsAuthenticator(readFileSync(credsFile));
  const connection = await connect({ servers: `127.0.0.1:${port}`, authenticator });
  const done = await act(await jetstreamManager(connection));
  await connection.close();
  return done;
}

/** What is wrong before a connection: argument, exit code, what the error says. */
const addresses: readonly (readonly [inbox: string, code: number, says: string])[] = [
  ['nats://127.0.0.1:1/X', 9, 'cannot connect to the inbox X at 127.0.0.1:1: connection refused'],
  ['nats://user:secret@127.0.0.1/X', 2, 'holds a user or a password'],
  ['nats://127.0.0.1', 2, 'has no name of an inbox after the servers'],
  ['nats://127.0.0.1/a.b', 2, 'the name must be letters'],
  ['nats://127.0.0.1:70000/X', 2, 'a port is from 1 to 65535'],
  ['nats://a,,b/X', 2, 'names no server'],
  ['nats://a b/X', 2, 'a b is not a server'],
  ['http://127.0.0.1/X', 2, 'must be nats or tls'],
  ['X', 2, 'is not an address'],
];

test.each(addresses)('--inbox %s is refused before anything is stored', async (inbox, code, says) => {
  const outcome = await run(['webhook', 'events', '--inbox', inbox]);
  expect(outcome).toEqual(failure(code, says));
  expect(outcome.err).not.toContain('secret');
});

test.each(['# nothing\n\n', 'user: me\n', 'user: me\npassword:\n', 'user:\npassword: hunter2\n', 'hunter2\n'])(
  'a credentials file with %j is refused, and what it holds is not repeated',
  async (text) => {
    const file = join(temporaryFolder(), 'creds');
    writeFileSync(file, text, { mode: 0o600 });
    const outcome = await run(['webhook', 'events', '--inbox', 'nats://127.0.0.1:1/X', '--inbox-creds', file]);
    expect(outcome).toMatchObject({ code: 3, out: '' });
    expect(outcome.err).toContain(`the credentials of the inbox, ${file}: has no user with a password\n`);
    expect(outcome.err).toContain('user: <name> and password: <password>');
    expect(outcome.err).not.toContain('hunter2');
  },
);

test.skipIf(findNats() === undefined)(
  'a server with a user and a password takes the credentials that fit, in a file or one that the environment names',
  async () => {
    const cluster = await startCluster(1, 'authorization { user: me, password: "pass: w0rd" }');
    onTestFinished(cluster.end);
    const file = join(temporaryFolder(), 'creds');
    const inbox = `nats://127.0.0.1:${cluster.servers[0]?.port}/AUTH`;
    writeFileSync(file, '# of the inbox\r\nuser: me\r\npassword:pass: w0rd\r\n', { mode: 0o600 });
    const env = { SOTRA_NATS_CREDS: file };
    const { shown } = await listen(temporaryFolder(), `--inbox ${inbox} --inbox-creds ${file} --replicas 1`);
    expect(shown.err).toContain('Made the stream AUTH at ');
    expect(await run(`webhook events --inbox ${inbox} --json`, { env })).toMatchObject({ out: '[]\n', err: '' });
    writeFileSync(file, 'user: me\npassword: w0rd');
    chmodSync(file, 0o644);
    const { code, err } = await run(`webhook events --inbox ${inbox}`, { env });
    expect([code, err]).toEqual([3, expect.stringContaining('the servers of the inbox refuse the credentials')]);
    expect(err.match(/can be read by other users on this machine: chmod 600/g)).toHaveLength(1);
  },
);

describe.skipIf(findNats() === undefined)(`faults of a running server (${findNats() ? 'found' : natsInstall})`, () => {
  const { config, writeCreds } = operatorConfig();
  const folder = mkdtempSync(join(tmpdir(), 'sotra-creds-'));
  const creds = writeCreds(join(folder, 'all.creds'));
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => (cluster = await startCluster(1, config)));
  afterAll(async () => {
    await cluster.end();
    rmSync(folder, { recursive: true });
  });
  const inboxOf = (name: string) => `nats://127.0.0.1:${cluster.servers[0]?.port}/${name}`;
  const listenTo = (name: string, more = '--replicas 1', credsFile = creds) =>
    listen(temporaryFolder(), `--inbox ${inboxOf(name)} --inbox-creds ${credsFile} ${more}`);
  const editStream = (name: string, changes: Partial<StreamConfig> = {}) =>
    manage(cluster.servers[0]?.port ?? 0, creds, ({ streams }) => streams.update(name, changes));
  const deliver = (url: string, id: string, body = bodyOf(id)) => send(url, body, signed(body));

  test('an inbox that is not there, no credentials, refused ones, one without JetStream rights', async () => {
    const events = (more: string) => run(`webhook events --inbox ${inboxOf('NONE')} ${more}`);
    for (const command of [
      'webhook events',
      'webhook forward --forward-to http://127.0.0.1:9',
      'webhook replay --since 1h --to http://127.0.0.1:9',
    ])
      expect(await run(`${command} --inbox ${inboxOf('NONE')} --inbox-creds ${creds}`)).toMatchObject({
        code: 3,
        err: expect.stringMatching(
          /the inbox NONE does not exist at .*\nhint: sotra webhook listen --inbox nats:\/\/127\.0\.0\.1:\d+\/NONE --secret-file <file> makes it/,
        ),
      });
    expect(await events('')).toEqual(failure(3, 'refuse the credentials'));
    const foreign = operatorConfig().writeCreds(join(folder, 'foreign.creds'));
    expect(await events(`--inbox-creds ${foreign}`)).toEqual(failure(3, 'refuse the credentials'));
    const few = writeCreds(join(folder, 'few.creds'), { publish: ['_INBOX.>'] });
    const lacking = 'lack the permission to publish to $JS.API.STREAM.INFO.NONE';
    expect(await events(`--inbox-creds ${few}`)).toEqual(failure(3, lacking));
  });

  test('a listener makes the stream once and never changes it; another number of replicas is refused', async () => {
    const alone = await (await listenTo('SHAPE', '')).stop();
    expect([alone.code, alone.err]).toEqual([
      3,
      expect.stringContaining(
        'a single server cannot hold several replicas of the stream SHAPE\nhint: Add --replicas 1.',
      ),
    ]);
    const first = await listenTo('SHAPE');
    expect(first.shown.err).toContain('Made the stream SHAPE at ');
    await editStream('SHAPE', { max_age: 7 * 86_400_000_000_000 });
    for (const more of ['', '--replicas 1']) {
      const again = await listenTo('SHAPE', more);
      expect(await deliver(again.url, `e${more}`)).toBe(200);
      expect(again.shown.err).not.toContain('Made the stream');
    }
    const { code, err } = await (await listenTo('SHAPE', '--replicas 3')).stop();
    expect([code, err]).toEqual([3, expect.stringContaining('the stream SHAPE has --replicas 1, not 3\n')]);
    const { config } = await editStream('SHAPE');
    expect(config).toMatchObject({ num_replicas: 1, max_age: 604_800_000_000_000 });
  });

  test('two listeners that start at once share the stream that one of them makes', async () => {
    const both = await Promise.all([listenTo('BOTH'), listenTo('BOTH')]);
    for (const [index, { url }] of both.entries()) expect(await deliver(url, `e${index}`)).toBe(200);
  });

  test('a full inbox answers 503, and keeps what it has', async () => {
    const { url, shown } = await listenTo('FULL');
    await editStream('FULL', { max_bytes: 1_048_576 });
    const large = (id: string) => bodyOf(id).replace('{"events"', `{"pad":"${'x'.repeat(400_000)}","events"`);
    const statuses = [];
    for (const id of ['a', 'b', 'c']) statuses.push(await deliver(url, id, large(id)));
    expect(statuses).toEqual([200, 200, 503]);
    expect(shown.err).toContain('the inbox FULL is full');
    const listed = await run(`webhook events --inbox ${inboxOf('FULL')} --inbox-creds ${creds} --json`);
    expect(JSON.parse(listed.out).map(({ eventId }: { eventId: string }) => eventId)).toEqual(['b', 'a']);
  });

  test('a delivery larger than the servers take is refused as too large', async () => {
    const { url } = await listenTo('LARGE');
    expect(await deliver(url, 'big', `{"pad":"${'x'.repeat(1024 * 1024)}"}`)).toBe(413);
    expect(await deliver(url, 'small')).toBe(200);
  });

  test('without the right to publish events nothing is acknowledged', async () => {
    await (await listenTo('RIGHTS')).stop();
    const reader = writeCreds(join(folder, 'reader.creds'), {
      publish: ['$JS.API.>', 'RIGHTS_state.>', 'RIGHTS.place.>'],
    });
    const { url, shown } = await listenTo('RIGHTS', '', reader);
    expect(await deliver(url, 'a')).toBe(503);
    expect(shown.err).toContain('lack the permission to publish to RIGHTS.event.');
  });

  test.each([
    ['to set aside a delivery', 'failed', 'NOFAILED.event.>', '$JS.ACK.>'],
    ['to acknowledge one', '$JS.ACK', 'NOACK.>'],
  ])(
    'without the right %s the right is named, and the target is not asked again and again',
    async (_, missing, ...publish) => {
      const name = publish[0]?.split('.')[0] ?? '';
      await (await listenTo(name)).stop();
      const few = writeCreds(join(folder, `${name}.creds`), { publish: ['$JS.API.>', ...publish] });
      const target = await answering({}, 500);
      const { url, shown } = await listenTo(name, `--forward-to ${target.url}/ --retries 0`, few);
      expect(await deliver(url, 'a')).toBe(200);
      await until(() =>
        shown.err.includes(`lack the permission to publish to ${missing.replace('failed', 'NOFAILED.failed')}.`),
      );
      expect(target.requests).toHaveLength(1);
    },
  );

  long('a server that is gone answers 503, and the listener goes on once it is back', async () => {
    const { url, shown } = await listenTo('GONE');
    expect(await deliver(url, 'a')).toBe(200);
    await cluster.servers[0]?.end();
    expect(await deliver(url, 'b')).toBe(503);
    expect(shown.err).toContain('the servers of the inbox did not answer in time');
    await cluster.servers[0]?.start();
    let status = 503;
    while (status === 503) status = await deliver(url, 'b');
    expect(status).toBe(200);
    expect(await deliver(url, 'a')).toBe(200);
  });

  long('a credentials file that is gone while the server starts again: what was read before is used', async () => {
    const file = writeCreds(join(folder, 'replaced.creds'));
    const { url } = await listenTo('REPLACED', '--replicas 1', file);
    expect(await deliver(url, 'a')).toBe(200);
    rmSync(file);
    await cluster.servers[0]?.end();
    await cluster.servers[0]?.start();
    let status = 503;
    for (let n = 0; status === 503 && n < 20; n += 1) status = await deliver(url, 'b');
    expect(status).toBe(200);
  });

  long('credentials that expire: 503 until the file is renewed', async () => {
    const file = writeCreds(join(folder, 'short.creds'), { expiresMs: 2000 });
    const { url, shown } = await listenTo('EXPIRES', '--replicas 1', file);
    expect(await deliver(url, 'a')).toBe(200);
    let status = 200;
    for (let n = 0; status === 200; n += 1) status = await deliver(url, `until-${n}`);
    expect(status).toBe(503);
    expect(shown.err).toMatch(/the credentials of the inbox have expired|refuse the credentials/);
    writeCreds(file);
    while (status !== 200) status = await deliver(url, 'b');
    const listed = await run(`webhook events --inbox ${inboxOf('EXPIRES')} --inbox-creds ${creds} --limit 1 --json`);
    expect(JSON.parse(listed.out)).toMatchObject([{ eventId: 'b' }]);
  });
});
