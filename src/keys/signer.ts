import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { encodeBase58 } from '../api/address.ts';
import type { ChainFamily } from '../api/chain.ts';
import { longerTimeout } from '../api/duration.ts';
import { readMessage, SotraError } from '../errors.ts';
import { childEnv, type Io } from '../lib/io.ts';
import { keyError } from './private-key.ts';

/** A key that can sign; `wipe` removes it from memory as far as its library allows. */
export interface Signer {
  address: string;
  sign: (message: string) => Promise<string>;
  wipe: () => void;
}

/** A signer for 32 bytes of key, with the library of its family, loaded now. Errors: `signing-key`, without the library's message. */
export async function makeSigner(family: ChainFamily, bytes: Uint8Array): Promise<Signer> {
  try {
    return family === 'solana' ? await makeSolanaSigner(bytes) : await makeEvmSigner(bytes);
  } catch {
    // The library's message might show the key, so it is dropped.
    throw new SotraError('signing-key', 'the signing library refuses this key');
  }
}

/** EIP-191 (`personal_sign`). viem takes keys as text, which JavaScript cannot wipe. */
async function makeEvmSigner(key: Uint8Array): Promise<Signer> {
  const { privateKeyToAccount } = await import('viem/accounts');
  const account = privateKeyToAccount(`0x${Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex')}`);
  return { address: account.address, sign: (message) => account.signMessage({ message }), wipe: () => undefined };
}

async function makeSolanaSigner(seed: Uint8Array): Promise<Signer> {
  const { solanaKey } = await import('./solana-key.ts');
  const { address, sign, wipe } = solanaKey(seed);
  return {
    address,
    sign: async (message) => encodeBase58(sign(new TextEncoder().encode(message))),
    wipe,
  };
}

/** Time for a person at a hardware wallet, unless `--timeout` is given. */
const signMs = 600_000;
const maxSignatureChars = 4096;
const commandHint = 'It gets the exact text on stdin, and prints the signature on stdout: see sotra help signing.';

/**
 * A signer for which a command of the user's signs, run by the shell once a text: the text on stdin, the signature on stdout, questions on
 * stderr. The command is not given the API key. Errors of `sign`: `signing-key`, `wait-timeout`, `interrupted`.
 */
export function makeCommandSigner(command: string, address: string, waits: CommandWaits): Signer {
  return { address, sign: (message) => signWithCommand(command, message, waits), wipe: () => undefined };
}

interface CommandWaits {
  io: Pick<Io, 'env' | 'signal'>;
  limitMs?: number | undefined;
}

async function signWithCommand(
  command: string,
  message: string,
  { io, limitMs = signMs }: CommandWaits,
): Promise<string> {
  const env = childEnv(io.env);
  const late = AbortSignal.timeout(limitMs);
  try {
    return await runCommand(command, message, { env, signal: AbortSignal.any([late, io.signal]) });
  } catch (cause) {
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was signed');
    if (late.aborted)
      throw new SotraError(
        'wait-timeout',
        `--signer-command did not sign within ${limitMs / 1000} s: nothing was signed`,
        {
          hint: longerTimeout('Wait longer:', limitMs),
        },
      );
    if (cause instanceof SotraError) throw cause;
    throw keyError(`--signer-command cannot be started: ${readMessage(cause)}`, commandHint);
  }
}

async function runCommand(
  command: string,
  message: string,
  options: { env: SpawnOptions['env']; signal: AbortSignal },
): Promise<string> {
  const child = spawn(command, { ...options, shell: true, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    // A command that reads nothing closes the pipe.
    child.stdin.on('error', () => undefined);
    child.stdin.end(message);
    // A program that the command left running may keep its pipe open.
    const stdout = addAbortSignal(options.signal, child.stdout);
    const [printed, [code]] = await Promise.all([readSignature(stdout), once(child, 'close')]);
    if (code !== 0)
      throw keyError(`--signer-command ended with ${code ?? 'a signal'}: nothing was signed`, commandHint);
    if (printed === '') throw keyError('--signer-command printed no signature', commandHint);
    return printed;
  } finally {
    child.kill();
    // Programs that the shell started end with their pipe.
    child.stdout.destroy();
  }
}

async function readSignature(stdout: AsyncIterable<Uint8Array>): Promise<string> {
  let printed = '';
  for await (const chunk of stdout) {
    printed += chunk;
    if (printed.length > maxSignatureChars)
      throw keyError('--signer-command printed more than a signature', commandHint);
  }
  return printed.trim();
}
