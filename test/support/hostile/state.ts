import { createCipheriv, pbkdf2Sync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { cardOf } from '../feed-cards.ts';
import { filesIn } from '../files.ts';
import { run, stub } from '../harness.ts';
import { fillInbox } from '../inbox.ts';
import { ask, serveSandbox } from '../served.ts';
import { degen, evmTrader, swaps, writeKeys } from '../traders.ts';

/** A file that the program reads, and command lines that read it. */
export interface Target {
  /** Path below the folder; the valid one. */
  file: string;
  /** These must never change it. */
  reads: readonly string[];
  /** These may change it if they succeed. */
  changes?: readonly string[];
  /** Other files that these command lines read. */
  needs?: RegExp;
  /** How often it is chosen; 1 when absent. */
  weight?: number;
}

const upload = '--file FOLDER/addresses.txt';
const register = `webhook register --url http://127.0.0.1:9/hook ${upload}`;
const post = 'comment post --file FOLDER/comments.ndjson --service-name Example --key-file FOLDER/evm.hex';
const sign = `comment sign --chain base --tx ${swaps.good} --token ${degen} --service-name Example`;
const signSolana = `comment sign --chain solana --tx ${swaps.solana} --token ${degen} --service-name Example`;
const password = '--password-file FOLDER/password';

const ofSettings: Target = {
  file: 'config.json',
  weight: 10,
  reads: [
    ...['context list', 'context list --json', 'context show', 'context show own --json', 'context show clicker'],
    ...['alias list', 'alias list --json', 'alias list --format csv', 'alias remove nobody', 'context use nowhere'],
    ...[
      'auth status',
      'auth status --json',
      'auth status --check --json',
      'doctor',
      'doctor --json',
      'completion bash',
    ],
    ...['leaderboard list --format csv', 'leaderboard list --json', 'feed actor @me --json', 'profile get @me --curl'],
    ...['feed actor @whale --limit 3', `${sign} --text gm --dry-run --json`, 'context set a --base-url nonsense'],
    ...['leaderboard list --context clicker --dry-run', 'leaderboard list --context sandbox --dry-run --json'],
  ],
  changes: [
    ...['context set own --service-name Other', 'context set own --wire null', 'context remove own --yes'],
    ...['context set new --base-url https://a.example.com --json', 'context set own --base-url https://127.0.0.1:1'],
    ...['context use clicker', 'context use null', 'alias set @me ext:other --yes', 'alias set constructor ext:a'],
    ...['alias remove whale --yes', 'auth logout --yes', 'auth logout --context clicker --yes'],
    'auth login --with-key --offline --store file --context own',
  ],
};

const given: readonly Target[] = [
  {
    file: 'keys/k.json',
    reads: [
      ...['key list', 'key list --json', 'key export k', 'key export k --json', 'doctor --json'],
      `key export k --unencrypted --out FOLDER/out.hex ${password}`,
      `${sign} --text gm --key k ${password} --json`,
      `key import k --key-file FOLDER/evm.hex ${password}`,
    ],
    changes: ['key remove k --yes'],
    needs: /^(evm\.hex|password)$/,
  },
  {
    file: 'webhook/inbox/default/inbox.db',
    reads: [
      ...['webhook events', 'webhook events --json', 'webhook events --format csv --since 5y'],
      ...['webhook replay --since 5y --to SERVICE/hook --json', 'webhook replay one --to SERVICE/hook'],
    ],
    changes: ['webhook listen --port 0 --secret-file FOLDER/hook.secret --forward-to SERVICE/x'],
    needs: /^hook\.secret$/,
  },
  {
    file: 'sandbox.db',
    reads: [],
    changes: [
      ...['--sandbox sandbox status --json', '--sandbox leaderboard list', 'doctor --json'],
      '--sandbox sandbox advance 1h',
    ],
  },
  { file: 'config.lock', reads: [], changes: ['alias set me ext:a --yes', 'context use null --json'] },
  {
    file: 'addresses.txt',
    reads: [
      `${register} --another --json`,
      `${register} --another --skip-invalid`,
      `webhook add-addresses u-2 ${upload} --column 2`,
      `webhook sync u-3 ${upload} --json`,
      `${register} --dry-run`,
    ],
  },
  {
    file: 'comments.ndjson',
    reads: [
      `${post} --json`,
      `${post} --dry-run`,
      'comment sign --file FOLDER/comments.ndjson --service-name E --key-file FOLDER/evm.hex --out FOLDER/out.ndjson',
    ],
    needs: /^evm\.hex$/,
  },
  {
    file: 'follows.ndjson',
    reads: ['--json', '--dry-run', '--from-line 2'].map((more) => `follow bulk --file FOLDER/follows.ndjson ${more}`),
  },
  {
    file: 'trades.csv',
    reads: ['', '--preset pumpfun', '--preset hyperliquid-fills'].map(
      (more) => `sandbox import FOLDER/trades.csv --db FOLDER/other.db --json ${more}`,
    ),
  },
  {
    file: 'trades.ndjson',
    reads: ['--json', '--rejects FOLDER/bad.ndjson'].map(
      (more) => `sandbox import FOLDER/trades.ndjson --db FOLDER/other.db ${more}`,
    ),
  },
  {
    file: 'prices.json',
    reads: ['--json', '--format csv'].map(
      (more) => `profile positions ${evmTrader.address} open --prices-file FOLDER/prices.json ${more}`,
    ),
  },
  ...['hook.secret', 'body.json'].map((file) => ({
    file,
    reads: ['webhook verify --secret-file FOLDER/hook.secret --header t=1,v1=x --file FOLDER/body.json --json'],
    needs: /^(body\.json|hook\.secret)$/,
  })),
  {
    file: 'text.txt',
    reads: ['--dry-run', '--key-file FOLDER/evm.hex --json'].map(
      (more) => `${sign} --text-file FOLDER/text.txt ${more}`,
    ),
    needs: /^evm\.hex$/,
  },
  ...['evm.hex', 'id.json', 'key.json', 'password'].map((file) => ({
    file,
    reads: [sign, signSolana].map(
      (line) => `${line} --text gm ${password} --json --key-file FOLDER/${file === 'password' ? 'key.json' : file}`,
    ),
    needs: /^(key\.json|password)$/,
  })),
  {
    file: 'signed.json',
    reads: ['comment verify', 'comment verify --json', 'comment post --json'].map(
      (line) => `${line} --signed FOLDER/signed.json`,
    ),
  },
];

/** Those files, and the ones that the program names itself: `found` returns the path that matches a pattern. */
function targetsOf(found: (pattern: RegExp) => string): Target[] {
  const job = dirname(found(/uploads.*state\.json$/));
  return [
    ofSettings,
    ...given,
    {
      file: `${job}/state.json`,
      reads: ['webhook list', 'webhook list --json', `webhook sync u-1 ${upload} --check --json`],
      changes: [`${register} --another`, `${register} --json`, `webhook sync u-1 ${upload} --json`],
      needs: /uploads|^addresses\.txt$/,
    },
    { file: `${job}.lock`, reads: [], changes: [`${register} --json`], needs: /uploads|^addresses\.txt$/ },
  ];
}

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

/** Fills a folder with every file that the program keeps or is given, all of them valid; returns the command lines for each. */
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
  await act(`${register} --another`);
  await act(post);
  await act('--sandbox sandbox reset --empty');
  const signed = await run(`${sign} --text gm --key-file ${folder}/evm.hex --json`);
  write('signed.json', signed.out);
  return targetsOf(found);
}
