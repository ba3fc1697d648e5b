import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBase58 } from '../../src/model/address.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../src/sandbox/db/world.ts';
import { answerer } from '../../src/sandbox/http/answer.ts';
import { apiKey, evmKey, namedSecret, pair, password, webhookSecret } from './canaries.ts';
import { run, type Script, type Seen, type Stub, stub, temporaryFolder } from './harness.ts';

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
  const answer = answerer({ db, now: () => Date.now(), wire: {} });
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

function takenComment(body: string): string {
  return JSON.stringify({ uid: 'u', timestamp: 1, ...JSON.parse(body) });
}

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
  JSON.stringify({
    error: `${headers.authorization} and ${namedSecret} are wrong`,
    headers,
    body,
    secret: webhookSecret,
  });

/** Faults that tell the secrets back. */
export const echoScripts: Readonly<Record<string, Script>> = {
  'echo 400': echo(400, refusal),
  'echo 401': echo(401, refusal),
  'echo 403 as text': echo(403, ({ headers }) => `unknown key ${headers.authorization}`),
  'echo 404': echo(404, refusal),
  'echo 409': echo(409, ({ headers }) => JSON.stringify({ message: 'taken', secret: webhookSecret, headers })),
  'echo 429': echo(429, refusal, { 'retry-after': '1' }),
  'echo 500': echo(500, refusal),
  'echo 503': echo(503, ({ headers }) => `<html>${headers.authorization}`),
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
