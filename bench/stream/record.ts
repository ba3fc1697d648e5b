import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../src/sandbox/db/world.ts';
import { addTrades } from '../../src/sandbox/ledger/add-trades.ts';
import type { Trade } from '../../src/sandbox/ledger/trade.ts';
import { answerer } from '../../src/sandbox/serve/answer.ts';

interface Recording {
  /** Where the answers go, one after another; `<file>.json` says where each begins. */
  file: string;
  cards: number;
}

const nowMs = Date.UTC(2026, 10, 20, 12);
const dayMs = 86_400_000;
const pageSize = 100;
/** Positions of one token, one after the other. */
const reentries = 50;

/** Cards of one trader: pages far into a longer list would cost the sandbox more time than all that is measured. */
const cardsPerTrader = 10_000;

/** Lets the sandbox compute as many closed positions, and keeps its answers page by page; gives their size in bytes. */
export async function recordAnswers({ file, cards }: Recording): Promise<number> {
  const db = openDb(':memory:');
  ensureWorld(db, nowMs, 'empty');
  const answer = answerer({ db, now: () => nowMs, wire: {} });
  const out = openSync(file, 'w');
  const offsets = [0];
  for (let made = 0; made < cards; made += cardsPerTrader) {
    const count = Math.min(cardsPerTrader, cards - made);
    const wallet = `0x5117a6${String(made).padStart(34, '0')}`;
    fill(db, wallet, count);
    for (let page = 1; page <= Math.ceil(count / pageSize); page += 1) {
      const target = `/v1/addresses/${wallet}/positions/closed?sort=latest&page=${page}&limit=${pageSize}`;
      const authorization = 'Bearer sandbox-key-a';
      const request = { method: 'GET', origin: 'http://sandbox.test', target, authorization, body: () => '' };
      const { status, text } = await answer(request);
      if (status !== 200) throw new Error(text);
      offsets.push((offsets.at(-1) ?? 0) + writeSync(out, Buffer.from(text)));
    }
  }
  closeSync(out);
  db.close();
  writeFileSync(`${file}.json`, JSON.stringify(offsets));
  return offsets.at(-1) ?? 0;
}

/** Two trades a position, older than every window: their figures are not measured. */
function fill(db: Db, wallet: string, cards: number): void {
  for (let token = 0; token * reentries < cards; token += 1) {
    const count = Math.min(reentries, cards - token * reentries);
    const address = `0x${(token + 1).toString(16).padStart(40, '0')}`;
    addTrades(
      db,
      Array.from({ length: count * 2 }, (_, index) => tradeOf(wallet, address, token, index)),
    );
  }
}

function tradeOf(wallet: string, token: string, number: number, index: number): Trade {
  const isEntry = index % 2 === 0;
  const atMs = nowMs - 60 * dayMs + number * 997 + index * 600_000;
  return {
    chain: 'base',
    trader: wallet,
    token,
    tokenSymbol: `TOK${number}`,
    tokenName: `Token ${number}`,
    tokenSupply: 1e9,
    side: isEntry ? 'buy' : 'sell',
    direction: null,
    leverage: 1,
    amount: 1000 + number,
    usd: 1234.56 + index * 3.21,
    atMs,
    tx: `0x${`${number}${index}`.padStart(64, '0')}`,
    rowKey: `${wallet}:${token}:${index}`,
  };
}
