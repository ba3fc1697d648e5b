import { createCipheriv, pbkdf2Sync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { cardOf } from './feed-cards.ts';
import { post, sign, type Target, targetsOf, upload } from './fuzz-targets.ts';
import { run, stub } from './harness.ts';
import { fillInbox } from './inbox.ts';
import { ask, serveSandbox } from './served.ts';
import { degen, evmTrader, swaps, writeKeys } from './traders.ts';

/** A service on loopback that always answers as it should, with a new card in every answer of its feed. */
export async function healthyService() {
  const sandbox = await serveSandbox();
  const board = JSON.stringify((await ask(sandbox, 'GET', '/v2/leaderboard?limit=3')).body);
  const trader = JSON.parse(board).traders[0].profile.address ?? evmTrader.address;
  const positions = JSON.stringify((await ask(sandbox, 'GET', `/v1/addresses/${trader}/positions/open`)).body);
  let cards = 0;
  const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
  return stub(({ method, url, body }, response) => {
    response.setHeader('content-type', 'application/json');
    if (url.startsWith('/v2/leaderboard')) return void response.end(board);
    if (url.includes('/positions/')) return void response.end(positions);
    if (url.startsWith('/v1/feed')) {
      cards += 1;
      const card = cardOf(`c${cards}`, 1_800_000_000 + cards);
      return void response.end(JSON.stringify({ items: [card], pagination: null }));
    }
    if (method === 'POST' && url === '/v1/swap-comments')
      return void response.end(JSON.stringify({ ...JSON.parse(body), uid: 'c-1', timestamp: 1 }));
    if (url.startsWith('/v1/swap-comments')) return void response.end('{}');
    return void response.end(JSON.stringify(method === 'GET' ? [webhook] : webhook));
  });
}

/** A keystore that opens at once: one round of the password's hash. */
function cheapKeystore(): string {
  const salt = Buffer.alloc(32, 7);
  const derived = pbkdf2Sync('correct horse', salt, 1, 32, 'sha256');
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), Buffer.alloc(16, 9));
  const ciphertext = cipher.update(Buffer.from(evmTrader.key.slice(2), 'hex'));
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '09'.repeat(16) },
    ciphertext: ciphertext.toString('hex'),
    kdf: 'pbkdf2',
    kdfparams: { c: 1, prf: 'hmac-sha256', dklen: 32, salt: salt.toString('hex') },
    mac: Buffer.from(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext]))).toString('hex'),
  };
  return JSON.stringify({ version: 3, address: evmTrader.address.slice(2), crypto });
}

const card = (name: string) => ({
  itemTitle: name,
  metadata: { tokenSymbol: 'TKN', tokenChain: 'base', trades: [{ usdCost: 5 }] },
});
const comment = { chain: 'base', transactionHash: swaps.good, tokenAddress: degen, commentText: 'gm' };

const delivered = ['one', 'two'].map((id) => ({
  webhook: '/hook#a',
  atMs: 1_800_000_000_000,
  headers: ['X-A', 'b'],
  body: Buffer.from(
    JSON.stringify({ events: [{ eventId: id, eventType: 'copyswap', reason: 'wallet', feedItem: card(id) }] }),
  ),
}));

/** Fills a folder with every file that the program keeps or is given, all of them valid, and says what reads each. */
export async function makeState(
  folder: string,
  service: { url: string; env: Record<string, string> },
): Promise<Target[]> {
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  };
  const act = async (argv: string) => {
    const { code, err } = await run(argv.replaceAll('FOLDER', folder), { env, skipWaits: true });
    if (code !== 0) throw new Error(`${argv}: ${err}`);
  };
  const found = (pattern: RegExp) => {
    const name = filesIn(folder).find((each) => pattern.test(each));
    if (name === undefined) throw new Error(`no ${pattern} in ${filesIn(folder)}`);
    return name;
  };
  writeKeys(folder);
  write('addresses.txt', `${degen}\n${evmTrader.address}\next:user_1\n`);
  write(
    'comments.ndjson',
    `${JSON.stringify(comment)}\n${JSON.stringify({ ...comment, transactionHash: swaps.second })}\n`,
  );
  write(
    'follows.ndjson',
    `{"addressOrUid":"ext:a","targets":["${degen}"]}\n{"addressOrUid":"ext:b","targets":["jack"],"targetType":"twitterHandle","action":"unfollow"}\n`,
  );
  write(
    'trades.csv',
    `time,side,chain,trader,token,symbol,amount,usd,tx\n2026-11-20T10:00:00Z,buy,base,${evmTrader.address},${degen},DEGEN,1000,50,${swaps.good}\n2026-11-20T11:00:00Z,sell,base,${evmTrader.address},${degen},DEGEN,10,5,${swaps.second}\n`,
  );
  write(
    'trades.ndjson',
    `{"time":"2026-11-20T10:00:00Z","side":"buy","chain":"base","trader":"${evmTrader.address}","token":"${degen}","symbol":"D","amount":1,"usd":2}\n`,
  );
  write('prices.json', `{"base:${degen}": 0.0041, "PEPE": 0.0000071}`);
  write('hook.secret', '# mine\nwhsec_test\n');
  write('body.json', '{"events":[{"eventId":"a","eventType":"copyswap"}]}');
  write('text.txt', 'gm, né 💸\n');
  write('key.json', cheapKeystore());
  write('keys/k.json', cheapKeystore());
  await fillInbox(folder, delivered);
  write(
    'config.json',
    JSON.stringify({
      version: 1,
      current: 'own',
      aliases: { me: evmTrader.address, whale: 'ext:user_1' },
      contexts: {
        own: {
          baseUrl: service.url,
          apiKey: 'stub-key',
          keyOrigin: service.url,
          serviceName: 'Example',
          layout: 'blank-line',
          wire: { '*.limit': 'count' },
        },
        clicker: { apiKey: 'another-key', keyOrigin: 'https://api.clicker.xyz', keyStore: 'file' },
      },
    }),
  );
  await act('leaderboard list');
  await act('feed actor ext:user_1 --watch 5s --max 1');
  await act(`webhook register --url http://127.0.0.1:9/hook ${upload} --another`);
  await act(`${post} --key-file FOLDER/evm.hex`);
  await act('--sandbox sandbox reset --empty');
  const signed = await run(
    [...`${sign} --tx ${swaps.good} --token ${degen} --key-file ${folder}/evm.hex --json`.split(' ')],
    {},
  );
  write('signed.json', signed.out);
  return targetsOf(found);
}

/** The files below a folder, by their paths in it. */
function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile()).sort();
}

/** The files below a folder with what they hold. */
export function contentsOf(folder: string): Map<string, Buffer> {
  return new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name))]));
}
