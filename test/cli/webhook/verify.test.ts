import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { failure, run, temporaryFolder } from '../../support/harness.ts';

const read = (name: string) =>
  JSON.parse(gunzipSync(readFileSync(`test/data/webhook-signatures/${name}.gz`)).toString());

// Published by Mux's backend; the same bytes as base64url.
const secret = 'SuperSecret123';
const body = '{"test":"body"}';
const header = 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac';

async function verify(input: { body?: string; header?: string; secret?: string; more?: string; now?: number }) {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, input.secret ?? `${secret}\n`);
  const words = input.header === 'none' ? [] : ['--header', input.header ?? header];
  const argv = ['webhook', 'verify', '--secret-file', file, '--json', ...words, ...(input.more?.split(' ') ?? [])];
  const options = { stdin: input.body ?? body, ...(input.now !== undefined && { now: input.now }) };
  const { code, out } = await run(argv, options);
  return { code, ...JSON.parse(out) };
}

const sign = (text: string, by = secret, t = '1565125718') =>
  `t=${t},v1=${createHmac('sha256', by).update(`${t}.${text}`).digest('base64url')}`;

test('a published signature is valid, and the verdict has the published shape', async () => {
  const verdict = { valid: true, eventIds: [], timestamp: 1565125718, ageSec: 60 };
  expect(await verify({ now: 1565125778_000 })).toEqual({ code: 0, ...verdict });
});

test('the age of a delivery is printed, with a warning beyond five minutes, unless a tolerance decides', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, secret, { mode: 0o600 });
  const at = (seconds: number, more = '') =>
    run(`webhook verify --secret-file ${file} --header ${header} ${more}`, {
      stdin: body,
      tty: 100,
      now: (1565125718 + seconds) * 1000,
    });
  expect(await at(299)).toMatchObject({ out: expect.stringContaining('signed 4m ago'), err: '' });
  const warning = 'warning: signed 25y ago: anyone who saw this delivery can replay it; --tolerance 5m';
  expect((await at(788_400_000)).err).toContain(warning);
  expect((await at(-7200)).err).toContain('warning: signed 2h from now');
  expect(await at(788_400_000, '--tolerance 1h')).toMatchObject({ code: 12, err: '' });
});

test('the events of both published body forms are named', async () => {
  const listed = '{"events":[{"eventId":"a","eventType":"copyswap"},{"eventId":"b"}]}';
  expect(await verify({ body: listed, header: sign(listed) })).toMatchObject({ valid: true, eventIds: ['a', 'b'] });
  const single = '{"eventId":"c","eventType":"new-feed-item","feedItem":{}}';
  expect(await verify({ body: single, header: sign(single) })).toMatchObject({ valid: true, eventIds: ['c'] });
});

const event = '{"events":[{"eventId":"a","note":"a/b \u00e9","n":1}]}';

test.each<[name: string, input: Parameters<typeof verify>[0], reason: RegExp]>([
  ['no header', { header: 'none' }, /^unsigned/],
  ['an empty header', { header: '' }, /^malformed header: it is empty/],
  [
    'a signature in hex',
    { header: 't=1565125718,v1=854ece4c22acef7c66b57d4e504153bc512595e8e9c772ece2a68150548c19a7' },
    /^malformed header: the signature is hex/,
  ],
  ['a signature in padded base64', { header: `${header}=` }, /^malformed header: the signature is base64/],
  ['a cut-off signature', { header: header.slice(0, -4) }, /^malformed header: the signature is cut off/],
  ['another secret', { secret: 'another' }, /^wrong secret/],
  ['a secret that was signed with its line end', { header: sign(body, `${secret}\n`) }, /^wrong secret: .*line end/],
  ['another body', { body: '{"test":"bodY"}' }, /body changed/],
  ['a body that is cut off', { body: '{"test":"bo' }, /^body changed: it is not valid JSON/],
  ['a line end behind the body', { body: `${body}\n` }, /^body changed: a line end was added/],
  ['indented JSON', { body: JSON.stringify(JSON.parse(event), null, 2), header: sign(event) }, /^re-serialized JSON/],
  ['a byte order mark before the body', { body: `\uFEFF${body}` }, /^body changed: a byte order mark was added/],
  ['another timestamp', { header: header.replace('5718', '5719') }, /wrong secret or body changed/],
  ['an old one', { more: '--tolerance 5m', now: 1565126100_000 }, /^too old: .* 382 s ago/],
  ['one from the future', { more: '--tolerance 5m', now: 1565125000_000 }, /^too new/],
])('%s is refused with its reason, exit 12', async (_, input, reason) => {
  const verdict = await verify(input);
  expect(verdict).toMatchObject({ code: 12, valid: false });
  expect(verdict.reason).toMatch(reason);
});

test('a tolerance accepts recent signatures; several secrets and several v1 entries count', async () => {
  expect(await verify({ more: '--tolerance 5m', now: 1565125900_000 })).toMatchObject({ valid: true });
  expect(await verify({ secret: `# old and new\nother\n${secret}\n` })).toMatchObject({ valid: true });
  const twice = `t=1565125718,v1=${'A'.repeat(43)},v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac`;
  expect(await verify({ header: twice })).toMatchObject({ valid: true });
  expect(await verify({ header: `Daylight-Signature: ${header}` })).toMatchObject({ valid: true });
});

test('the published vector and every malformed header beside it behave as stated', async () => {
  const mux = read('mux_t_v1.json');
  const { body, secret, daylightHeader, malformedHeadersFromTheSameSuites: malformed } = mux;
  expect(await verify({ body, header: daylightHeader, secret })).toMatchObject({ valid: true });
  for (const header of [mux.header, ...malformed])
    expect(await verify({ body, header, secret })).toMatchObject({ code: 12, valid: false });
});

const nested = (size: number) =>
  `[${Array.from({ length: size / 1000 }, () => '['.repeat(500) + ']'.repeat(500)).join()}]`;

test.each([
  ['nested as deep as JSON may be', nested(1_000_000), /^wrong secret or body changed/],
  ['nested deeper', '['.repeat(2_000_000), /^body changed: it is not valid JSON/],
  ['of line ends alone', '\r\n'.repeat(1_000_000), /^body changed: it is not valid JSON/],
  ['of quotes and backslashes', `["${'\\\\'.repeat(2_000_000)}"]`, /^wrong secret or body changed/],
  ['too large to look for a change', `"${'a'.repeat(9_000_000)}"`, /too large to look for what was changed$/],
])('a body %s is judged in bounded time and memory', async (_, hostile, reason) => {
  const verdict = await verify({ body: hostile });
  expect(verdict).toMatchObject({ code: 12, valid: false });
  expect(verdict.reason).toMatch(reason);
});

test('a body that is too large is exit 2, and a file that cannot be read is exit 3', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, secret);
  const argv = ['webhook', 'verify', '--secret-file', file, '--header', header];
  const large = await run(argv, { stdin: new Uint8Array(64 * 1024 * 1024 + 1) });
  expect(large).toEqual(failure(2, 'stdin is larger than 64 MB'));
  expect((await run([...argv, '--file', temporaryFolder()])).code).toBe(3);
  expect((await run([...argv, '--file', '/nowhere/body'])).code).toBe(3);
});

test('--explain shows the header that each secret makes of the body', async () => {
  const right = 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac';
  const wrong = await verify({ header: 't=1565125718,v1=AAAA', more: '--explain' });
  expect(wrong).toMatchObject({ code: 12, valid: false, expected: [right] });
  expect(await verify({ header: 't=1565125718,v1=AAAA' })).not.toHaveProperty('expected');
});
