import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findKeychainTool } from '../../../../src/lib/config/keychain-tool.ts';
import { temporaryFolder } from '../../../support/harness.ts';

/** Puts a program into a folder that is searched first, and gives that folder. */
function installTool(name: string, script: string): string {
  const folder = temporaryFolder();
  const { PATH } = process.env;
  onTestFinished(() => {
    process.env['PATH'] = PATH;
  });
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
  writeFileSync(join(folder, name), `#!/bin/sh\ncd '${folder}'\n${script}`, { mode: 0o755 });
  return folder;
}

/** As `security` of macOS: a secret comes as hex in a line on stdin. */
const security = `
printf '%s\\n' "$*" >> arguments
case $1 in
-i) cat > line ;;
find-generic-password) [ -e line ] || { echo 'not found' >&2; exit 44; }; echo secret-key-abcd ;;
delete-generic-password) rm line 2> /dev/null || { echo 'not found' >&2; exit 44; } ;;
esac
`;

test.skipIf(process.platform === 'win32')(
  'on macOS the secret goes to security on stdin, and is in no argument',
  () => {
    const folder = installTool('security', security);
    const entry = findKeychainTool('darwin', 'sotra')?.('own "1"@https://own.example.com');
    expect(entry?.getPassword()).toBe(null);
    entry?.setPassword('secret-key-abcd');
    expect(readFileSync(join(folder, 'line'), 'utf8')).toBe(
      'add-generic-password -U -s sotra -a "own \\"1\\"@https://own.example.com" -X 7365637265742d6b65792d61626364\n',
    );
    expect(entry?.getPassword()).toBe('secret-key-abcd');
    entry?.deletePassword();
    expect(entry?.getPassword()).toBe(null);
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).not.toContain('secret-key');
    expect(() => entry?.setPassword('x'.repeat(2000))).toThrow('too long');
  },
);

test.skipIf(process.platform === 'win32')('what a tool says when it fails is the reason', () => {
  installTool('secret-tool', "echo 'secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY' >&2; exit 1\n");
  const entry = findKeychainTool('linux', 'sotra')?.('c@https://own.example.com');
  expect(() => entry?.getPassword()).toThrow('secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY');
});

test('a system without a tool that gives secrets back has none', () => {
  expect(findKeychainTool('win32', 'sotra')).toBeUndefined();
});
