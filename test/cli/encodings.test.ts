import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, temporaryFolder } from '../support/harness.ts';
import { ask, serveSandbox } from '../support/served.ts';
import { evmTrader } from '../support/traders.ts';

const mark = '\uFEFF';

/** A folder of its own, what `run` needs to keep settings in it, and how to write a file there. */
function place() {
  const folder = temporaryFolder();
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  return { folder, file, env: { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: join(folder, 'data') } };
}

/** Exports the key `k` with a password from a file: exit 0 if it opens, else 11. */
async function opens({ folder, file, env }: ReturnType<typeof place>, password: string | Uint8Array): Promise<number> {
  const argv = ['key', 'export', 'k', '--unencrypted', '--out', join(folder, 'out.hex'), '--yes'];
  return (await run([...argv, '--password-file', file('typed', password)], { env })).code;
}

test('a key that is sealed with a password file of PowerShell opens with the typed password', async () => {
  const at = place();
  const password = at.file('password', `${mark}correct horse\r\n`);
  await run(['key', 'generate', 'k', '--password-file', password], { env: at.env });
  const codes = [await opens(at, 'correct horse'), await opens(at, 'correct horse\n'), await opens(at, 'wrong')];
  expect(codes).toEqual([0, 0, 11]);
});

test('a password with an accent opens a key however the accent was typed', async () => {
  const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
  for (const sealed of [decomposed, composed]) {
    const at = place();
    await run('key generate k', { env: at.env, answers: [sealed, composed] });
    const codes = [await opens(at, composed), await opens(at, `${decomposed}\n`), await opens(at, 'cafe')];
    expect(codes).toEqual([0, 0, 11]);
    const typed = ['key', 'export', 'k', '--unencrypted', '--out', join(at.folder, 'typed.hex')];
    expect(await run(typed, { env: at.env, answers: [decomposed] })).toMatchObject({ code: 0 });
  }
});

const utf16 = Buffer.from(`${mark}correct horse\r\n`, 'utf16le');
const latin1 = Buffer.from('{"name":"caf\u00e9"}', 'latin1');

test('UTF-16 is refused by name, whichever file it is', async () => {
  const { file, env } = place();
  const name = file('text', utf16);
  const service = await answering({});
  for (const argv of [
    `key generate k --password-file ${name}`,
    `key import k --key-file ${name}`,
    `request POST /v1/x -d @${name}`,
    `comment post --signed ${name}`,
    `--sandbox profile positions ext:a open --prices-file ${name}`,
    `webhook verify --header t=1,v1=00 --secret-file ${name}`,
  ]) {
    const { code, err } = await run(argv, { env: { ...service.env, ...env }, stdin: '{}' });
    expect([argv, code, err]).toEqual([argv, 2, expect.stringContaining(`${name}: UTF-16 text, must be UTF-8`)]);
  }
  expect([service.requests, existsSync(join(env.SOTRA_CONFIG_DIR, 'keys', 'k.json'))]).toEqual([[], false]);
});

test('a body that is not UTF-8 is refused with the place of its first wrong byte, and not sent', async () => {
  const { file } = place();
  const service = await answering({});
  const name = file('latin1.json', latin1);
  for (const from of [`@${name}`, '-']) {
    const { code, err } = await run(`request POST /v1/x -d ${from}`, { env: service.env, stdin: latin1 });
    const says = `${from === '-' ? 'stdin' : name} is not UTF-8 text: see byte 13`;
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
  }
  expect(service.requests).toEqual([]);
});

test('a byte order mark is dropped from a body, an API key, a key, a secret, prices and the settings', async () => {
  const at = place();
  const service = await answering({});
  const env = { ...at.env, ...service.env };
  await run(['request', 'POST', '/v1/x', '-d', `@${at.file('body.json', `${mark}{"a":1}`)}`], { env });
  expect(service.requests.at(-1)?.body).toBe('{"a":1}');
  const key = at.file('key.hex', `${mark}${evmTrader.key}\r\n`);
  const password = at.file('password', 'pw');
  await run(['key', 'import', 'k', '--key-file', key, '--password-file', password], { env });
  const sealed = join(at.folder, 'keys', 'k.json');
  writeFileSync(sealed, `${mark}${readFileSync(sealed, 'utf8')}`);
  expect((await run('key list', { env })).out).toContain(evmTrader.address);
  expect(await opens(at, 'pw')).toBe(0);
  await run('context set one --base-url https://one.example.com', { env: at.env });
  const settings = join(at.folder, 'config.json');
  writeFileSync(settings, `${mark}${readFileSync(settings, 'utf8')}`);
  await run('context set two --base-url https://two.example.com', { env: at.env });
  const { contexts } = await runJson('context list', { env: at.env });
  expect(contexts.map(({ name }: { name: string }) => name)).toEqual(['sandbox', 'clicker', 'one', 'two']);
});

test('a missing file or a folder is reported in our words, not those of the system', async () => {
  const { folder, env } = place();
  const none = join(folder, 'none');
  for (const [argv, message] of [
    [`request POST /v1/x -d @${none}`, `--data ${none}: no such file`],
    [`request POST /v1/x -d @${folder}`, `--data ${folder}: cannot be read: it is a folder`],
    [`comment post --file ${none} --key-env KEY`, `--file ${none}: no such file`],
    [`webhook listen --secret-file ${none}`, `--secret-file ${none}: no such file`],
    [`profile positions ext:a open --prices-file ${none}`, `--prices-file ${none}: no such file`],
  ] as const) {
    const { code, err } = await run(`--sandbox ${argv}`, { env });
    expect([argv, code, err.split('\n')[0]]).toEqual([argv, 3, `error: ${message}`]);
    expect(err).not.toMatch(/\bE[A-Z]{3,}\b/);
  }
});

const wallet = '0xb129d76820940a14c764df8b223d8e39cf94a122';
const swap =
  '--chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';

test.each([
  [`comment sign ${swap} --text-file - --service-name x --dry-run`, 'a\0b', '--text-file -: holds a NUL character'],
  ['follow bulk --file -', `{"addressOrUid":"ext:a\\u0000b","targets":["${wallet}"]}`, 'addressOrUid "ext:a\\u0000b"'],
  ['follow bulk --file -', '{"addressOrUid":"ext:a","targets":["ext:\\ud800"]}', 'targets "ext:\\ud800"'],
  [`webhook add-addresses ${uid} --file -`, '["ext:a\\u0000b"]', 'ext: id with a control character'],
  [`webhook add-addresses ${uid} --file -`, '["ext:\\ud800"]', 'ext: id that holds half of a character'],
])('%s with %j is refused before anything is sent', async (argv, stdin, says) => {
  const service = await answering({});
  expect(await run(argv, { env: service.env, stdin })).toEqual(failure(2, says));
  expect(service.requests).toEqual([]);
});

const posted: readonly [method: string, path: string, body: string | undefined, says: string][] = [
  ['POST', '/v1/swap-comments', '{"commentText":"a\\u0000b"}', 'holds a NUL character'],
  ['POST', '/v1/swap-comments', '{"commentText":"a\\ud800b"}', 'holds half of a character'],
  ['PUT', '/v1/addresses/ext:a%00b/follow', `{"targets":["${wallet}"]}`, 'holds a NUL character'],
  ['DELETE', '/v1/addresses/ext:a/follow?targets=ext:b%00c', undefined, 'holds a NUL character'],
  ['POST', '/v1/addresses/follow/bulk', '[{"addressOrUid":"ext:a\\u0000b","targets":["ext:c"]}]', 'addressOrUid'],
];

test('the sandbox answers 400 to a text that holds NUL or half of a character', async () => {
  const service = await serveSandbox();
  const signed = { transactionHash: '0x1', chain: 'base', tokenAddress: '0x1', signature: '0', signerAddress: wallet };
  for (const [method, path, text, says] of posted) {
    const isComment = path === '/v1/swap-comments';
    const body = isComment ? JSON.stringify({ ...signed, ...JSON.parse(text ?? '') }) : text;
    const answer = await ask(service, method, path, body === undefined ? {} : { body });
    expect([path, answer]).toEqual([path, { status: 400, body: { error: expect.stringContaining(says) } }]);
  }
});
