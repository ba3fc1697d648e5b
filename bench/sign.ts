// What signing costs beyond the libraries that do it: 1,000 comments in one process against a bare loop of the same library, the check
// by other code counted apart, and `comment sign` as a whole process against a minimal script. Needs `npm run build` before.
// Run: npx rolldown bench/sign.ts --platform node -d <folder> && node <folder>/sign.js (from Node 22.18 on: node bench/sign.ts)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeBase58 } from '../src/model/address.ts';
import { makeSigner } from '../src/resources/comment/open-signer.ts';
import { signComment } from '../src/resources/comment/signed.ts';
import { signedText } from '../src/resources/comment/signing.ts';
import { verifySignature } from '../src/resources/comment/verify.ts';

const program = process.argv[2] ?? 'bin/sotra.js';
const count = 1000;
const rounds = 5;
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

const say = (line: string) => process.stdout.write(`${line}\n`);
const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
const percent = (ratio: number) => ratio.toFixed(2);

async function time(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

async function inOneProcess({ name, family, fields, bare }: (typeof families)[number]): Promise<void> {
  const comments = Array.from({ length: count }, (_, index) => ({ ...fields, commentText: `gm number ${index} 🌊` }));
  const messages = comments.map((comment) => signedText(comment, form));
  const signer = await makeSigner(family, key, 'base58');
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
        verifySignature({
          chain: fields.chain,
          message,
          signature: signatures[index] ?? '',
          signerAddress: signer.address,
        });
    },
    whole: async () => {
      for (const comment of comments) await signComment(comment, form, { signer });
    },
  };
  const taken: Record<keyof typeof loops, number[]> = { bare: [], ours: [], check: [], whole: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const loop of Object.keys(loops) as (keyof typeof loops)[]) {
      const ms = await time(loops[loop]);
      if (round > 0) taken[loop].push(ms);
    }
  const each = (loop: keyof typeof loops) => `${(median(taken[loop]) / count).toFixed(3)} ms`;
  say(
    `${name}: bare ${each('bare')}, text and signature ${each('ours')}, check ${each('check')}, signComment ${each('whole')}`,
  );
  say(`  signing against the bare loop: ${percent(median(taken.bare) / median(taken.ours))} (aim >= 0.9)`);
  say(`  with the check by other code:  ${percent(median(taken.bare) / median(taken.whole))}`);
}

/** `comment sign` of the built program against a script that does no more than sign the same text. */
function asProcesses(): void {
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
    const fields = [
      '--chain',
      evm.fields.chain,
      '--tx',
      evm.fields.transactionHash,
      '--token',
      evm.fields.tokenAddress,
    ];
    const sotra = [program, 'comment', 'sign', ...fields, '--text', 'gm', '--service-name', 'Example'];
    const env = { PATH: process.env['PATH'], SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    const launch = (argv: readonly string[]) => {
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, argv, { env });
      if (status !== 0) throw new Error(stderr.toString());
      return performance.now() - started;
    };
    const taken = { sotra: [] as number[], minimal: [] as number[], node: [] as number[] };
    for (let round = 0; round < 21; round += 1) {
      taken.minimal.push(launch([minimal]));
      taken.sotra.push(launch([...sotra, '--key-file', keyFile]));
      taken.node.push(launch(['-e', '0']));
    }
    const [ours, floor] = [median(taken.sotra), median(taken.minimal)];
    say(
      `comment sign: ${ours.toFixed(0)} ms; minimal script with viem/accounts: ${floor.toFixed(0)} ms; bare node: ${median(taken.node).toFixed(0)} ms`,
    );
    say(`  whole process against the minimal script: ${percent(ours / floor)} (aim <= 1.3)`);
  } finally {
    rmSync(minimal, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const family of families) await inOneProcess(family);
asProcesses();
