import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run } from '../../support/harness.ts';
import { hook, ids, kept, place, register, uid } from '../../support/upload-place.ts';

const sync = `webhook sync --url ${hook} --file @list --secret-file @hook.secret`;

/** A place whose service has a webhook with so many addresses. */
async function synced(count: number, options: Parameters<typeof kept>[0] = {}) {
  const there = kept(options);
  there.write('list', ids(count));
  await there.sotra(sync);
  return there;
}

test('the same line registers, sends what is new, and sends nothing, and says each time in one line what it did', async () => {
  const { sotra, write, holds, read, requests } = kept();
  write('list', ids(1500));
  expect((await sotra(sync)).err).toBe('Registered webhook w-0 with 1,500 addresses.\n');
  expect([holds('w-0').length, read('hook.secret')]).toEqual([1500, 'whsec_0\n']);
  const before = requests.length;
  const second = await sotra(sync);
  expect(second.err).toBe('Nothing was sent: webhook w-0 has all 1,500 addresses.\n');
  expect(second.out).toContain('sent\t0\n');
  expect(requests.slice(before).map(({ method }) => method)).toEqual(['GET']);
  write('list', ids(1502));
  expect((await sotra(sync)).err).toBe('Sent 2 of 1,502 addresses to webhook w-0, which has all of them now.\n');
  expect([holds('w-0').length, requests.at(-1)?.body]).toEqual([1502, '{"walletAddresses":["ext:1500","ext:1501"]}']);
});

test('as JSON a sync says all that it found and did', async () => {
  const { json, write, folder } = kept();
  write('list', ids(1500));
  expect(await json(sync)).toEqual({
    ...{ uid: 'w-0', destinationUrl: hook, registered: true, checked: false, replaced: null, gapMs: null },
    ...{ wanted: 1500, confirmed: 0, missing: 1500, sent: 1500, rejected: 0, notRemovable: 0 },
    secretFile: join(folder, 'hook.secret'),
  });
  const open = kept();
  open.write('list', ids(1));
  const { out: shown } = await open.sotra(`webhook sync --url ${hook} --file @list --json`);
  const { secretFile, ...result } = JSON.parse(shown);
  expect([readFileSync(secretFile, 'utf8'), result]).toMatchObject(['whsec_0\n', { sent: 1 }]);
  expect(shown).not.toContain('whsec_');
  const { out: again, err } = await open.sotra(`webhook sync --url ${hook} --file @list --json --show-secrets`);
  expect([JSON.parse(again), err]).toMatchObject([{ secret: 'whsec_0' }, '']);
});

test('as JSON it says what was there before, and what holds after', async () => {
  const { sotra, json, write, uploads, uids } = kept();
  const told = (more: string) => json(`${sync} ${more}`);
  write('list', ids(30));
  const unmade = { uid: null, confirmed: 0, missing: 30, registered: false, checked: true };
  expect(await told('--check')).toMatchObject(unmade);
  await sotra(sync);
  expect(await told('')).toMatchObject({ uid: 'w-0', confirmed: 30, missing: 0, sent: 0, registered: false });
  write('list', ids(31));
  expect(await told('--check')).toMatchObject({ confirmed: 30, missing: 1, notRemovable: 0 });
  write('list', ids(5));
  const left = { confirmed: 30, missing: 0, notRemovable: 25 };
  expect(await told('--check')).toMatchObject(left);
  expect(await told('')).toMatchObject({ ...left, sent: 0 });
  expect(await told('--replace --check')).toMatchObject({ ...left, missing: 5, replaced: 'w-0' });
  expect(uids()).toEqual(['w-0']);
  const made = { uid: 'w-1', registered: true, replaced: 'w-0', gapMs: null };
  const figures = { confirmed: 30, missing: 5, sent: 5, notRemovable: 0 };
  expect(await told('--replace --yes')).toMatchObject({ ...made, ...figures });
  const listed = () => uploads().filter((upload) => existsSync(join(upload, 'not-in-file.txt'))).length;
  expect(listed()).toBe(0);
  write('list', ids(4));
  expect([await told(''), listed()]).toMatchObject([{ notRemovable: 1 }, 1]);
  write('list', ids(5));
  expect([await told(''), listed()]).toMatchObject([{ notRemovable: 0 }, 0]);
  expect(await json('webhook sync w-1 --file @list')).toMatchObject({ uid: 'w-1', destinationUrl: hook, sent: 0 });
});

test('--check --curl shows the request of its first chunk', async () => {
  const { sotra, write, requests } = await synced(2);
  write('list', ids(3));
  const before = requests.length;
  const { out } = await sotra(`${sync} --check --curl`);
  expect(requests.slice(before).some(({ method }) => method !== 'GET')).toBe(false);
  expect(out).toContain('/v1/webhooks/feed/w-0');
  expect(out).toContain('{"walletAddresses":["ext:2"]}');
});

test('with --skip-invalid the result says how many lines were left out', async () => {
  const { sotra, json, write } = kept();
  write('list', `${ids(2)}nonsense\n`);
  expect((await sotra(sync)).code).toBe(2);
  const first = await sotra(`${sync} --skip-invalid`);
  expect(first.err.split('\n').at(-2)).toBe('Registered webhook w-0 with 2 addresses. Skipped 1 bad line.');
  write('list', `${ids(2)}nonsense\nmore\n`);
  expect(await json(`${sync} --skip-invalid`)).toMatchObject({ wanted: 2, sent: 0, rejected: 2 });
});

test('a file that is no place for a secret is refused before anything is sent; a check does not look at it', async () => {
  const { folder, sotra, write, requests } = kept();
  write('list', ids(2));
  const argv = `webhook sync --url ${hook} --file @list --secret-file @none/hook.secret`;
  const message = '--secret-file @none/hook.secret: cannot be written: no such file or directory';
  expect(await sotra(argv)).toEqual(failure(2, message));
  writeFileSync(join(folder, 'latin1'), Buffer.from([0xe9]));
  const latin1 = '--secret-file @latin1: cannot be written: @latin1 is not UTF-8 text: see byte 1';
  expect(await sotra(`webhook sync --url ${hook} --file @list --secret-file @latin1`)).toEqual(failure(2, latin1));
  expect(requests).toEqual([]);
  expect((await sotra(`${argv} --check`)).code).toBe(10);
});

test('a file of secrets is neither stdout, nor the file of addresses, nor the one of bad lines', async () => {
  const { sotra, write, read, requests } = kept();
  write('list', ids(2));
  write('hook.secret', 'whsec_of-before\n');
  const line = `webhook sync --url ${hook} --file @list`;
  const isList = '--secret-file @./list: that is the file of addresses\nhint: Name another file.';
  expect(await sotra(`${line} --secret-file @./list`)).toEqual(failure(2, isList));
  expect(await sotra(`${line} --secret-file -`)).toEqual(failure(2, '--secret-file -: must be a file\n'));
  expect(await sotra(`${line} --rejects -`)).toEqual(failure(2, '--rejects -: must be a file\n'));
  const isEmptied = '--rejects @hook.secret: that is @hook.secret, which would be emptied';
  const refused = await sotra(`${line} --secret-file @hook.secret --rejects @hook.secret --yes`);
  expect(refused).toEqual(failure(2, isEmptied));
  expect([requests, read('list'), read('hook.secret')]).toEqual([[], ids(2), 'whsec_of-before\n']);
});

test('--check exits with 10 only if something would be sent, with --exact also if addresses left the file, which are all listed', async () => {
  const { sotra, write, requests, folder } = kept();
  write('list', ids(30));
  const unknown = await sotra(`${sync} --check`);
  expect([unknown.code, unknown.err]).toEqual([10, 'Would register a webhook with 30 addresses.\n']);
  await sotra(sync);
  const before = requests.length;
  expect((await sotra(`${sync} --check`)).code).toBe(0);
  expect((await sotra(`${sync} --check --exact`)).code).toBe(0);
  write('list', ids(31));
  const one = await sotra(`${sync} --check`);
  expect([one.code, one.err]).toEqual([10, 'Would send 1 of 31 addresses to webhook w-0.\n']);
  write('list', ids(5));
  const { code, err } = await sotra(`${sync} --check`);
  const [, file = ''] = /are written to @(.*)\n/.exec(err) ?? [];
  expect([code, err]).toEqual([0, expect.stringContaining('Nothing would be sent: webhook w-0 has all 5 addresses')]);
  expect(err).toContain(
    '25 addresses of this webhook are not in the list; the service cannot remove them: see --replace.',
  );
  const listed = readFileSync(join(folder, file), 'utf8');
  expect(listed.trim().split('\n')).toHaveLength(25);
  expect((await sotra(`${sync} --check --exact`)).code).toBe(10);
  expect(requests.slice(before).every(({ method }) => method === 'GET')).toBe(true);
});

const evm = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${String(index).padStart(40, '0')}\n`).join('');
const solana = 'So11111111111111111111111111111111111111112';

test('--check names lines that are not addresses and addresses of another chain, and exits 2 before the service is asked', async () => {
  const { sotra, write, sent } = place();
  write('list', `${evm(30)}0x12\n${solana}\n`);
  for (const flag of ['--check', '--dry-run']) {
    const refused = await sotra(`${sync} ${flag}`);
    expect(refused).toEqual(failure(2, 'hint: Correct them, or check the rest with --skip-invalid.'));
    expect(refused.err.split('\n').slice(0, 3)).toEqual([
      'warning: line 31: 0x12: wrong length: 2 hex digits: an EVM address has 40',
      `warning: line 32: ${solana}: Solana, but 30 others are EVM`,
      'error: @list: 1 line is not an address, 1 address may be of another chain; nothing was sent',
    ]);
  }
  const { err } = await sotra(`${sync} --check --json`);
  expect(JSON.parse(err.split('\n').at(-2) ?? '').error.details.rejected).toMatchObject([{ line: 31 }, { line: 32 }]);
  expect(sent).toEqual([]);
});

test('--check counts duplicates, and --skip-invalid goes on with the other lines', async () => {
  const { sotra, write } = kept();
  write('list', `${evm(30)}${evm(2)}${solana}\n`);
  const checked = await sotra(`${sync} --check`);
  expect([checked.code, checked.err]).toEqual([
    2,
    expect.stringMatching(/^2 duplicates in the list\.\nwarning: line 33:/),
  ]);
  const { err } = await sotra(`${sync} --check --skip-invalid`);
  expect(err).toMatch(/^2 duplicates in the list\.\n.*\nWould register a webhook with 31 addresses\.\n$/);
});

test('a list with many addresses of both chains is clean, and sync sends a list with few of one', async () => {
  const { sotra, write } = kept();
  write('list', `${evm(5)}${solana}\n`);
  expect((await sotra(`${sync} --check`)).code).toBe(10);
  write('list', `${evm(30)}${solana}\n`);
  expect((await sotra(sync)).code).toBe(0);
});

test('--dry-run shows the next request, asks the service nothing, and keeps nothing', async () => {
  const { sotra, write, requests, uploads } = kept();
  write('list', ids(3));
  const first = await sotra(`${sync} --dry-run`);
  expect([first.code, first.err, uploads()]).toEqual([0, '3 addresses in 1 request.\n', []]);
  expect(first.out).toMatch(/^POST https:\/\/a\.example\.com\/v1\/webhooks\/feed\n/);
  expect((await sotra(`${sync} --check --dry-run`)).code).toBe(10);
  await sotra(sync);
  const before = requests.length;
  expect((await sotra(`${sync} --dry-run`)).err).toBe('Nothing would be sent: webhook w-0 has all 3 addresses.\n');
  write('list', ids(2));
  const replacing = await sotra(`${sync} --dry-run --replace`);
  expect(replacing.out).toMatch(/^POST .*"walletAddresses":\["ext:0","ext:1"\]/s);
  expect(replacing.err).toContain('Would replace webhook w-0: registers a new one, and deletes the old one.\n');
  expect(requests).toHaveLength(before);
});

test('an interrupted sync sends what is missing, even if the file changed, and leaves no unfinished upload', async () => {
  const { sotra, write, holds, fault, sent } = kept();
  write('list', ids(3500));
  fault.answer = ({ method }, count) => (method === 'PUT' && count > 1 ? [400, { error: 'no' }] : undefined);
  const { code, err } = await sotra(`${sync} --concurrency 1`);
  expect([code, err]).toEqual([10, expect.stringContaining('2,000 of 3,500 addresses confirmed, then: ')]);
  expect((await sotra('webhook list')).err).toContain(`continue with: sotra ${sync}`);
  fault.answer = () => undefined;
  write('list', `ext:new\n${ids(3500)}`);
  expect((await sotra(sync)).err).toBe('Sent 1,501 of 3,501 addresses to webhook w-0, which has all of them now.\n');
  expect([holds('w-0').length, new Set(sent).size, sent.length]).toEqual([3501, 3501, 3501]);
  expect((await sotra('webhook list')).err).toBe('');
});

test('what webhook register left half-way is continued by sync', async () => {
  const { sotra, write, holds, fault, sent } = kept();
  write('list', ids(2500));
  fault.answer = ({ method }, count) => (method === 'PUT' && count > 1 ? [400, { error: 'no' }] : undefined);
  expect((await sotra(`webhook register --url ${hook} --file @list --concurrency 1`)).code).toBe(10);
  fault.answer = () => undefined;
  expect((await sotra(sync)).err).toBe('Sent 500 of 2,500 addresses to webhook w-0, which has all of them now.\n');
  expect([holds('w-0').length, sent.length]).toEqual([2500, 2500]);
  expect((await sotra('webhook list')).err).toBe('');
  expect((await sotra(`${register} @list`)).err).toContain('Nothing was sent: webhook w-0 has all 2,500 addresses.');
});

test('a webhook that this machine did not make is sent the whole file; its secret is written if the service shows it', async () => {
  const shown = kept();
  shown.hooks.push({ uid: 'w-9', destinationUrl: hook, secret: 'whsec_of-before' });
  shown.fault.answer = ({ method }) => (method === 'PUT' ? [200, {}] : undefined);
  shown.write('list', ids(2));
  expect((await shown.sotra(sync)).err).toContain('Sent 2 of 2 addresses to webhook w-9');
  expect(shown.read('hook.secret')).toBe('whsec_of-before\n');
  const silent = kept({ toldOnce: true });
  silent.hooks.push({ uid: 'w-9', destinationUrl: hook, secret: 'whsec_of-before' });
  silent.write('list', ids(2));
  const unknown = await silent.sotra(sync);
  const message =
    'webhook w-9 exists, but its secret is not stored on this machine, and the service does not show it\n';
  expect(unknown).toEqual(failure(5, message));
  expect(unknown.err).toContain('--replace makes a webhook with a new one');
  expect(silent.methods()).toBe('GET');
});

/** The request by which another machine registers the same destination. */
const otherPost = ['POST', '/v1/webhooks/feed', JSON.stringify({ destinationUrl: hook, walletAddresses: [] })] as const;

test.each([
  ['deletes its own', {}, 1],
  ['deletes its own (the list lags behind)', {}, 2],
  ['makes none if one per URL is allowed', { onePerUrl: 409 }, 1],
])('of two that register a URL at once, the second uses the first webhook and %s', async (_, options, late) => {
  const { sotra, json, write, holds, uids, answer, fault, read } = kept(options);
  write('list', ids(1500));
  fault.answer = ({ method, url }, count) => {
    if (method !== 'GET' || count > late) return undefined;
    const listed = answer('GET', url.pathname, undefined);
    if (count === 1) answer(...otherPost);
    return count === 1 ? listed : [200, []];
  };
  const { out, err } = await sotra(`${sync} --json`);
  const warning = 'warning: another machine registered webhook w-0 for this destination: using it, and deleting w-1\n';
  expect(err).toBe('onePerUrl' in options ? '' : warning);
  expect(JSON.parse(out)).toMatchObject({ uid: 'w-0', registered: false, sent: 1500 });
  expect([uids(), holds('w-0').length, read('hook.secret')]).toEqual([['w-0'], 1500, 'whsec_0\n']);
  expect(await json(sync)).toMatchObject({ uid: 'w-0', sent: 0 });
});

test('a webhook that another machine registered later is used if it stays, and the own one if that goes', async () => {
  for (const [stays, uid] of [
    [true, 'w-1'],
    [false, 'w-0'],
  ] as const) {
    const { json, write, holds, uids, answer, fault } = kept();
    write('list', ids(3));
    fault.answer = ({ method, url, body }, count) => {
      if (method === 'GET' && count === 3 && !stays) answer('DELETE', '/v1/webhooks/feed/w-1', undefined);
      if (method !== 'POST') return undefined;
      const made = answer(method, url.pathname, body);
      answer(...otherPost);
      return made;
    };
    expect(await json(sync)).toMatchObject({ uid, registered: !stays });
    expect([uids(), holds(uid)]).toEqual([[uid], ['ext:0', 'ext:1', 'ext:2']]);
  }
});

test('a webhook that the service does not list within ten looks is named, as the next sync may register another', async () => {
  const { sotra, write, fault } = kept();
  write('list', ids(1));
  fault.answer = ({ method }) => (method === 'GET' ? [200, []] : undefined);
  const warning = 'warning: webhook w-0 is not listed yet: a sync before it is registers another\n';
  expect((await sotra(sync)).err).toBe(`${warning}Registered webhook w-0 with 1 address.\n`);
});

test('a webhook that is gone at the service is named before a new one is registered or another is used', async () => {
  const { sotra, answer, read } = await synced(2);
  answer('DELETE', '/v1/webhooks/feed/w-0', undefined);
  expect((await sotra(`${sync} --check`)).err).toContain('warning: webhook w-0 of an earlier run is gone\n');
  expect((await sotra(sync)).err).toBe(
    'warning: webhook w-0 of an earlier run is gone: registering a new one\nRegistered webhook w-1 with 2 addresses.\n',
  );
  // Deliveries that the old one signed may still be on their way.
  expect(read('hook.secret')).toBe('whsec_1\nwhsec_0\n');
  expect((await sotra(sync)).err).not.toContain('gone');
  answer('DELETE', '/v1/webhooks/feed/w-1', undefined);
  answer(...otherPost);
  expect((await sotra(sync)).err).toContain(
    'warning: webhook w-1 of an earlier run is gone: using w-2, which sends to the same address\n',
  );
});

test('a webhook that the list does not show yet, or shows with another form of its destination, is not registered again', async () => {
  const { sotra, hooks, fault, uids } = await synced(2);
  const nothing = 'Nothing was sent: webhook w-0 has all 2 addresses.\n';
  let looks = 0;
  fault.answer = () => {
    looks += 1;
    return looks <= 10 ? [200, []] : undefined;
  };
  const { err } = await sotra(sync, { tty: 200 });
  expect(err).toContain(' webhook w-0 is not in the list; trying again after 1 s\u001b');
  expect(err).toContain(nothing.trim());
  Object.assign(hooks[0] ?? {}, { destinationUrl: `${hook}?token=***` });
  expect([(await sotra(sync)).err, uids()]).toEqual([nothing, ['w-0']]);
});

test('one address that is confirmed is not called all', async () => {
  const { sotra } = await synced(1);
  expect((await sotra(sync)).err).toBe('Nothing was sent: webhook w-0 has this address.\n');
});

test('a webhook that the service does not know is exit 5, with the command that lists those it knows', async () => {
  const outcome = await run('--sandbox webhook validate no-such-uid');
  expect(outcome).toEqual(failure(5, 'hint: sotra webhook list shows the webhooks of your key.\n'));
});

test.each(['sync w-0', 'sync w-0 --check', 'add-addresses w-0'])(
  'webhook %s of a webhook that is gone is exit 5, also if all addresses are confirmed',
  async (typed) => {
    const { sotra, answer } = await synced(2);
    answer('DELETE', '/v1/webhooks/feed/w-0', undefined);
    expect(await sotra(`webhook ${typed} --file @list`)).toEqual(failure(5, 'error: webhook w-0 does not exist'));
  },
);

test.each([[[null]], [[{ uid: 'w-0' }]], [[{ uid: '', destinationUrl: hook }]]])(
  'with the list %j, which may lack a webhook, none is registered',
  async (list) => {
    const { sotra, write, fault, uids } = kept();
    write('list', ids(2));
    fault.answer = ({ method }) => (method === 'GET' ? [200, list] : undefined);
    expect(await sotra(sync)).toEqual(failure(13, 'answered with something other than a list of webhooks'));
    expect(uids()).toEqual([]);
  },
);

test('of several webhooks of one destination none is chosen, unless this machine made one of them', async () => {
  const { sotra, write, hooks } = kept();
  write('list', ids(2));
  for (const each of ['a', 'b']) hooks.push({ uid: each, destinationUrl: hook, secret: 'whsec_x' });
  const several = `error: 2 webhooks send to ${hook}\nhint: Name one instead of --url: a, b.`;
  expect(await sotra(sync)).toEqual(failure(6, several));
  hooks.splice(0);
  await sotra(sync);
  hooks.push({ uid: 'a', destinationUrl: hook, secret: 'whsec_x' });
  const { err: said } = await sotra(sync);
  expect(said).toContain('Nothing was sent: webhook w-0 has');
  expect(said).toContain(
    `warning: 2 webhooks send to ${hook}: w-0, a. This sync uses w-0; sotra webhook delete removes another.\n`,
  );
});

test.each([
  [
    '',
    '<uid> or --url is required: uid of the webhook, as in webhook list; destination of the webhook, instead of its uid',
  ],
  [`${uid} --url ${hook}`, '--url cannot be used with a uid'],
  [`${uid} --secret-file @s`, '--secret-file needs --url: destination of the webhook, instead of its uid'],
  [`${uid} --replace`, '--replace needs --url: destination of the webhook, instead of its uid'],
  [`${uid} --exact`, '--exact needs --check: send nothing; exit 10 if addresses are missing, 2 for bad lines'],
])('webhook sync %s is refused: %s', async (flags, message) => {
  const { sotra, write, requests } = kept();
  write('list', ids(2));
  expect(await sotra(`webhook sync ${flags} --file @list`)).toEqual(failure(2, `error: ${message}\n`));
  expect(requests).toEqual([]);
});

test('--replace makes a second webhook, has both secrets accepted, then deletes the old one; nothing leaves without a reason', async () => {
  const { sotra, write, holds, uids, read, requests } = await synced(2500);
  expect((await sotra(`${sync} --replace`)).err).toContain('Nothing was sent: webhook w-0');
  write('list', ids(2400));
  expect(await sotra(`${sync} --replace`)).toEqual(failure(2, 'Add --yes to do it without asking.'));
  const no = await sotra(`${sync} --replace`, { tty: 200, answers: ['n'] });
  expect(no).toEqual(failure(2, '100 addresses of it are not in the list.'));
  expect(uids()).toEqual(['w-0']);
  const before = requests.length;
  const { err } = await sotra(`${sync} --replace --yes`);
  expect(err).toBe('Replaced webhook w-0 by w-1 with 2,400 addresses.\n');
  expect([uids(), holds('w-1').length, read('hook.secret')]).toEqual([['w-1'], 2400, 'whsec_1\nwhsec_0\n']);
  const methods = requests.slice(before).map(({ method }) => method);
  expect(methods.join(' ')).toBe('GET POST GET PUT PUT DELETE');
  expect((await sotra(`${sync} --replace --yes`)).err).toContain('Nothing was sent: webhook w-1');
});

test('--replace replaces a webhook of which this machine knows nothing, whatever it holds', async () => {
  const { sotra, write, hooks, uids, holds } = kept();
  hooks.push({ uid: 'w-9', destinationUrl: hook, secret: 'whsec_of-before' });
  write('list', ids(2));
  expect((await sotra(`${sync} --replace --yes`)).err).toContain('Replaced webhook w-9 by w-0 with 2 addresses.\n');
  expect([uids(), holds('w-0')]).toEqual([['w-0'], ['ext:0', 'ext:1']]);
});

test('other lines of a secret file stay, and a file that already has the secret is not written again', async () => {
  const { folder, sotra, write, read } = kept();
  const fileId = () => statSync(join(folder, 'hook.secret')).ino;
  write('list', ids(3));
  write('hook.secret', '# both listeners\n  whsec_of-another \n');
  await sotra(sync);
  const before = fileId();
  write('list', ids(4));
  await sotra(sync);
  expect(fileId()).toBe(before);
  write('list', ids(2));
  await sotra(`${sync} --replace --yes`);
  expect(read('hook.secret')).toBe('whsec_1\nwhsec_0\n# both listeners\nwhsec_of-another\n');
});

test.each([400, 409, 422])(
  'if a second webhook is refused with %i, the old one is deleted first and the gap is reported',
  async (status) => {
    const { sotra, write, holds, hooks, read, requests } = await synced(3, { onePerUrl: status });
    write('list', ids(2));
    const before = requests.length;
    const { err } = await sotra(`${sync} --replace --yes`);
    expect(err).toMatch(
      /^Replaced webhook w-0 by w-1 with 2 addresses\. The old one was deleted first: for \d+\.\d s there was no webhook\.\n$/,
    );
    expect([hooks.length, holds('w-1'), read('hook.secret')]).toEqual([1, ['ext:0', 'ext:1'], 'whsec_1\nwhsec_0\n']);
    const methods = requests.slice(before).map(({ method }) => method);
    expect(methods.join(' ')).toBe('GET POST PUT DELETE POST GET DELETE');
  },
);

test('if the service refuses the list, the old webhook stays', async () => {
  const { sotra, write, uids, fault } = await synced(3);
  write('list', ids(2));
  fault.answer = ({ method }) => (method === 'POST' || method === 'PUT' ? [400, { error: 'bad list' }] : undefined);
  expect(await sotra(`${sync} --replace --yes`)).toEqual(failure(6, 'bad list'));
  expect(uids()).toEqual(['w-0']);
  expect((await sotra('webhook list')).err).toBe('');
});

test('if the old webhook is deleted and the new one cannot be made, the error says so, and the same line makes it', async () => {
  const { sotra, write, uids, fault } = await synced(3, { onePerUrl: 409 });
  write('list', ids(2));
  fault.answer = ({ method }, count) => (method === 'POST' && count > 2 ? [500, { error: 'broken' }] : undefined);
  const message = 'webhook w-0 had to be deleted first, and the new one is not registered yet: broken';
  expect(await sotra(`${sync} --replace --yes --retries 0`)).toEqual(failure(10, message));
  expect(uids()).toEqual([]);
  fault.answer = () => undefined;
  // A plain sync finishes it too, unasked.
  expect((await sotra(sync)).err).toContain(
    'Replaced webhook w-0 by w-1 with 2 addresses. The old one was deleted first',
  );
  expect([uids(), (await sotra('webhook list')).err]).toEqual([['w-1'], '']);
});

test('if another machine registers the URL after the old webhook was deleted, the next sync uses its webhook', async () => {
  const { sotra, json, write, holds, uids, answer, fault, read } = await synced(3, { onePerUrl: 409 });
  write('list', ids(2));
  fault.answer = ({ method }, count) => {
    if (method === 'POST' && count === 3) answer(...otherPost);
    return undefined;
  };
  expect((await sotra(`${sync} --replace --yes`)).code).toBe(10);
  expect(await json(sync)).toMatchObject({ uid: 'w-1', replaced: null, sent: 2 });
  expect([uids(), holds('w-1'), read('hook.secret')]).toEqual([['w-1'], ['ext:0', 'ext:1'], 'whsec_1\nwhsec_0\n']);
});

test('a replacement that was interrupted before the old webhook was deleted is finished by the next sync, two are never left', async () => {
  const { sotra, write, holds, uids, fault } = await synced(2500);
  write('list', ids(2400));
  fault.answer = ({ method }) => (method === 'DELETE' ? [500, { error: 'broken' }] : undefined);
  expect((await sotra(`${sync} --replace --yes --retries 0`)).code).toBe(8);
  expect(uids()).toEqual(['w-0', 'w-1']);
  const check = await sotra(`${sync} --check`);
  expect([check.code, check.err]).toEqual([
    10,
    `The upload to webhook w-1 is not finished; continue with: sotra ${sync}\nWould replace webhook w-0 by one with 2,400 addresses.\n`,
  ]);
  fault.answer = () => undefined;
  write('list', ids(2401));
  expect((await sotra(sync)).err).toBe('Replaced webhook w-0 by w-1 with 2,401 addresses.\n');
  expect([uids(), holds('w-1').length]).toEqual([['w-1'], 2401]);
});

test('a check changes nothing of an unfinished replacement, also if its webhook is gone; the next sync goes on with the old one', async () => {
  const { sotra, write, hooks, uids, uploads, fault } = await synced(3);
  write('list', ids(2));
  fault.answer = ({ method }) => (method === 'DELETE' ? [500, { error: 'broken' }] : undefined);
  await sotra(`${sync} --replace --yes --retries 0`);
  fault.answer = () => undefined;
  hooks.splice(1);
  const state = () => readFileSync(join(uploads()[0] ?? '', 'state.json'), 'utf8');
  const before = state();
  expect((await sotra(`${sync} --check`)).code).toBe(10);
  expect(state()).toBe(before);
  expect((await sotra(sync)).code).toBe(0);
  expect([uids(), (await sotra('webhook list')).err]).toEqual([['w-0'], '']);
});

test('credentials in a URL are neither stored nor shown', async () => {
  const { sotra, write, uploads, fault } = kept();
  write('list', ids(1500));
  fault.answer = ({ method }) => (method === 'PUT' ? [400, { error: 'no' }] : undefined);
  const line = 'webhook sync --url https://d.example.com/hook?token=hunter3 --file @list';
  expect((await sotra(line)).code).toBe(10);
  const { err } = await sotra('webhook list');
  const states = uploads().map((upload) => readFileSync(join(upload, 'state.json'), 'utf8'));
  expect(`${err}${states.join('')}`).not.toMatch(/hunter/);
  fault.answer = () => undefined;
  expect((await sotra(line)).code).toBe(0);
});
