import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty, sampled, steers } from '../support/hostile/corpus.ts';
import { degen, evmTrader } from '../support/traders.ts';

/** What can be an argument: anything without a NUL. */
const words = sampled.filter((text) => !text.includes('\0'));
const rawControl = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
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
  ['webhook', 'events', '--name=TEXT'],
  ['webhook', 'events', '--type=TEXT', '--since=1h'],
  ['request', 'GET', '--dry-run', '--', 'TEXT'],
  ['request', 'POST', '/v1/x', '--data=TEXT', '--dry-run'],
  ['request', 'GET', '/v1/x', '--query=TEXT', '--dry-run'],
  ['alias', 'set', '--', 'TEXT', 'ext:a'],
  ['alias', 'set', '--', 'me', 'TEXT'],
  ['context', 'set', '--base-url=https://a.example.com', '--service-name=TEXT', '--', 'own'],
  ['context', 'set', '--base-url=https://a.example.com', '--', 'TEXT'],
  ['context', 'use', '--', 'TEXT'],
  ['key', 'export', '--', 'TEXT'],
  ['profile', 'get', '--dry-run', '--', 'TEXT'],
  ['help', '--', 'TEXT'],
  ['--', 'TEXT'],
  ['TEXT'],
];

describe('naughty strings as input', () => {
  test('in any place of a command line: taken or refused, and told without steering the terminal', async () => {
    const { env } = await stub((_, response) => response.end('{"traders":[]}'));
    const folder = temporaryFolder();
    const all = { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    // Each text in a third of the places, each place with a third of the texts.
    for (const [index, text] of words.entries())
      for (const place of places.filter((_, at) => (at + index) % 3 === 0)) {
        const argv = place.map((word) => word.replace('TEXT', () => text));
        const { code, out, err } = await run(argv, { env: all, tty: 80, skipWaits: true });
        const shown = JSON.stringify(argv).slice(0, 300);
        expect([shown, known.includes(code), steers.exec(err)?.[0]]).toEqual([shown, true, undefined]);
        expect([shown, steers.exec(out)?.[0]]).toEqual([shown, undefined]);
      }
  });

  test('as a name that is set: sent as it was typed, or refused by name', async () => {
    const { env } = await stub(() => undefined);
    for (const text of words) {
      const argv = ['profile', 'set-name', 'ext:a', `--name=${text}`, `--avatar-url=${text}`, '--dry-run', '--json'];
      const { code, out, err } = await run(argv, { env });
      expect(out + err).not.toMatch(rawControl);
      if (code === 0 && text !== 'null') expect(JSON.parse(out).body).toMatchObject({ name: text });
      else if (text !== 'null')
        expect([text, code, err]).toEqual([text, 2, expect.stringMatching(/--name|--avatar-url/)]);
    }
  });

  test('as lines of files: each is taken as it is or refused by its line', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    const { env, requests } = await stub((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"uid":"u-1","destinationUrl":"http://127.0.0.1:9/hook","follows":1}');
    });
    const given = { env: { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder }, tty: 80, skipWaits: true };
    const lines = naughty.filter((text) => !/[\r\n]/.test(text));
    writeFileSync(file, `${lines.join('\n')}\n${degen}\n`);
    const uploaded = await run(
      `webhook add-addresses u-1 --file ${file} --skip-invalid --rejects ${folder}/rejects --json --quiet`,
      given,
    );
    expect(uploaded.code).toBe(0);
    const { addresses, rejected, duplicates } = JSON.parse(uploaded.out);
    const empty = lines.filter((line) => line.trim() === '').length;
    expect([addresses, addresses + rejected + duplicates + empty]).toEqual([1, lines.length + 1]);
    expect(readFileSync(join(folder, 'rejects'), 'utf8').trimEnd().split('\n')).toHaveLength(rejected);
    expect(JSON.parse(requests.at(-1)?.body ?? '').walletAddresses).toEqual([degen]);
    for (const argv of [
      `webhook add-addresses u-1 --file ${file}`,
      `follow bulk --file ${file}`,
      `sandbox import ${file} --db ${folder}/x.db`,
      `profile positions ext:a open --prices-file ${file}`,
      `comment sign --file ${file} --service-name E --key-file ${file}`,
      `webhook verify --secret-file ${file} --header t=1,v1=x --file ${file}`,
      `comment verify --signed ${file}`,
    ])
      for (const content of [lines.join('\n'), ...words]) {
        writeFileSync(file, content);
        const { code, out, err } = await run(argv, given);
        const shown = err.replaceAll(/\x1b\[(?:\?25[hl]|\?2026[hl]|\d*G|2K|1A)/g, '');
        // Nothing but a byte order mark is an empty file, and an empty list is done.
        const codes = content.trim() === '' ? known : known.slice(1);
        expect([argv, content.slice(0, 99), codes]).toEqual([
          argv,
          content.slice(0, 99),
          expect.toSatisfy((list) => list.includes(code)),
        ]);
        expect([argv, content.slice(0, 99), steers.exec(shown + out)?.[0]]).toEqual([
          argv,
          content.slice(0, 99),
          undefined,
        ]);
        expect(readFileSync(file, 'utf8')).toBe(content);
      }
  });

  test('as names and symbols of imported trades: told again by the sandbox to the last character', async () => {
    const folder = temporaryFolder();
    const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const texts = naughty.filter((text) => text.trim() === text && text.length < 60 && !/\p{C}/u.test(text));
    const trades = texts.map((symbol, index) => {
      const token = `0x${index.toString(16).padStart(40, '0')}`;
      return {
        time: '2026-11-20T10:00:00Z',
        side: 'buy',
        chain: 'base',
        trader: evmTrader.address,
        token,
        symbol,
        name: symbol,
        amount: 10,
        usd: 50,
        tx: `0x${index.toString(16).padStart(64, '0')}`,
      };
    });
    const file = join(folder, 'trades.ndjson');
    writeFileSync(file, trades.map((trade) => `${JSON.stringify(trade)}\n`).join(''));
    const imported = await run(`sandbox import ${file} --json`, { env });
    expect(imported.code).toBe(0);
    const { out, code } = await run(`--sandbox profile positions ${evmTrader.address} open --all --json --quiet`, {
      env,
    });
    expect(code).toBe(0);
    const symbols = JSON.parse(out).map(({ metadata }: { metadata: { tokenSymbol: string } }) => metadata.tokenSymbol);
    expect(symbols.toSorted()).toEqual(texts.toSorted());
  });
});
