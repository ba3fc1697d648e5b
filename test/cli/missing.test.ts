import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';

const first = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const second = '0x69247dc5319cf2417e8c2b02e8608da749e6ee01';
const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const noName = 'a name or row (#3) of the last board';

test('a row or a name of the last board works as its trader', async () => {
  const { env } = newUser();
  expect(await run('--sandbox leaderboard rank #2', { env })).toEqual(failure(2, 'has no such row'));
  expect(await run('--sandbox profile get cobalt.alpha.test', { env })).toEqual(failure(2, noName));
  await run('--sandbox leaderboard list --limit 3', { env, tty: 120 });
  for (const who of ['#2', 'cobalt.alpha.test', 'Cobalt.Alpha.TEST']) {
    const { out, err } = await run(['--sandbox', 'profile', 'get', who, '--json'], { env });
    expect([who, out, err]).toEqual([who, expect.stringContaining(second), `${who} is ${second}.\n`]);
  }
  await run('--sandbox leaderboard list --limit 1 --chains solana', { env, tty: 120 });
  for (const who of ['#2', 'cobalt.alpha.test'])
    expect([who, (await run(['--sandbox', 'leaderboard', 'rank', who], { env })).code]).toEqual([who, 2]);
});

test('what other answers named is not a name: a follower, a handle, a shortened address', async () => {
  const { env } = newUser();
  const profile = { name: 'Ann', addresses: [first], metadata: { twitterHandle: 'ann_t' } };
  const { env: service } = await answering({ items: [profile], ...profile });
  const all = { ...env, ...service };
  await run(`profile followers ${second}`, { env: all });
  await run(`profile get ${first}`, { env: all });
  for (const who of ['Ann', 'ann_t', '@ann_t', 'twitter:ann_t', '0x143c…8432'])
    expect([who, (await run(['profile', 'get', who, '--curl'], { env: all })).code]).toEqual([who, 2]);
});

const swap = `--chain base --tx 0x${'ab'.repeat(32)} --token ${token} --text gm`;

/** Inputs that take a trader, of each kind, as lines that show what would be sent or changed. */
const takers: readonly string[] = [
  'feed actor #2 --curl',
  'feed home #2 --curl',
  'leaderboard copytraded --address #2 --curl',
  'leaderboard list --viewer-addresses #2 --curl',
  `position find #2 base ${token} 1795361762 --curl`,
  'profile positions #2 open --curl',
  'webhook events --address #2',
  `comment verify ${swap} --signature 0x${'11'.repeat(65)} --signer #2 --json`,
  'alias set @it #2 --dry-run',
  `comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token ${token} --chain base --actor-addresses #2,#1 --dry-run`,
  `comment sign ${swap} --browser --signer #2 --dry-run`,
  'follow add #2 ext:1 --dry-run',
  'follow remove ext:1 #2 --dry-run',
  'profile delete-name #2 --dry-run',
  `sandbox trade --chain base --token ${token} --side buy --amount 1 --usd 1 --trader #2 --dry-run`,
  'webhook register --url http://127.0.0.1:9/hook --wallet-addresses #2 --dry-run',
];

/** Commands that change or send something take an address, an id, an alias or a stored key. */
const writes =
  /^(?:alias set|comment (?:copy|post|sign)|follow |profile (?:delete|set)-name|sandbox trade|webhook (?:add|register|sync))/;

test('a row works as a trader in commands that read; one that writes refuses it before it sends anything', async () => {
  const env = { ...newUser().env, SOTRA_CONTEXT: 'sandbox' };
  await run('leaderboard list --limit 3', { env, tty: 120 });
  for (const line of takers) {
    const { code, out, err } = await run(line, { env });
    if (writes.test(line)) {
      const error = '#2: a command that changes or sends something takes no row of a board\nhint: Give an address,';
      expect([line, code, out, err]).toEqual([line, 2, '', expect.stringContaining(error)]);
      continue;
    }
    expect([line, err]).toEqual([line, expect.stringContaining(`#2 is ${second}.`)]);
    if (line.includes('--curl')) expect([line, out.toLowerCase()]).toEqual([line, expect.stringContaining(second)]);
  }
});

/** Shows a board of these traders on a terminal; what is shown there may be named afterwards. */
async function show(env: Record<string, string>, traders: readonly (readonly [name: string, wallet: string])[]) {
  const { env: service } = await answering({
    traders: traders.map(([name, wallet]) => ({ profile: { name, addresses: [wallet] } })),
  });
  await run('leaderboard list', { env: { ...env, ...service }, tty: 120 });
  return service;
}

const [one, two] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];

test('a name works as its trader; one that two traders have, or a trader and a key of yours, is refused with both', async () => {
  const { env } = newUser();
  await run('key generate mine --password-file -', { env, stdin: 'a long password' });
  const { address } = (await runJson('key list', { env }))[0];
  expect((await run('--sandbox profile get mine --curl', { env })).out).toContain(address);
  const service = await show(env, [
    ['bob', one],
    ['mine', two],
    ['twin', one],
    ['Twin\u200b', two],
  ]);
  const get = (name: string) => run(['profile', 'get', name, '--curl'], { env: { ...env, ...service } });
  expect((await get('Bob')).err).toContain(`Bob is ${one}.`);
  for (const [name, both] of [
    ['mine', `mine: 2 have this name: ${address}, ${two}`],
    ['twin', `twin: 2 have this name: ${one}, ${two}`],
  ] as const) {
    const refused = await get(name);
    expect(refused).toEqual(failure(2, both));
    expect(refused.err).toContain('Give the address of the one you mean.');
  }
  // What one service calls somebody means nothing at another.
  expect(await run('--sandbox profile get bob', { env })).toEqual(failure(2, noName));
});

test('a command that writes accepts an alias or a stored key, but no name of the board', async () => {
  const { env } = newUser();
  await run('key generate mine --password-file -', { env, stdin: 'a long password' });
  const { address } = (await runJson('key list', { env }))[0];
  await run(`alias set @whale ${two}`, { env });
  const service = await show(env, [['bob', one]]);
  const add = (who: string) => run(['follow', 'add', 'ext:1', who, '--curl'], { env: { ...env, ...service } });
  expect((await add('mine')).out).toContain(address);
  for (const who of ['@whale', 'whale'])
    expect([who, (await add(who)).out]).toEqual([who, expect.stringContaining(two)]);
  expect(await add('bob')).toEqual(failure(2, `Commands that read also take ${noName}`));
});

test('a symbol instead of the address of a token is refused before anything is sent', async () => {
  const { env: service, requests } = await answering([]);
  for (const line of [
    'token positions base degen open',
    'token comments base DEGEN',
    `position find ${one} base DEGEN now`,
    'token positions solana DEGEN open',
  ]) {
    const { code, err } = await run(line, { env: service });
    const error = /<contract> degen: not the address of a token on (?:base|solana)\nhint: Give its contract/i;
    expect([line, code, err]).toEqual([line, 2, expect.stringMatching(error)]);
  }
  expect(requests).toEqual([]);
});

test('no command takes a reference of ours for the name of a trader', async () => {
  const { env } = newUser();
  const names = ['#2', '@whale', 'ext:7', '0x12', two, 'ABCD…wxyz', '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e'];
  const victim = `0x${'f'.repeat(40)}`;
  const service = await show(env, [['first', one], ['second', two], ...names.map((name) => [name, victim] as const)]);
  const taking = outlines.filter(
    ({ fields, sendsRequests }) =>
      fields.some((field) => field.positional && field.identifier === 'trader') && sendsRequests,
  );
  expect(taking.length).toBeGreaterThan(8);
  for (const { words, examples } of taking)
    for (const name of names) {
      const example = examples[0]?.argv.split(' ').filter((word) => !/^--(sandbox|json)$/.test(word)) ?? [];
      const argv = example.map((word) => (/^0x[0-9a-f]{40}$|^ext:/.test(word) ? name : word));
      const { out, err } = await run([...argv, '--dry-run'], { env: { ...env, ...service } });
      expect([words, name, (out + err).includes(victim)]).toEqual([words, name, false]);
    }
  const second = await run(['profile', 'get', '#2', '--curl'], { env: { ...env, ...service } });
  expect([second.out.includes(two), second.err]).toEqual([true, expect.stringContaining(`#2 is ${two}.`)]);
});
