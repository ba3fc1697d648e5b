import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { globalFlags, outlines, parseLine } from '../support/outlines.ts';
import { freePorts, program } from '../support/processes.ts';
import { isProof } from '../support/size.ts';

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

/** A place where `sotra` can be typed, and imported. */
function makePlace() {
  const folder = temporaryFolder();
  const [bin, work] = [join(folder, 'bin'), join(folder, 'work')];
  mkdirSync(bin);
  mkdirSync(join(work, 'node_modules'), { recursive: true });
  symlinkSync(process.cwd(), join(work, 'node_modules', 'sotra'));
  writeFileSync(join(bin, 'sotra'), `#!/bin/sh\nexec '${process.execPath}' '${resolve(program)}' "$@"\n`);
  chmodSync(join(bin, 'sotra'), 0o755);
  const PATH = [bin, dirname(process.execPath), process.env['PATH']].join(':');
  return { cwd: work, env: { PATH, SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') } };
}

describe.each(documents)('%s', (name) => {
  const text = texts.get(name) ?? '';
  const blocks = shellBlocks(text);
  const run = blocks.filter((each) => !needsReader(each));

  test.runIf(isProof && run.length > 0).each(['without a context', 'with a context of the reader'])(
    'its blocks run as written, one after the other, %s',
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

  test('its blocks and sentences name commands and flags that exist', async () => {
    const quoted = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, words = '']) =>
      words.replaceAll('\n', ' '),
    );
    const typed = blocks.flatMap((block) => block.match(/^sotra .*/gm) ?? []);
    await readLines([...typed, ...quoted.filter((words) => words.startsWith('sotra '))]);
    const flags = quoted.flatMap((words) => /^--([\w-]+)/.exec(words)?.[1] ?? []);
    expect(flags.filter((flag) => !knownFlags.has(flag))).toEqual([]);
  });

  test('its shell blocks have no comments, which zsh on a Mac reads as words', () => {
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

/** Reads each `sotra` of some lines as the program does, and fails for words and flags that it does not know. */
async function readLines(lines: readonly string[]): Promise<void> {
  const cwd = temporaryFolder();
  const echoed = lines.map((line, index) => `(\n${line.replaceAll(/<(\w+)>/g, '$1')}\nwait\n) 2> ${index}`);
  const script = ["sotra() { printf '%s\\0' \"$@\" $'\\n' >&2; }", ...echoed, 'true'].join('\n');
  await execute('bash', ['--norc', '-c', script], { cwd });
  for (const [index, line] of lines.entries())
    for (const words of readFileSync(join(cwd, String(index)), 'utf8')
      .split('\0\n\0')
      .slice(0, -1))
      expect([line, await parseLine(words.split('\0')).catch(String)]).toEqual([line, undefined]);
}

test('the files of the source that ARCHITECTURE.md names exist', () => {
  const named = [...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path);
  const known = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const isKnown = (path: string) => existsSync(path) || known.some((file) => `/${file}`.endsWith(`/${path}`));
  expect(named.filter((path) => !isKnown(path))).toEqual([]);
});
