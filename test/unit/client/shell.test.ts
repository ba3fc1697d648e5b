import { expect, test } from 'vitest';
import { command, shellLine, shellWord } from '../../../src/client/shell.ts';

test.each([
  ['ext:user_1', 'ext:user_1'],
  ['a@b%20+=:,./-', 'a@b%20+=:,./-'],
  ['', "''"],
  ['a b', "'a b'"],
  ['$a', "'$a'"],
  ['a*', "'a*'"],
  ["it's", "'it'\\''s'"],
  ['=ls', "'=ls'"],
  ['!!', "'!!'"],
  ['né 日本 👍🏽', "'né 日本 👍🏽'"],
  ['a\nb', "$'a\\nb'"],
  ["it's\ta\\b\r", "$'it\\047s\\ta\\134b\\r'"],
  ['x\u001b]0;t\u0007', "$'x\\033]0;t\\007'"],
  ['x\u009b2J1', "$'x\\302\\2332J1'"],
  ['\u202eevil', "$'\\342\\200\\256evil'"],
])('the word %j is typed as %s', (word, typed) => {
  expect(shellWord(word)).toBe(typed);
});

test('a command in a sentence has each value as one word, and none that would be read as a flag', () => {
  expect(command`sotra webhook delete ${'$(id)'} --context ${'a b'} deletes ${3}.`).toBe(
    "sotra webhook delete '$(id)' --context 'a b' deletes 3.",
  );
  expect(command`sotra webhook delete ${'--yes'}`).toBe('sotra webhook delete <value>');
  expect(shellLine(['sotra', 'request', 'GET', '/v1/a?b=c&d'])).toBe("sotra request GET '/v1/a?b=c&d'");
});
