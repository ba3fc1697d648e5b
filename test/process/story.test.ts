import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { base58 } from '@scure/base';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run } from '../support/harness.ts';
import { long, size, some } from '../support/size.ts';

/** One story, told in order, against the built program serving on a real socket with real Solana trades. */
const realTrades = '../shared/data/trades-solana/pumpfun_swaps_2026-06.csv.gz';
const hasData = existsSync(realTrades);
const why = hasData ? '' : ' (skipped: the folder with real trades is absent)';

const folder = mkdtempSync(join(tmpdir(), 'sotra-story-'));
const db = join(folder, 'sandbox.db');
const readyFile = join(folder, 'ready.json');
const keys = { a: 'sandbox-key-a', b: 'sandbox-key-b' } as const;
const state: { server?: ChildProcess; url: string } = { url: '' };

// In the built-in world this person has two wallets.
const [evm, solana] = ['0x8226303aa35cc55720ae9a65143c373564957020', 'A2dGE1Z62DK1Dmpz9KNS3ZAeG5sZj2DSsqZbgCUpaTm5'];
const fan = `0x${'fa'.repeat(20)}`;
const reader = `0x${'4e'.repeat(20)}`;

const isTrader = (trader: string) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(trader);
const lines = hasData
  ? gunzipSync(readFileSync(realTrades)).toString().trim().split('\n').slice(0, size(2500, 10_000))
  : [];
const rows = lines
  .slice(1)
  .map((row) => row.split(','))
  .filter((row) => isTrader(row[2] ?? ''));
const traders = [...new Set(rows.map((row) => row[2] ?? ''))];
const mint = rows[0]?.[3] ?? '';

interface Card {
  itemId: string;
  cardLatestTradeAt: number;
  actor: { address: string; name: string; profile: { id: string } };
  metadata: { tokenAddress: string; trades: { transactionHash: string; comments: { uid: string }[] }[] };
  metrics: { copyCount: number; copyVolume: string; commentCount: number };
}

interface Feed {
  items: Card[];
  pagination: { olderItemsURL: string | null; newerItemsURL: string | null };
}

const envOf = (key: 'a' | 'b') => ({
  SOTRA_BASE_URL: state.url,
  SOTRA_API_KEY: keys[key],
  SOTRA_DATA_DIR: join(folder, 'data'),
  SOTRA_CONFIG_DIR: join(folder, 'config'),
});

/** A command's answer as one partner; it must fit the contract and end with 0. */
async function sotra(key: 'a' | 'b', argv: string | readonly string[]): Promise<never> {
  const words = typeof argv === 'string' ? argv.split(' ') : argv;
  const { out, err, code } = await run([...words, '--json', '--strict'], { env: envOf(key) });
  expect({ argv, code, err: code === 0 ? '' : err }).toEqual({ argv, code: 0, err: '' });
  return JSON.parse(out) as never;
}

const cardsOf = (key: 'a' | 'b', argv: string): Promise<Card[]> => sotra(key, `${argv} --all`);

/** A mint that nobody traded before. */
const newMint = (name: string) => base58.encode(nacl.hash(new TextEncoder().encode(name)).subarray(0, 32));

let count = 0;

/** Makes trades happen now, as another process would: written into the database that the server reads. */
async function trade(...trades: { trader: string; token: string; usd: number; side?: string }[]): Promise<string[]> {
  const file = join(folder, 'arriving.csv');
  const time = Math.floor(Date.now() / 1000);
  const made = trades.map(({ trader, token, usd, side = 'buy' }) => {
    count += 1;
    const tx = base58.encode(nacl.hash(new TextEncoder().encode(`story ${count}`)));
    return { tx, row: [time, 'solana', trader, token, side, 1000, usd, tx].join(',') };
  });
  writeFileSync(file, ['time,chain,trader,token,side,amount,usd,tx', ...made.map(({ row }) => row)].join('\n'));
  const { code, err } = await run(['sandbox', 'import', file, '--own-time', '--db', db, '--json'], { env: envOf('a') });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return made.map(({ tx }) => tx);
}

async function startServer(port: string): Promise<void> {
  rmSync(readyFile, { force: true });
  const argv = ['bin/sotra.js', 'sandbox', 'start', '--port', port, '--db', db, '--ready-file', readyFile];
  state.server = spawn(process.execPath, argv, { stdio: 'ignore', env: { ...process.env, ...envOf('a') } });
  await vi.waitFor(() => expect(existsSync(readyFile)).toBe(true), { timeout: 30_000 });
  state.url = JSON.parse(readFileSync(readyFile, 'utf8')).url;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

/** One page by address, as curl would ask. */
async function pageAt(href: string): Promise<Feed> {
  const answer = await fetch(href, { headers: { authorization: `Bearer ${keys.a}` } });
  expect(answer.status).toBe(200);
  return answer.json() as Promise<Feed>;
}

describe.skipIf(!hasData)(`the story${why}`, () => {
  beforeAll(async () => {
    await startServer('0');
    const file = join(folder, 'real.csv');
    writeFileSync(file, lines.join('\n'));
    const { code } = await run(['sandbox', 'import', file, '--preset', 'pumpfun', '--db', db], { env: envOf('a') });
    // 10: the rows with a redacted trader are rejected, as they should be.
    expect(code).toBe(10);
  });
  afterAll(async () => {
    if (state.server !== undefined && state.server.exitCode === null) {
      state.server.kill();
      await ended(state.server);
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test('two partners call the same real trader by names of their own', async () => {
    const trader = traders[0] ?? '';
    expect(await sotra('a', `profile set-name ${trader} --name moon_cat`)).toMatchObject({
      name: 'moon_cat.alpha.test',
    });
    expect(await sotra('b', `profile set-name ${trader} --name sun_dog`)).toMatchObject({ name: 'sun_dog.beta.test' });
    const seen = async (key: 'a' | 'b') => (await cardsOf(key, `feed actor ${trader}`))[0]?.actor.name;
    expect([await seen('a'), await seen('b')]).toEqual(['moon_cat.alpha.test', 'sun_dog.beta.test']);
  });

  test('a profile followed by one of its addresses fills the home feed with all of them; unfollowed by the other, it is empty', async () => {
    expect(await cardsOf('a', `feed home ${fan}`)).toEqual([]);
    await sotra('a', `follow add ${fan} ${solana}`);
    const cards = await cardsOf('a', `feed home ${fan}`);
    expect(new Set(cards.map(({ actor }) => actor.address))).toEqual(new Set([evm, solana]));
    const own = await cardsOf('a', `feed actor ${evm}`);
    expect(cards.map(({ itemId }) => itemId)).toEqual(own.map(({ itemId }) => itemId));
    expect(await cardsOf('b', `feed home ${fan}`)).toEqual([]);
    await sotra('a', `follow remove ${fan} ${evm}`);
    expect(await cardsOf('a', `feed home ${fan}`)).toEqual([]);
  });

  test('many cards, paged both ways while trades arrive and move cards: none twice on the way down, none left out', async () => {
    const file = join(folder, 'follows.ndjson');
    const followed = some(traders, 400);
    const batches = Array.from({ length: Math.ceil(followed.length / 500) }, (_, index) =>
      JSON.stringify({ addressOrUid: reader, targets: followed.slice(index * 500, index * 500 + 500) }),
    );
    writeFileSync(file, batches.join('\n'));
    await sotra('a', `follow bulk --file ${file}`);
    const cards = await cardsOf('a', `feed home ${reader} --limit 100`);
    const before = cards.map(({ itemId }) => itemId);
    expect(before.length).toBeGreaterThan(size(350, 2000));
    expect(new Set(before).size).toBe(before.length);

    const known = rows.filter((row) => followed.includes(row[2] ?? ''));
    let pages = 0;
    /** After some pages a real trader buys something new, and one whose card lies anywhere in the feed trades again. */
    const meanwhile = async () => {
      pages += 1;
      if (pages % 3 !== 0) return;
      await trade(
        { trader: followed[pages * 3] ?? '', token: newMint(`page ${pages}`), usd: 50 },
        { trader: followed[pages * 7] ?? '', token: mint, usd: 60 },
        { trader: known[pages * 11]?.[2] ?? '', token: known[pages * 11]?.[3] ?? '', usd: 70 },
      );
    };
    const walk = async (from: string, way: 'olderItemsURL' | 'newerItemsURL') => {
      const shown: string[] = [];
      for (let href: string | null = from; href !== null; ) {
        const page: Feed = await pageAt(href);
        shown.push(...page.items.map(({ itemId }) => itemId));
        if (page.pagination[way] === null) return { shown, last: page };
        // Nobody asks for what arrives after the last page.
        await meanwhile();
        href = page.pagination[way];
      }
      throw new Error('a walk ends with a page');
    };
    const down = await walk(`${state.url}/v1/feed?addresses=${reader}&limit=${size(50, 100)}`, 'olderItemsURL');
    const later = await cardsOf('a', `feed home ${reader} --limit 100`);
    const latest = new Map(later.map((card) => [card.itemId, card.cardLatestTradeAt]));
    const stayed = cards
      .filter((card) => latest.get(card.itemId) === card.cardLatestTradeAt)
      .map(({ itemId }) => itemId);
    expect(stayed.length).toBeLessThan(before.length);
    expect(down.shown.filter((itemId) => stayed.includes(itemId))).toEqual(stayed);
    expect(before).toEqual(expect.arrayContaining(down.shown));
    expect(new Set(down.shown).size).toBe(down.shown.length);

    const up = await walk(down.last.pagination.newerItemsURL ?? '', 'newerItemsURL');
    const shown = [...down.last.items.map(({ itemId }) => itemId), ...up.shown];
    const now = (await cardsOf('a', `feed home ${reader} --limit 100`)).map(({ itemId }) => itemId);
    expect([...new Set(shown)].sort()).toEqual([...now].sort());
    expect(now.length).toBeGreaterThan(before.length + 10);
  });

  const signer = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const author = base58.encode(signer.publicKey);
  const told: { uid: string; tx: string; itemId: string } = { uid: '', tx: '', itemId: '' };

  test('a signed comment appears on the token, the position, the list and in the feed, as the own one of that partner alone', async () => {
    const keyFile = join(folder, 'author.json');
    writeFileSync(keyFile, JSON.stringify([...signer.secretKey]), { mode: 0o600 });
    const [tx = ''] = await trade({ trader: author, token: mint, usd: 40 });
    const comment = [
      'comment',
      'post',
      '--chain',
      'solana',
      '--token',
      mint,
      '--tx',
      tx,
      '--key-file',
      keyFile,
      '--yes',
      '--service-name',
      'Sandbox',
    ];
    const posted: { uid: string } = await sotra('a', [...comment, '--text', 'to the moon, with patience']);
    const [card] = await cardsOf('a', `feed actor ${author}`);
    Object.assign(told, { uid: posted.uid, tx, itemId: card?.itemId });
    expect(card?.metrics.commentCount).toBe(1);
    expect(card?.metadata.trades[0]).toMatchObject({
      transactionHash: tx,
      comments: [{ uid: told.uid, commentText: 'to the moon, with patience', isAppUserComment: true }],
    });
    expect(await sotra('b', `token comments solana ${mint}`)).toMatchObject([
      { itemId: told.itemId, actor: { address: author }, comment: { uid: told.uid, isAppUserComment: false } },
    ]);
    const position: Card = await sotra('b', `position get ${told.itemId}`);
    expect(position.metadata.trades[0]?.comments).toMatchObject([{ uid: told.uid, replies: [] }]);
    expect(JSON.stringify(await sotra('b', `comment list ${tx} --chain solana`))).toContain(told.uid);
    await sotra('a', `follow add ${fan} ${author}`);
    expect((await cardsOf('a', `feed home ${fan} --only-with-comments`)).map(({ itemId }) => itemId)).toEqual([
      told.itemId,
    ]);
  });

  test('a copy intent followed by a buy raises copy count and volume, everywhere they are shown', async () => {
    const copier = traders[9] ?? '';
    const metrics = async () => (await cardsOf('a', `feed actor ${author}`))[0]?.metrics;
    expect(await metrics()).toMatchObject({ copyCount: 0, copyVolume: '0.00' });
    const intent = `comment copy ${told.uid} --chain solana --token ${mint} --actor-addresses ${copier},${traders[10]}`;
    const { intentIds }: { intentIds: string[] } = await sotra('b', intent);
    expect(intentIds).toHaveLength(2);
    expect(await metrics()).toMatchObject({ copyCount: 0, copyVolume: '0.00' });
    await trade({ trader: copier, token: mint, usd: 250 });
    expect(await metrics()).toMatchObject({ copyCount: 1, copyVolume: '250.00' });
    await trade({ trader: copier, token: mint, usd: 999 });
    expect(await metrics()).toMatchObject({ copyCount: 1, copyVolume: '250.00' });
    expect(await sotra('a', `profile get ${author}`)).toMatchObject({
      metrics: { copytradedAllTime: { count: 1, distinctActors: 1, volumeUSD: 250 } },
    });
    const board = JSON.stringify(await sotra('a', 'leaderboard copytraded --limit 100'));
    expect(board).toContain(author);
  });

  long('a watch prints what arrives, survives a kill -9 of the service, and misses nothing', async () => {
    const watch = `feed actor ${author} --watch 200ms --format ndjson`;
    const env = { ...process.env, ...envOf('a') };
    const first = spawn(process.execPath, ['bin/sotra.js', ...watch.split(' ')], { env });
    const lines: string[] = [];
    createInterface(first.stdout).on('line', (line) => lines.push(JSON.parse(line).transactionHash));
    let said = '';
    first.stderr.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said).toContain('Watching for new cards');
    const [one] = await trade({ trader: author, token: mint, usd: 11 });
    await expect.poll(() => lines).toEqual([one]);

    const { port } = new URL(state.url);
    state.server?.kill('SIGKILL');
    await expect.poll(() => said).toContain('; retrying.');
    const [two] = await trade({ trader: author, token: mint, usd: 12 });
    await startServer(port);
    await expect.poll(() => lines).toEqual([one, two]);
    const exit = ended(first);
    first.kill('SIGINT');
    expect(await exit).toBe(130);
  });
});
