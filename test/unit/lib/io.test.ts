import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { warnOfReaders } from '../../../src/lib/files/durable-file.ts';
import { type Io, platformRules } from '../../../src/lib/io.ts';
import { temporaryFolder } from '../../support/harness.ts';

test.each([
  ['linux', '/a/b', { hasModes: true, home: 'HOME', hasAppData: false }],
  ['darwin', '/a/b', { hasModes: true, home: 'HOME', hasAppData: false }],
  ['win32', 'C:\\a', { hasModes: false, home: 'USERPROFILE', hasAppData: true }],
])('%s has its own paths, home and modes of files', (platform, absolute, rules) => {
  const { paths, ...others } = platformRules(platform);
  expect(others).toEqual(rules);
  expect([paths.isAbsolute(absolute), paths.isAbsolute('a')]).toEqual([true, false]);
});

test.skipIf(process.platform === 'win32')('a file that others may read is warned of, if files have modes', () => {
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, '', { mode: 0o644 });
  const warnings = (platform: string) => {
    const said: string[] = [];
    warnOfReaders(file, { warn: (text) => said.push(text), io: { system: { platform } } as Io });
    return said.map((text) => text.replaceAll(file, 'key'));
  };
  expect(warnings('linux')).toEqual(['key can be read by other users on this machine: chmod 600 key']);
  expect(warnings('win32')).toEqual([]);
});
