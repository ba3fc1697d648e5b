import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { copyDemo } from '../support/demo.ts';
import { answering, run, serve, stub, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, secret, send, signed } from '../support/listening.ts';
import { globalFlags, type Outline, outlines, programFlags, takenFlags } from '../support/outlines.ts';
import { inTurn, size, some } from '../support/size.ts';
import { keystore } from '../support/traders.ts';
import { witnesses } from '../support/witness.ts';

const nameOf = ({ words }: { words: readonly string[] }) => words.join(' ');

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const token = '0x940181a94a35a4569e4529a3cdfb74e38fd98631';
const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
const swap = `--chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token ${token}`;
const form = '--service-name Example --layout five-line';
const trade = `--chain base --trader ${wallet} --token ${token} --side buy --amount 5 --usd 10`;

/** One line of every command, which does what the command is for and answers yes to its question; @ is a folder of files. */
const lines: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(witnesses).map(([id, [row]]) => [id.replace('.', ' '), [row?.[0] ?? []].flat().join(' ')]),
  ),
  'profile delete-name': 'profile delete-name ext:1 --yes',
  'follow bulk': 'follow bulk --file @/follows.ndjson --undo-file @/undo.ndjson',
  'feed actor': 'feed actor ext:1 --watch 1s --max 1',
  'feed home': 'feed home ext:1 --watch 1s --max 1',
  'comment post': `comment post ${swap} --text gm ${form} --key-file @/evm.hex --yes`,
  'comment copy': `comment copy ${uid} --chain base --token ${token} --actor-address ${wallet}`,
  'comment sign': `comment sign ${swap} --text gm ${form} --key-file @/evm.hex --out @/signed.json --yes`,
  'comment verify': `comment verify ${swap} --text gm ${form} --signature 0x12 --signer ${wallet}`,
  'webhook register': `webhook register --url http://127.0.0.1:9/x --file @/users.txt --skip-invalid --secret-file @/new.secret`,
  'webhook add-addresses': `webhook add-addresses ${uid} --file @/users.txt --skip-invalid --rejects @/rejects.ndjson --yes`,
  'webhook delete': `webhook delete ${uid} --yes`,
  'webhook sync': `webhook sync 00000000-0000-4000-8000-000000000001 --file @/users.txt --skip-invalid`,
  'webhook listen':
    'webhook listen --secret-file @/hook.secret --port 0 --keep 7d --forward-to STUB/hook --name other --ready-file @/ready.json',
  'webhook verify': 'webhook verify --secret-file @/hook.secret --header t=1,v1=x',
  'webhook events': 'webhook events',
  'webhook show': 'webhook show e1',
  'webhook forward': 'webhook forward --forward-to STUB/hook --name another',
  'webhook replay': 'webhook replay --since 100000d --to STUB/hook',
  'webhook trigger': 'webhook trigger new-feed-item --to STUB/hook --secret-file @/hook.secret --db @/world.db',
  'webhook exam': 'webhook exam STUB/hook --secret-file @/hook.secret',
  ui: 'ui --context staging',
  'alias set': 'alias set @bob ext:9',
  'alias list': 'alias list',
  'alias remove': 'alias remove @whale --yes',
  'auth login': 'auth login --context staging --with-key --store file',
  'auth logout': 'auth logout --context staging --yes',
  'auth status': 'auth status --check',
  'context list': 'context list',
  'context show': 'context show staging',
  'context use': 'context use staging',
  'context set': 'context set staging --service-name Other',
  'context remove': 'context remove staging --yes',
  'key generate': 'key generate another --password-file @/password',
  'key import': 'key import other --key-file @/evm.hex --password-file @/password',
  'key list': 'key list',
  'key remove': 'key remove trader --yes',
  'key export': 'key export trader --out @/exported.json',
  doctor: 'doctor',
  completion: 'completion bash',
  'sandbox start': 'sandbox start --port 0 --db @/new.db --ready-file @/ready.json',
  'sandbox log': 'sandbox log --ready-file @/served.json',
  'sandbox stop': 'sandbox stop --ready-file @/served.json',
  'sandbox import': 'sandbox import @/trades.csv --chain base --db @/world.db --rejects @/rejects.ndjson',
  'sandbox reset': 'sandbox reset --db @/world.db --yes',
  'sandbox status': 'sandbox status --db @/world.db',
  'sandbox advance': 'sandbox advance 8d --db @/world.db',
  'sandbox trade': `sandbox trade ${trade} --db @/world.db`,
  'sandbox simulate': 'sandbox simulate --for 1s --db @/world.db',
  request: 'request GET /v1/x',
  why: 'why 1',
  'history list': 'history list',
  'history show': 'history show 1',
  'history run': 'history run 1',
  'history clear': 'history clear --yes',
  bundle: 'bundle --out @/bundle.json --yes',
  mcp: 'mcp --allow-writes',
  openapi: 'openapi',
  help: 'help signing',
};

let world: Uint8Array | undefined;

/** A sandbox with a trade of ours, whole in its file. */
async function makeWorld(file: string, env: Record<string, string>): Promise<Uint8Array> {
  copyDemo(file, Date.now());
  await run(`sandbox trade ${trade} --db ${file}`, { env });
  const db = openDb(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return readFileSync(file);
}

/** A folder with something in it that each of the lines could change. */
async function place() {
  const folder = temporaryFolder();
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  let stop: AbortController | undefined;
  const service = await stub((_, response) => {
    response.end('[]');
    stop?.abort();
  });
  /** A signal for the next request that comes, or for when none does. */
  const asked = (waitMs: number) => {
    const next = new AbortController();
    stop = next;
    setTimeout(() => next.abort(), waitMs).unref();
    return next.signal;
  };
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  for (const each of ['config/keys', 'data']) mkdirSync(join(folder, each), { recursive: true });
  put('config/keys/trader.json', JSON.stringify(keystore));
  const staging = { baseUrl: service.url, apiKey: 'a-stored-key', keyOrigin: service.url, serviceName: 'Example' };
  put('config/config.json', JSON.stringify({ version: 1, contexts: { staging }, aliases: { whale: wallet } }));
  put('follows.ndjson', '{"addressOrUid":"ext:user_1","targets":["ext:user_2"]}\n');
  put('evm.txt', `${wallet}\n`);
  put('users.txt', `${wallet}\nnot-an-address\n`);
  put('rejects.ndjson', 'rejected before');
  put('evm.hex', `0x${'0'.repeat(63)}1`);
  put('password', 'correct horse');
  put('hook.secret', `${secret}\n`);
  put('signed.json', 'signed before');
  put('trades.csv', `time,trader,token,side,amount,usd\n2026-01-01T00:00:00Z,${wallet},${token},buy,1,2\n`);
  world ??= await makeWorld(join(folder, 'made.db'), env);
  writeFileSync(join(folder, 'world.db'), world, { mode: 0o600 });
  const listener = await listen(join(folder, 'data'));
  await send(listener.url, bodyOf('e1'), signed(bodyOf('e1')));
  await listener.stop();
  await run('leaderboard list', { env: { ...env, ...service.env } });
  service.requests.length = 0;
  const failing = await answering({}, 503);
  const intent = `comment copy ${uid} --chain base --token ${token} --actor-address ${wallet} --retries 0`;
  await run(intent, { env: { ...env, SOTRA_BASE_URL: service.url, SOTRA_API_KEY: 'a-key' } });
  service.requests.splice(0);
  const upload = `webhook register --url http://127.0.0.1:9/y --wallet-addresses ${wallet} --retries 0`;
  await run(upload, { env: { ...env, ...failing.env } });
  const { file } = await serve('sandbox start --port 0 --db :memory:', { env });
  copyFileSync(file, join(folder, 'served.json'));
  return { folder, env, service, asked };
}

type Place = Awaited<ReturnType<typeof place>>;

function typed(line: string, { folder, service }: Place): string {
  return line.replaceAll('@/', `${folder}/`).replaceAll('STUB', service.url);
}

/** Checks that make requests take the options that help there, and not all of them. */
const checks = ['doctor', 'bundle'];

const sendsRequests = (outline: Outline) => outline.sendsRequests || checks.includes(nameOf(outline));

/** Lines that name their service or their sandbox see no other. */
function envOf(outline: Outline, { env, service }: Place) {
  const { words } = outline;
  const isOwn = words[0] === 'sandbox' || /--context|--db/.test(lines[words.join(' ')] ?? '');
  return isOwn || !sendsRequests(outline) ? env : { ...env, ...service.env };
}

function changedIn(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
}

/** Every file and folder with its fingerprint, without the shared memory and empty logs of SQLite, which come and go. */
function entriesOf(folder: string, fingerprint: (file: string) => string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    ({ name, parentPath }) =>
      !name.endsWith('-shm') && !(name.endsWith('-wal') && statSync(join(parentPath, name)).size === 0),
  );
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? fingerprint(path) : 'folder'];
    }),
  );
}

const contents = (folder: string) =>
  entriesOf(folder, (file) => createHash('sha256').update(readFileSync(file)).digest('hex'));

/** Which files there are and when they were last written: quicker than their contents. */
const writings = (folder: string) =>
  entriesOf(folder, (file) => {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  });

test('every command has a line here, and no line is of a command that is gone', () => {
  expect(Object.keys(lines).sort()).toEqual(outlines.map(nameOf).sort());
});

test('every command that changes something or makes a request has --dry-run, and no other', () => {
  const without = outlines.filter((outline) => !takenFlags(outline).includes('dry-run')).map(nameOf);
  expect(without.sort()).toEqual([
    ...['alias list', 'comment verify', 'completion', 'context list', 'context show', 'help', 'history list'],
    ...['history show', 'key list', 'openapi', 'sandbox status', 'webhook events', 'webhook show'],
    ...['webhook verify', 'why'],
  ]);
});

/** A value for each global flag that takes one. */
const values: Record<string, string> = {
  context: 'staging',
  'base-url': 'http://127.0.0.1:9',
  format: 'csv',
  columns: 'none',
  jq: '.',
  timeout: '1s',
  retries: '0',
  rate: '5/s',
};

/** Habits of a terminal or a script, and not of a command: accepted everywhere. --json makes errors JSON, --verbose tells more of a bug. */
const everywhere = ['format', 'json', 'no-color', 'verbose', 'quiet', 'yes', 'no-input'];

/** The global flags that a command refuses, as they are typed. */
function refusedBy(outline: Outline): string[] {
  const taken = takenFlags(outline);
  const isRefused = (flag: string) =>
    (!taken.includes(flag) && outline.fields.every((own) => own.flag !== flag)) ||
    (flag === 'format' && outline.columns.length === 0);
  return globalFlags
    .filter(({ flag }) => isRefused(flag))
    .map(({ flag, takesValue }) => `--${flag}${takesValue ? ` ${values[flag] ?? ''}` : ''}`);
}

test('whatever the command: --dry-run and --curl show something and change nothing; a global flag works, or is refused by name before anything is done', async () => {
  const here = await place();
  const before = contents(here.folder);
  const written = writings(here.folder);
  const flags = inTurn(['--dry-run', '--curl']);
  for (const outline of outlines) {
    const refused = refusedBy(outline);
    const taken = takenFlags(outline);
    for (const flag of new Set([...flags(), ...some(refused, 1)])) {
      const argv = `${typed(lines[nameOf(outline)] ?? '', here)} ${typed(flag, here)}`;
      const { code, out, err } = await run(argv, { env: envOf(outline, here) });
      if (refused.includes(flag))
        expect([argv, code, out, err]).toEqual([argv, 2, '', expect.stringContaining(flag.split(' ')[0] ?? '')]);
      else expect([argv, code, out, err]).toEqual([argv, 0, expect.stringMatching(/./), expect.any(String)]);
      expect([argv, here.service.requests]).toEqual([argv, []]);
    }
    expect(everywhere.filter((flag) => !taken.includes(flag))).toEqual([]);
    expect([nameOf(outline), changedIn(written, writings(here.folder))]).toEqual([nameOf(outline), []]);
  }
  expect(changedIn(before, contents(here.folder))).toEqual([]);
});

test('a command accepts the flags about requests exactly if it sends requests to the service', async () => {
  const here = await place();
  const file = join(here.env.SOTRA_CONFIG_DIR, 'config.json');
  const config = readFileSync(file);
  const declared = outlines.filter(sendsRequests).map(nameOf);
  const sends: string[] = [];
  for (const outline of outlines) {
    // Sealing a key takes seconds.
    if (['key generate', 'key import'].includes(nameOf(outline))) continue;
    // Some lines go on until they are stopped; one that should ask is given as long as it takes.
    const signal = here.asked(declared.includes(nameOf(outline)) ? 20_000 : size(200, 1000));
    const argv = typed(lines[nameOf(outline)] ?? '', here);
    await run(argv, { env: { ...here.env, ...here.service.env }, stdin: 'a-key', signal });
    if (here.service.requests.splice(0).some(({ url }) => url !== '/hook')) sends.push(nameOf(outline));
    writeFileSync(file, config);
  }
  expect(sends).toEqual(declared);
});

test('no command has an option of its own with the name of a global one, except the base URL that context set stores', () => {
  const own = outlines.flatMap((outline) =>
    outline.fields
      .filter(({ positional, flag }) => !positional && programFlags.some((global) => global.flag === flag))
      .map(({ flag }) => `${nameOf(outline)} --${flag}`),
  );
  expect(own).toEqual(['context set --base-url']);
});
