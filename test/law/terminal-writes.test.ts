import { expect, test } from 'vitest';
import { terminalText } from '../../src/api/safe-text.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { withText } from '../support/hostile/answers.ts';
import { naughty, sampled, steers, withoutProgress } from '../support/hostile/corpus.ts';

test('what is written to a terminal keeps its lines and our colors, and loses all that steers', () => {
  const bold = '\u001b[1mTrader\u001b[22m\t\u001b[32m+1\u001b[39m\n';
  expect(terminalText(bold)).toBe(bold);
  expect(terminalText('a\u001b[8mhidden\u001b[0m\u001b[2A\u001b[K\u001b]52;c;AAAA\u0007b\u009b2Jc\u202ed\r\n')).toBe(
    'ahidden\u001b[0mbcd \n',
  );
  for (const text of naughty) {
    const shown = terminalText(text).replaceAll('\t', ' ');
    expect([text, steers.exec(shown.replaceAll(/\u001b\[[\d;]*m/g, ''))?.[0]]).toEqual([text, undefined]);
    expect(terminalText(shown)).toBe(shown);
  }
});

/** What a hostile service may name things, and what it then does on a terminal that obeys. */
const hostile = [
  'x\u001b]52;c;cm0gLXJmIH4=\u0007y',
  'x\u001b[2J\u001b[1;1Hy',
  'x\u009b2Ky\u009d0;owned\u009c',
  'x\u202ey\u2066z',
  'x\ny\rz',
  ...sampled,
];

const address = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const commands = [
  `profile get ${address}`,
  `profile get ${address} --chart`,
  `profile positions ${address} open --chart`,
  `profile followers ${address}`,
  'leaderboard list --chart',
  'leaderboard list --verbose',
  'webhook list',
];

test('no name, title, header or error of a service steers the terminal, whatever is shown of it', async () => {
  const real = new Map<string, unknown>();
  for (const argv of commands)
    real.set(
      argv,
      JSON.parse((await run(`--sandbox ${argv.replace(/ --(chart|verbose|include|plain)$/, '')} --json`)).out),
    );
  for (const [index, text] of hostile.entries()) {
    const argv = commands[index % commands.length] ?? '';
    const answer = withText(real.get(argv), text, false);
    const header = encodeURIComponent(text).slice(0, 200);
    const { env } = await answering(answer, 200, { 'x-request-id': header });
    for (const tty of [80, undefined]) {
      const { out, err } = await run(argv, { env, ...(tty && { tty }) });
      const shown = (out + withoutProgress(err)).replaceAll('\t', ' ');
      expect([argv, text, steers.exec(shown)?.[0]]).toEqual([argv, text, undefined]);
    }
    const failing = await answering({ error: text }, 400);
    const failed = await run(argv, { env: failing.env, tty: 80 });
    expect([argv, text, steers.exec(withoutProgress(failed.err))?.[0]]).toEqual([argv, text, undefined]);
    const { out } = await run(`${argv} --json`, { env, tty: 80 });
    expect([argv, text, steers.exec(out)?.[0]]).toEqual([argv, text, undefined]);
  }
});

test('a question shows a name without what steers, of a long one both ends, and what it does', async () => {
  const service = await stub((_, response) => response.end('{}'));
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  // What begins with a dash is a flag.
  for (const uid of [...hostile.filter((text) => !text.startsWith('-')), 'u'.repeat(5000)]) {
    const { err } = await run(['webhook', 'delete', uid], { env, tty: 80, answers: ['n'] });
    const question = err.split('\n').find((line) => line.startsWith('Delete webhook'));
    if (question === undefined) {
      // Refused before anything is asked.
      expect([uid, err]).toEqual([uid, expect.stringMatching(/^error: /)]);
      continue;
    }
    expect([uid, steers.exec(question)?.[0]]).toEqual([uid, undefined]);
    expect(question).toContain(' with its addresses and its secret? [y/N] ');
    expect(question.length).toBeLessThan(500);
  }
  // Of what cannot be a uid the webhooks are listed to choose from.
  expect(service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('what would be sent is shown without what steers, as a preview and as a curl line', async () => {
  const service = await answering({});
  for (const text of hostile.filter((each) => !each.includes('\0')))
    for (const flag of ['--dry-run', '--curl'])
      for (const argv of [
        ['request', 'POST', '/v1/x', '--data', JSON.stringify({ text })],
        ['webhook', 'delete', text],
        ['request', 'GET', '/v1/x', '-q', `name=${text}`],
      ]) {
        const { out, err } = await run([...argv, flag], { env: service.env, tty: 80 });
        expect([text, argv, steers.exec(out + err)?.[0]]).toEqual([text, argv, undefined]);
      }
  expect(service.requests).toEqual([]);
});
