import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { globalFlags, outlines, parseLine } from '../support/outlines.ts';
import { freePorts, program } from '../support/processes.ts';
import { isProof, some } from '../support/size.ts';

const execute = promisify(execFile);
const flagsOfCommands = [...outlines.flatMap(({ fields }) => fields), ...globalFlags].map(({ flag }) => flag);
/** The last is of npm. */
const knownFlags = new Set([...flagsOfCommands, 'help', 'version', 'prefix']);
const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...guides.map((name) => `docs/${name}`)];
const texts = new Map(documents.map((name) => [name, readFileSync(name, 'utf8')]));

/** The shell blocks of a text that type `sotra`, or import it. */
const shellBlocks = (text: string) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block = '']) => block)
    .filter((block) => /^sotra |'sotra'/m.test(block));

/** Names what only the reader has: a service, a server, a wallet. Such blocks are read, all others are run. */
const needsReader = (block: string) => /\.{3}|<\w+>|example\.com|nats:|:3000|\bkey\.txt|--browser/.test(block);

/** The documents whose blocks are run; those of the others are read. */
const runs = ['README.md', ...some(documents.slice(1), 1)];

/** Loaded before the program: a password takes a thousandth of the time that it takes on purpose, which is no subject of documents. */
const quickPasswords = `const crypto = require('node:crypto');
const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, cost, done) => scrypt(password, salt, length, { ...cost, N: 256 }, done);`;

/** A place where `sotra` can be typed, and imported. */
function makePlace() {
  const folder = temporaryFolder();
  const [bin, work] = [join(folder, 'bin'), join(folder, 'work')];
  mkdirSync(bin);
  mkdirSync(join(work, 'node_modules'), { recursive: true });
  symlinkSync(process.cwd(), join(work, 'node_modules', 'sotra'));
  writeFileSync(join(bin, 'sotra'), `#!/bin/sh\nexec '${process.execPath}' '${resolve(program)}' "$@"\n`);
  chmodSync(join(bin, 'sotra'), 0o755);
  const hook = join(folder, 'quick-passwords.cjs');
  writeFileSync(hook, quickPasswords);
  const path = [bin, dirname(process.execPath), process.env['PATH']].join(':');
  return {
    cwd: work,
    env: {
      PATH: path,
      SOTRA_CONFIG_DIR: join(folder, 'config'),
      SOTRA_DATA_DIR: join(folder, 'data'),
      ...(isProof ? {} : { NODE_OPTIONS: `--require ${hook}` }),
    },
  };
}

describe.each(documents)('%s', (name) => {
  const text = texts.get(name) ?? '';
  const blocks = shellBlocks(text);
  const isRead = (block: string) => needsReader(block) || !runs.includes(name);
  const run = blocks.filter((each) => !isRead(each));

  // Some thirty commands, of which a busy machine runs one in seconds.
  test.skipIf(run.length === 0).each(some(['without a context', 'with a context of the reader'], 1))(
    'its blocks run as written, one after the other, %s',
    { timeout: 600_000 },
    async (way) => {
      const place = makePlace();
      if (way.startsWith('with a'))
        await runScript('sotra context set own --base-url https://service.example.com; sotra context use own', place);
      onTestFinished(() => runScript('sotra sandbox stop || true', place).then(() => undefined));
      const [listener, sandbox] = await freePorts(2);
      for (const block of run) {
        const script = block.replaceAll('4242', String(listener)).replaceAll('4010', String(sandbox));
        const ran = await runScript(script, place).catch(String);
        expect([block, ran]).toMatchObject([block, { stderr: expect.not.stringMatching(/^(error|warning):/m) }]);
      }
    },
  );

  test('the lines of the others, and those in sentences, name commands and flags that exist', async () => {
    const quoted = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, words = '']) =>
      words.replaceAll('\n', ' '),
    );
    const typed = blocks.filter(isRead).flatMap((block) => block.match(/^sotra .*/gm) ?? []);
    for (const line of [...typed, ...quoted.filter((words) => words.startsWith('sotra '))])
      expect([line, await readLine(line).catch(String)]).toEqual([line, undefined]);
    const flags = quoted.flatMap((words) => /^--([\w-]+)/.exec(words)?.[1] ?? []);
    expect(flags.filter((flag) => !knownFlags.has(flag))).toEqual([]);
  });

  test('its shell blocks hold no comments, which zsh on a Mac takes for words', () => {
    const all = [...text.matchAll(/^```sh\n[\s\S]*?^```/gm)].map(([block]) => block);
    expect(all.filter((block) => /(^|\s)#/m.test(block))).toEqual([]);
  });

  test('the files that it links to exist', () => {
    const targets = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, target = '']) => target);
    const missing = targets.filter((target) => !/^https?:/.test(target) && !existsSync(join(dirname(name), target)));
    expect(missing).toEqual([]);
  });
});

/** What a script prints; what it leaves running ends with it. */
function runScript(script: string, place: ReturnType<typeof makePlace>) {
  const options = ['--norc', '-e', '-o', 'pipefail', '-c'];
  const running = execute('bash', [...options, `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${script}`], place);
  running.child.stdin?.end();
  return running;
}

/** Reads each `sotra` of a line as the program does. Errors: `usage` for words and flags that it does not know. */
async function readLine(line: string): Promise<void> {
  const echoed = `sotra() { printf '%s\\0' "$@" $'\\n' >&2; }; ${line.replaceAll(/<(\w+)>/g, '$1')}`;
  const { stderr } = await execute('bash', ['--norc', '-c', echoed], { cwd: temporaryFolder() });
  for (const words of stderr.split('\0\n\0').slice(0, -1)) await parseLine(words.split('\0'));
}
