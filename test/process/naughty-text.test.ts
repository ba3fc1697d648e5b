import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cardOf } from '../support/feed-cards.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty, sampled, steers } from '../support/hostile/corpus.ts';
import { send, signed } from '../support/listening.ts';
import { some } from '../support/size.ts';

/** What steers a terminal in rows whose fields are parted by tabs. */
const inRows = (text: string) => steers.exec(text.replaceAll('\t', ' '))?.[0];
const rawControl = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

describe('naughty strings around the answers', () => {
  test('as the reason of an error: one safe line for people, every character in JSON', async () => {
    let reason = '';
    const { env } = await stub((_, response, count) => {
      response.writeHead([400, 404, 409, 422, 403][count % 5] ?? 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: reason }));
    });
    for (const text of sampled) {
      reason = text;
      const people = await run('leaderboard list', { env, tty: 80 });
      expect([text, steers.exec(people.err)?.[0], people.out]).toEqual([text, undefined, '']);
      expect(people.err.replaceAll('\n  ', ' ').split('\n')[0]).toMatch(
        /^error: .* \(HTTP 4\d\d from GET \/v2\/leaderboard\)$/,
      );
      const machine = await run('leaderboard list --json', { env });
      expect(machine.err).not.toMatch(rawControl);
      // What is longer is cut, and says how much more there was.
      expect(JSON.parse(machine.err).error.message.startsWith(text.slice(0, 500))).toBe(true);
    }
  });

  test('as an answer that is not JSON, and as the page of a proxy', async () => {
    let body = '';
    const { env } = await stub((_, response, count) => {
      response.writeHead(count % 2 === 0 ? 200 : 418, { 'content-type': 'text/html' });
      response.end(body);
    });
    for (const text of sampled) {
      body = text;
      for (const words of ['', ' --verbose']) {
        const { code, err } = await run(`leaderboard list${words}`, { env, tty: 80 });
        expect([text, steers.exec(err)?.[0]]).toEqual([text, undefined]);
        expect([0, 6, 13]).toContain(code);
      }
    }
  });

  test('as headers of an answer, shown by --verbose', async () => {
    // A header holds no line end and no C0 control, and goes as single bytes; C1 controls are bytes too.
    const bytes = [...naughty, '\u009b31mred\u009d0;title\u009c'].map((text) => Buffer.from(text).toString('latin1'));
    const headers = bytes.filter((text) => /^[\x20-\x7e\x80-\xff]+$/.test(text) && text.length < 1000);
    expect(headers.length).toBeGreaterThan(400);
    const tried = headers.filter((text, index) => index % 4 === 0 || /[\x80-\x9f]/.test(text));
    let value = '';
    const { env } = await stub((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-note': value, 'x-request-id': value });
      response.end('{"traders":[]}');
    });
    for (const header of some(tried, 20)) {
      value = header;
      const { out, err, code } = await run('leaderboard list --verbose', { env, tty: 80 });
      expect([header, code, steers.exec(out + err)?.[0]]).toEqual([header, 0, undefined]);
    }
  });

  test('as cards that a watch prints live, in a table, as rows and as JSON', async () => {
    const texts = naughty.filter((text) => text.length < 600);
    const cards = texts.map((text, index) => {
      const card = cardOf(`c${index}`, 1_700_000_000 + index) as Record<string, Record<string, unknown>>;
      return {
        ...card,
        itemTitle: text,
        metadata: { ...card['metadata'], tokenSymbol: text, tokenName: text },
        actor: { ...card['actor'], name: text },
      };
    });
    const { env } = await answering({ items: cards.toReversed(), pagination: null });
    const watch = `feed actor ext:a --watch 5s --newer-than 2020-01-01 --max ${cards.length}`;
    const ways = [
      ['--format table', 100],
      ['', undefined],
      ['--format tsv', undefined],
    ] as const;
    for (const [words, tty] of some(ways, 1)) {
      const given = { env: { ...env, SOTRA_DATA_DIR: temporaryFolder() }, skipWaits: true };
      const { out, err, code } = await run(`${watch} ${words}`, tty === undefined ? given : { ...given, tty });
      expect([words, code, inRows(out + err)]).toEqual([words, 0, undefined]);
    }
    const { out } = await run(`${watch} --json`, {
      env: { ...env, SOTRA_DATA_DIR: temporaryFolder() },
      skipWaits: true,
    });
    expect(out).not.toMatch(rawControl);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(cards);
  });

  test('as events that a listener shows as they come, and lists later', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'secret'), 'whsec_test\n');
    const events = naughty.map((text, index) => ({
      eventId: `e${index} ${text}`,
      eventType: ['copyswap', 'comment-created', text][index % 3],
      reason: text,
      comment: { commentText: text },
      copyswapActor: { name: text },
      feedItem: { itemTitle: text, actor: { name: text }, metadata: { tokenSymbol: text, tokenChain: text } },
    }));
    const body = JSON.stringify({ events });
    const ways = [
      ['a', '', 100],
      ['c', '--json', undefined],
      ['b', '', undefined],
    ] as const;
    for (const [name, words, tty] of some(ways, 2)) {
      const ready = join(folder, `ready-${name}`);
      const stop = new AbortController();
      const argv = `webhook listen --port 0 --name ${name} --secret-file ${folder}/secret --ready-file ${ready} ${words}`;
      const given = { env: { SOTRA_DATA_DIR: folder }, signal: stop.signal };
      const ended = run(argv, tty === undefined ? given : { ...given, tty });
      while (!existsSync(ready)) await delay(5);
      expect(await send(JSON.parse(readFileSync(ready, 'utf8')).url, body, signed(body))).toBe(200);
      stop.abort();
      const { out, err } = await ended;
      const lines = out.trimEnd().split('\n');
      expect([name, lines.length]).toEqual([name, naughty.length]);
      if (words === '') expect([name, inRows(out + err)]).toEqual([name, undefined]);
      else expect([rawControl.test(out), lines.map((line) => JSON.parse(line))]).toEqual([false, events]);
    }
    for (const words of some(['--format table', '--format tsv'], 1)) {
      const { out, code } = await run(`webhook events --name a --limit 1000 ${words}`, {
        env: { SOTRA_DATA_DIR: folder },
        tty: 120,
      });
      expect([words, code, inRows(out)]).toEqual([words, 0, undefined]);
    }
    const listed = await run('webhook events --name a --limit 1000 --json', { env: { SOTRA_DATA_DIR: folder } });
    expect(JSON.parse(listed.out).map(({ event }: { event: unknown }) => event)).toEqual(events.toReversed());
  });

  test('as names in the settings: lists, errors and what a shell completes stay safe, and nothing is run', async () => {
    const folder = temporaryFolder();
    const trap = join(folder, 'trap');
    const traps = [
      `$(touch ${trap})`,
      `\`touch ${trap}\``,
      `;touch ${trap};`,
      `"$(touch ${trap})"`,
      `a[$(touch ${trap})]`,
    ];
    const names = [...naughty.filter((text) => text.length < 600), ...traps];
    const contexts = Object.fromEntries(
      names.map((name) => [name, { baseUrl: 'https://a.example.com', serviceName: name }]),
    );
    const aliases = Object.fromEntries(names.map((name) => [name, name]));
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ contexts, aliases }));
    const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    const lists = ['context list', 'alias list', 'context list --columns name', 'alias list --columns alias'];
    for (const argv of some(lists, 2))
      for (const tty of [undefined, 80]) {
        const { out, code } = await run(argv, tty === undefined ? { env } : { env, tty });
        expect([argv, code, inRows(out)]).toEqual([argv, 0, undefined]);
      }
    for (const name of [...sampled, ...traps]) {
      if (name.includes('\0')) continue;
      const { code, out, err } = await run(['context', 'show', `--context=${name}`], { env, tty: 80 });
      expect([name, [0, 2].includes(code), steers.exec(out + err)?.[0]]).toEqual([name, true, undefined]);
    }
    const complete =
      'source completions/sotra.bash; sotra() { node bin/sotra.js "$@"; }; COMP_LINE=$1 COMP_POINT=$2; _sotra; declare -p COMPREPLY';
    const typed = [
      ['sotra context use ', 'clicker'],
      ['sotra leaderboard list --context ', 'clicker'],
      ['sotra profile get @', '@Infinity'],
    ] as const;
    for (const [line, found] of some(typed, 1)) {
      const words = ['--norc', '-c', complete, 'bash', line, String(line.length)];
      const { stdout } = spawnSync('bash', words, { env: { ...process.env, ...env }, encoding: 'utf8' });
      expect([line, stdout.includes(`"${found}"`), steers.exec(stdout)?.[0]]).toEqual([line, true, undefined]);
    }
    expect(existsSync(trap)).toBe(false);
  });
});
