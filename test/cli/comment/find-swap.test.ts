import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cardOf } from '../../support/feed-cards.ts';
import { answering, failure, run, runJson, type Stub, stub } from '../../support/harness.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps, tradersWorld } from '../../support/traders.ts';

const named = ['--service-name', 'Example', '--yes'];
const post = (...words: string[]) => ['--sandbox', 'comment', 'post', ...words, '--yes'];

test('--last is about the newest swap of the signer without a comment, and then about the next', async () => {
  const { env, keys } = await tradersWorld();
  const words = post('gm', '--key-file', keys.evm, '--last');
  const tx = async () => (await runJson(words, { env })).transactionHash;
  expect([await tx(), await tx(), await tx()]).toEqual([swaps.order, swaps.third, swaps.second]);
  const solana = await run([...post('gm', '--key-file', keys.solana, '--last'), '--json'], { env });
  expect(JSON.parse(solana.out)).toMatchObject({
    transactionHash: swaps.solana,
    chain: 'solana',
    tokenAddress: bonk,
    commentText: 'gm',
    signerAddress: solanaTrader.address,
  });
  expect(solana.err).toContain(`Commenting on: buy of BONK on solana for $80.00, `);
});

test('--last says which swap it is and how old; with --dry-run or --curl it posts nothing', async () => {
  const { env, keys } = await tradersWorld();
  const words = post('gm', '--key-file', keys.evm, '--last');
  const shown = await run([...words, '--dry-run'], { env });
  expect(shown.out).toContain('Comment: | gm');
  expect(shown.out).toContain(`"transactionHash":"${swaps.order}"`);
  expect((await run([...words, '--curl'], { env })).out).toMatch(/^curl .*\/v1\/swap-comments/);
  for (const { err } of [shown, await run(words, { env })])
    expect(err).toMatch(/^Commenting on: .* on hyperliquid for \$[\d,.]+, (?:just now|\w+ ago) \(\w+.*\)\n/);
});

test('a key from stdin is read once, a typed one is asked for once', async () => {
  const { env } = await tradersWorld();
  const read = await run(post('gm', '--key-stdin', '--last'), { env, stdin: `${evmTrader.key}\n` });
  expect(read.out).toContain(swaps.order);
  const typed = await run(post('gm', '--last'), { env, tty: 120, answers: [evmTrader.key] });
  expect(typed.out).toContain(swaps.third);
});

test('with --browser the wallet has to be named, which cannot be asked', async () => {
  const { env } = await tradersWorld();
  const refused = await run(post('gm', '--last', '--browser'), { env });
  expect(refused).toEqual(failure(2, 'error: --browser does not say which address signs\n'));
});

test('the address of a keystore is read before it is opened; one that does not say it has to be named', async () => {
  const { env, folder, keys } = await tradersWorld();
  const [password, file] = [join(folder, 'password'), join(folder, 'other.json')];
  writeFileSync(password, 'open', { mode: 0o600 });
  const signs = (...source: string[]) =>
    run(post('gm', '--last', ...source, '--password-file', password, '--dry-run'), { env });
  await run(['key', 'import', 'trader', '--key-file', keys.evm, '--password-file', password], { env });
  await run(['key', 'import', 'sol', '--key-file', keys.solana, '--password-file', password], { env });
  const read = (name: string) =>
    JSON.parse(readFileSync(join(env['SOTRA_CONFIG_DIR'] ?? '', 'keys', `${name}.json`), 'utf8'));
  const write = (store: object) => writeFileSync(file, JSON.stringify(store), { mode: 0o600 });
  expect((await signs('--key', 'trader')).out).toContain(swaps.order);
  // With 0x, as some wallets write it, and without.
  for (const address of [evmTrader.address, evmTrader.address.slice(2).toLowerCase()]) {
    write({ ...read('trader'), address });
    expect((await signs('--key-file', file)).out).toContain(swaps.order);
  }
  write(read('sol'));
  expect((await signs('--key-file', file)).out).toContain(swaps.solana);
  const { address: _, ...nameless } = read('trader');
  write(nameless);
  const problem = `error: ${file} does not say its address\nhint: Name the wallet: --signer <address>.\n`;
  expect(await signs('--key-file', file)).toEqual(failure(2, problem));
  expect((await signs('--key-file', file, '--signer', evmTrader.address)).out).toContain(swaps.order);
});

const card = (id: string, atSec: number, address: string, trades?: unknown[]) => {
  const { metadata, ...rest } = cardOf(id, atSec) as { metadata: object };
  return { ...rest, actor: { address }, metadata: { ...metadata, tokenAddress: degen, ...(trades && { trades }) } };
};

/** A service that lists of each position only the trades that have comments, as the interface document says. */
function feedOf(...items: unknown[]): Promise<Stub> {
  return stub(({ method, body }, response) => {
    const posted = { uid: 'u', timestamp: 1, ...JSON.parse(body || '{}') };
    response.end(JSON.stringify(method === 'GET' ? { items } : { ...posted, metrics: undefined }));
  });
}

test('the latest swap of a position counts though no list of trades has it; those of other wallets and commented ones do not', async () => {
  const { keys } = await tradersWorld();
  const commented = { tokenAmount: 1, usdCost: 1, timestamp: 20, transactionHash: '0xc2', direction: 'buy' };
  const comment = { uid: 'u', transactionHash: '0xc2', chain: 'base', tokenAddress: degen, commentText: 'x' };
  const service = await feedOf(
    card('c3', 30, degen, []),
    card('c2', 20, evmTrader.address, [
      { ...commented, comments: [{ ...comment, timestamp: 1, signerAddress: evmTrader.address }] },
    ]),
    { ...card('c1', 10, evmTrader.address.toLowerCase(), []), transactionHash: swaps.good },
  );
  const posted = await run(['comment', 'post', 'gm', '--last', '--key-file', keys.evm, ...named], { env: service.env });
  expect([posted.code, posted.out]).toEqual([0, expect.stringContaining(swaps.good)]);
  expect(service.requests.map(({ url }) => url)).toEqual([
    `/v1/feed/actor?identifier=${evmTrader.address}&chains=all`,
    '/v1/swap-comments',
  ]);
});

test('--last says so if every swap has a comment, and sends nothing', async () => {
  const { keys } = await tradersWorld();
  const service = await answering({ items: [] });
  const words = ['comment', 'post', 'gm', '--last', '--key-file', keys.evm, ...named];
  const message = `error: no recent swap of ${evmTrader.address} can take a comment\nhint: A swap takes one comment and must`;
  expect(await run(words, { env: service.env })).toEqual(failure(5, message));
  expect(service.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('comment post --last without a comment is refused before anything is sent', async () => {
  const { keys } = await tradersWorld();
  const service = await answering({ items: [] });
  const refused = await run(`comment post --last --key-file ${keys.evm}`, { env: service.env });
  expect(refused).toEqual(failure(2, 'error: the comment is missing\n'));
  expect(service.requests).toEqual([]);
});

test('comment sign also accepts the text as its argument', async () => {
  const swap = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example --dry-run --json`;
  const argument = await run(`comment sign gm ${swap}`);
  expect(argument).toEqual(await run(`comment sign --text gm ${swap}`));
  expect(JSON.parse(argument.out).message).toContain('Comment: gm');
});
