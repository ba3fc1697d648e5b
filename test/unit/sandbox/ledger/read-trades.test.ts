import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '../../../../src/sandbox/ledger/read-trades.ts';
import { readTime, readTradeText } from '../../../../src/sandbox/ledger/trade-text.ts';
import { fc } from '../../../support/draw.ts';
import { size } from '../../../support/size.ts';
import { collectEvents, inPieces } from '../../../support/trades.ts';

const wallet = '0x00000000000000000000000000000000000000aa';
const coin = '0x00000000000000000000000000000000000000BB';
const header = 'time,trader,token,side,amount,usd';
const row = (time: string, more = 'buy,2,10') => `${time},${wallet},${coin},${more}`;

const timeForm = 'must be an ISO 8601 time, Unix seconds (10 digits) or Unix milliseconds (13 digits)';

const read = (text: string, options: Partial<ReadOptions> = { chain: 'base' }, piece = 7) =>
  collectEvents(inPieces(Buffer.from(text), piece), options);

describe('a CSV', () => {
  test('gives trades with every field it names', async () => {
    const { trades, rejected } = await read(
      `time,chain,trader,token,symbol,name,side,amount,usd,tx,orderId,direction,leverage,supply\n` +
        `2024-05-06T07:08:09Z,hyperliquid,0x00000000000000000000000000000000000000AA,BTC,BTC,Bitcoin,SELL,0.5,30000,0xfe,77,short,5,21e6\n`,
      {},
    );
    expect(rejected).toEqual([]);
    expect(trades).toEqual([
      {
        chain: 'hyperliquid',
        trader: wallet,
        token: 'BTC',
        tokenSymbol: 'BTC',
        tokenName: 'Bitcoin',
        tokenSupply: 21_000_000,
        side: 'sell',
        direction: 'short',
        leverage: 5,
        amount: 0.5,
        usd: 30_000,
        atMs: 1_714_979_289_000,
        tx: '0xfe',
        orderId: '77',
        rowKey: expect.any(String),
      },
    ]);
  });

  test('loses only the line with a broken quote', async () => {
    const text = `${header}\n${row('1700000001')}\n"${row('1700000002')}\n${row('1700000003')}\n${row('1700000004').replace('buy', 'bu"y')}\n${row('1700000005')}\n`;
    const { lines, rejected } = await read(text);
    expect(lines).toEqual([2, 4, 6]);
    expect(rejected.map(({ line, reason }) => [line, reason])).toEqual([
      [3, 'a quote is not closed'],
      [5, 'a quote is inside a cell'],
    ]);
  });

  test('any number has one row key, however it is written', () => {
    const text = fc
      .tuple(fc.stringMatching(/^\d{1,12}$/), fc.stringMatching(/^(\.\d{0,9})?$/))
      .map((parts) => parts.join(''));
    const fixed = { time: '1700000001', chain: 'base', trader: wallet, token: coin, side: 'buy' };
    const rowOf = (amount: string) => readTradeText({ ...fixed, amount, usd: amount });
    const property = fc.property(text, (amount) => {
      fc.pre(Number(amount) > 0);
      expect(rowOf(amount)).toEqual(rowOf(String(Number(amount))));
    });
    fc.assert(property, { numRuns: size(300, 2000) });
  });

  test.each([
    ['2024-02-29T23:59:59Z', 1_709_251_199_000],
    ['2023-02-29T00:00:00Z', undefined],
    ['2023-02-28T24:00:00Z', 1_677_628_800_000],
    ['2023-02-28T24:00:01Z', undefined],
    ['2023-02-00T00:00:00Z', undefined],
    ['2023-13-01T00:00:00Z', undefined],
    ['2023-01-28T23:60:00Z', undefined],
    ['1969-12-28T00:00:00Z', undefined],
    ['2023-04-31T00:00:00.000Z', undefined],
    ['2023-04-28T01:02:03.004Z', 1_682_643_723_004],
    ['2023-04-28T01:02:03.0049Z', 1_682_643_723_004],
    ['2023-04-28T01:02:03+02:00', 1_682_636_523_000],
    ['2023-04-28 01:02:03', 1_682_643_723_000],
  ])('the time %s', (text, atMs) => expect(readTime(text)).toBe(atMs));

  test.each([
    ['time', 'yesterday', `time "yesterday": ${timeForm}`],
    ['time', '2024-02-30', `time "2024-02-30": ${timeForm}`],
    ['trader', '0x12', 'trader "0x12": must be 0x and 40 hex digits'],
    ['token', '', 'token is empty: must be 0x and 40 hex digits'],
    ['side', 'hold', 'side "hold": must be buy or sell'],
    ['side', 'constructor', 'side "constructor": must be buy or sell'],
    ['amount', '-3', 'amount "-3": must be a number above 0'],
    ['amount', '1e999', 'amount "1e999": must be a number from 1e-60 to 1e60'],
    ['amount', '1e-61', 'amount "1e-61": must be a number from 1e-60 to 1e60'],
    ['usd', '2e60', 'usd "2e60": must be a number from 1e-60 to 1e60'],
    ['amount', '1 000', 'amount "1 000": must be a number above 0'],
    ['usd', '-1', 'usd "-1": must be a number of 0 or more'],
    ['direction', 'long', 'direction "long": must be empty: only hyperliquid has long and short'],
    ['leverage', '5', 'leverage "5": must be 1 without a direction'],
    ['chain', 'eth', 'chain "eth": must be base, as --chain says'],
  ])('says what is wrong with %s %j', async (field, value, reason) => {
    const cells = { time: '1700000001', trader: wallet, token: coin, side: 'buy', amount: '2', usd: '10' };
    const wrong = { ...cells, [field]: value };
    const { rejected, trades } = await read(`${Object.keys(wrong).join(',')}\n${Object.values(wrong).join(',')}\n`);
    expect(trades).toEqual([]);
    expect(rejected.map((rejection) => rejection.reason)).toEqual([reason]);
    expect(rejected[0]).toMatchObject({ line: 2, text: Object.values(wrong).join(',') });
  });

  test('names every mistake of a row', async () => {
    const { rejected } = await read(`${header}\n1700000001,x,${coin},buy,0,1\n`);
    expect(rejected[0]?.reason).toBe('trader "x": must be 0x and 40 hex digits; amount "0": must be a number above 0');
  });

  test('checks addresses by their chain', async () => {
    const solana = 'DQmMnakiKr1YNE2gcpggLCzBrauBwFbQkAaao2FTbjgp';
    const text = `time,chain,trader,token,side,amount,usd\n1700000001,solana,${solana},${solana},b,1,1\n1700000001,solana,${wallet},${solana},b,1,1\n1700000001,hyperliquid,${solana},BTC,b,1,1\n1700000001,hyperliquid,${wallet},B TC,b,1,1\n`;
    const { lines, rejected } = await read(text, {});
    expect(lines).toEqual([2]);
    expect(rejected.map(({ reason }) => reason)).toEqual([
      `trader "${wallet}": must be a Solana address (base58 of 32 bytes)`,
      `trader "${solana}": must be 0x and 40 hex digits`,
      'token "B TC": must be a coin of 1 to 32 visible characters',
    ]);
  });

  test('knows the usual names of columns', async () => {
    const text = `Block Time,Maker,Token Address,Token Symbol,Side,Token Amount,price_usd,Transaction Hash\n1700000005,${wallet},${coin},CAT,Sell,4,2.5,0xab\n`;
    const { trades } = await read(text);
    expect(trades).toMatchObject([
      { side: 'sell', amount: 4, usd: 10, tokenSymbol: 'CAT', tx: '0xab', token: coin.toLowerCase() },
    ]);
  });

  test('takes columns by the map, and the others by their names', async () => {
    const text = `wann,who,amount,usd,what,is\n1700000005,${wallet},10,4,${coin},buy\n`;
    const map = { wann: 'time', who: 'trader', what: 'token', is: 'side' };
    expect((await read(text, { chain: 'base', map })).trades).toMatchObject([
      { amount: 10, usd: 4, atMs: 1_700_000_005_000 },
    ]);
    const turned = { ...map, usd: 'amount', amount: 'usd' };
    expect((await read(text, { chain: 'base', map: turned })).trades).toMatchObject([{ amount: 4, usd: 10 }]);
  });

  test('is refused as a whole when a column is missing or the map is wrong', async () => {
    const body = `\n${row('1700000001')}\n`;
    await expect(read(header.replace('usd', 'money') + body)).rejects.toMatchObject({
      message: 'file: the file has no column for usd',
      hint: 'Name it with --map <column>=usd. Its columns: time, trader, token, side, amount, money',
    });
    await expect(read(header + body, {})).rejects.toThrow('no column for chain');
    await expect(read(header + body, { chain: 'base', map: { cost: 'usd' } })).rejects.toThrow(
      'file: --map cost=usd: the file has no column "cost"',
    );
    await expect(read(header + body, { preset: 'pumpfun' })).rejects.toThrow(
      '--preset pumpfun: the file has no column "ts"',
    );
  });
});

describe('NDJSON', () => {
  const line = (more: object) =>
    JSON.stringify({ time: 1700000001, trader: wallet, token: coin, side: 'buy', amount: 2, usd: 10, ...more });

  test('is recognized by its first character and read line by line', async () => {
    const text = `${line({})}\n\n{"time": \n[1]\n${line({ amount: null })}\r\n${line({ tx: '0xé' })}`;
    const { lines, rejected, trades } = await read(text, { chain: 'base' }, 1);
    expect(lines).toEqual([1, 6]);
    expect(trades[1]?.tx).toBe('0xé');
    expect(rejected.map(({ at, reason }) => `${at}: ${reason}`)).toEqual([
      'line 3: the line is not valid JSON',
      'line 4: the line must be a JSON object',
      'line 5: amount is empty: must be a number above 0',
    ]);
  });

  test('a JSON document is only read by the preset for it', async () => {
    await expect(read(`[${line({})}]`)).rejects.toThrow('a JSON array is not accepted here');
    await expect(read('[{', { preset: 'hyperliquid-fills' })).rejects.toThrow(
      'file: starts with [ and is not a JSON array: Expected property',
    );
  });
});
