import { dirname } from 'node:path';
import { degen, evmTrader, swaps } from './traders.ts';

/** A file that the program reads, and command lines that make it do so. */
export interface Target {
  /** How often it is chosen. */
  weight: number;
  /** Path below the folder; the valid one. */
  file: string;
  /** Only looked at: the file must be the same afterwards, whatever happens. */
  reads: readonly string[];
  /** These may change it when they succeed. */
  changes?: readonly string[];
  /** A log: what was there stays, more may follow. */
  isLog?: boolean;
  /** Files beside it that take part. */
  needs?: RegExp;
}

export const upload = '--addresses-file FOLDER/addresses.txt';
export const post = 'comment post --from FOLDER/comments.ndjson --service-name Example';
export const sign = 'comment sign --chain base --text gm --service-name Example';

/** What reads and changes each file of a folder that is filled; `found` gives the path of one whose name is not known beforehand. */
export function targetsOf(found: (pattern: RegExp) => string): Target[] {
  const job = dirname(found(/jobs.*journal\.ndjson$/));
  return [
    {
      weight: 60,
      file: 'config.json',
      reads: [
        'context list',
        'context list --json',
        'context show',
        'context show own --json',
        'context show clicker',
        'alias list',
        'alias list --json',
        'alias list --format csv',
        'auth status',
        'auth status --json',
        'auth status --check --json',
        'leaderboard list --format csv',
        'leaderboard list --json',
        'feed actor @me --json',
        'feed actor @whale --limit 3',
        'profile get @me --curl',
        `${sign} --tx ${swaps.good} --token ${degen} --preview --json`,
        'doctor --json',
        'doctor',
        'webhook jobs',
        'probe --dry-run',
        'request GET /v1/feed --json',
        'context use nowhere',
        'context set a --base-url nonsense',
        'alias remove nobody',
        'leaderboard list --context clicker --dry-run',
        'leaderboard list --context sandbox --dry-run --json',
        'completion bash',
      ],
      changes: [
        'context set own --service-name Other',
        'context set new --base-url https://a.example.com --json',
        'context use clicker',
        'context use null',
        'context set own --base-url https://127.0.0.1:1',
        'context remove own --yes',
        'alias set @me ext:other',
        'alias set constructor ext:a',
        'alias remove whale',
        'auth login --with-key --offline --store file --context own',
        'auth logout',
        'auth logout --context clicker',
        'context set own --wire null',
      ],
    },
    {
      weight: 3,
      file: 'keys/k.json',
      reads: [
        'key list',
        'key list --json',
        'key export k',
        'key export k --json',
        'key export k --unencrypted --out FOLDER/out.hex --password-file FOLDER/password',
        `${sign} --tx ${swaps.good} --token ${degen} --key k --password-file FOLDER/password --json`,
        'key import k --key-file FOLDER/evm.hex --password-file FOLDER/password',
        'doctor --json',
      ],
      changes: ['key remove k --yes'],
      needs: /^(evm\.hex|password)$/,
    },
    {
      weight: 2,
      file: found(/^watch/),
      reads: [],
      changes: ['feed actor ext:user_1 --watch 5s --max 1', 'feed actor ext:user_1 --watch 5s --max 1 --json'],
    },
    {
      weight: 3,
      file: 'webhook/inbox/default/inbox.db',
      reads: [
        'webhook events',
        'webhook events --json',
        'webhook events --format csv',
        'webhook events --format md --since 5y',
        'webhook events --type copyswap --plain',
        'webhook replay --since 5y --to SERVICE/hook --json',
        'webhook replay one --to SERVICE/hook',
      ],
    },
    {
      weight: 2,
      file: 'webhook/inbox/default/inbox.db',
      reads: [],
      changes: ['webhook listen --port 0 --secret-file FOLDER/hook.secret --forward-to SERVICE/x'],
      needs: /^hook\.secret$/,
    },
    {
      weight: 3,
      file: `${job}/journal.ndjson`,
      reads: ['webhook jobs', 'webhook jobs --json', `webhook sync u-1 ${upload} --check --json`, 'webhook secret u-1'],
      changes: [
        `webhook register --url http://127.0.0.1:9/hook ${upload} --another`,
        `webhook register --url http://127.0.0.1:9/hook ${upload} --json`,
        `webhook sync u-1 ${upload} --json`,
      ],
      isLog: true,
      needs: /jobs|^addresses\.txt$/,
    },
    {
      weight: 1,
      file: `${job}/secret`,
      reads: [`webhook register --url http://127.0.0.1:9/hook ${upload} --json`, 'webhook secret u-1'],
      needs: /jobs|^addresses\.txt$/,
    },
    {
      weight: 2,
      file: found(/^posted-comments-[0-9a-f]+\.ndjson$/),
      reads: [],
      changes: [`${post} --key-file FOLDER/evm.hex`, `${post} --key-file FOLDER/evm.hex --json`],
      isLog: true,
      needs: /^(evm\.hex|comments\.ndjson)$/,
    },
    {
      weight: 1,
      file: 'sandbox.db',
      reads: [],
      changes: [
        '--sandbox sandbox status --json',
        '--sandbox leaderboard list',
        'doctor --json',
        '--sandbox sandbox advance 1h',
      ],
      isLog: false,
    },
    {
      // Waits its turn for long.
      weight: 0.2,
      file: 'config.lock',
      reads: [],
      changes: ['alias set me ext:a', 'context use null --json'],
    },
    {
      weight: 1,
      file: `${job}/lock`,
      reads: [],
      changes: [`webhook register --url http://127.0.0.1:9/hook ${upload} --json`],
      needs: /jobs|^addresses\.txt$/,
    },
    {
      weight: 2,
      file: 'addresses.txt',
      reads: [
        `webhook register --url http://127.0.0.1:9/x ${upload} --another --json`,
        `webhook register --url http://127.0.0.1:9/x ${upload} --another --skip-invalid`,
        `webhook add-addresses u-2 ${upload} --column 2`,
        `webhook sync u-3 ${upload} --json`,
        `webhook register --url http://127.0.0.1:9/x ${upload} --dry-run`,
      ],
    },
    {
      weight: 2,
      file: 'comments.ndjson',
      reads: [
        `${post} --key-file FOLDER/evm.hex --json`,
        'comment sign --from FOLDER/comments.ndjson --service-name E --key-file FOLDER/evm.hex --out FOLDER/out.ndjson',
        `${post} --key-file FOLDER/evm.hex --dry-run`,
      ],
      needs: /^evm\.hex$/,
    },
    {
      weight: 2,
      file: 'follows.ndjson',
      reads: [
        'follow bulk --file FOLDER/follows.ndjson --json',
        'follow bulk --file FOLDER/follows.ndjson --dry-run',
        'follow bulk --file FOLDER/follows.ndjson --from-line 2',
      ],
    },
    {
      weight: 2,
      file: 'trades.csv',
      reads: [
        'sandbox import FOLDER/trades.csv --db FOLDER/other.db --json',
        'sandbox import FOLDER/trades.csv --db FOLDER/other.db --preset dune',
        'sandbox import FOLDER/trades.csv --db FOLDER/other.db --preset pumpfun --json',
        'sandbox import FOLDER/trades.csv --db FOLDER/other.db --preset hyperliquid-fills --json',
      ],
    },
    {
      weight: 1,
      file: 'trades.ndjson',
      reads: [
        'sandbox import FOLDER/trades.ndjson --db FOLDER/other.db --json',
        'sandbox import FOLDER/trades.ndjson --db FOLDER/other.db --rejects FOLDER/bad.ndjson',
      ],
    },
    {
      weight: 1,
      file: 'prices.json',
      reads: [
        `profile positions ${evmTrader.address} open --prices-file FOLDER/prices.json --json`,
        `profile positions ${evmTrader.address} open --prices-file FOLDER/prices.json --format md`,
      ],
    },
    {
      weight: 1,
      file: 'hook.secret',
      reads: ['webhook verify --secret-file FOLDER/hook.secret --header t=1,v1=x --body-file FOLDER/body.json --json'],
      needs: /^body\.json$/,
    },
    {
      weight: 1,
      file: 'body.json',
      reads: [
        'webhook verify --secret-file FOLDER/hook.secret --header t=1,v1=x --body-file FOLDER/body.json --json',
        'follow bulk --file FOLDER/body.json --json',
      ],
      needs: /^hook\.secret$/,
    },
    {
      weight: 1,
      file: 'text.txt',
      reads: [
        `${sign} --tx ${swaps.good} --token ${degen} --preview`.replace('--text gm', '--text-file FOLDER/text.txt'),
        `${sign} --tx ${swaps.good} --token ${degen} --key-file FOLDER/evm.hex --json`.replace(
          '--text gm',
          '--text-file FOLDER/text.txt',
        ),
      ],
      needs: /^evm\.hex$/,
    },
    ...['evm.hex', 'id.json', 'key.json'].map((file) => ({
      weight: 1,
      file,
      reads: [
        `${sign} --tx ${swaps.good} --token ${degen} --password-file FOLDER/password --json --key-file FOLDER/${file}`,
        `${sign} --chain solana --tx ${swaps.solana} --token ${degen} --password-file FOLDER/password --key-file FOLDER/${file}`.replace(
          '--chain base ',
          '',
        ),
      ],
      needs: /^password$/,
    })),
    {
      weight: 1,
      file: 'password',
      reads: [
        `${sign} --tx ${swaps.good} --token ${degen} --password-file FOLDER/password --json --key-file FOLDER/key.json`,
      ],
      needs: /^key\.json$/,
    },
    {
      weight: 1,
      file: 'signed.json',
      reads: [
        'comment verify --signed FOLDER/signed.json --json',
        'comment verify --signed FOLDER/signed.json',
        'comment post --signed FOLDER/signed.json --json',
      ],
    },
  ];
}
