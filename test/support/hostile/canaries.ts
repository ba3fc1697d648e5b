import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBase58 } from '../../../src/api/address.ts';
import { derivePublicKey } from '../../../src/keys/private-key.ts';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../../src/sandbox/db/world.ts';
import { createService } from '../../../src/sandbox/serve/answer.ts';
import { contentsOf, run, type Script, type Seen, type Stub, stub, temporaryFolder } from '../harness.ts';

// Made for these tests alone: wherever one of them turns up, something leaks.
export const evmKey = 'c0ffee254729296a45a3885639ac7e10f9d54979a1b2c3d4e5f60718293a4b5c';
const seed = Buffer.from('5eed5eed5eed5eed1122334455667788990011223344556677889900aabbccdd', 'hex');
export const pair = Buffer.concat([seed, derivePublicKey(seed)]);
export const password = 'canary password 4711';
/** Characters that JSON and addresses escape. */
export const apiKey = 'canary-key/0815+"x\\y=z-end';
/** As the interface has it: any text, in the field of that name. */
export const webhookSecret = 'hush.canary.webhook.4242';
/** As it stands in running text, where only its form tells it. */
export const namedSecret = 'whsec_Y2FuYXJ5LWhvb2stc2VjcmV0LTA4MTU';

/** Words that nothing else here uses: one of them tells. */
export const phrase = 'gloom napkin zebra walnut rhythm orphan lizard jungle hamster galaxy velvet scissors';

export type Secret = 'recovery phrase' | 'EVM key' | 'Solana key' | 'password' | 'API key' | 'webhook secret';

/** Plain, and as JSON (also that of writers that escape the slash) and addresses escape it. */
const spellingsOf = (text: string): string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  encodeURIComponent(text),
];

function ofBytes(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [
    hex,
    hex.toUpperCase(),
    bytes.toString('base64').slice(0, -4),
    bytes.toString('base64url').slice(0, -4),
    encodeBase58(bytes),
    [...bytes].join(','),
    [...bytes].join(', '),
    BigInt(`0x${hex}`).toString(),
  ];
}

/** Parts that are long enough to tell, so that a text cut off or quoted in part is found as well. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at + 12 <= text.length; at += 4) parts.push(text.slice(at, at + 12));
  return parts;
}

/** Every form in which a secret could show. */
const forms: Readonly<Record<Secret, readonly string[]>> = {
  'EVM key': [...ofBytes(Buffer.from(evmKey, 'hex')), ...partsOf(evmKey), ...partsOf(evmKey.toUpperCase())],
  'Solana key': [
    ...ofBytes(seed),
    ...ofBytes(pair),
    ...partsOf(encodeBase58(pair).slice(0, 44)),
    ...partsOf([...seed].join(',')),
  ],
  password: [...spellingsOf(password), ...partsOf(password)],
  'recovery phrase': phrase.split(' '),
  'API key': [...spellingsOf(apiKey), ...partsOf(apiKey)],
  'webhook secret': [
    ...spellingsOf(webhookSecret),
    ...partsOf(webhookSecret),
    ...spellingsOf(namedSecret),
    ...partsOf(namedSecret.slice(8)),
  ],
};

const secrets = Object.keys(forms) as Secret[];

/** The secrets that show in a text, in whatever form. */
export function secretsIn(text: string): Secret[] {
  return secrets.filter((secret) => forms[secret].some((form) => text.includes(form)));
}

/** Every file under a folder that holds a secret, in its content or in its name: its path inside the folder, and its mode. */
export function holdersUnder(folder: string): { file: string; holds: Secret[]; mode: number }[] {
  return [...contentsOf(folder)].flatMap(([file, bytes]) => {
    const holds = secretsIn(`${file}\n${bytes.toString('latin1')}`);
    return holds.length === 0 ? [] : [{ file, holds, mode: statSync(join(folder, file)).mode & 0o777 }];
  });
}

/** A user with every kind of secret, and a service that tells back whatever it is sent. */
export interface CanaryWorld {
  service: Stub;
  /** How the service answers from now on. */
  answerAs: (script: Script) => void;
  healthy: Script;
  env: Record<string, string>;
  /** What the program writes: settings, data, and the files that it was told to write. */
  outputs: string;
  /** A file that the user made, by its name. */
  input: (name: string) => string;
  /** What is in it. */
  text: (name: string) => string;
}

/** Makes that world; its settings hold an API key, its key store both private keys, its uploads the secret of a webhook. */
export async function canaryWorld(): Promise<CanaryWorld> {
  const folder = temporaryFolder();
  const [inputs, outputs] = [join(folder, 'inputs'), join(folder, 'outputs')];
  for (const each of [inputs, outputs]) mkdirSync(each);
  const input = (name: string) => join(inputs, name);
  const healthy = healthyScript();
  let script = healthy;
  const service = await stub((seen, response, count) => script(seen, response, count));
  const env = {
    SOTRA_CONFIG_DIR: join(outputs, 'config'),
    SOTRA_DATA_DIR: join(outputs, 'data'),
    SOTRA_BASE_URL: service.url,
    SOTRA_API_KEY: apiKey,
    CANARY_KEY: evmKey,
    CANARY_PAIR: encodeBase58(pair),
  };
  const write = (name: string, text: string) => writeFileSync(input(name), text, { mode: 0o600 });
  for (const [name, text] of Object.entries(files)) write(name, text);
  const prepare = async (argv: string, stdin = '') => {
    const typed = argv.replaceAll(/@([\w.-]+)/g, (_, name: string) => input(name));
    const { code, err } = await run(typed, { env, stdin });
    if (code !== 0) throw new Error(`${argv}: ${err}`);
  };
  await prepare(`auth login --context staging --base-url ${service.url} --with-key --offline --store file`, apiKey);
  await prepare(`context set spare --base-url ${service.url}`);
  await prepare('key import evm --key-file @evm.hex --password-file @password');
  await prepare('key import sol --key-file @id.json --password-file @password');
  await prepare('webhook register --url http://127.0.0.1:9/kept --wallet-addresses ext:user-1');
  return {
    service,
    answerAs: (next) => (script = next),
    healthy,
    env,
    outputs,
    input,
    text: (name) => files[name] ?? '',
  };
}

const files: Readonly<Record<string, string>> = {
  'evm.hex': `0x${evmKey}\n`,
  'id.json': JSON.stringify([...pair]),
  'key.json': JSON.stringify({ privateKey: evmKey, password, apiKey, secret: webhookSecret }),
  'api.key': `${apiKey}\n`,
  'hook.secret': `${webhookSecret}\n${namedSecret}\n`,
  password: `${password}\n`,
  'wrong.password': 'another password\n',
  'body.json': '{"events":[]}',
  'users.txt': 'ext:user-1\next:user-2\n',
};

/** The sandbox's answers, with the headers of the request and the key in every one, and the secret of these tests. */
function healthyScript(): Script {
  const db = openDb(':memory:');
  ensureWorld(db, Date.now(), 'demo');
  const answer = createService({ db, now: () => Date.now(), wire: {} });
  return async ({ method, url, headers, body }, response) => {
    const text = url.startsWith('/v1/swap-comments') && method === 'POST' ? takenComment(body) : undefined;
    const authorization = 'Bearer sandbox-key-a';
    const answered = await answer({ method, origin: 'http://127.0.0.1', target: url, authorization, body: () => body });
    const own = text ?? answered.text.replaceAll(/whsec_[\w-]+/g, webhookSecret);
    response.writeHead(text === undefined ? answered.status : 200, {
      'content-type': 'application/json',
      ...echoHeaders(headers),
    });
    response.end(withEcho(own, headers));
  };
}

const takenComment = (body: string): string => JSON.stringify({ uid: 'u', timestamp: 1, ...JSON.parse(body) });

function withEcho(text: string, headers: Seen['headers']): string {
  const value = JSON.parse(text);
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return text;
  return JSON.stringify({ ...value, echo: headers });
}

function echoHeaders({ authorization = '' }: Seen['headers']): Record<string, string> {
  return { 'x-echo': authorization, 'x-request-id': apiKey, 'x-secret': namedSecret };
}

function echo(status: number, textOf: (seen: Seen) => string, headers: Record<string, string> = {}): Script {
  return (seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...echoHeaders(seen.headers), ...headers });
    response.end(textOf(seen));
  };
}

const refusal = ({ headers, body }: Seen) =>
  JSON.stringify({ error: `${headers.authorization} and ${namedSecret} wrong`, headers, body, secret: webhookSecret });

const echoed = (status: number) => [`echo ${status}`, echo(status, refusal, { 'retry-after': '1' })] as const;

/** Answers that echo the secrets. */
export const echoScripts: Readonly<Record<string, Script>> = {
  ...Object.fromEntries([400, 401, 404, 409, 429, 500].map(echoed)),
  'echo 403 as text': echo(403, ({ headers }) => `unknown key ${headers.authorization}`),
  'echo that is no JSON': echo(200, ({ headers }) => `<html>${JSON.stringify(headers)} ${namedSecret}`),
  'echo cut in the secret': echo(200, () => `{"secret":"${webhookSecret.slice(0, -2)}`),
  'echo cut in the key': echo(200, () => `{"authorization":"Bearer ${JSON.stringify(apiKey).slice(1, -1)}`),
  'echo in another shape': echo(200, ({ headers }) =>
    JSON.stringify({ webhooks: [{ uid: 1, secret: webhookSecret }], headers }),
  ),
  'echo in a list': echo(200, ({ headers }) => JSON.stringify([{ uid: 1, secret: webhookSecret, echo: headers }])),
  'echo in a redirect': (seen, response) => {
    const target = `https://elsewhere.example/?key=${encodeURIComponent(apiKey)}`;
    response.writeHead(307, { location: target, ...echoHeaders(seen.headers) }).end(refusal(seen));
  },
};

/** Files that are made to contain a secret; only their owner can read them. */
const holders: readonly { file: RegExp; holds: Secret }[] = [
  { file: /^config\/config\.json$/, holds: 'API key' },
  { file: /^data\/webhook\/uploads\/[0-9a-f]{12}\/secret-[0-9a-f]{12}$/, holds: 'webhook secret' },
  // webhook register --secret-file.
  { file: /^written-\d+$/, holds: 'webhook secret' },
  // key export --unencrypted --out.
  { file: /^written-\d+$/, holds: 'EVM key' },
];

/** Files written by the program that contain a secret but are not made for it, or that other users can read. */
export function strayIn({ outputs }: CanaryWorld): ReturnType<typeof holdersUnder> {
  const mayHold = (file: string, secret: Secret) =>
    holders.some((each) => each.file.test(file) && each.holds === secret);
  return holdersUnder(outputs).filter(
    ({ file, holds, mode }) => mode !== 0o600 || !holds.every((secret) => mayHold(file, secret)),
  );
}
