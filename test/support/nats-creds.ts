import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, credsAuthenticator, nkeys } from '@nats-io/transport-node';

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
export function operatorConfig() {
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
  const writeCreds = (
    file: string,
    { expiresMs, publish }: { expiresMs?: number; publish?: readonly string[] } = {},
  ) => {
    const user = nkeys.createUser();
    const limits = { subs: -1, data: -1, payload: -1 };
    const nats = { ...limits, ...(publish && { pub: { allow: publish } }), type: 'user', version: 2 };
    const exp = expiresMs === undefined ? {} : { exp: Math.ceil((Date.now() + expiresMs) / 1000) };
    const jwt = encode({ sub: user.getPublicKey(), name: 'u', ...exp, nats }, account);
    const seed = new TextDecoder().decode(user.getSeed());
    writeFileSync(
      file,
      `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
      { mode: 0o600 },
    );
    return file;
  };
  return { config, writeCreds };
}

/** Deletes a stream behind the back of those who use it. */
export async function removeStream(port: number, credsFile: string, name: string): Promise<void> {
  const authenticator = credsAuthenticator(readFileSync(credsFile));
  const connection = await connect({ servers: `127.0.0.1:${port}`, authenticator });
  await connection.request(`$JS.API.STREAM.DELETE.${name}`);
  await connection.close();
}
