import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { curlLine } from '../../src/client/preview.ts';
import { shellLine } from '../../src/client/shell.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty, sampled, steering } from '../support/hostile/corpus.ts';
import { size, some } from '../support/size.ts';
import { bonk, degen, evmTrader, writeKeys } from '../support/traders.ts';

/** What can be an argument: anything without a NUL. */
const words = sampled.filter((text) => !text.includes('\0'));
const known = [0, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13];

/** Command lines with a place for a text. */
const places: readonly string[][] = [
  ['leaderboard', 'list', '--chains=TEXT'],
  ['leaderboard', 'list', '--columns=TEXT'],
  ['leaderboard', 'list', '--limit=TEXT'],
  ['leaderboard', 'list', '--jq=TEXT'],
  ['leaderboard', 'list', '--timeout=TEXT'],
  ['leaderboard', 'list', '--context=TEXT'],
  ['leaderboard', 'list', '--base-url=TEXT'],
  ['leaderboard', 'rank', '--', 'TEXT'],
  ['profile', 'get', '--dry-run', '--', 'TEXT'],
  ['token', 'positions', '--dry-run', '--', 'base', 'TEXT', 'open'],
  ['feed', 'actor', 'ext:a', '--newer-than=TEXT', '--dry-run'],
  ['feed', 'actor', 'ext:a', '--cursor=TEXT', '--curl'],
  ['position', 'find', '--dry-run', '--', evmTrader.address, 'base', degen, 'TEXT'],
  ['webhook', 'register', '--url=TEXT', `--wallet-addresses=${degen}`, '--dry-run'],
  ['webhook', 'delete', '--dry-run', '--', 'TEXT'],
  ['webhook', 'events', '--name=TEXT'],
  ['webhook', 'events', '--type=TEXT', '--since=1h'],
  ['request', 'GET', '--dry-run', '--', 'TEXT'],
  ['request', 'POST', '/v1/x', '--data=TEXT', '--dry-run'],
  ['request', 'POST', '/v1/x', '--data=TEXT', '--curl'],
  ['request', 'GET', '/v1/x', '--query=TEXT', '--dry-run'],
  ['alias', 'set', '--', 'TEXT', 'ext:a'],
  ['alias', 'set', '--', 'me', 'TEXT'],
  ['context', 'set', '--base-url=https://a.example.com', '--service-name=TEXT', '--', 'own'],
  ['context', 'set', '--base-url=https://a.example.com', '--', 'TEXT'],
  ['context', 'use', '--', 'TEXT'],
  ['key', 'export', '--', 'TEXT'],
  ['help', '--', 'TEXT'],
  ['--', 'TEXT'],
  ['TEXT'],
];

test('odd text anywhere in a command line is accepted or refused, and no message steers the terminal', async () => {
  const { env } = await answering({ traders: [] });
  const folder = temporaryFolder();
  const all = { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  // Each text in some of the places, each place with some of the texts.
  for (const [index, text] of words.entries())
    for (const place of places.filter((_, at) => (at + index) % size(36, 3) === 0)) {
      const argv = place.map((word) => word.replace('TEXT', () => text));
      const { code, out, err } = await run(argv, { env: all, tty: 80, skipWaits: true });
      const shown = JSON.stringify(argv).slice(0, 300);
      expect([shown, known.includes(code), steering(err), steering(out)]).toEqual([shown, true, undefined, undefined]);
    }
});

test('each odd line of a file is accepted unchanged or refused by its number, and the file stays', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  const { env, requests } = await answering({ uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', follows: 1 });
  const given = { env: { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder }, tty: 80, skipWaits: true };
  const lines = naughty.filter((text) => !/[\r\n]/.test(text));
  writeFileSync(file, `${lines.join('\n')}\n${degen}\n`);
  const rejecting = `webhook add-addresses u-1 --file ${file} --skip-invalid --rejects ${folder}/rejects --json --quiet`;
  const uploaded = await run(rejecting, given);
  expect(uploaded.code).toBe(0);
  const { addresses, rejected, duplicates } = JSON.parse(uploaded.out);
  const empty = lines.filter((line) => line.trim() === '').length;
  expect([addresses, addresses + rejected + duplicates + empty]).toEqual([1, lines.length + 1]);
  expect(readFileSync(join(folder, 'rejects'), 'utf8').trimEnd().split('\n')).toHaveLength(rejected);
  expect(JSON.parse(requests.at(-1)?.body ?? '').walletAddresses).toEqual([degen]);
  const readers = [
    `webhook add-addresses u-1 --file ${file}`,
    `follow bulk --file ${file}`,
    `sandbox import ${file} --db ${folder}/x.db`,
    `profile positions ext:a open --prices-file ${file}`,
    `comment sign --file ${file} --service-name E --key-file ${file}`,
    `webhook verify --secret-file ${file} --header t=1,v1=x --file ${file}`,
    `comment verify --signed ${file}`,
  ];
  for (const [index, content] of [lines.join('\n'), ...words].entries())
    for (const argv of readers.filter((_, at) => index === 0 || (index + at) % size(5, 2) === 0)) {
      writeFileSync(file, content);
      const { code, out, err } = await run(argv, given);
      const shown = [argv, content.slice(0, 99)];
      // A file with only a byte order mark is empty, and an empty list succeeds.
      const isKnown = (content.trim() === '' ? known : known.slice(1)).includes(code);
      expect([...shown, code, isKnown, steering(err + out)]).toEqual([...shown, code, true, undefined]);
      expect(readFileSync(file, 'utf8')).toBe(content);
    }
});

test('odd symbols of imported trades come back from the sandbox unchanged', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const texts = some(naughty, 200).filter((text) => text.trim() === text && text.length < 60 && !/\p{C}/u.test(text));
  const trades = texts.map((symbol, index) => {
    const [token, tx] = [40, 64].map((digits) => `0x${index.toString(16).padStart(digits, '0')}`);
    const fixed = { time: '2026-11-20T10:00:00Z', side: 'buy', chain: 'base', trader: evmTrader.address };
    return `${JSON.stringify({ ...fixed, token, tx, symbol, name: symbol, amount: 10, usd: 50 })}\n`;
  });
  const file = join(folder, 'trades.ndjson');
  writeFileSync(file, trades.join(''));
  expect((await run(`sandbox import ${file} --json`, { env })).code).toBe(0);
  const { out } = await run(`--sandbox profile positions ${evmTrader.address} open --all --json --quiet`, { env });
  const symbols = JSON.parse(out).map(({ metadata }: { metadata: { tokenSymbol: string } }) => metadata.tokenSymbol);
  expect(symbols.toSorted()).toEqual(texts.toSorted());
});

/** A transaction of its own for each line: there is one comment per trade. */
function hashOf(chain: string, index: number): string {
  const bytes = Buffer.alloc(chain === 'solana' ? 64 : 32, 0x11);
  bytes.writeUInt32BE(index);
  return chain === 'solana' ? base58.encode(bytes) : `0x${bytes.toString('hex')}`;
}

test('odd comments are signed to the last byte', async () => {
  const folder = temporaryFolder();
  const keys = writeKeys(folder);
  const long = ['🌊'.repeat(4999), 'é'.repeat(9999), '\ud7ff\ue000\uffff', '\u{10ffff}', '\u200b', '\u202e'];
  const texts = [...some(naughty, 8).filter((text) => !text.includes('\0')), ...long];
  for (const [chain, tokenAddress, key] of [
    ['base', degen, keys.evm],
    ['solana', bonk, keys.solana],
  ] as const) {
    const [file, out] = [join(folder, 'comments.ndjson'), join(folder, `${chain}.ndjson`)];
    const lines = texts.map((commentText, index) => {
      return `${JSON.stringify({ chain, tokenAddress, transactionHash: hashOf(chain, index), commentText })}\n`;
    });
    writeFileSync(file, lines.join(''));
    const { code, err } = await run(
      `comment sign --file ${file} --key-file ${key} --service-name Example --out ${out}`,
    );
    expect([code, steering(err)]).toEqual([0, undefined]);
    const signed = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect(signed).toHaveLength(texts.length);
    for (const [index, line] of signed.entries()) {
      const one = JSON.parse(line);
      const head = `Example Swap Comment:\nChain: ${chain}\nToken Address: ${tokenAddress}\nTxn Hash: ${hashOf(chain, index)}\n`;
      expect([one.commentText, one.message]).toEqual([texts[index], `${head}Comment: ${texts[index]}`]);
    }
  }
});

test('odd names in the settings: lists, errors and completions stay safe, and nothing is run', async () => {
  const folder = temporaryFolder();
  const trap = join(folder, 'trap');
  const traps = [
    `$(touch ${trap})`,
    `\`touch ${trap}\``,
    `;touch ${trap};`,
    `"$(touch ${trap})"`,
    `a[$(touch ${trap})]`,
  ];
  const names = [...some(naughty, 200).filter((text) => text.length < 600), ...traps];
  const contexts = names.map((name) => [name, { baseUrl: 'https://a.example.com', serviceName: name }]);
  const aliases = Object.fromEntries(names.map((name) => [name, name]));
  const settings = { contexts: Object.fromEntries(contexts), aliases };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings));
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  for (const argv of ['context list', 'alias list --columns alias'])
    for (const tty of [undefined, 80]) {
      const { out, code } = await run(argv, { env, ...(tty && { tty }) });
      expect([argv, code, steering(out.replaceAll('\t', ' '))]).toEqual([argv, 0, undefined]);
    }
  for (const name of [...words, ...traps]) {
    const { code, out, err } = await run(['context', 'show', `--context=${name}`], { env, tty: 80 });
    expect([name, [0, 2].includes(code), steering(out + err)]).toEqual([name, true, undefined]);
  }
  const complete =
    'source completions/sotra.bash; sotra() { node bin/sotra.js "$@"; }; COMP_LINE=$1 COMP_POINT=$2; _sotra; declare -p COMPREPLY';
  const typed = Object.entries({ 'sotra context use ': 'clicker', 'sotra profile get @': '@Infinity' });
  for (const [line, found] of some(typed, 1)) {
    const argv = ['--norc', '-c', complete, 'bash', line, String(line.length)];
    const { stdout } = spawnSync('bash', argv, { env: { ...process.env, ...env }, encoding: 'utf8' });
    expect([line, stdout.includes(`"${found}"`), steering(stdout)]).toEqual([line, true, undefined]);
  }
  expect(existsSync(trap)).toBe(false);
});

/** Names and cursors of a service that a shell would run. */
const shellTexts = [
  '$(touch$IFS./ran)',
  '`touch ran`',
  "'; touch ran; '",
  '"; touch ran; "',
  'a\ntouch ran\n',
  'a\r\ntouch ran',
  'a & touch ran',
  'a > ran',
  '!touch',
  '~root',
  '{a,b}',
  '=ls',
  '*',
  "\\'",
  'x\u009b2Jy\u202ez',
];

const shells = ['bash', 'zsh', 'ksh'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

/** The arguments that a shell makes of each line; nothing in them may run. */
function wordsOf(lines: readonly string[], shell = 'bash'): string[][] {
  const cwd = temporaryFolder();
  const show = `show() { printf '%s\\0' "$@"; }`;
  const script = [show, ...lines.flatMap((line) => [`show ${line}`, 'show next'])].join('\n');
  const { stdout, stderr } = spawnSync(shell, ['-c', script], { cwd, encoding: 'utf8' });
  expect([stderr, existsSync(join(cwd, 'ran'))]).toEqual(['', false]);
  const parts = stdout.split('next\0').slice(0, -1);
  return parts.map((part) => part.split('\0').slice(0, -1));
}

test.each(shells)('%s reads back every word of a line to copy unchanged', (shell) => {
  const all = [...naughty, ...shellTexts].filter((text) => !/\0|\p{Surrogate}/u.test(text));
  expect(wordsOf([shellLine(all)], shell)).toEqual([all]);
});

test('a curl command is one line, and curl gets the body unchanged', () => {
  const url = new URL('http://127.0.0.1:9/');
  const bodies = shellTexts.map((text) => `${JSON.stringify({ text })}\n`);
  const lines = bodies.map((body, index) =>
    curlLine({ method: 'POST', url, headers: { 'x-a': shellTexts[index] ?? '' }, body }).trimEnd(),
  );
  for (const line of lines) expect(line).not.toMatch(/[\n\r]/);
  expect(wordsOf(lines).map((each) => each.slice(-3))).toEqual(
    shellTexts.map((text, index) => [`x-a: ${text}`, '--data-raw', bodies[index]]),
  );
});

test('a cursor of the service is quoted in the line that gives the next page, and is no flag of it', async () => {
  let cursor = '';
  const { env } = await stub((_, response) =>
    response.end(JSON.stringify({ items: [{ id: 'p', name: 'n', addresses: [] }], cursor })),
  );
  const typed: string[] = [];
  for (cursor of shellTexts) {
    const { err } = await run('profile followers ext:a', { env });
    typed.push(/--cursor (.*) or --all/s.exec(err)?.[1] ?? '');
  }
  expect(wordsOf(typed)).toEqual(shellTexts.map((text) => [text]));
  cursor = '--sandbox';
  expect((await run('profile followers ext:a', { env })).err).toContain('more with --cursor=--sandbox or --all');
  const { code, err } = await run(['webhook', 'show', '--', '--since=3650d']);
  expect([code, err]).toEqual([5, expect.not.stringContaining('unknown option')]);
});
