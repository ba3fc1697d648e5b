// What signing costs beyond the libraries that do it: 200 comments in one process against a bare loop of the same library, the check
// by other code counted apart, and `comment sign` as a whole process against a minimal script. Needs `npm run build` before.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeBase58 } from '../src/api/address.ts';
import { signedText } from '../src/api/signed-text.ts';
import { verifySignature } from '../src/api/verify-signature.ts';
import { makeSignedComment } from '../src/commands/comment/signer.ts';
import { makeSigner } from '../src/keys/signer.ts';
import { measureChild } from './measure/child.ts';
import { type Row, report } from './measure/row.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const count = 200;
const rounds = 15;
const form = { serviceName: 'Example', layout: 'five-line' } as const;
const key = new Uint8Array(32).fill(7);
const seed = nacl.sign.keyPair.fromSeed(key);
const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`);

const families = [
  {
    name: 'EVM (viem)',
    family: 'evm',
    fields: { chain: 'base', transactionHash: `0x${'ab'.repeat(32)}`, tokenAddress: `0x${'cd'.repeat(20)}` },
    bare: (message: string): Promise<string> => account.signMessage({ message }),
  },
  {
    name: 'Solana (tweetnacl)',
    family: 'solana',
    fields: {
      chain: 'solana',
      transactionHash: encodeBase58(new Uint8Array(64).fill(9)),
      tokenAddress: encodeBase58(new Uint8Array(32).fill(9)),
    },
    bare: async (message: string): Promise<string> =>
      encodeBase58(nacl.sign.detached(new TextEncoder().encode(message), seed.secretKey)),
  },
] as const;

async function time(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

async function inOneProcess({ name, family, fields, bare }: (typeof families)[number]): Promise<Row[]> {
  const comments = Array.from({ length: count }, (_, index) => ({ ...fields, commentText: `gm number ${index} 🌊` }));
  const messages = comments.map((comment) => signedText(comment, form));
  const signer = await makeSigner(family, key);
  const signatures: string[] = [];
  const loops = {
    bare: async () => {
      for (const message of messages) await bare(message);
    },
    ours: async () => {
      signatures.length = 0;
      for (const comment of comments) signatures.push(await signer.sign(signedText(comment, form)));
    },
    check: async () => {
      for (const [index, message] of messages.entries())
        await verifySignature({
          chain: fields.chain,
          message,
          signature: signatures[index] ?? '',
          signerAddress: signer.address,
        });
    },
    whole: async () => {
      for (const comment of comments) await makeSignedComment(comment, form, signer);
    },
  };
  const taken: Record<keyof typeof loops, number[]> = { bare: [], ours: [], check: [], whole: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const loop of Object.keys(loops) as (keyof typeof loops)[]) {
      const ms = await time(loops[loop]);
      if (round > 0) taken[loop].push(ms);
    }
  const each = (loop: keyof typeof loops) => taken[loop].map((ms) => ms / count);
  const row = (what: string, loop: keyof typeof loops): Row => ({
    what: `${what}, ${name}`,
    unit: 'ms',
    floor: each('bare'),
    measured: each(loop),
  });
  return [
    { ...row('text and signature in one process', 'ours'), atMost: 1.11 },
    row('the same with the check by other code', 'whole'),
  ];
}

/** `comment sign` of the built program against a script that does no more than sign the same text. */
async function asProcesses(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
  // Beside the packages, so that it finds viem as any script would.
  const minimal = join(process.cwd(), `bench-minimal-${process.pid}.mjs`);
  try {
    const keyFile = join(folder, 'key.hex');
    writeFileSync(keyFile, Buffer.from(key).toString('hex'), { mode: 0o600 });
    const [evm] = families;
    const message = signedText({ ...evm.fields, commentText: 'gm' }, form);
    writeFileSync(
      minimal,
      `import { readFileSync } from 'node:fs';
import { privateKeyToAccount } from 'viem/accounts';
const account = privateKeyToAccount('0x' + readFileSync(${JSON.stringify(keyFile)}, 'utf8'));
console.log(account.address, await account.signMessage({ message: ${JSON.stringify(message)} }));
`,
    );
    const { chain, transactionHash, tokenAddress } = evm.fields;
    const fields = ['--chain', chain, '--tx', transactionHash, '--token', tokenAddress, '--text', 'gm'];
    const sotra = [program, 'comment', 'sign', ...fields, '--service-name', 'Example', '--key-file', keyFile];
    const launch = async (argv: readonly string[]) =>
      (await measureChild(argv, { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder })).seconds *
      1000;
    const taken = { sotra: [] as number[], minimal: [] as number[], node: [] as number[] };
    for (let round = 0; round < 21; round += 1) {
      taken.minimal.push(await launch([minimal]));
      taken.sotra.push(await launch(sotra));
      taken.node.push(await launch(['-e', '0']));
    }
    return [
      {
        what: 'comment sign, a script with viem/accounts',
        unit: 'ms',
        floor: taken.minimal,
        measured: taken.sotra,
        atMost: 1.25,
      },
      { what: 'that script, bare node', unit: 'ms', floor: taken.node, measured: taken.minimal },
    ];
  } finally {
    rmSync(minimal, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const family of families) report(await inOneProcess(family));
report(await asProcesses());
