import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { now, wallet, worldOf } from '../../support/trades.ts';

const alice = wallet('a');
const gm = `0x${'0'.repeat(38)}61`;
const mint = 'So11111111111111111111111111111111111111112';
const account = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

const sentTime = async (chain: string, typed: string) => {
  const service = await answering({});
  const argv = ['position', 'find', alice, chain, chain === 'solana' ? mint : gm, typed];
  const outcome = await run(argv, { env: service.env, now });
  return service.requests[0]?.url.split('/').at(-1) ?? outcome;
};

test.each([
  ['base', '2026-11-20T11:30:00Z', '1795174200'],
  ['base', '2026-11-20T11:30:00.900Z', '1795174200'],
  ['base', '2026-11-20 11:30:00Z', '1795174200'],
  ['base', '2026-11-20T11:30:00', '1795174200'],
  ['base', '2026-11-20T12:30:00+01:00', '1795174200'],
  ['base', '1795174200', '1795174200'],
  ['base', '1795174200123', '1795174200'],
  ['base', 'now', '1795176000'],
  ['solana', '1795174200123', '1795174200'],
  ['hyperliquid', '1795174200123', '1795174200123'],
  ['hyperliquid', '1795174200', '1795174200000'],
  ['hyperliquid', '2026-11-20T11:30:00.123Z', '1795174200123'],
])('on %s the time %s is sent as %s', async (chain, typed, sent) => {
  expect(await sentTime(chain, typed)).toBe(sent);
});

const noTimes = 'yesterday 2026-13-40 2026-02-30 2026-11-20T25:00:00Z 20261127 0 1795174 1795174200123456 12:30';

test.each(noTimes.split(' '))(
  'a time that cannot be one (%s) is refused before any request, with examples',
  async (typed) => {
    const hint = 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.';
    expect(await sentTime('base', typed)).toEqual(failure(2, `<timestamp> ${typed}: not a time\nhint: ${hint}`));
  },
);

const find = async (env: Record<string, string>, argv: string) => {
  const { out, err, code } = await run(`--sandbox position find ${argv} --json`, { env, now });
  return code === 0 ? JSON.parse(out) : { code, out, err };
};

test('a position is found by any moment from its first trade to its last, and an open one until now', async () => {
  const env = await worldOf([
    `2026-11-20T09:00:00Z base ${alice} ${gm} buy 10 20`,
    `2026-11-20T10:00:00Z base ${alice} ${gm} sell 10 30`,
    `2026-11-20T11:00:00Z base ${alice} ${gm} buy 5 10`,
    `2026-11-20T12:00:00Z base ${wallet('b')} ${gm} buy 5 10`,
  ]);
  const at = async (time: string) => {
    const card = await find(env, `${alice} base ${gm} 2026-11-20T${time}Z`);
    return card.metadata?.trades.length ?? card.code;
  };
  expect([await at('09:00:00'), await at('09:30:00'), await at('10:00:00')]).toEqual([2, 2, 2]);
  expect([await at('11:00:00'), await at('11:59:59'), await at('12:00:00')]).toEqual([1, 1, 1]);
  const between = [await at('08:59:59'), await at('10:00:01'), await at('10:59:59'), await at('12:00:01')];
  expect(between).toEqual([5, 5, 5, 5]);
});

test('if one position closes and the next opens in the same second, the newer one is found', async () => {
  const env = await worldOf([
    `2026-11-20T11:00:00Z base ${alice} ${gm} buy 10 20`,
    `2026-11-20T12:00:00Z base ${alice} ${gm} sell 10 30`,
    `2026-11-20T12:00:00Z base ${alice} ${gm} buy 7 14`,
  ]);
  const card = await find(env, `${alice} base ${gm} 2026-11-20T12:00:00Z`);
  expect(card.metadata.positionAmount).toBe(7);
});

test('positions of a real account that turned from short to long and back differ by milliseconds', async () => {
  // Recorded fills of SUI; their spacing is real, their end is 2 h 53 min 56 s before the newest trade of the built-in world.
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const at = async (ms: number) => {
    const card = await find(env, `${account} hyperliquid SUI ${ms}`);
    return [card.metadata?.perpPositionType, card.metadata?.positionStats.realizedGainsUSD.toFixed(5)];
  };
  const last = 1795165564000; // 2026-11-20T12:00:00Z less that
  expect(await at(last - 239_675)).toEqual(['long', '-0.00236']); // the fill that turned it long
  expect(await at(last - 238_600)).toEqual(['long', '-0.00236']); // 2 ms before it turned short
  expect(await at(last - 238_598)).toEqual(['short', '0.09373']); // the fill that turned it short
  expect(await at(last - 230_000)).toEqual(['short', '0.09373']); // between two fills
  expect(await at(last - 225_894)).toEqual(['short', '1.20890']); // closed it, opened and closed a long, and sold on
  expect(await at(last)).toEqual(['long', '-23.60737']);
});

test('if nothing is found, the error says who, what and when, with exit 5', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const none = `${account} has no position in SUI on hyperliquid around 2026-01-01T00:00:00.000Z`;
  expect(await find(env, `${account} hyperliquid SUI 2026-01-01T00:00:00Z`)).toEqual(failure(5, none));
  const unknown = await run('--sandbox position get no-such-id', { env });
  expect(unknown).toEqual(failure(5, 'position no-such-id does not exist'));
});

const [holder, bob] = [wallet('a'), wallet('b')];
const [coin, gn] = [`0x${'0'.repeat(37)}abc`, `0x${'0'.repeat(37)}def`];
const twin = `0x${'1'.repeat(37)}abc`;

const world = () =>
  worldOf([
    `2026-11-20T10:00:00Z base ${holder} ${coin} buy 100 200`,
    `2026-11-20T10:10:00Z base ${holder} ${coin} sell 40 100`, // cost 80: +20, 60 left for 120
    `2026-11-20T10:20:00Z base ${holder} ${gn} buy 10 50`,
    `2026-11-20T10:30:00Z hyperliquid ${holder} ETH buy 10 20000 long 5`,
    `2026-11-20T12:00:00Z hyperliquid ${bob} ETH sell 20 44000 short 4`,
  ]);

const money = '--columns token,side,priceUsd,unrealizedUsd,totalUsd';

test('a price adds unrealized and total PnL; on perps it meets the figures with leverage, and a short gains what a long loses', async () => {
  const env = await world();
  const show = async (token: string, price: number) =>
    (await run(`--sandbox token positions ${token} open --price ${price} --format tsv ${money}`, { env, now })).out;
  expect(await show(`base ${coin}`, 3)).toContain('bc\tspot\t3\t60\t80\n');
  expect(await show('hyperliquid ETH', 2100)).toContain('TH\tshort\t2100\t2000\t2000\nTH\tlong\t2100\t1000\t1000\n');
});

function pricesFile(content: unknown): string {
  const file = join(temporaryFolder(), 'prices.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

test('a file gives each token its price, by symbol or first by address; a token without one has no price, never zero', async () => {
  const env = await world();
  const file = pricesFile({
    [`BASE:${coin.toUpperCase().replace('X', 'x')}`]: 3,
    bc: 9,
    th: 1900,
    [`base:${gn}`]: null,
  });
  const argv = `--sandbox profile positions ${holder} open --chains all --sort latest --prices-file ${file}`;
  const rows = await run(`${argv} --format csv ${money}`, { env, now });
  expect(rows.out.split('\n').slice(1, 4)).toEqual(['TH,long,1900,-1000,-1000', 'ef,spot,,,', 'bc,spot,3,60,80']);
  const shown = await run(`${argv} --format table`, { env, now, tty: 200 });
  const line = shown.out.split('\n').find((text) => text.includes(' ef '));
  expect(line?.match(/no price/g)).toHaveLength(2);
  expect(shown.out).toContain('-$1,000.00');
  expect(shown.out).toContain('+$60.00');
});

/** A service whose answer has two tokens of one symbol. */
async function twoOfOneSymbol() {
  const env = await worldOf([
    `2026-11-20T10:00:00Z base ${holder} ${coin} buy 100 200`,
    `2026-11-20T10:10:00Z base ${holder} ${twin} buy 10 100`,
  ]);
  const cards = await runJson(`--sandbox profile positions ${holder} open --chains base`, { env, now });
  for (const { metadata } of cards) metadata.tokenSymbol = 'PEPE';
  return answering(cards);
}

test('a price for one of two tokens that have the same symbol is refused', async () => {
  const service = await twoOfOneSymbol();
  const refused = await run(`profile positions ${holder} open --price 0.2`, { env: service.env });
  expect(refused).toEqual(failure(2, '--price is for one token, and these positions are in base:0x'));
  expect(refused.err).toContain(`base:${twin}`);
});

test('a file prices two tokens of one symbol by address; a symbol for both is a warning, a key for none is named', async () => {
  const service = await twoOfOneSymbol();
  const columns = '--format csv --columns tokenAddress,priceUsd,unrealizedUsd';
  const show = (content: object, more = '') =>
    run(`profile positions ${holder} open --prices-file ${pricesFile(content)} ${columns} ${more}`, service);
  const own = await show({ [coin.toUpperCase().replace('X', 'x')]: 3, [`base:${twin}`]: 12, 'base:0x12': 1, DOGE: 2 });
  expect(own.out.split('\n').slice(1, 3).sort()).toEqual([`${coin},3,100`, `${twin},12,20`]);
  expect(own.err).toMatch(/^warning: \S+prices.json: no position shown is in base:0x12, DOGE\n$/);
  const both = await show({ pepe: 3 });
  expect(both.err).toContain('warning: pepe priced 2 tokens: base:0x');
  const walked = await show({ pepe: 3, a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, '--all');
  expect(walked.err).toContain('prices.json: no position shown is in a, b, c, d, e and 1 more\n');
});

test('received tokens have a column of their own, which a note explains', async () => {
  const [card] = await runJson(`--sandbox token positions base ${coin} open`, { env: await world(), now });
  card.metadata.positionStats.holdingReceivedCostBasisUSD = 30;
  const { env } = await answering([card]);
  const columns = '--columns unrealizedUsd,unrealizedWithReceivedUsd';
  const { out, err } = await run(`token positions base ${coin} open --price 3 --format tsv ${columns}`, { env });
  expect(out).toContain('60\t30\n');
  expect(err).toContain('1 of these holds received tokens');
});

test('--price leaves JSON as the service sent it, with a note', async () => {
  const env = await world();
  const plain = await run(`--sandbox token positions base ${coin} open --json`, { env, now });
  const withPrice = await run(`--sandbox token positions base ${coin} open --price 3 --json`, { env, now });
  expect(withPrice.out).toBe(plain.out);
  expect(withPrice.err).toContain('unchanged');
});

test.each([
  ['not json', 'not JSON'],
  ['[1,2]', 'must be a JSON object'],
  ['\uFEFF{"ETH": -1}', 'the price of ETH must be a number'],
  ['{"ETH": "1900"}', 'the price of ETH must be a number'],
])('a prices file that holds %s is refused before anything is sent', async (content, said) => {
  const service = await answering([]);
  const argv = `token positions base ${coin} open --prices-file ${pricesFile(content)}`;
  expect(await run(argv, { env: service.env })).toEqual(failure(2, said));
  expect(service.requests).toEqual([]);
});

test.each(['-1', 'much'])('a price of %s is refused', async (price) => {
  expect((await run(`token positions base ${coin} open --price=${price}`)).code).toBe(2);
});
