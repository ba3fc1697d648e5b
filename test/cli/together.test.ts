import { expect, test } from 'vitest';
import { failure, run } from '../support/harness.ts';

const positions = 'profile positions 0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252 open';

test.each([
  ['comment post --text gm --text-file f', '--text-file <file>', '--text <text>'],
  ['comment post gm --last --tx 0x1', '--last', '--tx <hash>'],
  ['comment post --last --signature 0x1 --signer 0x2', '--signature <signature>', '--last'],
  ['comment post --signed f --file f', '--signed <file>', '--file <file>'],
  ['comment sign --file f --token ETH', '--file <file>', '--token <token>'],
  ['comment verify --signed f --signer 0x1', '--signed <file>', '--signer <address>'],
  ['feed home ext:a --cursor a --older-than b', '--cursor <cursor>', '--older-than <time>'],
  ['feed home ext:a --older-than a --newer-than b', '--older-than <time>', '--newer-than <time>'],
  ['feed home ext:a --watch 5s --all', '--watch <duration>', '--all'],
  [`${positions} --price 1 --prices-file f`, '--price <n>', '--prices-file <file>'],
  [`${positions} --prices-file f --chart`, '--prices-file <file>', '--chart'],
  ['profile set-name ext:a --name moon --clear', '--clear', '--name <name>'],
  ['profile set-name ext:a --avatar-url https://a.example/c.png --clear', '--clear', '--avatar-url <url>'],
  ['webhook add-addresses u --file f --wallet-addresses a', '--wallet-addresses <address,...>', '--file <file>'],
  ['webhook events --follow --limit 3', '--follow', '--limit <n>'],
  ['webhook events --wait 5s --follow', '--wait <duration>', '--follow'],
  ['webhook events --name a --inbox nats://127.0.0.1:1/X', '--name <name>', '--inbox <url>'],
])('sotra %s: %s cannot be used with %s', async (argv, one, other) => {
  const error = `error: option '${one}' cannot be used with option '${other}'\nhint: Omit one of them.\n`;
  expect(await run(argv)).toEqual({ code: 2, out: '', err: error });
});

test('a comment is either an argument or a flag', async () => {
  expect(await run('comment post gm --text gn')).toEqual(failure(2, '<comment> cannot be used with --text\n'));
});

test.each([
  ['comment post --text gm --signature 0x12', '--signature', '--signer'],
  ['comment sign gm --signer-command sign', '--signer-command', '--signer'],
  ['comment sign gm --open', '--open', '--browser'],
  ['comment sign gm --ready-file f', '--ready-file', '--browser'],
  ['key export trader --unencrypted', '--unencrypted', '--out'],
  ['key export trader --out f --password-file f', '--password-file', '--unencrypted'],
  ['webhook add-addresses u --wallet-addresses a --column b', '--column', '--file'],
  ['mcp --allow-signing', '--allow-signing', '--key'],
  ['mcp --key trader', '--key', '--allow-signing'],
  ['sandbox start --open', '--open', '--ui'],
  ['webhook listen --secret-file none --open', '--open', '--ui'],
])('sotra %s: %s needs %s', async (argv, one, other) => {
  const outcome = await run(argv);
  expect(outcome).toEqual(failure(2, `error: ${one} needs ${other}: `));
  expect(outcome.err).toContain(`hint: Add ${other}, or omit ${one}.\n`);
});
