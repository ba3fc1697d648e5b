import { expect, test } from 'vitest';
import { run } from '../support/harness.ts';

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

test.each([
  ['comment post gm --text gn', '<comment> cannot be used with --text'],
  ['comment post --text gm --text-file f', "option '--text-file <file>' cannot be used with option '--text <text>'"],
  ['comment post gm --last --tx 0x1', "option '--last' cannot be used with option '--tx <hash>'"],
  [
    'comment post --last --signature 0x1 --signer 0x2',
    "option '--signature <signature>' cannot be used with option '--last'",
  ],
  ['comment post --signed f --file f', "option '--signed <file>' cannot be used with option '--file <file>'"],
  ['comment sign --file f --token ETH', "option '--file <file>' cannot be used with option '--token <token>'"],
  [
    'comment verify --signed f --signer 0x1',
    "option '--signed <file>' cannot be used with option '--signer <address>'",
  ],
  [
    'feed home ext:a --cursor a --older-than b',
    "option '--cursor <cursor>' cannot be used with option '--older-than <time>'",
  ],
  [
    'feed home ext:a --older-than a --newer-than b',
    "option '--older-than <time>' cannot be used with option '--newer-than <time>'",
  ],
  ['feed home ext:a --watch 5s --all', "option '--watch <duration>' cannot be used with option '--all'"],
  [
    `profile positions ${wallet} open --price 1 --prices-file f`,
    "option '--price <n>' cannot be used with option '--prices-file <file>'",
  ],
  [
    `profile positions ${wallet} open --prices-file f --chart`,
    "option '--prices-file <file>' cannot be used with option '--chart'",
  ],
  ['profile set-name ext:a --name moon --clear', "option '--clear' cannot be used with option '--name <name>'"],
  [
    'profile set-name ext:a --avatar-url https://a.example/c.png --clear',
    "option '--clear' cannot be used with option '--avatar-url <url>'",
  ],
])('sotra %s: %s', async (argv, error) => {
  expect(await run(argv)).toEqual({ code: 2, out: '', err: `error: ${error}\nhint: Omit one of them.\n` });
});

test.each([
  [
    'comment post --text gm --signature 0x12',
    '--signature needs --signer: address that signed (--signature) or must sign',
  ],
  [
    'comment sign gm --signer-command sign',
    '--signer-command needs --signer: address that must sign; any other is an error',
  ],
  ['comment sign gm --open', '--open needs --browser: sign with a browser wallet, on a local page'],
  ['comment sign gm --ready-file f', '--ready-file needs --browser: sign with a browser wallet, on a local page'],
  ['key export trader --unencrypted', '--unencrypted needs --out: file to write (default: stdout)'],
  [
    'key export trader --out f --password-file f',
    '--password-file needs --unencrypted: write hex, or a Solana CLI keypair; needs --out',
  ],
  ['mcp --allow-signing', '--allow-signing needs --key: stored key that signs (sotra key list)'],
  ['mcp --key trader', '--key needs --allow-signing: also offer tools that sign and post comments, with --key'],
  ['sandbox start --open', '--open needs --ui: also serve a page that shows its data'],
])('sotra %s: %s', async (argv, error) => {
  const { code, err } = await run(argv);
  const [, label, other] = /^(\S+) needs (\S+):/.exec(error) ?? [];
  expect([code, err]).toEqual([2, `error: ${error}\nhint: Add ${other}, or omit ${label}.\n`]);
});
