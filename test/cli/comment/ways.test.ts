import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  answering,
  failure,
  newUser,
  type RunOptions,
  run,
  runJson,
  type Stub,
  stub,
  temporaryFolder,
} from '../../support/harness.ts';
import { bonk, degen, evmTrader, recode, solanaTrader, swaps } from '../../support/traders.ts';

const swap = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm'];
const name = ['--service-name', 'Example'];
const given = ['--signature', '0x12', '--signer', evmTrader.address];
const keys = { EVM: evmTrader.key, SOL: JSON.stringify(solanaTrader.keypair) };
const byEvm = ['--key-env', 'EVM'];
const unused = { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'stub-key', ...keys };

const post = (words: readonly string[], options: RunOptions = {}) => run(['comment', 'post', ...words], options);

/** A service that stores what it is sent. */
const storing = (): Promise<Stub> =>
  stub(({ body }, response) => {
    const { signature: _, ...sent } = JSON.parse(body);
    response.end(JSON.stringify({ uid: 'u-1', timestamp: 1, ...sent }));
  });

/** A signed comment in a file. */
async function signedFile(words: readonly string[]): Promise<string> {
  const file = join(temporaryFolder(), 'signed.json');
  expect(await run(['comment', 'sign', ...words, '--out', file, '--quiet'], { env: keys })).toMatchObject({ code: 0 });
  return file;
}

test('a signature made elsewhere is sent unchanged; if the text is known, a mismatch is a warning', async () => {
  const service = await storing();
  const { signature } = JSON.parse(readFileSync(await signedFile([...swap, ...name, ...byEvm]), 'utf8'));
  const fitting = ['--signature', signature, '--signer', evmTrader.address];
  for (const words of [given, [...name, ...fitting]])
    expect(await post([...swap, ...words], { env: service.env })).toMatchObject({ code: 0, err: '' });
  const other = await post([...swap, '--service-name', 'Other', ...given], { env: service.env });
  expect(other.err).toContain('warning: the signature does not match the five-line text of service Other: ');
  const otherForm = await post([...swap, ...name, '--layout', 'blank-line', ...fitting], { env: service.env });
  expect(otherForm.err).toMatch(
    /^warning: the signature does not match the blank-line text of service Example: over this text it is the signature of 0x/,
  );
  const sent = service.requests.map(({ body }) => JSON.parse(body).signature);
  expect(sent).toEqual(['0x12', signature, '0x12', signature]);
});

test.each([
  ['--browser', '--password-file pw'],
  [`--signer-command true --signer ${evmTrader.address}`, '--password-file pw'],
  [`--signature 0x12 --signer ${evmTrader.address}`, '--password-file pw'],
  ['--signed signed.json', `--signer ${evmTrader.address}`],
])('with %s an option that would be ignored is refused: %s', async (way, ignored) => {
  const fields = way.startsWith('--signed') ? [] : [...swap, ...name];
  const refused = await post([...fields, ...`${way} ${ignored}`.split(' ')], { env: unused });
  expect(refused).toEqual(failure(2, `'${ignored.split(' ')[0]} <`));
  expect(refused.err).toContain('cannot be used with option');
});

test('a signed file that was changed is not posted', async () => {
  const file = await signedFile([...swap, ...name, ...byEvm]);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"commentText": "gm"', '"commentText": "gn"'));
  const posted = await post(['--signed', file, ...name], { env: unused });
  expect(posted).toEqual(failure(12, `${file} was not posted: its message does not match its fields\n`));
});

const solana = ['--chain', 'solana', '--tx', swaps.solana, '--token', bonk, '--text', 'gm', ...name];

test.each(['hex', 'base64'] as const)(
  'a Solana signature in %s, typed or of a command, is sent in base58',
  async (form) => {
    const { signature } = await runJson(['comment', 'sign', ...solana, '--key-env', 'SOL'], { env: keys });
    const signer = ['--signer', solanaTrader.address];
    const [given, sign] = [recode(signature, form), ['comment', 'sign', ...solana, ...signer]];
    const dry = await post([...solana, ...signer, '--signature', given, '--dry-run', '--json'], { env: unused });
    expect(JSON.parse(dry.out).request.body.signature).toBe(signature);
    expect((await runJson([...sign, '--signer-command', `echo ${given}`])).signature).toBe(signature);
  },
);

test('a signed file with a Solana signature that is not in base58 is not posted', async () => {
  const file = await signedFile([...solana, '--key-env', 'SOL']);
  const signed = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...signed, signature: recode(signed.signature, 'base64') }));
  const posted = await post(['--signed', file, ...name], { env: unused });
  expect(posted).toEqual(failure(12, `${file} was not posted: the signature is not base58 text of 64 bytes`));
});

test('a file that is signed for another name or another layout is not posted, unless both are given', async () => {
  const service = await storing();
  const file = await signedFile([...swap, ...name, '--layout', 'blank-line', ...byEvm]);
  const { env } = newUser();
  await run(`context set partner --base-url ${service.url} --service-name Example --layout five-line`, { env });
  await run(`context set other --base-url ${service.url} --service-name Other --layout blank-line`, { env });
  const as = (context: string) => ['--context', context, '--signed', file];
  const inContext = { ...env, SOTRA_API_KEY: 'stub-key' };
  const told = (why: string) =>
    `${file} is signed for service Example in the blank-line layout, not for ${why}\nhint: `;
  expect(await post(as('partner'), { env: inContext })).toEqual(failure(2, told('Example in five-line')));
  expect(await post(as('other'), { env: inContext })).toEqual(failure(2, told('Other in blank-line')));
  expect(service.requests).toEqual([]);
  expect((await post([...as('partner'), '--layout', 'blank-line'], { env: inContext })).code).toBe(0);
  expect((await post([...as('other'), ...name], { env: inContext })).code).toBe(0);
});

test('on a terminal the service is named by its origin, and the text shown if it is known', async () => {
  const service = await storing();
  const at = { env: service.env, tty: 100 };
  const known = await post([...swap, ...name, ...given], { ...at, answers: ['n'] });
  expect([known.code, service.requests]).toEqual([2, []]);
  expect(known.err).toContain('  5  Comment: | gm\n');
  const unknown = await post([...swap, ...given], { ...at, answers: ['n'] });
  expect(unknown.err).toContain(`Signer: ${evmTrader.address}\nPost this comment to ${service.url}? [y/N] n\nerror: `);
  const inSandbox = await post(['--sandbox', ...swap, ...given], { tty: 100, answers: ['n'] });
  expect(inSandbox.err).toContain('Post this comment to the sandbox? [y/N] n\n');
  const never = await post([...swap, ...given, '--no-input'], { ...at, answers: [] });
  expect(never).toEqual(failure(2, `cannot ask whether to post this comment to ${service.url}: --no-input is set`));
  expect((await post([...swap, ...given, '--yes'], { ...at, answers: [] })).code).toBe(0);
  expect(service.requests).toHaveLength(1);
});

test('a dry run without a known text shows signer and request; JSON and a part of it have no text either', async () => {
  const words = [...swap, ...given, '--dry-run'];
  const asText = await post(words, { env: unused, tty: 100, answers: [] });
  const url = 'http://127.0.0.1:9/v1/swap-comments';
  expect(asText.out.startsWith(`Signer: ${evmTrader.address}\n\nPOST ${url}\n`)).toBe(true);
  const request = {
    method: 'POST',
    url,
    headers: expect.objectContaining({ authorization: 'Bearer ***' }),
    body: expect.objectContaining({ commentText: 'gm', signature: '0x12' }),
  };
  const asJson = await runJson(['comment', 'post', ...words], { env: unused });
  expect(asJson).toEqual({ signerAddress: evmTrader.address, request });
  expect((await post([...words, '--jq', '.request.method'], { env: unused })).out).toBe('POST\n');
  const known = await post([...words, ...name, '--json', '--quiet'], { env: unused });
  expect(JSON.parse(known.out)).toMatchObject({ serviceName: 'Example', characters: 2, request });
  expect(await post(words)).toEqual(failure(2, 'no service is configured'));
});

test('the JSON of the service comes unchanged, and odd comments get a warning', async () => {
  const text = `{"uid":"u-1","timestamp":1.50,"chain":"base","tokenAddress":"${degen}","transactionHash":"${swaps.good}","commentText":" gm","signerAddress":"${evmTrader.address}","more":12345678901234567890}`;
  const service = await answering(text);
  const { code, out, err } = await post([...swap.slice(0, -1), ' gm', ...given, '--json'], { env: service.env });
  expect([code, err]).toEqual([0, 'warning: the comment begins or ends with a space\n']);
  expect(out).toContain('"timestamp": 1.50,');
  expect(out).toContain('"more": 12345678901234567890');
});

test('a signature that ends in 00 or 01, as hardware wallets write it, is accepted and sent as 1b or 1c', async () => {
  for (const text of ['gm', 'gm 1', 'gm 4']) {
    const fields = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', text, ...name];
    const { signature } = await runJson(['comment', 'sign', ...fields, ...byEvm], { env: keys });
    const typed = `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}`;
    const claim = [...fields, '--signature', typed, '--signer', evmTrader.address];
    expect((await run(['comment', 'verify', ...claim])).code).toBe(0);
    const dry = await post([...claim, '--dry-run', '--json'], { env: unused });
    expect(JSON.parse(dry.out).request.body.signature).toBe(signature);
  }
  const bad = ['--signature', `0x${'11'.repeat(64)}02`, '--signer', evmTrader.address];
  const { out } = await run(['comment', 'verify', '--sandbox', ...swap, ...bad]);
  expect(out).toContain('its last byte is 2, not 27 or 28');
});

const sign = ['comment', 'sign', ...swap, ...name, '--browser'];

test('on a terminal without a key, Enter is the browser; flags of the page need it, and a key is not given with it', async () => {
  const words = sign.slice(0, -1);
  const [failing, opened] = [join(temporaryFolder(), 'browser'), join(temporaryFolder(), 'opened')];
  writeFileSync(failing, `#!/bin/sh\necho "$1" > '${opened}'\nexit 3\n`, { mode: 0o755 });
  const asked = await run([...words, '--timeout', '1ms'], { answers: [''], env: { BROWSER: failing } });
  expect(asked).toEqual(failure(124, 'which works once:\n  http://127'));
  expect(asked.err).toMatch(/^Press Enter to sign with your wallet in the browser, or type the key\.\n/);
  await expect.poll(() => existsSync(opened)).toBe(true);
  const named = await run([...sign, '--timeout', '1ms'], { env: { BROWSER: failing } });
  expect(named).toEqual(failure(124, 'which works once:\n  http://127'));
  const refused = async (more: string) => (await run([...words, ...more.split(' ')])).err;
  expect(await refused(`--browser --signer ${solanaTrader.address}`)).toContain(': must be an EVM address');
  const onSolana = ['--chain', 'solana', '--tx', swaps.solana, '--token', bonk];
  const other = ['comment', 'sign', 'gm', ...onSolana, ...name, '--browser', '--signer', evmTrader.address];
  expect(await run(other)).toEqual(failure(2, ': must be a Solana address (32 bytes in base58)'));
  expect(await refused('--browser --key-env KEY')).toContain('--key-env and --browser cannot be used together');
  expect((await run([...sign, '--dry-run'])).out).toContain('  5  Comment: | gm\n');
});
