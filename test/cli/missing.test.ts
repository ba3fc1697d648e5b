import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';

const first = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const second = '0x69247dc5319cf2417e8c2b02e8608da749e6ee01';
const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const place = () => ({ SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() });

test('a required argument that is missing is a usage error, on a terminal too', async () => {
  for (const [argv, says] of [
    ['--sandbox profile get', '<identifier> is required: '],
    ['--sandbox profile positions', '<identifier> and <status> are required: '],
    ['context use', '<name> is required: '],
  ] as const)
    expect([argv, await run(argv, { env: place(), tty: 80, answers: ['1', '1'] })]).toEqual([
      argv,
      { code: 2, out: '', err: expect.stringContaining(`error: ${says}`) },
    ]);
});

test('a rank or a name of the last answers stands for a trader', async () => {
  const env = place();
  const unknown = await run('--sandbox leaderboard rank #2', { env });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('has no such place')]);
  await run('--sandbox leaderboard list --limit 3', { env, tty: 120 });
  for (const who of ['#2', 'cobalt.alpha.test', 'Cobalt.Alpha.TEST', '0x6924…ee01', '0x6924...ee01']) {
    const { out } = await run(['--sandbox', 'profile', 'get', who, '--json'], { env });
    expect([who, out]).toEqual([who, expect.stringContaining(second)]);
  }
  await run('--sandbox leaderboard list --limit 1 --chains solana', { env, tty: 120 });
  expect((await run('--sandbox leaderboard rank #2', { env })).code).toBe(2);
});

const swap = `--chain base --tx 0x${'ab'.repeat(32)} --token ${token} --text gm`;

/** Every input that takes a trader, as a line that shows what would be sent or changed. */
const takers: Record<string, string> = {
  'alias set <identifier>': 'alias set @it #2 --dry-run',
  'comment copy --actor-address': `comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token ${token} --chain base --actor-address #2 --dry-run`,
  'comment copy --actor-addresses': `comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token ${token} --chain base --actor-addresses #2,#1 --dry-run`,
  'comment list --viewer-addresses': `comment list 0x${'1'.repeat(64)} --chain base --viewer-addresses #2 --curl`,
  'comment post --signer': `comment post ${swap} --signature 0x${'11'.repeat(65)} --signer #2 --dry-run`,
  'comment sign --signer': `comment sign ${swap} --browser --signer #2 --preview`,
  'comment verify --signer': `comment verify ${swap} --signature 0x${'11'.repeat(65)} --signer #2 --json`,
  'feed actor <identifier>': 'feed actor #2 --curl',
  'feed home <address...>': 'feed home #2 --curl',
  'follow add <follower>': 'follow add #2 ext:1 --dry-run',
  'follow add <target...>': 'follow add ext:1 #2 --dry-run',
  'follow remove <follower>': 'follow remove #2 ext:1 --dry-run',
  'follow remove <target...>': 'follow remove ext:1 #2 --dry-run',
  'leaderboard copytraded --address': 'leaderboard copytraded --address #2 --curl',
  'leaderboard copytraded --viewer-addresses': 'leaderboard copytraded --viewer-addresses #2 --curl',
  'leaderboard list --viewer-addresses': 'leaderboard list --viewer-addresses #2 --curl',
  'leaderboard rank <address>': 'leaderboard rank #2 --curl',
  'position find --viewer-addresses': `position find ${first} base ${token} 1795361762 --viewer-addresses #2 --curl`,
  'position find <address>': `position find #2 base ${token} 1795361762 --curl`,
  'position get --viewer-addresses': 'position get 5574bd46-fcaf-5c88-a2bb-2f161fa0463d --viewer-addresses #2 --curl',
  'profile delete-name <identifier>': 'profile delete-name #2 --dry-run',
  'profile followers <identifier>': 'profile followers #2 --curl',
  'profile follows <identifier>': 'profile follows #2 --curl',
  'profile get --viewer-addresses': 'profile get ext:1 --viewer-addresses #2 --curl',
  'profile get <identifier>': 'profile get #2 --curl',
  'profile positions <identifier>': 'profile positions #2 open --curl',
  'profile set-name <identifier>': 'profile set-name #2 --name moon --dry-run',
  'sandbox trade --trader': `sandbox trade --chain base --token ${token} --side buy --amount 1 --usd 1 --trader #2 --dry-run`,
  'webhook add-addresses --wallet-addresses':
    'webhook add-addresses 6dc8f757-9875-4f3e-bb4f-40a2106a62cd --wallet-addresses #2 --dry-run',
  'webhook events --address': 'webhook events --address #2',
  'webhook register --wallet-addresses':
    'webhook register --url http://127.0.0.1:9/hook --wallet-addresses #2 --dry-run',
  'webhook sync --wallet-addresses':
    'webhook sync 6dc8f757-9875-4f3e-bb4f-40a2106a62cd --wallet-addresses #2 --dry-run',
};

test('a rank stands for a trader in every input that takes one, and the address is said', async () => {
  const inputs = outlines.flatMap(({ words, fields }) =>
    fields.filter(({ identifier }) => identifier === true).map(({ label }) => `${words.join(' ')} ${label}`),
  );
  expect(inputs.sort()).toEqual(Object.keys(takers).sort());
  const env = { ...place(), SOTRA_CONTEXT: 'sandbox' };
  await run('leaderboard list --limit 3', { env, tty: 120 });
  for (const line of Object.values(takers)) {
    const { out, err } = await run(line, { env });
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

test('a name stands for the one who has it; one that two have, or a trader and a key of yours, is refused with both', async () => {
  const env = place();
  await run('key generate mine --password-file -', { env, stdin: 'a long password' });
  const { address } = JSON.parse((await run('key list --json', { env })).out)[0];
  expect((await run('--sandbox profile get mine --curl', { env })).out).toContain(address);
  const service = await show(env, [
    ['bob', one],
    ['mine', two],
    ['twin', one],
    ['Twin\u200b', two],
  ]);
  const get = (name: string) => run(['profile', 'get', name, '--curl'], { env: { ...env, ...service } });
  expect([(await get('Bob')).out, (await get('Bob')).err]).toEqual([
    expect.stringContaining(one),
    expect.stringContaining(`Bob is ${one}.`),
  ]);
  for (const [name, both] of [
    ['mine', `mine: 2 have this name: ${address}, ${two}`],
    ['twin', `twin: 2 have this name: ${one}, ${two}`],
  ] as const) {
    const { code, err } = await get(name);
    expect([name, code, err]).toEqual([name, 2, expect.stringContaining(both)]);
    expect(err).toContain('Give the address of the one you mean.');
  }
  // What one service calls somebody means nothing at another.
  const elsewhere = await run('--sandbox profile get bob', { env });
  expect([elsewhere.code, elsewhere.err]).toEqual([2, expect.stringContaining('A name works once an answer')]);
});

test('a handle stands for its trader; the sandbox knows its traders before it has listed them', async () => {
  const env = place();
  const mossy = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  for (const name of [
    'mossyledger',
    'Mossyledger_',
    'mossyledger.eth',
    'mossyledger.alpha.test',
    'twitter:mossyledger_',
    'farcaster:Mossyledger',
    '@mossyledger_',
  ]) {
    const { code, out, err } = await run(['--sandbox', 'profile', 'get', name, '--jq', '.name'], { env });
    expect([code, out, err]).toEqual([0, 'mossyledger.alpha.test\n', `${name.replace('@', '')} is ${mossy}.\n`]);
  }
  const { env: service } = await answering({
    traders: [{ profile: { name: 'Ann', addresses: [one], metadata: { twitterHandle: 'ann_t', farcasterId: 7 } } }],
  });
  const elsewhere = { ...env, ...service };
  await run('leaderboard list', { env: elsewhere });
  expect((await run('profile get Ann_T --curl', { env: elsewhere })).err).toBe(`Ann_T is ${one}.\n`);
  expect((await run('profile get twitter:ann_t --curl', { env: elsewhere })).err).toBe(`twitter:ann_t is ${one}.\n`);
  expect((await run('profile get @ann_t --curl', { env: elsewhere })).err).toBe(`ann_t is ${one}.\n`);
  for (const nobody of ['mossyledger', 'farcaster:ann_t', '@nobody'])
    expect((await run(['profile', 'get', nobody, '--curl'], { env: elsewhere })).code).toBe(2);
  // A saved name comes first, and one that is nearly typed.
  await run(`alias set @ann_t ${two}`, { env: elsewhere });
  expect((await run('profile get @ann_t --curl', { env: elsewhere })).out).toContain(two);
  expect((await run('profile get @annt --curl', { env: elsewhere })).err).toContain('Did you mean @ann_t?');
});

test('a symbol in place of the address of a token is refused before anything is sent, with the token that is meant', async () => {
  const env = place();
  const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
  const service = await answering([
    { metadata: { tokenChain: 'base', tokenSymbol: 'CAT', tokenAddress: one } },
    { metadata: { tokenChain: 'base', tokenSymbol: 'cat', tokenAddress: two } },
    { metadata: { tokenChain: 'solana', tokenSymbol: 'DEGEN', tokenAddress: two } },
  ]);
  const elsewhere = { ...env, ...service.env };
  await run(`profile positions ${one} open`, { env: elsewhere });
  for (const [line, world, said] of [
    [
      '--sandbox token positions base degen open',
      env,
      `<contract> degen: not the address of a token on base\nhint: degen on base is ${degen}.`,
    ],
    ['--sandbox token comments base DEGEN', env, `DEGEN on base is ${degen}.`],
    ['--sandbox position find mossyledger base DEGEN now', env, `DEGEN on base is ${degen}.`],
    ['--sandbox token positions base NOPE open', env, 'Give its contract address or mint'],
    ['--sandbox token positions solana DEGEN open', env, 'Give its contract address or mint'],
    ['token positions base CAT open', elsewhere, `Several have this symbol: ${one}, ${two}.`],
    ['token positions solana DEGEN open', elsewhere, `DEGEN on solana is ${two}.`],
  ] as const) {
    const { code, err } = await run(line, { env: world });
    expect([line, code, err]).toEqual([line, 2, expect.stringContaining(said)]);
  }
  expect(service.requests).toHaveLength(1);
  // Coins of Hyperliquid, and tokens of chains that the document does not name, are called by any text.
  expect((await run('--sandbox token positions hyperliquid ETH open --limit 1', { env })).code).toBe(0);
  expect((await run('token positions sui 0x2::sui::SUI open', { env: elsewhere })).code).toBe(0);
});

test('a later trader of the same name does not take the place of an earlier one', async () => {
  const env = place();
  const boards = [[['bob', one]], [['bob', two]]] as const;
  const { env: service } = await stub((_, response, count) => {
    const traders = boards[count - 1]?.map(([name, wallet]) => ({ profile: { name, addresses: [wallet] } }));
    response.end(JSON.stringify({ traders }));
  });
  const all = { ...env, ...service };
  for (const _ of boards) await run('leaderboard list', { env: all, tty: 120 });
  const { code, err } = await run('profile get bob', { env: all });
  expect([code, err]).toEqual([2, expect.stringContaining(`bob: 2 have this name: ${two}, ${one}`)]);
});

test('no command takes a reference of ours for the name of a trader', async () => {
  const env = place();
  const names = ['#2', '@whale', 'ext:7', '0x12', two, 'ABCD…wxyz', '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e'];
  const victim = `0x${'f'.repeat(40)}`;
  const service = await show(env, [['first', one], ['second', two], ...names.map((name) => [name, victim] as const)]);
  const taking = outlines.filter(
    ({ fields, uses }) =>
      fields.some((field) => field.positional && field.identifier === true) && uses.includes('requests'),
  );
  expect(taking.map(({ words }) => words.join(' '))).toEqual(
    expect.arrayContaining([
      'profile get',
      'follow add',
      'follow remove',
      'feed actor',
      'leaderboard rank',
      'profile positions',
    ]),
  );
  for (const { words, examples } of taking)
    for (const name of names) {
      const example = examples[0]?.argv.split(' ').filter((word) => !/^--(sandbox|json)$/.test(word)) ?? [];
      const argv = example.map((word) => (/^0x[0-9a-f]{40}$|^ext:/.test(word) ? name : word));
      const { out, err } = await run([...argv, '--dry-run'], { env: { ...env, ...service } });
      expect([words, name, (out + err).includes(victim)]).toEqual([words, name, false]);
    }
  const second = await run(['follow', 'add', one, '#2', '--curl'], { env: { ...env, ...service } });
  expect([second.out.includes(two), second.err]).toEqual([true, expect.stringContaining(`#2 is ${two}.`)]);
});

test('an unknown word after a noun points to the help of the noun', async () => {
  for (const [line, help] of [
    ['webhook nothing', 'See sotra webhook --help.'],
    ['nothing', 'See sotra --help.'],
  ] as const)
    expect([line, (await run(line)).err]).toEqual([line, expect.stringContaining(help)]);
});
